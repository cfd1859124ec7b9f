"""Rows like ``1,5 3:0.5 9:1``: labels, then features as index and value."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolabel.datasets.growing import GrowingCsr, order_entries
from protolabel.datasets.limits import ReadLimits
from protolabel.datasets.lines import problem_at
from protolabel.exceptions import DatasetError

_BLOCK_ENTRIES = 65_536
_NOT_NUMERIC = re.compile(r"[^0-9eE+\-.,: \t]")
_LABELS = re.compile(r"\d{1,10}(?:,\d{1,10})*,?", re.ASCII)
_FEATURE = re.compile(r"(\d{1,10}):([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)", re.ASCII)


@dataclass(frozen=True, eq=False)
class IndexValueTable:
    """The cells of such a file, before the columns are numbered from 0.

    Parameters
    ----------
    features : GrowingCsr
        Feature entries as written.
    labels : GrowingCsr
        Label entries as written.
    lowest_feature, highest_feature, highest_label : int
        Extreme indices; -1 where there is none.
    """

    features: GrowingCsr
    labels: GrowingCsr
    lowest_feature: int
    highest_feature: int
    highest_label: int


class IndexValueRows:
    """Parse such rows one by one and collect them in blocks.

    Parameters
    ----------
    path : Path
        Named in errors.
    limits : ReadLimits
        Largest index to accept.
    n_features, n_labels : int or None
        What the file declares, if it does; indices from there on are refused.
    """

    def __init__(
        self,
        path: Path,
        limits: ReadLimits,
        n_features: int | None = None,
        n_labels: int | None = None,
    ) -> None:
        self.path = path
        self.n_features = limits.max_columns if n_features is None else n_features
        self.n_labels = limits.max_columns if n_labels is None else n_labels
        self.features = GrowingCsr(np.float64)
        self.labels = GrowingCsr(np.int32)
        self.lowest_feature = -1
        self.highest_feature = -1
        self.highest_label = -1
        self.n_skipped = 0
        self._indices: list[int] = []
        self._values: list[float] = []
        self._label_list: list[int] = []
        self._features_per_row: list[int] = []
        self._labels_per_row: list[int] = []
        self._numbers: list[int] = []

    @property
    def n_rows(self) -> int:
        """Rows seen so far."""
        return self.features.n_rows + len(self._numbers)

    def add_lines(self, lines: Iterable[tuple[int, str]], *, blank_rows: bool) -> None:
        """Parse numbered lines; blank ones are rows of zeros, or are skipped and counted.

        Empty lines at the end of a file are neither: they are no content.
        """
        n_waiting = 0
        for number, line in lines:
            if not line:
                n_waiting += 1
                continue
            is_row = bool(line.strip())
            if blank_rows:
                for _ in range(n_waiting):
                    self.add(number, "")
                self.add(number, line if is_row else "")
            else:
                self.n_skipped += n_waiting + (not is_row)
                if is_row:
                    self.add(number, line)
            n_waiting = 0

    def add(self, number: int, line: str) -> None:
        """Parse one row; a line that starts with a blank or a feature has no label."""
        head, _, rest = line.partition(" ")
        if "\t" in head:
            head, _, rest = line.partition("\t")
        if ":" in head:
            head, rest = "", line
        if head:
            if not _LABELS.fullmatch(head):
                raise problem_at(
                    self.path,
                    number,
                    f"expected labels like 3,17 at the start of the row, received {head[:60]!r}",
                )
            labels = [int(label) for label in head.rstrip(",").split(",")]
            self._label_list += labels
            self._labels_per_row.append(len(labels))
        else:
            self._labels_per_row.append(0)
        tokens = rest.replace(":", " : ").split()
        n_pairs = len(tokens) // 3
        try:
            if (
                len(tokens) % 3
                or rest.count(":") != n_pairs
                or tokens[1::3].count(":") != n_pairs
                or _NOT_NUMERIC.search(rest)
            ):
                raise ValueError
            self._indices += list(map(int, tokens[::3]))
            self._values += list(map(float, tokens[2::3]))
        except ValueError as error:
            raise self._bad_feature(number, rest) from error
        self._features_per_row.append(n_pairs)
        self._numbers.append(number)
        if len(self._values) + len(self._label_list) + len(self._numbers) >= _BLOCK_ENTRIES:
            self._flush()

    def finish(self) -> IndexValueTable:
        """Return everything collected."""
        self._flush()
        return IndexValueTable(
            self.features,
            self.labels,
            self.lowest_feature,
            self.highest_feature,
            self.highest_label,
        )

    def _bad_feature(self, number: int, rest: str) -> DatasetError:
        """Say which of the features of a row is malformed."""
        wrong = next((token for token in rest.split() if not _FEATURE.fullmatch(token)), rest)
        return problem_at(
            self.path, number, f"expected features like 12:0.5, received {wrong[:60]!r}"
        )

    def _flush(self) -> None:
        n_rows = len(self._numbers)
        label_rows = np.repeat(np.arange(n_rows), self._labels_per_row)
        labels = self._checked("label", self._label_list, label_rows, self.n_labels)
        order, _ = order_entries(label_rows, labels)
        labels = labels if order is None else labels[order]
        self.labels.append(self._labels_per_row, labels, np.ones(labels.size))
        rows = np.repeat(np.arange(n_rows), self._features_per_row)
        indices = self._checked("feature", self._indices, rows, self.n_features)
        values = np.array(self._values, dtype=np.float64)
        if not np.isfinite(values).all():
            row = int(rows[int(np.flatnonzero(~np.isfinite(values))[0])])
            raise problem_at(
                self.path, self._numbers[row], "a feature is too large for a 64-bit float"
            )
        if indices.size:
            lowest = int(indices.min())
            self.lowest_feature = (
                lowest if self.lowest_feature < 0 else min(self.lowest_feature, lowest)
            )
            self.highest_feature = max(self.highest_feature, int(indices.max()))
        if labels.size:
            self.highest_label = max(self.highest_label, int(labels.max()))
        keep = values != 0
        counts = np.bincount(rows[keep], minlength=n_rows)
        self.features.append(counts, indices[keep], values[keep])
        for part in (self._indices, self._label_list, self._features_per_row):
            part.clear()
        self._values.clear()
        self._labels_per_row.clear()
        self._numbers.clear()

    def _checked(
        self, kind: str, listed: list[int], rows: NDArray[Any], n_columns: int
    ) -> NDArray[Any]:
        """Return the indices as an array; refuse those out of range and repeated ones."""
        try:
            indices = np.array(listed, dtype=np.int64)
        except OverflowError:
            indices = np.array([min(max(index, -1), n_columns) for index in listed])
        outside = np.flatnonzero((indices < 0) | (indices >= n_columns))
        if outside.size:
            cell = int(outside[0])
            raise problem_at(
                self.path,
                self._numbers[int(rows[cell])],
                f"{kind} {listed[cell]} is outside 0 to {n_columns - 1}; for features counted "
                "from 1 pass feature_base=1, or raise the limit that was given",
            )
        _, repeated = order_entries(rows, indices)
        if repeated >= 0:
            raise problem_at(
                self.path,
                self._numbers[int(rows[repeated])],
                f"{kind} {listed[repeated]} occurs twice in one row",
            )
        return indices
