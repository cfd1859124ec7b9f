"""Rows read from files against the matrices that were written."""

import gc
import warnings
import weakref
from copy import copy

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.datasets.open_rows import open_rows
from protolabel.datasets.row_files import FileArray, mapped_rows
from protolabel.datasets.row_source import CheckedRows, RowSource
from protolabel.preprocessing.features import FeatureScaler

POSITIONS = np.array([3, 4, 5, 0, 29, 29, 7])


@pytest.fixture
def dense():
    return np.random.default_rng(0).normal(size=(30, 4)) + 7


@pytest.fixture
def sparse():
    return sp.random_array((30, 9), density=0.2, rng=np.random.default_rng(1), format="csr")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_rows_of_a_npy_file_are_those_of_the_matrix(tmp_path, dense, dtype):
    np.save(tmp_path / "x.npy", dense.astype(dtype))
    source = open_rows(tmp_path / "x.npy")
    assert isinstance(source, RowSource)
    assert source.shape == (30, 4)
    assert np.array_equal(source.read_rows(POSITIONS), dense.astype(dtype)[POSITIONS])


@pytest.mark.parametrize("compressed", [False, True])
def test_rows_of_a_npz_file_are_those_of_the_matrix(tmp_path, sparse, compressed):
    sp.save_npz(tmp_path / "x.npz", sparse, compressed=compressed)
    source = open_rows(tmp_path / "x.npz")
    assert source.is_sparse
    assert np.array_equal(source.read_rows(POSITIONS).toarray(), sparse.toarray()[POSITIONS])
    assert source.read_rows(POSITIONS[:0]).shape == (0, 9)


def test_rows_of_a_parquet_file_are_those_of_its_columns(tmp_path, dense):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    names = ["a", "b", "c", "d"]
    table = pa.table({**dict(zip(names, dense.T, strict=True)), "word": ["x"] * 30})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=7)
    source = open_rows(tmp_path / "x.parquet", columns=["d", "a"])
    assert np.array_equal(source.read_rows(POSITIONS), dense[POSITIONS][:, [3, 0]])
    with pytest.raises(ValueError, match=r"column 'word' of .* holds string, not numbers"):
        open_rows(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="has no column"):
        open_rows(tmp_path / "x.parquet", columns=["z"])


def test_views_of_memory_maps_are_found_in_their_file(tmp_path, dense):
    np.save(tmp_path / "x.npy", dense)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for view, expected in ((mapped, dense), (mapped[5:], dense[5:]), (mapped[2:9][1:], dense[3:9])):
        source = mapped_rows(view)
        assert np.array_equal(source.read_rows(np.arange(len(view))), expected)
    assert np.array_equal(mapped_rows(np.asarray(mapped)).read_rows(POSITIONS), dense[POSITIONS])


def test_a_matrix_of_mapped_parts_is_found_in_its_files(tmp_path, sparse):
    for name in ("data", "indices"):
        np.save(tmp_path / f"{name}.npy", getattr(sparse, name))
    data, indices = (np.load(tmp_path / f"{n}.npy", mmap_mode="r") for n in ("data", "indices"))
    source = mapped_rows(sp.csr_array((data, indices, sparse.indptr), shape=sparse.shape))
    assert np.array_equal(source.read_rows(POSITIONS).toarray(), sparse.toarray()[POSITIONS])


def test_what_is_not_mapped_row_by_row_is_no_source(tmp_path, dense, sparse):
    np.save(tmp_path / "x.npy", dense)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    private = np.load(tmp_path / "x.npy", mmap_mode="c")
    for X in (dense, sparse, mapped[:, 1:], mapped.T, private, mapped + 1, mapped[0]):
        assert mapped_rows(X) is None


