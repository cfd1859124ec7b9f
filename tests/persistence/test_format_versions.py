"""Models written by every format version so far still load and predict the same."""

import json
from pathlib import Path

import numpy as np
import pytest

from protolabel.exceptions import ModelFileError
from protolabel.persistence import load_model, pnml_state
from protolabel.persistence.model_files import MODEL_FORMAT

FIXTURES = Path(__file__).parent / "fixtures"


def stored_models():
    return [path.parent for path in sorted(FIXTURES.glob("v*/*/manifest.json"))]


@pytest.mark.parametrize("folder", stored_models(), ids=lambda f: f"{f.parent.name}-{f.name}")
def test_models_of_every_version_predict_what_they_did(folder):
    expected = json.loads((folder.parent / "expected.json").read_text())
    rows = np.array(expected["rows"])
    model = load_model(folder)
    figures = expected["models"][folder.name]
    np.testing.assert_allclose(model.predict_proba(rows), figures["probabilities"], atol=1e-9)
    assert model.predict(rows).tolist() == figures["predictions"]


def test_every_readable_version_has_models_to_prove_it():
    found = {
        json.loads((f / "manifest.json").read_text())["format_version"] for f in stored_models()
    }
    assert found == set(MODEL_FORMAT.readable)
    assert MODEL_FORMAT.version == max(MODEL_FORMAT.readable)


def test_fixtures_are_small():
    for folder in stored_models():
        assert sum(path.stat().st_size for path in folder.iterdir()) < 50_000


def test_a_parameter_that_a_file_does_not_have_keeps_its_default(tampered, tiny_model):
    tampered.edit_manifest(lambda m: m["parameters"].pop("effort"))
    assert load_model(tampered.folder).get_params() == tiny_model.get_params()


def test_a_setting_that_a_file_does_not_have_is_what_it_was_in_effect(tampered, monkeypatch):
    tampered.edit_manifest(lambda m: m["state"]["settings"].pop("mixing"))
    with pytest.raises(ModelFileError, match="mixing"):
        load_model(tampered.folder)
    monkeypatch.setitem(pnml_state.SETTINGS_BEFORE, "mixing", "uniform")
    assert load_model(tampered.folder).model_.network.settings.mixing == "uniform"
