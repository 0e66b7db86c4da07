"""Batching rules of views, joining, indexing, scans, reductions of another kind and products of matrices."""

from __future__ import annotations

from typing import Any

from twofold.ir.dtypes import int64
from twofold.ir.op import get_op
from twofold.ops.indexing import placed_first
from twofold.support.errors import InplaceError
from twofold.tensors.batched import batched
from twofold.tensors.batching import (
    RULES,
    Call,
    broadcast,
    dims,
    fold,
    leading,
    loop,
    padded,
    product,
    reduce,
    refused,
    reshaped,
    run,
    spread,
)
from twofold.tensors.dispatch import dispatch
from twofold.tensors.inplace import inplace

# ---- views ------------------------------------------------------------------------------------------------------------------------


def same(c: Call) -> Any:
    """The operation on all examples at once, with the attributes as they are."""
    return c.again((c.raw(0),))


def to_output_shape(c: Call) -> Any:
    """An attribute `size` that is the output's shape."""
    return c.again((c.raw(0),), size=(c.size, *c.out.shape))


def expand(c: Call) -> Any:
    return run("expand", padded(c, 0, len(c.out.shape)), size=(c.size, *c.out.shape))


def squeeze(c: Call) -> Any:
    given = c.attributes["dim"]
    chosen = range(c.rank()) if given is None else given if type(given) is tuple else (given,)
    ones = tuple(d + 1 for d in chosen if c.rank() and c.shape()[d] == 1)
    return run("squeeze", c.raw(0), dim=ones) if ones else run("alias", c.raw(0))


def permute(c: Call) -> Any:
    rank = c.rank()
    return run("permute", c.raw(0), dims=(0, *(d % rank + 1 for d in c.attributes["dims"])))


def transpose(c: Call) -> Any:
    return dims(c) if c.rank() else run("alias", c.raw(0))


def matrix_transpose(c: Call) -> Any:
    return run("transpose", c.raw(0), dim0=1, dim1=2) if c.rank() == 2 else run("alias", c.raw(0))


def as_strided(c: Call) -> Any:
    inner = c.raw(0)
    if not inner.is_contiguous():
        raise InplaceError(
            "vmap: as_strided of a tensor whose examples do not lie one after another in memory; use contiguous() first", "view"
        )
    a = c.attributes
    step = product(c.shape())
    return run("as_strided", inner, size=(c.size, *a["size"]), stride=(step, *a["stride"]), storage_offset=a["storage_offset"])


def seen(t: Any, chain: Any) -> Any:
    """What a chain of views shows of a tensor."""
    for name, pairs in chain:
        attributes = dict(pairs)
        which = attributes.pop("", None)
        out = dispatch(get_op(name), (t,), attributes)
        t = out if which is None else out[which]
    return t


def view_chain(c: Call) -> Any:
    shown = seen(c.operands[0], c.attributes["chain"])
    return shown._inner


def view_scatter(c: Call) -> Any:
    base = batched(run("clone", c.full(0), memory_format="contiguous_format"), c.level)
    inplace("copy", seen(base, c.attributes["chain"]), c.operands[1])
    return base._inner


def clone(c: Call) -> Any:
    wanted = c.attributes["memory_format"]
    return run("clone", c.raw(0), memory_format=None if wanted == "channels_last" else wanted)


def copy(c: Call) -> Any:
    return run("copy", c.full(0), padded(c, 1, c.rank()))


def masked_fill_tensor(c: Call) -> Any:
    """A number an example in the places a mask selects."""
    rank = max(c.rank(0), c.rank(1))
    if not c.has(2):
        return spread(c.again((padded(c, 0, rank), padded(c, 1, rank), c.operands[2])), (c.size, *c.out.shape))
    value = padded(c, 2, rank)
    if c.ins[2].dtype is not c.out.dtype:
        value = run("to", value, dtype=c.out.dtype)
    return spread(run("where", padded(c, 1, rank), value, padded(c, 0, rank)), (c.size, *c.out.shape))


def new_filled(c: Call) -> Any:
    return c.again((c.raw(0),), size=(c.size, *c.attributes["size"]))


# ---- joining ----------------------------------------------------------------------------------------------------------------------


def cat(c: Call) -> Any:
    """Empty vectors, which PyTorch joins with tensors of any rank, are left out."""
    parts, types = c.operands[0], c.ins[0]
    if len({t.ndim for t in types}) > 1:
        parts = tuple(x for x, t in zip(parts, types, strict=True) if t.shape != (0,))
    joined = run("cat", c.fill(tuple(parts)), dim=c.attributes["dim"] + 1)
    return joined if joined._type.dtype is c.out.dtype else run("to", joined, dtype=c.out.dtype)


