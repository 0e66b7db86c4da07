"""The backward engine: runs nodes youngest first and adds up what reaches each.

Accumulators belong to one run, so concurrent, re-entrant and failing runs do not disturb each other. There is no recursion. What differs
between backward on arrays and backward that itself is recorded (`create_graph`) is in the `Domain` the caller passes.
"""

from __future__ import annotations

from contextvars import ContextVar
from heapq import heappop, heappush
from typing import Any, Protocol

import numpy as np

from twofold.support.errors import AutogradError, InplaceError, describe_site
from twofold.tape.namespaces import raw_name, raw_rules
from twofold.tape.node import AccumulateGrad, Hooks, Node, Out
from twofold.tape.versions import NEWEST, Stamp, newer_write

ndarray = np.ndarray
CURRENT: ContextVar[Any] = ContextVar("twofold_backward_run", default=None)
"""The backward run of this thread or task, or None."""


class Domain(Protocol):
    """What gradients are made of in one run: arrays or tensors."""

    raw: bool

    def pull(self, node: Node, g: Any) -> tuple[Any, ...]:
        """The gradients of the node's edges, brought to the operands' types."""

    def function(self, name: str) -> Any:
        """The operation of this name on what gradients are made of."""

    def add(self, a: Any, b: Any) -> Any:
        """The sum of two gradients of one value."""

    def zeros(self, type: Any) -> Any:
        """A zero gradient of this type."""

    def box(self, g: Any) -> Any:
        """The gradient as a tensor, for hooks."""

    def unbox(self, t: Any) -> Any:
        """Back from a tensor given to a hook."""

    def replace(self, given: Any, returned: Any, what: str) -> Any:
        """What a hook returned in place of the gradient `given` (both as tensors), checked."""

    def accumulate(self, node: AccumulateGrad, g: Any, fresh: bool) -> None:
        """Add to the leaf's `grad`. `fresh`: nobody else holds `g`."""


def explain_freed(node: Node) -> AutogradError:
    return AutogradError(
        f"backward through {node.name()} a second time: its saved values were freed by the first pass. "
        f"Pass retain_graph=True to the first backward. It was made at {describe_site(node.code, node.lasti)}"
    )


def check_versions(node: Node) -> None:
    """Raise InplaceError if a saved array was written after the node was made; names both places."""
    for name in node.saved:
        value = getattr(node, "s_" + name, None)
        for array in value if type(value) is tuple else (value,):
            if type(array) is ndarray and (write := newer_write(array, node.seq)) is not None:
                raise overwritten(node, f"value '{'self' if name == 'input' else name}'", write)


def overwritten(node: Node, what: str, write: Stamp) -> InplaceError:
    """The error of a saved value that was written since; names both places."""
    return InplaceError(
        f"{node.name()} needs its saved {what}, but the in-place operation {write.name} overwrote it.\n"
        f"  saved at       {describe_site(node.code, node.lasti)}\n"
        f"  overwritten at {describe_site(write.code, write.lasti)} (version {write.count})\n"
        "clone() the value before the write, or use the out-of-place operation",
        "version",
    )


