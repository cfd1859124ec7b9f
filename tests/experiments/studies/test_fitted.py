"""Prototypes and correlation: the paper's numbering, distances, and agreement as a number."""

import csv
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy import sparse

from experiments.studies.quick import SMALL
from protolabel.experiments.studies import find_study
from protolabel.experiments.studies.correlation import (
    agreements,
    prototype_similarities,
    usable_pairs,
)
from protolabel.experiments.studies.fitted import (
    FittedPrototypes,
    centred_cosine,
    column_correlation,
    fit_prototypes,
    fitted_path,
)
from protolabel.experiments.studies.fitted_study import find_elsewhere
from protolabel.experiments.studies.prototypes import measure_components, place_prototypes
from protolabel.experiments.studies.writing import write_findings
from protolabel.experiments.unit import Arm, freeze_settings

ARM = Arm("pnml-multiple", settings=freeze_settings({"max_epochs": 1, "embedding_dim": 4}))


@pytest.fixture(scope="module")
def fitted():
    return fit_prototypes(SMALL, ARM, seed=0)


def made_up(positive, negative, correlation, names=None):
    """One prototype on each side of each label."""
    n = len(positive)
    positions = np.stack([positive, negative], axis=1).reshape(2 * n, -1).astype(float)
    return FittedPrototypes(
        dataset="made-up",
        arm=Arm("pnml-single"),
        seed=0,
        label_names=tuple(names or map(str, range(n))),
        configuration={},
        versions={},
        seconds=0.0,
        positions=positions,
        groups=np.arange(2 * n),
        label_correlation=np.asarray(correlation, dtype=float),
        input_similarity=np.eye(n),
        n_positives=np.full(n, 5),
    )


def test_even_numbers_are_positive_and_odd_ones_negative_components(fitted):
    from protolabel.experiments.configuration import build_estimator
    from protolabel.experiments.data import dataset_of

    data = dataset_of(SMALL)
    model = build_estimator(ARM, 0).fit(data.X, data.Y)
    for label, prototypes in enumerate(model.prototypes_):
        for number, expected in (
            (2 * label, prototypes.positive),
            (2 * label + 1, prototypes.negative),
        ):
            found = fitted.positions[fitted.groups == number]
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_file_keeps_a_fit_up_to_half_precision(fitted, tmp_path):
    path = tmp_path / "run" / "fit.npz"
    fitted.save(path)
    found = FittedPrototypes.load(path)
    largest = np.abs(fitted.positions).max()
    np.testing.assert_allclose(found.positions, fitted.positions, atol=largest / 1000)
    np.testing.assert_array_equal(found.groups, fitted.groups)
    np.testing.assert_allclose(found.label_correlation, fitted.label_correlation, atol=1e-6)
    for name in ("dataset", "arm", "seed", "label_names", "configuration", "versions", "seconds"):
        assert getattr(found, name) == getattr(fitted, name)


def test_huge_prototypes_do_not_overflow(fitted, tmp_path):
    huge = replace(fitted, positions=fitted.positions * 1e9)
    huge.save(tmp_path / "fit.npz")
    found = FittedPrototypes.load(tmp_path / "fit.npz").positions
    np.testing.assert_allclose(found, huge.positions, atol=np.abs(huge.positions).max() / 1000)


def test_a_fit_of_the_other_study_is_not_repeated(fitted, tmp_path):
    marked = replace(fitted, seconds=12345.0)
    marked.save(fitted_path(tmp_path / "correlation" / "run", SMALL, ARM, 0))
    path = fitted_path(tmp_path / "prototypes" / "run", SMALL, ARM, 0)
    assert find_elsewhere(path).seconds == 12345.0
    assert find_elsewhere(fitted_path(tmp_path / "prototypes" / "run", SMALL, ARM, 1)) is None


def test_fits_of_other_settings_have_other_files(tmp_path):
    paths = {
        fitted_path(tmp_path, SMALL, ARM, 0),
        fitted_path(tmp_path, SMALL, ARM, 1),
        fitted_path(tmp_path, SMALL, Arm("pnml-multiple"), 0),
        fitted_path(tmp_path, "yeast", ARM, 0),
    }
    assert len(paths) == 4


def test_labels_with_embeddings_of_their_own_are_refused():
    with pytest.raises(ValueError, match="pnml-i has no embedding that its labels share"):
        fit_prototypes(SMALL, Arm("pnml-i"), 0)


def test_column_correlation_is_pearsons():
    Y = np.random.default_rng(0).random((50, 4)) < [0.5, 0.2, 0.7, 0.4]
    expected = np.corrcoef(Y.T.astype(float))
    np.testing.assert_allclose(column_correlation(sparse.csr_matrix(Y)), expected)


