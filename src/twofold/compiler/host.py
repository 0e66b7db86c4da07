"""Host steps: operations without a native kernel, run by NumPy on the program's buffers, in the forms that eager tensors run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from twofold.compiler.assemble import BufferInfo, HostCall
from twofold.ir.effects import TOKEN_VALUE
from twofold.ir.graph import Node, Value, input_types
from twofold.ir.interpreter import describe
from twofold.ir.op import Op
from twofold.ir.run import make_kernel
from twofold.ir.types import TensorType, scalar_type


def array_at(address: int, type: TensorType) -> np.ndarray:
    """An array over memory at an address (dense, C order); the caller keeps that memory alive."""
    if type.numel == 0:
        return np.empty(type.shape, type.dtype.numpy)
    memory = (ctypes.c_char * type.nbytes).from_address(address)
    return np.frombuffer(memory, type.dtype.numpy).reshape(type.shape)


class HostRunner:
    """Runs the host steps of one program for one frame; `table` holds the addresses of its buffers."""

    def __init__(self, hosts: list[HostCall], buffers: Mapping[str, BufferInfo], resolve: Callable[[Value], str]) -> None:
        self.buffers, self.resolve = buffers, resolve
        self.steps = [
            (call, [*((n, _kernel(n, n.op.reference)) for n in call.views), (call.node, _kernel(call.node, _fastest(call.node.op)))])
            for call in hosts
        ]

    def run(self, number: int, table: Any) -> None:
        """One step."""
        call, kernels = self.steps[number]
        values: dict[Value, Any] = {}

        def array(v: Value) -> Any:
            if v in values:
                return values[v]
            if not isinstance(v.type, TensorType):
                return TOKEN_VALUE
            info = self.buffers[self.resolve(v)]
            return array_at(int(table[info.slot]), info.type).reshape(v.type.shape)

        node = call.node
        try:
            with np.errstate(all="ignore"):
                for node, kernel in kernels:
                    operands = [array(x) if type(x) is Value else [array(v) for v in x] if type(x) is tuple else x for x in node.inputs]
                    results = kernel(*operands)
                    for v, r in zip(node.outputs, results if node.op.several else (results,), strict=True):
                        values[v] = r
            for v in call.node.outputs:
                if isinstance(v.type, TensorType):
                    info = self.buffers[self.resolve(v)]
                    np.copyto(array_at(int(table[info.slot]), info.type).reshape(v.type.shape), values[v])
        except Exception as e:
            e.add_note(describe(node))
            raise


def _fastest(op: Op) -> Callable[..., Any]:
    """The form that eager tensors run."""
    return op.eager or op.reference


def _kernel(node: Node, form: Callable[..., Any]) -> Callable[..., Any]:
    types = tuple(v.type for v in node.outputs)
    return make_kernel(node.op, input_types(node.inputs, scalar_type), types if node.op.several else types[0], node.attributes, form)
