"""Reductions: sums, means, extrema, norms, tests; and the helpers that bring a gradient back over reduced dimensions."""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import FLOAT, DType
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, tensor_type
from twofold.ops import parts  # noqa: F401  (helpers of the decompositions)
from twofold.ops.record import define, helper
from twofold.ops.summation import add_reduce, axes_of, count_over, tiny_sum, working
from twofold.ops.typing import reduced_shape
from twofold.support.errors import DimensionError, DTypeError, ShapeError

# ---- type rules ----------------------------------------------------------------------------------------------------------------


class EmptyDimension(ShapeError, DimensionError):
    """A reduction without identity over a dimension without elements (PyTorch: IndexError)."""


def check_not_empty(name: str, shape: tuple[Any, ...], dim: tuple[int, ...] | None) -> None:
    """Refuse a reduction without identity over no elements."""
    whole = dim is None or dim == ()
    for i in range(len(shape)) if whole else dim or ():
        if i < len(shape) and shape[i] == 0:
            said = f"{name}: dimension {i} of the tensor of shape {shape} is empty; "
            if whole:
                raise ShapeError(said + "give dim=, naming dimensions that are not empty")
            raise EmptyDimension(said + "the result for no elements does not exist")


def require_float(name: str, dtype: DType) -> None:
    """Refuse integers and bools."""
    if dtype.category != FLOAT:
        raise DTypeError(f"{name} takes floating-point tensors, not {dtype.name}; convert with .to(twofold.float32) or pass dtype=")


def summed_type(input: TensorType, dim: Any, keepdim: bool, dtype: DType | None) -> TensorType:
    """Sums and products: integers and bools become int64."""
    if type(dim) is int:
        dim = (dim,)
    out = dtype or (input.dtype if input.dtype.category == FLOAT else dtypes.int64)
    return tensor_type(out, reduced_shape(input.shape, dim, keepdim), input.device)


def float_reduction(name: str) -> Any:
    """The type rule of a reduction of floats to floats (`dtype` may change them)."""

    def rule(input: TensorType, dim: Any, keepdim: bool, dtype: DType | None = None, **attributes: Any) -> TensorType:
        require_float(name, dtype or input.dtype)
        return tensor_type(dtype or input.dtype, reduced_shape(input.shape, dim, keepdim), input.device)

    return rule


def extremum(name: str, dtype: DType | None = None) -> Any:
    """The type rule of a reduction that has no value for no elements."""

    def rule(input: TensorType, dim: Any = None, keepdim: bool = False) -> TensorType:
        if type(dim) is int:
            dim = (dim,)
        check_not_empty(name, input.shape, dim)
        return tensor_type(dtype or input.dtype, reduced_shape(input.shape, dim, keepdim), input.device)

    return rule


def values_and_indices(name: str) -> Any:
    """The type rule of (values, indices) along one dimension."""

    def rule(input: TensorType, dim: int, keepdim: bool, **attributes: Any) -> tuple[TensorType, TensorType]:
        check_not_empty(name, input.shape, (dim,))
        shape = reduced_shape(input.shape, (dim,), keepdim)
        return input.with_shape(shape), tensor_type(dtypes.int64, shape, input.device)

    return rule


# ---- helpers of rules ------------------------------------------------------------------------------------------------------------


