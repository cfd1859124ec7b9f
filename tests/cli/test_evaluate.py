"""``protolabel evaluate``: the five metrics and a line for every label."""

import csv

import numpy as np
import pytest

from protolabel.metrics import evaluate

NAMES = ["calm", "happy", "rare"]


@pytest.fixture(scope="module")
def truth(new_songs):
    with new_songs.open() as file:
        return np.array([[int(row[name]) for name in NAMES] for row in csv.DictReader(file)])


def predicted(protolabel, model, path, *options):
    return np.array(protolabel("predict", model, path, "--json", *options).result["rows"])


def test_the_metrics_are_those_of_the_predictions(protolabel, songs_model, new_songs, truth):
    done = protolabel("evaluate", songs_model, new_songs, "--json")
    assert done.code == 0, done.stderr
    decisions = predicted(protolabel, songs_model, new_songs)
    scores = predicted(protolabel, songs_model, new_songs, "--proba")
    expected = evaluate(truth, decisions, np.log(scores / (1 - scores)))
    assert done.result["metrics"] == pytest.approx(expected)
    assert done.result["n_rows"] == 25
    for position, line in enumerate(done.result["labels"]):
        assert line["label"] == NAMES[position]
        assert line["n_true"] == truth[:, position].sum()
        assert line["n_hits"] == (truth[:, position] * decisions[:, position]).sum()


def test_people_get_a_table_of_the_labels(protolabel, songs_model, new_songs):
    done = protolabel("evaluate", songs_model, new_songs, "--labels", "happy,rare")
    assert done.code == 0, done.stderr
    assert "25 rows, 2 labels:" in done.stdout
    assert "micro f1" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[-3:]] == ["label", "happy", "rare"]


def test_one_label_is_no_labels(protolabel, songs_model, new_songs):
    done = protolabel("evaluate", songs_model, new_songs, "--labels", "happy")
    assert "25 rows, 1 label:" in done.stdout


def test_labels_may_stand_in_a_column_of_tags(protolabel, songs_model, new_songs, truth, tmp_path):
    with new_songs.open() as file:
        rows = list(csv.DictReader(file))
    path = tmp_path / "tagged.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["tempo", "genre", "live", "loudness", "topics", "other"])
        for row, labels in zip(rows, truth, strict=True):
            tags = ";".join([*(NAMES[place] for place in labels.nonzero()[0]), "unheard"])
            cells = [row[name] for name in ("tempo", "genre", "live", "loudness")]
            writer.writerow([*cells, tags, "rare"])
    expected = protolabel("evaluate", songs_model, new_songs, "--json").result
    for options in ([], ["--tags", "topics", "--tag-separator", ";"]):
        found = protolabel("evaluate", songs_model, path, "--json", *options).result
        [note] = found["notes"]
        assert "25 tags that the model does not know, as 'unheard'" in note
        assert found == expected | {"notes": [note]}
        one = protolabel("evaluate", songs_model, path, "--json", "--labels", NAMES[0], *options)
        assert one.result["labels"] == [x for x in expected["labels"] if x["label"] == NAMES[0]]
    wrong = protolabel("evaluate", songs_model, path, "--tags", "genre")
    assert wrong.code == 3
    assert "none of which is a label of the model" in wrong.stderr


def test_tags_are_split_as_in_training(protolabel, tmp_path):
    rng = np.random.default_rng(0)
    sizes = rng.normal(size=(200, 2))
    tags = [["A, x"] * int(a > 0) + ["B"] * int(b > 0) for a, b in sizes]

    def write(name, cells):
        rows = [f"{a};{b};{cell}" for (a, b), cell in zip(sizes, cells, strict=False)]
        (tmp_path / name).write_text("\n".join(["a;b;tags", *rows]) + "\n")
        return tmp_path / name

    train = write("train.csv", ["|".join(names) for names in tags])
    model = tmp_path / "model"
    done = protolabel("train", train, "-o", model, "--method", "ml-knn", "--no-holdout", "--json")
    assert done.result["label_names"] == ["A, x", "B"]
    single = ["".join(names[:1]) for names in tags[:50]]
    done = protolabel("evaluate", model, write("single.csv", single), "--json")
    assert done.result["notes"] == []
    counts = {line["label"]: line["n_true"] for line in done.result["labels"]}
    assert counts == {"A, x": single.count("A, x"), "B": single.count("B")}
    assert done.result["metrics"]["micro_f1"] > 0.6


