import math

import numpy as np
import pytest
import torch

from protolabel.pnml.clustering import (
    cluster_components,
    creation_threshold,
    growth_pass,
    participation_ratio,
    spread_of_means,
)
from protolabel.pnml.soft_assignment import responsibilities_of, without_empty_clusters
from reference import pnml as naive


def both_sides(labels):
    return torch.from_numpy(np.stack([labels.T == 0, labels.T == 1]))


@pytest.fixture
def blobs():
    """Ninety rows around three centres, two labels."""
    rng = np.random.default_rng(5)
    centres = rng.normal(scale=6, size=(3, 4))
    embeddings = np.repeat(centres, 30, axis=0) + 0.3 * rng.normal(size=(90, 4))
    embeddings = embeddings[rng.permutation(90)]
    labels = (rng.random((90, 2)) > 0.5).astype(int)
    return embeddings, labels


@pytest.mark.parametrize("case", range(100))
def test_growth_equals_the_sequential_loop(case, monkeypatch):
    rng = np.random.default_rng(case)
    n_rows, n_components = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    embeddings = rng.normal(size=(n_rows, int(rng.integers(1, 5))))
    members = rng.random((n_components, n_rows)) > 0.4
    members[:, 0] = True
    cap = int(rng.integers(1, 8)) if case % 2 else 10**6
    thresholds = rng.exponential(3, size=n_components)
    starts = np.array([naive.component_mean(embeddings, m) for m in members])
    points = torch.from_numpy(embeddings)
    monkeypatch.setattr("protolabel.pnml.growth._FIRST_BLOCK", int(rng.integers(1, 50)))
    monkeypatch.setattr("protolabel.pnml.growth._MAX_ENTRIES", int(rng.integers(1, 1000)))
    created = growth_pass(
        points if case % 3 else points.expand(n_components, -1, -1),
        torch.from_numpy(members),
        torch.from_numpy(starts)[:, None],
        torch.ones(n_components, 1, dtype=torch.bool),
        torch.from_numpy(thresholds),
        torch.full((n_components,), cap - 1),
    )
    for q in range(n_components):
        expected = naive.grow(embeddings, members[q], starts[q], thresholds[q], cap)
        assert [i for i in created[q].tolist() if i >= 0] == expected


def test_no_prototype_is_added_when_the_threshold_is_infinite(blobs, settings):
    embeddings, labels = blobs
    found = cluster_components(
        torch.from_numpy(embeddings),
        both_sides(labels),
        settings(prototypes="multiple", concentration=1e-300),
    )
    assert found.exists.sum(-1).tolist() == [[1, 1], [1, 1]]
    for k in range(2):
        for side in (0, 1):
            mean = naive.component_mean(embeddings, labels[:, k] == side)
            assert np.allclose(found.prototypes[k, side, 0].numpy(), mean)


def test_every_distinct_row_becomes_a_prototype_at_threshold_zero(blobs):
    embeddings, labels = blobs
    points = torch.from_numpy(embeddings)
    members = torch.from_numpy(labels.T == 1)
    means = torch.from_numpy(
        np.array([naive.component_mean(embeddings, labels[:, k] == 1) for k in range(2)])
    )
    created = growth_pass(
        points,
        members,
        means[:, None],
        torch.ones(2, 1, dtype=torch.bool),
        torch.zeros(2),
        torch.full((2,), 1000),
    )
    assert (created >= 0).sum(1).tolist() == labels.sum(0).tolist()


def test_duplicate_rows_add_one_prototype_even_at_threshold_zero():
    points = torch.tensor([[1.1, 2.3]] * 5 + [[4.7, 0.2]] * 5)
    created = growth_pass(
        points,
        torch.ones(1, 10, dtype=torch.bool),
        points.mean(0)[None, None],
        torch.ones(1, 1, dtype=torch.bool),
        torch.zeros(1),
        torch.tensor([100]),
    )
    assert created[0].tolist() == [0, 5]


@pytest.fixture
def rare_labels():
    """Labels of no row, one row, two and nine rows of ninety, and of all rows but one."""
    labels = np.zeros((90, 5), dtype=int)
    labels[17, 1] = 1
    labels[[3, 80], 2] = 1
    labels[5:50:5, 3] = 1
    labels[:, 4] = 1
    labels[60, 4] = 0
    return labels


