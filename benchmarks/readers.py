"""Time and memory of the dataset readers, as ratios measured in one run.

Run with the benchmark files in PROTOLABEL_DATA::

    PROTOLABEL_DATA=<folder> OMP_NUM_THREADS=1 python benchmarks/readers.py

Reading with liac-arff is timed twice: parsing alone, and up to the same result as ours (two CSR
matrices). Both sides use processor time, the best of a few runs.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arff  # type: ignore[import-untyped]
import numpy as np
from scipy import sparse

from protolabel.datasets import MultiLabelDataset, load_dataset, make_multilabel_like, read_mulan
from protolabel.datasets.readers.mulan_labels import read_label_names

SPEED_NAMES = ("bibtex", "tmc2007-500", "delicious", "scene", "genbase")
MEMORY_NAMES = ("rcv1-s1-full", "bibtex", "tmc2007-500", "scene")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="runs to take the best of")
    arguments = parser.parse_args()
    home = os.environ.get("PROTOLABEL_DATA", "")
    if not Path(home).is_dir() or not home:
        print("PROTOLABEL_DATA has to name the folder with the benchmark files", file=sys.stderr)
        return 2
    print(
        f"{'ARFF file':<14}{'ours s':>9}{'liac s':>9}{'ratio':>7}{'liac to CSR s':>15}{'ratio':>7}"
    )
    for name in SPEED_NAMES:
        compare_speed(Path(home) / name / f"{name}.arff.gz", arguments.repeats)
    print(f"\n{'dataset':<14}{'arrays MiB':>12}{'peak MiB':>10}{'ratio':>7}")
    for name in MEMORY_NAMES:
        measure_memory(name, Path(home))
    started = time.process_time()
    synthetic = make_multilabel_like("bookmark")
    print(f"\n{synthetic!r} made in {time.process_time() - started:.1f} s")
    return 0


def compare_speed(path: Path, repeats: int) -> None:
    """Print one line of times and ratios."""
    labels = read_label_names(path.with_name(path.name.removesuffix(".arff.gz") + ".xml"))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        is_sparse = file.read().partition("@data")[2].lstrip().startswith("{")
    ours = best_seconds(lambda: read_mulan(path, labels), repeats)
    parsing = best_seconds(lambda: parse_with_liac(path, is_sparse=is_sparse), repeats)
    whole = best_seconds(lambda: to_matrices(path, labels, is_sparse=is_sparse), repeats)
    print(
        f"{path.parent.name:<14}{ours:>9.3f}{parsing:>9.3f}{parsing / ours:>7.1f}"
        f"{whole:>15.3f}{whole / ours:>7.1f}"
    )


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of a few runs."""
    times: list[float] = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def parse_with_liac(path: Path, *, is_sparse: bool) -> Any:
    """Parse a file with liac-arff, in its cheapest form."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return arff.load(file, return_type=arff.COO if is_sparse else arff.DENSE)


def to_matrices(path: Path, labels: list[str], *, is_sparse: bool) -> tuple[Any, Any]:
    """Go on to features and labels as matrices."""
    decoded = parse_with_liac(path, is_sparse=is_sparse)
    is_label = np.isin([name for name, _ in decoded["attributes"]], labels)
    if not is_sparse:
        cells = np.array(decoded["data"], dtype=object)
        is_yes = cells == "YES"
        is_word = is_yes | (cells == "NO")
        cells[is_word] = is_yes[is_word]
        features = cells[:, ~is_label]
        # an identifier column has no numbers
        start = 1 if path.parent.name == "genbase" else 0
        return features[:, start:].astype(float), sparse.csr_matrix(cells[:, is_label].astype(int))
    values, rows, columns = decoded["data"]
    shape = (max(rows) + 1, is_label.size)
    entries = (np.array(values, dtype=np.float64), (rows, columns))
    matrix = sparse.coo_matrix(entries, shape=shape).tocsc()
    return matrix[:, ~is_label].tocsr(), matrix[:, is_label].tocsr()


def measure_memory(name: str, home: Path) -> None:
    """Print the peak of Python and NumPy memory against the size of the result."""
    load_dataset(name, data_home=home)
    tracemalloc.start()
    dataset = load_dataset(name, data_home=home)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = array_bytes(dataset)
    print(f"{name:<14}{size / 2**20:>12.2f}{peak / 2**20:>10.2f}{peak / size:>7.2f}")


def array_bytes(dataset: MultiLabelDataset) -> int:
    """Return the bytes of the arrays of a dataset."""
    total = 0
    for matrix in (dataset.X, dataset.Y):
        if sparse.issparse(matrix):
            total += matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
        else:
            total += matrix.nbytes
    return total


if __name__ == "__main__":
    sys.exit(main())
