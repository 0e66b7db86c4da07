"""How a record runs on arrays: conversions around its reference.

`make_kernel` specialises one record for operand types and attributes and returns a plain function of the operands that does no work the
types make needless: casts, scalar conversions, the 16-bit detour over float32 and the final rounding are decided once. The eager plans, the
interpreter and constant folding all run operations through it.

The conversions, in order:

1. Where the record promotes, operands are converted to the compute dtype: `result_type` of all operands ("default"), or the default float
   dtype instead of an integer one ("float"). A bool operand called `condition` or `mask` selects, and stays bool.
2. Python numbers become 0-d values of the compute dtype, wrapping like `astype`.
3. Unless the record takes any dtype or returns a view, 16-bit floats are computed in float32. A Python number or 0-d operand beside them
   goes to float32 directly, as in PyTorch (`x * 65536.0` does not overflow in between), except where the result is bool: comparisons round
   it first.
4. Results are rounded once, to the output types' dtypes.

References must return arrays or NumPy scalars.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import BOOL, FLOAT, DType
from twofold.ir.op import Op
from twofold.ir.types import ScalarType, TensorType, result_type
from twofold.support.errors import DTypeError, ValueRangeError

Array = Any
CACHE_LIMIT = 256
F32 = dtypes.float32
SELECTORS = ("condition", "mask")


def run_record(op: Op, arrays: tuple[Any, ...], in_types: tuple[Any, ...], out_types: Any, attributes: dict[str, Any]) -> Any:
    """Run `op` on arrays (NumPy arrays or scalars, Python numbers, None, tuples for ``Tensor[]``); an array, or a tuple of them."""
    return make_kernel(op, in_types, out_types, attributes)(*arrays)


def make_kernel(
    op: Op, in_types: tuple[Any, ...], out_types: Any, attributes: dict[str, Any], fn: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A function of the operands that runs `op` (or `fn`, another NumPy form of it) for these types and attributes.

    in_types:  an entry for each tensor parameter: TensorType, ScalarType, TOKEN, None, or a tuple of TensorTypes
    out_types: a type, or a tuple of types for an operation with several outputs (the kernel then returns a tuple)
    """
    fn = op.reference if fn is None else fn
    several = type(out_types) is tuple
    outs = out_types if several else (out_types,)
    converts = _conversions(op, in_types, outs)
    wants = tuple(t.dtype.numpy if type(t) is TensorType else None for t in outs)
    names = tuple(attributes)
    if not any(converts) and not any(wants) and not names:
        return fn
    pattern = (
        len(in_types),
        tuple(c is not None for c in converts),
        names,
        tuple(w is not None for w in wants),
        several,
        op.signature.variable_outputs,
    )
    factory = _factories.get(pattern)
    if factory is None:
        if len(_factories) >= 4096:
            _factories.clear()
        factory = _factories[pattern] = _make_factory(*pattern)
    return factory(fn, converts, wants, attributes, round_to)


_factories: dict[Any, Callable[..., Any]] = {}
"""Factories by the pattern of conversions; each is a pure function of its key."""


def _make_factory(
    count: int, converted: tuple[bool, ...], names: tuple[str, ...], checked: tuple[bool, ...], several: bool, variable: bool
) -> Callable[..., Any]:
    """Source of a kernel for this pattern: conversions of operands, the call with attributes spelled out, rounding of results."""
    lines = ["def factory(fn, converts, wants, attributes, round_to):"]
    lines += [f"    c{i} = converts[{i}]" for i in range(count) if converted[i]]
    lines += [f"    k{i} = attributes[{n!r}]" for i, n in enumerate(names)]
    lines += [f"    w{i} = wants[{i}]" for i, c in enumerate(checked) if c]
    args = [f"a{i}" for i in range(count)]
    lines.append(f"    def kernel({', '.join(args)}):")
    given = [f"c{i}(a{i})" if converted[i] else f"a{i}" for i in range(count)] + [f"{n}=k{i}" for i, n in enumerate(names)]
    call = f"fn({', '.join(given)})"
    if several:
        results = [f"r{i}" for i in range(len(checked))]
        lines.append(f"        {''.join(r + ', ' for r in results)}= {call}" if results else f"        {call}")
        shown = [f"(r{i} if r{i}.dtype is w{i} else round_to(r{i}, w{i}))" if c else f"r{i}" for i, c in enumerate(checked)]
        lines.append(f"        return ({''.join(s + ', ' for s in shown)})")
    elif checked[0]:
        lines += [f"        r = {call}", "        return r if r.dtype is w0 else round_to(r, w0)"]
    else:
        lines.append(f"        return {call}")
    lines.append("    return kernel")
    namespace: dict[str, Any] = {"__name__": None}  # see tensors.quiet
    exec(compile("\n".join(lines), "<twofold kernel>", "exec"), namespace)
    return namespace["factory"]


