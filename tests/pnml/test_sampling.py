import pytest
import torch

from protolabel.pnml.sampling import sample_components, sample_rows


def test_rates_of_one_take_every_row(generator):
    labels = (torch.rand(1, 30, 4) > 0.5).float()
    positives, negatives = sample_components(labels, 1.0, 1.0, generator)
    assert torch.equal(positives, labels)
    assert torch.equal(negatives, 1 - labels)


def test_samples_are_members_drawn_at_the_rate(generator):
    labels = (torch.rand(1, 5000, 3, generator=generator) > 0.5).float()
    positives, negatives = sample_components(labels, 0.5, 0.1, generator)
    assert (positives <= labels).all()
    assert (negatives <= 1 - labels).all()
    assert (positives.sum() / labels.sum()).item() == pytest.approx(0.5, abs=0.03)
    assert (negatives.sum() / (1 - labels).sum()).item() == pytest.approx(0.1, abs=0.03)


def test_a_component_with_rows_is_never_left_empty(generator):
    labels = torch.zeros(1, 50, 2)
    labels[0, 7, 0] = 1
    for _ in range(20):
        positives, negatives = sample_components(labels, 0.01, 0.01, generator)
        assert positives[0, :, 0].nonzero().flatten().tolist() == [7]
        assert positives[0, :, 1].sum() == 0
        assert (negatives.sum(1) >= 1).all()


def test_a_shared_support_holds_the_batch_and_others_in_order(generator):
    batch = torch.tensor([40, 3, 11])
    support = sample_rows(batch, 50, 10, generator)
    assert len(support) == 10
    assert support.tolist() == sorted(set(support.tolist()))
    assert set(batch.tolist()) <= set(support.tolist())


def test_a_support_larger_than_the_data_is_the_data(generator):
    assert sample_rows(torch.tensor([1]), 5, 100, generator).tolist() == [0, 1, 2, 3, 4]
