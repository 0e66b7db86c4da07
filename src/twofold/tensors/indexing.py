"""Indexing: `x[...]`, `x[...] = value`, and functions over the records of `ops.indexing` and `ops.lookup`.

Basic indices (integers, slices, None, ...) become views, tensors and lists of integers one `index` record, masks the positions where
they are True.
What an index of both kinds means is PyTorch's: the basic part is applied first, and of what is left the dimensions with tensors are
indexed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.mode import MODE, grad_enabled
from twofold.ir.op import Op, get_op
from twofold.ir.types import type_of
from twofold.ops.creation import number_as
from twofold.support.errors import ArgumentError, DeviceError, DTypeError, IndexOutOfRange, ShapeError, UnsupportedError, ValueRangeError
from twofold.tape.plan import Plan, table
from twofold.tensors.batched import BatchedTensor, refuse_size, top_level
from twofold.tensors.core import Symbol, Tensor, wrap, wrap_typed
from twofold.tensors.creation import array_of, literal
from twofold.tensors.dispatch import (
    active_recorder,
    dispatch,
    flat_edges,
    make_node,
    operand,
    type_of_operand,
    user_site,
    wants_grad,
)  # fmt: skip
from twofold.tensors.dispatch import (
    array_of as data_of,
)
from twofold.tensors.inplace import inplace
from twofold.tensors.shapes import reshape, select
from twofold.tensors.views import selected, view_of

_index, _index_put, _slice, _unsqueeze, _alias = (get_op(n) for n in ("index", "index_put", "slice", "unsqueeze", "alias"))
_to = get_op("to")
_select, _taken_plans = get_op("select"), table(_index)
ndarray = np.ndarray
WAYS_OUT = "use masked_fill, where or a multiplication by the mask, which keep the shape"

# ---- reading the index -----------------------------------------------------------------------------------------------------------


def refuse_index(item: Any) -> IndexOutOfRange:
    """The error for what cannot be an index."""
    return IndexOutOfRange(
        f"only integers, slices (:), ellipsis (...), None, and integer or bool tensors, arrays and lists are indices, not "
        f"{type(item).__name__} "
        f"({item!r:.40})"
    )


def parsed(item: Any) -> Any:
    """One part of an index in a plain form: int or symbolic dimension, bool, slice, None, Ellipsis, a Tensor, or an array (of a
    literal)."""
    kind = type(item)
    if kind is int or kind is slice or item is None or item is Ellipsis or kind is bool or hasattr(item, "is_symbolic_dim"):
        return item
    if isinstance(item, Tensor):
        check_kind(item._type.dtype)
        return item
    if isinstance(item, np.generic):
        if item.dtype.kind == "b":
            return bool(item)
        if item.dtype.kind in "iu":
            return int(item)
        raise refuse_index(item)
    if isinstance(item, (list, tuple, range)):
        if any(isinstance(v, slice) or v is None or v is Ellipsis for v in item):
            raise IndexOutOfRange(f"a list with slices, None or ... is no index ({item!r:.60}): use a tuple, x[a, b], not x[[a, b]]")
        array = array_of(item, None, "index") if len(item) else np.zeros(0, np.int64)
        if array.dtype.kind == "f" and not array.size:
            array = array.astype(np.int64)
    elif isinstance(item, np.ndarray):
        array = np.array(item)
    elif hasattr(item, "__index__"):
        return operator.index(item)
    else:
        raise refuse_index(item)
    check_kind(dtypes.from_numpy(array.dtype))
    return array if array.dtype.kind == "b" else array.astype(np.int64)


def check_kind(dtype: dtypes.DType) -> None:
    """Refuse index tensors that are neither integers nor bool; uint8 is ambiguous."""
    if dtype is dtypes.uint8:
        raise IndexOutOfRange(
            "a uint8 tensor is ambiguous as an index (a mask in PyTorch, positions in NumPy): convert it with .bool() or .long()"
        )
    if dtype.category == dtypes.FLOAT:
        raise IndexOutOfRange(f"tensors used as indices must hold integers or bool, not {dtype.name}")


def width(item: Any) -> int:
    """How many dimensions a parsed item uses up."""
    if item is None or item is Ellipsis or item is True or item is False:
        return 0
    if isinstance(item, Tensor):
        return item._type.ndim if item._type.dtype is dtypes.bool_ else 1
    return int(item.ndim) if type(item) is ndarray and item.dtype.kind == "b" else 1


def resolve(x: Tensor, index: Any, skip_full: bool = False) -> tuple[Tensor, list[tuple[int, Any]]]:
    """The view that the basic parts of an index give, and (dimension, tensor or array) for each of the others."""
    items = [parsed(i) for i in index] if type(index) is tuple else [parsed(index)]
    rank = x._type.ndim
    used = sum(width(i) for i in items)
    if used > rank:
        raise IndexOutOfRange(f"too many indices: {used} for a tensor of {rank} dimension(s), shape {tuple(x._type.shape)}")
    if sum(i is Ellipsis for i in items) > 1:
        raise IndexOutOfRange("an index can have only one ellipsis (...)")
    tensors: list[tuple[int, Any]] = []
    dim, view = 0, x
    for item in items:
        kind = type(item)
        if kind is slice:
            view = sliced(view, dim, item, skip_full or len(items) > 1)
            dim += 1
        elif item is Ellipsis:
            dim += rank - used
        elif item is None:
            view = view_of(_unsqueeze, view, {"dim": dim})
            dim += 1
        elif kind is bool:
            view = view_of(_unsqueeze, view, {"dim": dim})
            tensors.append((dim, np.array([item])))
            dim += 1
        elif kind is ndarray or isinstance(item, Tensor):
            view, dim = advanced_part(x, view, dim, item, tensors)
        else:
            view = select(view, dim, item)
    return view, tensors


def advanced_part(x: Tensor, view: Tensor, dim: int, item: Any, tensors: list[tuple[int, Any]]) -> tuple[Tensor, int]:
    """Enter a tensor (or literal array) into the advanced part; a concrete 0-d integer is a plain index."""
    ndim = item._type.ndim if isinstance(item, Tensor) else item.ndim
    mask = (item._type.dtype is dtypes.bool_) if isinstance(item, Tensor) else item.dtype.kind == "b"
    if ndim == 0 and mask:
        tensors.append((dim, reshape(item, (1,)) if isinstance(item, Tensor) else item.reshape(1)))
        return view_of(_unsqueeze, view, {"dim": dim}), dim + 1
    if (
        ndim == 0
        and not isinstance(item, (Symbol, BatchedTensor))
        and (type(item) is ndarray or active_recorder(_index, (x, (item,))) is None)
    ):
        if isinstance(item, Tensor) and item._array is None:
            raise DeviceError("an index on the meta device has no value")
        return select(view, dim, int(data_of(item))), dim
    tensors.append((dim, item))
    return view, dim + (ndim if mask else 1)


def sliced(view: Tensor, dim: int, item: slice, skip_full: bool) -> Tensor:
    """A slice of one dimension; among several parts one that takes everything is left out, as in PyTorch."""
    start, stop, step = (bound(v) for v in (item.start, item.stop, item.step))
    step = 1 if step is None else step
    if skip_full and step == 1 and (start is None or start == 0):
        n = view._type.shape[dim]
        if stop is None or stop == n or (type(n) is int and type(stop) is int and stop >= n):
            return view
    return view_of(_slice, view, {"dim": dim, "start": start, "end": stop, "step": step})


def bound(value: Any) -> Any:
    """A slice bound as an int, a symbolic dimension or None."""
    if value is None or type(value) is int or hasattr(value, "is_symbolic_dim"):
        return value
    if isinstance(value, float) or not hasattr(value, "__index__"):
        raise IndexOutOfRange(f"slice bounds must be integers or None, not {type(value).__name__} ({value!r:.40})")
    return operator.index(value)


def integer_indices(x: Tensor, view: Tensor, tensors: list[tuple[int, Any]]) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
    """Index tensors with the dimension of each: masks are replaced by the positions where they are True."""
    found: list[Tensor] = []
    dims: list[int] = []
    shape = view._type.shape
    for dim, item in tensors:
        mask = (item._type.dtype is dtypes.bool_) if isinstance(item, Tensor) else item.dtype.kind == "b"
        if not mask:
            found.append(item if isinstance(item, Tensor) else literal(item))
            dims.append(dim)
            continue
        own = item._type.shape if isinstance(item, Tensor) else item.shape
        check_mask(own, shape, dim)
        if isinstance(item, Tensor):
            if type(item) is BatchedTensor:
                refuse_size("indexing with a bool tensor")
            if active_recorder(_index, (x, (item,))) is not None:
                raise UnsupportedError(
                    "indexing with a bool tensor gives a size that depends on values, which a recorded graph cannot have yet; " + WAYS_OUT
                )
            if item._array is None:
                raise DeviceError("a mask on the meta device has no value")
            item = np.asarray(item._array)
        for k, positions in enumerate(item.nonzero()):
            found.append(literal(positions))
            dims.append(dim + k)
    return tuple(found), tuple(dims)


def check_mask(own: tuple[Any, ...], shape: tuple[Any, ...], dim: int) -> None:
    """A mask must have the sizes of the dimensions it stands for."""
    for k, n in enumerate(own):
        if n != shape[dim + k]:
            raise IndexOutOfRange(
                f"the mask of shape {own} does not fit the tensor of shape {shape}: its dimension {k} is {n}, not {shape[dim + k]}"
            )


def getitem(x: Tensor, index: Any) -> Tensor:
    """`x[index]`: a view for integers, slices, None and ellipsis; a copy where tensors, masks, arrays or lists are among them.

    Raises IndexOutOfRange (an IndexError) for indices outside the tensor, of the wrong kind, or too many; ValueRangeError for steps
    below 1.
    """
    kind = type(index)
    if kind is int:
        found = selected(_select, x, 0, index)
        if found is not None:
            return found
    elif kind is slice:
        if x._type.ndim:
            return sliced(x, 0, index, False)
    elif kind is Tensor and not MODE.special and type(x) is Tensor and index._type.ndim and index._type.dtype is dtypes.int64:
        found = taken(x, index)
        if found is not None:
            return found
    view, tensors = resolve(x, index)
    if not tensors:
        return view_of(_alias, x, {}) if view is x else view
    indices, dims = integer_indices(x, view, tensors)
    return dispatch(_index, (view, indices), {"dims": dims})


def taken(x: Tensor, index: Tensor) -> Tensor | None:
    """`x[index]` for concrete tensors and one index tensor; None where the generic path is needed."""
    if x._array is None or index._array is None:
        return None
    key = (x._type, index._type)
    plan = _taken_plans.get(key)
    if plan is None:
        if not x._type.ndim:
            return None
        plan = _taken_plans.make(key, (x._type, (index._type,)), {"dims": (0,)})
    o = Tensor()
    indices = (index._array,)
    o._array = plan.kernel(x._array, indices)
    o._type = plan.out
    o._node = None
    if x._node is not None and plan.tracks and grad_enabled():
        o._node = make_node(_index, plan, (x._node, index._node), (x._array, indices), o._array, user_site())
    return o


# ---- writing -------------------------------------------------------------------------------------------------------------------


def fitted(value: Tensor, shape: tuple[Any, ...]) -> Tensor:
    """The value without the leading dimensions of size 1 that the target does not have."""
    own = value._type.shape
    extra = len(own) - len(shape)
    if extra > 0 and all(n == 1 for n in own[:extra]):
        return reshape(value, own[extra:])
    return value


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """`x[index] = value`: writes a number, tensor or array (broadcast, converted to x's dtype) into the elements that `x[index]` shows."""
    if isinstance(value, np.ndarray):
        value = literal(np.array(value))
    elif isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, Tensor)):
        raise ArgumentError(
            f"a number, tensor or array can be assigned to elements of a tensor, not {type(value).__name__}; make a tensor of it first"
        )
    view, tensors = resolve(x, index, True)
    if not tensors:
        if isinstance(value, Tensor):
            inplace("copy", view, fitted(value, view._type.shape))
        else:
            inplace("fill", view, value=value)
        return
    only: Any = tensors[0][1] if len(tensors) == 1 else None
    fixed = isinstance(only, Tensor) and only._type.dtype is dtypes.bool_
    if fixed and (type(only) is BatchedTensor or active_recorder(_index, (x, (only,))) is not None):
        write_masked(view, tensors[0][0], only, value)
        return
    indices, dims = integer_indices(x, view, tensors)
    write_at(view, indices, value, dims)


