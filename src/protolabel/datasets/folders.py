"""From a folder of files to the dataset that the catalogue describes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from protolabel.datasets.catalogue.spec import DatasetSpec
from protolabel.datasets.dataset import MultiLabelDataset, Provenance, Split
from protolabel.datasets.lines import iter_lines, problem_at
from protolabel.datasets.readers.meka import read_meka
from protolabel.datasets.readers.mulan import read_mulan
from protolabel.datasets.readers.npz import read_npz
from protolabel.datasets.readers.text_tags import read_text_parts
from protolabel.exceptions import DatasetError

_ENDINGS = (".arff.gz", ".arff", ".npz")


def find_main_file(spec: DatasetSpec, folder: Path) -> Path | None:
    """Return the file in a folder that holds the rows of a dataset, if there is one.

    Parameters
    ----------
    spec : DatasetSpec
        The catalogue entry.
    folder : Path
        Where to look.

    Returns
    -------
    Path or None
        The file under its declared name, or under another name that copies go by.
    """
    if spec.split is not None and spec.split.kind == "parts":
        return _part(folder, "train")
    stems = dict.fromkeys((spec.data_folder, spec.name, *spec.stems))
    for stem in stems:
        for ending in _ENDINGS:
            path = folder / f"{stem}{ending}"
            if path.is_file():
                return path
    return None


def read_folder(spec: DatasetSpec, folder: Path) -> MultiLabelDataset:
    """Read the dataset of a catalogue entry from a folder.

    Parameters
    ----------
    spec : DatasetSpec
        The catalogue entry.
    folder : Path
        Folder with its files.

    Returns
    -------
    MultiLabelDataset
        The dataset, not yet compared with the declared statistics.
    """
    path = find_main_file(spec, folder)
    if path is None:
        raise DatasetError(f"{folder} has no file of dataset {spec.name!r}")
    if spec.split is not None and spec.split.kind == "parts":
        dataset = _read_parts(spec, folder)
    elif path.suffix == ".npz":
        dataset = read_npz(path, name=spec.name)
    elif _label_list(path) is not None:
        dataset = read_mulan(path, _label_list(path), name=spec.name)
    else:
        dataset = read_meka(path, name=spec.name)
    return finish_dataset(spec, dataset, folder)


def finish_dataset(
    spec: DatasetSpec, dataset: MultiLabelDataset, folder: Path | None
) -> MultiLabelDataset:
    """Apply what the catalogue knows: columns to drop, the split, citation and notes.

    Parameters
    ----------
    spec : DatasetSpec
        The catalogue entry.
    dataset : MultiLabelDataset
        What the reader returned.
    folder : Path or None
        Where a list of test rows may lie.

    Returns
    -------
    MultiLabelDataset
        The finished dataset.
    """
    notes = (*spec.notes, *dataset.provenance.notes)
    dropped = [name for name in spec.drop_features if name in dataset.feature_names]
    if dropped:
        keep = np.array([name not in dropped for name in dataset.feature_names])
        names = tuple(name for name in dataset.feature_names if name not in dropped)
        dataset = replace(dataset, X=dataset.X[:, keep], feature_names=names)
    split = dataset.split or _make_split(spec, dataset.n_samples, folder)
    if split is None and spec.split is not None:
        notes = (*notes, "the predefined split is not available: test_rows.txt is missing")
    return replace(
        dataset,
        name=spec.name,
        split=split,
        provenance=Provenance(
            source=dataset.provenance.source,
            citation=spec.citation,
            licence=spec.licence,
            notes=notes,
        ),
    )


def check_statistics(spec: DatasetSpec, dataset: MultiLabelDataset) -> None:
    """Compare a dataset with what the catalogue declares.

    Parameters
    ----------
    spec : DatasetSpec
        The catalogue entry.
    dataset : MultiLabelDataset
        What was loaded.

    Raises
    ------
    DatasetError
        Naming every statistic that differs, declared and found.
    """
    differences = [
        f"{part} is {found}, declared {declared}"
        for part, found, declared in (
            ("the number of rows", dataset.n_samples, spec.n_samples),
            ("the number of features", dataset.n_features, spec.n_features),
            ("the number of labels", dataset.n_labels, spec.n_labels),
        )
        if found != declared
    ]
    cardinality = dataset.Y.nnz / max(dataset.n_samples, 1)
    if abs(cardinality - spec.cardinality) > spec.cardinality_tolerance:
        differences.append(f"the cardinality is {cardinality:.4f}, declared {spec.cardinality}")
    if spec.split is not None and dataset.split is not None:
        validation = dataset.split.validation
        sizes = (
            dataset.split.train.size,
            0 if validation is None else validation.size,
            dataset.split.test.size,
        )
        declared = (spec.split.n_train, spec.split.n_validation, spec.split.n_test)
        if sizes != declared:
            differences.append(
                f"training, tuning and test part have {sizes} rows, declared {declared}"
            )
    if differences:
        raise DatasetError(
            f"{dataset.provenance.source} is not dataset {spec.name!r} as catalogued: "
            f"{'; '.join(differences)}. Replace the file, or read it with read_dataset"
        )


def _part(folder: Path, part: str) -> Path | None:
    """Return the file of one part of a dataset of texts, if it is there."""
    candidates = (folder / f"{part}.tsv.gz", folder / f"{part}.tsv")
    return next((path for path in candidates if path.is_file()), None)


def _read_parts(spec: DatasetSpec, folder: Path) -> MultiLabelDataset:
    """Read texts kept in one file a part."""
    files = {
        "train": _part(folder, "train"),
        "validation": _part(folder, "dev"),
        "test": _part(folder, "test"),
    }
    found = {part: path for part, path in files.items() if path is not None}
    if len(found) < len(files):
        lacking = ", ".join(sorted(files.keys() - found.keys()))
        raise DatasetError(f"{folder} lacks the {lacking} part of dataset {spec.name!r}")
    return read_text_parts(found, folder / "labels.txt", name=spec.name)


def _label_list(path: Path) -> Path | None:
    """Return the XML file beside an ARFF file, if any."""
    stem = path.name.removesuffix(".gz").removesuffix(".arff")
    candidate = path.with_name(f"{stem}.xml")
    return candidate if candidate.is_file() else None


def _make_split(spec: DatasetSpec, n_samples: int, folder: Path | None) -> Split | None:
    """Build the predefined split of a catalogue entry."""
    rule = spec.split
    if rule is None:
        return None
    rows = np.arange(n_samples)
    if rule.kind == "train-first":
        return Split(train=rows[: rule.n_train], test=rows[rule.n_train :])
    if rule.kind == "test-first":
        return Split(train=rows[rule.n_test :], test=rows[: rule.n_test])
    listed = folder / "test_rows.txt" if folder is not None else None
    if listed is None or not listed.is_file():
        return None
    is_test = np.zeros(n_samples, dtype=bool)
    for number, line in enumerate(iter_lines(listed), start=1):
        if not (line.isascii() and line.isdigit() and int(line) < n_samples):
            raise problem_at(
                listed, number, f"expected a row number below {n_samples}, received {line[:40]!r}"
            )
        is_test[int(line)] = True
    return Split(train=rows[~is_test], test=rows[is_test])