@helper
def kept(g: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    """A reduced value with its dimensions of size 1 put back; it broadcasts to the input."""
    if keepdim or dim is None or dim == () or not shape:
        return g
    return reshape(g, tuple([1 if i in dim else n for i, n in enumerate(shape)]))


@helper
def unreduce(g: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of a sum, broadcast back to the input's shape."""
    return expand(kept(g, shape, dim, keepdim), shape)


@helper
def reduced_sizes(shape: Any, dim: Any) -> Any:
    """The sizes of the dimensions that are reduced."""
    return shape if dim is None or dim == () or not shape else tuple([shape[i] for i in dim])


@helper
def cast_back(g: Any, dtype: Any, input_dtype: Any) -> Any:
    """The gradient in the input's dtype where the operation had a `dtype` argument."""
    return g if dtype is None or dtype is input_dtype else to(g, input_dtype)


@helper
def split_ties(g: Any, input: Any, result: Any, input_shape: Any, input_dtype: Any, dim: Any, keepdim: bool) -> Any:
    """The gradient of an extremum: shared evenly by the elements equal to it (NaN counts as equal to NaN)."""
    r = kept(result, input_shape, dim, keepdim)
    chosen = logical_or(eq(input, r), logical_and(isnan(input), isnan(r)))
    share = kept(g, input_shape, dim, keepdim) / sum(chosen, dim, True, dtype=input_dtype)
    return where(chosen, share, 0.0)


@helper
def squared(x: Any) -> Any:
    return x * x


@helper
def counted(sizes: Any, correction: Any) -> Any:
    """What `divide_by_count` divides by; the sizes must be known."""
    n = 1
    for size in sizes:
        n = n * size
    return float(n - correction) if n > correction else 0.0


def _divide_by_count(input: Any, sizes: tuple[int, ...], correction: Any = 0) -> Any:
    n = math.prod(sizes) - correction
    return input / n if n > 0 else input * np.inf


define(
    "divide_by_count(Tensor input, Shape sizes, Scalar correction=0) -> Tensor",
    type_rule=lambda input, sizes, correction: input, reference=_divide_by_count, method=False,
    gradient=(lambda g, sizes, correction: divide_by_count(g, sizes, correction),),
    decomposition=lambda input, sizes, correction: input / counted(sizes, correction),
    doc="""The elements divided by the product of `sizes` less `correction` (by 0 where that is negative).

    Gradients of means use it: the sizes may be symbolic.""",
)  # fmt: skip


# ---- sum, mean, product -------------------------------------------------------------------------------------------------------------


def _sum(input: Any, dim: Any = None, keepdim: bool = False, dtype: DType | None = None) -> Any:
    if dtype is not None:
        input = input.astype(working(dtype))
    elif input.dtype.kind in "ub":
        input = input.astype(np.int64)
    return add_reduce(input, axes_of(input, dim), keepdim)


define(
    "sum(Tensor input, Dim[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    type_rule=summed_type, reference=_sum, specialize=tiny_sum, cost="reduction", onnx="ReduceSum@13",
    gradient=(
        lambda g, input_shape, input_dtype, dim, keepdim, dtype: cast_back(unreduce(g, input_shape, dim, keepdim), dtype, input_dtype),
    ),
    doc="""The sum over `dim` (all dimensions by default). Integers and bools are summed in int64.""",
)  # fmt: skip


def _sum_to_size_type(input: TensorType, size: tuple[Any, ...]) -> TensorType:
    lead = input.ndim - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, input.shape[lead:], strict=True)):
        raise ShapeError(f"sum_to_size: a tensor of shape {input.shape} cannot be summed to {size}")
    return input.with_shape(tuple(size))


def _sum_to_size(input: Any, size: tuple[int, ...]) -> Any:
    if input.shape == size:
        return np.array(input)
    lead = input.ndim - len(size)
    axes = (*range(lead), *(i + lead for i, n in enumerate(size) if n == 1 and input.shape[i + lead] != 1))
    return add_reduce(input, axes, True).reshape(size) if axes else np.array(input).reshape(size)


define(
    "sum_to_size(Tensor input, Shape size) -> Tensor",
    type_rule=_sum_to_size_type, reference=_sum_to_size, cost="reduction",
    gradient=(lambda g, input_shape: expand(g, input_shape),),
    decomposition=lambda input, size: summed_to(input, size),
    doc="The sum that undoes broadcasting: `size` must broadcast to the input's shape.",
)  # fmt: skip


def _mean(input: Any, dim: Any = None, keepdim: bool = False, dtype: DType | None = None) -> Any:
    if dtype is not None:
        input = input.astype(working(dtype))
    axes = axes_of(input, dim)
    total = add_reduce(input, axes, keepdim)
    n = count_over(input, axes)
    return total / n if n else total * np.nan


define(
    "mean(Tensor input, Dim[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    type_rule=float_reduction("mean"), reference=_mean, cost="reduction", onnx="ReduceMean@18",
    gradient=(
        lambda g, input_shape, input_dtype, dim, keepdim, dtype: cast_back(
            unreduce(divide_by_count(g, reduced_sizes(input_shape, dim)), input_shape, dim, keepdim), dtype, input_dtype
        ),
    ),
    decomposition=lambda input, dim, keepdim, dtype: (
        sum(input, dim, keepdim, dtype=dtype) / counted(reduced_sizes(input.shape, dim), 0)
    ),
    doc="""The mean over `dim` (all dimensions by default); NaN of no elements. Takes floating-point tensors, others with `dtype=`.""",
)  # fmt: skip


