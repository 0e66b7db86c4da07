"""Weight and spectral normalisation by forward hooks: the older forms of `nn.utils.parametrizations`."""

from __future__ import annotations

from typing import Any

from twofold.nn import functional as F
from twofold.nn.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from twofold.nn.module import Module
from twofold.nn.parameter import Parameter
from twofold.nn.utils.parametrizations import as_matrix, norm_except_dim, normalized_weight, power_method
from twofold.support.errors import ModuleError, ValueRangeError
from twofold.tensors.core import Tensor
from twofold.tensors.functions import FUNCTIONS

_HANDLES = "_recomputed"
"""The attribute that holds a module's hooks: name → (hook, handle)."""


class _Recomputed:
    """A forward pre-hook that sets a module's attribute `name` from other tensors of it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def value(self, module: Any, before_forward: bool) -> Tensor:
        raise NotImplementedError

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.value(module, True))


class WeightNorm(_Recomputed):
    """weight = weight_g * weight_v / |weight_v|."""

    def __init__(self, name: str, dim: int | None) -> None:
        super().__init__(name)
        self.dim = -1 if dim is None else dim

    def value(self, module: Any, before_forward: bool) -> Tensor:
        return normalized_weight(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)


class SpectralNorm(_Recomputed):
    """weight = weight_orig / its largest singular value, which one round of the power method follows at each forward in training."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueRangeError(f"spectral_norm: n_power_iterations must be positive, not {n_power_iterations}")
        super().__init__(name)
        self.dim, self.eps, self.n_power_iterations = dim, eps, n_power_iterations

    def value(self, module: Any, before_forward: bool) -> Tensor:
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if before_forward and module.training:
            turned = FUNCTIONS["transpose"](matrix.detach(), 0, 1)
            power_method(turned, v, u, self.n_power_iterations, self.eps)  # v first, as this form does in PyTorch
        sigma = FUNCTIONS["dot"](u.clone(), FUNCTIONS["mv"](matrix, v.clone()))
        result: Tensor = weight / sigma
        return result


def _attach(module: Any, hook: _Recomputed) -> None:
    table = module.__dict__.setdefault(_HANDLES, {})
    table[hook.name] = (hook, module.register_forward_pre_hook(hook))
    setattr(module, hook.name, hook.value(module, False))


def _weight(module: Any, name: str, what: str) -> Any:
    weight = module._parameters.get(name)
    if weight is None:
        twice = name in module.__dict__.get(_HANDLES, {})
        raise ModuleError(f"{what}: {type(module).__name__} has " + (f"{name!r} normalised already" if twice else f"no parameter {name!r}"))
    return weight


def _detach(module: Any, name: str, kind: type[_Recomputed], what: str) -> _Recomputed:
    hook, handle = module.__dict__.get(_HANDLES, {}).get(name, (None, None))
    if not isinstance(hook, kind):
        raise ValueRangeError(f"{what} of {name!r} not found in {type(module).__name__}")
    del module.__dict__[_HANDLES][name]
    handle.remove()
    return hook


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Replace a parameter by `name_g` (magnitudes) and `name_v` (directions): T. Salimans, D. Kingma, arXiv:1602.07868. Returns the module.

    `dim`: one magnitude for each index of this dimension; None: one in all. The weight is recomputed before each forward.
    """
    weight = _weight(module, name, "weight_norm")
    hook = WeightNorm(name, dim)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except_dim(weight.detach(), 2, hook.dim)))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    _attach(module, hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """The weight as a plain parameter again. Raises ValueRangeError where there is no weight norm."""
    hook = _detach(module, name, WeightNorm, "weight_norm")
    weight = hook.value(module, False)
    module.__dict__.pop(name, None)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    module.register_parameter(name, Parameter(weight.detach()))
    return module


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None) -> Module:
    """Divide a weight by its largest singular value: T. Miyato et al., arXiv:1802.05957. Returns the module.

    The parameter becomes `name_orig`; `name_u` and `name_v` (buffers) approach the first singular vectors, a step for each forward in
    training.
    """
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    weight = _weight(module, name, "spectral_norm")
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    rows, columns = as_matrix(weight.detach(), dim)._type.shape
    randn, dtype = FUNCTIONS["randn"], weight._type.dtype
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    module.register_buffer(name + "_u", F.normalize(randn(rows, dtype=dtype), dim=0, eps=eps))
    module.register_buffer(name + "_v", F.normalize(randn(columns, dtype=dtype), dim=0, eps=eps))
    _attach(module, hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """The weight, as it is now, as a plain parameter again. Raises ValueRangeError where there is no spectral norm."""
    hook = _detach(module, name, SpectralNorm, "spectral_norm")
    weight = hook.value(module, False)
    module.__dict__.pop(name, None)
    del module._parameters[name + "_orig"], module._buffers[name + "_u"], module._buffers[name + "_v"]
    module.register_parameter(name, Parameter(weight.detach()))
    return module
