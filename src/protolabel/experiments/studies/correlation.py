"""Whether the prototypes of labels that occur together lie together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr

from protolabel.experiments.figures.heatmap import draw_matrices
from protolabel.experiments.studies.findings import Cell, DataTable, Drawing, Findings, Section
from protolabel.experiments.studies.fitted import FittedPrototypes, centred_cosine
from protolabel.experiments.studies.fitted_study import FittedStudy, fit_facts
from protolabel.experiments.tables import arm_title

SMALLEST_SHOWN = 0.1
_MAIN_MEASURE = "cosine, centred"
# Pairs that the paper names, with what it says of their correlation.
_NAMED_PAIRS: Mapping[str, tuple[tuple[int, int, str], ...]] = {
    "arts": ((7, 20, "high"), (7, 24, "high"), (15, 22, "-0.2"))
}
_EXPLANATION = (
    "Agreement is measured over pairs of labels that are neither constant nor without prototypes, "
    "as rank correlation of the correlation of the label columns with a similarity of the mean "
    "positive prototypes. `inner product` is what the label-correlation regulariser of the paper "
    "looks at; centring takes away what all labels share. The last measure is that of the mean "
    "positive rows of the input, before anything is learned: what the prototypes add is the "
    "difference to it."
)


@dataclass(frozen=True)
class Agreement:
    """Rank agreement of one similarity with the label correlation.

    Parameters
    ----------
    measure : str
        The similarity.
    pairs : str
        Which pairs.
    n_pairs : int
        Their number.
    spearman, kendall : float
        Rank correlations; NaN for fewer than three pairs.
    """

    measure: str
    pairs: str
    n_pairs: int
    spearman: float
    kendall: float


class Correlation(FittedStudy):
    """The heat map of label correlations in the supplement."""

    name = "correlation"
    title = "Label correlation and the prototypes"

    def describe(self, fits: Sequence[FittedPrototypes]) -> Findings:
        """Heat maps side by side, and their agreement as a number."""
        sections, pair_rows, agreement_rows, summary = [], [], [], {}
        for fit in fits:
            similarities = prototype_similarities(fit)
            found = list(agreements(fit, similarities))
            sections += list(_sections(fit, similarities, found))
            pair_rows += list(_pair_rows(fit, similarities))
            agreement_rows += [
                (fit.dataset, fit.arm.label, a.measure, a.pairs, a.n_pairs, a.spearman, a.kendall)
                for a in found
            ]
            summary[f"{fit.dataset} {fit.arm.label}"] = {
                f"{a.measure}; {a.pairs}": a.spearman for a in found
            }
        columns = ("dataset", "method", "label_a", "label_b", "name_a", "name_b")
        measures = ("label_correlation", "shown", "prototype_similarity", "inner_product")
        return Findings(
            tuple(sections),
            (
                DataTable("correlation", (*columns, *measures, "distance"), tuple(pair_rows)),
                DataTable(
                    "agreement",
                    ("dataset", "method", "measure", "pairs", "n_pairs", "spearman", "kendall"),
                    tuple(agreement_rows),
                ),
            ),
            (
                *fit_facts(fits),
                (
                    "paper",
                    "a heat map without numbers of the label correlation of *arts*, values below "
                    "0.1 in size set to zero, which is compared with the map of prototypes by eye",
                ),
            ),
            summary,
        )


def prototype_similarities(fit: FittedPrototypes) -> dict[str, NDArray[np.float64]]:
    """Similarities of labels by their mean positive prototypes, (n_labels, n_labels) each."""
    means = np.nan_to_num(fit.means(positive=True))
    lengths = np.linalg.norm(means, axis=1)
    scale = np.outer(lengths, lengths)
    inner = means @ means.T
    gaps = np.linalg.norm(means[:, None] - means, axis=2)
    return {
        _MAIN_MEASURE: centred_cosine(fit.means(positive=True)),
        "cosine": np.divide(inner, scale, out=np.zeros_like(inner), where=scale > 0),
        "inner product": inner,
        "distance, negative": -gaps,
        "input rows: cosine, centred": fit.input_similarity,
    }


def agreements(
    fit: FittedPrototypes, similarities: Mapping[str, NDArray[np.float64]]
) -> Iterator[Agreement]:
    """Rank agreement of every similarity, over all pairs and over the clearly correlated ones."""
    first, second = usable_pairs(fit)
    correlation = fit.label_correlation[first, second]
    subsets = {
        "all": np.ones(len(correlation), dtype=bool),
        f"correlation of at least {SMALLEST_SHOWN:g} in size": np.abs(correlation)
        >= SMALLEST_SHOWN,
    }
    for measure, matrix in similarities.items():
        for pairs, chosen in subsets.items():
            ours, theirs = correlation[chosen], matrix[first, second][chosen]
            yield Agreement(measure, pairs, int(chosen.sum()), *_rank_agreement(ours, theirs))


def usable_pairs(fit: FittedPrototypes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of different labels whose correlation and prototypes are defined."""
    has_prototypes = np.isfinite(fit.means(positive=True)).all(axis=1)
    varies = (np.abs(fit.label_correlation).sum(axis=1) > 1) & (fit.n_positives > 0)
    first, second = np.triu_indices(fit.n_labels, 1)
    usable = (has_prototypes & varies)[first] & (has_prototypes & varies)[second]
    return first[usable], second[usable]