def test_files_that_cannot_be_read_by_rows_are_refused(tmp_path, dense, sparse):
    np.save(tmp_path / "f.npy", np.asfortranarray(dense))
    with pytest.raises(ValueError, match="expected a matrix of numbers in C order"):
        open_rows(tmp_path / "f.npy")
    sp.save_npz(tmp_path / "csc.npz", sp.csc_array(sparse))
    with pytest.raises(ValueError, match="tocsr"):
        open_rows(tmp_path / "csc.npz")
    np.savez(tmp_path / "other.npz", a=dense)
    with pytest.raises(ValueError, match=r"as scipy.sparse.save_npz writes it"):
        open_rows(tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"expected .npy, .npz \(a CSR matrix\) or .parquet"):
        open_rows(tmp_path / "x.csv")
    with pytest.raises(ValueError, match="are chosen in Parquet files"):
        open_rows(tmp_path / "f.npy", columns=["a"])


def test_a_file_that_was_cut_short_is_refused(tmp_path, dense):
    np.save(tmp_path / "x.npy", dense)
    source = open_rows(tmp_path / "x.npy")
    with (tmp_path / "x.npy").open("r+b") as file:
        file.truncate(400)
    with pytest.raises(ValueError, match="ended while rows were read"):
        source.read_rows(np.array([29]))


def test_column_numbers_outside_of_the_matrix_are_refused(tmp_path, sparse):
    sparse.indices[0] = 1000
    sp.save_npz(tmp_path / "x.npz", sparse, compressed=False)
    with pytest.raises(ValueError, match="expected 0 to 8"):
        open_rows(tmp_path / "x.npz").read_rows(np.arange(30))


def test_missing_and_infinite_numbers_are_refused_when_they_are_read(tmp_path, dense):
    dense[11, 2] = np.nan
    np.save(tmp_path / "x.npy", dense)
    rows = CheckedRows(open_rows(tmp_path / "x.npy"))
    assert rows.read_rows(np.arange(11)).shape == (11, 4)
    with pytest.raises(ValueError, match="NaN or infinity among the rows 0 to 29"):
        list(rows.parts())


def test_parts_are_all_rows_in_order(tmp_path, dense, monkeypatch):
    monkeypatch.setattr("protolabel.datasets.row_source.PART_BYTES", 300)
    np.save(tmp_path / "x.npy", dense)
    parts = list(CheckedRows(open_rows(tmp_path / "x.npy")).parts())
    assert len(parts) > 2
    assert np.array_equal(np.vstack(parts), dense)


@pytest.mark.parametrize("scaling", ["auto", "standard", "text", "unit", "none"])
@pytest.mark.parametrize("kind", ["dense", "counts", "sparse"])
def test_scaling_learned_from_parts_is_that_of_all_rows(dense, sparse, scaling, kind):
    X = {"dense": dense, "counts": sparse.toarray(), "sparse": sparse}[kind]
    if kind == "dense":
        X[:, 1] = 5.0  # a constant column
    whole = FeatureScaler(scaling).fit(X)
    parts = FeatureScaler(scaling).fit_parts(X[start : start + 7] for start in range(0, 30, 7))
    assert parts.scaling_ == whole.scaling_
    assert np.allclose(parts.offset_, whole.offset_, rtol=1e-12)
    assert np.allclose(parts.weight_, whole.weight_, rtol=1e-9)


def test_no_rows_have_no_scaling():
    with pytest.raises(ValueError, match="no row"):
        FeatureScaler().fit_parts([])


def write_rows(path, X):
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".npz":
        sp.save_npz(path, sp.csr_array(X))
    else:
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({str(k): column for k, column in enumerate(X.T)}), path)
    return path


@pytest.fixture
def unclosed_files_are_errors():
    gc.collect()  # What other tests have left is not meant.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        yield
        gc.collect()
    assert not [str(found.message) for found in caught if "unclosed" in str(found.message)]


@pytest.mark.usefixtures("unclosed_files_are_errors")
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
def test_files_are_closed_with_the_source(tmp_path, suffix):
    X = np.arange(12, dtype=np.float32).reshape(4, 3)
    source = open_rows(write_rows(tmp_path / f"features{suffix}", X))
    arrays = [part for part in vars(source).values() if isinstance(part, FileArray)]
    files = [weakref.ref(array.file) for array in arrays]
    copied = copy(arrays.pop())
    del copied  # Does not close what the source still reads from.
    arrays.clear()
    assert np.array_equal(sp.csr_array(source.read_rows(np.array([1]))).toarray(), X[1:2])
    assert not any(file().closed for file in files)
    del source
    gc.collect()
    assert files
    assert all(file() is None for file in files)


