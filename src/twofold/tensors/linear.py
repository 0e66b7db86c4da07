"""Products of matrices that choose between records (`matmul`), and those that are made of others (`einsum`, `tensordot`, …)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any

from twofold.ir import dtypes
from twofold.ir.mode import MODE, grad_enabled
from twofold.ir.op import get_op, wrap_dim
from twofold.support.errors import ArgumentError, DimensionError, ShapeError, ValueRangeError
from twofold.tape.node import tick
from twofold.tape.plan import table
from twofold.tensors.contraction import Term, call, contract_pair, finish, reduce_terms
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.equation import parse_equation, parse_sublists
from twofold.tensors.generated.matrix import MmBackward0
from twofold.tensors.shapes import reshape
from twofold.tensors.typing import Number

_mm, _matmul = get_op("mm"), get_op("matmul")
_mm_plans = table(_mm)
_BY_RANK = {(2, 2): _mm, (2, 1): get_op("mv"), (1, 1): get_op("dot")}
_bmm = get_op("bmm")


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product, with NumPy's and PyTorch's rules: two vectors give their dot product, a vector is a row on the left and a column
    on the right, and of operands with more than two dimensions the last two are matrices and the others a batch, which is broadcast.

    Both operands have one dtype (not bool), else DTypeError; ShapeError names both shapes where they do not fit.
    """
    if MODE.special or type(input) is not Tensor or type(other) is not Tensor:
        return _product(input, other)
    t0 = input._type
    t1 = other._type
    if t0.ndim != 2 or t1.ndim != 2:
        return _product(input, other)
    # From here on this is the generated function of `mm`: one call less on the path of small matrices.
    a0 = input._array
    a1 = other._array
    e0 = input._node
    e1 = other._node
    k = (t0, t1)
    try:
        p = _mm_plans[k]
    except KeyError:
        p = _mm_plans.make(k, k, {})
    o = Tensor()
    o._type = t = p.out
    o._array = a0.dot(a1) if t0.fast else p.kernel(a0, a1)
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        n: Any = MmBackward0()
        o._node = n
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_mat2 = a1 if e0 is not None else None
    else:
        o._node = None
    return o


def _product(input: Any, other: Any) -> Tensor:
    """The record for the operands' ranks, the general way."""
    if isinstance(input, Tensor) and isinstance(other, Tensor):
        s, t = input._type.shape, other._type.shape
        op = _bmm if len(s) == len(t) == 3 and s[0] == t[0] else _BY_RANK.get((len(s), len(t)), _matmul)
        return dispatch(op, (input, other), {})
    return dispatch(_matmul, (input, other), {})


def einsum(*args: Any) -> Tensor:
    """A sum of products by an equation of index letters: `einsum("bij,bjk->bik", a, b)`, with `...` for leading dimensions that broadcast.

    A letter twice in one operand takes the diagonal; without `->` the letters that appear once, sorted, are the output's. The other form is
    `einsum(a, [0, 1], b, [1, 2], [0, 2])` with `Ellipsis` in the lists. Sizes of 1 broadcast. The equation is written out into permute,
    reshape, bmm, mul and sum: those are the nodes of the graph. Of more than two operands the pair with the smallest result is contracted
    first. Raises ValueRangeError for a malformed equation and ShapeError for sizes that disagree.
    """
    if not args:
        raise ValueRangeError("einsum() needs an equation and at least one tensor")
    if isinstance(args[0], str):
        operands = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = tuple(operands[0])
        ranks = _ranks(operands)
        inputs, output = parse_equation(args[0], ranks)
    else:
        operands = args[: len(args) - len(args) % 2 : 2]
        inputs, output = parse_sublists(args, _ranks(operands))
    terms = [Term(t, labels).without_repeats() for t, labels in zip(operands, inputs, strict=True)]
    return finish(reduce_terms(terms, output), output)


def _ranks(operands: Sequence[Any]) -> tuple[int, ...]:
    if not operands:
        raise ValueRangeError("einsum() needs at least one tensor")
    for t in operands:
        if not isinstance(t, Tensor):
            raise ArgumentError(f"einsum(): operands must be tensors, not {type(t).__name__}")
    return tuple(t._type.ndim for t in operands)


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Any] = 2) -> Tensor:
    """The product of two tensors, summed over pairs of dimensions.

    dims: a number n (the last n of `a` with the first n of `b`) or two lists of dimensions. The result has the other dimensions of `a`,
    then of `b`.
    """
    n, m = a._type.ndim, b._type.ndim
    if isinstance(dims, int):
        if not 0 <= dims <= min(n, m):
            raise DimensionError(f"tensordot: dims={dims} for tensors of {n} and {m} dimensions")
        left, right = list(range(n - dims, n)), list(range(dims))
    else:
        left, right = ([wrap_dim(int(d), rank, "tensordot") for d in given] for given, rank in zip(dims, (n, m), strict=True))
    if len(left) != len(right):
        raise ShapeError(f"tensordot: {len(left)} dimensions of the first tensor and {len(right)} of the second")
    for i, j in zip(left, right, strict=True):
        x, y = a._type.shape[i], b._type.shape[j]
        if x != y and x != 1 and y != 1:
            raise ShapeError(
                f"tensordot: dimension {i} of shape {tuple(a._type.shape)} is {x}, dimension {j} of shape {tuple(b._type.shape)} is {y}"
            )
    labels_a = list(range(n))
    labels_b = [left[right.index(j)] if j in right else n + j for j in range(m)]
    output = tuple(i for i in labels_a if i not in left) + tuple(k for k in labels_b if k >= n)
    pair = contract_pair(Term(a, tuple(labels_a)), Term(b, tuple(labels_b)), frozenset(output))
    result = finish(pair, output)
    kind = a._type.dtype  # sums of small integers are int64, products are not
    return result if kind.is_floating_point or result._type.dtype is kind else call("to", result, dtype=kind)


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """The outer product of two vectors: result[i, j] = input[i] * vec2[j]."""
    for name, t in (("input", input), ("vec2", vec2)):
        if t._type.ndim != 1:
            raise ShapeError(f"outer: {name} must have 1 dimension, not shape {tuple(t._type.shape)}")
    return call("mul", reshape(input, (input._type.shape[0], 1)), vec2)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sum of products over the last dimension of both tensors; the other dimensions of the first, then of the second remain."""
    if input._type.ndim == 0 or other._type.ndim == 0:
        return call("mul", input, other)
    if input._type.shape[-1] != other._type.shape[-1]:
        raise ShapeError(f"inner: the last dimensions of shapes {tuple(input._type.shape)} and {tuple(other._type.shape)} differ")
    return tensordot(input, other, ([-1], [-1]))


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: every element of the first times the whole second, blocks in the places of the elements."""
    rank = max(input._type.ndim, other._type.ndim)
    s, t = ((1,) * (rank - x._type.ndim) + tuple(x._type.shape) for x in (input, other))
    left = reshape(input, tuple(n for k in s for n in (k, 1)))
    right = reshape(other, tuple(n for k in t for n in (1, k)))
    return reshape(call("mul", left, right), tuple(k * j for k, j in zip(s, t, strict=True)))


