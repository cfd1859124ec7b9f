"""Peak memory of a fit, in processes of their own.

    OMP_NUM_THREADS=1 python benchmarks/memory.py

Memory is what a process takes beyond one that has fitted a table of a hundred rows: libraries
and what they allocate once are not counted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from measure import Ratio, run_child, run_suite
from synthetic_rows import tagged_rows

_HERE = Path(__file__).parent
_FIT = f"""
import sys
sys.path.insert(0, {str(_HERE)!r})
import numpy as np
from protolabel import PNMLClassifier
from synthetic_rows import tagged_rows
n_rows, n_features, n_labels, effort = *map(int, sys.argv[1:4]), sys.argv[4]
X, Y = tagged_rows(n_rows, n_features, n_labels)
PNMLClassifier(effort=effort, max_epochs=1, random_state=0).fit(X, Y)
"""
_FIT_FILE = f"""
import sys
sys.path.insert(0, {str(_HERE)!r})
import numpy as np, scipy.sparse as sp
from protolabel import PNMLClassifier
from protolabel.datasets import open_rows
X = open_rows(sys.argv[1])
Y = sp.load_npz(sys.argv[2])
model = PNMLClassifier(max_epochs=1, random_state=0).fit(X, Y)
model.predict_top_k(X.read_rows(np.arange(5000)), 3)
"""


def measure(quick: bool) -> Iterator[Ratio]:
    base = run_child(_FIT, "100", "100", "5", "balanced").peak_bytes
    yield from files(quick, base)
    n = 2000 if quick else 8000
    yield growth("rows x 10, effort fast", base, (n, 500, 50), (10 * n, 500, 50))
    yield growth("labels x 10, 1,000 to 10,000", base, (1000, 500, 1000), (1000, 500, 10_000))
    small = peak((n, 500, 50), "balanced") - base
    X, _ = tagged_rows(n, 500, 50)
    size = X.data.nbytes + X.indices.nbytes
    yield Ratio(
        f"default, {n} sparse rows: MB beyond the libraries",
        small / 2**20,
        (small / 2**20,),
        figures={"input MB": size / 2**20},
    )


def files(quick: bool, base: int) -> Iterator[Ratio]:
    """Fits to files, whose size must not matter."""
    n_rows = 20_000 if quick else 50_000
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        dense, labels, sparse = (Path(folder) / name for name in ("x.npy", "y.npz", "x.npz"))
        found = []
        for n in (n_rows, 4 * n_rows):
            written = np.lib.format.open_memmap(dense, "w+", np.float32, (n, 1000))
            for start in range(0, n, 10_000):
                written[start : start + 10_000] = rng.normal(size=(10_000, 1000))
            del written
            _save(labels, tagged_rows(n, 1000, 10)[1])
            found.append(_fit_file(dense, labels))
        yield _growth_of_files("rows x 4, a .npy file", found, base)
        found = []
        for n in (n_rows, 4 * n_rows):
            X, Y = tagged_rows(n, 5000, 10, entries_per_row=200)
            _save(sparse, X)
            _save(labels, Y)
            found.append(_fit_file(sparse, labels))
        yield _growth_of_files("rows x 4, a CSR .npz file", found, base)


def growth(name: str, base: int, small: tuple[int, int, int], large: tuple[int, int, int]) -> Ratio:
    """Memory of a fit to the large table over that to the small one."""
    a, b = (peak(shape, "fast") - base for shape in (small, large))
    # A small table may fit into what the libraries left over.
    value = b / max(a, 2**20)
    return Ratio(name, value, (value,), at_most=11, figures={"MB": a / 2**20, "MB x 10": b / 2**20})


def peak(shape: tuple[int, int, int], effort: str) -> int:
    """Bytes at the peak of a process that fits such a table."""
    return run_child(_FIT, *map(str, shape), effort).peak_bytes


def _fit_file(rows: Path, labels: Path) -> tuple[int, int]:
    """Bytes of a file, and those of a process that fits it."""
    return rows.stat().st_size, run_child(_FIT_FILE, str(rows), str(labels)).peak_bytes


def _growth_of_files(name: str, found: list[tuple[int, int]], base: int) -> Ratio:
    (small_file, small), (large_file, large) = found
    value = (large - base) / max(small - base, 1)
    figures = {"MB": small - base, "MB x 4": large - base, "file": small_file, "x 4": large_file}
    return Ratio(
        name,
        value,
        (value,),
        at_most=1.25,
        figures={key: n_bytes / 2**20 for key, n_bytes in figures.items()},
    )


def _save(path: Path, matrix: object) -> None:
    import scipy.sparse as sp  # noqa: PLC0415

    sp.save_npz(path, matrix, compressed=False)


if __name__ == "__main__":
    run_suite(__doc__, measure)
