"""``protolabel datasets`` through its app, and once as a process."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from protolabel.cli.datasets import app
from protolabel.datasets import MultiLabelDataset, read_mulan, read_npz, write_mulan
from protolabel.exceptions import DatasetError

RUNNER = CliRunner()


def result_of(*arguments: str) -> object:
    """Run a command with --json and return its result."""
    outcome = RUNNER.invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    printed = json.loads(outcome.stdout)
    assert printed["schema"] == 1
    assert printed["command"] == f"datasets {arguments[0]}"
    return printed["result"]


@pytest.fixture
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROTOLABEL_DATA", raising=False)
    monkeypatch.setenv("PROTOLABEL_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("no_data")
def test_list_says_where_each_dataset_would_come_from() -> None:
    available = {row["name"]: row["available"] for row in result_of("list")}
    assert available["yeast"] == "package"
    assert available["emotions"] == "download"
    assert available["bookmark"] == "by hand"
    plain = RUNNER.invoke(app, ["list"], catch_exceptions=False)
    assert "yeast" in plain.stdout


@pytest.mark.usefixtures("no_data")
def test_info_measures_what_is_here_and_declares_what_is_not() -> None:
    yeast = result_of("info", "yeast")
    assert yeast["measured"]["distinct_label_sets"] == 198
    bookmark = result_of("info", "bookmark")
    assert bookmark["declared"]["n_samples"] == 87856
    assert "measured" not in bookmark
    plain = RUNNER.invoke(app, ["info", "yeast"], catch_exceptions=False)
    assert "mean_imbalance_ratio: 7.197" in plain.stdout


@pytest.mark.usefixtures("no_data")
def test_fetch_of_a_bundled_dataset_needs_no_network() -> None:
    assert "bundled" in result_of("fetch", "yeast")["source"]
    with pytest.raises(DatasetError, match="bookmark"):
        RUNNER.invoke(app, ["fetch", "bookmark"], catch_exceptions=False)


def test_convert_reads_one_format_and_writes_another(
    toy: MultiLabelDataset, tmp_path: Path, assert_same
) -> None:
    arff, _ = write_mulan(toy, tmp_path / "toy.arff")
    target = tmp_path / "toy.npz"
    assert result_of("convert", str(arff), str(target))["n_samples"] == 4
    assert_same(toy, read_npz(target))
    back = tmp_path / "back.arff.gz"
    result_of("convert", str(target), str(back))
    assert_same(toy, read_mulan(back))
    with pytest.raises(DatasetError, match="pass --force"):
        RUNNER.invoke(app, ["convert", str(arff), str(target)], catch_exceptions=False)
    result_of("convert", str(arff), str(target), "--force")
    wrong = RUNNER.invoke(app, ["convert", str(arff), str(tmp_path / "toy.xlsx")])
    assert wrong.exit_code == 2


def test_convert_puts_messages_on_stderr_and_results_on_stdout(tmp_path: Path) -> None:
    source = tmp_path / "mine.csv"
    source.write_text("size,colour,tags\n1,red,a;b\n2,blue,b\n")
    outcome = RUNNER.invoke(
        app,
        ["convert", str(source), str(tmp_path / "mine.npz"), "--tags", "tags", "--json"],
        catch_exceptions=False,
    )
    assert "column 'colour' was encoded" in outcome.stderr
    assert json.loads(outcome.stdout)["result"]["n_labels"] == 2


def test_verify_finds_a_changed_file(benchmark_data: Path, tmp_path: Path) -> None:
    shutil.copytree(benchmark_data / "flags", tmp_path / "flags")
    for path in (tmp_path / "flags").iterdir():
        path.chmod(0o644)
    (tmp_path / "flags").chmod(0o755)
    good = result_of("verify", "flags", "imdb", "--data-home", str(tmp_path))
    assert [report["status"] for report in good] == ["ok", "absent"]
    arff = tmp_path / "flags" / "flags.arff.gz"
    content = gzip.decompress(arff.read_bytes())
    lines = content.split()
    arff.write_bytes(gzip.compress(content.rstrip() + b"\n" + lines[-1] + b"\n"))
    outcome = RUNNER.invoke(app, ["verify", "flags", "--data-home", str(tmp_path)])
    assert outcome.exit_code == 3
    assert "SHA-256" in outcome.stdout
    assert "the number of rows is 195, declared 194" in outcome.stdout


def test_a_bad_file_ends_a_process_with_code_3_and_one_line(tmp_path: Path) -> None:
    source = tmp_path / "bad.txt"
    source.write_text("2 3 2\n0 0:1\n")
    command = "from protolabel.cli.main import run; run()"
    outcome = subprocess.run(
        [sys.executable, "-c", command, "datasets", "convert", str(source), "out.npz"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert outcome.returncode == 3
    assert outcome.stdout == ""
    assert "line 2: the file ends after 1 of 2 declared rows" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert not (tmp_path / "out.npz").exists()


def test_importing_the_command_imports_nothing_heavy() -> None:
    code = (
        "import sys, protolabel.cli.datasets; "
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'torch', 'pandas') if m in sys.modules])"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert outcome.stdout.strip() == "[]"
