import subprocess
import sys

import pytest
from typer.testing import CliRunner

from protolabel import __version__
from protolabel.cli import main
from protolabel.cli.main import app
from protolabel.exceptions import DatasetError


def test_help_loads_no_heavy_library():
    code = (
        "import sys; sys.argv = ['protolabel', '--help'];"
        "from protolabel.cli.main import app\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'sklearn', 'numpy', 'scipy', 'pandas', 'polars'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "benchmark" in done.stdout


def test_version_is_printed():
    result = CliRunner().invoke(app, ["--version"])
    assert result.output.strip() == __version__


def test_public_names_are_importable_lazily():
    import protolabel

    assert dir(protolabel) == sorted(protolabel.__all__)
    for name in protolabel.__all__:
        assert getattr(protolabel, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = protolabel.nothing


@pytest.mark.parametrize(
    ("error", "code"), [(DatasetError("bad file"), 3), (ValueError("bad value"), 1)]
)
def test_a_mistake_ends_in_one_line_and_an_exit_code(monkeypatch, capsys, error, code):
    def fail():
        raise error

    monkeypatch.setattr(main, "app", fail)
    with pytest.raises(SystemExit) as stopped:
        main.run()
    assert stopped.value.code == code
    assert capsys.readouterr().err == f"Error: {error}\n"


def test_debug_shows_the_traceback(monkeypatch):
    def fail():
        raise ValueError("details wanted")

    monkeypatch.setenv("PROTOLABEL_DEBUG", "1")
    monkeypatch.setattr(main, "app", fail)
    with pytest.raises(ValueError, match="details wanted"):
        main.run()


def test_an_interrupt_has_its_own_exit_code(monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "app", interrupt)
    with pytest.raises(SystemExit) as stopped:
        main.run()
    assert stopped.value.code == 130


def test_an_unknown_dataset_in_a_real_process_gives_a_hint_and_no_traceback(tmp_path):
    program = [sys.executable, "-c", "from protolabel.cli.main import run; run()"]
    arguments = ["benchmark", "run", "--datasets", "yeats", "--output", str(tmp_path / "run")]
    done = subprocess.run(
        [*program, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "yeats" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()