@pytest.mark.parametrize("is_rare", [False, True])
@pytest.mark.parametrize("temperature", [None, 1.0])
def test_clustering_equals_the_naive_loops(blobs, rare_labels, settings, temperature, is_rare):
    embeddings, labels = blobs
    labels = rare_labels if is_rare else labels
    found = cluster_components(
        torch.from_numpy(embeddings),
        both_sides(labels),
        settings(prototypes="multiple", concentration=0.5, assignment_temperature=temperature),
    )
    assert found.exists.sum() > 4
    for k in range(labels.shape[1]):
        for side in (0, 1):
            if not (labels[:, k] == side).any():
                assert not found.exists[k, side].any()
                continue
            expected, masses = naive.cluster_component(
                embeddings,
                labels[:, k] == side,
                found.rule.threshold,
                found.rule.temperature,
                cap=20,
            )
            kept = found.exists[k, side]
            assert np.allclose(found.prototypes[k, side, kept].numpy(), expected, atol=1e-8)
            assert np.allclose(found.mass[k, side, kept].numpy(), masses, atol=1e-8)


@pytest.mark.parametrize("n_clustering", [1, 2])
def test_components_in_batches_give_the_same_clusters(
    blobs, rare_labels, settings, monkeypatch, n_clustering
):
    embeddings, labels = blobs
    membership = both_sides(np.hstack([labels, rare_labels]))

    def run(keep):
        chosen = settings(prototypes="multiple", n_clustering=n_clustering)
        return cluster_components(
            torch.from_numpy(embeddings), membership, chosen, keep_responsibilities=keep
        )

    whole, kept = run(False), run(True)
    monkeypatch.setattr("protolabel.pnml.clustering._MAX_ENTRIES", 1)
    monkeypatch.setattr("protolabel.pnml.soft_assignment._CHUNK_ENTRIES", 1)
    monkeypatch.setattr("protolabel.pnml.soft_assignment._MAX_ENTRIES", 1)
    parts, kept_parts = run(False), run(True)
    assert torch.equal(whole.exists, parts.exists)
    assert torch.allclose(whole.prototypes, parts.prototypes)
    assert torch.equal(kept.exists, whole.exists)
    assert torch.allclose(kept.responsibilities, kept_parts.responsibilities)


def test_kept_responsibilities_give_the_prototypes(blobs, rare_labels, settings):
    embeddings, labels = (
        torch.from_numpy(a) for a in (blobs[0], np.hstack([blobs[1], rare_labels]))
    )
    membership = both_sides(labels.numpy())
    chosen = settings(prototypes="multiple", concentration=0.5)
    found = cluster_components(embeddings, membership, chosen)
    kept = cluster_components(embeddings, membership, chosen, keep_responsibilities=True)
    for k in range(labels.shape[1]):
        for side in (0, 1):
            z = kept.responsibilities[:, k] * membership[side, k, :, None]
            assert torch.allclose(z.sum(0), found.mass[k, side])
            exists = found.exists[k, side]
            means = (z.mT @ embeddings)[exists] / z.sum(0)[exists, None]
            assert torch.allclose(means, found.prototypes[k, side, exists])


def test_responsibilities_sum_to_one_for_members_and_prototypes_stay_inside(blobs, settings):
    embeddings, labels = blobs
    membership = both_sides(labels)
    membership[:, 0, :10] = False  # rows that take no part in label 0
    found = cluster_components(
        torch.from_numpy(embeddings),
        membership,
        settings(prototypes="multiple", concentration=0.5),
        keep_responsibilities=True,
    )
    without = cluster_components(
        torch.from_numpy(embeddings), membership, settings(prototypes="multiple", concentration=0.5)
    )
    totals = found.responsibilities.sum(-1)
    assert torch.allclose(totals[:10, 0], torch.zeros(10, dtype=torch.float64))
    assert torch.allclose(totals[10:, 0], torch.ones(80, dtype=torch.float64))
    for side in (0, 1):
        members = embeddings[membership[side, 0].numpy()]
        inside = without.prototypes[0, side, found.exists[0, side]].numpy()
        assert (inside >= members.min(0) - 1e-9).all()
        assert (inside <= members.max(0) + 1e-9).all()


