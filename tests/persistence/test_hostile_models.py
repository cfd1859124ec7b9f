"""Model files that are wrong on purpose: each is refused, at once and in little memory."""

import json
import os
import re
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from persistence.tampering import Tampered, bounded_memory, manifest_entry, with_header
from protolabel.exceptions import ModelFileError
from protolabel.persistence import load_model

HUGE = 2**40


def raw_manifest(data: bytes):
    return lambda model: model.manifest_path.write_bytes(data)


def raw_tensors(data: bytes):
    return lambda model: model.write_tensors(data)


def header_entry(name, **changes):
    return lambda model: model.edit_header(lambda header: header[name].update(changes))


def tensor(name, array, dtype="F64"):
    return lambda model: model.set_tensor(name, array, dtype)


def schema_and_header(name, **changes):
    """Announce the same wrong thing in the manifest and in the header."""

    def tamper(model: Tampered) -> None:
        model.edit_manifest(lambda m: m["tensors"]["schema"][name].update(changes))
        model.edit_header(lambda header: header[name].update(changes))

    return tamper


def without_file(name):
    return lambda model: (model.folder / name).unlink()


def as_folder(name):
    def tamper(model: Tampered) -> None:
        (model.folder / name).unlink()
        (model.folder / name).mkdir()

    return tamper


def as_pipe(name):
    def tamper(model: Tampered) -> None:
        (model.folder / name).unlink()
        os.mkfifo(model.folder / name)

    return tamper


def as_device(name):
    def tamper(model: Tampered) -> None:
        (model.folder / name).unlink()
        (model.folder / name).symlink_to("/dev/zero")

    return tamper


def as_sparse_giant(name):
    return lambda model: os.truncate(model.folder / name, HUGE)


def announced_giant(model: Tampered) -> None:
    """A terabyte of holes that manifest and file agree on."""
    os.truncate(model.tensors_path, HUGE)
    manifest_entry("tensors", "size", value=HUGE)(model)


def cut_tensors(model: Tampered) -> None:
    os.truncate(model.tensors_path, model.tensors_path.stat().st_size - 8)


def cut_tensors_announced(model: Tampered) -> None:
    model.write_tensors(model.tensors_path.read_bytes()[:-8])


def trailing_bytes(model: Tampered) -> None:
    model.write_tensors(model.tensors_path.read_bytes() + b"\0" * 8)


def flipped_payload(model: Tampered) -> None:
    data = bytearray(model.tensors_path.read_bytes())
    data[-1] ^= 1
    model.tensors_path.write_bytes(bytes(data))


def overlapping_tensors(model: Tampered) -> None:
    def edit(header):
        header["scaler.offset"]["data_offsets"] = header["scaler.weight"]["data_offsets"]

    model.edit_header(edit)


def duplicate_header_key(model: Tampered) -> None:
    header, payload = model.split()
    text = json.dumps(header)
    entry = json.dumps(header["thresholds"])
    model.write_tensors(with_header((text[:-1] + f', "thresholds": {entry}}}').encode(), payload))


def many_empty_tensors(model: Tampered) -> None:
    header, payload = model.split()
    end = max(entry["data_offsets"][1] for entry in header.values())
    for number in range(50_000):
        header[f"t{number}"] = {"dtype": "F64", "shape": [0], "data_offsets": [end, end]}
    model.write_tensors(with_header(json.dumps(header).encode(), payload))


def padded_header(model: Tampered) -> None:
    header, payload = model.split()
    model.write_tensors(with_header(json.dumps(header).encode() + b" " * (99 * 2**20), payload))


def duplicate_manifest_key(model: Tampered) -> None:
    text = model.manifest_path.read_text().rstrip()
    model.manifest_path.write_text(text[:-1] + ', "estimator": "PNMLClassifier"}')


def changed_without_checksum(model: Tampered) -> None:
    text = model.manifest_path.read_text()
    model.manifest_path.write_text(text.replace('"at_least_one": false', '"at_least_one": true'))


def metadata_in_header(model: Tampered) -> None:
    model.edit_header(lambda header: header.update(__metadata__={"run": "rm -rf"}))


def unused_tensor(model: Tampered) -> None:
    model.set_tensor("extra", np.zeros(3), "F64")


def missing_tensor(model: Tampered) -> None:
    """Rename the thresholds in header and schema alike."""
    model.edit_manifest(
        lambda m: m["tensors"]["schema"].update(other=m["tensors"]["schema"].pop("thresholds"))
    )
    model.edit_header(lambda header: header.update(other=header.pop("thresholds")))


