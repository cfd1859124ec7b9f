"""What an estimator knows after it failed to learn: the same as before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Give an estimator its attributes back when the block fails.

    A fitted model goes on predicting as before a fit that was refused or interrupted.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(n_features_in_=3)
    >>> try:
    ...     with all_or_nothing(model):
    ...         model.n_features_in_ = 4
    ...         raise ValueError
    ... except ValueError:
    ...     model.n_features_in_
    3
    """
    attributes = vars(estimator)
    before = dict(attributes)
    try:
        yield
    except BaseException:
        attributes.clear()
        attributes.update(before)
        raise
