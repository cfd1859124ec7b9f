import inspect
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from protolabel import PNMLClassifier
from protolabel.fitting import MIN_ROWS_TO_TUNE_THRESHOLDS
from protolabel.pnml.callbacks import Callback

FAST = {"max_epochs": 3, "random_state": 0}


def quick(**params):
    return PNMLClassifier(**(FAST | params))


def quick_paper(prototypes="single", **params):
    return PNMLClassifier.paper(prototypes, **(FAST | params))


# What it learns


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


# Reproducibility and independence


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


@pytest.mark.parametrize("prototypes", ["single", "multiple"])
def test_sparse_and_dense_input_give_the_same_logits(prototypes):
    X = sp.random(150, 30, density=0.1, format="csr", random_state=0)
    Y = np.asarray((X[:, :4] > 0).toarray(), dtype=int)
    dense = quick_paper(prototypes).fit(X.toarray(), Y)
    for form in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array):
        sparse = quick_paper(prototypes).fit(form(X), Y)
        assert np.allclose(
            sparse.decision_function(form(X)), dense.decision_function(X.toarray()), atol=1e-5
        )


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


# As scikit-learn users expect


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_give_names_and_the_same_model(labelled, frame):
    X, Y = labelled
    names = [f"x{i}" for i in range(6)]
    features = frame(dict(zip(names, X.T, strict=True)))
    labels = frame(dict(zip("abc", Y.T, strict=True)))
    model = quick().fit(features, labels)
    assert model.feature_names_in_.tolist() == names
    assert model.label_names_.tolist() == ["a", "b", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = model.decision_function(features)
    assert np.array_equal(scores, quick().fit(X, Y).decision_function(X))


def test_columns_in_another_order_are_refused(labelled):
    X, Y = labelled
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = quick().fit(frame, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("fedcba")])


def test_single_precision_input_is_accepted(labelled):
    X, Y = labelled
    model = quick().fit(X.astype(np.float32), Y)
    assert model.predict(X.astype(np.float32)).shape == Y.shape


def test_label_sets_are_learned_under_their_names(labelled):
    X, Y = labelled
    sets = [{name for name, y in zip("abc", row, strict=True) if y} for row in Y]
    model = quick().fit(X, sets)
    assert model.label_names_.tolist() == ["a", "b", "c"]
    assert np.array_equal(model.decision_function(X), quick().fit(X, Y).decision_function(X))


def test_predicted_sets_hold_the_names_of_the_predicted_columns(labelled):
    X, Y = labelled
    model = quick().fit(X, pd.DataFrame(Y, columns=["a", "b", "c"]))
    for names, row in zip(model.predict_label_sets(X), model.predict(X), strict=True):
        assert names == {name for name, predicted in zip("abc", row, strict=True) if predicted}
    with pytest.raises(ValueError, match="is for multi-label models"):
        quick().fit(X, Y[:, 0]).predict_label_sets(X)


def test_outputs_have_one_column_per_label(labelled):
    X, Y = labelled
    model = quick().fit(X, Y)
    assert model.predict(X).dtype == np.int64
    assert model.predict_proba(X).min() >= 0
    assert model.predict_proba(X).max() <= 1
    assert np.allclose(model.predict_proba(X), 1 / (1 + np.exp(-model.decision_function(X))))
    assert model.transform(X).shape == (200, 5 * 72)
    assert 0 <= model.score(X, Y) <= 1
    assert len(model.get_feature_names_out()) == 5 * 72


def test_one_label_column_stays_a_column(labelled):
    X, Y = labelled
    model = quick().fit(X, Y[:, :1])
    assert model.predict(X).shape == (200, 1)
    assert model.decision_function(X).shape == (200, 1)


def test_a_binary_target_is_one_label(labelled):
    X, Y = labelled
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = quick().fit(X, y)
    assert set(model.predict(X)) <= {"yes", "no"}
    assert model.predict_proba(X).shape == (200, 2)
    assert model.decision_function(X).shape == (200,)


def test_a_multiclass_target_predicts_one_class(labelled):
    X, _ = labelled
    y = np.array(["a", "b", "c"])[np.clip((X[:, 0] + 1).astype(int), 0, 2)]
    model = quick(max_epochs=30).fit(X, y)
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities.sum(1), 1)
    assert np.array_equal(model.predict(X), model.classes_[probabilities.argmax(1)])
    assert (model.predict(X) == y).mean() > 0.8


def test_clone_pickle_pipeline_and_searches(labelled):
    X, Y = labelled
    model = quick_paper()
    fitted = clone(model).fit(X, Y)
    restored = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(restored.decision_function(X), fitted.decision_function(X))
    assert make_pipeline(MinMaxScaler(), model).fit(X, Y).predict(X).shape == Y.shape
    assert cross_val_predict(model, X, Y, cv=2, method="predict_proba").shape == Y.shape
    search = GridSearchCV(model, {"metric_penalty": [1e-4, 1e-2]}, cv=2).fit(X, Y)
    assert search.best_params_["metric_penalty"] in (1e-4, 1e-2)


