"""Bodies of elementwise records as expressions.

A body is Python text over operands, attributes and the scalar vocabulary (`ops.scalar`). It is evaluated here with expressions in place of
arrays, by NumPy's rules: a Python number takes the type of what it meets, unless that is an integer and it is a float.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any

from twofold.compiler.expr import Expr, cast, const, dtype_of, fits, fn, is_float
from twofold.ir.dtypes import promote_types
from twofold.support.errors import UnsupportedError

BINARY: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip
COMPARE: dict[type, str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
LOGICAL = frozenset(("logical_and", "logical_or", "logical_xor", "logical_not"))
TESTS = frozenset(("isnan", "isinf", "isfinite"))
KEEPS_INTEGERS = frozenset(("abs", "sign", "maximum", "minimum", "fmax", "fmin", "fmod", "remainder", "floor_divide", "gcd", "lcm",
                            "left_shift", "right_shift", "trunc_divide"))  # fmt: skip
"""Functions that NumPy computes on integers as integers; the others convert them to float64."""
ROUNDINGS = frozenset(("floor", "ceil", "trunc", "rint"))
RENAMED = {"floor_divide": "floordiv", "remainder": "mod", "divide": "div"}

Operand = Any
"""An Expr, or a Python number."""
Body = Callable[[Mapping[str, Operand]], Operand]


@lru_cache(maxsize=1024)
def parsed(body: str) -> ast.expr:
    """The syntax tree of a body."""
    return ast.parse(body, mode="eval").body


@lru_cache(maxsize=1024)
def functions_of(body: str) -> frozenset[str]:
    """The names of the functions a body calls, and of operators that are functions to the compiler (`pow`)."""
    names = {n.func.id for n in ast.walk(parsed(body)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return frozenset(RENAMED.get(n, n) for n in names)


@lru_cache(maxsize=1024)
def compiled(body: str) -> Body:
    """The body as a function: operands and attributes by name → its value."""
    return _function(parsed(body))


def build(body: str, environment: Mapping[str, Operand]) -> Operand:
    """The body's value for these operands and attributes."""
    return compiled(body)(environment)


def typed(x: Operand, like: str) -> Expr:
    """An operand as an expression of a type; numbers become constants."""
    return cast(x, like) if isinstance(x, Expr) else const(x, like)


def common_type(*operands: Operand) -> str:
    """The type NumPy computes these operands in. At least one must be an expression."""
    types = [x.type for x in operands if isinstance(x, Expr)]
    result = types[0]
    for t in types[1:]:
        if t != result:
            result = promote_types(dtype_of(result), dtype_of(t)).short
    for x in operands:
        if isinstance(x, Expr) or is_float(result):
            continue
        if isinstance(x, float):
            return "f64"
        if (result == "bool" and not isinstance(x, bool)) or (result != "bool" and not fits(int(x), result)):
            result = "i64"
    return result


def _function(node: ast.expr) -> Body:
    """A node of the syntax tree as a function of the environment."""
    if isinstance(node, ast.Constant):
        value = node.value
        return lambda environment: value
    if isinstance(node, ast.Name):
        return itemgetter(node.id)
    if isinstance(node, ast.BinOp):
        return _pair(BINARY[type(node.op)], node.left, node.right)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _pair(COMPARE[type(node.ops[0])], node.left, node.comparators[0])
    if isinstance(node, ast.UnaryOp):
        op, inner = "neg" if isinstance(node.op, ast.USub) else "not", _function(node.operand)
        return lambda environment: unary(op, inner(environment))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name, arguments = node.func.id, [_function(a) for a in node.args]
        return lambda environment: call(name, [a(environment) for a in arguments])
    raise UnsupportedError(f"a body uses {ast.unparse(node)!r}, which the compiler does not know")


def _pair(op: str, left: ast.expr, right: ast.expr) -> Body:
    a, b = _function(left), _function(right)
    return lambda environment: binary(op, a(environment), b(environment))


_FOLD: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b, "neg": lambda a: -a,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "not": lambda a: not a, "abs": abs,
    "pow": lambda a, b: a**b,
}  # fmt: skip


def binary(op: str, a: Operand, b: Operand) -> Operand:
    """An operator applied to two operands."""
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        return _FOLD[op](a, b)
    t = common_type(a, b)
    if op == "div" and not is_float(t):
        t = "f64"
    if t == "bool" and op in ("add", "mul"):
        op = "or" if op == "add" else "and"
    if t == "bool" and op in ("sub", "floordiv", "mod", "pow"):
        t = "i8"
    if op == "pow" and not isinstance(b, Expr) and b == 2:
        return fn("mul", typed(a, t), typed(a, t))
    return fn(op, typed(a, t), typed(b, t))


def unary(op: str, a: Operand) -> Operand:
    if not isinstance(a, Expr):
        return _FOLD[op](a)
    return fn(op, a)


def call(name: str, args: list[Operand]) -> Operand:
    """A function of the scalar vocabulary applied to operands."""
    if not any(isinstance(a, Expr) for a in args):
        if name not in _FOLD:
            raise UnsupportedError(f"{name} of numbers alone")
        return _FOLD[name](*args)
    if name == "where":
        return where(*args)
    if name in LOGICAL:
        return fn(name, *(typed(a, "bool") for a in args))
    t = common_type(*args)
    if name == "signbit" and not is_float(t):
        return fn("lt", typed(args[0], t), const(0, t))
    if name in TESTS and not is_float(t):
        return const(name == "isfinite", "bool")
    if name in ROUNDINGS and not is_float(t):
        return typed(args[0], t)
    if name == "heaviside":
        x, v = (typed(a, t) for a in args)
        zero = const(0, t)
        return fn("where", fn("eq", x, zero), v, fn("where", fn("gt", x, zero), const(1, t), zero))
    if name == "square":
        return fn("mul", typed(args[0], t), typed(args[0], t))
    if not is_float(t) and name not in KEEPS_INTEGERS:
        t = "f64"
    if name == "reciprocal":
        return fn("div", const(1, t), typed(args[0], t))
    if t == "bool" and name in ("maximum", "minimum", "fmax", "fmin"):
        return fn("or" if "max" in name else "and", *(typed(a, t) for a in args))
    if t == "bool" and name == "abs":
        return typed(args[0], t)
    return fn(RENAMED.get(name, name), *(typed(a, t) for a in args))


def where(condition: Operand, a: Operand, b: Operand) -> Operand:
    if not isinstance(condition, Expr):
        return a if condition else b
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        t = "f64" if isinstance(a, float) or isinstance(b, float) else "i64"
        t = "bool" if isinstance(a, bool) and isinstance(b, bool) else t
    else:
        t = common_type(a, b)
    return fn("where", typed(condition, "bool"), typed(a, t), typed(b, t))
