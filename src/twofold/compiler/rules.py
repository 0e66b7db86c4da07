"""The table of pull rules: how an element of an operation's result is computed from elements of its operands.

A rule is ``(builder, node, which output, index, guards) -> Expr``; register one with ``@rule("name", …)``. `native(node)` says whether the
loop compiler can serve a node at all; other nodes run as host steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.compiler.affine import ZERO, Affine
from twofold.compiler.bodies import compiled, functions_of
from twofold.compiler.emit_functions import UNSUPPORTED_FUNCTIONS
from twofold.compiler.expr import Expr, Guard, cast, const, fn, register_type
from twofold.compiler.kernel_builder import Index, KernelBuilder, PullRule, shape_of
from twofold.ir import dtypes
from twofold.ir.dtypes import DType
from twofold.ir.graph import Node, Value, input_types
from twofold.ir.run import SELECTORS, compute_dtype
from twofold.ir.types import TensorType, scalar_type

RULES: dict[str, PullRule] = {}
"""Rules by operation name. Elementwise records with a body need none."""
CONDITIONS: dict[str, Callable[[Node], bool]] = {}
"""For some operations: whether the rule serves this node (its dtypes, its attributes)."""

Rule = Callable[[KernelBuilder, Node, int, Index, tuple[Guard, ...]], Expr]


def rule(*names: str, when: Callable[[Node], bool] | None = None) -> Callable[[Rule], Rule]:
    """Decorator: the pull rule of these operations; `when`: only for nodes of which this is true."""

    def put(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
            if when is not None:
                CONDITIONS[name] = when
        return function

    return put


def rule_for(node: Node) -> PullRule | None:
    """The rule that serves a node, or None: the node runs on the host."""
    if not all(_served(v) for v in (*node.operands(), *node.outputs)):
        return None
    name = node.op.name
    found = RULES.get(name)
    if found is not None:
        condition = CONDITIONS.get(name)
        return found if condition is None or condition(node) else None
    if node.op.body and not functions_of(node.op.body) & UNSUPPORTED_FUNCTIONS:
        return elementwise(node)
    return None


def _served(v: Value) -> bool:
    t = v.type
    return type(t) is TensorType and t.is_static and t.device == "cpu"


def output_dtype(node: Node, which: int = 0) -> DType:
    t = node.outputs[which].type
    assert isinstance(t, TensorType)
    return t.dtype


def broadcast(index: Index, shape: tuple[int, ...]) -> Index:
    """The index of an operand of `shape` that is broadcast."""
    skipped = len(index) - len(shape)
    return tuple(ZERO if n == 1 else form for n, form in zip(shape, index[skipped:], strict=True))


def operand(b: KernelBuilder, node: Node, position: int, index: Index, guards: tuple[Guard, ...], type: str | None = None) -> Any:
    """An operand at a broadcast index: an expression (of `type`), a number, or None."""
    x = node.inputs[position]
    if isinstance(x, Value):
        e = b.pull(x, broadcast(index, shape_of(x)), guards)
        return e if type is None else cast(e, type)
    return const(x, type) if type is not None and x is not None else x


def elementwise(node: Node) -> PullRule:
    """The rule of a node whose record has a body: operands converted as `ir.run` does, the body, the output's dtype. What does not depend
    on the position is decided once."""
    op = node.op
    dtype = compute_dtype(op, input_types(node.inputs, scalar_type), tuple(v.type for v in node.outputs))
    computed = None if dtype is None else register_type(dtype)
    shape = shape_of(node.outputs[0])
    fixed: dict[str, Any] = dict(node.attributes)
    pulled: list[tuple[str, Value, bool, bool]] = []
    for p, x in zip(op.inputs, node.inputs, strict=True):
        if isinstance(x, Value):
            pulled.append((p.name, x, shape_of(x) == shape and 1 not in shape, p.name in SELECTORS))
        elif x is None or dtype is None or computed is None:
            fixed[p.name] = x
        else:
            fixed[p.name] = const(x, "bool") if p.name in SELECTORS else const(_wrapped(x, dtype), computed)
    body, stored = compiled(op.body), register_type(output_dtype(node))

    def element(b: KernelBuilder, node: Node, which: int, index: Index, guards: tuple[Guard, ...]) -> Expr:
        environment = dict(fixed)
        for name, x, same, selects in pulled:
            e = b.pull(x, index if same else broadcast(index, shape_of(x)), guards)
            environment[name] = e if computed is None or (selects and e.type == "bool") else cast(e, computed)
        result = body(environment)
        return cast(result, stored) if isinstance(result, Expr) else const(result, stored)

    return element


def _wrapped(number: Any, dtype: DType) -> Any:
    """A Python number as a value of a dtype, integers wrapping as in NumPy's astype."""
    if dtype.category == dtypes.FLOAT:
        return float(number)
    if dtype.category == dtypes.BOOL:
        return bool(number)
    bits = 8 * dtype.itemsize
    value = int(number) & ((1 << bits) - 1)
    return value - (1 << bits) if dtype.is_signed and value >> (bits - 1) else value


def rounded(e: Expr, dtype: DType) -> Expr:
    """A value as storing it in a 16-bit dtype and loading it again would give it."""
    if dtype.is_low_precision:
        return fn("round_bf16" if dtype is dtypes.bfloat16 else "round_f16", e)
    return e


def replaced(index: Index, dim: int, form: Affine) -> Index:
    """An index with one entry exchanged."""
    return (*index[:dim], form, *index[dim + 1 :])
