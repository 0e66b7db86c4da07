"""Scalar expressions of kernels: typed, interned, immutable.

An expression says how one element is computed from loads, constants, positions and results of reductions. Equal expressions are the same
object while anything holds them, so sharing needs no search. Types are those of registers: "f32", "f64", "i8" … "u64", "bool"; 16-bit
floats exist in memory only and are computed as f32.

kinds (`op`):
    load        attr = (buffer, offset, guards): element `offset` (an Affine, plus Σ arg · stride over `strides`) of a buffer, where the
                guards hold; what a guarded load gives elsewhere is not defined (it is never read)
    const       attr = the number
    iota        attr = an Affine: its value, an i64
    within      attr = (Affine, low, high): low ≤ value < high, a bool
    acc         attr = the name of a reduction: its result
    check_index attr = (size, site): the i64 operand, negative counted from the end; a value outside reports `site` and gives 0
    cast        the operand in another type (as NumPy's astype; float to bool: != 0)
    anything else is a function of the scalar vocabulary or an operator: add sub mul div neg lt le eq ne gt ge and or xor not where …
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from twofold.compiler.affine import Affine
from twofold.ir.dtypes import BY_SHORT, DType
from twofold.support.errors import DTypeError

Guard = tuple[Affine, int, int]
"""low ≤ form < high."""

FLOATS = ("f32", "f64")
COMPARISONS = frozenset(("lt", "le", "eq", "ne", "gt", "ge", "isnan", "isinf", "isfinite", "signbit", "within",
                         "logical_and", "logical_or", "logical_xor", "logical_not"))  # fmt: skip
"""Functions whose result is a bool whatever their operands are."""

COSTS = {
    "load": 0.04, "div": 0.12, "divide": 0.12, "reciprocal": 0.12, "sqrt": 0.12, "exp": 0.26, "exp2": 0.24, "expm1": 0.33, "log": 0.46,
    "log2": 0.5, "log10": 0.53, "log1p": 0.51, "tanh": 0.36, "erf": 0.47, "erfc": 0.8, "sigmoid": 0.33, "sin": 0.3, "cos": 0.32,
    "tan": 0.46, "asin": 0.35, "acos": 0.37, "atan": 0.39, "atan2": 0.7, "sinh": 0.4, "cosh": 0.34, "asinh": 0.85, "acosh": 0.81,
    "atanh": 0.72, "pow": 1.65, "floordiv": 0.55, "floor_divide": 0.55, "mod": 0.41, "remainder": 0.41, "fmod": 0.27, "hypot": 0.64,
    "logaddexp": 0.63, "logaddexp2": 0.63, "softplus": 0.52, "sinc": 0.45, "xlogy": 0.5, "xlog1py": 0.55,
}  # fmt: skip
"""ns for one f32 element on one core, operands in the caches (measured, see docs/accuracy.md); everything else is ARITHMETIC."""
ARITHMETIC = 0.015
FREE = frozenset(("const", "iota", "acc"))


class Expr:
    """One expression. `dims`: the dimensions it varies along; `accs`: the reductions it reads; `cost`: ns an element, shared parts once
    per use (an upper bound)."""

    __slots__ = ("__weakref__", "accs", "args", "attr", "cost", "dims", "op", "size", "strides", "type")

    op: str
    args: tuple[Expr, ...]
    attr: Any
    type: str
    strides: tuple[int, ...]
    dims: frozenset[str]
    accs: frozenset[str]
    cost: float
    size: int

    def __repr__(self) -> str:
        return show(self)

    @property
    def stored(self) -> DType:
        """Of a load: the dtype of the buffer's elements."""
        return self.attr[3]

    def stride(self, name: str) -> int:
        """Of a load: how far the element moves when the dimension advances by one; 0 also where an index operand decides."""
        return self.attr[1].coefficient(name)


_table: weakref.WeakValueDictionary[Any, Expr] = weakref.WeakValueDictionary()
_lock = threading.Lock()
_NONE: frozenset[str] = frozenset()


def make(
    op: str,
    args: tuple[Expr, ...] = (),
    attr: Any = None,
    type: str = "f32",
    dims: frozenset[str] = _NONE,
    accs: frozenset[str] = _NONE,
    strides: tuple[int, ...] = (),
) -> Expr:
    """The expression with these parts. `dims` and `accs` are those of `attr`; the operands' are added."""
    key = (op, tuple(map(id, args)), attr.__class__, repr(attr) if op == "const" else attr, type, strides, dims if op == "acc" else None)
    found = _table.get(key)
    if found is not None:
        return found
    e = Expr()
    e.op, e.args, e.attr, e.type, e.strides = op, args, attr, type, strides
    cost, size = (0.0 if op in FREE else COSTS.get(op, ARITHMETIC)) * (2.0 if type == "f64" else 1.0), 1
    for a in args:
        dims = dims | a.dims
        accs = accs | a.accs
        cost += a.cost
        size += a.size
    e.dims, e.accs, e.cost, e.size = dims, accs, cost, size
    with _lock:
        return _table.setdefault(key, e)


def const(value: float | int | bool, type: str) -> Expr:
    """A number of a type."""
    if type == "bool":
        value = bool(value)
    elif type in FLOATS:
        value = float(value)
    else:
        value = int(value)
    return make("const", (), value, type)


def load(
    buffer: str, stored: DType, offset: Affine, guards: tuple[Guard, ...] = (), index: tuple[Expr, ...] = (), strides: tuple[int, ...] = ()
) -> Expr:
    """An element of a buffer; `index` are i64 expressions, each with its stride in elements."""
    dims = frozenset([d for d, _ in offset.terms] + [d for g in guards for d, _ in g[0].terms])
    return make("load", index, (buffer, offset, guards, stored), register_type(stored), dims, strides=strides)


