"""``protolabel predict``: from the raw table to names, numbers or probabilities."""

import csv
import gzip
import io
import os
import sys
import tempfile
import threading

import numpy as np
import pytest

from protolabel import PNMLClassifier
from protolabel.persistence import load_model, save_model

NAMES = ["calm", "happy", "rare"]


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def by_hand(songs_model, new_songs):
    """Probabilities of the new songs, encoded here by what the model folder says."""
    import json

    columns = json.loads((songs_model / "columns.json").read_text())["inputs"]["columns"]
    X = []
    with new_songs.open() as file:
        for row in csv.DictReader(file):
            x = []
            for column in columns:
                cell = {"yes": "1", "no": "0"}.get(row[column["column"]], row[column["column"]])
                if "words" in column:
                    x += [float(cell == word) for word in column["words"]]
                else:
                    x.append(float(cell) if cell else column["fill"])
            X.append(x)
    model = load_model(songs_model)
    del model.feature_names_in_
    return model.predict_proba(np.array(X)), model.predict(np.array(X))


def test_decisions_and_probabilities_are_those_of_the_model(protolabel, songs_model, new_songs):
    probabilities, decisions = by_hand(songs_model, new_songs)
    done = protolabel("predict", songs_model, new_songs)
    assert (done.code, done.stderr) == (0, "")
    header, *rows = rows_of(done.stdout)
    assert header == NAMES
    assert np.array_equal(np.array(rows, dtype=int), decisions)
    _, *rows = rows_of(protolabel("predict", songs_model, new_songs, "--proba").stdout)
    assert np.array(rows, dtype=float) == pytest.approx(probabilities, rel=1e-4, abs=1e-6)


def test_tags_are_named_likeliest_first(protolabel, songs_model, new_songs):
    probabilities, decisions = by_hand(songs_model, new_songs)
    done = protolabel("predict", songs_model, new_songs, "--tags", "--keep", "id,genre")
    header, *rows = rows_of(done.stdout)
    assert header == ["id", "genre", "labels"]
    for position, (number, _, tags) in enumerate(rows):
        assert number == str(position)
        order = np.argsort(-probabilities[position], kind="stable")
        expected = [NAMES[place] for place in order if decisions[position, place]]
        assert tags == "|".join(expected)


def test_top_k_and_threshold_choose_by_probability(protolabel, songs_model, new_songs):
    probabilities, _ = by_hand(songs_model, new_songs)
    best = protolabel("predict", songs_model, new_songs, "--top-k", 2, "--json").result
    for tags, row in zip(best["rows"], probabilities, strict=True):
        assert tags == [NAMES[place] for place in np.argsort(-row, kind="stable")[:2]]
    limited = protolabel(
        "predict", songs_model, new_songs, "--top-k", 2, "--threshold", 0.6, "--json"
    ).result
    for tags, row in zip(limited["rows"], probabilities, strict=True):
        assert len(tags) == min(2, (row >= 0.6).sum())
    decided = protolabel("predict", songs_model, new_songs, "--threshold", 0.3, "--json").result
    assert np.array_equal(decided["rows"], probabilities >= 0.3)


def test_the_order_of_columns_and_further_ones_do_not_matter(
    protolabel, songs_model, new_songs, tmp_path
):
    with new_songs.open() as file:
        rows = list(csv.DictReader(file))
    shuffled = tmp_path / "shuffled.csv"
    names = ["loudness", "comment", "genre", "tempo", "live"]
    with shuffled.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, delimiter=";", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(row | {"comment": "a; b"} for row in rows)
    first = protolabel("predict", songs_model, new_songs, "--proba")
    assert protolabel("predict", songs_model, shuffled, "--proba").stdout == first.stdout


def test_a_file_is_written_whole_and_replaced_only_by_force(
    protolabel, songs_model, new_songs, tmp_path
):
    output = tmp_path / "tags.csv"
    command = ["predict", songs_model, new_songs, "--output", output]
    done = protolabel(*command)
    assert (done.code, done.stdout) == (0, "")
    assert "25 rows written" in done.stderr
    assert output.read_text() == protolabel("predict", songs_model, new_songs).stdout
    assert [path.name for path in tmp_path.iterdir()] == ["tags.csv"]
    mask = os.umask(0)
    os.umask(mask)
    assert output.stat().st_mode & 0o777 == 0o666 & ~mask
    output.write_text("mine")
    refused = protolabel(*command, "--json")
    assert refused.code == 2
    assert "pass --force" in refused.error["message"]
    assert output.read_text() == "mine"
    result = protolabel(*command, "--force", "--json").result
    assert (result["n_rows"], result["rows"], result["output"]) == (25, None, str(output))
    assert output.read_text() != "mine"


