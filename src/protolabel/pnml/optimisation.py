"""Adam with the metric penalty as weight decay, and the course of its learning rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from protolabel.pnml.network import PrototypeNetwork

_BETAS = (0.9, 0.999)
_EPSILON = 1e-8


@dataclass
class ParameterGroup:
    """Parameters that decay at the same rate."""

    parameters: Sequence[nn.Parameter]
    weight_decay: float = 0.0


class Adam:
    """Adam in one pass over the parameters, with the numbers of ``torch.optim.Adam(fused=True)``.

    The operator is that of PyTorch. Its optimiser classes load the compiler with the first step
    of a process, which takes longer than many a fit.

    Parameters
    ----------
    groups : sequence of ParameterGroup
    learning_rate : float
        May be changed between steps.
    """

    def __init__(self, groups: Sequence[ParameterGroup], learning_rate: float) -> None:
        self.groups = list(groups)
        self.learning_rate = learning_rate
        self._moments: dict[nn.Parameter, dict[str, Tensor]] = {}

    @torch.no_grad()
    def step(self) -> None:
        """Move all parameters that have a gradient."""
        for group in self.groups:
            moving = [p for p in group.parameters if p.grad is not None]
            gradients = [p.grad for p in moving if p.grad is not None]
            if not moving:
                continue
            moments = [self._moments_of(parameter) for parameter in moving]
            steps = [m["step"] for m in moments]
            torch._foreach_add_(steps, 1)
            torch._fused_adam_(
                list[Tensor](moving),
                gradients,
                [m["exp_avg"] for m in moments],
                [m["exp_avg_sq"] for m in moments],
                [],
                steps,
                lr=self.learning_rate,
                beta1=_BETAS[0],
                beta2=_BETAS[1],
                weight_decay=group.weight_decay,
                eps=_EPSILON,
                amsgrad=False,
                maximize=False,
            )

    def zero_grad(self) -> None:
        """Forget the gradients of the last step."""
        for group in self.groups:
            for parameter in group.parameters:
                parameter.grad = None

    def state(self) -> dict[str, Tensor]:
        """Number of steps and moments of every parameter that has moved, as ``<number>.<name>``."""
        return {
            f"{number}.{name}": value
            for number, parameter in enumerate(self._all_parameters())
            for name, value in self._moments.get(parameter, {}).items()
        }

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what :meth:`state` gave."""
        moments: dict[nn.Parameter, dict[str, Tensor]] = {}
        parameters = self._all_parameters()
        for key, value in state.items():
            number, _, name = key.partition(".")
            parameter = parameters[int(number)]
            expected = parameter.shape if name != "step" else torch.Size()
            if value.shape != expected:
                raise ValueError(
                    f"{name} of parameter {number} has the shape {tuple(value.shape)}, "
                    f"expected {tuple(expected)}"
                )
            dtype = parameter.dtype if name != "step" else torch.float32
            moments.setdefault(parameter, {})[name] = value.to(parameter.device, dtype).clone()
        for parameter, found in moments.items():
            if found.keys() != self._new_moments(parameter).keys():
                raise ValueError(f"the moments of a parameter are {sorted(found)}")
        self._moments = moments

    def _all_parameters(self) -> list[nn.Parameter]:
        return [parameter for group in self.groups for parameter in group.parameters]

    def _moments_of(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        if parameter not in self._moments:
            self._moments[parameter] = self._new_moments(parameter)
        return self._moments[parameter]

    @staticmethod
    def _new_moments(parameter: nn.Parameter) -> dict[str, Tensor]:
        return {
            "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }


def adam(network: PrototypeNetwork) -> Adam:
    """Adam over all trained parameters.

    The gradient of the metric penalty (Eq. 11), 2 lambda_1 U, is exactly Adam's L2 weight
    decay, which costs no pass of its own over the metrics.
    """
    metric = network.metric
    others = [p for p in network.parameters() if p.requires_grad and p is not metric]
    groups = [ParameterGroup(others)]
    if metric is not None:
        decay = 2 * network.settings.metric_weight(network.n_labels)
        groups.append(ParameterGroup([metric], decay))
    return Adam(groups, network.settings.learning_rate)


def one_cycle(step: int, n_steps: int, peak: float) -> float:
    """Learning rate that rises from peak / 25 over 30 % of the steps and falls by a cosine to 0.

    Examples
    --------
    >>> one_cycle(0, 100, 1.0), round(one_cycle(30, 100, 1.0), 6)
    (0.04, 1.0)
    """
    warm_up = max(1.0, 0.3 * n_steps)
    start = peak / 25
    if step < warm_up:
        return start + (peak - start) * (1 - math.cos(math.pi * step / warm_up)) / 2
    progress = (step - warm_up) / max(1.0, n_steps - warm_up)
    return peak * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
