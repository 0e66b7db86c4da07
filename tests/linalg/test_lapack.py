"""The kernels NumPy does not have, on matrices of several blocks, against their definitions in float64."""

from __future__ import annotations

import numpy as np
import pytest

from twofold.ops import lapack
from twofold.support.errors import TwofoldError
from twofold.support.linalg_errors import LinAlgError

SIZES = (1, 2, 47, 48, 49, 100)


def random(*shape: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(sum(shape)).standard_normal(shape))


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("n", [1, 48, 97])
def test_lu_of_blocks(m: int, n: int) -> None:
    a = random(2, m, n)
    lu, pivots, info = lapack.lu_factor(a)
    k = min(m, n)
    lower = np.tril(lu[..., :k], -1) + np.eye(m, k)
    assert np.abs(lower).max() <= 1
    assert not info.any()
    rebuilt = lapack.permutation_matrix(pivots, m, a.dtype) @ lower @ np.triu(lu[..., :k, :])
    np.testing.assert_allclose(rebuilt, a, atol=1e-12)


def test_lu_says_where_a_pivot_is_zero() -> None:
    a = np.stack([np.eye(3), np.diag([1.0, 0.0, 2.0]), np.zeros((3, 3))])
    assert lapack.lu_factor(a)[2].tolist() == [0, 2, 1]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_systems(n: int, upper: bool, unit: bool) -> None:
    a, b = random(2, n, n) / n, random(n, 3)
    a[..., range(n), range(n)] += 2
    triangle = np.triu(a, unit) if upper else np.tril(a, -int(unit))
    x = lapack.solve_triangular(a, b, upper, unit)
    np.testing.assert_allclose((triangle + unit * np.eye(n)) @ x, np.broadcast_to(b, x.shape), atol=1e-11)


def test_triangular_system_with_a_zero_pivot_is_not_finite() -> None:
    x = lapack.solve_triangular(np.array([[1.0, 2.0], [0.0, 0.0]]), np.ones((2, 1)), True)
    assert x[1, 0] == np.inf
    assert x[0, 0] == -np.inf


@pytest.mark.parametrize("n", SIZES)
def test_ldl(n: int) -> None:
    """Indefinite matrices with a diagonal of zeros, which need pivots of two."""
    a = random(2, n, n)
    a = a + np.swapaxes(a, -1, -2)
    if n > 1:
        a[..., range(n), range(n)] = 0
    ld, pivots, info = lapack.ldl_factor(a)
    assert not info.any()
    if n > 1:
        assert (pivots < 0).any()
    b = random(n, 2)
    residual = np.abs(a @ lapack.ldl_solve(ld, pivots, b) - b).max()
    assert residual < 1e-13 * n * np.linalg.cond(a).max()


def test_householder_of_geqrf_is_q() -> None:
    a = random(5, 3)
    h, tau = np.linalg.qr(a, "raw")
    np.testing.assert_allclose(lapack.householder_product(h.T, tau), np.linalg.qr(a)[0], atol=1e-14)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 50.0])
def test_matrix_exp_of_a_rotation(scale: float) -> None:
    angle = np.array([0.3, 2.0]) * scale
    a = np.zeros((2, 2, 2))
    a[:, 0, 1], a[:, 1, 0] = -angle, angle
    expected = np.stack([np.stack([np.cos(angle), -np.sin(angle)], -1), np.stack([np.sin(angle), np.cos(angle)], -1)], -2)
    np.testing.assert_allclose(lapack.matrix_exp(a), expected, atol=1e-12 * max(scale, 1))


def test_cholesky_tells_the_minor() -> None:
    bad = np.diag([4.0, 9.0, -1.0])
    factor, info = lapack.cholesky(np.stack([np.eye(3), bad]))
    assert info.tolist() == [0, 3]
    assert factor[1, :, :2].tolist() == [[2, 0], [0, 3], [0, 0]]
    assert np.isnan(factor[1, 2, 2])


def test_the_error_is_numpys_and_runtime_error() -> None:
    with pytest.raises(np.linalg.LinAlgError, match=r"inv: \(Batch element 1, 0\): pivot 2") as caught:
        lapack.raise_if_failed("inv", np.array([[0], [2]]), "pivot {info}")
    assert isinstance(caught.value, (TwofoldError, RuntimeError, LinAlgError))
    assert isinstance(caught.value, RuntimeError)
    with pytest.raises(LinAlgError, match="non-finite"):
        lapack.refuse_non_finite("svd", np.array([[np.inf]]))
