"""How records are written: `define` registers one, `helper` makes a function usable inside gradient rules.

Inside a gradient rule or a decomposition, a name such as `cos` or `sum` means the *operation* of that name: the rule's code is cloned into
a namespace of NumPy references (backward on arrays) and into one of public functions (higher derivatives, symbols). Rules therefore use
operators, vocabulary names and helpers only, and have neither closures nor defaults. A rule's parameters say what is saved:

    g                      the gradient of the output (of several outputs: g_<output name>, zeros where none arrived)
    <input>                the input's value          <input>_shape, <input>_dtype    its type only (nothing is saved)
    result / <output>      the output's value         result_shape                    the output's shape
    <attribute>            an attribute, canonical
    needs                  (`Joint` rules) which tensor inputs want a gradient, a tuple of bools
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from twofold.ir.op import NOT_DIFFERENTIABLE, Joint, Op, Signature, register
from twofold.ops.scalar import SCALAR_FUNCTIONS

RULE_HELPERS: dict[str, FunctionType] = {}
"""Functions that rules may call besides operations; cloned into both namespaces like the rules themselves."""


def helper(function: Any) -> Any:
    """Make a function callable from gradient rules under its own name; the same restrictions hold for it as for rules."""
    if function.__closure__ or function.__name__ in RULE_HELPERS:
        raise ValueError(f"rule helper {function.__name__}: closures and second definitions are not allowed")
    RULE_HELPERS[function.__name__] = function
    return function


def refused(reason: str, gradient: str = "g") -> Any:
    """A gradient rule that raises UnsupportedError with this reason: for gradients that exist but that nothing here computes, so that none
    is dropped silently. (NOT_DIFFERENTIABLE says that there is none, or that it is zero everywhere.)

    gradient: the rule's parameter; for several outputs "g_<output>".
    """
    text = f"lambda {gradient}: refuse_gradient({gradient}, {reason!r})"  # a rule has no closure: the reason is a constant of its code
    return eval(compile(text, "<twofold rule>", "eval"), globals())  # our own text


def reference_of_body(names: tuple[str, ...], body: str) -> Callable[..., Any]:
    """The NumPy function of an elementwise body."""
    namespace = {**SCALAR_FUNCTIONS, "__name__": None}  # see tensors.quiet
    exec(compile(f"def reference({', '.join(names)}):\n    return {body}", "<twofold body>", "exec"), namespace)  # our own text
    return namespace["reference"]


def define(
    signature: str,
    *,
    type_rule: Callable[..., Any],
    gradient: Any,
    reference: Callable[..., Any] | None = None,
    body: str = "",
    doc: str = "",
    **fields: Any,
) -> Op:
    """Register the record of one operation; see `twofold.ir.op.Op` for the fields. With `body` the reference is made from it."""
    parsed = Signature.parse(signature)
    caller = sys._getframe(1).f_globals["__name__"]
    if reference is None:
        if not body:
            raise ValueError(f"{parsed.name}: a record needs a reference or a body")
        reference = reference_of_body(tuple(p.name for p in sorted(parsed.params, key=lambda p: not p.is_tensor)), body)
    op = Op(
        signature=parsed, type_rule=type_rule, reference=reference, gradient=gradient, body=body, doc=inspect.cleandoc(doc),
        family=caller.rsplit(".", 1)[-1], module=caller, **fields,
    )  # fmt: skip
    rules = gradient if isinstance(gradient, tuple) else (gradient.rule,) if isinstance(gradient, Joint) else ()
    for rule in rules:
        if rule is not NOT_DIFFERENTIABLE and (rule.__closure__ or rule.__defaults__):
            raise ValueError(f"{parsed.name}: gradient rules have neither closures nor defaults")
    if isinstance(gradient, tuple) and len(gradient) != len(op.inputs):
        raise ValueError(f"{parsed.name}: {len(op.inputs)} tensor inputs, {len(gradient)} gradient rules")
    return register(op)


def positions(shape: tuple[int, ...]) -> np.ndarray:
    """An array of this shape that holds each element's flat index."""
    return np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
