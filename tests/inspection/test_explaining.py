"""Explanations: their sums, their distances, their checks and their forms."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit

from inspection.conftest import SMALL
from protolabel import PNMLClassifier
from protolabel.baselines.ml_knn import MLkNN
from protolabel.inspection import explain, explanation_text
from quick_models import quick, rows_in_quarters


def test_contributions_add_up_to_the_log_odds_of_the_model(variant, data):
    X, _ = data
    for row in X[:4]:
        found = explain(variant, row, n_labels=3, flips=False)
        scores = variant.decision_function(row[None])[0]
        assert [label.log_odds for label in found.labels] == sorted(
            (label.log_odds for label in found.labels), reverse=True
        )
        for label in found.labels:
            position = int(label.label)
            total = label.intercept + sum(part.log_odds for part in label.contributions)
            assert total == pytest.approx(scores[position], abs=1e-12)
            assert label.probability == pytest.approx(expit(scores[position]), abs=1e-12)
            assert label.is_predicted == bool(variant.predict(row[None])[0, position])


def test_the_distances_give_the_score_of_the_networks(variant, data):
    X, _ = data
    for label in explain(variant, X[5], n_labels=3, flips=False).labels:
        networks = label.contributions[0]
        assert networks.learner == "networks"
        mean = np.mean([member.log_odds for member in label.members])
        assert mean == pytest.approx(networks.score, abs=1e-4)
        for member in label.members:
            nearest = [prototype.distance for prototype in member.positive]
            assert nearest == sorted(nearest)
            position = int(label.label)
            counts = variant.n_prototypes_[member.member, position]
            assert (len(member.negative), len(member.positive)) == tuple(counts)


def test_pulls_add_up_to_the_difference_from_the_baseline(variant, data):
    X, _ = data
    for label in explain(variant, X[5], n_labels=3, flips=False).labels:
        assert abs(label.unexplained) < 0.02 * (1 + abs(label.log_odds - label.baseline_log_odds))


@pytest.fixture(scope="module")
def quarters():
    """A model of labels that say something of each other, and its rows."""
    X, Y = rows_in_quarters()
    model = quick(embedding_dim=6, max_epochs=4, n_trees=12, n_landmarks=20).fit(X, Y)
    model.add_label(X[:5], name="later")
    assert model.model_.fusion.set_prototypes is not None
    return model, X


def test_sets_of_labels_are_one_more_contribution_and_pull(quarters):
    model, X = quarters
    sets, largest = model.model_.fusion.set_prototypes, []
    for row in X[:5]:
        scores = model.decision_function(row[None])[0]
        found = explain(model, row, n_labels=7, flips=False)
        assert sorted(label.label for label in found.labels) == [*"012345", "later"]
        for place, label in enumerate(found.labels):
            part = label.contributions[-1]
            assert (part.learner, part.weight) == ("label sets", sets.weight)
            assert (part.score == 0) == (label.label == "later")
            total = label.intercept + sum(part.log_odds for part in label.contributions)
            assert total == pytest.approx(sorted(scores)[::-1][place], abs=1e-12)
            beyond = abs(label.log_odds - label.baseline_log_odds)
            assert abs(label.unexplained) < 0.02 * (1 + beyond)
        largest.append(max(abs(label.other_labels) for label in found.labels))
        assert "other labels of the row" in explanation_text(found)
    assert max(largest) > 0.05


def test_without_sets_other_labels_add_nothing(model, data):
    found = explain(model, data[0][0], flips=False)
    assert model.model_.fusion.set_prototypes is None
    assert {label.other_labels for label in found.labels} == {0.0}
    assert "other labels" not in explanation_text(found)


@pytest.mark.parametrize(("scaling", "centre"), [("tabular", np.median), ("standard", np.mean)])
def test_the_baseline_is_the_centre_of_the_training_rows(scaling, centre, data):
    X, Y = data
    model = PNMLClassifier(**SMALL, feature_scaling=scaling).fit(X, Y)
    found = explain(model, X[0], flips=False)
    assert found.baseline == f"training {centre.__name__}"
    middle = centre(X, axis=0)
    at_middle = model.decision_function(middle[None])[0]
    for label in found.labels:
        assert label.baseline_log_odds == pytest.approx(at_middle[int(label.label)], abs=1e-5)
        for pull in label.pulls:
            assert pull.value == X[0, pull.feature]
            assert pull.baseline == pytest.approx(middle[pull.feature])


def test_the_row_of_the_baseline_itself_has_no_pulls(model, data):
    X, _ = data
    for label in explain(model, np.median(X, axis=0), flips=False).labels:
        assert label.pulls == ()
        assert label.unexplained == pytest.approx(0, abs=1e-6)


def test_the_feature_behind_a_label_is_named_first(model, data):
    X, _ = data
    firsts = [
        label.pulls[0].feature == int(label.label)
        for row in X[:20]
        for label in explain(model, row, flips=False).labels
    ]
    assert np.mean(firsts) > 0.6


def test_flips_turn_the_decision_when_they_are_carried_out(model, data):
    X, _ = data
    n_found = 0
    for row in X[:6]:
        before = model.predict(row[None])[0]
        for label in explain(model, row).labels:
            if label.flip is None:
                continue
            n_found += 1
            changed = row.copy()
            for change in label.flip.changes:
                assert changed[change.feature] == change.before
                changed[change.feature] = change.after
            assert len(label.flip.changes) <= 5
            after = model.predict(changed[None])[0]
            assert after[int(label.label)] == 1 - before[int(label.label)]
            proba = model.predict_proba(changed[None])[0, int(label.label)]
            assert label.flip.probability == pytest.approx(proba, abs=1e-5)
    assert n_found > 8


def test_a_code_is_one_feature_and_flips_to_another_code(coded_data):
    X, Y = coded_data
    model = PNMLClassifier(random_state=0).fit(X, Y)
    n_present = n_flips = 0
    for row, is_present in zip(X[:10], Y[:10, 0], strict=True):
        (label,) = explain(model, row, labels=[0], n_features=4, X_train=X).labels
        # The baseline, the code 3, does not have the label: the code alone can bring it.
        assert not is_present or label.pulls[0].feature == 0
        n_present += is_present
        assert {pull.feature for pull in label.pulls} <= {0, 1, 2, 3}
        assert abs(label.unexplained) < 0.02 * (1 + abs(label.log_odds - label.baseline_log_odds))
        for change in label.flip.changes if label.flip else ():
            n_flips += change.feature == 0
            assert change.feature != 0 or change.after in range(1, 7)
    assert n_present >= 3
    assert n_flips >= 3


def test_half_of_a_flip_of_one_feature_is_not_enough(model, data):
    X, _ = data
    halves = 0
    for row in X[:6]:
        before = model.predict(row[None])[0]
        for label in explain(model, row, max_changes=1).labels:
            if label.flip is not None:
                (change,) = label.flip.changes
                changed = row.copy()
                changed[change.feature] = (change.before + change.after) / 2
                halves += (
                    model.predict(changed[None])[0, int(label.label)] == before[int(label.label)]
                )
    assert halves > 4


def test_flips_stay_within_the_training_values(model, data):
    X, _ = data
    flips = [label.flip for label in explain(model, X[1], X_train=X).labels]
    changes = [change for flip in flips if flip is not None for change in flip.changes]
    assert changes
    for change in changes:
        column = X[:, change.feature]
        slack = 0.01 * np.ptp(column)
        assert column.min() - slack <= change.after <= column.max() + slack


def test_words_are_removed_added_or_doubled(word_model, words):
    X, Y = words
    with_label = int(np.flatnonzero(Y[:, 0])[0])
    found = explain(word_model, X[[with_label]], labels=[0])
    assert found.baseline == "zero"
    (label,) = found.labels
    assert label.pulls[0].feature == 0
    assert all(pull.value != 0 for pull in label.pulls)
    assert label.flip is not None
    assert all(
        change.before == 0 or change.after in (0, 2 * change.before)
        for change in label.flip.changes
    )


def test_sparse_and_dense_rows_have_the_same_explanation(word_model, words):
    X, _ = words
    sparse = explain(word_model, X[[3]], flips=False)
    dense = explain(word_model, X[[3]].toarray(), flips=False)
    for first, second in zip(sparse.labels, dense.labels, strict=True):
        assert first.log_odds == pytest.approx(second.log_odds, abs=1e-5)
        assert [p.pull for p in first.pulls] == pytest.approx(
            [p.pull for p in second.pulls], abs=1e-4
        )


def test_the_nearest_training_rows_are_the_nearest(model, data):
    X = data[0][:30]
    (label,) = explain(model, X[0], labels=[1], X_train=X, n_nearest=4, flips=False).labels
    member = label.members[1]
    nearest = member.positive[0]
    assert len(nearest.nearest_rows) == 4
    to_prototype = []
    for row in X:
        (other,) = explain(model, row, labels=[1], flips=False).labels
        positive = other.members[1].positive
        to_prototype.append(next(p.distance for p in positive if p.number == nearest.number))
    assert set(nearest.nearest_rows) == set(np.argsort(to_prototype)[:4].tolist())
    assert all(p.nearest_rows == () for p in member.positive[1:])


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_a_label_that_was_never_there_keeps_its_prior(data, as_rows):
    X, Y = data
    X = as_rows(X)
    Y = np.column_stack([Y, np.zeros(len(Y), dtype=int)])
    model = PNMLClassifier(
        "single", n_members=2, max_epochs=2, n_landmarks=20, n_trees=5, random_state=0
    ).fit(X, Y)
    (label,) = explain(model, X[:1], labels=[3]).labels
    assert label.log_odds == pytest.approx(model.decision_function(X[:1])[0, 3], abs=1e-12)
    assert label.members == ()
    assert label.pulls == ()
    assert label.flip is None
    assert label.intercept == 0


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_a_label_that_was_added_after_training_is_explained_by_the_networks(data, as_rows):
    dense, Y = data
    X = as_rows(dense)
    model = PNMLClassifier(
        "single", n_members=2, max_epochs=2, n_landmarks=20, n_trees=5, random_state=0
    ).fit(X, Y)
    model.add_label(X[dense[:, 4] > 1], name="late")
    (late,) = explain(model, X[:1], labels=["late"]).labels
    first, late = explain(model, X[:1], labels=["0", "late"]).labels
    scores = model.decision_function(X[:1])[0]
    assert first.log_odds == pytest.approx(scores[0], abs=1e-12)
    assert late.log_odds == pytest.approx(scores[3], abs=1e-12)
    assert [part.weight for part in late.contributions] == [1] + [0] * len(model.model_.companions)
    mean = np.mean([member.log_odds for member in late.members])
    assert mean == pytest.approx(late.log_odds, abs=1e-4)


def test_a_row_of_a_frame_is_explained_under_its_names_without_a_warning(data, recwarn):
    X, Y = data
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = PNMLClassifier(**SMALL).fit(frame, Y)
    for row in (frame.iloc[[3]], frame.iloc[3]):
        found = explain(model, row)
        assert {pull.name for label in found.labels for pull in label.pulls} <= set("abcdef")
    assert not recwarn.list
    with pytest.raises(ValueError, match="feature names should match"):
        explain(model, frame.iloc[3][::-1])


def test_an_explanation_is_plain_json(model, data):
    X, _ = data
    found = explain(model, X[0], X_train=X)
    value = json.loads(json.dumps(found.to_json(), allow_nan=False))
    first = value["labels"][0]
    total = first["intercept"] + sum(part["log_odds"] for part in first["contributions"])
    assert total == pytest.approx(first["log_odds"])
    assert {"positive", "negative", "log_odds"} <= set(first["members"][0])


def test_the_text_names_label_learners_prototypes_and_features(model, data):
    X, _ = data
    names = [f"colour {number}" for number in range(X.shape[1])]
    text = explanation_text(explain(model, X[0], X_train=X, feature_names=names))
    for part in ("3 of 3 labels", "kernel regression", "forest", "nearest positive prototype"):
        assert part in text
    assert "colour 2" in text
    assert "near training rows" in text


def test_names_cannot_steer_a_terminal(model, data):
    X, _ = data
    names = ["\x1b[2J" * 5] * X.shape[1]
    assert "\x1b" not in explanation_text(explain(model, X[0], feature_names=names))


def test_mistakes_are_named(model, data):
    X, Y = data
    with pytest.raises(ValueError, match="X_row has 2 rows; explain takes one at a time"):
        explain(model, X[:2])
    with pytest.raises(ValueError, match="has no label 'sea'; its 3 labels are 0, 1, 2"):
        explain(model, X[0], labels=["sea"])
    with pytest.raises(ValueError, match="feature_names has 1 names but the model"):
        explain(model, X[0], feature_names=["a"])
    with pytest.raises(TypeError, match="explain got a MLkNN; expected a PNMLClassifier"):
        explain(MLkNN().fit(X, Y), X[0])
    one_class = PNMLClassifier(max_epochs=1, n_members=1).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="fitted to one class per row"):
        explain(one_class, X[0])


def flag_and_word_rows():
    """Rows of a number, a flag and a column of four words; the labels are flag and words."""
    rng = np.random.default_rng(2)
    flag, word = rng.integers(0, 2, 240), rng.integers(0, 4, 240)
    X = np.column_stack([rng.normal(size=240), flag, np.eye(4)[word]])
    return X, np.column_stack([flag, word == 1, word >= 2]).astype(int)


@pytest.mark.parametrize("known", ["training rows", "nothing"])
def test_a_feature_of_two_values_flips_to_the_other_one(known):
    X, Y = flag_and_word_rows()
    model = PNMLClassifier(random_state=0, effort="fast").fit(X, Y)
    n_changes = 0
    for row in X[:8]:
        for label in explain(model, row, X_train=X if known == "training rows" else None).labels:
            for change in label.flip.changes if label.flip else ():
                n_changes += change.feature > 0
                assert change.feature == 0 or change.after == 1 - change.before
    assert n_changes > 8


def test_one_word_takes_the_place_of_another():
    X, Y = flag_and_word_rows()
    model = PNMLClassifier(random_state=0, effort="fast").fit(X, Y)
    n_changes = 0
    for row in X[:8]:
        for label in explain(model, row, labels=[1, 2], words=[range(2, 6)], max_changes=1).labels:
            changed = row.copy()
            for change in label.flip.changes if label.flip else ():
                changed[change.feature] = change.after
            assert np.sort(changed[2:]).tolist() == [0, 0, 0, 1]
            n_changes += (changed[2:] != row[2:]).any()
            if label.flip is not None:
                place = int(label.label)
                assert model.predict(changed[None])[0, place] != label.is_predicted
    assert n_changes > 8


def test_at_least_one_label_is_explained(model, data):
    with pytest.raises(ValueError, match="n_labels is 0; expected at least 1"):
        explain(model, data[0][0], n_labels=0)


def test_labels_are_found_by_their_names_and_not_by_another_ones_text(data):
    X, Y = data
    sets = [{1} if row[0] else {"1", "z"} for row in Y]
    model = quick().fit(X, sets)
    assert model.label_names_.tolist() == [1, "1", "z"]
    scores = model.decision_function(X[:1])[0]
    for name, score in zip([1, "1", "z"], scores, strict=True):
        [found] = explain(model, X[0], labels=[name], flips=False).labels
        assert found.log_odds == pytest.approx(score)
    with pytest.raises(ValueError, match="The model has no label 'y'; its 3 labels are 1, 1, z"):
        explain(model, X[0], labels=["y"])


def test_texts_that_two_labels_share_are_refused(data):
    X, Y = data
    sets = [{1.5} if row[0] else {(1.5,), "(1.5,)"} for row in Y]
    sets[0] = {1.5, "1.5"}
    model = quick().fit(X, sets)

    class Written(str):
        def __eq__(self, other):
            return False

        __hash__ = str.__hash__

    with pytest.raises(ValueError, match=r"2 labels of the model are written '1.5'"):
        explain(model, X[0], labels=[Written("1.5")])


def test_all_features_may_be_asked_for(data):
    X, Y = data
    model = quick().fit(X, Y)
    [label] = explain(model, X[0], labels=iter([1]), n_features=None, flips=False).labels
    assert len(label.pulls) == (X.std(axis=0) > 0).sum()
    assert label.other_pulls == pytest.approx(0)


def test_a_sparse_row_may_have_one_dimension(data):
    X, Y = data
    rows = sp.csr_array(np.abs(X) * (X > 0))
    model = quick().fit(rows, Y)
    one = explain(model, rows[0], flips=False)
    assert rows[0].ndim == 1
    assert one.labels == explain(model, rows[[0]], flips=False).labels


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": []}, "labels is empty"),
        ({"labels": iter(())}, "labels is empty"),
        ({"n_features": -1}, "n_features is -1"),
    ],
)
def test_nothing_to_explain_is_refused(data, options, message):
    X, Y = data
    with pytest.raises(ValueError, match=message):
        explain(quick().fit(X, Y), X[0], **options)