def round_to(result: Any, dtype: np.dtype) -> Any:
    """A result in the dtype of its type."""
    return result.astype(dtype)


def compute_dtype(op: Op, in_types: tuple[Any, ...], outs: tuple[Any, ...]) -> DType | None:
    """The dtype the operands are converted to, or None where the record does not promote."""
    if op.promotion is None:
        return None
    flat = [t for x in in_types if x is not None for t in (x if type(x) is tuple else (x,))]
    if not any(type(t) is TensorType or type(t) is ScalarType for t in flat):
        return None
    dtype = result_type(*flat)
    out = outs[0].dtype if outs and type(outs[0]) is TensorType else dtype
    if op.promotion == "float" and dtype.category != FLOAT:
        # the default dtype may have been set anew since the type was inferred: the type decides
        return out if out.category == FLOAT else dtypes.get_default_dtype()
    if dtype.category == FLOAT and out.category == FLOAT and not any(type(t) is TensorType and t.dtype.category == FLOAT for t in flat):
        return out
    return dtype


def _conversions(op: Op, in_types: tuple[Any, ...], outs: tuple[Any, ...]) -> list[Callable[[Any], Any] | None]:
    """For each operand a function that converts it, or None where nothing is to do."""
    compute = compute_dtype(op, in_types, outs)
    widen = not op.any_dtype and not op.is_view
    to_bool = bool(outs) and type(outs[0]) is TensorType and outs[0].dtype.category == BOOL
    result: list[Callable[[Any], Any] | None] = []
    for p, t in zip(op.inputs, in_types, strict=True):
        if p.name in SELECTORS and type(t) is TensorType and t.dtype.category == BOOL:
            result.append(None)
        elif type(t) is tuple:
            parts = [_conversion(p, compute, widen, to_bool) for p in t]
            result.append(_many(parts) if any(parts) else None)
        else:
            result.append(_conversion(t, compute, widen, to_bool))
    return result


def _conversion(t: Any, compute: DType | None, widen: bool, to_bool: bool) -> Callable[[Any], Any] | None:
    if type(t) is ScalarType:
        steps = _steps(dtypes.dtype_of_scalar(t.kind) if compute is None else compute, widen, to_bool)
        return _scalar(steps)
    if type(t) is not TensorType:
        return None
    steps = []
    if compute is not None and t.dtype is not compute:
        steps.append(compute)
    low = (compute or t.dtype).is_low_precision
    if widen and low:
        if t.ndim == 0 and not to_bool:
            steps.clear()
        if t.dtype is not F32 or steps:
            steps.append(F32)
    if not steps:
        return None
    first = steps[0].numpy
    if len(steps) == 1:
        return lambda a: a.astype(first)
    second = steps[1].numpy
    return lambda a: a.astype(first).astype(second)


def _steps(dtype: DType, widen: bool, to_bool: bool) -> list[DType]:
    if not (widen and dtype.is_low_precision):
        return [dtype]
    return [dtype, F32] if to_bool else [F32]


def _many(parts: list[Callable[[Any], Any] | None]) -> Callable[[Any], Any]:
    return lambda arrays: tuple(a if c is None else c(a) for a, c in zip(arrays, parts, strict=True))


def _scalar(steps: list[DType]) -> Callable[[Any], Any]:
    """Converts Python numbers to 0-d arrays, with a small cache (zero is left out: 0.0 and -0.0 are one key)."""
    cache: dict[Any, Any] = {}

    def convert(value: Any) -> Any:
        found = cache.get(value)
        if found is None:
            found = scalar_array(value, steps[0])
            for dtype in steps[1:]:
                found = found.astype(dtype.numpy)
            found.flags.writeable = False
            if value and value == value:
                if len(cache) >= CACHE_LIMIT:
                    cache.clear()
                cache[value] = found
        return found

    return convert


def scalar_array(value: bool | int | float, dtype: DType) -> np.ndarray:
    """A Python number as a 0-d array of `dtype`, wrapping (integers) or overflowing to infinity (floats) like `astype`."""
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        if dtype.category != FLOAT:
            raise ValueRangeError(f"the integer {value} does not fit any dtype (64 bits at most)")
        value = float(value) if abs(value) < 1 << 1023 else float("inf") * (1 if value > 0 else -1)
    if type(value) is float and dtype.category != FLOAT:
        raise DTypeError(f"the number {value} cannot become {dtype.name} without loss; convert the tensor to a floating-point dtype first")
    with np.errstate(all="ignore"):
        return np.array(value).astype(dtype.numpy)