def _nansum(input: Any, dim: Any = None, keepdim: bool = False, dtype: DType | None = None) -> Any:
    return _sum(np.where(np.isnan(input), input.dtype.type(0), input) if input.dtype.kind == "f" else input, dim, keepdim, dtype)


define(
    "nansum(Tensor input, Dim[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    type_rule=summed_type, reference=_nansum, cost="reduction",
    gradient=(
        lambda g, input, input_shape, input_dtype, dim, keepdim, dtype: where(
            isnan(input), 0.0, cast_back(unreduce(g, input_shape, dim, keepdim), dtype, input_dtype)
        ),
    ),
    decomposition=lambda input, dim, keepdim, dtype: sum(where(isnan(input), 0, input), dim, keepdim, dtype=dtype),
    doc="The sum over `dim` in which NaN counts as 0.",
)  # fmt: skip


def _prod(input: Any, dim: int | None = None, keepdim: Any = False, dtype: DType | None = None) -> Any:
    if dtype is not None:
        input = input.astype(working(dtype))
    elif input.dtype.kind in "ub":
        input = input.astype(np.int64)
    return np.multiply.reduce(input, axis=None if input.ndim == 0 else dim, keepdims=keepdim)


@helper
def product_of_others(x: Any, dim: int) -> Any:
    """For each element the product of the others along `dim`: exact where some are 0, since nothing is divided."""
    before = shift(cumprod(x, dim), dim, 1, 1.0)
    after = flip(shift(cumprod(flip(x, (dim,)), dim), dim, 1, 1.0), (dim,))
    return before * after


