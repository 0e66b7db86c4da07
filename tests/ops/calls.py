"""Calls of a row's operation: on our tensors, on torch's, by the oracle; and the limits their results are compared with."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import twofold.tensors.methods  # noqa: F401  (fills the vocabulary and the public functions)
from tests.ops.row import SAME, WIDE_UNSIGNED, Row, S, arrays_in, cast, map_arrays
from tests.ops.samples import ROWS
from twofold.ir.dtypes import BY_NAME, DType
from twofold.ir.op import VOCABULARY, Joint, Op
from twofold.ir.types import type_of
from twofold.tensors.core import Tensor, memory, wrap
from twofold.tensors.dispatch import dispatch, type_of_operand
from twofold.tensors.functions import FUNCTIONS
from twofold.tensors.nodes import new_leaf

# ---- parameters of tests -----------------------------------------------------------------------------------------------------------


FULL = os.environ.get("TWOFOLD_TESTS") == "full"
"""Every sample in every test; otherwise each test takes `SOME` of a row's samples, different tests different ones."""
SOME = 4


def some_of(row: Row, samples: list[tuple[int, S]], test: str) -> list[tuple[int, S]]:
    """The samples a test takes of a row: neighbours in the list (which goes round), from a place given by the names alone."""
    if FULL or len(samples) <= SOME:
        return samples
    start = zlib.crc32(f"{test} {row.name}".encode()) % len(samples)
    return [samples[(start + k) % len(samples)] for k in range(SOME)]


def each_sample(wanted: Callable[[Row, S], bool] = lambda row, sample: True, every: bool = False) -> Any:
    """Parametrises a test over (row, sample): ids such as "add-2". every: over all samples, not only `some_of` them."""

    def decorate(test: Any) -> Any:
        parameters = []
        for row in ROWS.values():
            fitting = [(i, s) for i, s in enumerate(row.all_samples()) if wanted(row, s)]
            taken = fitting if every else some_of(row, fitting, test.__name__)
            parameters += [pytest.param(row, s, id=f"{row.name}-{i}") for i, s in taken]
        return pytest.mark.parametrize("row,sample", parameters)(test)

    return decorate


def over_dtypes(check: Callable[[Row, S, DType], None]) -> Callable[[Row, S], None]:
    """A test over all dtypes of a sample at once, reporting every one that fails (a test for each dtype would take minutes in all)."""

    def test(row: Row, sample: S) -> None:
        failures: list[tuple[str, Exception]] = []
        for name in row.dtype_names(sample):
            try:
                check(row, sample, BY_NAME[name])
            except Exception as e:
                failures.append((name, e))
        if failures:
            listed = "\n".join(f"{name}: {type(e).__name__}: {e}" for name, e in failures)
            raise AssertionError(f"{row.name}{sample} fails for {len(failures)} dtype(s)\n{listed}") from failures[0][1]

    test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
    return test


def each_row(wanted: Callable[[Row], bool]) -> Any:
    """Parametrises a test over rows."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS.values() if wanted(row)])


def record(row: Row) -> Op | None:
    """The row's record; None for a plain function over records."""
    return VOCABULARY.get(row.name)


def own_record(row: Row) -> Op | None:
    """The row's record if the row calls its generated function, so that the samples' arguments are the record's own; else None."""
    function = FUNCTIONS.get(row.name)
    generated = function is not None and function.__module__.startswith("twofold.tensors.generated.")
    return record(row) if generated and row.call is None else None


def is_random(row: Row) -> bool:
    op = record(row)
    return row.numpy is None or (op is not None and op.is_random)


def is_elementwise(row: Row) -> bool:
    """True if each result element depends on one element of each operand."""
    op = record(row)
    return op is not None and (bool(op.body) or op.cost == "elementwise")


def errors_are_relative(row: Row) -> bool:
    """True if an error is compared with its own element: elementwise operations but those of three operands, which may cancel."""
    op = record(row)
    return is_elementwise(row) and op is not None and len(op.inputs) < 3


