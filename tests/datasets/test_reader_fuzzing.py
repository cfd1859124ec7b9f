"""Mutated files: a reader returns a dataset or raises DatasetError, quickly and within bounds.

PROTOLABEL_FUZZ sets the number of mutated files a reader, 300 unless told otherwise.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import re
import time
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from protolabel.datasets import (
    DatasetWarning,
    MultiLabelDataset,
    TableOptions,
    read_csv,
    read_dataset,
    read_libsvm,
    read_meka,
    read_mulan,
    read_npz,
    read_parquet,
    read_text,
    read_xmlc,
    write_npz,
)
from protolabel.exceptions import DatasetError

N_MUTATIONS = int(os.environ.get("PROTOLABEL_FUZZ", "300"))
MAX_SECONDS = 5.0
FREE_BYTES = 4 * 1024 * 1024
BYTES_PER_BYTE = 24

DENSE_ARFF = (
    b"@relation 'r: -C 2'\n% comment\n@attribute a {0,1}\n@attribute 'b c' {NO,YES}\n"
    b"@attribute x numeric\n@attribute \"k\" {red,'light blue',?}\n@attribute s string\n"
    b"@data\n1,NO,0.5,red,'t,t'\n0,YES,-1e3,'light blue',u\n1,NO,?,?,v\n"
)
SPARSE_ARFF = (
    b"@relation 'r: -C -2'\n@attribute x numeric\n@attribute y {0,1}\n@attribute z {q,'r s',t}\n"
    b"@attribute a {0,1}\n@attribute b {0,1}\n@data\n"
    b"{0 1.5,1 1,3 1}\n{2 'r s',4 1}\n{}\n{3 1,4 1}\n"
)
LABEL_XML = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">'
    b'\n<label name="a"></label>\n<label name="b c"></label>\n</labels>\n'
)
XMLC = b"3 4 3\n0,2 0:0.5 3:1\n 1:2e-3\n1 2:-7\n"
LIBSVM = b"# rows\n0,2 1:0.5 4:1 # end\n1 2:2e-3\n\n2 3:-7\n"
CSV = (
    b'id,size,colour,ok,tags\n1,0.5,red,yes,a;b\n2,1e3,"light, blue",no,b\n3,,red,yes,\n'
    b"4,7,green,no,c;a\n"
)
LABEL_CSV = b"size\tred\tblue\n0.5\t1\t0\n-2\t0\t1\n3\t1\t1\n"
TEXT = b"good good film\t0\tx1\nbad film\t0,1\tx2\ngood bad\t2\tx3\n"
NASTY = (
    b"99999999999999999999",
    b"-1",
    b"1e999",
    b"nan",
    b"\x00",
    b"\xff\xfe",
    b"'",
    b'"',
    b"\\",
    b"{",
    b"}",
    b",",
    b":",
    b"\t",
    b"\n",
    b"\r",
    b"%",
    b"@data\n",
    b"@attribute x numeric\n",
    b"2147483648",
    b"50000000",
    b"\xe2\x80\xa8",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"&b;",
    b" " * 50,
    b"1_0",
    b"\xd9\xa1",
)


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Change a file in one to four places, or cut it."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        place = rng.randrange(len(data) + 1)
        end = min(len(data), place + rng.randint(1, 40))
        action = rng.randrange(8)
        if action == 0 and data:
            data[place % len(data)] = rng.randrange(256)
        elif action == 1:
            data[place:place] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 8)))
        elif action == 2:
            del data[place:end]
        elif action == 3:
            data[place:place] = data[place:end] * rng.randint(1, 20)
        elif action == 4:
            data[place:place] = rng.choice(NASTY)
        elif action == 5:
            data[place:end] = rng.choice(NASTY)
        elif action == 6 and rng.random() < 0.3:
            del data[place:]
        elif action == 7:
            digits = [i for i, byte in enumerate(data) if 48 <= byte < 58]
            if digits:
                data[rng.choice(digits)] = rng.randrange(48, 58)
    return bytes(data)


def gzip_bytes(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def npz_seed() -> bytes:
    """Return a small NPZ file with names, made the way users make one."""
    dataset = MultiLabelDataset(
        name="seed",
        X=sparse.csr_matrix(np.array([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]])),
        Y=sparse.csr_matrix(np.array([[1, 0], [1, 1], [0, 1]], dtype=np.int32)),
        feature_names=("f", "g"),
        label_names=("a", "b"),
    )
    path = Path(os.environ["PYTEST_FUZZ_FOLDER"]) / "seed.npz"
    write_npz(dataset, path)
    return path.read_bytes()


@cache
def npz_members() -> dict[str, bytes]:
    """Return the arrays of a small NPZ file as NPY files."""
    X = sparse.csr_matrix(np.array([[0.0, 1.5], [2.0, 0.0]]))
    Y = sparse.csr_matrix(np.array([[1, 0], [1, 1]], dtype=np.uint8))
    members: dict[str, bytes] = {}
    for letter, matrix in (("X", X), ("Y", Y)):
        for part in ("data", "indices", "indptr", "shape"):
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(getattr(matrix, part)), allow_pickle=False)
            members[f"{letter}_{part}.npy"] = buffer.getvalue()
    return members


def zip_bytes(members: dict[str, bytes]) -> bytes:
    """Pack members without compression, with right checksums."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def stored_npz() -> bytes:
    return zip_bytes(npz_members())


