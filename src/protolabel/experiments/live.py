"""What a run shows while it goes on: a bar on a terminal, a line for each unit elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from protolabel.experiments.record import Record
from protolabel.experiments.status import computing_time
from protolabel.experiments.unit import Unit


class LiveView:
    """Done, running and failed units and the time left, as an observer of a run.

    Parameters
    ----------
    console : Console
        Where to draw; a console that is no terminal gets a line for each finished unit.
    n_workers : int or None
        Units computed at the same time; None where it is not known.
    """

    def __init__(self, console: Console, n_workers: int | None) -> None:
        self.console = console
        self.n_workers = n_workers
        self._records: list[Record] = []
        self._open: dict[Unit, None] = {}
        self._n_failed = 0
        self._progress = Progress(
            TextColumn("{task.completed}/{task.total} done"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal or console.quiet,
            transient=True,
        )
        self._task = self._progress.add_task("units", total=0, state="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def begin(self, units: Sequence[Unit], records: Sequence[Record]) -> None:
        """Show what was there before."""
        self._records = list(records)
        known = {record.unit for record in records}
        self._open = dict.fromkeys(unit for unit in units if unit not in known)
        self._n_failed = sum(not record.is_ok for record in records)
        self._progress.update(self._task, total=len(units), completed=len(records))
        self._show()

    def finish(self, record: Record) -> None:
        """Show one more record."""
        self._records.append(record)
        self._open.pop(record.unit, None)
        self._n_failed += not record.is_ok
        self._progress.update(self._task, advance=1)
        self._show()
        if not self.console.is_terminal or not record.is_ok:
            self.console.print(describe(record), highlight=False, markup=False, soft_wrap=True)

    def _show(self) -> None:
        parts = [f"{self._n_failed} failed"]
        if self.n_workers is not None:
            parts.insert(0, f"{min(self.n_workers, len(self._open))} running")
            seconds = computing_time(list(self._open), self._records)
            if seconds is not None and self._open:
                left = timedelta(seconds=round(seconds / self.n_workers))
                parts.append(f"about {left} left")
        self._progress.update(self._task, state=", ".join(parts))


def describe(record: Record) -> str:
    """One line about a record."""
    if not record.is_ok:
        reason = (record.error or "").strip().splitlines()[-1]
        return f"{record.unit}: FAILED, {reason}"
    return (
        f"{record.unit}: average precision {record.metrics['average_precision']:.3f}, "
        f"{record.times.total:.1f} s"
    )
