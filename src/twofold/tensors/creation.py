"""Making tensors: from data, from NumPy arrays, of constants and ranges. Every function here writes a node while a graph is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import FLOAT, DType, as_dtype, dtype_of_scalar
from twofold.ir.mode import RECORDER
from twofold.ir.op import get_op
from twofold.ir.types import tensor_type, type_of
from twofold.ops.creation import converted, number_as
from twofold.support.errors import ArgumentError, DeviceError, DTypeError, ShapeError, TraceError, UnsupportedError, ValueRangeError
from twofold.tape.versions import mark_escaped
from twofold.tensors.batched import BatchedTensor, all_examples, like_example, refuse_value
from twofold.tensors.core import Symbol, Tensor, memory, wrap, wrap_typed
from twofold.tensors.device import usable_device
from twofold.tensors.dispatch import dispatch
from twofold.tensors.nodes import new_leaf
from twofold.tensors.shapes import sizes

# ---- data ----------------------------------------------------------------------------------------------------------------------


def literal(array: Any) -> Tensor:
    """A tensor of an array that nobody else holds; while a graph is recorded, a constant of it."""
    recorder = RECORDER.get()
    return wrap(array) if recorder is None else recorder.constant(array)


MAX_DEPTH = 64
"""Dimensions NumPy arrays can have; deeper lists are refused (a list that contains itself has no end)."""


def leaf_types(data: Any, found: set[type], depth: int = 1) -> None:
    """Collect the types of the elements of nested sequences."""
    if depth > MAX_DEPTH:
        raise ValueRangeError(f"lists nested more than {MAX_DEPTH} deep cannot become a tensor")
    for row in data:
        if isinstance(row, (list, tuple, range)):
            leaf_types(row, found, depth + 1)
        elif isinstance(row, np.ndarray):
            found.add(row.dtype.type)
        else:
            found.add(type(row))


def inferred_dtype(types: set[type], tensors: list[DType]) -> DType:
    """PyTorch's dtype for elements of these types: NumPy scalars and tensors keep theirs, Python numbers add only their category."""
    result: DType | None = None
    python: DType | None = None
    for d in [*tensors, *(dtypes.from_numpy(np.dtype(t)) for t in types if issubclass(t, np.generic))]:
        result = d if result is None else dtypes.promote_types(result, d)
    for t in types:
        if t in (bool, int, float):
            d = dtype_of_scalar(t)
            python = d if python is None or d.category > python.category else python
    if result is None:
        return python or dtypes.get_default_dtype()
    return python if python is not None and python.category > result.category else result


def check_types(types: set[type], what: str) -> None:
    """Refuse elements that are no numbers."""
    for t in types:
        if issubclass(t, complex):
            raise UnsupportedError(f"{what}: complex numbers are not supported: keep real and imaginary parts as two tensors")
        if issubclass(t, Symbol):
            raise TraceError(
                f"{what}: a symbol among the data has no value while a graph is recorded; join symbols with twofold.stack([...]) or "
                f"twofold.cat([...])"
            )
        if not issubclass(t, (bool, int, float, np.number, np.bool_, Tensor)):
            dtypes.from_numpy(np.dtype(t)) if issubclass(t, np.generic) else None
            raise DTypeError(
                f"{what}: an element of type {t.__name__} is no number; tensors hold bool, integers and floating-point numbers"
            )


def explain_ragged(data: Any, what: str) -> None:
    """Raise ShapeError that says where nested sequences differ in length."""
    level, path = list(data), "data"
    depth = 0
    while level:
        nested = [isinstance(v, (list, tuple, range)) or (isinstance(v, np.ndarray) and v.ndim > 0) for v in level]
        if any(nested) and not all(nested):
            raise ShapeError(f"{what}: at depth {depth + 1} some elements are sequences and some are numbers")
        if not any(nested):
            return
        lengths = {len(v) for v in level}
        if len(lengths) > 1:
            a, b = sorted(lengths)[:2]
            raise ShapeError(
                f"{what}: the sequences at depth {depth + 1} of {path} have different lengths ({a} and {b}); all rows must be equally long"
            )
        level = [x for v in level for x in v]
        depth += 1


def without_tensors(data: Any, found: list[DType], what: str) -> Any:
    """Nested sequences with each tensor in them replaced by its array; their dtypes go to `found`."""
    if isinstance(data, Tensor):
        if isinstance(data, Symbol):
            check_types({Symbol}, what)
        if type(data) is BatchedTensor:
            refuse_value(what)
        if data._array is None:
            raise DeviceError(f"{what}: a tensor on the meta device among the data has no value")
        found.append(data._type.dtype)
        return memory(data)
    if isinstance(data, (list, tuple)):
        return [without_tensors(v, found, what) for v in data]
    return data


