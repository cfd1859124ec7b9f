"""What ``protolabel train`` says while a method trains, and how it names what training refuses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from protolabel.exceptions import ModelFileError
from protolabel.pnml.callbacks import Callback
from protolabel.progress import ProgressBar


class Resumption(Callback):
    """Say once that training goes on from a state, which has been checked when it begins.

    Parameters
    ----------
    folder : Path
        Folder of the state.
    tell : callable
        Called with a line of text.
    """

    def __init__(self, folder: Path, tell: Callable[[str], None]) -> None:
        self.folder = folder
        self.tell = tell
        self._is_told = not any(folder.glob("epoch-*"))

    def on_train_begin(self, n_epochs: int) -> None:  # noqa: ARG002
        """Say it, unless it is said or nothing was there to go on from."""
        if not self._is_told:
            self.tell(f"Going on from the state in {self.folder}.")
        self._is_told = True


def watcher(
    method: str, checkpoint: Path | None, tell: Callable[[str], None]
) -> Callable[[Any], None]:
    """A function that has the training of a model watched, if it can be."""

    def observe(estimator: Any) -> None:
        if "callbacks" not in estimator.get_params(deep=False):
            return
        callbacks: list[Callback] = []
        if checkpoint is not None:
            callbacks.append(Resumption(checkpoint, tell))
        if sys.stderr.isatty():
            callbacks.append(ProgressBar(method))
        estimator.set_params(callbacks=callbacks or None)

    return observe


def forget_watchers(estimator: Any) -> None:
    """Take away what watched a training: it is no part of the model."""
    if "callbacks" in estimator.get_params(deep=False):
        estimator.set_params(callbacks=None)


@contextmanager
def checkpoint_as_option() -> Iterator[None]:
    """Call the folder of the state as the command line does where training refuses it."""
    try:
        yield
    except ModelFileError as error:
        named = str(error).replace("another checkpoint_dir", "another folder with --checkpoint")
        raise ModelFileError(named) from error
