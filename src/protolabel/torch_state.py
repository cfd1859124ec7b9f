"""PyTorch as training needs it, whatever a caller has set around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def gradients_on() -> Iterator[None]:
    """Follow gradients in full precision, within ``no_grad``, ``inference_mode`` and ``autocast``.

    Without a gradient nothing would be learned, and no error would say so.

    Examples
    --------
    >>> with torch.inference_mode(), gradients_on():
    ...     torch.is_grad_enabled()
    True
    """
    with (
        torch.inference_mode(mode=False),
        torch.enable_grad(),
        torch.autocast("cpu", enabled=False),
    ):
        yield
