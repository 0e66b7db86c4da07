"""Views: outputs that share the memory of an input, and the chains of them that in-place writes replay."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir.op import NOT_DIFFERENTIABLE, get_op
from twofold.ir.types import TensorType
from twofold.ops.record import define, helper, positions
from twofold.support.errors import DimensionError, InplaceError, ShapeError

# ---- expand ------------------------------------------------------------------------------------------------------------------


def _expand_type(input: TensorType, size: tuple[Any, ...]) -> TensorType:
    lead = len(size) - input.ndim
    if lead < 0:
        raise ShapeError(f"expand: the target {size} has fewer dimensions than the tensor of shape {input.shape}")
    shape = []
    for i, n in enumerate(size):
        old = input.shape[i - lead] if i >= lead else None
        if n == -1:
            if old is None:
                raise ShapeError(f"expand: -1 is not allowed in the leading, new dimension {i} of {size}")
            n = old
        if old is not None and old != n and old != 1:
            raise ShapeError(
                f"expand: dimension {i - lead} of the tensor of shape {input.shape} is {old} and cannot become {n} (target {size})"
            )
        if type(n) is int and n < 0:
            raise ShapeError(f"expand: negative size {n} in {size}")
        shape.append(n)
    return input.with_shape(tuple(shape))


def _expand(input: Any, size: tuple[int, ...]) -> Any:
    a = np.asarray(input)
    if -1 in size:
        lead = len(size) - a.ndim
        size = tuple(a.shape[i - lead] if n == -1 else n for i, n in enumerate(size))
    return np.broadcast_to(a, size)


define(
    "expand(Tensor(a) input, Shape size) -> Tensor(a)",
    type_rule=_expand_type, reference=_expand, any_dtype=True, cost="view", onnx="Expand@13",
    gradient=(lambda g, input_shape: sum_to_size(g, input_shape),),
    doc="A view in which dimensions of size 1 (and new leading ones) are repeated without copying; -1 keeps a size.",
)  # fmt: skip


def _unsqueeze_type(input: TensorType, dim: int) -> TensorType:
    return input.with_shape((*input.shape[:dim], 1, *input.shape[dim:]))


define(
    "unsqueeze(Tensor(a) input, NewDim dim) -> Tensor(a)",
    type_rule=_unsqueeze_type, reference=lambda input, dim: np.expand_dims(input, dim), any_dtype=True, cost="view", onnx="Unsqueeze@13",
    gradient=(lambda g, dim: squeeze(g, (dim,)),),
    doc="A view with a dimension of size 1 put in at `dim`.",
)  # fmt: skip


def _squeezed(shape: tuple[Any, ...], dim: tuple[int, ...] | None) -> list[int]:
    return [i for i, n in enumerate(shape) if n == 1 and (dim is None or i in dim)]


def _squeeze_type(input: TensorType, dim: tuple[int, ...] | None) -> TensorType:
    for i, n in enumerate(input.shape):
        if type(n) is not int and (dim is None or i in dim) and not (n.bounds[0] or 0) > 1:
            raise ShapeError(
                f"squeeze: whether the symbolic dimension {i} ({n}) of {input} is 1 is not known: name the dimensions to drop, "
                "or give it a lower bound of 2 in dynamic_shapes"
            )
    gone = _squeezed(input.shape, dim)
    return input.with_shape(tuple(n for i, n in enumerate(input.shape) if i not in gone))


define(
    "squeeze(Tensor(a) input, Dim[]? dim=None) -> Tensor(a)",
    type_rule=_squeeze_type, any_dtype=True, cost="view", onnx="Squeeze@13",
    reference=lambda input, dim=None: np.squeeze(input, tuple(_squeezed(input.shape, dim))),
    gradient=(lambda g, input_shape: view(g, input_shape),),
    doc="A view without the dimensions of size 1 (all, or those of `dim` that are 1).",
)  # fmt: skip


def resolve_sizes(name: str, shape: tuple[Any, ...], size: tuple[Any, ...]) -> tuple[Any, ...]:
    """`size` with its -1 computed so that the element count stays; raises ShapeError where that is impossible."""
    count: Any = 1
    for n in shape:
        count = count * n
    known: Any = 1
    free = None
    for i, n in enumerate(size):
        if type(n) is int and n == -1:
            if free is not None:
                raise ShapeError(f"{name}: only one dimension of {size} can be -1")
            free = i
        elif type(n) is int and n < -1:
            raise ShapeError(f"{name}: negative size {n} in {size}")
        else:
            known = known * n
    if free is None:
        if known != count:
            raise ShapeError(f"{name}: shape {size} needs {known} elements, the tensor of shape {shape} has {count}")
        return tuple(size)
    if type(known) is int and (known == 0 or (type(count) is int and count % known)):
        reason = "is ambiguous, since another size is 0" if known == 0 else f"cannot be found: {count} elements do not divide by {known}"
        raise ShapeError(f"{name}: the -1 in {size} for a tensor of shape {shape} {reason}")
    return (*size[:free], count // known, *size[free + 1 :])


def _view_type(input: TensorType, size: tuple[Any, ...]) -> TensorType:
    return input.with_shape(resolve_sizes("view", input.shape, size))


def _view(input: Any, size: tuple[int, ...]) -> Any:
    a = np.asarray(input)
    if a.flags.c_contiguous:
        return a.reshape(size)
    try:
        return a.reshape(size, copy=False)
    except ValueError:
        strides = tuple(s // a.itemsize for s in a.strides)
        raise InplaceError(
            f"view: a tensor of shape {a.shape} with strides {strides} has no view of shape {size}: its elements are not in that "
            f"order. Use reshape(), which copies.",
            "view",
        ) from None


define(
    "view(Tensor(a) input, Shape size) -> Tensor(a)",
    type_rule=_view_type, reference=lambda input, size: np.reshape(input, size), eager=_view, any_dtype=True, cost="view",
    onnx="Reshape@14",
    gradient=(lambda g, input_shape: reshape(g, input_shape),),
    doc=(
        "The same elements under another shape, sharing memory; raises where strides do not allow it. In a graph, which knows no "
        "strides, it always exists."
    ),
)  # fmt: skip
define(
    "reshape_copy(Tensor input, Shape size) -> Tensor",
    type_rule=_view_type, reference=lambda input, size: np.array(input, order="C").reshape(size), any_dtype=True, cost="copy",
    node_name="UnsafeViewBackward0", method=False, onnx="Reshape@14",
    gradient=(lambda g, input_shape: reshape(g, input_shape),),
    doc="A contiguous copy of the elements under another shape: what `reshape` does where no view exists.",
)  # fmt: skip

# ---- order of dimensions -------------------------------------------------------------------------------------------------------


@helper
def inverse_permutation(order: Any) -> Any:
    """The permutation that undoes `order`."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _permute_type(input: TensorType, dims: tuple[int, ...]) -> TensorType:
    if len(dims) != input.ndim:
        raise DimensionError(f"permute: {dims} must name every dimension of the tensor of shape {input.shape} once")
    return input.with_shape(tuple(input.shape[d] for d in dims))


