"""Time until the command line answers, beside an empty Python process.

python benchmarks/startup.py
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from measure import Ratio, run_child, run_suite

_CODES = {
    "empty": "pass",
    "import protolabel": "import protolabel",
    "protolabel --help": (
        "import sys; sys.argv = ['protolabel', '--help']\n"
        "from protolabel.cli.main import run\n"
        "try:\n    run()\nexcept SystemExit as end:\n    assert not end.code"
    ),
}
_LIMITS = {"import protolabel": 0.2, "protolabel --help": 0.5}


def measure(quick: bool) -> Iterator[Ratio]:
    times: dict[str, list[float]] = {name: [] for name in _CODES}
    for turn in range(4 if quick else 10):
        for name, code in _CODES.items():
            seconds = run_child(code, environment={"OMP_NUM_THREADS": "1"}).seconds
            # The first turn fills the cache of compiled files.
            if turn:
                times[name].append(seconds)
    for name, limit in _LIMITS.items():
        yield Ratio(f"{name}, seconds", median(times[name]), tuple(times[name]), at_most=limit)
        values = tuple(a / b for a, b in zip(times[name], times["empty"], strict=True))
        figures = {"empty s": median(times["empty"])}
        yield Ratio(f"{name} over an empty process", median(values), values, figures=figures)


if __name__ == "__main__":
    run_suite(__doc__, measure)