# ---- our side ------------------------------------------------------------------------------------------------------------------------


def tensor(a: np.ndarray, leaf: bool = False) -> Tensor:
    """A tensor with a copy of the array, of the same memory layout."""
    t = wrap(np.copy(a, order="K"))
    if leaf:
        new_leaf(t)
    return t


def call(row: Row, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The operation's outputs, always a tuple."""
    function = row.call or FUNCTIONS.get(row.name) or getattr(Tensor, row.name)
    result = function(*args, **kwargs)
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def arguments(sample: S, dtype: DType, make: Callable[[np.ndarray], Any] = tensor) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The sample's arguments with arrays cast to `dtype` and made tensors."""
    convert = lambda a: make(cast(a, dtype))
    return map_arrays(convert, sample.args), {k: map_arrays(convert, v) for k, v in sample.kwargs.items()}


def differentiable(row: Row, place: int | str) -> bool:
    """Whether the argument at a position (or of a name) is to be differentiated."""
    if not isinstance(row.grad, bool):
        return place in row.grad
    op = record(row)
    if not row.grad or op is None or isinstance(op.gradient, Joint):
        return row.grad
    if isinstance(op.gradient, tuple) and not any(map(computes, op.gradient)):
        return False
    params = op.signature.params
    name = place if isinstance(place, str) else params[place].name if place < len(params) else ""
    for i, p in enumerate(op.inputs):
        if p.name == name:
            return computes(op.rule(i))
    return True


def computes(rule: Any) -> bool:
    """True for a rule that gives a gradient: neither NOT_DIFFERENTIABLE nor a refusal (see `ops.record.refused`)."""
    return callable(rule) and "refuse_gradient" not in rule.__code__.co_names


def with_leaves(row: Row, sample: S, dtype: DType, layout: Callable[[np.ndarray], np.ndarray] = np.copy) -> tuple[Any, Any, list[Tensor]]:
    """(args, kwargs, leaves): arguments as tensors, those to be differentiated as leaves that require grad."""
    leaves: list[Tensor] = []

    def made(place: int | str, value: Any) -> Any:
        wanted = differentiable(row, place)

        def one(a: np.ndarray) -> Tensor:
            leaf = wanted and a.dtype == np.float64
            t = tensor(layout(cast(a, dtype)), leaf)
            if leaf:
                leaves.append(t)
            return t

        return map_arrays(one, value)

    args = tuple(made(i, v) for i, v in enumerate(sample.args))
    kwargs = {k: made(k, v) for k, v in sample.kwargs.items()}
    return args, kwargs, leaves


def substitute(args: Any, leaves: list[Tensor], others: Iterator[Tensor]) -> Any:
    """`args` with each leaf replaced by the next of `others`."""
    if isinstance(args, Tensor):
        return next(others) if any(args is t for t in leaves) else args
    if isinstance(args, dict):
        return {k: substitute(v, leaves, others) for k, v in args.items()}
    if isinstance(args, list):
        return [substitute(v, leaves, others) for v in args]
    return tuple(substitute(v, leaves, others) for v in args) if type(args) is tuple else args


def array(t: Any) -> np.ndarray:
    """A tensor's data."""
    return np.asarray(memory(t))


def tensors_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for value in [*args, *kwargs.values()]:
        found += [v for v in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(v, Tensor)]
    return found


def type_of_array(a: Any) -> Any:
    """What a type rule sees of an array, a tuple of arrays, a number or None."""
    if isinstance(a, tuple):
        return tuple(map(type_of_array, a))
    return type_of(a) if isinstance(a, (np.ndarray, np.generic)) else type_of_operand(a)


def bind(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """(one entry for each tensor parameter, attributes given) from the arguments of a call."""
    given = dict(zip([p.name for p in op.signature.params], args, strict=False)) | kwargs
    inputs = tuple(tuple(v) if isinstance(v, list) else v for v in (given.get(p.name) for p in op.inputs))
    return inputs, {p.name: given[p.name] for p in op.attributes if p.name in given}


def call_record(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The record itself through the generic path."""
    inputs, attributes = bind(op, args, kwargs)
    result = dispatch(op, inputs, {p.name: p.default for p in op.attributes} | attributes)
    return result if isinstance(result, tuple) else (result,)


# ---- the oracle and torch ----------------------------------------------------------------------------------------------------------


def swap_dtypes(value: Any, convert: Callable[[DType], Any]) -> Any:
    return convert(value) if isinstance(value, DType) else value


def expected(row: Row, sample: S, dtype: DType, widen: bool = True) -> tuple[np.ndarray, ...]:
    """What the oracle says: floats computed in float64 from the inputs as rounded to `dtype`; with `widen` integers are too."""
    assert row.numpy is not None

    def exact(a: np.ndarray) -> np.ndarray:
        under_test = a.dtype == np.float64
        a = cast(a, dtype)
        return a.astype(np.float64) if is_float(a) or (widen and under_test) else a.copy()

    args = tuple(swap_dtypes(map_arrays(exact, v), lambda d: d.numpy) for v in sample.args)
    kwargs = {k: swap_dtypes(map_arrays(exact, v), lambda d: d.numpy) for k, v in sample.kwargs.items()}
    with np.errstate(all="ignore"):
        result = row.numpy(*args, **kwargs)
    return tuple(map(np.asarray, result)) if isinstance(result, (tuple, list)) else (np.asarray(result),)


def is_float(a: Any) -> bool:
    return a.dtype.kind == "f" or a.dtype.name == "bfloat16"


@cache
def import_torch() -> Any:
    """torch, or None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch


def torch_function(row: Row) -> Callable[..., Any] | None:
    """What torch calls this operation; None if it has none, or is not installed."""
    torch = import_torch()
    if torch is None or row.torch is None:
        return None
    if callable(row.torch):
        return lambda *args, **kwargs: row.torch(torch, *args, **kwargs)
    name = row.name if row.torch is SAME else row.torch
    for place in (torch.nn.functional, torch, torch.special, torch.Tensor):
        if hasattr(place, name):
            return getattr(place, name)  # type: ignore[no-any-return]
    raise AssertionError(f"row {row.name}: torch has no {name!r}; say torch=None")


def torch_tensor(a: np.ndarray) -> Any:
    """A torch tensor with a copy of the array."""
    torch = import_torch()
    if a.dtype.name == "bfloat16":
        return torch.tensor(a.astype(np.float32)).to(torch.bfloat16)
    return torch.tensor(np.ascontiguousarray(a).reshape(a.shape))


def torch_array(t: Any) -> np.ndarray:
    """A torch tensor's data."""
    torch = import_torch()
    t = t.detach()
    if t.dtype is torch.bfloat16:
        return t.float().numpy().astype(BY_NAME["bfloat16"].numpy)
    return np.asarray(t.resolve_neg().numpy())


def torch_call(row: Row, sample: S, dtype: DType, make: Callable[[np.ndarray], Any] = torch_tensor) -> tuple[Any, ...] | None:
    """torch's outputs, a tuple; None where torch has no such operation or not for this dtype."""
    function = torch_function(row) if sample.torch and dtype.name not in WIDE_UNSIGNED else None
    if function is None:
        return None
    torch = import_torch()
    args, kwargs = arguments(sample, dtype, make)
    args = tuple(swap_dtypes(v, lambda d: getattr(torch, d.name.rstrip("_"))) for v in args)
    kwargs = {k: swap_dtypes(v, lambda d: getattr(torch, d.name.rstrip("_"))) for k, v in kwargs.items()}
    try:
        result = function(*args, **kwargs)
    except (RuntimeError, NotImplementedError) as e:
        if "not implemented for" in str(e):
            return None
        raise
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


# ---- limits --------------------------------------------------------------------------------------------------------------------------

FEW = 8
"""How many units in the last place any result may be off."""
MULTIPLE = 4
"""How many times torch's error ours may be."""
CAP = 256
"""Beyond so many units in the last place an error of torch's excuses nothing."""


def assert_accurate(
    ours: np.ndarray, exact: np.ndarray, theirs: np.ndarray | None, *, elementwise: bool, size: float, factor: float, roundings: int = 1
) -> None:
    """Compare a result with the float64 one.

    Integers and bools must be equal. Floats: a few units in the last place, or a small multiple of torch's error (`theirs`), and for 16-bit
    floats half a unit for each rounding. Relative to each element for elementwise operations, otherwise to the largest of the results
    and `size`.
    """
    assert ours.shape == exact.shape, f"shape {ours.shape}, expected {exact.shape}"
    if not is_float(ours):
        np.testing.assert_array_equal(ours, exact)
        return
    info = float_info(ours.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(ours.dtype).astype(np.float64)
        values = ours.astype(np.float64)
        finite = np.isfinite(rounded)
        np.testing.assert_array_equal(values[~finite], rounded[~finite], "where the exact result is not finite")
        magnitude = np.abs(exact)
        scale = magnitude if elementwise else np.full(exact.shape, max(size, float(np.max(magnitude[finite], initial=0.0))))
        units = FEW * info.compute_eps
        if theirs is not None and finite.any():
            torch_error = np.abs(theirs.astype(np.float64) - exact)[finite] / np.maximum(scale[finite], info.tiny)
            excess = np.maximum(torch_error - info.rounding, 0.0)
            units += MULTIPLE * min(float(np.max(np.where(np.isnan(excess), 0.0, excess))), CAP * info.compute_eps)
        limit = factor * (units * scale + roundings * info.rounding * ulp_base(magnitude, info) + 2 * info.smallest)
        wrong = finite & ~(np.abs(values - exact) <= limit)
    if wrong.any():
        worst = int(np.argmax(np.where(wrong, np.abs(values - exact) / limit, 0.0)))
        a, b, c = values.flat[worst], exact.flat[worst], limit.flat[worst]
        raise AssertionError(
            f"{int(wrong.sum())} of {wrong.size} elements are off; worst: {a}, exact {b}, error {abs(a - b):.3g} > {c:.3g}"
        )


class FloatInfo:
    """Of a float dtype: relative error of its computations and of the rounding at the end (16-bit floats only), smallest numbers."""

    def __init__(self, dtype: np.dtype) -> None:
        own = ml_dtypes.finfo(dtype)
        low = dtype.itemsize == 2
        self.compute_eps = float(np.finfo(np.float32).eps) if low else float(own.eps)
        self.rounding = 0.505 * float(own.eps) if low else 0.0
        self.tiny, self.smallest = float(own.tiny), float(own.smallest_subnormal)


@cache
def float_info(dtype: np.dtype) -> FloatInfo:
    return FloatInfo(dtype)


def ulp_base(magnitude: np.ndarray, info: FloatInfo) -> np.ndarray:
    """The power of two at or below each magnitude: an ulp is this times eps."""
    return np.exp2(np.floor(np.log2(np.maximum(magnitude, info.tiny))))


def input_size(sample: S) -> float:
    """The largest finite number among the float inputs."""
    sizes = [np.max(np.abs(a[np.isfinite(a)]), initial=0.0) for a in arrays_in([*sample.args, *sample.kwargs.values()]) if is_float(a)]
    return float(max(sizes, default=0.0))


def assert_near(a: np.ndarray, b: np.ndarray, eps: float, what: str = "", inputs: float = 0.0) -> None:
    """Equal up to `eps` relative to the largest finite element. What is below `eps` times the largest input is rounding noise."""
    assert a.shape == b.shape, f"{what}: shapes {a.shape} and {b.shape}"
    if not is_float(a):
        np.testing.assert_array_equal(a, b, what)
        return
    a, b = a.astype(np.float64), b.astype(np.float64)
    size = float(np.max(np.abs(b[np.isfinite(b)]), initial=eps * inputs))
    np.testing.assert_allclose(a, b, rtol=eps, atol=eps * size, err_msg=what)
