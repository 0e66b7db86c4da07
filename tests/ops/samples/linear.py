"""Samples of the affine map."""

from __future__ import annotations

from tests.ops.row import E, Row, S
from twofold.support.errors import DTypeError, ShapeError

ROWS = [
    Row(
        "linear",
        lambda g: [
            S(g.real(2, 3), g.real(4, 3), g.real(4)),
            S(g.real(2, 3), g.real(4, 3)),
            S(g.real(3), g.real(2, 3), g.real(2)),
            S(g.real(2, 2, 3), g.real(2, 3), g.real(2)),
            S(g.real(0, 3), g.real(2, 3), g.real(2)),
            S(g.real(2, 0), g.real(2, 0), g.real(2)),
            S(g.real(2, 2, 0), g.real(2, 0), g.real(2)),
            S(g.real(1, 1), g.real(1, 1), g.real(1)),
        ],
        lambda x, w, bias=None: x @ w.T if bias is None else x @ w.T + bias,
        errors=lambda g: [
            E((g.real(2, 3), g.real(2, 4)), {}, ShapeError, "in_features"),
            E((g.real(2, 3), g.real(3)), {}, ShapeError, "weight"),
            E((g.real(2, 3), g.real(2, 3), g.real(3)), {}, ShapeError, "bias"),
            E((g.index((2, 3), 2), g.real(2, 3)), {}, DTypeError, "one dtype"),
        ],
    ),
]
