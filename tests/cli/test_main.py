import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.conftest import unwrapped
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
    ("error", "code"),
    [(DatasetError("bad file"), 3), (ValueError("bad value"), 1)],
)
def test_a_mistake_ends_in_one_line_and_an_exit_code(monkeypatch, capsys, error, code):
    def fail():
        raise error

    monkeypatch.setattr(main, "app", fail)
    with pytest.raises(SystemExit) as stopped:
        main.run()
    assert stopped.value.code == code
    assert capsys.readouterr().err == f"Error: {error}\n"


@pytest.mark.parametrize("error", [ValueError("details wanted"), KeyError("details wanted")])
def test_debug_shows_the_traceback(monkeypatch, error):
    def fail():
        raise error

    monkeypatch.setenv("PROTOLABEL_DEBUG", "1")
    monkeypatch.setattr(main, "app", fail)
    with pytest.raises(type(error), match="details wanted"):
        main.run()


def test_an_error_that_nobody_thought_of_is_told_in_one_line_and_to_programs(monkeypatch, capsys):
    def fail():
        raise KeyError("n_neighbors")

    monkeypatch.setenv("PROTOLABEL_DEBUG", "")
    monkeypatch.setattr(sys, "argv", ["protolabel", "doctor", "--json"])
    monkeypatch.setattr(main, "app", fail)
    with pytest.raises(SystemExit) as stopped:
        main.run()
    shown = capsys.readouterr()
    told = "KeyError: 'n_neighbors' (--debug shows where it comes from)"
    assert shown.err == f"Error: {told}\n"
    assert json.loads(shown.out)["error"] == {"message": told, "exit_code": 1}
    assert stopped.value.code == 1


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("is_buffered", [True, False])
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["version"], 1, "No space left on device"),
        (["version", "--json"], 1, "No space left on device"),
        (["--help"], 1, "No space left on device"),
        (["datasets", "info", "yeats", "--json"], 3, "yeats"),
    ],
)
def test_an_output_that_takes_nothing_is_told_in_one_line(is_buffered, arguments, code, message):
    environment = os.environ | {"PYTHONUNBUFFERED": "" if is_buffered else "1"}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from protolabel.cli.main import run; run()", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            check=False,
        )
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("Error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_output_that_nobody_reads_ends_in_silence():
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-c", "from protolabel.cli.main import run; run()", "version"],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    "command",
    [
        ["train", "yeast", "-o", "m"],
        ["tune", "yeast"],
        ["benchmark", "run", "--datasets", "yeast", "--output", "run"],
        ["reproduce", "main", "--output", "results"],
        ["demo"],
    ],
)
@pytest.mark.parametrize("seed", ["-1", str(2**32)])
def test_a_seed_that_no_generator_takes_is_refused_at_once(
    protolabel, tmp_path, monkeypatch, command, seed
):
    monkeypatch.chdir(tmp_path)
    done = protolabel(*command, "--seed", seed, "--json")
    assert done.code == 2
    assert "--seed" in done.error["message"]
    assert f"{seed} was given; expected a number from 0 to 4294967295" in done.error["message"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (["train", "t.csv", "-o", "m", "--labels"], "label"),
        (["train", "t.csv", "-o", "m", "--n-labels", "1", "--drop"], "column"),
        (["train", "t.csv", "-o", "m", "--n-labels", "1", "--categorical"], "column"),
        (["train", "t.csv", "-o", "m", "--n-labels", "1", "--groups"], "column"),
        (["tune", "t.csv", "--tags"], "column"),
        (["evaluate", "m", "t.csv", "--labels"], "label"),
        (["predict", "m", "t.csv", "--keep"], "column"),
        (["report", "m", "--data", "t.csv", "--tags"], "column"),
        (["datasets", "convert", "t.csv", "t.npz", "--labels"], "label"),
        (["benchmark", "run", "--datasets", "yeast", "--output", "run", "--metrics"], "metric"),
        (["reproduce", "main", "--output", "results", "--datasets"], "dataset"),
        (["reproduce", "main", "--output", "results", "--methods"], "method"),
    ],
)
@pytest.mark.parametrize("names", ["", ",", ",,"])
def test_a_list_of_no_names_is_a_wrong_use(protolabel, tmp_path, monkeypatch, command, kind, names):
    monkeypatch.chdir(tmp_path)
    done = protolabel(*command, names)
    message = unwrapped(done.stderr)
    assert done.code == 2
    assert f"Invalid value for '{command[-1]}': {names!r} was given" in message
    assert f"no {kind} was named" in message


