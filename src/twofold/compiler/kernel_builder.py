"""Building one kernel: values of the graph are *pulled*, element by element, through composed index maps into expressions.

Views are never kernels, and copies of shape only (reshape, permute, slice, pad, cat, broadcast) are index maps. What a rule cannot
express at the asked index raises `Materialise`: the planner then stores that value first and the kernel loads it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from twofold.compiler import affine as af
from twofold.compiler.affine import ZERO, Affine
from twofold.compiler.contiguity import vector_dim
from twofold.compiler.expr import Expr, Guard, acc, const, load, register_type
from twofold.compiler.spec import Buffer, KernelSpec, Reduce, Store
from twofold.ir.graph import Node, Value
from twofold.ir.types import TensorType

BLOCK_BYTES = 1 << 20
"""What several passes of a kernel walk again must stay in the second-level cache."""
MAX_EXPRESSIONS = 400
"""Larger kernels gain nothing and cost compile time."""

Index = tuple[Affine, ...]


class Mismatch(Exception):
    """The roots do not fit into one kernel; the text says why."""


class Materialise(Exception):
    """A value must be stored by a kernel of its own first; `value` and the reason."""

    def __init__(self, value: Value, reason: str) -> None:
        super().__init__(value, reason)
        self.value, self.reason = value, reason


class _Split(Exception):
    """A dimension must be split so that a reshape is affine."""

    def __init__(self, dim: str, factor: int) -> None:
        super().__init__(dim, factor)
        self.dim, self.factor = dim, factor


class Straddles(Exception):
    """A flat position is no affine index of the asked shape."""


def shape_of(v: Value) -> tuple[int, ...]:
    t = v.type
    assert isinstance(t, TensorType)
    return t.shape


def dtype_of_value(v: Value) -> Any:
    t = v.type
    assert isinstance(t, TensorType)
    return t.dtype


PullRule = Callable[["KernelBuilder", Node, int, Index, "tuple[Guard, ...]"], Expr]
"""(builder, node, which output, index, guards) → the element's expression."""


class Environment:
    """What a builder asks of the planner: `stored(value, builder)`: loaded from memory by this kernel; `rule(node)`: how to pull it;
    `site(node, what)`: the number under which a kernel reports a fault of that node."""

    def stored(self, value: Value, builder: KernelBuilder) -> bool:
        raise NotImplementedError

    def rule(self, node: Node) -> PullRule | None:
        raise NotImplementedError

    def site(self, node: Node, what: str) -> int:
        raise NotImplementedError

    def order(self, value: Value) -> int:
        raise NotImplementedError


