"""Sampling, sensitivity and run time: what is asked of the bench and what becomes of it."""

from dataclasses import replace

import pytest

from experiments.studies.quick import SMALL, make_record
from protolabel.experiments.record import Times
from protolabel.experiments.studies import Request, find_study
from protolabel.experiments.studies.sampling import RATES
from protolabel.experiments.studies.sensitivity import Sweep, held_values
from protolabel.experiments.studies.study import Material
from protolabel.experiments.studies.sweep import SweepPoint
from protolabel.experiments.studies.writing import csv_text
from protolabel.experiments.unit import Arm
from protolabel.methods import CONCENTRATIONS, LOSS_WEIGHTS

METRICS = ("accuracy", "micro_f1", "macro_f1", "average_precision", "ranking_loss")


def records_of(protocols, value=lambda unit: 0.5, times=lambda unit: Times(), folds=None):
    return tuple(
        make_record(
            unit.dataset,
            unit.method,
            dict.fromkeys(METRICS, value(unit)),
            fold=unit.fold,
            n_folds=unit.n_folds,
            arm=unit.arm,
            times=times(unit),
        )
        for protocol in protocols
        for unit in protocol.units()
        if folds is None or unit.fold in folds
    )


def findings_of(name, request, tmp_path, **options):
    study = find_study(name)
    records = records_of(study.protocols(request), **options)
    return study.findings(Material(request, tmp_path, records))


