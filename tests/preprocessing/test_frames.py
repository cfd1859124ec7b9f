import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from protolabel import PNMLClassifier
from protolabel.preprocessing.frames import check_features, name_missing_values


@pytest.fixture
def frame():
    return pd.DataFrame(np.random.default_rng(0).random((6, 3)), columns=["a", "b", "c"])


@pytest.mark.parametrize(
    "values",
    [
        ["x"] * 6,
        pd.Categorical(["x", "y"] * 3),
        np.array([1, 2, 3, 4, 5, "six"], dtype=object),
    ],
)
def test_words_are_refused_with_their_column_and_a_remedy(frame, values):
    with pytest.raises(ValueError, match=r"no numbers in column 'b'.*OneHotEncoder.*\['b'\]"):
        check_features(frame.assign(b=values))


@pytest.mark.parametrize(
    "values",
    [
        pl.Series(list("xyzxyz")),
        pl.Series(list("xyzxyz"), dtype=pl.Categorical),
        pl.Series(list("xyzxyz"), dtype=pl.Enum(["x", "y", "z"])),
        pl.Series([[1]] * 6),
        pl.Series([{"u": 1}] * 6),
        pd.array(list("xyzxyz"), dtype=pd.ArrowDtype(pa.large_string())),
        pd.array(list("xyzxyz"), dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    ],
)
def test_words_of_other_kinds_are_refused_as_well(frame, values):
    table = frame.assign(b=values)
    if isinstance(values, pl.Series):
        table = pl.from_pandas(frame).with_columns(values.alias("b"))
    with pytest.raises(ValueError, match="no numbers in column 'b'"):
        check_features(table)


@pytest.mark.parametrize(
    "value",
    [
        pd.Timestamp("2020-01-01"),
        pd.Timestamp("2020-01-01", tz="UTC"),
        pd.Timedelta("1D"),
        pd.period_range("2020-01-01", periods=6, freq="D"),
        pd.interval_range(0, 6),
        pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01"] * 3)),
    ],
)
def test_times_are_refused_rather_than_taken_for_nanoseconds(frame, value):
    with pytest.raises(ValueError, match=r"dates or times in column 'c'.*day of the week"):
        check_features(frame.assign(c=value))
    only_dates = pl.DataFrame({"when": pd.date_range("2020-01-01", periods=6)})
    with pytest.raises(ValueError, match="dates or times in column 'when'"):
        check_features(only_dates)
    with pytest.raises(ValueError, match="dates or times in column 'when'"):
        check_features(only_dates.with_columns(pl.col("when").cast(pl.Date)))


def test_a_frame_that_is_not_computed_is_refused(frame):
    with pytest.raises(TypeError, match=r"LazyFrame.*collect"):
        check_features(pl.from_pandas(frame).lazy())


def test_names_of_columns_must_differ(frame):
    frame.columns = ["a", "b", "a"]
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        check_features(frame)
    frame.columns = ["a", 0, "0"]
    check_features(frame)


@pytest.mark.parametrize(
    "values",
    [
        True,
        1,
        "1.5",
        np.array([1, 2.5, 3, 4, 5, 6], dtype=object),
        pd.array([1, 2, 3, 4, 5, 6], dtype="Int64"),
        pd.arrays.SparseArray([0, 0, 1, 0, 0, 0]),
        pd.Categorical([1, 2, 3, 1, 2, 3]),
        pd.array([1, 2, 3, 4, 5, 6], dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
    ],
)
def test_numbers_of_all_kinds_pass(frame, values):
    check_features(frame.assign(b=values))


def test_what_is_no_frame_passes():
    check_features([["x"]])
    check_features(np.array([["x"]]))
    check_features(pd.Series(["x"]))
    name_missing_values([[np.nan]])


@pytest.mark.parametrize("as_table", [pd.DataFrame, pl.from_pandas, pd.DataFrame.to_numpy])
@pytest.mark.parametrize(("value", "kind"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_where_numbers_are_missing_is_said(frame, as_table, value, kind):
    frame.loc[[2, 4], "b"] = value
    table = as_table(frame)
    name = "1" if isinstance(table, np.ndarray) else "'b'"
    with pytest.raises(ValueError, match=rf"{kind} in column {name}; .* 2 .* first in row 2;"):
        name_missing_values(table)


def test_missing_whole_numbers_are_found(frame):
    with pytest.raises(ValueError, match=r"NaN in columns 'a', 'b', 'c' and 1 more; 'a' has 1"):
        name_missing_values(pd.DataFrame({n: pd.array([1, None], dtype="Int64") for n in "abcd"}))


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, pd.NA, 2.5], dtype=object),
        pd.array(["1", None, "2"], dtype="string"),
        pd.Categorical(pd.array([1, None, 2], dtype="Int64")),
    ],
)
def test_missing_values_among_numbers_of_other_kinds_are_found(frame, values):
    table = frame.head(3).assign(b=values)
    with pytest.raises(ValueError, match=r"NaN in column 'b'; 'b' has 1 .* first in row 1"):
        PNMLClassifier().fit(table, np.eye(2, dtype=int)[[0, 1, 0]])


def test_classifiers_say_which_column_is_in_the_way(frame):
    Y = np.eye(2, dtype=int)[[0, 1, 0, 1, 0, 1]]
    for bad, said in ((frame.assign(b="x"), "column 'b'"), (frame.assign(b=np.nan), "column 'b'")):
        with pytest.raises(ValueError, match=said):
            PNMLClassifier().fit(bad, Y)
    model = PNMLClassifier(max_epochs=1, random_state=0).fit(frame, Y)
    with pytest.raises(ValueError, match="infinity in column 'c'"):
        model.predict(frame.assign(c=np.inf))


def test_masked_cells_are_refused_in_features_and_labels(frame):
    X, Y = frame.to_numpy(), (frame.to_numpy() > 0.5).astype(int)
    masked = np.ma.masked_array(X, mask=X > 2)
    check_features(masked)
    masked[2, 1] = np.ma.masked
    with pytest.raises(ValueError, match="X has 1 masked cells, which stand for missing values"):
        PNMLClassifier().fit(masked, Y)
    with pytest.raises(ValueError, match="X has 1 masked cells"):
        PNMLClassifier().fit(list(masked), Y)
    labels = np.ma.masked_array(Y, mask=masked.mask)
    for y in (labels, list(labels)):
        with pytest.raises(ValueError, match="y has 1 masked cells"):
            PNMLClassifier().fit(X, y)


def test_arrays_of_times_are_refused():
    days = np.array([["2026-01-01"], ["2026-01-02"]], dtype="datetime64[D]")
    for times in (days, days - days[0]):
        with pytest.raises(ValueError, match="X has dates or times"):
            PNMLClassifier().fit(times, [[0, 1], [1, 0]])
