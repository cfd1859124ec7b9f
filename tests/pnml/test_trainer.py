import math

import numpy as np
import pytest
import torch

from protolabel.exceptions import TrainingError
from protolabel.pnml.callbacks import Callback
from protolabel.pnml.components import Components
from protolabel.pnml.held_prototypes import HeldPrototypes
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.optimisation import one_cycle
from protolabel.pnml.prototypes import PrototypeSet
from protolabel.pnml.rows import feature_rows
from protolabel.pnml.support import Support, cluster_slices, support_prototypes
from protolabel.pnml.trainer import Trainer, TrainingData
from reference import pnml as naive

CPU = torch.device("cpu")


@pytest.fixture
def trainer_for(settings, labelled):
    """Build a trainer on the small data set, in double precision where asked."""
    X, Y = labelled

    def build(dtype=torch.float32, n_members=1, labels=Y, callbacks=(), **overrides):
        chosen = settings(**overrides)
        generator = torch.Generator().manual_seed(0)
        network = PrototypeNetwork(6, labels.shape[1], chosen, n_members, generator).to(dtype)
        data = TrainingData(
            rows=feature_rows(X, CPU, dtype),
            labels=torch.from_numpy(labels).to(dtype),
            row_weights=torch.ones(n_members, len(X), dtype=dtype),
        )
        return Trainer(network, data, torch.Generator().manual_seed(1), callbacks)

    return build


@pytest.mark.parametrize("reduction", ["cells", "rows"])
def test_the_objective_equals_the_loops_of_the_paper(trainer_for, labelled, reduction):
    _, Y = labelled
    trainer = trainer_for(
        torch.float64, loss_reduction=reduction, correlation_penalty=0.3, metric_penalty=0.1
    )
    network = trainer.network
    with torch.no_grad():
        network.metric += 0.1 * torch.randn_like(network.metric)
    batch = torch.arange(0, 40, 3)
    loss = trainer.loss(batch)

    e = network.embed(trainer.data.rows)[0].numpy()
    U = network.metric.detach()[0].numpy()
    positive = [naive.component_mean(e, Y[:, k] == 1) for k in range(3)]
    negative = [naive.component_mean(e, Y[:, k] == 0) for k in range(3)]
    p = [
        [naive.probability(e[i], [positive[k]], [negative[k]], U[k]) for k in range(3)]
        for i in batch.tolist()
    ]
    n_cells = len(batch) * (3 if reduction == "cells" else 1)
    entropy = naive.cross_entropy(p, Y[batch.numpy()]) / n_cells
    correlation = naive.correlation_penalty(np.array(positive), naive.pearson(Y.astype(float)))
    assert loss.cross_entropy.item() == pytest.approx(entropy, rel=1e-5)
    assert loss.correlation.item() == pytest.approx(correlation, rel=1e-5)
    assert loss.total.item() == pytest.approx(entropy + 0.3 * correlation, rel=1e-5)


@pytest.mark.parametrize(("reduction", "weight"), [("rows", 0.05), ("cells", 0.05 / 3)])
def test_weight_decay_is_the_gradient_of_the_metric_penalty(trainer_for, reduction, weight):
    """One step with the penalty in the loss equals one step with it in the optimiser.

    Averaging over three labels divides the penalty of each by three as it does the data.
    """
    batch = torch.arange(50)
    inside, decayed = (
        trainer_for(torch.float64, metric_penalty=0.05, loss_reduction=reduction) for _ in range(2)
    )
    for group in inside.optimizer.groups:
        group.weight_decay = 0.0
    for _ in range(3):
        inside.optimizer.zero_grad()
        (inside.loss(batch).total + weight * inside.network.metric.square().sum()).backward()
        inside.optimizer.step()
        decayed.train_step(batch)
    assert torch.allclose(inside.network.metric, decayed.network.metric, atol=1e-9)


