"""From scores to decisions: the same model under different thresholds.

Scores rank labels; which of them a row gets depends on thresholds, and what good thresholds are
depends on what counts. The bundled *yeast* genes are scored by ML-kNN, and thresholds are chosen
by rule and objective on rows that the scoring model has not seen.

    python examples/thresholds.py
"""

from protolabel import evaluate, load_dataset
from protolabel.decision import ThresholdedClassifier
from protolabel.methods import make_method
from protolabel.preprocessing.splits import MultilabelStratifiedShuffleSplit

CHOICES = (
    ("fixed", "balanced"),
    ("cardinality", "balanced"),
    ("global", "accuracy"),
    ("global", "micro_f1"),
    ("global", "macro_f1"),
    ("prior_tilted", "macro_f1"),
    ("per_label", "macro_f1"),
    ("rowwise", "accuracy"),
    ("rowwise", "macro_f1"),
)
METRICS = ("accuracy", "micro_f1", "macro_f1", "ranking_loss")


def main() -> None:
    """Print the metrics of every choice; ranking loss shows that the scores stay the same."""
    yeast = load_dataset("yeast")
    splitter = MultilabelStratifiedShuffleSplit(test_size=1 / 3, random_state=0)
    train, test = next(splitter.split(yeast.X, yeast.Y))
    X, Y = yeast.X[test], yeast.Y[test]
    print(
        f"{'rule':<14}{'objective':<11}{''.join(f'{name:>14}' for name in METRICS)}  labels a gene"
    )
    for rule, objective in CHOICES:
        model = ThresholdedClassifier(
            make_method("ml-knn"), rule=rule, objective=objective, random_state=0
        ).fit(yeast.X[train], yeast.Y[train])
        predicted = model.predict(X)
        values = evaluate(Y, predicted, model.decision_function(X))
        cells = "".join(f"{values[name]:>14.3f}" for name in METRICS)
        print(f"{rule:<14}{objective:<11}{cells}{predicted.sum() / len(predicted):>15.2f}")
    print(f"In the data, a gene has {Y.sum() / Y.shape[0]:.2f} classes.")


if __name__ == "__main__":
    main()