class KernelBuilder:
    """One kernel in the making. `roots`: the values it stores; `uses`: the values it loads; `reduced`: reductions by value; `asked`: what
    the environment said about other values, kept by it."""

    def __init__(self, environment: Environment, splits: Sequence[tuple[str, int]] = ()) -> None:
        self.environment = environment
        self.splits = list(splits)
        self.roots: list[Value] = []
        self.asked: dict[Value, bool | None] = {}
        self.position = -1
        self._reset()

    def _reset(self) -> None:
        self.shape: tuple[int, ...] | None = None
        self.first: Index = ()
        self.sizes: dict[str, int] = {}
        self.memo: dict[Any, Expr] = {}
        self.stages: list[Any] = []
        self.uses: dict[Value, None] = {}
        self.reduced: dict[Any, str] = {}
        self.walked: list[tuple[tuple[int, ...], Index]] = []
        self.transposed: dict[Expr, Value] = {}
        self.sites: dict[int, str] = {}
        self.nodes: set[Node] = set()
        self._seen: set[Expr] = set()
        self._loads: set[Expr] = set()
        self._counted = 0

    # --- dimensions

    def _atoms(self, name: str) -> tuple[Affine, list[str]]:
        """A dimension, after the splits decided so far, as a form over the dimensions that remain."""
        for d, factor in self.splits:
            if d == name:
                outer, a = self._atoms(name + "o")
                inner, b = self._atoms(name + "i")
                return outer.times(factor).plus(inner), a + b
        return af.dim(name), [name]

    def _set_size(self, name: str, size: int) -> None:
        for d, factor in self.splits:
            if d == name:
                self._set_size(name + "o", size // factor)
                self._set_size(name + "i", factor)
                return
        self.sizes[name] = size

    def new_dims(self, shape: Sequence[int], prefix: str) -> tuple[Index, list[str]]:
        """A dimension of the kernel for each of a shape (none for size 1): the index forms and the dimensions' names."""
        index, names = [], []
        for i, n in enumerate(shape):
            if n == 1:
                index.append(ZERO)
                continue
            form, atoms = self._atoms(f"{prefix}{i}")
            self._set_size(f"{prefix}{i}", n)
            index.append(form)
            names += atoms
        return tuple(index), names

    def bounds(self, form: Affine, guards: Sequence[Guard]) -> tuple[int, int]:
        """The range of a form where the guards hold (only guards on a single dimension narrow it)."""
        low = high = form.constant
        for d, c in form.terms:
            first, last = 0, self.sizes[d] - 1
            for g, lo, hi in guards:
                if g.terms == ((d, 1),):
                    first, last = max(first, lo - g.constant), min(last, hi - 1 - g.constant)
            low += min(c * first, c * last)
            high += max(c * first, c * last)
        return low, high

    def unflatten(self, flat: Affine, shape: tuple[int, ...], guards: Sequence[Guard] = ()) -> Index:
        """A flat position as an index of a shape, by mixed radix. A dimension that straddles two is split (the build starts again);
        raises Straddles where the index is not affine."""
        if any(c < 0 for _, c in flat.terms):
            return self._unflatten_reversed(flat, shape, guards)
        result, constant = [], flat.constant
        terms = sorted(flat.terms, key=lambda t: -t[1])
        for n, stride in zip(shape, af.strides_of(shape), strict=True):
            if n == 1:
                result.append(ZERO)
                continue
            here = [(d, c) for d, c in terms if stride and c % stride == 0 and c >= stride]
            rest = [t for t in terms if t not in here]
            low, high = self.bounds(Affine(constant, tuple(rest)), guards)
            offset = 0
            if high >= stride or low < 0:
                offset = low // stride if stride else 0
                if high - offset * stride >= stride:
                    for d, c in rest:
                        if c > 0 and stride % c == 0 and self.sizes[d] * c > stride and self.sizes[d] % (stride // c) == 0:
                            raise _Split(d, stride // c)
                    raise Straddles
            result.append(af.affine(offset, [(d, c // stride) for d, c in here]))
            constant -= offset * stride
            terms = rest
        return tuple(result)

    def _counts_through(self, form: Affine, n: int) -> bool:
        """True if the form takes each of 0 … n - 1 at exactly one position of its dimensions."""
        reached = 1
        for d, c in sorted(form.terms, key=lambda term: term[1]):
            if c != reached and self.sizes[d] != 1:
                return False
            reached *= self.sizes[d]
        return form.constant == 0 and reached == n

    def _unflatten_reversed(self, flat: Affine, shape: tuple[int, ...], guards: Sequence[Guard]) -> Index:
        """`unflatten` where dimensions are walked backwards (a reshape of something flipped): each of them, d, is read as last - d."""
        last = {d: self.sizes[d] - 1 for d, c in flat.terms if c < 0}

        def turned(form: Affine) -> Affine:
            """The form in which each of these dimensions counts from its end."""
            constant = form.constant + sum(c * last[d] for d, c in form.terms if d in last)
            return Affine(constant, tuple((d, -c if d in last else c) for d, c in form.terms))

        kept = [g for g in guards if not any(d in last for d, _ in g[0].terms)]
        return tuple(map(turned, self.unflatten(turned(flat), shape, kept)))

    # --- pulling

    def pull(self, value: Value, index: Index, guards: tuple[Guard, ...] = ()) -> Expr:
        """The element of `value` at `index`."""
        key = value, index, guards
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = self._pull(value, index, guards)
        return found

    def _pull(self, value: Value, index: Index, guards: tuple[Guard, ...]) -> Expr:
        if 0 in shape_of(value):
            return const(0, register_type(dtype_of_value(value)))  # of no elements none is ever used
        if self.environment.stored(value, self):
            return self.load(value, index, guards)
        node = value.node
        assert node is not None
        constant = scalar_constant(node)
        if constant is not None:
            return const(constant, register_type(dtype_of_value(value)))
        rule = self.environment.rule(node)
        if rule is None:
            raise Materialise(value, f"{node.op.name} has no rule for the loop compiler")
        self.nodes.add(node)
        return rule(self, node, value.index, index, guards)

    def load(self, value: Value, index: Index, guards: tuple[Guard, ...] = ()) -> Expr:
        """An element of a stored value (dense, C order)."""
        return self.load_flat(value, af.flat_index(index, shape_of(value)), guards)

    def load_flat(self, value: Value, flat: Affine, guards: tuple[Guard, ...] = ()) -> Expr:
        self.uses[value] = None
        return load(value.name, dtype_of_value(value), flat, guards)

    def load_at(self, value: Value, index: Sequence[Affine | Expr], guards: tuple[Guard, ...] = ()) -> Expr:
        """An element of a value at an index of which some entries are computed (i64 expressions, already checked). The value must be
        stored, or one that `COMPUTED_AT` knows: raises Materialise if it is neither."""
        if not self.environment.stored(value, self):
            assert value.node is not None
            computed_at = COMPUTED_AT.get(value.node.op.name)
            element = None if computed_at is None else computed_at(value.node, index)
            if element is not None:
                self.nodes.add(value.node)
                return element
            raise Materialise(value, "it is read at computed positions")
        self.uses[value] = None
        shape = shape_of(value)
        forms = [x if isinstance(x, Affine) else ZERO for x in index]
        strides = af.strides_of(shape)
        computed = [(x, s) for x, s in zip(index, strides, strict=True) if isinstance(x, Expr)]
        return load(
            value.name, dtype_of_value(value), af.flat_index(forms, shape), guards,
            tuple(x for x, _ in computed), tuple(s for _, s in computed),
        )  # fmt: skip

    def site(self, node: Node, what: str) -> int:
        """The number under which this kernel reports a fault of a node."""
        number = self.environment.site(node, what)
        self.sites[number] = f"{node.name}: {what}"
        return number

    # --- reductions

    def reduce(
        self, key: Any, value: Value, op: str, element: Callable[[Index], Expr], shape: tuple[int, ...], axes: tuple[int, ...], index: Index
    ) -> Expr:
        """The reduction of `element(index over shape)` over `axes`, at `index` of the other dimensions.

        Computed in this kernel if the index is a bijection with its kept dimensions and the rest of the domain matches its extent; else
        raises Materialise(value). `key` names the reduction among those of this kernel.
        """
        kept = [d for form in index for d, _ in form.terms]
        sizes = [shape[a] for a in axes]
        kept_shape = [n for i, n in enumerate(shape) if i not in axes]
        if len(set(kept)) != len(kept) or not all(map(self._counts_through, index, kept_shape)):
            raise Materialise(value, "a reduction at shifted, partial or repeated positions")
        rest = [d for d in self.sizes if d not in kept]
        choices = [rest, [d for d in rest if d[0] == "d"], [d for d in rest if d[0] != "d"]]
        count = math.prod(sizes)
        over = next((c for c in choices if c and math.prod(self.sizes[d] for d in c) == count), [])
        if count != 1 and over:
            flat, stride = ZERO, 1
            for d in reversed(over):
                flat = flat.plus(af.dim(d).times(stride))
                stride *= self.sizes[d]
            try:
                inner = self.unflatten(flat, tuple(sizes))
            except Straddles:
                raise Materialise(value, "its reduced dimensions are walked in another order") from None
        elif set(kept) != set(self.sizes) and count != 1:
            raise Materialise(value, "it would be reduced again for every position of the other dimensions")
        else:
            prefix = "r" * (1 + max((len(d) - len(d.lstrip("r")) for d in self.sizes), default=0))
            inner, over = self.new_dims(sizes, prefix)
        full = list(index)
        for a, form in zip(axes, inner, strict=True):
            full.insert(a, form)
        self.walked.append((tuple(shape), tuple(full)))
        return self.add_reduction(key, op, tuple(over), tuple(kept), element(tuple(full)))

    def add_reduction(self, key: Any, op: str, over: tuple[str, ...], kept: tuple[str, ...], e: Expr) -> Expr:
        """The stage for a reduction, shared with an equal one."""
        if not over:
            return e
        for s in self.stages:
            if isinstance(s, Reduce) and s.op == op and s.value is e and set(s.over) == set(over):
                self.reduced.setdefault(key, s.name)
                return acc(s.name, s.kept, e.type)
        s = Reduce(f"a{sum(isinstance(x, Reduce) for x in self.stages)}", op, over, kept, e)
        self.stages.append(s)
        self.reduced.setdefault(key, s.name)
        return acc(s.name, kept, e.type)

    # --- a whole kernel

    def build(self, roots: Sequence[Value]) -> KernelBuilder:
        """Pull all roots into stages; raises Mismatch or Materialise."""
        self.roots = list(roots)
        for _ in range(64):
            self._reset()
            try:
                self._build()
                return self
            except _Split as split:
                self.splits.append((split.dim, split.factor))
        raise Mismatch("reshapes split its dimensions without end")

    def extended(self, v: Value) -> KernelBuilder:
        """A kernel with `v` as one more root, made from this one, which stays as it is: what is pulled already is not pulled again (unless
        `v` splits a dimension). Raises Mismatch or Materialise."""
        result = KernelBuilder(self.environment, self.splits)
        result.roots = [*self.roots, v]
        result.position = self.position
        result._take(self)
        try:
            result._add_root(v)
            result._check_reductions()
            return result
        except _Split as split:
            result.splits.append((split.dim, split.factor))
            return result.build(result.roots)

    def _take(self, other: KernelBuilder) -> None:
        """Begin with what another builder holds."""
        self.shape, self.first, self._counted = other.shape, other.first, other._counted
        self.sizes, self.memo, self.uses, self.reduced = dict(other.sizes), dict(other.memo), dict(other.uses), dict(other.reduced)
        self.transposed, self.sites, self.nodes = dict(other.transposed), dict(other.sites), set(other.nodes)
        self.stages, self.walked = list(other.stages), list(other.walked)
        self._seen, self._loads = set(other._seen), set(other._loads)

    def _build(self) -> None:
        for v in self.roots:
            self._add_root(v)
        self._check_reductions()

    def _add_root(self, v: Value) -> None:
        """The stage that stores `v`, and before it the reductions it needs."""
        axes, shape = reduction_domain(v)
        if self.shape is None:
            self.first, _ = self.new_dims(shape, "d")
            self.shape, index = shape, self.first
        else:
            index = self._fitting(shape, self.shape, self.first)
        if axes and self.environment.rule(v.node) is not None:  # type: ignore[arg-type]
            index = tuple(f for i, f in enumerate(index) if i not in axes)
            if keeps_dims(v):
                index = with_ones(index, axes)
        e = self.pull(v, index)
        kept = tuple(d for f in index for d, _ in f.terms)
        self.stages.append(Store(v.name, dtype_of_value(v), af.flat_index(index, shape_of(v)), kept, e))
        if len(self.memo) > 4 * MAX_EXPRESSIONS:
            self._refuse_size()

    def _refuse_size(self) -> None:
        """Raise Mismatch; of a kernel with one root, Materialise for the value that is computed at the most positions."""
        if len(self.roots) > 1:
            raise Mismatch("the kernel grows too large")
        counts = Counter(v for v, _, _ in self.memo if v not in self.roots and v not in self.uses and v.region is self.roots[0].region)
        if counts and (most := max(counts.values())) > 1:
            worst = max((v for v, n in counts.items() if n == most), key=self.environment.order)
            raise Materialise(worst, f"the kernel would grow too large: it is computed at {most} positions")

    def _fitting(self, shape: tuple[int, ...], domain: tuple[int, ...], first: Index) -> Index:
        """The index of another root over the kernel's domain, over what a reduction walks, over kept dimensions, or of one element."""
        if shape == domain:
            return first
        for walked, index in self.walked:
            if walked == shape:
                return index
        wanted = [n for n in shape if n != 1]
        for s in self.stages:
            if isinstance(s, Reduce) and [self.sizes[d] for d in s.kept] == wanted:
                names = iter(s.kept)
                return tuple(af.dim(next(names)) if n != 1 else ZERO for n in shape)
        if math.prod(shape) != 1:
            raise Mismatch("another domain")
        return tuple(ZERO for _ in shape)

    def _check_reductions(self) -> None:
        """Reductions used inside the kernel share their dimensions; the others are over the same, or over exactly the rest."""
        inner = inner_dims(self.stages)
        reductions = {s.name: s for s in self.stages if isinstance(s, Reduce)}
        if len(inner) > 1:
            if len(self.roots) > 1:
                raise Mismatch("reductions over different dimensions are used inside it")
            least = min(inner, key=lambda dims: math.prod(self.sizes[d] for d in dims))
            self._materialise_reduction(lambda s: frozenset(s.over) != least, "another reduction is used inside the same kernel")
        for dims in inner:
            self._check_block(dims, reductions)
        everything = frozenset(self.sizes)
        overs = {frozenset(s.over) for s in reductions.values()}
        allowed = set(inner) | {everything - dims for dims in inner}
        bad = not overs <= allowed if inner else len(overs) > 1
        if inner and not bad and len(overs) > 1:  # a carried reduction: the vectors must run inside
            bad = self.vector_dim() not in next(iter(inner))
        if bad:
            if len(self.roots) > 1:
                raise Mismatch("its reductions are over different dimensions")
            self._materialise_reduction(lambda s: True, "its reductions are over different dimensions")

    def _materialise_reduction(self, which: Callable[[Reduce], bool], reason: str) -> None:
        wanted = {s.name for s in self.stages if isinstance(s, Reduce) and which(s)}
        found: set[Value] = set()
        for names in (wanted, set(self.reduced.values())):  # where only roots are wanted, what they reduce is stored
            nodes = {(k if isinstance(k, Value) else k[0]).node for k, name in self.reduced.items() if name in names}
            found = found or {v for v, _, _ in self.memo if v.node in nodes and v not in self.roots}
        if not found:
            raise Mismatch(reason)
        raise Materialise(min(found, key=self.environment.order), reason)

    def _check_block(self, dims: frozenset[str], reductions: dict[str, Reduce]) -> None:
        """What is walked again must stay in the cache; a strided block costs a whole vector an element."""
        strided = any(c == 1 and d not in dims and e.dims & dims for e in self.loads() for d, c in e.attr[1].terms)
        if 4 * math.prod(self.sizes[d] for d in dims) * (16 if strided else 1) <= BLOCK_BYTES:
            return
        used = {a for s in self.stages if isinstance(s, Reduce) or set(s.dims) & dims for a in s.value.accs}
        if len(self.roots) > 1:
            raise Mismatch("a block that several passes walk would not stay in the cache")
        self._materialise_reduction(lambda s: s.name in used, "a block that several passes walk would not stay in the cache")

    def expressions(self) -> set[Expr]:
        """Every expression of the stages. Each is walked once, also when roots come one after the other."""
        todo = [s.value for s in self.stages[self._counted :]]
        self._counted = len(self.stages)
        seen = self._seen
        while todo:
            e = todo.pop()
            if e not in seen:
                seen.add(e)
                todo += e.args
                if e.op == "load":
                    self._loads.add(e)
        return seen

    def loads(self) -> set[Expr]:
        """The loads of all stages."""
        self.expressions()
        return self._loads

    def reads_any(self, stage: Any, loads: set[Expr]) -> bool:
        """Does the stage read one of these loads, itself or through reductions?"""
        reductions = {s.name: s for s in self.stages if isinstance(s, Reduce)}
        seen: set[Expr] = set()
        todo = [stage.value]
        while todo:  # the last found first: a path that leads to what is shared ends the search
            e = todo.pop()
            if e in seen:
                continue
            seen.add(e)
            if e in loads:
                return True
            todo += e.args
            if e.op == "acc":
                todo.append(reductions[e.attr].value)
        return False

    def pulls(self, v: Value) -> bool:
        """Is the value computed or loaded in this kernel?"""
        return any(key[0] is v for key in self.memo)

    def vector_dim(self) -> str | None:
        """The dimension along which most accesses are contiguous."""
        return vector_dim(KernelSpec("", self.sizes, {}, self.stages))

    def spec(self, name: str) -> KernelSpec:
        """The kernel as a spec; buffers in the order of first use, outputs last."""
        buffers = {}
        for v in self.uses:
            buffers[v.name] = Buffer(v.name, dtype_of_value(v), math.prod(shape_of(v)))
        for v in self.roots:
            buffers[v.name] = Buffer(v.name, dtype_of_value(v), math.prod(shape_of(v)), "out")
        ordered = sorted(self.nodes, key=lambda n: self.environment.order(n.outputs[0]))
        nodes = tuple(dict.fromkeys(n.name for n in ordered))
        sources = tuple(dict.fromkeys(n.source for n in ordered if n.source is not None))
        return KernelSpec(name, dict(self.sizes), buffers, list(self.stages), nodes, sources, dict(self.sites))


def inner_dims(stages: Sequence[Any]) -> set[frozenset[str]]:
    """The dimension sets of reductions that are used inside: read by another reduction, or by a store over more than their kept ones."""
    reductions = {s.name: s for s in stages if isinstance(s, Reduce)}
    result = set()
    for s in stages:
        for a in s.value.accs:
            if isinstance(s, Reduce) or not set(s.dims) <= set(reductions[a].kept):
                result.add(frozenset(reductions[a].over))
    return result


def scalar_constant(node: Node) -> Any:
    """The number a constant node of one element holds, else None."""
    if node.op.name != "constant":
        return None
    array = node.attributes["value"].array
    return array.reshape(-1)[0].item() if array.size == 1 else None


COMPUTED_AT: dict[str, Callable[[Node, Sequence[Affine | Expr]], Expr | None]] = {}
"""Operations whose elements need no memory even at computed positions: (node, index) → the element, or None. The rules fill it."""
REDUCES: dict[str, Callable[[Node], tuple[tuple[int, ...], bool]]] = {}
"""Operations that are one reduction: node → (axes, keepdim). The rules fill it."""


def reduction_domain(v: Value) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(axes, shape walked) where the value is a reduction; ((), its own shape) where it is not, or where there is nothing to walk."""
    node = v.node
    if node is not None and node.op.name in REDUCES and 0 not in shape_of(operand := next(node.operands())):
        return REDUCES[node.op.name](node)[0], shape_of(operand)
    return (), shape_of(v)


def keeps_dims(v: Value) -> bool:
    assert v.node is not None
    return REDUCES[v.node.op.name](v.node)[1]


def with_ones(index: Index, axes: tuple[int, ...]) -> Index:
    """The index of a reduction's result that keeps reduced dimensions as size 1."""
    result = list(index)
    for a in axes:
        result.insert(a, ZERO)
    return tuple(result)
