"""The two namespaces gradient rules are read in.

RAW: vocabulary names are NumPy functions; backward without `create_graph` runs there. TENSOR: they are the public functions, so a
rule works on tensors (higher derivatives) and on symbols (the joint graph). A rule is cloned into each by giving its code other globals.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from twofold.ir.op import NOT_DIFFERENTIABLE, REQUIRED, VOCABULARY, Joint, Op
from twofold.ops.record import RULE_HELPERS
from twofold.ops.rule_code import clone, global_names
from twofold.support.errors import AutogradError

Namespace = dict[str, Any]
RAW: Namespace = {"__builtins__": builtins, "__name__": None, "reshape": lambda input, size: input.reshape(size)}
TENSOR: Namespace = {"__builtins__": builtins, "__name__": None}
"""No `__name__`: see tensors.quiet."""


def raw_function(op: Op) -> Callable[..., Any]:
    """The operation on arrays, called like the public function (canonical attributes, defaults filled in)."""
    function = op.eager or op.reference
    if not op.attributes:
        return function
    params = op.signature.params
    first_keyword = next((i for i, p in enumerate(params) if p.keyword_only), len(params))
    last_required = max((i for i, p in enumerate(params) if not p.keyword_only and p.default is REQUIRED and not p.optional), default=-1)
    parts = [
        p.name if p.default is REQUIRED and (not p.optional or i < last_required) else f"{p.name}=_d[{i}]" for i, p in enumerate(params)
    ]
    if first_keyword < len(params):
        parts.insert(first_keyword, "*")
    inputs = ", ".join(p.name for p in op.inputs)
    attributes = ", ".join(f"{p.name}={p.name}" for p in op.attributes)
    defaults = [None if p.default is REQUIRED else p.default for p in params]
    call = ", ".join(part for part in (inputs, attributes) if part)
    text = f"def {op.name}({', '.join(parts)}):\n    return _f({call})\n"
    scope: Namespace = {"_f": function, "_d": defaults, "__name__": None}
    exec(compile(text, "<twofold raw>", "exec"), scope)  # our own signature lines
    return scope[op.name]


def raw_name(name: str) -> Callable[..., Any]:
    """The NumPy meaning of a vocabulary name or rule helper; made on first use."""
    found = RAW.get(name)
    if found is None:
        if name in VOCABULARY:
            found = raw_function(VOCABULARY[name])
        elif name in RULE_HELPERS:
            found = clone(RULE_HELPERS[name], RAW)
        else:
            raise AutogradError(f"a gradient rule names {name!r}, which is neither an operation nor a helper")
        RAW[name] = found
    return found


def prepare_raw(function: Any) -> None:
    """Make every name that a rule (or a helper it calls) mentions exist in RAW."""
    todo, done = [function.__code__], set()
    while todo:
        for name in global_names(todo.pop()):
            if name in done:
                continue
            done.add(name)
            if name in RULE_HELPERS:
                todo.append(RULE_HELPERS[name].__code__)
            if name in RULE_HELPERS or name in VOCABULARY:
                raw_name(name)


def fill_tensor(functions: Namespace) -> None:
    """Give the TENSOR namespace the public functions (called once, by `tensors`)."""
    TENSOR.update(functions)
    for name, function in RULE_HELPERS.items():
        TENSOR[name] = clone(function, TENSOR)


def rules_in(op: Op, namespace: Namespace) -> tuple[Any, ...]:
    """The operation's rules cloned into a namespace: one for each tensor input, or a single one for a `Joint`; None where not
    differentiable."""
    if isinstance(op.gradient, Joint):
        return (clone(op.gradient.rule, namespace),)
    if op.gradient is NOT_DIFFERENTIABLE:
        raise AutogradError(f"{op.name} is not differentiable")
    return tuple(None if r is NOT_DIFFERENTIABLE else clone(r, namespace) for r in op.gradient)


def raw_rules(cls: Any) -> tuple[Any, ...]:
    """The rules of a node class in RAW, kept on the class."""
    for rule in cls.op.gradient if isinstance(cls.op.gradient, tuple) else (cls.op.gradient.rule,):
        if callable(rule):
            prepare_raw(rule)
    cls.raw_rules = rules_in(cls.op, RAW)
    return cls.raw_rules


def tensor_rules(cls: Any) -> tuple[Any, ...]:
    """The rules of a node class in TENSOR, kept on the class."""
    cls.rules = rules_in(cls.op, TENSOR)
    return cls.rules
