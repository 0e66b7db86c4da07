"""Rules of shapes: views and copies of views, parts, joins, tensors of equal elements, reductions over one element.

A graph is logical: its values have no memory, so a copy (`clone`, `reshape_copy`) and a view of the same elements are one thing, and
`alias` and `detach` are their operand. (Gradients are nodes of the graph by now; `detach` has done its work.)
"""

from __future__ import annotations

from typing import Any

from twofold.compiler.canonical_values import (
    call,
    full,
    is_float,
    made_by,
    number_of,
    replaces,
    result,
    settled,
    type_of_value,
)
from twofold.ir.dtypes import BOOL, FLOAT
from twofold.ir.graph import Node
from twofold.ir.rewrite import Rewriter, Rules

SHAPES = Rules()
rule = SHAPES.rule

RESHAPES = ("view", "reshape_copy", "squeeze", "unsqueeze")
"""Operations that keep the elements in their (row-major) order."""
VIEWS = (*RESHAPES, "permute", "transpose", "t", "expand", "slice", "select", "alias", "detach", "clone")
"""Operations whose elements are elements of their operand, each possibly none or several times."""

# ---- copies and reshapes ---------------------------------------------------------------------------------------------------------------


@rule("clone", "alias", "detach")
def same_elements(node: Node, rewriter: Rewriter) -> Any:
    """A copy is its operand: values of a graph are never written."""
    return node.inputs[0]


@rule("view", "reshape_copy", "squeeze", "expand", "sum_to_size")
def shape_as_before(node: Node, rewriter: Rewriter) -> Any:
    """A view, expansion or sum to the shape that the tensor has."""
    return node.inputs[0] if replaces(node.inputs[0], node) else None


@rule(*RESHAPES)
def reshape_of_reshape(node: Node, rewriter: Rewriter) -> Any:
    """Two reshapes are one: `view` to the last shape, or nothing where that is the first."""
    inner = made_by(node.inputs[0], *RESHAPES)
    if inner is None:
        return None
    x = inner.inputs[0]
    if replaces(x, node):
        return x
    return call(rewriter, "view", x, size=result(node).shape) if settled(result(node)) else None


@rule("reshape_copy")
def reshape_without_copy(node: Node, rewriter: Rewriter) -> Any:
    """One form of reshapes."""
    return call(rewriter, "view", node.inputs[0], size=node.attributes["size"])


@rule("view", "expand")
def size_spelled_out(node: Node, rewriter: Rewriter) -> Any:
    """A size of -1 becomes the size it stands for, so that equal views are seen to be equal."""
    shape = result(node).shape
    if -1 not in [n for n in node.attributes["size"] if type(n) is int] or not settled(result(node)):
        return None
    rewriter.set_attributes(node, size=shape)
    return True


# ---- order of dimensions -----------------------------------------------------------------------------------------------------------------


@rule("t")
def matrix_transpose(node: Node, rewriter: Rewriter) -> Any:
    """t(x) is permute(x, (1, 0)), or x where it has fewer than two dimensions: one form of transposes."""
    return call(rewriter, "permute", node.inputs[0], dims=(1, 0)) if result(node).ndim == 2 else node.inputs[0]


@rule("transpose")
def transpose_as_permute(node: Node, rewriter: Rewriter) -> Any:
    """Exchanging two dimensions is a permutation."""
    n = result(node).ndim
    if n == 0:
        return node.inputs[0]
    dims = list(range(n))
    i, j = node.attributes["dim0"], node.attributes["dim1"]
    dims[i], dims[j] = dims[j], dims[i]
    return call(rewriter, "permute", node.inputs[0], dims=tuple(dims))


@rule("permute")
def order_as_before(node: Node, rewriter: Rewriter) -> Any:
    """A permutation that moves no dimension."""
    dims = node.attributes["dims"]
    return node.inputs[0] if dims == tuple(range(len(dims))) else None


@rule("permute")
def permute_of_permute(node: Node, rewriter: Rewriter) -> Any:
    """Two permutations are one; dimension k of the result is dimension inner[outer[k]] of the first operand."""
    inner = made_by(node.inputs[0], "permute")
    if inner is None:
        return None
    first = inner.attributes["dims"]
    return call(rewriter, "permute", inner.inputs[0], dims=tuple(first[d] for d in node.attributes["dims"]))


# ---- repetition and parts --------------------------------------------------------------


@rule("expand")
def expand_of_expand(node: Node, rewriter: Rewriter) -> Any:
    """Two expansions are one, to the last shape."""
    inner = made_by(node.inputs[0], "expand")
    return call(rewriter, "expand", inner.inputs[0], size=result(node).shape) if inner is not None and settled(result(node)) else None


@rule("slice")
def whole_slice(node: Node, rewriter: Rewriter) -> Any:
    """A slice that takes every element of a dimension of known size, or by its bounds of any size."""
    dim, step = node.attributes["dim"], node.attributes["step"]
    unbounded = node.attributes["start"] in (None, 0) and node.attributes["end"] is None
    if step != 1 or not replaces(node.inputs[0], node):
        return None
    return node.inputs[0] if unbounded or type(result(node).shape[dim]) is int else None


def bounds(node: Node) -> range | None:
    """The positions that a slice of a dimension of known size takes; None where size or bounds are symbolic."""
    a = node.attributes
    n = type_of_value(node.inputs[0]).shape[a["dim"]]
    known = type(n) is int and all(type(b) in (int, type(None)) for b in (a["start"], a["end"]))
    return range(n)[slice(a["start"], a["end"], a["step"])] if known else None