define(
    "permute(Tensor(a) input, Dim[] dims) -> Tensor(a)",
    type_rule=_permute_type, reference=lambda input, dims: np.transpose(input, dims), any_dtype=True, cost="view", onnx="Transpose@13",
    gradient=(lambda g, dims: permute(g, inverse_permutation(dims)),),
    doc="A view with the dimensions in the order `dims`.",
)  # fmt: skip


def _swapped(shape: tuple[Any, ...], dim0: int, dim1: int) -> tuple[Any, ...]:
    result = list(shape)
    if result:
        result[dim0], result[dim1] = result[dim1], result[dim0]
    return tuple(result)


define(
    "transpose(Tensor(a) input, Dim dim0, Dim dim1) -> Tensor(a)",
    type_rule=lambda input, dim0, dim1: input.with_shape(_swapped(input.shape, dim0, dim1)),
    reference=lambda input, dim0, dim1: np.swapaxes(input, dim0, dim1) if input.ndim else input, any_dtype=True, cost="view",
    onnx="Transpose@13",
    gradient=(lambda g, dim0, dim1: transpose(g, dim0, dim1),),
    doc="A view with two dimensions exchanged.",
)  # fmt: skip


def _t_type(input: TensorType) -> TensorType:
    if input.ndim > 2:
        raise ShapeError(f"t: a tensor of at most 2 dimensions is needed, not one of shape {input.shape}; use transpose or permute")
    return input.with_shape(input.shape[::-1])


define(
    "t(Tensor(a) input) -> Tensor(a)",
    type_rule=_t_type, reference=lambda input: np.transpose(input), any_dtype=True, cost="view", onnx="Transpose@13",
    gradient=(lambda g: t(g),),
    doc="The transposed matrix, a view (a tensor of fewer than 2 dimensions as it is).",
)  # fmt: skip

# ---- the same memory, otherwise arranged -------------------------------------------------------------------------------------------

define(
    "alias(Tensor(a) input) -> Tensor(a)",
    type_rule=lambda input: input, reference=lambda input: np.asarray(input)[...], any_dtype=True, cost="view", onnx="Identity@14",
    method=False,
    gradient=(lambda g: g,),
    doc="A view of everything.",
)  # fmt: skip
define(
    "detach(Tensor(a) input) -> Tensor(a)",
    type_rule=lambda input: input, reference=lambda input: np.asarray(input)[...], any_dtype=True, cost="view", onnx="Identity@14",
    gradient=NOT_DIFFERENTIABLE,
    doc="The same memory without history: no gradient flows through it.",
)  # fmt: skip

# ---- chains of views -----------------------------------------------------------------------------------------------------------

Chain = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
"""Steps of a view of a base: (operation name, its canonical attributes as pairs, and for several outputs ("", index))."""


