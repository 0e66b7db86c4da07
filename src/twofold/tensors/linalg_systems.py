"""`twofold.linalg`: inverses, determinants, linear systems, least squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from twofold.ir.op import wrap_dim
from twofold.support.errors import DTypeError, ShapeError, UnsupportedError, ValueRangeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Symbol, Tensor
from twofold.tensors.limits import finfo
from twofold.tensors.linalg_results import result
from twofold.tensors.shapes import reshape
from twofold.tensors.typing import Number

Tolerance = Tensor | Number | None


def transposed(A: Tensor) -> Tensor:
    """Every matrix of a batch transposed."""
    n = A._type.ndim
    return call("transpose", A, dim0=n - 2, dim1=n - 1)


# ---- inverse, determinant ----------------------------------------------------------------------------------------------------------------


def inv(A: Tensor) -> Tensor:
    """The inverses of square matrices; LinAlgError for a singular one."""
    return call("linalg_inv_ex", A, check_errors=True)[0]


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """(inverse, info); info (int32) is 0, or the first zero pivot (from 1) of a singular matrix."""
    return result("linalg_inv_ex", call("linalg_inv_ex", A, check_errors=check_errors))


def det(A: Tensor) -> Tensor:
    """The determinants of square matrices."""
    return call("linalg_det", A)


def slogdet(A: Tensor) -> Any:
    """(sign, logabsdet): sign and logarithm of the magnitude of determinants."""
    return result("linalg_slogdet", call("linalg_slogdet", A))


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse for `tensordot(..., ind)`: the first `ind` dimensions have as many elements as the others."""
    if ind <= 0:
        raise ValueRangeError(f"linalg.tensorinv: Expected a strictly positive integer for 'ind', not {ind}")
    shape = tuple(A._type.shape)
    rows, columns = math.prod(shape[:ind]), math.prod(shape[ind:])
    if rows != columns:
        raise ShapeError(
            f"linalg.tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows} (shape {shape}, ind={ind})"
        )
    return reshape(inv(reshape(A, (rows, columns))), (*shape[ind:], *shape[:ind]))


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """X with tensordot(A, X, X.ndim) = B; `dims` of A are moved to its end first."""
    n = A._type.ndim
    if dims is not None:
        last = [wrap_dim(d, n, "linalg.tensorsolve") for d in dims]
        A = call("permute", A, dims=(*(i for i in range(n) if i not in last), *last))
    shape = tuple(A._type.shape[B._type.ndim :])
    rows, columns = math.prod(B._type.shape), math.prod(shape)
    if math.prod(A._type.shape) != rows * columns or rows != columns:
        raise ShapeError(
            f"linalg.tensorsolve: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]); "
            f"the shapes are {tuple(A._type.shape)} and {tuple(B._type.shape)}"
        )
    return reshape(solve(reshape(A, (rows, columns)), reshape(B, (rows,))), shape)


# ---- linear systems ----------------------------------------------------------------------------------------------------------------------