@pytest.mark.parametrize(
    "command",
    [
        ["train", "t.csv", "-o", "m"],
        ["tune", "t.csv"],
        ["datasets", "convert", "t.csv", "t.npz"],
    ],
)
def test_labels_are_columns_or_tags_and_not_both(protolabel, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    done = protolabel(*command, "--labels", "a", "--tags", "topics", "--json")
    assert done.code == 2
    assert "--labels and --tags both say where the labels are" in done.error["message"]


def test_the_report_does_not_speak_of_options_that_it_lacks(protolabel):
    told = protolabel("report", "--help").stdout
    assert "--tags" in told
    assert "--labels" not in told


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no files")
@pytest.mark.parametrize(
    "command",
    [
        ["train", "yeast", "-o", "/proc/place"],
        ["train", "yeast", "-o", "m", "--report", "/proc/place"],
        ["train", "yeast", "-o", "m", "--checkpoint", "/proc/place"],
        ["tune", "yeast", "--storage", "/proc/place"],
        ["predict", "m", "yeast", "--output", "/proc/place"],
        ["export", "m", "--onnx", "/proc/place"],
        ["explain", "m", "yeast", "--html", "/proc/place"],
        ["report", "m", "--data", "yeast", "--output", "/proc/place"],
        ["datasets", "convert", "yeast", "/proc/place.npz"],
        ["benchmark", "run", "--datasets", "yeast", "--output", "/proc/place"],
        ["reproduce", "main", "--output", "/proc/place"],
    ],
)
def test_a_place_that_takes_no_files_is_named_before_any_work(
    protolabel, tmp_path, monkeypatch, command
):
    monkeypatch.chdir(tmp_path)
    [place] = [word for word in command if word.startswith("/proc/")]
    done = protolabel(*command)
    message = unwrapped(done.stderr)
    assert done.code == 2
    assert f"{place} cannot be written to: /proc takes no files" in message
    assert "choose another place" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        ["train", "yeast", "-o", "m", "--checkpoint"],
        ["tune", "yeast", "--storage"],
        ["benchmark", "run", "--datasets", "yeast", "--output"],
        ["reproduce", "main", "--output"],
    ],
)
def test_a_file_is_no_folder_to_add_to(protolabel, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b")
    done = protolabel(*command, "t.csv")
    assert done.code == 2
    assert "t.csv exists and is not a folder; choose another name." in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "m", "--checkpoint", "m"], "--model and --checkpoint would be written into each"),
        (["-o", "m", "--checkpoint", "m/state"], "--model and --checkpoint would be written into"),
        (
            ["-o", "old", "--force", "--report", "old/p.html"],
            "--model and --report would be written",
        ),
        (["-o", "r/m", "--report", "r"], "r is a folder"),
        (["-o", "m", "--report", "./m"], "--model and --report would be written into each other"),
        (
            ["-o", "m", "--checkpoint", "r.html", "--report", "r.html"],
            "--report and --checkpoint would",
        ),
        (["-o", "m", "--checkpoint", "old"], "old holds a model; give another folder"),
    ],
)
def test_what_training_writes_has_places_of_its_own(
    protolabel, tmp_path, monkeypatch, options, message
):
    monkeypatch.chdir(tmp_path)
    for folder in ("old", "r"):
        Path(folder).mkdir()
    for name in ("manifest.json", "tensors.safetensors"):
        Path("old", name).touch()
    before = sorted(tmp_path.rglob("*"))
    done = protolabel("train", "yeast", *options)
    assert done.code == 2
    assert message in unwrapped(done.stderr)
    assert sorted(tmp_path.rglob("*")) == before


def test_one_folder_may_hold_checkpoint_model_and_report(protolabel, tmp_path, quick):
    run = tmp_path / "run"
    run.mkdir()
    (run / "manifest.json").write_text("{}")  # of something else
    places = ("-o", run / "model", "--checkpoint", run, "--report", run / "page.html")
    done = protolabel("train", "yeast", *quick, *places, "--quiet")
    assert done.code == 0, done.stderr
    assert {path.name for path in run.iterdir()} > {"model", "page.html", "manifest.json"}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["reproduce", "foo", "--output", "r"], "'foo'"),
        (["reproduce", "main", "--records", "r", "--output", "r"], "--records is for statistics"),
        (["benchmark", "status", "old"], "old holds no run"),
        (["benchmark", "table", "old"], "old holds no records"),
        (["report", "old", "--tags", "topics"], "--tags is about the rows of --data"),
    ],
)
def test_what_cannot_be_done_is_a_wrong_use(protolabel, tmp_path, monkeypatch, command, message):
    monkeypatch.chdir(tmp_path)
    Path("old").mkdir()
    done = protolabel(*command)
    assert done.code == 2
    assert message in unwrapped(done.stderr)


def test_the_environment_gives_seed_and_jobs(protolabel, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = ["benchmark", "run", "--datasets", "yeast", "--methods", "ml-knn", "--output", "r"]
    monkeypatch.setenv("PROTOLABEL_JOBS", "none")
    for command in (run, ["reproduce", "main", "--output", "r"], ["tune", "yeast"]):
        done = protolabel(*command)
        assert done.code == 2
        assert "PROTOLABEL_JOBS" in unwrapped(done.stderr)
    monkeypatch.delenv("PROTOLABEL_JOBS")
    monkeypatch.setenv("PROTOLABEL_SEED", "-1")
    for command in (["demo"], ["train", "yeast", "-o", "m"]):
        assert "-1 was given; expected a number from 0" in unwrapped(protolabel(*command).stderr)
