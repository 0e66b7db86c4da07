"""Samples of embeddings, one-hot vectors, masks and scatter_reduce."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from tests.ops.samples.indexing import along
from twofold.support.errors import DTypeError, IndexOutOfRange, ShapeError, ValueRangeError
from twofold.tensors.functions import FUNCTIONS

index = np.array


def reduced(a, dim, index, src, reduce, include_self=True):
    """Element by element, in float64 or Python integers."""
    total = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[reduce]
    result, counts = np.array(a), np.full(a.shape, int(include_self))
    fresh = np.zeros(a.shape, bool) if include_self else along(np.zeros(a.shape, bool), dim, index, True, lambda old, new: new)
    for place in np.ndindex(index.shape):
        where = list(place)
        if where:
            where[dim % a.ndim] = int(index[place])
        w = tuple(where)
        result[w] = src[place] if fresh[w] else total(result[w], src[place])
        fresh[w] = False
        counts[w] += 1
    if reduce == "mean":
        result = result / np.maximum(counts, 1) if result.dtype.kind == "f" else result // np.maximum(counts, 1)
    return result


def spread(a, mask, values):
    a, mask = (np.array(x) for x in np.broadcast_arrays(a, mask))
    a[mask] = values.reshape(-1)[: np.count_nonzero(mask)]
    return a


def reduce_row(reduce):
    """The row of one kind of reduction; the first bears the record's name."""
    return Row(
        "scatter_reduce" if reduce == "sum" else f"scatter_reduce {reduce}",
        lambda g: [
            S(g.distinct(3, 4), 0, g.index((5, 4), 3), g.distinct(5, 4) + 0.1, reduce),
            S(g.distinct(3, 4), -1, g.index((2, 3), 4), g.distinct(2, 3) + 0.1, reduce, include_self=False),
            S(g.real(), 0, index(0), g.real(), reduce),
            S(g.real(3), 0, np.zeros(0, np.int64), g.real(0), reduce),
            S(index([1.0, 2.0]), 0, index([0, 0, 1]), index([1.0, 1.0, 0.0]), reduce).but(grad=reduce in ("sum", "mean")),
        ],
        reduced,
        torch="scatter_reduce",
        dtypes="number",
        inplace="scatter_reduce_",
        call=None if reduce == "sum" else lambda *args, **kwargs: FUNCTIONS["scatter_reduce"](*args, **kwargs),
        errors=lambda g: [
            E((g.real(3), 0, index([3]), g.real(1), reduce), {}, IndexOutOfRange, "scatter_reduce"),
            E((g.real(3), 0, index([0]), g.real(1), "median"), {}, ValueRangeError, "median"),
        ],
    )


ROWS = [
    Row(
        "embedding",
        lambda g: [
            S(g.real(5, 3), index([[0, 4, 0], [2, 2, 1]])),
            # gradients that leave out the padding row or are scaled are no derivatives: tests/tensors/test_indexing.py has them
            S(g.real(5, 3), index([0, 4, 0]), 0).but(grad=False),
            S(g.real(5, 2), index([1, 1, 3, 0]), 3, True).but(grad=False),
            S(g.real(5, 1), index(2)),
            S(g.real(2, 3), np.zeros((0, 2), np.int64)),
            S(g.real(5, 2), index([4], np.int32)),
        ],
        lambda w, i, padding_idx=-1, scale=False: w[i],
        torch=lambda torch, w, i, padding_idx=-1, scale=False: torch.nn.functional.embedding(
            i, w, None if padding_idx < 0 else padding_idx, scale_grad_by_freq=scale
        ),
        covers=("embedding_dense_backward", "bincount_of"),
        errors=lambda g: [
            E((g.real(5, 3), index([5])), {}, IndexOutOfRange, "index 5 is out of range for dimension 0 of size 5"),
            E((g.real(5, 3), index([-1])), {}, IndexOutOfRange, "index -1"),
            E((g.real(5), index([1])), {}, ShapeError, "2 dimensions"),
            E((g.real(5, 3), g.real(2)), {}, DTypeError, "float64"),
        ],
    ),
    Row(
        "one_hot",
        lambda g: [S(index([0, 2, 1]), 3), S(index([[0], [1]]), 4), S(index(1), 2), S(np.zeros(0, np.int64), 2)],
        lambda i, n: np.eye(n, dtype=np.int64)[i],
        dtypes=("float64",),
        grad=False,
        errors=lambda g: [
            E((index([3]), 3), {}, IndexOutOfRange, "one_hot"),
            E((index([0]), 0), {}, ValueRangeError, "positive"),
            E((g.real(1), 2), {}, DTypeError, "one_hot"),
        ],
    ),
    Row(
        "masked_select",
        lambda g: [
            S(g.real(3, 4), g.bools(3, 4)),
            S(g.real(3, 1), g.bools(4)),
            S(g.real(), index(True)),
            S(g.real(0), g.bools(0)),
            S(g.real(2), index([False, False])),
        ],
        lambda a, mask: (lambda x, m: x[m])(*np.broadcast_arrays(a, mask)),
        dtypes="all",
        meta=False,
        covers=("masked_spread",),
        errors=lambda g: [
            E((g.real(2), g.bools(3)), {}, ShapeError, "masked_select"),
            E((g.real(2), index([1, 0])), {}, DTypeError, "bool"),
        ],
    ),
    Row(
        "masked_scatter",
        lambda g: [
            S(g.real(3, 4), g.bools(3, 4), g.real(12)),
            S(g.real(3, 4), g.bools(3, 1), g.real(4, 4)),
            S(g.real(4), g.bools(3, 4), g.real(12)),
            S(g.real(), index(True), g.real()),
        ],
        spread,
        dtypes="all",
        inplace="masked_scatter_",
        covers=("masked_scatter_backward",),
        errors=lambda g: [
            E((g.real(2), index([True, True]), g.real(1)), {}, ShapeError, "only 1"),
            E((g.real(2), index([1, 0]), g.real(2)), {}, DTypeError, "bool"),
        ],
    ),
    Row(
        "nonzero",
        lambda g: [S(g.ints(3, 4, low=-1, high=2)), S(g.ints(5, low=0, high=2)), S(g.real()), S(g.real(0, 2)), S(g.bools(2, 2))],
        np.argwhere,
        dtypes="all",
        meta=False,
        grad=False,
    ),
    Row(
        "argwhere",
        lambda g: [S(g.ints(3, 4, low=-1, high=2))],
        np.argwhere,
        meta=False,
        grad=False,
    ),
    *(reduce_row(reduce) for reduce in ("sum", "prod", "mean", "amax", "amin")),
]
