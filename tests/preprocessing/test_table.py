"""Tables of numbers and words as matrices, by rules that survive as JSON."""

import json
from pathlib import Path

import numpy as np
import pytest

from protolabel.exceptions import ModelFileError
from protolabel.preprocessing.table import (
    NumberRule,
    Numbers,
    TablePreprocessor,
    WordRule,
    Words,
)

PATH = Path("columns.json")


@pytest.fixture
def columns():
    return [
        Numbers("size", np.array([1.0, np.nan, 4.0, 2.5, 7.0])),
        Words("colour", np.array([0, 1, -1, 0, 2]), ("red", "blue", "green")),
    ]


def test_means_and_words_come_from_the_rows_asked_for(columns):
    rules = TablePreprocessor.fit(columns, np.array([0, 1, 2, 3])).rules
    assert rules == (NumberRule("size", 2.5), WordRule("colour", ("red", "blue")))


def test_missing_numbers_become_the_mean_and_missing_or_unseen_words_all_zero(columns):
    rules = TablePreprocessor.fit(columns, np.array([0, 1, 2, 3]))
    assert rules.feature_names == ("size", "colour=red", "colour=blue")
    assert rules.transform(columns).tolist() == [
        [1.0, 1.0, 0.0],
        [2.5, 0.0, 1.0],
        [4.0, 0.0, 0.0],
        [2.5, 1.0, 0.0],
        [7.0, 0.0, 0.0],
    ]


@pytest.mark.parametrize(
    ("values", "fill"),
    [
        ([0, 1, 1, np.nan], 1),
        ([0, 1, 0, np.nan, np.nan], 0),
        ([1, 0, np.nan], 0),
        ([2, -3, 2, np.nan], 2),
        ([1, 1, np.nan], 1),
        ([0, 1, 1, 0.5], 0.625),
        ([1.5, 2.0, np.nan], 1.75),
    ],
)
def test_a_missing_one_of_two_values_becomes_the_more_frequent_one(values, fill):
    (rule,) = TablePreprocessor.fit([Numbers("live", np.array(values, dtype=float))]).rules
    assert (rule.name, rule.fill) == ("live", fill)
    assert rule.is_truth == ({*values} - {np.nan} <= {0, 1})


def test_words_are_matched_by_spelling_not_by_code(columns):
    rules = TablePreprocessor.fit(columns)
    new = [Words("colour", np.array([1, 0]), ("green", "red")), Numbers("size", np.zeros(2))]
    assert rules.transform(new).tolist() == [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]


def test_a_column_without_any_number_is_filled_by_zero():
    rules = TablePreprocessor.fit([Numbers("void", np.full(3, np.nan))])
    assert rules.transform([Numbers("void", np.array([np.nan, 2.0]))]).tolist() == [[0.0], [2.0]]


def test_the_mean_of_huge_numbers_is_finite():
    rules = TablePreprocessor.fit([Numbers("huge", np.array([1.25, 1.5, 1.5, 1.75]) * 1e308)])
    assert rules.rules[0].fill == pytest.approx(1.5e308)


def test_rules_survive_as_json(columns):
    rules = TablePreprocessor.fit(columns)
    again = TablePreprocessor.from_json(json.loads(json.dumps(rules.to_json())), PATH)
    assert again == rules
    assert np.array_equal(again.transform(columns), rules.transform(columns))


def test_a_missing_column_is_named(columns):
    rules = TablePreprocessor.fit(columns)
    with pytest.raises(ValueError, match="lacks 'colour' of the 2 columns"):
        rules.transform(columns[:1])


def test_a_column_of_another_kind_is_refused(columns):
    rules = TablePreprocessor.fit(columns)
    swapped = [Numbers("colour", np.zeros(2)), Numbers("size", np.zeros(2))]
    with pytest.raises(ValueError, match="'colour' holds numbers, it held the words 'red'"):
        rules.transform(swapped)
    words = [columns[1], Words("size", np.array([0, 0, 0, 0, 0]), ("big",))]
    with pytest.raises(ValueError, match="'size' holds words"):
        rules.transform(words)


def test_columns_of_different_lengths_are_refused(columns):
    rules = TablePreprocessor.fit(columns)
    with pytest.raises(ValueError, match="rows; expected equally many"):
        rules.transform([columns[0], Words("colour", np.array([0]), ("red",))])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("text", "not a list"),
        ([1], "expected an object"),
        ([{"column": "a"}], "has no 'fill'"),
        ([{"column": "a", "fill": 1, "words": []}], "unknown entry"),
        ([{"column": "a", "fill": float("inf")}], "not finite"),
        ([{"column": "a", "fill": True}], "expected a number"),
        ([{"column": "a", "words": [1]}], "not different strings"),
        ([{"column": "a", "fill": 1}, {"column": "a", "words": []}], "two rules"),
    ],
)
def test_what_is_no_rule_is_refused(value, message):
    with pytest.raises(ModelFileError, match=message):
        TablePreprocessor.from_json(value, PATH)