def write_at(view: Tensor, indices: tuple[Tensor, ...], value: Any, dims: tuple[int, ...], accumulate: bool = False) -> None:
    """`index_put_` with a value of any kind."""
    kind = view._type.dtype
    if not isinstance(value, Tensor):
        value = literal(np.array(number_as("index_put", value, kind), kind.numpy))
    elif value._type.dtype is not kind:
        value = dispatch(_to, (value,), {"dtype": kind})
    if value._type.ndim > view._type.ndim - len(dims):
        rank = view._type.ndim - len(dims) + max(t._type.ndim for t in indices)
        value = fitted(value, (0,) * rank)
    if isinstance(value._array, ndarray) and isinstance(view._array, ndarray) and np.may_share_memory(value._array, view._array):
        value = dispatch(get_op("clone"), (value,), {})  # NumPy's a[positions] = b reads b while it writes
    inplace("index_put", view, indices, value, dims=dims, accumulate=accumulate)


def write_masked(view: Tensor, dim: int, mask: Tensor, value: Any) -> None:
    """`view[…mask…] = number` in a recorded graph: the shape does not depend on the mask."""
    check_mask(mask._type.shape, view._type.shape, dim)
    if isinstance(value, Tensor) and value._type.ndim:
        raise UnsupportedError(
            "assigning a tensor to the elements a mask selects depends on values, which a recorded graph cannot do yet; " + WAYS_OUT
        )
    trailing = view._type.ndim - dim - mask._type.ndim
    wide = reshape(mask, (*mask._type.shape, *(1,) * trailing)) if trailing else mask
    if isinstance(value, Tensor) and value._type.dtype is not view._type.dtype:
        value = dispatch(_to, (value,), {"dtype": view._type.dtype})
    if isinstance(value, Tensor):
        inplace("masked_fill_tensor", view, wide, value)
    else:
        inplace("masked_fill", view, wide, value=value)


