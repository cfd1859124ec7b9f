import pytest
import torch

from protolabel.pnml.threads import MIN_FLOPS_OF_THREADS, threads_worth


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("flops", "n_threads"), [(1e6, 1), (MIN_FLOPS_OF_THREADS, 3)])
def test_only_large_steps_are_worth_threads(three_threads, flops, n_threads):
    with threads_worth(flops):
        assert torch.get_num_threads() == n_threads
    assert torch.get_num_threads() == 3


def test_threads_come_back_after_an_error(three_threads):
    def fail():
        with threads_worth(1e6):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert torch.get_num_threads() == 3
