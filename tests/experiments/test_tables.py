from dataclasses import replace

import pytest
from rich.console import Console

from protolabel.experiments.comparison import differences, rank_arms, score_table
from protolabel.experiments.live import LiveView
from protolabel.experiments.tables import comparison_table, fold_means, fold_spreads


def cell(record, shift=0.0, **changes):
    metrics = {name: value + shift for name, value in record.metrics.items()}
    return replace(record, unit=replace(record.unit, n_folds=1, **changes), metrics=metrics)


def test_means_over_folds_are_plain_means_of_what_succeeded(record):
    second, failed = cell(record, 0.1, fold=1), cell(record, 0.3, fold=2)
    failed = replace(failed, status="failed", metrics={}, error="no")
    (means,) = fold_means([record, second, failed]).values()
    assert means["accuracy"] == pytest.approx(0.55)
    assert comparison_table([record, second]).row_count == 1


def test_a_mean_does_not_depend_on_the_order_of_the_records(record):
    records = [cell(record, shift, fold=i) for i, shift in enumerate((0.1, 1e-9, 0.3, 1e-17))]
    assert fold_means(records) == fold_means(records[::-1])


def test_published_values_stand_beside_ours(record):
    console = Console(width=160)
    with console.capture() as captured:
        console.print(comparison_table([cell(record, dataset="emotions", settings=())]))
    assert "0.500 (0.489)" in captured.get()


def test_arms_are_ranked_on_the_datasets_that_all_of_them_finished(record):
    records = [
        cell(record, shift, dataset=dataset, method=method)
        for dataset, shifts in (("yeast", (0.0, 0.1)), ("scene", (0.2, 0.1)), ("image", (0.0, 0.2)))
        for method, shift in zip(("pnml-single", "pnml-multiple"), shifts, strict=True)
    ]
    records.append(cell(record, dataset="emotions"))
    table = score_table(records, "accuracy")
    assert table.datasets == ("yeast", "scene", "image")
    assert [arm.method for arm in table.arms] == ["pnml-single", "pnml-multiple"]
    ranking = rank_arms(records, "accuracy")
    assert ranking.average_ranks == pytest.approx((5 / 3, 4 / 3))
    assert rank_arms(records, "ranking_loss").average_ranks == pytest.approx((4 / 3, 5 / 3))
    assert 0 < ranking.friedman.p_f < 1


def test_folds_of_different_seeds_make_no_whole(record):
    halves = [(0, 0), (1, 1)]
    records = [
        replace(record, unit=replace(record.unit, n_folds=2, seed=seed, fold=fold, method=method))
        for method, units in (("pnml-single", [(0, 0), (0, 1)]), ("pnml-multiple", halves))
        for seed, fold in units
    ]
    assert score_table(records[:2], "accuracy").datasets == (record.unit.dataset,)
    assert score_table(records, "accuracy").datasets == ()


def test_ranks_need_a_dataset_that_all_finished(record):
    records = [cell(record, dataset="yeast"), cell(record, dataset="scene", method="pnml")]
    with pytest.raises(
        ValueError, match="no dataset on which all methods have all folds of the same seeds"
    ):
        rank_arms(records, "accuracy")


def test_two_runs_are_compared_on_what_they_share(record):
    first = [cell(record, fold=0), cell(record, 0.5, fold=1)]
    second = [cell(record, 0.1, fold=0), cell(record, method="pnml")]
    found = {difference.metric: difference for difference in differences(first, second)}
    assert (found["accuracy"].first, found["accuracy"].second) == (0.5, 0.6)
    assert found["accuracy"].gain == pytest.approx(0.1)
    assert found["ranking_loss"].gain == pytest.approx(-0.1)
    assert differences(first, [cell(record, method="pnml")]) == []


def test_the_view_shows_what_is_done_running_failed_and_left(record):
    console = Console(force_terminal=True, width=120)
    units = [replace(record.unit, fold=fold) for fold in range(3)]
    with console.capture() as captured, LiveView(console, n_workers=2) as view:
        view.begin(units, [record])
        failed = replace(record, unit=units[1], status="failed", metrics={}, error="E: it broke")
        view.finish(failed)
        view._progress.refresh()
    text = captured.get()
    assert "2/3 done" in text
    assert "1 running, 1 failed, about 0:00:01 left" in text
    assert "fold 2/3: FAILED, E: it broke" in text


def test_the_view_prints_a_line_for_each_unit_where_there_is_no_terminal(record, capsys):
    with LiveView(Console(width=200), n_workers=2) as view:
        view.begin([record.unit], [])
        view.finish(record)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("fold 1/3: average precision 0.700, 1.1 s")


def test_folds_of_several_seeds_are_counted_as_such(record):
    records = [cell(record, fold=0, seed=seed) for seed in (0, 1)]
    console = Console(width=160)
    with console.capture() as captured:
        console.print(comparison_table(records))
    assert "2/2 of 2 seeds" in captured.get()


def test_standard_deviations_between_folds_are_shown(record):
    records = [cell(record, shift, fold=fold) for fold, shift in enumerate((0.0, 0.1))]
    ((_, found),) = fold_spreads(records).items()
    assert found["accuracy"] == pytest.approx(0.1 / 2**0.5)
    console = Console(width=200)
    with console.capture() as captured:
        console.print(comparison_table(records, with_spread=True))
    assert "0.550 ±0.071" in captured.get()
