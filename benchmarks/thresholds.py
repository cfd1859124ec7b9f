"""What each threshold rule gains, in honest 5-fold cross-validation.

Usage: ``python benchmarks/thresholds.py [--model logistic|pnml] [dataset ...]``, with the data
folder in ``PROTOLABEL_DATA``. Thresholds come from the training part only: from five inner folds
for the logistic model, where all rules see the same scores, and from the cross-fitted members of
PNML in its recommended configuration. Exits with 1 if tuning for macro-F1 does not raise it or
tuning for micro-F1 lowers it with the row-wise rule.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from protolabel.classifier import PNMLClassifier
from protolabel.datasets import load_dataset
from protolabel.decision.thresholds import (
    DecisionRule,
    match_cardinality,
    tune_global,
    tune_per_label,
    tune_prior_tilted,
    tune_rowwise,
)
from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

DATASETS = ("enron", "arts")
OBJECTIVES = ("balanced", "micro_f1", "macro_f1")
SHOWN = ("accuracy", "micro_f1", "macro_f1")


def make_model() -> Any:
    logistic = LogisticRegression(C=10, max_iter=300, solver="liblinear")
    return make_pipeline(TfidfTransformer(), OneVsRestClassifier(logistic))


def out_of_fold(X: Any, Y: np.ndarray) -> np.ndarray:
    """Score each row by a model trained without it."""
    scores = np.empty(Y.shape)
    for train, test in MultilabelStratifiedKFold(5, random_state=1).split(X, Y):
        scores[test] = clone(make_model()).fit(X[train], Y[train]).decision_function(X[test])
    return scores


def decisions_by_rule(scores: np.ndarray, Y: np.ndarray) -> dict[str, DecisionRule]:
    """Tune every rule on the same held-out scores."""
    found = {
        "fixed": DecisionRule.of(np.zeros(Y.shape[1])),
        "cardinality": match_cardinality(scores, Y.sum() / len(Y)).decision,
    }
    for objective in OBJECTIVES:
        for rule, tune in (
            ("global", tune_global),
            ("prior_tilted", tune_prior_tilted),
            ("per_label", tune_per_label),
            ("rowwise", tune_rowwise),
        ):
            found[f"{rule}, {objective}"] = tune(scores, Y, objective=objective).decision
    free = tune_per_label(scores, Y, objective="macro_f1", shrinkage=0.0)
    found["per_label without shrinkage, macro_f1"] = free.decision
    return found


def logistic_results(
    X: Any, Y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> dict[str, dict[str, float]]:
    """Metrics of every rule on one outer fold."""
    rules = decisions_by_rule(out_of_fold(X[train], Y[train]), Y[train])
    scores = make_model().fit(X[train], Y[train]).decision_function(X[test])
    return {
        rule: evaluate(Y[test], decision.decide(scores), scores) for rule, decision in rules.items()
    }


def pnml_results(
    X: Any, Y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> dict[str, dict[str, float]]:
    """Metrics of the recommended PNML on one outer fold, by the objective of its thresholds."""
    choices: dict[str, dict[str, Any]] = {"fixed": {"thresholds": "fixed"}}
    choices["prior_tilted, balanced"] = {"thresholds": "prior_tilted"}
    choices |= {f"rowwise, {name}": {"threshold_objective": name} for name in OBJECTIVES}
    results = {}
    for rule, options in choices.items():
        model = PNMLClassifier(random_state=0, **options).fit(X[train], Y[train])
        scores = model.decision_function(X[test])
        results[rule] = evaluate(Y[test], model.predict(X[test]), scores)
    return results


def compare(name: str, model: str) -> dict[str, dict[str, float]]:
    """Return the mean over the outer folds of each rule's metrics."""
    data = load_dataset(name)
    X, Y = sparse.csr_matrix(data.X), data.Y.toarray()
    score_fold = pnml_results if model == "pnml" else logistic_results
    folds: dict[str, list[dict[str, float]]] = {}
    for train, test in MultilabelStratifiedKFold(5, random_state=0).split(X, Y):
        for rule, result in score_fold(X, Y, train, test).items():
            folds.setdefault(rule, []).append(result)
    return {
        rule: {metric: float(np.mean([fold[metric] for fold in results])) for metric in SHOWN}
        for rule, results in folds.items()
    }


def main() -> int:
    """Print the comparison; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--model", choices=("logistic", "pnml"), default="logistic")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", message="Label not .* is present in all training examples")
    failed = []
    for name in arguments.datasets:
        means = compare(name, arguments.model)
        print(f"{name}, {arguments.model}: {' / '.join(SHOWN)}", flush=True)
        for rule, metrics in means.items():
            print(f"  {rule:<40} {' / '.join(f'{metrics[metric]:.3f}' for metric in SHOWN)}")
        gains = means["rowwise, macro_f1"]["macro_f1"] > means["fixed"]["macro_f1"]
        keeps = means["rowwise, micro_f1"]["micro_f1"] >= means["fixed"]["micro_f1"]
        if not (gains and keeps):
            failed.append(name)
    if failed:
        print(f"tuning did not help on: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
