"""Main results, statistics and ablation, given records that repeat the published values."""

import pytest

from experiments.studies.quick import make_record, published_records
from protolabel.experiments.published import recount
from protolabel.experiments.store import RecordStore
from protolabel.experiments.studies import Request, find_study
from protolabel.experiments.studies.ablation import count_wins
from protolabel.experiments.studies.beside_published import compare_cells
from protolabel.experiments.studies.main_results import rank_rows
from protolabel.experiments.studies.scores import own_scores, published_scores
from protolabel.experiments.studies.statistics import (
    bayesian_rows,
    friedman_rows,
    sign_rows,
)
from protolabel.experiments.studies.statistics import (
    rank_rows as average_ranks,
)
from protolabel.experiments.studies.study import Material

METRICS = ("accuracy", "micro_f1", "macro_f1", "average_precision", "ranking_loss")


@pytest.fixture(scope="module")
def records():
    return published_records()


def material(tmp_path, records):
    return Material(Request(), tmp_path / "main" / "run", tuple(records))


def looking_at(folder, run):
    return Material(Request(records=str(folder)), run, ())


def test_records_of_the_published_values_differ_from_them_nowhere(records):
    cells = [cell for cell in compare_cells(records) if cell.published is not None]
    assert len(cells) == 7 * 75 + 30
    assert max(abs(cell.difference) for cell in cells) == 0


def test_a_difference_is_ours_minus_published():
    metrics = dict.fromkeys(METRICS, 0.5)
    (cell,) = [
        cell
        for cell in compare_cells([make_record("emotions", "pnml-single", metrics)])
        if cell.metric == "accuracy"
    ]
    assert cell.published == 0.489
    assert str(cell) == "0.500 (0.489, +0.011)"


def test_a_method_that_the_paper_has_not_stands_alone():
    metrics = dict.fromkeys(METRICS, 0.5)
    cells = compare_cells([make_record("emotions", "pnml", metrics)])
    assert [str(cell) for cell in cells] == ["0.500"] * 5


def test_deviations_have_one_degree_of_freedom_less():
    pair = [
        make_record("emotions", "br", dict.fromkeys(METRICS, value), fold=fold, n_folds=2)
        for fold, value in enumerate((0.4, 0.6))
    ]
    cell = compare_cells(pair)[0]
    assert (cell.mean, cell.n_folds) == (0.5, 2)
    assert cell.deviation == pytest.approx(0.02**0.5)


def test_ranks_of_the_published_values_are_the_recounted_mid_ranks(records):
    expected = {(rank.metric, rank.method): rank.mid_rank for rank in recount().ranks}
    found = rank_rows(records)
    assert len(found) == len(expected) == 3 * 7 + 2 * 8
    for metric, method, among_all, shared, published, n_datasets in found:
        assert among_all == shared == published == pytest.approx(expected[metric, method])
        assert n_datasets == 15


def test_only_methods_of_both_tables_are_ranked_beside_the_paper(records):
    some = [record for record in records if record.unit.dataset in {"emotions", "scene"}]
    best = [
        make_record(name, "pnml", {m: float(m != "ranking_loss") for m in METRICS})
        for name in ("emotions", "scene")
    ]
    found = {row[1]: row for row in rank_rows([*some, *best]) if row[0] == "accuracy"}
    assert found["PNML (recommended)"][2:5] == (1.0, None, None)
    for name, row in found.items():
        if name != "PNML (recommended)":
            assert row[3] == row[4] == row[2] - 1


def test_unfinished_datasets_are_not_ranked(records):
    kept = [r for r in records if (r.unit.dataset, r.unit.method) != ("emotions", "br")]
    assert {len(scores.datasets) for scores in own_scores(kept)} == {14}


def test_main_writes_cells_ranks_and_a_drawing(tmp_path, records):
    found = find_study("main").findings(material(tmp_path, records))
    assert [table.name for table in found.tables] == ["main", "ranks"]
    assert found.summary == {"n_cells": 600, "n_compared": 555, "largest_difference": 0.0}
    assert found.sections[0].drawings
    titles = [section.title for section in found.sections]
    assert titles[1:] == [
        "Accuracy (larger is better)",
        "Micro-F1 (larger is better)",
        "Macro-F1 (larger is better)",
        "Avg. prec. (larger is better)",
        "Rank. loss (smaller is better)",
        "Average ranks",
    ]


