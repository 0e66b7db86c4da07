"""Runs a static graph over tensors, so that backward works through it."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.graph import Node, Value
from twofold.ir.interpreter import Interpreter, RunRegion
from twofold.ir.mode import RECORDER
from twofold.ir.op import get_op
from twofold.ir.types import TensorType
from twofold.support.errors import InplaceError
from twofold.tensors.core import Tensor, wrap
from twofold.tensors.dispatch import dispatch


class TensorInterpreter(Interpreter):
    """The interpreter whose values are tensors: every node runs as the eager operation, and grows the backward graph."""

    def input(self, value: Value, array: Any) -> Any:
        """Inputs are tensors, checked by the caller's guard."""
        t = value.type
        return array if isinstance(array, Tensor) or not isinstance(t, TensorType) else wrap(np.asarray(array, t.dtype.numpy))

    def call_op(self, node: Node, inputs: list[Any], attributes: dict[str, Any]) -> Any:
        """One eager operation. A `view` of a result that eager left in another layout than the graph's contiguous one is a copy."""
        try:
            return dispatch(node.op, tuple(inputs), attributes)
        except InplaceError:
            if node.op.name != "view":
                raise
            return dispatch(get_op("reshape_copy"), tuple(inputs), attributes)

    def constant(self, node: Node) -> Tensor:
        """The constant as a tensor that shares its read-only memory (as a node again while a graph is recorded)."""
        recorder = RECORDER.get()
        return wrap(super().constant(node)) if recorder is None else recorder.constant(super().constant(node))

    def cond(self, node: Node, inputs: list[Any], run_region: RunRegion) -> list[Any]:
        predicate, operands = inputs
        return run_region(node.regions[0 if bool(predicate) else 1], operands)
