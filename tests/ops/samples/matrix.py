"""Samples of products of matrices, and of the plain functions over them."""

from __future__ import annotations

import numpy as np

from tests.ops.row import E, Row, S
from twofold.support.errors import ArgumentError, DimensionError, DTypeError, ShapeError, ValueRangeError

NUMBER = ("float", "int8", "int16", "int32", "int64", "uint8")


def products(*pairs):
    return lambda g: [S(g.real(*a), g.real(*b)) for a, b in pairs]


def refused(name, *pairs):
    """Shapes that do not fit, a bool, two dtypes."""

    def errors(g):
        a, b = pairs[0]
        return [
            *(E((g.real(*x), g.real(*y)), {}, ShapeError, name) for x, y in pairs[1:]),
            E((g.bools(*a), g.bools(*b)), {}, DTypeError, "bool"),
            E((g.index(a, 3), g.real(*b)), {}, DTypeError, "one dtype"),
            E((g.real(*a), 2.0), {}, ArgumentError, name),
        ]

    return errors


def scaled_add(input, product, beta, alpha):
    return (0 if beta == 0 else beta * input) + alpha * product


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    return scaled_add(input, mat1 @ mat2, beta, alpha)


MM = (((2, 3), (3, 4)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((5, 4), (4, 1)))
MATMUL = (
    *MM,
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 2, 3), (2, 3, 2)),
    ((2, 2, 3), (3, 2)),
    ((2, 3), (2, 3, 2)),
    ((2, 1, 2, 3), (3, 3, 2)),
    ((2, 2, 3), (3,)),
    ((3,), (2, 3, 2)),
    ((0, 2, 3), (3, 2)),
    ((2, 2, 0), (0, 2)),
    ((0,), (0,)),
    ((1, 2, 3), (4, 3, 2)),
)
EQUATIONS = (
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    ("ij->ji", (2, 3)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("i,j->ij", (2,), (3,)),
    ("i,i", (3,), (3,)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 2)),
    ("b...,...->b", (2, 3, 2), (3, 2)),
    ("bhqd,bhkd->bhqk", (1, 2, 2, 3), (1, 2, 3, 3)),
    ("ij,jk,kl->il", (2, 3), (3, 2), (2, 3)),
    ("ij,j,i->", (2, 3), (3,), (2,)),
    ("ab, bc -> ca", (2, 3), (3, 2)),
    ("ij->", (2, 3)),
    ("ij,jk->k", (2, 3), (3, 2)),
    ("iij,j->i", (2, 2, 3), (3,)),
    ("ij,kj->kij", (2, 1), (2, 3)),
    ("i...->...", (2, 3)),
    ("Ba,ba->bB", (2, 3), (2, 3)),
    ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 2)),
)