def repeat(c: Call) -> Any:
    repeats = c.attributes["repeats"]
    return run("repeat", padded(c, 0, len(repeats)), repeats=(1, *repeats))


def roll(c: Call) -> Any:
    inner, shifts, along, rank = c.raw(0), c.attributes["shifts"], c.attributes["dims"], c.rank()
    if not along:
        return c.finished(run("roll", reshaped(inner, (c.size, product(c.shape()))), shifts=shifts, dims=(1,)))
    if rank == 0:
        return run("clone", inner)
    return run("roll", inner, shifts=shifts, dims=tuple(d % rank + 1 for d in along))


# ---- reductions -------------------------------------------------------------------------------------------------------------------


def extreme(name: str) -> Any:
    """`max()` and `min()`, which share a gradient evenly among equal elements as `amax` and `amin` do."""

    def rule(c: Call) -> Any:
        return run(name, reshaped(c.raw(0), (c.size, product(c.shape()))), dim=(1,))

    return rule


def median(c: Call) -> Any:
    """Of all elements of an example."""
    if product(c.shape()) == 0:
        return loop(c)
    return run(f"{c.op.name}_dim", reshaped(c.raw(0), (c.size, product(c.shape()))), dim=1)[0]


def sum_to_size(c: Call) -> Any:
    own, wanted = c.shape(), tuple(c.attributes["size"])
    extra = len(own) - len(wanted)
    gone = (*range(extra), *(extra + d for d, n in enumerate(wanted) if n != own[extra + d]))
    inner = c.raw(0)
    if not gone:
        return run("clone", inner)
    return c.finished(run("sum", inner, dim=tuple(d + 1 for d in gone), dtype=c.out.dtype))


def selecting_backward(c: Call) -> Any:
    return c.finished(c.full(0)) if not c.out.shape else dims(c)


def searchsorted(c: Call) -> Any:
    sequence, _, *sorter = c.operands
    if not c.has(0) and c.rank(0) == 1 and not any(map(c.holds, sorter)):
        return c.again((sequence, c.raw(1), *sorter))
    sorter = [c.fill(x) for x in sorter]
    if c.rank(0) == 1:
        return c.finished(c.again((c.full(0), reshaped(c.full(1), (c.size, product(c.shape(1)))), *sorter)))
    return c.again((c.full(0), c.full(1), *sorter))


# ---- indexing -----------------------------------------------------------------------------------------------------------------------


def indexed_rank(c: Call) -> int:
    """The number of dimensions that the indices' common shape has."""
    return max(t.ndim for t in c.ins[1])


def batch_indices(c: Call, rank: int) -> tuple[Any, ...]:
    """The index tensors, padded after the batch where they have it, and before them the number of each example."""
    result = [run("arange", start=0, end=c.size, dtype=int64).reshape((c.size, *(1,) * rank))]
    for x, t in zip(c.operands[1], c.ins[1], strict=True):
        result.append(reshaped(x._inner, (c.size, *(1,) * (rank - t.ndim), *t.shape)) if c.holds(x) else x)
    return tuple(result)


def moved(t: Any, source: range, start: int) -> Any:
    """The dimensions `source` (next to one another) moved so that they begin at `start`."""
    n, k = t._type.ndim, len(source)
    rest = [d for d in range(n) if d not in source]
    order = (*rest[:start], *source, *rest[start:])
    return t if order == tuple(range(n)) or not k else run("permute", t, dims=order)


def index(c: Call) -> Any:
    along, rank = c.attributes["dims"], indexed_rank(c)
    front = placed_first(along)
    if not c.has(1):
        result = run("index", c.raw(0), c.operands[1], dims=tuple(d + 1 for d in along))
        return moved(result, range(rank, rank + 1), 0) if front else result
    if not c.has(0):
        indices = batch_indices(c, rank)[1:]
        result = run("index", c.operands[0], indices, dims=along)
        at = 0 if front else along[0]
        return moved(result, range(at, at + 1), 0)
    result = run("index", c.raw(0), batch_indices(c, rank), dims=(0, *(d + 1 for d in along)))
    return result if front else moved(result, range(1, 1 + rank), along[0] + 1)


def put_values(c: Call, values: Any, along: tuple[int, ...], rank: int, shape: tuple[Any, ...]) -> Any:
    """Values of all examples (of one example's indexed shape `shape`) laid out as the indexing of all examples wants them."""
    if placed_first(along):
        return moved(values, range(1, 1 + rank), 0) if not c.has(1) else values
    return moved(values, range(along[0] + 1, along[0] + 1 + rank), 1) if c.has(1) else values


