"""BOOMER's rules as arrays, its environment, and what goes wrong with its process."""

import os
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from protolabel.exceptions import TrainingError
from protolabel.peers import BoomerPeer
from protolabel.peers.boomer import varying_columns
from protolabel.peers.boomer_child import pack, unpack
from protolabel.peers.boomer_environment import (
    PYTHON_VARIABLE,
    create_boomer_environment,
    environment_folder,
    find_boomer_python,
)
from protolabel.peers.rules import RuleEnsemble


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.delenv(PYTHON_VARIABLE, raising=False)
    monkeypatch.setenv("PROTOLABEL_CACHE", str(tmp_path))
    return tmp_path


def random_rules(rng, n_rules=40, n_conditions=70, n_features=5, n_labels=3):
    return RuleEnsemble(
        rule=rng.integers(1, n_rules, size=n_conditions),
        feature=rng.integers(n_features, size=n_conditions),
        threshold=rng.normal(size=n_conditions).astype(np.float32),
        is_greater=rng.random(n_conditions) < 0.5,
        heads=sp.csr_array(rng.normal(size=(n_rules, n_labels)) * (rng.random((n_rules, 1)) < 0.8)),
    )


def scores_by_loops(rules, X):
    scores = np.zeros((len(X), rules.heads.shape[1]))
    for i, row in enumerate(X.astype(np.float32)):
        for number, head in enumerate(rules.heads.toarray()):
            conditions = np.flatnonzero(rules.rule == number)
            if all(
                (row[rules.feature[c]] > rules.threshold[c]) == rules.is_greater[c]
                for c in conditions
            ):
                scores[i] += head
    return scores


def test_rule_scores_are_sums_of_the_heads_that_cover_a_row():
    rng = np.random.default_rng(0)
    rules, X = random_rules(rng), rng.normal(size=(30, 5))
    assert_allclose(rules.scores(X), scores_by_loops(rules, X))
    X[np.abs(X) < 0.7] = 0
    assert_allclose(rules.scores(sp.csr_array(X)), scores_by_loops(rules, X))


def test_rows_are_scored_alike_in_chunks(monkeypatch):
    rng = np.random.default_rng(1)
    rules, X = random_rules(rng), rng.normal(size=(30, 5))
    expected = rules.scores(X)
    monkeypatch.setattr("protolabel.peers.rules._CHUNK_CELLS", 500)
    assert_allclose(rules.scores(X), expected)


def test_a_condition_compares_in_single_precision():
    rules = RuleEnsemble(
        rule=np.array([0]),
        feature=np.array([0]),
        threshold=np.array([0.1], dtype=np.float32),
        is_greater=np.array([True]),
        heads=sp.csr_array([[1.0]]),
    )
    # In double precision 0.1 differs from the threshold.
    assert rules.scores(np.array([[0.1]])).tolist() == [[0.0]]


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_a_matrix_survives_the_exchange_file(tmp_path, convert):
    matrix = convert(np.array([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]]))
    np.savez(tmp_path / "rows.npz", **pack("X", matrix))
    with np.load(tmp_path / "rows.npz", allow_pickle=False) as arrays:
        found = unpack(arrays, "X")
    assert sp.issparse(found) == sp.issparse(matrix)
    assert_array_equal(*(m.toarray() if sp.issparse(m) else m for m in (found, matrix)))


def test_an_environment_without_boomer_is_reported_with_its_exit_code(labelled, monkeypatch):
    monkeypatch.setenv(PYTHON_VARIABLE, sys.executable)
    with pytest.raises(TrainingError, match=r"(?s)exit code 1 .*No module named 'mlrl'"):
        BoomerPeer().fit(*labelled)


def test_a_wrong_interpreter_is_reported(labelled, monkeypatch, tmp_path):
    monkeypatch.setenv(PYTHON_VARIABLE, str(tmp_path / "python"))
    with pytest.raises(ImportError, match=f"{PYTHON_VARIABLE}=.* is not a file"):
        BoomerPeer().fit(*labelled)


