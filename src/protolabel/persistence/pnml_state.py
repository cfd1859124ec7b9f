"""The fitted state of PNML in a model file: settings, network, companions, thresholds, history."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch

from protolabel.classifier import PNMLClassifier
from protolabel.companions.fusion import Fusion
from protolabel.companions.tasks import Companion
from protolabel.decision.decision_rule import DecisionRule
from protolabel.fitted_model import FittedModel
from protolabel.persistence.companion_checks import check_companions
from protolabel.persistence.records import decode, encode
from protolabel.pnml.callbacks import EpochRecord
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.settings import PNMLSettings
from protolabel.preprocessing.features import FeatureScaler
from protolabel.safefiles.bundle import Bundle
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.tensor_file import TensorSpec
from protolabel.torch_state import gradients_on

_HISTORY = tuple[EpochRecord, ...]
_COMPANIONS = tuple[Companion, ...]
_PREFIX = "network."
# What a network keeps to take up new labels with; files of version 1 do not have it.
_MOMENTS = {"mean_embedding", "covariance"}
# What a setting was, in effect, before the format knew it; for files written without it.
SETTINGS_BEFORE: dict[str, Any] = {"max_negative_prototypes": None, "prototype_interval": 1}


def encode_pnml(model: PNMLClassifier, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Turn the fitted state into what a manifest holds; tensors go to ``arrays``."""
    fitted = model.model_
    for name, tensor in fitted.network.state_dict().items():
        arrays[_PREFIX + name] = tensor.detach().cpu().numpy()
    arrays["thresholds"] = fitted.decision.thresholds
    arrays["handicaps"] = fitted.decision.handicaps
    return {
        "n_members": int(fitted.network.n_members),
        "n_added": int(fitted.network.n_added),
        "slope": float(fitted.decision.slope),
        "settings": encode(fitted.network.settings, PNMLSettings, "settings", arrays),
        "history": encode(fitted.history, _HISTORY, "history", arrays),
        "companions": encode(fitted.companions, _COMPANIONS, "companions", arrays),
        "fusion": encode(fitted.fusion, Fusion | None, "fusion", arrays),
    }


@gradients_on()
def decode_pnml(node: Any, scaler: FeatureScaler, n_labels: int, bundle: Bundle) -> dict[str, Any]:
    """Read the fitted attributes back."""
    keys = {"n_members", "n_added", "slope", "settings", "history", "companions", "fusion"}
    keys -= {1: {"n_added", "slope"}, 2: {"slope"}}.get(bundle.version, set())
    entry = Fields(node, "state", bundle.path, keys)
    n_members = entry.integer("n_members", low=1)
    n_added = 0 if bundle.version == 1 else entry.integer("n_added", high=n_labels - 1)
    known = {field.name for field in fields(PNMLSettings)}
    missing = {name: value for name, value in SETTINGS_BEFORE.items() if name in known}
    settings = decode(missing | entry.members("settings"), PNMLSettings, "settings", bundle)
    history = decode(entry.items("history"), _HISTORY, "history", bundle)
    decision_names = ("thresholds", "handicaps") if bundle.version > 2 else ("thresholds",)
    decision_specs = {name: TensorSpec("F64", (n_labels,)) for name in decision_names}
    expected = network_specs(settings, scaler.n_columns, n_labels, n_members)
    slots_shape = bundle.tensors.spec(_PREFIX + "log_weights").shape
    n_slots = slots_shape[-1] if slots_shape else 0
    if not 1 <= n_slots <= max(settings.most_prototypes):
        bundle.refuse(f"the network has {n_slots} prototypes a component")
    heads = expected["log_prior_odds"].shape
    expected["log_weights"] = TensorSpec("F64", (*heads, 2, n_slots))
    expected["positions"] = TensorSpec("F64", (*heads, 2, n_slots, settings.embedding_dim))
    if _PREFIX + "covariance" not in bundle.tensors.schema:
        expected = {name: spec for name, spec in expected.items() if name not in _MOMENTS}
    if n_added and not settings.shared_embedding:
        bundle.refuse(f"{n_added} labels were added to a network without a shared embedding")
    named = {_PREFIX + name: spec for name, spec in expected.items()}
    for name, spec in (named | decision_specs).items():
        found = bundle.tensors.spec(name)
        if found != spec:
            bundle.refuse(
                f"{name} is {found.dtype} of shape {found.shape}; the settings ask for "
                f"{spec.dtype} of shape {spec.shape}"
            )
    state = {name: torch.from_numpy(bundle.tensors.read(_PREFIX + name)) for name in expected}
    network = _network(settings, scaler.n_columns, n_labels, n_members, state)
    network.n_added = n_added
    decision = DecisionRule.of(bundle.tensors.read("thresholds"))
    if bundle.version > 2:
        handicaps, slope = bundle.tensors.read("handicaps"), entry.number("slope")
        if (handicaps < 0).any() or slope <= 0:
            bundle.refuse("handicaps are negative, or their slope is not above 0")
        decision = replace(decision, handicaps=handicaps, slope=slope)
    companions = decode(entry.raw("companions"), _COMPANIONS, "companions", bundle)
    fusion = decode(entry.raw("fusion"), Fusion | None, "fusion", bundle)
    check_companions(companions, fusion, scaler.n_columns, n_labels, n_added, bundle)
    return {"model_": FittedModel(network, scaler, decision, history, companions, fusion)}


def network_specs(
    settings: PNMLSettings, n_features: int, n_labels: int, n_members: int
) -> dict[str, TensorSpec]:
    """Arrays of a network but for its prototypes, without building it.

    A file may announce any size; the arrays have to be there before anything is allocated.
    """
    n_slices = n_members if settings.shared_embedding else n_members * n_labels
    heads = (n_slices, n_labels if settings.shared_embedding else 1)
    dim, hidden = settings.embedding_dim, settings.hidden_dim
    first = hidden or dim
    shapes: dict[str, tuple[int, ...]] = {
        "embedding.weight": (n_features, n_slices, first),
        "embedding.bias": (n_slices, 1, first),
        "log_prior_odds": heads,
        "constant_logits": (n_labels,),
    }
    if hidden is not None:
        shapes |= {
            "embedding.top_weight": (n_slices, hidden, dim),
            "embedding.top_bias": (n_slices, 1, dim),
        }
    if settings.shared_embedding:
        shapes |= {"mean_embedding": (n_slices, dim), "covariance": (n_slices, dim, dim)}
    if settings.metric == "mahalanobis":
        shapes["metric"] = (*heads, settings.metric_rank or dim, dim)
    if settings.cluster_variance == "trainable":
        shapes["log_variance"] = (n_slices,)
    specs = {name: TensorSpec("F64", shape) for name, shape in shapes.items()}
    return specs | {"active": TensorSpec("BOOL", heads)}


def _network(
    settings: PNMLSettings,
    n_features: int,
    n_labels: int,
    n_members: int,
    state: dict[str, torch.Tensor],
) -> PrototypeNetwork:
    network = PrototypeNetwork(n_features, n_labels, settings, n_members, torch.Generator())
    network.positions, network.log_weights = state["positions"], state["log_weights"]
    for name in _MOMENTS - state.keys():
        network.register_buffer(name, None)
    network.load_state_dict(state, assign=True)
    return network
