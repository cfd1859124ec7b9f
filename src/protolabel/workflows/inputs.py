"""What a model makes of the content of a file: learned from training rows, stored as JSON.

There is one kind for each kind of content. A model that was saved without any, from Python,
takes numbers in the order or by the names of its features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from protolabel.exceptions import DatasetError, ModelFileError
from protolabel.preprocessing.table import NumberRule, Numbers, TablePreprocessor, WordRule
from protolabel.safefiles.fields import Fields
from protolabel.workflows.labelled_data import Content, SparseRows, dense_columns
from protolabel.workflows.wording import some_names

# Word counts as weighted by the readers of text.
_MIN_TEXTS_OF_A_WORD = 2


@dataclass(frozen=True)
class TableInputs:
    """Columns of numbers and words, found by their names.

    ``tag_separator`` is what stood between the labels of a cell, where there was such a column.
    """

    table: TablePreprocessor
    tag_separator: str | None = None

    @property
    def n_features(self) -> int:
        """Number of features of the model."""
        return len(self.table.feature_names)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features of the model."""
        return self.table.feature_names

    def encode(self, content: Content) -> NDArray[np.float64]:
        """Turn columns into the rows that the model takes."""
        if isinstance(content, SparseRows):
            if content.names is None:
                raise DatasetError(
                    "the model was trained on a table, the rows are sparse without names; give a "
                    f"file with the columns {some_names([rule.name for rule in self.table.rules])}"
                )
            content = dense_columns(content.matrix.toarray(), content.names)
        return self.table.transform(_columns(content))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        document: dict[str, Any] = {"kind": "table", "columns": self.table.to_json()}
        if self.tag_separator is not None:
            document["tag_separator"] = self.tag_separator
        return document


@dataclass(frozen=True)
class SparseInputs:
    """Sparse rows; the columns are found by name where there are names, else by number."""

    n_features: int
    names: tuple[str, ...] | None
    feature_base: int | None = None

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features of the model, if any."""
        return self.names

    def encode(self, content: Content) -> Any:
        """Bring rows to the columns of the model; missing values become zero."""
        rows = _sparse_rows(content)
        matrix = sp.csr_array(rows.matrix, copy=True)
        matrix.data = np.nan_to_num(matrix.data)
        if self.names is not None and rows.names is not None and rows.names != self.names:
            matrix = sp.csr_array(matrix @ _placement(rows.names, self.names))
        if matrix.shape[1] > self.n_features:
            raise _wrong_width(matrix.shape[1], self.n_features)
        # The last columns of a file that numbers its features may be empty.
        matrix.resize((matrix.shape[0], self.n_features))
        return matrix

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "kind": "sparse",
            "n_features": self.n_features,
            "names": None if self.names is None else list(self.names),
            "feature_base": self.feature_base,
        }


@dataclass(frozen=True)
class PlainInputs:
    """Numbers for a model that was saved alone, by the names of its features if it has any."""

    n_features: int
    names: tuple[str, ...] | None
    needs_dense: bool

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features of the model, if any."""
        return self.names

    def encode(self, content: Content) -> Any:
        """Bring rows to the columns of the model; no value may be missing."""
        matrix = _sparse_rows(content).matrix
        if np.isnan(matrix.data).any():
            raise DatasetError(
                "values are missing, and the model does not say what takes their place; impute "
                "them, or train with `protolabel train`"
            )
        matrix = SparseInputs(self.n_features, self.names).encode(content)
        keeps_sparse = isinstance(content, SparseRows) and not self.needs_dense
        return matrix if keeps_sparse else matrix.toarray()


