"""Products of matrices and vectors.

No promotion takes place, as in PyTorch: both factors must have one dtype. Bool is refused, integers are multiplied exactly (modulo
2**bits). `A.dot(B)` is the quickest call NumPy has for two matrices; where strides do not suit BLAS it copies instead of falling to a
plain loop.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.types import TensorType, common_device
from twofold.ops.record import define, helper
from twofold.ops.typing import broadcast_shapes, tensor_operand
from twofold.support.errors import DTypeError, ShapeError

ndarray_dot = np.ndarray.dot


def factors(name: str, **operands: Any) -> tuple[TensorType, ...]:
    """The operands of a product: tensors of one dtype (not bool) on one device."""
    types = tuple(tensor_operand(name, t, argument) for argument, t in operands.items())
    first = types[0].dtype
    for t in types:
        if t.dtype is not first:
            shown = " and ".join(x.dtype.name for x in types)
            raise DTypeError(f"{name}: the operands must have one dtype, but they are {shown}; convert one with .to(dtype)")
    if first is dtypes.bool_:
        raise DTypeError(f"{name} does not take bool tensors; convert them with .to(dtype)")
    common_device(types, name)
    return types


def check_rank(name: str, t: TensorType, argument: str, *ranks: int) -> None:
    if t.ndim not in ranks:
        wanted = " or ".join(str(r) for r in ranks)
        raise ShapeError(
            f"{name}: {argument} must have {wanted} dimension{'' if wanted == '1' else 's'}, not {t.ndim} (shape {tuple(t.shape)})"
        )


def check_inner(name: str, a: TensorType, b: TensorType, n: Any, m: Any) -> None:
    if n != m:
        raise ShapeError(f"{name}: shapes {tuple(a.shape)} and {tuple(b.shape)} do not fit: the inner dimensions are {n} and {m}")


def product_flops(inner: Any, out: TensorType) -> Any:
    """A multiplication and an addition for each term."""
    return 2 * inner * out.numel


# ---- matrix and vector ------------------------------------------------------------------------------------------------------------


def _mm_type(input: TensorType, mat2: TensorType) -> TensorType:
    a, b = factors("mm", input=input, mat2=mat2)
    check_rank("mm", a, "input", 2)
    check_rank("mm", b, "mat2", 2)
    check_inner("mm", a, b, a.shape[1], b.shape[0])
    return a.with_shape((a.shape[0], b.shape[1]))


define(
    "mm(Tensor input, Tensor mat2) -> Tensor",
    type_rule=_mm_type, reference=np.matmul, eager=ndarray_dot, cost="matmul", onnx="MatMul@13",
    flops=lambda ins, outs, attributes: product_flops(ins[0].shape[1], outs[0]),
    gradient=(lambda g, mat2: mm(g, t(mat2)), lambda g, input: mm(t(input), g)),
    doc="""The product of two matrices, (n, m) and (m, p) to (n, p); both of one dtype, not bool.