def array_of(data: Any, dtype: DType | None, what: str = "tensor") -> np.ndarray:
    """A new array of a number or nested sequences, with PyTorch's inference of the dtype."""
    if isinstance(data, np.ndarray):
        wanted = dtypes.from_numpy(data.dtype) if dtype is None else dtype
        return np.array(data) if data.dtype == wanted.numpy else np.array(converted(data, wanted.numpy))
    if isinstance(data, (bool, int, float, np.generic)):
        check_types({type(data)}, what)
        own = dtypes.from_numpy(data.dtype) if isinstance(data, np.generic) else dtype_of_scalar(type(data))
        wanted = dtype or own
        return np.array(number_as(what, data.item() if isinstance(data, np.generic) else data, wanted), wanted.numpy)
    if not isinstance(data, (list, tuple, range)):
        if hasattr(data, "__array__"):
            return array_of(np.asarray(data), dtype, what)
        check_types({type(data)}, what)
        raise DTypeError(f"{what}: data of type {type(data).__name__} cannot become a tensor; give a number, nested lists, or an array")
    types: set[type] = set()
    leaf_types(data, types)
    tensor_dtypes: list[DType] = []
    if any(issubclass(t, Tensor) for t in types):
        data = without_tensors(data, tensor_dtypes, what)
    check_types(types, what)
    wanted = dtype or inferred_dtype(types, tensor_dtypes)
    explain_ragged(data, what)
    return _packed(data, types, wanted, what)


def _packed(data: Any, types: set[type], wanted: DType, what: str) -> np.ndarray:
    """The array of checked nested sequences; numbers that do not fit the dtype raise."""
    try:
        array = np.array(data)
    except (ValueError, OverflowError) as e:
        raise ShapeError(f"{what}: the data has no regular shape: {e}") from None
    if array.dtype == object or (array.dtype == np.uint64 and np.uint64 not in types):
        big = next(v for v in np.asarray(data, object).reshape(-1) if isinstance(v, int) and not -(1 << 63) <= v < 1 << 63)
        if wanted.category != FLOAT and not (wanted.name == "uint64" and 0 <= big < 1 << 64):
            raise ValueRangeError(f"{what}: the integer {big} does not fit {wanted.name}")
    if wanted.category == 1 and array.size and array.dtype != wanted.numpy:
        for extreme in (array.min(), array.max()):
            number_as(what, extreme.item() if isinstance(extreme, np.generic) else extreme, wanted)
    return np.array(converted(array, wanted.numpy)) if array.dtype != wanted.numpy else array


def finish(t: Tensor, requires_grad: bool, what: str) -> Tensor:
    """A new tensor, made a leaf that requires grad if asked."""
    if requires_grad:
        if isinstance(t, Symbol):
            raise TraceError(f"{what}: requires_grad=True while a graph is recorded: mark the inputs of the graph instead")
        if not t._type.dtype.is_floating_point:
            raise DTypeError(f"{what}: only floating-point tensors can require gradients, not {t._type.dtype.name}")
        new_leaf(t)
    return t


