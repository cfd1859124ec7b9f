"""Prototypes that several steps use, so that not every step pays for computing them."""

from __future__ import annotations

import math

from protolabel.pnml.prototypes import PrototypeSet


class HeldPrototypes:
    """Prototypes from the step that computes them to the next one that does.

    The steps between see them where they were, and leave no gradient to them. That of the step
    that computes them counts for all: without it, embeddings would run after prototypes that do
    not move away.

    Parameters
    ----------
    interval : int
        Steps from one computation to the next, 1 for a computation at every step.

    Examples
    --------
    >>> import torch
    >>> held = HeldPrototypes(2)
    >>> found = PrototypeSet(torch.ones(1, 1, 2, 1, 1, requires_grad=True), torch.zeros(1, 1, 2, 1))
    >>> held.start_epoch(3)
    >>> [held.take() is None, held.hold(found).positions.requires_grad, held.take() is None]
    [True, True, False]
    """

    def __init__(self, interval: int) -> None:
        self.interval = interval
        self.start_epoch(math.inf)

    def start_epoch(self, n_steps: float) -> None:
        """Forget what the last epoch held; its clusters may be other ones."""
        self._held: PrototypeSet | None = None
        self._uses_left = 0
        self._steps_left = n_steps

    def take(self) -> PrototypeSet | None:
        """Prototypes for this step, None where they have to be computed."""
        if self._uses_left == 0:
            self._held = None
            return None
        self._uses_left -= 1
        self._steps_left -= 1
        return self._held

    def hold(self, prototypes: PrototypeSet) -> PrototypeSet:
        """Keep what this step computed; returns what the step goes on with."""
        n_steps = int(min(self.interval, self._steps_left))
        self._steps_left -= 1
        if n_steps <= 1:
            return prototypes
        self._uses_left = n_steps - 1
        self._held = PrototypeSet(prototypes.positions.detach(), prototypes.log_weights)
        positions = prototypes.positions.view_as(prototypes.positions)  # a node of our own
        if positions.requires_grad:
            positions.register_hook(lambda gradient: gradient * n_steps)
        return PrototypeSet(positions, prototypes.log_weights)
