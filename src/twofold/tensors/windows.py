"""Window functions, computed in float64 and rounded once: those of `signal.windows`, and the older top-level ones with `periodic`.

Sources of the formulas: F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proc. IEEE 66
(1978) 51-83; A. H. Nuttall, "Some windows with very good sidelobe behavior", IEEE Trans. ASSP 29 (1981) 84-91.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

from twofold.ir import dtypes
from twofold.ir.dtypes import as_dtype
from twofold.support.errors import ArgumentError, ValueRangeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.creation import arange, ones, zeros

NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)
BLACKMAN = (0.42, 0.5, 0.08)


def _length(name: str, m: Any) -> Any:
    """The number of points, an int or a symbolic dimension."""
    if hasattr(m, "is_symbolic_dim"):
        return m
    try:
        n = operator.index(m)
    except TypeError:
        raise ArgumentError(f"{name}(): the window length must be an int, not {type(m).__name__}") from None
    if n < 0:
        raise ValueRangeError(f"{name} requires non-negative window length, got M={n}")
    return n


def _strided(name: str, layout: Any) -> None:
    if layout is not None and not str(layout).endswith("strided"):
        raise ValueRangeError(f"{name} is implemented for strided tensors only, got: {layout}")


def _made(
    name: str,
    m: Any,
    sym: bool,
    dtype: Any,
    layout: Any,
    device: Any,
    requires_grad: bool,
    shape: Callable[[Tensor, Any], Tensor],
    wide: bool = True,
) -> Tensor:
    """A window of `m` points; `shape` computes it from the float64 numbers 0 … m-1 and the period."""
    count = _length(name, m)
    kind = dtypes.get_default_dtype() if dtype is None else as_dtype(dtype)
    if wide and kind not in (dtypes.float32, dtypes.float64):
        raise ValueRangeError(f"{name} expects float32 or float64 dtypes, got: {kind.name}")
    if not kind.is_floating_point:
        raise ValueRangeError(f"{name} expects floating-point dtypes, got: {kind.name}")
    _strided(name, layout)
    if type(count) is int and count < 2:
        return (ones if count else zeros)(count, dtype=kind, device=device, requires_grad=requires_grad)
    points = arange(count, dtype=dtypes.float64, device=device)
    result = call("to", shape(points, count - 1 if sym else count), dtype=kind)
    return result.requires_grad_() if requires_grad else result


def _cosines(coefficients: tuple[float, ...]) -> Callable[[Tensor, Any], Tensor]:
    """sum (-1)**i a[i] cos(2 pi i n / period)."""

    def shape(n: Tensor, period: Any) -> Tensor:
        angle = call("mul", call("div", n, period), 2.0 * math.pi)
        total = call("mul", call("ones_like", n), coefficients[0])
        for i, a in enumerate(coefficients[1:], 1):
            total = call("add", total, call("mul", call("cos", call("mul", angle, float(i))), a if i % 2 == 0 else -a))
        return total

    return shape


def _bartlett(n: Tensor, period: Any) -> Tensor:
    return call("sub", 1.0, call("abs", call("sub", call("div", n, period * 0.5), 1.0)))


def _kaiser(beta: float) -> Callable[[Tensor, Any], Tensor]:
    def shape(n: Tensor, period: Any) -> Tensor:
        place = call("sub", call("div", n, period * 0.5), 1.0)
        root = call("sqrt", call("clamp", call("sub", 1.0, call("mul", place, place)), 0.0, None))
        argument = call("mul", root, beta)
        # i0(a) / i0(beta) with both scaled, so that a large beta overflows nowhere
        peak = call("special_i0e", call("mul", call("ones_like", n), beta))
        return call("mul", call("div", call("special_i0e", argument), peak), call("exp", call("sub", argument, beta)))

    return shape


# ---- signal.windows --------------------------------------------------------------------------------------------------------------------


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The window of `M` points sum (-1)**i a[i] cos(2 pi i n / (M - 1)), or with period M if not `sym`. float32 or float64."""
    if not isinstance(a, Iterable):
        raise ArgumentError("Coefficients must be a list/tuple")
    coefficients = tuple(float(x) for x in a)
    if not coefficients:
        raise ValueRangeError("Coefficients cannot be empty")
    return _made("general_cosine", M, sym, dtype, layout, device, requires_grad, _cosines(coefficients))


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """alpha - (1 - alpha) cos(2 pi n / (M - 1)), or with period M if not `sym`."""
    return _made("general_hamming", M, sym, dtype, layout, device, requires_grad, _cosines((alpha, 1.0 - alpha)))