@pytest.mark.usefixtures("unclosed_files_are_errors")
def test_a_temporary_file_is_closed_when_it_cannot_be_filled(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "features.parquet"
    pq.write_table(pa.table({"size": [1.0, 2.0], "name": ["a", "b"]}), path)
    with pytest.raises(ValueError, match="not numbers"):
        open_rows(path)


@pytest.mark.usefixtures("unclosed_files_are_errors")
def test_files_are_closed_when_a_compressed_member_is_of_no_numbers(tmp_path):
    path = tmp_path / "features.npz"
    parts = {"data": np.array(["a"]), "indices": np.array([0]), "indptr": np.array([0, 1])}
    np.savez_compressed(path, format=np.array("csr"), shape=np.array([1, 1]), **parts)
    with pytest.raises(ValueError, match="expected numbers"):
        open_rows(path)


@pytest.mark.parametrize("changed", [slice(1), slice(1000, 2000), slice(4999, None)])
def test_a_map_whose_file_was_replaced_is_not_read_from_it(tmp_path, changed):
    rows = np.random.default_rng(0).normal(size=(5000, 7))
    path = tmp_path / "x.npy"
    np.save(path, rows)
    mapped = np.load(path, mmap_mode="r")
    assert mapped_rows(mapped) is not None
    other = rows.copy()
    other[changed] += 1
    np.save(tmp_path / "new.npy", other)
    (tmp_path / "new.npy").replace(path)
    assert mapped_rows(mapped) is None
    np.save(tmp_path / "new.npy", rows[:9])
    (tmp_path / "new.npy").replace(path)
    assert mapped_rows(mapped) is None
    path.unlink()
    assert mapped_rows(mapped) is None
    path.mkdir()
    assert mapped_rows(mapped) is None
    np.testing.assert_array_equal(mapped, rows)


def test_a_map_with_nothing_to_tell_it_by_is_read_from_its_file(tmp_path):
    for number, rows in enumerate([np.full((40, 3), np.nan), np.zeros((1, 1)), np.ones((0, 4))]):
        np.save(tmp_path / f"{number}.npy", rows)
        mapped = np.load(tmp_path / f"{number}.npy", mmap_mode="r")
        found = mapped_rows(mapped)
        if rows.size:
            np.testing.assert_array_equal(found.read_rows(np.arange(len(rows))), rows)


def test_numbers_of_a_parquet_file_stay_what_they_are(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    stamps = [1_700_000_000_000 + step for step in range(30)]
    large = np.where(np.arange(30) > 3, 1e300, 0.5)
    pq.write_table(pa.table({"stamp": stamps, "large": large}), tmp_path / "x.parquet")
    found = open_rows(tmp_path / "x.parquet").read_rows(np.arange(30))
    assert np.array_equal(found, np.column_stack([stamps, large]))
    small = pa.table({"a": np.arange(30, dtype=np.float32) / 3, "b": np.arange(30) % 2 == 0})
    pq.write_table(small, tmp_path / "y.parquet")
    assert open_rows(tmp_path / "y.parquet").read_rows(np.arange(2)).dtype == np.float32


def test_what_is_no_file_of_rows_is_named_with_its_path(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    for name in ("x.npy", "x.npz", "x.parquet"):
        (tmp_path / name).touch()
        with pytest.raises(ValueError, match=rf"{name} is .*(damaged|no \.npy file)"):
            open_rows(tmp_path / name)
        (tmp_path / name).write_bytes(b"PK\x03\x04 and not much more")
        with pytest.raises(ValueError, match=name):
            open_rows(tmp_path / name)
    np.save(tmp_path / "none.npy", np.empty((0, 3)))
    with pytest.raises(ValueError, match=r"none.npy holds a matrix of shape \(0, 3\)"):
        open_rows(tmp_path / "none.npy")
    np.save(tmp_path / "truths.npy", np.ones((4, 3), dtype=bool))
    with pytest.raises(ValueError, match="holds values of type bool; expected numbers"):
        open_rows(tmp_path / "truths.npy")
    twice = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        open_rows(tmp_path / "twice.parquet")