def permuted_shape(model: Tampered) -> None:
    schema_and_header("network.embedding.weight", shape=[2, 1, 3])(model)


def many_lists(model: Tampered) -> None:
    model.manifest_path.write_bytes(b"[" + b"[]," * 8_000_000 + b"[]]")


def swapped_label_counts(model: Tampered) -> None:
    model.set_tensor("label_names", np.arange(3), "I64")


# The name says what is wrong; the text has to be part of the message.
HOSTILE = {
    "manifest_missing": (without_file("manifest.json"), "no such file"),
    "manifest_empty": (raw_manifest(b""), "not valid JSON"),
    "manifest_is_a_folder": (as_folder("manifest.json"), "no regular file"),
    "manifest_is_a_pipe_that_never_answers": (as_pipe("manifest.json"), "no regular file"),
    "manifest_is_an_endless_device": (as_device("manifest.json"), "no regular file"),
    "manifest_of_a_terabyte": (as_sparse_giant("manifest.json"), "no manifest is as large"),
    "manifest_not_utf8": (raw_manifest(b'{"format": "\xff\xfe"}'), "not valid JSON"),
    "manifest_with_byte_order_mark": (raw_manifest(b"\xef\xbb\xbf{}"), "not valid JSON"),
    "manifest_is_a_list": (raw_manifest(b"[]"), "expected a JSON object"),
    "manifest_nested_100000_deep": (raw_manifest(b"[" * 100_000), "nested too deeply"),
    "manifest_objects_nested_100000_deep": (
        raw_manifest(b'{"a":' * 100_000),
        "nested too deeply",
    ),
    "manifest_with_eight_million_lists": (many_lists, "lists and objects"),
    "manifest_with_a_number_of_5000_digits": (
        raw_manifest(b'{"format_version": ' + b"9" * 5000 + b"}"),
        "not valid JSON",
    ),
    "manifest_with_nan": (raw_manifest(b'{"format": NaN}'), "not a JSON number"),
    "manifest_with_a_number_beyond_doubles": (raw_manifest(b'{"a": 1e999}'), "too large"),
    "manifest_key_twice": (duplicate_manifest_key, "occurs twice"),
    "manifest_is_a_pickle": (raw_manifest(b"\x80\x04\x95\x00\x00cos\nsystem\n."), "JSON"),
    "manifest_changed_without_its_checksum": (changed_without_checksum, "SHA-256"),
    "manifest_with_an_unknown_entry": (manifest_entry("plugin", value="x"), "unknown entry"),
    "manifest_without_state": (lambda m: m.edit_manifest(lambda d: d.pop("state")), "'state'"),
    "format_of_another_program": (manifest_entry("format", value="pickle"), "the format is"),
    "format_version_of_the_future": (manifest_entry("format_version", value=99), "Upgrade"),
    "format_version_is_true": (manifest_entry("format_version", value=True), "format version"),
    "estimator_by_import_path": (manifest_entry("estimator", value="os.system"), "estimator is"),
    "estimator_is_a_list": (manifest_entry("estimator", value=["PNML"]), "expected a string"),
    "parameter_unknown": (manifest_entry("parameters", "exec", value="1"), "no parameter"),
    "parameter_of_the_wrong_type": (
        manifest_entry("parameters", "at_least_one", value="yes"),
        "at_least_one",
    ),
    "parameter_callbacks_by_name": (
        manifest_entry("parameters", "callbacks", value=["os.system"]),
        "callbacks",
    ),
    "settings_with_a_choice_that_does_not_exist": (
        manifest_entry("state", "settings", "metric", value="cosine"),
        "settings.metric",
    ),
    "settings_that_contradict_each_other": (
        manifest_entry("state", "settings", "correlation_penalty", value=1.0),
        "not consistent",
    ),
    "settings_for_a_terabyte_of_weights": (
        manifest_entry("state", "settings", "embedding_dim", value=HUGE),
        "settings ask for",
    ),
    "settings_unknown": (manifest_entry("state", "settings", "hook", value=1), "settings"),
    "members_by_the_billion": (
        manifest_entry("state", "n_members", value=10**12),
        "settings ask for",
    ),
    "members_none": (manifest_entry("state", "n_members", value=0), "whole number"),
    "history_is_text": (manifest_entry("state", "history", value="none"), "expected a list"),
    "features_by_the_billion": (manifest_entry("features", "count", value=2**30), "features"),
    "features_negative": (manifest_entry("features", "count", value=-1), "whole number"),
    "feature_names_too_few": (
        manifest_entry("features", "names", value={"kind": "object", "values": ["a"]}),
        "feature names",
    ),
    "labels_of_another_number": (swapped_label_counts, "label names"),
    "label_names_with_half_a_surrogate_pair": (
        manifest_entry("target", "label_names", value={"kind": "text", "values": ["a", "\ud800"]}),
        "surrogate",
    ),
    "label_names_that_are_objects": (
        manifest_entry("target", "label_names", value={"kind": "object", "values": [{}, []]}),
        "no name",
    ),
    "label_names_that_widen_to_gigabytes": (
        manifest_entry(
            "target",
            "label_names",
            value={"kind": "text", "values": ["x" * 20_000, *["a"] * 20_000]},
        ),
        "far more memory",
    ),
    "label_names_in_a_tensor_of_another_purpose": (
        manifest_entry("target", "label_names", value={"tensor": "thresholds"}),
        "label_names",
    ),
    "target_kind_unknown": (manifest_entry("target", "kind", value="regression"), "one of"),
    "target_kind_that_does_not_fit": (
        manifest_entry("target", "kind", value="multiclass"),
        "multiclass target",
    ),
    "preprocessing_unknown": (manifest_entry("preprocessing", "rule", value="eval"), "one of"),
    "preprocessing_without_its_columns": (
        manifest_entry("preprocessing", "rule", value="standard"),
        "even columns do not go together with the rule 'standard'",
    ),
    "preprocessing_without_length": (manifest_entry("preprocessing", "row_norm", value=0), "norm"),
    "metrics_that_are_code": (manifest_entry("metrics", "accuracy", value="1+1"), "metrics"),
    "tensors_missing": (without_file("tensors.safetensors"), "no such file"),
    "tensors_is_a_pipe_that_never_answers": (as_pipe("tensors.safetensors"), "no regular file"),
    "tensors_empty": (raw_tensors(b""), "0 bytes"),
    "tensors_cut_off": (cut_tensors, "announces"),
    "tensors_cut_off_and_announced": (cut_tensors_announced, "the arrays end at"),
    "tensors_with_trailing_bytes": (trailing_bytes, "the arrays end at"),
    "tensors_with_a_flipped_bit": (flipped_payload, "SHA-256"),
    "tensors_of_a_terabyte": (as_sparse_giant("tensors.safetensors"), "announces"),
    "tensors_of_a_terabyte_announced": (announced_giant, "max_bytes"),
    "tensors_are_a_pickle": (raw_tensors(b"\x80\x04\x95cos\nsystem\n(S'id'\ntR."), "header"),
    "tensors_are_a_zip": (raw_tensors(b"PK\x03\x04" + b"\0" * 60), "header"),
    "header_longer_than_the_file": (raw_tensors(b"\xff" * 8 + b"{}"), "header announces"),
    "header_not_json": (raw_tensors(with_header(b"import os", b"")), "not valid JSON"),
    "header_nested_100000_deep": (raw_tensors(with_header(b"[" * 100_000, b"")), "deeply"),
    "header_padded_to_99_megabytes": (padded_header, "header announces"),
    "header_key_twice": (duplicate_header_key, "occurs twice"),
    "header_with_metadata": (metadata_in_header, "only one of header and manifest"),
    "header_with_50000_empty_tensors": (many_empty_tensors, "header"),
    "header_entry_is_a_number": (
        lambda m: m.edit_header(lambda h: h.update(thresholds=1)),
        "does not agree",
    ),
    "header_shape_permuted": (
        header_entry("network.embedding.weight", shape=[1, 3, 2]),
        "does not agree",
    ),
    "header_shape_of_booleans": (header_entry("scaler.weight", shape=[True]), "not agree"),
    "header_type_of_the_same_width": (header_entry("thresholds", dtype="I64"), "not agree"),
    "header_type_unknown": (schema_and_header("thresholds", dtype="PICKLE"), "one of"),
    "offsets_overlap": (overlapping_tensors, "overlaps"),
    "offsets_negative": (header_entry("thresholds", data_offsets=[-16, 0]), "does not fit"),
    "offsets_backwards": (header_entry("thresholds", data_offsets=[16, 0]), "does not fit"),
    "offsets_beyond_the_file": (
        header_entry("thresholds", data_offsets=[HUGE, HUGE + 16]),
        "hole",
    ),
    "offsets_of_floats": (header_entry("thresholds", data_offsets=[0.0, 16.0]), "whole numbers"),
    "shape_that_overflows": (
        schema_and_header("thresholds", shape=[2**40, 2**40]),
        "does not fit",
    ),
    "shape_of_no_cells_that_no_array_has": (
        lambda m: (
            m.set_tensor("scaler.columns.middle", np.zeros((0, 1)), "F64"),
            schema_and_header("scaler.columns.middle", shape=[0, 2**52, 2**52])(m),
        ),
        "has a shape that no array has",
    ),
    "shape_negative": (schema_and_header("thresholds", shape=[-2]), "list of a few sizes"),
    "shape_with_a_thousand_dimensions": (
        schema_and_header("thresholds", shape=[1] * 1000),
        "list of a few sizes",
    ),
    "shape_permuted_everywhere": (permuted_shape, "settings ask for"),
    "weights_with_nan": (tensor("thresholds", np.array([0.0, np.nan])), "NaN"),
    "handicaps_below_zero": (tensor("handicaps", np.array([0.0, -1.0])), "are negative"),
    "handicaps_of_other_labels": (tensor("handicaps", np.zeros(3)), "settings ask for"),
    "slope_of_zero": (manifest_entry("state", "slope", value=0.0), "are negative"),
    "columns_without_spread": (
        tensor("scaler.columns.spread", np.array([1.0, 0.0, 1.0])),
        "spread is not above 0",
    ),
    "columns_of_other_tables": (
        tensor("scaler.columns.middle", np.zeros(2)),
        "scaler.columns.middle has the shape (2,)",
    ),
    "weights_with_infinity": (tensor("scaler.weight", np.array([1.0, np.inf, 1.0])), "infinity"),
    "weights_in_single_precision": (
        tensor("thresholds", np.zeros(2, dtype=np.float32), "F32"),
        "settings ask for",
    ),
    "booleans_of_two": (
        tensor("network.active", np.full((1, 2), 2, dtype=np.uint8), "BOOL"),
        "other than 0 and 1",
    ),
    "tensor_that_nothing_uses": (unused_tensor, "no part of the model"),
    "tensor_under_another_name": (missing_tensor, "not there"),
    "prototypes_by_the_thousand": (
        tensor("network.log_weights", np.zeros((1, 2, 2, 1000))),
        "prototypes a component",
    ),
    "prototypes_none": (tensor("network.log_weights", np.zeros((1, 2, 2, 0))), "0 prototypes"),
    "network_without_axes": (tensor("network.log_weights", np.array(0.0)), "0 prototypes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_model_is_refused(name, tampered):
    tamper, expected = HOSTILE[name]
    tamper(tampered)
    started = time.process_time()
    with pytest.raises(ModelFileError, match=re.escape(expected)) as refusal, bounded_memory():
        load_model(tampered.folder)
    assert time.process_time() - started < 5
    assert str(tampered.folder) in str(refusal.value)
    assert len(str(refusal.value)) < 700
    assert str(refusal.value).isprintable()


def test_there_are_many_hostile_models():
    assert len(HOSTILE) >= 30


@pytest.mark.parametrize(
    "name",
    [
        "settings_for_a_terabyte_of_weights",
        "members_by_the_billion",
        "features_by_the_billion",
        "tensors_of_a_terabyte_announced",
        "shape_that_overflows",
        "tensors_with_a_flipped_bit",
    ],
)
def test_nothing_large_is_allocated_before_the_refusal(name, tampered):
    HOSTILE[name][0](tampered)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            load_model(tampered.folder)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**20


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="no such folder"):
        load_model(tmp_path / "nothing")


def test_a_file_instead_of_a_folder_is_refused(tmp_path):
    (tmp_path / "model.pkl").write_bytes(b"cos\nsystem\n.")
    with pytest.raises(ModelFileError, match="no such folder"):
        load_model(tmp_path / "model.pkl")


def test_a_refused_model_leaves_no_file_open(tampered):
    before = len(list(Path("/proc/self/fd").iterdir()))
    flipped_payload(tampered)
    for _ in range(5):
        with pytest.raises(ModelFileError):
            load_model(tampered.folder)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_an_untouched_copy_loads_under_the_memory_limit(tampered):
    with bounded_memory():
        model = load_model(tampered.folder)
    assert model.predict_proba(np.zeros((1, 3))).shape == (1, 2)