def index_put(c: Call) -> Any:
    from_shape = get_op("index").infer((c.ins[0], c.ins[1]), {"dims": c.attributes["dims"]}).shape
    wide = spread(padded(c, 2, len(from_shape)), (c.size, *from_shape))
    return put(c, c.full(0), wide, c.attributes["dims"], tuple(from_shape), c.attributes["accumulate"])


def put(c: Call, target: Any, values: Any, along: tuple[int, ...], shape: tuple[Any, ...], accumulate: bool) -> Any:
    """`index_put` of all examples."""
    rank = indexed_rank(c)
    laid = put_values(c, values, along, rank, shape)
    if c.has(1):
        indices, where = batch_indices(c, rank), (0, *(d + 1 for d in along))
    else:
        indices, where = c.operands[1], tuple(d + 1 for d in along)
    return run("index_put", target, indices, laid, dims=where, accumulate=accumulate)


def index_backward(c: Call) -> Any:
    target = run("zeros", size=(c.size, *c.attributes["size"]), dtype=c.ins[0].dtype)
    return put(c, target, c.full(0), c.attributes["dims"], c.shape(0), True)


def widened_index(c: Call, position: int, like: Any) -> Any:
    """A 1-d index of each example as the index of `gather` and `scatter` into tensors shaped as `like` (all examples)."""
    dim, shape = c.attributes["dim"] + 1, like._type.shape
    inner = c.full(position)
    n = product(c.shape(position))
    column = reshaped(inner, tuple(c.size if d == 0 else n if d == dim else 1 for d in range(len(shape))))
    return run("expand", column, size=(*shape[:dim], n, *shape[dim + 1 :]))


def index_select(c: Call) -> Any:
    if not c.has(1):
        return dims_keeping_index(c, 1) if c.rank() else c.raw(0).clone()
    if not c.rank():
        return run("clone", c.full(0))
    x = c.full(0)
    index = widened_index(c, 1, x)
    return run("gather", x, index, dim=c.attributes["dim"] + 1)


def dims_keeping_index(c: Call, position: int) -> Any:
    """Dimensions shifted; the index, which all examples share, stays as it is."""
    operands = [c.operands[i] if i == position else c.full(i) for i in range(len(c.operands))]
    return c.again(operands, dim=c.attributes["dim"] + 1)


def index_write(name: str) -> Any:
    """index_add, index_copy and index_fill through the scatter of the same kind where examples have indices of their own."""

    def rule(c: Call) -> Any:
        if not c.rank():
            return loop(c)
        if not c.has(1):
            return dims_keeping_index(c, 1)
        x = c.full(0)
        index, dim = widened_index(c, 1, x), c.attributes["dim"] + 1
        if name == "scatter_value":
            return run(name, x, index, dim=dim, value=c.attributes["value"])
        source = reshaped(c.full(2), tuple(index._type.shape))
        if c.attributes.get("alpha", 1) != 1:
            source = run("mul", source, c.attributes["alpha"])
        return run(name, x, index, source, dim=dim)

    return rule


def take(c: Call) -> Any:
    if not c.has(0):
        return run("take", c.operands[0], c.raw(1))
    n = product(c.shape())
    flat = reshaped(c.raw(0), (c.size, n))
    index = reshaped(c.full(1), (c.size, product(c.shape(1))))
    index = run("where", run("lt", index, 0), run("add", index, n), index)
    return c.finished(run("gather", flat, index, dim=1))


# ---- products of matrices -------------------------------------------------------------------------------------------------------------


def matmul(c: Call) -> Any:
    """Vectors become matrices of one row or column; then the batch stands in front of all."""
    na, nb = c.rank(0), c.rank(1)
    if (not c.has(1) and na == 1 and nb == 2) or (not c.has(1) and nb == 1 and na >= 2):
        return run("matmul", c.raw(0), c.operands[1])
    rank = max(na, nb, 2)
    a, b = c.raw(0), c.raw(1)
    if na == 1:
        a = run("unsqueeze", a, dim=a._type.ndim - 1)
    if nb == 1:
        b = run("unsqueeze", b, dim=b._type.ndim)
    a, b = (reshaped(t, (c.size, *(1,) * (rank + 1 - t._type.ndim), *t._type.shape[1:])) if c.has(i) else t for i, t in ((0, a), (1, b)))
    return c.finished(run("matmul", a, b))


