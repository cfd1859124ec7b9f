"""Rows that belong together are left out together."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier

from protolabel import PNMLClassifier
from protolabel.decision import CalibratedMultilabelClassifier, ThresholdedClassifier
from protolabel.exceptions import ModelFileError
from protolabel.metrics import evaluate
from quick_models import quick


@pytest.fixture(scope="module")
def people():
    """Labels of people that their features hardly tell, and four rows of each person."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 5))
    Y = (0.7 * X[:, :3] + rng.normal(size=(160, 3)) > 0.5).astype(int)
    rows = rng.permutation(np.repeat(np.arange(80), 4))
    measured = X[rows] + 1e-3 * rng.normal(size=(320, 5))
    return measured, Y[rows], rows, X[80:], Y[80:]


def macro_f1(model, X, Y):
    return evaluate(Y, model.predict(X), model.decision_function(X))["macro_f1"]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_thresholds_for_new_people_are_chosen_on_unseen_people(people, form):
    X, Y, person, X_new, Y_new = people
    X, X_new = form(X), form(X_new)
    told = PNMLClassifier(max_epochs=10, random_state=0).fit(X, Y, groups=person)
    not_told = PNMLClassifier(max_epochs=10, random_state=0).fit(X, Y)
    assert macro_f1(told, X_new, Y_new) > macro_f1(not_told, X_new, Y_new) + 0.05


def test_copies_of_rows_are_found_without_being_told(people):
    _, _, _, X, Y = people
    rows = np.repeat(np.arange(80), 3)
    found = quick().fit(X[rows], Y[rows])
    told = quick().fit(X[rows], Y[rows], groups=np.unique(X[rows], axis=0, return_inverse=True)[1])
    other = quick().fit(X[rows], Y[rows], groups=np.arange(240))
    assert np.abs(found.decision_function(X) - other.decision_function(X)).max() > 0.1
    assert macro_f1(found, X, Y) == pytest.approx(macro_f1(told, X, Y), abs=0.1)


def test_names_of_groups_may_be_words(people):
    X, Y, person, X_new, _ = people
    by_number = quick().fit(X, Y, groups=person)
    by_name = quick().fit(X, Y, groups=[f"person {number:03}" for number in person])
    assert np.array_equal(by_number.decision_function(X_new), by_name.decision_function(X_new))


def test_fewer_groups_than_networks_need_leave_decisions_plain(people):
    X, Y, person, X_new, _ = people
    model = quick().fit(X, Y, groups=person % 3)
    assert (model.thresholds_ == 0).all()
    assert model.predict(X_new).shape == (80, 3)


def test_early_stopping_watches_whole_groups(people):
    X, Y, person, *_ = people
    with pytest.raises(ValueError, match="at least 10 groups to hold some out, got 3"):
        quick(early_stopping=True).fit(X, Y, groups=person % 3)
    assert quick(early_stopping=True).fit(X, Y, groups=person).history_


def test_groups_of_other_rows_are_refused(people):
    X, Y, person, *_ = people
    with pytest.raises(ValueError, match=r"groups has shape \(319,\), expected \(320,\)"):
        quick().fit(X, Y, groups=person[1:])


def test_a_checkpoint_of_other_groups_is_refused(people, tmp_path):
    X, Y, person, *_ = people
    quick().fit(X, Y, groups=person, checkpoint_dir=tmp_path)
    with pytest.raises(ModelFileError, match="different: groups"):
        quick().fit(X, Y, groups=person[::-1], checkpoint_dir=tmp_path)


def test_scikit_learn_routes_groups_to_splits_and_fits(people):
    X, Y, person, *_ = people
    with config_context(enable_metadata_routing=True):
        model = quick(effort="fast").set_fit_request(groups=True)
        found = cross_validate(model, X, Y, cv=GroupKFold(3), params={"groups": person})
    assert np.isfinite(found["test_score"]).all()


@pytest.mark.parametrize("wrapper", [ThresholdedClassifier, CalibratedMultilabelClassifier])
def test_wrappers_keep_groups_in_one_inner_fold(wrapper, people):
    X, Y, person, X_new, _ = people
    model = OneVsRestClassifier(LogisticRegression())
    # This splitter refuses to split without groups.
    assert wrapper(model, cv=GroupKFold(5)).fit(X, Y, groups=person).predict(X_new).shape == (80, 3)
    with pytest.raises(ValueError, match="2 group"):
        wrapper(model, random_state=0).fit(X, Y, groups=person % 2)
