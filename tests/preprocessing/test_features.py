import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.preprocessing.features import FeatureScaler, compressed_texts


@pytest.fixture
def counts():
    found = sp.random(40, 12, density=0.2, format="csr", random_state=1)
    found.data = np.ceil(5 * found.data)
    return found


def test_dense_columns_are_standardised():
    X = np.random.default_rng(0).normal(3, 5, size=(50, 4))
    Z = FeatureScaler().fit_transform(X)
    assert np.allclose(Z.mean(0), 0)
    assert np.allclose(Z.std(0), 1)


def test_a_constant_column_becomes_zero_not_nan():
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    Z = FeatureScaler("standard").fit_transform(X)
    assert np.allclose(Z[:, 0], 0)
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("value", [0.0, 1e-8, 0.1, 1e9])
def test_a_constant_column_of_any_size_is_recognised(value):
    X = np.full((1000, 1), value, dtype=np.float32)
    assert np.abs(FeatureScaler("standard").fit_transform(X)).max() <= 1e-6 * max(value, 1)


def test_single_precision_far_from_zero_is_no_constant():
    stamps = 1.6e9 + 256 * np.arange(20_000.0)  # one number apart from the next
    scaled = FeatureScaler("standard").fit_transform(stamps[:, None].astype(np.float32))
    np.testing.assert_allclose(scaled.std(), 1, rtol=1e-3)
    np.testing.assert_array_equal(np.argsort(scaled.ravel()), np.arange(20_000))


@pytest.mark.parametrize("value", [1e-8, 0.1, 1.0, 1e9])
def test_a_constant_column_of_sparse_rows_keeps_its_size(value):
    X = sp.csr_array(np.column_stack([np.full(1000, value), np.arange(1000.0) % 7]))
    assert FeatureScaler("standard").fit(X).weight_[0] == 1.0


def test_text_weights_and_row_length_follow_the_formula(counts):
    Z = FeatureScaler().fit_transform(counts)
    dense = counts.toarray()
    frequency = (dense != 0).sum(0)
    expected = dense * (np.log(41 / (1 + frequency)) + 1)
    norms = np.linalg.norm(expected, axis=1, keepdims=True)
    expected = 4 * expected / np.where(norms > 0, norms, 1)
    assert sp.issparse(Z)
    assert np.allclose(Z.toarray(), expected)


def test_mostly_zero_dense_input_is_scaled_like_the_same_sparse_input(counts):
    dense = FeatureScaler().fit(counts.toarray())
    assert dense.scaling_ == "text"
    assert np.allclose(
        dense.transform(counts.toarray()), FeatureScaler().fit_transform(counts).toarray()
    )


def test_negative_values_are_never_taken_for_text():
    X = np.zeros((10, 10))
    X[0, 0] = -1
    assert FeatureScaler().fit(X).scaling_ == "standard"


def test_fractions_of_any_length_are_amounts_and_not_texts(counts):
    amounts = counts.toarray() + np.where(counts.toarray() > 0, 0.5, 0.0)
    assert FeatureScaler("tabular").fit(amounts).scaling_ == "tabular"
    lengths = np.linalg.norm(amounts, axis=1, keepdims=True)
    scaled_texts = (amounts / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    assert FeatureScaler("tabular").fit(scaled_texts).scaling_ == "text"


@pytest.mark.parametrize(("size", "is_text"), [(5, True), (80, False), (1e9, False)])
def test_a_column_that_leaves_nothing_of_the_others_makes_no_text(counts, size, is_text):
    flags = (counts.toarray() > 0).astype(float)
    X = np.column_stack([size * np.ones(40), flags, np.zeros((40, 8))])
    assert FeatureScaler("tabular").fit(X).scaling_ == ("text" if is_text else "tabular")
    sparse = FeatureScaler("tabular").fit(sp.csr_array(X))
    assert sparse.scaling_ == ("text" if is_text else "standard")
    assert type(compressed_texts(X, "tabular")) is (sp.csr_array if is_text else np.ndarray)


def test_rows_in_parts_are_texts_when_all_of_them_are(counts):
    X = counts.toarray()
    assert FeatureScaler().fit_parts([X[:20], X[20:]]).scaling_ == "text"
    amounts = np.where(X[20:] > 0, X[20:] + 0.5, 0.0)
    assert FeatureScaler().fit_parts([X[:20], amounts]).scaling_ == "standard"


def test_only_training_rows_decide_the_weights(counts):
    scaler = FeatureScaler().fit(counts[:20])
    alone = scaler.transform(counts[[30]]).toarray()
    assert np.allclose(scaler.transform(counts[20:])[[10]].toarray(), alone)


def test_sparse_input_is_not_centred_nor_changed_in_place(counts):
    before = counts.copy()
    Z = FeatureScaler("standard").fit_transform(counts)
    assert Z.nnz == counts.nnz
    assert (counts != before).nnz == 0
    assert np.allclose(Z.toarray(), counts.toarray() / np.where(s := counts.toarray().std(0), s, 1))


def test_no_scaling_returns_the_input():
    X = np.ones((2, 2))
    assert FeatureScaler("none").fit_transform(X) is X


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="feature_scaling='minmax' is unknown"):
        FeatureScaler("minmax").fit(np.ones((2, 2)))


@pytest.mark.parametrize("scaling", ["text", "unit"])
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-38, 1e38, 1e200, 1e306])
def test_the_size_of_rows_does_not_matter_where_their_length_is_taken_out(counts, scaling, size):
    scaler = FeatureScaler(scaling)
    expected = scaler.fit_transform(counts).toarray()
    tolerance = 1e-3 if size < 1e-300 else 1e-12
    for others in (counts[:0], counts):  # Beside rows of a usual size, and without.
        rows = sp.vstack([counts * size, others], format="csr")
        for form in (rows, rows.toarray()):
            found = scaler.transform(form)[:40]
            found = found.toarray() if sp.issparse(found) else found
            np.testing.assert_allclose(found, expected, rtol=tolerance)


@pytest.mark.parametrize("size", [1e-38, 1e-44, 1e37])
def test_rows_of_single_precision_may_be_of_any_size(counts, size):
    rows = (counts * size).astype(np.float32)
    assert rows.nnz == counts.nnz
    found = FeatureScaler("unit").fit_transform(rows)
    assert found.dtype == np.float32
    lengths = np.sqrt(np.asarray(found.multiply(found).sum(axis=1)).ravel())
    np.testing.assert_allclose(lengths[counts.getnnz(axis=1) > 0], 4, rtol=1e-6)


def test_a_row_is_scaled_alike_beside_rows_of_any_size(counts):
    scaler = FeatureScaler("text").fit(counts)
    beside = sp.vstack([counts, counts * 1e-200], format="csr")
    together = scaler.transform(beside)[:40]
    np.testing.assert_array_equal(together.toarray(), scaler.transform(counts).toarray())
