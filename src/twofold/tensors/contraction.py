"""Sums of products of tensors whose dimensions carry labels, written with permute, reshape, bmm, mul and sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from twofold.ir.op import get_op
from twofold.support.errors import ShapeError
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch
from twofold.tensors.shapes import reshape

Labels = tuple[int, ...]


def call(name: str, *operands: Any, **attributes: Any) -> Any:
    """Run or record a record by name."""
    return dispatch(get_op(name), operands, attributes)


class Term(NamedTuple):
    """A tensor and the label of each of its dimensions."""

    tensor: Tensor
    labels: Labels

    def size(self, label: int) -> Any:
        return self.tensor._type.shape[self.labels.index(label)]

    def without_repeats(self) -> Term:
        """Where a label comes twice, the diagonal (it moves to the end)."""
        t, labels = self.tensor, list(self.labels)
        for x in dict.fromkeys(self.labels):
            while labels.count(x) > 1:
                i = labels.index(x)
                j = labels.index(x, i + 1)
                n, m = t._type.shape[i], t._type.shape[j]
                if n != m:
                    raise ShapeError(
                        f"einsum: a repeated label needs dimensions of one size, not {n} and {m} (shape {tuple(t._type.shape)})"
                    )
                t = call("diagonal", t, offset=0, dim1=i, dim2=j)
                labels = [y for k, y in enumerate(labels) if k not in (i, j)] + [x]
        return Term(t, tuple(labels))

    def summed(self, gone: Sequence[int]) -> Term:
        """The sum over some labels."""
        if not gone:
            return self
        dims = tuple(i for i, x in enumerate(self.labels) if x in gone)
        return Term(call("sum", self.tensor, dim=dims), tuple(x for x in self.labels if x not in gone))

    def squeezed(self, gone: Sequence[int]) -> Term:
        """Without some dimensions of size 1."""
        if not gone:
            return self
        dims = tuple(i for i, x in enumerate(self.labels) if x in gone)
        return Term(call("squeeze", self.tensor, dim=dims), tuple(x for x in self.labels if x not in gone))

    def ordered(self, labels: Labels) -> Tensor:
        """The tensor with its dimensions in this order."""
        if labels == self.labels:
            return self.tensor
        return call("permute", self.tensor, dims=tuple(self.labels.index(x) for x in labels))


def _product(sizes: Sequence[Any]) -> Any:
    result: Any = 1
    for n in sizes:
        result = result * n
    return result


def contract_pair(a: Term, b: Term, keep: frozenset[int]) -> Term:
    """The product of two terms, summed over the labels that are not kept."""
    a, b = _broadcast(a, b)
    shared = [x for x in a.labels if x in b.labels]
    a = a.summed([x for x in a.labels if x not in keep and x not in b.labels])
    b = b.summed([x for x in b.labels if x not in keep and x not in shared])
    batch = tuple(x for x in shared if x in keep)
    inner = tuple(x for x in shared if x not in keep)
    free_a = tuple(x for x in a.labels if x not in shared)
    free_b = tuple(x for x in b.labels if x not in shared)
    labels = (*batch, *free_a, *free_b)
    sizes = {x: a.size(x) for x in a.labels} | {x: b.size(x) for x in b.labels}
    if not inner:
        left = (
            reshape(a.ordered(batch + free_a), tuple(sizes[x] for x in batch + free_a) + (1,) * len(free_b))
            if free_b
            else a.ordered(batch + free_a)
        )
        right = b.ordered(batch + free_b)
        if free_a:
            right = reshape(right, tuple(sizes[x] for x in batch) + (1,) * len(free_a) + tuple(sizes[x] for x in free_b))
        return Term(call("mul", left, right), labels)
    nb, na, ni, nf = (_product([sizes[x] for x in group]) for group in (batch, free_a, inner, free_b))
    lead = (nb,) if batch else ()
    left = _as(a.ordered(batch + free_a + inner), (*lead, na, ni))
    right = _as(b.ordered(batch + inner + free_b), (*lead, ni, nf))
    out = call("bmm" if batch else "mm", left, right)
    return Term(_as(out, tuple(sizes[x] for x in labels)), labels)


def _as(t: Tensor, shape: tuple[Any, ...]) -> Tensor:
    return t if t._type.shape == shape else reshape(t, shape)


def _broadcast(a: Term, b: Term) -> tuple[Term, Term]:
    """Where a shared label has size 1 in one term only, it goes away there: the product and the sum are those of the other."""
    gone_a, gone_b = [], []
    for x in a.labels:
        if x in b.labels:
            n, m = a.size(x), b.size(x)
            if n == m:
                continue
            if n == 1:
                gone_a.append(x)
            elif m == 1:
                gone_b.append(x)
            else:
                shapes = f"{tuple(a.tensor._type.shape)} and {tuple(b.tensor._type.shape)}"
                raise ShapeError(f"einsum: one label has the sizes {n} and {m} in operands of shapes {shapes}")
    return a.squeezed(gone_a), b.squeezed(gone_b)


def reduce_terms(terms: list[Term], output: Labels) -> Term:
    """The product of all terms with what is not in the output summed away."""
    terms = list(terms)
    while len(terms) > 1:
        i, j = (0, 1) if len(terms) == 2 else cheapest_pair(terms, output)
        b, a = terms.pop(j), terms.pop(i)
        keep = frozenset(output).union(*(t.labels for t in terms))
        terms.insert(0, contract_pair(a, b, keep))
    return terms[0].summed([x for x in terms[0].labels if x not in output])


def cheapest_pair(terms: list[Term], output: Labels) -> tuple[int, int]:
    """The pair whose contraction has the smallest result (the first pair where sizes are unknown)."""
    best, pair = math.inf, (0, 1)
    for i in range(len(terms)):
        for j in range(i + 1, len(terms)):
            rest = frozenset(output).union(*(t.labels for k, t in enumerate(terms) if k not in (i, j)))
            sizes: dict[int, Any] = {}
            for t in (terms[i], terms[j]):
                for x in t.labels:
                    if x in rest:
                        n = t.size(x)
                        sizes[x] = n if sizes.get(x, 1) == 1 else sizes[x]
            count = _product(list(sizes.values()))
            if type(count) is not int:
                return 0, 1
            if count < best:
                best, pair = count, (i, j)
    return pair


def finish(term: Term, output: Labels) -> Tensor:
    """The term with its dimensions in the output's order. A label of size 1 dropped on the way never occurs: the other term kept it."""
    return term.ordered(output)
