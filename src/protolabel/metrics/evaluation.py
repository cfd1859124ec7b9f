"""The five metrics of the paper, for a whole test set or for one that arrives in pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from protolabel.metrics._inputs import (
    Labels,
    as_indicator_pair,
    as_scores,
    check_edge,
    refuse_scores_of_either_order,
)
from protolabel.metrics.bipartition import (
    ConfusionCounts,
    jaccard_of,
    label_counts,
    macro_f1_of,
    micro_f1_of,
    row_counts,
)
from protolabel.metrics.ranking import means_over_rows, rank_statistics


def evaluate(
    Y_true: Labels,
    Y_pred: Labels,
    scores: ArrayLike,
    *,
    edge: str = "exclude",
    empty_value: float = 0.0,
) -> dict[str, float]:
    """Compute the paper's five metrics.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant; use logits rather than rounded probabilities, since ties count
        as errors.
    edge : {"exclude", "sklearn"}, default="exclude"
        Rows with no or all labels are left out of the two ranking metrics, or kept as
        scikit-learn does.
    empty_value : float, default=0.0
        Accuracy of a row with no true and no predicted label.

    Returns
    -------
    dict of str to float
        ``accuracy``, ``micro_f1``, ``macro_f1``, ``average_precision`` and ``ranking_loss``, in
        this order.

    Examples
    --------
    >>> from protolabel.metrics import evaluate
    >>> truth = [[1, 0, 0], [0, 1, 1]]
    >>> evaluate(truth, truth, [[0.9, 0.2, 0.1], [0.3, 0.8, 0.4]])["ranking_loss"]
    0.0
    """
    evaluation = StreamingEvaluation(edge=edge, empty_value=empty_value)
    evaluation.update(Y_true, Y_pred, scores)
    return evaluation.result()


class StreamingEvaluation:
    """The five metrics over blocks of rows, for score matrices that do not fit into memory.

    The result equals :func:`evaluate` on all rows at once. Fed with the test parts of a
    cross-validation, it gives the pooled variant of the metrics (Forman and Scholz, 2010), in
    which a label that is absent from one fold does not count as a failure there.

    Parameters
    ----------
    edge : {"exclude", "sklearn"}, default="exclude"
        Rows with no or all labels are left out of the two ranking metrics, or kept as
        scikit-learn does.
    empty_value : float, default=0.0
        Accuracy of a row with no true and no predicted label.

    Examples
    --------
    >>> from protolabel.metrics import StreamingEvaluation
    >>> evaluation = StreamingEvaluation()
    >>> evaluation.update([[1, 0]], [[1, 0]], [[2.0, 1.0]])
    >>> evaluation.update([[0, 1]], [[1, 0]], [[2.0, 1.0]])
    >>> evaluation.result()["accuracy"]
    0.5
    """

    def __init__(self, *, edge: str = "exclude", empty_value: float = 0.0) -> None:
        check_edge(edge)
        self.edge = edge
        self.empty_value = empty_value
        self._labels: ConfusionCounts | None = None
        self._rows: list[np.ndarray] = []  # (4, n_rows): accuracy, AP, RL, has_problem

    def update(self, Y_true: Labels, Y_pred: Labels, scores: ArrayLike) -> None:
        """Add a block of rows.

        Parameters
        ----------
        Y_true, Y_pred : array-like or sparse of shape (n_rows, n_labels)
            True and predicted 0/1 labels.
        scores : array-like of shape (n_rows, n_labels)
            Larger means more relevant.
        """
        refuse_scores_of_either_order(Y_true, Y_pred, scores)
        truth, predicted = as_indicator_pair(Y_true, Y_pred)
        ranking = rank_statistics(truth, as_scores(scores, truth.shape, Y_true))
        labels = label_counts(truth, predicted)
        if self._labels is not None and self._labels.true.shape != labels.true.shape:
            raise ValueError(
                f"this block has {labels.true.size} labels but earlier blocks had "
                f"{self._labels.true.size}; pass the same label set in every block."
            )
        self._labels = labels if self._labels is None else self._labels + labels
        jaccard = jaccard_of(row_counts(truth, predicted), self.empty_value)
        self._rows.append(
            np.stack(
                [jaccard, ranking.average_precision, ranking.ranking_loss, ranking.has_problem]
            )
        )

    def result(self) -> dict[str, float]:
        """Return the five metrics of all rows seen so far.

        Returns
        -------
        dict of str to float
            The keys of :func:`evaluate`.
        """
        if self._labels is None:
            raise ValueError("no rows were added; call update before result.")
        jaccard, *ranking, has_problem = np.concatenate(self._rows, axis=1)
        precision, loss = means_over_rows(np.stack(ranking), has_problem != 0, self.edge)
        return {
            "accuracy": float(jaccard.mean()),
            "micro_f1": micro_f1_of(self._labels),
            "macro_f1": macro_f1_of(self._labels, 0.0),
            "average_precision": precision,
            "ranking_loss": loss,
        }
