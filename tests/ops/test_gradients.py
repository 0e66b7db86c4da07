"""Gradients of every operation on every sample: rules on arrays against rules on tensors, finite differences, torch, lower precisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ops.calls import (
    array,
    assert_near,
    call,
    differentiable,
    each_sample,
    import_torch,
    is_float,
    is_random,
    own_record,
    record,
    substitute,
    torch_array,
    torch_call,
    torch_tensor,
    with_leaves,
)
from tests.ops.row import Row, S, cast
from tests.ops.test_ops import FLOAT64, gradient_like
from twofold.autograd.finite_differences import gradcheck, gradgradcheck
from twofold.ir.dtypes import BY_NAME
from twofold.tape.namespaces import raw_rules
from twofold.tape.node import Node, owner_of
from twofold.tensors.backward import grad
from twofold.tensors.core import Tensor, wrap

FULL = 50
"""Samples with no more elements than this are checked with whole Jacobians."""
NEAR = {"float64": 1e-12, "float32": 2e-5, "bfloat16": 0.06, "float16": 8e-3}
"""How far a gradient may be from the float64 one, relative to its largest element."""


def has_gradient(row: Row, sample: S) -> bool:
    """True if some float argument of the sample is to be differentiated."""
    if not (row.grad and sample.grad) or "float64" not in row.dtype_names(sample):
        return False
    op = record(row)
    return (op is None or op.is_differentiable) and bool(with_leaves(row, sample, FLOAT64)[2])


with_gradient = each_sample(has_gradient)
of_a_record = each_sample(lambda row, sample: own_record(row) is not None and has_gradient(row, sample))


def roots_of(outs: tuple[Any, ...]) -> list[Tensor]:
    roots = [t for t in outs if isinstance(t, Tensor) and t._node is not None]
    assert roots, "no output has a graph; say grad=False if that is right"
    return roots


@with_gradient
def test_arrays_against_tensors(row: Row, sample: S) -> None:
    """Backward on arrays and backward that is recorded itself give the same, in the operands' dtypes; lower precisions are near float64."""
    for name in (n for n in row.dtype_names(sample) if n in NEAR):
        dtype = BY_NAME[name]
        args, kwargs, leaves = with_leaves(row, sample, dtype)
        roots = roots_of(call(row, args, kwargs))
        starts = [wrap(gradient_like(t)) for t in roots]
        raw = grad(roots, leaves, starts, retain_graph=True, allow_unused=True)
        recorded = grad(roots, leaves, starts, create_graph=True, allow_unused=True)
        for i, (leaf, a, b) in enumerate(zip(leaves, raw, recorded, strict=True)):
            assert (a is None) == (b is None), f"{name}, input {i}"
            if a is None:
                continue
            assert (a._type, b._type) == (leaf._type, leaf._type), f"{name}, input {i}"
            assert_near(array(b), array(a), NEAR[name] * row.tolerance, f"{name}, input {i}")
        if name != "float64":
            for i, (a, exact) in enumerate(zip(raw, exact_gradients(row, sample, name, starts), strict=True)):
                if a is not None:
                    assert_near(array(a).astype(np.float64), exact, NEAR[name] * row.tolerance, f"{name}, input {i}, against float64")


def exact_gradients(row: Row, sample: S, name: str, starts: list[Tensor]) -> list[np.ndarray]:
    """Gradients in float64 from inputs and output gradients as rounded to dtype `name`."""
    args, kwargs, leaves = with_leaves(
        row, sample, FLOAT64, lambda a: cast(a, BY_NAME[name]).astype(np.float64) if is_float(a) else a.copy()
    )
    roots = roots_of(call(row, args, kwargs))
    found = grad(roots, leaves, [wrap(array(g).astype(array(t).dtype)) for g, t in zip(starts, roots, strict=True)], allow_unused=True)
    return [np.zeros(t._type.shape) if g is None else array(g) for t, g in zip(leaves, found, strict=True)]


@with_gradient
def test_finite_differences(row: Row, sample: S) -> None:
    args, kwargs, leaves = with_leaves(row, sample, FLOAT64)

    def function(*others: Tensor) -> tuple[Any, ...]:
        rest = iter(others)
        return tuple(call(row, substitute(args, leaves, rest), substitute(kwargs, leaves, rest)))

    inputs = sum(t._type.numel for t in leaves)
    outputs = sum(t._type.numel for t in call(row, args, kwargs))
    factor = row.tolerance
    assert gradcheck(function, tuple(leaves), fast_mode=max(inputs, outputs) > FULL, rtol=1e-5 * factor, atol=1e-6 * factor)
    assert gradgradcheck(function, tuple(leaves), fast_mode=inputs + outputs > FULL, rtol=1e-5 * factor, atol=1e-6 * factor)


