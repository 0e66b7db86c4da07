"""Samples of blocks as columns, maxima put back and fractional pooling. The oracles walk over blocks in loops."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.ir.op import get_op
from twofold.support.errors import DTypeError, IndexOutOfRange, ShapeError, ValueRangeError
from twofold.tensors.dispatch import dispatch
from twofold.tensors.functions import FUNCTIONS


def two(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value, value)


def im2col(x, kernel_size, dilation=1, padding=0, stride=1):
    k, d, p, s = map(two, (kernel_size, dilation, padding, stride))
    wide = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(p[0], p[0]), (p[1], p[1])])
    columns = []
    for i in range(0, wide.shape[-2] - d[0] * (k[0] - 1), s[0]):
        for j in range(0, wide.shape[-1] - d[1] * (k[1] - 1), s[1]):
            block = wide[..., i : i + d[0] * k[0] : d[0], j : j + d[1] * k[1] : d[1]][..., : k[0], : k[1]]
            columns.append(block.reshape((*x.shape[:-3], -1)) if x.size else np.zeros((*x.shape[:-3], x.shape[-3] * k[0] * k[1])))
    return np.stack(columns, -1)


def col2im(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """By the adjoint's matrix: the columns of each single pixel."""
    size, block = two(output_size), int(np.prod(two(kernel_size)))
    channels = x.shape[-2] // block
    result = np.zeros((*x.shape[:-2], channels, *size))
    for i, j in np.ndindex(*size):
        one = np.zeros((1, *size))
        one[0, i, j] = 1.0
        where = im2col(one, kernel_size, dilation, padding, stride)
        apart = x.reshape((*x.shape[:-2], channels, block, x.shape[-1]))
        result[..., i, j] = (apart * where).sum((-2, -1))
    return result


def unpool(n):
    def oracle(x, indices, size):
        result = np.zeros((*x.shape[:-n], int(np.prod(size))), x.dtype)
        for at in np.ndindex(*x.shape):
            result[(*at[:-n], indices[at])] = x[at]
        return result.reshape((*x.shape[:-n], *size))

    return oracle


def spots(g, high, *shape):
    """Different positions in every plane."""
    planes = int(np.prod(shape[:-1]))
    return np.stack([g.permutation(high)[: shape[-1]] for _ in range(planes)]).reshape(shape)


def unpool_samples(n):
    def samples(g):
        size, few = ((4, 3), (2, 2)) if n == 2 else ((2, 3, 2), (2, 1, 2))
        total, count = int(np.prod(size)), int(np.prod(few))
        return [
            S(g.real(2, 1, *few), spots(g, total, 2, 1, count).reshape(2, 1, *few), size),
            S(g.real(2, *few), spots(g, total, 2, count).reshape(2, *few), size),
            S(g.real(0, 1, *few), np.zeros((0, 1, *few), np.int64), size),
            S(g.real(1, 1, *(1,) * n), np.zeros((1, 1, *(1,) * n), np.int64), (1,) * n),
        ]

    return samples


def fractional(n):
    def oracle(x, samples, kernel, size):
        space = x.shape[-n:]
        lead = x.shape[:-n]
        values, where = np.zeros((*lead, *size)), np.zeros((*lead, *size), np.int64)
        plane = np.arange(int(np.prod(space))).reshape(space)
        u = samples.reshape((*lead, n))
        for at in np.ndindex(*lead):
            for o in np.ndindex(*size):
                window = []
                for d in range(n):
                    draw = u[(*at, (1 - d) if n == 2 else d)]
                    a = (space[d] - kernel[d]) / (size[d] - 1) if size[d] > 1 else 0.0
                    last = o[d] == size[d] - 1
                    start = space[d] - kernel[d] if last else int((o[d] + draw) * a) - int(draw * a)
                    window.append(slice(start, start + kernel[d]))
                part = x[(*at, *window)]
                values[(*at, *o)] = part.max()
                where[(*at, *o)] = plane[tuple(window)].reshape(-1)[part.argmax()]
        return values, where

    return oracle


def fractional_samples(n):
    def samples(g):
        space, size = ((6, 5), (3, 2)) if n == 2 else ((4, 4, 5), (2, 2, 2))
        # multiples of 1/16 are the same in all dtypes, so that windows do not move
        return [
            S(g.distinct(2, 1, *space), g.ints(2, 1, n, low=0, high=16) / 16, (2,) * n, size),
            S(g.distinct(2, *space), g.ints(1, 2, n, low=0, high=16) / 16, (1, 2, 1)[:n], (1,) * n),
            S(g.distinct(0, 1, *space), g.ints(0, 1, n, low=0, high=16) / 16, (2,) * n, size),
        ]

    return samples


