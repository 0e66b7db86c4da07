"""What rows do not say of elementwise operations: result dtypes of all pairs, gradients at edges, names that choose between records."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import twofold.tensors.methods  # noqa: F401  (attaches the methods)
from tests.ops.calls import array, import_torch, tensor
from twofold.ir.dtypes import BY_NAME
from twofold.support.errors import ArgumentError, DTypeError, TwofoldError, ValueRangeError
from twofold.tensors.arithmetic import OPERATORS
from twofold.tensors.backward import grad
from twofold.tensors.core import Tensor, wrap
from twofold.tensors.functions import FUNCTIONS as F
from twofold.tensors.functions import INPLACE

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
NUMBERS = {"True": True, "2": 2, "1.5": 1.5}
PROMOTING = (
    "add", "sub", "rsub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "atan2", "maximum", "minimum", "fmax", "fmin", "hypot",
    "copysign",
    "logaddexp", "xlogy", "eq", "ne", "lt", "ge", "logical_and", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_left_shift", "where",
    "clamp",
)  # fmt: skip


def leaf(values: Any, dtype: Any = np.float64) -> Tensor:
    return tensor(np.array(values, dtype), leaf=True)


def gradients(out: Tensor, *leaves: Tensor) -> list[list[float]]:
    found = grad(out, list(leaves), wrap(np.ones(out._type.shape, out._type.dtype.numpy)), allow_unused=True)
    return [array(g).tolist() for g in found]


# ---- promotion -------------------------------------------------------------------------------------------------------------------------


def call_with(name: str, table: Any, a: Any, b: Any, mask: Any) -> Any:
    function = table[name] if isinstance(table, dict) else getattr(table, name)
    return function(mask, a, b) if name == "where" else function(a, b)


@pytest.mark.parametrize("name", PROMOTING)
def test_result_dtypes_are_those_of_torch(name: str) -> None:
    """All pairs of dtypes, each operand with dimensions or without, or a Python number; values too."""
    torch = import_torch()
    if torch is None:
        pytest.skip("torch is not installed")
    mask, their_mask = wrap(np.array([True, False])), torch.tensor([True, False])
    operands = [(d, v) for d in DTYPES for v in ([2.0, 3.0], 2.0)] + [(n, None) for n in NUMBERS]
    differences = []
    for (da, va), (db, vb) in itertools.product(operands, repeat=2):
        if (va is None and vb is None) or (name == "clamp" and db == "True"):
            continue
        ours = [NUMBERS[d] if v is None else wrap(np.array(v).astype(BY_NAME[d].numpy)) for d, v in ((da, va), (db, vb))]
        theirs = [NUMBERS[d] if v is None else torch.tensor(v).to(getattr(torch, d)) for d, v in ((da, va), (db, vb))]
        try:
            t = call_with(name, torch, *theirs, their_mask)
        except TypeError:
            continue  # torch takes no number in this place
        except RuntimeError:
            t = None
        try:
            o = call_with(name, F, *ours, mask)
        except TwofoldError:
            o = None
        if t is None or o is None:
            same = t is None and o is None
        else:
            same = str(t.dtype) == f"torch.{o._type.dtype.name}" and np.allclose(
                array(o).astype(np.float64), t.double().numpy(), rtol=0.02, equal_nan=True
            )
        if not same:
            differences.append(
                f"({da}{va or ''}, {db}{vb or ''}): ours {None if o is None else o._type}, torch {t if t is None else t.dtype}"
            )
    assert not differences


@pytest.mark.parametrize("name", ["add", "mul", "div", "maximum", "pow", "where", "lerp", "clamp", "atan2", "hypot"])
@pytest.mark.parametrize("other", ["float64", "float16", "int64"])
def test_gradients_have_their_operands_types(name: str, other: str) -> None:
    """Operands of two dtypes: the gradient of each has its own, also from the rules on arrays."""
    if other == "int64" and name in ("lerp", "hypot"):
        pytest.skip("float only")
    x = leaf([1.0, 2.0], np.float32)
    y = tensor(np.array([[2.0], [3.0]]).astype(other), leaf=other != "int64")
    if name == "lerp":
        y = tensor(np.array([[2.0], [3.0]], np.float32), leaf=True)
    args = {"where": (wrap(np.array([True, False])), x, y), "lerp": (x, y, 0.25)}.get(name, (x, y))
    out = F[name](*args)
    leaves = [t for t in (x, y) if t._node is not None]
    for g, t in zip(grad(out, leaves, wrap(np.ones(out._type.shape, out._type.dtype.numpy))), leaves, strict=True):
        assert g._type is t._type
        assert array(g).dtype == t._type.dtype.numpy


# ---- edges -----------------------------------------------------------------------------------------------------------------------------

INF, NAN = math.inf, math.nan
UNARY_POINTS = [1.0, -1.0, 0.0, -0.0, INF, -INF, NAN, 0.5, 3.0, -3.0, 6.0]
UNARY = (
    "abs", "sign", "floor", "relu", "relu6", "hardtanh", "hardswish", "hardshrink", "softshrink", "leaky_relu", "elu", "selu", "celu",
    "silu",
    "gelu", "mish", "softplus", "logsigmoid", "sigmoid", "tanh", "sqrt", "rsqrt", "log", "log1p", "exp", "expm1", "reciprocal", "square",
    "asin", "acosh",
    "atanh", "logit", "erf", "erfc", "nan_to_num", "frac", "tan", "cosh", "softsign", "tanhshrink", "round", "trunc",
)  # fmt: skip


def compare_with_torch(ours: Any, theirs: Any, points: list[list[float]], known: Any = None) -> None:
    """Values and gradients of both at the points."""
    torch = import_torch()
    if torch is None:
        pytest.skip("torch is not installed")
    a = [leaf(p) for p in points]
    b = [torch.tensor(p, dtype=torch.float64, requires_grad=True) for p in points]
    o, t = ours(*a), theirs(torch, *b)
    np.testing.assert_allclose(array(o), t.detach().numpy(), rtol=1e-12, atol=1e-300)
    want = torch.autograd.grad(t.sum(), b, allow_unused=True)
    for mine, other in zip(gradients(o, *a), want, strict=True):
        expected = np.zeros(len(mine)) if other is None else other.numpy()
        np.testing.assert_allclose(np.array(mine), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", UNARY)
def test_unary_edges_are_those_of_torch(name: str) -> None:
    points = [p for p in UNARY_POINTS if (name, p) not in DIFFERENT]
    compare_with_torch(
        F[name], lambda torch, x: getattr(torch, name, None)(x) if hasattr(torch, name) else getattr(torch.nn.functional, name)(x), [points]
    )


DIFFERENT = {("relu6", NAN), ("hardtanh", NAN), ("hardshrink", NAN), ("softshrink", NAN)}
"""The gradient at NaN: torch's vector code and scalar code differ from each other."""