def _weighted(input: Tensor, product: Tensor, beta: Number, alpha: Number) -> Tensor:
    """beta * input + alpha * product; beta = 0 ignores the input. Integers and bools take the factors in their own dtype."""
    kind = dtypes.promote_types(input._type.dtype, product._type.dtype)
    if kind.category != dtypes.FLOAT:
        beta, alpha = (bool(v) if kind.category == dtypes.BOOL else int(v) for v in (beta, alpha))
    if alpha != 1:
        product = call("mul", product, alpha)
    if beta == 0:
        return product
    return call("add", product, input if beta == 1 else call("mul", input, beta))


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * (mat @ vec)."""
    return _weighted(input, call("mv", mat, vec), beta, alpha)


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)."""
    return _weighted(input, outer(vec1, vec2), beta, alpha)


def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * (the sum of all products of a batch of matrices)."""
    products = call("bmm", batch1, batch2)
    return _weighted(input, call("sum", products, dim=(0,), dtype=products._type.dtype), beta, alpha)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of two or more matrices in the order of least work; the first and the last may be vectors."""
    given = list(tensors)
    if len(given) < 2:
        raise ValueRangeError(f"multi_dot() needs at least two tensors, not {len(given)}")
    matrices = list(given)
    row, column = matrices[0]._type.ndim == 1, matrices[-1]._type.ndim == 1
    if row:
        matrices[0] = call("unsqueeze", matrices[0], dim=0)
    if column:
        matrices[-1] = call("unsqueeze", matrices[-1], dim=1)
    for i, t in enumerate(matrices):
        if t._type.ndim != 2:
            raise ShapeError(
                f"multi_dot: tensor {i} has {t._type.ndim} dimensions; all must be matrices (the first and last may be vectors)"
            )
    result = _chain(matrices, cheapest_order([t._type.shape for t in matrices]), 0, len(matrices) - 1)
    if row:
        result = call("squeeze", result, dim=(0,))
    return call("squeeze", result, dim=(result._type.ndim - 1,)) if column else result


def cheapest_order(shapes: Sequence[Any]) -> dict[tuple[int, int], int]:
    """For each stretch of the product of matrices of these shapes the place to split it, by dynamic programming over all places.

    Source: T. H. Cormen, C. E. Leiserson, R. L. Rivest, C. Stein, "Introduction to Algorithms", section 14.2 (matrix-chain multiplication).
    """
    n = len(shapes)
    if not all(type(k) is int for s in shapes for k in s):
        return {(i, j): j - 1 for i in range(n) for j in range(i + 1, n)}  # unknown sizes: from left to right
    cost: dict[tuple[int, int], float] = {(i, i): 0 for i in range(n)}
    split = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best = math.inf
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + shapes[i][0] * shapes[k][1] * shapes[j][1]
                if c < best:
                    best, split[i, j] = c, k
            cost[i, j] = best
    return split


def _chain(matrices: Sequence[Tensor], split: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return matrices[i]
    k = split[i, j]
    return call("mm", _chain(matrices, split, i, k), _chain(matrices, split, k + 1, j))


def chain_matmul(*matrices: Any, out: None = None) -> Tensor:
    """The product of matrices in the order of least work; of one matrix itself. `multi_dot` of the arguments."""
    given = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    for i, t in enumerate(given):
        if isinstance(t, Tensor) and t._type.ndim != 2:
            raise ShapeError(f"chain_matmul: matrix {i} has {t._type.ndim} dimensions, expected 2")
    return given[0] if len(given) == 1 and isinstance(given[0], Tensor) else multi_dot(given)


FUNCTIONS = {
    "matmul": matmul, "einsum": einsum, "tensordot": tensordot, "outer": outer, "ger": outer, "inner": inner, "kron": kron, "addmv": addmv,
    "addr": addr, "addbmm": addbmm, "multi_dot": multi_dot, "chain_matmul": chain_matmul,
}  # fmt: skip
