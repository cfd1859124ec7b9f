"""From collected index:value rows to a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from protolabel.datasets.dataset import MultiLabelDataset, Provenance
from protolabel.datasets.lines import problem_at
from protolabel.datasets.names import NumberedNames
from protolabel.datasets.readers.index_value_rows import IndexValueRows, IndexValueTable
from protolabel.datasets.readers.mulan import stem_of


def to_dataset(
    path: Path,
    rows: IndexValueRows,
    *,
    name: str | None,
    feature_base: int | None,
    n_features: int | None,
    n_labels: int | None,
) -> MultiLabelDataset:
    """Number columns from 0 and wrap up."""
    table = rows.finish()
    notes: tuple[str, ...] = ()
    if feature_base is None:
        feature_base = 1 if table.lowest_feature >= 1 else 0
        notes = (f"features are taken to be counted from {feature_base}",)
    if rows.n_skipped:
        notes += (f"{rows.n_skipped} blank lines, without labels and features, were skipped",)
    if n_features is None:
        n_features = max(table.highest_feature + 1 - feature_base, 0)
    elif table.highest_feature - feature_base >= n_features:
        raise problem_at(
            path, 1, f"feature {table.highest_feature} does not fit into {n_features} columns"
        )
    if n_labels is None:
        n_labels = table.highest_label + 1
    if table.lowest_feature >= 0 and table.lowest_feature < feature_base:
        raise problem_at(path, 1, "feature 0 occurs although features are counted from 1")
    X, Y = _to_matrices(table, feature_base, n_features, n_labels)
    return MultiLabelDataset(
        name=name or stem_of(path),
        X=X,
        Y=Y,
        feature_names=NumberedNames("x", n_features),
        label_names=NumberedNames("label", n_labels),
        provenance=Provenance(source=str(path), notes=notes),
    )


def _to_matrices(
    table: IndexValueTable, feature_base: int, n_features: int, n_labels: int
) -> tuple[Any, Any]:
    """Number the features from 0 and build both matrices."""
    X = table.features.finish(n_features + feature_base)
    if feature_base:
        X.indices -= feature_base
        X.resize((X.shape[0], n_features))
    return X, table.labels.finish(n_labels)
