"""Attributes of tensors: shape and layout, gradient state, hooks. Each function or property here becomes a member of `Tensor`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from twofold.ir.dtypes import DType
from twofold.ir.mode import INFERENCE
from twofold.ir.op import wrap_dim
from twofold.support.errors import ArgumentError, AutogradError, DeviceError, DTypeError, InplaceError, ShapeError
from twofold.tape.node import owner_of
from twofold.tape.versions import version
from twofold.tensors import backward as engine
from twofold.tensors.alias import Alias, alias_of, rehome
from twofold.tensors.batched import BatchedTensor, like_example, raw_of, refuse_value
from twofold.tensors.core import Size, Symbol, Tensor, memory
from twofold.tensors.device import device as device_class
from twofold.tensors.dispatch import NODE_CLASSES
from twofold.tensors.levels import lowered, raised
from twofold.tensors.limits import layout, strided
from twofold.tensors.nodes import RemovableHandle, new_leaf

# ---- shape and layout ----------------------------------------------------------------------------------------------------------


def shape(self: Tensor) -> Size:
    """The sizes of the dimensions."""
    return Size(self._type.shape)


@overload
def size(self: Tensor, dim: None = None) -> Size: ...
@overload
def size(self: Tensor, dim: int) -> int: ...
def size(self: Tensor, dim: int | None = None) -> Any:
    """The sizes of all dimensions, or of one."""
    if dim is None:
        return Size(self._type.shape)
    return self._type.shape[_dim_index(self, dim)]


def _dim_index(self: Tensor, dim: int) -> int:
    return wrap_dim(dim, self._type.ndim, "size") if self._type.ndim else dim


def numel(self: Tensor) -> int:
    """The number of elements."""
    return self._type.numel


def element_size(self: Tensor) -> int:
    """Bytes of one element."""
    return self._type.dtype.itemsize


def contiguous_strides(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The strides, in elements, of a C-ordered tensor of this shape."""
    strides: list[Any] = []
    step: Any = 1
    for n in reversed(shape):
        strides.append(step)
        step = step * (n if type(n) is not int or n > 0 else 1)
    return tuple(reversed(strides))


