"""Files made to do harm: bombs, entities, escaping members, objects."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from protolabel.datasets import ReadLimits, read_csv, read_mulan, read_npz, read_xmlc
from protolabel.datasets.archives import unpack_archive
from protolabel.datasets.readers.mulan_labels import read_label_names
from protolabel.exceptions import DatasetError

SMALL = ReadLimits(free_bytes=100_000, max_ratio=50, max_line_bytes=50_000)


def test_a_gzip_bomb_stops_at_the_stated_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.arff"
    path.write_bytes(gzip.compress(b"@relation x\n" + b"% nothing\n" * 5_000_000))
    limits = ReadLimits(free_bytes=1_000_000, max_ratio=10)
    budget = limits.content_budget(path.stat().st_size)
    tracemalloc.start()
    try:
        with pytest.raises(DatasetError, match=f"more than {budget} bytes after decompression"):
            read_mulan(path, ["a"], limits=limits)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_the_default_limits_stop_a_bomb_of_a_thousand_to_one(tmp_path: Path) -> None:
    path = tmp_path / "bomb.txt"
    path.write_bytes(gzip.compress((b" " * 9_999 + b"\n") * 2_000))
    budget = 16 * 1024 * 1024
    with pytest.raises(DatasetError, match=f"more than {budget} bytes after decompression"):
        read_xmlc(path)


def test_one_endless_line_is_refused_early(tmp_path: Path) -> None:
    path = tmp_path / "line.csv"
    path.write_bytes(gzip.compress(b"a" * 30_000_000))
    with pytest.raises(DatasetError, match="line 1: longer than 50000 bytes"):
        read_csv(path, limits=SMALL)


@pytest.mark.parametrize(
    "document",
    [
        '<!DOCTYPE l [<!ENTITY a "b">]><labels><label name="&a;"/></labels>',
        '<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><labels>&b;</labels>',
        '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///hostname">]><labels>&a;</labels>',
        '<!DOCTYPE l SYSTEM "http://localhost/x.dtd"><labels><label name="a"/></labels>',
        '<!DOCTYPE l [<!ENTITY % a SYSTEM "http://localhost/x"> %a;]><labels/>',
    ],
)
def test_xml_with_entities_or_external_references_is_refused(document: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.xml"
    path.write_text(document)
    with pytest.raises(DatasetError, match=r"line 1: declares entities or external references"):
        read_label_names(path)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("<labels>\n<label name='a'>\n</labels>", "line 3: is not well-formed XML"),
        ("<labels><label/></labels>", "has a <label> without a name"),
        ("<labels/>", 'has no <label name="..."> element'),
        ("<labels><label name='a'/><label name='a'/></labels>", "lists label 'a' twice"),
        ("", "line 1: is not well-formed XML"),
    ],
)
def test_a_malformed_label_list_is_explained(document: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.xml"
    path.write_text(document)
    with pytest.raises(DatasetError) as caught:
        read_label_names(path)
    assert message in str(caught.value)


def test_a_cut_gzip_file_is_not_taken_for_a_whole_one(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i % 2}\n" for i in range(5000))
    text = f"@relation t\n@attribute x numeric\n@attribute a {{0,1}}\n@data\n{rows}"
    content = gzip.compress(text.encode())
    path = tmp_path / "cut.arff.gz"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DatasetError, match=r"line \d+: the compressed stream is damaged or cut"):
        read_mulan(path, ["a"])


def npz(path: Path, **changes: object) -> Path:
    arrays: dict[str, object] = {
        "X_data": np.array([1.0, 2.0]),
        "X_indices": np.array([0, 1]),
        "X_indptr": np.array([0, 1, 2]),
        "X_shape": np.array([2, 2]),
        "Y_data": np.array([1, 1], dtype=np.uint8),
        "Y_indices": np.array([0, 0]),
        "Y_indptr": np.array([0, 1, 2]),
        "Y_shape": np.array([2, 1]),
    }
    np.savez(
        path, **{name: value for name, value in (arrays | changes).items() if value is not None}
    )
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X_data": np.array([{}, {}], dtype=object)}, "never Python objects"),
        ({"X_data": np.array([np.inf, 1.0])}, "X_data holds infinite values"),
        ({"X_data": np.array([1.0])}, "X_indptr ends at 2 but X_data has 1"),
        ({"X_indices": np.array([0, 5])}, "X_indices points outside 2 columns"),
        ({"X_indices": np.array([0, -1])}, "X_indices points outside 2 columns"),
        ({"X_indices": np.array([0.0, 1.0])}, "must hold integers"),
        ({"X_indptr": np.array([0, 3, 2])}, "X_indptr decreases"),
        ({"X_indptr": np.array([0, 2, 2]), "X_indices": np.array([1, 1])}, "names a column twice"),
        ({"X_shape": np.array([2, 10**12])}, "X_shape says 2 x 1000000000000"),
        ({"X_shape": np.array([5, 2])}, "X_shape says 5 x 2"),
        ({"Y_data": np.array([1, 3], dtype=np.uint8)}, "values other than 0 and 1"),
        ({"Y_data": np.array([0.5, 1.0])}, "values other than 0 and 1"),
        ({"Y_data": np.array([1, 2**32 + 1])}, "values other than 0 and 1"),
        ({"Y_data": np.array([np.nan, 1.0])}, "values other than 0 and 1"),
        ({"Y_data": None}, "lacks the arrays Y_data"),
        ({"label_names": np.frombuffer(b'["a", "b"]', np.uint8)}, "has 2 names for 1 columns"),
        ({"label_names": np.frombuffer(b"[1]", np.uint8)}, "is not a list of names"),
    ],
)
def test_an_npz_file_with_parts_that_do_not_fit_is_refused(
    changes: dict, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DatasetError) as caught:
        read_npz(npz(tmp_path / "bad.npz", **changes))
    assert message in str(caught.value)


def test_an_npz_bomb_is_refused_before_it_unpacks(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, **{f"X_{part}": np.zeros(20_000_000) for part in ("data", "indices")})
    with zipfile.ZipFile(path, "a") as archive:
        for part in ("X_indptr", "X_shape", "Y_data", "Y_indices", "Y_indptr", "Y_shape"):
            buffer = io.BytesIO()
            np.save(buffer, np.zeros(1))
            archive.writestr(f"{part}.npy", buffer.getvalue())
    tracemalloc.start()
    try:
        with pytest.raises(DatasetError, match=r"unpacks to 320\d+ bytes, more than"):
            read_npz(path)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_an_array_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(2))
    lying = buffer.getvalue().replace(b"(2,), }             ", b"(9999999999999,), } ")
    path = tmp_path / "lying.npz"
    npz(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["X_data.npy"] = lying
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(DatasetError, match=r"declares shape \(9999999999999,\) but holds"):
        read_npz(path)


ESCAPES = ["../evil.txt", "/evil.txt", "a/../../evil.txt", "..\\evil.txt", "C:\\evil.txt", ".."]


@pytest.mark.parametrize("name", ESCAPES)
def test_an_archive_member_cannot_leave_the_folder(name: str, tmp_path: Path) -> None:
    zip_path, tar_path = tmp_path / "a.zip", tmp_path / "a.tar.gz"
    with zipfile.ZipFile(zip_path, "w") as archive:
        archive.writestr("good.txt", "good")
        archive.writestr(name, "evil")
    with tarfile.open(tar_path, "w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = 4
        archive.addfile(info, io.BytesIO(b"evil"))
    for path in (zip_path, tar_path):
        with pytest.raises(DatasetError, match="would land outside"):
            unpack_archive(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.tar.gz", "a.zip"]


def test_links_and_overwriting_and_bombs_in_archives_are_refused(tmp_path: Path) -> None:
    link = tmp_path / "link.tar"
    with tarfile.open(link, "w") as archive:
        info = tarfile.TarInfo("link")
        info.type, info.linkname = tarfile.SYMTYPE, ".."
        archive.addfile(info)
    with pytest.raises(DatasetError, match="is a link or device"):
        unpack_archive(link, tmp_path / "out")
    twice = tmp_path / "twice.tar"
    with tarfile.open(twice, "w") as archive:
        for _ in range(2):
            archive.addfile(tarfile.TarInfo("same"), io.BytesIO(b""))
    with pytest.raises(DatasetError, match="would overwrite"):
        unpack_archive(twice, tmp_path / "out")
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(10_000_000))
    with pytest.raises(DatasetError, match="unpacks to more than"):
        unpack_archive(bomb, tmp_path / "out", limits=SMALL)
    (tmp_path / "text.zip").write_text("not an archive")
    with pytest.raises(DatasetError, match="neither a ZIP nor a TAR"):
        unpack_archive(tmp_path / "text.zip", tmp_path / "out")


def test_a_sound_archive_unpacks_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("folder/file.txt")
        info.size = 2
        archive.addfile(info, io.BytesIO(b"ok"))
    (written,) = unpack_archive(path, tmp_path / "out")
    assert written.read_bytes() == b"ok"
    assert written.is_relative_to((tmp_path / "out").resolve())


def test_hard_cases_for_backtracking_end_quickly(tmp_path: Path) -> None:
    import time

    blank = " " * 300_000
    lines = [
        f"@attribute x {{a{blank}{{\n",
        "@attribute x {" + "\\'" * 200_000 + "\n",
        "@attribute " + "'\\'" * 150_000 + "\n",
        "@relation '" + "-C " * 100_000 + "x'\n@data\n",
        f"{blank}x\n",
        "1" * 300_000 + ":" + "2" * 300_000 + "\n",
        "{0 " + "'\\'" * 100_000 + "}\n",
    ]
    head = "@relation t\n@attribute x {0,1,'2'}\n@attribute a {0,1}\n@data\n"
    from protolabel.datasets import read_dataset

    for number, line in enumerate(lines):
        path = tmp_path / f"hard{number}"
        for text in (line, head + line):
            path.write_text(text)
            started = time.perf_counter()
            with pytest.raises(DatasetError):
                read_dataset(path, labels=["a"])
            assert time.perf_counter() - started < 5, (number, text[:30])
