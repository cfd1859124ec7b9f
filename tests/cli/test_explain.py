import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.conftest import unwrapped
from protolabel.cli.main import app

QUICK = ("max_epochs=2", "n_members=2", "n_landmarks=20", "n_trees=5", "embedding_dim=4")


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A table with a column of words, and a model trained on it by the command."""
    folder = tmp_path_factory.mktemp("songs")
    rng = np.random.default_rng(0)
    with (folder / "songs.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["tempo", "mode", "calm", "happy"])
        for _ in range(120):
            tempo, mode = rng.normal(120, 30), rng.choice(["major", "minor"])
            writer.writerow([f"{tempo:.1f}", mode, int(tempo < 115), int(mode == "major")])
    settings = [part for setting in QUICK for part in ("--set", setting)]
    result = invoke(
        "train", folder / "songs.csv", "--labels", "calm,happy", "--model", folder / "model",
        "--quiet", *settings,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder


def test_a_row_is_explained_in_text_with_the_names_of_the_table(place):
    result = invoke("explain", place / "model", place / "songs.csv", "--row", 3)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("2 of 2 labels.")
    assert "calm: probability" in result.stdout
    assert "tempo = " in result.stdout
    assert "Warning" not in result.stderr


def test_a_word_of_the_table_flips_to_another_word(place):
    command = ("explain", place / "model", place / "songs.csv", "--label", "happy", "--json")
    n_flips = 0
    for row in range(6):
        [label] = json.loads(invoke(*command, "--row", row).stdout)["result"]["labels"]
        changes = label["flip"]["changes"] if label["flip"] else []
        words = {change["name"]: change["after"] for change in changes if "=" in change["name"]}
        assert not words or sorted(words.values()) == [0.0, 1.0]
        n_flips += words.keys() == {"mode=major", "mode=minor"}
    assert n_flips > 0


def test_an_explanation_is_one_json_object_that_adds_up(place):
    given = ("explain", place / "model", place / "songs.csv", "--row", 3, "--json")
    result = invoke(*given, "--label", "happy", "--no-flips", "--training", place / "songs.csv")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert (answer["schema"], answer["command"]) == (1, "explain")
    (label,) = answer["result"]["labels"]
    assert label["label"] == "happy"
    total = label["intercept"] + sum(part["log_odds"] for part in label["contributions"])
    assert total == pytest.approx(label["log_odds"], abs=1e-9)
    assert len(label["members"][0]["positive"][0]["nearest_rows"]) == 3


def test_a_page_is_written_where_asked_for_and_not_twice(place, tmp_path):
    target = tmp_path / "row.html"
    given = ("explain", place / "model", place / "songs.csv", "--no-flips", "--html", target)
    result = invoke(*given)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(target)
    assert "Row 0 of songs.csv" in target.read_text(encoding="utf-8")
    again = invoke(*given)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert invoke(*given, "--force").exit_code == 0


def test_a_row_or_label_that_is_not_there_is_named(place):
    given = ("explain", place / "model", place / "songs.csv", "--no-flips")
    result = invoke(*given, "--row", 999)
    assert result.exit_code == 2
    assert "has the rows 0 to 119" in unwrapped(result.stderr)
    result = invoke(*given, "--label", "loud")
    assert "has no label 'loud'; did you mean calm, happy" in str(result.exception)


def test_a_model_of_another_method_is_refused_in_one_line(protolabel, place, tmp_path):
    model, table = tmp_path / "knn", place / "songs.csv"
    train = protolabel("train", table, "--n-labels", 2, "--method", "ml-knn", "--model", model)
    assert train.code == 0, train.stderr
    done = protolabel("explain", model, table, "--json")
    assert done.code == 1
    message = f"{model} holds a MLkNN; only the methods named pnml... can be explained."
    assert done.error == {"message": message, "exit_code": 1}
    assert done.stderr == f"Error: {message}\n"
    report = protolabel("report", model, "--data", table, "--output", tmp_path / "page.html")
    assert report.code == 0, report.stderr


def test_a_table_without_rows_has_none_to_explain(protolabel, place, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("tempo,mode\n")
    done = protolabel("explain", place / "model", path)
    assert done.code == 3
    assert "empty.csv has no rows" in done.stderr


def test_a_model_has_a_report_on_labelled_rows(place, tmp_path):
    target = tmp_path / "model.html"
    result = invoke("report", place / "model", "--data", place / "songs.csv", "--output", target)
    assert result.exit_code == 0, result.output
    assert "Warning" not in result.stderr
    page = target.read_text(encoding="utf-8")
    assert "Model model" in page
    assert "happy" in page
    assert 'id="prototype-map"' in page


def test_a_label_that_is_not_there_is_named_with_what_may_be_meant(
    protolabel, songs_model, new_songs
):
    done = protolabel("explain", songs_model, new_songs, "--label", "hapy", "--json")
    assert done.code == 3
    assert "the model has no label 'hapy'; did you mean happy" in done.error["message"]
