"""The meaning of a KernelSpec: its evaluation over NumPy arrays, stage by stage.

`wide=True` computes floats in float64 whatever their type says: the reference that compiled kernels are compared with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from twofold.compiler.affine import Affine
from twofold.compiler.expr import Expr, dtype_of, is_float, walk
from twofold.compiler.spec import KernelSpec, Reduce, Store
from twofold.ir.dtypes import bfloat16
from twofold.ops.scalar import SCALAR_FUNCTIONS
from twofold.support.errors import IndexOutOfRange

OPERATORS: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "neg": np.negative, "floordiv": np.floor_divide,
    "mod": np.remainder, "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "gt": np.greater, "ge": np.greater_equal,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.bitwise_not,
    "round_bf16": lambda x: x.astype(bfloat16.numpy).astype(x.dtype), "round_f16": lambda x: x.astype(np.float16).astype(x.dtype),
}  # fmt: skip
REDUCERS: dict[str, tuple[Any, Any]] = {
    "sum": (np.add, 0), "prod": (np.multiply, 1), "any": (np.logical_or, False), "all": (np.logical_and, True),
}  # fmt: skip
COMBINERS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def identity(op: str, dtype: np.dtype) -> Any:
    """What a reduction over nothing gives, in this dtype."""
    if op in ("max", "min"):
        if dtype.kind == "f":
            return dtype.type(-np.inf if op == "max" else np.inf)
        if dtype.kind == "b":
            return np.bool_(op == "min")
        info = np.iinfo(dtype)
        return dtype.type(info.min if op == "max" else info.max)
    return dtype.type(REDUCERS[op][1])


class Evaluation:
    """One run of one spec. `window`: the part of the domain that is evaluated (all of a dimension that is not named)."""

    def __init__(self, spec: KernelSpec, memory: Mapping[str, Any], wide: bool, window: Mapping[str, range] | None = None) -> None:
        self.spec, self.memory, self.wide = spec, memory, wide
        self.order = list(spec.sizes)
        self.ranges = {d: range(n) for d, n in spec.sizes.items()} | dict(window or {})
        self.grid = {d: np.arange(r.start, r.stop).reshape([-1 if d == e else 1 for e in self.order]) for d, r in self.ranges.items()}
        self.results: dict[str, Any] = {}

    def dtype(self, type: str) -> np.dtype:
        return np.dtype(np.float64) if self.wide and is_float(type) else dtype_of(type).numpy

    def form(self, a: Affine) -> Any:
        value: Any = np.full([1] * len(self.order), a.constant, np.int64)
        for d, c in a.terms:
            value = value + self.grid[d] * c
        return value

    def guarded(self, guards: Any) -> Any:
        ok: Any = np.ones([1] * len(self.order), bool)
        for a, low, high in guards:
            x = self.form(a)
            ok = ok & (x >= low) & (x < high)
        return ok

    def position(self, offset: Affine, index: Any, strides: Any) -> Any:
        at = self.form(offset)
        for x, s in zip(index, strides, strict=True):
            at = at + x * s
        return at

    def value(self, root: Expr, active: Any = True) -> Any:
        values: dict[Expr, Any] = {}
        for e in walk(root):
            values[e] = self.one(e, [values[a] for a in e.args], active)
        return values[root]

    def one(self, e: Expr, args: list[Any], active: Any) -> Any:
        op, dtype = e.op, self.dtype(e.type)
        if op == "const":
            return dtype.type(e.attr)
        if op == "iota":
            return self.form(e.attr)
        if op == "within":
            x = self.form(e.attr[0])
            return (x >= e.attr[1]) & (x < e.attr[2])
        if op == "acc":
            return self.results[e.attr]
        if op == "cast":
            return np.asarray(args[0]).astype(dtype) if dtype.kind != "b" else args[0] != 0
        if op == "check_index":
            return self.checked(e, args[0], active)
        if op == "load":
            buffer, offset, guards, _ = e.attr
            at = self.position(offset, args, e.strides)
            ok = self.guarded(guards)
            array = self.memory[buffer]
            if array.size == 0:
                return np.zeros(np.broadcast_shapes(at.shape, ok.shape), dtype)
            return np.where(ok, array[np.where(ok, at, 0)], array.dtype.type(0)).astype(dtype)
        function = OPERATORS.get(op) or SCALAR_FUNCTIONS[op]
        return np.asarray(function(*args)).astype(dtype if e.type != "bool" else np.bool_, copy=False)

    def checked(self, e: Expr, x: Any, active: Any) -> Any:
        size, site = e.attr
        wrapped = np.where(x < 0, x + size, x)
        bad = ((wrapped < 0) | (wrapped >= size)) & active
        if bad.any():
            raise IndexOutOfRange(
                f"index {int(np.broadcast_to(x, bad.shape)[bad][0])} is out of range for {size} elements ({self.spec.sites.get(site, '')})"
            )
        return np.where((wrapped < 0) | (wrapped >= size), 0, wrapped)

    def shape(self, dims: Any) -> list[int]:
        return [len(self.ranges[d]) if d in dims else 1 for d in self.order]

    def term(self, s: Reduce) -> Any:
        """What a reduction combines, over all its dimensions."""
        return np.broadcast_to(self.value(s.value), self.shape(s.dims))

    def reduce(self, s: Reduce) -> None:
        value = self.term(s)
        axes = tuple(self.order.index(d) for d in s.over)
        start = identity(s.op, value.dtype)
        ufunc = {"max": np.maximum, "min": np.minimum}.get(s.op) or REDUCERS[s.op][0]
        self.results[s.name] = ufunc.reduce(value, axis=axes, keepdims=True, initial=start, dtype=value.dtype) if axes else value

    def store(self, s: Store) -> None:
        shape = self.shape(s.dims)
        ok = np.broadcast_to(self.guarded(s.guards), shape).ravel()
        active = np.broadcast_to(self.guarded(s.guards), shape)
        index = [self.value(e, active) for e in s.index]
        at = np.broadcast_to(self.position(s.offset, index, s.strides), shape).ravel()[ok]
        value = np.broadcast_to(self.value(s.value, active), shape).ravel()[ok]
        target = self.memory[s.buffer]
        if s.mode == "set":
            target[at] = value
        else:
            COMBINERS[s.mode].at(target, at, value.astype(target.dtype))

    def run(self) -> None:
        """All stages in order."""
        with np.errstate(all="ignore"):
            for s in self.spec.stages:
                if isinstance(s, Reduce):
                    self.reduce(s)
                else:
                    self.store(s)


def evaluate(spec: KernelSpec, memory: Mapping[str, Any], wide: bool = False) -> None:
    """Run the spec on flat arrays by buffer name; outputs are written in place. Raises IndexOutOfRange as the kernel reports it."""
    Evaluation(spec, memory, wide).run()
