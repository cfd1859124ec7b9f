"""A model folder is whole whatever happens to the process that writes it."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from persistence.conftest import labelled_rows
from protolabel.persistence import load_model, save_model
from protolabel.safefiles import folder as folders


@contextmanager
def killed_saves(*arguments: str) -> Iterator[Iterator[str]]:
    """Lines of the killing program; the next child starts when the next line is asked for."""
    program = Path(__file__).with_name("killed_saves.py")
    process = subprocess.Popen(
        [sys.executable, str(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def lines() -> Iterator[str]:
        for line in process.stdout:
            yield line.strip()
            process.stdin.write("\n")
            process.stdin.flush()

    try:
        yield lines()
    finally:
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def mark_of(folder: Path, model) -> int:
    """Check that a folder holds the whole model, and tell which save it is from."""
    X, _ = labelled_rows()
    np.testing.assert_array_equal(load_model(folder).predict_proba(X), model.predict_proba(X))
    assert {path.name for path in folder.iterdir()} == {"manifest.json", "tensors.safetensors"}
    return json.loads((folder / "manifest.json").read_text())["metrics"]["mark"]


@pytest.mark.parametrize("replaces", [True, False], ids=["replacing", "new"])
def test_a_save_killed_at_any_step_leaves_a_whole_model_or_none(
    replaces, tiny_model, saved_model, tmp_path
):
    target = tmp_path / "model"
    steps, last = [], 0
    if replaces:
        save_model(tiny_model, target, metrics={"mark": last})
    with killed_saves(str(saved_model), str(target), "each-step") as lines:
        for line in lines:
            steps.append(line)
            if replaces:
                # Exchanged in one step: there is always a model, the one before or the new one.
                mark = mark_of(target, tiny_model)
                assert mark in (last, len(steps))
                last = mark
            elif target.exists():
                assert mark_of(target, tiny_model) == len(steps)
                shutil.rmtree(target)
    assert steps[-1] == "finished"
    assert len(steps) > 10


def test_a_replacing_save_killed_at_random_never_leaves_half_a_model(
    tiny_model, saved_model, tmp_path
):
    target = tmp_path / "model"
    save_model(tiny_model, target, metrics={"mark": 0})
    marks = []
    with killed_saves(str(saved_model), str(target), "random", "40", "0") as lines:
        marks.extend(mark_of(target, tiny_model) for _ in lines)
    assert len(marks) == 40
    assert len(set(marks)) > 1


def test_where_folders_cannot_be_exchanged_they_are_moved(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_exchange", lambda *_: False)
    save_model(tiny_model, tmp_path / "model", metrics={"mark": 1})
    save_model(tiny_model, tmp_path / "model", metrics={"mark": 2}, force=True)
    assert mark_of(tmp_path / "model", tiny_model) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
