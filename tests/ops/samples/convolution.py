"""Samples of convolutions. The oracle is a plain sum over the kernel's elements, in loops; torch is the second."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError


def many(value, n):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def conv(n):
    """The oracle: for each element of the kernel one weighted sum of a shifted, strided input."""

    def oracle(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
        x = np.asarray(x)
        single = x.ndim == n + 1
        x = x[None] if single else x
        s, d = many(stride, n), many(dilation, n)
        if padding == "same":
            edges = [(d[i] * (w.shape[2 + i] - 1) // 2, d[i] * (w.shape[2 + i] - 1) - d[i] * (w.shape[2 + i] - 1) // 2) for i in range(n)]
        else:
            edges = [(p, p) for p in many(0 if padding == "valid" else padding, n)]
        x = np.pad(x, [(0, 0), (0, 0), *edges])
        out = tuple((x.shape[2 + i] - d[i] * (w.shape[2 + i] - 1) - 1) // s[i] + 1 for i in range(n))
        y = np.zeros((x.shape[0], w.shape[0], *out), x.dtype)
        c, o = w.shape[1], w.shape[0] // groups
        for at in np.ndindex(*w.shape[2:]):
            where = tuple(slice(at[i] * d[i], at[i] * d[i] + (out[i] - 1) * s[i] + 1, s[i]) for i in range(n))
            for k in range(w.shape[0]):
                for j in range(c):
                    y[:, k] += w[(k, j, *at)] * x[(slice(None), k // o * c + j, *where)]
        if bias is not None:
            y = y + bias.reshape((-1, *(1,) * n))
        return y[0] if single else y

    return oracle


def transposed(n):
    """The oracle: every input element adds its multiple of the kernel."""

    def oracle(x, w, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        x = np.asarray(x)
        single = x.ndim == n + 1
        x = x[None] if single else x
        s, d, p, e = many(stride, n), many(dilation, n), many(padding, n), many(output_padding, n)
        full = tuple((x.shape[2 + i] - 1) * s[i] + d[i] * (w.shape[2 + i] - 1) + 1 + e[i] for i in range(n))
        c, o = w.shape[0] // groups, w.shape[1]
        y = np.zeros((x.shape[0], o * groups, *full), x.dtype)
        for at in np.ndindex(*w.shape[2:]):
            where = tuple(slice(at[i] * d[i], at[i] * d[i] + (x.shape[2 + i] - 1) * s[i] + 1, s[i]) for i in range(n))
            for k in range(w.shape[0]):
                for j in range(o):
                    y[(slice(None), k // c * o + j, *where)] += w[(k, j, *at)] * x[:, k]
        y = y[(slice(None), slice(None), *(slice(p[i], full[i] - p[i]) for i in range(n)))]
        if bias is not None:
            y = y + bias.reshape((-1, *(1,) * n))
        return y[0] if single else y

    return oracle


def conv_samples(n):
    def samples(g):
        space, kernel = (5, 4, 3)[:n], (3, 2, 2)[:n]
        found = [
            S(g.real(2, 2, *space), g.real(3, 2, *kernel), g.real(3)),
            S(g.real(1, 2, *space), g.real(2, 2, *kernel), padding=1),
            S(g.real(2, *space), g.real(2, 2, *kernel), g.real(2)),
            S(g.real(1, 4, *space), g.real(4, 2, *kernel), None, 1, 1, 1, 2),
            S(g.real(1, 2, *space), g.real(4, 1, *kernel), g.real(4), stride=2, padding=1, groups=2),
            S(g.real(1, 2, *space), g.real(2, 2, *(3,) * n), padding="same"),
            S(g.real(1, 2, *space), g.real(2, 2, *(2,) * n), padding="same").but(torch=False),  # torch warns of its copy
            S(g.real(1, 1, *space), g.real(1, 1, *(1,) * n), stride=2),
            S(g.real(0, 2, *space), g.real(2, 2, *kernel), g.real(2)),
            S(g.real(1, 1, *(1,) * n), g.real(1, 1, *(1,) * n), padding="valid"),
        ]
        if n < 3:
            found += [
                S(
                    g.real(1, 2, 7, *space[1:]),
                    g.real(2, 2, *kernel),
                    g.real(2),
                    stride=(2, 1)[:n],
                    padding=(2, 0)[:n],
                    dilation=(2, 1)[:n],
                ),
                S(g.real(1, 2, 6, *space[1:]), g.real(2, 2, *kernel), stride=3, padding=2),
                S(g.real(1, 3, 6, *space[1:]), g.real(3, 1, *kernel), padding=1, groups=3),
            ]
        return found

    return samples


def transposed_samples(n):
    def samples(g):
        space, kernel = (3, 2, 2)[:n], (3, 2, 1)[:n]
        return [
            S(g.real(2, 2, *space), g.real(2, 3, *kernel), g.real(3)),
            S(g.real(2, *space), g.real(2, 1, *kernel), stride=2),
            S(g.real(1, 2, *space), g.real(2, 1, *kernel), g.real(1), stride=2, padding=1 if n == 1 else 0, output_padding=1),
            S(g.real(1, 4, *space), g.real(4, 1, *kernel), groups=2, stride=(3, 2, 1)[:n]),
            S(g.real(1, 2, *space), g.real(2, 1, *kernel), groups=2, dilation=2),
            S(g.real(1, 2, *space), g.real(2, 2, *kernel), None, 1, 0, 0, 1, 2),
            # more than the stride at the end; there the bias is added by itself, one rounding more
            S(g.real(1, 2, *space), g.real(2, 2, *kernel), g.real(2), 2, 1 if n == 1 else 0, 2, 1, 3).but(dtypes=("float32", "float64")),
        ]

    return samples


def conv_errors(name, n):
    def errors(g):
        x, w = g.real(1, 2, *(4,) * n), g.real(2, 2, *(3,) * n)
        return [
            E((x, g.real(2, 3, *(3,) * n)), {}, ShapeError, "channels"),
            E((x, w, g.real(3)), {}, ShapeError, "bias"),
            E((g.real(2), w), {}, ShapeError, name),
            E((x, w), {"stride": 0}, ValueRangeError, "stride"),
            E((x, w), {"padding": -1}, ValueRangeError, "padding"),
            E((x, w), {"padding": "full"}, ValueRangeError, "padding"),
            E((x, w), {"padding": "same", "stride": 2}, ValueRangeError, "same"),
            E((x, w), {"stride": (1,) * (n + 1)}, ValueRangeError, "stride"),
            E((g.real(1, 2, *(2,) * n), w), {}, ShapeError, "does not fit"),
            E((x, g.real(3, 1, *(3,) * n)), {"groups": 2}, ShapeError, "groups"),
            E((x > 0, w > 0), {}, DTypeError, "bool"),
            E((x.astype(np.int64), w), {}, DTypeError, "one dtype"),
            E((x, 1.0), {}, ArgumentError, "weight"),
        ]

    return errors


def transposed_errors(n):
    def errors(g):
        x, w = g.real(1, 2, *(3,) * n), g.real(2, 2, *(2,) * n)
        return [
            E((x, g.real(3, 2, *(2,) * n)), {}, ShapeError, "channels"),
            E((x, w), {"output_padding": 2, "stride": 2}, ValueRangeError, "output_padding"),
            E((x, w), {"output_padding": 3, "stride": 2, "dilation": 3}, ValueRangeError, "output_padding"),
        ]

    return errors


COVERS = ("convolution", "convolution_backward_weight", "convolution_backward_bias")
ROWS = [
    *(
        Row(f"conv{n}d", conv_samples(n), conv(n), dtypes=("float", "int64"), covers=COVERS, errors=conv_errors(f"conv{n}d", n))
        for n in (1, 2, 3)
    ),
    *(Row(f"conv_transpose{n}d", transposed_samples(n), transposed(n), covers=COVERS, errors=transposed_errors(n)) for n in (1, 2, 3)),
]