def test_fitting_warns_of_nothing_and_prints_nothing(labelled, capsys):
    X, Y = labelled
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(prototypes="multiple").fit(X, Y)
        quick_paper("multiple").fit(sp.csr_array(np.maximum(X, 0)), Y)
    assert capsys.readouterr() == ("", "")


def test_documented_defaults_are_the_real_ones():
    signature = inspect.signature(PNMLClassifier.__init__).parameters
    documentation = inspect.getdoc(PNMLClassifier).split("Attributes\n")[0]
    documentation = re.sub(r"\\\n\s+", "", documentation)
    for names, text in re.findall(r"^(\w[\w, ]*) : .*default=(.*)$", documentation, re.MULTILINE):
        values = text.split(" and ")
        for position, name in enumerate(names.split(", ")):
            documented = values[min(position, len(values) - 1)]
            default = signature[name].default
            assert documented.strip('"') == str(default) or float(documented) == default
    documented_names = set(re.findall(r"^(\w[\w, ]*) : ", documentation, re.MULTILINE))
    assert {n for names in documented_names for n in names.split(", ")} == set(signature) - {"self"}


# Options around the network


def test_thresholds_are_tuned_on_out_of_fold_scores(labelled):
    X, Y = labelled
    rare = Y * (np.random.default_rng(0).random(Y.shape) < 0.3)
    tuned = quick(max_epochs=10).fit(X, rare)
    fixed = quick(max_epochs=10, thresholds="fixed").fit(X, rare)
    assert np.array_equal(tuned.decision_function(X), fixed.decision_function(X))
    assert not np.allclose(tuned.thresholds_, 0)
    assert np.array_equal(fixed.thresholds_, np.zeros(3))
    assert np.array_equal(tuned.predict(X), tuned.decision_function(X) > tuned.thresholds_)


@pytest.mark.parametrize("rule", ["global", "per_label", "cardinality"])
def test_every_threshold_rule_can_be_chosen(labelled, rule):
    X, Y = labelled
    model = quick(max_epochs=10, thresholds=rule).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.75
    assert np.unique(model.thresholds_).size == (3 if rule == "per_label" else 1)


def test_at_least_one_label_is_given_where_asked(labelled):
    X, Y = labelled
    model = quick(thresholds="fixed").fit(X, Y)
    assert (model.predict(X).sum(1) == 0).any()
    assert (model.set_params(at_least_one=True).predict(X).sum(1) >= 1).all()


@pytest.mark.parametrize(
    "options", [{"cross_fit": False}, {"n_members": 1}, {"thresholds": "fixed"}]
)
def test_without_out_of_fold_scores_thresholds_stay_at_one_half(labelled, options):
    X, Y = labelled
    model = quick(**options).fit(X, Y)
    assert np.array_equal(model.predict(X), model.predict_proba(X) > 0.5)


def test_few_rows_keep_thresholds_at_one_half(labelled):
    X, Y = labelled
    n = MIN_ROWS_TO_TUNE_THRESHOLDS - 1
    assert np.array_equal(quick().fit(X[:n], Y[:n]).thresholds_, np.zeros(3))


def test_early_stopping_keeps_the_best_epoch(labelled):
    X, Y = labelled
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 2, size=Y.shape)
    model = PNMLClassifier.paper(
        "single", early_stopping=True, n_iter_no_change=2, max_epochs=60, random_state=0
    ).fit(X, noise)
    losses = [record.validation_loss for record in model.history_]
    assert len(losses) < 60
    assert np.argmin(losses) == len(losses) - 3
    assert all(0 <= record.validation_accuracy <= 1 for record in model.history_)


def test_verbose_training_logs_every_epoch(labelled, caplog):
    X, Y = labelled
    with caplog.at_level("INFO", logger="protolabel"):
        quick_paper(verbose=True).fit(X, Y)
    assert [m.split(" loss")[0] for m in caplog.messages] == ["epoch 0", "epoch 1", "epoch 2"]


@pytest.mark.parametrize(
    "options",
    [
        {"prototype_update": "step", "prototypes": "multiple"},
        {"cluster_variance": "trainable", "prototypes": "multiple"},
        {"cluster_variance": "within", "prototypes": "multiple"},
        {"cluster_variance": 5.0, "prototypes": "multiple"},
        {"n_clustering": 3, "prototypes": "multiple"},
        {"positive_rate": 0.5, "negative_rate": 0.1, "prototypes": "multiple"},
        {"positive_rate": 0.5, "negative_rate": 0.1, "prototypes": "single"},
        {"support_size": 50, "prototypes": "multiple"},
        {"leave_one_out": True, "prototypes": "single"},
        {"squared_distance": True, "prototypes": "single"},
        {"squared_distance": True, "prototypes": "multiple"},
        {"correlation": "cosine", "correlation_penalty": 1e-2},
        {"mixing": "empirical", "prototypes": "multiple"},
        {"class_prior": "empirical"},
        {"hidden_dim": 8},
        {"embedding_dropout": 0.5, "input_dropout": 0.1},
        {"shared_embedding": False, "n_members": 3},
    ],
    ids=str,
)
def test_every_option_trains_and_beats_a_coin(labelled, options):
    X, Y = labelled
    model = PNMLClassifier.paper(**({"prototypes": "single"} | options), random_state=0).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.75
