"""Which method is best? The same folds and metrics for each, and a page with all of it.

Three folds of the bundled *yeast* genes, in one process; `protolabel benchmark run` does the same
for any dataset, over several processes or a cluster, and goes on where it was stopped.

    python examples/compare_methods.py [FOLDER]      FOLDER receives the page
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from protolabel.experiments.comparison import rank_arms
from protolabel.experiments.engines.sequential import SequentialEngine
from protolabel.experiments.folder import RunFolder
from protolabel.experiments.protocol import Protocol, plan_arms
from protolabel.experiments.runner import run_missing
from protolabel.experiments.tables import METRIC_TITLES, arm_title, fold_means
from protolabel.report import run_report

METHODS = ["pnml-fast", "pnml-single", "ml-knn", "camel", "logistic-regression"]
SHORT = {name: {"max_epochs": 10} for name in METHODS if name.startswith("pnml")}


def main(folder: Path | None) -> None:
    """Compute what has no record yet, print the means over the folds, write the page."""
    arms = plan_arms(METHODS, settings=SHORT)
    protocol = Protocol(datasets=("yeast",), arms=arms, n_folds=3, seed=0)
    with TemporaryDirectory() as place:
        run = RunFolder(Path(place) / "comparison")
        run.add(protocol)
        records = run_missing(run, engine=SequentialEngine())
        titles = "".join(f"{title:>12}" for title in METRIC_TITLES.values())
        print(f"{'yeast, mean of 3 folds':<32}{titles}")
        for (_, arm), means in fold_means(records).items():
            cells = "".join(f"{means[metric]:>12.3f}" for metric in METRIC_TITLES)
            print(f"{arm_title(arm):<32}{cells}")
        ranking = rank_arms(records, "average_precision")
        best = ranking.table.arms[ranking.average_ranks.index(min(ranking.average_ranks))]
        print(f"Highest average precision: {arm_title(best)}")
        if folder is not None:
            page = run_report(run.path)
            (folder / "compare_methods.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
