"""Training that was interrupted ends with the model of training that was not."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from persistence.training_task import task
from protolabel import PNMLClassifier
from protolabel.exceptions import ModelFileError
from protolabel.persistence import load_model
from protolabel.pnml.callbacks import Callback

QUICK = {
    "embedding_dim": 4,
    "max_epochs": 5,
    "batch_size": 32,
    "n_trees": 3,
    "n_landmarks": 5,
    "random_state": 0,
}
CONFIGURATIONS = {
    "recommended": {},
    "single_on_sparse": {"prototypes": "single"},
    "paper": {
        "prototype_update": "epoch",
        "correlation_penalty": 1e-3,
        "schedule": "constant",
        "metric_penalty": 1e-3,
        "n_members": 1,
    },
    "step": {"prototypes": "multiple", "prototype_update": "step", "n_members": 2},
    "sampled_support": {
        "prototypes": "single",
        "prototype_update": "step",
        "positive_rate": 0.5,
        "support_size": 60,
        "n_members": 2,
    },
    "held_prototypes": {
        "prototypes": "multiple",
        "prototype_update": "epoch",
        "prototype_interval": 3,
        "n_members": 2,
    },
    "trained_variance": {"prototypes": "multiple", "cluster_variance": "trainable"},
    "pnml_i": {"shared_embedding": False, "n_members": 2},
    "early_stopping": {"early_stopping": True, "n_iter_no_change": 1, "learning_rate": 0.1},
}


class InterruptionError(Exception):
    pass


class InterruptAt(Callback):
    """Break off after the update of an epoch and before its state is kept."""

    def __init__(self, epoch):
        self.epoch = epoch

    def on_epoch_end(self, record):
        if record.epoch == self.epoch:
            raise InterruptionError


def rows(name="dense"):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 6))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(90, 3)) > 0.2).astype(int)
    return (sp.csr_array(np.maximum(X, 0)) if "sparse" in name else X), Y


def fit_interrupted(model, X, Y, folder, epoch):
    interrupted = clone(model).set_params(callbacks=[InterruptAt(epoch)])
    with pytest.raises(InterruptionError):
        interrupted.fit(X, Y, checkpoint_dir=folder)


def assert_same_training(found, expected, X):
    for name, tensor in expected.model_.network.state_dict().items():
        np.testing.assert_array_equal(found.model_.network.state_dict()[name], tensor)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(found.thresholds_, expected.thresholds_)
    timeless = [
        tuple(replace(record, seconds=0.0) for record in model.history_)
        for model in (found, expected)
    ]
    assert timeless[0] == timeless[1]


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_an_interrupted_fit_ends_as_an_undisturbed_one(name, tmp_path):
    X, Y = rows(name)
    model = PNMLClassifier(**(QUICK | CONFIGURATIONS[name]))
    expected = clone(model).fit(X, Y)
    n_epochs = len(expected.history_)
    for epoch in {n_epochs // 2, n_epochs - 2, n_epochs - 1}:
        fit_interrupted(model, X, Y, tmp_path / "state", epoch)
    continued = clone(model).fit(X, Y, checkpoint_dir=tmp_path / "state")
    assert_same_training(continued, expected, X)


def test_a_fit_that_ended_is_not_trained_again(tmp_path):
    X, Y = rows()
    model = PNMLClassifier(**QUICK)
    expected = clone(model).fit(X, Y, checkpoint_dir=tmp_path)
    again = clone(model).set_params(callbacks=[InterruptAt(e) for e in range(5)])
    assert_same_training(again.fit(X, Y, checkpoint_dir=str(tmp_path)), expected, X)
    assert again.history_ == expected.history_
    assert os.listdir(tmp_path) == ["epoch-00005"]


def test_checkpoints_do_not_change_the_model(tmp_path):
    X, Y = rows()
    model = PNMLClassifier(**QUICK)
    kept = clone(model).fit(X, Y, checkpoint_dir=tmp_path)
    assert_same_training(kept, clone(model).fit(X, Y), X)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"learning_rate": 0.01}, "settings"),
        ({"n_trees": 4}, "options"),
        ({"random_state": 1}, "seed"),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(change, named, tmp_path):
    X, Y = rows()
    model = PNMLClassifier(**QUICK)
    fit_interrupted(model, X, Y, tmp_path, epoch=2)
    with pytest.raises(ModelFileError, match=f"another run; different: .*{named}.*checkpoint_dir"):
        model.set_params(**change).fit(X, Y, checkpoint_dir=tmp_path)


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    X, Y = rows()
    model = PNMLClassifier(**QUICK)
    fit_interrupted(model, X, Y, tmp_path, epoch=2)
    X[0, 0] += 1
    with pytest.raises(ModelFileError, match=r"different: features\. "):
        model.fit(X, Y, checkpoint_dir=tmp_path)
    Y[0, 0] = 1 - Y[0, 0]
    with pytest.raises(ModelFileError, match=r"different: features, labels\. "):
        model.fit(X, Y, checkpoint_dir=tmp_path)


def test_a_fit_without_a_seed_continues_with_that_of_the_checkpoint(tmp_path):
    X, Y = rows()
    model = PNMLClassifier(**(QUICK | {"random_state": None}))
    fit_interrupted(model, X, Y, tmp_path, epoch=2)
    first = clone(model).fit(X, Y, checkpoint_dir=tmp_path)
    second = clone(model).fit(X, Y, checkpoint_dir=tmp_path)
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_a_damaged_checkpoint_is_refused(tmp_path):
    X, Y = rows()
    model = PNMLClassifier(**QUICK)
    fit_interrupted(model, X, Y, tmp_path, epoch=2)
    tensors = tmp_path / "epoch-00002" / "tensors.safetensors"
    intact = tensors.read_bytes()
    for position in (0, 9, len(intact) - 1):
        damaged = bytearray(intact)
        damaged[position] ^= 1
        tensors.write_bytes(bytes(damaged))
        with pytest.raises(ModelFileError, match="epoch-00002"):
            model.fit(X, Y, checkpoint_dir=tmp_path)


def test_a_model_is_no_checkpoint(saved_model, tmp_path):
    shutil.copytree(saved_model, tmp_path / "epoch-00001")
    X, Y = rows()
    with pytest.raises(ModelFileError, match="protolabel-checkpoint"):
        PNMLClassifier(**QUICK).fit(X, Y, checkpoint_dir=tmp_path)


def test_what_killed_writers_left_behind_is_removed(tmp_path):
    left = tmp_path / f".epoch-00002.{'0' * 32}.tmp"
    left.mkdir()
    mine = tmp_path / "notes"
    mine.mkdir()
    X, Y = rows()
    PNMLClassifier(**QUICK).fit(X, Y, checkpoint_dir=tmp_path)
    assert not left.exists()
    assert mine.exists()


def test_a_checkpoint_holds_no_training_row(tmp_path):
    X, Y = rows()
    fit_interrupted(PNMLClassifier(**QUICK), X, Y, tmp_path, epoch=2)
    content = b"".join(p.read_bytes() for p in (tmp_path / "epoch-00002").iterdir())
    assert X[0].tobytes() not in content
    assert X[0].astype(np.float32).tobytes() not in content


def test_training_killed_again_and_again_ends_with_the_same_model(tmp_path):
    program = Path(__file__).with_name("killed_training.py")
    paths = os.pathsep.join([str(program.parent.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path / "state"), str(tmp_path / "model"), "0"],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert int(done.stdout) > 1
    model, X, Y = task()
    assert_same_training(load_model(tmp_path / "model"), model.fit(X, Y), X)
