"""Jacobians, Hessians and products with vectors against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from tests.autograd.libs import Ours, both
from twofold.autograd import functional
from twofold.support.errors import ArgumentError, AutogradError, ShapeError, UnsupportedError

lib = Ours()
CASES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "jacobian of a vector": lambda F, lib, x, w: F.jacobian(lambda a: (a * a.sin()).cumsum(0), x),
    "jacobian of a matrix": lambda F, lib, x, w: F.jacobian(lambda a: a.reshape(3, 1) * a, x),
    "jacobian of several": lambda F, lib, x, w: F.jacobian(lambda a, b: (a * b, a.sum(), (b * b).exp()), (x, w)),
    "jacobian of a number": lambda F, lib, x, w: F.jacobian(lambda a: a.prod(), x),
    "jacobian that is zero": lambda F, lib, x, w: F.jacobian(lambda a, b: b * 2, (x, w)),
    "hessian": lambda F, lib, x, w: F.hessian(lambda a: (a * a.sin()).sum() * a.prod(), x),
    "hessian of several": lambda F, lib, x, w: F.hessian(lambda a, b: (a * b * b).sum(), (x, w)),
    "vjp": lambda F, lib, x, w: F.vjp(lambda a: (a * a).exp(), x, w),
    "vjp of several": lambda F, lib, x, w: F.vjp(lambda a, b: (a * b, b.sum()), (x, w), (w, lib.make(2.0, False))),
    "vjp of a number": lambda F, lib, x, w: F.vjp(lambda a: (a * a).sum(), x),
    "jvp": lambda F, lib, x, w: F.jvp(lambda a: (a * a).exp(), x, w),
    "jvp of several": lambda F, lib, x, w: F.jvp(lambda a, b: (a * b, b.sum()), (x, w), (w, x)),
    "hvp": lambda F, lib, x, w: F.hvp(lambda a: (a * a.sin()).prod(), x, w),
    "vhp": lambda F, lib, x, w: F.vhp(lambda a: (a * a.sin()).prod(), x, w),
    "hvp of several": lambda F, lib, x, w: F.hvp(lambda a, b: (a * b * b).sum(), (x, w), (w, x)),
    "wrong v": lambda F, lib, x, w: F.vjp(lambda a: a * a, x, lib.make([1.0], False)),
    "no v": lambda F, lib, x, w: F.vjp(lambda a: a * a, x),
    "strict": lambda F, lib, x, w: F.jacobian(lambda a, b: b * 2, (x, w), strict=True),
    "hessian of a vector": lambda F, lib, x, w: F.hessian(lambda a: a * a, x),
}


@pytest.mark.parametrize("name", CASES)
def test_like_torch(name: str) -> None:
    def program(lib: Any) -> Any:
        x, w = lib.make([0.5, 1.5, -0.7], False), lib.make([1.0, -2.0, 0.3], False)
        return CASES[name](lib.autograd.functional, lib, x, w)

    result = both(program)
    assert isinstance(result, str) == (name in ("wrong v", "no v", "strict", "hessian of a vector"))


@pytest.mark.parametrize("name", ["jacobian", "hessian", "hvp", "vhp", "vjp", "jvp"])
def test_create_graph(name: str) -> None:
    def program(lib: Any) -> Any:
        x = lib.make([0.5, 1.5, -0.7])
        f = getattr(lib.autograd.functional, name)
        args = () if name in ("jacobian", "hessian") else (lib.make([1.0, 2.0, 3.0], False),)
        function = (lambda a: (a * a * a.sin()).sum()) if name in ("hessian", "hvp", "vhp") else (lambda a: a * a * a.sin())
        result = f(function, x, *args, create_graph=True)
        result = result[1] if isinstance(result, tuple) else result
        (result * result).sum().backward()
        return result, x.grad

    both(program)


def test_results_are_cut_off() -> None:
    x = lib.make([0.5, 1.5])
    for result in (
        functional.jacobian(lambda a: a * a, x), *functional.vjp(lambda a: a * a, x, x.detach()), *functional.jvp(lambda a: a * a, x,
        x.detach()),
        functional.hessian(lambda a: (a * a).sum(), x),
    ):  # fmt: skip
        assert not result.requires_grad
    assert x.grad is None


def test_empty_outputs() -> None:
    assert functional.jacobian(lambda a: a[:0], lib.make([0.5, 1.5])).shape == (0, 2)


def test_under_no_grad() -> None:
    with twofold.no_grad():
        np.testing.assert_array_equal(functional.jacobian(lambda a: a * 2, lib.make([1.0, 2.0])).numpy(), 2 * np.eye(2))


def test_refusals() -> None:
    x = lib.make([1.0, 2.0])
    for call, error in (
        (lambda: functional.jacobian(lambda a: a, x, strict=True, vectorize=True), AutogradError),
        (lambda: functional.jacobian(lambda a: a, x, strategy="forward-mode"), UnsupportedError),
        (lambda: functional.hessian(lambda a: a.sum(), x, outer_jacobian_strategy="forward-mode"), UnsupportedError),
        (lambda: functional.jacobian(lambda a: 3, x), ArgumentError),
        (lambda: functional.jacobian(lambda a: a, 3.0), ArgumentError),
        (lambda: functional.vjp(lambda a: a, x, (x, x)), ArgumentError),
        (lambda: functional.vjp(lambda a: a, x, lib.make([1.0])), ShapeError),
        (lambda: functional.jvp(lambda a: a, x), AutogradError),
    ):
        with pytest.raises(error):
            call()