@pytest.mark.parametrize("update", ["step", "epoch"])
def test_prototypes_pass_their_gradient_to_the_embedding(trainer_for, update):
    trainer = trainer_for(prototypes="multiple", prototype_update=update)
    trainer.refresh_clusterings()
    _, prototypes, _ = trainer._queries_and_prototypes(torch.arange(20))
    assert prototypes.positions.requires_grad
    prototypes.positions.sum().backward()
    assert trainer.network.embedding.weight.grad.abs().sum() > 0


def test_clustering_quantities_carry_no_gradient(trainer_for):
    trainer = trainer_for(prototypes="multiple", prototype_update="step")
    embeddings = trainer.network.embedding(trainer.data.rows)
    support = Support(embeddings, trainer._components)
    (found,) = cluster_slices(trainer.network, support, keep_responsibilities=True)
    assert not found.responsibilities.requires_grad
    (found,) = cluster_slices(trainer.network, support, keep_responsibilities=False)
    assert not found.prototypes.requires_grad


@pytest.mark.parametrize("prototypes", ["single", "multiple"])
def test_prototypes_are_computed_in_one_step_of_an_interval(trainer_for, monkeypatch, prototypes):
    trainer = trainer_for(prototypes=prototypes, prototype_interval=3, batch_size=20)
    computed_in = []
    monkeypatch.setattr(
        "protolabel.pnml.trainer.support_prototypes",
        lambda *rows: computed_in.append(trainer.step) or support_prototypes(*rows),
    )
    for epoch in range(2):
        trainer.run_epoch(epoch)
    assert computed_in == [0, 3, 6, 9, 10, 13, 16, 19]


@pytest.mark.parametrize(("interval", "found_in"), [(1, [0, 1, 2, 3, 4]), (3, [0, 3])])
def test_clusters_are_found_in_one_epoch_of_an_interval(
    trainer_for, monkeypatch, interval, found_in
):
    trainer = trainer_for(
        prototypes="multiple", prototype_update="epoch", prototype_interval=interval
    )
    epochs = []
    monkeypatch.setattr(
        "protolabel.pnml.trainer.cluster_slices",
        lambda *given, **kept: epochs.append(epoch) or cluster_slices(*given, **kept),
    )
    for epoch in range(5):
        trainer.run_epoch(epoch)
    assert epochs == found_in


def test_what_goes_back_through_held_prototypes_is_in_every_step_that_uses_them():
    weight, slopes = torch.ones(1, requires_grad=True), []
    held = HeldPrototypes(3, [weight])
    for step in range(7):
        if step == 5:
            held.forget()  # As a new epoch does.
        current = held.take()
        if current is None:
            positions = (10.0 + step) * weight.view(1, 1, 1, 1, 1)
            current = held.hold(PrototypeSet(positions, torch.zeros(1, 1, 1, 1)))
        else:
            assert not current.positions.requires_grad
        weight.grad = None
        (current.positions.sum() + weight.sum()).backward()
        held.pass_on()
        slopes.append(weight.grad.item())
    assert slopes == [11.0, 11.0, 11.0, 14.0, 14.0, 16.0, 16.0]


def test_stale_prototypes_do_not_require_gradient(trainer_for):
    trainer = trainer_for(prototype_update="stale", correlation_penalty=0.0)
    trainer.refresh_prototypes()
    queries, prototypes, _ = trainer._queries_and_prototypes(torch.arange(20))
    assert queries.requires_grad
    assert not prototypes.positions.requires_grad


def test_an_infinite_threshold_gives_the_logits_of_single_mode(trainer_for):
    single = trainer_for(torch.float64)
    multiple = trainer_for(torch.float64, prototypes="multiple", concentration=1e-300)
    for trainer in (single, multiple):
        trainer.finish()
    rows = single.data.rows
    assert torch.allclose(
        single.network.member_logits(rows), multiple.network.member_logits(rows), atol=1e-6
    )


