"""Protocols, the runner and what becomes of failures."""

import os
from dataclasses import replace

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from experiments.small_run import (
    QUICK,
    SMALL,
    make_unit,
    new_run,
    quick_arm,
    written_units,
)
from protolabel import methods
from protolabel.classifier import PNMLClassifier
from protolabel.exceptions import DatasetError
from protolabel.experiments.compute import compute_unit
from protolabel.experiments.configuration import describe_estimator
from protolabel.experiments.data import dataset_of, folds_of
from protolabel.experiments.folder import RunFolder
from protolabel.experiments.protocol import Protocol, plan_arms
from protolabel.experiments.runner import Silence, run_missing
from protolabel.experiments.status import computing_time, run_status
from protolabel.experiments.unit import Arm, freeze_settings

BROKEN = quick_arm(settings=freeze_settings({"max_epochs": 1, "metric_rank": -1}))


class Finished(Silence):
    def __init__(self):
        self.units = []

    def finish(self, record):
        self.units.append(record.unit)


def register(monkeypatch, name, build, space=None):
    method = methods.Method(name, name.upper(), build, space or {})
    monkeypatch.setattr(methods, "METHODS", methods.METHODS | {name: method})


def test_a_finished_unit_is_not_computed_again(tmp_path):
    first, second = Finished(), Finished()
    folder = new_run(tmp_path)
    run_missing(folder, observer=first)
    records = run_missing(folder, observer=second)
    assert first.units == folder.units() == [record.unit for record in records]
    assert second.units == []


def test_more_datasets_and_methods_only_add_what_is_new(tmp_path):
    run_missing(new_run(tmp_path))
    seen = Finished()
    other = "synthetic-emotions:60"
    folder = new_run(tmp_path, datasets=[SMALL, other], arms=[quick_arm(), quick_arm("pnml-d")])
    run_missing(folder, observer=seen)
    assert len(folder.units()) == 12
    assert len(seen.units) == 9
    assert not {(u.dataset, u.method) for u in seen.units} & {(SMALL, "pnml-single")}
    assert len(written_units(folder)) == 12
    assert new_run(tmp_path).protocols() == folder.protocols()


def test_other_folds_or_metrics_need_another_folder(tmp_path):
    new_run(tmp_path)
    with pytest.raises(ValueError, match="holds a run with 3 folds"):
        new_run(tmp_path, n_folds=4)
    with pytest.raises(ValueError, match="use another folder"):
        new_run(tmp_path, metrics=("accuracy",))
    new_run(tmp_path, seed=1)


def test_a_failed_unit_is_recorded_and_does_not_stop_the_rest(tmp_path):
    folder = new_run(tmp_path, arms=[BROKEN, quick_arm()], n_folds=2)
    records = run_missing(folder)
    assert [record.status for record in records] == ["failed", "failed", "ok", "ok"]
    assert "metric_rank" in records[0].error
    assert records[0].error.startswith("Traceback")
    assert records[0].metrics == {}
    assert records[0].n_train == 45
    assert records[0].configuration["params"]["metric_rank"] == -1
    # Nothing in a record depends on where the package is installed.
    assert 'File "/' not in records[0].error
    status = run_status(folder)
    assert (status.overall.done, status.overall.failed, status.overall.missing) == (2, 2, 0)
    assert [record.unit for record in status.failures] == folder.units()[:2]


def test_failed_units_are_only_computed_anew_when_asked_for(tmp_path):
    folder = new_run(tmp_path, arms=[BROKEN], n_folds=2)
    run_missing(folder)
    run_missing(folder)
    assert len(written_units(folder)) == 2
    again = Finished()
    run_missing(folder, retry_failed=True, observer=again)
    assert again.units == folder.units()
    assert len(written_units(folder)) == 4


def test_folds_are_shared_by_methods_and_cover_all_rows():
    folds = folds_of(SMALL, 3, 0)
    rows = np.concatenate([test for _, test in folds])
    assert np.array_equal(np.sort(rows), np.arange(90))
    assert all(not set(train) & set(test) for train, test in folds)
    one, two = compute_unit(make_unit(1)), compute_unit(make_unit(1, method="pnml-d"))
    assert (one.n_train, one.n_test) == (two.n_train, two.n_test) == (60, 30)


def test_a_unit_gives_the_same_metrics_each_time(unit):
    assert compute_unit(unit).metrics == compute_unit(unit).metrics
    assert compute_unit(unit).configuration_hash == compute_unit(unit).configuration_hash


def test_a_record_says_what_is_needed_to_repeat_it(unit):
    record = compute_unit(unit, metrics=("accuracy", "hamming_loss"))
    assert list(record.metrics)[:5] == list(compute_unit(unit).metrics)
    assert 0 < record.metrics["hamming_loss"] < 1
    truth = dataset_of(SMALL).Y[folds_of(SMALL, 3, 0)[0][1]].toarray()
    assert record.edge_cases.rows_without_labels == (truth.sum(axis=1) == 0).sum()
    assert record.edge_cases.labels_never_true == (truth.sum(axis=0) == 0).sum()
    rebuilt = PNMLClassifier(**record.configuration["params"])
    assert describe_estimator(rebuilt) == record.configuration
    assert 10 < record.peak_memory_mb < 20_000
    assert record.times.fit > 0
    assert record.times.fit_cpu > 0
    assert set(record.versions) == {
        "python",
        "protolabel",
        "torch",
        "scikit-learn",
        "numpy",
        "scipy",
    }


