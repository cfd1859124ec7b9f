"""BOOMER: gradient boosted multi-label rules."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.exceptions import TrainingError
from protolabel.peers import boomer_child
from protolabel.peers.base import PeerClassifier, check_count, check_positive
from protolabel.peers.boomer_environment import create_boomer_environment, find_boomer_python
from protolabel.peers.rules import RuleEnsemble
from protolabel.preprocessing.features import Matrix, Scaling

_CHECK_ROWS = 100


class BoomerPeer(PeerClassifier):
    """Gradient boosted multi-label rules of the package mlrl-boomer.

    The package needs an older scikit-learn than this library, so it runs as a process in a
    virtual environment of its own, which the first fit installs into the cache; see
    :func:`protolabel.peers.boomer_environment.create_boomer_environment`. The process gets the
    rows and returns the learned rules, both as plain arrays without pickles. Rules are simple
    enough to apply here, so that prediction needs no process; each fit compares the scores of
    some rows with those that BOOMER gives them itself.

    The loss is the logistic loss of each label, whose scores are log-odds.

    A fit takes a second more than BOOMER itself, so scikit-learn's checks of this class are
    run only on request, with ``PROTOLABEL_CHECK_BOOMER=1``; our own run wherever BOOMER has its
    environment.

    Parameters
    ----------
    n_rules : int, default=1000
        Number of rules, the default rule among them.
    shrinkage : float, default=0.3
        What the head of each rule is multiplied with, at most one.
    timeout : float or None, default=None
        Seconds that the process may take; None for no limit.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="none"
        Input scaling; rules need none.
    random_state : int, RandomState instance or None, default=None
        Seed of the feature samples.

    Attributes
    ----------
    model_ : RuleEnsemble
        The rules.

    References
    ----------
    M. Rapp, E. Loza Mencía, J. Fürnkranz, V.-L. Nguyen, E. Hüllermeier: Learning Gradient
    Boosted Multi-label Classification Rules. ECML PKDD 2020.

    Examples
    --------
    >>> BoomerPeer(n_rules=100, random_state=0).n_rules
    100
    """

    def __init__(
        self,
        n_rules: int = 1000,
        *,
        shrinkage: float = 0.3,
        timeout: float | None = None,
        feature_scaling: Scaling = "none",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_rules = n_rules
        self.shrinkage = shrinkage
        self.timeout = timeout
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_rules", self.n_rules)
        check_positive("shrinkage", self.shrinkage, largest=1.0)
        if self.timeout is not None:
            check_positive("timeout", self.timeout)

    def _train(self, X: Matrix, Y: sp.csr_array, seed: int) -> RuleEnsemble:
        python = find_boomer_python() or create_boomer_environment()
        # BOOMER works in single precision; thresholds between its values need the same here.
        X = X.astype(np.float32)
        # It draws a few columns for each rule, and stops learning where all of them are constant.
        columns = varying_columns(X)
        X = X[:, columns]
        settings = {
            "random_state": seed,
            "max_rules": self.n_rules,
            "shrinkage": self.shrinkage,
            "loss": "logistic-decomposable",
            "parallel_rule_refinement": "false",
            "parallel_statistic_update": "false",
            "parallel_prediction": "false",
            "n_check_rows": _CHECK_ROWS,
        }
        with tempfile.TemporaryDirectory(prefix="protolabel-boomer-") as name:
            folder = Path(name)
            arrays = boomer_child.pack("X", X) | boomer_child.pack("Y", Y.astype(np.uint8))
            np.savez(folder / "rows.npz", **arrays)  # type: ignore[arg-type]
            (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
            _run_child(python, folder, self.timeout)
            with np.load(folder / "rules.npz", allow_pickle=False) as answer:
                rules = _read_rules(answer)
                expected = answer["check_scores"]
        _check_scores(rules.scores(X[:_CHECK_ROWS]), expected)
        return replace(rules, feature=columns[rules.feature])

    def _model_scores(self, X: Matrix) -> np.ndarray:
        return self.model_.scores(X)  # type: ignore[no-any-return]


def varying_columns(X: Matrix) -> np.ndarray:
    """Columns that tell rows apart, in rising order, or the first one where none does.

    Examples
    --------
    >>> varying_columns(np.array([[1.0, 0.0, 2.0], [1.0, 3.0, 2.0]])).tolist()
    [1]
    """
    largest, smallest = (end.toarray() if sp.issparse(end) else end for end in (X.max(0), X.min(0)))
    varying = np.flatnonzero(largest != smallest)
    return varying if len(varying) else np.zeros(1, dtype=np.int64)


def _run_child(python: Path, folder: Path, timeout: float | None) -> None:
    """Train in BOOMER's environment, isolated from the paths of this one."""
    command = [str(python), "-I", str(Path(boomer_child.__file__)), str(folder)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TrainingError(
            f"BOOMER was stopped after timeout={timeout:g} s; raise timeout or lower n_rules."
        ) from error
    if done.returncode:
        raise TrainingError(
            f"BOOMER ended with exit code {done.returncode} in {python}: "
            f"{done.stderr.strip()[-1000:]}"
        )


def _read_rules(answer: Any) -> RuleEnsemble:
    return RuleEnsemble(
        rule=answer["rule"],
        feature=answer["feature"],
        threshold=answer["threshold"],
        is_greater=answer["is_greater"],
        heads=boomer_child.unpack(answer, "heads"),
    )


def _check_scores(scores: np.ndarray, expected: np.ndarray) -> None:
    """Refuse rules that do not give the scores that BOOMER gives."""
    if scores.shape != expected.shape or not np.allclose(scores, expected, rtol=1e-6, atol=1e-6):
        raise TrainingError(
            "the rules received from BOOMER give other scores than BOOMER itself; the version in "
            "its environment may store rules in another way than the one this was written for."
        )