def test_a_constant_label_correlates_with_nothing():
    Y = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1]])
    np.testing.assert_array_equal(column_correlation(sparse.csr_matrix(Y)), np.eye(3))


def test_centring_takes_away_what_all_points_share():
    points = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    np.testing.assert_allclose(centred_cosine(points + 100), centred_cosine(points), atol=1e-12)


def test_agreement_is_one_when_prototypes_lie_as_labels_correlate():
    angles = np.radians([0, 20, 60, 150, 260])
    positive = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    fit = made_up(positive, np.zeros((5, 2)), np.eye(5))
    similarity = prototype_similarities(fit)["cosine"]
    fit = replace(fit, label_correlation=similarity)
    found = {(a.measure, a.pairs): a for a in agreements(fit, prototype_similarities(fit))}
    assert found["cosine", "all"].spearman == pytest.approx(1)
    assert found["cosine", "all"].n_pairs == 10
    reversed_fit = replace(fit, label_correlation=np.where(np.eye(5) > 0, 1, -similarity))
    found = {(a.measure, a.pairs): a for a in agreements(reversed_fit, prototype_similarities(fit))}
    assert found["cosine", "all"].spearman == pytest.approx(-1)


def test_labels_that_are_constant_or_empty_are_in_no_pair():
    correlation = np.eye(4)
    correlation[0, 1] = correlation[1, 0] = 0.5
    correlation[0, 3] = correlation[3, 0] = 0.2
    fit = made_up(np.eye(4), np.zeros((4, 4)), correlation)
    fit = replace(fit, n_positives=np.array([5, 5, 0, 5]))
    first, second = usable_pairs(fit)
    assert list(zip(first, second, strict=True)) == [(0, 1), (0, 3), (1, 3)]


def test_small_correlations_are_shown_as_zero():
    correlation = np.array([[1, 0.1, -0.09], [0.1, 1, -0.3], [-0.09, -0.3, 1]])
    fit = made_up(np.eye(3), np.zeros((3, 3)), correlation)
    table = find_study("correlation").describe([fit]).tables[0]
    position = table.columns.index("shown")
    assert [row[position] for row in table.rows] == [0.1, 0.0, -0.3]


def test_distances_between_component_means_are_measured_in_the_embedding():
    positive = [[0.0, 0.0], [0.0, 4.0], [3.0, 0.0]]
    negative = [[1.0, 0.0], [1.0, 4.0], [4.0, 0.0]]
    found = measure_components(made_up(positive, negative, np.eye(3)))
    assert found["distance_between_positives"] == pytest.approx(4.0)
    assert found["distance_between_negatives"] == pytest.approx(4.0)
    assert found["distance_to_own_negative"] == pytest.approx(1.0)


def test_a_single_prototype_is_its_own_mean(fitted):
    fit = made_up(np.eye(3), -np.eye(3), np.eye(3))
    placed = place_prototypes(fit)
    assert placed.points.shape == (6, 2)
    for number, place in placed.means.items():
        np.testing.assert_array_equal(place, placed.points[number])


def test_a_map_has_every_prototype_and_every_mean(fitted):
    table = find_study("prototypes").describe([fitted]).tables[0]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert sum(row["kind"] == "prototype" for row in rows) == len(fitted.positions)
    means = {row["number"]: row for row in rows if row["kind"] == "mean"}
    assert set(means) == set(range(12))
    assert means[7]["label"] == 3
    assert means[7]["component"] == "negative"


def test_too_few_prototypes_for_a_map_are_refused():
    with pytest.raises(ValueError, match="a map needs at least 4"):
        place_prototypes(made_up([[1.0, 0.0]], [[0.0, 1.0]], np.eye(1)))


@pytest.mark.parametrize("name", ["prototypes", "correlation"])
def test_hostile_label_names_are_written_as_they_are(name, tmp_path):
    names = [r"$\frac{1}{", "a|b`<script>", 'quo"te,\nline']
    fit = made_up(np.eye(3), -np.eye(3), [[1, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1]], names)
    write_findings(find_study(name).describe([fit]), tmp_path, name=name, title=name)
    with (tmp_path / f"{name}.csv").open(newline="") as file:
        cells = {cell for row in csv.reader(file) for cell in row}
    assert set(names) <= cells
    for svg in tmp_path.glob("*.svg"):
        ET.parse(svg)
    assert "<script>" not in (tmp_path / f"{name}.md").read_text()