def mutate_inside_npz(_: bytes, rng: random.Random) -> bytes:
    """Change one array and pack it well, so that only our own checks stand."""
    members = dict(npz_members())
    name = rng.choice(sorted(members))
    content = bytearray(members[name])
    if rng.random() < 0.5:
        # bytes of the values alone
        content[128:] = mutate(bytes(content[128:]), rng) if rng.random() < 0.3 else content[128:]
        for _ in range(rng.randint(1, 3)):
            content[rng.randrange(min(128, len(content) - 1), len(content))] = rng.randrange(256)
    else:
        content = bytearray(mutate(bytes(content), rng))
    members[name] = bytes(content)
    return zip_bytes(members)


def parquet_seed() -> bytes:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "size": [0.5, 1.0, None],
            "colour": ["red", "blue", "red"],
            "tags": [["a"], ["a", "b"], []],
        }
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer, write_page_checksum=False)
    return buffer.getvalue()


@dataclass(frozen=True)
class Target:
    """One reader and the files it starts from."""

    name: str
    seeds: tuple[Callable[[], bytes] | bytes, ...]
    read: Callable[[Path], object]
    has_lines: bool = True
    mutate: Callable[[bytes, random.Random], bytes] = mutate


def read_with_xml(path: Path) -> object:
    """Read the mutated XML with a sound ARFF file."""
    arff = path.with_name("sound.arff")
    if not arff.is_file():
        arff.write_bytes(DENSE_ARFF)
    return read_mulan(arff, path)


def read_small_text(path: Path) -> object:
    from sklearn.feature_extraction.text import CountVectorizer

    return read_text(path, ["a", "b", "c"], vectorizer=CountVectorizer())


ALL_TEXT = (DENSE_ARFF, SPARSE_ARFF, XMLC, LIBSVM, CSV, LABEL_CSV, TEXT)
TARGETS = (
    Target(
        "mulan",
        (DENSE_ARFF, SPARSE_ARFF.replace(b"b {0,1}", b"'b c' {0,1}"), gzip_bytes(DENSE_ARFF)),
        lambda path: read_mulan(path, ["a", "b c"]),
    ),
    Target("mulan-xml", (LABEL_XML,), read_with_xml),
    Target("meka", (DENSE_ARFF, SPARSE_ARFF, gzip_bytes(SPARSE_ARFF)), read_meka),
    Target("xmlc", (XMLC, LIBSVM.split(b"\n", 1)[1], gzip_bytes(XMLC)), read_xmlc),
    Target("libsvm", (LIBSVM, gzip_bytes(LIBSVM)), read_libsvm),
    Target("csv-tags", (CSV, gzip_bytes(CSV)), read_csv),
    Target(
        "csv-labels",
        (LABEL_CSV,),
        lambda path: read_csv(path, options=TableOptions(labels=["red", "blue"])),
    ),
    Target("text", (TEXT, gzip_bytes(TEXT)), read_small_text),
    Target("npz", (npz_seed, stored_npz), read_npz, has_lines=False),
    Target("npz-inside", (stored_npz,), read_npz, has_lines=False, mutate=mutate_inside_npz),
    Target("parquet", (parquet_seed,), read_parquet, has_lines=False),
    Target(
        "any",
        (*ALL_TEXT, stored_npz),
        lambda path: read_dataset(path, labels=None),
        has_lines=False,
    ),
)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_mutated_file_gives_a_dataset_or_a_dataset_error(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_FUZZ_FOLDER", str(tmp_path))
    seeds = [seed() if callable(seed) else seed for seed in target.seeds]
    rng = random.Random(f"protolabel {target.name}")
    path = tmp_path / "mutated"
    n_read = n_refused = 0
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DatasetWarning)
            # what is imported on first use does not count
            path.write_bytes(seeds[0])
            target.read(path)
            for number in range(N_MUTATIONS):
                content = target.mutate(rng.choice(seeds), rng)
                path.write_bytes(content)
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
                started = time.perf_counter()
                try:
                    target.read(path)
                    n_read += 1
                except DatasetError as error:
                    n_refused += 1
                    if target.has_lines:
                        assert re.search(r"line \d+: ", str(error)), content  # noqa: PT017
                except Exception as error:
                    raise AssertionError(f"mutation {number}: {content!r}") from error
                peak = tracemalloc.get_traced_memory()[1] - before
                assert time.perf_counter() - started < MAX_SECONDS, content
                assert peak < FREE_BYTES + BYTES_PER_BYTE * len(content), (peak, content)
    finally:
        tracemalloc.stop()
    print(f"{target.name}: {n_read} read, {n_refused} refused, of {N_MUTATIONS}")  # noqa: T201
    if target.name == "parquet":
        import pyarrow as pa

        # Arrow allocates outside of Python's sight
        assert pa.default_memory_pool().max_memory() < 64 * 1024 * 1024
    # both ways out have to be taken, else the mutations test nothing
    assert n_refused > 0
    assert n_read > 0
