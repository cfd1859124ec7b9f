"""Prototypes that several steps use, so that not every step pays for computing them."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from protolabel.pnml.prototypes import PrototypeSet


class HeldPrototypes:
    """Prototypes from the step that computes them to the next one that does.

    The steps between see them where they were. What the step that computes them sends back through
    them is part of the gradient of all: without it, embeddings would run after prototypes that do
    not move away, and all of it in one step would be a jolt to Adam, whose steps then get smaller.

    Parameters
    ----------
    interval : int
        Steps from one computation to the next, 1 for a computation at every step.
    parameters : iterable of Tensor
        What prototypes are computed from.

    Examples
    --------
    >>> weight = torch.ones(1, requires_grad=True)
    >>> held = HeldPrototypes(2, [weight])
    >>> for _ in range(3):
    ...     found = held.take()
    ...     is_computed = found is None
    ...     if is_computed:
    ...         positions = 3 * weight.view(1, 1, 1, 1, 1)
    ...         found = held.hold(PrototypeSet(positions, torch.zeros(1, 1, 1, 1)))
    ...     weight.grad = None
    ...     (found.positions.sum() + weight.sum()).backward()
    ...     held.pass_on()
    ...     print(is_computed, weight.grad.item())
    True 4.0
    False 4.0
    True 4.0
    """

    def __init__(self, interval: int, parameters: Iterable[Tensor]) -> None:
        self.interval = interval
        self._parameters = list(parameters)
        self._held: PrototypeSet | None
        # What was computed, and the same as the step sees it.
        self._computed: Tensor | None
        self._seen: Tensor | None
        self._gradients: list[tuple[Tensor, Tensor]]
        self.forget()

    def forget(self) -> None:
        """Compute prototypes in the next step; its clusters may be other ones."""
        self._held = self._computed = self._seen = None
        self._gradients = []
        self._uses_left = 0

    def take(self) -> PrototypeSet | None:
        """Prototypes for this step, None where they have to be computed."""
        if self._uses_left == 0:
            self.forget()
            return None
        self._uses_left -= 1
        return self._held

    def hold(self, prototypes: PrototypeSet) -> PrototypeSet:
        """Keep what this step computed; returns what the step goes on with."""
        if self.interval == 1:
            return prototypes
        self._uses_left = self.interval - 1
        positions = prototypes.positions
        self._held = PrototypeSet(positions.detach(), prototypes.log_weights)
        if not positions.requires_grad:
            return self._held
        self._computed, self._seen = positions, positions.detach().requires_grad_()
        return PrototypeSet(self._seen, prototypes.log_weights)

    def pass_on(self) -> None:
        """Add what goes back through the prototypes to the gradient of a step, after its own."""
        if self._computed is not None and self._seen is not None:
            if self._seen.grad is not None:
                found = torch.autograd.grad(self._computed, self._parameters, self._seen.grad)
                self._gradients = list(zip(self._parameters, found, strict=True))
            self._computed = self._seen = None
        for parameter, gradient in self._gradients:
            parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
