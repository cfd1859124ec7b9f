"""``protolabel train``: every format, mixed columns, and mistakes named before any work."""

import csv
import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from protolabel.datasets import load_dataset, write_mulan, write_npz, write_xmlc
from protolabel.exceptions import DatasetError
from protolabel.persistence import load_model
from protolabel.preprocessing.splits import MultilabelStratifiedShuffleSplit

METRICS = ["accuracy", "micro_f1", "macro_f1", "average_precision", "ranking_loss"]
SMALL = ["--method", "ml-knn", "--no-holdout", "--json", "--quiet"]


def read_cells(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_the_metrics_of_held_out_rows_are_printed_and_stored(songs_training):
    folder, done = songs_training
    result = done.result
    assert list(result["metrics"]) == METRICS
    assert (result["n_train"], result["n_test"]) == (208, 52)
    assert result["label_names"] == ["calm", "happy", "rare"]
    assert json.loads((folder / "manifest.json").read_text())["metrics"] == result["metrics"]
    assert result["metrics"]["average_precision"] > 0.6


def test_notes_go_to_the_error_stream_and_say_what_became_of_each_column(songs_training):
    stderr = songs_training[1].stderr
    assert "'id' was dropped: it numbers the rows" in stderr
    assert "'genre' was encoded as 3 columns" in stderr
    assert "mean of the training rows in: tempo" in stderr
    assert "songs: 260 rows, 3 labels" in stderr


def test_the_preprocessing_is_learned_from_the_training_rows_alone(songs, songs_model):
    rows = read_cells(songs)
    Y = np.array([[int(row[name]) for name in ("calm", "happy", "rare")] for row in rows])
    splitter = MultilabelStratifiedShuffleSplit(test_size=0.2, random_state=0)
    train, _ = next(splitter.split(np.zeros((len(Y), 1)), Y))
    tempos = [float(rows[row]["tempo"]) for row in train if rows[row]["tempo"]]
    columns = json.loads((songs_model / "columns.json").read_text())["inputs"]["columns"]
    assert [column["column"] for column in columns] == ["tempo", "genre", "live", "loudness"]
    assert columns[0]["fill"] == pytest.approx(np.mean(tempos))
    assert sorted(columns[1]["words"]) == ["folk", "jazz", "rock"]


def test_the_model_carries_the_names_of_labels_and_features(songs_model):
    model = load_model(songs_model)
    assert model.label_names_.tolist() == ["calm", "happy", "rare"]
    assert set(model.feature_names_in_) == {
        *("tempo", "live", "loudness", "genre=folk", "genre=jazz", "genre=rock")
    }


def test_people_get_text_and_the_next_step(protolabel, songs, tmp_path, quick):
    arguments = ["train", songs, "--n-labels", 3, "-o", tmp_path / "m", *quick]
    done = protolabel(*arguments, "--test-size", "0.5", "--jobs", "1")
    assert done.code == 0, done.stderr
    assert "Trained on 130 rows, measured on 130 others:" in done.stdout
    assert "ranking loss" in done.stdout
    assert f"Model written to {tmp_path / 'm'}" in done.stdout
    assert "protolabel predict" in done.stderr
    assert f"Report written to {tmp_path / 'm.html'}" in done.stderr
    # Nothing but the model and its report is left behind.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "m.html"]
    quiet = protolabel(*arguments, "--no-holdout", "--force", "--quiet")
    assert (quiet.code, quiet.stderr) == (0, "")
    assert quiet.stdout == f"Model written to {tmp_path / 'm'}\n"
    assert json.loads((tmp_path / "m" / "manifest.json").read_text())["metrics"] == {}


def test_a_file_may_name_the_label_columns(protolabel, songs, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("happy\n\ncalm\n")
    arguments = ["train", songs, "--labels", names, "--drop", "rare", "-o", tmp_path / "m"]
    assert sorted(protolabel(*arguments, *SMALL).result["label_names"]) == ["calm", "happy"]
    names.write_text("\n")
    empty = protolabel(*arguments, *SMALL, "--force")
    assert empty.code == 3
    assert "holds no names of labels; write one a line" in empty.error["message"]


def test_the_standard_input_may_be_trained_on(protolabel, songs, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(songs.read_bytes())))
    done = protolabel("train", "-", "--n-labels", 3, "-o", tmp_path / "m", *SMALL)
    assert done.code == 0, done.stderr
    assert done.result["n_train"] == 260
    tuned = protolabel("tune", "-", "--n-labels", 3)
    assert tuned.code == 3
    assert "- is no regular file" in tuned.stderr


@pytest.fixture(scope="module")
def yeast():
    return load_dataset("yeast")


def small_files(yeast, folder):
    """A few rows of yeast in each format, with the options that name the labels."""
    few = replace(
        yeast,
        X=yeast.X[:80, :10],
        Y=yeast.Y[:80, :4],
        feature_names=yeast.feature_names[:10],
        label_names=yeast.label_names[:4],
        split=None,
    )
    names = ",".join(few.label_names)
    arff = folder / "few.arff"
    write_mulan(few, arff)
    meka = folder / "meka.arff"
    lines = arff.read_text().splitlines()
    relation = next(i for i, line in enumerate(lines) if line.lower().startswith("@relation"))
    lines[relation] = "@relation 'few: -C -4'"
    meka.write_text("\n".join(lines) + "\n")
    (folder / "lone").mkdir()
    lone = folder / "lone" / "lone.arff"
    lone.write_text(arff.read_text())
    table = folder / "few.csv"
    header = ",".join([*few.feature_names, *few.label_names])
    body = np.hstack([few.X, few.Y.toarray()])
    np.savetxt(table, body, delimiter=",", header=header, comments="", fmt="%.6g")
    xmlc = folder / "few.txt"
    write_xmlc(few, xmlc)
    libsvm = folder / "few.svm"
    rows = [
        f"{','.join(map(str, y.nonzero()[0]))} 1:{x[0]} 5:{x[4]}"
        for x, y in zip(few.X, few.Y.toarray(), strict=True)
    ]
    libsvm.write_text("# a comment\n" + "\n".join(rows) + "\n")
    return {
        "npz": (write_npz(few, folder / "few.npz"), []),
        "npz, some labels": (folder / "few.npz", ["--labels", names.rpartition(",")[0]]),
        "mulan": (arff, []),
        "mulan, list": (lone, ["--labels", names]),
        "mulan, xml": (lone, ["--labels", str(arff.with_suffix(".xml"))]),
        "mulan, count": (lone, ["--n-labels", "4"]),
        "meka": (meka, []),
        "xmlc": (xmlc, []),
        "libsvm": (libsvm, ["--format", "libsvm"]),
        "csv": (table, ["--labels", names]),
    }


def test_every_format_can_be_trained_on_and_predicted(yeast, protolabel, tmp_path):
    for name, (path, options) in small_files(yeast, tmp_path).items():
        model = tmp_path / "model"
        done = protolabel("train", path, *options, "--model", model, "--force", *SMALL)
        assert done.code == 0, (name, done.stderr)
        n_labels = 3 if name == "npz, some labels" else 4
        assert len(done.result["label_names"]) == n_labels, name
        form = [] if "--format" not in options else options
        predicted = protolabel("predict", model, path, "--json", *form)
        assert predicted.code == 0, (name, predicted.stderr)
        assert np.shape(predicted.result["rows"]) == (80, n_labels), name


def test_a_parquet_file_with_a_column_of_lists_is_read(protolabel, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    sizes = [float(number % 7) for number in range(60)]
    tags = [["big", "odd"] if size > 4 else ["small"] for size in sizes]
    colours = [None if size == 0 else "red" if size > 3 else "blue" for size in sizes]
    path = tmp_path / "things.parquet"
    pq.write_table(pa.table({"size": sizes, "colour": colours, "tags": tags}), path)
    done = protolabel("train", path, "--model", tmp_path / "m", *SMALL)
    assert done.code == 0, done.stderr
    assert done.result["label_names"] == ["big", "odd", "small"]
    predicted = protolabel("predict", tmp_path / "m", path, "--tags", "--json")
    assert predicted.result["rows"][:2] == [["small"], ["small"]]
    assert sorted(predicted.result["rows"][6]) == ["big", "odd"]


def test_texts_are_trained_on_and_predicted(protolabel, tmp_path):
    path = tmp_path / "posts.tsv"
    kinds = [("the sea is deep", "0"), ("rock music is loud", "1"), ("loud sea music", "0,1")]
    path.write_text("".join(f"{text} {n}\t{tags}\n" for n in range(20) for text, tags in kinds))
    names = tmp_path / "names.txt"
    names.write_text("water\nsound\n")
    done = protolabel("train", path, "--labels", names, "--model", tmp_path / "m", *SMALL)
    assert done.code == 0, done.stderr
    new = tmp_path / "new.txt"
    new.write_text("the deep sea is deep\nthe music is loud rock\n")
    predicted = protolabel("predict", tmp_path / "m", new, "--top-k", 1, "--format", "text")
    assert predicted.stdout == "labels\nwater\nsound\n", predicted.stderr


def test_a_dataset_of_the_catalogue_is_trained_by_its_name_and_its_split(protolabel, tmp_path):
    done = protolabel(
        "train", "yeast", "--model", tmp_path / "m", "--method", "ml-knn", "--json", "--quiet"
    )
    assert (done.result["n_train"], done.result["n_test"]) == (1500, 917)
    assert done.result["label_names"][0] == "Class1"


def test_a_column_of_tags_gives_the_labels(protolabel, tmp_path):
    path = tmp_path / "posts.csv"
    rows = [f"{n % 9},{'b|a' if n % 9 > 4 else 'c'}" for n in range(60)]
    path.write_text("\n".join(["length,topics", *rows]) + "\n")
    done = protolabel("train", path, "--tags", "topics", "--model", tmp_path / "m", *SMALL)
    assert done.result["label_names"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--labels", "calm,hapy"], 3, "there is no column 'hapy'"),
        (["--labels", "tempo"], 3, "in label column 'tempo' is neither 0 nor 1"),
        (["--labels", "calm", "--categorical", "genra"], 3, "there is no column 'genra'"),
        (["--n-labels", "99"], 3, "has 8 columns; its last 99"),
        ([], 3, "cannot tell which columns are labels"),
        (["--labels", "calm", "--n-labels", "1"], 2, "labels and n_labels; use one"),
        (["--labels", "calm", "--method", "pnm"], 2, "There is no method 'pnm'"),
        (["--labels", "calm", "--method", "random-forest"], 2, "cannot be saved as a model file"),
        (["--labels", "calm", "--set", "max_epoch=3"], 2, "did you mean max_epochs"),
        (
            ["--labels", "calm", "--set", "foo=1"],
            2,
            "parameters are those of PNMLClassifier, see `python -m pydoc",
        ),
        (
            ["--labels", "calm", "--set", "max_epochs=many"],
            2,
            "'many' cannot be used; expected int or 'auto'",
        ),
        (["--labels", "calm", "--set", "max_epochs"], 2, "expected name=value"),
        (["--labels", "calm", "--effort", "huge"], 2, "'huge' cannot be used; expected 'fast' or"),
        (["--labels", "calm", "--method", "br", "--effort", "fast"], 2, "no parameter 'effort'"),
        (["--labels", "calm", "--method", "br", "--compact"], 2, "no parameter 'compact'"),
        (["--labels", "calm", "--method", "br", "--checkpoint", "state"], 2, "keeps no state"),
        (["--labels", "calm", "--test-size", "1.5"], 2, "--test-size is 1.5"),
        (["--labels", "calm", "--test-size", "0.5", "--no-holdout"], 2, "contradict"),
        (["--labels", "calm", "--format", "xls"], 2, "The format 'xls' is unknown"),
        (["--labels", "calm", "--device", "tpu"], 1, "device='tpu' is unknown"),
    ],
)
def test_a_mistake_is_named_and_leaves_nothing(protolabel, songs, tmp_path, options, code, message):
    done = protolabel("train", songs, *options, "--model", tmp_path / "m", "--json")
    assert done.code == code, done.stderr
    assert done.error["exit_code"] == code
    assert message in done.error["message"].replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_missing_label_is_named_with_its_line(protolabel, tmp_path):
    path = tmp_path / "gap.csv"
    path.write_text("x,a\n1,0\n2,\n3,nan\n")
    done = protolabel("train", path, "--labels", "a", "--model", tmp_path / "m")
    assert done.code == 3
    assert "line 3: '' in label column 'a' is neither 0 nor 1" in done.stderr


def test_an_existing_folder_is_replaced_only_by_force_and_only_if_ours(
    protolabel, songs, songs_model, tmp_path, quick
):
    again = ["train", songs, "--labels", "calm", *quick, "--model"]
    refused = protolabel(*again, songs_model, "--json")
    assert refused.code == 2
    assert "pass --force" in refused.error["message"]
    foreign = tmp_path / "mine"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("years of work")
    refused = protolabel(*again, foreign, "--force", "--json")
    assert refused.code == 2
    assert "also holds 'thesis.txt', and only manifest.json, " in refused.error["message"]
    assert (foreign / "thesis.txt").read_text() == "years of work"
    nowhere = protolabel(*again, tmp_path / "no" / "folder", "--json")
    assert "does not exist" in nowhere.error["message"]


def test_debug_shows_where_a_mistake_was_found(songs, monkeypatch, protolabel, tmp_path):
    with pytest.raises(DatasetError):
        protolabel("--debug", "train", songs, "--labels", "no", "--model", tmp_path / "m")


def test_rows_of_a_group_are_all_trained_on_or_all_held_out(protolabel, tmp_path):
    rng = np.random.default_rng(0)
    person = rng.permutation(np.repeat(np.arange(30), 4))
    X = rng.normal(size=(30, 2))
    Y = (X + rng.normal(size=(30, 2)) > 0).astype(int)
    table = tmp_path / "visits.csv"
    measured = X[person] + 1e-9 * rng.normal(size=(120, 2))
    rows = [f"{p},{a},{b},{Y[p, 0]},{Y[p, 1]}" for p, (a, b) in zip(person, measured, strict=True)]
    table.write_text("\n".join(["person,a,b,u,v", *rows]))
    command = ["train", table, "--labels", "u,v", "--method", "ml-knn", "--json"]
    command += ["--set", "n_neighbors=3"]
    told = protolabel(*command, "--groups", "person", "-o", tmp_path / "told")
    not_told = protolabel(*command, "--drop", "person", "-o", tmp_path / "not-told")
    assert told.code == not_told.code == 0, told.stderr
    assert "'person' says which rows belong together: 30 groups" in told.stderr
    assert load_model(tmp_path / "told").n_features_in_ == 2
    # Rows whose copies were trained on are no test.
    assert not_told.result["metrics"]["micro_f1"] > 0.99 > told.result["metrics"]["micro_f1"]


def test_groups_that_cannot_be_read_are_named(protolabel, tmp_path):
    table = tmp_path / "visits.csv"
    table.write_text("person,a,u\n1,0.5,1\n,0.7,0\n3,0.2,1\n")
    command = ["train", table, "--labels", "u", "-o", tmp_path / "model"]
    for options, message in (
        (["--groups", "persons"], "no column 'persons'"),
        (["--groups", "u"], "column 'u' holds labels, and cannot say"),
        (["--drop", "u"], "column 'u' is to hold labels and to be dropped"),
        (["--groups", "person"], "line 3: the cell of column 'person'"),
    ):
        done = protolabel(*command, *options)
        assert done.code != 0
        assert message in done.stderr
    tagged = tmp_path / "tagged.csv"
    tagged.write_text("a,b,tags\n1,0.5,u\n2,0.7,v\n3,0.2,u\n")
    for options, message in (
        (["--groups", "tags"], "cannot tell which columns are labels"),
        (["--tags", "tags", "--groups", "tags"], "column 'tags' holds labels, and cannot say"),
        (["--tags", "tags", "--drop", "tags"], "column 'tags' is to hold labels and to be dropped"),
    ):
        done = protolabel("train", tagged, "-o", tmp_path / "model", *options)
        assert done.code != 0
        assert message in done.stderr
    table.write_text("person,a,u\n1,0.5,1\n1,0.7,0\n")
    done = protolabel(*command, "--groups", "person")
    assert done.code != 0
    assert "1 group of rows, and nothing to hold out" in done.stderr
    done = protolabel("train", "yeast", "--groups", "person", "-o", tmp_path / "model")
    assert done.code != 0
    assert "groups are read from a column of a table" in done.stderr


def test_copies_of_rows_are_held_out_together(protolabel, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    Y = rng.integers(0, 2, size=(40, 2))
    rows = [
        f"{x},{y},{'' if i % 3 else 'red'},{u},{v}"
        for i, ((x, y), (u, v)) in enumerate(zip(X, Y, strict=True))
    ]
    table = tmp_path / "copies.csv"
    table.write_text("\n".join(["a,b,colour,u,v", *rows, *rows, *rows]))
    command = ["train", table, "--labels", "u,v", "--method", "ml-knn", "--set", "n_neighbors=3"]
    done = protolabel(*command, "--json", "-o", tmp_path / "model")
    # Labels by chance: only rows that were seen before can be known.
    assert done.result["metrics"]["micro_f1"] < 0.9
    assert (done.result["n_train"] % 3, done.result["n_test"] % 3) == (0, 0)


def test_the_state_of_another_run_is_refused_and_not_gone_on_from(
    protolabel, songs, tmp_path, quick
):
    state = tmp_path / "state"
    command = ["train", songs, *quick, "--checkpoint", state, "--no-report"]
    going_on = f"Going on from the state in {state}."
    first = protolabel(*command, "--labels", "calm", "-o", tmp_path / "first")
    assert first.code == 0, first.stderr
    assert going_on not in first.stderr
    foreign = protolabel(*command, "--labels", "happy", "-o", tmp_path / "other")
    assert foreign.code == 4
    assert going_on not in foreign.stderr
    assert "Use another folder with --checkpoint" in foreign.stderr
    assert "checkpoint_dir" not in foreign.stderr
    again = protolabel(*command, "--labels", "calm", "-o", tmp_path / "again")
    assert again.code == 0, again.stderr
    assert again.stderr.count(going_on) == 1


def test_one_label_is_no_labels(protolabel, songs, tmp_path):
    done = protolabel(
        *("train", songs, "--labels", "calm", "-o", tmp_path / "m", "--method", "ml-knn"),
        "--no-holdout",
    )
    assert "songs: 260 rows, 1 label, " in done.stderr


@pytest.mark.parametrize("n_groups", [2, 3])
def test_few_groups_leave_one_to_measure_with(protolabel, tmp_path, n_groups):
    table = tmp_path / "visits.csv"
    rows = [
        f"{row % n_groups},{row * 37 % 120 / 4},{row % 3 // 2},{row % 5 // 4}" for row in range(120)
    ]
    table.write_text("\n".join(["person,a,u,v", *rows]))
    command = ["train", table, "--labels", "u,v", "--groups", "person", "--method", "ml-knn"]
    done = protolabel(*command, "-o", tmp_path / "m", "--test-size", "0.1", "--json")
    assert done.code == 0, done.stderr
    assert done.result["n_test"] == 120 // n_groups
    assert done.result["metrics"]


def test_a_share_that_leaves_no_row_is_bad_data(protolabel, songs, tmp_path):
    command = ["train", songs, "--labels", "calm,happy,rare", "--method", "ml-knn"]
    done = protolabel(*command, "-o", tmp_path / "m", "--test-size", "0.999", "--json")
    assert done.code == 3
    assert "leaves both parts at least one row" in done.error["message"]