@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="the system cannot reset the peak"
)
def test_peak_memory_is_that_of_the_unit_and_not_of_earlier_ones(unit):
    before = compute_unit(unit).peak_memory_mb
    ballast = np.ones(40_000_000)  # 320 MB
    during = compute_unit(unit).peak_memory_mb
    del ballast
    after = compute_unit(unit).peak_memory_mb
    assert during > before + 250
    assert after < before + 100


def test_a_unit_computes_on_one_thread(monkeypatch, unit):
    seen = {}

    class Spy(PNMLClassifier):
        def fit(self, X, y):
            seen["torch"] = torch.get_num_threads()
            seen["pools"] = {pool["num_threads"] for pool in threadpool_info()}
            return super().fit(X, y)

    register(monkeypatch, "spy", Spy)
    torch.set_num_threads(2)
    try:
        assert compute_unit(replace(unit, method="spy")).is_ok
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert seen == {"torch": 1, "pools": {1}}


def test_a_method_without_a_search_space_is_not_tuned():
    arms = plan_arms(["pnml", "pnml-single"], tuning="grid")
    assert [arm.tuning for arm in arms] == ["none", "grid"]
    fixed = dict.fromkeys(methods.METHODS["pnml-single"].space, 0.001)
    (arm,) = plan_arms(["pnml-single"], tuning="5", settings={"pnml-single": fixed})
    assert arm.tuning == "none"


def test_a_method_that_tunes_its_thresholds_is_not_wrapped():
    arms = plan_arms(["pnml", "pnml-single"], thresholds="tuned")
    assert [arm.thresholds for arm in arms] == ["none", "tuned"]
    plain = {"pnml": {"thresholds": "fixed"}}
    assert plan_arms(["pnml"], thresholds="tuned", settings=plain)[0].thresholds == "tuned"


def test_mistakes_in_a_protocol_are_refused():
    with pytest.raises(ValueError, match="There is no method 'svm'; choose one of"):
        plan_arms(["svm"])
    with pytest.raises(ValueError, match="There are settings for pnml, which is not among"):
        plan_arms(["pnml-d"], settings={"pnml": {}})
    with pytest.raises(DatasetError, match="yeats"):
        Protocol(("yeats",), (Arm("pnml"),))
    with pytest.raises(ValueError, match="at least one dataset; none was given"):
        Protocol((), (Arm("pnml"),))
    with pytest.raises(ValueError, match="n_folds=1 cannot be used"):
        Protocol(("yeast",), (Arm("pnml"),), n_folds=1)
    with pytest.raises(ValueError, match="there is no metric 'f2'"):
        Protocol(("yeast",), (Arm("pnml"),), metrics=("f2",))
    with pytest.raises(ValueError, match="does not end in a number of rows"):
        Protocol(("synthetic-yeast:many",), (Arm("pnml"),))


def test_a_protocol_is_read_as_it_was_written(tmp_path):
    arms = [quick_arm(), Arm("pnml-single", "7", "tuned", QUICK, (("metric_penalty", (0.1, 1)),))]
    folder = new_run(tmp_path, arms=arms, seed=3)
    (read,) = new_run(tmp_path, arms=arms, seed=3).protocols()
    assert read == folder.protocols()[0]
    assert read.arms == tuple(arms)


def test_time_left_goes_by_the_most_similar_records(record):
    def with_time(seconds, **changes):
        times = replace(record.times, tuning=0.0, fit=seconds, predict=0.0)
        return replace(record, unit=replace(record.unit, **changes), times=times)

    records = [with_time(2.0), with_time(4.0, fold=1), with_time(100.0, dataset="yeast")]
    same = replace(record.unit, fold=2)
    assert computing_time([same], records) == 3.0
    assert computing_time([same, replace(same, dataset="yeast")], records) == 103.0
    assert computing_time([replace(same, dataset="yeast", method="pnml")], records) == 100.0
    assert computing_time([same], []) is None


def test_a_folder_that_holds_something_else_takes_no_run(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(FileExistsError, match=r"holds 'manifest\.json' and no run"):
        new_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("mark", ["protocol.json", "records.jsonl", "locks"])
def test_a_run_goes_on_from_whatever_it_left(tmp_path, mark):
    folder = new_run(tmp_path / "whole")
    run_missing(folder)
    rest = tmp_path / "rest"
    rest.mkdir()
    (folder.path / mark).rename(rest / mark)
    (rest / "report.html").write_text("a page")
    assert len(run_missing(new_run(rest))) == 3


def test_a_file_holds_no_run_and_takes_none(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b")
    assert RunFolder(path).protocols() == []
    assert RunFolder(path).store.read() == []
    for place in (path, path / "run"):
        with pytest.raises(OSError, match=r"table\.csv.*choose another"):
            new_run(place)
    assert path.read_text() == "a,b"