@with_gradient
def test_torch_gradients(row: Row, sample: S) -> None:
    torch = import_torch()
    if torch is None:
        pytest.skip("torch is not installed")
    wanted: list[Any] = []

    def leaf(a: np.ndarray) -> Any:
        t = torch_tensor(a)
        return t.requires_grad_() if a.dtype == np.float64 else t

    made = [differentiable_tensors(row, sample, leaf, wanted)]
    theirs = torch_call(row, made[0], FLOAT64, lambda x: x)
    if theirs is None:
        pytest.skip("torch has no such operation")
    args, kwargs, leaves = with_leaves(row, sample, FLOAT64)
    outs = call(row, args, kwargs)
    pairs = [(o, t) for o, t in zip(outs, theirs, strict=True) if t.requires_grad]
    assert [o._node is not None for o in outs] == [t.requires_grad for t in theirs], "which outputs require grad, torch's second"
    ours = grad([o for o, _ in pairs], leaves, [wrap(gradient_like(o)) for o, _ in pairs], allow_unused=True)
    starts = [torch_tensor(gradient_like(o)) for o, _ in pairs]
    try:
        want = torch.autograd.grad([t for _, t in pairs], wanted, starts, allow_unused=True)
    except RuntimeError as e:
        if "is not implemented" not in str(e):
            raise
        pytest.skip("torch has no gradient for it")
    for i, (a, b) in enumerate(zip(ours, want, strict=True)):
        zeros = np.zeros(leaves[i]._type.shape)
        assert_near(zeros if a is None else array(a), zeros if b is None else torch_array(b), 1e-10 * row.tolerance, f"input {i}")


def differentiable_tensors(row: Row, sample: S, leaf: Any, wanted: list[Any]) -> S:
    """The sample with torch tensors for arrays; those to be differentiated are leaves, listed in `wanted`."""

    def made(place: int | str, value: Any) -> Any:
        if isinstance(value, list):
            return [made(place, v) for v in value]
        if not isinstance(value, np.ndarray):
            return value
        if not differentiable(row, place):
            return torch_tensor(value)
        t = leaf(value)
        if t.requires_grad:
            wanted.append(t)
        return t

    return S(*(made(i, v) for i, v in enumerate(sample.args)), **{k: made(k, v) for k, v in sample.kwargs.items()}).but(torch=sample.torch)


@of_a_record
def test_rules_return_arrays_of_their_own(row: Row, sample: S) -> None:
    """A rule on arrays never returns one array twice, nor a saved one: the engine adds in place to what it owns."""
    args, kwargs, _ = with_leaves(row, sample, FLOAT64)
    node: Node = owner_of(roots_of(call(row, args, kwargs))[0]._node)[0]
    assert node.op is own_record(row)
    types = node.type if isinstance(node.type, tuple) else (node.type,)
    g: Any = [np.cos(np.arange(t.numel) + 0.5).reshape(t.shape).astype(t.dtype.numpy) for t in types]
    before = [a.copy() for a in g]
    saved = {name: getattr(node, "s_" + name) for name in node.saved}
    kept = {name: np.copy(a) for name, a in saved.items() if isinstance(a, np.ndarray)}
    given = g if isinstance(node.type, tuple) else g[0]
    grads = [r for r in type(node).pull(node, given, raw_rules(type(node))) if isinstance(r, np.ndarray)]
    others = [r for r in grads if not any(r is a for a in g)]
    assert len({id(r) for r in others}) == len(others), "one array was returned twice"
    for name, a in saved.items():
        assert not any(r is x for r in grads for x in (a if isinstance(a, tuple) else (a,))), (
            f"the saved value {name!r} itself was returned"
        )
    for a, b in zip(g, before, strict=True):
        np.testing.assert_array_equal(a, b, "the rule changed the gradient it was given")
    for name, a in kept.items():
        np.testing.assert_array_equal(saved[name], a, f"the rule changed the saved value {name!r}")


@each_sample(lambda row, s: has_gradient(row, s) and not is_random(row) and len(with_leaves(row, s, FLOAT64)[2]) > 1)
def test_one_input_alone(row: Row, sample: S) -> None:
    """An input's gradient is the same when no other input wants one: what is saved, and `needs` of rules for all inputs."""
    args, kwargs, leaves = with_leaves(row, sample, FLOAT64)
    roots = roots_of(call(row, args, kwargs))
    every = grad(roots, leaves, [wrap(gradient_like(t)) for t in roots], allow_unused=True)
    for i, wanted in enumerate(leaves):
        rest = iter([t if t is wanted else wrap(t._array) for t in leaves])
        alone = [t for t in call(row, substitute(args, leaves, rest), substitute(kwargs, leaves, rest)) if t._node is not None]
        found = grad(alone, [wanted], [wrap(gradient_like(t)) for t in alone], allow_unused=True)[0] if alone else None
        assert (found is None) == (every[i] is None), f"input {i}"
        if found is not None:
            assert_near(array(found), array(every[i]), 1e-12, f"input {i}")
