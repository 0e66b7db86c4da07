"""`twofold.linalg` and the older names: values against NumPy in float64, named results, gradients by finite differences, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold
from twofold import linalg
from twofold.autograd import gradcheck, gradgradcheck
from twofold.errors import LinAlgError, TwofoldError, UnsupportedError


def array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed + sum(shape)).standard_normal(shape))


def definite(n: int) -> np.ndarray:
    a = array(n, n)
    return a @ a.T + n * np.eye(n)


def swap(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


A, B, WIDE, TALL = array(3, 3), array(2, 3, 3, seed=1), array(2, 4), array(4, 2)
DEFINITE = definite(3)
RANK_ONE = np.outer([1.0, 2.0, 3.0], [1.0, -1.0])
FACTOR = np.linalg.cholesky(DEFINITE)
inf = float("inf")
VALUES: list[tuple[str, Any, Any, tuple[Any, ...]]] = [
    ("det", linalg.det, np.linalg.det, (B,)),
    ("inv", linalg.inv, np.linalg.inv, (B,)),
    ("cholesky", linalg.cholesky, np.linalg.cholesky, (DEFINITE,)),
    ("cholesky upper", lambda a: linalg.cholesky(a, upper=True), lambda a: np.linalg.cholesky(a).T, (DEFINITE,)),
    ("solve", linalg.solve, np.linalg.solve, (A, array(3, 2))),
    ("solve vector", linalg.solve, np.linalg.solve, (A, array(3))),
    ("solve vectors", linalg.solve, lambda a, b: np.linalg.solve(a, b[..., None])[..., 0], (B, array(2, 3))),
    ("solve right", lambda a, b: linalg.solve(a, b, left=False), lambda a, b: b @ np.linalg.inv(a), (A, array(2, 3))),
    ("pinv", linalg.pinv, np.linalg.pinv, (RANK_ONE,)),
    ("pinv hermitian", lambda a: linalg.pinv(a, hermitian=True), np.linalg.pinv, (DEFINITE,)),
    ("pinv rtol", lambda a: linalg.pinv(a, rtol=0.5), lambda a: np.linalg.pinv(a, rcond=0.5), (A,)),
    ("matrix_rank", linalg.matrix_rank, np.linalg.matrix_rank, (RANK_ONE,)),
    ("matrix_rank of a batch", linalg.matrix_rank, np.linalg.matrix_rank, (B,)),
    ("matrix_rank tol", lambda a: linalg.matrix_rank(a, 1e3), lambda a: np.array(0), (A,)),
    ("matrix_rank hermitian", lambda a: linalg.matrix_rank(a, hermitian=True), np.linalg.matrix_rank, (DEFINITE,)),
    ("svdvals", linalg.svdvals, np.linalg.svdvals, (WIDE,)),
    ("eigvalsh", linalg.eigvalsh, np.linalg.eigvalsh, (DEFINITE,)),
    ("matrix_power 3", lambda a: linalg.matrix_power(a, 3), lambda a: np.linalg.matrix_power(a, 3), (B,)),
    ("matrix_power -2", lambda a: linalg.matrix_power(a, -2), lambda a: np.linalg.matrix_power(a, -2), (B,)),
    ("matrix_power 0", lambda a: linalg.matrix_power(a, 0), lambda a: np.linalg.matrix_power(a, 0), (B,)),
    ("multi_dot", lambda *m: linalg.multi_dot(m), lambda *m: np.linalg.multi_dot(m), (A, array(3, 2), WIDE)),
    ("vander", linalg.vander, lambda x: np.vander(x, increasing=True), (array(3),)),
    ("vander N", lambda x: linalg.vander(x, N=5), lambda x: np.vander(x, 5, increasing=True), (array(3),)),
    ("vecdot", linalg.vecdot, lambda a, b: (a * b).sum(-1), (array(2, 3), array(3))),
    ("cross", linalg.cross, np.cross, (array(2, 3), array(2, 3, seed=1))),
    ("diagonal", linalg.diagonal, lambda a: np.diagonal(a, 0, -2, -1), (B,)),
    ("tensorinv", linalg.tensorinv, np.linalg.tensorinv, (array(2, 3, 3, 2),)),
    ("tensorsolve", linalg.tensorsolve, np.linalg.tensorsolve, (array(2, 3, 3, 2), array(2, 3))),
    ("lu_solve", lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b), np.linalg.solve, (B, array(3, 2))),
    (
        "lu_solve adjoint",
        lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, adjoint=True),
        lambda a, b: np.linalg.solve(swap(a), b),
        (B, array(3, 2)),
    ),
    (
        "lu_solve right",
        lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, left=False),
        lambda a, b: b @ np.linalg.inv(a),
        (B, array(2, 3)),
    ),
    ("lu product", lambda a: twofold.matmul(twofold.matmul(*linalg.lu(a)[:2]), linalg.lu(a).U), lambda a: a, (TALL,)),
    ("ldl_solve", lambda a, b: linalg.ldl_solve(*linalg.ldl_factor(a), b), np.linalg.solve, (DEFINITE, array(3, 2))),
    ("cholesky_solve", twofold.cholesky_solve, lambda b, f: np.linalg.solve(f @ f.T, b), (array(3, 2), FACTOR)),
    (
        "cholesky_solve upper",
        lambda b, f: twofold.cholesky_solve(b, f, True),
        lambda b, f: np.linalg.solve(f.T @ f, b),
        (array(3, 2), FACTOR.T),
    ),
    ("cholesky_inverse", twofold.cholesky_inverse, lambda f: np.linalg.inv(f @ f.T), (FACTOR,)),
    (
        "triangular_solve",
        lambda b, f: twofold.triangular_solve(b, f, upper=False).solution,
        lambda b, f: np.linalg.solve(f, b),
        (array(3, 2), FACTOR),
    ),
    (
        "triangular_solve transpose",
        lambda b, f: twofold.triangular_solve(b, f, False, True)[0],
        lambda b, f: np.linalg.solve(f.T, b),
        (array(3, 2), FACTOR),
    ),
    ("logdet", twofold.logdet, lambda a: np.linalg.slogdet(a)[1], (DEFINITE,)),
    ("pinverse", twofold.pinverse, np.linalg.pinv, (TALL,)),
    ("orgqr", lambda a: twofold.orgqr(*twofold.geqrf(a)), lambda a: np.linalg.qr(a)[0], (TALL,)),
    ("ormqr", lambda a, c: twofold.ormqr(*twofold.geqrf(a), c), lambda a, c: np.linalg.qr(a, "complete")[0] @ c, (TALL, array(4, 3))),
    (
        "ormqr transposed right",
        lambda a, c: twofold.ormqr(*twofold.geqrf(a), c, left=False, transpose=True),
        lambda a, c: c @ np.linalg.qr(a, "complete")[0].T,
        (TALL, array(3, 4)),
    ),
    ("svd product", lambda a: twofold.svd(a).U @ twofold.diag(twofold.svd(a).S) @ twofold.svd(a).V.T, lambda a: a, (WIDE,)),
    ("svd_lowrank", lambda a: twofold.svd_lowrank(a, 2)[1], np.linalg.svdvals, (TALL,)),
    (
        "svd_lowrank of a wide difference",
        lambda a, m: twofold.svd_lowrank(a, 2, M=m)[1],
        lambda a, m: np.linalg.svdvals(a - m),
        (WIDE, array(1, 4)),
    ),
    ("pca_lowrank", lambda a: twofold.pca_lowrank(a)[1], lambda a: np.linalg.svdvals(a - a.mean(0)), (TALL,)),
    ("dist", lambda a, b: twofold.dist(a, b, 3), lambda a, b: np.linalg.norm((a - b).ravel(), 3), (A, B[0])),
    ("vdot", twofold.vdot, np.dot, (array(3), array(3, seed=1))),
    ("pdist", twofold.pdist, lambda a: np.array([np.linalg.norm(a[i] - a[j]) for i in range(4) for j in range(i + 1, 4)]), (TALL,)),
    (
        "cdist of many rows",
        twofold.cdist,
        lambda a, b: np.linalg.norm(a[:, None] - b[None], axis=-1),
        (array(40, 3) + 100, array(30, 3) + 100),
    ),
    ("chain_matmul of one", twofold.chain_matmul, lambda a: a, (A,)),
    ("matrix_exp of zero", linalg.matrix_exp, lambda a: np.eye(3), (np.zeros((3, 3)),)),
    *(
        (f"matrix_norm {p}", lambda a, p=p: linalg.matrix_norm(a, p), lambda a, p=p: np.linalg.norm(a, p, (-2, -1)), (B,))
        for p in ("fro", "nuc", 1, -1, 2, -2, inf, -inf)
    ),
    *(
        (f"cond {p}", lambda a, p=p: linalg.cond(a, p), lambda a, p=p: np.linalg.cond(a, p), (B,))
        for p in (None, "fro", "nuc", 1, -1, 2, -2, inf, -inf)
    ),
    *(
        (f"vector_norm {p}", lambda a, p=p: linalg.vector_norm(a, p, 1), lambda a, p=p: np.linalg.norm(a, p, 1), (A,))
        for p in (0, 1, 2, 2.5, inf, -inf)
    ),
    ("matrix_norm over dimensions", lambda a: linalg.matrix_norm(a, 2, (2, 0), True), lambda a: np.linalg.norm(a, 2, (2, 0), True), (B,)),
    ("norm of all", linalg.norm, lambda a: np.sqrt((a**2).sum()), (B,)),
    ("norm of a matrix", lambda a: linalg.norm(a, 1), lambda a: np.linalg.norm(a, 1), (A,)),
    ("norm nuc", lambda a: twofold.norm(a, "nuc"), lambda a: np.linalg.norm(a, "nuc"), (A,)),
    ("norm 3", lambda a: a.norm(3, 0), lambda a: np.linalg.norm(a, 3, 0), (A,)),
]


@pytest.mark.parametrize("ours,theirs,arrays", [pytest.param(*case[1:], id=case[0]) for case in VALUES])
def test_values(ours: Any, theirs: Any, arrays: tuple[Any, ...]) -> None:
    twofold.manual_seed(0)
    found = ours(*map(twofold.tensor, arrays)).numpy()
    np.testing.assert_allclose(found, theirs(*arrays), rtol=1e-8, atol=1e-10)


NAMED: list[tuple[Any, tuple[str, ...], str]] = [
    (lambda a: linalg.svd(a), ("U", "S", "Vh"), "linalg_svd"),
    (lambda a: twofold.svd(a), ("U", "S", "V"), "svd"),
    (lambda a: linalg.eigh(a), ("eigenvalues", "eigenvectors"), "linalg_eigh"),
    (lambda a: linalg.qr(a), ("Q", "R"), "linalg_qr"),
    (lambda a: twofold.qr(a), ("Q", "R"), "qr"),
    (lambda a: linalg.slogdet(a), ("sign", "logabsdet"), "linalg_slogdet"),
    (lambda a: a.slogdet(), ("sign", "logabsdet"), "slogdet"),
    (lambda a: linalg.inv_ex(a), ("inverse", "info"), "linalg_inv_ex"),
    (lambda a: linalg.solve_ex(a, a), ("result", "info"), "linalg_solve_ex"),
    (lambda a: linalg.cholesky_ex(a), ("L", "info"), "linalg_cholesky_ex"),
    (lambda a: linalg.lu(a), ("P", "L", "U"), "linalg_lu"),
    (lambda a: linalg.lu_factor(a), ("LU", "pivots"), "linalg_lu_factor"),
    (lambda a: linalg.lu_factor_ex(a), ("LU", "pivots", "info"), "linalg_lu_factor_ex"),
    (lambda a: twofold.lu_unpack(*linalg.lu_factor(a)), ("P", "L", "U"), "lu_unpack"),
    (lambda a: linalg.ldl_factor(a), ("LD", "pivots"), "linalg_ldl_factor"),
    (lambda a: linalg.ldl_factor_ex(a), ("LD", "pivots", "info"), "linalg_ldl_factor_ex"),
    (lambda a: linalg.lstsq(a, a), ("solution", "residuals", "rank", "singular_values"), "linalg_lstsq"),
    (lambda a: a.geqrf(), ("a", "tau"), "geqrf"),
    (lambda a: a.triangular_solve(a), ("solution", "cloned_coefficient"), "triangular_solve"),
    (lambda a: a.max(dim=0), ("values", "indices"), "max"),
]


@pytest.mark.parametrize("function,fields,name", [pytest.param(*case, id=case[2]) for case in NAMED])
def test_results_have_names(function: Any, fields: tuple[str, ...], name: str) -> None:
    result = function(twofold.tensor(DEFINITE))
    assert type(result).__name__ == name
    assert result._fields == fields
    assert all(getattr(result, f) is v for f, v in zip(fields, result, strict=True))
    assert repr(result).startswith(f"twofold.return_types.{name}(\n{fields[0]}=")


# ---- least squares ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "driver,residuals,rank,values", [("gelsy", 0, 1, 0), ("gels", 3, 0, 0), ("gelsd", 3, 1, 2), ("gelss", 3, 1, 2), (None, 0, 1, 0)]
)
def test_lstsq_returns_what_the_driver_gives(driver: Any, residuals: int, rank: int, values: int) -> None:
    a, b = array(4, 2), array(4, 3)
    found = linalg.lstsq(twofold.tensor(a), twofold.tensor(b), driver=driver)
    solution, sums, _, _ = np.linalg.lstsq(a, b)
    np.testing.assert_allclose(found.solution.numpy(), solution, atol=1e-12)
    assert (found.residuals.numel(), found.rank.numel(), found.singular_values.numel()) == (residuals, rank, values)
    if residuals:
        np.testing.assert_allclose(found.residuals.numpy(), sums, atol=1e-12)
    if rank:
        assert found.rank.item() == 2


def test_lstsq_of_deficient_matrices_has_no_residuals() -> None:
    found = linalg.lstsq(twofold.tensor(RANK_ONE), twofold.tensor(array(3, 1)), driver="gelsd")
    assert found.rank.item() == 1
    assert found.residuals.shape == (0,)
    with pytest.raises(UnsupportedError, match="ranks"):
        twofold.trace(lambda a, b: linalg.lstsq(a, b, driver="gelsd").solution, (twofold.ones(4, 2), twofold.ones(4, 1)))


# ---- gradients -------------------------------------------------------------------------------------------------------------------------

GRADIENTS: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("logdet", twofold.logdet, (DEFINITE,)),
    ("cholesky_inverse", twofold.cholesky_inverse, (FACTOR,)),
    ("cholesky_solve", twofold.cholesky_solve, (array(3, 2), FACTOR)),
    ("lu_solve", lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b), (A, array(3, 2))),
    ("lu_solve adjoint right", lambda a, b: linalg.lu_solve(*linalg.lu_factor(a), b, left=False, adjoint=True), (A, array(2, 3))),
    ("matrix_power", lambda a: linalg.matrix_power(a, -3), (A,)),
    ("nuc", lambda a: linalg.matrix_norm(a, "nuc"), (B,)),
    ("spectral", lambda a: linalg.matrix_norm(a, 2), (A,)),
    ("cond", linalg.cond, (A,)),
    ("cond fro", lambda a: linalg.cond(a, "fro"), (A,)),
    ("ormqr", twofold.ormqr, (TALL, array(2) + 1, array(4, 3))),
    ("svd", lambda a: twofold.svd(a)[:2], (TALL,)),
    ("tensorsolve", linalg.tensorsolve, (array(2, 3, 3, 2), array(2, 3))),
    ("vander", linalg.vander, (array(3),)),
    ("pdist", twofold.pdist, (TALL,)),
    ("pinv of deficient rank", lambda u, v: linalg.pinv(u @ v), (array(3, 1), array(1, 2))),
    ("lstsq", lambda a, b: linalg.lstsq(a, b, driver="gels")[:2], (TALL, array(4, 1))),
    ("svdvals of repeated values", lambda a: linalg.svdvals(a).sum(), (np.eye(2),)),
]


@pytest.mark.parametrize("function,arrays", [pytest.param(*case[1:], id=case[0]) for case in GRADIENTS])
def test_gradients(function: Any, arrays: tuple[Any, ...]) -> None:
    inputs = tuple(twofold.tensor(a, requires_grad=True) for a in arrays)
    assert gradcheck(function, inputs)
    if arrays[0] is not GRADIENTS[-1][2][0]:  # second derivatives do not exist where singular values are equal
        assert gradgradcheck(function, inputs, rtol=1e-4)


def test_gradient_of_a_singular_determinant_is_exact() -> None:
    """Of rank n-1 the cofactors, of rank n-2 zero."""
    a = twofold.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=twofold.float64, requires_grad=True)
    linalg.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[4, -2], [-2, 1]], atol=1e-14)
    zero = twofold.zeros(3, 3, dtype=twofold.float64, requires_grad=True)
    linalg.det(zero).backward()
    np.testing.assert_array_equal(zero.grad.numpy(), np.zeros((3, 3)))


def test_complete_q_of_a_tall_matrix_has_no_gradient() -> None:
    a = twofold.tensor(TALL, requires_grad=True)
    with pytest.raises(UnsupportedError, match="reduced"):
        linalg.qr(a, "complete")
    assert linalg.qr(a.detach(), "complete").Q.shape == (4, 4)


# ---- graphs ----------------------------------------------------------------------------------------------------------------------------


def test_recorded_with_a_symbolic_batch_and_size() -> None:
    def f(a: Any) -> Any:
        return linalg.solve(a, linalg.inv(a)) + linalg.det(a)[..., None, None]

    shapes = {"a": {0: "b", 1: "n", 2: "n"}}
    graph = twofold.trace(f, (twofold.tensor(B),), dynamic_shapes=shapes)
    other = twofold.tensor(array(4, 2, 2) + 3 * np.eye(2))
    np.testing.assert_allclose(graph(other).numpy(), f(other).numpy())


# ---- refusals --------------------------------------------------------------------------------------------------------------------------

SINGULAR = np.stack([np.eye(2), np.ones((2, 2))])
REFUSED: list[tuple[str, Any, type[BaseException], str]] = [
    ("inv", lambda: linalg.inv(twofold.tensor(SINGULAR)), LinAlgError, "(Batch element 1): The diagonal element 2 is zero"),
    ("inverse", lambda: twofold.tensor(SINGULAR[1]).inverse(), LinAlgError, "linalg.inv: The diagonal"),
    ("solve", lambda: linalg.solve(twofold.tensor(SINGULAR), twofold.ones(2, 2, dtype=twofold.float64)), LinAlgError, "singular"),
    ("cholesky", lambda: linalg.cholesky(-twofold.eye(2)), LinAlgError, "minor of order 1"),
    ("eig", lambda: linalg.eig(twofold.eye(2)), UnsupportedError, "complex"),
    ("eigvals", lambda: linalg.eigvals(twofold.eye(2)), UnsupportedError, "complex"),
    ("driver", lambda: linalg.svd(twofold.eye(2), driver="gesvd"), UnsupportedError, "driver"),
    ("half", lambda: linalg.inv(twofold.eye(2).half()), TypeError, "low precision"),
    ("left", lambda: linalg.solve(twofold.eye(2), twofold.ones(2), left=False), ValueError, "Vector broadcasting"),
    ("order", lambda: linalg.matrix_norm(twofold.eye(2), 3), ValueError, "Order 3"),
    ("cond", lambda: linalg.cond(twofold.ones(2, 3), 1), ValueError, "square"),
    ("power", lambda: linalg.matrix_power(twofold.eye(2), 1.5), TypeError, "int"),
    ("tensorinv", lambda: linalg.tensorinv(twofold.ones(2, 3, 4)), ValueError, "prod"),
    ("ind", lambda: linalg.tensorinv(twofold.ones(2, 2), 0), ValueError, "positive"),
    ("lu_solve", lambda: linalg.lu_solve(twofold.eye(2), twofold.ones(3).int(), twofold.ones(2, 1)), ValueError, "pivots"),
    ("pdist", lambda: twofold.pdist(twofold.ones(3)), RuntimeError, "2D"),
    ("cdist", lambda: twofold.cdist(twofold.eye(2), twofold.eye(2), compute_mode="x"), ValueError, "compute_mode"),
    ("norm", lambda: twofold.norm(twofold.ones(2, 2, 2), "nuc"), ValueError, "two dimensions"),
    ("pca", lambda: twofold.pca_lowrank(twofold.ones(2, 3), 3), ValueError, "min(m, n)"),
    ("ormqr", lambda: twofold.ormqr(twofold.ones(3, 2), twofold.ones(2), twofold.ones(4, 1)), RuntimeError, "input.shape[-2]"),
    ("cross", lambda: twofold.cross(twofold.ones(2), twofold.ones(2)), RuntimeError, "size 3"),
]


@pytest.mark.parametrize("function,error,text", [pytest.param(*case[1:], id=case[0]) for case in REFUSED])
def test_refusals(function: Any, error: type[BaseException], text: str) -> None:
    with pytest.raises(error) as caught:
        function()
    assert isinstance(caught.value, TwofoldError)
    assert text in str(caught.value)


def test_info_instead_of_errors() -> None:
    a = twofold.tensor(SINGULAR)
    assert linalg.inv_ex(a).info.tolist() == [0, 2]
    assert linalg.solve_ex(a, a).info.tolist() == [0, 2]
    assert linalg.lu_factor_ex(a).info.tolist() == [0, 2]
    assert linalg.cholesky_ex(a).info.tolist() == [0, 2]
    assert linalg.cond(a, 1).tolist() == [1.0, inf]


def test_every_name_of_the_namespace_is_there() -> None:
    assert all(callable(getattr(linalg, name)) for name in linalg.__all__)
    assert set(linalg.__all__) <= set(dir(linalg))
    assert not hasattr(twofold, "linalg_inv_ex")
    assert not hasattr(twofold.Tensor, "linalg_inv_ex")
