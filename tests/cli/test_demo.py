"""``protolabel demo``, with a single epoch of training."""

import json

import pytest
from typer.testing import CliRunner

from protolabel import methods
from protolabel.cli.main import app

TITLES = ["PNML-single", "PNML-multiple", "PNML (recommended)"]


@pytest.fixture(autouse=True)
def _quick_methods(monkeypatch):
    short = {"max_epochs": 1}
    companions = {"n_landmarks": 20, "n_trees": 5, "n_members": 2}
    quick = {
        name: methods.Method(
            name,
            method.title,
            lambda _build=method.build, _more=companions if name == "pnml" else {}, **given: _build(
                **given, **short, **_more
            ),
            method.space,
        )
        for name, method in methods.METHODS.items()
    }
    monkeypatch.setattr(methods, "METHODS", quick)


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def demo(*arguments):
    return CliRunner().invoke(app, ["demo", *arguments])


def test_the_demo_prints_one_json_object_and_nothing_else(tmp_path):
    result = demo("--json", "--quiet", "--no-report")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert list(answer["result"]) == TITLES
    assert answer["report"] is None
    for scores in answer["result"].values():
        assert list(scores) == [
            "accuracy",
            "micro_f1",
            "macro_f1",
            "average_precision",
            "ranking_loss",
        ]
    assert result.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_the_demo_ends_with_a_report_of_all_methods_and_names_its_place(tmp_path):
    result = demo()
    assert result.exit_code == 0, result.output
    assert result.stderr.count("Report written to protolabel-demo.html") == 1
    page = (tmp_path / "protolabel-demo.html").read_text(encoding="utf-8")
    assert all(title in page for title in TITLES)
    assert page.count("<section") == 6
    assert [path.name for path in tmp_path.iterdir()] == ["protolabel-demo.html"]
    # A second demo replaces the page, but no file of somebody else.
    (tmp_path / "protolabel-demo.html").write_text("mine")
    refused = demo()
    assert refused.exit_code == 2
    assert (tmp_path / "protolabel-demo.html").read_text() == "mine"
