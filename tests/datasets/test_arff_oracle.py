"""Our ARFF reader against liac-arff, value by value, on every ARFF file of the benchmark."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from pathlib import Path

import arff
import numpy as np
import pytest
from scipy import sparse

from protolabel.datasets import load_dataset, read_mulan
from protolabel.datasets.readers.mulan_labels import read_label_names

NAMES = (
    "emotions",
    "scene",
    "image",
    "enron",
    "genbase",
    "bibtex",
    "corel5k",
    "yeast",
    "delicious",
    "tmc2007-500",
    "cal500",
    "flags",
    "ohsumed",
)
TRUTH = {"YES": 1.0, "NO": 0.0}


def oracle_matrix(path: Path) -> tuple[np.ndarray, list[str]]:
    """Return all cells as numbers, and the names, as liac-arff sees them."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = file.read()
    is_sparse = text.partition("@data")[2].lstrip().startswith("{")
    decoded = arff.loads(text, return_type=arff.LOD if is_sparse else arff.DENSE)
    names = [name for name, _ in decoded["attributes"]]
    cells = np.zeros((len(decoded["data"]), len(names)))
    for row, values in enumerate(decoded["data"]):
        entries = values.items() if is_sparse else enumerate(values)
        for column, value in entries:
            number = TRUTH.get(value) if isinstance(value, str) else value
            if number is None:
                try:
                    number = float(value)
                except ValueError:
                    number = np.nan
            cells[row, column] = number
    return cells, names


@pytest.mark.parametrize("name", NAMES)
def test_features_and_labels_equal_those_of_liac_arff(name: str, benchmark_data: Path) -> None:
    path = benchmark_data / name / f"{name}.arff.gz"
    ours = read_mulan(path)
    cells, names = oracle_matrix(path)
    # liac-arff keeps the escape in TAG_m\'usica, which the XML file has too
    labels = set(read_label_names(path.with_name(f"{name}.xml")))
    is_label = np.array(
        [column in labels or column.replace("'", "\\'") in labels for column in names]
    )
    assert is_label.sum() == ours.n_labels
    plain = [column.replace("\\'", "'") for column in names]
    assert tuple(np.array(plain)[is_label]) == tuple(ours.label_names)
    np.testing.assert_array_equal(ours.Y.toarray(), cells[:, is_label])
    features = cells[:, ~is_label]
    feature_names = np.array(plain)[~is_label]
    if name == "genbase":
        features, feature_names = features[:, 1:], feature_names[1:]
    assert tuple(feature_names) == tuple(ours.feature_names)
    X = ours.X if isinstance(ours.X, np.ndarray) else ours.X.toarray()
    np.testing.assert_array_equal(X, features)


@pytest.mark.parametrize("name", ["bibtex", "tmc2007-500"])
def test_reading_is_at_least_five_times_faster_than_liac_arff(
    name: str, benchmark_data: Path
) -> None:
    path = benchmark_data / name / f"{name}.arff.gz"
    labels = read_label_names(path.with_name(f"{name}.xml"))

    def seconds_of_ours() -> float:
        started = time.process_time()
        read_mulan(path, labels)
        return time.process_time() - started

    dataset = read_mulan(path, labels)
    ours = min(seconds_of_ours() for _ in range(3))
    started = time.process_time()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        decoded = arff.load(file, return_type=arff.COO)
    # the same result as ours: features and labels as two CSR matrices
    values, rows, columns = decoded["data"]
    is_label = np.isin([name for name, _ in decoded["attributes"]], labels)
    shape = (max(rows) + 1, is_label.size)
    cells = (np.array(values, dtype=np.float64), (rows, columns))
    matrix = sparse.coo_matrix(cells, shape=shape).tocsc()
    X, Y = matrix[:, ~is_label].tocsr(), matrix[:, is_label].tocsr()
    theirs = time.process_time() - started
    assert (X != dataset.X).nnz == 0
    assert (Y != dataset.Y).nnz == 0
    assert theirs > 5 * ours, f"liac-arff {theirs:.2f} s, ours {ours:.2f} s"


@pytest.mark.parametrize("name", ["rcv1-s1-full", "bibtex", "scene"])
def test_peak_memory_stays_under_four_times_the_arrays(name: str, benchmark_data: Path) -> None:
    load_dataset(name, data_home=benchmark_data)
    tracemalloc.start()
    try:
        dataset = load_dataset(name, data_home=benchmark_data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = dataset.Y.data.nbytes + dataset.Y.indices.nbytes + dataset.Y.indptr.nbytes
    if isinstance(dataset.X, np.ndarray):
        size += dataset.X.nbytes
    else:
        size += dataset.X.data.nbytes + dataset.X.indices.nbytes + dataset.X.indptr.nbytes
    assert peak < 4 * size, f"peak {peak / 2**20:.1f} MiB for arrays of {size / 2**20:.1f} MiB"
