"""Shape functions over the records of views: those that choose between records, and PyTorch's other spellings."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from twofold.ir.dtypes import BY_NAME, FLOAT, INTEGER, DType
from twofold.ir.op import get_op, wrap_dim
from twofold.ops.slicing import check_index, part_sizes
from twofold.ops.typing import broadcast_shapes as broadcast
from twofold.ops.views import resolve_sizes
from twofold.support.errors import ArgumentError, DimensionError, DTypeError, InplaceError, ShapeError, ValueRangeError
from twofold.tensors.alias import alias_of, keep_layout, rehome
from twofold.tensors.batched import BatchedTensor, batched
from twofold.tensors.core import Size, Symbol, Tensor, memory, wrap_typed
from twofold.tensors.dispatch import NODE_CLASSES, active_recorder, dispatch
from twofold.tensors.views import selected, view_of

_view, _copy, _expand, _permute, _transpose = (get_op(n) for n in ("view", "reshape_copy", "expand", "permute", "transpose"))
_clone, _detach, _alias, _view_dtype, _slice = (get_op(n) for n in ("clone", "detach", "alias", "view_dtype", "slice"))
_unsqueeze, _squeeze, _select = (get_op(n) for n in ("unsqueeze", "squeeze", "select"))
_split, _split_with_sizes, _as_strided, _diagonal = (get_op(n) for n in ("split", "split_with_sizes", "as_strided", "diagonal"))


def is_size(value: Any) -> bool:
    """True for one dimension's size: an int, a symbolic dimension, or what can stand for an int (not a tuple, not a float)."""
    return isinstance(value, int) or hasattr(value, "is_symbolic_dim") or (hasattr(value, "__index__") and not hasattr(value, "__len__"))


