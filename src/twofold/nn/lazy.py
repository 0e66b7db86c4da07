"""Layers that learn the number of their input's features from the first input."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from twofold.ir.dtypes import as_dtype, get_default_dtype
from twofold.ir.mode import grad_mode
from twofold.ir.types import tensor_type
from twofold.nn.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from twofold.nn.linear import Linear
from twofold.nn.module import Module
from twofold.nn.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from twofold.support.errors import ModuleError, ShapeError
from twofold.tensors.core import Tensor, wrap_typed
from twofold.tensors.device import usable_device
from twofold.tensors.nodes import new_leaf


def _storage(shape: tuple[int, ...], dtype: Any, device: str, fill: float | None = None) -> Any:
    kind = get_default_dtype() if dtype is None else as_dtype(dtype)
    array = None
    if device == "cpu":
        array = np.empty(shape, kind.numpy) if fill is None else np.full(shape, fill, kind.numpy)
    return wrap_typed(array, tensor_type(kind, shape, device))


class _LazyMeta(type):
    """`isinstance(t, UninitializedParameter)` asks for the marks."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and bool(getattr(instance, "_is_lazy", False)) and bool(instance._is_param) is cls._param  # type: ignore[attr-defined]


def _materialize(t: Any, shape: tuple[int, ...], device: Any = None, dtype: Any = None) -> None:
    """Give a lazy tensor its shape: from now on it is a plain one, with values not set yet."""
    place = t._type.device if device is None else usable_device(device)
    new = _storage(tuple(shape), t._type.dtype if dtype is None else dtype, place)
    del t.__dict__["_is_lazy"], t.__dict__["materialize"]
    wanted = t.requires_grad
    t.data = new
    if wanted:
        t.requires_grad_()


class UninitializedParameter(metaclass=_LazyMeta):
    """A parameter whose shape is not known: of size 0 until `materialize(shape)`."""

    _param = True

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        t = _storage((0,), dtype, "cpu" if device is None else usable_device(device))
        t._is_param = True
        if requires_grad:
            new_leaf(t)
        return _marked(t)


class UninitializedBuffer(metaclass=_LazyMeta):
    """A buffer whose shape is not known: of size 0 until `materialize(shape)`."""

    _param = False

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        t = _storage((0,), dtype, "cpu" if device is None else usable_device(device))
        return _marked(t)


def _marked(t: Any) -> Any:
    t.__dict__["_is_lazy"] = True
    t.__dict__["materialize"] = partial(_materialize, t)
    return t


def is_lazy(param: Any) -> bool:
    """True for a parameter or buffer without a shape yet."""
    return bool(getattr(param, "_is_lazy", False))


class LazyModuleMixin:
    """A module with uninitialised parameters: before its first forward `initialize_parameters(input)` gives them their shapes, and the
    module takes the class `cls_to_become`."""

    cls_to_become: type[Any] | None = None

    def _wait(self) -> None:
        module: Any = self
        object.__setattr__(module, "_first", module.register_forward_pre_hook(LazyModuleMixin._begin))

    def has_uninitialized_params(self) -> bool:
        """True until the shapes are known."""
        module: Any = self
        return any(is_lazy(t) for t in (*module._parameters.values(), *module._buffers.values()))

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes from the inputs of forward; subclasses define it."""
        raise ModuleError(f"{type(self).__name__} has no initialize_parameters(): define it in the subclass")

    @staticmethod
    def _begin(module: Any, args: tuple[Any, ...]) -> None:
        module.initialize_parameters(*args)
        if module.has_uninitialized_params():
            raise ModuleError(f"{type(module).__name__}: initialize_parameters() left parameters without a shape")
        module.__dict__.pop("_first").remove()
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


class LazyLinear(LazyModuleMixin, Linear):
    """`Linear` whose `in_features` is the last dimension of the first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        Module.__init__(self)
        self.in_features = 0
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.register_parameter("bias", UninitializedParameter(device=device, dtype=dtype) if bias else None)
        self._wait()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, once their shapes are known."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """The shapes from the input's last dimension."""
        self.in_features = int(input._type.shape[-1])
        if self.has_uninitialized_params():
            with grad_mode(False):
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
            self.reset_parameters()


