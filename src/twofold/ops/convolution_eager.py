"""The fast NumPy forms of convolution.

Arrays keep the shape (N, C, *spatial) and have channels-last strides inside: windows are then copied in runs of (last kernel size x
channels), and one matrix product a block does the arithmetic. Blocks are sized for the second-level cache and live in a scratch buffer of
the thread, so neither the padded input nor the whole matrix of windows is ever made. The gradient of the weight copies the windows again:
only the input is saved.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

Array = Any
Ints = tuple[int, ...]

BLOCK = 1 << 18
"""Elements of one block of windows."""
DEEP_BLOCK = 1 << 20
"""The same where a window alone is long (256 channels and more): the product then needs many rows to be efficient."""
KEEP = 1 << 22
"""Bytes up to which a scratch buffer is kept for the next call."""
SHORT_RUN = 16
"""A run of fewer elements than this is copied tap by tap, along the rows of the image."""


def split_padding(padding: Ints, n: int) -> tuple[Ints, Ints]:
    """Padding at the starts and at the ends of the spatial dimensions."""
    return (padding, padding) if len(padding) == n else (padding[:n], padding[n:])


class Geometry(NamedTuple):
    """Kernel, stride, padding (starts, ends) and dilation of a plain convolution."""

    kernel: Ints
    stride: Ints
    low: Ints
    high: Ints
    dilation: Ints

    def span(self, i: int) -> int:
        return self.dilation[i] * (self.kernel[i] - 1) + 1

    def sizes(self, spatial: Ints) -> Ints:
        """The output's spatial sizes."""
        return tuple((n + self.low[i] + self.high[i] - self.span(i)) // self.stride[i] + 1 for i, n in enumerate(spatial))


def geometry_of(kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Geometry:
    return Geometry(tuple(kernel), stride, *split_padding(padding, len(stride)), dilation)


class _Scratch(threading.local):
    """Buffers of this thread by use and dtype."""

    def __init__(self) -> None:
        self.buffers: dict[tuple[str, Any], Array] = {}


_scratch = _Scratch()


def scratch(use: str, shape: Ints, dtype: Any) -> Array:
    """An uninitialised array of this shape; its memory is used again by the next call for the same use on this thread."""
    count = 1
    for n in shape:
        count *= n
    key = (use, dtype)
    buffer = _scratch.buffers.get(key)
    if buffer is None or buffer.size < count:
        buffer = np.empty(count, dtype)
        if buffer.nbytes <= KEEP:
            _scratch.buffers[key] = buffer
    return buffer[:count].reshape(shape)


def reset_scratch() -> None:
    """Free the buffers of this thread."""
    _scratch.buffers.clear()


def last(x: Array) -> Array:
    """(N, C, *spatial) seen as (N, *spatial, C)."""
    return x.transpose((0, *range(2, x.ndim), 1))


def first(x: Array) -> Array:
    """(N, *spatial, C) seen as (N, C, *spatial)."""
    return x.transpose((0, x.ndim - 1, *range(1, x.ndim - 1)))


# ---- windows -------------------------------------------------------------------------------------------------------------------------


def product(values: Ints) -> int:
    result = 1
    for n in values:
        result *= n
    return result


def _is_dense(x: Array) -> bool:
    """True if a run over (last spatial dimension, channels) is contiguous."""
    return bool(x.strides[-1] == x.itemsize and x.strides[-2] == x.itemsize * x.shape[-1])


class Blocks:
    """The windows of `x` (N, *spatial, C), some images (or rows of one image) at a time.

    Iteration gives (first row, last row, matrix): rows of the output seen as a matrix (N * prod(out), O), and the windows of these rows as
    (rows, kernel * C). The matrix lies in scratch memory: use it before the next one is asked for.
    """

    def __init__(self, x: Array, geometry: Geometry, out: Ints) -> None:
        self.x, self.geometry, self.out = x, geometry, out
        self.channels = x.shape[-1]
        self.columns = product(geometry.kernel) * self.channels
        self.padded = any(geometry.low) or any(geometry.high)
        self.limit = DEEP_BLOCK if self.columns >= 2048 else BLOCK
        self.short = self.channels * (geometry.kernel[-1] if geometry.dilation[-1] == 1 else 1) < SHORT_RUN and out[-1] >= 4

    def __iter__(self) -> Iterator[tuple[int, int, Array]]:
        x, geometry, out = self.x, self.geometry, self.out
        if not self.padded and product(geometry.kernel) == 1:
            yield from self.pointwise()
            return
        count, rows = x.shape[0], product(out)
        images = max(1, min(count, self.limit // max(1, rows * self.columns)))
        per_row = product(out[1:]) * self.columns
        band = out[0] if rows * self.columns <= self.limit else max(1, self.limit // max(1, per_row))
        direct = not self.padded and _is_dense(x)
        room = tuple(n + a + b for n, a, b in zip(x.shape[1:-1], geometry.low, geometry.high, strict=True))
        inner = (slice(None), *(slice(a, a + n) for a, n in zip(geometry.low, x.shape[1:-1], strict=True)))
        pad = None if direct else scratch("pad", (images, *room, self.channels), x.dtype)
        if pad is not None and self.padded:
            pad.fill(0)
        for i in range(0, count, images):
            m = min(images, count - i)
            if pad is None:
                source = x[i : i + m]
            else:
                source = pad[:m]
                source[inner] = x[i : i + m]
            for r in range(0, out[0], band):
                n = min(band, out[0] - r)
                start = i * rows + r * product(out[1:])
                matrix = self.gather(source, r, (n, *out[1:]))
                yield start, start + m * n * product(out[1:]), matrix

    def pointwise(self) -> Iterator[tuple[int, int, Array]]:
        """Kernels of size 1: the input itself is the matrix."""
        x = self.x[(slice(None), *(slice(0, (n - 1) * s + 1, s) for n, s in zip(self.out, self.geometry.stride, strict=True)))]
        if x.flags.c_contiguous:
            yield 0, product(x.shape[:-1]), x.reshape(-1, self.channels)
            return
        rows = product(self.out)
        images = max(1, self.limit // max(1, rows * self.channels))
        for i in range(0, x.shape[0], images):
            part = x[i : i + images]
            matrix = scratch("columns", part.shape, x.dtype)
            np.copyto(matrix, part)
            yield i * rows, (i + part.shape[0]) * rows, matrix.reshape(-1, self.channels)

    def gather(self, source: Array, row: int, out: Ints) -> Array:
        """Copy the windows of `out` output positions from output row `row` on."""
        g, c, n = self.geometry, self.channels, len(out)
        s = source.strides
        offset = row * g.stride[0] * s[1]
        strides = (s[0], *(s[i + 1] * g.stride[i] for i in range(n)), *(s[i + 1] * g.dilation[i] for i in range(n)), s[-1])
        shape = (source.shape[0], *out, *g.kernel, c)
        count = source.shape[0] * product(out)
        if self.short:
            taps = scratch("columns", (*g.kernel, c, source.shape[0], *out), source.dtype)
            np.copyto(taps, window(source, shape, strides, offset).transpose((*range(n + 1, 2 * n + 2), *range(n + 1))))
            return taps.reshape(self.columns, count).T
        matrix = scratch("columns", (count, self.columns), source.dtype)
        if g.dilation[-1] == 1 and _is_dense(source):
            shape = (*shape[:-2], shape[-2] * c)
            strides = (*strides[:-2], s[-1])
        np.copyto(matrix.reshape(shape), window(source, shape, strides, offset))
        return matrix


def window(source: Array, shape: Ints, strides: Ints, offset: int) -> Array:
    """A view of memory by strides, in bytes; much quicker than `as_strided` where the source is contiguous."""
    if source.flags.c_contiguous:
        return np.ndarray(shape, source.dtype, source, offset, strides)
    return as_strided(source[:, offset // source.strides[1] :], shape, strides)


# ---- plain convolution of one group --------------------------------------------------------------------------------------------------


def correlate(x: Array, matrix: Array, geometry: Geometry, out: Ints, result: Array) -> None:
    """Write the convolution of `x` (N, *spatial, C) with the kernel `matrix` (kernel * C, O) into `result` (N * prod(out), O)."""
    for start, stop, columns in Blocks(x, geometry, out):
        np.matmul(columns, matrix, out=result[start:stop])


def kernel_matrix(w: Array) -> Array:
    """(O, C, *kernel) as (kernel * C, O)."""
    n = w.ndim
    return w.transpose((*range(2, n), 1, 0)).reshape(-1, w.shape[0])


def weight_gradient(x: Array, g: Array, geometry: Geometry, out: Ints) -> Array:
    """The gradient (O, C, *kernel) from `x` (N, *spatial, C) and g (N * prod(out), O)."""
    c, o = x.shape[-1], g.shape[1]
    total = np.zeros((product(geometry.kernel) * c, o), x.dtype)
    for start, stop, columns in Blocks(x, geometry, out):
        total += columns.T.dot(g[start:stop])
    n = len(geometry.kernel)
    return np.ascontiguousarray(total.reshape((*geometry.kernel, c, o)).transpose((n + 1, n, *range(n))))


def adjoint(g: Array, w: Array, geometry: Geometry, size: Ints, result: Array) -> None:
    """Write the gradient of the input of a plain convolution into `result` (N, *size, C): g (N, *out, O), w (O, C, *kernel)."""
    n = len(size)
    low = tuple(geometry.span(i) - 1 - geometry.low[i] for i in range(n))
    high = tuple(size[i] - g.shape[i + 1] - low[i] + geometry.span(i) - 1 for i in range(n))
    if all(s == 1 for s in geometry.stride) and min(low) >= 0 and min(high) >= 0 and result.flags.c_contiguous:
        flipped = w[(slice(None), slice(None), *(slice(None, None, -1),) * n)].swapaxes(0, 1)
        turned = Geometry(geometry.kernel, geometry.stride, low, high, geometry.dilation)
        correlate(g, kernel_matrix(flipped), turned, size, result.reshape(-1, result.shape[-1]))
    else:
        scatter(g, w, geometry, size, result)


def scatter(g: Array, w: Array, geometry: Geometry, size: Ints, result: Array) -> None:
    """`adjoint` for any stride: products for some images at a time, added to the places where their windows lie."""
    c, out, taps = w.shape[1], g.shape[1:-1], product(geometry.kernel)
    room = _room(geometry, out, size)
    matrix = np.ascontiguousarray(w.transpose((0, *range(2, w.ndim), 1)))
    whole = product(out) * taps * c <= 4 * BLOCK
    images = max(1, min(g.shape[0], BLOCK // max(1, product(out) * c * (taps if whole else 1))))
    pad = scratch("pad", (images, *room, c), g.dtype)
    inner = (slice(None), *(slice(a, a + k) for a, k in zip(geometry.low, size, strict=True)))
    for i in range(0, g.shape[0], images):
        part = np.ascontiguousarray(g[i : i + images]).reshape(-1, g.shape[-1])
        m = min(images, g.shape[0] - i)
        target = pad[:m]
        target.fill(0)
        if whole:
            columns = scratch("columns", (part.shape[0], taps * c), g.dtype)
            np.matmul(part, matrix.reshape(w.shape[0], -1), out=columns)
            columns = columns.reshape((m, *out, *geometry.kernel, c))
        for at in np.ndindex(*geometry.kernel):
            if whole:
                value = columns[(slice(None), *(slice(None),) * len(out), *at)]
            else:
                value = scratch("columns", (part.shape[0], c), g.dtype)
                np.matmul(part, matrix[(slice(None), *at)], out=value)
                value = value.reshape((m, *out, c))
            view = target[(slice(None), *tap(geometry, at, out))]
            np.add(view, value, out=view)
        result[i : i + m] = target[inner]


def _room(geometry: Geometry, out: Ints, size: Ints) -> Ints:
    """Spatial sizes that hold the padded input, and every window."""
    return tuple(
        max(k + geometry.low[i] + max(geometry.high[i], 0), (out[i] - 1) * geometry.stride[i] + geometry.span(i))
        for i, k in enumerate(size)
    )


def tap(geometry: Geometry, at: Ints, out: Ints) -> tuple[slice, ...]:
    """Where one element of the kernel meets the padded input."""
    return tuple(slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, n, s in zip(at, geometry.dilation, out, geometry.stride, strict=True))


# ---- one channel a group ---------------------------------------------------------------------------------------------------------------

BAND = 1 << 17
"""Elements worked on at a time: larger pieces leave the cache between taps, smaller ones pay for more calls than they save."""


def _images(x: Array, geometry: Geometry, out: Ints) -> Iterator[tuple[int, Array]]:
    """(image, padded image): the padded one is scratch memory, (1, *room, C)."""
    room = _room(geometry, out, x.shape[1:-1])
    pad = scratch("pad", (1, *room, x.shape[-1]), x.dtype)
    pad.fill(0)
    inner = (0, *(slice(a, a + n) for a, n in zip(geometry.low, x.shape[1:-1], strict=True)))
    for i in range(x.shape[0]):
        pad[inner] = x[i]
        yield i, pad[0]


def _bands(out: Ints, channels: int) -> Iterator[tuple[int, Ints]]:
    """(first row, sizes) of bands of output rows."""
    rows = max(1, BAND // max(1, product(out[1:]) * channels))
    for r in range(0, out[0], rows):
        yield r, (min(rows, out[0] - r), *out[1:])


def _row(view: Array, merge: bool) -> Array:
    """The last two dimensions as one, where they lie in one run: NumPy's inner loop is then a whole row of the image."""
    return view.reshape((*view.shape[:-2], view.shape[-2] * view.shape[-1])) if merge else view


def _row_weights(w: Array, geometry: Geometry, width: int) -> tuple[Array, bool]:
    """The weights of each tap, repeated along a row where rows are merged; and whether they are."""
    merge = geometry.stride[-1] == 1
    return (np.tile(w, width), True) if merge else (np.ascontiguousarray(w), False)


def depthwise(x: Array, w: Array, geometry: Geometry, out: Ints, result: Array) -> None:
    """`w` is (*kernel, C): products and sums over whole rows, tap by tap."""
    weights, merge = _row_weights(w, geometry, out[-1])
    for i, padded in _images(x, geometry, out):
        for r, band in _bands(out, x.shape[-1]):
            source, target = padded[r * geometry.stride[0] :], _row(result[i, r : r + band[0]], merge)
            term = scratch("columns", target.shape, x.dtype)
            for k, at in enumerate(np.ndindex(*geometry.kernel)):
                view = _row(source[tap(geometry, at, band)], merge)
                if k == 0:
                    np.multiply(view, weights[at], out=target)
                else:
                    np.multiply(view, weights[at], out=term)
                    np.add(target, term, out=target)


def depthwise_adjoint(g: Array, w: Array, geometry: Geometry, size: Ints, result: Array) -> None:
    """The gradient of the input of `depthwise`."""
    out = g.shape[1:-1]
    weights, merge = _row_weights(w, geometry, out[-1])
    g = np.ascontiguousarray(g)
    pad = scratch("pad", (*_room(geometry, out, size), g.shape[-1]), g.dtype)
    inner = tuple(slice(a, a + k) for a, k in zip(geometry.low, size, strict=True))
    for i in range(g.shape[0]):
        pad.fill(0)
        for r, band in _bands(out, g.shape[-1]):
            part, target = _row(g[i, r : r + band[0]], merge), pad[r * geometry.stride[0] :]
            term = scratch("columns", part.shape, g.dtype)
            for at in np.ndindex(*geometry.kernel):
                view = _row(target[tap(geometry, at, band)], merge)
                np.multiply(part, weights[at], out=term)
                np.add(view, term, out=view)
        result[i] = pad[inner]


def depthwise_weight(x: Array, g: Array, geometry: Geometry, out: Ints) -> Array:
    """The gradient (*kernel, C) of the weight of `depthwise`."""
    merge = geometry.stride[-1] == 1
    c = x.shape[-1]
    total = np.zeros((*geometry.kernel, out[-1] * c if merge else c), x.dtype)
    g = np.ascontiguousarray(g)
    for i, padded in _images(x, geometry, out):
        for r, band in _bands(out, c):
            source, part = padded[r * geometry.stride[0] :], _row(g[i, r : r + band[0]], merge)
            term = scratch("columns", part.shape, x.dtype)
            for at in np.ndindex(*geometry.kernel):
                np.multiply(_row(source[tap(geometry, at, band)], merge), part, out=term)
                total[at] += np.add.reduce(term.reshape(-1, term.shape[-1]), axis=0)
    return np.add.reduce(total.reshape((*geometry.kernel, -1, c)), axis=-2)


# ---- the records' fast forms -----------------------------------------------------------------------------------------------------------


def convolution(
    input: Array,
    weight: Array,
    bias: Array,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> Array:
    """The record's form: an array of shape (N, O, *out), with channels-last strides but where all groups have one weight."""
    if groups > 1 and _repeats(weight, groups):
        images = input.reshape(input.shape[0] * groups, input.shape[1] // groups, *input.shape[2:])
        one = weight[: weight.shape[0] // groups]
        y = convolution(images, one, None, stride, padding, dilation, transposed, output_padding, 1)
        y = y.reshape(input.shape[0], groups * y.shape[1], *y.shape[2:])
        return y if bias is None else y + bias.reshape(-1, *(1,) * len(stride))
    geometry = geometry_of(weight.shape[2:], stride, padding, dilation)
    if transposed:
        size = tuple(
            (n - 1) * s - geometry.low[i] - geometry.high[i] + geometry.span(i) + output_padding[i]
            for i, (n, s) in enumerate(zip(input.shape[2:], stride, strict=True))
        )
        y = _transposed(input, weight, geometry, size, groups)
    else:
        y = _plain(input, weight, geometry, groups)
    if bias is not None:
        y += bias
    return first(y)


def _repeats(weight: Array, groups: int) -> bool:
    """True if all groups have the same weight: what `vmap` makes of a weight that all examples share, with examples as groups."""
    parts = weight.reshape(groups, -1)
    return parts.shape[1] > 1 and bool(np.array_equal(parts[0], parts[1])) and bool((parts == parts[0]).all())


def _plain(input: Array, weight: Array, geometry: Geometry, groups: int) -> Array:
    x, o, c = last(input), weight.shape[0], weight.shape[1]
    out = geometry.sizes(x.shape[1:-1])
    y = np.empty((x.shape[0], *out, o), x.dtype)
    if groups == 1:
        correlate(x, kernel_matrix(weight), geometry, out, y.reshape(-1, o))
    elif c == 1:
        spread = np.repeat(x, o // groups, axis=-1) if o != groups else x
        depthwise(spread, weight[:, 0].transpose((*range(1, weight.ndim - 1), 0)), geometry, out, y)
    else:
        n = o // groups
        flat = y.reshape(-1, o)
        for i in range(groups):
            part = weight[i * n : (i + 1) * n]
            correlate(x[..., i * c : (i + 1) * c], kernel_matrix(part), geometry, out, flat[:, i * n : (i + 1) * n])
    return y


def _transposed(input: Array, weight: Array, geometry: Geometry, size: Ints, groups: int) -> Array:
    g, n, c = last(input), weight.shape[0] // groups, weight.shape[1]
    y = np.empty((g.shape[0], *size, c * groups), g.dtype)
    if groups == 1:
        adjoint(g, weight, geometry, size, y)
    elif c == 1:
        wide = y if n == 1 else np.empty((*y.shape[:-1], weight.shape[0]), g.dtype)
        depthwise_adjoint(g, weight[:, 0].transpose((*range(1, weight.ndim - 1), 0)), geometry, size, wide)
        if n > 1:
            np.add.reduce(wide.reshape((*y.shape, n)), axis=-1, out=y)
    else:
        for i in range(groups):
            adjoint(g[..., i * n : (i + 1) * n], weight[i * n : (i + 1) * n], geometry, size, y[..., i * c : (i + 1) * c])
    return y


def convolution_backward_weight(grad: Array, input: Array, size: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Array:
    """The record's form: a C-ordered array of shape `size`, the order parameters have."""
    geometry = geometry_of(size[2:], stride, padding, dilation)
    x, g = last(input), last(grad)
    out, o, c = g.shape[1:-1], g.shape[-1], x.shape[-1]
    if groups > 1 and c == groups:
        spread = np.repeat(x, o // groups, axis=-1) if o != groups else x
        total = depthwise_weight(spread, g, geometry, out)
        return np.ascontiguousarray(total.transpose((total.ndim - 1, *range(total.ndim - 1)))[:, None])
    if groups == 1:
        return weight_gradient(x, np.ascontiguousarray(g).reshape(-1, o), geometry, out)
    n, m = o // groups, c // groups
    parts = [
        weight_gradient(x[..., i * m : (i + 1) * m], np.ascontiguousarray(g[..., i * n : (i + 1) * n]).reshape(-1, n), geometry, out)
        for i in range(groups)
    ]
    return np.concatenate(parts)


def convolution_backward_bias(grad: Array) -> Array:
    """The sum over batch and space as one product with a vector of ones: several times as fast as a reduction over three axes."""
    g = last(grad)
    if not g.flags.c_contiguous or g.dtype.kind != "f":
        return np.add.reduce(grad, axis=(0, *range(2, grad.ndim)))
    flat = g.reshape(-1, g.shape[-1])
    return np.ones(flat.shape[0], flat.dtype).dot(flat)