def along(dim: int, index: Any) -> tuple[Any, ...]:
    """An index that applies `index` to one dimension; its Ellipsis keeps 0-d results arrays that share memory."""
    return (*(slice(None),) * dim, index, ...)


def part(name: str, array: Any, which: int, **attributes: Any) -> Any:
    """One of the outputs of an operation with several views, without making the others."""
    if name == "unbind":
        return array[along(attributes["dim"], which)]
    if name == "split":
        size = attributes["split_size"]
        return array[along(attributes["dim"], slice(which * size, (which + 1) * size))]
    if name == "split_with_sizes":
        sizes = attributes["split_sizes"]
        start = sum(sizes[:which])
        return array[along(attributes["dim"], slice(start, start + sizes[which]))]
    return get_op(name).reference(array, **attributes)[which]


def apply_step(array: Any, step: tuple[str, tuple[tuple[str, Any], ...]]) -> Any:
    """One view step on an array; the result shares memory and is writable where the array is."""
    name, pairs = step
    attributes = dict(pairs)
    which = attributes.pop("", None)
    op = get_op(name)
    result = (op.eager or op.reference)(array, **attributes) if which is None else part(name, array, which, **attributes)
    if type(result) is np.ndarray and not result.flags.writeable and array.flags.writeable:
        result.flags.writeable = True  # broadcast_to's read-only flag; overlapping writes are refused by our own rule
    return result


def see(chain: Chain, array: Any) -> Any:
    """The view that the chain shows of an array (shares memory)."""
    a = np.asarray(array)
    for step in chain:
        a = apply_step(a, step)
    return a


def see_or_copy(chain: Chain, array: Any) -> Any:
    """What the chain shows, copied where the array's strides allow no view."""
    a = np.asarray(array)
    for step in chain:
        try:
            a = apply_step(a, step)
        except InplaceError:  # only `view` depends on strides
            a = get_op(step[0]).reference(a, **dict(step[1]))
    return a


def put(chain: Chain, base: Any, value: Any) -> Any:
    """A C-ordered copy of `base` in which the elements that the chain shows are `value`."""
    result = np.array(base, order="C")
    try:
        see(chain, result)[...] = value
    except InplaceError:  # the chain was made on an array of other strides: find the elements by their numbers
        result.reshape(-1)[see_or_copy(chain, positions(result.shape))] = value
    return result


def unsee(chain: Chain, g: Any, shape: tuple[int, ...]) -> Any:
    """The adjoint of `see`: zeros of `shape` with `g` added where the chain shows; elements shown twice add up."""
    if not any(name in ("expand", "as_strided", "unfold") for name, _ in chain):
        return put(chain, np.zeros(shape, g.dtype), g)
    flat = np.zeros(int(np.prod(shape, dtype=np.int64)), g.dtype)
    np.add.at(flat, see_or_copy(chain, positions(shape)), g)
    return flat.reshape(shape)


def chain_type(input: TensorType, chain: Chain) -> TensorType:
    """The type of what the chain shows."""
    for name, pairs in chain:
        attributes = dict(pairs)
        which = attributes.pop("", None)
        out = get_op(name).infer((input,), attributes)
        input = out if which is None else out[which]
    return input


define(
    "view_chain(Tensor(a) input, any chain) -> Tensor(a)",
    type_rule=chain_type, reference=lambda input, chain: see_or_copy(chain, input), any_dtype=True, cost="view",
    node_name="AsStridedBackward0", method=False, function=False,
    gradient=(lambda g, input_shape, chain: view_chain_backward(g, input_shape, chain),),
    doc="A chain of views applied at once.",
)  # fmt: skip
define(
    "view_chain_backward(Tensor grad, Shape size, any chain) -> Tensor",
    type_rule=lambda grad, size, chain: grad.with_shape(size), reference=lambda grad, size, chain: unsee(chain, grad, size),
    any_dtype=False, cost="copy", method=False, function=False,
    gradient=(lambda g, chain: view_chain(g, chain),),
    doc="The adjoint of `view_chain`.",
)  # fmt: skip


def _scatter_type(input: TensorType, src: TensorType, chain: Chain) -> TensorType:
    shown = chain_type(input, chain)
    if shown.shape != src.shape:
        raise ShapeError(f"view_scatter: the view has shape {shown.shape}, the source {src.shape}")
    return input


define(
    "view_scatter(Tensor input, Tensor src, any chain) -> Tensor",
    type_rule=_scatter_type, reference=lambda input, src, chain: put(chain, input, src), any_dtype=True, cost="copy",
    node_name="CopySlices", method=False, function=False,
    gradient=(
        lambda g, src_shape, src_dtype, chain: view_scatter(g, zeros(src_shape, dtype=src_dtype), chain),
        lambda g, chain: view_chain(g, chain),
    ),
    doc="A copy of the input in which the elements that a chain of views shows are those of `src`: what a write through a view becomes.",
)  # fmt: skip
