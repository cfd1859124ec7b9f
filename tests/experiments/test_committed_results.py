"""The committed records support what the documentation says of them."""

from pathlib import Path

import numpy as np
import pytest

from protolabel.experiments.published import load_published, published_value
from protolabel.experiments.statistics import rank_methods
from protolabel.experiments.store import RecordStore
from protolabel.experiments.tables import METRIC_TITLES, fold_means
from protolabel.experiments.unit import Arm

RESULTS = Path(__file__).parents[2] / "results"
RUNS = (RESULTS / "main" / "run", RESULTS / "further")
LARGER_IS_BETTER = {name: name != "ranking_loss" for name in METRIC_TITLES}


@pytest.fixture(scope="module")
def means():
    return fold_means(committed_records())


def committed_records():
    return [record for run in RUNS for record in RecordStore(run).read()]


def at_least(value, bound, metric):
    return value >= bound if LARGER_IS_BETTER[metric] else value <= bound


def test_every_mean_is_over_five_folds():
    folds = {}
    for record in committed_records():
        unit = record.unit
        folds.setdefault((unit.dataset, unit.arm), []).append(unit.fold)
    assert all(sorted(found) == [0, 1, 2, 3, 4] for found in folds.values())


@pytest.mark.parametrize(
    ("dataset", "method", "slack"),
    [
        ("emotions", "pnml-single", 0.01),
        ("emotions", "pnml-multiple", 0.01),
        ("scene", "pnml-single", 0.01),
        ("scene", "pnml-multiple", 0.01),
        ("image", "pnml-single", 0.01),
        ("image", "pnml-multiple", 0.02),  # the paper searched its settings, this is the preset
    ],
)
def test_the_paper_configuration_reaches_the_published_values(means, dataset, method, slack):
    for metric in METRIC_TITLES:
        value = published_value(dataset, method.replace("pnml", "PNML"), metric)
        bound = value - slack if LARGER_IS_BETTER[metric] else value + slack
        assert at_least(means[dataset, Arm(method)][metric], bound, metric)


@pytest.mark.parametrize("dataset", ["emotions", "scene", "image", "arts"])
@pytest.mark.parametrize("metric", METRIC_TITLES)
def test_the_recommended_configuration_is_ahead_of_all_methods(means, dataset, metric):
    ours = means[dataset, Arm("pnml")][metric]
    others = [
        values[metric]
        for (name, arm), values in means.items()
        if name == dataset and arm.method != "pnml"
    ]
    assert len(others) >= 7
    assert all(at_least(ours, value, metric) for value in others)


@pytest.mark.parametrize("metric", METRIC_TITLES)
@pytest.mark.parametrize("method", ["pnml-single", "pnml-multiple"])
def test_the_recommended_configuration_is_ahead_on_average(means, metric, method):
    datasets = ("emotions", "scene", "image", "yeast")
    recommended = np.mean([means[name, Arm("pnml")][metric] for name in datasets])
    paper = np.mean([means[name, Arm(method)][metric] for name in datasets])
    assert at_least(recommended, paper, metric)
    assert recommended != paper


def test_yeast_is_ranked_well(means):
    assert means["yeast", Arm("pnml")]["average_precision"] >= 0.77
    assert means["yeast", Arm("pnml")]["ranking_loss"] <= 0.168


def test_every_part_of_the_recommended_configuration_pays_in_the_mean():
    records = RecordStore(RESULTS / "ingredients" / "run").read()
    assert {record.unit.seed for record in records} == {1}  # not the folds of the results
    companions = Arm("pnml", settings=(("n_landmarks", 0), ("n_trees", 0)))
    regression = Arm("pnml", settings=(("n_landmarks", 0),))
    forests = Arm("pnml", settings=(("n_trees", 0),))
    # Forests bring no macro-F1 on this fold.
    pays = dict.fromkeys((companions, regression), tuple(METRIC_TITLES))
    pays[forests] = tuple(name for name in METRIC_TITLES if name != "macro_f1")
    found = fold_means(records)
    datasets = sorted({dataset for dataset, _ in found})
    assert len(datasets) == 10
    for without, metrics in pays.items():
        for metric in metrics:
            gains = [
                found[dataset, Arm("pnml")][metric] - found[dataset, without][metric]
                for dataset in datasets
            ]
            assert at_least(np.mean(gains), 0, metric)


def test_no_method_with_the_same_thresholds_has_a_better_average_rank():
    found = fold_means(RecordStore(RESULTS / "comparison" / "run").read())
    arms = sorted({arm for _, arm in found}, key=lambda arm: arm.method)
    datasets = sorted({dataset for dataset, _ in found})
    assert (len(datasets), len(arms)) == (19, 9)
    assert all(arm.thresholds == "tuned" or arm.method == "pnml" for arm in arms)
    ours = arms.index(Arm("pnml"))
    for metric in METRIC_TITLES:
        values = [[found[dataset, arm][metric] for arm in arms] for dataset in datasets]
        ranks = rank_methods(values, larger_is_better=LARGER_IS_BETTER[metric]).mean(axis=0)
        assert ranks.argmin() == ours
        assert ranks[ours] <= (1.5 if metric == "macro_f1" else 1.15)


@pytest.mark.parametrize("metric", METRIC_TITLES)
def test_the_dataset_that_nothing_was_chosen_on_confirms_the_comparison(metric):
    found = fold_means(RecordStore(RESULTS / "confirmation" / "run").read())
    compared = fold_means(RecordStore(RESULTS / "comparison" / "run").read())
    assert {arm for _, arm in found} == {arm for _, arm in compared}
    ours = found["rcv1-s5", Arm("pnml")][metric]
    published = [
        entry.value
        for entry in load_published()
        if (entry.table, entry.dataset, entry.metric) == ("main", "rcv1-s5", metric)
    ]
    assert len(published) >= 7
    others = [values[metric] for (_, arm), values in found.items() if arm.method != "pnml"]
    for bound in (*published, *others):
        assert at_least(ours, bound, metric)


def test_few_cells_are_below_the_best_published_value_and_only_in_digits_not_printed():
    runs = (*RUNS, RESULTS / "comparison" / "run")
    found = fold_means([record for run in runs for record in RecordStore(run).read()])
    best = {}
    for entry in load_published():
        if entry.table == "main":
            best.setdefault((entry.dataset, entry.metric), []).append(entry.value)
    below = set()
    for (dataset, arm), values in found.items():
        for metric in METRIC_TITLES if arm == Arm("pnml") else ():
            if (dataset, metric) in best:
                choose = max if LARGER_IS_BETTER[metric] else min
                bound = choose(best[dataset, metric])
                if not at_least(values[metric], bound, metric):
                    below.add((dataset, metric))
                    assert abs(values[metric] - bound) < 0.0005
    of_genbase = ("accuracy", "micro_f1", "average_precision")
    assert below == {("corel5k", "macro_f1"), *(("genbase", metric) for metric in of_genbase)}
