"""Special functions to rounding: against mpmath at many points where it is installed, by identities everywhere; the namespace `special`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from tests.ops.calls import import_torch
from twofold.ops.numeric import bessel, error, gamma, orthogonal, series
from twofold.support.errors import UnknownNameError

RNG = np.random.default_rng(20)
POSITIVE = np.concatenate([np.exp(RNG.uniform(-10, 6, 24)), RNG.uniform(0, 12, 24)])
NEGATIVE = -RNG.uniform(0, 12, 16)
REAL = np.concatenate([POSITIVE, -POSITIVE])
UNIT = np.concatenate([RNG.uniform(0, 1, 20), np.exp(RNG.uniform(-20, 0, 12))])


def modules() -> dict[str, tuple[Callable[..., Any], Any, np.ndarray, float, float]]:
    """By name: our function, mpmath's, points, the relative error allowed, and the magnitude below which the error is absolute."""
    mp = pytest.importorskip("mpmath").mp
    mp.dps = 40
    return {
        "lgamma": (gamma.lgamma, mp.loggamma, POSITIVE, 4e-15, 0),
        "lgamma, negative": (gamma.lgamma, lambda x: mp.log(abs(mp.gamma(x))), NEGATIVE, 2e-14, 0.1),
        "digamma": (gamma.digamma, mp.digamma, POSITIVE, 2e-15, 0),
        "digamma, negative": (gamma.digamma, mp.digamma, NEGATIVE, 1e-14, 1),
        **{
            f"polygamma {n}": (lambda x, n=n: gamma.polygamma(n, x), lambda x, n=n: mp.polygamma(n, x), POSITIVE, 4e-15, 0)
            for n in (1, 2, 5)
        },
        "trigamma, negative": (lambda x: gamma.polygamma(1, x), lambda x: mp.polygamma(1, x), NEGATIVE, 4e-15, 0),
        **{
            f"{k}{n}": (getattr(bessel, f"{name}{n}"), lambda x, f=f, n=n: f(n, x), POSITIVE, 2e-15 if floor == 0 else 1e-14, floor)
            for n in (0, 1)
            for k, name, f, floor in (
                ("J", "bessel_j", mp.besselj, 0.05), ("Y", "bessel_y", mp.bessely, 0.05), ("I", "i", mp.besseli, 0),
                ("K", "modified_bessel_k", mp.besselk, 0),
            )
        },
        "i0e": (bessel.i0e, lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), REAL, 2e-15, 0),
        "i1e": (bessel.i1e, lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), REAL, 2e-15, 0),
        "scaled K0": (bessel.scaled_modified_bessel_k0, lambda x: mp.besselk(0, x) * mp.exp(x), POSITIVE, 2e-15, 0),
        "scaled K1": (bessel.scaled_modified_bessel_k1, lambda x: mp.besselk(1, x) * mp.exp(x), POSITIVE, 2e-15, 0),
        "Ai": (bessel.airy_ai, mp.airyai, RNG.uniform(-12, 12, 30), 4e-14, 0.05),
        "erfcx": (error.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), np.concatenate([RNG.uniform(-20, 30, 30), POSITIVE]), 2e-15, 0),
        "ndtr": (error.ndtr, mp.ncdf, RNG.uniform(-37, 8, 30), 2e-15, 0),
        "log_ndtr": (error.log_ndtr, lambda x: mp.log(mp.ncdf(x)), RNG.uniform(-37, 5, 30), 2e-15, 0),
        "ndtri": (error.ndtri, lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), UNIT, 2e-15, 1e-3),
        "erfinv": (error.erfinv, mp.erfinv, np.concatenate([UNIT, -UNIT]), 2e-15, 0),
        "sinc": (series.sinc, lambda x: mp.sinpi(x) / (mp.pi * x), REAL, 2e-15, 0.01),
    }  # fmt: skip