def rows_of(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_sensitivity_varies_one_parameter_at_a_time():
    (protocol,) = find_study("sensitivity").protocols(Request())
    assert protocol.datasets == ("emotions",)
    assert (protocol.n_folds, protocol.seed) == (5, 0)
    found = [dict(arm.settings) for arm in protocol.arms]
    assert {arm.method for arm in protocol.arms} == {"pnml-multiple"}
    assert all(len(settings) == 1 for settings in found)
    for name, grid in {
        "metric_penalty": LOSS_WEIGHTS,
        "correlation_penalty": LOSS_WEIGHTS,
        "concentration": CONCENTRATIONS,
    }.items():
        assert tuple(s[name] for s in found if name in s) == grid


def test_single_prototypes_have_no_concentration_to_vary():
    (protocol,) = find_study("sensitivity").protocols(Request(methods=("pnml-single",)))
    names = {name for arm in protocol.arms for name, _ in arm.settings}
    assert names == {"metric_penalty", "correlation_penalty"}


def test_sensitivity_reports_the_range_of_the_means(tmp_path):
    def value(unit):
        penalty = dict(unit.settings).get("metric_penalty", 0)
        return 0.5 + 10 * penalty + 0.1 * unit.fold

    found = findings_of("sensitivity", Request(n_folds=2), tmp_path, value=value)
    assert found.summary == {
        "emotions pnml-multiple metric_penalty": pytest.approx(10 * (1e-2 - 1e-7)),
        "emotions pnml-multiple correlation_penalty": 0.0,
        "emotions pnml-multiple concentration": 0.0,
    }
    rows = rows_of(found.tables[0])
    assert len(rows) == 28 * 5
    assert rows[0]["mean"] == pytest.approx(0.55 + 1e-6)
    assert rows[0]["sd"] == pytest.approx(0.1 / 2**0.5)
    published = found.sections[1].rows[0]
    assert published[-2:] == ("0.648", "-0.098")


def test_sampling_runs_single_prototypes_on_arts_at_all_rates():
    (protocol,) = find_study("sampling").protocols(Request())
    assert protocol.datasets == ("arts",)
    assert {arm.method for arm in protocol.arms} == {"pnml-single"}
    found = [dict(arm.settings) for arm in protocol.arms]
    assert [(s["positive_rate"], s["negative_rate"]) for s in found] == [
        (float(a), float(b)) for a, b in RATES
    ]


def test_sampling_sums_the_time_of_the_folds(tmp_path):
    def times(unit):
        rate = dict(unit.settings)["negative_rate"]
        return Times(fit=2 * rate, fit_cpu=rate)

    request = Request(n_folds=3, datasets=(SMALL,))
    found = findings_of("sampling", request, tmp_path, times=times)
    rows = [row for row in rows_of(found.tables[0]) if row["metric"] == "micro_f1"]
    assert [row["fit_cpu_seconds"] for row in rows] == pytest.approx([3 * b for _, b in RATES])
    assert [row["fit_seconds"] for row in rows] == pytest.approx([6 * b for _, b in RATES])
    assert [row["folds"] for row in rows] == [3] * len(RATES)
    assert [row[-1] for row in found.sections[0].rows] == [f"{b:.2f}" for _, b in RATES]


def test_runtime_uses_the_rates_of_the_paper_and_one_fold():
    study = find_study("runtime")
    assert study.first_folds == 1
    protocols = {protocol.datasets: protocol for protocol in study.protocols(Request())}
    assert len(protocols) == 10
    for arm in protocols["corel5k",].arms:
        assert dict(arm.settings) == {"positive_rate": 0.5, "negative_rate": 0.05}
    for arm in protocols["emotions",].arms:
        assert dict(arm.settings) == {"positive_rate": 1.0, "negative_rate": 0.5}


def test_runtime_compares_hours(tmp_path):
    def times(unit):
        return Times(fit=36.0 if unit.method == "pnml-single" else 72.0, fit_cpu=1.0)

    request = Request(datasets=("arts", SMALL))
    found = findings_of("runtime", request, tmp_path, times=times, folds={0})
    rows = rows_of(found.tables[0])
    single = rows[0]
    assert (single["dataset"], single["method"]) == ("arts", "pnml-single")
    assert single["fit_hours"] == pytest.approx(0.01)
    assert single["published_hours"] == 0.071
    assert single["difference_hours"] == pytest.approx(-0.061)
    assert single["speedup"] == pytest.approx(7.1)
    assert rows[2]["published_hours"] is None
    assert found.sections[1].rows[0] == ("arts", "1.0", "8.4")


def test_missing_points_are_left_out_of_tables(tmp_path):
    study, request = find_study("sampling"), Request(datasets=(SMALL,))
    records = records_of(study.protocols(request))[:5]
    found = study.findings(Material(request, tmp_path, records))
    assert len(found.tables[0].rows) == 5


def test_sampling_stands_beside_the_main_table(tmp_path):
    found = findings_of("sampling", Request(n_folds=2), tmp_path)
    row = rows_of(found.tables[0])[0]
    assert (row["dataset"], row["metric"]) == ("arts", "accuracy")
    assert row["difference"] == pytest.approx(0.5 - row["published"])
    assert found.sections[0].rows[0][1] == (
        f"0.500 ± 0.000 ({row['published']:.3f}, {row['difference']:+.3f})"
    )


def test_held_values_are_those_of_the_records_not_of_the_present_preset():
    def point(**params):
        record = make_record("emotions", "pnml-multiple", dict.fromkeys(METRICS, 0.5))
        made_with = replace(record, configuration={"params": params})
        return SweepPoint("emotions", record.unit.arm, (made_with,))

    base = Arm("pnml-multiple")
    sweeps = [
        Sweep("emotions", base, "metric_penalty", {1.0: point(metric_penalty=9, concentration=7)}),
        Sweep("emotions", base, "concentration", {1.0: point(metric_penalty=3, concentration=8)}),
    ]
    assert held_values(sweeps) == {"concentration": [7], "metric_penalty": [3]}


def test_a_single_fold_has_no_deviation(tmp_path):
    found = findings_of("sampling", Request(datasets=(SMALL,)), tmp_path, folds={0})
    assert found.sections[0].rows[0][1] == "0.500"
    assert csv_text(found.tables[0]).splitlines()[1].split(",")[-7:-4] == ["0.5", "", ""]


def test_every_ingredient_is_changed_from_its_base_and_computed_once():
    (protocol,) = find_study("ingredients").protocols(Request())
    assert len(protocol.datasets) >= 10
    assert len(set(protocol.arms)) == len(protocol.arms)
    settings = [dict(arm.settings) for arm in protocol.arms]
    assert {} in settings
    # The network alone is a change of the whole, and the base of the second table.
    assert settings.count({"n_landmarks": 0, "n_trees": 0}) == 1
    assert {"class_prior": "uniform", "n_landmarks": 0, "n_trees": 0} in settings


def test_an_ingredient_pays_where_the_change_is_worse(tmp_path):
    def value(unit):
        return 0.25 if dict(unit.settings).get("n_trees") == 0 else 0.75

    request = Request(datasets=("emotions", "yeast"))
    findings = findings_of("ingredients", request, tmp_path, value=value)
    whole, effort, network = findings.sections
    assert [section.title for section in findings.sections] == [
        *("The whole", "Effort", "The network alone")
    ]
    row = next(row for row in whole.rows if row[0] == "without the forest")
    # A smaller ranking loss is better, so half as much of it counts against the base.
    assert row[1].startswith("+0.500 (2/0)")
    assert row[5].startswith("-0.500 (0/2)")
    for row in (effort.rows[1], network.rows[1]):
        assert all(cell.startswith("+0.000 (0/0)") for cell in row[1:6])
    assert findings.summary["without the forest (The whole)"]["accuracy"] == 0.5


def test_datasets_that_lack_a_variant_are_left_out(tmp_path):
    study = find_study("ingredients")
    request = Request(datasets=("emotions", "yeast"))
    records = records_of(study.protocols(request))
    short = [r for r in records if not (r.unit.dataset == "yeast" and r.unit.settings == ())]
    whole, effort, network = study.findings(Material(request, tmp_path, tuple(short))).sections
    assert "Over emotions:" in whole.text
    assert "Over emotions:" in effort.text
    assert "Over emotions, yeast:" in network.text
