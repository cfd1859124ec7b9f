"""A small builder of ONNX graphs: constants by value, operations by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

OPSET = 18
TREE_OPSET = 3
IR_VERSION = 9
# A protobuf message cannot be larger.
MAX_BYTES = 2**31 - 2**20


class GraphBuilder:
    """Collects nodes and constants; every method returns the name of a value.

    Parameters
    ----------
    onnx : module
        The imported ``onnx`` package.
    prefix : str, default=""
        Of all names, which a graph inside another one must not share with it.
    """

    def __init__(self, onnx: Any, prefix: str = "") -> None:
        self._onnx = onnx
        self._prefix = prefix
        self._helper = onnx.helper
        self._numpy_helper = onnx.numpy_helper
        self._types = onnx.TensorProto
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.n_bytes = 0

    def constant(self, values: Any) -> str:
        """Store an array."""
        array = np.asarray(values)
        name = f"{self._prefix}constant_{len(self.constants)}"
        self.n_bytes += array.nbytes
        if self.n_bytes > MAX_BYTES:
            raise ValueError(
                f"The arrays of this model take more than {MAX_BYTES} bytes, which an ONNX file "
                "cannot hold; fit it with fewer members, landmarks or trees."
            )
        array = np.require(array, requirements="C")
        self.constants.append(self._numpy_helper.from_array(array, name))
        return name

    def apply(self, operation: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operation on named values."""
        name = f"{self._prefix}{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(
            self._helper.make_node(operation, list(inputs), [name], domain=domain, **attributes)
        )
        return name

    def reshape(self, value: str, *shape: int) -> str:
        """Give a value another shape; -1 for the rows."""
        return self.apply("Reshape", value, self.constant(np.array(shape, dtype=np.int64)))

    def reduce(self, operation: str, value: str, axis: int, *, keep: bool = True) -> str:
        """Aggregate along an axis."""
        axes = self.constant(np.array([axis], dtype=np.int64))
        return self.apply(operation, value, axes, keepdims=int(keep))

    def first_rows(self, value: str, n_rows: str) -> str:
        """Leave out the rows behind the first ones."""
        zero = self.constant(np.array([0], dtype=np.int64))
        return self.apply("Slice", value, zero, n_rows, zero)

    def cast(self, value: str, dtype: type) -> str:
        """Convert to single or double precision."""
        to = self._types.DOUBLE if dtype is np.float64 else self._types.FLOAT
        return self.apply("Cast", value, to=to)

    def fold(
        self,
        step: Callable[[GraphBuilder, str, list[str]], str],
        start: str,
        sequences: list[str],
        axes: list[int],
    ) -> str:
        """Take a value through the items of sequences, in double precision.

        Parameters
        ----------
        step : callable
            From a builder, the value so far and one item of each sequence to the next value.
        start : str
        sequences : list of str
        axes : list of int
            Along which each sequence has its items.
        """
        inner = GraphBuilder(self._onnx, f"{self._prefix}fold{len(self.nodes)}_")
        names = [f"{inner._prefix}{part}" for part in ("so_far", *map(str, range(len(axes))))]
        result = f"{inner._prefix}next"
        inner.name(step(inner, names[0], names[1:]), result)
        self.n_bytes += inner.n_bytes
        values = [
            self._helper.make_tensor_value_info(name, self._types.DOUBLE, None)
            for name in (*names, result)
        ]
        body = self._helper.make_graph(
            inner.nodes, inner._prefix, values[:-1], values[-1:], inner.constants
        )
        return self.apply(
            "Scan", start, *sequences, body=body, num_scan_inputs=len(axes), scan_input_axes=axes
        )

    def name(self, value: str, name: str) -> None:
        """Make a value an output under a name of its own."""
        self.nodes.append(self._helper.make_node("Identity", [value], [name]))
