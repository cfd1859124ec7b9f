"""Model files whose sums are true but whose parts do not fit: refused before they are used."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from persistence.conftest import labelled_rows, rows_with_idle_columns
from persistence.tampering import Tampered, bounded_memory, manifest_entry
from protolabel import PNMLClassifier
from protolabel.baselines.camel import CAMEL
from protolabel.baselines.ml_knn import MLkNN
from protolabel.baselines.parabel import Parabel
from protolabel.exceptions import ModelFileError
from protolabel.persistence import load_model, save_model
from quick_models import rows_in_quarters

FOREST, KERNEL = "companions.1", "companions.0"
PROTOTYPES = "companions.2.prototype_trees"
SETS = "fusion.set_prototypes"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    X, Y = labelled_rows(80)
    rng = np.random.default_rng(0)
    many = (X @ rng.normal(size=(3, 8)) > 0.3).astype(int)
    fitted = {
        "pnml": PNMLClassifier(
            "single",
            embedding_dim=2,
            max_epochs=1,
            n_members=2,
            n_trees=2,
            n_landmarks=4,
            random_state=0,
        ).fit(X, Y),
        "sparse": PNMLClassifier(
            embedding_dim=2, max_epochs=1, n_members=2, n_trees=2, n_landmarks=4, random_state=0
        ).fit(sp.csr_array(np.maximum(X, 0)), Y),
        "weighted": PNMLClassifier(
            embedding_dim=2, max_epochs=1, n_members=2, n_trees=0, n_landmarks=4, random_state=0
        ).fit(*rows_with_idle_columns()),
        "sets": PNMLClassifier(
            embedding_dim=2, max_epochs=1, n_members=2, n_trees=2, n_landmarks=4, random_state=0
        )
        .fit(*rows_in_quarters())
        .add_label(X, name="later"),
        "parabel": Parabel(n_trees=1, min_branch_size=3, random_state=0).fit(X, many),
        "ml_knn": MLkNN(3).fit(X, Y),
        "camel": CAMEL().fit(X, Y),
    }
    home = tmp_path_factory.mktemp("parts")
    for name, model in fitted.items():
        save_model(model, home / name)
    return home


def array_of(model: Tampered, name: str) -> tuple[np.ndarray, str]:
    header, payload = model.split()
    entry = header[name]
    types = {"I32": "<i4", "I64": "<i8", "F64": "<f8", "F32": "<f4", "I8": "i1", "BOOL": "?"}
    data = np.frombuffer(payload[slice(*entry["data_offsets"])], types[entry["dtype"]])
    return data.reshape(entry["shape"]).copy(), entry["dtype"]


def changed(name, change):
    """Replace one array by what a function makes of it."""

    def tamper(model: Tampered) -> None:
        array, dtype = array_of(model, name)
        result = change(array)
        model.set_tensor(name, array if result is None else result, dtype)

    return tamper


def put(name, index, value):
    return changed(name, lambda array: np.put(array, index, value))


def wider(name):
    return changed(name, lambda array: np.concatenate([array, array], axis=-1))


def as_bytes(name):
    def tamper(model: Tampered) -> None:
        array, _ = array_of(model, name)
        model.set_tensor(name, np.full(array.shape, 16, dtype=np.uint8), "U8")

    return tamper


def same_tensor_twice(model: Tampered) -> None:
    def edit(document):
        companions = document["state"]["companions"]
        companions[0]["intercept"] = companions[0]["coefficients"]

    model.edit_manifest(edit)


def kernel_as_array_of_the_forest(model: Tampered) -> None:
    model.edit_manifest(lambda d: d["state"]["companions"].reverse())


def shared_children(first_child):
    """The second inner node leads to the children of the first one that come after it."""
    first, second = np.flatnonzero(first_child >= 0)[:2]
    first_child[second] = max(first_child[first], second + 1)


def bytes_of_negatives(name):
    """Numbers that fit into a byte but point behind themselves."""

    def tamper(model: Tampered) -> None:
        array, _ = array_of(model, name)
        model.set_tensor(name, np.minimum(array, 0).astype(np.int8), "I8")

    return tamper


def without_fusion(model: Tampered) -> None:
    model.edit_manifest(lambda d: d["state"].update(fusion=None))


def deep_tuples(model: Tampered) -> None:
    nested = []
    for _ in range(400):
        nested = [nested]
    model.edit_manifest(lambda d: d["state"].update(companions=nested))


HOSTILE = {
    "tree_that_leads_back_to_its_root": ("pnml", put(f"{FOREST}.trees.left", 0, 0), "nowhere"),
    "tree_with_a_child_beyond_its_nodes": (
        "pnml",
        put(f"{FOREST}.trees.right", 0, 10**6),
        "nowhere",
    ),
    "tree_that_splits_by_a_missing_feature": (
        "pnml",
        put(f"{FOREST}.trees.feature", 0, 10**6),
        "nowhere",
    ),
    "tree_with_a_root_that_is_missing": ("pnml", put(f"{FOREST}.trees.roots", 0, -1), "nowhere"),
    "prototype_tree_that_leads_back_to_its_root": (
        "sparse",
        put(f"{PROTOTYPES}.first_child", 0, 0),
        "nowhere",
    ),
    "prototype_tree_with_children_beyond_its_nodes": (
        "sparse",
        put(f"{PROTOTYPES}.n_children", 0, 10**6),
        "nowhere",
    ),
    "prototype_tree_with_a_node_without_children": (
        "sparse",
        put(f"{PROTOTYPES}.n_children", 0, 0),
        "nowhere",
    ),
    "prototype_tree_whose_leaf_has_children": (
        "sparse",
        put(f"{PROTOTYPES}.n_children", -1, 2**30),
        "leaves with children",
    ),
    "prototype_tree_with_a_child_of_two_nodes": (
        "sparse",
        changed(f"{PROTOTYPES}.first_child", shared_children),
        "children of two nodes",
    ),
    "prototype_tree_in_bytes": (
        "sparse",
        bytes_of_negatives(f"{PROTOTYPES}.first_child"),
        "nowhere",
    ),
    "prototype_tree_with_a_root_that_is_missing": (
        "sparse",
        put(f"{PROTOTYPES}.roots", 0, 10**6),
        "nowhere",
    ),
    "prototypes_of_other_dimensions": (
        "sparse",
        wider(f"{PROTOTYPES}.prototypes"),
        "prototypes has",
    ),
    "projection_of_other_dimensions": (
        "sparse",
        wider(f"{PROTOTYPES}.projection"),
        "prototypes has",
    ),
    "prototypes_that_are_no_numbers": (
        "sparse",
        put(f"{PROTOTYPES}.prototypes", 3, np.nan),
        "NaN or infinity",
    ),
    "prototype_forest_without_a_prior": ("sparse", put("companions.2.prior", 0, 0.0), "no shares"),
    "leaf_with_a_row_that_is_missing": (
        "pnml",
        put(f"{FOREST}.leaf_rows.indices", 0, 10**6),
        "outside its shape",
    ),
    "leaf_rows_that_run_backwards": (
        "pnml",
        put(f"{FOREST}.leaf_rows.indptr", 1, -5),
        "outside its shape",
    ),
    "csr_with_a_billion_columns": (
        "pnml",
        manifest_entry("state", "companions", 1, "leaf_rows", "shape", value=[6, 2**40]),
        "expected two sizes",
    ),
    "csr_with_columns_that_nothing_holds": (
        "pnml",
        manifest_entry("state", "companions", 1, "labels", "shape", value=[80, 2**30]),
        "labels has the shape",
    ),
    "labels_of_two": ("pnml", put(f"{FOREST}.labels.data", 0, 2.0), "matrix of 0 and 1"),
    "prior_of_zero": ("pnml", put(f"{FOREST}.prior", 0, 0.0), "no shares"),
    "kernel_of_other_labels": ("pnml", wider(f"{KERNEL}.coefficients"), "coefficients has"),
    "tensor_named_by_two_places": ("pnml", same_tensor_twice, "instead of its own"),
    "companions_in_another_order": ("pnml", kernel_as_array_of_the_forest, "companions"),
    "companions_without_fusion": ("pnml", without_fusion, "fit the fusion"),
    "companions_nested_400_deep": ("pnml", deep_tuples, "companions.0"),
    "fusion_of_other_learners": ("pnml", wider("fusion.slopes"), "slopes of shape"),
    "fusion_of_other_labels": ("pnml", wider("fusion.learned"), "learned or not"),
    "fusion_with_other_shifts": ("pnml", wider("fusion.shifts"), "shifts of shape"),
    "sets_of_other_labels": (
        "sets",
        manifest_entry("state", "fusion", "set_prototypes", "sets", "shape", value=[4, 9]),
        "sets has the shape",
    ),
    "sets_of_other_counts": ("sets", wider(f"{SETS}.counts"), "counts has the shape"),
    "sets_of_other_priors": ("sets", wider(f"{SETS}.prior"), "prior has the shape"),
    "sets_of_other_offsets": ("sets", wider(f"{SETS}.offset"), "offset of shape"),
    "sets_of_no_rows": ("sets", put(f"{SETS}.counts", 0, 0.0), "sets of no rows"),
    "sets_with_a_label_twice": ("sets", put(f"{SETS}.sets.data", 0, 2.0), "matrix of 0 and 1"),
    "sets_with_a_later_label": ("sets", put(f"{SETS}.sets.indices", -1, 6), "added later"),
    "sets_in_bytes": ("sets", as_bytes(f"{SETS}.counts"), "double precision"),
    "sets_of_no_weight": (
        "sets",
        manifest_entry("state", "fusion", "set_prototypes", "weight", value=0.0),
        "no share",
    ),
    "sets_of_too_much_weight": (
        "sets",
        manifest_entry("state", "fusion", "set_prototypes", "weight", value=1e300),
        "no share",
    ),
    "link_of_other_labels": ("pnml", wider(f"{KERNEL}.softness"), "softness of shape"),
    "link_without_softness": ("pnml", put(f"{KERNEL}.softness", 0, 0.0), "not above 0"),
    "link_of_negative_softness": (
        "pnml",
        manifest_entry("state", "companions", 0, "softness", value=-0.5),
        "not above 0",
    ),
    "weights_of_other_columns": ("weighted", wider(f"{KERNEL}.weights"), "weights has the shape"),
    "weights_of_zero": ("weighted", put(f"{KERNEL}.weights", 0, 0.0), "no shares"),
    "weights_beyond_all_bounds": ("weighted", put(f"{KERNEL}.weights", 0, 1e200), "no shares"),
    "weights_in_bytes": ("weighted", as_bytes(f"{KERNEL}.weights"), "no shares"),
    "weights_that_are_a_number": (
        "weighted",
        manifest_entry("state", "companions", 0, "weights", value=0.5),
        "weights",
    ),
    "label_tree_of_endless_depth": (
        "parabel",
        put("model.trees.0.depths", -1, 2**62),
        "point nowhere",
    ),
    "label_tree_that_is_its_own_parent": (
        "parabel",
        put("model.trees.0.parents", 1, 1),
        "nowhere",
    ),
    "label_tree_with_a_leaf_that_is_missing": (
        "parabel",
        put("model.trees.0.leaves", 0, 10**9),
        "nowhere",
    ),
    "label_tree_without_trees": (
        "parabel",
        manifest_entry("state", "model", "trees", value=[]),
        "trees",
    ),
    "label_tree_of_other_labels": (
        "parabel",
        manifest_entry("state", "model", "n_labels", value=10**9),
        "learned",
    ),
    "sides_of_other_labels": ("parabel", put("sides.learned", -1, 10**9), "label"),
    "sides_in_falling_order": ("parabel", put("sides.learned", 0, 7), "rising"),
    "neighbours_more_than_rows": (
        "ml_knn",
        wider("model.tables.joint"),
        "tables.joint has the shape",
    ),
    "labels_counted_twice": ("ml_knn", put("model.labels.data", 0, 9), "matrix of 0 and 1"),
    "kernel_machine_of_other_rows": ("camel", wider("model.intercept"), "intercept has the shape"),
    "bandwidth_that_is_text": (
        "camel",
        manifest_entry("state", "model", "bandwidth", value="wide"),
        "bandwidth",
    ),
    "extras_unknown": (
        "camel",
        manifest_entry("state", "extras", "hook", value=1),
        "unknown entry",
    ),
    "record_with_a_class_to_import": (
        "camel",
        manifest_entry("state", "model", "__class__", value="os.system"),
        "does not know",
    ),
    "state_of_another_estimator": ("camel", manifest_entry("estimator", value="JFSC"), "parameter"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_part_is_refused(name, models, tmp_path):
    source, tamper, expected = HOSTILE[name]
    folder = tmp_path / "model"
    folder.mkdir()
    for path in (models / source).iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    load_model(folder)
    tamper(Tampered(folder))
    with pytest.raises(ModelFileError, match=re.escape(expected)), bounded_memory():
        load_model(folder)


def test_no_class_or_module_is_named_in_a_manifest(models):
    for path in Path(models).glob("*/manifest.json"):
        text = path.read_text()
        assert "protolabel." not in text
        assert "__" not in text
        json.loads(text)