@rule("slice")
def slice_spelled_out(node: Node, rewriter: Rewriter) -> Any:
    """Bounds are counted from the front and cut to the dimension, so that equal slices are seen to be equal."""
    taken = bounds(node)
    if taken is None or (node.attributes["start"], node.attributes["end"]) == (taken.start, taken.stop):
        return None
    rewriter.set_attributes(node, start=taken.start, end=taken.stop)
    return True


@rule("slice")
def slice_of_slice(node: Node, rewriter: Rewriter) -> Any:
    """Two slices of one dimension are one: a range of a range is a range."""
    inner = made_by(node.inputs[0], "slice")
    if inner is None or inner.attributes["dim"] != node.attributes["dim"]:
        return None
    first, second = bounds(inner), bounds(node)
    if first is None or second is None:
        return None
    taken = first[second.start : second.stop : second.step]
    return call(
        rewriter, "slice", inner.inputs[0], dim=node.attributes["dim"], start=taken.start, end=max(taken.start, taken.stop), step=taken.step
    )


@rule("select")
def index_from_the_front(node: Node, rewriter: Rewriter) -> Any:
    """A negative index is counted from the front where the size is known."""
    index, n = node.attributes["index"], type_of_value(node.inputs[0]).shape[node.attributes["dim"]]
    if type(index) is not int or type(n) is not int or index >= 0:
        return None
    rewriter.set_attributes(node, index=index + n)
    return True


@rule("select")
def select_of_slice(node: Node, rewriter: Rewriter) -> Any:
    """One position of a slice of the same dimension is a position of the tensor."""
    inner = made_by(node.inputs[0], "slice")
    dim, index = node.attributes["dim"], node.attributes["index"]
    if inner is None or inner.attributes["dim"] != dim or type(index) is not int or index < 0:
        return None
    taken = bounds(inner)
    return None if taken is None else call(rewriter, "select", inner.inputs[0], dim=dim, index=taken[index])


@rule("cat")
def join_of_one(node: Node, rewriter: Rewriter) -> Any:
    """A tensor joined with nothing."""
    (tensors,) = node.inputs
    return tensors[0] if len(tensors) == 1 and replaces(tensors[0], node) else None


@rule("stack")
def stack_of_one(node: Node, rewriter: Rewriter) -> Any:
    """One tensor stacked has a dimension of size 1 more."""
    (tensors,) = node.inputs
    return call(rewriter, "unsqueeze", tensors[0], dim=node.attributes["dim"]) if len(tensors) == 1 else None


@rule("repeat", "constant_pad_nd", "roll", "flip")
def rearranged_by_nothing(node: Node, rewriter: Rewriter) -> Any:
    """Repeated once, padded by nothing, rolled by 0 places, flipped along no dimension or along dimensions of size 1."""
    a, x = node.attributes, node.inputs[0]
    shape = result(node).shape
    name = node.op.name
    if name == "repeat":
        nothing = all(n == 1 for n in a["repeats"])
    elif name == "flip":
        nothing = all(type(shape[d]) is int and shape[d] == 1 for d in a["dims"])
    else:
        nothing = not any(a["pad" if name == "constant_pad_nd" else "shifts"])
    return x if replaces(x, node) and nothing else None


# ---- tensors of equal elements ---------------------------------------------------------------------------------------------------------


@rule("zeros", "ones", "zeros_like", "ones_like", "full_like", "new_zeros", "zero", "fill")
def filled_by_shape(node: Node, rewriter: Rewriter) -> Any:
    """One form, `full`, which needs the shape of another tensor but not the tensor.

    Left alone where the shape has a data-dependent size, or the number does not fit the dtype (it fails when the graph runs).
    """
    name, t = node.op.name, result(node)
    number = node.attributes["fill_value"] if name == "full_like" else node.attributes["value"] if name == "fill" else "ones" in name
    if type(number) is bool and name not in ("full_like", "fill"):
        number = float(number) if t.dtype.category == FLOAT else number if t.dtype.category == BOOL else int(number)
    return full(rewriter, t, number)


@rule(*VIEWS)
def view_of_equal_elements(node: Node, rewriter: Rewriter) -> Any:
    """Every view of a tensor made by `full` is such a tensor."""
    inner = made_by(node.inputs[0], "full")
    number = None if inner is None else number_of(node.inputs[0])
    return None if number is None else full(rewriter, result(node), number)


# ---- reductions over one element ------------------------------------------------------


def reduced_to_one(node: Node) -> bool:
    """Has every dimension that the reduction takes away (or keeps) size 1?"""
    shape, dim = type_of_value(node.inputs[0]).shape, node.attributes["dim"]
    axes = range(len(shape)) if dim is None or dim == () else (dim,) if type(dim) is int else dim
    return all(type(shape[d]) is int and shape[d] == 1 for d in axes if d < len(shape)) and settled(result(node))


@rule("amax", "amin", "prod")
def extreme_over_one(node: Node, rewriter: Rewriter) -> Any:
    """The extreme or the product of one element is the element."""
    x = node.inputs[0]
    if not reduced_to_one(node) or type_of_value(x).dtype is not result(node).dtype:
        return None
    return call(rewriter, "view", x, size=result(node).shape)


@rule("sum", "mean")
def sum_over_one(node: Node, rewriter: Rewriter) -> Any:
    """The sum of one element x is x for integers, and 0.0 + x for floats: a sum begins with 0.0. So is the mean."""
    x = node.inputs[0]
    if not reduced_to_one(node) or type_of_value(x).dtype is not result(node).dtype:
        return None
    shown = call(rewriter, "view", x, size=result(node).shape)
    return call(rewriter, "add", shown, 0.0) if is_float(node) else shown
