"""What runs inside BOOMER's own environment: numpy, scipy and mlrl-boomer, nothing of ours.

Called as a script with a folder. ``rows.npz`` and ``settings.json`` in it are the task, and
``rules.npz`` becomes the answer: the learned rules as plain arrays.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


def main(folder: Path) -> None:
    """Train on the rows in a folder and write the rules there."""
    from mlrl.boosting import BoomerClassifier  # type: ignore[import-not-found]  # noqa: PLC0415

    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    with np.load(folder / "rows.npz", allow_pickle=False) as arrays:
        X = unpack(arrays, "X")
        Y = unpack(arrays, "Y")
    check_rows = X[: settings.pop("n_check_rows")]
    model = BoomerClassifier(**settings).fit(X, Y)
    rules = collect_rules(model.model_, Y.shape[1])
    rules["check_scores"] = model.predict(check_rows, predict_scores=True)
    np.savez(folder / "rules.npz", **rules)  # type: ignore[arg-type]


def pack(name: str, matrix: Any) -> dict[str, np.ndarray]:
    """Arrays of a dense or CSR matrix, under names that begin with its own."""
    if not sp.issparse(matrix):
        return {name: np.asarray(matrix)}
    return {
        f"{name}_data": matrix.data,
        f"{name}_indices": matrix.indices,
        f"{name}_indptr": matrix.indptr,
        f"{name}_shape": np.asarray(matrix.shape),
    }


def unpack(arrays: Any, name: str) -> Any:
    """Return the matrix whose arrays :func:`pack` made."""
    if name in arrays:
        return arrays[name]
    parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sp.csr_array(parts, shape=tuple(arrays[f"{name}_shape"].tolist()))


def collect_rules(model: Any, n_labels: int) -> dict[str, np.ndarray]:
    """Conditions and heads of all rules in use."""
    from mlrl.common.cython.rule_model import (  # type: ignore[import-not-found]  # noqa: PLC0415
        RuleModelVisitor,
    )

    conditions: list[tuple[int, int, float, bool]] = []
    heads: list[np.ndarray] = []

    class Collector(RuleModelVisitor):
        """Bodies come before their heads, so the number of heads is the number of the rule."""

        def visit_empty_body(self, _body: Any) -> None:
            pass

        def visit_conjunctive_body(self, body: Any) -> None:
            for kind, is_greater in (("leq", False), ("gr", True)):
                features = getattr(body, f"numerical_{kind}_indices")
                thresholds = getattr(body, f"numerical_{kind}_thresholds")
                if features is not None:
                    conditions.extend(
                        (len(heads), int(feature), float(threshold), is_greater)
                        for feature, threshold in zip(features, thresholds, strict=True)
                    )

        def visit_complete_head(self, head: Any) -> None:
            heads.append(np.array(head.scores, dtype=np.float64))

        def visit_partial_head(self, head: Any) -> None:
            scores = np.zeros(n_labels)
            scores[np.asarray(head.indices)] = head.scores
            heads.append(scores)

    model.visit_used(Collector())
    rule, feature, threshold, is_greater = zip(*conditions, strict=True) if conditions else [()] * 4
    return {
        "rule": np.array(rule, dtype=np.int64),
        "feature": np.array(feature, dtype=np.int64),
        "threshold": np.array(threshold, dtype=np.float32),
        "is_greater": np.array(is_greater, dtype=bool),
        **pack("heads", sp.csr_array(np.array(heads).reshape(-1, n_labels))),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