# ---- results whose size depends on values ----------------------------------------------------------------------------------------


def sized_by_values(op: Op, inputs: tuple[Any, ...], ways_out: str = WAYS_OUT) -> Tensor:
    """Run a record whose output size is known only from values (eagerly; a recorded graph cannot hold it yet)."""
    if top_level(inputs):
        refuse_size(op.name)
    if active_recorder(op, inputs) is not None:
        raise UnsupportedError(f"{op.name}: the size of the result depends on values, which a recorded graph cannot have yet; {ways_out}")
    operands = tuple(operand(op, p, x) for p, x in zip(op.inputs, inputs, strict=True))
    ins = tuple(map(type_of_operand, operands))
    op.infer(ins, {})
    arrays = tuple(map(data_of, operands))
    if any(a is None for a in arrays):
        raise DeviceError(f"{op.name}: the size of the result depends on values, which a tensor on the meta device does not have")
    result = op.reference(*arrays)
    out = type_of(result)
    plan = Plan(op, ins, out, {}, op.reference)
    edges = flat_edges(operands)
    node = make_node(op, plan, edges, arrays, result, user_site()) if wants_grad(plan, edges) else None
    return wrap_typed(result, out, node)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of the elements that are not zero: one a row (n x dimensions, int64), or with `as_tuple` one tensor for each
    dimension."""
    found = sized_by_values(get_op("nonzero"), (input,), "work with the mask itself: input != 0")
    if not as_tuple:
        return found
    if not input._type.ndim:
        return (wrap(np.zeros(len(found._array), np.int64)),)  # a 0-d tensor counts as one of a single element
    return tuple(wrap(np.ascontiguousarray(found._array[:, k])) for k in range(input._type.ndim))


def argwhere(input: Tensor) -> Tensor:
    """`nonzero` under NumPy's name."""
    return nonzero(input)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a bool mask (broadcast with the tensor) is True, as a 1-d tensor."""
    return sized_by_values(get_op("masked_select"), (input, mask))


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """For each index a vector of zeros with a 1 at the index (int64), as a new last dimension. num_classes: -1 for the greatest index
    plus 1,
    which needs concrete values."""
    if num_classes == -1:
        if active_recorder(get_op("one_hot"), (input,)) is not None:
            raise UnsupportedError(
                "one_hot: without num_classes the size depends on values, which a recorded graph cannot have yet; give num_classes"
            )
        array = np.asarray(input._array)
        if not array.size:
            raise ValueRangeError("one_hot: num_classes is needed for an empty tensor")
        num_classes = int(array.max()) + 1
    return dispatch(get_op("one_hot"), (input,), {"num_classes": num_classes})


# ---- index_put, fill, copy -------------------------------------------------------------------------------------------------------


def index_put(input: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Tensor:
    """A copy with `values` written (or added, with `accumulate`) at the elements that `input[tuple(indices)]` shows."""
    view, positions, dims = _put_parts(input, indices)
    value = (
        values
        if isinstance(values, Tensor)
        else literal(np.array(number_as("index_put", values, input._type.dtype), input._type.dtype.numpy))
    )
    return dispatch(_index_put, (view, positions, value), {"dims": dims, "accumulate": accumulate})


def index_put_(input: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Tensor:
    """`index_put` in place."""
    view, positions, dims = _put_parts(input, indices)
    if isinstance(values, Tensor) and values._type.dtype is not input._type.dtype:
        raise DTypeError(
            f"index_put_: values of {values._type.dtype.name} for a tensor of {input._type.dtype.name}; convert them with .to(dtype)"
        )
    write_at(view, positions, values, dims, accumulate)
    return input


def _put_parts(input: Tensor, indices: Sequence[Any]) -> tuple[Tensor, tuple[Tensor, ...], tuple[int, ...]]:
    """The indices of `index_put`: a tuple of tensors, None for a whole dimension."""
    parts = [parsed(slice(None) if i is None else i) for i in indices]
    if not any(isinstance(p, (Tensor, ndarray)) for p in parts):
        raise ArgumentError("index_put(): indices must be a tuple of tensors (None for a whole dimension)")
    tensors: list[tuple[int, Any]] = []
    dim = 0
    for p in parts:
        if not isinstance(p, (Tensor, ndarray, slice)):
            raise ArgumentError("index_put(): indices must be tensors or None")
        if not isinstance(p, slice):
            tensors.append((dim, p))
        dim += width(p)
    if dim > input._type.ndim:
        raise IndexOutOfRange(f"too many indices: {dim} for a tensor of {input._type.ndim} dimension(s), shape {tuple(input._type.shape)}")
    positions, dims = integer_indices(input, input, tensors)
    return input, positions, dims


def fill_(input: Tensor, value: Any) -> Tensor:
    """Every element becomes `value`, a number or a 0-d tensor (whose gradient then is the sum)."""
    if isinstance(value, Tensor):
        if value._type.ndim:
            raise ShapeError(f"fill_: the value must be a number or a 0-d tensor, not of shape {tuple(value._type.shape)}")
        return inplace("copy", input, value)
    return inplace("fill", input, value=value.item() if isinstance(value, np.generic) else value)


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """The elements of `src`, broadcast and converted, written into this tensor."""
    return inplace("copy", self, src if isinstance(src, Tensor) else literal(array_of(src, None, "copy_")))


def functional_embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """`torch.nn.functional.embedding`: the rows of `weight` at the positions in `input`. `max_norm`: rows used are first scaled down
    in place to that
    norm. Sparse gradients do not exist here."""
    if sparse:
        raise UnsupportedError("embedding(sparse=True): sparse gradients are not supported; leave it out, gradients are dense")
    n = weight._type.shape[0] if weight._type.ndim else 0
    if padding_idx is not None:
        if type(n) is int and not -n <= padding_idx < n:
            raise IndexOutOfRange(f"embedding: padding_idx {padding_idx} is out of range for {n} rows")
        padding_idx = padding_idx + n if padding_idx < 0 else padding_idx
    if max_norm is not None:
        renormalise(weight, input, max_norm, norm_type)
    attributes = {"padding_idx": -1 if padding_idx is None else padding_idx, "scale_grad_by_freq": scale_grad_by_freq}
    return dispatch(get_op("embedding"), (weight, input), attributes)


def renormalise(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows that `indices` use down to `max_norm`, in place and without gradient."""
    if active_recorder(get_op("embedding"), (weight, indices)) is not None:
        raise UnsupportedError("embedding(max_norm=…) writes the rows that values choose, which a recorded graph cannot do yet")
    rows = np.unique(np.asarray(indices._array))
    held = weight.detach()
    used = held._array[rows].astype(np.float64)
    norms = np.linalg.norm(used, norm_type, axis=1)
    large = norms > max_norm
    if large.any():
        scaled = used[large] * (max_norm / (norms[large, None] + 1e-7))
        write_at(held, (wrap(rows[large]),), wrap(scaled.astype(held._array.dtype)), (0,))


FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (getitem, setitem, nonzero, argwhere, masked_select, one_hot, index_put)}
FUNCTIONAL: dict[str, Callable[..., Any]] = {"embedding": functional_embedding, "one_hot": one_hot}
"""What `nn.functional` has under these names."""
INPLACE: dict[str, Callable[..., Any]] = {f.__name__: f for f in (index_put_, fill_, copy_)}
METHODS: dict[str, Any] = {"index_put": index_put}