BINARY = ("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "copysign", "xlogy", "fmod", "logaddexp", "pow", "mul", "div")


@pytest.mark.parametrize("name", BINARY)
def test_binary_edges_are_those_of_torch(name: str) -> None:
    values = [0.0, -0.0, 1.0, -1.0, 2.0, INF, -INF, NAN, 0.5]
    pairs = list(itertools.product(values, repeat=2))
    compare_with_torch(F[name], lambda torch, a, b: getattr(torch, name)(a, b), [[a for a, _ in pairs], [b for _, b in pairs]])


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, -0.5, 0.0, 1.0, 2.0, 1.5, 2.5])
def test_power_by_a_number(exponent: float) -> None:
    # torch takes sqrt and rsqrt for halves, which differ from C's pow at -0.0 and -inf
    points = [x for x in UNARY_POINTS if abs(exponent) != 0.5 or (x != -INF and math.copysign(1.0, x) > 0.0)]
    compare_with_torch(lambda x: F["pow"](x, exponent), lambda torch, x: x**exponent, [points])


@pytest.mark.parametrize("base", [0, 1, 2, 0.5, -1.5])
def test_power_of_a_number(base: float) -> None:
    compare_with_torch(lambda x: F["pow"](base, x), lambda torch, x: torch.pow(base, x), [[0.0, 1.0, 2.0, -1.0, INF, NAN, 0.5]])


