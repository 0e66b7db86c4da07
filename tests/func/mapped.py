"""Samples of the operations' table under `vmap`, compared with one call for each example: values and gradients."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import numpy as np

from tests.ops.calls import call, differentiable, with_leaves
from tests.ops.row import Row, S, cast
from twofold.autograd import backward, grad
from twofold.func import vmap
from twofold.ir.dtypes import BY_NAME, float64
from twofold.support.errors import TwofoldError, UnsupportedError
from twofold.tensors.core import Tensor, wrap
from twofold.tensors.functions import FUNCTIONS
from twofold.tensors.nodes import new_leaf

SIZE = 3
"""How many examples."""
FACTORS = (1.0, 0.875, 1.125)
"""What the examples of a float array are: multiples keep signs, orders and zeros."""


class Place:
    """An array among a sample's arguments: which argument, and where in it."""

    def __init__(self, key: int | str, array: np.ndarray) -> None:
        self.key, self.array = key, array


class Mapped:
    """One sample with some of its arrays mapped over."""

    def __init__(self, row: Row, sample: S, seed: int = 0) -> None:
        self.row, self.sample = row, sample
        self.rng = np.random.default_rng(zlib.crc32(f"{row.name} {sample!r} {seed}".encode()))
        names = row.dtype_names(sample)
        self.dtype = next((BY_NAME[n] for n in ("float64", "int64", "bool") if n in names), float64)
        self.places: list[Place] = []
        self.collect(enumerate(sample.args))
        self.collect(sample.kwargs.items())

    def collect(self, items: Any) -> None:
        for key, value in items:
            for v in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(v, np.ndarray):
                    self.places.append(Place(key, cast(v, self.dtype)))

    def masks(self) -> list[tuple[bool, ...]]:
        """Which arrays may be mapped over: all choices of up to three, else all, each alone and all but one."""
        n = len(self.places)
        if n <= 3:
            return [m for m in itertools.product((True, False), repeat=n) if any(m)]
        alone = [tuple(i == k for i in range(n)) for k in range(n)]
        return [(True,) * n, *alone, *(tuple(not b for b in m) for m in alone)]

    def examples(self, a: np.ndarray) -> list[np.ndarray]:
        """The examples of an array."""
        if a.dtype.kind == "f":
            return [a * f for f in FACTORS]
        return [a, *(self.rng.permutation(a.reshape(-1)).reshape(a.shape) for _ in range(SIZE - 1))]

    def rebuilt(self, values: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with other values for the arrays."""
        given = iter(values)

        def replace(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return type(value)(next(given) if isinstance(v, np.ndarray) else v for v in value)
            return next(given) if isinstance(value, np.ndarray) else value

        args = tuple(replace(v) for v in self.sample.args)
        return args, {k: replace(v) for k, v in self.sample.kwargs.items()}

    def run(self, values: list[Any]) -> tuple[Any, ...]:
        """The operation's tensors."""
        args, kwargs = self.rebuilt(values)
        return tuple(t for t in call(self.row, args, kwargs) if isinstance(t, Tensor))

    def check(self, mask: tuple[bool, ...]) -> bool:
        """Compare; False where one example alone is refused (a permuted index may not fit), so that there is nothing to compare."""
        examples = [self.examples(p.array) if m else [p.array] for p, m in zip(self.places, mask, strict=True)]
        dims = [int(self.rng.integers(0, p.array.ndim + 1)) if m else None for p, m in zip(self.places, mask, strict=True)]
        wanted = [differentiable(self.row, p.key) and p.array.dtype == np.float64 for p in self.places]
        inputs = [leaf(np.stack(e, d) if d is not None else e[0], w) for e, d, w in zip(examples, dims, wanted, strict=True)]
        singles = [leaf(np.stack(e) if d is not None else e[0], w) for e, d, w in zip(examples, dims, wanted, strict=True)]
        try:
            alone = [self.run([s[k] if m else s for s, m in zip(singles, mask, strict=True)]) for k in range(SIZE)]
        except (TwofoldError, ArithmeticError):
            return False
        together = FUNCTIONS["stack"]
        expected: list[Tensor] = [together(list(column)) for column in zip(*alone, strict=True)]
        found = vmap(lambda *values: self.run(list(values)), in_dims=tuple(dims))(*inputs)
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert a.dtype is b.dtype, (a.dtype, b.dtype)
            near(a, b, "values")
        self.check_gradients(found, expected, inputs, singles, dims)
        return True

    def check_gradients(self, found: Any, expected: Any, inputs: Any, singles: Any, dims: Any) -> None:
        assert all(a.requires_grad == b.requires_grad for a, b in zip(found, expected, strict=True) if b.numel())
        outs = [(a, b) for a, b in zip(found, expected, strict=True) if b.requires_grad and b.numel()]
        if not outs:
            return
        weights = [wrap(self.rng.standard_normal(b.shape)) for _, b in outs]
        try:
            backward([b for _, b in outs], weights)
        except UnsupportedError:  # a gradient that the operation refuses to compute
            return
        backward([a for a, _ in outs], weights)
        for x, s, d in zip(inputs, singles, dims, strict=True):
            if s.grad is None and x.grad is None:
                continue
            zeros = FUNCTIONS["zeros_like"](x if x.grad is None else s)  # a gradient of zeros and none are the same
            given = zeros if x.grad is None else x.grad
            near(given if d is None else FUNCTIONS["movedim"](given, d, 0), zeros if s.grad is None else s.grad, "gradients")


def check_many_gradients(row: Row, sample: S) -> None:
    """Many vector-Jacobian products at once against one after another."""
    args, kwargs, leaves = with_leaves(row, sample, float64)
    outs = [t for t in call(row, args, kwargs) if isinstance(t, Tensor) and t.requires_grad]
    if not leaves or not outs:
        return
    rng = np.random.default_rng(zlib.crc32(repr(sample).encode()))
    many = [wrap(rng.standard_normal((SIZE, *t.shape))) for t in outs]
    settings: Any = {"retain_graph": True, "allow_unused": True}
    try:
        single = [grad(outs, leaves, [m[k] for m in many], **settings) for k in range(SIZE)]
    except UnsupportedError:  # a gradient that the operation refuses to compute
        return
    found = grad(outs, leaves, many, is_grads_batched=True, **settings)
    for g, column in zip(found, zip(*single, strict=True), strict=True):
        assert (g is None) == (column[0] is None)
        if g is not None:
            near(g, FUNCTIONS["stack"](list(column)), "gradients")


def leaf(a: np.ndarray, wanted: bool) -> Tensor:
    t = wrap(np.array(a))
    if wanted:
        new_leaf(t)
    return t


def near(a: Any, b: Any, what: str) -> None:
    x, y = np.asarray(a.detach()), np.asarray(b.detach())
    assert x.shape == y.shape, (what, x.shape, y.shape)
    if x.dtype.kind != "f":
        np.testing.assert_array_equal(x, y, what)
        return
    size = float(np.max(np.abs(y[np.isfinite(y)]), initial=0.0))
    np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11 * (1 + size), err_msg=what)
