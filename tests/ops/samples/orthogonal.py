"""Samples of orthogonal polynomials."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.polynomial import hermite, hermite_e, laguerre, legendre

from tests.ops.oracles import chebyshev, polynomial
from tests.ops.row import E, Row, S
from twofold.support.errors import ShapeError

FLOATS = ("float64", "float32")


def samples(g):
    degrees = np.array([-1.0, 0.0, 1.0, 2.0, 5.0, 9.0])
    return [
        S(g.open(4, 6), degrees), S(g.open(6) * 2.5, degrees), S(g.open(3), 4.0), S(0.3, degrees), S(g.open(0, 6), degrees),
        S(g.open(), np.asarray(3.0)), S(g.noncontiguous(g.open(2, 3)), g.ints(2, 3, low=0, high=7)),
        S(g.open(3), np.array([2.7, 3.2, -0.5])).but(dtypes=FLOATS), S(g.open(3) * 0.9, np.array([50.0, 51.0, 60.0])).but(dtypes=FLOATS),
    ]  # fmt: skip


def row(name, oracle):
    return Row(
        f"special_{name}", samples, oracle, torch=name, dtypes=FLOATS, grad=False,
        # a polynomial has zeros, near which the rounding of the recurrence counts, in the oracle as in the result
        tolerance=1e4, errors=lambda g: [E((g.real(2), g.real(3)), {}, ShapeError, name)],
    )  # fmt: skip


def shifted(oracle, x, n):
    return oracle(2.0 * np.asarray(x) - 1.0, n)


ROWS = [
    *(row(f"chebyshev_polynomial_{kind}", chebyshev(kind)) for kind in "tuvw"),
    *(row(f"shifted_chebyshev_polynomial_{kind}", partial(shifted, chebyshev(kind))) for kind in "tuvw"),
    row("hermite_polynomial_h", polynomial(hermite.hermval)),
    row("hermite_polynomial_he", polynomial(hermite_e.hermeval)),
    row("laguerre_polynomial_l", polynomial(laguerre.lagval)),
    row("legendre_polynomial_p", polynomial(legendre.legval)),
]