def placed(device: Any) -> str:
    """The device asked for, `cpu` by default; raises DeviceError for one that is not here."""
    return "cpu" if device is None else usable_device(device)


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested lists of numbers, a NumPy array, or a tensor.

    dtype: by default that of arrays, tensors and NumPy scalars; bool, int64 or the default floating-point dtype for Python numbers.
    Raises ShapeError
    for ragged lists, DTypeError for what is no number, UnsupportedError for complex numbers, ValueRangeError for numbers outside the dtype.
    """
    where, kind = placed(device), None if dtype is None else as_dtype(dtype)
    if isinstance(data, Tensor):
        result = dispatch(get_op("clone"), (data.detach(),), {})
        if kind is not None and kind is not result._type.dtype:
            result = dispatch(get_op("to"), (result,), {"dtype": kind})
        if where == "meta" and result._type.device != "meta":
            result = wrap_typed(None, tensor_type(result._type.dtype, result._type.shape, "meta"))
        return finish(result, requires_grad, "tensor")
    array = array_of(data, kind)
    if where == "meta":
        return finish(wrap_typed(None, tensor_type(type_of(array).dtype, array.shape, "meta")), requires_grad, "tensor")
    return finish(literal(array), requires_grad, "tensor")


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares the array's memory: writes show in both. A read-only array gives a tensor that cannot be written in place.

    Raises DTypeError for dtypes tensors do not have, ValueRangeError for negative strides or unaligned data, as PyTorch does: copy
    such an array first.
    """
    if not isinstance(array, np.ndarray):
        raise ArgumentError(f"from_numpy: a NumPy array is needed, not {type(array).__name__}; use twofold.tensor(data)")
    array = np.asarray(array)
    type_of(array)
    if any(s < 0 for s in array.strides):
        raise ValueRangeError("from_numpy: an array with negative strides cannot be shared; use from_numpy(array.copy())")
    if not array.flags.aligned or any(s % array.itemsize for s in array.strides):
        raise ValueRangeError("from_numpy: an unaligned array cannot be shared; use from_numpy(array.copy())")
    mark_escaped(array)
    return literal(array)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor without copying where possible: a tensor of the right dtype as it is, a NumPy array shared; otherwise as
    `tensor`."""
    kind, where = None if dtype is None else as_dtype(dtype), placed(device)
    if isinstance(data, Tensor):
        result: Any = data if kind is None or kind is data._type.dtype else dispatch(get_op("to"), (data,), {"dtype": kind})
        if where != result._type.device and device is not None:
            return result.to(where)
        return result
    if isinstance(data, np.ndarray) and where == "cpu" and (kind is None or kind.numpy == data.dtype):
        return from_numpy(data)
    return tensor(data, dtype=kind, device=where)


def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """`as_tensor` with a choice: copy=True always copies, False never (ValueRangeError where it must), None only if needed."""
    if copy:
        return tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    if copy is False:
        held = obj._type.dtype if isinstance(obj, Tensor) else dtypes.from_numpy(obj.dtype) if isinstance(obj, np.ndarray) else None
        if held is None or (dtype is not None and as_dtype(dtype) is not held):
            raise ValueRangeError("asarray: this data cannot become a tensor without a copy (copy=False)")
    return finish(as_tensor(obj, dtype, device), requires_grad, "asarray")


# ---- constants -----------------------------------------------------------------------------------------------------------------


def floating(dtype: Any) -> DType:
    """The dtype asked for, by default the default floating-point one."""
    return dtypes.get_default_dtype() if dtype is None else as_dtype(dtype)


def _of_size(name: str, doc: str) -> Callable[..., Tensor]:
    op = get_op(name)

    def function(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
        if not size and "size" not in named:
            raise ArgumentError(f"{name}() needs a size: integers, or one tuple of them")
        shape = sizes(name, (named.pop("size"),) if "size" in named else size)
        _only_layout(name, named)
        return finish(dispatch(op, (), {"size": shape, "dtype": floating(dtype), "device": placed(device)}), requires_grad, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _only_layout(name: str, named: dict[str, Any]) -> None:
    """Arguments of PyTorch's that mean nothing here are accepted; unknown ones are refused."""
    for key in named:
        if key not in ("layout", "pin_memory", "memory_format", "out"):
            raise ArgumentError(f"{name}() has no argument {key!r}")
        if key == "out":
            raise UnsupportedError(f"{name}(out=…) is not supported: write {name}(...) into the tensor with copy_()")


zeros = _of_size("zeros", "A tensor of zeros: `zeros(2, 3)` or `zeros((2, 3))`; dtype: by default the default floating-point one.")
ones = _of_size("ones", "A tensor of ones: `ones(2, 3)` or `ones((2, 3))`; dtype: by default the default floating-point one.")
empty = _of_size("empty", "A tensor to be written before it is read; its elements are zeros, so that programs which forget repeat.")


def plain_number(value: Any) -> Any:
    """The Python number of a NumPy scalar or of a tensor with one element (a symbol has none and raises)."""
    return value.item()


def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor in which every element is `fill_value`; dtype: by default the value's (bool, int64, or the default floating-point one)."""
    value: Any = (
        plain_number(fill_value) if isinstance(fill_value, (Tensor, np.generic)) and not isinstance(fill_value, Symbol) else fill_value
    )
    shape = sizes("full", (size,))
    if isinstance(value, Symbol):
        kind = value._type.dtype if dtype is None else as_dtype(dtype)
        base = dispatch(get_op("zeros"), (), {"size": shape, "dtype": kind, "device": placed(device)})
        return dispatch(get_op("copy"), (base, value), {})
    if not isinstance(value, (bool, int, float)):
        raise ArgumentError(f"full(): fill_value must be a number, not {type(value).__name__}")
    kind = dtype_of_scalar(type(value)) if dtype is None else as_dtype(dtype)
    attributes = {"size": shape, "fill_value": value, "dtype": kind, "device": placed(device)}
    return finish(dispatch(get_op("full"), (), attributes), requires_grad, "full")