def _rank_agreement(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> tuple[float, float]:
    if len(ours) < 3 or np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return float("nan"), float("nan")
    return (
        float(spearmanr(ours, theirs).statistic),
        float(kendalltau(ours, theirs).statistic),
    )


def _pair_rows(
    fit: FittedPrototypes, similarities: Mapping[str, NDArray[np.float64]]
) -> Iterator[tuple[Cell, ...]]:
    for a, b in zip(*np.triu_indices(fit.n_labels, 1), strict=True):
        value = float(fit.label_correlation[a, b])
        yield (
            fit.dataset,
            fit.arm.label,
            int(a),
            int(b),
            fit.label_names[a],
            fit.label_names[b],
            value,
            value if abs(value) >= SMALLEST_SHOWN else 0.0,
            float(similarities[_MAIN_MEASURE][a, b]),
            float(similarities["inner product"][a, b]),
            float(-similarities["distance, negative"][a, b]),
        )


def _sections(
    fit: FittedPrototypes,
    similarities: Mapping[str, NDArray[np.float64]],
    found: Sequence[Agreement],
) -> Iterator[Section]:
    title = f"{arm_title(fit.arm)} on {fit.dataset}"
    shown = np.where(np.abs(fit.label_correlation) >= SMALLEST_SHOWN, fit.label_correlation, 0.0)
    matrices = {"labels": shown, "positive prototypes": similarities[_MAIN_MEASURE]}
    drawing = Drawing(
        f"correlation-{fit.dataset}-{fit.arm.method}".replace(":", "-"),
        f"Correlation of the labels, below {SMALLEST_SHOWN:g} in size set to zero, beside the "
        f"centred cosine of the mean positive prototypes of {title}",
        draw_matrices(matrices, fit.label_names),
        size=(12.0, 5.5),
    )
    yield Section(
        title,
        _EXPLANATION,
        ("similarity", "pairs", "number", "Spearman", "Kendall"),
        tuple(
            (a.measure, a.pairs, str(a.n_pairs), f"{a.spearman:.3f}", f"{a.kendall:.3f}")
            for a in found
        ),
        (drawing,),
    )
    named = _NAMED_PAIRS.get(fit.dataset, ())
    if named:
        yield _named_section(fit, similarities[_MAIN_MEASURE], named)


def _named_section(
    fit: FittedPrototypes,
    similarity: NDArray[np.float64],
    named: Sequence[tuple[int, int, str]],
) -> Section:
    first, second = usable_pairs(fit)
    others = similarity[first, second]
    return Section(
        "Pairs that the paper names",
        "Labels are counted from 0 in the order of the file; the paper may have had another "
        "order. Rank: share of all pairs whose prototypes are less similar.",
        ("labels", "paper", "label correlation", "prototype similarity", "rank"),
        tuple(
            (
                f"{a} and {b}",
                said,
                f"{fit.label_correlation[a, b]:.3f}",
                f"{similarity[a, b]:.3f}",
                f"{(others < similarity[a, b]).mean():.2f}",
            )
            for a, b, said in named
        ),
    )