def hamming(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The Hamming window of `M` points."""
    return _made("hamming", M, sym, dtype, layout, device, requires_grad, _cosines((0.54, 1.0 - 0.54)))


def hann(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The Hann window of `M` points."""
    return _made("hann", M, sym, dtype, layout, device, requires_grad, _cosines((0.5, 0.5)))


def blackman(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The Blackman window of `M` points."""
    return _made("blackman", M, sym, dtype, layout, device, requires_grad, _cosines(BLACKMAN))


def nuttall(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Nuttall's minimum four-term window of `M` points."""
    return _made("nuttall", M, sym, dtype, layout, device, requires_grad, _cosines(NUTTALL))


def bartlett(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The triangle 1 - |2 n / (M - 1) - 1|."""
    return _made("bartlett", M, sym, dtype, layout, device, requires_grad, _bartlett)


def cosine(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """sin(pi (n + 1/2) / M)."""

    def shape(n: Tensor, period: Any) -> Tensor:
        return call("sin", call("mul", call("div", call("add", n, 0.5), period + 1), math.pi))

    return _made("cosine", M, sym, dtype, layout, device, requires_grad, shape)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-|n - center| / tau). The centre is the middle, and must be left None for a symmetric window."""
    if not tau > 0:
        raise ValueRangeError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueRangeError("Center must be None for symmetric windows")

    def shape(n: Tensor, period: Any) -> Tensor:
        middle = period * 0.5 if center is None else center
        return call("exp", call("div", call("abs", call("sub", n, middle)), -tau))

    return _made("exponential", M, sym, dtype, layout, device, requires_grad, shape)


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """exp(-((n - (M - 1) / 2) / std)**2 / 2)."""
    if not std > 0:
        raise ValueRangeError(f"Standard deviation must be positive, got: {std} instead.")

    def shape(n: Tensor, period: Any) -> Tensor:
        z = call("div", call("sub", n, period * 0.5), std)
        return call("exp", call("mul", call("mul", z, z), -0.5))

    return _made("gaussian", M, sym, dtype, layout, device, requires_grad, shape)


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """i0(beta sqrt(1 - (2 n / (M - 1) - 1)**2)) / i0(beta)."""
    if not beta >= 0:
        raise ValueRangeError(f"beta must be non-negative, got: {beta} instead.")
    return _made("kaiser", M, sym, dtype, layout, device, requires_grad, _kaiser(float(beta)))


# ---- the older functions ---------------------------------------------------------------------------------------------------------------


def _older(name: str, args: dict[str, Any], shape: Callable[[Tensor, Any], Tensor]) -> Tensor:
    return _made(
        name, args["window_length"], not args["periodic"], args["dtype"], args["layout"], args["device"], args["requires_grad"],
        shape, False,
    )  # fmt: skip


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The Hann window; `periodic`: the first points of a symmetric one that is a point longer. Any floating-point dtype."""
    return _older("hann_window", locals(), _cosines((0.5, 0.5)))


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - beta cos(2 pi n / N), N = `window_length` if `periodic`, else one less."""
    return _older("hamming_window", locals(), _cosines((alpha, beta)))


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The Blackman window; `periodic`: the first points of a symmetric one that is a point longer."""
    return _older("blackman_window", locals(), _cosines(BLACKMAN))


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The triangle window; `periodic`: the first points of a symmetric one that is a point longer."""
    return _older("bartlett_window", locals(), _bartlett)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Kaiser window of shape `beta`; `periodic`: the first points of a symmetric one that is a point longer."""
    return _older("kaiser_window", locals(), _kaiser(float(beta)))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (hann_window, hamming_window, blackman_window, bartlett_window, kaiser_window)
}