def vector_product(c: Call) -> Any:
    """mv: many vectors through one matrix are one product."""
    if not c.has(0):
        return run("matmul", c.raw(1), run("transpose", c.operands[0], dim0=0, dim1=1))
    return matmul(c)


def dot(c: Call) -> Any:
    return run("sum", run("mul", c.raw(0), c.raw(1)), dim=(1,), dtype=c.out.dtype)


def add_product(c: Call) -> Any:
    """addmm and baddbmm: beta * input + alpha * (a @ b), where beta = 0 leaves the input out, NaN too."""
    beta, alpha = c.attributes["beta"], c.attributes["alpha"]
    result = run("matmul", c.operands[1], c.operands[2])
    if alpha != 1:
        result = run("mul", result, alpha)
    if beta != 0:
        base = c.operands[0]
        result = run("add", result, base if beta == 1 else run("mul", base, beta))
    return c.fill(result) if result._type.shape == c.out.shape else c.fill(run("expand", result, size=tuple(c.out.shape)))


def linear(c: Call) -> Any:
    """A weight that all examples share is one product; otherwise a product an example."""
    if not c.has(1) and not c.has(2):
        return run("linear", c.raw(0), c.operands[1], c.operands[2])
    if not c.has(1):
        result = run("linear", c.raw(0), c.operands[1], None)
    else:
        rows, n = product(c.shape()[:-1]), c.shape()[-1]
        x = c.raw(0)
        x = reshaped(x, (c.size, rows, n)) if c.has(0) else reshaped(x, (rows, n))
        result = run("matmul", x, run("transpose", c.raw(1), dim0=1, dim1=2))
        result = reshaped(result, (c.size, *c.out.shape))
    if c.operands[2] is not None:
        result = run("add", result, padded(c, 2, len(c.out.shape)))
    return spread(result, (c.size, *c.out.shape))


RULES.update({
    "detach": same, "alias": same, "view_dtype": same, "view": to_output_shape, "reshape_copy": to_output_shape, "expand": expand,
    "squeeze": squeeze, "permute": permute, "transpose": transpose, "t": matrix_transpose, "as_strided": as_strided,
    "view_chain": view_chain, "view_scatter": view_scatter, "clone": clone, "copy": copy, "new_zeros": new_filled,
    "cat": cat, "repeat": repeat, "roll": roll, "stack": dims, "diag_embed": dims, "flip": dims, "tril": leading, "triu": leading,
    "max": extreme("amax"), "min": extreme("amin"), "median": median, "nanmedian": median, "masked_fill_tensor": masked_fill_tensor,
    "sum_to_size": sum_to_size, "value_selecting_reduction_backward": selecting_backward, "unfold_backward": selecting_backward,
    "searchsorted": searchsorted, "count_nonzero": reduce,
    "index": index, "index_put": index_put, "index_backward": index_backward, "index_select": index_select,
    "index_add": index_write("scatter_add"), "index_copy": index_write("scatter"), "index_fill": index_write("scatter_value"),
    "take": take, "one_hot": same, "nonzero": refused, "masked_select": refused,
    "mm": matmul, "bmm": matmul, "matmul": matmul, "mv": vector_product, "dot": dot, "addmm": add_product, "baddbmm": add_product,
    "linear": linear, "constant_pad_nd": same, "divide_by_count": broadcast,
})  # fmt: skip
for _name in (
    "unsqueeze", "select", "select_backward", "slice", "slice_backward", "diagonal", "diagonal_backward", "unbind", "split",
    "split_with_sizes", "unfold", "gather", "scatter", "scatter_value", "scatter_add", "scatter_reduce", "cumsum",
    "cumprod", "shift", "linear_recurrence", "logcumsumexp", "cummax", "cummin", "sort", "argsort", "topk", "kthvalue", "median_dim",
    "nanmedian_dim", "mode", "max_dim", "min_dim", "softmax", "log_softmax", "softmax_backward", "log_softmax_backward", "glu",
):  # fmt: skip
    RULES[_name] = dims
for _name in ("zeros_like", "ones_like", "empty_like", "full_like", "to", "fill", "zero"):
    RULES[_name] = same
for _name in (
    "circular_pad", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d",
    "replication_pad3d", "pad_backward", "max_pool2d", "max_pool3d", "max_pool_backward", "max_pool_gather", "max_pool_indices",
    "avg_pool2d", "avg_pool3d", "avg_pool_backward", "adaptive_avg_pool_backward",
):  # fmt: skip
    RULES[_name] = fold()
for _name in ("adaptive_avg_pool2d", "adaptive_max_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool3d"):
    RULES[_name] = fold(int(_name[-2]))
