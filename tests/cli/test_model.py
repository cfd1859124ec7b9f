"""``protolabel model``: what a folder holds, and that a damaged one is refused."""

import json
import shutil

import numpy as np
import pytest

from protolabel import PNMLClassifier
from protolabel.persistence import save_model
from protolabel.safefiles.strict_json import checksum


def test_info_says_what_the_model_expects(protolabel, songs_training):
    folder, training = songs_training
    result = protolabel("model", "info", folder, "--json").result
    assert result["estimator"] == "PNMLClassifier"
    assert result["label_names"] == ["calm", "happy", "rare"]
    assert result["metrics"] == training.result["metrics"]
    assert result["settings"]["effort"] == "fast"
    assert result["columns"][0] == "tempo (number)"
    assert result["columns"][1].startswith("genre (one of ")
    text = protolabel("model", "info", folder).stdout
    assert "label_names (3): calm, happy, rare" in text
    assert "  max_epochs: 2" in text


def test_a_sound_model_is_verified_file_by_file(protolabel, songs_model):
    done = protolabel("model", "verify", songs_model)
    assert done.code == 0
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
        *("manifest.json", "tensors.safetensors", "columns.json")
    ]


def test_a_model_saved_from_python_is_described_too(protolabel, tmp_path):
    X = np.repeat(np.eye(3), 30, axis=0)
    model = PNMLClassifier(effort="fast", max_epochs=1, random_state=0)
    save_model(model.fit(X, X[:, :2].astype(int)), tmp_path / "plain")
    result = protolabel("model", "info", tmp_path / "plain", "--json").result
    assert result["columns"] == ["3 numbers"]
    files = protolabel("model", "verify", tmp_path / "plain", "--json").result["files"]
    assert list(files) == ["manifest.json", "tensors.safetensors"]
    one_class = PNMLClassifier(effort="fast", max_epochs=1).fit(X, X.argmax(axis=1))
    save_model(one_class, tmp_path / "classes")
    done = protolabel("model", "info", tmp_path / "classes")
    assert done.code == 4
    assert "expected a multi-label model" in done.stderr


@pytest.mark.parametrize("name", ["manifest.json", "tensors.safetensors", "columns.json"])
def test_a_changed_byte_in_any_file_is_refused(protolabel, songs_model, tmp_path, name):
    folder = shutil.copytree(songs_model, tmp_path / "copy")
    data = bytearray((folder / name).read_bytes())
    place = data.rindex(b"0" if name != "tensors.safetensors" else data[-1:])
    data[place] ^= 1
    (folder / name).write_bytes(bytes(data))
    done = protolabel("model", "verify", folder, "--json")
    assert done.code == 4, done.stdout
    assert name in done.error["message"]
    assert protolabel("predict", folder, "yeast").code == 4


def columns_of(folder):
    return json.loads((folder / "columns.json").read_text())


def signed(document):
    content = {key: value for key, value in document.items() if key != "checksum"}
    return json.dumps(content | {"checksum": checksum(content)})


def with_inputs(inputs):
    return lambda document: signed(document | {"inputs": inputs})


NUMBER = {"column": "a", "fill": 0.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: "", "not valid JSON"),
        (lambda document: "[]", "expected a JSON object"),
        (lambda document: json.dumps({"format": "x"}), "has no"),
        (lambda document: signed(document | {"format": "zip"}), "expected one of"),
        (lambda document: signed(document | {"format_version": 9}), "version is 9"),
        (lambda document: signed(document | {"model": "0" * 64}), "belongs to another model"),
        (lambda document: signed(document | {"more": 1}), "unknown entry 'more'"),
        (lambda document: json.dumps(document | {"model": "a"}), "SHA-256 of its content"),
        (with_inputs(None), "inputs"),
        (with_inputs({"kind": "pickle"}), "inputs"),
        (with_inputs({"kind": "table", "columns": {}}), "not a list"),
        (with_inputs({"kind": "table", "columns": [NUMBER]}), "gives 1 features"),
        (with_inputs({"kind": "table", "columns": [NUMBER, NUMBER]}), "two rules"),
        (with_inputs({"kind": "table", "columns": [NUMBER | {"fill": "a"}]}), "expected a number"),
        (with_inputs({"kind": "table", "columns": [{"column": 1, "fill": 0}]}), "a string"),
        (
            with_inputs({"kind": "table", "columns": [{"column": "a", "words": ["b", "b"]}]}),
            "not different strings",
        ),
        (
            with_inputs({"kind": "sparse", "n_features": 6, "names": ["a"], "feature_base": None}),
            "1 names for 6 features",
        ),
        (
            with_inputs({"kind": "sparse", "n_features": 6, "names": None, "feature_base": 7}),
            "feature_base is 7",
        ),
        (with_inputs({"kind": "text", "words": ["a", "a"], "weights": [1, 1]}), "not different"),
        (with_inputs({"kind": "text", "words": ["a"], "weights": ["1"]}), "not numbers"),
    ],
)
def test_columns_that_are_none_are_refused(protolabel, songs_model, tmp_path, change, message):
    folder = shutil.copytree(songs_model, tmp_path / "copy")
    (folder / "columns.json").write_text(change(columns_of(songs_model)))
    done = protolabel("model", "verify", folder, "--json")
    assert done.code == 4, done.stdout
    assert message in done.error["message"]
    assert "columns.json" in done.error["message"]
