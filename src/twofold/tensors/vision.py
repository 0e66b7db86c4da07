"""Functions of `torch.nn.functional` for images, written over records: blocks, power-average and fractional pooling, maxima put back,
normalisation across channels, channels shuffled, bilinear maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors import pooling
from twofold.tensors.contraction import call
from twofold.tensors.convolution import Size, numbers
from twofold.tensors.core import Tensor
from twofold.tensors.linear import einsum
from twofold.tensors.random import rand
from twofold.tensors.shapes import reshape


def checked(name: str, input: Any, what: str = "input") -> Any:
    """The operand, refused where it is no tensor."""
    if not isinstance(input, Tensor):
        raise ArgumentError(f"{name}(): {what} must be a tensor, not {type(input).__name__}")
    return input


# ---- blocks ----------------------------------------------------------------------------------------------------------------------------


def im2col(input: Tensor, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> Tensor:
    """The blocks of (N, C, H, W) or (C, H, W) as columns: (N, C * kernel, L) with L blocks, row by row.

    Raises ShapeError where no block fits. `fold` is the adjoint.
    """
    settings = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return call("im2col", checked("unfold", input), **{k: numbers("unfold", k, v, 2) for k, v in settings.items()})


def fold(input: Tensor, output_size: Size, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> Tensor:
    """Columns (N, C * kernel, L) or (C * kernel, L) added up at their blocks' places in (N, C, *output_size).

    Raises ShapeError where the number of columns is not the number of blocks.
    """
    settings = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    given = {k: numbers("fold", k, v, 2) for k, v in settings.items()}
    return call("col2im", checked("fold", input), output_size=numbers("fold", "output_size", output_size, 2), **given)


# ---- power-average pooling ---------------------------------------------------------------------------------------------------------------


def _lp_pool(n: int, input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None, ceil_mode: bool) -> Tensor:
    name = f"lp_pool{n}d"
    x: Any = checked(name, input)
    if math.isinf(norm_type):
        largest: Any = pooling.FUNCTIONS[f"max_pool{n}d"]
        size = call("abs", x)
        return (
            largest(size, kernel_size, stride, 0, 1, ceil_mode) if norm_type > 0 else -largest(-size, kernel_size, stride, 0, 1, ceil_mode)
        )
    average: Any = pooling.FUNCTIONS[f"avg_pool{n}d"]
    means = average(call("pow", x, norm_type), kernel_size, stride, 0, ceil_mode)
    count = math.prod(numbers(name, "kernel_size", kernel_size, n))
    sums = call("mul", call("mul", call("sign", means), call("relu", call("abs", means))), count)
    return call("pow", sums, 1.0 / norm_type)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) over each window of the last dimension of (N, C, L) or (C, L); p infinite: the largest magnitude.

    A window that is cut off (`ceil_mode`) counts as if its mean filled a whole one, as in PyTorch. The gradient at sums of 0 is that of
    the root there: NaN or infinite.
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False) -> Tensor:
    """`lp_pool1d` over the last two dimensions of (N, C, H, W) or (C, H, W)."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None = None, ceil_mode: bool = False) -> Tensor:
    """`lp_pool1d` over the last three dimensions of (N, C, D, H, W) or (C, D, H, W)."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


# ---- maxima put back ---------------------------------------------------------------------------------------------------------------------


def _unpooled_size(
    name: str, input: Any, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], output_size: Any
) -> tuple[Any, ...]:
    n = len(kernel)
    if input._type.ndim < n:
        raise ShapeError(f"{name}: the input must have {n + 1} or {n + 2} dimensions, not the shape {tuple(input._type.shape)}")
    usual = tuple((m - 1) * s + k - 2 * p for m, s, k, p in zip(input._type.shape[-n:], stride, kernel, padding, strict=True))
    size = usual
    if output_size is not None:
        size = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,)
        size = size[2:] if len(size) == n + 2 else size
        if len(size) != n:
            raise ValueRangeError(f"{name}: output_size must have {n} or {n + 2} entries, not {len(size)}")
        for d, (k, u, s) in enumerate(zip(size, usual, stride, strict=True)):
            if not u - s < k < u + s:
                raise ValueRangeError(f"{name}: output_size {size} is not possible: size {d} must be between {u - s} and {u + s}")
    if any(type(k) is int and k < 0 for k in size):
        raise ValueRangeError(f"{name}: the output's sizes {size} must not be negative")
    return size


def _max_unpool(n: int, input: Tensor, indices: Tensor, kernel_size: Size, stride: Size | None, padding: Size, output_size: Any) -> Tensor:
    name = f"max_unpool{n}d"
    checked(name, input), checked(name, indices, "indices")
    kernel = numbers(name, "kernel_size", kernel_size, n)
    steps = kernel if stride is None or stride in ((), []) else numbers(name, "stride", stride, n)
    size = _unpooled_size(name, input, kernel, steps, numbers(name, "padding", padding, n), output_size)
    if n > 1:
        return call(name, input, indices, output_size=size)
    flat = (call("unsqueeze", t, dim=-1) for t in (input, indices))
    return call("squeeze", call("max_unpool2d", *flat, output_size=(*size, 1)), dim=(-1,))


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0, output_size: Any = None
) -> Tensor:
    """What `max_pool1d(…, return_indices=True)` gave, put back into zeros of the size it came from. See `max_unpool2d`."""
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0, output_size: Any = None
) -> Tensor:
    """The inverse of `max_pool2d(…, return_indices=True)` in part: maxima at their places, zeros elsewhere.

    output_size: which of the sizes that pool to the input's (by default (size - 1) * stride + kernel - 2 * padding).
    Raises ValueRangeError for an impossible one, IndexOutOfRange for a position outside.
    """
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0, output_size: Any = None
) -> Tensor:
    """`max_unpool2d` for three dimensions of space."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


