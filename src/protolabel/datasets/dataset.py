"""The one shape every dataset takes, wherever it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from protolabel.datasets.names import NumberedNames
from protolabel.datasets.summary import DatasetSummary, summarise
from protolabel.exceptions import DatasetError

# scipy ships no type information: a CSR matrix is Any for the type checker.
Matrix: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of a predefined split, as 0-based row numbers.

    Parameters
    ----------
    train : ndarray of int
        Rows to learn from.
    test : ndarray of int
        Rows to score on.
    validation : ndarray of int, default=None
        Rows to tune on, where the source has such a part.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    validation: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Provenance:
    """Where a dataset came from and what was done to it.

    Parameters
    ----------
    source : str
        File, package or generator that the values were taken from.
    citation : str, default=""
        Publication to cite.
    licence : str, default=""
        Licence stated by the source, if any.
    notes : tuple of str, default=()
        What reading changed: columns encoded or dropped, repairs, oddities.
    is_synthetic : bool, default=False
        True when a generator made the values.
    """

    source: str
    citation: str = ""
    licence: str = ""
    notes: tuple[str, ...] = ()
    is_synthetic: bool = False


@dataclass(frozen=True, eq=False)
class MultiLabelDataset:
    """Features, labels and their names.

    Parameters
    ----------
    name : str
        Short name of the dataset.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Features as float64; NaN marks a missing value.
    Y : CSR matrix of shape (n_samples, n_labels)
        Labels as 0 and 1.
    feature_names : sequence of str
        One name a column of X.
    label_names : sequence of str
        One name a column of Y, all different.
    split : Split, default=None
        The split predefined by the source.
    provenance : Provenance
        Where the values came from.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from protolabel.datasets import MultiLabelDataset
    >>> toy = MultiLabelDataset(
    ...     name="toy",
    ...     X=np.array([[0.5, 1.0], [2.0, 0.0]]),
    ...     Y=sparse.csr_matrix([[1, 0], [1, 1]]),
    ...     feature_names=("width", "height"),
    ...     label_names=("red", "blue"),
    ... )
    >>> toy.summary().cardinality
    1.5
    """

    name: str
    X: Matrix
    Y: Matrix
    feature_names: Sequence[str]
    label_names: Sequence[str]
    split: Split | None = None
    provenance: Provenance = field(default_factory=lambda: Provenance(source="memory"))

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        if not (sparse.issparse(self.Y) and self.Y.format == "csr"):
            raise TypeError(
                f"Y of dataset {self.name!r} is a {type(self.Y).__name__}; pass a CSR matrix, "
                "for example scipy.sparse.csr_matrix(Y)"
            )
        x_is_csr = sparse.issparse(self.X) and self.X.format == "csr"
        if not (x_is_csr or isinstance(self.X, np.ndarray)) or self.X.ndim != 2:
            raise TypeError(
                f"X of dataset {self.name!r} is a {type(self.X).__name__}; pass a two-dimensional "
                "ndarray or a CSR matrix"
            )
        if self.X.shape[0] != self.Y.shape[0]:
            raise DatasetError(
                f"dataset {self.name!r}: X has {self.X.shape[0]} rows and Y has "
                f"{self.Y.shape[0]}; both need one row a sample"
            )
        for part, names, width in (
            ("feature", self.feature_names, self.X.shape[1]),
            ("label", self.label_names, self.Y.shape[1]),
        ):
            if len(names) != width:
                raise DatasetError(
                    f"dataset {self.name!r}: {len(names)} {part} names for {width} columns; "
                    "give one name a column"
                )
        # What looks at stored cells alone takes each of them for one of its own.
        for part in ("X", "Y"):
            object.__setattr__(self, part, _each_cell_once(getattr(self, part)))
        if not (self.Y.data == 1).all():
            raise DatasetError(f"dataset {self.name!r}: Y holds values other than 0 and 1")
        _refuse_repeated_labels(self.name, self.label_names)
        _check_split(self.name, self.split, self.X.shape[0])

    def __repr__(self) -> str:
        """Name and size, never the values."""
        kind = "sparse" if sparse.issparse(self.X) else "dense"
        tag = "synthetic " if self.provenance.is_synthetic else ""
        return (
            f"<{tag}MultiLabelDataset {self.name!r}: {self.X.shape[0]} samples, "
            f"{self.X.shape[1]} {kind} features, {self.Y.shape[1]} labels>"
        )

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of columns of Y."""
        return int(self.Y.shape[1])

    def summary(self) -> DatasetSummary:
        """Return the usual statistics of a multi-label dataset.

        Returns
        -------
        DatasetSummary
            Sizes, cardinality, density, label sets, positives per label, imbalance.
        """
        return summarise(self.name, self.X, self.Y)


def _each_cell_once(matrix: Matrix) -> Matrix:
    """A CSR matrix without cells that are stored twice, or hold a zero; dense ones as they are."""
    if not sparse.issparse(matrix):
        return matrix
    if matrix.has_canonical_format and matrix.data.all():
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _refuse_repeated_labels(name: str, label_names: Sequence[str]) -> None:
    """Two labels of one name could not be told apart in any report."""
    if isinstance(label_names, NumberedNames) or len(set(label_names)) == len(label_names):
        return
    seen: set[str] = set()
    for label in label_names:
        if label in seen:
            raise DatasetError(
                f"dataset {name!r}: label {label!r} occurs more than once; rename one of the two"
            )
        seen.add(label)


def _check_split(name: str, split: Split | None, n_samples: int) -> None:
    """Every row number of a split has to exist."""
    if split is None:
        return
    for part in (split.train, split.test, split.validation):
        if part is not None and part.size and not 0 <= part.min() <= part.max() < n_samples:
            raise DatasetError(
                f"dataset {name!r}: its split names row {int(part.max())} of {n_samples} rows"
            )
