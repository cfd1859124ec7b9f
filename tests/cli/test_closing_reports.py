"""Reports at the end of training and of benchmark runs: where, when not, and what if they fail."""

import json
import time

import pytest
from typer.testing import CliRunner

from protolabel.cli import closing_report
from protolabel.cli.main import app
from protolabel.experiments.store import RecordStore
from protolabel.persistence import load_model
from report.structure import HOSTILE, Structure

LABELS = ["--labels", "calm,happy,rare"]


def benchmark(*arguments):
    return CliRunner().invoke(app, ["benchmark", *map(str, arguments)])


def run_quick(folder, *further):
    return benchmark(
        *("run", "--datasets", "synthetic-emotions:60", "--methods", "ml-knn"),
        *("--folds", 2, "--jobs", 1, "--output", folder, *further),
    )


@pytest.fixture
def broken_pages(monkeypatch):
    """Pages that cannot be made."""

    def fail(*_, **__):
        raise ZeroDivisionError("no ink")

    monkeypatch.setattr("protolabel.report.page.asset", fail)


def test_training_writes_a_page_on_the_held_out_rows_beside_the_model(songs_training):
    folder, done = songs_training
    page = folder.with_name("model.html")
    assert done.result["report"] == str(page)
    found = Structure(page.read_text(encoding="utf-8"))
    assert "52 rows with 3 labels of songs that were held out" in found.text
    assert f"{done.result['metrics']['average_precision']:.3f}" in found.text
    # The page is no part of the model.
    assert sorted(path.name for path in folder.iterdir()) == [
        *("columns.json", "manifest.json", "tensors.safetensors")
    ]


