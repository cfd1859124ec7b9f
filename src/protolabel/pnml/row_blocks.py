"""Products of rows with a matrix whose result for a row does not depend on the other rows.

A product of another number of rows is computed by another kernel, with other rounding errors;
in single precision they can be seen. Here every product is one of a fixed number of rows, with
rows of zeros where there are too few.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

# As fast as larger blocks, and a single row does not cost much more than it must.
BLOCK_ROWS = 16
# Narrower matrices are multiplied by kernels that look at the number of blocks.
_MIN_COLUMNS = 8


def whole_blocks(values: Tensor) -> Tensor:
    """Rows (..., n_rows, n_inputs), with rows of zeros up to a whole number of blocks.

    Examples
    --------
    >>> import torch
    >>> whole_blocks(torch.ones(17, 2)).shape
    torch.Size([32, 2])
    """
    missing = -values.shape[-2] % BLOCK_ROWS
    return functional.pad(values, (0, 0, 0, missing)) if missing else values


def block_weight(matrix: Tensor) -> Tensor:
    """Columns, followed by columns of zeros where there are very few, (..., n_columns)."""
    missing = max(0, _MIN_COLUMNS - matrix.shape[-1])
    return functional.pad(matrix, (0, missing)).contiguous()


def block_product(values: Tensor, weight: Tensor) -> Tensor:
    """Products of whole blocks of rows with the matrix of each member.

    Parameters
    ----------
    values : Tensor of shape (n_members, n_rows, n_inputs)
        A whole number of blocks, see :func:`whole_blocks`.
    weight : Tensor of shape (n_members, n_inputs, n_columns)
        As :func:`block_weight` gives it.

    Returns
    -------
    Tensor of shape (n_members, n_rows, n_columns)

    Examples
    --------
    >>> import torch
    >>> block_product(torch.eye(16)[None], torch.ones(1, 16, 8)).sum().item()
    128.0
    """
    n_members, n_rows, _ = values.shape
    if n_rows == BLOCK_ROWS:
        return torch.bmm(values, weight)
    product = values.new_empty(n_members, n_rows, weight.shape[2])
    for rows, matrix, out in zip(values, weight, product, strict=True):
        blocks = rows.unflatten(0, (-1, BLOCK_ROWS))
        parts = out.unflatten(0, (-1, BLOCK_ROWS))
        torch.bmm(blocks, matrix.expand(len(blocks), -1, -1), out=parts)
    return product
