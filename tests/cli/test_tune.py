"""``protolabel tune``: a search, and a command line that trains with what it found."""

import shlex

import pytest

KNN = ["--method", "ml-knn", "--labels", "calm,happy,rare"]


def test_a_grid_is_searched_and_the_printed_command_trains(protolabel, songs, tmp_path):
    done = protolabel("tune", songs, *KNN, "--space", "n_neighbors=3,15", "--seed", 2, "--json")
    assert done.code == 0, done.stderr
    result = done.result
    assert result["n_candidates"] == result["n_combinations"] == 2
    assert result["settings"]["n_neighbors"] in (3, 15)
    assert 0 < result["value"] < 4
    _, *words = shlex.split(result["train_command"])
    words[words.index("MODEL")] = str(tmp_path / "model")
    trained = protolabel(*words, "--json")
    assert trained.code == 0, trained.stderr
    assert trained.result["method"] == "ml-knn"


def test_a_budget_is_spent_and_an_interrupted_search_goes_on(protolabel, songs, tmp_path):
    pytest.importorskip("optuna")
    command = [
        *("tune", songs, "--labels", "calm,happy,rare", "--method", "pnml-single"),
        *("--set", "max_epochs=1", "--search", "2", "--storage", tmp_path / "found", "--json"),
    ]
    first = protolabel(*command).result
    assert first["n_combinations"] == 121
    assert first["n_candidates"] <= 2
    assert first["fixed"] == {"max_epochs": 1}
    assert "--set max_epochs=1" in first["train_command"]
    assert list((tmp_path / "found").iterdir())
    assert protolabel(*command).result == first


def test_what_was_found_on_other_data_is_not_known(protolabel, songs, tmp_path):
    command = [
        *("tune", songs, *KNN, "--space", "n_neighbors=3,15"),
        *("--storage", tmp_path / "found", "--json"),
    ]
    first = protolabel(*command).result
    assert protolabel(*command).result == first
    header, *lines = songs.read_text().splitlines()
    songs.write_text("\n".join([header, *lines[: len(lines) // 2]]) + "\n")
    assert protolabel(*command).result["value"] != first["value"]


def test_people_get_the_settings_and_the_command(protolabel, songs):
    done = protolabel("tune", songs, *KNN, "--search", "grid", "--space", "n_neighbors=5,7")
    assert done.stdout.startswith("Best of 2 candidates (2 combinations)")
    assert "n_neighbors = " in done.stdout
    command = done.stdout.splitlines()[-1]
    assert command.startswith("protolabel train")
    assert command.endswith("--model MODEL")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--space", "neighbours=3"], "did you mean n_neighbors"),
        (["--space", "n_neighbors"], "expected name=value,value"),
        (["--space", "n_neighbors=three"], "'three' cannot be used"),
        (["--search", "everything"], "tuning='everything' is unknown"),
        (["--search", "none"], "use grid, full-grid or a number"),
        (["--method", "br"], "give some, for example --space"),
        (["--set", "n_neighbors=4"], "The settings fix all that is searched of 'ml-knn'"),
        (
            ["--set", "n_neighbors=4", "--space", "n_neighbors=3"],
            "has a fixed value, 4, and values",
        ),
    ],
)
def test_a_wrong_use_is_exit_code_2(protolabel, songs, options, message):
    done = protolabel("tune", songs, *KNN, *options, "--json")
    assert done.code == 2
    assert message in done.error["message"]


def test_an_effort_is_searched_with_and_trained_with(protolabel, songs):
    done = protolabel(
        *("tune", songs, "--labels", "calm,happy,rare", "--effort", "fast"),
        *("--space", "max_epochs=1,2", "--json"),
    )
    assert done.code == 0, done.stderr
    assert done.result["fixed"] == {"effort": "fast"}
    assert "--set effort=fast" in done.result["train_command"]


def test_groups_share_inner_folds_and_are_in_the_command(protolabel, songs, tmp_path):
    singers = tmp_path / "singers.csv"
    header, *rows = songs.read_text().splitlines()
    named = [f"{row},singer {number % 9}" for number, row in enumerate(rows)]
    singers.write_text("\n".join([f"{header},singer", *named]))
    command = ["tune", singers, *KNN, "--space", "n_neighbors=3,15", "--json"]
    command += ["--storage", tmp_path / "found"]
    by_singer = protolabel(*command, "--groups", "singer")
    alone = protolabel(*command, "--drop", "singer")
    assert by_singer.code == alone.code == 0, by_singer.stderr
    assert "--groups singer" in by_singer.result["train_command"]
    assert by_singer.result["value"] != alone.result["value"]


@pytest.mark.parametrize(
    ("method", "space", "n_candidates"),
    [
        ("ml-knn", ["smoothing=0.5,1"], 2),
        ("ml-knn", ["n_neighbors=3,5", "smoothing=0.5,1"], 4),
        ("camel", ["ridge=0.1,1"], 2),
        ("camel", ["ridge=0.1,1", "feature_scaling=standard,unit"], 4),
    ],
)
def test_any_parameter_can_be_searched(protolabel, songs, method, space, n_candidates):
    words = [word for one in space for word in ("--space", one)]
    done = protolabel("tune", songs, *KNN[2:], "--method", method, *words, "--json")
    assert done.code == 0, done.stderr
    assert done.result["n_candidates"] == n_candidates
    assert set(done.result["settings"]) == {one.partition("=")[0] for one in space}


def test_too_few_groups_are_bad_data(protolabel, tmp_path):
    table = tmp_path / "visits.csv"
    rows = [f"{row % 2},{row * 37 % 40 / 4},{row % 3 // 2},{row % 5 // 4}" for row in range(40)]
    table.write_text("\n".join(["person,a,u,v", *rows]))
    command = ["tune", table, "--labels", "u,v", "--groups", "person", "--method", "ml-knn"]
    done = protolabel(*command, "--space", "n_neighbors=3,5", "--json")
    assert done.code == 3
    assert "visits has 2 groups of rows, too few for the 3 folds" in done.error["message"]