def path_to(roots: list[Node], targets: set[Node]) -> set[Node]:
    """All nodes from which one of `targets` can be reached (targets included)."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(r, False) for r in roots]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        if node in seen:
            continue
        seen.add(node)
        stack.append((node, True))
        stack.extend((e, False) for e in node.edges if e is not None and e not in seen)
    needed = set(targets)
    for node in order:
        if node not in needed and any(e in needed for e in node.edges if e is not None):
            needed.add(node)
    return needed


def count_consumers(roots: list[Node], needed: set[Node] | None) -> dict[Node, int]:
    """For each leaf node, from how many edges of this run a gradient can still come (for post-accumulate hooks that run early)."""
    counts: dict[Node, int] = {}
    seen: set[Node] = set(roots)
    stack = list(roots)
    while stack:
        for e in stack.pop().edges:
            if e is None or (needed is not None and e not in needed):
                continue
            if e.is_accumulate:
                counts[e] = counts.get(e, 0) + 1
            if e not in seen:
                seen.add(e)
                stack.append(e)
    return counts


class Run:
    """One backward run. `capture`: nodes whose gradient is wanted (filled into `captured`) instead of accumulated;
    `needed`: nodes that may run, None for all; `keep`: saved values stay; `accumulate`: leaves add to their `grad`."""

    def __init__(
        self, domain: Domain, keep: bool, needed: set[Node] | None = None, capture: set[Node] | None = None, accumulate: bool = True
    ) -> None:
        self.domain, self.keep, self.needed, self.accumulate = domain, keep, needed, accumulate
        self.capture = capture or set()
        self.captured: dict[Node, Any] = {}
        self.acc: dict[Node, Any] = {}
        self.fresh: set[Node] = set()
        self.own: set[Node] = set()
        self.heap: list[tuple[int, Node]] = []
        self.consumers: dict[Node, int] | None = None
        self.roots: list[Node] = []
        self.notes: dict[Any, Any] = {}
        """What others keep for the length of this run, by their own keys."""

    def reachable(self) -> set[Node]:
        """The nodes a gradient of this run can reach."""
        seen = set(self.roots)
        stack = list(seen)
        while stack:
            for e in stack.pop().edges:
                if e is not None and e not in seen and (self.needed is None or e in self.needed):
                    seen.add(e)
                    stack.append(e)
        return seen

    def seed(self, node: Node, g: Any) -> None:
        """Give the run a root and its gradient."""
        self.deposit(node, g, False)

    def deposit(self, e: Node, r: Any, fresh: bool) -> None:
        """Add `r` to what has reached node `e`."""
        a = self.acc.get(e)
        if a is None:
            self.acc[e] = r
            if fresh:
                self.fresh.add(e)
            heappush(self.heap, (e.seq, e))
        elif e in self.own:
            np.add(a, r, a)
        else:
            self.acc[e] = total = self.domain.add(a, r)
            if self.domain.raw and type(total) is ndarray:
                self.own.add(e)
                self.fresh.add(e)

    def run(self) -> None:
        """Run until nothing is left to do."""
        acc, heap, fresh, own, needed, domain = self.acc, self.heap, self.fresh, self.own, self.needed, self.domain
        capturing = bool(self.capture)
        raw, keep, pull = domain.raw, self.keep, domain.pull
        following: Node | None = None
        while True:
            # The youngest node reached so far; a chain never touches the heap.
            if following is None:
                if not heap:
                    return
                node = heappop(heap)[1]
            elif heap and heap[0][0] < following.seq:
                heappush(heap, (following.seq, following))
                node = heappop(heap)[1]
            else:
                node = following
            following = None
            g = acc.pop(node)
            if node.hooks is not None:
                g = self.before(node, g)
            if capturing and self.ends_here(node, g):
                continue
            if node.is_accumulate or node.is_out:
                self.arrive(node, g)
                continue
            edges = node.edges
            if type(g) is list and node.materialize:
                g = self.fill(node, g)
            if node.hooks is None:
                grads, ours = pull(node, g), raw and not node.is_custom
            else:  # what hooks and users' functions return may be kept by them
                grads, ours = self.hooked(node, g), False
            if not keep:
                node.free()
            for e, r in zip(edges, grads, strict=True):
                if e is None or r is None:
                    if self.consumers is not None and e is not None:
                        self.deliver(e)
                    continue
                if needed is not None and e not in needed:
                    continue
                a = acc.get(e)
                if a is None:
                    acc[e] = r
                    if ours and r is not g:
                        fresh.add(e)
                    if following is None and e.seq < 0:
                        following = e
                    else:
                        heappush(heap, (e.seq, e))
                elif e in own:
                    np.add(a, r, a)
                else:
                    acc[e] = total = domain.add(a, r)
                    if raw and type(total) is ndarray:
                        own.add(e)
                        fresh.add(e)
                if self.consumers is not None:
                    self.deliver(e)

    def ends_here(self, node: Node, g: Any) -> bool:
        """Capture the gradient if it is wanted; True if nothing below the node is."""
        if node not in self.capture:
            return False
        self.captured[node] = g
        needed = self.needed
        return needed is not None and not any(e is not None and e in needed for e in node.edges)

    def arrive(self, node: Node, g: Any) -> None:
        """At a leaf: accumulate. At one output of a node with several: wait for the others with the owner."""
        if node.is_accumulate:
            if self.accumulate and (self.needed is None or node in self.needed):
                self.leaf(node, g)
            return
        assert isinstance(node, Out)
        owner = node.owner
        if self.needed is not None and owner not in self.needed:
            return
        parts = self.acc.get(owner)
        if parts is None:
            parts = self.acc[owner] = [None] * owner.n_outputs
            heappush(self.heap, (owner.seq, owner))
        old = parts[node.index]
        parts[node.index] = g if old is None else self.domain.add(old, g)

    def fill(self, node: Node, parts: list[Any]) -> list[Any]:
        """Zeros for the floating-point outputs that no gradient reached."""
        return [self.domain.zeros(t) if p is None and t.dtype.is_floating_point else p for p, t in zip(parts, node.type, strict=True)]

    def leaf(self, node: Node, g: Any) -> None:
        assert isinstance(node, AccumulateGrad)
        hooks, domain = node.hooks, self.domain
        if hooks is None:
            domain.accumulate(node, g, node in self.fresh)
            return
        if hooks.pre:
            g = self.before_node(hooks, g)
            self.fresh.discard(node)
        domain.accumulate(node, g, node in self.fresh)
        for hook in list(hooks.post_accumulate.values()):
            hook(node.leaf())
        for hook in list(hooks.post.values()):
            hook((), (domain.box(g),))

    def deliver(self, e: Node) -> None:
        """One edge into a leaf is done; when it was the last, accumulate now, so that its hook runs early."""
        assert self.consumers is not None
        left = self.consumers.get(e)
        if left is None:
            return
        self.consumers[e] = left - 1
        if left == 1 and e.hooks is not None and e.hooks.post_accumulate and e in self.acc and e not in self.capture and self.accumulate:
            g = self.acc.pop(e)
            self.heap[:] = [item for item in self.heap if item[1] is not e]
            self.heap.sort()
            self.leaf(e, self.before(e, g))

    def before(self, node: Node, g: Any) -> Any:
        """Tensor hooks and retained gradients of the node's output(s)."""
        hooks = node.hooks
        if hooks is None or (not hooks.before and not hooks.retain):
            return g
        parts = g if type(g) is list else [g]
        for _, (k, hook) in list(hooks.before.items()):
            if parts[k] is None:
                continue
            given = self.domain.box(parts[k])
            returned = hook(given)
            if returned is not None:
                parts[k] = self.domain.replace(given, returned, f"a hook on the output of {node.name()}")
            self.fresh.discard(node)
        for k in hooks.retain:
            if parts[k] is not None:
                old, new = hooks.retained.get(k), self.domain.box(parts[k])
                hooks.retained[k] = new if old is None else self.domain.box(self.domain.add(self.domain.unbox(old), parts[k]))
                self.fresh.discard(node)
        return g if type(g) is list else parts[0]

    def hooked(self, node: Node, g: Any) -> tuple[Any, ...]:
        """`pull` with the node's own pre- and post-hooks around it."""
        hooks, domain = node.hooks, self.domain
        assert hooks is not None
        if hooks.pre:
            g = self.before_node(hooks, g)
        grads = domain.pull(node, g)
        if not hooks.post:
            return grads
        outgoing = tuple(None if p is None else domain.box(p) for p in (g if type(g) is list else (g,)))
        boxed = tuple(None if r is None else domain.box(r) for r in grads)
        for hook in list(hooks.post.values()):
            returned = hook(boxed, outgoing)
            if returned is not None:
                boxed = as_given(boxed, returned, f"a hook of {node.name()}", domain)
        return tuple(None if t is None else domain.unbox(t) for t in boxed)

    def before_node(self, hooks: Hooks, g: Any) -> Any:
        """The gradient(s) after the node's pre-hooks."""
        domain = self.domain
        given = tuple(None if p is None else domain.box(p) for p in (g if type(g) is list else (g,)))
        for hook in list(hooks.pre.values()):
            returned = hook(given)
            if returned is not None:
                given = as_given(given, returned, "a pre-hook", domain)
        parts = [None if t is None else domain.unbox(t) for t in given]
        return parts if type(g) is list else parts[0]