def test_a_page_can_have_another_place_or_be_left_out(protolabel, songs, tmp_path, quick):
    train = ["train", songs, *LABELS, *quick, "--quiet", "--json"]
    done = protolabel(*train, "-o", tmp_path / "a", "--report", tmp_path / "page.html")
    assert done.result["report"] == str(tmp_path / "page.html")
    done = protolabel(*train, "-o", tmp_path / "b", "--no-report")
    assert done.result["report"] is None
    done = protolabel(*train, "-o", tmp_path / "c", "--no-holdout")
    assert done.result["report"] is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c", "page.html"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "x.html", "--no-report"], "contradict"),
        (["--report", "x.html", "--no-holdout"], "leave out --no-holdout"),
        (["--report", "."], "is a folder"),
        (["--report", "no/x.html"], "does not exist"),
        (["--report", "mine.html"], "pass --force to replace it"),
    ],
)
def test_a_place_that_cannot_be_used_is_refused_before_any_work(
    protolabel, songs, tmp_path, monkeypatch, options, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.html").write_text("mine")
    done = protolabel("train", songs, *LABELS, "-o", "m", "--json", *options)
    assert done.code == 2
    assert message in done.error["message"].replace("\n", " ")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.html"]
    assert (tmp_path / "mine.html").read_text() == "mine"


def test_a_page_that_fails_costs_no_model_and_is_no_secret(
    protolabel, songs, tmp_path, quick, broken_pages
):
    train = ["train", songs, *LABELS, *quick, "--quiet", "-o"]
    done = protolabel(*train, tmp_path / "m")
    assert done.code == 1
    assert done.stdout.endswith(f"Model written to {tmp_path / 'm'}\n")
    problem = f"The report {tmp_path / 'm.html'} could not be written: no ink"
    assert done.stderr == f"Error: {problem}\n"
    assert load_model(tmp_path / "m").label_names_.tolist() == ["calm", "happy", "rare"]
    done = protolabel(*train, tmp_path / "n", "--json")
    assert done.code == 1
    assert done.result["report"] is None
    assert len(done.result["metrics"]) == 5
    error = json.loads(done.stdout)["error"]
    assert (error["exit_code"], "no ink" in error["message"]) == (1, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "n"]


def test_a_page_that_fails_shows_its_traceback_when_asked(broken_pages, monkeypatch, tmp_path):
    monkeypatch.setenv("PROTOLABEL_DEBUG", "1")

    def fail():
        raise ZeroDivisionError("no ink")

    with pytest.raises(ZeroDivisionError):
        closing_report.write_closing_report(fail, tmp_path / "page.html")


def test_hostile_names_of_columns_and_labels_stay_texts(protolabel, tmp_path, quick):
    path = tmp_path / "songs.csv"
    quoted = HOSTILE.replace('"', '""')
    rows = [f"{n % 13},{n % 7},{int(n % 13 > 6)},{int(n % 7 > 3)}" for n in range(120)]
    path.write_text(f'x,"feature {quoted}","label {quoted}",b\n' + "\n".join(rows) + "\n")
    done = protolabel("train", path, "--n-labels", 2, "-o", tmp_path / "m", *quick, "--json")
    assert done.code == 0, done.stderr
    page = Structure((tmp_path / "m.html").read_text(encoding="utf-8"))
    assert HOSTILE in page.text
    assert page.count("img") == 0
    assert page.count("script") == 1
    assert not any(key.startswith("on") for _, found in page.elements for key in found)


def test_the_page_of_a_small_table_takes_a_small_part_of_the_training(
    protolabel, songs, tmp_path, quick, monkeypatch
):
    seconds = []
    real = closing_report.write_closing_report

    def timed(*arguments):
        started = time.perf_counter()
        try:
            return real(*arguments)
        finally:
            seconds.append(time.perf_counter() - started)

    monkeypatch.setattr(closing_report, "write_closing_report", timed)
    started = time.perf_counter()
    done = protolabel("train", songs, *LABELS, "-o", tmp_path / "m", "--json", "--jobs", 1)
    whole = time.perf_counter() - started
    assert done.code == 0
    assert len(seconds) == 1
    assert seconds[0] < 0.5 * (whole - seconds[0])


def test_a_run_ends_with_its_page_and_renews_it(tmp_path):
    result = run_quick(tmp_path)
    assert result.exit_code == 0, result.output
    page = tmp_path / "report.html"
    assert result.stderr.splitlines()[-1] == f"Report written to {page}"
    assert "1 method on 1 dataset, 2 records" in page.read_text(encoding="utf-8")
    run_quick(tmp_path, "--set", "ml-knn.n_neighbors=5", "--quiet")
    assert "2 methods on 1 dataset, 4 records" in page.read_text(encoding="utf-8")
    page.unlink()
    resumed = benchmark("resume", tmp_path, "--jobs", 1, "--json")
    assert json.loads(resumed.stdout)["result"]["report"] == str(page)
    assert page.exists()


def test_a_run_without_a_page_or_with_another_place(tmp_path):
    run_quick(tmp_path / "run", "--no-report")
    assert not (tmp_path / "run" / "report.html").exists()
    run_quick(tmp_path / "run", "--report", tmp_path / "page.html")
    assert (tmp_path / "page.html").exists()
    (tmp_path / "page.html").write_text("mine")
    refused = run_quick(tmp_path / "other", "--report", tmp_path / "page.html")
    assert refused.exit_code == 2
    assert (tmp_path / "page.html").read_text() == "mine"
    assert not (tmp_path / "other").exists()


def test_a_page_that_fails_costs_no_record(tmp_path, broken_pages):
    result = run_quick(tmp_path)
    assert result.exit_code == 1
    assert "ML-KNN" in result.stdout
    assert result.stderr.splitlines()[-1].endswith("could not be written: no ink")
    assert len(RecordStore(tmp_path).read()) == 2
    result = benchmark("resume", tmp_path, "--jobs", 1, "--json")
    answer = json.loads(result.stdout)
    assert (answer["result"]["n_done"], answer["error"]["exit_code"]) == (2, 1)