def sizes(name: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The sizes of a call that takes them one by one or as one sequence."""
    if len(given) == 1 and not is_size(given[0]):
        if not isinstance(given[0], Sequence):
            raise ArgumentError(f"{name}(): sizes must be integers or one tuple of them, not {type(given[0]).__name__}")
        given = tuple(given[0])
    for n in given:
        if not is_size(n) and not isinstance(n, Tensor):
            raise ArgumentError(f"{name}(): sizes must be integers, not {type(n).__name__} ({n!r:.40})")
    return tuple(n if hasattr(n, "is_symbolic_dim") else operator.index(n) for n in given)


# ---- the same elements in another shape ----------------------------------------------------------------------------------------


def reshape(input: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The same elements in another shape; one size may be -1. A view where the memory layout allows one, otherwise a copy."""
    size = sizes("reshape", (named["shape"],) if "shape" in named else shape)
    resolved = resolve_sizes("reshape", input._type.shape, size)
    if isinstance(input, Symbol):
        return input._recorder.reshape(input, resolved)
    try:
        return view_of(_view, input, {"size": resolved})
    except InplaceError:
        return dispatch(_copy, (input,), {"size": resolved})


def view(self: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The same memory under another shape (raises InplaceError where strides do not allow it), or, given a dtype of the same size,
    read as that."""
    given = named.get("size", named.get("dtype", shape[0] if len(shape) == 1 else shape))
    if isinstance(given, (DType, str)) or given in (bool, int, float):
        dtype = BY_NAME[given] if isinstance(given, str) and given in BY_NAME else given
        out = dispatch(_view_dtype, (self,), {"dtype": dtype})
        return out if isinstance(out, Symbol) else wrap_typed(out._array, out._type)  # another family: gradients cannot pass
    return view_of(_view, self, {"size": sizes("view", given if isinstance(given, tuple) else (given,))})


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of another tensor."""
    return view(self, other._type.shape)


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of another tensor."""
    return reshape(self, other._type.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions start_dim to end_dim joined into one; a view where the memory layout allows one."""
    shape = input._type.shape
    if not shape:
        return reshape(input, (1,))
    first, last = wrap_dim(start_dim, len(shape), "flatten"), wrap_dim(end_dim, len(shape), "flatten")
    if first > last:
        raise DimensionError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim} in a tensor of {len(shape)} dimensions")
    if first == last:
        return input
    joined: Any = 1
    for n in shape[first : last + 1]:
        joined = joined * n
    return reshape(input, (*shape[:first], joined, *shape[last + 1 :]))


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """A view with one dimension taken apart into several; one of `sizes` may be -1."""
    shape = input._type.shape
    d = wrap_dim(dim, len(shape), "unflatten")
    parts = resolve_sizes("unflatten", (shape[d],), tuple(sizes))
    return view_of(_view, input, {"size": (*shape[:d], *parts, *shape[d + 1 :])})


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension; a view where the memory layout allows one."""
    return reshape(input, (-1,) if input._type.numel != 0 else (0,))


def expand(self: Tensor, *sizes_: Any, **named: Any) -> Tensor:
    """A view in which dimensions of size 1 (and new leading ones) are repeated without copying; -1 keeps a size."""
    return view_of(_expand, self, {"size": sizes("expand", (named["size"],) if "size" in named else sizes_)})


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`expand` to the shape of another tensor."""
    return view_of(_expand, self, {"size": other._type.shape})


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """`expand` under NumPy's name."""
    return view_of(_expand, input, {"size": tuple(size)})


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to; raises ShapeError where they do not."""
    return Size(broadcast("broadcast_shapes", *((s,) if isinstance(s, int) else tuple(s) for s in shapes)))


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors expanded to their common shape (views)."""
    given = several_tensors(tensors)
    shape = broadcast("broadcast_tensors", *(t._type.shape for t in given))
    return tuple(t if t._type.shape == shape else view_of(_expand, t, {"size": shape}) for t in given)


def several_tensors(tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Tensors given one by one or as one list."""
    return tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinate grids of 1-d (or 0-d) tensors, views. indexing: "ij" (the first varies along dimension 0) or "xy" (along dimension 1)."""
    given = several_tensors(tensors)
    if indexing not in ("ij", "xy"):
        raise ValueRangeError(f"meshgrid: indexing must be 'ij' or 'xy', not {indexing!r}")
    for i, t in enumerate(given):
        if t._type.ndim > 1:
            raise ShapeError(f"meshgrid: tensor {i} has shape {tuple(t._type.shape)}; tensors of at most 1 dimension are needed")
    swap = indexing == "xy" and len(given) > 1
    order = (given[1], given[0], *given[2:]) if swap else given
    shape = tuple(t._type.shape[0] if t._type.ndim else 1 for t in order)
    grids = [expand(view(t, tuple(-1 if i == k else 1 for k in range(len(order)))), shape) for i, t in enumerate(order)]
    if swap:
        grids[:2] = reversed(grids[:2])
    return tuple(grids)


# ---- order of dimensions ---------------------------------------------------------------------------------------------------------


def permute(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """A view with the dimensions in the given order."""
    return view_of(_permute, input, {"dims": sizes("permute", (named["dims"],) if "dims" in named else dims)})


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with two dimensions exchanged."""
    return view_of(_transpose, input, {"dim0": dim0, "dim1": dim1})


def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """A view with the dimensions `source` at the places `destination`, the others in their order."""
    rank = input._type.ndim
    sources, places = (tuple(wrap_dim(d, rank, "movedim") for d in ((v,) if isinstance(v, int) else v)) for v in (source, destination))
    if len(sources) != len(places) or len(set(sources)) != len(sources) or len(set(places)) != len(places):
        raise DimensionError(f"movedim: source {source} and destination {destination} must name as many dimensions, each once")
    rest = iter([d for d in range(rank) if d not in sources])
    target = dict(zip(places, sources, strict=True))
    return view_of(_permute, input, {"dims": tuple(target[d] if d in target else next(rest) for d in range(rank))})


def reversed_dims(self: Tensor) -> Tensor:
    """A view with the dimensions in reverse order."""
    return view_of(_permute, self, {"dims": tuple(reversed(range(self._type.ndim)))})


def matrix_transpose(self: Tensor) -> Tensor:
    """A view with the last two dimensions exchanged."""
    if self._type.ndim < 2:
        raise ShapeError(f"mT: a tensor of at least 2 dimensions is needed, not one of shape {tuple(self._type.shape)}")
    return view_of(_transpose, self, {"dim0": -2, "dim1": -1})


def hermitian(self: Tensor) -> Tensor:
    """The transposed matrix (there are no complex numbers)."""
    if self._type.ndim not in (0, 2):
        raise ShapeError(f"H: a matrix is needed, not a tensor of shape {tuple(self._type.shape)}; use mT")
    return view_of(_transpose, self, {"dim0": 0, "dim1": -1})


def transposed(input: Tensor) -> Tensor:
    """The transposed matrix, a view (a tensor of fewer than 2 dimensions as it is)."""
    return view_of(get_op("t"), input, {})


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a dimension of size 1 put in at `dim`."""
    return view_of(_unsqueeze, input, {"dim": dim})


def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A view without the dimensions of size 1 (all, or those of `dim` that are 1)."""
    return view_of(_squeeze, input, {"dim": tuple(dim) if isinstance(dim, list) else dim})


# ---- parts -----------------------------------------------------------------------------------------------------------------------


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The view at one index of a dimension, which is left out; a negative index counts from the end. Raises IndexOutOfRange."""
    found = selected(_select, input, dim, index) if type(index) is int and type(dim) is int and dim >= 0 else None
    return dispatch(_select, (input,), {"dim": dim, "index": index}) if found is None else found


def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """The view of `length` elements of a dimension from `start` on."""
    shape = input._type.shape
    if not shape:
        raise DimensionError("narrow: a 0-d tensor has no dimension to narrow")
    d = wrap_dim(dim, len(shape), "narrow")
    if isinstance(start, Tensor) and (start._type.ndim or start._type.dtype.category != INTEGER):
        raise DTypeError(f"narrow: start must be an int or a 0-d integer tensor, not {start._type}")
    begin = start if hasattr(start, "is_symbolic_dim") else operator.index(start)
    n = shape[d]
    if type(n) is int and type(begin) is int:
        if begin != n:
            check_index("narrow", begin, n, d, shape)
        begin = begin + n if begin < 0 else begin
        if type(length) is int and not 0 <= length <= n - begin:
            raise ValueRangeError(f"narrow: {length} elements from {begin} on do not lie in dimension {d} of size {n}")
    return view_of(_slice, input, {"dim": d, "start": begin, "end": begin + length, "step": 1})


def split(input: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of equal size along a dimension (the last may be smaller), or of the sizes in a list."""
    if is_size(split_size_or_sections):
        return dispatch(_split, (input,), {"split_size": split_size_or_sections, "dim": dim})
    return dispatch(_split_with_sizes, (input,), {"split_sizes": tuple(split_size_or_sections), "dim": dim})


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of equal size along a dimension; the last may be smaller."""
    if chunks < 1:
        raise ValueRangeError(f"chunk: the number of chunks must be positive, not {chunks}")
    if not input._type.shape:
        raise DimensionError("chunk: a 0-d tensor has no dimension to split")
    d = wrap_dim(dim, input._type.ndim, "chunk")
    n = operator.index(input._type.shape[d])
    if n == 0:
        return split(input, (0,) * chunks, d)
    return split(input, part_sizes(n, -(-n // chunks))[0], d)


def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of nearly equal sizes along a dimension, or cut at the given indices."""
    if not input._type.shape:
        raise DimensionError("tensor_split: a 0-d tensor has no dimension to split")
    d = wrap_dim(dim, input._type.ndim, "tensor_split")
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections.tolist()
    if is_size(indices_or_sections):
        count = operator.index(indices_or_sections)
        if count < 1:
            raise ValueRangeError(f"tensor_split: the number of sections must be positive, not {count}")
        n = operator.index(input._type.shape[d])
        bounds: list[Any] = [i * (n // count) + min(i, n % count) for i in range(count + 1)]
    else:
        bounds = [0, *indices_or_sections, None]
    return tuple(view_of(_slice, input, {"dim": d, "start": a, "end": b}) for a, b in pairwise(bounds))


def _split_at(name: str, least: int, dim: Callable[[int], int]) -> Callable[..., tuple[Tensor, ...]]:
    def function(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        rank = input._type.ndim
        if rank < least:
            raise DimensionError(
                f"{name}: a tensor of at least {least} dimension(s) is needed, not one of shape {tuple(input._type.shape)}"
            )
        d = dim(rank)
        n = input._type.shape[d]
        if is_size(indices_or_sections) and type(n) is int and (indices_or_sections < 1 or n % indices_or_sections):
            raise ValueRangeError(f"{name}: dimension {d} of size {n} does not split into {indices_or_sections} equal parts")
        return tensor_split(input, indices_or_sections, d)

    function.__name__ = name
    function.__doc__ = "`tensor_split` along a fixed dimension; a number of sections must divide its size."
    return function


def as_strided(input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """A view with the given sizes and strides (in elements) of a contiguous tensor's memory. `storage_offset` counts from its first element
    (in PyTorch from the storage's: the two agree unless the tensor is itself a view that begins later, which is refused here)."""
    if storage_offset is not None and input._array is not None and input.storage_offset():
        raise ArgumentError(
            "as_strided: storage_offset is ambiguous for a view that does not begin at its base's first element; clone() it first"
        )
    attributes = {"size": tuple(size), "stride": tuple(stride), "storage_offset": storage_offset}
    return view_of(_as_strided, input, attributes)


def diagonal_of(input: Tensor, diagonal: int = 0) -> Tensor:
    """`diag`: the matrix with this diagonal for a vector, the diagonal (copied) for a matrix."""
    if input._type.ndim == 1:
        return dispatch(get_op("diag_embed"), (input,), {"offset": diagonal})
    if input._type.ndim != 2:
        raise ShapeError(f"diag: a tensor of 1 or 2 dimensions is needed, not one of shape {tuple(input._type.shape)}")
    return dispatch(_clone, (dispatch(_diagonal, (input,), {"offset": diagonal}),), {})


# ---- memory ------------------------------------------------------------------------------------------------------------------------


def detach(input: Tensor) -> Tensor:
    """The same memory without history: no gradient flows through it. In-place writes show in both."""
    if type(input) is BatchedTensor:
        return batched(detach(input._inner), input._level)
    recorder = active_recorder(_detach, (input,))
    if recorder is not None:
        return recorder.call(_detach, (input,), {})
    if input._array is None:
        return wrap_typed(None, input._type)
    out = wrap_typed(memory(input), input._type)
    if not out._array.flags.c_contiguous:
        keep_layout(input)
        keep_layout(out)
    return out


def detach_(self: Tensor) -> Tensor:
    """Cut the tensor out of its graph in place: it becomes a leaf that does not require grad. Views are refused, as in PyTorch."""
    if isinstance(self, Symbol):
        raise InplaceError("detach_: a symbol cannot lose its history in place; use detach()", "view")
    alias = alias_of(self)
    if alias is not None and alias.base is not None:
        raise InplaceError("detach_: a view shares its history with its base; use detach()", "view")
    self._node = None
    rehome(self, NODE_CLASSES["view_chain"])
    return self


def format_name(memory_format: Any) -> str | None:
    """A memory format's name, as records take it."""
    return None if memory_format is None else str(memory_format).rsplit(".", 1)[-1]


def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy with its own memory, in the same memory layout (or `memory_format`)."""
    return dispatch(_clone, (input,), {"memory_format": format_name(memory_format)})


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself if its elements lie in C order (or in `memory_format`), otherwise a copy that does."""
    wanted = format_name(memory_format) or "contiguous_format"
    if type(self) is BatchedTensor:
        inner = contiguous(self._inner, None if wanted == "channels_last" else memory_format)
        return self if inner is self._inner else batched(inner, self._level)
    array = self._array
    if isinstance(self, Symbol) and wanted == "contiguous_format":
        return self if self._recorder.lies_in_order(self) else clone(self, memory_format=wanted)
    lies_so = array is None or wanted == "preserve_format"
    if wanted == "channels_last" and not lies_so:
        lies_so = array.ndim == 4 and array.transpose(0, 2, 3, 1).flags.c_contiguous
    elif not lies_so:
        lies_so = array.flags.c_contiguous
    return self if lies_so else clone(self, memory_format=wanted)


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The sum that undoes broadcasting: `size` must broadcast to the tensor's shape. The tensor itself where that is its shape; sums of
    integers and bools are int64."""
    wanted = sizes("sum_to_size", size)
    if wanted == tuple(self._type.shape) and wanted:
        return self
    if self._type.dtype.category != FLOAT:
        self = dispatch(get_op("to"), (self,), {"dtype": BY_NAME["int64"]})
    return dispatch(get_op("sum_to_size"), (self,), {"size": wanted})


def real(input: Tensor) -> Tensor:
    """The tensor itself: there are no complex numbers."""
    return input


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        reshape, flatten, unflatten, ravel, broadcast_to, broadcast_shapes, broadcast_tensors, meshgrid, permute, transpose, movedim,
        select, narrow, split, unsqueeze, squeeze,
        chunk, tensor_split, as_strided, detach, clone, real,
    )
} | {
    "moveaxis": movedim, "t": transposed, "swapaxes": transpose, "swapdims": transpose, "adjoint": matrix_transpose, "diag": diagonal_of,
    "hsplit": _split_at("hsplit", 1, lambda rank: 0 if rank == 1 else 1), "vsplit": _split_at("vsplit", 2, lambda rank: 0),
    "dsplit": _split_at("dsplit", 3, lambda rank: 2),
}  # fmt: skip
METHODS: dict[str, Any] = {
    f.__name__: f for f in (view, view_as, reshape_as, expand, expand_as, contiguous, detach_, sum_to_size)
} | {
    "T": property(reversed_dims), "mT": property(matrix_transpose), "H": property(hermitian), "mH": property(matrix_transpose),
    "real": property(real),
}  # fmt: skip
