"""Samples of pooling. The oracles walk over the windows in loops; torch is the second."""

from __future__ import annotations

import math

import numpy as np

from tests.ops.row import E, Row, S
from twofold.ir.op import get_op
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.tensors.dispatch import dispatch
from twofold.tensors.functions import FUNCTIONS


def many(value, n):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def windows(n, x, kernel_size, stride, padding, dilation, ceil_mode):
    """(output index, [index ranges clipped to the input], full extents with padding) of every window."""
    space = x.shape[-n:]
    k, p, d = many(kernel_size, n), many(padding, n), many(dilation, n)
    s = k if stride is None else many(stride, n)
    out = []
    for i in range(n):
        room = space[i] + 2 * p[i] - d[i] * (k[i] - 1) - 1
        m = (math.ceil(room / s[i]) if ceil_mode else room // s[i]) + 1
        out.append(m - 1 if ceil_mode and (m - 1) * s[i] >= space[i] + p[i] else m)
    for o in np.ndindex(*out):
        start = [o[i] * s[i] - p[i] for i in range(n)]
        places = [[j for j in range(a, a + k[i] * d[i], d[i]) if 0 <= j < space[i]] for i, a in enumerate(start)]
        padded = math.prod(min(a + k[i], space[i] + p[i]) - a for i, a in enumerate(start))
        yield tuple(out), o, np.ix_(*places), padded


def flat(a, n):
    """The last n dimensions as one."""
    return a.reshape((*a.shape[:-n], math.prod(a.shape[-n:])))


def functional(name):
    """The function of torch.nn.functional: of the same name in torch some take other arguments."""
    return lambda torch, *args, **kwargs: getattr(torch.nn.functional, name)(*args, **kwargs)


def max_pool(n):
    def oracle(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        found = list(windows(n, x, kernel_size, stride, padding, dilation, ceil_mode))
        lead, space = x.shape[:-n], x.shape[-n:]
        values = np.zeros((*lead, *found[0][0]), x.dtype)
        indices = np.zeros(values.shape, np.int64)
        plane = np.arange(math.prod(space)).reshape(space)
        for _, o, where, _ in found:
            part = flat(x[(..., *where)], n)
            values[(..., *o)] = part.max(-1)
            indices[(..., *o)] = plane[where].reshape(-1)[part.argmax(-1)]
        return (values, indices) if return_indices else values

    return oracle


def avg_pool(n):
    def oracle(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        found = list(windows(n, x, kernel_size, stride, padding, 1, ceil_mode))
        y = np.zeros((*x.shape[:-n], *found[0][0]), x.dtype)
        for _, o, where, padded in found:
            part = flat(x[(..., *where)], n)
            count = divisor_override or (padded if count_include_pad else part.shape[-1])
            y[(..., *o)] = part.sum(-1) / count
        return y

    return oracle


def adaptive(n, reduce):
    def oracle(x, output_size, return_indices=False):
        space = x.shape[-n:]
        out = tuple(s if k is None else k for k, s in zip(many(output_size, n), space, strict=True))
        y = np.zeros((*x.shape[:-n], *out), x.dtype)
        indices = np.zeros(y.shape, np.int64)
        plane = np.arange(math.prod(space)).reshape(space)
        for o in np.ndindex(*out):
            where = np.ix_(*(range(o[i] * space[i] // out[i], math.ceil((o[i] + 1) * space[i] / out[i])) for i in range(n)))
            part = flat(x[(..., *where)], n)
            y[(..., *o)] = reduce(part, -1)
            indices[(..., *o)] = plane[where].reshape(-1)[part.argmax(-1)]
        return (y, indices) if return_indices else y

    return oracle


def max_samples(n):
    """Arguments that the record takes as they are."""

    def samples(g):
        space = (5, 4, 4)[:n]
        nan = g.distinct(1, 1, *space)
        nan.flat[[0, 3]] = np.nan
        return [
            S(g.distinct(2, 2, *(4,) * n), 2, 2),
            S(g.distinct(1, 2, *space), 3, 2, 1),
            S(g.distinct(2, *space), many(2, n), stride=1),
            S(g.distinct(1, 1, *space), 2, 2, 0, 1, True),
            S(g.distinct(1, 1, *(7,) * n), 3, stride=2, padding=1, dilation=2)
            if n < 3
            else S(g.distinct(1, 1, *(5,) * n), 2, 2, dilation=2),
            S(g.distinct(1, 1, *(1,) * n), 1, 1),
            S(g.distinct(0, 2, *space), 2, 2),
            S(nan, 2, 2).but(grad=False, dtypes="float"),
            S(np.full((1, 1, *space), -np.inf), 2, 2).but(grad=False, dtypes="float"),
        ]

    return samples


def public_max_samples(n):
    """What the public function takes besides: the default stride, and indices."""

    def samples(g):
        space = (5, 4, 4)[:n]
        return [
            S(g.distinct(2, 2, *(4,) * n), 2),
            S(g.distinct(1, 2, *space), kernel_size=2, stride=3, return_indices=True),
            S(g.distinct(1, 2, *space), 3, 2, 1, return_indices=True),
            S(np.zeros((1, 1, *space)), 2, 1, return_indices=True).but(grad=False),  # a kink everywhere
        ]

    return samples


def avg_samples(n):
    def samples(g):
        space = (5, 4, 4)[:n]
        found = [
            S(g.real(2, 2, *(4,) * n), 2, 2),
            S(g.real(1, 2, *space), 3, 2, 1),
            S(g.real(2, *space), many(2, n), stride=1),
            S(g.real(1, 1, *space), 3, 2, 1, True),
            S(g.real(1, 1, *space), 3, 2, 1, ceil_mode=True, count_include_pad=False),
            S(g.real(1, 1, *space), kernel_size=2, stride=3, padding=1, count_include_pad=False),
            S(g.real(1, 1, *(1,) * n), 1, 1),
            S(g.real(0, 2, *space), 2, 2),
        ]
        return found if n == 1 else [*found, S(g.real(1, 1, *space), 2, 2, divisor_override=3)]

    return samples


def adaptive_samples(n):
    def samples(g):
        space = (5, 4, 3)[:n]
        sizes = (((2, 2, *space), 1), ((1, 2, *space), 2), ((2, *space), 3), ((1, 1, *(4,) * n), 2), ((1, 1, *(2,) * n), 3))
        return [S(g.distinct(*shape), (k,) * n if n > 1 else k) for shape, k in sizes]

    return samples


def public_adaptive_samples(n, indices):
    def samples(g):
        space = (5, 4, 3)[:n]
        found = [S(g.distinct(2, 2, *space), 1), S(g.distinct(2, *space), (3, None, 2)[:n] if n > 1 else 3)]
        return [*found, S(g.distinct(1, 1, *space), 2, return_indices=True)] if indices else found

    return samples


def pool_errors(name, n, *more):
    def errors(g):
        x = g.real(1, 2, *(4,) * n)
        return [
            E((g.real(2), 2), {}, ShapeError, name),
            E((x, 0), {}, ValueRangeError, "kernel_size"),
            E((x, 2), {"stride": 0}, ValueRangeError, "stride"),
            E((x, 2), {"padding": 2}, ValueRangeError, "half"),
            E((x, 6), {}, ShapeError, "does not fit"),
            E((x, (2,) * (n + 1)), {}, ValueRangeError, "kernel_size"),
            E((x > 0, 2), {}, DTypeError, "bool"),
            *more,
        ]

    return errors


def adaptive_errors(name, n):
    return lambda g: [
        E((g.real(2), 2), {}, ShapeError, name),
        E((g.real(1, 2, *(4,) * n), -1), {}, ShapeError, "output_size"),
        E((g.real(1, 2, *(4,) * n), (2,) * (n + 1)), {}, ValueRangeError, "output_size"),
        E((g.bools(1, 2, *(4,) * n), 2), {}, DTypeError, "bool"),
    ]


def public(name):
    """The public function, in a row beside the record's own."""
    return lambda *args, **kwargs: FUNCTIONS[name](*args, **kwargs)


def both(name):
    """The record of an adaptive maximum: values and indices."""
    return lambda input, output_size: dispatch(get_op(name), (input,), {"output_size": output_size})


MAX_COVERS = ("max_pool_backward", "max_pool_gather", "max_pool_indices")
NUMBER = ("float", "int8", "int16", "int32", "int64", "uint8")
ROWS = []
for n in (1, 2, 3):
    name = f"max_pool{n}d"
    ROWS.append(Row(name, max_samples(n), max_pool(n), functional(name), dtypes=NUMBER, errors=pool_errors(name, n)))
    ROWS.append(
        Row(f"{name}, public", public_max_samples(n), max_pool(n), functional(name), dtypes=NUMBER, call=public(name), covers=MAX_COVERS)
    )
    name = f"avg_pool{n}d"
    ROWS.append(Row(name, avg_samples(n), avg_pool(n), covers=("avg_pool_backward",), errors=pool_errors(name, n)))
    ROWS.append(
        Row(f"{name}, public", lambda g, n=n: [S(g.real(2, 2, *(4,) * n), 2)], avg_pool(n), functional(name), call=public(name), grad=False)
    )
    name = f"adaptive_avg_pool{n}d"
    ROWS.append(
        Row(name, adaptive_samples(n), adaptive(n, np.mean), covers=("adaptive_avg_pool_backward",), errors=adaptive_errors(name, n))
    )
    ROWS.append(Row(f"{name}, public", public_adaptive_samples(n, False), adaptive(n, np.mean), functional(name), call=public(name)))
    name = f"adaptive_max_pool{n}d"
    oracle = adaptive(n, np.max)
    ROWS.append(
        Row(
            f"{name}, public",
            public_adaptive_samples(n, True),
            oracle,
            functional(name),
            call=public(name),
            errors=adaptive_errors(name, n),
        )
    )
    if n > 1:
        ROWS.append(
            Row(
                name,
                adaptive_samples(n),
                lambda x, size, oracle=oracle: oracle(x, size, True),
                lambda torch, x, size, name=name: getattr(torch.nn.functional, name)(x, size, True),
                call=both(name),
            )
        )
