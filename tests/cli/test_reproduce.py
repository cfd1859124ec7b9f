"""The command that repeats the paper, through its entry function and once through a process."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from protolabel.cli.main import app
from protolabel.experiments.store import RecordStore

QUICK = [
    *("--datasets", "synthetic-emotions:90", "--epochs", "1", "--folds", "2"),
    *("--jobs", "1", "--set", "pnml-single.embedding_dim=4"),
]


def invoke(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduce")
    result = invoke("sampling", *QUICK, "--output", folder)
    assert result.exit_code == 0, result.output
    return folder, result


def test_files_are_printed_and_progress_goes_to_the_other_stream(finished):
    folder, result = finished
    lines = result.stdout.splitlines()
    assert str(folder / "sampling" / "sampling.md") in lines
    assert all((folder / line).exists() for line in lines)
    assert result.stderr.count("average precision") == 12


def test_a_finished_folder_is_drawn_again_without_options(finished):
    folder, _ = finished
    before = RecordStore(folder / "sampling" / "run").path.read_bytes()
    result = invoke("sampling", "--output", folder, "--jobs", "1", "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    answer = json.loads(result.stdout)
    assert answer["schema"] == 1
    assert answer["command"] == "reproduce sampling"
    assert answer["result"]["n_done"] == 12
    assert RecordStore(folder / "sampling" / "run").path.read_bytes() == before


def test_statistics_look_at_the_named_records(finished, tmp_path):
    folder, _ = finished
    run = folder / "sampling" / "run"
    result = invoke("statistics", "--records", run, "--output", tmp_path, "--jobs", "1", "--json")
    assert result.exit_code == 0, result.output
    assert "own" in (tmp_path / "statistics" / "sign_tests.csv").read_text()
    page = tmp_path / "statistics" / "statistics.md"
    made = page.read_text()
    assert f"--records {run}" in made
    again = invoke("statistics", "--output", tmp_path, "--jobs", "1")
    assert again.exit_code == 0, again.output
    assert page.read_text() == made


def test_a_fit_to_all_rows_is_announced_and_made_once(tmp_path):
    quick = ["--datasets", "synthetic-emotions:90", "--epochs", "1", "--jobs", "1"]
    first = invoke("correlation", *quick, "--output", tmp_path, "--no-figures")
    assert (
        "Fitting pnml-multiple(max_epochs=1) to all rows of synthetic-emotions:90." in first.stderr
    )
    again = invoke("correlation", *quick, "--output", tmp_path, "--no-figures")
    assert (again.exit_code, again.stderr) == (0, "")
    assert again.stdout == first.stdout


def test_all_studies_run_with_what_each_can_use(tmp_path):
    result = invoke(
        "all",
        *QUICK,
        *("--output", tmp_path, "--quiet", "--json"),
        *("--methods", "pnml-single,pnml-multiple", "--no-figures"),
    )
    assert result.exit_code == 0, result.output
    found = [entry["study"] for entry in json.loads(result.stdout)["result"]]
    assert found == [
        *("correlation", "prototypes", "sensitivity", "sampling"),
        *("ablation", "runtime", "ingredients", "main", "statistics"),
    ]
    for name in found:
        assert (tmp_path / name / f"{name}.md").exists()
    assert "own" in (tmp_path / "statistics" / "sign_tests.csv").read_text()


def test_a_failed_unit_ends_with_its_own_code(tmp_path):
    settings = ["--set", "pnml-single.batch_size=-1"]
    result = invoke("sampling", *QUICK, *settings, "--output", tmp_path, "--quiet", "--no-figures")
    assert result.exit_code == 5
    assert "12 units of sampling failed" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "There is no study 'nothing'"),
        (["main", "--records", "x"], "--records is for statistics"),
        (["statistics", "--epochs", "1"], "makes no use of epochs"),
        (["prototypes", "--tuning", "grid"], "makes no use of tuning"),
        (["sampling", "--set", "br.x=1"], "settings for br, which is not among the methods"),
    ],
)
def test_mistakes_are_named_before_anything_is_computed(tmp_path, arguments, message):
    result = invoke(*arguments, "--output", tmp_path / "new", "--jobs", "1")
    assert result.exit_code != 0
    assert message in str(result.exception) + result.output
    assert not (tmp_path / "new").exists()


def test_a_real_process_explains_a_mistake_in_one_line(tmp_path):
    code = "from protolabel.cli.main import run; run()"
    command = [sys.executable, "-c", code, "reproduce", "nothing", "--output", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "There is no study 'nothing'" in result.stderr
    assert "Traceback" not in result.stderr