# ---- fractional pooling ------------------------------------------------------------------------------------------------------------------


def _fractional(
    n: int, input: Tensor, kernel_size: Size, output_size: Any, output_ratio: Any, samples: Tensor | None
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{n}d"
    t = checked(name, input)._type
    kernel = numbers(name, "kernel_size", kernel_size, n)
    if output_size is None and output_ratio is None:
        raise ValueRangeError(f"{name}: output_size or output_ratio must be given")
    if t.ndim not in (n + 1, n + 2):
        raise ShapeError(f"{name}: the input must have {n + 1} or {n + 2} dimensions, not the shape {tuple(t.shape)}")
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
        if len(ratios) != n:
            raise ValueRangeError(f"{name}: output_ratio must be one number or {n}, not {output_ratio!r}")
        output_size = tuple(int(m * r) for m, r in zip(t.shape[-n:], ratios, strict=True))
    if samples is None:
        if not t.dtype.is_floating_point:
            raise DTypeError(f"{name} takes floating-point tensors, not {t.dtype.name}; convert with .to(dtype)")
        samples = rand((t.shape[0] if t.ndim == n + 2 else 1, t.shape[-n - 1], n), dtype=t.dtype, device=t.device)
    return call(name, input, samples, kernel_size=kernel, output_size=numbers(name, "output_size", output_size, n))


def _fractional_functions(n: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """(fractional_max_poolNd, …_with_indices)."""
    name = f"fractional_max_pool{n}d"

    def with_indices(
        input: Tensor,
        kernel_size: Size,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        return _fractional(n, input, kernel_size, output_size, output_ratio, _random_samples)

    def pool(
        input: Tensor,
        kernel_size: Size,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        both = _fractional(n, input, kernel_size, output_size, output_ratio, _random_samples)
        return both if return_indices else both[0]

    pool.__name__ = pool.__qualname__ = name
    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    pool.__doc__ = f"""Maxima of windows at places drawn at random, over {n} dimensions (B. Graham, arXiv:1412.6071).

    output_size or output_ratio (of the input's sizes) must be given. _random_samples: numbers of [0, 1), (N, C, {n}); drawn from the
    default generator where None. return_indices: also the flat positions of the maxima.
    """
    with_indices.__doc__ = f"The values and the positions of `{name}`."
    return pool, with_indices


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional_functions(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional_functions(3)


def _with_indices(name: str) -> Callable[..., Any]:
    plain: Any = pooling.FUNCTIONS[name]

    def both(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("return_indices", None)
        return plain(*args, **kwargs, return_indices=True)

    both.__name__ = both.__qualname__ = f"{name}_with_indices"
    both.__doc__ = f"`{name}` with `return_indices=True`: values and positions."
    return both


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = (_with_indices(f"max_pool{n}d") for n in (1, 2, 3))
adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = (
    _with_indices(f"adaptive_max_pool{n}d") for n in (1, 2, 3)
)


# ---- channels ----------------------------------------------------------------------------------------------------------------------------


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha * mean of x² over `size` neighbouring channels)^beta, input (N, C, *). A. Krizhevsky et al., NIPS 2012, section 3.3.

    Raises ShapeError for fewer than 3 dimensions.
    """
    x = checked("local_response_norm", input)
    shape = tuple(x._type.shape)
    if len(shape) < 3:
        raise ShapeError(f"local_response_norm: the input must have at least 3 dimensions (N, C, *), not the shape {shape}")
    if 0 in shape:
        return x
    squares = reshape(x * x, (shape[0], 1, shape[1], -1))
    edges = call("constant_pad_nd", squares, pad=(0, 0, size // 2, (size - 1) // 2), value=0.0)
    means = reshape(pooling.avg_pool2d(edges, (size, 1), stride=1), shape)
    return x / call("pow", means * alpha + k, beta)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels of (N, C, *) in `groups` rows, read column by column: X. Zhang et al., arXiv:1707.01083.

    Raises ShapeError where the channels do not divide by `groups`.
    """
    shape = tuple(checked("channel_shuffle", input)._type.shape)
    if len(shape) < 3:
        raise ShapeError(f"channel_shuffle: the input must have at least 3 dimensions (N, C, *), not the shape {shape}")
    if groups <= 0:
        raise ValueRangeError(f"channel_shuffle: groups must be positive, not {groups}")
    if shape[1] % groups:
        raise ShapeError(f"channel_shuffle: {shape[1]} channels do not divide by {groups} groups")
    apart = reshape(input, (shape[0], groups, shape[1] // groups, *shape[2:]))
    return reshape(call("transpose", apart, dim0=1, dim1=2), shape)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1ᵀ W_o x2 + b_o: inputs (*, I), (*, J), weight (O, I, J), bias (O,) to (*, O). Raises ShapeError."""
    for what, t in (("input1", input1), ("input2", input2), ("weight", weight)):
        checked("bilinear", t, what)
    a, b, w = (tuple(t._type.shape) for t in (input1, input2, weight))
    if len(w) != 3 or not a or not b or a[:-1] != b[:-1] or (a[-1], b[-1]) != w[1:]:
        raise ShapeError(f"bilinear: expects shapes (*, I), (*, J) and a weight (O, I, J), not {a}, {b} and {w}")
    if bias is not None and tuple(bias._type.shape) != w[:1]:
        raise ShapeError(f"bilinear: the bias must have the shape {w[:1]}, not {tuple(bias._type.shape)}")
    product = einsum("...i,oij,...j->...o", input1, weight, input2)
    return product if bias is None else call("add", product, bias)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "im2col": im2col, "col2im": fold, "fold": fold, "lp_pool1d": lp_pool1d, "lp_pool2d": lp_pool2d, "lp_pool3d": lp_pool3d,
    "max_unpool1d": max_unpool1d, "max_unpool2d": max_unpool2d, "max_unpool3d": max_unpool3d,
    "fractional_max_pool2d": fractional_max_pool2d, "fractional_max_pool2d_with_indices": fractional_max_pool2d_with_indices,
    "fractional_max_pool3d": fractional_max_pool3d, "fractional_max_pool3d_with_indices": fractional_max_pool3d_with_indices,
    "local_response_norm": local_response_norm, "channel_shuffle": channel_shuffle, "native_channel_shuffle": channel_shuffle,
    "bilinear": bilinear,
    "max_pool1d_with_indices": max_pool1d_with_indices, "max_pool2d_with_indices": max_pool2d_with_indices,
    "max_pool3d_with_indices": max_pool3d_with_indices, "adaptive_max_pool1d_with_indices": adaptive_max_pool1d_with_indices,
    "adaptive_max_pool2d_with_indices": adaptive_max_pool2d_with_indices,
    "adaptive_max_pool3d_with_indices": adaptive_max_pool3d_with_indices,
}  # fmt: skip
