"""Every operation on every sample: values against the float64 oracle and torch, types, layouts, aliasing, in-place forms, refusals."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from tests.ops.calls import (
    arguments,
    array,
    assert_accurate,
    assert_near,
    bind,
    call,
    call_record,
    each_row,
    each_sample,
    errors_are_relative,
    expected,
    input_size,
    is_elementwise,
    is_float,
    is_random,
    over_dtypes,
    own_record,
    record,
    substitute,
    tensor,
    tensors_in,
    torch_array,
    torch_call,
    type_of_array,
    with_leaves,
)
from tests.ops.row import Row, S, arrays_in, cast, map_arrays, other_layout
from twofold.ir.dtypes import BY_NAME, DType
from twofold.ir.run import make_kernel
from twofold.ir.types import TensorType, tensor_type, type_of
from twofold.support.errors import TwofoldError
from twofold.tape.versions import version
from twofold.tensors.backward import grad
from twofold.tensors.core import Tensor, wrap, wrap_typed
from twofold.tensors.dispatch import type_of_operand
from twofold.tensors.functions import FUNCTIONS, INPLACE

FLOAT64 = BY_NAME["float64"]
CLOSE = {"float64": 1e-13, "float32": 3e-6, "bfloat16": 0.02, "float16": 3e-3}
"""How far two ways to compute the same may be apart, relative to the largest element."""


def first_dtype(row: Row, sample: S) -> DType:
    """float64 if the row takes it, else its first dtype."""
    names = row.dtype_names(sample)
    return BY_NAME["float64" if "float64" in names else names[0]]


# ---- values ----------------------------------------------------------------------------------------------------------------------------


@each_sample(every=True)
@over_dtypes
def test_values(row: Row, sample: S, dtype: DType) -> None:
    args, kwargs = arguments(sample, dtype)
    outs = [array(t) for t in call(row, args, kwargs)]
    theirs = torch_call(row, sample, dtype)
    if theirs is not None:
        assert [str(t.dtype).removeprefix("torch.") for t in theirs] == [a.dtype.name for a in outs], "dtypes, torch's first"
        theirs = tuple(map(torch_array, theirs))
        assert [t.shape for t in theirs] == [a.shape for a in outs], "shapes, torch's first"
    if row.check is not None:
        row.check(outs if len(outs) > 1 else outs[0], *arguments(sample, dtype, np.copy)[0], **arguments(sample, dtype, np.copy)[1])
    if row.numpy is None:
        assert row.check is not None, "a row needs an oracle or a check"
        return
    exact = expected(row, sample, dtype, widen=is_float(outs[0]))
    assert len(exact) == len(outs), "number of outputs"
    size, elementwise = input_size(sample), errors_are_relative(row)
    for k, (a, e) in enumerate(zip(outs, exact, strict=True)):
        other = None if theirs is None else theirs[k]
        roundings = 3 if record(row) is None else 1  # a function rounds the result of each of its records
        assert_accurate(a, e, other, elementwise=elementwise, size=size, factor=row.tolerance, roundings=roundings)
        if other is not None and not is_float(a):
            np.testing.assert_array_equal(a, other, "torch differs")


def cut(sample: S, size: int | None) -> S:
    """The sample with the last dimension of every array (of those longer than 1 if some are) cut to `size`; None: first elements, 0-d."""
    arrays = arrays_in([*sample.args, *sample.kwargs.values()])
    longer = any(a.ndim and a.shape[-1] > 1 for a in arrays)

    def change(a: np.ndarray) -> np.ndarray:
        if size is None:
            return np.asarray(a.flat[0] if a.size else 1.0, a.dtype)
        return a[..., :size] if a.ndim and (a.shape[-1] > 1 or not longer) else a

    return S(*map_arrays(change, sample.args), **{k: map_arrays(change, v) for k, v in sample.kwargs.items()})


@each_sample(lambda row, s: s.layouts and not is_random(row) and (is_elementwise(row) if row.empty is None else row.empty))
def test_empty_and_0d(row: Row, sample: S) -> None:
    dtype = first_dtype(row, sample)
    for size in (0, None):
        small = cut(sample, size)
        args, kwargs, leaves = with_leaves(row, small, dtype)
        outs = call(row, args, kwargs)
        for a, e in zip(outs, expected(row, small, dtype, widen=outs[0]._type.dtype.is_floating_point), strict=True):
            assert_accurate(array(a), e, None, elementwise=True, size=1.0, factor=row.tolerance)
        roots = [t for t in outs if t._node is not None]
        if roots:
            gradients = grad(roots, leaves, [wrap(np.ones(t._type.shape)) for t in roots], allow_unused=True)
            assert [g._type.shape for g in gradients if g is not None] == [
                t._type.shape for t, g in zip(leaves, gradients, strict=True) if g is not None
            ]


@each_sample(lambda row, s: s.layouts and not is_random(row))
def test_layouts(row: Row, sample: S) -> None:
    """Operands with gaps or transposed in memory give the same results and gradients."""
    dtype = first_dtype(row, sample)
    results = []
    for layout in (np.ascontiguousarray, other_layout):
        args, kwargs, leaves = with_leaves(row, sample, dtype, lambda a, f=layout: f(a).reshape(a.shape) if a.ndim == 0 else f(a))
        outs = call(row, args, kwargs)
        roots = [t for t in outs if t._node is not None] if sample.grad else []
        gradients = grad(roots, leaves, [wrap(gradient_like(t)) for t in roots], allow_unused=True) if roots else ()
        results.append([array(t) for t in (*outs, *(g for g in gradients if g is not None))])
    for a, b in zip(*results, strict=True):
        assert_near(b, a, CLOSE[dtype.name] if dtype.is_floating_point else 0.0, inputs=input_size(sample))


def gradient_like(t: Tensor) -> np.ndarray:
    """A fixed gradient for an output, not symmetric."""
    n = t._type.numel
    return np.asarray(np.cos(np.arange(n) * 0.7 + 0.3).reshape(t._type.shape), t._type.dtype.numpy)


# ---- types -----------------------------------------------------------------------------------------------------------------------------


def meta(a: np.ndarray) -> Tensor:
    t = type_of(a)
    return wrap_typed(None, tensor_type(t.dtype, t.shape, "meta"))


@each_sample()
@over_dtypes
def test_types(row: Row, sample: S, dtype: DType) -> None:
    """What the type rule says is what comes out, and what the meta device says."""
    op = own_record(row)
    args, kwargs = arguments(sample, dtype)
    outs = call(row, args, kwargs)
    assert [t._type for t in outs] == [type_of(array(t)) for t in outs]
    if op is not None and row.meta:
        inputs, attributes = bind(op, args, kwargs)
        types = tuple(map(type_of_operand, inputs))
        inferred = op.infer(types, op.canonical(types, attributes))
        assert (inferred if isinstance(inferred, tuple) else (inferred,)) == tuple(t._type for t in outs)
    meta_args, meta_kwargs = arguments(sample, dtype, meta)
    if not tensors_in(meta_args, meta_kwargs):
        return
    if not row.meta:
        with pytest.raises(TwofoldError):
            call(row, meta_args, meta_kwargs)
        return
    for t, real in zip(call(row, meta_args, meta_kwargs), outs, strict=True):
        assert (t._type.dtype, t._type.shape, t._type.device) == (real._type.dtype, real._type.shape, "meta")


# ---- memory ----------------------------------------------------------------------------------------------------------------------------


@each_sample()
def test_memory(row: Row, sample: S) -> None:
    """Inputs stay as they are; a view shares memory with its input, and nothing else does."""
    dtype = first_dtype(row, sample)
    args, kwargs = arguments(sample, dtype)
    inputs = tensors_in(args, kwargs)
    before = [array(t).copy() for t in inputs]
    outs = call(row, args, kwargs)
    for t, old in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(array(t), old, "an input was changed")
        assert version(array(t)) == 0, "an input counts as written"
    op = record(row)
    if op is None:
        return
    for t in outs:
        shared = [np.shares_memory(array(t), array(x)) for x in inputs]
        if op.is_view:
            assert not array(t).size or shared[0], "the view has memory of its own"
            assert t._base is not None
        else:
            assert not any(shared), "the result shares memory with an input"
    if len(outs) > 1 and not op.is_view:
        assert not any(np.shares_memory(array(a), array(b)) for i, a in enumerate(outs) for b in outs[:i]), "two outputs share memory"


# ---- in place --------------------------------------------------------------------------------------------------------------------------


def written(row: Row, args: tuple[Any, ...], kwargs: dict[str, Any], through_view: bool) -> tuple[Tensor, Tensor]:
    """(the tensor written by the in-place form, what it returned)."""
    target = args[0].clone()
    if through_view:
        view = FUNCTIONS["view"](target, target._type.shape)
        return target, INPLACE[row.inplace](view, *args[1:], **kwargs)
    return target, INPLACE[row.inplace](target, *args[1:], **kwargs)


@each_sample(lambda row, s: bool(row.inplace) and isinstance(s.args[0], np.ndarray))
@pytest.mark.parametrize("through_view", [False, True], ids=["direct", "view"])
def test_inplace(row: Row, sample: S, through_view: bool) -> None:
    """The in-place form stores what the out-of-place one returns, with the same gradients, also through a view."""
    for name in row.dtype_names(sample):
        dtype = BY_NAME[name]
        args, kwargs, leaves = with_leaves(row, sample, dtype)
        (out,) = call(row, args, kwargs)
        target = args[0]._type
        if out._type.shape != target.shape or out._type.dtype.category > target.dtype.category:
            before = array(args[0]).copy()
            with pytest.raises(TwofoldError):
                INPLACE[row.inplace](args[0].detach(), *args[1:], **kwargs)
            np.testing.assert_array_equal(array(args[0]), before, "a refused write changed its target")
            continue
        changed, returned = written(row, args, kwargs, through_view)
        assert returned._type is target
        assert np.shares_memory(array(returned), array(changed)) or not array(changed).size
        assert_near(array(changed), array(out).astype(target.dtype.numpy), CLOSE.get(name, 0.0), name)
        if sample.grad and out._node is not None and name == "float64":
            g = wrap(gradient_like(out))
            ours, want = (grad(t, leaves, g, allow_unused=True) for t in (changed, out))
            for a, b in zip(ours, want, strict=True):
                assert (a is None) == (b is None)
                if b is not None:
                    assert_near(array(a), array(b), CLOSE[name])


# ---- refusals --------------------------------------------------------------------------------------------------------------------------


def case(e: Any) -> Any:
    return map_arrays(tensor, e.args), {k: map_arrays(tensor, v) for k, v in e.kwargs.items()}


@each_row(lambda row: row.errors is not None)
def test_errors(row: Row) -> None:
    for i, e in enumerate(row.all_errors()):
        args, kwargs = case(e)
        inputs = tensors_in(args, kwargs)
        before = copy.deepcopy([array(t) for t in inputs])
        with pytest.raises(e.error) as caught:
            call(row, args, kwargs)
        assert isinstance(caught.value, TwofoldError), f"error {i}: {type(caught.value).__name__} is none of ours"
        assert e.text in str(caught.value), f"error {i}: {e.text!r} is not in the message: {caught.value}"
        for t, old in zip(inputs, before, strict=True):
            np.testing.assert_array_equal(array(t), old, f"error {i}: an input was changed")


# ---- other forms of one record ---------------------------------------------------------------------------------------------------------


@each_sample(lambda row, s: (op := own_record(row)) is not None and op.eager is not None)
def test_eager_form(row: Row, sample: S) -> None:
    """The faster NumPy form computes what the reference does."""
    op = own_record(row)
    assert op is not None
    for name in row.dtype_names(sample):
        inputs, attributes = bind(op, *arguments(sample, BY_NAME[name], np.copy))
        types = tuple(type_of_array(a) for a in inputs)
        attributes = op.canonical(types, attributes)
        out = op.infer(types, attributes)
        results = [make_kernel(op, types, out, attributes, f)(*inputs) for f in (op.eager, op.reference)]
        for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in results), strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            assert_near(np.asarray(a), np.asarray(b), CLOSE.get(name, 0.0) * row.tolerance, name)


@each_sample(lambda row, s: own_record(row) is not None and not is_random(row))
def test_generic_path(row: Row, sample: S) -> None:
    """The generic path gives what the generated function does, with the same backward node."""
    op = own_record(row)
    assert op is not None
    dtype = first_dtype(row, sample)
    args, kwargs, _ = with_leaves(row, sample, dtype)
    for fast, slow in zip(call(row, args, kwargs), call_record(op, args, kwargs), strict=True):
        assert fast._type is slow._type
        np.testing.assert_array_equal(array(fast), array(slow))
        assert type(fast._node) is type(slow._node)
        assert isinstance(fast._type, TensorType)


def test_casting_of_samples() -> None:
    """The harness's own conversion."""
    a = np.array([-1.5, 0.2, 3.0])
    assert cast(a, BY_NAME["int8"]).tolist() == [-5, 1, 9]
    assert cast(a, BY_NAME["uint8"]).tolist() == [5, 1, 9]
    assert cast(np.array([-2.0, 0.0]), BY_NAME["int8"]).tolist() == [-2, 0]
    assert cast(a, BY_NAME["bool"]).tolist() == [False, True, True]
    assert cast(np.arange(3), BY_NAME["float32"]).dtype == np.int64
    s = S(tensor)
    assert substitute((1, [s]), [], iter(())) == (1, [s])
    assert not other_layout(np.ones((2, 3))).flags.c_contiguous
