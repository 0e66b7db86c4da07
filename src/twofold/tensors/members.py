"""The members of `Tensor`, for type checkers. Generated from the records and functions by tools/stubs.py: do not edit.

At run time `tensors.methods` attaches the functions themselves; nothing imports this module.
"""
# ruff: noqa
# mypy: disable-error-code="empty-body,override,misc,no-overload-impl"

from __future__ import annotations

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from builtins import bool as _bool
    from builtins import float as _float
    from builtins import int as _int
    from collections.abc import Callable
    from collections.abc import Iterator
    from collections.abc import Sequence
    from twofold.ir.dtypes import DType
    from twofold.tensors.convolution import Size as _Size
    from twofold.tensors.core import Size
    from twofold.tensors.core import Tensor
    from twofold.tensors.device import device as _device
    from twofold.tensors.limits import layout as _layout
    from twofold.tensors.nodes import RemovableHandle
    from twofold.tensors.random import Generator
    from twofold.tensors.typing import DTypeLike
    from twofold.tensors.typing import Number
    from typing import Any
    import numpy as np


class TensorMembers:
    """What `Tensor` has besides its slots."""

    @property
    def H(self) -> Tensor:
        """The transposed matrix (there are no complex numbers)."""

    @property
    def T(self) -> Tensor:
        """A view with the dimensions in reverse order."""

    @property
    def _base(self) -> Tensor | None:
        """The tensor this one is a view of, or None."""

    @property
    def _version(self) -> _int:
        """How often its memory has been written in place."""

    @property
    def data(self) -> Tensor:
        """The same memory without history; prefer `detach()`."""
    @data.setter
    def data(self, value: Tensor) -> None:
        """Replace the tensor's memory by another's, keeping its identity, gradient and hooks."""

    @property
    def device(self) -> _device:
        """Where the data is: `cpu` or `meta`."""

    @property
    def dtype(self) -> DType:
        """The element type."""

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient of a leaf (or of a tensor with `retain_grad`), or None."""
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...

    @property
    def grad_fn(self) -> Any:
        """The backward node of the operation that made it, or None."""

    @property
    def is_cpu(self) -> _bool:
        """True for a tensor with data: it lies in the computer's main memory."""

    @property
    def is_cuda(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_ipu(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_leaf(self) -> _bool:
        """True if no recorded operation made it."""

    @property
    def is_maia(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_meta(self) -> _bool:
        """True on the meta device: a shape and a dtype without data."""

    @property
    def is_mkldnn(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_mps(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_mtia(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_nested(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_quantized(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_sparse(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_sparse_csr(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_vulkan(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_xla(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def is_xpu(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    @property
    def itemsize(self) -> _int:
        """Bytes of one element."""

    @property
    def layout(self) -> _layout:
        """`twofold.strided`: the only layout there is."""

    @property
    def mH(self) -> Tensor:
        """A view with the last two dimensions exchanged."""

    @property
    def mT(self) -> Tensor:
        """A view with the last two dimensions exchanged."""

    @property
    def nbytes(self) -> Any:
        """Bytes of all elements."""

    @property
    def ndim(self) -> _int:
        """The number of dimensions."""

    @property
    def output_nr(self) -> _int:
        """Which output of `grad_fn` it is."""

    @property
    def real(self) -> Tensor:
        """The tensor itself: there are no complex numbers."""

    @property
    def requires_grad(self) -> _bool:
        """True if gradients are wanted for it, or flow through it."""
    @requires_grad.setter
    def requires_grad(self, value: _bool) -> None: ...

    @property
    def retains_grad(self) -> _bool:
        """True if `retain_grad` was called on this non-leaf."""

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""

    def __abs__(self) -> Tensor:
        """The absolute value; its gradient at 0 is 0."""

    def __add__(self, other: Tensor | Number) -> Tensor:
        """Elementwise sum; of bools, the logical or."""

    def __and__(self, other: Tensor | Number) -> Tensor:
        """And of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""

    def __array__(self, dtype: Any = None, copy: _bool | None = None) -> np.ndarray: ...

    def __bool__(self) -> _bool: ...

    def __complex__(self) -> complex: ...

    def __contains__(self, value: Any) -> _bool: ...

    def __deepcopy__(self, memo: dict[_int, Any]) -> Tensor: ...

    def __div__(self, other: Tensor | Number) -> Tensor:
        """Elementwise true division; integers are divided in the default floating-point dtype."""

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[_int, _int] | None = None, dl_device: tuple[_int, _int] | None = None, copy: _bool | None = None) -> Any:
        """The tensor's memory as a DLPack capsule (of the newer, versioned kind if `max_version` is (1, 0) or later).

        Raises ExportError (a BufferError) for a tensor that requires grad, a symbol, the meta device, another `dl_device`, or read-only
        memory that
        the older kind of capsule cannot mark as such.
        """

    def __dlpack_device__(self) -> tuple[_int, _int]:
        """(kDLCPU, 0)."""

    def __eq__(self, other: Any) -> Tensor: ...

    def __float__(self) -> _float: ...

    def __floordiv__(self, other: Tensor | Number) -> Tensor:
        """The quotient rounded down. An integer division by zero raises ValueRangeError. The gradient is zero (PyTorch has none)."""

    def __format__(self, spec: str) -> str:
        """A 0-d tensor formats as its number, anything else as `str` (then no format specification is allowed)."""

    def __ge__(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is greater than or equal to the second. False where either is NaN."""

    def __getitem__(self, index: Any) -> Tensor:
        """`x[index]`: a view for integers, slices, None and ellipsis; a copy where tensors, masks, arrays or lists are among them.

        Raises IndexOutOfRange (an IndexError) for indices outside the tensor, of the wrong kind, or too many; ValueRangeError for steps
        below 1.
        """

    def __gt__(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is greater than the second. False where either is NaN."""

    def __iadd__(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`add` written into the first operand, which is returned."""

    def __iand__(self, other: Tensor | Number) -> Tensor:
        """`bitwise_and` whose result is written into the first operand, which is returned."""

    def __ifloordiv__(self, other: Tensor | Number) -> Tensor:
        """`floor_divide` whose result is written into the first operand, which is returned."""

    def __ilshift__(self, other: Tensor | Number) -> Tensor:
        """`bitwise_left_shift` whose result is written into the first operand, which is returned."""

    def __imod__(self, other: Tensor | Number) -> Tensor:
        """`remainder` whose result is written into the first operand, which is returned."""

    def __imul__(self, other: Tensor | Number) -> Tensor:
        """`mul` whose result is written into the first operand, which is returned."""

    def __index__(self) -> _int: ...

    def __int__(self) -> _int: ...

    def __invert__(self) -> Tensor:
        """Every bit inverted; of bools, the logical not. Floating-point dtypes raise DTypeError."""

    def __ior__(self, other: Tensor | Number) -> Tensor:
        """`bitwise_or` whose result is written into the first operand, which is returned."""

    def __ipow__(self, other: Tensor | Number) -> Tensor:
        """`pow` whose result is written into the first operand, which is returned."""

    def __irshift__(self, other: Tensor | Number) -> Tensor:
        """`bitwise_right_shift` whose result is written into the first operand, which is returned."""

    def __isub__(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`sub` written into the first operand, which is returned."""

    def __iter__(self) -> Iterator[Tensor]: ...

    def __itruediv__(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
        """`div` written into the first operand, which is returned."""

    def __ixor__(self, other: Tensor | Number) -> Tensor:
        """`bitwise_xor` whose result is written into the first operand, which is returned."""

    def __le__(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is less than or equal to the second. False where either is NaN."""

    def __len__(self) -> _int: ...

    def __lshift__(self, other: Tensor | Number) -> Tensor:
        """Bits moved up by `other` places; 0 where `other` is negative or too large."""

    def __lt__(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is less than the second. False where either is NaN."""

    def __matmul__(self, other: Tensor) -> Tensor:
        """The matrix product, with NumPy's and PyTorch's rules: two vectors give their dot product, a vector is a row on the left and a column
        on the right, and of operands with more than two dimensions the last two are matrices and the others a batch, which is broadcast.

        Both operands have one dtype (not bool), else DTypeError; ShapeError names both shapes where they do not fit.
        """

    def __mod__(self, other: Tensor | Number) -> Tensor:
        """The remainder of division rounded down: it has the sign of `other`. An integer division by zero raises ValueRangeError."""

    def __mul__(self, other: Tensor | Number) -> Tensor:
        """Elementwise product; of bools, the logical and."""

    def __ne__(self, other: Any) -> Tensor: ...

    def __neg__(self) -> Tensor:
        """Elementwise negation; unsigned integers wrap around. Bool raises DTypeError."""

    def __or__(self, other: Tensor | Number) -> Tensor:
        """Or of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""

    def __pos__(self) -> Tensor:
        """The tensor itself (`+x`)."""

    def __pow__(self, other: Tensor | Number) -> Tensor:
        """`input` to the power `other`.

        Integers to a negative Python number raise ValueRangeError; an integer tensor of negative exponents gives 0 except for bases 1 and -1.
        The node is PyTorch's for a number as exponent, `PowBackward0`, in every case.
        """

    def __radd__(self, other: Tensor | Number) -> Tensor:
        """Elementwise sum; of bools, the logical or."""

    def __rand__(self, other: Tensor | Number) -> Tensor:
        """And of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""

    def __rdiv__(self, other: Any) -> Tensor:
        """`other / self`, as PyTorch computes it: the reciprocal, times `other`."""

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]: ...

    def __repr__(self) -> str: ...

    def __rfloordiv__(self, other: Any) -> Tensor: ...

    def __rlshift__(self, other: Any) -> Tensor: ...

    def __rmatmul__(self, other: Any) -> Tensor:
        """`other @ self` for an `other` that is no tensor."""

    def __rmod__(self, other: Any) -> Tensor: ...

    def __rmul__(self, other: Tensor | Number) -> Tensor:
        """Elementwise product; of bools, the logical and."""

    def __ror__(self, other: Tensor | Number) -> Tensor:
        """Or of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""

    def __rpow__(self, other: Any) -> Tensor: ...

    def __rrshift__(self, other: Any) -> Tensor: ...

    def __rshift__(self, other: Tensor | Number) -> Tensor:
        """Bits moved down by `other` places, the sign kept; 0 (-1 of negative numbers) where `other` is negative or too large."""

    def __rsub__(self, other: Tensor | Number) -> Tensor:
        """`other - input`, the reflected difference. Bool operands raise DTypeError."""

    def __rtruediv__(self, other: Any) -> Tensor:
        """`other / self`, as PyTorch computes it: the reciprocal, times `other`."""

    def __rxor__(self, other: Tensor | Number) -> Tensor:
        """Exclusive or of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""

    def __setitem__(self, index: Any, value: Any) -> None:
        """`x[index] = value`: writes a number, tensor or array (broadcast, converted to x's dtype) into the elements that `x[index]` shows."""

    def __str__(self) -> str: ...

    def __sub__(self, other: Tensor | Number) -> Tensor:
        """Elementwise difference. Bool operands raise DTypeError."""

    def __truediv__(self, other: Tensor | Number) -> Tensor:
        """Elementwise true division; integers are divided in the default floating-point dtype."""

    def __xor__(self, other: Tensor | Number) -> Tensor:
        """Exclusive or of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""

    def _native_batch_norm_legit(self, weight: Tensor | None, bias: Tensor | None, *settings: Any) -> tuple[Tensor, Tensor, Tensor]:
        """`native_batch_norm`; running_mean and running_var may also be left out: (…, training, momentum, eps)."""

    def _unsafe_masked_index(self, mask: Tensor, indices: Sequence[Any], fill: Number) -> Tensor:
        """`input[indices]` where the mask is True, `fill` elsewhere; indices that are masked out may be out of range."""

    def _unsafe_masked_index_put_accumulate(self, mask: Tensor, indices: Sequence[Any], values: Tensor) -> Tensor:
        """A copy with the values, where the mask is True, added at `input[indices]`."""

    def abs(self) -> Tensor:
        """The absolute value; its gradient at 0 is 0."""

    def abs_(self) -> Tensor:
        """`abs` whose result is written into the first operand, which is returned."""

    def absolute(self) -> Tensor:
        """The absolute value; its gradient at 0 is 0."""

    def absolute_(self) -> Tensor:
        """`abs` whose result is written into the first operand, which is returned."""

    def acos(self) -> Tensor:
        """The inverse cosine; NaN outside [-1, 1]."""

    def acos_(self) -> Tensor:
        """`acos` whose result is written into the first operand, which is returned."""

    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine; NaN below 1."""

    def acosh_(self) -> Tensor:
        """`acosh` whose result is written into the first operand, which is returned."""

    def adaptive_avg_pool1d(self, output_size: _int | Sequence[_int]) -> Tensor:
        """Means over the last dimension so that it has `output_size`: output i sees inputs floor(i * L / out) to ceil((i + 1) * L / out)."""

    def adaptive_max_pool1d(self, output_size: Any, return_indices: _bool = False) -> Any:
        """Maxima over the last dimension so that it has `output_size`; with `return_indices` also their positions."""

    def add(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`input + alpha * other`. `alpha` must be a whole number where the result is one (DTypeError)."""

    def add_(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`add` written into the first operand, which is returned."""

    def add_alpha_(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`add_alpha` whose result is written into the first operand, which is returned."""

    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (the sum of all products of a batch of matrices)."""

    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """`addbmm` written into the first operand, which is returned."""

    def addcdiv(self, tensor1: Tensor | Number, tensor2: Tensor | Number, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 / tensor2, for floating-point dtypes."""

    def addcdiv_(self, tensor1: Tensor | Number, tensor2: Tensor | Number, *, value: Number = 1) -> Tensor:
        """`addcdiv` whose result is written into the first operand, which is returned."""

    def addcmul(self, tensor1: Tensor | Number, tensor2: Tensor | Number, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 * tensor2. For integers `value` must be an integer."""

    def addcmul_(self, tensor1: Tensor | Number, tensor2: Tensor | Number, *, value: Number = 1) -> Tensor:
        """`addcmul` whose result is written into the first operand, which is returned."""

    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2), the addend broadcast to the product's shape; beta=0 ignores the addend."""

    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """`addmm` whose result is written into the first operand, which is returned."""

    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat @ vec)."""

    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """`addmv` written into the first operand, which is returned."""

    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2)."""

    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """`addr` written into the first operand, which is returned."""

    def adjoint(self) -> Tensor:
        """A view with the last two dimensions exchanged."""

    def alias_copy(self) -> Tensor:
        """A contiguous copy of the tensor."""

    def all(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = None) -> Tensor:
        """Whether every element over `dim` (all dimensions by default) is not 0; True of no elements. bool, of uint8 uint8 as in PyTorch."""

    def allclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
        """True if |input - other| <= atol + rtol * |other| for all elements (see `isclose`); the shapes broadcast, the dtypes must be equal."""

    def alpha_dropout(self, p: _float = 0.5, training: _bool = False, inplace: _bool = False) -> Tensor:
        """Dropout that keeps mean and variance of self-normalising networks. Source: Klambauer et al., arXiv:1706.02515."""

    def amax(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = None) -> Tensor:
        """The greatest element over `dim` (all dimensions by default); NaN if there is one. The gradient is shared evenly by equal maxima."""

    def amin(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = None) -> Tensor:
        """The least element over `dim` (all dimensions by default); NaN if there is one. The gradient is shared evenly by equal minima."""

    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> tuple[Tensor, Tensor]:
        """(amin, amax) of all elements or along one dimension."""

    def angle(self) -> Tensor:
        """The angle of a real number in the complex plane: 0, or pi for a negative number. The gradient is zero."""

    def any(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = None) -> Tensor:
        """Whether some element over `dim` (all dimensions by default) is not 0; False of no elements. bool, of uint8 uint8 as in PyTorch."""

    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element x by callable(x), a Python number. Slow; for tensors that do not require grad."""

    def arccos(self) -> Tensor:
        """The inverse cosine; NaN outside [-1, 1]."""

    def arccos_(self) -> Tensor:
        """`acos` whose result is written into the first operand, which is returned."""

    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine; NaN below 1."""

    def arccosh_(self) -> Tensor:
        """`acosh` whose result is written into the first operand, which is returned."""

    def arcsin(self) -> Tensor:
        """The inverse sine; NaN outside [-1, 1]."""

    def arcsin_(self) -> Tensor:
        """`asin` whose result is written into the first operand, which is returned."""

    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine."""

    def arcsinh_(self) -> Tensor:
        """`asinh` whose result is written into the first operand, which is returned."""

    def arctan(self) -> Tensor:
        """The inverse tangent."""

    def arctan2(self, other: Tensor | Number) -> Tensor:
        """The angle of the point (x=other, y=input), in radians. The gradient at the origin is zero."""

    def arctan2_(self, other: Tensor | Number) -> Tensor:
        """`atan2` whose result is written into the first operand, which is returned."""

    def arctan_(self) -> Tensor:
        """`atan` whose result is written into the first operand, which is returned."""

    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

    def arctanh_(self) -> Tensor:
        """`atanh` whose result is written into the first operand, which is returned."""

    def argmax(self, dim: _int | None = None, keepdim: _bool = False, *, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """The index of the first greatest element along `dim` (of the flattened tensor by default); of the first NaN if there is one."""

    def argmin(self, dim: _int | None = None, keepdim: _bool = False, *, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """The index of the first least element along `dim` (of the flattened tensor by default); of the first NaN if there is one."""

    def argsort(self, dim: _int = -1, descending: _bool = False, stable: _bool = False, *, axis: _int | None = None) -> Tensor:
        """The indices that sort the elements along `dim`, see `sort`."""

    def argwhere(self) -> Tensor:
        """`nonzero` under NumPy's name."""

    def as_strided(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """A view with the given sizes and strides (in elements) of a contiguous tensor's memory. `storage_offset` counts from its first element
        (in PyTorch from the storage's: the two agree unless the tensor is itself a view that begins later, which is refused here).
        """

    def as_strided_(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """`as_strided` in place."""

    def as_strided_copy(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """A copy of what `as_strided` shows."""

    def as_strided_scatter(self, src: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """A copy of the input whose elements that `as_strided` shows are `src`. Strides count in the contiguous copy."""

    def asin(self) -> Tensor:
        """The inverse sine; NaN outside [-1, 1]."""

    def asin_(self) -> Tensor:
        """`asin` whose result is written into the first operand, which is returned."""

    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine."""

    def asinh_(self) -> Tensor:
        """`asinh` whose result is written into the first operand, which is returned."""

    def atan(self) -> Tensor:
        """The inverse tangent."""

    def atan2(self, other: Tensor | Number) -> Tensor:
        """The angle of the point (x=other, y=input), in radians. The gradient at the origin is zero."""

    def atan2_(self, other: Tensor | Number) -> Tensor:
        """`atan2` whose result is written into the first operand, which is returned."""

    def atan_(self) -> Tensor:
        """`atan` whose result is written into the first operand, which is returned."""

    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

    def atanh_(self) -> Tensor:
        """`atanh` whose result is written into the first operand, which is returned."""

    def avg_pool1d(self, kernel_size: _Size, stride: _Size | None = None, padding: _Size = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
        """The mean of each window over the last dimension of (N, C, L) or (C, L). See `avg_pool2d`."""

    def backward(self, gradient: Tensor | None = None, retain_graph: _bool | None = None, create_graph: _bool = False, inputs: Any = None) -> None:
        """Add the gradients of this tensor to the `.grad` of the leaves it was computed from; see `twofold.autograd.backward`."""

    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (batch1 @ batch2) for batches of matrices; beta=0 ignores the addend."""

    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """`baddbmm` whose result is written into the first operand, which is returned."""

    def batch_norm(self, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: _bool = False, momentum: _float = 0.1, eps: _float = 1e-05) -> Tensor:
        """Normalise each channel (dimension 1) of an (N, C, …) input.

        training: by this batch's mean and biased variance, and the running statistics that are given move towards the batch's mean and unbiased
        variance by `momentum`, in place; otherwise by the running statistics. Raises ValueRangeError for one value a channel in training.
        """

    def bernoulli(self, p: _float | None = None, *, generator: Generator | None = None) -> Tensor:
        """1 with the probability that the input holds at each place (or with probability `p` everywhere), else 0, in the input's dtype."""

    def bernoulli_(self, p: Tensor | _float = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Fill with 1 with probability `p` (a number, or a tensor that broadcasts), else 0."""

    def bfloat16(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to bfloat16."""

    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each of the numbers 0, 1, … occurs in a 1-d tensor of non-negative integers, or the sum of their weights; at least
        `minlength` entries.
        """

    def bitwise_and(self, other: Tensor | Number) -> Tensor:
        """And of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""

    def bitwise_and_(self, other: Tensor | Number) -> Tensor:
        """`bitwise_and` whose result is written into the first operand, which is returned."""

    def bitwise_left_shift(self, other: Tensor | Number) -> Tensor:
        """Bits moved up by `other` places; 0 where `other` is negative or too large."""

    def bitwise_left_shift_(self, other: Tensor | Number) -> Tensor:
        """`bitwise_left_shift` whose result is written into the first operand, which is returned."""

    def bitwise_not(self) -> Tensor:
        """Every bit inverted; of bools, the logical not. Floating-point dtypes raise DTypeError."""

    def bitwise_not_(self) -> Tensor:
        """`bitwise_not` whose result is written into the first operand, which is returned."""

    def bitwise_or(self, other: Tensor | Number) -> Tensor:
        """Or of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""

    def bitwise_or_(self, other: Tensor | Number) -> Tensor:
        """`bitwise_or` whose result is written into the first operand, which is returned."""

    def bitwise_right_shift(self, other: Tensor | Number) -> Tensor:
        """Bits moved down by `other` places, the sign kept; 0 (-1 of negative numbers) where `other` is negative or too large."""

    def bitwise_right_shift_(self, other: Tensor | Number) -> Tensor:
        """`bitwise_right_shift` whose result is written into the first operand, which is returned."""

    def bitwise_xor(self, other: Tensor | Number) -> Tensor:
        """Exclusive or of integers bit by bit, or of bools. Floating-point dtypes raise DTypeError."""

    def bitwise_xor_(self, other: Tensor | Number) -> Tensor:
        """`bitwise_xor` whose result is written into the first operand, which is returned."""

    def bmm(self, mat2: Tensor) -> Tensor:
        """The products of a batch of matrices: (b, n, m) and (b, m, p) to (b, n, p). Batches are not broadcast; `matmul` does that."""

    def bool(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to bool."""

    def broadcast_to(self, size: Sequence[_int]) -> Tensor:
        """`expand` under NumPy's name."""

    def bucketize(self, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False) -> Tensor:
        """The index of the interval between 1-d sorted `boundaries` that each element lies in, see `searchsorted`."""

    def byte(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to uint8."""

    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with numbers from the Cauchy distribution: median + sigma tan(pi (u - 1/2)), u uniform. Floating-point dtypes only."""

    def ceil(self) -> Tensor:
        """The smallest integer not below the element; integers stay as they are."""

    def ceil_(self) -> Tensor:
        """`ceil` whose result is written into the first operand, which is returned."""

    def celu(self, alpha: Number = 1.0) -> Tensor:
        """x where it is positive, alpha * (exp(x / alpha) - 1) elsewhere."""

    def celu_(self, alpha: Number = 1.0) -> Tensor:
        """`celu` whose result is written into the first operand, which is returned."""

    def channel_shuffle(self, groups: _int) -> Tensor:
        """The channels of (N, C, *) in `groups` rows, read column by column: X. Zhang et al., arXiv:1707.01083.

        Raises ShapeError where the channels do not divide by `groups`.
        """

    def char(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to int8."""

    def cholesky(self, upper: _bool = False) -> Tensor:
        """The lower (or upper) Cholesky factor; `linalg.cholesky`."""

    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of A, given its Cholesky factor (lower, or upper)."""

    def cholesky_solve(self, L: Tensor, upper: _bool = False) -> Tensor:
        """X of A X = input, given the Cholesky factor L of A (upper: U)."""

    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most `chunks` views of equal size along a dimension; the last may be smaller."""

    def clamp(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """The elements limited to `min` and `max` (numbers or tensors; None: no limit). Where min > max the result is max.

        Raises ValueRangeError without any limit. The node is PyTorch's for numbers as limits, `ClampBackward1`, in every case.
        """

    def clamp_(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """`clamp` whose result is written into the first operand, which is returned."""

    def clamp_max(self, max: Tensor | Number) -> Tensor:
        """`clamp` with an upper limit only."""

    def clamp_max_(self, max: Tensor | Number) -> Tensor:
        """`clamp_max` written into the operand, which is returned."""

    def clamp_min(self, min: Tensor | Number) -> Tensor:
        """`clamp` with a lower limit only."""

    def clamp_min_(self, min: Tensor | Number) -> Tensor:
        """`clamp_min` written into the operand, which is returned."""

    def clip(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """The elements limited to `min` and `max` (numbers or tensors; None: no limit). Where min > max the result is max.

        Raises ValueRangeError without any limit. The node is PyTorch's for numbers as limits, `ClampBackward1`, in every case.
        """

    def clip_(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """`clamp` whose result is written into the first operand, which is returned."""

    def clone(self, *, memory_format: Any = None) -> Tensor:
        """A copy with its own memory, in the same memory layout (or `memory_format`)."""

    def combinations(self, r: _int = 2, with_replacement: _bool = False) -> Tensor:
        """All combinations of `r` elements of a 1-d tensor, one a row, in the order of `itertools.combinations`."""

    def conj(self) -> Tensor:
        """The tensor itself: it is real."""

    def conj_physical(self) -> Tensor:
        """The tensor itself: it is real."""

    def conj_physical_(self) -> Tensor:
        """The tensor itself: it is real."""

    def const_data_ptr(self) -> _int:
        """The address of the first element."""

    def contiguous(self, memory_format: Any = None) -> Tensor:
        """The tensor itself if its elements lie in C order (or in `memory_format`), otherwise a copy that does."""

    def conv1d(self, weight: Tensor, bias: Tensor | None = None, stride: _Size = 1, padding: _Size | str = 0, dilation: _Size = 1, groups: _int = 1) -> Tensor:
        """Convolution over one dimension: input (N, C, L) or (C, L), weight (O, C / groups, K), bias (O,); the result is (N, O, L_out).

        padding: numbers, "valid" (none) or "same" (the output has the input's size; stride 1 only). Raises ShapeError where sizes do not fit.
        """

    def conv2d(self, weight: Tensor, bias: Tensor | None = None, stride: _Size = 1, padding: _Size | str = 0, dilation: _Size = 1, groups: _int = 1) -> Tensor:
        """Convolution over two dimensions: input (N, C, H, W) or (C, H, W), weight (O, C / groups, KH, KW), bias (O,); see `conv1d`."""

    def conv3d(self, weight: Tensor, bias: Tensor | None = None, stride: _Size = 1, padding: _Size | str = 0, dilation: _Size = 1, groups: _int = 1) -> Tensor:
        """Convolution over three dimensions: input (N, C, D, H, W) or (C, D, H, W), weight (O, C / groups, KD, KH, KW); see `conv1d`."""

    def conv_transpose1d(self, weight: Tensor, bias: Tensor | None = None, stride: _Size = 1, padding: _Size = 0, output_padding: _Size = 0, groups: _int = 1, dilation: _Size = 1) -> Tensor:
        """The transposed convolution (the gradient of `conv1d` with respect to its input): input (N, C, L), weight (C, O / groups, K).

        The output's size is (L - 1) * stride - 2 * padding + dilation * (K - 1) + output_padding + 1.
        """

    def conv_transpose2d(self, weight: Tensor, bias: Tensor | None = None, stride: _Size = 1, padding: _Size = 0, output_padding: _Size = 0, groups: _int = 1, dilation: _Size = 1) -> Tensor:
        """The transposed convolution over two dimensions: input (N, C, H, W), weight (C, O / groups, KH, KW); see `conv_transpose1d`."""

    def conv_transpose3d(self, weight: Tensor, bias: Tensor | None = None, stride: _Size = 1, padding: _Size = 0, output_padding: _Size = 0, groups: _int = 1, dilation: _Size = 1) -> Tensor:
        """The transposed convolution over three dimensions: input (N, C, D, H, W), weight (C, O / groups, KD, KH, KW); see
        `conv_transpose1d`.
        """

    def copy_(self, src: Any, non_blocking: _bool = False) -> Tensor:
        """The elements of `src`, broadcast and converted, written into this tensor."""

    def copysign(self, other: Tensor | Number) -> Tensor:
        """The magnitude of `input` with the sign of `other` (-0.0 and negative NaN count as negative)."""

    def copysign_(self, other: Tensor | Number) -> Tensor:
        """`copysign` whose result is written into the first operand, which is returned."""

    def corrcoef(self) -> Tensor:
        """Pearson's correlation coefficients of variables, the input's rows, over observations, its columns; between -1 and 1."""

    def cos(self) -> Tensor:
        """The cosine (radians)."""

    def cos_(self) -> Tensor:
        """`cos` whose result is written into the first operand, which is returned."""

    def cosh(self) -> Tensor:
        """The hyperbolic cosine."""

    def cosh_(self) -> Tensor:
        """`cosh` whose result is written into the first operand, which is returned."""

    def count_nonzero(self, dim: _int | Sequence[_int] | None = None, *, axis: _int | Sequence[_int] | None = None) -> Tensor:
        """How many elements over `dim` (all dimensions by default) are not 0."""

    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariance matrix of variables, the input's rows, over observations, its columns (a vector: the variance of one variable).

        correction: taken off the number of observations; fweights: how often each was observed (integers); aweights: their importance.
        """

    def cpu(self) -> Tensor:
        """The tensor on the CPU (itself)."""

    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """The cross products of vectors of three elements along `dim`: by default the first dimension of size 3."""

    def cuda(self, *args: Any, **kwargs: Any) -> Tensor:
        """There is no CUDA device: raises DeviceError."""

    def cummax(self, dim: _int) -> Any:
        """(values, indices): running maxima along `dim` and the latest index of each."""

    def cummin(self, dim: _int) -> Any:
        """(values, indices): running minima along `dim` and the latest index of each."""

    def cumprod(self, dim: _int | None = None, *, dtype: DTypeLike | None = None, axis: _int | None = None) -> Tensor:
        """Running products along `dim`. Integers and bools are multiplied in int64. The gradient is exact where elements are 0."""

    def cumprod_(self, dim: _int | None = None, *, dtype: DTypeLike | None = None, axis: _int | None = None) -> Tensor:
        """`cumprod` whose result is written into the first operand, which is returned."""

    def cumsum(self, dim: _int | None = None, *, dtype: DTypeLike | None = None, axis: _int | None = None) -> Tensor:
        """Running sums along `dim`. Integers and bools are summed in int64."""

    def cumsum_(self, dim: _int | None = None, *, dtype: DTypeLike | None = None, axis: _int | None = None) -> Tensor:
        """`cumsum` whose result is written into the first operand, which is returned."""

    def data_ptr(self) -> _int:
        """The address of the first element."""

    def deg2rad(self) -> Tensor:
        """Degrees to radians."""

    def deg2rad_(self) -> Tensor:
        """`deg2rad` whose result is written into the first operand, which is returned."""

    def det(self) -> Tensor:
        """The determinants of square matrices; `linalg.det`."""

    def detach(self) -> Tensor:
        """The same memory without history: no gradient flows through it. In-place writes show in both."""

    def detach_(self) -> Tensor:
        """Cut the tensor out of its graph in place: it becomes a leaf that does not require grad. Views are refused, as in PyTorch."""

    def detach_copy(self) -> Tensor:
        """A contiguous copy of the tensor without history."""

    def diag(self, diagonal: _int = 0) -> Tensor:
        """`diag`: the matrix with this diagonal for a vector, the diagonal (copied) for a matrix."""

    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Matrices in `dim1` and `dim2` whose diagonals are the input's last dimension, zeros elsewhere."""

    def diagflat(self, offset: _int = 0) -> Tensor:
        """The matrix whose diagonal `offset` holds all elements of the tensor, zeros elsewhere."""

    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The view of the diagonal of the matrices in `dim1` and `dim2`, as the last dimension; `offset` > 0 is above the main diagonal."""

    def diagonal_copy(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A copy of what `diagonal` shows."""

    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A copy of the input whose diagonal (see `diagonal`) is `src`."""

    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """The n-th differences of neighbours along `dim` (exclusive or for bool), of the tensor with `prepend` and `append` joined to it."""

    def digamma(self) -> Tensor:
        """The derivative of `lgamma`; -inf at 0 (inf at -0.0), NaN at -1, -2 and so on."""

    def digamma_(self) -> Tensor:
        """`digamma` whose result is written into the first operand, which is returned."""

    def dim(self) -> _int:
        """The number of dimensions."""

    def dim_order(self) -> tuple[_int, ...]:
        """The dimensions in the order they lie in memory, outermost first."""

    def dist(self, other: Tensor, p: Number = 2) -> Tensor:
        """The p-norm of input - other."""

    def div(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
        """`input / other`; rounding_mode "trunc" rounds the quotient towards zero, "floor" down, and integers then stay integers.

        An integer division by zero with a rounding mode raises ValueRangeError.
        """

    def div_(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
        """`div` written into the first operand, which is returned."""

    def div_mode_(self, other: Tensor | Number, *, rounding_mode: str) -> Tensor:
        """`div_mode` whose result is written into the first operand, which is returned."""

    def divide(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
        """`input / other`; rounding_mode "trunc" rounds the quotient towards zero, "floor" down, and integers then stay integers.

        An integer division by zero with a rounding mode raises ValueRangeError.
        """

    def divide_(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
        """`div` written into the first operand, which is returned."""

    def dot(self, tensor: Tensor) -> Tensor:
        """The sum of the products of two vectors of one length: a 0-d tensor."""

    def double(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to float64."""

    def dropout(self, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
        """In training each element becomes zero with probability `p`, and the others are divided by 1 - p; otherwise the input itself is
        returned.

        Source: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", JMLR 15 (2014).
        """

    def dropout1d(self, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
        """Dropout of whole channels of a tensor of 3 dimensions (batch, channels, …), or 2 without a
        batch.

        Source: Tompson et al., "Efficient object localization using convolutional networks", arXiv:1411.4280.
        """

    def dropout2d(self, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
        """Dropout of whole channels of a tensor of 4 dimensions (batch, channels, …), or 3 without a
        batch.

        Source: Tompson et al., "Efficient object localization using convolutional networks", arXiv:1411.4280.
        """

    def dropout3d(self, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
        """Dropout of whole channels of a tensor of 5 dimensions (batch, channels, …), or 4 without a
        batch.

        Source: Tompson et al., "Efficient object localization using convolutional networks", arXiv:1411.4280.
        """

    def dsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """`tensor_split` along a fixed dimension; a number of sections must divide its size."""

    def element_size(self) -> _int:
        """Bytes of one element."""

    def elu(self, alpha: Number = 1.0, scale: Number = 1.0, input_scale: Number = 1.0) -> Tensor:
        """scale * x where x is positive, scale * alpha * (exp(input_scale * x) - 1) elsewhere."""

    def elu_(self, alpha: Number = 1.0, scale: Number = 1.0, input_scale: Number = 1.0) -> Tensor:
        """`elu` whose result is written into the first operand, which is returned."""

    def embedding_bag(self, weight: Tensor, offsets: Tensor | None = None, max_norm: _float | None = None, norm_type: _float = 2, scale_grad_by_freq: _bool = False, mode: str = 'mean', sparse: _bool = False, per_sample_weights: Tensor | None = None, include_last_offset: _bool = False, padding_idx: _int | None = None) -> Tensor:
        """The sum, mean or maximum of rows of `weight` (N, D) for each bag of indices: input (B, L), or (L,) with the beginnings `offsets`.

        per_sample_weights: factors of the rows, mode "sum". include_last_offset: the last offset only says where the last bag ends.
        padding_idx: this row does not count and gets no gradient. Empty bags give zeros. max_norm: rows used are first scaled to at most this
        norm, in place. Result (B, D). Raises ValueRangeError, UnsupportedError (sparse), DTypeError.
        """

    def eq(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is equal to the second. False where either is NaN."""

    def eq_(self, other: Tensor | Number) -> Tensor:
        """`eq` whose result is written into the first operand, which is returned."""

    def equal(self, other: Tensor) -> _bool:
        """True if both tensors have the same shape and equal elements (NaN equals nothing). The dtypes must be equal (DTypeError)."""

    def erf(self) -> Tensor:
        """The error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x."""

    def erf_(self) -> Tensor:
        """`erf` whose result is written into the first operand, which is returned."""

    def erfc(self) -> Tensor:
        """1 - erf(x), accurate where erf is near 1."""

    def erfc_(self) -> Tensor:
        """`erfc` whose result is written into the first operand, which is returned."""

    def erfinv(self) -> Tensor:
        """The inverse of `erf`: infinities at -1 and 1, NaN outside."""

    def erfinv_(self) -> Tensor:
        """`erfinv` whose result is written into the first operand, which is returned."""

    def exp(self) -> Tensor:
        """e to the power x."""

    def exp2(self) -> Tensor:
        """2 to the power x."""

    def exp2_(self) -> Tensor:
        """`exp2` whose result is written into the first operand, which is returned."""

    def exp_(self) -> Tensor:
        """`exp` whose result is written into the first operand, which is returned."""

    def expand(self, *sizes_: Any, **named: Any) -> Tensor:
        """A view in which dimensions of size 1 (and new leading ones) are repeated without copying; -1 keeps a size."""

    def expand_as(self, other: Tensor) -> Tensor:
        """`expand` to the shape of another tensor."""

    def expand_copy(self, size: Sequence[_int], *, implicit: _bool = False) -> Tensor:
        """A copy of what `expand` shows."""

    def expm1(self) -> Tensor:
        """exp(x) - 1, accurate near 0."""

    def expm1_(self) -> Tensor:
        """`expm1` whose result is written into the first operand, which is returned."""

    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with exponentially distributed numbers of rate `lambd`."""

    def feature_alpha_dropout(self, p: _float = 0.5, training: _bool = False, inplace: _bool = False) -> Tensor:
        """`alpha_dropout` of whole channels: dimension 1 of a tensor of at least 2 dimensions."""

    def fill_(self, value: Any) -> Tensor:
        """Every element becomes `value`, a number or a 0-d tensor (whose gradient then is the sum)."""

    def fill_diagonal_(self, fill_value: Any, wrap: _bool = False) -> Tensor:
        """Write a number on the main diagonal of a matrix, or of a tensor whose dimensions are all equal. wrap: in a matrix with more rows than
        columns the diagonal begins again, after a row left free.
        """

    def fix(self) -> Tensor:
        """The element without its fraction; integers stay as they are."""

    def fix_(self) -> Tensor:
        """`trunc` whose result is written into the first operand, which is returned."""

    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Dimensions start_dim to end_dim joined into one; a view where the memory layout allows one."""

    def flip(self, *dims: Any, **named: Any) -> Tensor:
        """The elements in reverse order along `dims`; a copy."""

    def fliplr(self) -> Tensor:
        """`flip` along dimension 1."""

    def flipud(self) -> Tensor:
        """`flip` along dimension 0."""

    def float(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to float32."""

    def float_power(self, exponent: Tensor | Number) -> Tensor:
        """`input` to the power `exponent`, both converted to float64 first."""

    def float_power_(self, exponent: Tensor | Number) -> Tensor:
        """`float_power` written into the base, which must be float64 (DTypeError)."""

    def floor(self) -> Tensor:
        """The largest integer not above the element; integers stay as they are."""

    def floor_(self) -> Tensor:
        """`floor` whose result is written into the first operand, which is returned."""

    def floor_divide(self, other: Tensor | Number) -> Tensor:
        """The quotient rounded down. An integer division by zero raises ValueRangeError. The gradient is zero (PyTorch has none)."""

    def floor_divide_(self, other: Tensor | Number) -> Tensor:
        """`floor_divide` whose result is written into the first operand, which is returned."""

    def fmax(self, other: Tensor | Number) -> Tensor:
        """The larger of two elements; a number rather than NaN. Of equal elements the first takes the gradient."""

    def fmin(self, other: Tensor | Number) -> Tensor:
        """The smaller of two elements; a number rather than NaN. Of equal elements the first takes the gradient."""

    def fmod(self, other: Tensor | Number) -> Tensor:
        """The remainder of division rounded towards zero: it has the sign of `input`. An integer division by zero raises ValueRangeError."""

    def fmod_(self, other: Tensor | Number) -> Tensor:
        """`fmod` whose result is written into the first operand, which is returned."""

    def fold(self, output_size: _Size, kernel_size: _Size, dilation: _Size = 1, padding: _Size = 0, stride: _Size = 1) -> Tensor:
        """Columns (N, C * kernel, L) or (C * kernel, L) added up at their blocks' places in (N, C, *output_size).

        Raises ShapeError where the number of columns is not the number of blocks.
        """

    def frac(self) -> Tensor:
        """The fraction of the element, with its sign."""

    def frac_(self) -> Tensor:
        """`frac` whose result is written into the first operand, which is returned."""

    def fractional_max_pool2d_with_indices(self, kernel_size: _Size, output_size: Any = None, output_ratio: Any = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The values and the positions of `fractional_max_pool2d`."""

    def fractional_max_pool3d_with_indices(self, kernel_size: _Size, output_size: Any = None, output_ratio: Any = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The values and the positions of `fractional_max_pool3d`."""

    def frexp(self) -> tuple[Tensor, Tensor]:
        """The element as mantissa * 2**exponent, 1/2 <= |mantissa| < 1 (0 is 0 * 2**0); the exponent is int32.

        Raises DTypeError for integers.
        """

    def gather(self, dim: _int, index: Tensor) -> Tensor:
        """The element at index[i, j, …] of dimension `dim` for every position of `index`: result[i, j] = input[index[i, j], j] for dim 0."""

    def gcd(self, other: Tensor | Number) -> Tensor:
        """The greatest common divisor, not negative; gcd(0, 0) is 0. Integer dtypes only (DTypeError)."""

    def gcd_(self, other: Tensor | Number) -> Tensor:
        """`gcd` whose result is written into the first operand, which is returned."""

    def ge(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is greater than or equal to the second. False where either is NaN."""

    def ge_(self, other: Tensor | Number) -> Tensor:
        """`ge` whose result is written into the first operand, which is returned."""

    def gelu(self, *, approximate: str = 'none') -> Tensor:
        """x * Phi(x), Phi the distribution function of the normal distribution (Hendrycks and Gimpel, arXiv:1606.08415).

        approximate: 'none', or 'tanh' for 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3))).
        """

    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Tensor:
        """Fill with numbers of trials up to the first success of probability `p`: 1 + floor(e / -log(1 - p)), e exponential in float64."""

    def geqrf(self) -> Any:
        """(a, tau): the QR decomposition as LAPACK leaves it, see `linalg.householder_product`."""

    def ger(self, vec2: Tensor) -> Tensor:
        """The outer product of two vectors: result[i, j] = input[i] * vec2[j]."""

    def get_device(self) -> _int:
        """The number of the CUDA device: -1, there is none."""

    def glu(self, dim: _int = -1) -> Tensor:
        """a * sigmoid(b), a and b the halves of the input along `dim`. Raises ShapeError where that size is odd."""

    def gradient(self, *, spacing: Any = 1, dim: Any = None, edge_order: _int = 1) -> tuple[Tensor, ...]:
        """Derivatives along each of `dim` (all by default) estimated from neighbours: second-order accurate inside, of `edge_order` (1 or 2)
        at both ends. spacing: the distance of neighbours, one number or one for each dimension, or 1-d tensors of coordinates.

        The formulas are those of numpy.gradient.
        """

    def greater(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is greater than the second. False where either is NaN."""

    def greater_(self, other: Tensor | Number) -> Tensor:
        """`gt` whose result is written into the first operand, which is returned."""

    def greater_equal(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is greater than or equal to the second. False where either is NaN."""

    def greater_equal_(self, other: Tensor | Number) -> Tensor:
        """`ge` whose result is written into the first operand, which is returned."""

    def grid_sample(self, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: _bool | None = None) -> Tensor:
        """`input` (N, C, H, W) at the points (x, y) of `grid` (N, H', W', 2), or (N, C, D, H, W) at (x, y, z) of (N, D', H', W', 3).

        Points are in [-1, 1]: the outer pixels' centres with `align_corners`, their outer edges without. mode: "bilinear", "nearest", or
        "bicubic" (4-d only). padding_mode: outside are "zeros", the "border", or the image's "reflection".
        Raises ValueRangeError, ShapeError, DTypeError.
        """

    def grid_sampler(self, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
        """`grid_sample` with numbers: modes 0 bilinear, 1 nearest, 2 bicubic; padding 0 zeros, 1 border, 2 reflection."""

    def grid_sampler_2d(self, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
        """`grid_sampler` for inputs of 4 dimensions."""

    def grid_sampler_3d(self, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
        """`grid_sampler` for inputs of 5 dimensions."""

    def gru_cell(self, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
        """One step of a GRU: input (B, I), hx (B, H); the new h."""

    def gt(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is greater than the second. False where either is NaN."""

    def gt_(self, other: Tensor | Number) -> Tensor:
        """`gt` whose result is written into the first operand, which is returned."""

    def half(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to float16."""

    def hardshrink(self, lambd: Number = 0.5) -> Tensor:
        """x where |x| > lambd, 0 elsewhere."""

    def hardsigmoid(self) -> Tensor:
        """min(max(x + 3, 0), 6) / 6."""

    def hardsigmoid_(self) -> Tensor:
        """`hardsigmoid` whose result is written into the first operand, which is returned."""

    def hardswish(self) -> Tensor:
        """x * min(max(x + 3, 0), 6) / 6."""

    def hardswish_(self) -> Tensor:
        """`hardswish` whose result is written into the first operand, which is returned."""

    def hardtanh(self, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
        """x limited to [min_val, max_val]; the gradient at the limits is 0."""

    def hardtanh_(self, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
        """`hardtanh` whose result is written into the first operand, which is returned."""

    def hash_tensor(self, dim: _int | Sequence[_int] = (), *, keepdim: _bool = False, mode: _int = 0) -> Tensor:
        """The exclusive or, over `dim` (all by default), of the elements' bits as float64 or 64-bit integers; uint64."""

    def heaviside(self, values: Tensor | Number) -> Tensor:
        """The step function: 0 where `input` is negative (or NaN), 1 where it is positive, `values` at 0. The dtypes must be equal."""

    def heaviside_(self, values: Tensor | Number) -> Tensor:
        """`heaviside` whose result is written into the first operand, which is returned."""

    def histc(self, bins: _int = 100, min: Number = 0, max: Number = 0) -> Tensor:
        """How many elements lie in each of `bins` equal intervals from `min` to `max` (both 0: the least and the greatest element).
        Elements outside, and NaN, are not counted; the last interval includes its end.
        """

    def histogram(self, bins: Any, *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> Any:
        """(hist, bin_edges): how many elements lie in each bin, or the weight of those. `bins`: a number of equal bins over `range` (by default
        from the least to the greatest element), or a 1-d tensor of edges. `density`: divided by the total and by the bins' widths.
        """

    def histogramdd(self, bins: Any, *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> Any:
        """(hist, bin_edges) of points whose coordinates are the input's last dimension: hist has a dimension for each coordinate.

        bins: a number for all coordinates or one for each, or a 1-d tensor of edges for each.
        """

    def hsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """`tensor_split` along a fixed dimension; a number of sections must divide its size."""

    def hypot(self, other: Tensor | Number) -> Tensor:
        """sqrt(input**2 + other**2) without overflow in between."""

    def hypot_(self, other: Tensor | Number) -> Tensor:
        """`hypot` whose result is written into the first operand, which is returned."""

    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind of order 0."""

    def i0_(self) -> Tensor:
        """`i0` whose result is written into the first operand, which is returned."""

    def igamma(self, other: Tensor | Number) -> Tensor:
        """The regularised lower incomplete gamma function P(input, other); NaN for negative operands.

        Differentiable in `other` only.
        """

    def igamma_(self, other: Tensor | Number) -> Tensor:
        """`igamma` whose result is written into the first operand, which is returned."""

    def igammac(self, other: Tensor | Number) -> Tensor:
        """The regularised upper incomplete gamma function Q(input, other) = 1 - P(input, other); NaN for negative operands.

        Differentiable in `other` only.
        """

    def igammac_(self, other: Tensor | Number) -> Tensor:
        """`igammac` whose result is written into the first operand, which is returned."""

    def imag(self) -> Tensor:
        """Raises UnsupportedError: as in PyTorch, a real tensor has no imaginary part (zeros_like makes one)."""

    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """A copy with `alpha` times the slices of `source` added to the slices of dimension `dim` at the positions of a 1-d index; repeated ones add up."""

    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """`index_add` whose result is written into the first operand, which is returned."""

    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """A copy with the slices of `source` written over those of dimension `dim` at the positions of a 1-d index tensor."""

    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """`index_copy` whose result is written into the first operand, which is returned."""

    def index_fill(self, dim: _int, index: Tensor, value: Any) -> Tensor:
        """A copy with `value`, a number or a 0-d tensor, written over the slices of `dim` at the positions of a 1-d index tensor."""

    def index_fill_(self, dim: _int, index: Tensor, value: Any) -> Tensor:
        """`index_fill` in place."""

    def index_put(self, indices: Sequence[Any], values: Any, accumulate: _bool = False) -> Tensor:
        """A copy with `values` written (or added, with `accumulate`) at the elements that `input[tuple(indices)]` shows."""

    def index_put_(self, indices: Sequence[Any], values: Any, accumulate: _bool = False) -> Tensor:
        """`index_put` in place."""

    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """A copy with the slices of `source` reduced ("prod", "mean", "amax", "amin") into the slices of `dim` at the positions of a 1-d index.

        include_self: together with what was there, or without it.
        """

    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """`index_reduce` in place."""

    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """The slices of dimension `dim` at the positions of a 1-d index tensor; a copy."""

    def inner(self, other: Tensor) -> Tensor:
        """The sum of products over the last dimension of both tensors; the other dimensions of the first, then of the second remain."""

    def instance_norm(self, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: _bool = True, momentum: _float = 0.1, eps: _float = 1e-05) -> Tensor:
        """Normalise each channel of each sample of an (N, C, …) input over all other dimensions (or by running statistics)."""

    def int(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to int32."""

    def interpolate(self, size: _int | Sequence[_int] | None = None, scale_factor: _float | Sequence[_float] | None = None, mode: str = 'nearest', align_corners: _bool | None = None, recompute_scale_factor: _bool | None = None, antialias: _bool = False) -> Tensor:
        """Resample the space of (N, C, *space), 1 to 3 dimensions, to `size`, or to floor(size * scale_factor).

        mode: "nearest", "nearest-exact" (from pixel centres), "linear" (3-d input), "bilinear", "bicubic" (4-d), "trilinear" (5-d), "area"
        (means over what an output covers), "lanczos" (4-d, with antialias only).
        align_corners: corner pixels' centres meet, instead of their outer edges; for the linear and cubic modes.
        recompute_scale_factor: coordinates follow from the sizes, not from `scale_factor`.
        antialias: the kernel widens where sizes shrink; bilinear, bicubic and lanczos.
        Raises ValueRangeError for arguments that exclude one another, UnsupportedError for a mode that the number of dimensions has not.
        """

    def inverse(self) -> Tensor:
        """The inverses of square matrices; `linalg.inv`."""

    def is_complex(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    def is_conj(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    def is_contiguous(self, memory_format: Any = None) -> _bool:
        """True if the elements lie in C order (or with `memory_format=twofold.channels_last` in that order)."""

    def is_floating_point(self) -> _bool:
        """True if the dtype is a floating-point one."""

    def is_inference(self) -> _bool:
        """True if it was made in inference mode."""

    def is_neg(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    def is_nonzero(self) -> _bool:
        """True if the only element is not zero; raises for any other element count."""

    def is_pinned(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    def is_same_size(self, other: Tensor) -> _bool:
        """True if both tensors have the same shape."""

    def is_set_to(self, tensor: Tensor) -> _bool:
        """True if both tensors show the same memory with the same sizes and strides."""

    def is_shared(self) -> _bool:
        """False: no tensor here is complex, sparse, quantized or on a CUDA device."""

    def is_signed(self) -> _bool:
        """True if the dtype has negative values."""

    def isclose(self, other: Tensor | Number, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """True where |input - other| <= atol + rtol * |other|, or both are one infinity (or NaN, with equal_nan). The dtypes must be equal."""

    def isfinite(self) -> Tensor:
        """True where the element is neither NaN nor infinite."""

    def isinf(self) -> Tensor:
        """True where the element is an infinity; false for integers."""

    def isnan(self) -> Tensor:
        """True where the element is NaN; false for integers."""

    def isneginf(self) -> Tensor:
        """True where the element is -infinity; false for integers."""

    def isposinf(self) -> Tensor:
        """True where the element is +infinity; false for integers."""

    def isreal(self) -> Tensor:
        """True everywhere: there are no complex tensors."""

    def item(self) -> Any:
        """The only element, as a Python number; raises for any other element count."""

    def kron(self, other: Tensor) -> Tensor:
        """The Kronecker product: every element of the first times the whole second, blocks in the places of the elements."""

    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> Any:
        """(values, indices) of the `k`-th least element along `dim`."""

    def lcm(self, other: Tensor | Number) -> Tensor:
        """The least common multiple, not negative; 0 where an operand is 0. Integer dtypes only (DTypeError)."""

    def lcm_(self, other: Tensor | Number) -> Tensor:
        """`lcm` whose result is written into the first operand, which is returned."""

    def ldexp(self, other: Tensor) -> Tensor:
        """`input * 2**other`; integers become the default floating-point dtype."""

    def ldexp_(self, other: Tensor) -> Tensor:
        """`ldexp` written into the first operand, which is returned."""

    def le(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is less than or equal to the second. False where either is NaN."""

    def le_(self, other: Tensor | Number) -> Tensor:
        """`le` whose result is written into the first operand, which is returned."""

    def leaky_relu(self, negative_slope: Number = 0.01) -> Tensor:
        """x where it is positive, negative_slope * x elsewhere."""

    def leaky_relu_(self, negative_slope: Number = 0.01) -> Tensor:
        """`leaky_relu` whose result is written into the first operand, which is returned."""

    def lerp(self, end: Tensor | Number, weight: Tensor | Number) -> Tensor:
        """input + weight * (end - input), exact at both ends; all of one dtype. The node is that of a number as weight, `LerpBackward0`."""

    def lerp_(self, end: Tensor | Number, weight: Tensor | Number) -> Tensor:
        """`lerp` whose result is written into the first operand, which is returned."""

    def less(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is less than the second. False where either is NaN."""

    def less_(self, other: Tensor | Number) -> Tensor:
        """`lt` whose result is written into the first operand, which is returned."""

    def less_equal(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is less than or equal to the second. False where either is NaN."""

    def less_equal_(self, other: Tensor | Number) -> Tensor:
        """`le` whose result is written into the first operand, which is returned."""

    def lgamma(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function; infinity at 0, -1, -2 and so on."""

    def lgamma_(self) -> Tensor:
        """`lgamma` whose result is written into the first operand, which is returned."""

    def local_response_norm(self, size: _int, alpha: _float = 0.0001, beta: _float = 0.75, k: _float = 1.0) -> Tensor:
        """x / (k + alpha * mean of x² over `size` neighbouring channels)^beta, input (N, C, *). A. Krizhevsky et al., NIPS 2012, section 3.3.

        Raises ShapeError for fewer than 3 dimensions.
        """

    def log(self) -> Tensor:
        """The natural logarithm."""

    def log10(self) -> Tensor:
        """The logarithm to base 10."""

    def log10_(self) -> Tensor:
        """`log10` whose result is written into the first operand, which is returned."""

    def log1p(self) -> Tensor:
        """log(1 + x), accurate near 0."""

    def log1p_(self) -> Tensor:
        """`log1p` whose result is written into the first operand, which is returned."""

    def log2(self) -> Tensor:
        """The logarithm to base 2."""

    def log2_(self) -> Tensor:
        """`log2` whose result is written into the first operand, which is returned."""

    def log_(self) -> Tensor:
        """`log` whose result is written into the first operand, which is returned."""

    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with exp of normal numbers."""

    def log_softmax(self, dim: _int | None = None, *, dtype: DTypeLike | None = None, axis: _int | None = None) -> Tensor:
        """The logarithm of `softmax`, computed as input - max - log(sum(exp(input - max)))."""

    def logaddexp(self, other: Tensor | Number) -> Tensor:
        """log(exp(input) + exp(other)) without overflow."""

    def logaddexp2(self, other: Tensor | Number) -> Tensor:
        """log2(2**input + 2**other) without overflow."""

    def logcumsumexp(self, dim: _int | None = None, *, axis: _int | None = None) -> Tensor:
        """The logarithms of running sums of exponentials along `dim`, without overflow."""

    def logdet(self) -> Tensor:
        """The logarithms of determinants: -inf where it is 0, NaN where it is negative."""

    def logical_and(self, other: Tensor | Number) -> Tensor:
        """True where both elements are nonzero (NaN counts as nonzero)."""

    def logical_and_(self, other: Tensor | Number) -> Tensor:
        """`logical_and` whose result is written into the first operand, which is returned."""

    def logical_not(self) -> Tensor:
        """True where the element is zero."""

    def logical_not_(self) -> Tensor:
        """`logical_not` whose result is written into the first operand, which is returned."""

    def logical_or(self, other: Tensor | Number) -> Tensor:
        """True where at least one element is nonzero (NaN counts as nonzero)."""

    def logical_or_(self, other: Tensor | Number) -> Tensor:
        """`logical_or` whose result is written into the first operand, which is returned."""

    def logical_xor(self, other: Tensor | Number) -> Tensor:
        """True where exactly one element is nonzero (NaN counts as nonzero)."""

    def logical_xor_(self, other: Tensor | Number) -> Tensor:
        """`logical_xor` whose result is written into the first operand, which is returned."""

    def logit(self, eps: _float | None = None) -> Tensor:
        """log(x / (1 - x)), the inverse of `sigmoid`; x is first limited to [eps, 1 - eps] where eps is given."""

    def logit_(self, eps: _float | None = None) -> Tensor:
        """`logit` whose result is written into the first operand, which is returned."""

    def logsigmoid(self) -> Tensor:
        """log(sigmoid(x)) without overflow."""

    def logsumexp(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = None) -> Tensor:
        """log(sum(exp(input))) over `dim` without overflow: the maximum is taken out first. Integers become the default float dtype."""

    def long(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to int64."""

    def lp_pool1d(self, norm_type: _float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: _bool = False) -> Tensor:
        """(sum of x^p)^(1/p) over each window of the last dimension of (N, C, L) or (C, L); p infinite: the largest magnitude.

        A window that is cut off (`ceil_mode`) counts as if its mean filled a whole one, as in PyTorch. The gradient at sums of 0 is that of
        the root there: NaN or infinite.
        """

    def lp_pool2d(self, norm_type: _float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: _bool = False) -> Tensor:
        """`lp_pool1d` over the last two dimensions of (N, C, H, W) or (C, H, W)."""

    def lp_pool3d(self, norm_type: _float, kernel_size: _Size, stride: _Size | None = None, ceil_mode: _bool = False) -> Tensor:
        """`lp_pool1d` over the last three dimensions of (N, C, D, H, W) or (C, D, H, W)."""

    def lstm_cell(self, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """One step of an LSTM: input (B, I), hx a pair (h, c) of (B, H); the new (h, c)."""

    def lt(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the first operand is less than the second. False where either is NaN."""

    def lt_(self, other: Tensor | Number) -> Tensor:
        """`lt` whose result is written into the first operand, which is returned."""

    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> Any:
        """(LU, pivots), and infos if asked for; `linalg.lu_factor_ex`. (`linalg.lu` gives P, L and U.)"""

    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """X of A X = input from `lu_factor`'s result; `linalg.lu_solve`."""

    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace each element a by callable(a, b, c), with b and c the elements of `x` and `y` (broadcast) there."""

    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace each element x by callable(x, y), with y the element of `tensor` (broadcast) there."""

    def masked_fill(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """The input with `value` (a number, or a tensor of no dimensions) where the bool `mask` is true; the dtype stays the input's."""

    def masked_fill_(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """`masked_fill` written into the first operand, which is returned."""

    def masked_fill_tensor_(self, mask: Tensor, value: Tensor) -> Tensor:
        """`masked_fill_tensor` whose result is written into the first operand, which is returned."""

    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """A copy in which the elements where a bool mask is True are those of `source`, taken in order."""

    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """`masked_scatter` whose result is written into the first operand, which is returned."""

    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where a bool mask (broadcast with the tensor) is True, as a 1-d tensor."""

    def matmul(self, other: Tensor) -> Tensor:
        """The matrix product, with NumPy's and PyTorch's rules: two vectors give their dot product, a vector is a row on the left and a column
        on the right, and of operands with more than two dimensions the last two are matrices and the others a batch, which is broadcast.

        Both operands have one dtype (not bool), else DTypeError; ShapeError names both shapes where they do not fit.
        """

    def matrix_exp(self) -> Tensor:
        """The exponentials of square matrices; `linalg.matrix_exp`."""

    def matrix_power(self, n: _int) -> Tensor:
        """The n-th power of square matrices; `linalg.matrix_power`."""

    def max(self, dim: Any = None, keepdim: _bool = False, *, other: Tensor | None = None) -> Any:
        """The greatest element; with `dim` (values, indices) along that dimension; with a second tensor the elementwise maximum."""

    def max_pool1d(self, kernel_size: _Size, stride: _Size | None = None, padding: _Size = 0, dilation: _Size = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Any:
        """The maximum of each window over the last dimension of (N, C, L) or (C, L); with `return_indices` also its position. See
        `max_pool2d`.
        """

    def max_unpool1d(self, indices: Tensor, kernel_size: _Size, stride: _Size | None = None, padding: _Size = 0, output_size: Any = None) -> Tensor:
        """What `max_pool1d(…, return_indices=True)` gave, put back into zeros of the size it came from. See `max_unpool2d`."""

    def maximum(self, other: Tensor | Number) -> Tensor:
        """The larger of two elements; NaN if either is NaN. Equal elements share the gradient."""

    def mean(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: DTypeLike | None = None, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = None) -> Tensor:
        """The mean over `dim` (all dimensions by default); NaN of no elements. Takes floating-point tensors, others with `dtype=`."""

    def median(self, dim: _int | None = None, keepdim: _bool = False) -> Any:
        """The lower median of all elements; with `dim` (values, indices) along that dimension."""

    def min(self, dim: Any = None, keepdim: _bool = False, *, other: Tensor | None = None) -> Any:
        """The least element; with `dim` (values, indices) along that dimension; with a second tensor the elementwise minimum."""

    def minimum(self, other: Tensor | Number) -> Tensor:
        """The smaller of two elements; NaN if either is NaN. Equal elements share the gradient."""

    def mish(self) -> Tensor:
        """x * tanh(softplus(x))."""

    def mish_(self) -> Tensor:
        """`mish` whose result is written into the first operand, which is returned."""

    def mm(self, mat2: Tensor) -> Tensor:
        """The product of two matrices, (n, m) and (m, p) to (n, p); both of one dtype, not bool.

        Raises ShapeError unless both have two dimensions that fit, DTypeError for different dtypes.
        """

    def mode(self, dim: _int = -1, keepdim: _bool = False) -> Any:
        """(values, indices): the element that occurs most often along `dim` (of several the least), and its last index."""

    def moveaxis(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """A view with the dimensions `source` at the places `destination`, the others in their order."""

    def movedim(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """A view with the dimensions `source` at the places `destination`, the others in their order."""

    def msort(self) -> Tensor:
        """The elements sorted along the first dimension."""

    def mul(self, other: Tensor | Number) -> Tensor:
        """Elementwise product; of bools, the logical and."""

    def mul_(self, other: Tensor | Number) -> Tensor:
        """`mul` whose result is written into the first operand, which is returned."""

    def multi_margin_loss(self, target: Tensor, p: _int = 1, margin: _float = 1.0, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: str = 'mean') -> Tensor:
        """Sum over the other classes of max(0, margin - x[target] + x[i])^p / C, times weight[target]: input (N, C), target (N,), or without
        N.

        p is 1 or 2. Raises ValueRangeError, ShapeError, DTypeError; IndexOutOfRange for a target that is no class.
        """

    def multilabel_margin_loss(self, target: Tensor, size_average: _bool | None = None, reduce: _bool | None = None, reduction: str = 'mean') -> Tensor:
        """Sum over targets j and other classes i of max(0, 1 - (x[j] - x[i])) / C: input and target (N, C) or (C,).

        A row of targets ends at its first negative number. Raises ShapeError, DTypeError, ValueRangeError.
        """

    def multilabel_soft_margin_loss(self, target: Tensor, weight: Tensor | None = None, size_average: _bool | None = None, reduce: _bool | None = None, reduction: str = 'mean') -> Tensor:
        """-(y log(sigmoid(x)) + (1 - y) log(sigmoid(-x))), times `weight`, its mean over the last dimension."""

    def multinomial(self, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None) -> Tensor:
        """`num_samples` indices for each row of weights (a vector or a matrix, not necessarily normalised), int64."""

    def multiply(self, other: Tensor | Number) -> Tensor:
        """Elementwise product; of bools, the logical and."""

    def multiply_(self, other: Tensor | Number) -> Tensor:
        """`mul` whose result is written into the first operand, which is returned."""

    def mv(self, vec: Tensor) -> Tensor:
        """The product of a matrix (n, m) and a vector (m,), of shape (n,)."""

    def mvlgamma(self, p: _int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension `p`: the sum of lgamma(x - i/2), i < p, plus p (p-1) log(pi) / 4.

        Raises ValueRangeError for p < 1.
        """

    def mvlgamma_(self, p: _int) -> Tensor:
        """`mvlgamma` whose result is written into the first operand, which is returned."""

    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """NaN replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest and smallest finite number of the dtype)."""

    def nan_to_num_(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """`nan_to_num` whose result is written into the first operand, which is returned."""

    def nanmean(self, dim: Any = None, keepdim: _bool = False, *, dtype: Any = None) -> Tensor:
        """The mean over `dim` of the elements that are not NaN."""

    def nanmedian(self, dim: _int | None = None, keepdim: _bool = False) -> Any:
        """The lower median of the elements that are not NaN; with `dim` (values, indices) along that dimension."""

    def nanquantile(self, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear') -> Tensor:
        """`quantile` of the elements that are not NaN; NaN where there are none."""

    def nansum(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: DTypeLike | None = None, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = None) -> Tensor:
        """The sum over `dim` in which NaN counts as 0."""

    def narrow(self, dim: _int, start: Any, length: _int) -> Tensor:
        """The view of `length` elements of a dimension from `start` on."""

    def narrow_copy(self, dim: _int, start: Any, length: _int) -> Tensor:
        """A copy of what `narrow` shows."""

    def native_channel_shuffle(self, groups: _int) -> Tensor:
        """The channels of (N, C, *) in `groups` rows, read column by column: X. Zhang et al., arXiv:1707.01083.

        Raises ShapeError where the channels do not divide by `groups`.
        """

    def native_group_norm(self, weight: Tensor | None, bias: Tensor | None, N: _int, C: _int, HxW: _int, group: _int, eps: _float) -> tuple[Tensor, Tensor, Tensor]:
        """(group_norm, means (N, group), 1 / sqrt(variances + eps) (N, group))."""

    def native_layer_norm(self, normalized_shape: Sequence[_int], weight: Tensor | None, bias: Tensor | None, eps: _float) -> tuple[Tensor, Tensor, Tensor]:
        """(layer_norm, mean, 1 / sqrt(variance + eps)); gradients flow through the first only. Raises ShapeError."""

    def ndimension(self) -> _int:
        """The number of dimensions."""

    def ne(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the operands differ, or where either is NaN."""

    def ne_(self, other: Tensor | Number) -> Tensor:
        """`ne` whose result is written into the first operand, which is returned."""

    def neg(self) -> Tensor:
        """Elementwise negation; unsigned integers wrap around. Bool raises DTypeError."""

    def neg_(self) -> Tensor:
        """`neg` whose result is written into the first operand, which is returned."""

    def negative(self) -> Tensor:
        """Elementwise negation; unsigned integers wrap around. Bool raises DTypeError."""

    def negative_(self) -> Tensor:
        """`neg` whose result is written into the first operand, which is returned."""

    def nelement(self) -> _int:
        """The number of elements."""

    def new_empty(self, *size: Any, dtype: Any = None, device: Any = None, requires_grad: _bool = False) -> Tensor:
        """`empty` with this tensor's dtype and device as defaults."""

    def new_empty_strided(self, size: Sequence[_int], stride: Sequence[_int], *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
        """`empty_strided` with this tensor's dtype and device as defaults."""

    def new_full(self, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: _bool = False) -> Tensor:
        """`full` with this tensor's dtype and device as defaults."""

    def new_ones(self, *size: Any, dtype: Any = None, device: Any = None, requires_grad: _bool = False) -> Tensor:
        """`ones` with this tensor's dtype and device as defaults."""

    def new_tensor(self, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: _bool = False) -> Tensor:
        """`tensor` with this tensor's dtype and device as defaults."""

    def new_zeros(self, *size: Any, dtype: Any = None, device: Any = None, requires_grad: _bool = False) -> Tensor:
        """`zeros` with this tensor's dtype and device as defaults."""

    def nextafter(self, other: Tensor | Number) -> Tensor:
        """The next number of the dtype after `input` in the direction of `other`. Floating-point dtypes only (DTypeError)."""

    def nextafter_(self, other: Tensor | Number) -> Tensor:
        """`nextafter` whose result is written into the first operand, which is returned."""

    def nonzero(self, *, as_tuple: _bool = False) -> Any:
        """The positions of the elements that are not zero: one a row (n x dimensions, int64), or with `as_tuple` one tensor for each
        dimension.
        """

    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """The positions of the first `size` elements that are not zero, one a row; rows beyond their number are `fill_value`."""

    def norm(self, p: Any = 'fro', dim: Any = None, keepdim: _bool = False, out: None = None, dtype: Any = None) -> Tensor:
        """The p-norm over `dim` of the elements as vectors (p a number, inf, -inf), or of matrices: "fro", "nuc"; see `linalg.norm`.

        All dimensions by default; "nuc" needs two.
        """

    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with normal numbers."""

    def normalize(self, p: _float = 2.0, dim: Any = 1, eps: _float = 1e-12) -> Tensor:
        """input divided by its p-norm over `dim`, or by `eps` where the norm is less."""

    def not_equal(self, other: Tensor | Number) -> Tensor:
        """A bool tensor: true where the operands differ, or where either is NaN."""

    def not_equal_(self, other: Tensor | Number) -> Tensor:
        """`ne` whose result is written into the first operand, which is returned."""

    def numel(self) -> _int:
        """The number of elements."""

    def numpy(self, *, force: _bool = False) -> np.ndarray:
        """The data as a NumPy array that shares memory. A tensor that requires grad must be detached first (or `force=True`)."""

    def orgqr(self, tau: Tensor) -> Tensor:
        """Q of `geqrf`'s result; `linalg.householder_product`."""

    def ormqr(self, input2: Tensor, input3: Tensor, left: _bool = True, transpose: _bool = False) -> Tensor:
        """Q C (left) or C Q of the whole square Q = H_1 … H_k, given Householder vectors `input` (..., m, k), factors `input2` (..., k) and C,
        `input3`; `transpose` takes Q^T.
        """

    def outer(self, vec2: Tensor) -> Tensor:
        """The outer product of two vectors: result[i, j] = input[i] * vec2[j]."""

    def pad(self, pad: Sequence[_int], mode: str = 'constant', value: Any = None) -> Tensor:
        """The tensor with a border: `pad` holds (before, after) of the last dimension, then of the one before it, ….

        mode: "constant" (`value`, default 0; negative pads cut off), "reflect", "replicate" or "circular", which pad the last 1 to 3
        dimensions of a
        tensor with one or two more.
        """

    def pdist(self, p: _float = 2.0) -> Tensor:
        """The p-norms of the differences between all pairs of rows of a matrix, (n (n - 1) / 2,): the upper triangle of `cdist`, row by row."""

    def permute(self, *dims: Any, **named: Any) -> Tensor:
        """A view with the dimensions in the given order."""

    def permute_copy(self, dims: Sequence[_int]) -> Tensor:
        """A copy of what `permute` shows."""

    def pin_memory(self, device: Any = None) -> Tensor:
        """Page-locked memory serves copies to CUDA devices, which do not exist here: raises DeviceError."""

    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """The pseudo-inverses; singular values up to rcond times the largest count as zero. See `linalg.pinv`."""

    def polygamma(self, n: _int) -> Tensor:
        """`twofold.polygamma(n, self)`."""

    def polygamma_(self, n: _int) -> Tensor:
        """`polygamma` written into the tensor, which is returned."""

    def positive(self) -> Tensor:
        """The tensor itself (`+x`)."""

    def pow(self, other: Tensor | Number) -> Tensor:
        """`input` to the power `other`.

        Integers to a negative Python number raise ValueRangeError; an integer tensor of negative exponents gives 0 except for bases 1 and -1.
        The node is PyTorch's for a number as exponent, `PowBackward0`, in every case.
        """

    def pow_(self, other: Tensor | Number) -> Tensor:
        """`pow` whose result is written into the first operand, which is returned."""

    def prelu(self, weight: Tensor) -> Tensor:
        """x where it is positive, weight * x elsewhere; `weight` has one element, or one for each channel (dimension 1 of the input).

        Raises ShapeError for other sizes.
        """

    def prod(self, dim: _int | None = None, keepdim: _bool = False, *, dtype: DTypeLike | None = None, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """The product over one dimension (all by default); 1 of no elements. Integers and bools are multiplied in int64."""

    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """A copy with `source` written (or added, with `accumulate`) at flat positions of the tensor in C order."""

    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """`put` whose result is written into the first operand, which is returned."""

    def qr(self, some: _bool = True) -> Any:
        """(Q, R), reduced or (some=False) complete; `linalg.qr`."""

    def quantile(self, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear') -> Tensor:
        """The q-quantiles over one dimension (of all elements by default); a 1-d `q` gives a new first dimension. NaN where there is a NaN.

        interpolation between the two nearest elements: "linear", "lower", "higher", "midpoint", "nearest". Definition 7 of Hyndman and Fan,
        Sample Quantiles in Statistical Packages, 1996.
        """

    def rad2deg(self) -> Tensor:
        """Radians to degrees."""

    def rad2deg_(self) -> Tensor:
        """`rad2deg` whose result is written into the first operand, which is returned."""

    def rand_like(self, *, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: _bool = False) -> Tensor:
        """`rand` of the input's size, dtype and device."""

    def randint_like(self, low: _int, high: _int | None = None, *, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: _bool = False) -> Tensor:
        """`randint` of the input's size and dtype: `randint_like(x, high)` or `randint_like(x, low, high)`."""

    def randn_like(self, *, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: _bool = False) -> Tensor:
        """`randn` of the input's size, dtype and device."""

    def random_(self, low: _int = 0, high: _int | None = None, *, generator: Generator | None = None) -> Tensor:
        """Fill with whole numbers: `random_()` over the dtype's range from 0 (floats: all that are exact), `random_(high)`, `random_(low,
        high)`.
        """

    def ravel(self) -> Tensor:
        """All elements in one dimension; a view where the memory layout allows one."""

    def reciprocal(self) -> Tensor:
        """1 / x."""

    def reciprocal_(self) -> Tensor:
        """`reciprocal` whose result is written into the first operand, which is returned."""

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call `hook(grad)` when this tensor's gradient is complete; a returned tensor replaces it. The handle's `remove()` takes it away."""

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call `hook(tensor)` as soon as this leaf's `.grad` is complete, while backward still runs."""

    def relu(self) -> Tensor:
        """max(x, 0); NaN stays NaN. Bool raises DTypeError. The gradient at 0 is 0."""

    def relu6(self) -> Tensor:
        """x limited to [0, 6]."""

    def relu_(self) -> Tensor:
        """`relu` whose result is written into the first operand, which is returned."""

    def remainder(self, other: Tensor | Number) -> Tensor:
        """The remainder of division rounded down: it has the sign of `other`. An integer division by zero raises ValueRangeError."""

    def remainder_(self, other: Tensor | Number) -> Tensor:
        """`remainder` whose result is written into the first operand, which is returned."""

    def renorm(self, p: Number, dim: _int, maxnorm: Number) -> Tensor:
        """A copy in which every slice of `dim` whose p-norm is above `maxnorm` is scaled down to it."""

    def renorm_(self, p: Number, dim: _int, maxnorm: Number) -> Tensor:
        """`renorm` in place."""

    def repeat(self, *repeats: Any, **named: Any) -> Tensor:
        """The tensor repeated along each dimension; more counts than dimensions add leading ones. A copy."""

    def repeat_interleave(self, repeats: Any = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
        """Each element (of the flattened tensor, or each slice of `dim`) repeated `repeats` times in a row; `repeats` is an int, or a
        tensor with a count
        for each. Counts in a tensor must be concrete. Without `repeats` the tensor is the counts: each position, so many times.
        """

    def requires_grad_(self, requires_grad: _bool = True) -> Tensor:
        """Make the tensor a leaf that collects gradients (or not); returns it. Only floating-point leaves can."""

    def reshape(self, *shape: Any, **named: Any) -> Tensor:
        """The same elements in another shape; one size may be -1. A view where the memory layout allows one, otherwise a copy."""

    def reshape_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of another tensor."""

    def resize_(self, *size: Any, memory_format: Any = None) -> Tensor:
        """Give the tensor itself another shape: its elements in memory order, cut off or (with zeros) added to. Returns it.

        Raises AutogradError where gradients are wanted, InplaceError for tensors that are views, have some, or share memory that is too small.
        """

    def resize_as_(self, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
        """`resize_` to the shape of another tensor."""

    def resolve_conj(self) -> Tensor:
        """The tensor itself: it is real."""

    def resolve_neg(self) -> Tensor:
        """The tensor itself: negation is never delayed."""

    def retain_grad(self) -> None:
        """Make a tensor that is no leaf keep its gradient in `.grad` as well."""

    def rnn_relu_cell(self, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
        """max(0, w_ih input + b_ih + w_hh hx + b_hh): input (B, I), hx (B, H)."""

    def rnn_tanh_cell(self, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
        """tanh(w_ih input + b_ih + w_hh hx + b_hh): input (B, I), hx (B, H)."""

    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        """The elements moved `shifts` places along `dims` in a circle; without `dims` the flattened tensor is rolled."""

    def rot90(self, k: _int = 1, dims: Sequence[_int] = (0, 1)) -> Tensor:
        """Rotated by `k` quarter turns in the plane of two dimensions, from the first towards the second; a copy."""

    def round(self, *, decimals: _int = 0) -> Tensor:
        """Rounded to `decimals` digits (negative: to tens, hundreds, …), halves to the even neighbour."""

    def round_(self, *, decimals: _int = 0) -> Tensor:
        """`round` whose result is written into the first operand, which is returned."""

    def rsqrt(self) -> Tensor:
        """1 / sqrt(x)."""

    def rsqrt_(self) -> Tensor:
        """`rsqrt` whose result is written into the first operand, which is returned."""

    def rsub(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`other - alpha * input`."""

    def scatter(self, dim: _int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
        """A copy with src[i, j, …] (or one number) written at index[i, j, …] of dimension `dim`; `reduce` "add" or "multiply" combines it with
        what is there.
        """

    def scatter_(self, dim: _int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None) -> Tensor:
        """`scatter` in place."""

    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """A copy with src[i, j, …] added at index[i, j, …] of dimension `dim`; values for the same position add up."""

    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """`scatter_add` whose result is written into the first operand, which is returned."""

    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """A copy with the source's values reduced ("sum", "prod", "mean", "amax", "amin") at the positions of `index` along `dim`."""

    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """`scatter_reduce` in place."""

    def select(self, dim: _int, index: _int) -> Tensor:
        """The view at one index of a dimension, which is left out; a negative index counts from the end. Raises IndexOutOfRange."""

    def select_copy(self, dim: _int, index: _int) -> Tensor:
        """A copy of what `select` shows."""

    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """A copy of the input whose slice at one index of a dimension (see `select`) is `src`."""

    def selu(self) -> Tensor:
        """scale * (max(0, x) + min(0, alpha * (exp(x) - 1))) with the constants of Klambauer et al., arXiv:1706.02515."""

    def selu_(self) -> Tensor:
        """`selu` written into the operand, which is returned."""

    def set_(self, source: Tensor | None = None) -> Tensor:
        """Make the tensor share the memory of another, with its shape and strides; without one it becomes empty."""

    def sgn(self) -> Tensor:
        """For real numbers the same as `sign`."""

    def sgn_(self) -> Tensor:
        """`sgn` whose result is written into the first operand, which is returned."""

    def short(self, memory_format: Any = None) -> Tensor:
        """The tensor converted to int16."""

    def sigmoid(self) -> Tensor:
        """The logistic function 1 / (1 + exp(-x))."""

    def sigmoid_(self) -> Tensor:
        """`sigmoid` whose result is written into the first operand, which is returned."""

    def sign(self) -> Tensor:
        """-1, 0 or 1; 0 for NaN."""

    def sign_(self) -> Tensor:
        """`sign` whose result is written into the first operand, which is returned."""

    def signbit(self) -> Tensor:
        """True where the sign bit is set: negative numbers, -0.0 and negative NaN."""

    def silu(self) -> Tensor:
        """x * sigmoid(x)."""

    def silu_(self) -> Tensor:
        """`silu` whose result is written into the first operand, which is returned."""

    def sin(self) -> Tensor:
        """The sine (radians)."""

    def sin_(self) -> Tensor:
        """`sin` whose result is written into the first operand, which is returned."""

    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), 1 at 0."""

    def sinc_(self) -> Tensor:
        """`sinc` whose result is written into the first operand, which is returned."""

    def sinh(self) -> Tensor:
        """The hyperbolic sine."""

    def sinh_(self) -> Tensor:
        """`sinh` whose result is written into the first operand, which is returned."""

    @overload
    def size(self, dim: None = None) -> Size:
        """The sizes of all dimensions, or of one."""
    @overload
    def size(self, dim: _int) -> _int:
        """The sizes of all dimensions, or of one."""

    def slice_copy(self, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """A copy of the elements start, start + step, … before `end` of a dimension."""

    def slice_scatter(self, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """A copy of the input whose elements start, start + step, … before `end` of a dimension are `src`."""

    def slogdet(self) -> Any:
        """(sign, logabsdet); `linalg.slogdet`."""

    def softmax(self, dim: _int | None = None, *, dtype: DTypeLike | None = None, axis: _int | None = None) -> Tensor:
        """exp(input) divided by its sum over `dim`, computed after taking out the maximum. `dtype`: convert the input first."""

    def softmin(self, dim: _int, *, dtype: Any = None) -> Tensor:
        """softmax(-input)."""

    def softplus(self, beta: Number = 1.0, threshold: Number = 20.0) -> Tensor:
        """log(1 + exp(beta * x)) / beta; x itself where beta * x is above `threshold`."""

    def softshrink(self, lambd: Number = 0.5) -> Tensor:
        """x - lambd above lambd, x + lambd below -lambd, 0 between."""

    def softsign(self) -> Tensor:
        """x / (1 + |x|)."""

    def sort(self, dim: _int = -1, descending: _bool = False, stable: _bool = False) -> Any:
        """(values, indices) sorted along `dim`; equal elements keep their order whatever `stable` says."""

    def split(self, split_size_or_sections: Any, dim: _int = 0) -> tuple[Tensor, ...]:
        """Views of equal size along a dimension (the last may be smaller), or of the sizes in a list."""

    def split_copy(self, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """Copies of what `split` shows."""

    def split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Views of the given sizes along a dimension; the sizes must add up to its size."""

    def split_with_sizes_copy(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Copies of what `split` shows for a list of sizes."""

    def sqrt(self) -> Tensor:
        """The square root; NaN of negative numbers."""

    def sqrt_(self) -> Tensor:
        """`sqrt` whose result is written into the first operand, which is returned."""

    def square(self) -> Tensor:
        """`input ** 2`."""

    def square_(self) -> Tensor:
        """`square` written into the operand, which is returned."""

    def squeeze(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """A view without the dimensions of size 1 (all, or those of `dim` that are 1)."""

    def squeeze_(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """`squeeze` in place."""

    def squeeze_copy(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """A copy of what `squeeze` shows."""

    def std(self, dim: Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: Number | None = None) -> Tensor:
        """The standard deviation over `dim` (all by default), see `var`."""

    def std_mean(self, dim: Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: Number | None = None) -> tuple[Tensor, Tensor]:
        """(standard deviation, mean) over `dim`."""

    def storage_offset(self) -> _int:
        """The distance, in elements, of the first element from the start of its base's memory."""

    @overload
    def stride(self, dim: None = None) -> tuple[_int, ...]:
        """The step in elements from one index to the next, of every dimension or of one. Symbols are contiguous."""
    @overload
    def stride(self, dim: _int) -> _int:
        """The step in elements from one index to the next, of every dimension or of one. Symbols are contiguous."""

    def sub(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`input - alpha * other`. Bool operands, and an `alpha` that is no whole number where the result is one, raise DTypeError."""

    def sub_(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`sub` written into the first operand, which is returned."""

    def sub_alpha_(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`sub_alpha` whose result is written into the first operand, which is returned."""

    def subtract(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`input - alpha * other`. Bool operands, and an `alpha` that is no whole number where the result is one, raise DTypeError."""

    def subtract_(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """`sub` written into the first operand, which is returned."""

    def sum(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: DTypeLike | None = None, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = None) -> Tensor:
        """The sum over `dim` (all dimensions by default). Integers and bools are summed in int64."""

    def sum_to_size(self, *size: Any) -> Tensor:
        """The sum that undoes broadcasting: `size` must broadcast to the tensor's shape. The tensor itself where that is its shape; sums of
        integers and bools are int64.
        """

    def svd(self, some: _bool = True, compute_uv: _bool = True) -> Any:
        """(U, S, V) with A = U diag(S) V^T: V is not transposed here. some: only the first min(m, n) columns. Without `compute_uv` U and V are
        zeros.
        """

    def swapaxes(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged."""

    def swapaxes_(self, dim0: _int, dim1: _int) -> Tensor:
        """`transpose` in place."""

    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged."""

    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor:
        """`transpose` in place."""

    def t(self) -> Tensor:
        """The transposed matrix, a view (a tensor of fewer than 2 dimensions as it is)."""

    def t_(self) -> Tensor:
        """`t` in place."""

    def t_copy(self) -> Tensor:
        """A copy of what `t` shows."""

    def take(self, index: Tensor) -> Tensor:
        """The elements at flat positions (of the tensor in C order); negative ones count from the end."""

    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """`gather` whose input and indices are broadcast together except in `dim` (None: both flattened). Negative indices count from the
        end.
        """

    def tan(self) -> Tensor:
        """The tangent (radians)."""

    def tan_(self) -> Tensor:
        """`tan` whose result is written into the first operand, which is returned."""

    def tanh(self) -> Tensor:
        """The hyperbolic tangent."""

    def tanh_(self) -> Tensor:
        """`tanh` whose result is written into the first operand, which is returned."""

    def tanhshrink(self) -> Tensor:
        """x - tanh(x)."""

    def tensor_split(self, indices_or_sections: Any, dim: _int = 0) -> tuple[Tensor, ...]:
        """Views of nearly equal sizes along a dimension, or cut at the given indices."""

    def threshold(self, threshold: Number, value: Number) -> Tensor:
        """x where it is above `threshold`, `value` elsewhere."""

    def threshold_(self, threshold: Number, value: Number) -> Tensor:
        """`threshold` whose result is written into the first operand, which is returned."""

    def tile(self, *dims: Any, **named: Any) -> Tensor:
        """`repeat`, where fewer counts than dimensions mean the last dimensions."""

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """Convert: `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)`; `copy=True` forces a copy. Returns itself if nothing changes.

        Devices: `cpu`, and `meta` (drops the data); others raise DeviceError.
        """

    def tolist(self) -> Any:
        """Nested lists of Python numbers (one number for a 0-d tensor)."""

    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> Any:
        """(values, indices) of the `k` greatest (or least) elements along `dim`, in order."""

    def trace(self) -> Tensor:
        """The sum of a matrix's diagonal, PyTorch's `trace` (`twofold.trace` of a tensor too; of a function it records a graph)."""

    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged."""

    def transpose_(self, dim0: _int, dim1: _int) -> Tensor:
        """`transpose` in place."""

    def transpose_copy(self, dim0: _int, dim1: _int) -> Tensor:
        """A copy of what `transpose` shows."""

    def triangular_solve(self, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> Any:
        """(solution, a copy of A): X of A X = input for triangular A (transpose: A^T X = input); `linalg.solve_triangular`."""

    def tril(self, diagonal: _int = 0) -> Tensor:
        """The lower triangle of the matrices in the last two dimensions, zeros above `diagonal` (0 is the main one, positive above it)."""

    def tril_(self, diagonal: _int = 0) -> Tensor:
        """`tril` whose result is written into the first operand, which is returned."""

    def triu(self, diagonal: _int = 0) -> Tensor:
        """The upper triangle of the matrices in the last two dimensions, zeros below `diagonal` (0 is the main one, positive above it)."""

    def triu_(self, diagonal: _int = 0) -> Tensor:
        """`triu` whose result is written into the first operand, which is returned."""

    def true_divide(self, other: Tensor | Number) -> Tensor:
        """Elementwise true division; integers are divided in the default floating-point dtype."""

    def true_divide_(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
        """`div` written into the first operand, which is returned."""

    def trunc(self) -> Tensor:
        """The element without its fraction; integers stay as they are."""

    def trunc_(self) -> Tensor:
        """`trunc` whose result is written into the first operand, which is returned."""

    def type(self, dtype: Any = None) -> Any:
        """Without an argument the type's name (`twofold.FloatTensor`); with one, a conversion."""

    def type_as(self, other: Tensor) -> Tensor:
        """The tensor converted to the dtype of the other."""

    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """The views at every index of a dimension, which is left out. Each can be written in place (PyTorch refuses that)."""

    def unbind_copy(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """Copies of what `unbind` shows."""

    def unflatten(self, dim: _int, sizes: Sequence[_int]) -> Tensor:
        """A view with one dimension taken apart into several; one of `sizes` may be -1."""

    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """The view of all windows of `size` elements, `step` apart, along a dimension; the windows' elements become a new last dimension."""

    def unfold_copy(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """A copy of the windows that `unfold` shows."""

    def uniform_(self, low: _float = 0.0, high: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with uniform numbers from [low, high) (PyTorch calls them `from` and `to`)."""

    def unique(self, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The distinct elements (or slices of `dim`) in ascending order; with `return_inverse` also the place of each element among them, with
        `return_counts` also how often each occurs. NaN equals nothing. Not differentiable.
        """

    def unique_consecutive(self, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None) -> Any:
        """The first element (or slice of `dim`) of each run of equal ones; with `return_inverse` also the run each element is in, with
        `return_counts` also the runs' lengths. Not differentiable.
        """

    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """`chunk`, see `unsafe_split`."""

    def unsafe_split(self, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """`split`. (In PyTorch the parts are no views for autograd; here writing to them is always followed.)"""

    def unsafe_split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """`split` with a list of sizes, see `unsafe_split`."""

    def unsqueeze(self, dim: _int) -> Tensor:
        """A view with a dimension of size 1 put in at `dim`."""

    def unsqueeze_(self, dim: _int) -> Tensor:
        """`unsqueeze` in place."""

    def unsqueeze_copy(self, dim: _int) -> Tensor:
        """A copy of what `unsqueeze` shows."""

    def upsample(self, size: _int | Sequence[_int] | None = None, scale_factor: _float | Sequence[_float] | None = None, mode: str = 'nearest', align_corners: _bool | None = None) -> Tensor:
        """`interpolate` under its older name."""

    def upsample_bilinear(self, size: _int | Sequence[_int] | None = None, scale_factor: _float | Sequence[_float] | None = None) -> Tensor:
        """`interpolate` with mode "bilinear" and `align_corners=True`."""

    def upsample_nearest(self, size: _int | Sequence[_int] | None = None, scale_factor: _float | Sequence[_float] | None = None) -> Tensor:
        """`interpolate` with mode "nearest"."""

    def var(self, dim: Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: Number | None = None) -> Tensor:
        """The variance over `dim` (all by default). correction: what is taken off the number of elements (1); unbiased=False means 0."""

    def var_mean(self, dim: Any = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: Number | None = None) -> tuple[Tensor, Tensor]:
        """(variance, mean) over `dim`."""

    def vdot(self, other: Tensor) -> Tensor:
        """The sum of the products of two vectors; `dot`."""

    def view(self, *shape: Any, **named: Any) -> Tensor:
        """The same memory under another shape (raises InplaceError where strides do not allow it), or, given a dtype of the same size,
        read as that.
        """

    def view_as(self, other: Tensor) -> Tensor:
        """A view in the shape of another tensor."""

    def view_copy(self, size: Any) -> Tensor:
        """A copy under another shape, or of the memory read as another dtype (given one in place of a shape)."""

    def vsplit(self, indices_or_sections: Any) -> tuple[Tensor, ...]:
        """`tensor_split` along a fixed dimension; a number of sections must divide its size."""

    def where(self, condition: Tensor, other: Tensor | Number) -> Tensor:
        """This tensor's elements where `condition` is true, those of `other` where it is false."""

    def xlogy(self, other: Tensor | Number) -> Tensor:
        """input * log(other), and 0 where input is 0 (unless other is NaN)."""

    def xlogy_(self, other: Tensor | Number) -> Tensor:
        """`xlogy` whose result is written into the first operand, which is returned."""

    def zero_(self) -> Tensor:
        """`zero` whose result is written into the first operand, which is returned."""

    def __hash__(self) -> _int: ...