def test_extremes_share_a_tie() -> None:
    a, b = leaf([1.0, 2.0, 3.0]), leaf([1.0, 3.0, 2.0])
    assert gradients(F["maximum"](a, b), a, b) == [[0.5, 0.0, 1.0], [0.5, 1.0, 0.0]]
    assert gradients(F["minimum"](a, b), a, b) == [[0.5, 1.0, 0.0], [0.5, 0.0, 1.0]]
    assert gradients(F["fmax"](a, b), a, b) == [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]


def test_clamp_gradients_at_and_beyond_limits() -> None:
    a, low, high = leaf([0.0, 1.0, 2.0, 3.0, 1.5]), leaf([1.0, 1.0, 1.0, 1.0, 2.0]), leaf([2.0, 2.0, 2.0, 2.0, 1.0])
    out = F["clamp"](a, low, high)
    assert array(out).tolist() == [1.0, 1.0, 2.0, 2.0, 1.0]
    assert gradients(out, a, low, high) == [[0.0, 1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 1.0]]


def test_an_infinite_gradient_does_not_reach_what_was_not_chosen() -> None:
    """0 * inf is NaN: rules choose, they do not multiply by masks. Large arrays choose by bits."""
    for n in (4, 5000):
        x = leaf(np.where(np.arange(n) % 2, 1.0, -1.0))
        g = wrap(np.full(n, np.inf))
        for out in (F["relu"](x), F["clamp"](x, 0.0, 2.0), F["where"](x > 0, x, 0.0), F["hardtanh"](x, 0.0, 2.0), F["leaky_relu"](x, 0.0)):
            (found,) = grad(out, [x], g)
            if out._node.name() == "LeakyReluBackward0":
                continue
            assert array(found)[:4].tolist() == [0.0, INF, 0.0, INF], out._node.name()


@pytest.mark.parametrize("name", ["floor_divide", "floor", "sign", "round", "trunc", "ceil"])
def test_steps_have_the_gradient_zero(name: str) -> None:
    x, y = leaf([1.5, -2.5]), leaf([2.0, 2.0])
    out = F[name](x, y) if name == "floor_divide" else F[name](x)
    assert gradients(out + x * 2.0, x) == [[2.0, 2.0]]


# ---- names that choose between records ---------------------------------------------------------------------------------------------------


def test_alpha_and_rounding_mode() -> None:
    a, b = leaf([5.0, -5.0]), leaf([2.0, 2.0])
    out = F["add"](a, b, alpha=3)
    assert array(out).tolist() == [11.0, 1.0]
    assert out._node.name() == "AddBackward0"
    assert gradients(out, a, b) == [[1.0, 1.0], [3.0, 3.0]]
    assert array(F["sub"](a, b, alpha=0.5)).tolist() == [4.0, -6.0]
    assert array(F["rsub"](a, b, alpha=2)).tolist() == [-8.0, 12.0]
    assert array(F["div"](a, b, rounding_mode="trunc")).tolist() == [2.0, -2.0]
    assert array(F["div"](a, b, rounding_mode="floor")).tolist() == [2.0, -3.0]
    whole = wrap(np.array([7, -7]))
    assert array(F["div"](whole, 2, rounding_mode="trunc")).tolist() == [3, -3]
    assert array(INPLACE["add_"](whole, whole, alpha=2)).tolist() == [21, -21]
    assert array(INPLACE["div_"](whole, 2, rounding_mode="floor")).tolist() == [10, -11]
    with pytest.raises(DTypeError, match="alpha"):
        F["add"](whole, whole, alpha=0.5)


def test_masked_fill_by_a_tensor() -> None:
    a, v, mask = leaf([1.0, 2.0, 3.0]), leaf(9.0), wrap(np.array([True, False, True]))
    out = F["masked_fill"](a, mask, v)
    assert array(out).tolist() == [9.0, 2.0, 9.0]
    assert out._node.name() == "MaskedFillBackward1"
    assert gradients(out, a, v) == [[0.0, 1.0, 0.0], 2.0]
    assert F["masked_fill"](a, mask, 0.0)._node.name() == "MaskedFillBackward0"
    t = wrap(np.zeros(3))
    assert array(INPLACE["masked_fill_"](t, mask, wrap(np.float64(2.0)))).tolist() == [2.0, 0.0, 2.0]
    assert array(INPLACE["masked_fill_"](t, mask, 1)).tolist() == [1.0, 0.0, 1.0]