def test_a_trained_infinite_threshold_equals_trained_single_mode(trainer_for):
    single = trainer_for(torch.float64, max_epochs=3)
    multiple = trainer_for(torch.float64, max_epochs=3, prototypes="multiple", concentration=1e-300)
    single.fit()
    multiple.fit()
    rows = single.data.rows
    assert torch.allclose(
        single.network.member_logits(rows), multiple.network.member_logits(rows), atol=1e-6
    )


def test_permuting_the_labels_permutes_the_trained_model(trainer_for, labelled):
    _, Y = labelled
    order = [2, 0, 1]
    plain, permuted = (
        trainer_for(torch.float64, max_epochs=3),
        trainer_for(torch.float64, labels=Y[:, order], max_epochs=3),
    )
    plain.fit()
    permuted.fit()
    rows = plain.data.rows
    assert torch.allclose(
        plain.network.member_logits(rows)[..., order], permuted.network.member_logits(rows)
    )


def test_permuting_features_with_their_weights_changes_nothing(trainer_for, labelled):
    X, _ = labelled
    trainer = trainer_for(torch.float64)
    trainer.finish()
    before = trainer.network.member_logits(trainer.data.rows)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    with torch.no_grad():
        trainer.network.embedding.weight.copy_(trainer.network.embedding.weight[order])
    after = trainer.network.member_logits(feature_rows(X[:, order.numpy()], CPU, torch.float64))
    assert torch.allclose(before, after)


def test_an_untrained_full_metric_is_the_euclidean_variant(trainer_for):
    full, euclidean = trainer_for(torch.float64), trainer_for(torch.float64, metric="euclidean")
    for trainer in (full, euclidean):
        trainer.finish()
    rows = full.data.rows
    assert torch.allclose(full.network.member_logits(rows), euclidean.network.member_logits(rows))


def test_per_label_embeddings_do_not_influence_each_other(trainer_for, labelled):
    """PNML-I: changing one label leaves the model of the others as it was."""
    _, Y = labelled
    changed = Y.copy()
    changed[:, 2] = 1 - changed[:, 2]
    changed[:10, 2] = 0
    options = {"shared_embedding": False, "max_epochs": 3}
    plain, other = (
        trainer_for(torch.float64, **options),
        trainer_for(torch.float64, labels=changed, **options),
    )
    plain.fit()
    other.fit()
    a, b = (t.network.member_logits(plain.data.rows) for t in (plain, other))
    assert torch.allclose(a[..., :2], b[..., :2])
    assert not torch.allclose(a[..., 2], b[..., 2])


def test_each_member_of_an_ensemble_trains_as_if_alone(trainer_for):
    """Members share batches but nothing else: freezing one leaves the other unchanged."""
    both, one = (trainer_for(torch.float64, n_members=2, max_epochs=2) for _ in range(2))
    one.row_weights[1] = 0
    both.fit()
    one.fit()
    rows = both.data.rows
    assert torch.allclose(both.network.member_logits(rows)[0], one.network.member_logits(rows)[0])


def test_leaving_a_query_out_of_its_mean_equals_recomputing_the_mean(trainer_for):
    trainer = trainer_for(torch.float64, leave_one_out=True)
    network, data = trainer.network, trainer.data
    batch = torch.tensor([4, 9])
    queries, prototypes, stretch = trainer._queries_and_prototypes(batch)
    got = network.logits(queries, prototypes, stretch)[0]
    embeddings = network.embedding(data.rows)
    for position, i in enumerate(batch.tolist()):
        for k in range(3):
            weights = torch.ones(1, len(data.labels), dtype=torch.float64)
            weights[0, i] = 0
            without = support_prototypes(
                network, Support(embeddings, Components.of(data.labels[None], weights))
            )
            expected = network.logits(embeddings[:, [i]], without)[0, 0, k]
            # The mean of the other side is the same with and without the query.
            assert got[position, k].item() == pytest.approx(expected.item(), rel=1e-6)


