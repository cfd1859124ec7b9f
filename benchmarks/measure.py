"""What all speed benchmarks share: a clock, turns, medians, targets, JSON.

A suite is a module with a function ``measure(quick)`` that yields ratios, each of two times
(or sizes) taken in one process run. Candidates are run in turns, so that a slow minute of the
machine hits both, and the ratio is the median over the turns:

    def measure(quick: bool) -> Iterator[Ratio]:
        times = take_turns({"ours": ours, "theirs": theirs}, repeats=3 if quick else 7)
        yield ratio_of("theirs / ours", times["theirs"], times["ours"], at_least=2)

    if __name__ == "__main__":
        run_suite(__doc__, measure)

Times are processor time in a process with one thread, which does not count the time that
other processes take, and wall time with more threads.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

FORMAT = "protolabel-benchmark"
_PACKAGES = ("protolabel", "numpy", "scipy", "scikit-learn", "torch")


@dataclass(frozen=True)
class Ratio:
    """A measured ratio and what it should be.

    ``values`` are the ratios of the single turns, ``value`` their median; ``figures`` are
    medians of what was divided, by name, for people to look at.
    """

    name: str
    value: float
    values: tuple[float, ...]
    at_least: float | None = None
    at_most: float | None = None
    figures: Mapping[str, float] | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met, None without one."""
        if self.at_least is None and self.at_most is None:
            return None
        low = -float("inf") if self.at_least is None else self.at_least
        high = float("inf") if self.at_most is None else self.at_most
        return low <= self.value <= high

    def line(self) -> str:
        """One line for a terminal."""
        target = ""
        if self.met is not None:
            bound = f">= {self.at_least:g}" if self.at_least is not None else ""
            bound += f"<= {self.at_most:g}" if self.at_most is not None else ""
            target = f"target {bound:9s} {'met' if self.met else 'MISSED'}"
        spread = f"{min(self.values):.3g} to {max(self.values):.3g}"
        figures = ", ".join(f"{key} {value:.4g}" for key, value in (self.figures or {}).items())
        return f"{self.name:56s} {self.value:8.3g}  ({spread:18s}) {target:26s} {figures}".rstrip()


@dataclass(frozen=True)
class ChildRun:
    """What a process of its own took."""

    seconds: float
    peak_bytes: int
    output: str


def clock() -> float:
    """Seconds of processor time in a process with one thread, else of wall time."""
    return time.process_time() if n_threads() == 1 else time.perf_counter()


def n_threads() -> int:
    """Threads that numerical libraries may use in this process."""
    return int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))


def seconds_of(work: Callable[[], object]) -> float:
    """Time of one run."""
    started = clock()
    work()
    return clock() - started


def take_turns(
    candidates: Mapping[str, Callable[[], object]], repeats: int, *, warm_up: bool = True
) -> dict[str, list[float]]:
    """Seconds of every candidate in every turn; each turn runs all of them once."""
    if warm_up:
        for work in candidates.values():
            work()
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(repeats):
        for name, work in candidates.items():
            times[name].append(seconds_of(work))
    return times


def ratio_of(
    name: str,
    numerators: Sequence[float],
    denominators: Sequence[float],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    figures: Mapping[str, float] | None = None,
) -> Ratio:
    """Median of the turn-by-turn ratios.

    Without ``figures``, the medians of both sides are kept as ``over`` and ``under``.
    """
    values = tuple(a / b for a, b in zip(numerators, denominators, strict=True))
    if figures is None:
        figures = {"over": median(numerators), "under": median(denominators)}
    return Ratio(name, median(values), values, at_least, at_most, dict(figures))


def run_child(code: str, *arguments: str, environment: Mapping[str, str] | None = None) -> ChildRun:
    """Run Python code in a process of its own; its time, peak memory and output.

    An error in it is an error here.
    """
    command = [sys.executable, "-c", code, *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
    )
    assert process.stdout is not None
    output = process.stdout.read()
    # wait4 tells the peak of this child alone; that of getrusage is of all children so far.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        raise RuntimeError(
            f"The measured process ended with {process.returncode}; its code was:\n{code}"
        )
    busy = usage.ru_utime + usage.ru_stime
    seconds = busy if n_threads() == 1 else time.perf_counter() - started
    return ChildRun(seconds, usage.ru_maxrss * 1024, output)


def describe_machine() -> dict[str, Any]:
    """What a figure depends on beside the code."""
    root = Path(__file__).parent.parent
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "commit": commit or "unknown",
        "versions": {name: version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "threads": n_threads(),
        "load_before": os.getloadavg()[0],
    }


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file that is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def run_suite(description: str | None, measure: Callable[[bool], Iterator[Ratio]]) -> None:
    """Command line of one suite: print its ratios as they come and write them where asked."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and smaller runs")
    parser.add_argument("--json", type=Path, help="also write the ratios to this file")
    options = parser.parse_args()
    machine = describe_machine()
    started = time.perf_counter()
    ratios = []
    for ratio in measure(options.quick):
        print(ratio.line(), flush=True)
        ratios.append(ratio)
    if options.json:
        content = {
            "format": FORMAT,
            "machine": machine,
            "quick": options.quick,
            "seconds": time.perf_counter() - started,
            "ratios": [asdict(ratio) | {"met": ratio.met} for ratio in ratios],
        }
        write_json(options.json, content)


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