def test_a_second_round_starts_from_the_prototypes_of_the_first(blobs, settings):
    embeddings, labels = blobs
    arguments = torch.from_numpy(embeddings), both_sides(labels)
    once = cluster_components(*arguments, settings(prototypes="multiple", concentration=0.5))
    twice = cluster_components(
        *arguments, settings(prototypes="multiple", concentration=0.5, n_clustering=2)
    )
    prototypes = once.prototypes[0, 1, once.exists[0, 1]].numpy()
    shares = np.array(
        [
            naive.responsibilities(e, prototypes, once.rule.temperature)
            for e in embeddings[labels[:, 0] == 1]
        ]
    )
    expected = shares.T @ embeddings[labels[:, 0] == 1] / shares.sum(0)[:, None]
    found = twice.prototypes[0, 1, twice.exists[0, 1]].numpy()
    assert np.allclose(found[: len(expected)], expected, atol=1e-8)


def test_a_cluster_without_mass_disappears_but_never_the_last_one():
    exists = torch.tensor([[True, True, True], [True, True, False]])
    mass = torch.tensor([[5.0, 1e-4, 2.0], [1e-5, 1e-6, 0.0]])
    kept = without_empty_clusters(exists, mass)
    assert kept.tolist() == [[True, False, True], [True, False, False]]