# addmv, addr, addbmm and multi_dot are made of several records, each of which rounds: hence their tolerance in 16-bit floats.
ROWS = [
    Row(
        "mm",
        products(*MM),
        np.matmul,
        dtypes=NUMBER,
        errors=refused("mm", ((2, 2), (2, 2)), ((2, 3), (2, 3)), ((2,), (2, 2)), ((2, 2, 2), (2, 2))),
    ),
    Row(
        "mv",
        products(((2, 3), (3,)), ((1, 1), (1,)), ((0, 2), (2,)), ((2, 0), (0,))),
        np.matmul,
        dtypes=NUMBER,
        errors=refused("mv", ((2, 2), (2,)), ((2, 3), (2,)), ((2, 2), (2, 2))),
    ),
    Row(
        "dot",
        products(((3,), (3,)), ((1,), (1,)), ((0,), (0,))),
        np.dot,
        dtypes=NUMBER,
        errors=refused("dot", ((2,), (2,)), ((2,), (3,)), ((2, 2), (2,))),
    ),
    Row(
        "bmm",
        products(((2, 2, 3), (2, 3, 2)), ((1, 1, 1), (1, 1, 1)), ((0, 2, 3), (0, 3, 2)), ((2, 2, 0), (2, 0, 3))),
        np.matmul,
        dtypes=NUMBER,
        errors=refused("bmm", ((1, 2, 2), (1, 2, 2)), ((2, 2, 2), (1, 2, 2)), ((1, 2, 3), (1, 2, 3)), ((2, 2), (1, 2, 2))),
    ),
    Row(
        "matmul",
        products(*MATMUL),
        np.matmul,
        dtypes=NUMBER,
        errors=refused("matmul", ((1, 2, 2), (2, 2)), ((2, 2, 3), (2, 3)), ((), (2,)), ((2, 2, 3), (3, 3, 2))),
    ),
    Row(
        "addmm",
        lambda g: [
            S(g.real(2, 2), g.real(2, 3), g.real(3, 2)),
            S(g.real(2), g.real(2, 3), g.real(3, 2), beta=2, alpha=3),
            S(g.real(2, 1), g.real(2, 3), g.real(3, 2), beta=0.5, alpha=-1.5).but(dtypes="float"),
            S(np.full((2, 2), np.nan), g.real(2, 3), g.real(3, 2), beta=0).but(dtypes="float", grad=False),
            S(g.real(), g.real(2, 0), g.real(0, 2)),
        ],
        addmm,
        dtypes=NUMBER,
        inplace="addmm_",
        errors=lambda g: [
            E((g.real(3), g.real(2, 3), g.real(3, 2)), {}, ShapeError, "addmm"),
            E((g.index(2, 3), g.index((2, 3), 3), g.index((3, 2), 3)), {"alpha": 0.5}, DTypeError, "integers"),
        ],
    ),
    Row(
        "baddbmm",
        lambda g: [
            S(g.real(2, 2, 2), g.real(2, 2, 3), g.real(2, 3, 2)),
            S(g.real(2, 1, 2), g.real(2, 2, 3), g.real(2, 3, 2), beta=2, alpha=3),
            S(g.real(2), g.real(2, 2, 3), g.real(2, 3, 2), beta=0.5, alpha=-1.5).but(dtypes="float"),
        ],
        addmm,
        dtypes=NUMBER,
        inplace="baddbmm_",
        errors=lambda g: [E((g.real(3), g.real(2, 2, 3), g.real(2, 3, 2)), {}, ShapeError, "baddbmm")],
    ),
    Row(
        "einsum",
        lambda g: [S(e, *(g.real(*s) for s in shapes)) for e, *shapes in EQUATIONS],
        # np.einsum sums no ellipsis away
        lambda e, *arrays: np.einsum(e.replace("b...,...->b", "bxy,xy->b"), *arrays),
        tolerance=4.0,  # of three operands the products are rounded one by one
        errors=lambda g: [
            E(("ij,jk->ik", g.real(2, 3)), {}, ValueRangeError, "operand"),
            E(("ij,jk->ik", g.real(2, 3), g.real(2, 3)), {}, ShapeError, "sizes"),
            E(("ij->ij", g.real(2, 3, 4)), {}, ShapeError, "names 2"),
            E(("i?->i", g.real(2, 3)), {}, ValueRangeError, "no letter"),
            E(("ij->k", g.real(2, 3)), {}, ValueRangeError, "no operand has"),
            E(("ij->ii", g.real(2, 3)), {}, ValueRangeError, "twice"),
            E(("ii->i", g.real(2, 3)), {}, ShapeError, "one size"),
            E(("ij", 1.0), {}, ArgumentError, "tensors"),
        ],
    ),
    Row(
        "tensordot",
        lambda g: [
            S(g.real(2, 3, 2), g.real(3, 2, 2)),
            S(g.real(2, 3), g.real(3, 2), 1),
            S(g.real(2, 3), g.real(2), 0),
            S(g.real(2, 3, 2), g.real(2, 3), ([0, 1], [0, 1])),
            S(g.real(2, 3, 2), g.real(2, 3), dims=([-2], [-1])),
        ],
        lambda a, b, dims=2: np.tensordot(a, b, dims),
        errors=lambda g: [
            E((g.real(2, 3), g.real(2, 3), 1), {}, ShapeError, "tensordot"),
            E((g.real(2), g.real(2), 2), {}, DimensionError, "dims=2"),
        ],
    ),
    Row(
        "outer",
        products(((2,), (3,)), ((0,), (3,)), ((1,), (1,))),
        np.outer,
        errors=lambda g: [E((g.real(2, 2), g.real(2)), {}, ShapeError, "outer")],
    ),
    Row(
        "inner",
        products(((2, 3), (2, 3)), ((3,), (3,)), ((), (2,))),
        np.inner,
        errors=lambda g: [E((g.real(2), g.real(3)), {}, ShapeError, "inner")],
    ),
    Row("kron", products(((2, 3), (2, 2)), ((2,), (2, 2)), ((), (2,))), np.kron),
    Row(
        "addmv",
        lambda g: [S(g.real(2), g.real(2, 3), g.real(3)), S(g.real(), g.real(2, 3), g.real(3), beta=0.5, alpha=2.0)],
        addmm,
        tolerance=4.0,
    ),
    Row(
        "addr",
        lambda g: [S(g.real(2, 3), g.real(2), g.real(3)), S(g.real(3), g.real(2), g.real(3), beta=0.5, alpha=2.0)],
        lambda x, a, b, beta=1, alpha=1: scaled_add(x, np.outer(a, b), beta, alpha),
        dtypes=("float32", "float64"),  # elementwise limits, and in 16 bits the sum of two rounded numbers may cancel
        tolerance=4.0,
    ),
    Row(
        "addbmm",
        lambda g: [S(g.real(2, 2), g.real(2, 2, 3), g.real(2, 3, 2)), S(g.real(2), g.real(2, 2, 3), g.real(2, 3, 2), beta=0.5, alpha=2.0)],
        lambda x, a, b, beta=1, alpha=1: scaled_add(x, (a @ b).sum(0), beta, alpha),
        tolerance=4.0,
    ),
    Row(
        "multi_dot",
        lambda g: [
            S([g.real(2, 3), g.real(3, 1), g.real(1, 4)]),
            S([g.real(2, 3), g.real(3, 2)]),
            S([g.real(3), g.real(3, 2), g.real(2, 2), g.real(2)]),
        ],
        lambda a: np.linalg.multi_dot(a),
        tolerance=4.0,
        torch=lambda torch, a: torch.linalg.multi_dot(a),
        errors=lambda g: [
            E(([g.real(2, 2)],), {}, ValueRangeError, "two"),
            E(([g.real(2, 2, 2), g.real(2, 2)],), {}, ShapeError, "multi_dot"),
        ],
    ),
]