def as_given(given: tuple[Any, ...], returned: Any, what: str, domain: Domain) -> tuple[Any, ...]:
    """What a node's hook returned in place of `given`: as many gradients, of the same shapes."""
    returned = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
    if len(returned) != len(given):
        raise AutogradError(f"{what} returned {len(returned)} gradients in place of {len(given)}")
    return tuple(
        new if old is None or new is None or new is old else domain.box(domain.replace(old, new, what))
        for old, new in zip(given, returned, strict=True)
    )


def raw_pull(node: Node, g: Any) -> tuple[Any, ...]:
    """`Domain.pull` on arrays, for nodes of records."""
    if NEWEST.clock < node.seq:
        check_versions(node)
    plan = node.plan
    if plan is not None and plan.low:
        return low_pull(node, g)
    rules = node.raw_rules or raw_rules(type(node))
    try:
        if node.hooks is None or not node.hooks.packed:
            grads = node.pull(g, rules)
        else:
            grads = type(node).pull(Unpacked(node), g, rules)  # type: ignore[arg-type]
    except AttributeError:
        if any(not hasattr(node, "s_" + name) for name in node.saved):
            raise explain_freed(node) from None
        raise
    if plan is not None and plan.undo is not None:
        return undo(grads, plan.undo)
    return grads