class _LazyConv(LazyModuleMixin):
    """A convolution whose `in_channels` is that of the first input."""

    def _build(self, base: Any, out_channels: int, arguments: dict[str, Any]) -> None:
        """Everything but the parameters, as the layer itself makes it for as many channels as divide."""
        module: Any = self
        device, dtype, bias = arguments.pop("device"), arguments.pop("dtype"), arguments.pop("bias")
        base.__init__(module, arguments["groups"], out_channels, bias=False, device="meta", **arguments)
        module.in_channels = 0
        module.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            del module._parameters["bias"]
            module.register_parameter("bias", UninitializedParameter(device=device, dtype=dtype))
        self._wait()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, once their shapes are known."""
        module: Any = self
        if not self.has_uninitialized_params() and module.in_channels != 0 and "weight" in module._parameters:
            module.cls_to_become.reset_parameters(module)

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """The shapes from the input's channels."""
        module: Any = self
        n = module.spatial
        if input._type.ndim not in (n + 1, n + 2):
            raise ShapeError(f"{type(self).__name__}: the input must have {n + 1} or {n + 2} dimensions, not {tuple(input._type.shape)}")
        module.in_channels = int(input._type.shape[-n - 1])
        if module.in_channels % module.groups:
            raise ShapeError(f"{type(self).__name__}: {module.in_channels} channels do not divide into {module.groups} groups")
        if self.has_uninitialized_params():
            channels, groups = (module.in_channels, module.out_channels), module.groups
            inside = (channels[0], channels[1] // groups) if module.transposed else (channels[1], channels[0] // groups)
            with grad_mode(False):
                module.weight.materialize((*inside, *module.kernel_size))
                if module.bias is not None:
                    module.bias.materialize((module.out_channels,))
            self.reset_parameters()


def _lazy_conv(base: type[Any]) -> type[Any]:
    def begin(
        self: Any,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        given = {k: v for k, v in locals().items() if k not in ("self", "out_channels", "base")}
        self._build(base, out_channels, given)

    return _named(base, _LazyConv, begin, "whose `in_channels` is that of the first input")


def _lazy_transposed(base: type[Any]) -> type[Any]:
    def begin(
        self: Any,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        given = {k: v for k, v in locals().items() if k not in ("self", "out_channels", "base")}
        self._build(base, out_channels, given)

    return _named(base, _LazyConv, begin, "whose `in_channels` is that of the first input")


def _named(base: type[Any], mixin: type[Any], begin: Any, what: str) -> type[Any]:
    fields = {"__init__": begin, "__doc__": f"`{base.__name__}` {what}.", "cls_to_become": base, "__module__": __name__}
    return type(f"Lazy{base.__name__}", (mixin, base), fields)


LazyConv1d, LazyConv2d, LazyConv3d = (_lazy_conv(c) for c in (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy_transposed(c) for c in (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)


class _LazyNorm(LazyModuleMixin):
    """A norm whose `num_features` is the channels of the first input."""

    def _build(self, base: Any, eps: float, momentum: Any, affine: bool, track: bool, device: Any, dtype: Any, bias: bool) -> None:
        module: Any = self
        base.__init__(module, 0, eps, momentum, False, False, device, dtype)
        module.affine, module.track_running_stats = affine, track
        if affine:
            del module._parameters["weight"], module._parameters["bias"]
            module.register_parameter("weight", UninitializedParameter(device=device, dtype=dtype))
            module.register_parameter("bias", UninitializedParameter(device=device, dtype=dtype) if bias else None)
        if track:
            from_counter = module._buffers
            from_counter["running_mean"] = UninitializedBuffer(device=device, dtype=dtype)
            from_counter["running_var"] = UninitializedBuffer(device=device, dtype=dtype)
            from_counter["num_batches_tracked"] = _storage((), "int64", "cpu" if device is None else usable_device(device), 0)
        self._wait()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batch seen, once the shapes are known."""
        module: Any = self
        if not self.has_uninitialized_params():
            module.cls_to_become.reset_running_stats(module)

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, running statistics as at the beginning, once the shapes are known."""
        module: Any = self
        if not self.has_uninitialized_params() and module.num_features != 0:
            module.cls_to_become.reset_parameters(module)

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """The shapes from the input's channels."""
        module: Any = self
        channel = 1 if len(module.dims) == 1 or isinstance(module, BatchNorm1d) else input._type.ndim - module.dims[-1] + 1
        module.num_features = int(input._type.shape[channel])
        if self.has_uninitialized_params():
            with grad_mode(False):
                for t in (module.weight, module.bias, module.running_mean, module.running_var):
                    if t is not None and is_lazy(t):
                        t.materialize((module.num_features,))
            self.reset_parameters()


def _lazy_norm(base: type[Any]) -> type[Any]:
    def begin(
        self: Any,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        self._build(base, eps, momentum, affine, track_running_stats, device, dtype, bias)

    return _named(base, _LazyNorm, begin, "whose `num_features` is the channels of the first input")


LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (_lazy_norm(c) for c in (BatchNorm1d, BatchNorm2d, BatchNorm3d))
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (_lazy_norm(c) for c in (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d))
