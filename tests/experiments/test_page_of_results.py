"""The tables of the page of results are the means of the committed records."""

import re
from pathlib import Path
from statistics import median, stdev

import pytest

from protolabel.experiments.comparison import rank_arms
from protolabel.experiments.store import RecordStore
from protolabel.experiments.tables import METRIC_TITLES, fold_means
from protolabel.methods import METHODS

ROOT = Path(__file__).parents[2]
# Where each table of the page has its values from, by the heading it stands under.
RUNS = {
    "All methods beside the published table": "main/run",
    "The artefact of the published ML-KNN row": "as-published",
    "Against every method, with the same thresholds": "comparison/run",
    "Settings of peers": "peer-settings",
    "The networks alone": "networks",
    "More methods": "comparison-more/run",
    "Further datasets": "further",
    "A dataset that nothing was chosen on": "confirmation/run",
}


def rows_by_heading():
    """Dataset, method and values of every row of a table of both, by heading."""
    found, heading, is_inside = {}, "", False
    for line in (ROOT / "docs" / "results.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif cells[:2] == ["data", "method"]:
            is_inside = True
        elif not line.startswith("|"):
            is_inside = False
        elif is_inside and not line.startswith("|-"):
            found.setdefault(heading, []).append(cells)
    return found


def means_of(run):
    records = RecordStore(ROOT / "results" / run).read()
    found = {}
    for (dataset, arm), values in fold_means(records).items():
        title = "Networks alone" if run == "networks" else METHODS[arm.method].title
        assert (dataset, title) not in found
        found[dataset, title] = values
    return found


@pytest.mark.parametrize("heading", RUNS)
def test_every_row_has_the_means_of_its_records(heading):
    rows, means = rows_by_heading()[heading], means_of(RUNS[heading])
    assert rows
    for dataset, method, *cells in rows:
        for metric, cell in zip(METRIC_TITLES, cells, strict=True):
            shown = re.match(r"\**(\d?\.\d+)", cell)
            value = means[dataset, method][metric]
            assert shown, f"{dataset} {method}: {cell}"
            assert shown[1] == f"{value:.3f}".removeprefix("0"), f"{dataset} {method} {metric}"


def test_the_largest_comparison_is_shown_whole():
    heading = "Against every method, with the same thresholds"
    shown = {(dataset, method) for dataset, method, *_ in rows_by_heading()[heading]}
    assert shown == set(means_of(RUNS[heading]))


@pytest.mark.parametrize(
    ("run", "methods"), [("networks", ("pnml", "camel")), ("another-processor", ("pnml",))]
)
def test_the_ranks_of_other_runs_are_those_in_place_of_the_whole(run, methods):
    runs = [RecordStore(ROOT / "results" / name).read() for name in ("comparison/run", run)]
    records = [record for record in runs[0] if record.unit.method != "pnml"] + runs[1]
    ranks = {}
    for metric in METRIC_TITLES:
        ranking = rank_arms(records, metric)
        for arm, rank in zip(ranking.table.arms, ranking.average_ranks, strict=True):
            ranks.setdefault(arm.method, []).append(f"{rank:.2f}")
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for method in methods:
        assert " / ".join(ranks[method]) in page


def test_the_differences_of_another_processor_are_those_of_its_records():
    whole, other = means_of("comparison/run"), means_of("another-processor")
    assert len(other) == 19
    values = []
    for metric in METRIC_TITLES:
        differences = [other[cell][metric] - whole[cell][metric] for cell in other]
        values.append(f"{sum(differences) / len(differences):+.4f}".replace("0.", ".", 1))
        assert max(map(abs, differences)) < (0.0065 if metric == "macro_f1" else 0.003)
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert " / ".join(values) in page


def test_the_ranks_of_all_methods_are_those_of_the_datasets_that_have_all_of_them():
    found = {}
    for run in ("comparison/run", "comparison-more/run"):
        for record in RecordStore(ROOT / "results" / run).read():
            found[record.unit] = record
    methods = {}
    for unit in found:
        methods.setdefault(unit.dataset, set()).add(unit.method)
    whole = {dataset for dataset, known in methods.items() if len(known) == 14}
    assert whole == {
        "arts",
        "bibtex",
        "cal500",
        "corel16k001",
        "corel5k",
        "education",
        "emotions",
        "enron",
        "flags",
        "genbase",
        "image",
        "ohsumed",
        "rcv1-s1",
        "rcv1-s3",
        "scene",
        "science",
        "stackex-cs",
        "tmc2007-500",
        "yeast",
    }
    ranks = {}
    for metric in METRIC_TITLES:
        ranking = rank_arms([r for r in found.values() if r.unit.dataset in whole], metric)
        for arm, rank in zip(ranking.table.arms, ranking.average_ranks, strict=True):
            ranks.setdefault(METHODS[arm.method].title, []).append(f"{rank:.2f}")
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for title, values in ranks.items():
        assert f"| {title} | {' | '.join(values)} |" in page


def test_the_code_under_a_table_gives_its_numbers(monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    section = page.split("\n### More methods\n")[1].split("\n## ")[0]
    ranks, saved = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    names = {}
    exec(ranks, names)
    ranking = names["ranking"]
    for arm, rank in zip(ranking.table.arms, ranking.average_ranks, strict=True):
        [row] = [
            line
            for line in section.splitlines()
            if line.startswith(f"| {METHODS[arm.method].title} | ")
        ][:1]
        assert row.split("|")[4].strip() == f"{rank:.2f}"
    exec(saved, names)
    found = names["bayesian_signed_rank"](names["saved"])
    [row] = [line for line in section.splitlines() if line.startswith("| XGBoost | **")]
    shown = re.fullmatch(r"(\d\.\d+) \((\d\.\d+)\)", row.split("|")[6].strip())
    assert shown
    assert float(shown[1]) == pytest.approx(found.first_better, abs=0.005)
    assert float(shown[2]) == pytest.approx(found.equivalent, abs=0.005)


def test_no_table_with_values_of_methods_is_left_out():
    assert set(rows_by_heading()) == set(RUNS)


def test_the_table_of_compact_models_has_the_means_of_their_records():
    means = means_of("compact/run") | means_of("comparison/run")
    page = (ROOT / "docs" / "ingredients.md").read_text(encoding="utf-8")
    titles = ["PNML (fast)", "PNML (compact)", "PNML (recommended)"]
    datasets = {dataset for dataset, title in means if title == titles[1]}
    assert len(datasets) == 12
    for dataset in datasets:
        shown = [
            " / ".join(f"{means[dataset, title][m]:.3f}".removeprefix("0") for m in METRIC_TITLES)
            for title in titles
        ]
        assert f"| *{dataset}* | {' | '.join(shown)} |" in page


def test_the_spread_between_folds_is_that_of_the_comparison():
    cells = {}
    for record in RecordStore(ROOT / "results" / "comparison" / "run").read():
        for metric in METRIC_TITLES:
            key = (record.unit.dataset, record.unit.method, metric)
            cells.setdefault(key, []).append(record.metrics[metric])
    found = [stdev(values) for values in cells.values()]
    share = sum(value < 0.005 for value in found) / len(found)
    said = (
        f"{median(found):.3f} on the median, below .005 in {100 * share:.0f} % of the cells and "
        f"up to {max(found):.3f}"
    )
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert said.replace("0.", ".") in page
