import numpy as np
import torch

from protolabel.pnml.streaming import MEMORY_ROWS, RunningMeans


def chunk(rng, n_rows):
    embeddings = rng.normal(size=(2, n_rows, 3))
    labels = rng.integers(0, 2, size=(1, n_rows, 4)).astype(float)
    labels[..., 3] = 0
    return embeddings, labels


def means_of(embeddings, labels):
    return RunningMeans.of(torch.from_numpy(embeddings), torch.from_numpy(labels))


def test_joined_means_are_those_of_all_rows():
    rng = np.random.default_rng(0)
    (first, first_labels), (second, second_labels) = chunk(rng, 9), chunk(rng, 4)
    joined = means_of(first, first_labels).joined(means_of(second, second_labels))
    rows = np.concatenate([first, second], axis=1)
    labels = np.concatenate([first_labels, second_labels], axis=1)[0]
    for member in range(2):
        for label in range(4):
            for side in (0, 1):
                own = [
                    row for row, y in zip(rows[member], labels[:, label], strict=True) if y == side
                ]
                assert joined.counts[member, label, side] == len(own)
                if own:
                    expected = sum(own) / len(own)
                    np.testing.assert_allclose(joined.positions[member, label, side], expected)
        np.testing.assert_allclose(joined.mean[member], rows[member].mean(0))
        np.testing.assert_allclose(joined.covariance[member], np.cov(rows[member].T, bias=True))


def test_a_component_without_rows_has_no_prototype():
    means = means_of(*chunk(np.random.default_rng(0), 9))
    exists = means.prototypes().exists.squeeze(-1)
    assert not exists[:, 3, 1].any()
    assert torch.equal(exists, means.counts > 0)


def test_older_rows_fade():
    old = RunningMeans.of(torch.zeros(1, MEMORY_ROWS, 1), torch.ones(1, MEMORY_ROWS, 1))
    new = RunningMeans.of(torch.ones(1, MEMORY_ROWS, 1), torch.ones(1, MEMORY_ROWS, 1))
    np.testing.assert_allclose(old.joined(new).mean.item(), 0.5, rtol=1e-6)
    # The older rows count half as much as the new ones.
    np.testing.assert_allclose(old.faded(MEMORY_ROWS).joined(new).mean.item(), 2 / 3, rtol=1e-6)
    assert old.faded(MEMORY_ROWS).positions[0, 0, 1].item() == 0.0


def test_a_component_that_gets_no_rows_keeps_its_prototype():
    old = RunningMeans.of(torch.full((1, 2, 1), 3.0), torch.ones(1, 2, 1))
    new = RunningMeans.of(torch.full((1, 5, 1), 9.0), torch.zeros(1, 5, 1))
    assert old.faded(5).joined(new).positions[0, 0].flatten().tolist() == [9.0, 3.0]
