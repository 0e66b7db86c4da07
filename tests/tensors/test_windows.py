"""Window functions against their formulas and torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import twofold
from tests.ops.calls import array, import_torch
from twofold.signal import windows
from twofold.support.errors import ArgumentError, ValueRangeError

KEYWORDS: dict[str, dict[str, Any]] = {
    "exponential": {"tau": 2.5}, "gaussian": {"std": 1.7}, "general_cosine": {"a": [0.4, 0.35, 0.2, 0.05]},
    "general_hamming": {"alpha": 0.6},
    "kaiser": {"beta": 9.0},
}  # fmt: skip
OLDER = {"hann_window": (), "hamming_window": (0.6, 0.4), "blackman_window": (), "bartlett_window": (), "kaiser_window": (7.0,)}


def formula(name: str, m: int, sym: bool) -> np.ndarray:
    n, period = np.arange(m, dtype=np.float64), float(m - 1 if sym else m)
    cosines = {
        "hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08), "general_hamming": (0.6, 0.4),
        "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411), "general_cosine": (0.4, 0.35, 0.2, 0.05),
    }  # fmt: skip
    if name in cosines:
        return np.asarray(sum((-1) ** i * a * np.cos(2 * np.pi * i * n / period) for i, a in enumerate(cosines[name])))
    return {
        "bartlett": lambda: 1 - np.abs(2 * n / period - 1), "cosine": lambda: np.sin(np.pi * (n + 0.5) / (period + 1)),
        "exponential": lambda: np.exp(-np.abs(n - period / 2) / 2.5), "gaussian": lambda: np.exp(-(((n - period / 2) / 1.7) ** 2) / 2),
        "kaiser": lambda: np.i0(9 * np.sqrt(np.maximum(1 - (2 * n / period - 1) ** 2, 0))) / np.i0(9.0),
    }[name]()  # fmt: skip


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("name", windows.__all__)
def test_windows(name: str, sym: bool) -> None:
    function, keywords = getattr(windows, name), KEYWORDS.get(name, {})
    torch = import_torch()
    for m in (0, 1, 2, 3, 8, 51):
        wide = array(function(m, sym=sym, dtype=twofold.float64, **keywords))
        assert wide.dtype == np.float64
        assert wide.shape == (m,)
        if m > 1:
            np.testing.assert_allclose(wide, formula(name, m, sym), rtol=1e-12, atol=1e-15)
        else:
            np.testing.assert_array_equal(wide, np.ones(m))
        narrow = array(function(m, sym=sym, **keywords))
        np.testing.assert_array_equal(narrow, wide.astype(np.float32))
        if torch is not None:
            theirs = getattr(torch.signal.windows, name)(m, sym=sym, dtype=torch.float64, **keywords).numpy()
            np.testing.assert_allclose(wide, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("name", OLDER)
def test_older_windows(name: str, periodic: bool) -> None:
    torch = import_torch()
    if torch is None:
        pytest.skip("torch is not installed")
    for m in (0, 1, 2, 7):
        ours = array(getattr(twofold, name)(m, periodic, *OLDER[name], dtype=twofold.float64))
        theirs = getattr(torch, name)(m, periodic, *OLDER[name], dtype=torch.float64).numpy()
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)
    assert getattr(twofold, name)(4, dtype=twofold.float16).dtype is twofold.float16


def test_options() -> None:
    w = windows.hann(5, requires_grad=True)
    assert w.requires_grad
    assert w.is_leaf
    assert windows.hann(5, device="meta").shape == (5,)
    assert windows.hann(5, layout="torch.strided").shape == (5,)
    centred = array(windows.exponential(5, center=0.0, tau=2.0, sym=False, dtype=twofold.float64))
    np.testing.assert_allclose(centred, np.exp(-np.arange(5) / 2))


def test_recorded() -> None:
    x = twofold.ones(6)
    graph = twofold.trace(lambda x: x * windows.kaiser(6), (x,))
    np.testing.assert_array_equal(array(graph(x)), array(windows.kaiser(6)))


BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: windows.hann(-1), ValueRangeError, "non-negative window length"),
    (lambda: windows.hann(2.5), ArgumentError, "must be an int"),
    (lambda: windows.hann(3, dtype=twofold.float16), ValueRangeError, "float32 or float64"),
    (lambda: windows.hann(3, dtype=twofold.int64), ValueRangeError, "float32 or float64"),
    (lambda: windows.hann(3, layout="torch.sparse_coo"), ValueRangeError, "strided tensors only"),
    (lambda: windows.exponential(3, tau=-1), ValueRangeError, "Tau must be positive"),
    (lambda: windows.exponential(3, center=1), ValueRangeError, "Center must be None"),
    (lambda: windows.gaussian(3, std=0), ValueRangeError, "deviation must be positive"),
    (lambda: windows.kaiser(3, beta=-1), ValueRangeError, "beta must be non-negative"),
    (lambda: windows.general_cosine(3, a=None), ArgumentError, "list/tuple"),
    (lambda: windows.general_cosine(3, a=[]), ValueRangeError, "cannot be empty"),
    (lambda: twofold.hann_window(3, dtype=twofold.int64), ValueRangeError, "floating-point"),
]


@pytest.mark.parametrize("index", range(len(BAD)))
def test_refusals(index: int) -> None:
    call, error, text = BAD[index]
    with pytest.raises(error, match=text):
        call()


def test_large_beta() -> None:
    middle = array(windows.kaiser(5, beta=2000.0, dtype=twofold.float64))
    assert np.isfinite(middle).all()
    assert math.isclose(middle[2], 1.0, rel_tol=1e-13)
