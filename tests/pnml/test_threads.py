import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from protolabel import PNMLClassifier, fitting
from protolabel.pnml.threads import MIN_FLOPS_OF_THREADS, threads_worth, threads_worth_rows


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


@pytest.mark.parametrize(("n_rows", "n_threads"), [(999, 1), (1000, 2)])
def test_only_many_rows_are_worth_threads_of_any_library(three_threads, n_rows, n_threads):
    def threads_of_blas():
        return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = threads_of_blas()
        with threads_worth_rows(n_rows):
            assert threads_of_blas() == ({1} if n_threads == 1 else before)
            assert torch.get_num_threads() == (1 if n_threads == 1 else 3)
        assert threads_of_blas() == before
    assert torch.get_num_threads() == 3


def test_companions_of_few_rows_are_fitted_on_one_thread(monkeypatch):
    seen = []

    def spy(*args):
        seen.extend(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")
        return fit_companions(*args)

    fit_companions = fitting._fit_companions
    monkeypatch.setattr(fitting, "_fit_companions", spy)
    X = np.random.default_rng(0).normal(size=(60, 3))
    with threadpool_limits(2, user_api="blas"):
        PNMLClassifier(max_epochs=1, random_state=0).fit(X, (X > 0).astype(int))
    assert set(seen) == {1}


def test_threads_come_back_after_an_error(three_threads):
    def fail():
        with threads_worth(1e6):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert torch.get_num_threads() == 3
