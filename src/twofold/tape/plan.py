"""Plans: what a call of an operation needs that depends on its operands' types and attributes only, computed once and memoised."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from twofold.ir.dtypes import FLOAT
from twofold.ir.op import Op
from twofold.ir.run import make_kernel
from twofold.ir.types import ScalarType, TensorType, Type

PLAN_LIMIT = 4096
"""Plans kept for one operation; beyond it its table is emptied."""


class Plan:
    """One call's static part.

    ins: operand types as given (a tuple inside for a list);  flat_ins: tensor operands, lists flattened, scalars as ScalarType, None where
    missing;
    out: output type or tuple;  attributes: canonical;  kernel: callable(*arrays) -> array(s);
    undo: for each flat operand None or (shape or None, dtype or None): the sum and cast that bring its gradient back to its own type; None
    if no operand needs any;  low: a 16-bit float is involved, rules run in float32;  tracks: the output can carry a gradient;  inline: the
    operands need no conversion, so the operation's expression may be applied to them as it stands.
    """

    __slots__ = ("attributes", "flat_ins", "inline", "ins", "kernel", "low", "op", "out", "several", "tracks", "undo")

    def __init__(self, op: Op, ins: tuple[Any, ...], out: Any, attributes: dict[str, Any], kernel: Callable[..., Any]) -> None:
        self.op, self.ins, self.out, self.attributes, self.kernel = op, ins, out, attributes, kernel
        self.several = type(out) is tuple
        self.flat_ins = flatten(ins)
        outs = out if self.several else (out,)
        self.tracks = op.is_differentiable and any(type(t) is TensorType and t.dtype.category == FLOAT for t in outs)
        self.low = any(type(t) is TensorType and t.dtype.is_low_precision for t in (*self.flat_ins, *outs))
        self.inline = type(out) is TensorType and all(type(t) is TensorType and t.fast and t.dtype is out.dtype for t in self.flat_ins)
        self.undo = self._undo() if self.tracks and op.promotion is not None and type(out) is TensorType else None

    def _undo(self) -> tuple[Any, ...] | None:
        result: list[tuple[Any, Any] | None] = []
        # With mixed dtypes NumPy may widen what a rule computes, so every gradient is brought to its operand's dtype.
        mixed = any(type(t) is TensorType and t.dtype is not self.out.dtype for t in self.flat_ins)
        for t in self.flat_ins:
            if type(t) is not TensorType:
                result.append(None)
                continue
            shape = t.shape if t.shape != self.out.shape else None
            dtype = t.dtype if mixed else None
            result.append((shape, dtype) if shape is not None or dtype is not None else None)
        return tuple(result) if any(u is not None for u in result) else None


def flatten(ins: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands (or their types) with lists opened."""
    if not any(type(t) is tuple for t in ins):
        return ins
    flat: list[Any] = []
    for t in ins:
        if type(t) is tuple:
            flat.extend(t)
        else:
            flat.append(t)
    return tuple(flat)


def build_plan(op: Op, ins: tuple[Type | tuple[Type, ...] | None, ...], attributes: dict[str, Any]) -> Plan:
    """A new plan; raises the type rule's errors."""
    canonical = op.canonical(ins, attributes)
    out = op.infer(ins, canonical)
    first = out[0] if type(out) is tuple and out else out
    if type(first) is TensorType and first.device == "meta":
        kernel: Callable[..., Any] = _meta_several(len(out)) if type(out) is tuple else _meta
    else:
        special = None if op.specialize is None else op.specialize(ins, out, canonical)
        kernel = special or make_kernel(op, ins, out, canonical, op.eager or op.reference)
    return Plan(op, ins, out, canonical, kernel)


def _meta(*arrays: Any) -> None:
    """The kernel of tensors without data."""


def _meta_several(count: int) -> Callable[..., Any]:
    return lambda *arrays: (None,) * count


class PlanTable(dict):
    """The plans of one operation by (types, attributes) as the caller wrote them."""

    __slots__ = ("op",)

    def __init__(self, op: Op) -> None:
        super().__init__()
        self.op = op

    def make(self, key: Any, ins: tuple[Any, ...], attributes: dict[str, Any]) -> Plan:
        """The plan for a key that was not found; remembered unless the key cannot be hashed."""
        plan = build_plan(self.op, ins, attributes)
        if len(self) >= PLAN_LIMIT:
            self.clear()
        with suppress(TypeError):  # a list among the attributes
            self[key] = plan
        return plan


TABLES: dict[str, PlanTable] = {}
"""All plan tables, so that `reset` can empty them."""


def table(op: Op) -> PlanTable:
    """The plan table of an operation."""
    found = TABLES.get(op.name)
    if found is None:
        found = TABLES[op.name] = PlanTable(op)
    return found


def scalar_key(value: Any) -> Any:
    """A key that tells 1 from 1.0 from True, and 0.0 from -0.0."""
    return (value, type(value)) if value else str(value)


__all__ = ["PLAN_LIMIT", "TABLES", "Plan", "PlanTable", "ScalarType", "build_plan", "flatten", "scalar_key", "table"]
