import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from protolabel import PNMLClassifier, fitting
from protolabel.companions import kernel_ridge
from protolabel.pnml.callbacks import Callback
from protolabel.threads import (
    MIN_FLOPS_OF_THREADS,
    MIN_ROWS_OF_THREADS,
    one_thread_of_blas,
    side_by_side,
    threads_worth,
    threads_worth_rows,
    usable_threads,
)


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


def threads_of_blas():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


@pytest.mark.parametrize(
    ("n_rows", "n_threads"), [(MIN_ROWS_OF_THREADS - 1, 1), (MIN_ROWS_OF_THREADS, 2)]
)
def test_only_many_rows_are_worth_threads_of_blas(n_rows, n_threads):
    with threadpool_limits(2, user_api="blas"):
        before = threads_of_blas()
        with threads_worth_rows(n_rows):
            assert threads_of_blas() == ({1} if n_threads == 1 else before)
        assert threads_of_blas() == before


def test_limits_that_overlap_leave_what_was_there():
    first, second = one_thread_of_blas(), one_thread_of_blas()
    with threadpool_limits(2, user_api="blas"):
        before = threads_of_blas()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads_of_blas() == {1}
        second.__exit__(None, None, None)
        assert threads_of_blas() == before


@pytest.mark.parametrize(("place", "name"), [(kernel_ridge, "_fit"), (fitting, "fit_fusion")])
def test_few_rows_are_solved_and_weights_fitted_on_one_thread(monkeypatch, place, name):
    seen = set()

    def spy(*args):
        seen.update(threads_of_blas())
        return function(*args)

    function = getattr(place, name)
    monkeypatch.setattr(place, name, spy)
    monkeypatch.setattr("protolabel.threads.cpu_count", lambda: 1)
    X = np.random.default_rng(0).normal(size=(60, 3))
    with threadpool_limits(2, user_api="blas"):
        if name == "fit_fusion":
            monkeypatch.setattr("protolabel.threads.MIN_ROWS_OF_THREADS", 0)
        PNMLClassifier(max_epochs=1, random_state=0).fit(X, (X > 0).astype(int))
    assert seen == {1}


def test_threads_come_back_after_an_error(three_threads):
    def fail():
        with threads_worth(1e6):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert torch.get_num_threads() == 3


def meeting(n_tasks, timeout=20.0):
    """Tasks that end only if as many are going on at the same time."""
    barrier = threading.Barrier(n_tasks, timeout=timeout)

    def task(n_threads):
        barrier.wait()
        return threading.current_thread(), n_threads, threads_of_blas()

    return [task] * n_tasks


@pytest.mark.parametrize(("n_threads", "share"), [(2, 1), (5, 2)])
def test_tasks_share_the_threads(n_threads, share):
    with threadpool_limits(4, user_api="blas"):
        before = threads_of_blas()
        first, second = side_by_side(meeting(2), n_threads)
        assert threads_of_blas() == before
    assert first[0] is threading.current_thread()
    assert second[0] is not first[0]
    assert first[1] == second[1] == share
    assert first[2] == {min(share, *before)}


def test_tasks_do_not_raise_the_threads_that_were_allowed():
    with threadpool_limits(1, user_api="blas"):
        assert all(found == {1} for *_, found in side_by_side(meeting(2), 8))


def test_a_task_does_not_change_the_threads_of_its_neighbours():
    def limit_itself(_):
        with one_thread_of_blas():
            return threads_of_blas()

    with threadpool_limits(2, user_api="blas"):
        before = threads_of_blas()
        assert side_by_side([limit_itself] * 2, 4) == [before] * 2
        assert limit_itself(1) == {1}


def test_threads_are_those_that_pytorch_was_given(monkeypatch, three_threads):
    monkeypatch.setattr("protolabel.threads.cpu_count", lambda: 8)
    assert usable_threads() == 3
    monkeypatch.setattr("protolabel.threads.cpu_count", lambda: 2)
    assert usable_threads() == 2