NAMES = [
    "lgamma", "lgamma, negative", "digamma", "digamma, negative", "polygamma 1", "polygamma 2", "polygamma 5", "trigamma, negative",
    "J0", "Y0", "I0", "K0", "J1", "Y1", "I1", "K1", "i0e", "i1e", "scaled K0", "scaled K1", "Ai", "erfcx", "ndtr", "log_ndtr", "ndtri",
    "erfinv", "sinc",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_against_mpmath(name: str) -> None:
    ours, theirs, points, limit, floor = modules()[name]
    mp = pytest.importorskip("mpmath").mp
    values = ours(points)
    single = ours(points.astype(np.float32))
    assert single.dtype == np.float32
    for x, y, z in zip(points, values, single, strict=True):
        exact = mp.re(theirs(mp.mpf(float(x))))
        if not 1e-300 < abs(exact) < 1e300:
            continue
        assert abs(mp.mpf(float(y)) - exact) <= limit * max(abs(exact), floor), (x, y, exact)
        near = mp.re(theirs(mp.mpf(float(np.float32(x)))))
        if 1e-37 < abs(near) < 1e38:
            assert abs(mp.mpf(float(z)) - near) <= 6.1e-8 * max(abs(near), floor), (x, z, near)


def test_all_names_are_tested() -> None:
    assert list(modules()) == NAMES


PAIRS = {
    "small": (np.exp(RNG.uniform(-7, 4, 24)), np.exp(RNG.uniform(-3, 2, 24))),
    "large": (np.exp(RNG.uniform(3, 7, 20)), np.exp(RNG.uniform(-0.6, 0.6, 20))),
    "near": (np.exp(RNG.uniform(4, 9, 16)), 1 + RNG.normal(size=16) * 0.02),
}


@pytest.mark.parametrize("name", PAIRS)
def test_incomplete_gamma(name: str) -> None:
    mp = pytest.importorskip("mpmath").mp
    mp.dps = 30
    a, ratio = PAIRS[name]
    x = a * ratio
    for p, q, u, v in zip(gamma.igamma(a, x), gamma.igammac(a, x), a, x, strict=True):
        exact = mp.gammainc(mp.mpf(float(u)), mp.mpf(float(v)), mp.inf, regularized=True)
        for ours, true in ((q, exact), (p, 1 - exact)):
            if true > 1e-15:
                # the condition number of the exponential factor is about the deviation squared
                assert abs(ours - true) <= true * (2e-14 + 4e-16 * float(u) * abs(math.log(float(v / u)))), (u, v, ours, true)


def test_edges() -> None:
    inf, nan = math.inf, math.nan
    table: list[tuple[Any, tuple[float, ...], float]] = [
        (gamma.lgamma, (0.0,), inf), (gamma.lgamma, (-3.0,), inf), (gamma.lgamma, (inf,), inf), (gamma.lgamma, (1.0,), 0.0),
        (gamma.lgamma, (2.0,), 0.0), (gamma.digamma, (0.0,), -inf), (gamma.digamma, (-0.0,), inf), (gamma.digamma, (-2.0,), nan),
        (gamma.digamma, (inf,), inf), (gamma.zeta, (1.0, 2.0), inf), (gamma.zeta, (0.5, 2.0), nan), (gamma.zeta, (2.0, -1.0), inf),
        (gamma.zeta, (2.5, -1.5), nan), (gamma.igamma, (0.0, 1.0), 1.0), (gamma.igamma, (1.0, 0.0), 0.0), (gamma.igamma, (0.0, 0.0), nan),
        (gamma.igamma, (-1.0, 1.0), nan), (gamma.igamma, (inf, 1.0), 0.0), (gamma.igamma, (1.0, inf), 1.0),
        (gamma.igammac, (inf, inf), nan),
        (bessel.i0, (inf,), inf), (bessel.i0e, (inf,), 0.0), (bessel.i1, (-inf,), -inf), (bessel.bessel_j0, (inf,), 0.0),
        (bessel.bessel_y0, (0.0,), -inf), (bessel.bessel_y1, (-1.0,), nan), (bessel.modified_bessel_k0, (0.0,), inf),
        (bessel.airy_ai, (inf,), 0.0), (bessel.airy_ai, (-inf,), 0.0), (bessel.spherical_bessel_j0, (0.0,), 1.0),
        (error.erfinv, (1.0,), inf), (error.erfinv, (-1.0,), -inf), (error.erfinv, (1.5,), nan), (error.ndtri, (0.0,), -inf),
        (error.ndtri, (1.0,), inf), (error.ndtri, (-0.1,), nan), (error.erfcx, (inf,), 0.0), (error.erfcx, (-30.0,), inf),
        (error.log_ndtr, (-inf,), -inf), (error.ndtr, (inf,), 1.0), (series.sinc, (0.0,), 1.0), (series.sinc, (5.0,), 0.0),
    ]  # fmt: skip
    for function, operands, wanted in table:
        np.testing.assert_equal(float(function(*operands)) + 0.0, wanted, f"{function.__name__}{operands}")
        assert np.isnan(function(*(nan for _ in operands))), function.__name__


def test_identities() -> None:
    x = np.linspace(0.1, 20.0, 200)
    np.testing.assert_allclose(gamma.lgamma(x + 1) - gamma.lgamma(x), np.log(x), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(gamma.digamma(x + 1) - gamma.digamma(x), 1 / x, rtol=1e-13, atol=1e-14)
    wronskian = bessel.bessel_j1(x) * bessel.bessel_y0(x) - bessel.bessel_j0(x) * bessel.bessel_y1(x)
    np.testing.assert_allclose(wronskian, 2 / (np.pi * x), rtol=1e-13)
    mixed = bessel.i0(x) * bessel.modified_bessel_k1(x) + bessel.i1(x) * bessel.modified_bessel_k0(x)
    np.testing.assert_allclose(mixed, 1 / x, rtol=1e-13)
    p = np.linspace(0.001, 0.999, 99)
    np.testing.assert_allclose(error.ndtr(error.ndtri(p)), p, rtol=1e-13)
    np.testing.assert_allclose(gamma.igamma(x, x) + gamma.igammac(x, x), 1.0, rtol=1e-14)


@pytest.mark.parametrize("kind", "tuvw")
def test_high_degrees_agree_with_the_recurrence(kind: str) -> None:
    function = getattr(orthogonal, f"chebyshev_polynomial_{kind}")
    x = np.array([-1.2, -1.0, -0.4, 0.3, 1.0, 1.1])
    n = np.full(6, 45.0)
    np.testing.assert_allclose(function(x, n + 1), 2 * x * function(x, n) - function(x, n - 1), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(function(x, n - 5), 2 * x * function(x, n - 6) - function(x, n - 7), rtol=1e-11, atol=1e-12)


def test_what_overflows_stays_infinite() -> None:
    assert orthogonal.hermite_polynomial_h(3.0, 2000.0) == math.inf
    assert orthogonal.hermite_polynomial_h(-30.0, 2001.0) == -math.inf
    assert orthogonal.chebyshev_polynomial_t(-2.0, 10001.0) == -math.inf


def test_namespace_has_the_names_of_torch() -> None:
    torch = import_torch()
    if torch is None:
        pytest.skip("torch is not installed")
    assert set(torch.special.__all__) <= set(twofold.special.__all__)
    assert sorted(twofold.special.__all__) == list(twofold.special.__all__)
    for name in twofold.special.__all__:
        assert callable(getattr(twofold.special, name))


def test_namespace_shares_functions_with_the_top_level() -> None:
    for name, top in {"gammaln": "lgamma", "psi": "digamma", "expit": "sigmoid", "multigammaln": "mvlgamma", "gammainc": "igamma"}.items():
        assert getattr(twofold.special, name) is getattr(twofold, top)
    with pytest.raises(UnknownNameError):
        twofold.special_ndtr
    with pytest.raises(AttributeError):
        twofold.special.nothing


@pytest.mark.parametrize("a", [3.0, 8.0, 9.5, 20.0, 59.0])
def test_incomplete_gamma_far_below_its_mean(a: float) -> None:
    """Tiny values keep their digits: P(a, x) for x far below a."""
    mp = pytest.importorskip("mpmath").mp
    mp.dps = 40
    points = np.array([1e-30, 1e-10, 1e-3, 0.3, 0.59, 0.61]) * a
    for x, y in zip(points, gamma.igamma(np.full_like(points, a), points), strict=True):
        exact = mp.gammainc(a, 0, mp.mpf(float(x)), regularized=True)
        if exact > mp.mpf("1e-300"):
            assert abs(mp.mpf(float(y)) - exact) <= 3e-13 * exact, (x, y)
