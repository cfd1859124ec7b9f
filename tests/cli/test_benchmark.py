"""The commands of the bench, through their entry function and once through a real process."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from cli.conftest import unwrapped
from protolabel.cli.main import app
from protolabel.experiments.folder import RunFolder
from protolabel.experiments.store import RecordStore

SMALL = "synthetic-emotions:90"
QUICK = [
    *("--set", "pnml-single.max_epochs=1", "--set", "pnml-single.embedding_dim=4"),
    *("--folds", "2", "--jobs", "1", "--datasets", SMALL),
]


def invoke(*arguments):
    return CliRunner().invoke(app, ["benchmark", *map(str, arguments)])


def run_quick(folder, *further):
    return invoke("run", *QUICK, "--methods", "pnml-single", "--output", folder, *further)


def result_of(result):
    answer = json.loads(result.stdout)
    assert answer["schema"] == 1
    return answer["result"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench") / "run"
    result = run_quick(folder)
    assert result.exit_code == 0, result.output
    return folder, result


def test_a_run_prints_the_table_and_tells_progress_on_the_other_stream(finished):
    folder, result = finished
    assert "PNML-single(embedding_dim=4, max_epochs=1)" in result.stdout
    assert "2/2" in result.stdout
    assert result.stderr.count("average precision") == 2
    assert "average precision" not in result.stdout
    assert len(RecordStore(folder).read()) == 2


def test_a_finished_run_computes_nothing_when_started_again(finished):
    folder, _ = finished
    before = RecordStore(folder).path.read_bytes()
    for result in (run_quick(folder, "--json"), invoke("resume", folder, "--json")):
        assert result.exit_code == 0
        assert result.stderr == ""
        assert result_of(result)["n_done"] == 2
    assert RecordStore(folder).path.read_bytes() == before


def test_the_status_counts_units(finished):
    folder, _ = finished
    assert "2 of 2 units done, 0 running, 0 failed, 0 missing." in invoke("status", folder).stdout
    status = result_of(invoke("status", folder, "--json"))
    assert status["overall"] == {"total": 2, "done": 2, "failed": 0, "running": 0, "missing": 0}
    assert status["arms"][0]["settings"] == {"embedding_dim": 4, "max_epochs": 1}


def test_the_table_of_a_run_is_one_json_object(finished):
    folder, _ = finished
    (row,) = result_of(invoke("table", folder, "--json"))
    assert (row["dataset"], row["method"], row["n_records"]) == (SMALL, "pnml-single", 2)
    assert 0 < row["ranking_loss"] < 1


def test_a_run_is_compared_with_itself_and_with_another(finished, tmp_path):
    folder, _ = finished
    gains = result_of(invoke("compare", folder, folder, "--json"))
    assert [gain["gain"] for gain in gains] == [0.0] * 5
    assert "Gain of the second run" in invoke("compare", folder, folder).stdout
    run_quick(tmp_path, "--seed", 1)
    assert "have no unit in common" in str(invoke("compare", folder, tmp_path).exception)


def test_the_methods_of_a_run_are_ranked(finished, tmp_path):
    folder, _ = finished
    assert "ranks need at least two methods" in str(invoke("compare", folder).exception)
    methods = ("--methods", "pnml-single,pnml-d", "--set", "pnml-d.max_epochs=1")
    invoke("run", *QUICK, *methods, "--output", tmp_path)
    assert "Average rank over 1 dataset" in invoke("compare", tmp_path).stdout
    accuracy, *_ = result_of(invoke("compare", tmp_path, "--json"))
    assert sum(arm["average_rank"] for arm in accuracy["arms"]) == 3.0
    assert accuracy["friedman_p"] is None


def test_resume_goes_on_with_what_is_missing(tmp_path):
    run_quick(tmp_path)
    store = RecordStore(tmp_path)
    first, _ = store.path.read_text().splitlines(keepends=True)
    store.path.write_text(first)
    assert "1 of 2 units done, 0 running, 0 failed, 1 missing." in invoke("status", tmp_path).stdout
    result = invoke("resume", tmp_path, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("average precision") == 1
    assert len(store.read()) == 2
    assert len({record.unit for record in store.read()}) == 2


def test_failed_units_end_in_their_own_code_and_can_be_retried(tmp_path):
    broken = [*QUICK, "--set", "pnml-single.metric_rank=-1", "--methods", "pnml-single"]
    result = invoke("run", *broken, "--output", tmp_path, "--json")
    assert result.exit_code == 5
    page = str(tmp_path / "report.html")
    assert result_of(result) == {"n_done": 0, "n_failed": 2, "table": [], "report": page}
    assert "2 of 2 units failed" in result.stderr
    failures = result_of(invoke("status", tmp_path, "--json"))["failures"]
    assert all("Traceback" in failure["error"] for failure in failures)
    assert "FAILED, ValueError" in invoke("status", tmp_path).stdout
    assert invoke("resume", tmp_path, "--jobs", 1).exit_code == 5
    assert len(RecordStore(tmp_path).path.read_text().splitlines()) == 2
    assert invoke("resume", tmp_path, "--jobs", 1, "--retry-failed", "--quiet").exit_code == 5
    assert len(RecordStore(tmp_path).path.read_text().splitlines()) == 4


def test_quiet_leaves_the_other_stream_empty(tmp_path):
    assert run_quick(tmp_path, "--quiet").stderr == ""


def test_tuning_and_thresholds_are_columns_where_they_are_used(tmp_path):
    result = run_quick(tmp_path, "--tuning", "2", "--thresholds", "tuned", "--quiet")
    assert result.exit_code == 0, result.output
    assert "Tuning" in result.stdout
    assert "Thresholds" in result.stdout
    (row,) = result_of(invoke("table", tmp_path, "--json"))
    assert (row["tuning"], row["thresholds"]) == ("2", "tuned")
    assert len(list((tmp_path / "studies").iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "pnml-single,pnlm"], "There is no method 'pnlm'"),
        (["--tuning", "best"], "tuning='best' is unknown"),
        (["--thresholds", "best"], "thresholds='best' is unknown"),
        (["--set", "max_epochs"], "expected method.parameter=value"),
        (["--set", "pnml-d.max_epochs=1"], "There are settings for pnml-d"),
        (["--set", "pnml-single.colour=red"], "cannot be built with"),
        (["--metrics", "f2"], "there is no metric 'f2'"),
        (["--scheduler", "tcp://127.0.0.1:1"], "use one"),
    ],
)
def test_mistakes_are_named_before_anything_is_computed(tmp_path, arguments, message):
    result = run_quick(tmp_path / "run", *arguments)
    assert result.exit_code == 2
    assert message in unwrapped(result.stderr)
    assert not (tmp_path / "run" / "records.jsonl").exists()


@pytest.mark.parametrize("command", ["status", "resume", "table", "compare"])
def test_a_folder_without_a_run_says_how_to_make_one(tmp_path, command):
    result = invoke(command, tmp_path)
    assert result.exit_code == 2
    assert "with `protolabel benchmark run`" in unwrapped(result.stderr)


def test_a_run_in_a_real_process(finished):
    folder, _ = finished
    program = [sys.executable, "-c", "from protolabel.cli.main import run; run()"]
    done = subprocess.run(
        [*program, "benchmark", "resume", str(folder), "--jobs", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "PNML-single(embedding_dim=4, max_epochs=1)" in done.stdout
    assert done.stderr == f"Report written to {folder / 'report.html'}\n"


@pytest.mark.parametrize("command", ["status", "resume", "table", "compare"])
def test_a_file_is_no_run(tmp_path, command):
    path = tmp_path / "table.csv"
    path.write_text("a,b")
    result = invoke(command, path)
    assert result.exit_code == 2
    assert "holds no r" in unwrapped(result.stderr)


def test_a_run_is_not_written_among_the_files_of_a_model(tmp_path):
    (tmp_path / ".gitkeep").touch()
    RunFolder(tmp_path).check_place()
    (tmp_path / "manifest.json").write_text("{}")
    result = run_quick(tmp_path)
    assert result.exit_code == 2
    message = unwrapped(result.stderr)
    assert "holds 'manifest.json' and no run" in message
    assert {path.name for path in tmp_path.iterdir()} == {".gitkeep", "manifest.json"}
