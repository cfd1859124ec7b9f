"""A progress bar for training, on a terminal only."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from protolabel.pnml.callbacks import Callback, EpochRecord


class ProgressBar(Callback):
    """Show the epochs of a training run; silent where the console is not a terminal.

    Parameters
    ----------
    title : str
        What is being trained.
    console : Console or None, default=None
        Where to draw; None for the standard error stream.
    """

    def __init__(self, title: str, console: Console | None = None) -> None:
        self.title = title
        self.console = console or Console(stderr=True)

    def on_train_begin(self, n_epochs: int) -> None:
        """Start the bar."""
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("epoch {task.completed}/{task.total}  loss {task.fields[loss]:.4f}"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
            transient=True,
        )
        self._task = self._progress.add_task(self.title, total=n_epochs, loss=float("nan"))
        self._progress.start()

    def on_epoch_end(self, record: EpochRecord) -> None:
        """Advance the bar."""
        self._progress.update(self._task, advance=1, loss=record.loss)

    def on_train_end(self, history: Sequence[EpochRecord]) -> None:  # noqa: ARG002
        """Remove the bar."""
        self._progress.stop()
