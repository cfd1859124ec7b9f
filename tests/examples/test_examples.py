"""Every example runs as it is, without network or benchmark files, and prints what it promises."""

import runpy
import sys
from pathlib import Path

import pytest

from report.structure import Structure

FOLDER = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
SAYS = {
    "compare_methods": [
        "yeast, mean of 3 folds",
        "Logistic regression",
        "Highest average precision",
    ],
    "few_shot_label": ["from 50 genes: AUC", "13 labels are unchanged: True"],
    "music_emotions": ["made-up songs: 600 songs", "average_precision", "A change that"],
    "text_tags": ["-> budget, travel", "Words for and against travel"],
    "thresholds": ["prior_tilted", "In the data, a gene has 4.2"],
}
WRITES = {"compare_methods", "music_emotions", "text_tags"}


@pytest.fixture(autouse=True)
def _nothing_at_hand(monkeypatch, tmp_path):
    """No benchmark files, an empty cache, and no way out."""

    def refuse(*_, **__):
        raise AssertionError("an example asked for the network")

    monkeypatch.delenv("PROTOLABEL_DATA", raising=False)
    monkeypatch.setenv("PROTOLABEL_CACHE", str(tmp_path / "no-cache"))
    monkeypatch.setattr("socket.socket.connect", refuse)


def test_every_example_is_known_here_and_short():
    assert sorted(SAYS) == NAMES
    for name in NAMES:
        lines = (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()
        assert len(lines) < 80, name
        assert f"python examples/{name}.py" in "\n".join(lines), name


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_and_prints_something_worth_reading(name, monkeypatch, tmp_path, capsys):
    folder = tmp_path / "written"
    folder.mkdir()
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(folder)])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for text in SAYS[name]:
        assert text in printed
    pages = [path.name for path in folder.iterdir()]
    assert pages == ([f"{name}.html"] if name in WRITES else [])
    for page in pages:
        assert Structure((folder / page).read_text(encoding="utf-8")).count("section") > 0


def test_the_benchmark_is_used_where_it_is_at_hand(benchmark_data, monkeypatch):
    if not (benchmark_data / "emotions").is_dir():
        pytest.skip("the benchmark folder has no emotions")
    monkeypatch.setenv("PROTOLABEL_DATA", str(benchmark_data))
    songs = runpy.run_path(str(FOLDER / "music_emotions.py"))["songs"]()
    assert (songs.name, songs.X.shape) == ("emotions", (593, 72))
