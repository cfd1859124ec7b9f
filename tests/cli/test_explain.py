import json

import numpy as np
import pytest
from typer.testing import CliRunner

from protolabel import PNMLClassifier, load_dataset
from protolabel.cli.main import app
from protolabel.persistence import save_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    dataset = load_dataset("yeast")
    rows = np.arange(150)
    model = PNMLClassifier(
        "single", n_members=2, max_epochs=2, n_landmarks=20, n_trees=5, random_state=0
    )
    folder = tmp_path_factory.mktemp("models") / "yeast"
    save_model(model.fit(dataset.X[rows], dataset.Y[rows]), folder)
    return folder, model, dataset


def invoke(*arguments):
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


def test_a_row_is_explained_in_text(saved):
    folder, _, _ = saved
    result = invoke(folder, "yeast", "--row", 3, "--top", 2, "--no-flips")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("2 of 14 labels.")


def test_an_explanation_is_one_json_object_that_adds_up(saved):
    folder, model, dataset = saved
    result = invoke(folder, "yeast", "--row", 3, "--json", "--label", 4, "--no-flips")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert (answer["schema"], answer["command"]) == (1, "explain")
    (label,) = answer["result"]["labels"]
    total = label["intercept"] + sum(part["log_odds"] for part in label["contributions"])
    assert total == pytest.approx(model.decision_function(dataset.X[[3]])[0, 4], abs=1e-6)


def test_a_page_is_written_where_asked_for(saved, tmp_path):
    folder, _, _ = saved
    target = tmp_path / "row.html"
    arguments = (folder, "yeast", "--top", 1, "--no-flips", "--html", target)
    result = invoke(*arguments, "--training", "yeast")
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(target)
    assert "Row 0 of yeast" in target.read_text(encoding="utf-8")
    assert "use --force to replace it" in str(invoke(*arguments).exception)


def test_a_row_that_is_not_there_is_named(saved):
    folder, _, _ = saved
    result = invoke(folder, "yeast", "--row", 99999)
    assert "--row 99999 was given but yeast has 2417 rows" in str(result.exception)
