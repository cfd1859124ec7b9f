"""What other models make of training rows, for a network that learns from them as well."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class SoftTargets:
    """Probabilities of the labels of some rows, which stand beside the labels themselves.

    Parameters
    ----------
    probabilities : Tensor of shape (n_known, n_labels)
    place : Tensor of int, shape (n_rows,)
        Number of a training row among those that are known, -1 for all others.
    share : float
        Weight of a probability; that of the label is the rest.
    """

    probabilities: Tensor
    place: Tensor
    share: float

    def blend(self, labels: Tensor, rows: Tensor) -> Tensor:
        """Labels of these rows, drawn towards the probabilities where there are any.

        Examples
        --------
        >>> import torch
        >>> soft = SoftTargets(torch.tensor([[0.5]]), torch.tensor([-1, 0]), share=0.5)
        >>> soft.blend(torch.tensor([[1.0], [1.0]]), torch.tensor([0, 1])).squeeze(1).tolist()
        [1.0, 0.75]
        """
        place = self.place[rows]
        known = (place >= 0).nonzero().squeeze(1)
        said = self.probabilities[place[known]].to(labels.dtype)
        return labels.index_copy(0, known, torch.lerp(labels[known], said, self.share))
