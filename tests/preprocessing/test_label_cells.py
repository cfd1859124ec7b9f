"""Label frames and arrays whose cells are stored in other types than numbers."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from protolabel import PNMLClassifier
from protolabel.preprocessing.labels import encode_targets
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

MATRIX = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1]])
FRAME = pd.DataFrame(MATRIX, columns=["p", "q", "r"])


def in_other_types():
    mixed = FRAME.assign(q=FRAME.q.astype("Int64"), r=FRAME.r.astype("category"))
    return {
        "one bool column": FRAME.assign(p=FRAME.p.astype(bool)),
        "Int64": FRAME.astype("Int64"),
        "boolean": FRAME.astype("boolean"),
        "category": FRAME.astype("category"),
        "categories of bool": FRAME.astype(bool).astype("category"),
        "Sparse": FRAME.astype(pd.SparseDtype(int, 0)),
        "object": FRAME.astype(object),
        "mixed": mixed,
        "polars mixed": pl.DataFrame(FRAME).with_columns(pl.col("p").cast(pl.Boolean)),
        "array of objects": MATRIX.astype(object),
        "array of decimals": np.vectorize(Decimal, otypes=[object])(MATRIX),
        "array of bool and int": FRAME.assign(p=FRAME.p.astype(bool)).to_numpy(),
    }


@pytest.mark.parametrize("form", list(in_other_types()))
def test_zeros_and_ones_of_any_type_are_labels(form):
    targets = encode_targets(in_other_types()[form])
    assert targets.kind == "multilabel"
    assert np.array_equal(targets.matrix.toarray(), MATRIX)


@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "bool[pyarrow]"])
def test_columns_of_arrow_are_labels(dtype):
    pytest.importorskip("pyarrow")
    targets = encode_targets(FRAME.astype(dtype))
    assert np.array_equal(targets.matrix.toarray(), MATRIX)
    assert targets.names.tolist() == ["p", "q", "r"]


@pytest.mark.parametrize("dtype", [float, object, "Int64", "boolean", "category"])
def test_a_missing_label_is_refused_with_its_column(dtype):
    frame = FRAME.astype(dtype)
    frame.loc[2, "q"] = None
    with pytest.raises(ValueError, match=r"The column 'q' of Y contains the value (nan|<NA>|None)"):
        encode_targets(frame)


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Boolean])
def test_a_missing_label_of_polars_is_refused_with_its_column(dtype):
    frame = pl.DataFrame(FRAME).with_columns(pl.Series("q", [0, 1, None, 1]).cast(dtype))
    with pytest.raises(ValueError, match=r"The column 'q' of Y contains the value (nan|None)"):
        encode_targets(frame)


@pytest.mark.parametrize(
    ("column", "odd"),
    [
        ([0, 2, 1, 3], "the value 2, 3"),
        (["0", "1", "1", "0"], "the value '0', '1'"),
        ([["a"], ["b"], ["a"], []], r"the value \['a'\], \['b'\], \[\];"),
        (pd.Categorical(["no", "yes", "no", "no"]), "the value 'no', 'yes'"),
        (pd.date_range("2026-01-01", periods=4), "values of type datetime64"),
    ],
)
def test_other_values_are_refused_with_their_column(column, odd):
    with pytest.raises(ValueError, match=rf"The column 'q' of Y contains {odd}"):
        encode_targets(FRAME.assign(q=column))


def test_other_values_of_an_array_of_objects_are_named():
    array = MATRIX.astype(object)
    array[1, 1] = "yes"
    with pytest.raises(ValueError, match="Y contains the value 'yes'; a label matrix may contain"):
        encode_targets(array)


def test_a_frame_without_columns_has_no_labels():
    with pytest.raises(ValueError, match="Y has no columns"):
        encode_targets(pd.DataFrame(index=range(3)))


@pytest.mark.parametrize("form", ["one bool column", "Int64", "category", "array of objects"])
def test_classifiers_and_folds_take_them_as_they_take_numbers(form):
    X = np.random.default_rng(0).normal(size=(60, 5))
    Y = (X[:, :3] > 0).astype(int)
    named = pd.DataFrame(Y, columns=["p", "q", "r"])
    other = {
        "one bool column": named.assign(p=named.p.astype(bool)),
        "Int64": named.astype("Int64"),
        "category": named.astype("category"),
        "array of objects": Y.astype(object),
    }[form]
    model = PNMLClassifier(effort="fast", max_epochs=2, random_state=0)
    expected = model.fit(X, Y).decision_function(X)
    assert np.array_equal(model.fit(X, other).decision_function(X), expected)
    folds = MultilabelStratifiedKFold(3, random_state=0)
    for (_, wanted), (_, found) in zip(folds.split(X, Y), folds.split(X, other), strict=True):
        assert np.array_equal(found, wanted)
