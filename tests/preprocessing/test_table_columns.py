"""Even columns: their formula, codes, extremes, and tables that come in parts."""

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.preprocessing.features import FeatureScaler
from protolabel.preprocessing.row_sample import RowSample
from protolabel.preprocessing.table_columns import TableColumns


@pytest.fixture
def table():
    """A column with a long tail, one of codes, and one of mostly zeros."""
    rng = np.random.default_rng(0)
    tail = np.exp(3 * rng.normal(size=300))
    codes = rng.integers(1, 5, size=300)
    rare = np.where(rng.random(300) < 0.1, rng.normal(100, 20, size=300), 0)
    return np.column_stack([tail, codes, rare])


def test_columns_follow_the_formula_one_by_one(table):
    found = TableColumns.of(table).transform(table)
    for i, row in enumerate(table[:20]):
        expected = []
        for j, value in enumerate(row):
            column = np.sort(table[:, j])
            lower, middle, upper = (np.percentile(column, share) for share in (25, 50, 75))
            spread = upper - lower
            if spread == 0:
                spread = np.median([abs(v - middle) for v in column if v != middle])
            z = (value - middle) / spread
            expected.append(z / (1 + (z / 3) ** 2) ** 0.5)
        expected += [float(row[1] == code) for code in (1, 2, 3, 4)]
        assert found[i] == pytest.approx(expected)


def test_outliers_stay_within_reach_and_in_order(table):
    even = TableColumns.of(table).transform(table)
    assert np.abs(even[:, :3]).max() < 3
    for j in range(3):
        assert (np.diff(even[np.argsort(table[:, j]), j]) >= 0).all()


@pytest.mark.parametrize(
    ("column", "codes"),
    [
        ([0, 1] * 10, []),
        ([0, 1, 2] * 10, [0, 1, 2]),
        ([0.5, 1, 2] * 10, []),
        ([-1, 0, 1] * 10 + [7], [-1, 0, 1]),
        (list(range(12)) * 2, list(range(12))),
        (list(range(13)) * 2, []),
    ],
    ids=["two values", "three", "fractions", "a single row", "twelve", "thirteen"],
)
def test_a_few_whole_numbers_are_taken_apart(column, codes):
    found = TableColumns.of(np.array(column, dtype=float)[:, None])
    assert found.code.tolist() == codes
    assert found.feature_of_column.tolist() == [0] * (1 + len(codes))


def test_very_many_columns_of_whole_numbers_are_counts():
    X = np.random.default_rng(0).integers(0, 4, size=(50, 100)).astype(float)
    assert len(TableColumns.of(X[:, :60]).code) == 240
    assert len(TableColumns.of(X).code) == 0


def test_a_code_that_training_did_not_show_has_no_indicator(table):
    unseen = np.array([[1.0, 9.0, 0.0]])
    assert not TableColumns.of(table).transform(unseen)[0, 3:].any()


@pytest.mark.parametrize(("dtype", "largest"), [(np.float32, 1e38), (np.float64, 1e150)])
def test_extreme_values_and_constant_columns_stay_finite(dtype, largest):
    X = np.array([[5, 0, -largest], [5, 0, 0], [5, 1e-30, 1], [5, 0, largest]], dtype=dtype)
    with np.errstate(all="raise", under="ignore"):
        scaled = FeatureScaler("tabular").fit_transform(X)
    assert np.isfinite(scaled).all()
    assert not scaled[:, 0].any()


def test_even_columns_are_standardised_and_sparse_rows_are_scaled_like_dense_ones(table):
    scaler = FeatureScaler("tabular").fit(table)
    scaled = scaler.transform(table)
    assert scaler.scaling_ == "tabular"
    assert scaled.shape == (300, scaler.n_columns) == (300, 7)
    assert np.allclose(scaled.mean(axis=0), 0)
    assert np.allclose(scaled.std(axis=0), 1)
    assert np.array_equal(scaler.transform(sp.csr_array(table)), scaled)


def test_sparse_and_mostly_zero_tables_are_text_under_tabular_too():
    counts = np.eye(20)
    for rows in (counts, sp.csr_array(counts)):
        scaler = FeatureScaler("tabular").fit(rows)
        assert scaler.scaling_ == "text"
        assert scaler.columns_ is None


def test_parts_are_scaled_like_the_whole(table):
    whole = FeatureScaler("tabular").fit(table)
    parts = FeatureScaler("tabular").fit_parts([table[:7], table[7:150], table[150:]])
    assert np.allclose(parts.transform(table), whole.transform(table))


def sample_of(parts, max_rows):
    sample = RowSample(max_rows=max_rows)
    for _ in sample.passing(parts):
        pass
    return sample.rows.ravel()


def test_a_sample_is_the_same_however_the_rows_come():
    rows = np.arange(997.0)[:, None]
    samples = [sample_of(np.array_split(rows, n_parts), 100) for n_parts in (1, 3, 50)]
    assert 50 <= len(samples[0]) <= 100
    assert samples[0].tolist() == samples[1].tolist() == samples[2].tolist()
    assert np.diff(samples[0]).max() < 50  # from all over the table


@pytest.mark.parametrize("period", [2, 3, 4, 10, 64])
def test_a_sample_has_its_share_of_rows_in_regular_order(period):
    kept = sample_of([np.arange(24_000.0)[:, None]], 10_000) % period
    shares = np.bincount(kept.astype(int), minlength=period) / len(kept)
    assert np.abs(shares * period - 1).max() < 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_column_that_is_constant_up_to_rounding_stays_small(dtype):
    shares = np.random.default_rng(0).random((200, 5)).astype(dtype)
    shares /= shares.sum(axis=1, keepdims=True)
    total = shares.sum(axis=1)[:, None]
    assert len(np.unique(total)) > 1
    assert np.abs(FeatureScaler("tabular").fit_transform(total)).max() < 1e-5