def iota(form: Affine) -> Expr:
    """The value of an affine form."""
    if not form.terms:
        return const(form.constant, "i64")
    return make("iota", (), form, "i64", frozenset(d for d, _ in form.terms))


def within(form: Affine, low: int, high: int) -> Expr:
    """low ≤ form < high."""
    if not form.terms:
        return const(low <= form.constant < high, "bool")
    return make("within", (), (form, low, high), "bool", frozenset(d for d, _ in form.terms))


def acc(name: str, kept: tuple[str, ...], type: str) -> Expr:
    """The result of a reduction over all but the dimensions `kept`."""
    return make("acc", (), name, type, frozenset(kept), frozenset((name,)))


def check_index(value: Expr, size: int, site: int) -> Expr:
    """An index into a dimension of `size` elements, checked while the kernel runs."""
    return make("check_index", (cast(value, "i64"),), (size, site), "i64")


def register_type(dtype: DType) -> str:
    """The type in which values of a dtype are computed."""
    return "f32" if dtype.is_low_precision else dtype.short


def dtype_of(type: str) -> DType:
    return BY_SHORT[type]


def is_float(type: str) -> bool:
    return type in FLOATS


def cast(e: Expr, type: str) -> Expr:
    """`e` in another type."""
    if e.type == type:
        return e
    exact = type in FLOATS or type == "bool" or e.type == "bool"
    if e.op == "const" and (exact or (e.type not in FLOATS and fits(e.attr, type))):
        return const(round_f32(e.attr) if type == "f32" else e.attr, type)
    return make("cast", (e,), None, type)


def round_f32(value: float) -> float:
    import numpy as np

    with np.errstate(over="ignore"):
        return float(np.float32(value))


def fits(value: int, type: str) -> bool:
    """Whether an integer is one of the type."""
    bits = int(type[1:])
    return -(1 << (bits - 1)) <= value < (1 << (bits - 1)) if type[0] == "i" else 0 <= value < (1 << bits)


def fn(op: str, *args: Expr) -> Expr:
    """A function applied to operands of one type (`where`: the last two); cases that are exact in IEEE arithmetic are simplified."""
    first = args[-1]
    operands = args[1:] if op == "where" else args
    if any(a.type != first.type for a in operands):
        raise DTypeError(f"{op}: operands of different types ({', '.join(a.type for a in args)})")
    if op == "where":
        condition, a, b = args
        if condition.op == "const":
            return a if condition.attr else b
        if a is b:
            return a
    elif op == "mul" and is_float(first.type):
        for x, y in (args, args[::-1]):
            if x.op == "const" and x.attr == 1.0:
                return y
    return make(op, args, None, "bool" if op in COMPARISONS else first.type)


_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!=",
          "and": "&", "or": "|", "xor": "^", "floordiv": "//", "mod": "%"}  # fmt: skip


def show(e: Expr, names: dict[Expr, str] | None = None) -> str:
    """The expression as text; those in `names` by their names."""

    def inner(x: Expr) -> str:
        return names[x] if names and x in names else show(x, names)

    if e.op == "load":
        buffer, offset, guards, _ = e.attr
        index = str(offset) if offset.terms or offset.constant or not e.args else ""
        for a, s in zip(e.args, e.strides, strict=True):
            index += ("+" if index else "") + (f"{s}*" if s != 1 else "") + inner(a)
        return f"{buffer}[{index}{''.join(f' if {low}<={g}<{high}' for g, low, high in guards)}]"
    if e.op == "const":
        return f"{e.attr:g}" if isinstance(e.attr, float) else str(e.attr)
    if e.op == "iota":
        return f"({e.attr})"
    if e.op == "within":
        return f"({e.attr[1]}<={e.attr[0]}<{e.attr[2]})"
    if e.op == "acc":
        return str(e.attr)
    if e.op == "cast":
        return f"{e.type}({inner(e.args[0])})"
    if e.op == "check_index":
        return f"index({inner(e.args[0])}, {e.attr[0]})"
    if e.op in _INFIX:
        return f"({inner(e.args[0])}{_INFIX[e.op]}{inner(e.args[1])})"
    return f"{e.op}({', '.join(map(inner, e.args))})"


def walk(*roots: Expr) -> Iterator[Expr]:
    """Every expression below the roots, each once, operands before what uses them."""
    seen: set[Expr] = set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            e, done = stack.pop()
            if done:
                yield e
            elif e not in seen:
                seen.add(e)
                stack.append((e, True))
                stack += [(a, False) for a in e.args if a not in seen]


def rewrite(root: Expr, change: Callable[[Expr], Expr | None], memo: dict[Expr, Expr]) -> Expr:
    """`root` with expressions replaced where `change` gives one (it sees operands already replaced); `memo` is kept by the caller."""
    for e in walk(root):
        if e not in memo:
            args = tuple(memo[a] for a in e.args)
            new = e if args == e.args else make(e.op, args, e.attr, e.type, _attr_dims(e), _attr_accs(e), e.strides)
            memo[e] = change(new) or new
    return memo[root]


def _attr_dims(e: Expr) -> frozenset[str]:
    """The dimensions that come from the attribute, not from operands."""
    if e.op == "load":
        return frozenset([d for d, _ in e.attr[1].terms] + [d for g in e.attr[2] for d, _ in g[0].terms])
    return e.dims if not e.args else _NONE


def _attr_accs(e: Expr) -> frozenset[str]:
    return e.accs if e.op == "acc" else _NONE
