"""Bad and degenerate input: a clear error or a defined result, one test for each."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from protolabel import PNMLClassifier

CONFIGURATIONS = {
    "recommended": lambda **p: PNMLClassifier(max_epochs=2, random_state=0, **p),
    "multiple": lambda **p: PNMLClassifier.paper("multiple", max_epochs=2, random_state=0, **p),
    "single": lambda **p: PNMLClassifier.paper("single", max_epochs=2, random_state=0, **p),
}


@pytest.fixture(params=sorted(CONFIGURATIONS))
def make(request):
    return CONFIGURATIONS[request.param]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 4)), rng.integers(0, 2, size=(30, 3))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_nan_and_infinity_are_refused(make, data, value, sparse):
    X, Y = data
    X[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        make().fit(sp.csr_array(X) if sparse else X, Y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_are_refused_at_prediction(make, data, value):
    X, Y = data
    model = make().fit(X, Y)
    X[0, 0] = value
    for method in (model.predict, model.predict_proba, model.decision_function, model.transform):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            method(X)


def test_label_values_other_than_zero_and_one_are_refused(make, data):
    X, Y = data
    with pytest.raises(ValueError, match="Y contains the value 2; a label matrix may contain only"):
        make().fit(X, 2 * Y)


def test_different_numbers_of_rows_are_refused(make, data):
    X, Y = data
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[30, 29\]"):
        make().fit(X, Y[:29])


def test_no_rows_are_refused(make):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        make().fit(np.empty((0, 4)), np.empty((0, 3)))


def test_no_features_are_refused(make):
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        make().fit(np.empty((5, 0)), np.ones((5, 3)))


def test_no_labels_are_refused(make, data):
    X, Y = data
    with pytest.raises(ValueError, match="Y has no columns"):
        make().fit(X, Y[:, :0])


def test_another_number_of_features_is_refused(make, data):
    X, Y = data
    model = make().fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but PNMLClassifier is expecting 4"):
        model.predict(X[:, :3])


def test_a_label_that_never_occurs_is_never_predicted(make, data):
    X, Y = data
    Y[:, 1] = 0
    model = make().fit(X, Y)
    assert not model.predict(X)[:, 1].any()
    assert np.allclose(model.predict_proba(X)[:, 1], 0.5 / 31)


def test_a_label_that_always_occurs_is_always_predicted(make, data):
    X, Y = data
    Y[:, 2] = 1
    model = make().fit(X, Y)
    assert model.predict(X)[:, 2].all()
    assert np.allclose(model.predict_proba(X)[:, 2], 30.5 / 31)


def test_constant_labels_keep_their_decision_under_tuned_thresholds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    Y = np.column_stack([np.zeros(150), X[:, 0] > 1.2, np.ones(150)]).astype(int)
    model = PNMLClassifier(max_epochs=5, random_state=0).fit(X, Y)
    assert not model.predict(X)[:, 0].any()
    assert model.predict(X)[:, 2].all()


def test_no_label_to_learn_at_all_gives_constant_predictions(make, data):
    X, Y = data
    model = make().fit(X, np.zeros_like(Y))
    assert not model.predict(X).any()


def test_a_label_with_one_positive_has_that_row_as_its_prototype(data):
    X, Y = data
    Y[:, 0] = 0
    Y[7, 0] = 1
    for prototypes in ("single", "multiple"):
        model = CONFIGURATIONS[prototypes]().fit(X, Y)
        assert model.n_prototypes_[0, 0, 1] == 1
        own = model.transform(X[[7]])[0]
        assert np.allclose(model.prototypes_[0].positive[0], own)
        assert np.isfinite(model.decision_function(X)).all()


def test_a_label_with_one_positive_survives_cross_fitting(data):
    X, Y = data
    Y[:, 0] = 0
    Y[7, 0] = 1
    model = CONFIGURATIONS["recommended"]().fit(X, Y)
    # The member that did not see the row knows nothing of the label; the others decide.
    assert (model.n_prototypes_[:, 0, 1] == 0).sum() == 1
    assert np.isfinite(model.decision_function(X)).all()


def test_one_row_gives_a_constant_model(make):
    model = make().fit(np.ones((1, 3)), np.array([[1, 0]]))
    assert model.predict(np.zeros((2, 3))).tolist() == [[1, 0], [1, 0]]


def test_two_rows_are_enough(make):
    X, Y = np.array([[0.0, 1.0], [5.0, 1.0]]), np.array([[1, 0], [0, 1]])
    assert np.array_equal(make().fit(X, Y).predict(X), Y)


def test_one_feature_is_enough(make):
    X = np.linspace(-1, 1, 40)[:, None]
    Y = np.hstack([X > 0, X < 0.5]).astype(int)
    assert np.isfinite(make().fit(X, Y).decision_function(X)).all()


def test_one_label_is_enough(make, data):
    X, Y = data
    assert make().fit(X, Y[:, :1]).predict(X).shape == (30, 1)


def test_constant_and_duplicate_rows_and_columns_do_no_harm(make, data):
    X, Y = data
    X[:, 2] = 3.7
    X, Y = np.vstack([X, X]), np.vstack([Y, Y])
    assert np.isfinite(make().fit(X, Y).decision_function(X)).all()


def test_all_rows_the_same_do_no_harm(make, data):
    _, Y = data
    scores = make().fit(np.ones((30, 4)), Y).decision_function(np.ones((2, 4)))
    assert np.isfinite(scores).all()


def test_rows_without_any_label_are_rows_like_others(make, data):
    X, Y = data
    Y[:10] = 0
    assert np.isfinite(make().fit(X, Y).decision_function(X)).all()


def test_huge_values_do_not_overflow(make, data):
    X, Y = data
    assert np.isfinite(make().fit(1e30 * X, Y).decision_function(1e30 * X)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prototypes": "many"}, "prototypes='many' cannot be used; expected one of"),
        ({"metric_rank": 100}, "metric_rank=100 is larger than the embedding dimension 72"),
        ({"input_dropout": 1.0}, "input_dropout=1.0 cannot be used"),
        ({"positive_rate": 0.0}, "positive_rate=0.0 cannot be used"),
        ({"concentration": 0.0}, "concentration=0.0 cannot be used"),
        ({"cluster_variance": "wide"}, "cluster_variance='wide' cannot be used"),
        ({"cluster_variance": -1.0}, "cluster_variance=-1.0 cannot be used"),
        ({"assignment_temperature": 0.0}, "assignment_temperature=0.0 cannot be used"),
        ({"max_epochs": 0}, "max_epochs=0 cannot be used"),
        ({"n_members": 0}, "n_members=0 cannot be used"),
        ({"thresholds": "best"}, "thresholds is 'best', expected one of"),
        ({"device": "tpu"}, "device='tpu' is unknown"),
        ({"validation_fraction": 1.5}, "validation_fraction=1.5 cannot be used"),
        ({"correlation_penalty": 0.1}, "correlation_penalty=0.1 would have no effect"),
        ({"leave_one_out": True}, "leave_one_out=True is defined for single prototypes"),
        ({"prototype_interval": 0}, "prototype_interval=0 cannot be used"),
        ({"negative_slope": -0.1}, "negative_slope=-0.1 cannot be used"),
        ({"negative_slope": np.nan}, "negative_slope=nan cannot be used"),
        ({"shared_embedding": "no"}, "shared_embedding='no' cannot be used"),
        ({"squared_distance": 1}, "squared_distance=1 cannot be used"),
        ({"at_least_one": "x"}, "at_least_one='x' cannot be used"),
        ({"prototype_interval": 2}, "prototype_interval=2 would have no effect"),
        (
            {"leave_one_out": True, "prototype_update": "epoch", "prototype_interval": 2},
            "leave_one_out=True needs the prototypes of the same step",
        ),
        ({"feature_scaling": "odd"}, "feature_scaling='odd' is unknown"),
    ],
)
def test_unusable_parameters_get_a_clear_error(data, parameters, message):
    X, Y = data
    with pytest.raises(ValueError, match=message):
        PNMLClassifier(**parameters).fit(X, Y)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU to train on")
def test_a_gpu_that_is_not_there_is_refused(data):
    X, Y = data
    with pytest.raises(ValueError, match="no GPU is available; use device='auto'"):
        PNMLClassifier(device="cuda").fit(X, Y)


def test_early_stopping_needs_rows_to_hold_out(data):
    X, Y = data
    with pytest.raises(ValueError, match="early_stopping=True needs at least 10 rows"):
        PNMLClassifier(early_stopping=True).fit(X[:5], Y[:5])


def test_an_unfitted_model_says_so(data):
    from sklearn.exceptions import NotFittedError

    X, _ = data
    model = PNMLClassifier()
    for access in (model.predict, model.transform, lambda _: model.n_prototypes_):
        with pytest.raises(NotFittedError):
            access(X)


def test_too_few_groups_for_the_members_are_said(data):
    X, Y = data
    model = PNMLClassifier(max_epochs=1, n_members=4, random_state=0)
    with pytest.warns(
        UserWarning, match=r"7 groups of rows .* too few .* 4 members, which takes 8"
    ):
        model.fit(X, Y, groups=np.arange(30) % 7)
    assert not model.model_.companions
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, Y, groups=np.arange(30) % 8)
        model.set_params(n_trees=0, n_landmarks=0).fit(X[:6], Y[:6])


@pytest.mark.parametrize("k", ["2", None, 1.5, 0, 4])
def test_a_number_of_labels_that_cannot_be_is_refused(data, k):
    model = PNMLClassifier(max_epochs=1, random_state=0).fit(*data)
    with pytest.raises(ValueError, match="expected 1 to the 3 labels"):
        model.predict_top_k(data[0], k)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [2e200, -2e200])
def test_values_without_a_square_are_refused(data, value, sparse):
    X, Y = data
    X[3, 1] = value
    with pytest.raises(ValueError, match=r"values of up to 2e\+200, expected at most 1e\+150"):
        PNMLClassifier(random_state=0).fit(sp.csr_array(X) if sparse else X, Y)
    X[3, 1] = value / 1e60
    model = PNMLClassifier(max_epochs=2, random_state=0)
    model.fit(sp.csr_array(X) if sparse else X, Y)
    assert np.isfinite(model.predict_proba(X)).all()
