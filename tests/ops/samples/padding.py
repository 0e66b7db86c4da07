"""Samples of padding."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.support.errors import ArgumentError, ShapeError, ValueRangeError


def by_dim(a, pad):
    """NumPy's pad widths of PyTorch's."""
    widths = [(0, 0)] * a.ndim
    for i in range(len(pad) // 2):
        widths[a.ndim - 1 - i] = (pad[2 * i], pad[2 * i + 1])
    return widths


def padded(a, pad, value=0):
    widths = by_dim(a, pad)
    a = np.pad(a, [(max(0, x), max(0, y)) for x, y in widths], constant_values=value)
    return a[tuple(slice(max(0, -x), a.shape[d] - max(0, -y)) for d, (x, y) in enumerate(widths))]


MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def in_mode(mode):
    """By np.pad, which takes no negative pads: those are cut off afterwards (before, where the tensor goes on around)."""

    def oracle(a, pad):
        sides = by_dim(a, pad)
        cut = lambda x: x[tuple(slice(max(0, -low), n - max(0, -high)) for n, (low, high) in zip(x.shape, sides, strict=True))]
        a = cut(a) if mode == "circular" else a
        a = np.pad(a, [(max(0, low), max(0, high)) for low, high in sides], mode=MODES[mode])
        return a if mode == "circular" else cut(a)

    return oracle


ROWS = [
    Row(
        "constant_pad_nd",
        lambda g: [
            S(g.real(2, 3), (1, 2)),
            S(g.real(2, 3), (1, 2, 0, 1), 2),
            S(g.real(2, 4), (-1, 2)),
            S(g.real(2, 4), (-1, -2, 1, 0), 1),
            S(g.real(0, 2), (0, 0, 1, 1), 1),
            S(g.real(2), ()),
        ],
        padded,
        dtypes="all",
        errors=lambda g: [
            E((g.real(2), (1,)), {}, ShapeError, "even"),
            E((g.real(2), (1, 1, 1, 1)), {}, ShapeError, "pad"),
            E((g.real(2), (-2, -1)), {}, ShapeError, "negative size"),
        ],
    ),
    Row(
        "pad",
        lambda g: [
            S(g.real(2, 3), (1, 2), "constant", 1.5),
            S(g.real(2, 3), (1, 2), "reflect"),
            S(g.real(1, 2, 2, 3), (1, 2, 0, 1), "replicate"),
            S(g.real(1, 2, 2, 3), (1, 2, 0, 1), "circular"),
            S(g.real(1, 2, 2, 2, 3), (1, 2, 0, 1, 1, 1), "reflect"),
        ],
        lambda a, pad, mode="constant", value=0: padded(a, pad, value) if mode == "constant" else in_mode(mode)(a, pad),
        errors=lambda g: [
            E((g.real(2, 3), (1, 1), "mirror"), {}, ValueRangeError, "mirror"),
            E((g.real(2, 3), (3, 1), "reflect"), {}, ShapeError, "at most 2"),
            E((g.real(2, 3), (4, 1), "circular"), {}, ShapeError, "at most 3"),
            E((g.real(3), (1, 1), "reflect"), {}, ShapeError, "dimensions"),
            E((g.real(2, 3), (1, 1), "reflect", 1.0), {}, ArgumentError, "no value"),
        ],
    ),
    *(
        Row(
            f"{name}{n}d",
            lambda g, n=n: [
                S(g.real(*(2, 3, 2, 4)[-n - 1 :]), (1, 0, 1, 1, 2, 1)[: 2 * n]),
                S(g.real(1, 1, *(3, 2, 4)[3 - n :]), (0, 1, 1, 0, 0, 2)[: 2 * n]),
                S(g.real(1, 1, *(3, 3, 4)[3 - n :]), (-2, 1, 1, -1, -1, -1)[: 2 * n]),
            ],
            in_mode(mode),
            torch=lambda torch, a, pad, mode=mode: torch.nn.functional.pad(a, pad, mode),
            dtypes="all",
            covers=("pad_backward",),
        )
        for name, mode in (("reflection_pad", "reflect"), ("replication_pad", "replicate"))
        for n in (1, 2, 3)
    ),
    Row(
        "circular_pad",
        lambda g: [S(g.real(2, 3), (1, 2)), S(g.real(1, 2, 2, 3), (3, 0, 2, 1))],
        in_mode("circular"),
        torch=lambda torch, a, pad: torch.nn.functional.pad(a, pad, "circular"),
        dtypes="all",
    ),
]
