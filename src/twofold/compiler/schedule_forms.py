"""Normal forms of specs before they are scheduled: trivial dimensions and reductions go, neighbouring dimensions become one, sums get the
type they are accumulated in, what guards decide is decided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from twofold.compiler.affine import Affine
from twofold.compiler.evaluate import identity
from twofold.compiler.expr import FLOATS, Expr, acc, cast, const, dtype_of, fn, iota, load, rewrite, walk, within
from twofold.compiler.spec import Reduce, Stage, Store

Form = Callable[[Affine], Affine]


class Rewriting:
    """Expressions under a change of index forms and of the results of reductions; shared parts stay shared.

    form:  what becomes of an affine form
    accs:  what stands for the result of a reduction; others stay, with their dimensions renamed by `kept`
    """

    def __init__(self, sizes: dict[str, int], form: Form = lambda a: a, accs: dict[str, Expr] | None = None) -> None:
        self.sizes, self.form, self.accs = sizes, form, accs or {}
        self.memo: dict[Expr, Expr] = {}

    def __call__(self, e: Expr) -> Expr:
        return rewrite(e, self._change, self.memo)

    def _change(self, e: Expr) -> Expr | None:
        if e.op == "load":
            return self._load(e)
        if e.op == "iota":
            return iota(self.form(e.attr))
        if e.op == "within":
            form, low, high = self.form(e.attr[0]), e.attr[1], e.attr[2]
            decided = self._decided(form, low, high)
            return within(form, low, high) if decided is None else const(decided, "bool")
        if e.op == "acc":
            if e.attr in self.accs:
                return self.accs[e.attr]
            kept = tuple(d for name in sorted(e.dims) for d, _ in self.form(Affine(0, ((name, 1),))).terms)
            return acc(e.attr, kept, e.type)
        if e.op == "where" and e.args[0].op == "const":
            return fn("where", *e.args)
        return None

    def _decided(self, form: Affine, low: int, high: int) -> bool | None:
        """Whether low ≤ form < high everywhere (True), nowhere (False), or it depends."""
        if any(self.sizes[d] == 0 for d, _ in form.terms):
            return None
        first, last = form.bounds(self.sizes)
        return True if low <= first and last < high else False if last < low or first >= high else None

    def _load(self, e: Expr) -> Expr:
        buffer, offset, guards, stored = e.attr
        kept = []
        for guard, low, high in guards:
            form = self.form(guard)
            decided = self._decided(form, low, high)
            if decided is False:
                return const(0, e.type)  # never read
            if decided is None:
                kept.append((form, low, high))
        return load(buffer, stored, self.form(offset), tuple(kept), e.args, e.strides)

    def stage(self, s: Stage, rename: Callable[[Iterable[str]], tuple[str, ...]] = tuple) -> Stage | None:
        """The stage with everything changed; None if its guards never hold."""
        if isinstance(s, Reduce):
            return Reduce(s.name, s.op, rename(s.over), rename(s.kept), self(s.value))
        guards = []
        for guard, low, high in s.guards:
            form = self.form(guard)
            decided = self._decided(form, low, high)
            if decided is False:
                return None
            if decided is None:
                guards.append((form, low, high))
        return Store(
            s.buffer,
            s.dtype,
            self.form(s.offset),
            rename(s.dims),
            self(s.value),
            s.mode,
            tuple(map(self, s.index)),
            s.strides,
            tuple(guards),
        )


def normal_form(sizes: dict[str, int], stages: Sequence[Stage], strict: bool) -> tuple[dict[str, int], list[Stage]]:
    """Dimensions and stages without dimensions of size 0 and 1, without reductions over nothing, merged where possible."""
    sizes, found = without_trivial(sizes, stages)
    if strict:
        found = accumulated_wide(sizes, found)
    return merged(sizes, found)


def without_trivial(sizes: dict[str, int], stages: Sequence[Stage]) -> tuple[dict[str, int], list[Stage]]:
    """Drop dimensions of size 1, stages without positions, and reductions that reduce nothing (their results become values)."""
    small = {d for d, n in sizes.items() if n == 1}
    change = Rewriting(sizes, lambda a: Affine(a.constant, tuple(t for t in a.terms if t[0] not in small)))
    result: list[Stage] = []

    def rename(dims: Iterable[str]) -> tuple[str, ...]:
        return tuple(d for d in dims if d not in small)

    for s in stages:
        if isinstance(s, Reduce) and math.prod(sizes[d] for d in s.over) == 0:
            start = identity(s.op, dtype_of(s.value.type).numpy).item()
            change.accs[s.name] = const(start, s.value.type)
            continue
        if any(sizes[d] == 0 for d in s.dims):
            continue
        new = change.stage(s, rename)
        if isinstance(new, Reduce) and not new.over:
            change.accs[s.name] = new.value  # type: ignore[union-attr]
        elif new is not None:
            result.append(new)
    return {d: n for d, n in sizes.items() if n > 1}, result


def accumulated_wide(sizes: dict[str, int], stages: Sequence[Stage]) -> list[Stage]:
    """Strict sums and products: of float32 in float64, rounded once at the end."""
    change = Rewriting(sizes)
    result: list[Stage] = []
    for s in stages:
        new = change.stage(s)
        assert new is not None
        if isinstance(new, Reduce) and new.op in ("sum", "prod") and new.value.type == "f32":
            new = Reduce(new.name, new.op, new.over, new.kept, cast(new.value, "f64"))
            change.accs[new.name] = cast(acc(new.name, new.kept, "f64"), "f32")
        result.append(new)
    return result


# --- merging dimensions


def forms_of(s: Stage) -> list[Affine]:
    """All affine forms of a stage."""
    roots = [s.value]
    found = []
    if isinstance(s, Store):
        roots += s.index
        found = [s.offset, *(g[0] for g in s.guards)]
    for e in walk(*roots):
        if e.op == "load":
            found += [e.attr[1], *(g[0] for g in e.attr[2])]
        elif e.op == "iota":
            found.append(e.attr)
        elif e.op == "within":
            found.append(e.attr[0])
    return found


def is_ordered(s: Stage, sizes: dict[str, int]) -> bool:
    """Whether a store may meet a position twice, so that its positions must be taken in C order."""
    return isinstance(s, Store) and (bool(s.index) or s.mode != "set" or not injective(s.offset, s.dims, sizes))


def injective(form: Affine, dims: Sequence[str], sizes: dict[str, int]) -> bool:
    """Whether the form is certain to differ at different positions."""
    span = 0
    for c, n in sorted((abs(form.coefficient(d)), sizes[d]) for d in dims):
        if n > 1 and c <= span:
            return False
        span += c * (n - 1)
    return True


def merged(sizes: dict[str, int], stages: Sequence[Stage]) -> tuple[dict[str, int], list[Stage]]:
    """Neighbouring dimensions that every form and every stage walks as one become one."""
    result = list(stages)
    forms = {f for s in result for f in forms_of(s)}
    while True:
        pair = next(((a, b) for a in sizes for b in sizes if a != b and _mergeable(a, b, sizes, result, forms)), None)
        if pair is None:
            return sizes, result
        outer, inner = pair
        new_sizes = {d: n * sizes[outer] if d == inner else n for d, n in sizes.items() if d != outer}
        change = Rewriting(new_sizes, lambda a, outer=outer: a.without(outer))  # type: ignore[misc]

        def rename(dims: Iterable[str], outer: str = outer) -> tuple[str, ...]:
            return tuple(d for d in dims if d != outer)

        result = [new for s in result if (new := change.stage(s, rename)) is not None]
        sizes, forms = new_sizes, {f for s in result for f in forms_of(s)}


def _mergeable(a: str, b: str, sizes: dict[str, int], stages: Sequence[Stage], forms: Iterable[Affine]) -> bool:
    n = sizes[b]
    if any(f.coefficient(a) != f.coefficient(b) * n for f in forms):
        return False
    for s in stages:
        for dims in (s.over, s.kept) if isinstance(s, Reduce) else (s.dims,):
            if (a in dims) != (b in dims):
                return False
        if a in s.dims and is_ordered(s, sizes) and s.dims.index(b) != s.dims.index(a) + 1:
            return False
    return True


# --- division by what does not change


def with_reciprocals(sizes: dict[str, int], stages: Sequence[Stage], inner: set[str]) -> list[Stage]:
    """Divisions by a value that is constant over the dimensions `inner`, as products with its reciprocal, computed once.

    A divisor near the ends of the exponent range would give a reciprocal that overflows or is subnormal: divisor and dividend are scaled by
    a power of two first, 1 everywhere else. The quotient differs from the rounded one by at most 1.5 units in the last place.
    """
    if math.prod(sizes[d] for d in inner) < 8:
        return list(stages)
    memo: dict[Expr, Expr] = {}

    def change(e: Expr) -> Expr | None:
        if e.op != "div" or e.type not in FLOATS:
            return None
        a, b = e.args
        if b.op == "const" or b.dims & inner or not a.dims & inner:
            return None
        exponent, factor = (126, 2.0**64) if e.type == "f32" else (1022, 2.0**512)
        size = fn("abs", b)
        large = fn("gt", size, const(2.0**exponent, e.type))
        small = fn("lt", size, const(2.0**-exponent, e.type))
        scale = fn("where", small, const(factor, e.type), fn("where", large, const(1 / factor, e.type), const(1.0, e.type)))
        reciprocal = fn("div", const(1.0, e.type), fn("mul", b, scale))
        return fn("mul", fn("mul", a, scale), reciprocal)

    return [_with_value(s, rewrite(s.value, change, memo)) for s in stages]


# --- gelu


ROOT = 0.7071067811865476
"""1 / √2, as the bodies of gelu and of its gradient write it."""


def with_fast_gelu(stages: Sequence[Stage]) -> list[Stage]:
    """gelu and its gradient by erf, as most libraries compute them, instead of erfc, which takes three times as long.

    x Φ(x) and Φ(x) + x φ(x) with Φ(x) = (1 + erf(x/√2)) / 2: the error is within a few units of the last place of |x| (of 1 for the
    gradient), where erfc keeps it to units of the result far out in the negative tail.
    """
    memo: dict[Expr, Expr] = {}

    def change(e: Expr) -> Expr | None:
        if e.type not in FLOATS or e.op not in ("mul", "add"):
            return None
        for other, cdf in (e.args, e.args[::-1]):
            x = _normal_cdf_argument(cdf)
            if x is None or not (other is x if e.op == "mul" else _is_density_term(other, x)):
                continue
            half = const(0.5, e.type)
            return fn(e.op, other, fn("add", fn("mul", fn("erf", fn("mul", x, const(ROOT, e.type))), half), half))
        return None

    return [_with_value(s, rewrite(s.value, change, memo)) for s in stages]


def _scaled(e: Expr, factor: float) -> Expr | None:
    """y, if `e` is y · factor."""
    if e.op == "mul":
        for y, c in (e.args, e.args[::-1]):
            if c.op == "const" and abs(c.attr - factor) <= 1e-7 * abs(factor):
                return y
    return None


def _normal_cdf_argument(e: Expr) -> Expr | None:
    """x, if `e` is erfc(-x/√2) / 2."""
    tail = _scaled(e, 0.5)
    return _scaled(tail.args[0], -ROOT) if tail is not None and tail.op == "erfc" else None


def _is_density_term(e: Expr, x: Expr) -> bool:
    """Whether `e` is x · exp(…) · constant."""
    product = _scaled(e, 0.3989422804014327)
    return product is not None and product.op == "mul" and x in product.args and any(a.op == "exp" for a in product.args)


def _with_value(s: Stage, value: Expr) -> Stage:
    if isinstance(s, Reduce):
        return Reduce(s.name, s.op, s.over, s.kept, value)
    return Store(s.buffer, s.dtype, s.offset, s.dims, value, s.mode, s.index, s.strides, s.guards)