Raises ShapeError unless both have two dimensions that fit, DTypeError for different dtypes.""",
)  # fmt: skip


def _mv_type(input: TensorType, vec: TensorType) -> TensorType:
    a, b = factors("mv", input=input, vec=vec)
    check_rank("mv", a, "input", 2)
    check_rank("mv", b, "vec", 1)
    check_inner("mv", a, b, a.shape[1], b.shape[0])
    return a.with_shape((a.shape[0],))


define(
    "mv(Tensor input, Tensor vec) -> Tensor",
    type_rule=_mv_type, reference=np.matmul, eager=ndarray_dot, cost="matmul", onnx="MatMul@13",
    flops=lambda ins, outs, attributes: product_flops(ins[0].shape[1], outs[0]),
    gradient=(lambda g, vec: unsqueeze(g, 1) * vec, lambda g, input: mv(t(input), g)),
    doc="The product of a matrix (n, m) and a vector (m,), of shape (n,).",
)  # fmt: skip


def _dot_type(input: TensorType, tensor: TensorType) -> TensorType:
    a, b = factors("dot", input=input, tensor=tensor)
    check_rank("dot", a, "input", 1)
    check_rank("dot", b, "tensor", 1)
    check_inner("dot", a, b, a.shape[0], b.shape[0])
    return a.with_shape(())


define(
    "dot(Tensor input, Tensor tensor) -> Tensor",
    type_rule=_dot_type, reference=np.dot, cost="matmul", onnx="MatMul@13",
    flops=lambda ins, outs, attributes: product_flops(ins[0].shape[0], outs[0]),
    gradient=(lambda g, tensor: g * tensor, lambda g, input: g * input),
    doc="The sum of the products of two vectors of one length: a 0-d tensor.",
)  # fmt: skip


def _bmm_type(input: TensorType, mat2: TensorType) -> TensorType:
    a, b = factors("bmm", input=input, mat2=mat2)
    check_rank("bmm", a, "input", 3)
    check_rank("bmm", b, "mat2", 3)
    if a.shape[0] != b.shape[0]:
        raise ShapeError(f"bmm: batches of {a.shape[0]} and {b.shape[0]} matrices (shapes {tuple(a.shape)} and {tuple(b.shape)})")
    check_inner("bmm", a, b, a.shape[2], b.shape[1])
    return a.with_shape((a.shape[0], a.shape[1], b.shape[2]))


define(
    "bmm(Tensor input, Tensor mat2) -> Tensor",
    type_rule=_bmm_type, reference=np.matmul, cost="matmul", onnx="MatMul@13",
    flops=lambda ins, outs, attributes: product_flops(ins[0].shape[2], outs[0]),
    gradient=(lambda g, mat2: bmm(g, transpose(mat2, 1, 2)), lambda g, input: bmm(transpose(input, 1, 2), g)),
    doc="The products of a batch of matrices: (b, n, m) and (b, m, p) to (b, n, p). Batches are not broadcast; `matmul` does that.",
)  # fmt: skip

# ---- matmul of any rank --------------------------------------------------------------------------------------------------------------


def _matmul_type(input: TensorType, other: TensorType) -> TensorType:
    a, b = factors("matmul", input=input, other=other)
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError(
            f"matmul: both operands need at least one dimension, but their shapes are {tuple(a.shape)} and {tuple(b.shape)}; use *"
        )
    check_inner("matmul", a, b, a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[0])
    batch = broadcast_shapes("matmul", a.shape[:-2], b.shape[:-2])
    return a.with_shape((*batch, *a.shape[:-1][-1:], *(b.shape[-1:] if b.ndim > 1 else ())))


def _matmul(input: Any, other: Any) -> Any:
    """Many rows times one matrix are one product (also where the matrix is repeated by `expand`); the rest is NumPy's."""
    if other.ndim > 2 and input.ndim == other.ndim and input.shape[:-2] == other.shape[:-2] and not any(other.strides[:-2]) and other.size:
        other = other[(0,) * (other.ndim - 2)]
    if other.ndim == 2:
        if input.ndim == 2:
            return input.dot(other)
        if input.ndim > 2 and input.shape[-1]:
            return input.reshape(-1, input.shape[-1]).dot(other).reshape((*input.shape[:-1], other.shape[1]))
    return np.matmul(input, other)


@helper
def matmul_backward_input(g: Any, other: Any, input_shape: Any, other_shape: Any) -> Any:
    """The gradient of the left factor."""
    if len(other_shape) == 1:
        return unbroadcast(unsqueeze(g, len(input_shape) - 1) * other, input_shape)
    if len(input_shape) == 1:
        last = len(other_shape) - 2
        return unbroadcast(squeeze(matmul(other, unsqueeze(g, last + 1)), (last + 1,)), input_shape)
    return unbroadcast(matmul(g, swapped(other)), input_shape)


@helper
def matmul_backward_other(g: Any, input: Any, input_shape: Any, other_shape: Any) -> Any:
    """The gradient of the right factor. Where one matrix is shared by a batch, the batch is part of the sum inside the product."""
    if len(input_shape) == 1:
        if len(other_shape) == 1:
            return g * input
        return unbroadcast(unsqueeze(input, 1) * unsqueeze(g, len(other_shape) - 2), other_shape)
    if len(other_shape) == 1:
        return mv(t(flat_rows(input)), reshape(g, (count_of(g.shape),)))
    if len(other_shape) == 2:
        return mm(t(flat_rows(input)), flat_rows(g))
    return unbroadcast(matmul(swapped(input), g), other_shape)


@helper
def swapped(x: Any) -> Any:
    """Every matrix of a batch transposed."""
    n = len(x.shape)
    return transpose(x, n - 2, n - 1)


@helper
def unbroadcast(g: Any, shape: Any) -> Any:
    """`sum_to_size` where there is something to sum."""
    return g if g.shape == shape else sum_to_size(g, shape)


@helper
def count_of(shape: Any) -> Any:
    """The number of elements of a shape."""
    count = 1
    for n in shape:
        count = count * n
    return count


@helper
def flat_rows(x: Any) -> Any:
    """All rows of a tensor as one matrix."""
    return x if len(x.shape) == 2 else reshape(x, (count_of(x.shape[:-1]), x.shape[-1]))


