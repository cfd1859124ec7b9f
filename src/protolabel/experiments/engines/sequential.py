"""One unit after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from protolabel.experiments.engines.work import Job, do_job


class SequentialEngine:
    """Computes in the calling process; what an error or a debugger sees is the unit itself."""

    def run(self, jobs: Sequence[Job], tell: Callable[[], None]) -> None:
        """Compute jobs in their order."""
        for job in jobs:
            do_job(job)
            tell()
