"""Pictures of what happens in the embedding, from networks with a plane as their embedding."""

from __future__ import annotations

import numpy as np
import torch
from plot import Panel, picture, span
from toy import LABELS, fit_toy, toy_rows

from protolabel import PNMLClassifier
from protolabel.pnml.clustering import Clustering, cluster_components

_CIRCLE = np.linspace(0, 2 * np.pi, 121)


def embedding() -> str:
    """The rows as they come, before the first epoch and after the last one."""
    X, _ = toy_rows()
    fitted = fit_toy("multiple")
    start = fit_toy("multiple", max_epochs=1, learning_rate=1e-9)
    panels = [
        Panel("Features", span(X[:, 0]), span(X[:, 1]), "first feature", "second feature"),
        _plane("Embedding at the start", start),
        _plane("Embedding after training", fitted),
    ]
    for panel, points in zip(panels, (X, start.transform(X), fitted.transform(X)), strict=True):
        _dots_by_label(panel, points, 0)
    panels[0].note(*_corner(panels[0]), f"label “{LABELS[0]}”", "a")
    return picture("Rows in feature space and in the learned embedding", *panels)


def prototypes() -> str:
    """One mean for each component, or as many as the clustering finds."""
    panels = []
    for kind, title in (("single", "Single"), ("multiple", "Multiple")):
        model = fit_toy(kind)
        X, Y = toy_rows()
        panel = _plane(f"{title}: {100 * model.score(X, Y):.0f} % of rows right", model)
        _dots_by_label(panel, model.transform(X), 0)
        found = model.prototypes_[0]
        panel.squares(found.negative, "b")
        panel.triangles(found.positive, "a")
        panels.append(panel)
    return picture("Single and multiple prototypes of one label", *panels)


def clustering() -> str:
    """Prototypes that the clustering of one embedding finds, by concentration."""
    X, Y = toy_rows()
    model = fit_toy("multiple")
    rows = torch.as_tensor(model.transform(X))
    present = torch.as_tensor(Y.T.astype(bool))
    panels = []
    for concentration in (1e-4, 0.1, 0.9):
        settings = model.set_params(concentration=concentration)._settings(X)
        found = cluster_components(rows, torch.stack([~present, present]), settings)
        counts = found.exists[0].sum(-1).tolist()
        radius = found.rule.threshold**0.5
        title = f"α = {concentration:g}: {counts[1]} positive, {counts[0]} negative"
        panels.append(_clustered(title, model, found, radius))
    return picture("Adaptive clustering with different concentrations", *panels)


def metric() -> str:
    """Rows at the same distance from the positive prototype, in the metric of each label."""
    X, _ = toy_rows()
    model = fit_toy("single")
    network = model.model_.network
    panels = []
    for label, name in enumerate(LABELS):
        panel = _plane(f"“{name}”", model)
        _dots_by_label(panel, model.transform(X), label)
        centre = network.positions[0, label, 1, 0].numpy()
        factor = np.linalg.inv(network.metric[0, label].detach().numpy().astype(float))
        for distance in (1.0, 2.0, 3.0):
            unit = distance * np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])
            ring = centre + (factor @ unit).T
            _ring(panel, ring)
        panel.squares(model.prototypes_[label].negative, "b")
        panel.triangles(model.prototypes_[label].positive, "a")
        panels.append(panel)
    return picture("Lines of equal distance in the metric of each label", *panels)


def probability() -> str:
    """Probability over the plane, and the loss of every epoch."""
    X, _ = toy_rows()
    panels = []
    for kind in ("single", "multiple"):
        model = fit_toy(kind)
        panel = Panel(f"Probability of “{LABELS[0]}”, {kind}", span(X[:, 0]), span(X[:, 1]))
        across = np.linspace(*panel.x_range, 48)
        down = np.linspace(*panel.y_range[::-1], 36)
        grid = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
        values = model.predict_proba(grid)[:, 0].reshape(36, 48)
        panel.cells(2 * values - 1, levels=8, strongest=0.45)
        _dots_by_label(panel, X, 0)
        panels.append(panel)
    panels.append(_losses())
    return picture("Probability of a label over the feature space, and training loss", *panels)


def _losses() -> Panel:
    curves = {kind: [r.cross_entropy for r in fit_toy(kind).history_] for kind in _KINDS}
    n_epochs = len(curves["single"])
    highest = max(max(values) for values in curves.values())
    ticks = [(0.0, "0"), (0.2, "0.2"), (0.4, "0.4"), (0.6, "0.6")]
    panel = Panel(
        "Cross-entropy by epoch", (1, n_epochs), (0, 1.1 * highest), "epoch", "",
        [(1, "1"), (n_epochs / 2, f"{n_epochs // 2}"), (n_epochs, str(n_epochs))], ticks,
    )  # fmt: skip
    for (kind, values), colour in zip(curves.items(), ("b", "a"), strict=True):
        panel.curve(enumerate(values, start=1), colour)
        panel.note(n_epochs, values[-1] + 0.03, kind, colour, "end")
    return panel


_KINDS = ("single", "multiple")


def _clustered(title: str, model: PNMLClassifier, found: Clustering, radius: float) -> Panel:
    X, _ = toy_rows()
    panel = _plane(title, model)
    _dots_by_label(panel, model.transform(X), 0)
    for side, mark in ((0, panel.squares), (1, panel.triangles)):
        mark(found.prototypes[0, side][found.exists[0, side]].numpy(), "ba"[side])
    centre = found.prototypes[0, 1][found.exists[0, 1]][0].numpy()
    ring = centre + radius * np.stack([np.cos(_CIRCLE), np.sin(_CIRCLE)], axis=1)
    _ring(panel, ring, dashed=True)
    return panel


def _plane(title: str, model: PNMLClassifier) -> Panel:
    points = model.transform(toy_rows()[0])
    return Panel(title, span(points[:, 0]), span(points[:, 1]))


def _dots_by_label(panel: Panel, points: np.ndarray, label: int) -> None:
    has = toy_rows()[1][:, label].astype(bool)
    panel.dots(points[~has], "b", opacity=0.45)
    panel.dots(points[has], "a", opacity=0.6)


def _corner(panel: Panel) -> tuple[float, float]:
    return panel.x_range[0] + 0.1, panel.y_range[1] - 0.35


def _ring(panel: Panel, points: np.ndarray, *, dashed: bool = False) -> None:
    """Draw the part of a closed line that lies within the panel."""
    low, high = np.transpose([panel.x_range, panel.y_range])
    inside = ((points >= low) & (points <= high)).all(axis=1)
    breaks = np.flatnonzero(np.diff(inside)) + 1
    for part in np.split(np.arange(len(points)), breaks):
        if inside[part[0]] and len(part) > 1:
            panel.curve(points[part].tolist(), "a", dashed=dashed)
