"""Operations that do something besides computing: they print or assert. Tokens keep them in program order.

Such an operation takes a token as its first operand and returns one as its last output (in signatures a token is a ``Tensor`` whose
type is `TOKEN`). `Builder.effect` threads them; dead-code and common-subexpression elimination leave them alone. At run time a token is
`TOKEN_VALUE`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from twofold.ir.op import NOT_DIFFERENTIABLE, Op, Signature, register
from twofold.ir.types import TOKEN, TensorType, Type
from twofold.support.errors import ArgumentError, AssertionFailed


class _TokenValue:
    __slots__ = ()

    def __repr__(self) -> str:
        return "TOKEN_VALUE"


TOKEN_VALUE = _TokenValue()
PRINT_HOOK: ContextVar[Callable[[str], Any] | None] = ContextVar("twofold_print_hook", default=None)
"""What receives the text of `print_values`, or None: it goes to `sys.stdout`."""


@contextmanager
def printing_to(hook: Callable[[str], Any]) -> Iterator[None]:
    """Send what graphs print in the block to `hook(text)`."""
    before = PRINT_HOOK.set(hook)
    try:
        yield
    finally:
        PRINT_HOOK.reset(before)


def _check_token(name: str, t: Any) -> None:
    if t is not TOKEN:
        raise ArgumentError(f"{name}: the first operand must be a token, not {t}")


def _token_rule() -> Type:
    return TOKEN


def _print_rule(token: Any, values: tuple[Any, ...], parts: tuple[str, ...], end: str) -> Type:
    _check_token("print_values", token)
    if len(parts) != len(values) + 1:
        raise ArgumentError(f"print_values: {len(values)} values need {len(values) + 1} parts of text around them, not {len(parts)}")
    return TOKEN


def _print_reference(token: Any, values: tuple[Any, ...], parts: tuple[str, ...], end: str) -> Any:
    text = parts[0] + "".join(f"{np.asarray(v)}{p}" for v, p in zip(values, parts[1:], strict=True)) + end
    hook = PRINT_HOOK.get()
    if hook is not None:
        hook(text)
    else:
        sys.stdout.write(text)
    return TOKEN_VALUE


def _assert_rule(token: Any, condition: Any, message: str) -> Type:
    _check_token("assert_true", token)
    if type(condition) is not TensorType:
        raise ArgumentError(f"assert_true: condition must be a tensor, not {condition}")
    return TOKEN


def _assert_reference(token: Any, condition: Any, message: str) -> Any:
    truth = np.asarray(condition).astype(bool)
    if not truth.all():
        shown = "" if truth.ndim == 0 else f" ({truth.size - int(truth.sum())} of {truth.size} elements are false)"
        raise AssertionFailed(f"{message or 'assertion failed'}{shown}")
    return TOKEN_VALUE


token = register(
    Op(
        Signature.parse("token() -> Tensor"),
        _token_rule,
        lambda: TOKEN_VALUE,
        NOT_DIFFERENTIABLE,
        "control",
        doc="Begins the order of effects.",
        any_dtype=True,
        method=False,
        function=False,
        cost="free",
    )
)
print_values = register(
    Op(
        Signature.parse("print_values(Tensor token, Tensor[] values, str[] parts, str end='\\n') -> Tensor"),
        _print_rule,
        _print_reference,
        NOT_DIFFERENTIABLE,
        "control",
        doc="Prints `parts` with the values between them.",
        any_dtype=True,
        method=False,
        function=False,
        effect="print",
        cost="host",
    )
)
assert_true = register(
    Op(
        Signature.parse("assert_true(Tensor token, Tensor condition, str message='') -> Tensor"),
        _assert_rule,
        _assert_reference,
        NOT_DIFFERENTIABLE,
        "control",
        doc="Raises AssertionFailed unless every element of `condition` is true.",
        any_dtype=True,
        method=False,
        function=False,
        effect="assert",
        cost="host",
    )
)
