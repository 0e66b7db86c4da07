"""Parametrizations: weight normalisation, spectral normalisation, orthogonal matrices."""

from __future__ import annotations

from typing import Any

from twofold.ir.mode import grad_mode
from twofold.nn import functional as F
from twofold.nn.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from twofold.nn.module import Module
from twofold.nn.utils.parametrize import register_parametrization
from twofold.support.errors import ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS


def norm_except_dim(v: Tensor, pow: float = 2, dim: int | None = 0) -> Tensor:
    """The norm over all dimensions but `dim`, which are kept; over all (0-d) for None or -1."""
    norm = FUNCTIONS["linalg_vector_norm"]
    if dim is None or dim == -1:
        whole: Tensor = norm(v, float(pow))
        return whole
    rank = v._type.ndim
    if not -rank <= dim < rank:
        raise ValueRangeError(f"norm_except_dim: dimension {dim} is out of range for the shape {tuple(v._type.shape)}")
    others = tuple(d for d in range(rank) if d != dim % rank)
    if not others:
        return FUNCTIONS["abs"](v)
    result: Tensor = norm(v, float(pow), others, True)
    return result


def normalized_weight(v: Any, g: Any, dim: int | None) -> Tensor:
    """g * v / |v|: T. Salimans, D. Kingma, arXiv:1602.07868."""
    result: Tensor = v * (g / norm_except_dim(v, 2, dim))
    return result


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return normalized_weight(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Parametrize a weight by magnitudes (original0) and directions (original1): T. Salimans, D. Kingma, arXiv:1602.07868. `dim`: one
    magnitude for each index of this dimension; None: one in all. Returns the module."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


def power_method(matrix: Any, u: Any, v: Any, rounds: int, eps: float) -> None:
    """Move u and v towards the first singular vectors, in place."""
    with grad_mode(False):
        for _ in range(rounds):
            u.copy_(F.normalize(FUNCTIONS["mv"](matrix, v), dim=0, eps=eps))
            v.copy_(F.normalize(FUNCTIONS["mv"](FUNCTIONS["transpose"](matrix, 0, 1), u), dim=0, eps=eps))


def as_matrix(weight: Any, dim: int) -> Any:
    """Dimension `dim` as rows, all others as columns."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight._type.ndim) if d != dim))
    return weight.reshape(weight._type.shape[0], -1)


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        rank = weight._type.ndim
        if not -rank <= dim < rank:
            raise ValueRangeError(f"spectral_norm: dimension {dim} is out of range for the shape {tuple(weight._type.shape)}")
        if n_power_iterations <= 0:
            raise ValueRangeError(f"spectral_norm: n_power_iterations must be positive, not {n_power_iterations}")
        self.dim = dim % rank
        self.eps = eps
        if rank > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            rows, columns = matrix._type.shape
            randn = FUNCTIONS["randn"]
            self.register_buffer("_u", F.normalize(randn(rows, dtype=matrix._type.dtype), dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(randn(columns, dtype=matrix._type.dtype), dim=0, eps=eps))
            power_method(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Any) -> Tensor:
        if weight._type.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            power_method(matrix.detach(), self._u, self._v, self.n_power_iterations, self.eps)
        u, v = self._u.clone(), self._v.clone()
        result: Tensor = weight / FUNCTIONS["dot"](u, FUNCTIONS["mv"](matrix, v))
        return result

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None) -> Module:
    """Divide a weight by its largest singular value, found by the power method: T. Miyato et al., arXiv:1802.05957. Returns the module.

    dim: which dimension holds the outputs; 1 for transposed convolutions, else 0.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueRangeError(f"{type(module).__name__} has no parameter or buffer {name!r}")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
