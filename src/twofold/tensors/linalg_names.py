"""Linear algebra under PyTorch's top-level names and as methods (`det`, `svd`, `cholesky_solve`, `cdist`, …), over `twofold.linalg`."""

from __future__ import annotations

from typing import Any

from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.tensors import linalg_decompositions as decompositions
from twofold.tensors import linalg_norms as norms
from twofold.tensors import linalg_systems as systems
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor
from twofold.tensors.linalg_results import result
from twofold.tensors.linalg_systems import transposed
from twofold.tensors.random import randn
from twofold.tensors.typing import Number

# ---- determinants, inverses, powers ------------------------------------------------------------------------------------------------------


def det(input: Tensor) -> Tensor:
    """The determinants of square matrices; `linalg.det`."""
    return systems.det(input)


def slogdet(input: Tensor) -> Any:
    """(sign, logabsdet); `linalg.slogdet`."""
    return result("slogdet", call("linalg_slogdet", input))


def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants: -inf where it is 0, NaN where it is negative."""
    sign, size = call("linalg_slogdet", input)
    return call("where", call("lt", sign, 0), float("nan"), size)


def inverse(input: Tensor) -> Tensor:
    """The inverses of square matrices; `linalg.inv`."""
    return systems.inv(input)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudo-inverses; singular values up to rcond times the largest count as zero. See `linalg.pinv`."""
    return systems.pinv(input, rcond)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """The n-th power of square matrices; `linalg.matrix_power`."""
    return norms.matrix_power(input, n)


def matrix_exp(input: Tensor) -> Tensor:
    """The exponentials of square matrices; `linalg.matrix_exp`."""
    return norms.matrix_exp(input)


# ---- Cholesky ----------------------------------------------------------------------------------------------------------------------------


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The lower (or upper) Cholesky factor; `linalg.cholesky`."""
    return decompositions.cholesky(input, upper=upper)


def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """X of A X = input, given the Cholesky factor L of A (upper: U)."""
    if input._type.ndim < 2 or L._type.ndim < 2:
        raise ShapeError(
            f"cholesky_solve: b and u should have at least 2 dimensions, their shapes are {tuple(input._type.shape)} and "
            f"{tuple(L._type.shape)}"
        )
    factor = transposed(L) if upper else L
    y = call("linalg_solve_triangular", factor, input, upper=False)
    return call("linalg_solve_triangular", transposed(factor), y, upper=True)


def cholesky_inverse(input: Tensor, upper: bool = False) -> Tensor:
    """The inverse of A, given its Cholesky factor (lower, or upper)."""
    shape = input._type.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(f"cholesky_inverse: The input tensor A must be square matrices (..., n, n), its shape is {tuple(shape)}")
    one = call("eye", n=shape[-1], dtype=input._type.dtype, device=input._type.device)
    return cholesky_solve(one, input, upper)


# ---- QR ----------------------------------------------------------------------------------------------------------------------------------


def qr(input: Tensor, some: bool = True) -> Any:
    """(Q, R), reduced or (some=False) complete; `linalg.qr`."""
    return result("qr", decompositions.qr(input, "reduced" if some else "complete"))


def geqrf(input: Tensor) -> Any:
    """(a, tau): the QR decomposition as LAPACK leaves it, see `linalg.householder_product`."""
    return result("geqrf", call("geqrf", input))


def orgqr(input: Tensor, tau: Tensor) -> Tensor:
    """Q of `geqrf`'s result; `linalg.householder_product`."""
    return decompositions.householder_product(input, tau)


