"""One small network in place of the whole, which learns from the labels and from what it says."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.special import expit

from protolabel import PNMLClassifier, fitting
from protolabel.companions.fusion import fit_fusion
from protolabel.datasets import load_dataset, open_rows
from protolabel.distillation import student_settings, train_student
from protolabel.inspection.explaining import explain
from protolabel.metrics import evaluate
from protolabel.persistence import load_model, save_model
from protolabel.pnml.callbacks import Callback
from protolabel.pnml.loss import mean_cross_entropy
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import feature_rows
from protolabel.pnml.soft_targets import SoftTargets
from protolabel.pnml.trainer import Trainer, TrainingData

CPU = torch.device("cpu")
FEW = {"max_epochs": 2, "n_trees": 10, "random_state": 0}


def compact(**params):
    return PNMLClassifier(compact=True, **(FEW | params))


@pytest.fixture
def lessons(monkeypatch):
    """What students were trained on: scores, the rows they are of, and the settings."""
    seen = []

    def spy(data, settings, seed, callbacks=(), scores=None, judged=slice(None)):
        seen.append((scores, judged, settings))
        return train_student(data, settings, seed, callbacks, scores, judged)

    monkeypatch.setattr(fitting, "train_student", spy)
    return seen


def test_labels_are_drawn_towards_probabilities_where_these_are_known():
    rng = np.random.default_rng(0)
    labels = (rng.random((6, 3)) > 0.5).astype(float)
    said = rng.random((4, 3))
    place = np.array([2, -1, 0, 3, -1, 1])
    soft = SoftTargets(torch.from_numpy(said), torch.from_numpy(place), share=0.3)
    rows = np.array([5, 1, 0, 0])
    found = soft.blend(torch.from_numpy(labels[rows]), torch.from_numpy(rows)).numpy()
    for at, row in enumerate(rows):
        expected = labels[row]
        if place[row] >= 0:
            expected = 0.7 * labels[row] + 0.3 * said[place[row]]
        assert np.allclose(found[at], expected)


@pytest.mark.parametrize("n_sampled", [None, 2])
def test_the_loss_is_the_cross_entropy_with_blended_labels(
    settings, labelled, monkeypatch, n_sampled
):
    X, Y = labelled
    rng = np.random.default_rng(1)
    soft = SoftTargets(torch.from_numpy(rng.random(Y.shape)), torch.arange(len(Y)), share=0.5)
    chosen = settings(prototype_update="stale", correlation_penalty=0.0, squared_distance=True)
    generator = torch.Generator().manual_seed(0)
    network = PrototypeNetwork(6, 3, chosen, 1, generator).double()
    labels = torch.from_numpy(Y).double()
    data = TrainingData(
        feature_rows(X, CPU, torch.float64),
        labels,
        torch.ones(1, len(Y), dtype=torch.float64),
        soft_targets=soft,
    )
    trainer = Trainer(network, data, generator)
    trainer.refresh_prototypes()
    if n_sampled is not None:
        # Labels that a step leaves out are drawn by the labels alone, which are 0 or 1.
        monkeypatch.setattr("protolabel.pnml.trainer.MAX_LABELS_OF_A_STEP", 0)
        monkeypatch.setattr("protolabel.pnml.trainer.N_ABSENT_LABELS", n_sampled)
    batch = torch.arange(0, 40, 7)
    embedded = network.embed(data.rows)[:, batch]
    logits = network.logits(embedded, network.prototypes, None, None)
    expected = mean_cross_entropy(
        logits,
        (0.5 * labels + 0.5 * soft.probabilities)[None, batch],
        torch.ones(1, len(batch), dtype=torch.float64),
        learnable=network.active,
        n_labels=3,
        reduction=chosen.loss_reduction,
    )
    assert trainer.loss(batch).total.item() == pytest.approx(expected.item())


def test_the_student_of_networks_whose_prototypes_were_held_holds_its_own_for_an_epoch(settings):
    chosen = student_settings(settings(prototype_interval=2), 200)
    assert (chosen.prototype_update, chosen.prototype_interval) == ("stale", 1)


@pytest.mark.parametrize(
    ("n_rows", "n_epochs"), [(1, 40), (15_000, 40), (30_000, 20), (60_000, 10), (10**7, 10)]
)
def test_of_many_rows_the_student_sees_no_more_than_it_needs(settings, n_rows, n_epochs):
    assert student_settings(settings(max_epochs=10), n_rows).max_epochs == n_epochs


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_a_compact_model_is_one_network_with_linear_log_odds(labelled, as_rows):
    X, Y = labelled
    X = as_rows(np.maximum(X, 0))
    fitted = compact().fit(X, Y).model_
    assert fitted.companions == ()
    assert fitted.fusion is None
    assert fitted.network.n_members == 1
    (head,) = fitted.scorer.of_many.heads
    assert type(head).__name__ == "LinearHead"


@pytest.fixture
def pooled(monkeypatch):
    """Scores of unseen rows that learners were pooled by, and the pools."""
    seen = []

    def spy(scores, *args):
        seen.append((scores, fit_fusion(scores, *args)))
        return seen[-1][1]

    monkeypatch.setattr(fitting, "fit_fusion", spy)
    return seen


def test_the_student_learns_from_scores_of_the_whole_and_keeps_its_decisions(
    labelled, lessons, pooled
):
    X, Y = labelled
    Y = np.column_stack([Y, X[:, 3] > 1.5])  # A rare label, whose prior odds matter.
    whole = PNMLClassifier(**FEW).fit(X, Y)
    small = compact().fit(X, Y)
    ((scores, judged, _),) = lessons
    assert judged == slice(None)
    parts, fusion = pooled[-1]
    assert np.abs(fusion.shifts).max() > 0.01
    assert np.array_equal(scores, fusion.combine(parts))
    # Probabilities are to be learned: labels are moved into order in the whole alone.
    moved = whole.model_.fusion.shifts - fusion.shifts
    assert np.abs(moved).max() > 0.01
    np.testing.assert_allclose(small.thresholds_ + moved, whole.thresholds_)
    for scored in (scores, whole.decision_function(X) - moved):
        decided = whole.decision_.decide(scored + moved)
        assert np.array_equal(small.decision_.decide(scored), decided)
    # These are scores of rows that were not seen: less sure than those of the fitted model.
    seen, unseen = (
        np.mean(np.logaddexp(0, s) - Y * s) for s in (whole.decision_function(X), scores)
    )
    assert unseen > seen


def test_a_student_comes_closer_to_the_whole_than_a_network_of_labels_alone(labelled):
    X, Y = labelled
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(Y.shape) < 0.3, 1 - Y, Y)
    whole = 2 * X[:, :3] - 0.4  # What a good model would say.
    labels = torch.from_numpy(noisy.astype(np.float32))
    rows = feature_rows(X, CPU)
    data = TrainingData(rows, labels, torch.ones(1, len(Y)))
    chosen = student_settings(PNMLClassifier(max_epochs=15)._settings(X, 3), 200)
    gaps = []
    for scores in (whole, None):
        network, history = train_student(data, chosen, 0, scores=scores)
        said = expit(network.average_members(network.member_logits(rows)).numpy())
        gaps.append(np.abs(said - expit(whole)).mean())
        assert len(history) == 60
    assert gaps[0] < 0.7 * gaps[1]


def test_rows_that_no_model_judged_are_learned_from_their_labels(labelled, lessons, monkeypatch):
    X, Y = labelled
    monkeypatch.setattr(fitting, "_MAX_JUDGED_CELLS", 120 * 10)
    monkeypatch.setattr(fitting, "MIN_JUDGED_ROWS", 50)
    model = compact(max_epochs=10).fit(X, Y)
    ((scores, judged, _),) = lessons
    assert scores.shape == (120, 3)
    assert len(judged) == 120
    assert (model.predict(X) == Y).mean() > 0.85


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_compact_fit_to_stored_rows_is_that_to_the_matrix(tmp_path, labelled, form):
    X, Y = labelled
    if form == "sparse":
        X = sp.csr_array(np.maximum(X, 0))
        sp.save_npz(tmp_path / "x.npz", X, compressed=False)
    else:
        np.save(tmp_path / "x.npy", X)
    (path,) = tmp_path.iterdir()
    expected = compact(prototypes="single").fit(X, Y)
    found = compact(prototypes="single").fit(open_rows(path), Y)
    assert np.allclose(found.decision_function(X), expected.decision_function(X), atol=1e-4)


def test_the_student_sees_every_row(labelled, monkeypatch):
    X, Y = labelled
    seen = []
    monkeypatch.setattr(
        "protolabel.distillation.Trainer",
        lambda network, data, *args: seen.append(data.row_weights) or Trainer(network, data, *args),
    )
    compact().fit(X, Y)
    (weights,) = seen
    assert weights.shape == (1, len(Y))
    assert (weights == 1).all()


@pytest.mark.parametrize("size", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize(("as_rows", "least"), [(np.asarray, 0.8), (sp.csr_array, 0.7)])
def test_features_that_are_not_scaled_are_so_for_the_student(
    tmp_path, labelled, size, as_rows, least
):
    X, Y = labelled
    X = as_rows(np.maximum(X + 1, 0) * [1, 2, 3, 4, 5, 600] * size)
    model = compact(feature_scaling="none", max_epochs=10).fit(X[:150], Y[:150])
    assert (model.predict(X[150:]) == Y[150:]).mean() > least
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    stream = compact(feature_scaling="none")
    for _ in range(20):
        stream.partial_fit(X[:150], Y[:150])
    assert (stream.predict(X[150:]) == Y[150:]).mean() > least - 0.05


def test_rows_that_are_watched_are_scaled_as_those_that_the_student_learns_from(
    labelled, monkeypatch
):
    X, Y = labelled
    seen = []

    def spy(data, *args):
        seen.append(data)
        return train_student(data, *args)

    monkeypatch.setattr(fitting, "train_student", spy)
    compact(feature_scaling="none", early_stopping=True).fit(1000 * X, Y)
    (data,) = seen
    for rows in (data.rows, data.validation_rows):
        assert float(rows.values.abs().max()) < 10


def test_the_patience_of_the_student_grows_with_its_epochs(settings):
    student = student_settings(settings(max_epochs=10, n_iter_no_change=3), 100)
    assert (student.max_epochs, student.n_iter_no_change) == (40, 12)


def test_columns_with_long_tails_do_not_spoil_it(labelled):
    X, Y = labelled
    tails = np.random.default_rng(0).standard_t(1.5, size=X.shape)
    model = compact(feature_scaling="standard", max_epochs=10).fit(np.hstack([X, tails]), Y)
    assert (model.predict(np.hstack([X, tails[::-1]])) == Y).mean() > 0.8


def test_a_stream_has_the_one_small_network_from_the_start(labelled):
    X, Y = labelled
    model = compact().partial_fit(X, Y).partial_fit(X, Y)
    network = model.model_.network
    assert network.n_members == 1
    assert network.settings.squared_distance
    after = compact().fit(X, Y).partial_fit(X, Y).model_.network
    assert (after.n_members, after.settings.embedding_dim) == (1, network.settings.embedding_dim)


def test_callbacks_see_both_trainings(labelled):
    X, Y = labelled
    seen = []

    class Watch(Callback):
        def on_train_begin(self, n_epochs):
            seen.append(n_epochs)

        def on_train_end(self, history):
            seen.append(len(history))

    model = compact(callbacks=[Watch()]).fit(X, Y)
    assert seen == [2, 2, 8, 8]
    assert len(model.history_) == 8


@pytest.mark.parametrize("n_rows", [1, 2, 7])
def test_of_very_few_rows_it_learns_from_labels_alone(labelled, lessons, n_rows):
    X, Y = labelled
    model = compact().fit(X[:n_rows], Y[:n_rows])
    assert np.isfinite(model.decision_function(X)).all()
    ((scores, _, _),) = lessons
    assert scores is None


@pytest.mark.parametrize(
    "params",
    [
        {"prototypes": "multiple", "prototype_update": "epoch", "correlation_penalty": 0.1},
        {"shared_embedding": False, "metric": "euclidean"},
        {"metric_rank": None, "hidden_dim": 7},
        {"metric_rank": 200, "embedding_dim": 300},
        {"prototypes": "single", "prototype_update": "epoch", "leave_one_out": True},
        {"prototypes": "single", "prototype_update": "step", "support_size": 50},
        {"early_stopping": True},
        {"n_landmarks": 0, "n_trees": 0},
        {"thresholds": "fixed"},
    ],
    ids=str,
)
def test_the_networks_of_the_whole_may_be_of_any_kind(labelled, params):
    X, Y = labelled
    X, Y = X[:80], Y[:80]
    model = compact(**params).fit(X, Y)
    assert model.model_.network.settings.squared_distance
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("params", [{"cross_fit": False}, {"n_members": 1}], ids=str)
def test_without_scores_of_unseen_rows_it_learns_from_labels_alone(labelled, lessons, params):
    X, Y = labelled
    epochs = []

    class Watch(Callback):
        def on_train_begin(self, n_epochs):
            epochs.append(n_epochs)

    model = compact(max_epochs=10, callbacks=[Watch()], **params).fit(X, Y)
    ((scores, _, _),) = lessons
    assert scores is None
    assert epochs == [40]  # Networks that nobody would ask are not trained.
    assert (model.predict(X) == Y).mean() > 0.8


def test_what_is_no_switch_is_refused(labelled):
    with pytest.raises(ValueError, match="compact='yes' cannot be used; expected True or False"):
        PNMLClassifier(compact="yes").fit(*labelled)


def test_labels_of_one_kind_and_constant_columns(labelled):
    X, Y = labelled
    X, Y = X.copy(), np.column_stack([Y, np.zeros(len(Y), int), np.ones(len(Y), int)])
    X[:, 2] = 4.0
    Y[0, 3] = Y[1, 4] = 0
    model = compact().fit(X, Y)
    said = model.predict(X)
    assert not said[:, 3].any()
    assert np.isfinite(model.decision_function(X)).all()
    classes = compact().fit(X, Y[:, 0] + 2 * Y[:, 1])
    assert set(classes.predict(X)) <= {0, 1, 2, 3}


def test_a_compact_model_is_the_same_after_saving(tmp_path, labelled):
    X, Y = labelled
    model = compact().fit(X, Y)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.compact
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_it_is_explained_and_can_learn_another_label(labelled):
    X, Y = labelled
    model = compact().fit(X, Y)
    scores = model.decision_function(X)
    found = explain(model, X[:1], labels=["0", "1", "2"]).labels
    for label, score in zip(found, scores[0], strict=True):
        (member,) = label.members
        assert label.log_odds == pytest.approx(score, abs=1e-12)
        assert member.log_odds == pytest.approx(score, abs=1e-4)
    model.add_label(X[:3], name="new")
    assert np.allclose(model.decision_function(X)[:, :3], scores)


def test_it_is_more_accurate_than_the_networks_of_fast(benchmark_data):
    data = load_dataset("emotions")
    order = np.random.default_rng(0).permutation(data.X.shape[0])
    train, test = order[:400], order[400:]
    found = {}
    for name, model in {
        "fast": PNMLClassifier(effort="fast", random_state=0),
        "compact": PNMLClassifier(compact=True, random_state=0),
    }.items():
        model.fit(data.X[train], data.Y[train])
        said = evaluate(
            data.Y[test], model.predict(data.X[test]), model.decision_function(data.X[test])
        )
        found[name] = said["accuracy"] + said["average_precision"]
    assert found["compact"] > found["fast"]