def test_an_empty_cache_has_no_environment(empty_cache):
    assert find_boomer_python() is None
    assert environment_folder().is_relative_to(empty_cache)


def test_a_failing_installation_is_explained_and_leaves_nothing(labelled, monkeypatch, empty_cache):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(empty_cache))
    with pytest.raises(ImportError, match=r"(?s)mlrl-boomer==.*exit code 1.*set PROTOLABEL_BOOMER"):
        BoomerPeer().fit(*labelled)
    assert find_boomer_python() is None
    assert list(environment_folder().parent.iterdir()) == []


def test_an_installation_that_takes_too_long_is_stopped(empty_cache):
    with pytest.raises(ImportError, match=r"took more than 0\.01 s"):
        create_boomer_environment(timeout=0.01)
    assert list(environment_folder().parent.iterdir()) == []


def test_an_environment_that_is_there_is_not_made_again(empty_cache, monkeypatch):
    python = environment_folder() / (
        "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    )
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert create_boomer_environment() == python == find_boomer_python()


@pytest.mark.usefixtures("boomer")
def test_a_slow_process_is_stopped(labelled):
    with pytest.raises(TrainingError, match=r"after timeout=0.05 s; raise timeout or lower"):
        BoomerPeer(timeout=0.05).fit(*labelled)


@pytest.mark.usefixtures("boomer")
def test_no_more_rules_are_learned_than_asked_for(labelled):
    model = BoomerPeer(12, random_state=0).fit(*labelled)
    assert model.model_.heads.shape == (12, 3)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_columns_that_tell_no_rows_apart_are_known(convert):
    X = np.array([[0.0, 2.0, 1.0, -1.0, 0.0], [0.0, 2.0, 0.0, 0.0, 3.0]])
    assert varying_columns(convert(X)).tolist() == [2, 3, 4]
    assert varying_columns(convert(X[:, :2])).tolist() == [0]
    assert varying_columns(convert(X[:1])).tolist() == [0]


@pytest.mark.usefixtures("boomer")
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_constant_columns_do_not_end_the_learning(labelled, convert):
    """A draw of columns that are all constant would end it after a rule or two."""
    X, Y = labelled
    wide = np.zeros((len(X), 500))
    places = np.arange(X.shape[1]) * 90 + 7
    wide[:, places] = X
    plain = BoomerPeer(40, random_state=0).fit(convert(X), Y)
    model = BoomerPeer(40, random_state=0).fit(convert(wide), Y)
    assert model.model_.heads.shape[0] == 40
    assert set(model.model_.feature) <= set(places)
    assert_array_equal(model.decision_function(convert(wide)), plain.decision_function(convert(X)))


@pytest.mark.usefixtures("boomer")
def test_prediction_needs_no_process(labelled, monkeypatch):
    X, Y = labelled
    model = BoomerPeer(12, random_state=0).fit(X, Y)
    expected = model.predict(X)
    monkeypatch.setenv(PYTHON_VARIABLE, "nowhere")
    assert_array_equal(model.predict(X), expected)


@pytest.mark.usefixtures("boomer")
def test_rules_that_score_unlike_boomer_are_refused(labelled, monkeypatch):
    scores = RuleEnsemble.scores
    monkeypatch.setattr(RuleEnsemble, "scores", lambda rules, X: scores(rules, X) + 0.01)
    with pytest.raises(TrainingError, match="other scores than BOOMER itself"):
        BoomerPeer(12, random_state=0).fit(*labelled)


@pytest.mark.skipif(
    os.environ.get("PROTOLABEL_INSTALL_BOOMER") != "1",
    reason="installs packages; set PROTOLABEL_INSTALL_BOOMER=1 to run it",
)
def test_the_first_fit_installs_the_environment(empty_cache, labelled):
    X, Y = labelled
    model = BoomerPeer(60, random_state=0).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.85
    assert find_boomer_python().is_relative_to(empty_cache)
    assert [folder.name for folder in environment_folder().parent.iterdir()] == [
        environment_folder().name
    ]
