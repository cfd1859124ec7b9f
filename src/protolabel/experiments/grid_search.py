"""A full search of a grid by inner folds, that goes on where it was stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np

from protolabel.experiments.configuration import plain_json
from protolabel.experiments.inner_folds import InnerFolds, Params, plain_space
from protolabel.experiments.record import Search
from protolabel.experiments.unit import digest
from protolabel.methods import GridScores, Space


def search_grid(
    inner: InnerFolds, space: Space, *, hook: GridScores | None = None, storage: Path | None = None
) -> tuple[Params, Search]:
    """Best combination of a grid; the first one among equals.

    Parameters
    ----------
    inner : InnerFolds
        Scores candidates.
    space : mapping of str to sequence
        The grid.
    hook : GridScores, default=None
        The method's own way through its grid, where it has one.
    storage : Path, default=None
        Journal file of the values found; None keeps them in memory.

    Returns
    -------
    params : dict
        The chosen values.
    search : Search
        What was looked at.
    """
    grid = list(combinations_of(space))
    journal = GridJournal(storage)
    for fold in range(len(inner.folds)):
        missing = [params for params in grid if journal.find(params, fold) is None]
        if missing and hook is not None:
            journal.add(fold, inner.score_grid(hook, space, fold))
            continue
        for params in missing:
            journal.add(fold, [(params, inner.score(params, fold))])
    values = [[journal.find(params, fold) for fold in range(len(inner.folds))] for params in grid]
    if any(None in folds for folds in values):
        raise ValueError(
            f"The grid has {len(grid)} combinations of {', '.join(space)}, but the method's "
            "grid_scores did not yield each of them."
        )
    means = np.array(values, dtype=np.float64).mean(axis=1)
    best = int(np.nanargmax(means))
    return grid[best], Search(plain_space(space), len(grid), 0, float(means[best]))


def combinations_of(space: Space) -> Iterator[Params]:
    """All combinations of a grid, the last name changing fastest.

    Examples
    --------
    >>> list(combinations_of({"a": [1, 2], "b": [3]}))
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    for values in product(*space.values()):
        yield dict(zip(space, values, strict=True))


class GridJournal:
    """Values of candidates by inner fold, each written to a file as soon as it is known.

    The claim on the unit keeps other processes away from the file.

    Parameters
    ----------
    path : Path or None
        The file; None for memory alone.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._values: dict[tuple[str, int], float] = {}
        if path is not None and path.exists():
            finished = cut_unfinished_line(path)
            for line in finished.splitlines():
                key, fold, value = json.loads(line)
                self._values[key, fold] = value

    def find(self, params: Params, fold: int) -> float | None:
        """The value of a candidate on a fold, None if it is not known."""
        return self._values.get((digest(plain_json(params)), fold))

    def add(self, fold: int, scored: Iterable[tuple[Params, float]]) -> None:
        """Add values of candidates on a fold."""
        found = {(digest(plain_json(params)), fold): value for params, value in scored}
        self._values |= found
        if self.path is not None:
            lines = [json.dumps([*key, value]) + "\n" for key, value in found.items()]
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write("".join(lines).encode())


def cut_unfinished_line(path: Path) -> bytes:
    """Remove what a killed process left of a line, and return the rest."""
    text = path.read_bytes()
    finished = text[: text.rfind(b"\n") + 1]
    if len(finished) < len(text):
        os.truncate(path, len(finished))
    return finished