define(
    "matmul(Tensor input, Tensor other) -> Tensor",
    type_rule=_matmul_type, reference=np.matmul, eager=_matmul, cost="matmul", onnx="MatMul@13",
    flops=lambda ins, outs, attributes: product_flops(ins[0].shape[-1], outs[0]),
    gradient=(
        lambda g, other, input_shape, other_shape: matmul_backward_input(g, other, input_shape, other_shape),
        lambda g, input, input_shape, other_shape: matmul_backward_other(g, input, input_shape, other_shape),
    ),
    doc="""The matrix product with broadcast batches.

A 1-d operand is a row on the left and a column on the right, and its dimension vanishes. The public `matmul` (and `@`) records
`dot`, `mv`, `mm` and `bmm` where the ranks are theirs, and this operation for all other ranks.""",
)  # fmt: skip

# ---- products with an addend -----------------------------------------------------------------------------------------------------------


def _added(name: str, base: TensorType, out: TensorType) -> TensorType:
    """The addend must broadcast to the product."""
    lead = out.ndim - base.ndim
    if lead < 0 or any(n not in (1, m) for n, m in zip(base.shape, out.shape[lead:], strict=True)):
        raise ShapeError(f"{name}: the addend of shape {tuple(base.shape)} does not broadcast to the product's shape {tuple(out.shape)}")
    return out


def _addmm_type(input: TensorType, mat1: TensorType, mat2: TensorType, beta: Any, alpha: Any) -> TensorType:
    base, a, b = factors("addmm", input=input, mat1=mat1, mat2=mat2)
    check_rank("addmm", a, "mat1", 2)
    check_rank("addmm", b, "mat2", 2)
    check_inner("addmm", a, b, a.shape[1], b.shape[0])
    check_scales("addmm", base, beta, alpha)
    return _added("addmm", base, a.with_shape((a.shape[0], b.shape[1])))


def check_scales(name: str, t: TensorType, *scales: Any) -> None:
    if not t.dtype.is_floating_point and any(type(s) is float for s in scales):
        raise DTypeError(f"{name}: for {t.dtype.name} tensors alpha and beta must be integers, not {' and '.join(map(repr, scales))}")


def scaled(array: Any, factor: Any) -> Any:
    """array * factor, the factor in the array's dtype (of integers: its whole part)."""
    return array if factor == 1 else array * np.asarray(factor).astype(array.dtype)


def _add_product(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta * input + alpha * product, where beta = 0 ignores the input (NaN too) as BLAS does."""
    result = scaled(product, alpha)
    if beta != 0:
        result = result + scaled(input, beta)
    return result


define(
    "addmm(Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    type_rule=_addmm_type, cost="matmul", inplace=True, onnx="Gemm@13",
    reference=lambda input, mat1, mat2, beta=1, alpha=1: _add_product(input, mat1.dot(mat2), beta, alpha),
    flops=lambda ins, outs, attributes: product_flops(ins[1].shape[1], outs[0]) + 2 * outs[0].numel,
    gradient=(
        lambda g, input_shape, beta: unbroadcast(g * beta, input_shape),
        lambda g, mat2, alpha: mm(g, t(mat2)) * alpha,
        lambda g, mat1, alpha: mm(t(mat1), g) * alpha,
    ),
    doc="""beta * input + alpha * (mat1 @ mat2), the addend broadcast to the product's shape; beta=0 ignores the addend.""",
)  # fmt: skip


def _baddbmm_type(input: TensorType, batch1: TensorType, batch2: TensorType, beta: Any, alpha: Any) -> TensorType:
    base, a, b = factors("baddbmm", input=input, batch1=batch1, batch2=batch2)
    check_rank("baddbmm", a, "batch1", 3)
    check_rank("baddbmm", b, "batch2", 3)
    if a.shape[0] != b.shape[0]:
        raise ShapeError(f"baddbmm: batches of {a.shape[0]} and {b.shape[0]} matrices (shapes {tuple(a.shape)} and {tuple(b.shape)})")
    check_inner("baddbmm", a, b, a.shape[2], b.shape[1])
    return _added("baddbmm", base, a.with_shape((a.shape[0], a.shape[1], b.shape[2])))


define(
    "baddbmm(Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    type_rule=_baddbmm_type, cost="matmul", inplace=True,
    reference=lambda input, batch1, batch2, beta=1, alpha=1: _add_product(input, np.matmul(batch1, batch2), beta, alpha),
    flops=lambda ins, outs, attributes: product_flops(ins[1].shape[2], outs[0]) + 2 * outs[0].numel,
    gradient=(
        lambda g, input_shape, beta: unbroadcast(g * beta, input_shape),
        lambda g, batch2, alpha: bmm(g, transpose(batch2, 1, 2)) * alpha,
        lambda g, batch1, alpha: bmm(transpose(batch1, 1, 2), g) * alpha,
    ),
    doc="beta * input + alpha * (batch1 @ batch2) for batches of matrices; beta=0 ignores the addend.",
)  # fmt: skip