def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Q C (left) or C Q of the whole square Q = H_1 … H_k, given Householder vectors `input` (..., m, k), factors `input2` (..., k) and C,
    `input3`; `transpose` takes Q^T."""
    a, tau, other = input._type, input2._type, input3._type
    if a.ndim < 2 or other.ndim < 2:
        raise ShapeError(
            f"ormqr: input and other must have at least 2 dimensions, the shapes are {tuple(a.shape)} and {tuple(other.shape)}"
        )
    m = other.shape[-2 if left else -1]
    if a.shape[-2] != m:
        raise ShapeError(
            f"ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], the shapes are {tuple(other.shape)} and "
            f"{tuple(a.shape)}"
        )
    if tau.ndim == 0 or tau.shape[-1] > m:
        raise ShapeError(f"ormqr: other.shape[{-2 if left else -1}] must be greater than or equal to tau.shape[-1]")
    if tau.ndim != a.ndim - 1 or other.ndim != a.ndim or tau.shape[:-1] != a.shape[:-2] or other.shape[:-2] != a.shape[:-2]:
        raise ShapeError(
            f"ormqr: batch dimensions of input, tau and other must be equal; the shapes are {tuple(a.shape)}, {tuple(tau.shape)} and "
            f"{tuple(other.shape)}"
        )
    for name, t in (("tau", tau), ("other", other)):
        if t.dtype is not a.dtype:
            raise DTypeError(f"ormqr: {name} must have input's dtype {a.dtype.name}, not {t.dtype.name}")
    k = a.shape[-1]
    if k < m:
        rest = call("zeros", size=(*a.shape[:-1], m - k), dtype=a.dtype, device=a.device)
        input = call("cat", (input, rest), dim=-1)
    elif k > m:
        input = call("slice", input, dim=a.ndim - 1, start=0, end=m)
    Q = decompositions.householder_product(input, input2)
    Q = transposed(Q) if transpose else Q
    return call("matmul", Q, input3) if left else call("matmul", input3, Q)


# ---- LU ----------------------------------------------------------------------------------------------------------------------------------


def lu(input: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """(LU, pivots), and infos if asked for; `linalg.lu_factor_ex`. (`linalg.lu` gives P, L and U.)"""
    packed, pivots, info = call("linalg_lu_factor_ex", input, pivot=pivot, check_errors=False)
    return (packed, pivots, info) if get_infos else (packed, pivots)


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """(P, L, U) of A = P L U from `lu_factor`'s result; tensors not asked for are empty."""
    return result("lu_unpack", decompositions.unpacked(LU_data, LU_pivots, unpack_data, unpack_pivots))


def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """X of A X = input from `lu_factor`'s result; `linalg.lu_solve`."""
    return systems.lu_solve(LU_data, LU_pivots, input)


