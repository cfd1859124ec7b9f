import json
import math
import subprocess
import sys
from dataclasses import replace

import pytest

from protolabel.experiments.record import Record, Search
from protolabel.experiments.store import RecordStore
from protolabel.experiments.unit import Arm, Unit, freeze_settings
from protolabel.metrics import EdgeCases

FORMAT_1 = {
    "fit_seconds": 1.8,
    "metrics": {"accuracy": 0.6},
    "n_test": 119,
    "n_train": 474,
    "params": {"concentration": 0.1},
    "predict_seconds": 0.006,
    "tuning_seconds": 0.5,
    "unit": {
        "dataset": "emotions",
        "fold": 0,
        "method": "pnml-single",
        "n_folds": 5,
        "seed": 0,
        "tuning": "grid",
    },
    "versions": {"numpy": "2.4.6"},
}


def at_fold(record, fold, **changes):
    return replace(record, unit=replace(record.unit, fold=fold), **changes)


def test_a_record_is_read_as_it_was_written(tmp_path, record):
    full = replace(
        record,
        edge_cases=EdgeCases(1, 2, 3, 4, 5),
        search=Search({"k": [1, 2]}, 2, 0, 3.5),
        params={"k": 2},
    )
    RecordStore(tmp_path).append(full)
    assert RecordStore(tmp_path).read() == [full]


def test_a_metric_without_a_value_is_stored_as_null(tmp_path, record):
    store = RecordStore(tmp_path)
    store.append(replace(record, metrics={"ranking_loss": math.nan}))
    assert json.loads(store.path.read_text())["metrics"] == {"ranking_loss": None}
    assert math.isnan(store.read()[0].metrics["ranking_loss"])


def test_a_record_of_the_first_format_is_read():
    record = Record.from_json(FORMAT_1)
    assert record.unit == Unit("emotions", "pnml-single", "grid", 0, 5, 0)
    assert record.is_ok
    assert (record.times.tuning, record.times.fit, record.times.predict) == (0.5, 1.8, 0.006)
    assert record.params == {"concentration": 0.1}


def test_a_record_of_another_version_is_refused(record):
    value = record.to_json()
    with pytest.raises(ValueError, match="written by another version"):
        Record.from_json(value | {"colour": "red"})
    with pytest.raises(ValueError, match="A record of format 3"):
        Record.from_json(value | {"format": 3})


def test_nothing_in_a_record_names_the_machine(record):
    names = set(record.to_json()) | set(record.to_json()["unit"])
    assert not {name for name in names if "host" in name or "pid" in name or "worker" in name}


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_line_cut_short_is_ignored_and_repaired(tmp_path, record, cut):
    store = RecordStore(tmp_path)
    store.append(record)
    whole = store.path.read_bytes()
    second = at_fold(record, 1)
    store.append(second)
    for _ in range(2):
        store.path.write_bytes(whole + whole[:cut])
        assert RecordStore(tmp_path).read() == [record]
        assert RecordStore(tmp_path).append(second)
        assert RecordStore(tmp_path).read() == [record, second]
        assert all(json.loads(line) for line in store.path.read_text().splitlines())


def test_a_damaged_line_in_the_middle_is_left_out_with_a_warning(tmp_path, record):
    store = RecordStore(tmp_path)
    store.append(record)
    with store.path.open("a") as file:
        file.write('{"unit": {"dataset": "yea\n')
    with pytest.warns(UserWarning, match="has a damaged line"):
        store.append(at_fold(record, 1))
    with pytest.warns(UserWarning, match="its unit counts as not computed"):
        assert len(RecordStore(tmp_path).read()) == 2


def test_a_unit_has_one_successful_record(tmp_path, record):
    store = RecordStore(tmp_path)
    assert store.append(record)
    assert not store.append(replace(record, n_test=7))
    assert not RecordStore(tmp_path).append(replace(record, status="failed", error="x"))
    assert store.read() == [record]
    assert len(store.path.read_text().splitlines()) == 1


def test_a_failed_record_may_be_followed_by_another_attempt(tmp_path, record):
    store = RecordStore(tmp_path)
    failed = replace(record, status="failed", metrics={}, error="Traceback")
    assert store.append(failed)
    assert store.append(replace(failed, error="another"))
    assert store.read()[0].error == "another"
    assert store.append(record)
    assert store.read() == [record]
    assert store.n_attempts(record.unit) == 3


def test_a_store_sees_what_others_append_and_that_a_file_was_replaced(tmp_path, record):
    mine, other = RecordStore(tmp_path), RecordStore(tmp_path)
    mine.append(record)
    other.append(at_fold(record, 1))
    assert len(mine.read()) == len(other.read()) == 2
    mine.path.unlink()
    assert mine.read() == []
    assert mine.append(at_fold(record, 2))
    assert mine.read() == other.read() == [at_fold(record, 2)]


def test_a_claim_is_held_by_one_at_a_time(tmp_path, unit):
    store = RecordStore(tmp_path)
    claim = store.claim(unit)
    assert store.is_claimed(unit)
    assert RecordStore(tmp_path).claim(unit) is None
    claim.give_back()
    assert not store.is_claimed(unit)
    assert not store.was_abandoned(unit)
    assert store.claim(unit) is not None


def test_a_claim_dies_with_its_process(tmp_path, unit):
    code = (
        "import os, signal, sys; from pathlib import Path;"
        "from protolabel.experiments.locking import LockFolder;"
        "assert LockFolder(Path(sys.argv[1])).claim(sys.argv[2]) is not None;"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    store = RecordStore(tmp_path)
    arguments = [str(tmp_path / "locks"), unit.key]
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=False)
    assert done.returncode == -9
    assert not store.is_claimed(unit)
    assert store.was_abandoned(unit)
    claim = store.claim(unit)
    assert claim is not None
    claim.give_back()
    assert not store.was_abandoned(unit)


def test_the_key_of_a_unit_does_not_depend_on_the_order_of_settings():
    one = Unit("yeast", "pnml", "none", 0, 5, 0, settings=freeze_settings({"a": 1, "b": [2]}))
    two = Unit("yeast", "pnml", "none", 0, 5, 0, settings=freeze_settings({"b": (2,), "a": 1}))
    assert one == two
    assert one.key == two.key
    assert one.key != replace(one, settings=freeze_settings({"a": 2, "b": [2]})).key
    assert Unit.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_settings_that_cannot_be_stored_are_refused():
    with pytest.raises(TypeError, match="The setting 'callbacks' is a object"):
        freeze_settings({"callbacks": object()})


@pytest.mark.parametrize("tuning", ["best", "0", "-3", "1.5", "07"])
def test_an_unknown_tuning_is_refused(tuning):
    with pytest.raises(ValueError, match="is unknown; use none, grid, full-grid or a number"):
        Arm("pnml", tuning)
    with pytest.raises(ValueError, match="thresholds='best' is unknown; use one of none, tuned"):
        Arm("pnml", thresholds="best")
