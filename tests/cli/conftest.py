"""The command line called in this process as a shell would call it, and a table to train on."""

import contextlib
import io
import json
import random
import sys
from dataclasses import dataclass

import pytest

from protolabel.cli import main

SONGS_LABELS = "calm,happy,rare"
QUICK = ["--effort", "fast", "--set", "max_epochs=2", "--set", "n_members=2"]


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str

    @property
    def result(self):
        answer = json.loads(self.stdout)
        assert answer["schema"] == 1
        return answer["result"]

    @property
    def error(self):
        answer = json.loads(self.stdout)
        assert answer["result"] is None
        return answer["error"]


def unwrapped(text):
    """A message without the box that it is drawn in."""
    return " ".join(text.replace("│", " ").split())


def run_protolabel(*arguments) -> Done:
    stdout, stderr = io.StringIO(), io.StringIO()
    code = 0
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        patch.setattr(sys, "argv", ["protolabel", *map(str, arguments)])
        # Empty rather than absent, so that what --debug sets does not outlast the call.
        patch.setenv("PROTOLABEL_DEBUG", "")
        try:
            main.run()
        except SystemExit as stop:
            code = stop.code or 0
    return Done(code, stdout.getvalue(), stderr.getvalue())


def songs_rows(n_rows, seed):
    """Rows of numbers, words, yes and no, with empty cells and three labels."""
    rng = random.Random(seed)
    rows = []
    for number in range(n_rows):
        tempo, genre = rng.gauss(120, 20), rng.choice(["folk", "rock", "jazz"])
        live, loudness = rng.choice(["yes", "no"]), rng.random()
        labels = [
            int(tempo + rng.gauss(0, 5) < 115),
            int(genre == "rock" or rng.random() < 0.1),
            int(loudness > 0.8),
        ]
        cells = ["" if rng.random() < 0.05 else f"{tempo:.3f}", genre, live, f"{loudness:.4f}"]
        if rng.random() < 0.05:
            cells[1] = ""
        rows.append([number, *cells, *labels])
    return rows


def write_songs(path, n_rows, seed=0):
    lines = ["id,tempo,genre,live,loudness,calm,happy,rare"]
    lines += [",".join(map(str, row)) for row in songs_rows(n_rows, seed)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def protolabel():
    return run_protolabel


@pytest.fixture(scope="session")
def songs(tmp_path_factory):
    return write_songs(tmp_path_factory.mktemp("songs") / "songs.csv", 260)


@pytest.fixture(scope="session")
def new_songs(tmp_path_factory):
    return write_songs(tmp_path_factory.mktemp("new") / "new.csv", 25, seed=1)


@pytest.fixture(scope="session")
def songs_training(songs, tmp_path_factory):
    """A model of the songs, and what training said."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    done = run_protolabel(
        "train", songs, "--labels", SONGS_LABELS, "--model", folder, *QUICK, "--json"
    )
    assert done.code == 0, done.stderr
    return folder, done


@pytest.fixture(scope="session")
def songs_model(songs_training):
    return songs_training[0]


@pytest.fixture(scope="session")
def quick():
    return QUICK
