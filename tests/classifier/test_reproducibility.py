"""The same seed gives the same model, whatever the form of the rows."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone

from protolabel import PNMLClassifier
from protolabel.inspection.explaining import explain
from protolabel.pnml.callbacks import Callback
from quick_models import quick, quick_paper


@pytest.mark.parametrize("make", [quick, quick_paper], ids=["recommended", "paper"])
@pytest.mark.parametrize("prototypes", ["single", "multiple"])
def test_the_same_seed_gives_the_same_model_bit_for_bit(labelled, make, prototypes):
    X, Y = labelled
    first, second = (make(prototypes=prototypes).fit(X, Y).decision_function(X) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(
        first, make(prototypes=prototypes, random_state=1).fit(X, Y).decision_function(X)
    )


def test_training_leaves_the_global_random_state_alone(labelled):
    X, Y = labelled
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    before = torch.rand(1).item(), np.random.random()  # noqa: NPY002
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    quick().fit(X, Y)
    assert (torch.rand(1).item(), np.random.random()) == before  # noqa: NPY002


@pytest.mark.parametrize("prototypes", ["single", "multiple"])
def test_predictions_do_not_depend_on_the_batch(labelled, prototypes):
    X, Y = labelled
    model = quick(prototypes=prototypes).fit(X, Y)
    together = model.decision_function(X[:20])
    one_by_one = np.vstack([model.decision_function(X[[i]]) for i in range(20)])
    assert np.allclose(together, one_by_one, atol=1e-6)


def test_a_member_never_sees_its_own_fold(labelled):
    """Outliers in one inner fold move the prototypes of all members but the one without it."""
    X, Y = labelled
    seen = {}

    class Spy(Callback):
        def on_train_begin(self, n_epochs):
            frame = inspect.currentframe().f_back
            seen["trainer"] = frame.f_locals["self"]

    model = quick(prototypes="single", n_members=4, callbacks=[Spy()]).fit(X, Y)
    trainer = seen["trainer"]
    before = model.model_.network.positions.clone()
    hidden = trainer.row_weights[1] == 0
    assert 0 < hidden.sum() < len(X)
    trainer.data.rows.values[hidden] = 1e6
    trainer.finish()
    after = model.model_.network.positions
    assert torch.equal(before[1], after[1])
    for member in (0, 2, 3):
        assert not torch.allclose(before[member], after[member])


def test_a_fitted_model_keeps_no_training_row(labelled):
    X, Y = labelled
    model = quick(prototypes="single", embedding_dim=4, n_members=1).fit(X, Y)
    largest = max(t.numel() for t in model.model_.network.state_dict().values())
    assert largest < X.size


def counts(n_rows):
    found = sp.random(n_rows, 30, density=0.1, format="csr", random_state=0)
    found.data = np.ceil(5 * found.data)
    return found


@pytest.mark.parametrize("prototypes", ["single", "multiple"])
def test_sparse_and_dense_input_give_the_same_logits(prototypes):
    X = counts(150)
    Y = np.asarray((X[:, :4] > 0).toarray(), dtype=int)
    dense = quick_paper(prototypes).fit(X.toarray(), Y)
    for form in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array):
        sparse = quick_paper(prototypes).fit(form(X), Y)
        assert np.allclose(
            sparse.decision_function(form(X)), dense.decision_function(X.toarray()), atol=1e-5
        )


def test_counts_give_the_same_model_from_an_array_and_from_a_sparse_matrix():
    X = counts(150)
    Y = np.asarray((X[:, :4] > 0).toarray(), dtype=int)
    model = PNMLClassifier(max_epochs=1, n_members=2, random_state=0)
    sparse = clone(model).fit(X, Y)
    dense = clone(model).fit(X.toarray(), Y)
    assert len(dense.model_.companions) == 3, "a regression and two kinds of trees"
    expected = sparse.decision_function(X)
    for rows in (X, X.toarray()):
        assert np.array_equal(dense.decision_function(rows), expected)
        assert np.array_equal(sparse.decision_function(rows), expected)
    assert np.array_equal(dense.transform(X.toarray()), sparse.transform(X))
    for training in (None, X, X.toarray()):
        explained = explain(dense, X.toarray()[0], X_train=training, flips=False)
        assert explained == explain(sparse, X[[0]], X_train=training, flips=False)


def test_counts_that_come_in_chunks_give_the_same_model_from_arrays_and_sparse_matrices():
    X = counts(300)
    Y = np.asarray((X[:, :4] > 0).toarray(), dtype=int)
    sparse, dense = (PNMLClassifier(effort="fast", random_state=0) for _ in range(2))
    for part in (slice(200), slice(200, 300)):
        sparse.partial_fit(X[part], Y[part])
        dense.partial_fit(X[part].toarray(), Y[part])
    assert np.allclose(dense.decision_function(X), sparse.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("scaling", ["standard", "text", "none"])
def test_dense_rows_stay_dense_where_their_scaling_is_named(scaling):
    X = sp.random(150, 30, density=0.1, format="csr", random_state=0).toarray()
    Y = np.asarray(X[:, :4] > 0, dtype=int)
    model = PNMLClassifier(feature_scaling=scaling, max_epochs=1, n_members=2, random_state=0)
    assert len(model.fit(X, Y).model_.companions) == 2


def test_scores_do_not_depend_on_how_rows_lie_in_memory(labelled):
    X, Y = labelled
    model = quick(n_trees=10).fit(X, Y)
    expected = model.decision_function(X)
    for rows in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.tolist()):
        assert np.array_equal(model.decision_function(rows), expected)
    sparse = sp.csr_matrix(X)
    assert np.array_equal(model.decision_function(sparse), model.decision_function(sparse.tocsc()))


def test_sparse_input_is_made_dense_only_a_few_rows_at_a_time(monkeypatch):
    wide = sp.random(60, 100_000, density=1e-4, format="csr", random_state=0)
    Y = np.random.default_rng(0).integers(0, 2, size=(60, 3))

    def refuse(*args, **kwargs):
        raise AssertionError("a sparse matrix of features was made dense")

    model = quick(prototypes="single", embedding_dim=4, n_members=2, max_epochs=1)
    with monkeypatch.context() as patch:
        for kind in (sp.csr_matrix, sp.csr_array):
            original = kind.toarray
            patch.setattr(
                kind,
                "toarray",
                lambda self, *a, _o=original: refuse() if np.prod(self.shape) > 10**6 else _o(self),
            )
        scores = model.fit(wide, Y).decision_function(wide)
    assert scores.shape == (60, 3)
