"""Samples of activation functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

ALPHA, SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def one(*variants: dict[str, Any], scale: float = 1.0, special: bool = True) -> Any:
    """Samples without points at which the slope jumps; `variants`: keyword arguments tried as well."""

    def samples(g: Gen) -> list[S]:
        make = lambda *shape: np.asarray(g.distinct(*shape) * scale + 0.013)
        found = [S(make(3, 4)), S(g.noncontiguous(make(2, 3))), S(make(1)), S(make(0, 2)), S(make())]
        found += [S(make(3, 4), **kwargs) for kwargs in variants]
        return [*found, S(g.special()).but(grad=False, dtypes="float")] if special else found

    return samples


def only_floats(name: str) -> Any:
    return lambda g: [E((np.array([1, 2]),), {}, DTypeError, name)]


def sigmoid(a: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-a))


def each(function: Any) -> Any:
    return np.vectorize(function, otypes=[np.float64])


def gelu(a: np.ndarray, approximate: str = "none") -> np.ndarray:
    if approximate == "tanh":
        return 0.5 * a * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (a + 0.044715 * a**3)))
    return a * 0.5 * each(math.erfc)(-a / math.sqrt(2.0))


def gelu_slope(a: np.ndarray, approximate: str = "none") -> np.ndarray:
    if approximate == "tanh":
        t = np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3))
        return 0.5 * (1 + t) + 0.5 * a * (1 - t * t) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * a**2)
    return 0.5 * (1 + each(math.erf)(a / math.sqrt(2))) + a * np.exp(-a * a / 2) / math.sqrt(2 * math.pi)


def softplus(a: np.ndarray, beta: float = 1.0, threshold: float = 20.0) -> np.ndarray:
    return np.where(a * beta > threshold, a, np.log1p(np.exp(np.minimum(a * beta, 700.0))) / beta)


def elu(a: np.ndarray, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> np.ndarray:
    return np.where(a > 0, scale * a, scale * alpha * np.expm1(np.minimum(input_scale * a, 700.0)))


def prelu(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    w = w.reshape(-1, *(1,) * (a.ndim - 2)) if a.ndim > 1 and w.size > 1 else w.reshape((1,) * a.ndim)
    return np.where(a > 0, a, w * a)


def glu(a: np.ndarray, dim: int = -1) -> np.ndarray:
    x, y = np.split(a, 2, dim)
    return x * sigmoid(y)


def kinks(*values: float) -> S:
    return S(np.array(values)).but(grad=False)


def clip(a: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(a, low), high)


ROWS = [
    Row(
        "relu", lambda g: [*one()(g), kinks(0.0, -1.0, 1.0), S(np.asarray(g.real(70, 80)))], lambda a: np.maximum(a, 0), dtypes="number",
        inplace="relu_",
        errors=lambda g: [E((g.bools(2),), {}, DTypeError, "relu")],
    ),
    Row(
        "threshold_backward",
        lambda g: [S(g.real(3, 4), g.distinct(3, 4), 0.3), S(g.real(0), g.real(0), 0), S(g.real(), g.real(), 0.1),
            S(g.real(70, 80), g.real(70, 80), 0)],
        lambda a, b, t: np.where(b <= t, 0.0, a), torch=lambda torch, *a: torch.ops.aten.threshold_backward(*a),
    ),
    Row(
        "threshold", lambda g: [S(g.distinct(3, 4), 0.3, -1.0).but(dtypes="float"), S(g.ints(3, 4), 1, 7).but(grad=False), S(g.real(0), 0,
        1), S(g.real(), 0.1, 2.0)],
        lambda a, t, v: np.where(a <= t, np.asarray(v).astype(a.dtype), a), dtypes="number", inplace="threshold_",
        errors=lambda g: [E((g.bools(2), 0, 1), {}, DTypeError, "threshold")],
    ),
    Row(
        "leaky_relu", one({"negative_slope": 0.2}, {"negative_slope": 2.0}, {"negative_slope": -0.5}, {"negative_slope": 0.0}),
        lambda a, negative_slope=0.01: np.where(a > 0, a, a * negative_slope), inplace="leaky_relu_", errors=only_floats("leaky_relu"),
    ),
    Row(
        "prelu_kernel", lambda g: [S(g.distinct(3, 4), g.real(4)), S(g.distinct(3, 4), g.real()), S(g.real(0), g.real(1)), S(g.real(),
        g.real())],
        lambda a, w: np.where(a > 0, a, a * w), torch="_prelu_kernel",
    ),
    Row(
        "prelu",
        lambda g: [S(g.distinct(3, 4), g.real(4)), S(g.distinct(2, 3, 2, 2), g.real(3)), S(g.distinct(5), g.real(1)),
            S(g.distinct(2, 3), g.real())],
        prelu,
        errors=lambda g: [E((g.real(2, 3), g.real(2)), {}, ShapeError, "channels"),
            E((g.real(2, 3), g.real(3, 1)), {}, ShapeError, "dimension")],
    ),
    Row(
        "hardtanh", lambda g: [*one()(g), S(g.distinct(5), -0.3, 0.8).but(dtypes="float"), kinks(-1.0, 1.0, 0.0), S(g.ints(3, 4), -2,
        3).but(dtypes=("int8", "int64"))],
        lambda a, min_val=-1.0, max_val=1.0: clip(a, min_val, max_val), dtypes=("float", "int8", "int64"), inplace="hardtanh_",
        errors=lambda g: [
            E((g.real(2), 1.0, -1.0), {}, ValueRangeError, "min_val"), E((np.zeros(2, np.uint8),), {}, ValueRangeError, "unsigned"),
            E((g.bools(2),), {}, DTypeError, "hardtanh"),
        ],
    ),
    Row("relu6", one(scale=5.0), lambda a: clip(a, 0, 6), dtypes=("float", "int32"),
        errors=lambda g: [E((g.bools(2),), {}, DTypeError, "hardtanh")]),
    Row(
        "hardsigmoid", lambda g: [*one(scale=2.0)(g), kinks(-3.0, 3.0)], lambda a: clip(a + 3, 0, 6) / 6, inplace="hardsigmoid_",
        torch=lambda torch, x: torch.clamp(x + 3, 0, 6) / 6,  # torch's own gradient has a factor 1/6 of float32
        errors=only_floats("hardsigmoid"),
    ),
    Row(
        "hardswish", lambda g: [*one(scale=2.0, special=False)(g), kinks(-3.0, 3.0)], lambda a: a * clip(a + 3, 0, 6) / 6,
        inplace="hardswish_",
        errors=only_floats("hardswish"),
    ),
    Row(
        "hardshrink", lambda g: [*one({"lambd": 1.0})(g), kinks(0.5, -0.5)], lambda a,
        lambd=0.5: np.where((a > lambd) | (a < -lambd) | np.isnan(a), a, 0),
        errors=only_floats("hardshrink"),
    ),
    Row(
        "softshrink", lambda g: [*one({"lambd": 1.0}, special=False)(g), kinks(0.5, -0.5)],
        lambda a, lambd=0.5: np.where(a > lambd, a - lambd, np.where(a < -lambd, a + lambd, 0)), errors=only_floats("softshrink"),
    ),
    Row(
        "elu", one({"alpha": 0.5}, {"alpha": ALPHA, "scale": SCALE}, {"alpha": 2.0, "scale": 0.5, "input_scale": 0.7}), elu,
        torch=lambda torch, *a, **k: torch.ops.aten.elu(*a, **k), inplace="elu_", errors=only_floats("elu"),
    ),
    Row("selu", one(), lambda a: elu(a, ALPHA, SCALE), inplace="selu_", errors=only_floats("elu")),
    Row(
        "celu", one({"alpha": 0.5}, {"alpha": 2.0}), lambda a, alpha=1.0: elu(a, alpha, 1.0, 1.0 / alpha), inplace="celu_",
        errors=lambda g: [*only_floats("celu")(g), E((g.real(2), 0.0), {}, ValueRangeError, "alpha")],
    ),
    Row("softplus", one({"beta": 2.0}, {"beta": 0.5, "threshold": 0.4}), softplus, errors=only_floats("softplus")),
    Row("logsigmoid", one(), lambda a: np.minimum(a, 0) - np.log1p(np.exp(-np.abs(a))), errors=only_floats("logsigmoid")),
    Row("silu", one(), lambda a: a * sigmoid(a), inplace="silu_", errors=only_floats("silu")),
    Row("mish", one(special=False), lambda a: a * np.tanh(np.log1p(np.exp(a))), inplace="mish_", errors=only_floats("mish")),
    Row(
        "gelu", one({"approximate": "tanh"}, special=False), gelu,
        errors=lambda g: [*only_floats("gelu")(g), E((g.real(2),), {"approximate": "erf"}, ValueRangeError, "approximate")],
    ),
    Row(
        "gelu_backward",  # the slope's slope is recorded as several operations, each of which rounds: not in 16 bits
        lambda g: [S(g.real(3, 4), g.real(3, 4)), S(g.real(5), g.real(5) * 3, "tanh"), S(g.real(0, 2), g.real(0, 2)),
                   S(g.noncontiguous(g.real(3, 4)), g.real(3, 4), approximate="tanh"), S(g.real(), g.real())],
        lambda g, a, approximate="none": g * gelu_slope(a, approximate), torch=None, dtypes=("float64", "float32"),
        errors=lambda g: [E((g.real(2), g.real(3)), {}, ShapeError, "gelu_backward")],
    ),
    Row(
        "silu_backward",
        lambda g: [S(g.real(3, 4), g.real(3, 4)), S(g.noncontiguous(g.real(3, 4)), g.real(3, 4)), S(g.real(0, 2), g.real(0, 2)),
                   S(g.real(), g.real())],
        lambda g, a: g * sigmoid(a) * (1 + a * (1 - sigmoid(a))), torch=None,
        errors=lambda g: [E((g.real(2), g.real(3)), {}, ShapeError, "silu_backward")],
    ),
    # in 16 bits these round several times, as in torch
    Row("softsign", one(), lambda a: a / (1 + np.abs(a)), dtypes=("float64", "float32")),
    Row("tanhshrink", one(special=False), lambda a: a - np.tanh(a), dtypes=("float64", "float32")),
    Row(
        "glu", lambda g: [S(g.real(3, 4)), S(g.real(4, 3), 0), S(g.noncontiguous(g.real(2, 6))), S(g.real(0, 2)), S(g.real(2, 4, 3),
        dim=-2)], glu,
        empty=False,
        errors=lambda g: [E((g.real(3),), {}, ShapeError, "odd"), E((g.real(),), {}, ShapeError, "no dimensions"), *only_floats("glu")(g)],
    ),
]  # fmt: skip