def run(name):
    """The record itself."""

    def call(*args):
        op = get_op(name)
        names = [p.name for p in op.attributes]
        return dispatch(op, args[:2], dict(zip(names, args[2:], strict=True)))

    return call


def unfold_errors(g):
    x = g.real(1, 2, 4, 4)
    return [
        E((g.real(2, 2), 2), {}, ShapeError, "unfold"),
        E((x, 6), {}, ShapeError, "do not fit"),
        E((x, 2), {"stride": 0}, ValueRangeError, "stride"),
    ]


def fold_errors(g):
    return [
        E((g.real(1, 8, 5), (3, 3), 2), {}, ShapeError, "blocks"),
        E((g.real(1, 7, 4), (3, 3), 2), {}, ShapeError, "divide"),
        E((g.real(8), (3, 3), 2), {}, ShapeError, "fold"),
        E((g.real(1, 8, 4), (3, 3), 2), {"dilation": 0}, ValueRangeError, "dilation"),
    ]


def block_samples(g):
    settings = ((2, {}), ((2, 3), {"padding": 1}), (2, {"dilation": 2, "stride": (1, 2)}), ((1, 2), {"stride": 3, "padding": (0, 1)}))
    return [S(g.real(*shape), k, **more) for shape in ((2, 2, 5, 4), (1, 4, 5), (0, 2, 4, 4)) for k, more in settings]


def column_samples(g):
    found = []
    for lead in ((2,), (), (0,)):
        for k, more in ((2, {}), ((2, 3), {"padding": 1}), (2, {"dilation": 2, "stride": (1, 2)})):
            shape = im2col(np.zeros((1, 1, 5, 4)), k, **more).shape
            found.append(S(g.real(*lead, 2 * shape[1], shape[2]), (5, 4), k, **more))
    return found


def public_samples(n):
    def samples(g):
        few = (2,) * n
        at = spots(g, 2**n, 2, 1, 2**n).reshape(2, 1, *few)
        return [S(g.real(2, 1, *few), at, 2), S(g.real(2, 1, *few), at, 2, output_size=(3,) * n), S(g.real(2, *few), at[:, 0], 2, 2)]

    return samples


def unpool_errors(n):
    def errors(g):
        x = g.real(1, 1, *(2,) * n)
        at = np.zeros(x.shape, np.int64)
        return [
            E((x, at[..., :1], 2), {}, ShapeError, "must agree"),
            E((x, at.astype(np.int32), 2), {}, DTypeError, "int64"),
            E((x, at + 1000, 2), {}, IndexOutOfRange, "outside"),
            E((x, at, 2), {"output_size": (9,) * n}, ValueRangeError, "must be between"),
            E((x, at, 2), {"output_size": (4,) * (n + 1)}, ValueRangeError, "entries"),
        ]

    return errors


ROWS = [
    Row("im2col", block_samples, im2col, "unfold", errors=unfold_errors),
    Row("col2im", column_samples, col2im, "fold", errors=fold_errors),
    *[Row(f"max_unpool{n}d", unpool_samples(n), unpool(n), None, call=run(f"max_unpool{n}d")) for n in (2, 3)],
    *[
        Row(
            f"max_unpool{n}d, public",
            public_samples(n),
            lambda x, at, *_, output_size=None, n=n: unpool(n)(x, at, output_size or tuple(2 * k for k in x.shape[-n:])),
            lambda torch, *args, n=n, **kwargs: getattr(torch.nn.functional, f"max_unpool{n}d")(*args, **kwargs),
            call=lambda *args, n=n, **kwargs: FUNCTIONS[f"max_unpool{n}d"](*args, **kwargs),
            errors=unpool_errors(n),
        )
        for n in (1, 2, 3)
    ],
    *[
        Row(
            f"fractional_max_pool{n}d",
            fractional_samples(n),
            fractional(n),
            lambda torch, x, u, k, size, n=n: getattr(torch.nn.functional, f"fractional_max_pool{n}d")(
                x, k, size, return_indices=True, _random_samples=u
            ),
            dtypes=("float64", "float32"),
            grad=(0,),
            call=run(f"fractional_max_pool{n}d"),
        )
        for n in (2, 3)
    ],
]