@overload
def stride(self: Tensor, dim: None = None) -> tuple[int, ...]: ...
@overload
def stride(self: Tensor, dim: int) -> int: ...
def stride(self: Tensor, dim: int | None = None) -> Any:
    """The step in elements from one index to the next, of every dimension or of one. Symbols are contiguous."""
    if type(self) is BatchedTensor:
        result = stride(self._inner)[1:]
    elif isinstance(self._array, np.ndarray):
        item = self._type.dtype.itemsize
        result = tuple(s // item for s in self._array.strides)
    else:
        result = contiguous_strides(self._type.shape)
    return result if dim is None else result[_dim_index(self, dim)]


def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """True if the elements lie in C order (or with `memory_format=twofold.channels_last` in that order)."""
    if type(self) is BatchedTensor:
        return is_contiguous(self._inner)
    if isinstance(self, Symbol) and memory_format is None:
        return bool(self._recorder.lies_in_order(self))
    if not isinstance(self._array, np.ndarray):
        return True
    if str(memory_format) == "twofold.channels_last":
        return self._array.ndim == 4 and self._array.transpose(0, 2, 3, 1).flags.c_contiguous
    return bool(self._array.flags.c_contiguous)


def storage_offset(self: Tensor) -> int:
    """The distance, in elements, of the first element from the start of its base's memory."""
    if type(self) is BatchedTensor:
        refuse_value("storage_offset()")
    array = memory(self)
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    return int((array.ctypes.data - root.ctypes.data) // self._type.dtype.itemsize)


def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    if type(self) is BatchedTensor:
        refuse_value("data_ptr()")
    return int(memory(self).ctypes.data)


def device(self: Tensor) -> device_class:
    """Where the data is: `cpu` or `meta`."""
    return device_class(self._type.device)


# ---- gradient state ------------------------------------------------------------------------------------------------------------


def requires_grad(self: Tensor) -> bool:
    """True if gradients are wanted for it, or flow through it."""
    self = raw_of(self)
    if isinstance(self, Symbol):
        return bool(self._recorder.requires_grad(self))
    return self._node is not None


def set_requires_grad(self: Tensor, value: bool) -> None:
    requires_grad_(self, value)


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Make the tensor a leaf that collects gradients (or not); returns it. Only floating-point leaves can."""
    if type(self) is BatchedTensor:
        requires_grad_(self._inner, requires_grad)
        return self
    if isinstance(self, Symbol):
        raise AutogradError("requires_grad_() on a symbol: mark the inputs of the graph instead, or use detach()")
    node = self._node
    if not requires_grad:
        if node is not None and not node.is_accumulate:
            raise AutogradError("requires_grad can only be changed on leaf tensors; use detach() to cut a tensor out of the graph")
        self._node = None
        rehome(self, NODE_CLASSES["view_chain"])
        return self
    if node is not None:
        return self
    if not self._type.dtype.is_floating_point:
        raise DTypeError(f"only floating-point tensors can require gradients, not {self._type.dtype.name}")
    alias = alias_of(self)
    if alias is not None and alias.base is not None:
        self._alias = Alias()  # a view that becomes a leaf begins its own family
    new_leaf(self)
    rehome(self, NODE_CLASSES["view_chain"])
    return self


def is_leaf(self: Tensor) -> bool:
    """True if no recorded operation made it."""
    return self._node is None or self._node.is_accumulate


def grad_fn(self: Tensor) -> Any:
    """The backward node of the operation that made it, or None."""
    node = self._node
    return None if node is None or node.is_accumulate else owner_of(node)[0]


def output_nr(self: Tensor) -> int:
    """Which output of `grad_fn` it is."""
    return 0 if self._node is None else owner_of(self._node)[1]


def grad(self: Tensor) -> Tensor | None:
    """The accumulated gradient of a leaf (or of a tensor with `retain_grad`), or None."""
    if type(self) is BatchedTensor:
        found = grad(raw_of(self))
        return None if found is None else like_example(self, found)
    node = self._node
    if node is None:
        return self.__dict__.get("_grad")
    if node.is_accumulate:
        return node.grad  # type: ignore[attr-defined]
    if node.hooks is not None and (0 in node.hooks.retain or 0 in node.hooks.retained):
        return node.hooks.retained.get(0)
    warnings.warn(
        "the .grad of a tensor that is not a leaf was read: it is not kept. Call .retain_grad() on it before backward",
        UserWarning,
        stacklevel=2,
    )
    return None


def set_grad(self: Tensor, value: Tensor | None) -> None:
    if value is not None:
        if not isinstance(value, Tensor):
            raise ArgumentError(f"grad must be a tensor or None, not {type(value).__name__}")
        if value is self:
            raise AutogradError("a tensor cannot be its own grad")
        if value._type.shape != self._type.shape:
            raise ShapeError(f"grad has shape {tuple(value._type.shape)}, its tensor {tuple(self._type.shape)}")
        if value._type.dtype is not self._type.dtype:
            raise DTypeError(f"grad is {value._type.dtype.name}, its tensor {self._type.dtype.name}")
    node = self._node
    if node is None:
        self.__dict__["_grad"] = value
    elif node.is_accumulate:
        node.grad = value  # type: ignore[attr-defined]
    else:
        kept = node.ensure_hooks().retained
        if value is None:
            kept.pop(0, None)
        else:
            kept[0] = value


def retains_grad(self: Tensor) -> bool:
    """True if `retain_grad` was called on this non-leaf."""
    node = self._node
    return node is not None and not node.is_accumulate and node.hooks is not None and 0 in node.hooks.retain


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Call `hook(grad)` when this tensor's gradient is complete; a returned tensor replaces it. The handle's `remove()` takes it away."""
    if self._node is None:
        raise AutogradError("register_hook() on a tensor that does not require grad")
    return RemovableHandle(self._node.ensure_hooks().before, (0, example_hook(self, hook)))


def example_hook(t: Tensor, hook: Callable[[Tensor], Tensor | None]) -> Callable[[Tensor], Tensor | None]:
    """A hook that sees gradients as `t`, which may be a tensor of a mapped function, sees values."""
    if type(t) is not BatchedTensor:
        return hook

    def seen(g: Tensor) -> Tensor | None:
        returned = hook(raised(g, t))
        return lowered(returned, t) if isinstance(returned, Tensor) else returned

    return seen


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call `hook(tensor)` as soon as this leaf's `.grad` is complete, while backward still runs."""
    if self._node is None or not self._node.is_accumulate:
        raise AutogradError("register_post_accumulate_grad_hook() is for leaf tensors that require grad")
    engine.note_post_accumulate_hook()
    return RemovableHandle(self._node.ensure_hooks().post_accumulate, hook)


def backward(
    self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Add the gradients of this tensor to the `.grad` of the leaves it was computed from; see `twofold.autograd.backward`."""
    engine.backward(self, gradient, retain_graph, create_graph, inputs)


def version_of(self: Tensor) -> int:
    """How often its memory has been written in place."""
    return version(memory(self)) if self._array is not None else 0


def base(self: Tensor) -> Tensor | None:
    """The tensor this one is a view of, or None."""
    alias = alias_of(self)
    return None if alias is None else alias.base


def data(self: Tensor) -> Tensor:
    """The same memory without history; prefer `detach()`."""
    return self.detach()


def set_data(self: Tensor, value: Tensor) -> None:
    """Replace the tensor's memory by another's, keeping its identity, gradient and hooks."""
    if not isinstance(value, Tensor):
        raise ArgumentError(f"data must be a tensor, not {type(value).__name__}")
    alias = alias_of(self)
    if alias is not None and (alias.base is not None or any(r() is not None for r in alias.views)):
        raise InplaceError("data cannot be replaced on a tensor that has views or is one", "view")
    node = self._node
    if node is not None and not value._type.dtype.is_floating_point:
        raise DTypeError(f"data of a tensor that requires grad must be floating-point, not {value._type.dtype.name}")
    if node is not None and node.is_accumulate:
        node.array, node.type = value._array, value._type  # type: ignore[attr-defined]
    self._array, self._type = value._array, value._type


def is_inference(self: Tensor) -> bool:
    """True if it was made in inference mode."""
    return bool(self.__dict__.get("_inference", False)) or (INFERENCE.get() and self._node is None)


def dim(self: Tensor) -> int:
    """The number of dimensions."""
    return self._type.ndim


def nbytes(self: Tensor) -> Any:
    """Bytes of all elements."""
    return self._type.nbytes


def dtype(self: Tensor) -> DType:
    """The element type."""
    return self._type.dtype


def is_floating_point(self: Tensor) -> bool:
    """True if the dtype is a floating-point one."""
    return self._type.dtype.is_floating_point


def is_signed(self: Tensor) -> bool:
    """True if the dtype has negative values."""
    return self._type.dtype.is_signed


def never(self: Tensor) -> bool:
    """False: no tensor here is complex, sparse, quantized or on a CUDA device."""
    return False


def is_meta(self: Tensor) -> bool:
    """True on the meta device: a shape and a dtype without data."""
    return self._type.device == "meta"


def get_device(self: Tensor) -> int:
    """The number of the CUDA device: -1, there is none."""
    return -1


def is_cpu(self: Tensor) -> bool:
    """True for a tensor with data: it lies in the computer's main memory."""
    return self._type.device == "cpu"


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """True if both tensors have the same shape."""
    return bool(input._type.shape == other._type.shape)


def is_nonzero(input: Tensor) -> bool:
    """True if the only element is not zero; raises for any other element count."""
    return bool(input)


def layout_of(self: Tensor) -> layout:
    """`twofold.strided`: the only layout there is."""
    return strided


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Page-locked memory serves copies to CUDA devices, which do not exist here: raises DeviceError."""
    raise DeviceError("pin_memory() is not available: Twofold computes on the CPU only, there is no device to copy to")


def get_default_device() -> device_class:
    """The device new tensors are made on: `cpu`."""
    return device_class("cpu")


def retain_grad(self: Tensor) -> None:
    """Make a tensor that is no leaf keep its gradient in `.grad` as well."""
    engine.retain_grad(self)


def cuda(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """There is no CUDA device: raises DeviceError."""
    raise DeviceError("cuda() is not available: Twofold computes on the CPU only (twofold.cuda.is_available() is False)")


METHODS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        size, numel, element_size, stride, is_contiguous, storage_offset, data_ptr, requires_grad_, register_hook,
        register_post_accumulate_grad_hook, backward, is_inference, is_floating_point, is_signed, is_same_size, is_nonzero, pin_memory,
        cuda,
    )
} | {
    "nelement": numel, "dim": dim, "ndimension": dim, "is_complex": never,
    "is_conj": never, "is_neg": never, "is_shared": never, "is_pinned": never, "const_data_ptr": data_ptr,
    "get_device": get_device, "retain_grad": retain_grad,
}  # fmt: skip
PROPERTIES: dict[str, property] = {
    "shape": property(shape), "device": property(device), "dtype": property(dtype), "ndim": property(dim),
    "itemsize": property(element_size), "nbytes": property(nbytes),
    "requires_grad": property(requires_grad, set_requires_grad), "is_leaf": property(is_leaf), "grad_fn": property(grad_fn),
    "output_nr": property(output_nr), "grad": property(grad, set_grad, lambda self: set_grad(self, None)),
    "retains_grad": property(retains_grad),
    "_version": property(version_of), "_base": property(base), "data": property(data, set_data),
    "layout": property(layout_of), "is_cpu": property(is_cpu),
    **{f"is_{kind}": property(never) for kind in ("sparse_csr", "nested", "mkldnn", "mps", "mtia", "maia", "ipu", "xla", "xpu", "vulkan")},
    "is_cuda": property(never), "is_meta": property(is_meta), "is_sparse": property(never), "is_quantized": property(never),
}  # fmt: skip