def test_statistics_of_such_records_are_those_of_the_published_values(records):
    ours, theirs = own_scores(records), published_scores()
    signs = [row[1:10] for row in sign_rows("own", ours)]
    assert sorted(signs) == sorted(row[1:10] for row in sign_rows("published", theirs))
    assert [row[1:] for row in friedman_rows("own", ours)] == [
        row[1:] for row in friedman_rows("published", theirs)
    ]
    assert sorted(row[1:] for row in average_ranks("own", ours)) == sorted(
        row[1:] for row in average_ranks("published", theirs)
    )


def test_sign_counts_are_the_known_recount():
    found = {(row[1], row[2]): row for row in sign_rows("published", published_scores())}
    expected = {
        "BR": ((69, 0, 6), (72, 0, 3)),
        "ML-KNN": ((71, 0, 4), (73, 0, 2)),
        "MLTSVM": ((69, 1, 5), (72, 1, 2)),
        "JFSC": ((61, 2, 12), (63, 0, 12)),
        "CAMEL": ((54, 1, 20), (64, 0, 11)),
        "Parabel": ((25, 0, 5), (25, 1, 4)),
    }
    for against, counts in expected.items():
        for method, count in zip(("PNML-single", "PNML-multiple"), counts, strict=True):
            assert found[method, against][3:6] == count
            assert found[method, against][8] == "yes"
    assert found["PNML-multiple", "BR"][10] == "73/0/2"
    assert ("PNML-multiple", "PNML-single") in found
    assert ("PNML-single", "PNML-multiple") not in found


def test_critical_differences_are_those_of_seven_and_eight_methods():
    found = {row[1]: round(row[8], 3) for row in friedman_rows("published", published_scores())}
    assert found["accuracy"] == 2.326
    assert found["ranking_loss"] == 2.711


def test_bayesian_probabilities_sum_to_one_and_ranking_loss_is_turned():
    rows = bayesian_rows("published", published_scores())
    assert len(rows) == 3 * 11 + 2 * 13
    for row in rows:
        assert sum(row[5:8]) == pytest.approx(1)
    (found,) = [r for r in rows if r[1:4] == ("ranking_loss", "PNML-multiple", "BR")]
    assert found[8] == "better"


def test_statistics_read_the_named_records_or_those_of_main(tmp_path, records):
    two = [record for record in records if record.unit.dataset in {"emotions", "scene"}]
    study, run = find_study("statistics"), tmp_path / "out" / "statistics" / "run"
    for folder, given in (
        (tmp_path / "named", looking_at(tmp_path / "named", run)),
        (tmp_path / "out" / "main" / "run", Material(Request(), run, ())),
    ):
        store = RecordStore(folder)
        for record in two:
            store.append(record)
        found = study.findings(given)
        assert {row[0] for row in found.tables[0].rows} == {"published", "own"}
        assert set(found.summary["n_own_datasets"].values()) == {2}


def test_records_without_all_folds_are_said_to_be_of_no_use(tmp_path):
    store = RecordStore(tmp_path / "named" / "run")
    for method in ("br", "pnml"):
        store.append(make_record("scene", method, dict.fromkeys(METRICS, 0.5), n_folds=2))
    given = looking_at(store.folder, tmp_path / "statistics" / "run")
    found = find_study("statistics").findings(given)
    assert {row[0] for row in found.tables[0].rows} == {"published"}
    assert dict(found.facts)["own records"].startswith("those of `named/run` are of no use")


def test_a_named_folder_without_records_is_refused(tmp_path):
    given = looking_at(tmp_path / "nothing", tmp_path / "statistics" / "run")
    with pytest.raises(ValueError, match="holds no records"):
        find_study("statistics").findings(given)


def test_ablation_counts_are_the_known_recount():
    cells = compare_cells(published_records("ablation"), table="ablation")
    assert count_wins(cells) == [("PNML-I", 70, 1, 4, "70/1/4"), ("PNML-D", 75, 0, 0, "75/0/0")]


def test_ablation_is_set_beside_its_own_table():
    metrics = dict.fromkeys(METRICS, 0.5)
    records = [make_record("emotions", "pnml-multiple", metrics)]
    by_table = {t: compare_cells(records, table=t)[0].published for t in ("main", "ablation")}
    assert by_table == {"main": 0.509, "ablation": 0.519}


def test_ablation_counts_only_what_was_run(tmp_path):
    records = [r for r in published_records("ablation") if r.unit.dataset == "emotions"]
    found = find_study("ablation").findings(material(tmp_path, records))
    assert sum(found.tables[1].rows[0][1:4]) == 5