def is_vector(A: Tensor, B: Tensor) -> bool:
    """True if the right side of A X = B is one vector for each matrix."""
    return B._type.ndim == 1 or (A._type.ndim - 1 == B._type.ndim and tuple(B._type.shape) == tuple(A._type.shape[:-1]))


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X of A X = B (left=False: X A = B) for square matrices; B is (..., n, k), or one vector (n,) or (..., n) for each matrix.

    Raises LinAlgError for a singular matrix.
    """
    return _solve(A, B, left, True)[0]


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """(result, info): `solve` that tells failures in info (int32): the first zero pivot (from 1), or 0."""
    return result("linalg_solve_ex", _solve(A, B, left, check_errors))


def _solve(A: Tensor, B: Tensor, left: bool, check_errors: bool) -> tuple[Tensor, Tensor]:
    if not is_vector(A, B):
        return call("linalg_solve_ex", A, B, left=left, check_errors=check_errors)
    if not left:
        raise ValueRangeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is "
            "equivalent to B / A.squeeze(-1)"
        )
    x, info = call("linalg_solve_ex", A, call("unsqueeze", B, dim=B._type.ndim), left=left, check_errors=check_errors)
    return call("squeeze", x, dim=(x._type.ndim - 1,)), info


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X of A X = B (left=False: X A = B) for triangular A; the other triangle is not read, with `unitriangular` the diagonal is 1."""
    return call("linalg_solve_triangular", A, B, upper=upper, left=left, unitriangular=unitriangular)


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X of A X = B (left=False: X A = B; adjoint: with A^T) from `lu_factor`'s result; the batches broadcast."""
    name, t, b = "linalg.lu_solve", LU._type, B._type
    if t.ndim < 2 or b.ndim < 2:
        raise ShapeError(f"{name}: LU and B must have at least 2 dimensions, their shapes are {tuple(t.shape)} and {tuple(b.shape)}")
    if t.shape[-1] != t.shape[-2]:
        raise ShapeError(f"{name}: LU must be batches of square matrices, but they are {t.shape[-2]} by {t.shape[-1]} matrices")
    if t.dtype is not b.dtype:
        raise DTypeError(f"{name}: Expected LU and B to have the same dtype, but found {t.dtype.name} and {b.dtype.name}")
    if t.shape[-1] != b.shape[-2 if left else -1]:
        raise ShapeError(f"{name}: Incompatible shapes of A and B ({tuple(t.shape)} and {tuple(b.shape)}, left={left})")
    if tuple(pivots._type.shape) != tuple(t.shape[:-1]):
        raise ShapeError(f"{name}: the shape of pivots, {tuple(pivots._type.shape)}, does not fit LU of shape {tuple(t.shape)}")
    P, _, _ = call("lu_unpack", LU, pivots, unpack_data=False, unpack_pivots=True)
    right = B if left else transposed(B)
    if left != adjoint:
        y = call("linalg_solve_triangular", LU, call("matmul", transposed(P), right), upper=False, unitriangular=True)
        x = call("linalg_solve_triangular", LU, y, upper=True)
    else:
        y = call("linalg_solve_triangular", transposed(LU), right, upper=False)
        x = call("matmul", P, call("linalg_solve_triangular", transposed(LU), y, upper=True, unitriangular=True))
    return x if left else transposed(x)


# ---- least squares, pseudo-inverse, rank -------------------------------------------------------------------------------------------------


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """(solution, residuals, rank, singular_values) of the least-squares problem |A X - B|.

    A (..., m, n), B (..., m, k) or a vector for each matrix. driver: "gelsy" (the default), "gels", "gelsd" or "gelss"; all compute by
    singular values, and differ in what they return. residuals: the sums of squares (..., k) where m > n and all matrices have full rank,
    otherwise, and for "gelsy", empty; rank is empty for "gels", singular_values for "gels" and "gelsy".
    """
    driver = "gelsy" if driver is None else driver
    vector = is_vector(A, B)
    right = call("unsqueeze", B, dim=B._type.ndim) if vector else B
    solution, residuals, rank, values = call("linalg_lstsq", A, right, rcond=rcond, driver=driver)
    if not _has_residuals(A, rank, driver):
        residuals = call("slice", reshape(residuals, (-1,)), dim=0, start=0, end=0)  # of the graph, as torch's
    if vector:
        solution = call("squeeze", solution, dim=(solution._type.ndim - 1,))
    return result(
        "linalg_lstsq",
        (
            solution,
            residuals,
            empty_like(rank) if driver == "gels" else rank,
            values if driver in ("gelsd", "gelss") else empty_like(values),
        ),
    )


