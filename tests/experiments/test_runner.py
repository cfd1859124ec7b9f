import json

import numpy as np
import pytest
from typer.testing import CliRunner

from protolabel import methods
from protolabel.classifier import PNMLClassifier
from protolabel.cli.main import app
from protolabel.datasets import load_dataset
from protolabel.experiments import tuning
from protolabel.experiments.record import Record, Unit
from protolabel.experiments.runner import plan_units, run_missing, run_unit
from protolabel.experiments.store import RecordStore
from protolabel.experiments.tables import comparison_table, fold_means


@pytest.fixture(autouse=True)
def quick_methods(monkeypatch):
    """Two methods that train for one epoch."""

    def build(**params):
        return PNMLClassifier.paper("single", **({"max_epochs": 1} | params))

    quick = {
        "pnml-single": methods.Method(
            "pnml-single", "PNML-single", build, {"metric_penalty": (1e-3, 1e-2)}
        ),
        "pnml": methods.Method("pnml", "PNML (recommended)", build),
    }
    monkeypatch.setattr(methods, "METHODS", quick)
    monkeypatch.setattr(tuning, "N_INNER_FOLDS", 2)


@pytest.fixture
def record():
    return Record(
        unit=Unit("yeast", "pnml", "none", 0, 5, 0),
        params={},
        metrics={
            "accuracy": 0.5,
            "micro_f1": 0.6,
            "macro_f1": 0.4,
            "average_precision": 0.7,
            "ranking_loss": 0.2,
        },
        n_train=8,
        n_test=2,
        tuning_seconds=0.0,
        fit_seconds=1.0,
        predict_seconds=0.1,
        versions={"python": "3"},
    )


def test_a_finished_unit_is_not_computed_again(tmp_path):
    store, done = RecordStore(tmp_path), []
    units = plan_units(["yeast"], ["pnml"], n_folds=3)
    run_missing(units[:2], store, done.append)
    run_missing(units, store, done.append)
    assert [r.unit for r in done] == units
    assert [r.unit for r in store.read()] == units


def test_folds_are_shared_by_methods_and_cover_all_rows(monkeypatch):
    seen = {}

    class Spy(PNMLClassifier):
        def fit(self, X, y):
            seen.setdefault(self.n_members, []).append(X[:, 0].copy())
            return super().fit(X, y)

    data = load_dataset("yeast")
    for n_members in (1, 2):
        quick = methods.Method(
            "pnml",
            "PNML",
            lambda _n=n_members, **p: Spy(
                "single", n_members=_n, max_epochs=1, cross_fit=False, **p
            ),
        )
        monkeypatch.setitem(methods.METHODS, "pnml", quick)
        for unit in plan_units(["yeast"], ["pnml"], n_folds=3):
            run_unit(unit, data)
    for first, second in zip(seen[1], seen[2], strict=True):
        assert np.array_equal(first, second)
    assert sum(len(X) for X in seen[1]) == 2 * len(data.X)


def test_tuning_happens_on_the_training_part_and_is_recorded():
    (unit,) = plan_units(["yeast"], ["pnml-single"], tuning="grid", n_folds=2)[:1]
    record = run_unit(unit, load_dataset("yeast"))
    assert record.params["metric_penalty"] in (1e-3, 1e-2)
    assert record.tuning_seconds > 0
    assert record.n_train + record.n_test == 2417


def test_a_method_without_a_search_space_is_not_tuned():
    assert {u.tuning for u in plan_units(["yeast"], ["pnml"], tuning="grid")} == {"none"}


def test_an_unknown_tuning_or_method_is_refused():
    with pytest.raises(ValueError, match="tuning='best' is unknown"):
        plan_units(["yeast"], ["pnml"], tuning="best")
    with pytest.raises(ValueError, match="There is no method 'svm'; choose one of"):
        plan_units(["yeast"], ["svm"])


def test_records_survive_a_line_cut_short(tmp_path, record):
    store = RecordStore(tmp_path)
    store.append(record)
    with store.path.open("a") as file:
        file.write('{"unit": {"dataset": "yea')
    other = Record(**{**record.__dict__, "unit": Unit("yeast", "pnml", "none", 1, 5, 0)})
    store.append(other)
    assert store.read() == [record, other]


def test_a_doubled_record_counts_once(tmp_path, record):
    store = RecordStore(tmp_path)
    store.append(record)
    store.append(record)
    assert store.read() == [record]


def test_a_record_of_another_version_is_refused(record):
    value = json.loads(json.dumps(record.to_json())) | {"colour": "red"}
    with pytest.raises(ValueError, match="written by another version"):
        Record.from_json(value)


def test_means_over_folds_are_plain_means(record):
    second = Record(
        **{
            **record.__dict__,
            "unit": Unit("yeast", "pnml", "none", 1, 5, 0),
            "metrics": {k: v + 0.1 for k, v in record.metrics.items()},
        }
    )
    means = fold_means([record, second])[("yeast", "pnml", "none")]
    assert means["accuracy"] == pytest.approx(0.55)
    assert comparison_table([record, second]).row_count == 1


def test_the_command_runs_and_prints_the_published_value_beside_ours(tmp_path):
    command = ["benchmark", "run", "--datasets", "yeast", "--methods", "pnml-single,pnml"]
    result = CliRunner(env={"COLUMNS": "200"}).invoke(
        app, [*command, "--output", str(tmp_path), "--folds", "2"]
    )
    assert result.exit_code == 0, result.output
    assert "PNML-single" in result.stdout
    assert len(RecordStore(tmp_path).read()) == 4
    table = CliRunner().invoke(app, ["benchmark", "table", str(tmp_path), "--json"])
    rows = json.loads(table.stdout)["result"]
    assert [row["method"] for row in rows] == ["pnml-single", "pnml"]


def test_a_folder_without_records_says_how_to_make_some(tmp_path):
    result = CliRunner().invoke(app, ["benchmark", "table", str(tmp_path)])
    assert isinstance(result.exception, ValueError)
    assert "write some with `protolabel benchmark run`" in str(result.exception)