@helper
def prod_gradient(g: Any, input: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
    if dim is None or not shape:
        return reshape(g, (1,)) * product_of_others(reshape(input, (-1,)), 0)
    return kept(g, shape, (dim,), keepdim) * product_of_others(input, dim)


define(
    "prod(Tensor input, Dim? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    type_rule=summed_type, reference=_prod, cost="reduction", onnx="ReduceProd@18",
    gradient=(
        lambda g, input, input_shape, input_dtype, dim, keepdim, dtype: cast_back(
            reshape(prod_gradient(g, input, input_shape, dim, keepdim), input_shape), dtype, input_dtype
        ),
    ),
    doc="The product over one dimension (all by default); 1 of no elements. Integers and bools are multiplied in int64.",
)  # fmt: skip

# ---- variance ---------------------------------------------------------------------------------------------------------------------


def _var(input: Any, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    axes = axes_of(input, dim)
    n = count_over(input, axes)
    if n == 0:
        return add_reduce(input, axes, keepdim) * np.nan
    d = input - add_reduce(input, axes, True) / n
    total = add_reduce(d * d, axes, keepdim)
    correction = 1 if correction is None else correction
    return total / (n - correction) if n > correction else total * np.nan + np.where(total > 0, np.inf, np.nan)


def _std(input: Any, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Any:
    return np.sqrt(_var(input, dim, correction, keepdim))


@helper
def var_gradient(g: Any, input: Any, input_shape: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    factor = divide_by_count(kept(g, input_shape, dim, keepdim), reduced_sizes(input_shape, dim), 1 if correction is None else correction)
    return (input - mean(input, dim, True)) * (factor * 2.0)


define(
    "var(Tensor input, Dim[]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> Tensor",
    type_rule=float_reduction("var"), reference=_var, cost="reduction",
    gradient=(lambda g, input, input_shape, dim, correction, keepdim: var_gradient(g, input, input_shape, dim, correction, keepdim),),
    decomposition=lambda input, dim, correction, keepdim: divide_by_count(
        sum(squared(input - mean(input, dim, True)), dim, keepdim), reduced_sizes(input.shape, dim), 1 if correction is None else correction
    ),
    doc="""The variance over `dim` with `correction` taken off the number of elements (1: unbiased), computed in two passes.

    NaN where no element is left after the correction.""",
)  # fmt: skip
define(
    "std(Tensor input, Dim[]? dim=None, *, Scalar? correction=1, bool keepdim=False) -> Tensor",
    type_rule=float_reduction("std"), reference=_std, cost="reduction",
    gradient=(
        lambda g, input, result, input_shape, dim, correction, keepdim: var_gradient(
            where(eq(result, 0.0), 0.0, g / (result * 2.0)), input, input_shape, dim, correction, keepdim
        ),
    ),
    decomposition=lambda input, dim, correction, keepdim: sqrt(var(input, dim, correction=correction, keepdim=keepdim)),
    doc="The standard deviation, see `var`. Its gradient where it is 0 is taken as 0.",
)  # fmt: skip

# ---- extrema ------------------------------------------------------------------------------------------------------------------------


def _amax(input: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return np.maximum.reduce(input, axis=axes_of(input, dim), keepdims=keepdim)


def _amin(input: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return np.minimum.reduce(input, axis=axes_of(input, dim), keepdims=keepdim)


define(
    "amax(Tensor input, Dim[]? dim=None, bool keepdim=False) -> Tensor",
    type_rule=extremum("amax"), reference=_amax, cost="reduction", onnx="ReduceMax@18",
    gradient=(
        lambda g, input, result, input_shape, input_dtype, dim, keepdim: split_ties(
            g, input, result, input_shape, input_dtype, dim, keepdim
        ),
    ),
    doc="The greatest element over `dim` (all dimensions by default); NaN if there is one. The gradient is shared evenly by equal maxima.",
)  # fmt: skip
define(
    "amin(Tensor input, Dim[]? dim=None, bool keepdim=False) -> Tensor",
    type_rule=extremum("amin"), reference=_amin, cost="reduction", onnx="ReduceMin@18",
    gradient=(
        lambda g, input, result, input_shape, input_dtype, dim, keepdim: split_ties(
            g, input, result, input_shape, input_dtype, dim, keepdim
        ),
    ),
    doc="The least element over `dim` (all dimensions by default); NaN if there is one. The gradient is shared evenly by equal minima.",
)  # fmt: skip
define(
    "max(Tensor input) -> Tensor",
    type_rule=extremum("max"), reference=_amax, cost="reduction", node_name="MaxBackward1", onnx="ReduceMax@18",
    gradient=(lambda g, input, result, input_shape, input_dtype: split_ties(g, input, result, input_shape, input_dtype, None, False),),
    doc="The greatest of all elements. `twofold.max` also takes a dimension (`max_dim`) or a second tensor (`maximum`).",
)  # fmt: skip
define(
    "min(Tensor input) -> Tensor",
    type_rule=extremum("min"), reference=_amin, cost="reduction", node_name="MinBackward1", onnx="ReduceMin@18",
    gradient=(lambda g, input, result, input_shape, input_dtype: split_ties(g, input, result, input_shape, input_dtype, None, False),),
    doc="The least of all elements. `twofold.min` also takes a dimension (`min_dim`) or a second tensor (`minimum`).",
)  # fmt: skip


def pick(input: Any, indices: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """(values, indices) for indices with `dim` kept."""
    values = np.take_along_axis(input, indices, dim)
    return (values, indices) if keepdim else (np.squeeze(values, dim), np.squeeze(indices, dim))


def _max_dim(input: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    if input.ndim == 0:
        return input.copy(), np.int64(0)
    return pick(input, np.argmax(input, dim, keepdims=True), dim, keepdim)


def _min_dim(input: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    if input.ndim == 0:
        return input.copy(), np.int64(0)
    return pick(input, np.argmin(input, dim, keepdims=True), dim, keepdim)


def _select_backward(grad: Any, dim: int, indices: Any, sizes: tuple[int, ...], keepdim: bool) -> Any:
    if not sizes:
        return np.array(grad)
    out = np.zeros(sizes, grad.dtype)
    if not keepdim:
        grad, indices = np.expand_dims(grad, dim), np.expand_dims(indices, dim)
    np.put_along_axis(out, indices, grad, dim)
    return out


@helper
def gather_kept(h: Any, dim: int, indices: Any, sizes: Any, keepdim: bool) -> Any:
    """The adjoint of `value_selecting_reduction_backward`."""
    if not sizes:
        return h
    if keepdim:
        return gather(h, dim, indices)
    return squeeze(gather(h, dim, unsqueeze(indices, dim)), (dim,))


define(
    "value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, Shape sizes, bool keepdim) -> Tensor",
    type_rule=lambda grad, indices, dim, sizes, keepdim: grad.with_shape(sizes), method=False, cost="scatter",
    reference=lambda grad, indices, dim, sizes, keepdim: _select_backward(grad, dim, indices, sizes, keepdim),
    gradient=(lambda g, indices, dim, sizes, keepdim: gather_kept(g, dim, indices, sizes, keepdim), NOT_DIFFERENTIABLE),
    decomposition=lambda grad, indices, dim, sizes, keepdim: placed_at(grad, dim, indices, sizes, keepdim),
    doc="Zeros of shape `sizes` with `grad` at `indices` along `dim`, which name no place twice: the gradient of choosing elements.",
)  # fmt: skip
define(
    "max_dim(Tensor input, Dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    type_rule=values_and_indices("max"), reference=_max_dim, cost="reduction", node_name="MaxBackward0", method=False,
    gradient=(
        lambda g_values, indices, input_shape, dim, keepdim: value_selecting_reduction_backward(
            g_values, dim, indices, input_shape, keepdim
        ),
    ),
    doc="The greatest elements along one dimension and the first index of each (that of the first NaN if there is one).",
)  # fmt: skip
define(
    "min_dim(Tensor input, Dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    type_rule=values_and_indices("min"), reference=_min_dim, cost="reduction", node_name="MinBackward0", method=False,
    gradient=(
        lambda g_values, indices, input_shape, dim, keepdim: value_selecting_reduction_backward(
            g_values, dim, indices, input_shape, keepdim
        ),
    ),
    doc="The least elements along one dimension and the first index of each (that of the first NaN if there is one).",
)  # fmt: skip


def _argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return np.argmax(input, None if input.ndim == 0 else dim, keepdims=keepdim)


def _argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    return np.argmin(input, None if input.ndim == 0 else dim, keepdims=keepdim)


define(
    "argmax(Tensor input, Dim? dim=None, bool keepdim=False) -> Tensor",
    type_rule=extremum("argmax", dtypes.int64), reference=_argmax, cost="reduction", gradient=NOT_DIFFERENTIABLE, onnx="ArgMax@13",
    doc="The index of the first greatest element along `dim` (of the flattened tensor by default); of the first NaN if there is one.",
)  # fmt: skip
define(
    "argmin(Tensor input, Dim? dim=None, bool keepdim=False) -> Tensor",
    type_rule=extremum("argmin", dtypes.int64), reference=_argmin, cost="reduction", gradient=NOT_DIFFERENTIABLE, onnx="ArgMin@13",
    doc="The index of the first least element along `dim` (of the flattened tensor by default); of the first NaN if there is one.",
)  # fmt: skip

# ---- tests -----------------------------------------------------------------------------------------------------------------------------


def _test_type(input: TensorType, dim: Any, keepdim: bool) -> TensorType:
    out = dtypes.uint8 if input.dtype is dtypes.uint8 else dtypes.bool_
    return tensor_type(out, reduced_shape(input.shape, dim, keepdim), input.device)


define(
    "any(Tensor input, Dim[]? dim=None, bool keepdim=False) -> Tensor",
    type_rule=_test_type, cost="reduction", gradient=NOT_DIFFERENTIABLE,
    reference=lambda input, dim=None, keepdim=False: np.logical_or.reduce(input, axis=axes_of(input, dim), keepdims=keepdim),
    doc="Whether some element over `dim` (all dimensions by default) is not 0; False of no elements. bool, of uint8 uint8 as in PyTorch.",
)  # fmt: skip
define(
    "all(Tensor input, Dim[]? dim=None, bool keepdim=False) -> Tensor",
    type_rule=_test_type, cost="reduction", gradient=NOT_DIFFERENTIABLE,
    reference=lambda input, dim=None, keepdim=False: np.logical_and.reduce(input, axis=axes_of(input, dim), keepdims=keepdim),
    doc="Whether every element over `dim` (all dimensions by default) is not 0; True of no elements. bool, of uint8 uint8 as in PyTorch.",
)  # fmt: skip
define(
    "count_nonzero(Tensor input, Dim[]? dim=None) -> Tensor",
    type_rule=lambda input, dim: tensor_type(dtypes.int64, reduced_shape(input.shape, dim, False), input.device),
    reference=lambda input, dim=None: np.add.reduce(np.not_equal(input, 0), axis=axes_of(input, dim), dtype=np.int64),
    cost="reduction", gradient=NOT_DIFFERENTIABLE,
    decomposition=lambda input, dim: sum(ne(input, 0), dim),
    doc="How many elements over `dim` (all dimensions by default) are not 0.",
)  # fmt: skip

# ---- logsumexp and norms ---------------------------------------------------------------------------------------------------------------


def _logsumexp_type(input: TensorType, dim: Any, keepdim: bool) -> TensorType:
    out = input.dtype if input.dtype.category == FLOAT else dtypes.get_default_dtype()
    return tensor_type(out, reduced_shape(input.shape, dim, keepdim), input.device)


def _logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    if input.dtype.kind != "f":
        input = input.astype(dtypes.get_default_dtype().numpy)
    axes = axes_of(input, dim)
    if count_over(input, axes) == 0:
        return add_reduce(input, axes, keepdim) - np.inf
    top = np.maximum.reduce(input, axis=axes, keepdims=True)
    top = np.where(np.isinf(top), top.dtype.type(0), top)
    total = np.log(add_reduce(np.exp(input - top), axes, keepdim))
    return total + top.reshape(np.shape(total))


define(
    "logsumexp(Tensor input, Dim[] dim, bool keepdim=False) -> Tensor",
    type_rule=_logsumexp_type, reference=_logsumexp, cost="reduction", onnx="ReduceLogSumExp@18",
    gradient=(
        lambda g, input, result, input_shape, dim, keepdim: (
            kept(g, input_shape, dim, keepdim) * exp(input - kept(result, input_shape, dim, keepdim))
        ),
    ),
    decomposition=lambda input, dim, keepdim: logsumexp_parts(input, dim, keepdim),
    doc="log(sum(exp(input))) over `dim` without overflow: the maximum is taken out first. Integers become the default float dtype.",
)  # fmt: skip


def _vector_norm(input: Any, ord: Any = 2, dim: Any = None, keepdim: Any = False, dtype: DType | None = None) -> Any:
    if dtype is not None:
        input = input.astype(working(dtype))
    axes = axes_of(input, dim)
    if ord == 2:
        return np.sqrt(add_reduce(input * input, axes, keepdim))
    if ord == 0:
        return add_reduce(np.not_equal(input, 0).astype(input.dtype), axes, keepdim)
    size = np.abs(input)
    if ord == 1:
        return add_reduce(size, axes, keepdim)
    if ord in (math.inf, -math.inf):
        return (np.maximum if ord > 0 else np.minimum).reduce(size, axis=axes, keepdims=keepdim)
    return add_reduce(size ** float(ord), axes, keepdim) ** (1.0 / ord)


def _vector_norm_type(input: TensorType, ord: Any, dim: Any, keepdim: bool, dtype: DType | None) -> TensorType:
    require_float("linalg_vector_norm", dtype or input.dtype)
    if ord < 0 or ord == math.inf:
        check_not_empty(f"linalg_vector_norm (ord={ord})", input.shape, dim)
    return tensor_type(dtype or input.dtype, reduced_shape(input.shape, dim, keepdim), input.device)


@helper
def norm_gradient(g: Any, x: Any, result: Any, ord: Any, dim: Any, dtype: Any) -> Any:
    """The gradient of a vector norm (`g` and `result` with dimensions kept); where it does not exist, a subgradient that is 0 at 0."""
    if ord == 0:
        return g * 0.0 * sign(x)
    if ord == 1:
        return g * sign(x)
    if ord == 2:
        return x * where(eq(result, 0.0), 0.0, g / result)
    if ord == float("inf") or ord == float("-inf"):
        chosen = logical_or(eq(abs(x), result), isnan(x))
        return where(chosen, g / sum(chosen, dim, True, dtype=dtype), 0.0) * sign(x)
    nonzero = where(eq(x, 0.0), 1.0, x)
    power = where(eq(x, 0.0), 0.0, sign(x) * pow(abs(nonzero), ord - 1.0))
    return power * where(eq(result, 0.0), 0.0, g * pow(where(eq(result, 0.0), 1.0, result), 1.0 - ord))


define(
    "linalg_vector_norm(Tensor input, Scalar ord=2, Dim[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    type_rule=_vector_norm_type, reference=_vector_norm, cost="reduction", method=False,
    gradient=(
        lambda g, input, result, input_shape, input_dtype, ord, dim, keepdim, dtype: cast_back(
            norm_gradient(
                kept(g, input_shape, dim, keepdim), input, kept(result, input_shape, dim, keepdim), ord, dim, dtype or input_dtype
            ),
            dtype, input_dtype,
        ),
    ),
    decomposition=lambda input, ord, dim, keepdim, dtype: norm_parts(cast_to(input, dtype), ord, dim, keepdim),
    doc="""The vector norm over `dim` (all dimensions by default): ord 2, 1, inf, -inf, 0 (elements that are not 0) or any number p.

    The gradient where the norm is 0 is taken as 0.""",
)  # fmt: skip