def test_truth_of_whole_tensors() -> None:
    a, b = wrap(np.array([1.0, NAN])), wrap(np.array([1.0 + 1e-7, NAN]))
    assert F["allclose"](a, b) is False
    assert F["allclose"](a, b, equal_nan=True) is True
    assert F["equal"](a, a) is False
    assert F["equal"](wrap(np.array([1, 2])), wrap(np.array([1, 2]))) is True
    assert F["equal"](wrap(np.array([1, 2])), wrap(np.array([[1, 2]]))) is False
    with pytest.raises(DTypeError, match="dtypes differ"):
        F["equal"](wrap(np.array([1, 2])), a)
    with pytest.raises(ArgumentError, match="tensor"):
        F["equal"](a, 1.0)


def test_nan_to_num_limits() -> None:
    for name in ("float64", "float32", "float16", "bfloat16"):
        dtype = BY_NAME[name].numpy
        out = array(F["nan_to_num"](wrap(np.array([NAN, INF, -INF, 1.0]).astype(dtype))))
        assert out.dtype == dtype
        assert np.isfinite(out.astype(np.float64)).all()
        assert out.astype(np.float64).tolist() == [0.0, -out.astype(np.float64)[2], out.astype(np.float64)[2], 1.0]
        assert not np.isfinite((out[1:2].astype(np.float64) * 1.01).astype(dtype)).any() or name == "float64"


def test_operators_are_the_generated_functions() -> None:
    a, b = wrap(np.array([7, -7])), wrap(np.array([2, 3]))
    expected = {
        "__add__": [9, -4], "__sub__": [5, -10], "__rsub__": [-5, 10], "__mul__": [14, -21], "__floordiv__": [3, -3], "__mod__": [1, 2],
        "__rmod__": [2, -4], "__rfloordiv__": [0, -1], "__and__": [2, 1], "__or__": [7, -5], "__xor__": [5, -6], "__lshift__": [28, -56],
        "__rshift__": [1, -1], "__eq__": [False, False], "__gt__": [True, False], "__rpow__": None, "__truediv__": [3.5, -7 / 3],
    }  # fmt: skip
    for name, want in expected.items():
        if want is not None:
            np.testing.assert_allclose(array(OPERATORS[name](a, b)), want, err_msg=name, rtol=1e-6)
    assert array(OPERATORS["__rpow__"](b, 2)).tolist() == [4, 8]
    assert array(OPERATORS["__rtruediv__"](wrap(np.array([2.0, 4.0])), 1)).tolist() == [0.5, 0.25]
    assert array(OPERATORS["__invert__"](a)).tolist() == [-8, 6]


def test_integer_powers() -> None:
    a = wrap(np.array([2, 1, -1, 0, -1]))
    assert array(F["pow"](a, wrap(np.array([-1, -3, -3, -1, -2])))).tolist() == [0, 1, -1, 0, 1]
    with pytest.raises(ValueRangeError, match="negative power -1"):
        F["pow"](a, -1)
    assert array(F["pow"](wrap(np.array([True, False])), True)).tolist() == [True, False]


def test_wrapping_of_numbers() -> None:
    """A Python integer beside a small dtype wraps, as in torch."""
    a = wrap(np.array([44, 1], np.uint8))
    assert array(F["add"](a, 300)).tolist() == [88, 45]
    assert array(F["eq"](a, 300)).tolist() == [True, False]
    assert array(F["addcmul"](a, a, a, value=257)).tolist() == [(44 + 44 * 44) % 256, 2]


def test_relu_of_integers_is_exact() -> None:
    big = (1 << 62) + 1
    out = F["relu"](wrap(np.array([big, -big])))
    assert out._type.dtype.name == "int64"
    assert array(out).tolist() == [big, 0]


def test_nodes_stand_at_the_users_line() -> None:
    x = leaf([1.0, 2.0])
    for function in (F["add"], F["sub"], F["div"]):
        node = function(x, 2.0)._node
        assert node.code is test_nodes_stand_at_the_users_line.__code__
    assert F["square"](x)._node.code is test_nodes_stand_at_the_users_line.__code__
    assert F["relu6"](x)._node.code is test_nodes_stand_at_the_users_line.__code__
    assert F["softsign"](x)._node.code is test_nodes_stand_at_the_users_line.__code__
