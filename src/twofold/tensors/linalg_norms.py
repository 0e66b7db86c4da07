"""`twofold.linalg`: norms, condition numbers, products, powers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from twofold.ir import dtypes
from twofold.ir.op import wrap_dim
from twofold.support.errors import ArgumentError, DimensionError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.linalg_systems import inv
from twofold.tensors.typing import Number

ORDERS = (1, -1, 2, -2, math.inf, -math.inf)
Dims = int | Sequence[int] | None


# ---- norms -------------------------------------------------------------------------------------------------------------------------------


def vector_norm(x: Tensor, ord: Number = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The vector norm over `dim` (all elements by default): ord is any number, inf or -inf; 0 counts the elements that are not 0."""
    return call("linalg_vector_norm", x, ord=ord, dim=dim, keepdim=keepdim, dtype=dtype)


def matrix_norm(A: Tensor, ord: Number | str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The matrix norm over two dimensions: "fro", "nuc" (sum of singular values), 1 / -1 (greatest / least column sum of magnitudes), inf /
    -inf (row sums), 2 / -2 (greatest / least singular value)."""
    n = A._type.ndim
    if n < 2:
        raise ShapeError(f"linalg.matrix_norm: The input tensor A must have at least 2 dimensions, its shape is {tuple(A._type.shape)}")
    given = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    if len(given) != 2:
        raise ValueRangeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    rows, columns = (wrap_dim(d, n, "linalg.matrix_norm") for d in given)
    if rows == columns:
        raise ValueRangeError(f"linalg.matrix_norm: dims must be different. Got {dim}")
    if not A._type.dtype.is_floating_point:
        raise DTypeError(f"linalg.matrix_norm: Expected a floating point tensor as input. Got {A._type.dtype.name}")
    if dtype is not None:
        A = call("to", A, dtype=dtype)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if ord != "nuc" and (isinstance(ord, str) or ord not in ORDERS):
        raise ValueRangeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if ord == "nuc" or abs(ord) == 2:  # type: ignore[arg-type]
        return _spectral_norm(A, ord, rows, columns, keepdim)
    summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)  # type: ignore[arg-type]
    sums = call("linalg_vector_norm", A, ord=1, dim=(summed,), keepdim=True)
    result = call(_extremum(ord, A._type.shape[kept]), sums, dim=(kept,), keepdim=True)
    return result if keepdim else call("squeeze", result, dim=(rows, columns))


def _extremum(ord: Any, count: Any) -> str:
    """The reduction for the sign of an order; the greatest of no numbers is 0, as their sum is."""
    return "amin" if ord < 0 else "sum" if type(count) is int and count == 0 else "amax"


def _spectral_norm(A: Tensor, ord: Any, rows: int, columns: int, keepdim: bool) -> Tensor:
    others = [i for i in range(A._type.ndim) if i not in (rows, columns)]
    values = call("linalg_svdvals", call("permute", A, dims=(*others, rows, columns)))
    if ord == "nuc":
        result = call("sum", values, dim=(-1,))
    elif not isinstance(ord, str):
        result = call(_extremum(ord, values._type.shape[-1]), values, dim=(-1,))
    if keepdim:
        for d in sorted((rows, columns)):
            result = call("unsqueeze", result, dim=d)
    return result


def norm(A: Tensor, ord: Number | str | None = None, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """A vector norm (without `ord`: 2, of all elements or over `dim`) or, for two dimensions and an `ord`, a matrix norm."""
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, dtype=dtype)
    if dims is not None and len(dims) not in (1, 2):
        raise ValueRangeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    n = A._type.ndim
    if dims is None and n not in (1, 2):
        raise ShapeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {n}D.")
    if (n if dims is None else len(dims)) == 2:
        return matrix_norm(A, ord, (0, 1) if dims is None else dims, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise ValueRangeError(f"linalg.norm: order {ord!r} is one of matrices, but one dimension was given")
    return vector_norm(A, ord, dims, keepdim, dtype=dtype)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number: norm(A) norm(inverse) in a matrix norm; None, 2 and -2: from singular values, which any matrix has.

    A singular matrix has the condition number inf.
    """
    if A._type.ndim < 2:
        raise ShapeError(f"linalg.cond: The input tensor A must have at least 2 dimensions, its shape is {tuple(A._type.shape)}")
    shape = A._type.shape
    spectral = p is None or p in (2, -2)
    if not spectral and p not in ("fro", "nuc") and p not in ORDERS:
        raise ValueRangeError(f"linalg.cond got an invalid norm type: {p}")
    if not spectral and shape[-1] != shape[-2]:
        raise ShapeError(f"linalg.cond: A must be batches of square matrices for p={p!r}, but they are {shape[-2]} by {shape[-1]} matrices")
    if 0 in shape:
        return call("zeros", size=tuple(shape[:-2]), dtype=A._type.dtype, device=A._type.device)
    if spectral:
        values = call("linalg_svdvals", A)
        first, last = call("select", values, dim=-1, index=0), call("select", values, dim=-1, index=-1)
        return call("div", last, first) if p == -2 else call("div", first, last)
    inverse, info = call("linalg_inv_ex", A)
    if p == "nuc":
        singular = call("reshape_copy", info, size=(*tuple(shape[:-2]), 1, 1))
        finite = call("where", call("ne", singular, 0), 0.0, inverse)
        product = call("mul", matrix_norm(A, p), matrix_norm(finite, p))
        return call("where", call("ne", info, 0), math.inf, product)
    return call("mul", matrix_norm(A, p), matrix_norm(inverse, p))


# ---- products ----------------------------------------------------------------------------------------------------------------------------


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of products along `dim`; the other dimensions broadcast."""
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        raise ArgumentError("linalg.vecdot(): x and y must be tensors")
    if x._type.dtype is not y._type.dtype:
        raise DTypeError(f"linalg.vecdot: Expected x and y to have the same dtype, not {x._type.dtype.name} and {y._type.dtype.name}")
    if x._type.ndim == 0 and y._type.ndim == 0:
        raise DimensionError("linalg.vecdot: 0-d tensors have no dimension to sum over")
    product = call("mul", x, y)
    return call("sum", product, dim=(wrap_dim(dim, product._type.ndim, "linalg.vecdot"),), dtype=product._type.dtype)


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross products of vectors of three elements along `dim`."""
    return call("linalg_cross", input, other, dim=dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, a view; `twofold.diagonal` with other defaults."""
    return call("diagonal", A, offset=offset, dim1=dim1, dim2=dim2)


def matrix_power(A: Tensor, n: int) -> Tensor:
    """The n-th power of square matrices by repeated squaring; of the inverse where n is negative, the identity for 0."""
    shape = A._type.shape
    if type(n) is bool or not isinstance(n, int):
        raise ArgumentError(f"linalg.matrix_power(): argument 'n' must be int, not {type(n).__name__}")
    if len(shape) < 2:
        raise ShapeError(f"linalg.matrix_power: The input tensor A must have at least 2 dimensions, its shape is {tuple(shape)}")
    if shape[-1] != shape[-2]:
        raise ShapeError(f"linalg.matrix_power: A must be batches of square matrices, but they are {shape[-2]} by {shape[-1]} matrices")
    if n == 0:
        one = call("eye", n=shape[-1], dtype=A._type.dtype, device=A._type.device)
        everywhere = call("ones", size=tuple(shape[-2:]), dtype="bool", device=A._type.device)
        return call("where", everywhere, one, A)  # with a gradient, which is 0
    base, count = (A, n) if n > 0 else (inv(A), -n)
    result: Any = None
    while count:
        if count & 1:
            result = base if result is None else call("matmul", result, base)
        count >>= 1
        if count:
            base = call("matmul", base, base)
    return call("clone", result) if result is A else result


def matrix_exp(A: Tensor) -> Tensor:
    """The exponentials of square matrices (of 16-bit floats: computed in float32)."""
    if A._type.dtype.is_low_precision:
        return call("to", call("linalg_matrix_exp", call("to", A, dtype=dtypes.float32)), dtype=A._type.dtype)
    return call("linalg_matrix_exp", A)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The Vandermonde matrices 1, x, x^2, … of vectors (..., n): (..., n, N), N = n by default."""
    shape = x._type.shape
    if not shape and N is None:
        raise ShapeError("linalg.vander: Expected dim of input to be at least 1, got a 0-d tensor")
    count = shape[-1] if N is None else N
    if type(count) is int and (count <= 1 if N is not None else count < 1):
        raise ValueRangeError(f"linalg.vander: N must be greater than 1, not {count}")
    if not shape:
        x = call("unsqueeze", x, dim=0)
        shape = x._type.shape
    column = call("unsqueeze", x, dim=len(shape))
    powers = call("cumprod", call("expand", column, size=(*shape, count - 1)), dim=-1)
    return call("cat", (call("ones_like", column, dtype=powers._type.dtype), powers), dim=len(shape))