@pytest.fixture
def spool_folder(tmp_path, monkeypatch):
    """Where temporary files are made, to see whether any is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_the_standard_input_is_read_as_a_file_is(
    protolabel, songs_model, new_songs, spool_folder, monkeypatch, command, name
):
    expected = protolabel(command, songs_model, new_songs)
    for content in (new_songs.read_bytes(), gzip.compress(new_songs.read_bytes())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        done = protolabel(command, songs_model, name)
        assert (done.code, done.stdout) == (0, expected.stdout), done.stderr
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"tempo,live\n1,no\n")))
    wrong = protolabel(command, songs_model, name)
    assert wrong.code == 3
    assert "Error: standard input, line 1: the" in wrong.stderr
    assert list(spool_folder.iterdir()) == []


def test_a_table_of_a_single_column_may_come_from_a_pipe(protolabel, tmp_path, monkeypatch):
    size = np.random.default_rng(0).normal(size=60)
    lines = [f"{value:.3f},{int(value > 0)}" for value in size]
    (tmp_path / "t.csv").write_text("\n".join(["size,large", *lines]) + "\n")
    done = protolabel(
        "train", tmp_path / "t.csv", "--labels", "large", "-o", tmp_path / "m", "--method", "ml-knn"
    )
    assert done.stderr.count("the ranking metrics are nan") == 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"size\n2\n\n-2\n")))
    done = protolabel("predict", tmp_path / "m", "-")
    assert (done.code, len(done.stdout.splitlines())) == (0, 4), done.stderr


def test_a_named_pipe_is_read_as_a_file_is(
    protolabel, songs_model, new_songs, spool_folder, tmp_path
):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # A daemon: a command that does not open the pipe must not keep the tests waiting.
    writer = threading.Thread(target=pipe.write_bytes, args=[new_songs.read_bytes()], daemon=True)
    writer.start()
    done = protolabel("predict", songs_model, pipe)
    writer.join(timeout=10)
    assert done.stdout == protolabel("predict", songs_model, new_songs).stdout
    assert list(spool_folder.iterdir()) == []


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("tempo,live,loudness\n1,no,2\n", "lacks 'genre' of the 4 columns"),
        ("tempo,Genre,live,loudness\n1,folk,no,2\n", "the model does not know 'Genre'"),
        ("tempo,genre,live,loudness\n1,folk,no,2\nfast,folk,no,2\n", "line 3: 'fast' in column"),
        ("tempo,genre,live,loudness\n1,folk,no\n", "3 cells for 4 columns"),
        ("tempo,tempo,genre,live,loudness\n1,2,folk,no,0\n", "'tempo' occurs more than once"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_with_the_reason(
    protolabel, songs_model, tmp_path, table, message
):
    path = tmp_path / "new.csv"
    path.write_text(table)
    done = protolabel("predict", songs_model, path, "--output", tmp_path / "out.csv")
    assert done.code == 3
    assert message in done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_unseen_words_count_as_missing_and_are_told(protolabel, songs_model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("tempo,genre,live,loudness\n120,polka,no,0.5\n120,,no,0.5\n")
    done = protolabel("predict", songs_model, path, "--proba")
    assert "'genre' has 1 cells with words that the training data did not have" in done.stderr
    _, first, second = rows_of(done.stdout)
    assert first == second


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--proba", "--tags"], "--proba is a column a label"),
        (["--proba", "--threshold", "0.5"], "turns probabilities into decisions"),
        (["--threshold", "1.5"], "--threshold"),
        (["--tags", "--separator", "a"], "by 'a': the label 'calm' contains it; choose another"),
        (["--tags", "--separator", ""], "The separator of tags is empty"),
        (["--output", "no/such/folder.csv"], "does not exist"),
        (["--tags", "--keep", "labels"], "The column 'labels' cannot be kept"),
        (["--keep", "id,happy"], "The column 'happy' cannot be kept"),
        (["--encoding", "windows1252"], "The encoding 'windows1252' is unknown"),
    ],
)
def test_a_wrong_use_is_exit_code_2(protolabel, songs_model, new_songs, options, message):
    done = protolabel("predict", songs_model, new_songs, *options, "--json")
    assert done.code == 2
    assert message in done.error["message"]


def test_a_missing_file_or_model_has_its_own_exit_code(protolabel, songs_model, tmp_path):
    assert protolabel("predict", songs_model, tmp_path / "none.csv").code == 3
    assert protolabel("predict", songs_model, "no-such-dataset").code == 3
    done = protolabel("predict", tmp_path / "none", "yeast", "--json")
    assert done.code == 4
    assert "no such folder" in done.error["message"]


@pytest.fixture(scope="module")
def plain_model(tmp_path_factory):
    """A model that was saved from Python, without names and without columns.json."""
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, size=(120, 3))
    Y = (X[:, :2] > 3).astype(int)
    model = PNMLClassifier(effort="fast", max_epochs=2, random_state=0).fit(X, Y)
    folder = tmp_path_factory.mktemp("plain") / "model"
    save_model(model, folder)
    return folder, model, X


def test_a_model_saved_from_python_takes_columns_in_their_order(protolabel, plain_model, tmp_path):
    folder, model, X = plain_model
    path = tmp_path / "new.csv"
    np.savetxt(path, X[:10], delimiter=",", header="p,q,r", comments="", fmt="%.17g")
    done = protolabel("predict", folder, path, "--proba", "--json")
    assert done.code == 0, done.stderr
    assert np.array(done.result["rows"]) == pytest.approx(model.predict_proba(X[:10]))
    np.savetxt(path, X[:10], delimiter=",", header="0,1,2", comments="", fmt="%.17g")
    numbered = protolabel("predict", folder, path, "--proba", "--json")
    assert numbered.code == 0, numbered.stderr
    assert numbered.result["rows"] == done.result["rows"]
    path.write_text("0,1,2,3,4\n1,1,1,1,1\n")
    assert "5 columns are no labels" in protolabel("predict", folder, path).stderr
    path.write_text("p,q,r\n1,,2\n")
    assert "values are missing" in protolabel("predict", folder, path).stderr
    path.write_text("p,q\n1,2\n")
    assert "the model has 3 features" in protolabel("predict", folder, path).stderr


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_named_pipe_is_written_into_and_stays(
    protolabel, songs_model, new_songs, tmp_path, force
):
    expected = protolabel("predict", songs_model, new_songs).stdout
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    done = protolabel("predict", songs_model, new_songs, "--output", pipe, *force)
    assert done.code == 0, done.stderr
    assert os.read(reader, 2**16).decode() == expected
    os.close(reader)
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_stream_of_the_process_is_written_into(protolabel, songs_model, new_songs):
    expected = protolabel("predict", songs_model, new_songs).stdout
    reader, writer = os.pipe()
    done = protolabel("predict", songs_model, new_songs, "--output", f"/dev/fd/{writer}")
    os.close(writer)
    assert done.code == 0, done.stderr
    with open(reader) as file:
        assert file.read() == expected


def test_a_dash_is_the_standard_output(protolabel, songs_model, new_songs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected = protolabel("predict", songs_model, new_songs).stdout
    done = protolabel("predict", songs_model, new_songs, "--output", "-")
    assert (done.code, done.stdout) == (0, expected)
    assert os.listdir(tmp_path) == []


def test_the_file_that_a_link_leads_to_is_replaced(protolabel, songs_model, new_songs, tmp_path):
    target, link = tmp_path / "march.csv", tmp_path / "newest.csv"
    target.write_text("old")
    link.symlink_to(target.name)
    command = ["predict", songs_model, new_songs, "--output", link]
    assert "pass --force" in protolabel(*command).stderr
    assert protolabel(*command, "--force").code == 0
    assert link.is_symlink()
    assert target.read_text() == protolabel("predict", songs_model, new_songs).stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
def test_a_device_that_takes_nothing_is_named(protolabel, songs_model, new_songs):
    done = protolabel("predict", songs_model, new_songs, "--output", "/dev/full")
    assert done.code == 1
    assert done.stderr == (
        "Error: /dev/full cannot be written to (No space left on device); choose another place.\n"
    )
