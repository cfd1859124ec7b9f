"""``protolabel export``: the same probabilities from another program."""

import json
import os

import numpy as np
import pytest

from protolabel.workflows.file_options import FileOptions
from protolabel.workflows.model_folder import load_trained
from protolabel.workflows.new_rows import read_rows

pytest.importorskip("onnx")


def test_the_file_gives_the_probabilities_of_predict(protolabel, songs_model, new_songs, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    path = tmp_path / "songs.onnx"
    done = protolabel("export", songs_model, "--onnx", path, "--json")
    assert done.code == 0, done.stderr
    assert done.result["n_bytes"] == path.stat().st_size
    session = onnxruntime.InferenceSession(path)
    metadata = session.get_modelmeta().custom_metadata_map
    assert json.loads(metadata["feature_names"]) == done.result["feature_names"]
    trained = load_trained(songs_model)
    rows = read_rows(new_songs, trained.inputs, trained.label_names, FileOptions())
    [found] = session.run(["probabilities"], {"features": rows.X.astype(np.float32)})
    expected = protolabel("predict", songs_model, new_songs, "--proba", "--json").result["rows"]
    assert found == pytest.approx(np.array(expected), abs=1e-5)


def test_an_existing_file_is_kept_and_force_replaces_it(protolabel, songs_model, tmp_path):
    path = tmp_path / "songs.onnx"
    path.write_text("mine")
    refused = protolabel("export", songs_model, "--onnx", path)
    assert refused.code == 2
    assert path.read_text() == "mine"
    done = protolabel("export", songs_model, "--onnx", path, "--force")
    assert done.code == 0, done.stderr
    assert "6 features, 3 labels" in done.stdout
    assert path.read_bytes() != b"mine"


def test_a_method_that_has_no_onnx_form_is_refused(protolabel, songs, tmp_path):
    model = tmp_path / "knn"
    protolabel("train", songs, "--n-labels", 3, "--method", "ml-knn", "--model", model)
    done = protolabel("export", model, "--onnx", tmp_path / "knn.onnx")
    assert done.code == 1
    assert "holds a MLkNN" in done.stderr
    assert not (tmp_path / "knn.onnx").exists()


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_pipes_and_the_standard_output_are_no_places_for_a_file(
    protolabel, songs, songs_model, tmp_path, force
):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    train = ["train", songs, "--n-labels", 3, "--model", tmp_path / "model"]
    for command in (["export", songs_model, "--onnx"], [*train, "--report"]):
        for place, problem in ((pipe, "is a pipe, which is never replaced"), ("-", "is no file")):
            done = protolabel(*command, place, *force, "--json")
            assert (done.code, problem in done.error["message"]) == (2, True), done.stderr
            assert "--force" not in done.error["message"]
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]
