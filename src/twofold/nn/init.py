"""Initial values for parameters. Every function writes its tensor in place, records no gradient and returns the tensor.

Random values come from the generator given, or the default one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir.mode import grad_mode
from twofold.support.errors import ArgumentError, ShapeError, ValueRangeError
from twofold.tensors.core import Symbol, Tensor, memory, wrap
from twofold.tensors.functions import INPLACE
from twofold.tensors.inplace import inplace

LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid")


def _needs_tensor(name: str, tensor: Any) -> None:
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"init.{name}: needs a tensor, not {type(tensor).__name__}")


def _copy(tensor: Tensor, values: Any) -> Tensor:
    """Write an array into the tensor."""
    with grad_mode(False):
        return inplace("copy", tensor, wrap(values))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which the standard deviation of weights before this nonlinearity should grow; `param` is leaky_relu's slope."""
    if nonlinearity in LINEAR:
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3.0
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4.0
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueRangeError(f"calculate_gain: the slope of leaky_relu must be a number, not {param!r}")
        return math.sqrt(2.0 / (1 + slope * slope))
    raise ValueRangeError(
        f"calculate_gain: unknown nonlinearity {nonlinearity!r}; known are {', '.join(LINEAR)}, tanh, relu, leaky_relu, selu"
    )


def fans(tensor: Tensor) -> tuple[int, int]:
    """(fan in, fan out) of a weight: inputs and outputs times the elements of the kernel. Raises ShapeError below 2 dimensions."""
    _needs_tensor("xavier", tensor)
    shape = tensor._type.shape
    if len(shape) < 2:
        raise ShapeError(f"fan in and fan out need a tensor of at least 2 dimensions, this one has shape {tuple(shape)}")
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in [a, b)."""
    _needs_tensor("uniform_", tensor)
    with grad_mode(False):
        return INPLACE["uniform_"](tensor, a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with mean and standard deviation."""
    _needs_tensor("normal_", tensor)
    with grad_mode(False):
        return INPLACE["normal_"](tensor, mean, std, generator=generator)


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None) -> Tensor:
    """Normal, with values outside [a, b] drawn anew. Raises ValueRangeError unless a < b and the interval has some probability."""
    _needs_tensor("trunc_normal_", tensor)
    low, high = (a - mean) / std, (b - mean) / std
    chance = 0.5 * (math.erf(high / math.sqrt(2.0)) - math.erf(low / math.sqrt(2.0))) if a < b else 0.0
    if chance < 1e-4:
        raise ValueRangeError(f"trunc_normal_: [{a}, {b}] holds almost nothing of a normal distribution of mean {mean} and deviation {std}")
    if tensor._array is None and not isinstance(tensor, Symbol):
        return tensor
    values = np.empty(0)
    wanted = int(tensor._type.numel)
    while values.size < wanted:
        drawn = _normal_array(int((wanted - values.size) / chance * 1.1) + 16, generator)
        values = np.concatenate([values, drawn[(drawn >= low) & (drawn <= high)]])
    values = np.clip(values[:wanted] * std + mean, a, b)
    return _copy(tensor, values.reshape(tensor._type.shape))


def _normal_array(count: int, generator: Any) -> Any:
    """Standard normal float64 numbers; they are never recorded into a graph."""
    return memory(normal_(wrap(np.empty(count)), 0.0, 1.0, generator))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """`val` everywhere."""
    _needs_tensor("constant_", tensor)
    with grad_mode(False):
        return inplace("fill", tensor, value=val)


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere."""
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return constant_(tensor, 1)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix; for 2-dimensional tensors."""
    _needs_tensor("eye_", tensor)
    if tensor._type.ndim != 2:
        raise ShapeError(f"eye_: needs a tensor of 2 dimensions, this one has shape {tuple(tensor._type.shape)}")
    return _copy(tensor, np.eye(*tensor._type.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution's weight (3 to 5 dimensions) that hands its inputs on, in each of `groups` groups."""
    _needs_tensor("dirac_", tensor)
    shape = tensor._type.shape
    if len(shape) not in (3, 4, 5):
        raise ShapeError(f"dirac_: needs a tensor of 3, 4 or 5 dimensions, this one has shape {tuple(shape)}")
    if shape[0] % groups:
        raise ValueRangeError(f"dirac_: {shape[0]} output channels do not divide into {groups} groups")
    values = np.zeros(shape)
    each = shape[0] // groups
    centre = tuple(n // 2 for n in shape[2:])
    for group in range(groups):
        for d in range(min(each, shape[1])):
            values[(group * each + d, d, *centre)] = 1
    return _copy(tensor, values)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in ±gain sqrt(6 / (fan in + fan out)). X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward
    neural networks" (2010)."""
    into, out = fans(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / (into + out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with deviation gain sqrt(2 / (fan in + fan out)); see `xavier_uniform_`."""
    into, out = fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (into + out)), generator)


def _kaiming_deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueRangeError(f"mode must be 'fan_in' or 'fan_out', not {mode!r}")
    fan = fans(tensor)[0 if mode.lower() == "fan_in" else 1]
    gain = calculate_gain(nonlinearity, a)
    return gain / math.sqrt(fan) if fan else 0.0


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None) -> Tensor:
    """Uniform in ±gain sqrt(3 / fan), `a` the slope of leaky_relu. K. He et al., "Delving deep into rectifiers" (2015)."""
    _needs_tensor("kaiming_uniform_", tensor)
    if 0 in tensor._type.shape:
        return tensor
    bound = math.sqrt(3.0) * _kaiming_deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None) -> Tensor:
    """Normal with deviation gain / sqrt(fan); see `kaiming_uniform_`."""
    _needs_tensor("kaiming_normal_", tensor)
    if 0 in tensor._type.shape:
        return tensor
    return normal_(tensor, 0.0, _kaiming_deviation(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A (semi-)orthogonal matrix times gain: the first dimension against all others. A. Saxe et al., "Exact solutions to the nonlinear
    dynamics of learning in deep linear neural networks" (2013)."""
    _needs_tensor("orthogonal_", tensor)
    shape = tensor._type.shape
    if len(shape) < 2:
        raise ShapeError(f"orthogonal_: needs a tensor of at least 2 dimensions, this one has shape {tuple(shape)}")
    rows = shape[0]
    columns = math.prod(shape[1:])
    if not rows or not columns or (tensor._array is None and not isinstance(tensor, Symbol)):
        return tensor
    drawn = _normal_array(rows * columns, generator).reshape(rows, columns)
    q, r = np.linalg.qr(drawn.T if rows < columns else drawn)
    q = q * np.sign(np.diag(r))  # makes the distribution uniform (F. Mezzadri, "How to generate random matrices", 2007)
    return _copy(tensor, np.ascontiguousarray((q.T if rows < columns else q) * gain).reshape(shape))