def scalar_tensor(value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A 0-d tensor; dtype: by default the default floating-point one."""
    return full((), value, dtype=floating(dtype), device=device, requires_grad=requires_grad)


def _like(name: str, doc: str) -> Callable[..., Tensor]:
    op = get_op(name)

    def function(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
        _only_layout(name, named)
        attributes = {"dtype": None if dtype is None else as_dtype(dtype), "device": None if device is None else placed(device)}
        return finish(dispatch(op, (input,), attributes), requires_grad, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


zeros_like = _like("zeros_like", "Zeros of another tensor's shape, dtype and device.")
ones_like = _like("ones_like", "Ones of another tensor's shape, dtype and device.")
empty_like = _like("empty_like", "A tensor of another's shape, dtype and device to be written before it is read (its elements are zeros).")


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of another's shape, dtype and device in which every element is `fill_value`."""
    kind, where = None if dtype is None else as_dtype(dtype), None if device is None else placed(device)
    return finish(
        dispatch(get_op("full_like"), (input,), {"fill_value": fill_value, "dtype": kind, "device": where}), requires_grad, "full_like"
    )


# ---- ranges ----------------------------------------------------------------------------------------------------------------------


def number(value: Any, what: str) -> Any:
    """A Python number (or symbolic dimension) from what stands for one."""
    if isinstance(value, (Tensor, np.generic)):
        value = plain_number(value)
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float) or hasattr(value, "is_symbolic_dim"):
        return value
    raise ArgumentError(f"{what}(): a number is needed, not {type(value).__name__}")


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The numbers start, start + step, … before `end`; `arange(n)` counts from 0. dtype: int64 for integers, otherwise the default one."""
    if end is None:
        start, end = 0, start
    a, b, c = (number(v, "arange") for v in (start, end, step))
    kind = (dtypes.get_default_dtype() if float in (type(a), type(b), type(c)) else dtypes.int64) if dtype is None else as_dtype(dtype)
    attributes = {"start": a, "end": b, "step": c, "dtype": kind, "device": placed(device)}
    return finish(dispatch(get_op("arange"), (), attributes), requires_grad, "arange")


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`steps` evenly spaced numbers from `start` to `end`, both included."""
    attributes = {
        "start": number(start, "linspace"),
        "end": number(end, "linspace"),
        "steps": steps,
        "dtype": floating(dtype),
        "device": placed(device),
    }
    return finish(dispatch(get_op("linspace"), (), attributes), requires_grad, "linspace")


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """`base` to the powers of `steps` evenly spaced exponents from `start` to `end`."""
    attributes = {
        "start": number(start, "logspace"), "end": number(end, "logspace"), "steps": steps, "base": base, "dtype": floating(dtype),
        "device": placed(device),
    }  # fmt: skip
    return finish(dispatch(get_op("logspace"), (), attributes), requires_grad, "logspace")


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A matrix of n rows and m (or n) columns with ones on its main diagonal."""
    return finish(dispatch(get_op("eye"), (), {"n": n, "m": m, "dtype": floating(dtype), "device": placed(device)}), requires_grad, "eye")


def _indices(name: str) -> Callable[..., Tensor]:
    op = get_op(name)

    def function(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
        kind = dtypes.int64 if dtype is None else as_dtype(dtype)
        attributes = {"row": row, "col": col, "offset": offset, "dtype": kind, "device": placed(device)}
        return dispatch(op, (), attributes)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.doc
    return function


# ---- new tensors in a tensor's dtype ---------------------------------------------------------------------------------------------


def _new_constant(name: str, make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def method(self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        made = make(
            all_examples(self, sizes(name, size)), dtype=dtype or self._type.dtype, device=device or self._type.device,
            requires_grad=requires_grad,
        )  # fmt: skip
        return like_example(self, made)

    method.__name__ = name
    method.__doc__ = f"`{make.__name__}` with this tensor's dtype and device as defaults."
    return method


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`full` with this tensor's dtype and device as defaults."""
    shape = all_examples(self, sizes("new_full", (size,)))
    made = full(shape, fill_value, dtype=dtype or self._type.dtype, device=device or self._type.device, requires_grad=requires_grad)
    return like_example(self, made)


def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`tensor` with this tensor's dtype and device as defaults."""
    return tensor(data, dtype=dtype or self._type.dtype, device=device or self._type.device, requires_grad=requires_grad)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        tensor, from_numpy, as_tensor, asarray, zeros, ones, empty, full, scalar_tensor, zeros_like, ones_like, empty_like, full_like,
        arange,
        linspace, logspace, eye,
    )
} | {"tril_indices": _indices("tril_indices"), "triu_indices": _indices("triu_indices")}  # fmt: skip
METHODS: dict[str, Any] = {
    "new_zeros": _new_constant("new_zeros", zeros), "new_ones": _new_constant("new_ones", ones),
    "new_empty": _new_constant("new_empty", empty),
    "new_full": new_full, "new_tensor": new_tensor,
}  # fmt: skip
