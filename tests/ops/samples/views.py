"""Samples of views of whole tensors: shapes and orders of dimensions."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.support.errors import ArgumentError, DimensionError, ShapeError
from twofold.tensors.functions import FUNCTIONS, METHODS


def method(name):
    """A call of a method by functions' rules."""
    return lambda x, *args, **kwargs: METHODS[name](x, *args, **kwargs)


ROWS = [
    Row(
        "expand",
        lambda g: [
            S(g.real(3, 1), (3, 4)),
            S(g.real(3, 1), (2, 3, 4)),
            S(g.real(3, 1), (-1, 2)),
            S(g.real(), (2, 2)),
            S(g.real(1), (0,)),
            S(g.real(2), (2,)),
        ],
        lambda a, size: np.broadcast_to(a, tuple(a.shape[i - len(size)] if n == -1 else n for i, n in enumerate(size))),
        torch=lambda torch, a, size: a.expand(size),
        dtypes="all",
        errors=lambda g: [
            E((g.real(3), (4,)), {}, ShapeError, "cannot become 4"),
            E((g.real(2, 3), (3,)), {}, ShapeError, "fewer dimensions"),
            E((g.real(3), (-1, 3)), {}, ShapeError, "-1"),
        ],
    ),
    Row(
        "broadcast_to",
        lambda g: [S(g.real(3, 1), (2, 3, 4))],
        lambda a, size: np.broadcast_to(a, size),
        dtypes="all",
    ),
    Row(
        "broadcast_tensors",
        lambda g: [S(g.real(3, 1), g.real(4)), S(g.real(), g.real(2, 0)), S(g.real(2))],
        lambda *arrays: np.broadcast_arrays(*arrays),
        errors=lambda g: [E((g.real(2), g.real(3)), {}, ShapeError, "broadcast_tensors")],
    ),
    Row(
        "meshgrid",
        lambda g: [S(g.real(3), g.real(2)), S(g.real(3), g.real(2), g.real(), indexing="xy"), S(g.real(2), indexing="xy")],
        lambda *arrays, indexing="ij": np.meshgrid(*arrays, indexing=indexing),
        torch=lambda torch, *arrays, indexing="ij": torch.meshgrid(*arrays, indexing=indexing),
        errors=lambda g: [E((g.real(2, 2),), {}, ShapeError, "meshgrid")],
    ),
    Row(
        "unsqueeze",
        lambda g: [S(g.real(2, 3), 0), S(g.real(2, 3), -1), S(g.real(), 0), S(g.real(0), 1)],
        lambda a, dim: np.expand_dims(a, dim),
        dtypes="all",
        errors=lambda g: [E((g.real(2), 2), {}, DimensionError, "unsqueeze")],
    ),
    Row(
        "squeeze",
        lambda g: [
            S(g.real(1, 3, 1)),
            S(g.real(1, 3, 1), 0),
            S(g.real(1, 3, 1), (0, -1)),
            S(g.real(2, 3), 1),
            S(g.real()),
            S(g.real(1, 0)),
        ],
        lambda a, dim=None: a.reshape([n for i, n in enumerate(a.shape) if n != 1 or (dim is not None and not in_dims(i, dim, a.ndim))]),
        torch=lambda torch, a, dim=None: torch.squeeze(a) if dim is None else torch.squeeze(a, dim),
        dtypes="all",
        errors=lambda g: [E((g.real(2, 1), 2), {}, DimensionError, "squeeze")],
    ),
    Row(
        "view",
        lambda g: [S(g.real(2, 6), (3, 4)), S(g.real(2, 6), (-1,)), S(g.real(), (1, 1)), S(g.real(0, 3), (3, 0)), S(g.real(4), (2, -1))],
        lambda a, size: a.reshape(size),
        torch=lambda torch, a, size: a.view(size),
        dtypes="all",
        call=lambda a, size: FUNCTIONS["view"](a.contiguous(), size),
        errors=lambda g: [
            E((g.real(4), (3,)), {}, ShapeError, "needs 3 elements"),
            E((g.real(4), (-1, -1)), {}, ShapeError, "only one"),
            E((g.real(4), (3, -1)), {}, ShapeError, "do not divide"),
            E((g.real(0), (0, -1)), {}, ShapeError, "ambiguous"),
        ],
    ),
    Row(
        "view of another layout",
        lambda g: [S(g.real(3, 2))],
        lambda a: a.T.reshape(2, 3),
        torch=lambda torch, a: a.t().view(2, 3),
        call=lambda a: FUNCTIONS["t"](a.contiguous()).view(2, 3),
        errors=lambda g: [E((g.real(4, 2),), {}, ShapeError, "view")],
    ),
    Row(
        "reshape",
        lambda g: [S(g.real(2, 6), (3, 4)), S(g.real(2, 6), (-1,)), S(g.real(), (1,)), S(g.real(0, 3), (3, 0))],
        lambda a, size: a.reshape(size),
        dtypes="all",
        errors=lambda g: [E((g.real(4), (3,)), {}, ShapeError, "reshape"), E((g.real(4), (2.0, 2)), {}, ArgumentError, "reshape")],
    ),
    Row(
        "reshape_copy",
        lambda g: [S(g.real(2, 6), (3, 4)), S(g.real(), (1,))],
        lambda a, size: a.reshape(size),
        torch=lambda torch, a, size: a.reshape(size),
        dtypes="all",
    ),
    Row(
        "flatten",
        lambda g: [S(g.real(2, 3, 4)), S(g.real(2, 3, 4), 1), S(g.real(2, 3, 4), 0, -2), S(g.real()), S(g.real(3)), S(g.real(2, 0))],
        lambda a, start=0, end=-1: flattened(a, start, end),
        dtypes="all",
        errors=lambda g: [E((g.real(2, 3), 1, 0), {}, DimensionError, "flatten")],
    ),
    Row(
        "unflatten",
        lambda g: [S(g.real(2, 6), 1, (2, 3)), S(g.real(6), -1, (-1, 2))],
        lambda a, dim, sizes: a.reshape(*a.shape[: dim % a.ndim], *sizes, *a.shape[dim % a.ndim + 1 :]),
        call=lambda a, dim, sizes: FUNCTIONS["unflatten"](a.contiguous(), dim, sizes),
        errors=lambda g: [E((g.real(6), 0, (4, 2)), {}, ShapeError, "unflatten")],
    ),
    Row("ravel", lambda g: [S(g.real(2, 3)), S(g.real()), S(g.real(0, 2))], np.ravel, dtypes="all"),
    Row("real", lambda g: [S(g.real(2, 3))], lambda a: a),
    Row(
        "permute",
        lambda g: [S(g.real(2, 3, 4), (2, 0, 1)), S(g.real(2, 3), (-1, 0)), S(g.real(), ()), S(g.real(0, 2), (1, 0))],
        lambda a, dims: np.transpose(a, dims),
        dtypes="all",
        errors=lambda g: [
            E((g.real(2, 3), (0,)), {}, DimensionError, "permute"),
            E((g.real(2, 3), (0, 0)), {}, DimensionError, "twice"),
            E((g.real(2, 3), (0, 2)), {}, DimensionError, "out of range"),
        ],
    ),
    Row(
        "transpose",
        lambda g: [S(g.real(2, 3, 4), 0, 2), S(g.real(2, 3, 4), -1, 1), S(g.real(), 0, -1), S(g.real(2, 0), 0, 1)],
        lambda a, i, j: np.swapaxes(a, i, j) if a.ndim else a,
        dtypes="all",
        errors=lambda g: [E((g.real(2, 3), 0, 2), {}, DimensionError, "transpose")],
    ),
    Row(
        "t",
        lambda g: [S(g.real(2, 3)), S(g.real(2)), S(g.real())],
        np.transpose,
        dtypes="all",
        errors=lambda g: [E((g.real(1, 2, 3),), {}, ShapeError, "t:")],
    ),
    Row(
        "movedim",
        lambda g: [S(g.real(2, 3, 4), 0, 2), S(g.real(2, 3, 4), (0, 1), (-1, 0))],
        np.moveaxis,
        errors=lambda g: [E((g.real(2, 3), (0, 1), 0), {}, DimensionError, "movedim")],
    ),
    Row("alias", lambda g: [S(g.real(2, 3)), S(g.real())], lambda a: a, torch=lambda torch, a: a[...], dtypes="all"),
    Row(
        "detached",
        lambda g: [S(g.real(2, 3)), S(g.real())],
        lambda a: a,
        torch=lambda torch, a: a.detach(),
        dtypes="all",
        grad=False,
        call=lambda a: FUNCTIONS["detach"](a),
        covers=("detach",),
    ),
    Row(
        "contiguous",
        lambda g: [S(g.real(2, 3)), S(g.real()), S(g.real(2, 2, 2, 3), "channels_last")],
        lambda a, memory_format=None: a,
        torch=lambda torch, a, memory_format=None: a.contiguous(),
        call=method("contiguous"),
    ),
    Row(
        "view_chain",
        lambda g: [
            S(g.real(3, 4), (("select", (("dim", 0), ("index", 1))), ("expand", (("size", (2, 4)),)))),
            S(g.real(3, 4), (TRANSPOSED,)),
        ],
        lambda a, chain: np.broadcast_to(a[1], (2, 4)) if len(chain) == 2 else a.T,
        torch=None,
        covers=("view_chain_backward",),
    ),
    Row(
        "view_scatter",
        lambda g: [S(g.real(3, 4), g.real(4, 3), (TRANSPOSED,)), S(g.real(3, 4), g.real(3), (("select", (("dim", 1), ("index", -1))),))],
        lambda a, b, chain: b.T if chain[0] == TRANSPOSED else np.concatenate([a[:, :-1], b[:, None]], 1),
        torch=None,
        errors=lambda g: [E((g.real(3, 4), g.real(3, 4), (TRANSPOSED,)), {}, ShapeError, "view_scatter")],
    ),
]
TRANSPOSED = ("transpose", (("dim0", 0), ("dim1", 1)))


def in_dims(i, dim, rank):
    return i in [d % rank for d in (dim if isinstance(dim, tuple) else (dim,))]


def flattened(a, start, end):
    if not a.ndim:
        return a.reshape(1)
    start, end = start % a.ndim, end % a.ndim
    return a.reshape(*a.shape[:start], int(np.prod(a.shape[start : end + 1])), *a.shape[end + 1 :])