def triangular_solve(input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """(solution, a copy of A): X of A X = input for triangular A (transpose: A^T X = input); `linalg.solve_triangular`."""
    for name, t in (("b", input), ("A", A)):
        if t._type.ndim < 2:
            raise ShapeError(f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, its shape is {tuple(t._type.shape)}")
    side = transposed(A) if transpose else A
    x = call("linalg_solve_triangular", side, input, upper=upper != transpose, unitriangular=unitriangular)
    batch = tuple(x._type.shape[:-2])
    return result("triangular_solve", (x, call("clone", call("expand", A, size=(*batch, *A._type.shape[-2:])))))


# ---- singular values ---------------------------------------------------------------------------------------------------------------------


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """(U, S, V) with A = U diag(S) V^T: V is not transposed here. some: only the first min(m, n) columns. Without `compute_uv` U and V are
    zeros."""
    if compute_uv:
        U, S, Vh = call("linalg_svd", input, full_matrices=not some)
        return result("svd", (U, S, transposed(Vh)))
    S = call("linalg_svdvals", input)
    batch, sizes = tuple(input._type.shape[:-2]), input._type.shape[-2:]
    return result("svd", _with_zeros(S, batch, sizes))


def _with_zeros(S: Tensor, batch: tuple[Any, ...], sizes: Any) -> tuple[Tensor, Tensor, Tensor]:
    U, V = (call("zeros", size=(*batch, n, n), dtype=S._type.dtype, device=S._type.device) for n in sizes)
    return U, S, V


def _approximate_basis(A: Tensor, q: int, niter: int, M: Tensor | None) -> Tensor:
    """Orthonormal columns that nearly span A - M's leading singular vectors.

    Source: N. Halko, P. G. Martinsson, J. A. Tropp, "Finding structure with randomness", SIAM Review 53 (2011), algorithm 4.4.
    """

    def times(x: Tensor, transpose: bool) -> Any:
        y = call("matmul", transposed(A) if transpose else A, x)
        return y if M is None else call("sub", y, call("matmul", transposed(M) if transpose else M, x))

    start = randn(A._type.shape[-1], q, dtype=A._type.dtype, device=A._type.device)
    Q = call("linalg_qr", times(start, False))[0]
    for _ in range(niter):
        Q = call("linalg_qr", times(Q, True))[0]
        Q = call("linalg_qr", times(Q, False))[0]
    return Q


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V): approximately the first q singular values and vectors of A (of A - M), by random projections and `niter` iterations."""
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if M is not None:
        M = call("expand", M, size=tuple(A._type.shape))
    m, n = A._type.shape[-2:]
    wide = m < n
    if wide:
        A, M = transposed(A), None if M is None else transposed(M)
    Q = _approximate_basis(A, q, niter, M)
    B = call("matmul", transposed(Q), A)
    if M is not None:
        B = call("sub", B, call("matmul", transposed(Q), M))
    U, S, Vh = call("linalg_svd", B, full_matrices=False)
    U, V = call("matmul", Q, U), transposed(Vh)
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V): principal components of the rows of A, approximately the first q (6 by default), see `svd_lowrank`."""
    m, n = A._type.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueRangeError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueRangeError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = call("sub", A, call("mean", A, dim=(-2,), keepdim=True))
    return svd_lowrank(A, q, niter)


# ---- products and distances --------------------------------------------------------------------------------------------------------------


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross products of vectors of three elements along `dim`: by default the first dimension of size 3."""
    if dim is None:
        found = [i for i, n in enumerate(input._type.shape) if n == 3]
        if not found:
            raise ShapeError(f"cross: no dimension of size 3 in input of shape {tuple(input._type.shape)}")
        dim = found[0]
    return norms.cross(input, other, dim=dim)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The sum of the products of two vectors; `dot`."""
    return call("dot", input, other)


def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """The p-norm of input - other."""
    return call("linalg_vector_norm", call("sub", input, other), ord=p)


MODES = {
    "use_mm_for_euclid_dist_if_necessary": 0,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norms of the differences between all rows of x1 (..., n, d) and of x2 (..., m, d): (..., n, m).

    compute_mode says whether Euclidean distances may come from a product of matrices, which is faster and, for near points, less exact.
    """
    if compute_mode not in MODES:
        raise ValueRangeError(f"{compute_mode} is not a valid value for compute_mode; it is one of {', '.join(MODES)}")
    return call("cdist_forward", x1, x2, p=p, compute_mode=MODES[compute_mode])


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences between all pairs of rows of a matrix, (n (n - 1) / 2,): the upper triangle of `cdist`, row by row."""
    t = input._type
    if t.ndim != 2:
        raise ShapeError(f"pdist only supports 2D tensors, got: {t.ndim}D")
    if not p >= 0:
        raise ValueRangeError(f"pdist only supports non-negative p values, not {p}")
    pairs = call("triu_indices", row=t.shape[0], col=t.shape[0], offset=1, dtype="int64", device=t.device)
    left, right = (call("index_select", input, call("select", pairs, dim=0, index=i), dim=0) for i in (0, 1))
    return call("linalg_vector_norm", call("sub", left, right), ord=p, dim=(1,))


def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: None = None, dtype: Any = None) -> Tensor:
    """The p-norm over `dim` of the elements as vectors (p a number, inf, -inf), or of matrices: "fro", "nuc"; see `linalg.norm`.

    All dimensions by default; "nuc" needs two.
    """
    systems.no_out("norm", out)
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if not input._type.dtype.is_floating_point and dtype is None:
        raise DTypeError(f"norm takes floating-point tensors, not {input._type.dtype.name}; convert with .to(twofold.float32)")
    if p == "nuc":
        if dims is None and input._type.ndim == 2:
            dims = (0, 1)
        if dims is None or len(dims) != 2:
            raise ValueRangeError(f"norm: p='nuc' is a norm of matrices and needs two dimensions, not dim={dim}")
        return norms.matrix_norm(input, "nuc", dims, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise ValueRangeError(f"norm: only valid orders are numbers, 'fro' and 'nuc', not {p!r}")
    return norms.vector_norm(input, 2 if p is None or p == "fro" else p, dims or None, keepdim, dtype=dtype)


FUNCTIONS: dict[str, Any] = {
    f.__name__: f
    for f in (
        det, slogdet, logdet, inverse, pinverse, matrix_power, matrix_exp, cholesky, cholesky_solve, cholesky_inverse, qr, geqrf, orgqr,
        ormqr, lu, lu_unpack, lu_solve, triangular_solve, svd, svd_lowrank, pca_lowrank, cross, vdot, dist, cdist, pdist, norm,
    )
}  # fmt: skip
METHODS = {name: FUNCTIONS[name] for name in ("geqrf", "norm")}
