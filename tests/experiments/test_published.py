"""The recount of the printed figures, value by value, as data, as functions and as a command."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from protolabel.cli.published import app
from protolabel.experiments.published import (
    METRICS,
    load_published,
    load_runtime,
    published_table,
    published_value,
    recount,
    signed_cases,
)
from protolabel.experiments.statistics import (
    bayesian_signed_rank,
    critical_difference,
    rank_methods,
    wilcoxon_all_pairs,
)

# (printed, PNML-single, PNML-multiple), counted by hand from the main table
MAIN_COUNTS = {
    "BR": ("73/0/2", "69/0/6", "72/0/3"),
    "ML-KNN": ("73/0/2", "71/0/4", "73/0/2"),
    "MLTSVM": ("72/1/2", "69/1/5", "72/1/2"),
    "JFSC": ("62/0/13", "61/2/12", "63/0/12"),
    "CAMEL": ("59/0/16", "54/1/20", "64/0/11"),
    "Parabel": ("24/1/5", "25/0/5", "25/1/4"),
}


@pytest.fixture(scope="module")
def counted():
    return recount()


@pytest.mark.parametrize("baseline", MAIN_COUNTS)
def test_wins_ties_and_losses_of_the_main_table(counted, baseline):
    printed, single, multiple = MAIN_COUNTS[baseline]
    found = {
        pair.method: pair
        for pair in counted.pairs
        if pair.table == "main" and pair.against == baseline and pair.printed is not None
    }
    assert str(found["PNML-single"].counted) == single
    assert str(found["PNML-multiple"].counted) == multiple
    assert {pair.printed for pair in found.values()} == {printed}
    expected = 20.368 if baseline == "Parabel" else 45.987
    for pair in found.values():
        assert pair.counted.threshold == pytest.approx(expected, abs=5e-4)
        assert pair.counted.is_superior


def test_wins_ties_and_losses_of_the_ablation(counted):
    found = {
        pair.against: pair for pair in counted.pairs if pair.table == "ablation" and pair.printed
    }
    assert (str(found["PNML-I"].counted), found["PNML-I"].printed) == ("70/1/4", "68/1/6")
    assert (str(found["PNML-D"].counted), found["PNML-D"].printed) == ("75/0/0", "75/0/0")


def test_every_pair_of_methods_is_counted(counted):
    main = [pair for pair in counted.pairs if pair.table == "main"]
    assert len(main) == 8 * 7 / 2
    assert len(counted.pairs) - len(main) == 3 * 2 / 2
    for pair in counted.pairs:
        assert pair.counted.n_cases == (30 if "Parabel" in (pair.method, pair.against) else 75)


def test_cases_in_which_all_baselines_are_beaten(counted):
    found = {best.method: (best.outright, best.with_ties, best.printed) for best in counted.best}
    assert found == {"PNML-single": (42, 43, 55), "PNML-multiple": (56, 58, 55)}


def test_printed_ranks_follow_the_competition_rule_but_for_three(counted):
    assert len(counted.ranks) == 37
    deviating = {
        (rank.metric, rank.method): (rank.printed, round(rank.competition_rank, 2))
        for rank in counted.ranks
        if abs(rank.printed - rank.competition_rank) > 0.005
    }
    assert deviating == {
        ("ranking_loss", "ML-KNN"): (5.73, 5.67),
        ("ranking_loss", "Parabel"): (4.93, 5.00),
        ("ranking_loss", "PNML-single"): (2.93, 2.80),
    }


def test_mid_ranks_sum_to_what_ranks_must_sum_to(counted):
    for metric, n_methods in zip(METRICS, (7, 7, 7, 8, 8), strict=True):
        ranks = [rank.mid_rank for rank in counted.ranks if rank.metric == metric]
        assert len(ranks) == n_methods
        assert sum(ranks) == pytest.approx(n_methods * (n_methods + 1) / 2)
        competition = [rank.competition_rank for rank in counted.ranks if rank.metric == metric]
        assert all(low <= mid for low, mid in zip(competition, ranks, strict=True))


def test_critical_differences_of_the_main_table(counted):
    found = [round(test.critical_difference, 3) for test in counted.metrics]
    assert found == [2.326, 2.326, 2.326, 2.711, 2.711]
    assert all(test.friedman.p_f < 1e-10 for test in counted.metrics)


def test_the_lead_over_jfsc_and_camel_is_not_significant_under_nemenyi():
    for metric, rival, gap in [("accuracy", "JFSC", 2.27), ("average_precision", "CAMEL", 1.10)]:
        table = published_table(metric)
        means = dict(zip(table.methods, rank_methods(table.values).mean(axis=0), strict=True))
        distance = means[rival] - means["PNML-multiple"]
        assert distance == pytest.approx(gap, abs=0.05)
        assert distance < critical_difference(len(table.methods), len(table.datasets))


def test_the_two_tables_disagree_about_pnml_multiple_where_the_paper_does():
    main = signed_cases("PNML-multiple")
    ablation = signed_cases("PNML-multiple", table="ablation")
    differing = {case for case in main if main[case] != ablation[case]}
    assert differing == {("emotions", metric) for metric in METRICS} | {
        (dataset, "macro_f1") for dataset in ("arts", "education", "bibtex")
    }


def test_tables_are_complete():
    assert len(load_published()) == 780
    for metric in METRICS:
        table = published_table(metric)
        assert len(table.datasets) == 15
        assert ("Parabel" in table.methods) == (metric in ("average_precision", "ranking_loss"))
        assert np.isfinite(table.values).all()
        assert published_table(metric, table="ablation").values.shape == (15, 3)


def test_single_values_are_found_and_absent_ones_are_none():
    assert published_value("emotions", "PNML-multiple", "accuracy") == 0.509
    assert published_value("emotions", "PNML-multiple", "accuracy", table="ablation") == 0.519
    assert published_value("emotions", "Parabel", "accuracy") is None
    assert published_value("yeast", "BR", "accuracy") is None


def test_runtimes_are_those_of_the_paper():
    times = {row.dataset: row for row in load_runtime()}
    assert len(times) == 10
    assert times["corel5k"].hours_multiple == 10.576
    assert (times["emotions"].n_samples, times["emotions"].n_labels) == (593, 6)
    assert all(row.hours_multiple > row.hours_single for row in times.values())


def test_further_tests_run_on_the_published_table():
    table = published_table("accuracy")
    ours, rival = (table.methods.index(name) for name in ("PNML-multiple", "MLTSVM"))
    pairs = {(pair.first, pair.second): pair for pair in wilcoxon_all_pairs(table.values)}
    pair = pairs[min(ours, rival), max(ours, rival)]
    assert pair.p_holm < 0.05
    comparison = bayesian_signed_rank(table.values[:, ours] - table.values[:, rival])
    assert comparison.decide() == "first"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: published_table("f1"), "metric is 'f1', expected one of accuracy, micro_f1"),
        (lambda: published_table("accuracy", table="x"), "table is 'x', expected one of main"),
        (lambda: signed_cases("SVM"), "'main' has no method 'SVM'; it has BR, ML-KNN"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_command_prints_the_recount():
    result = CliRunner().invoke(app, ["recount"])
    assert result.exit_code == 0
    for text in ("69/0/6", "45.987", "20.368", "2.326", "2.711", "mid-rank", "70/1/4"):
        assert text in result.stdout
    assert "JFSC           CAMEL" not in result.stdout


def test_the_command_prints_one_json_object():
    result = CliRunner().invoke(app, ["recount", "--json"])
    payload = json.loads(result.stdout)
    assert payload["command"] == "published recount"
    pairs = payload["result"]["pairs"]
    camel = [p for p in pairs if p["method"] == "PNML-multiple" and p["against"] == "CAMEL"]
    assert camel[0]["counted"]["wins"] == 64
    assert camel[0]["counted"]["is_superior"] is True


def test_all_pairs_are_printed_on_request():
    result = CliRunner().invoke(app, ["recount", "--all-pairs"])
    assert result.stdout.count("\nmain") == 28


def test_the_command_prints_a_table():
    result = CliRunner().invoke(app, ["table", "--metric", "ranking_loss"])
    assert result.exit_code == 0
    assert "smaller is better" in result.stdout
    assert result.stdout.count("\n") == 18
    payload = json.loads(CliRunner().invoke(app, ["table", "--json"]).stdout)
    assert np.array(payload["result"]["values"]).shape == (15, 7)


def test_an_unknown_metric_is_a_usage_error():
    result = CliRunner().invoke(app, ["table", "--metric", "f1"])
    assert result.exit_code == 2
    assert "expected one of accuracy" in " ".join(result.output.split())


def test_the_command_draws_a_diagram_and_does_not_overwrite_it(tmp_path):
    path = tmp_path / "cd.svg"
    first = CliRunner().invoke(app, ["diagram", "-o", str(path)])
    assert first.exit_code == 0
    assert "2.326" in first.stdout
    drawing = path.read_text()
    assert drawing.count("<text") >= 7 + 7
    assert "PNML-multiple 1.33" in drawing
    again = CliRunner().invoke(app, ["diagram", "-o", str(path)])
    assert again.exit_code == 2
    assert CliRunner().invoke(app, ["diagram", "-o", str(path), "--force"]).exit_code == 0


def test_the_command_module_imports_nothing_heavy():
    code = (
        "import sys, protolabel.cli.published;"
        "print([m for m in ('torch', 'sklearn', 'numpy', 'scipy', 'pandas') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