@pytest.mark.parametrize(
    ("least_flops", "expected"),
    [(1e9, ["networks beside 2"]), (0, ["beside 2"])],
)
def test_companions_are_fitted_beside_networks_of_small_steps(monkeypatch, least_flops, expected):
    done = []

    def note(tasks, n_threads):
        found = [task(n_threads) for task in tasks]
        networks = [one for one in found if isinstance(one, tuple)]
        done.append(f"{'networks ' * len(networks)}beside {len(found) - len(networks)}")
        return found

    monkeypatch.setattr("protolabel.threads.MIN_FLOPS_OF_THREADS", least_flops)
    monkeypatch.setattr(fitting, "side_by_side", note)
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = PNMLClassifier(max_epochs=1, n_trees=3, random_state=0).fit(X, (X > 0).astype(int))
    assert len(model.model_.companions) == 2
    assert done == expected


class IgnoreWarningsForAWhile(Callback):
    def on_epoch_end(self, record):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            time.sleep(0.002)


def test_companions_leave_filters_of_warnings_alone(monkeypatch, three_threads):
    monkeypatch.setattr("protolabel.threads.cpu_count", lambda: 3)
    X = np.random.default_rng(0).normal(size=(100, 3))
    before = list(warnings.filters)
    callbacks = [IgnoreWarningsForAWhile()]
    PNMLClassifier(max_epochs=20, n_trees=200, callbacks=callbacks).fit(X, (X > 0).astype(int))
    assert list(warnings.filters) == before


def test_one_thread_does_tasks_in_their_order():
    done = []
    tasks = [lambda n, name=name: done.append((name, n)) for name in "abc"]
    side_by_side(tasks, 1)
    assert done == [("a", 1), ("b", 1), ("c", 1)]


def test_there_may_be_more_tasks_than_threads():
    assert side_by_side([lambda n, k=k: (k, n) for k in range(5)], 2) == [(k, 1) for k in range(5)]
    assert side_by_side([], 2) == []


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_in_any_task_is_raised_and_threads_come_back(failing):
    def task(k):
        if k == failing:
            raise KeyError(k)
        return k

    with threadpool_limits(3, user_api="blas"):
        before = threads_of_blas()
        with pytest.raises(KeyError, match=str(failing)):
            side_by_side([lambda _, k=k: task(k) for k in range(3)], 3)
        assert threads_of_blas() == before


def test_after_an_error_no_task_begins():
    begun = []

    def fail(_):
        started.wait(20)
        raise RuntimeError

    def go_on(_):
        begun.append(1)
        started.set()
        ended.wait(20)

    started, ended = threading.Event(), threading.Event()
    timer = threading.Timer(0.2, ended.set)
    timer.start()
    with pytest.raises(RuntimeError):
        side_by_side([fail, go_on, go_on], 2)
    assert len(begun) == 1


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("least_flops", [0, 1e9])
def test_a_model_does_not_depend_on_the_number_of_threads(monkeypatch, as_rows, least_flops):
    monkeypatch.setattr("protolabel.threads.MIN_FLOPS_OF_THREADS", least_flops)
    monkeypatch.setattr("protolabel.threads.cpu_count", lambda: 3)
    rng = np.random.default_rng(0)
    X = np.where(rng.random((80, 6)) < 0.6, rng.normal(size=(80, 6)), 0.0)
    Y = (X[:, :3] + 0.3 * rng.normal(size=(80, 3)) > 0).astype(int)
    before, scores = torch.get_num_threads(), []
    try:
        for n_threads in (1, 2, 3):
            torch.set_num_threads(n_threads)
            model = PNMLClassifier(max_epochs=2, n_trees=6, random_state=0).fit(as_rows(X), Y)
            scores.append(model.decision_function(as_rows(X)))
            assert torch.get_num_threads() == n_threads
    finally:
        torch.set_num_threads(before)
    assert np.allclose(scores[1], scores[0], atol=1e-5)
    assert np.allclose(scores[2], scores[0], atol=1e-5)
