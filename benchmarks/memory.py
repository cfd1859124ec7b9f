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
if sys.argv[1].endswith(".npy"):
    X = np.load(sys.argv[1], mmap_mode="r")
else:
    X = open_rows(sys.argv[1])
Y = sp.load_npz(sys.argv[2])
companions = {{}} if sys.argv[3] == "companions" else {{"n_trees": 0, "n_landmarks": 0}}
model = PNMLClassifier(max_epochs=1, random_state=0, **companions).fit(X, Y)
model.predict_top_k(X, 3)
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
    """Fits to files several times larger than the memory they may take."""
    n_rows = 100_000 if quick else 400_000
    companions = "none" if quick else "companions"
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        dense, labels, sparse = (Path(folder) / name for name in ("x.npy", "y.npz", "x.npz"))
        written = np.lib.format.open_memmap(dense, "w+", np.float32, (n_rows, 1000))
        for start in range(0, n_rows, 10_000):
            written[start : start + 10_000] = rng.normal(size=(10_000, 1000))
        _, Y = tagged_rows(n_rows, 1000, 10)
        _save(labels, Y)
        size = dense.stat().st_size
        del written
        yield _of_file(
            "a mapped .npy", run_child(_FIT_FILE, str(dense), str(labels), companions), size, base
        )
        dense.unlink()
        X, Y = tagged_rows(n_rows, 5000, 10, entries_per_row=200)
        _save(sparse, X)
        _save(labels, Y)
        del X
        size = sparse.stat().st_size
        found = run_child(_FIT_FILE, str(sparse), str(labels), companions)
        yield _of_file("a CSR .npz", found, size, base)


def growth(name: str, base: int, small: tuple[int, int, int], large: tuple[int, int, int]) -> Ratio:
    """Memory of a fit to the large table over that to the small one."""
    a, b = (peak(shape, "fast") - base for shape in (small, large))
    # A small table may fit into what the libraries left over.
    value = b / max(a, 2**20)
    return Ratio(name, value, (value,), at_most=11, figures={"MB": a / 2**20, "MB x 10": b / 2**20})


def peak(shape: tuple[int, int, int], effort: str) -> int:
    """Bytes at the peak of a process that fits such a table."""
    return run_child(_FIT, *map(str, shape), effort).peak_bytes


def _of_file(name: str, child: object, size: int, base: int) -> Ratio:
    grown = child.peak_bytes - base  # type: ignore[attr-defined]
    value = size / max(grown, 1)
    return Ratio(
        f"{name}: its size over the memory of a fit",
        value,
        (value,),
        # The file of a quick run is small beside what batches and parts take in any case.
        at_least=3 if size > 2**30 else None,
        figures={"file MB": size / 2**20, "memory MB": grown / 2**20},
    )


def _save(path: Path, matrix: object) -> None:
    import scipy.sparse as sp  # noqa: PLC0415

    sp.save_npz(path, matrix, compressed=False)


if __name__ == "__main__":
    run_suite(__doc__, measure)