def test_responsibilities_over_missing_clusters_are_zero():
    shares = responsibilities_of(torch.zeros(1, 3, 2), torch.tensor([[True, True, False]]), 1.0)
    assert shares[0].tolist() == [[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_responsibilities_are_a_softmax_without_its_negligible_part(generator, dtype):
    squares = torch.rand(3, 5, 7, generator=generator, dtype=dtype) * 400
    exists = torch.ones(3, 5, dtype=torch.bool)
    expected = torch.softmax(-squares.double() / 3, dim=1)
    found = responsibilities_of(squares, exists, 3.0).double()
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-19)
    assert ((found == 0) | (found >= 1e-20)).all()
    assert (found == 0).any()


def test_expanded_threshold_equals_the_printed_one():
    for sigma, rho, alpha, dim in [(1.0, 0.5, 0.1, 4), (2.5, 3.0, 1e-3, 10), (0.3, 0.1, 1.0, 7)]:
        assert creation_threshold(sigma, rho, alpha, dim) == pytest.approx(
            naive.printed_threshold(sigma, rho, alpha, dim)
        )


def test_threshold_is_finite_where_the_printed_form_overflows():
    with pytest.raises(OverflowError):
        naive.printed_threshold(1.0, 1e6, 0.1, 4096)
    assert math.isfinite(creation_threshold(1.0, 1e6, 0.1, 4096))


def test_a_negative_threshold_is_zero_and_warned_of():
    with pytest.warns(UserWarning, match="concentration=2.0 gives a negative"):
        assert creation_threshold(1.0, 0.0, 2.0, 4) == 0.0


def test_effective_variance_and_threshold_equal_the_loops(blobs, settings):
    embeddings, labels = blobs
    found = cluster_components(
        torch.from_numpy(embeddings),
        both_sides(labels),
        settings(prototypes="multiple", concentration=0.3),
    )
    variance, threshold = naive.effective_rule(embeddings, labels, 0.3)
    assert found.rule.variance == pytest.approx(variance)
    assert found.rule.threshold == pytest.approx(threshold)
    assert found.rule.temperature == pytest.approx(2 * variance)


def test_effective_variance_ignores_scale_and_unused_coordinates(blobs, settings):
    embeddings, labels = blobs
    points, membership = torch.from_numpy(embeddings), both_sides(labels)
    chosen = settings(prototypes="multiple", concentration=0.5)
    plain = cluster_components(points, membership, chosen)
    scaled = cluster_components(10 * points, membership, chosen)
    padded = cluster_components(
        torch.cat([points, torch.zeros(90, 7, dtype=torch.float64)], dim=1), membership, chosen
    )
    assert torch.equal(plain.exists, scaled.exists)
    assert torch.allclose(10 * plain.prototypes, scaled.prototypes)
    assert padded.rule.threshold == pytest.approx(plain.rule.threshold)
    assert torch.equal(plain.exists, padded.exists)


def test_more_concentration_never_gives_fewer_prototypes_in_total(blobs, settings):
    embeddings, labels = blobs
    counts = [
        int(
            cluster_components(
                torch.from_numpy(embeddings),
                both_sides(labels),
                settings(prototypes="multiple", concentration=alpha),
            ).exists.sum()
        )
        for alpha in (1e-8, 1e-3, 0.1, 1.0)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_the_number_of_prototypes_follows_the_shape_of_each_component(settings):
    rng = np.random.default_rng(0)
    modes = np.array([[0.0, 0], [30, 0], [0, 30], [30, 30]])
    which = np.concatenate([np.zeros(100, int), rng.integers(0, 4, size=100)])
    embeddings = modes[which] + rng.normal(size=(200, 2))
    labels = (np.arange(200) >= 100).astype(int)[:, None]
    found = cluster_components(
        torch.from_numpy(embeddings),
        both_sides(labels),
        settings(prototypes="multiple", cluster_variance=4.0, concentration=0.1),
    )
    negative, positive = found.exists.sum(-1)[0].tolist()
    assert negative == 1
    assert positive >= 4


def test_one_member_and_identical_members_have_one_prototype(settings):
    points = torch.tensor([[1.0, 2.0], [3.0, 4.0], [3.0, 4.0], [3.0, 4.0]])
    membership = torch.tensor([[[False, True, True, True]], [[True, False, False, False]]])
    found = cluster_components(points, membership, settings(prototypes="multiple", concentration=1))
    assert found.exists.sum(-1).tolist() == [[1, 1]]
    assert torch.allclose(found.prototypes[0, 1, 0], points[0])


def test_the_cap_holds(blobs, settings):
    embeddings, labels = blobs
    found = cluster_components(
        torch.from_numpy(embeddings),
        both_sides(labels),
        settings(prototypes="multiple", concentration=1.0, cluster_variance=1e-3, max_prototypes=5),
    )
    assert found.exists.sum(-1).max() == 5


@pytest.mark.parametrize("negative", [1, 3, 8])
def test_negative_components_have_a_cap_of_their_own(blobs, settings, negative):
    embeddings, labels = blobs
    chosen = settings(
        prototypes="multiple",
        cluster_variance=0.05,
        assignment_temperature=20.0,
        max_prototypes=5,
        max_negative_prototypes=negative,
    )
    membership = both_sides(labels)
    found = cluster_components(torch.from_numpy(embeddings), membership, chosen)
    rule = found.rule
    for label, side in np.ndindex(labels.shape[1], 2):
        expected, masses = naive.cluster_component(
            embeddings,
            membership[side, label].numpy(),
            rule.threshold,
            rule.temperature,
            cap=(negative, 5)[side],
        )
        exists = found.exists[label, side]
        assert np.allclose(found.mass[label, side, exists], masses)
        assert np.allclose(found.prototypes[label, side, exists], expected)
    assert found.exists.sum(-1).amax(0).tolist() == [negative, 5]


def test_the_order_of_the_rows_decides_which_become_prototypes():
    points = torch.tensor([[4.9], [3.0], [6.8]])

    def values_created(points):
        everyone, start = torch.ones(1, 3, dtype=torch.bool), torch.zeros(1, 1, 1)
        rows = growth_pass(
            points, everyone, start, everyone[:, :1], torch.tensor([4.0]), torch.tensor([10])
        )
        return points[rows[0], 0].tolist()

    assert values_created(points) == pytest.approx([4.9])
    assert values_created(points.flip(0)) == pytest.approx([6.8, 3.0])


def test_participation_ratio_of_isotropic_data_is_its_dimension():
    g = torch.Generator().manual_seed(0)
    assert participation_ratio(torch.randn(20_000, 5, generator=g)) == pytest.approx(5, rel=0.02)
    assert participation_ratio(torch.ones(10, 5)) == 1.0


@pytest.mark.parametrize("exponent", [-60, 0, 60])
def test_participation_ratio_does_not_depend_on_the_size_of_embeddings(exponent):
    rows = torch.randn(50, 5, generator=torch.Generator().manual_seed(0))
    assert participation_ratio(rows * 2.0**exponent) == participation_ratio(rows)
    assert participation_ratio(torch.ones(1, 5)) == 1.0


def test_spread_of_fewer_than_two_means_is_zero():
    assert spread_of_means(torch.zeros(1, 3)) == 0.0
    assert spread_of_means(torch.tensor([[0.0, 0.0], [2.0, 0.0]])) == pytest.approx(1.0)
