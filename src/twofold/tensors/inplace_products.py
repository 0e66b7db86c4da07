"""In-place forms of products with an addend that are made of other operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.tensors.core import Tensor
from twofold.tensors.inplace import inplace
from twofold.tensors.linear import addbmm, addmv, addr
from twofold.tensors.typing import Number


def addmv_(self: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """`addmv` written into the first operand, which is returned."""
    return inplace("copy", self, addmv(self, mat, vec, beta=beta, alpha=alpha))


def addr_(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """`addr` written into the first operand, which is returned."""
    return inplace("copy", self, addr(self, vec1, vec2, beta=beta, alpha=alpha))


def addbmm_(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """`addbmm` written into the first operand, which is returned."""
    return inplace("copy", self, addbmm(self, batch1, batch2, beta=beta, alpha=alpha))


FUNCTIONS: dict[str, Callable[..., Any]] = {}
INPLACE: dict[str, Callable[..., Any]] = {f.__name__: f for f in (addmv_, addr_, addbmm_)}