def test_a_table_without_rows_is_refused_as_training_refuses_it(protolabel, songs_model, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("tempo,genre,live,loudness,calm,happy,rare\n")
    done = protolabel("evaluate", songs_model, path, "--json")
    train = protolabel("train", path, "--n-labels", 3, "-o", tmp_path / "model", "--json")
    assert done.code == train.code == 3
    assert done.error["message"] == train.error["message"]


def test_a_dataset_is_measured_by_its_name(protolabel, tmp_path):
    model = tmp_path / "model"
    train = protolabel("train", "yeast", "--model", model, "--method", "ml-knn", "--json")
    assert train.code == 0, train.stderr
    done = protolabel("evaluate", model, "yeast", "--json")
    assert done.result["n_rows"] == 2417
    assert done.result["metrics"]["micro_f1"] > 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labels", "hapy"], "the model has no label 'hapy'; did you mean happy"),
        (["--tags", "topics"], "there is no column 'topics'"),
    ],
)
def test_a_mistake_is_exit_code_3(protolabel, songs_model, new_songs, options, message):
    done = protolabel("evaluate", songs_model, new_songs, *options, "--json")
    assert done.code == 3
    assert message in done.error["message"]


def test_a_table_without_labels_or_with_odd_ones_is_refused(protolabel, songs_model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("tempo,genre,live,loudness,calm,happy\n1,folk,no,2,0,1\n")
    done = protolabel("evaluate", songs_model, path)
    assert done.code == 3
    assert "there is no column for the labels 'rare'" in done.stderr
    path.write_text("tempo,genre,live,loudness,calm,happy,rare\n1,folk,no,2,0,1,maybe\n")
    done = protolabel("evaluate", songs_model, path)
    assert "line 2: 'maybe' in label column 'rare'" in done.stderr


def test_a_file_of_labels_is_read_as_training_reads_it(
    protolabel, songs_model, new_songs, tmp_path
):
    path = tmp_path / "labels.txt"
    expected = protolabel("evaluate", songs_model, new_songs, "--labels", "calm,happy", "--json")
    path.write_bytes("\ufeffcalm\nhappy\ncalm\n".encode())
    as_given = protolabel("evaluate", songs_model, new_songs, "--labels", path, "--json")
    assert as_given.result == expected.result
    listed = tmp_path / "labels.xml"
    listed.write_text(
        '<labels xmlns="http://mulan.sourceforge.net/labels">'
        '<label name="calm"></label><label name="happy"></label></labels>'
    )
    as_list = protolabel("evaluate", songs_model, new_songs, "--labels", listed, "--json")
    assert as_list.result == expected.result
    twice = protolabel("evaluate", songs_model, new_songs, "--labels", "calm,happy,calm", "--json")
    assert twice.result == expected.result


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "holds no names of labels"), (b"cal\xe9m\n", "labels.txt, line 1")],
)
def test_a_file_of_no_labels_is_refused(
    protolabel, songs_model, new_songs, tmp_path, content, message
):
    path = tmp_path / "labels.txt"
    path.write_bytes(content)
    done = protolabel("evaluate", songs_model, new_songs, "--labels", path, "--json")
    assert done.code == 3
    assert message in done.error["message"]
    if content:
        done = protolabel(
            *("evaluate", songs_model, new_songs, "--labels", path),
            *("--encoding", "latin-1", "--json"),
        )
        assert "no label 'cal\xe9m'" in done.error["message"]