def _has_residuals(A: Tensor, rank: Tensor, driver: str) -> bool:
    """Whether residuals are returned. A graph whose ranks are not known cannot say."""
    m, n = A._type.shape[-2:]
    if driver == "gelsy":
        return False
    if type(m) is not int or type(n) is not int:
        raise UnsupportedError("linalg.lstsq: whether there are residuals depends on the sizes, which are symbolic; use driver='gelsy'")
    if m <= n or driver == "gels":
        return m > n
    if isinstance(rank, Symbol) or rank._array is None:
        raise UnsupportedError(
            f"linalg.lstsq: with driver={driver!r} the shape of the residuals depends on the ranks, which are not known while a graph is "
            "recorded; use driver='gels' or 'gelsy'"
        )
    return bool((rank._array == n).all())


def empty_like(t: Tensor) -> Tensor:
    """An empty tensor (0,) of the same dtype and device."""
    return call("zeros", size=(0,), dtype=t._type.dtype, device=t._type.device)


def tolerance_tensor(A: Tensor, value: Tolerance, name: str) -> Tensor | None:
    """A tolerance as a tensor; a number as a 0-d one."""
    if value is None or isinstance(value, Tensor):
        if value is not None and not value._type.dtype.is_floating_point:
            return call("to", value, dtype="float64")
        return value
    return call("full", size=(), fill_value=float(value), dtype="float64", device=A._type.device)


def pinv(A: Tensor, rcond: Tolerance = None, hermitian: bool = False, *, atol: Tolerance = None, rtol: Tolerance = None) -> Tensor:
    """The pseudo-inverses (..., n, m); singular values up to max(atol, rtol * largest) count as zero. `rcond` is `rtol`'s older name.

    rtol defaults to max(m, n) times the dtype's epsilon, or to 0 where atol > 0. The gradient holds where the rank is locally constant.
    """
    rtol = rcond if rtol is None else rtol
    tolerances = (tolerance_tensor(A, atol, "atol"), tolerance_tensor(A, rtol, "rtol"))
    return call("linalg_pinv", A, *tolerances, hermitian=hermitian)


def matrix_rank(A: Tensor, tol: Tolerance = None, hermitian: bool = False, *, atol: Tolerance = None, rtol: Tolerance = None) -> Tensor:
    """The numbers (int64) of singular values above max(atol, rtol * largest), see `pinv`; `tol` is an atol with rtol = 0."""
    if tol is not None:
        atol, rtol = tol, 0.0
    shape = A._type.shape
    values = call("abs", call("linalg_eigvalsh", A)) if hermitian else call("linalg_svdvals", A)
    if 0 in values._type.shape:
        return call("zeros", size=tuple(shape[:-2]), dtype="int64", device=A._type.device)
    limit = _limit(A, call("amax", values, dim=(-1,), keepdim=True), atol, rtol)
    return call("sum", call("gt", values, limit), dim=(-1,))


def _limit(A: Tensor, largest: Tensor, atol: Tolerance, rtol: Tolerance) -> Tensor:
    m, n = A._type.shape[-2:]
    if rtol is None:
        usual = max(m, n) * finfo(A._type.dtype).eps
        if isinstance(atol, Tensor):
            rtol = call("where", call("gt", atol, 0), 0.0, call("full_like", atol, fill_value=usual))
        else:
            rtol = 0.0 if atol is not None and atol > 0 else usual
    scale = call("unsqueeze", rtol, dim=rtol._type.ndim) if isinstance(rtol, Tensor) else rtol
    limit = call("mul", largest, scale)
    if atol is None:
        return limit
    return call("maximum", limit, call("unsqueeze", atol, dim=atol._type.ndim) if isinstance(atol, Tensor) else _number(limit, atol))


def _number(like: Tensor, value: Any) -> Tensor:
    return call("full", size=(), fill_value=float(value), dtype=like._type.dtype, device=like._type.device)


def no_out(name: str, out: Any) -> None:
    """Refuse `out=`, which no function here has."""
    if out is not None:
        raise UnsupportedError(f"{name}: out= does not exist; use the returned tensor")