def test_a_label_without_positives_in_the_support_sits_the_step_out(trainer_for, labelled):
    _, Y = labelled
    rare = Y.copy()
    rare[:, 0] = 0
    rare[0, 0] = 1
    trainer = trainer_for(labels=rare, support_size=10, batch_size=5)
    batch = torch.arange(100, 105)
    trainer.loss(batch).total.backward()
    assert trainer.network.metric.grad[0, 0].abs().sum() == 0
    assert trainer.network.metric.grad[0, 1].abs().sum() > 0


def test_a_sampled_support_needs_no_more_rows_than_asked(trainer_for, monkeypatch):
    trainer = trainer_for(support_size=30, batch_size=10)
    seen = []
    original = trainer.network.embedding.forward
    monkeypatch.setattr(
        trainer.network.embedding,
        "forward",
        lambda rows, generator=None: (seen.append(rows.n_rows), original(rows, generator))[1],
    )
    trainer.loss(torch.arange(10))
    assert seen == [30]


def test_a_trainable_variance_is_trained_and_starts_neutral(trainer_for):
    trainer = trainer_for(torch.float64, prototypes="multiple", cluster_variance="trainable")
    plain = trainer_for(torch.float64, prototypes="multiple", cluster_variance=0.5)
    for t in (trainer, plain):
        t.refresh_clusterings()
    batch = torch.arange(30)
    assert trainer.loss(batch).total.item() == pytest.approx(plain.loss(batch).total.item())
    before = trainer.network.log_variance.item()
    trainer.train_step(batch)
    assert trainer.network.log_variance.item() != before


def test_history_and_callbacks_see_every_epoch(trainer_for):
    class Recorder(Callback):
        def __init__(self):
            self.events = []

        def on_train_begin(self, n_epochs):
            self.events.append(("begin", n_epochs))

        def on_epoch_end(self, record):
            self.events.append(("epoch", record.epoch))

        def on_train_end(self, history):
            self.events.append(("end", len(history)))

    recorder = Recorder()
    history = trainer_for(max_epochs=3, callbacks=[recorder]).fit()
    assert recorder.events == [("begin", 3), ("epoch", 0), ("epoch", 1), ("epoch", 2), ("end", 3)]
    assert [record.epoch for record in history] == [0, 1, 2]


@pytest.mark.parametrize(("least", "n_threads"), [(1e12, 1), (1.0, 3)])
def test_small_steps_run_on_one_thread(trainer_for, monkeypatch, least, n_threads):
    class Watch(Callback):
        seen = 0

        def on_epoch_end(self, record):
            self.seen = torch.get_num_threads()

    monkeypatch.setattr("protolabel.threads.MIN_FLOPS_OF_THREADS", least)
    watch, before = Watch(), torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        trainer_for(callbacks=[watch], max_epochs=1).fit()
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert watch.seen == n_threads


def test_callbacks_are_told_of_the_end_even_when_training_fails(trainer_for):
    class Failing(Callback):
        ended = False

        def on_epoch_end(self, record):
            raise KeyboardInterrupt

        def on_train_end(self, history):
            self.ended = True

    callback = Failing()
    with pytest.raises(KeyboardInterrupt):
        trainer_for(max_epochs=3, callbacks=[callback]).fit()
    assert callback.ended


def test_the_cross_entropy_falls(trainer_for):
    history = trainer_for(max_epochs=30, learning_rate=1e-2).fit()
    assert history[-1].cross_entropy < 0.9 * history[0].cross_entropy


def test_a_diverging_loss_stops_with_an_explanation(trainer_for):
    trainer = trainer_for(correlation_penalty=1.0)
    with torch.no_grad():
        trainer.network.embedding.weight.fill_(math.inf)
    with pytest.raises(TrainingError, match=r"loss became .* in epoch 0.*correlation='cosine'"):
        trainer.fit()


def test_one_cycle_rises_to_its_peak_and_falls_to_nothing():
    rates = [one_cycle(step, 100, 3e-3) for step in range(101)]
    assert rates[0] == pytest.approx(3e-3 / 25)
    assert max(rates) == pytest.approx(3e-3)
    assert rates.index(max(rates)) == 30
    assert rates[100] == pytest.approx(0, abs=1e-9)
