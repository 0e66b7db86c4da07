"""Plain functions over the records of the families `numbers` and `gamma`, and what PyTorch has for complex numbers where they are real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.ir import dtypes
from twofold.support.errors import ArgumentError, DTypeError, UnsupportedError
from twofold.tensors.arithmetic import placed, rtruediv
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.generated import elementwise as _elementwise
from twofold.tensors.generated import gamma as _gamma
from twofold.tensors.inplace import inplace
from twofold.tensors.typing import Number


def _tensor(name: str, value: Any, argument: str = "input") -> Tensor:
    if not isinstance(value, Tensor):
        raise ArgumentError(f"{name}(): argument {argument!r} must be a tensor, not {type(value).__name__}")
    return value


# ---- powers ----------------------------------------------------------------------------------------------------------------------------


def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """`input * 2**other`; integers become the default floating-point dtype."""
    return placed(_elementwise.mul(_tensor("ldexp", input), call("pow", 2.0, _tensor("ldexp", other, "other"))))


def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """`ldexp` written into the first operand, which is returned."""
    return inplace("mul", input, call("pow", 2.0, _tensor("ldexp_", other, "other")))


def _double(value: Tensor | Number) -> Any:
    return call("to", value, dtype=dtypes.float64) if isinstance(value, Tensor) else float(value)


def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """`input` to the power `exponent`, both converted to float64 first."""
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise ArgumentError("float_power(): one of input and exponent must be a tensor")
    return placed(_elementwise.pow(_double(input), _double(exponent)))


def float_power_(input: Tensor, exponent: Tensor | Number) -> Tensor:
    """`float_power` written into the base, which must be float64 (DTypeError)."""
    if _tensor("float_power_", input)._type.dtype is not dtypes.float64:
        raise DTypeError(
            f"float_power_: the base has dtype {input._type.dtype.name}, but the result is float64; convert it with .to(float64)"
        )
    return inplace("pow", input, _double(exponent))


# ---- polygamma as a method -------------------------------------------------------------------------------------------------------------


def polygamma(self: Tensor, n: int) -> Tensor:
    """`twofold.polygamma(n, self)`."""
    return placed(_gamma.polygamma(n, self))


def polygamma_(self: Tensor, n: int) -> Tensor:
    """`polygamma` written into the tensor, which is returned."""
    return inplace("polygamma", self, n=n)


# ---- real numbers as complex ones ------------------------------------------------------------------------------------------------------


def isreal(input: Tensor) -> Tensor:
    """True everywhere: there are no complex tensors."""
    return call("ones_like", _tensor("isreal", input), dtype=dtypes.bool_)


def _itself(name: str, text: str) -> Callable[[Tensor], Tensor]:
    def function(input: Tensor) -> Tensor:
        return _tensor(name, input)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


conj = _itself("conj", "The tensor itself: it is real.")
conj_physical = _itself("conj_physical", "The tensor itself: it is real.")
conj_physical_ = _itself("conj_physical_", "The tensor itself: it is real.")
resolve_conj = _itself("resolve_conj", "The tensor itself: it is real.")
resolve_neg = _itself("resolve_neg", "The tensor itself: negation is never delayed.")


def imag(input: Tensor) -> Tensor:
    """Raises UnsupportedError: as in PyTorch, a real tensor has no imaginary part (zeros_like makes one)."""
    raise UnsupportedError(f"imag is not implemented for tensors with real dtypes, here {_tensor('imag', input)._type.dtype.name}")


def _no(name: str, text: str) -> Callable[[Tensor], bool]:
    def function(input: Tensor) -> bool:
        _tensor(name, input)
        return False

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


is_conj = _no("is_conj", "False: conjugation is never delayed.")
is_neg = _no("is_neg", "False: negation is never delayed.")
is_complex = _no("is_complex", "False: there are no complex tensors.")


def rdiv(self: Tensor, other: Any) -> Tensor:
    """`other / self`."""
    return placed(rtruediv(self, other))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        ldexp, float_power, isreal, conj, conj_physical, resolve_conj, resolve_neg, imag, is_conj, is_neg, is_complex,
    )
}  # fmt: skip
INPLACE: dict[str, Callable[..., Any]] = {"ldexp_": ldexp_, "float_power_": float_power_, "conj_physical_": conj_physical_}
METHODS: dict[str, Callable[..., Any]] = {"polygamma": polygamma, "polygamma_": polygamma_, "__rdiv__": rdiv}
