"""The inline float32 functions against float64, over all exponents and at special values."""

from __future__ import annotations

import math

import numpy as np
import pytest

import twofold
from twofold.ops import special

REFERENCES = {"exp": np.exp, "log": np.log, "tanh": np.tanh, "erf": special.erf, "erfc": special.erfc}
LIMITS = {"exp": 2.0, "log": 2.0, "tanh": 4.0, "erf": 3.0, "erfc": 6.0}
SPECIAL = [
    0.0,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    1.0,
    -1.0,
    1e-45,
    -1e-45,
    1.17549435e-38,
    3.4e38,
    -3.4e38,
    88.7,
    89.0,
    -87.5,
    -103.9,
    -104.0,
    10.06,
]


def numbers() -> np.ndarray:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 1 << 32, 200_000, dtype=np.uint64).astype(np.uint32)
    return np.concatenate(
        [bits.view(np.float32), np.linspace(-110, 110, 100_001, dtype=np.float32), np.linspace(-5, 5, 100_001, dtype=np.float32)]
    )


@pytest.mark.parametrize("cpu", ["native", "x86-64-v2"])
@pytest.mark.parametrize("name", REFERENCES)
def test_units_in_the_last_place(name: str, cpu: str) -> None:
    x = np.concatenate([numbers(), np.array(SPECIAL, np.float32)])
    program = twofold.trace(getattr(twofold, name), (twofold.tensor(x),), check=False).compile(target=cpu)
    with np.errstate(all="ignore"):
        got = program(x).astype(np.float64)
        want = np.asarray(REFERENCES[name](x.astype(np.float64)))
        rounded = want.astype(np.float32)
    finite = np.isfinite(rounded)
    assert (np.isnan(got) == np.isnan(want)).all()
    np.testing.assert_array_equal(got[np.isinf(rounded) & (np.abs(want) > 3.5e38)], rounded[np.isinf(rounded) & (np.abs(want) > 3.5e38)])
    unit = np.spacing(np.maximum(np.abs(rounded[finite]), np.float32(1.2e-38))).astype(np.float64)
    error = np.abs(got[finite] - want[finite]) / unit
    assert error.max() <= LIMITS[name], (name, x[finite][error.argmax()], error.max())


def test_signs_of_zero() -> None:
    for name in ("tanh", "erf"):
        x = np.array([0.0, -0.0], np.float32)
        got = twofold.trace(getattr(twofold, name), (twofold.tensor(x),), check=False).compile()(x)
        assert np.signbit(got).tolist() == [False, True]
