"""Every dataset of the catalogue, as far as its files are here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from protolabel.datasets import (
    CATALOGUE,
    DatasetSpec,
    dataset_names,
    find_spec,
    load_dataset,
    read_mulan,
)
from protolabel.datasets.folders import find_main_file
from protolabel.exceptions import DatasetError


@pytest.mark.parametrize("spec", CATALOGUE, ids=lambda spec: spec.name)
def test_a_catalogued_dataset_has_exactly_the_declared_statistics(
    spec: DatasetSpec, benchmark_data: Path
) -> None:
    if find_main_file(spec, benchmark_data / spec.data_folder) is None:
        pytest.skip(f"no copy of {spec.name} in PROTOLABEL_DATA")
    dataset = load_dataset(spec.name, data_home=benchmark_data)
    summary = dataset.summary()
    assert (summary.n_samples, summary.n_features, summary.n_labels) == (
        spec.n_samples,
        spec.n_features,
        spec.n_labels,
    )
    assert round(summary.cardinality, 4) == spec.cardinality
    assert summary.feature_density == pytest.approx(spec.feature_density, rel=1e-3)
    assert summary.mean_imbalance_ratio == pytest.approx(spec.mean_imbalance_ratio, abs=6e-4)
    assert (dataset.split is None) == (spec.split is None)
    if spec.split is not None:
        assert dataset.split.train.size == spec.split.n_train
        assert dataset.split.test.size == spec.split.n_test
        parts = [dataset.split.train, dataset.split.test]
        if dataset.split.validation is not None:
            parts.append(dataset.split.validation)
        rows = np.sort(np.concatenate(parts))
        np.testing.assert_array_equal(rows, np.arange(dataset.n_samples))


def test_every_data_folder_belongs_to_the_catalogue(benchmark_data: Path) -> None:
    folders = {path.name for path in benchmark_data.iterdir() if path.is_dir()}
    assert folders <= {spec.data_folder for spec in CATALOGUE}


def test_yeast_loads_without_any_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROTOLABEL_DATA", raising=False)
    dataset = load_dataset("yeast")
    assert (dataset.n_samples, dataset.n_features, dataset.n_labels) == (2417, 103, 14)
    assert dataset.split.train[0] == 917


def test_bundled_yeast_equals_the_mulan_file(benchmark_data: Path, assert_same) -> None:
    assert_same(load_dataset("yeast"), load_dataset("yeast", data_home=benchmark_data))


@pytest.mark.parametrize("name", ["enron", "yeast"])
def test_labels_keep_the_arff_order_when_the_xml_order_differs(
    name: str, benchmark_data: Path, assert_same
) -> None:
    folder = benchmark_data / name
    from_xml = read_mulan(folder / f"{name}.arff.gz")
    by_name = read_mulan(folder / f"{name}.arff.gz", sorted(from_xml.label_names))
    assert_same(from_xml, by_name)
    from protolabel.datasets.readers.mulan_labels import read_label_names

    listed = read_label_names(folder / f"{name}.xml")
    assert set(listed) == set(from_xml.label_names)
    assert listed != list(from_xml.label_names)


def test_genbase_reads_yes_as_one_and_drops_the_row_identifier(benchmark_data: Path) -> None:
    genbase = load_dataset("genbase", data_home=benchmark_data)
    assert "protein" not in genbase.feature_names
    assert genbase.feature_names[0] == "PS00010"
    assert set(np.unique(genbase.X)) == {0.0, 1.0}
    # second protein of the file, O00139: the YES among its values
    assert np.flatnonzero(genbase.X[1]).tolist() == [4, 842, 898, 910]


def test_ohsumed_has_its_labels_first_in_the_file(benchmark_data: Path) -> None:
    ohsumed = load_dataset("ohsumed", data_home=benchmark_data)
    assert ohsumed.label_names[:3] == ("C12", "C04", "C19")
    assert ohsumed.feature_names[:2] == ("0", "000")


def test_delicious_has_the_label_with_an_escaped_quote(benchmark_data: Path) -> None:
    delicious = load_dataset("delicious", data_home=benchmark_data)
    label = delicious.label_names.index("TAG_m'usica")
    assert "TAG_musica" in delicious.label_names
    assert delicious.Y[:, [label]].sum() > 0


def test_rcv1_s5_is_the_repaired_copy(benchmark_data: Path) -> None:
    repaired = load_dataset("rcv1-s5", data_home=benchmark_data)
    broken = load_dataset("rcv1-s5-as-distributed", data_home=benchmark_data)
    original = load_dataset("rcv1-s5-full", data_home=benchmark_data)
    assert repaired.summary().labels_without_positives == 0
    assert broken.summary().labels_without_positives == 1
    np.testing.assert_array_equal(repaired.Y.toarray(), original.Y.toarray())
    assert load_dataset("rcv1-s5-fixed", data_home=benchmark_data).name == "rcv1-s5"
    assert "shifted" in " ".join(find_spec("rcv1-s5-as-distributed").notes)


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    with pytest.raises(DatasetError, match="did you mean emotions"):
        load_dataset("emotion")


def test_a_missing_dataset_names_every_place_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROTOLABEL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PROTOLABEL_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DatasetError) as caught:
        load_dataset("bookmark")
    message = str(caught.value)
    for part in ("the package", "data/bookmark", "cache/bookmark", "github.com/tsoumakas/mulan"):
        assert part in message


def test_a_file_with_other_statistics_is_refused_with_the_difference(tmp_path: Path) -> None:
    folder = tmp_path / "imdb"
    folder.mkdir()
    text = "@relation 'imdb: -C 1'\n@attribute a {0,1}\n@attribute b numeric\n@data\n1,2\n0,3\n"
    (folder / "IMDB-F.arff").write_text(text)
    with pytest.raises(DatasetError) as caught:
        load_dataset("imdb", data_home=tmp_path)
    assert "the number of rows is 2, declared 120919" in str(caught.value)
    assert "the cardinality is 0.5000, declared 2.0" in str(caught.value)


def test_names_are_unique_and_the_papers_fifteen_datasets_are_marked() -> None:
    names = [name for spec in CATALOGUE for name in (spec.name, *spec.aliases)]
    assert len(names) == len(set(names))
    assert sum(spec.is_in_paper for spec in CATALOGUE) == 15
    assert {"bookmark", "imdb", "medical", "yeast"} <= set(dataset_names())


def test_the_package_has_yeast_even_when_a_given_folder_lacks_it(tmp_path: Path) -> None:
    assert "bundled" in load_dataset("yeast", data_home=tmp_path).provenance.source


def test_without_the_list_of_test_rows_there_is_no_split_and_a_note(
    benchmark_data: Path, tmp_path: Path
) -> None:
    (tmp_path / "flags").mkdir()
    for name in ("flags.arff.gz", "flags.xml"):
        (tmp_path / "flags" / name).write_bytes((benchmark_data / "flags" / name).read_bytes())
    dataset = load_dataset("flags", data_home=tmp_path)
    assert dataset.split is None
    assert "test_rows.txt is missing" in dataset.provenance.notes[-1]


def test_an_impossible_test_row_is_named_by_its_line(benchmark_data: Path, tmp_path: Path) -> None:
    (tmp_path / "flags").mkdir()
    for name in ("flags.arff.gz", "flags.xml"):
        (tmp_path / "flags" / name).write_bytes((benchmark_data / "flags" / name).read_bytes())
    (tmp_path / "flags" / "test_rows.txt").write_text("3\n194\n")
    with pytest.raises(DatasetError, match="line 2: expected a row number below 194"):
        load_dataset("flags", data_home=tmp_path)


def test_checksums_and_addresses_of_the_catalogue_are_well_formed() -> None:
    for spec in CATALOGUE:
        assert spec.citation
        assert spec.sources
        for file in spec.files:
            assert bool(file.sha256) == bool(file.size) == spec.is_measured
        for checksum in [file.sha256 for file in (*spec.files, *spec.remote) if file.sha256]:
            assert len(checksum) == 64
            assert set(checksum) <= set("0123456789abcdef")
        for remote in spec.remote:
            assert len(remote.urls) >= 2
            assert all(url.startswith("https://") for url in remote.urls)
