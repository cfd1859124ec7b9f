"""What the classifier learns."""

import numpy as np
import pandas as pd
import pytest

from protolabel import PNMLClassifier
from quick_models import quick


@pytest.mark.parametrize(
    "make",
    [
        lambda: PNMLClassifier.paper("single", max_epochs=20, random_state=0),
        lambda: PNMLClassifier.paper("multiple", max_epochs=20, random_state=0),
        lambda: PNMLClassifier("single", max_epochs=20, random_state=0),
        lambda: PNMLClassifier("multiple", max_epochs=20, random_state=0),
    ],
    ids=["paper-single", "paper-multiple", "recommended-single", "recommended-multiple"],
)
def test_two_separable_gaussian_labels_are_learned(make):
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, size=(400, 2))
    X = np.hstack([8 * Y, np.zeros((400, 3))]) + rng.normal(size=(400, 5))
    model = make().fit(X, Y)
    predicted = model.predict(X)
    both, either = (predicted & Y).sum(1), (predicted | Y).sum(1)
    accuracy = np.where(either > 0, both / np.maximum(either, 1), 1).mean()
    assert accuracy > 0.98


@pytest.fixture(scope="module")
def two_sided_positives():
    """Positives on both sides of the negatives: a case that single means cannot solve."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = rng.normal(size=(600, 4))
    X[:, 0] += 4 * y * rng.choice([-1, 1], size=600)
    return X, y[:, None]


def linear_model(prototypes, **params):
    return PNMLClassifier.paper(
        prototypes,
        negative_slope=1.0,
        embedding_dim=4,
        max_epochs=20,
        random_state=0,
        feature_scaling="none",
        **params,
    )


def test_multiple_prototypes_solve_what_single_means_cannot(two_sided_positives):
    X, Y = two_sided_positives
    single = linear_model("single").fit(X, Y)
    multiple = linear_model("multiple").fit(X, Y)
    assert (single.predict(X) == Y).mean() < 0.7
    assert (multiple.predict(X) == Y).mean() > 0.9
    negative, positive = multiple.n_prototypes_[0, 0]
    assert positive > negative >= 1


def test_the_number_of_prototypes_follows_the_concentration(two_sided_positives):
    X, Y = two_sided_positives
    few = linear_model("multiple", concentration=1e-8).fit(X, Y).n_prototypes_
    many = linear_model("multiple", concentration=1.0).fit(X, Y).n_prototypes_
    assert few.sum() < many.sum()
    assert few.shape == (1, 1, 2)


def test_prototypes_are_reported_by_label(labelled):
    X, Y = labelled
    model = quick(prototypes="multiple", n_members=2).fit(X, pd.DataFrame(Y, columns=list("abc")))
    found = model.prototypes_
    assert [(p.member, p.label) for p in found] == [(m, k) for m in (0, 1) for k in "abc"]
    for p in found:
        assert len(p.positive) == model.n_prototypes_[p.member, "abc".index(p.label), 1]
        assert p.positive_weights.sum() == pytest.approx(1)
        assert p.negative.shape[1] == model._settings(X, Y.shape[1]).embedding_dim
