"""Samples of reductions into positions and over segments."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import ArgumentError, DTypeError, IndexOutOfRange, ShapeError, ValueRangeError

FOLD = {"prod": np.prod, "amax": np.max, "amin": np.min, "mean": np.mean, "sum": np.sum, "max": np.max, "min": np.min}
EMPTY = {"sum": 0.0, "mean": np.nan, "prod": 1.0, "max": -np.inf, "min": np.inf}


def index_reduce(a: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    result = a.copy()
    rows, parts, out = (np.moveaxis(v, dim, 0) for v in (a, source, result))
    for i in np.unique(index):
        group = [rows[i]] if include_self else []
        group += [parts[k] for k in range(len(index)) if index[k] == i]
        value = FOLD[reduce](np.stack(group), 0)
        out[i] = value if a.dtype.kind == "f" else np.floor_divide(np.sum(np.stack(group), 0), len(group)) if reduce == "mean" else value
    return result


def segment_reduce(
    a: Any, reduce: str, *, lengths: Any = None, offsets: Any = None, axis: int = 0, initial: Any = None, unsafe: bool = False
) -> Any:
    lead = a.shape[:axis]
    ends = np.cumsum(lengths, -1) if offsets is None else offsets[..., 1:]
    begins = ends - lengths if offsets is None else offsets[..., :-1]
    out = np.empty((*ends.shape, *a.shape[axis + 1 :]), a.dtype)
    for place in np.ndindex(ends.shape):
        part = a[place[: len(lead)]][begins[place] : ends[place]]
        if not len(part):
            out[place] = EMPTY[reduce] if initial is None else initial
        elif initial is None:
            out[place] = FOLD[reduce](part, 0)
        elif reduce == "mean":
            out[place] = (initial + np.sum(part, 0)) / len(part)
        else:
            out[place] = FOLD[reduce](np.concatenate([part, np.full((1, *part.shape[1:]), initial)]), 0)
    return out


def masked_index(a: Any, mask: Any, indices: Any, fill: float) -> Any:
    found = a[tuple(slice(None) if i is None else np.clip(i, -n, n - 1) for i, n in zip(indices, a.shape, strict=False))]
    return np.where(mask, found, fill).astype(a.dtype)


def masked_put(a: Any, mask: Any, indices: Any, values: Any) -> Any:
    result = a.copy()
    key = tuple(np.clip(i, -n, n - 1) for i, n in zip(indices, a.shape, strict=False))
    np.add.at(result, key, np.where(mask, values, 0).astype(a.dtype))
    return result


# The second derivative of a product at two zeros is not right, as in PyTorch; the first is, see test_product_of_zeros.
def reductions(g: Gen) -> list[S]:
    index = np.array([0, 2, 0, 1])
    return [
        *(S(g.positive(3, 5), 0, index, g.positive(4, 5), how) for how in ("prod", "mean", "amax", "amin")),
        *(S(g.positive(2, 4), -1, index, g.positive(2, 4), how, include_self=False) for how in ("prod", "mean", "amax", "amin")),
        S(g.noncontiguous(g.positive(3, 2)), 0, np.array([1, 1]), g.positive(2, 2), "prod"),
        S(np.array([0.0, 2.0, 3.0]), 0, np.array([0, 1, 1, 2, 2]), np.array([3.0, 0.0, 2.0, 0.0, 0.0]), "prod").but(grad=False),
    ]


def quiet(torch: Any, *args: Any, **kwargs: Any) -> Any:
    """torch warns that its index_reduce may change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.index_reduce(*args, **kwargs)


ROWS = [
    Row(
        "index_reduce",
        reductions,
        index_reduce,
        torch=quiet,
        dtypes=("float64", "float32", "int64"),
        grad=(0, 3),
        inplace="index_reduce_",
        errors=lambda g: [
            E((g.real(3), 0, np.array([0]), g.real(1), "sum"), {}, ValueRangeError, "index_add"),
            E((g.real(3), 0, np.array([0]), g.real(2), "prod"), {}, ShapeError, "index_reduce"),
            E((g.real(3), 0, np.array([3]), g.real(1), "prod"), {}, IndexOutOfRange, "index 3"),
            E((g.real(3), 0, np.array([0.5]), g.real(1), "prod"), {}, DTypeError, "index"),
        ],
    ),
    Row(
        "segment_reduce",
        lambda g: [
            *(S(g.positive(7), how, lengths=np.array([2, 0, 4, 1])).but(grad=how in ("sum", "prod")) for how in EMPTY),
            *(S(g.positive(7), how, lengths=np.array([2, 0, 4, 1]), initial=2.0) for how in EMPTY),
            *(S(g.positive(6, 3), how, offsets=np.array([0, 2, 5, 6])) for how in EMPTY),
            S(g.positive(2, 5, 3), "max", lengths=np.array([[1, 4], [3, 2]]), axis=1),
            S(g.noncontiguous(g.positive(5, 2)), "mean", lengths=np.array([2, 3])),
        ],
        segment_reduce,
        torch=lambda torch, data, reduce, **k: torch.segment_reduce(data, reduce, unsafe=k.pop("unsafe", False), **k),
        dtypes=("float64", "float32"),
        grad=(0,),
        errors=lambda g: [
            E((g.real(3), "median"), {"lengths": np.array([3])}, ValueRangeError, "median"),
            E((g.real(3), "sum"), {}, ArgumentError, "lengths or offsets"),
            E((g.real(3), "sum"), {"lengths": np.array([2])}, ValueRangeError, "add up"),
            E((g.real(3), "sum"), {"lengths": np.array([[3]])}, ShapeError, "axis 0"),
            E((np.array([1, 2]), "sum"), {"lengths": np.array([2])}, DTypeError, "floating"),
        ],
    ),
    Row(
        "_unsafe_masked_index",
        lambda g: [
            S(g.real(3, 4), g.bools(5, 5), [g.index((5, 1), 3), g.index((1, 5), 9)], 1.5),
            S(g.real(3, 4), g.bools(2, 4), [g.index(2, 5)], 0.0),
        ],
        masked_index,
        torch=lambda torch, a, mask, indices, fill: torch._unsafe_masked_index(a, mask, indices, fill),
        dtypes=("float64", "float32"),
        grad=(0,),
        errors=lambda g: [E((g.real(0), g.bools(1), [g.index(1, 1)], 0.0), {}, IndexOutOfRange, "size 0")],
    ),
    Row(
        "_unsafe_masked_index_put_accumulate",
        lambda g: [S(g.real(3, 4), g.bools(5, 5), [g.index((5, 1), 3), g.index((1, 5), 9)], g.real(5, 5))],
        masked_put,
        torch=lambda torch, a, mask, indices, values: torch._unsafe_masked_index_put_accumulate(a, mask, indices, values),
        dtypes=("float64", "float32"),
        grad=(0, 3),
        errors=lambda g: [E((g.real(0), g.bools(1), [g.index(1, 1)], g.real(1)), {}, IndexOutOfRange, "size 0")],
    ),
]
