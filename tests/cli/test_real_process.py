"""Every command in a process of its own, as from a shell: streams, exit codes, signals, kills."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

PROGRAM = Path(sysconfig.get_path("scripts")) / "protolabel"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
DEADLINE = 240


def start(*arguments, cwd, **environment):
    return subprocess.Popen(
        [sys.executable, PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | ONE_THREAD | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments, cwd, **environment):
    process = start(*arguments, cwd=cwd, **environment)
    stdout, stderr = process.communicate(timeout=DEADLINE)
    assert "Traceback" not in stderr, stderr
    return process.returncode, stdout, stderr


def wait_for_epoch(state, number, process):
    """Return once training has finished that many epochs."""
    until = time.monotonic() + DEADLINE
    while time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        epochs = [int(path.name.removeprefix("epoch-")) for path in state.glob("epoch-*")]
        if epochs and max(epochs) >= number:
            return
        time.sleep(0.01)
    raise AssertionError(f"no epoch {number} within {DEADLINE} s")


@pytest.fixture(scope="module")
def shop(tmp_path_factory, songs, new_songs):
    """A folder where a model was trained by a process of its own."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "songs.csv").write_bytes(songs.read_bytes())
    (folder / "new.csv").write_bytes(new_songs.read_bytes())
    code, stdout, stderr = run(
        *("train", "songs.csv", "--labels", "calm,happy,rare", "--model", "m", "--effort", "fast"),
        *("--set", "max_epochs=2", "--jobs", "1"),
        cwd=folder,
        NO_COLOR="1",
    )
    assert code == 0, stderr
    assert "average precision" in stdout
    assert "260 rows, 3 labels" in stderr
    # No terminal, no drawing.
    assert "\x1b" not in stdout + stderr
    return folder


def test_a_table_becomes_tags(shop):
    code, stdout, stderr = run(
        *("predict", "m", "new.csv", "--tags", "--keep", "id", "--output", "tags.csv"), cwd=shop
    )
    assert (code, stdout, stderr) == (0, "", "25 rows written to tags.csv\n")
    header, *rows = (shop / "tags.csv").read_text().splitlines()
    assert header == "id,labels"
    assert len(rows) == 25
    assert set("|".join(row.split(",")[1] for row in rows).split("|")) <= {
        *("calm", "happy", "rare", "")
    }
    code, stdout, _ = run("evaluate", "m", "new.csv", "--json", cwd=shop)
    assert code == 0
    answer = json.loads(stdout)
    assert answer["command"] == "evaluate"
    assert len(answer["result"]["metrics"]) == 5


def test_a_prediction_is_explained(shop):
    code, stdout, stderr = run(
        *("explain", "m", "new.csv", "--row", "0", "--no-flips", "--json"), cwd=shop
    )
    assert code == 0, stderr
    answer = json.loads(stdout)
    assert answer["command"] == "explain"
    explained = {label["label"] for label in answer["result"]["labels"]}
    assert explained == {"calm", "happy", "rare"}


def test_a_model_is_exported_and_refused_when_damaged(shop):
    pytest.importorskip("onnx")
    code, stdout, stderr = run("export", "m", "--onnx", "m.onnx", cwd=shop)
    assert (code, stderr) == (0, "")
    assert "6 features, 3 labels" in stdout
    damaged = shop / "damaged"
    damaged.mkdir()
    for path in (shop / "m").iterdir():
        (damaged / path.name).write_bytes(path.read_bytes()[:-1])
    code, stdout, stderr = run("model", "verify", "damaged", "--json", cwd=shop)
    assert code == 4
    assert json.loads(stdout)["error"]["exit_code"] == 4
    assert stderr.startswith("Error: ")
    assert stderr.count("\n") == 1


def test_settings_are_searched(shop):
    code, stdout, _ = run(
        *("tune", "songs.csv", "--n-labels", "3", "--method", "ml-knn"),
        *("--space", "n_neighbors=5,9", "--quiet"),
        cwd=shop,
    )
    assert code == 0
    assert stdout.splitlines()[-1].startswith("protolabel train songs.csv --n-labels 3")


def test_mistakes_end_in_one_line_with_their_exit_code(shop):
    code, stdout, stderr = run("train", "none.csv", "--model", "x", cwd=shop)
    assert (code, stdout) == (3, "")
    assert stderr == "Error: none.csv is not a file; give a data file or the name of a dataset\n"
    code, stdout, stderr = run("predict", "m", "new.csv", "--output", "songs.csv", cwd=shop)
    assert (code, stdout) == (2, "")
    assert "songs.csv exists; pass --force" in stderr
    code, stdout, _ = run("train", "songs.csv", "--modle", "x", "--json", cwd=shop)
    assert code == 2
    assert "--modle" in json.loads(stdout)["error"]["message"]
    assert not (shop / "x").exists()


def test_help_has_examples_and_completion_knows_the_commands(shop):
    _, stdout, _ = run("train", "--help", cwd=shop)
    assert "Example: protolabel train songs.csv" in stdout
    done = subprocess.run(
        [PROGRAM],
        cwd=shop,
        env=os.environ
        | {
            "_PROTOLABEL_COMPLETE": "complete_bash",
            "COMP_WORDS": "protolabel t",
            "COMP_CWORD": "1",
            "_TYPER_COMPLETE_TESTING": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["train", "tune"]


def test_doctor_and_version_answer(shop):
    code, stdout, _ = run("version", "--json", cwd=shop)
    assert code == 0
    assert json.loads(stdout)["command"] == "version"
    code, stdout, _ = run("doctor", cwd=shop, PROTOLABEL_DATA="")
    assert code == 0
    assert "extra tune" in stdout


def test_an_interrupted_and_a_killed_training_go_on_to_the_same_model(protolabel, tmp_path):
    command = [
        *("train", "yeast", "--model", "model", "--effort", "fast", "--seed", "3"),
        *("--set", "n_members=2", "--set", "max_epochs=12", "--jobs", "1"),
    ]
    state = tmp_path / "state"
    first = start(*command, "--checkpoint", "state", cwd=tmp_path)
    wait_for_epoch(state, 2, first)
    first.send_signal(signal.SIGINT)
    stdout, stderr = first.communicate(timeout=DEADLINE)
    assert (first.returncode, stdout) == (130, "")
    assert stderr.endswith("Interrupted.\n")
    assert "Traceback" not in stderr
    assert [path.name for path in tmp_path.iterdir()] == ["state"]

    second = start(*command, "--checkpoint", "state", cwd=tmp_path)
    wait_for_epoch(state, 5, second)
    second.kill()
    second.communicate(timeout=DEADLINE)
    assert second.returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["state"]

    code, _, stderr = run(*command, "--checkpoint", "state", cwd=tmp_path)
    assert code == 0
    assert "Going on from the state in state." in stderr
    assert protolabel(*command[:3], tmp_path / "whole", *command[4:]).code == 0
    for name in ("tensors.safetensors", "columns.json"):
        resumed, whole = (tmp_path / folder / name for folder in ("model", "whole"))
        if name == "tensors.safetensors":
            assert resumed.read_bytes() == whole.read_bytes()
        else:
            assert (
                json.loads(resumed.read_text())["inputs"] == json.loads(whole.read_text())["inputs"]
            )
