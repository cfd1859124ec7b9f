import subprocess
import sys
import tempfile

from typer.testing import CliRunner

from protolabel.cli.main import app
from report.synthetic_run import make_records, write_records


def invoke(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


def test_a_report_is_written_beside_the_records_and_its_place_is_printed(tmp_path):
    folder = write_records(tmp_path, make_records(["scene"], ["br", "camel"], n_folds=2))
    result = invoke(folder)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(folder / "report.html")
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_file_is_replaced_only_when_asked_for(tmp_path):
    folder = write_records(tmp_path / "run", make_records(["scene"], ["br"], n_folds=2))
    target = tmp_path / "page.html"
    target.write_text("mine")
    result = invoke(folder, "--output", target)
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert target.read_text() == "mine"
    assert invoke(folder, "--output", target, "--force").exit_code == 0
    assert target.read_text(encoding="utf-8") != "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "run"]


def test_a_folder_that_is_no_run_is_named(tmp_path, songs_model):
    missing = invoke(tmp_path / "nope")
    assert missing.exit_code == 2
    assert "There is no folder" in missing.stderr
    model = invoke(songs_model)
    assert model.exit_code == 2
    assert "--data FILE" in model.stderr


def test_the_standard_input_is_shown_as_a_file_is(songs_model, new_songs, tmp_path, monkeypatch):
    expected, page = tmp_path / "of_file.html", tmp_path / "of_input.html"
    assert invoke(songs_model, "--data", new_songs, "--output", expected).exit_code == 0
    spool = tmp_path / "temporary"
    spool.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))
    arguments = ["report", str(songs_model), "--data", "-", "--output", str(page)]
    result = CliRunner().invoke(app, arguments, input=new_songs.read_bytes())
    assert result.exit_code == 0, result.output
    same = expected.read_text(encoding="utf-8").replace(" of new.csv", " of stdin.csv")
    assert page.read_text(encoding="utf-8") == same
    assert list(spool.iterdir()) == []


def test_a_mistake_ends_in_one_line(tmp_path):
    program = [sys.executable, "-c", "from protolabel.cli.main import run; run()"]
    done = subprocess.run(
        [*program, "report", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "holds no records" in done.stderr
    assert "Traceback" not in done.stderr