@dataclass(frozen=True)
class TextInputs:
    """Words of texts, weighted by how rare they are."""

    words: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def n_features(self) -> int:
        """Number of words."""
        return len(self.words)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The words."""
        return self.words

    @classmethod
    def fit(cls, texts: Sequence[str]) -> TextInputs:
        """Learn the words that occur in at least two texts, and their weights."""
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=_MIN_TEXTS_OF_A_WORD)
        try:
            vectorizer.fit(texts)
        except ValueError as error:
            raise DatasetError(f"the texts cannot be turned into features ({error})") from error
        words = tuple(str(word) for word in vectorizer.get_feature_names_out())
        return cls(words, tuple(vectorizer.idf_.tolist()))

    def encode(self, content: Content) -> Any:
        """Turn texts into sparse rows."""
        if isinstance(content, SparseRows) or not all(isinstance(text, str) for text in content):
            raise DatasetError("the model was trained on texts; give a file with one text a line")
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

        vectorizer = TfidfVectorizer(sublinear_tf=True, vocabulary=self.words)
        vectorizer.idf_ = np.array(self.weights)
        return sp.csr_array(vectorizer.transform(content))

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"kind": "text", "words": list(self.words), "weights": list(self.weights)}


StoredInputs: TypeAlias = TableInputs | SparseInputs | TextInputs
Inputs: TypeAlias = StoredInputs | PlainInputs


def fit_inputs(
    content: Content, rows: NDArray[Any], *, tag_separator: str | None = None
) -> StoredInputs:
    """Learn from the training rows what becomes of the content of a file.

    Parameters
    ----------
    content : columns, SparseRows or texts
    rows : ndarray of int
        Numbers of the training rows.
    tag_separator : str or None, default=None
        What stood between the tags of a table.

    Examples
    --------
    >>> fit_inputs(("good film", "bad film"), np.arange(2)).feature_names
    ('film',)
    """
    if isinstance(content, SparseRows):
        return SparseInputs(content.matrix.shape[1], content.names, content.feature_base)
    if content and isinstance(content[0], str):
        return TextInputs.fit([str(content[row]) for row in rows])
    return TableInputs(TablePreprocessor.fit(_columns(content), rows), tag_separator)


def inputs_of_model(model: Any) -> PlainInputs:
    """What a model takes that was saved without inputs."""
    names = getattr(model, "feature_names_in_", None)
    scaler = model.scaler_ if hasattr(model, "scaler_") else model.model_.scaler
    # Sparse rows are never centred, so a model that centres was trained on dense ones.
    needs_dense = scaler.is_by_column and bool(np.any(scaler.offset_))
    return PlainInputs(model.n_features_in_, None if names is None else tuple(names), needs_dense)


def inputs_from_json(value: Any, path: Path) -> StoredInputs:
    """Read inputs back, refusing what is none.

    Parameters
    ----------
    value : Any
        What was parsed.
    path : Path
        File that it came from, for messages.
    """
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind == "table":
        # Files of versions that did not store the separator have no such entry.
        optional = {"tag_separator"} & set(value)
        entry = Fields(value, "inputs", path, {"kind", "columns"} | optional)
        separator = entry.text("tag_separator") if optional else None
        return TableInputs(TablePreprocessor.from_json(entry.raw("columns"), path), separator)
    if kind == "sparse":
        entry = Fields(value, "inputs", path, {"kind", "n_features", "names", "feature_base"})
        n_features = entry.integer("n_features", low=1, high=2**31)
        names = None if entry.raw("names") is None else _texts(entry, "names", path)
        if names is not None and len(names) != n_features:
            raise _refusal(path, f"there are {len(names)} names for {n_features} features")
        base = entry.raw("feature_base")
        base = None if base is None else entry.integer("feature_base", high=1)
        return SparseInputs(n_features, names, base)
    entry = Fields(value, "inputs", path, {"kind", "words", "weights"})
    entry.text("kind", choices=("text",))
    words, weights = _texts(entry, "words", path), entry.items("weights")
    if len(set(words)) < len(words) or len(words) != len(weights):
        raise _refusal(path, "the words of the texts are not different, each with a weight")
    if any(type(weight) not in (int, float) for weight in weights):
        raise _refusal(path, "the weights of the words are not numbers")
    return TextInputs(words, tuple(float(weight) for weight in weights))


def column_rules(inputs: Inputs) -> list[NumberRule | WordRule] | None:
    """Rules of the columns that a table has to have; None where columns have no names."""
    if isinstance(inputs, TableInputs):
        return list(inputs.table.rules)
    if isinstance(inputs, TextInputs):
        raise DatasetError(
            "the model was trained on texts, the file is a table; give a file with one text a line"
        )
    if inputs.names is None:
        return None
    return [NumberRule(name, 0.0) for name in inputs.names]


def _columns(content: Content) -> Any:
    if content and isinstance(content, tuple) and isinstance(content[0], str):
        raise DatasetError("the model was trained on features; the file holds texts")
    return content


def _sparse_rows(content: Content) -> SparseRows:
    if isinstance(content, SparseRows):
        return content
    columns = _columns(content)
    words = [column.name for column in columns if not isinstance(column, Numbers)]
    if words:
        raise DatasetError(
            f"the model was trained on numbers, but {some_names(words)} holds words; encode them "
            "as in the training data"
        )
    dense = np.column_stack([column.values for column in columns])
    return SparseRows(sp.csr_array(dense), tuple(column.name for column in columns))


def _wrong_width(found: int, expected: int) -> DatasetError:
    return DatasetError(
        f"the rows have {found} features, the model was trained on {expected}; give rows with the "
        "same features"
    )


def _placement(found: Sequence[str], wanted: Sequence[str]) -> Any:
    """Matrix that moves columns to where the model has them; others are left out."""
    place = {name: position for position, name in enumerate(found)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise DatasetError(
            f"the rows lack {some_names(missing)} of the {len(wanted)} features that the model was "
            "trained on; give rows with the same features"
        )
    rows = np.array([place[name] for name in wanted])
    return sp.csr_array(
        (np.ones(len(wanted)), (rows, np.arange(len(wanted)))), shape=(len(found), len(wanted))
    )


def _texts(entry: Fields, key: str, path: Path) -> tuple[str, ...]:
    items = entry.items(key)
    if any(not isinstance(item, str) for item in items):
        raise _refusal(path, f"{key} holds something that is no text")
    return tuple(items)


def _refusal(path: Path, found: str) -> ModelFileError:
    return ModelFileError(
        f"{path}: {found}. The file is damaged or was made by something else; train or fetch the "
        "model again."
    )
