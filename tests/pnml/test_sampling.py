import torch

from protolabel.pnml.sampling import sample_rows


def test_a_shared_support_holds_the_batch_and_others_in_order(generator):
    batch = torch.tensor([40, 3, 11])
    support = sample_rows(batch, 50, 10, generator)
    assert len(support) == 10
    assert support.tolist() == sorted(set(support.tolist()))
    assert set(batch.tolist()) <= set(support.tolist())


def test_a_support_larger_than_the_data_is_the_data(generator):
    assert sample_rows(torch.tensor([1]), 5, 100, generator).tolist() == [0, 1, 2, 3, 4]