def undo(grads: tuple[Any, ...], steps: tuple[Any, ...]) -> tuple[Any, ...]:
    """`undo_with` on arrays."""
    return undo_with(grads, steps, raw_name("sum_to_size"), _astype)


def _astype(r: Any, dtype: Any) -> Any:
    return r.astype(dtype.numpy)


def undo_with(grads: tuple[Any, ...], steps: tuple[Any, ...], sum_to_size: Any, cast: Any) -> tuple[Any, ...]:
    """Sum broadcast dimensions away and cast, so that each gradient has its operand's type."""
    result = list(grads)
    for i, step in enumerate(steps):
        r = result[i]
        if step is None or r is None:
            continue
        shape, dtype = step
        if shape is not None and r.shape != shape:
            r = sum_to_size(r, shape)
        if dtype is not None:
            r = cast(r, dtype)
        result[i] = r
    return tuple(result)


class Unpacked:
    """A node seen with its packed saved values unpacked to arrays."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._node, name)
        return value.array() if hasattr(value, "is_packed") else value


class Widened:
    """A node seen with its 16-bit saved arrays in float32: rules compute in float32 and results are rounded once."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._node, name)
        return widen(value.array() if hasattr(value, "is_packed") else value)


def widen(value: Any) -> Any:
    """16-bit float arrays (also inside tuples) as float32; everything else as it is."""
    if isinstance(value, (ndarray, np.generic)):
        return value.astype(np.float32) if value.dtype.itemsize == 2 and value.dtype.kind in "fV" else value
    if type(value) is tuple:
        return tuple(widen(v) for v in value)
    return value


def low_pull(node: Node, g: Any) -> tuple[Any, ...]:
    """`raw_pull` where 16-bit floats are involved."""
    plan = node.plan
    assert plan is not None
    g = [None if x is None else widen(x) for x in g] if type(g) is list else widen(g)
    try:
        grads = type(node).pull(Widened(node), g, node.raw_rules or raw_rules(type(node)))  # type: ignore[arg-type]
    except AttributeError:
        if any(not hasattr(node, "s_" + name) for name in node.saved):
            raise explain_freed(node) from None
        raise
    if plan.undo is not None:
        grads = undo(grads, plan.undo)
    result = []
    for r, t in zip(grads, plan.flat_ins, strict=True):
        wanted = None if r is None or t is None else t.dtype.numpy
        result.append(r if wanted is None or r.dtype == wanted else r.astype(wanted))
    return tuple(result)
