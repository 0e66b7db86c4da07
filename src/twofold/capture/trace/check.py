"""The check after a recording: the graph against the function, on perturbed inputs, with every state restored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from twofold.capture.graph_module import GraphModule
from twofold.capture.trace.state import ModuleState
from twofold.support.errors import TraceError, ValueRangeError
from twofold.support.pytree import tree_flatten
from twofold.tape.versions import root_of
from twofold.tensors.alias import alias_of, base_of, live_views
from twofold.tensors.core import Tensor, memory
from twofold.tensors.random import default_generator

TOLERANCE = {2: (2e-2, 1e-2), 4: (1e-4, 1e-5), 8: (1e-9, 1e-10)}
"""(relative, absolute) by the float's size in bytes: both sides run the same NumPy code, so little room is needed."""


class Snapshot:
    """The memory, backward nodes and view families of tensors, to be put back."""

    def __init__(self, tensors: list[Tensor]) -> None:
        self.members: list[tuple[Tensor, Any, Any, Any]] = []
        self.arrays: dict[int, tuple[Any, Any]] = {}
        for t in tensors:
            base = base_of(t)
            for member in (t, base, *live_views(base)):
                self.members.append((member, member._node, memory(member), alias_of(member)))
            root = root_of(memory(t))
            self.arrays.setdefault(id(root), (root, root.copy()))

    def put_back(self) -> None:
        for t, node, array, alias in self.members:
            t._node, t._array, t._alias = node, array, alias
        for root, saved in self.arrays.values():
            if root.flags.writeable:
                root[...] = saved

    def perturb(self, arguments: list[Tensor]) -> None:
        """Change floating-point arguments a little, so that a branch on a value or a constant taken from one shows; integers are kept."""
        rng = np.random.default_rng(0)
        roots = {id(root_of(memory(t))) for t in arguments if t._type.dtype.is_floating_point}
        for key in roots:
            root = self.arrays[key][0]
            if root.flags.writeable and root.dtype.kind in "fV":
                noise = rng.standard_normal(root.shape)
                with np.errstate(all="ignore"):  # signalling NaN, and values near the dtype's largest
                    root[...] = (root.astype(np.float64) * (1 + 0.05 * noise) + 0.01 * noise).astype(root.dtype)


@contextmanager
def random_state_kept() -> Iterator[None]:
    """Give the default generator its state back afterwards."""
    state = memory(default_generator()._state)
    saved = state.copy()
    try:
        yield
    finally:
        state[...] = saved


def values_of(result: Any) -> list[Any]:
    """Copies of the tensors' data among the leaves of a result; other leaves as they are."""
    return [np.array(leaf._array) if isinstance(leaf, Tensor) else leaf for leaf in tree_flatten(result)[0]]


def check_against_eager(module: GraphModule, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], perturb: bool) -> None:
    """Raise TraceError where graph and function differ, naming the output or the written input."""
    leaves = tree_flatten((args, kwargs))[0]
    arguments = [t for t in leaves if isinstance(t, Tensor) and t._array is not None]
    inputs = [t for t in (*arguments, *module.bindings.values()) if t._array is not None]
    snapshot = Snapshot(inputs)
    refused = False
    try:
        with random_state_kept():
            if perturb:
                snapshot.perturb(arguments)
            changed = Snapshot(inputs)
            state = ModuleState(fn)
            try:
                with random_state_kept():
                    expected = values_of(fn(*args, **kwargs))
                    assigned = state.assigned()
                    written = [np.array(assigned.get(id(t), t)._array) for t in inputs]  # the generator's state among them
            except ValueRangeError:
                refused = True  # perhaps the perturbed values alone are out of range (a negative variance)
                if not perturb:
                    raise
            finally:
                state.put_back()
            if not refused:
                changed.put_back()
                got = values_of(module(*args, **kwargs))
                after = [np.array(t._array) for t in inputs]
    finally:
        snapshot.put_back()
    if refused:
        check_against_eager(module, fn, args, kwargs, perturb=False)
        return
    if len(expected) != len(got):
        raise TraceError(
            f"{module.name}: the function returns {len(expected)} leaves now and {len(got)} when it was recorded: it depends on values"
        )
    for i, (a, b) in enumerate(zip(expected, got, strict=True)):
        compare(module, f"output {i}", a, b)
    for i, (a, b) in enumerate(zip(written, after, strict=True)):
        compare(module, f"input {i} after the call", a, b)


def compare(module: GraphModule, what: str, a: Any, b: Any) -> None:
    """Raise TraceError if two results differ by more than rounding."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        same = isinstance(a, np.ndarray) == isinstance(b, np.ndarray) and (a is b or _equal(a, b))
        reason = f"{a!r} eagerly, {b!r} from the graph"
    elif a.shape != b.shape or a.dtype != b.dtype:
        same, reason = False, f"shape {a.shape} and dtype {a.dtype} eagerly, {b.shape} and {b.dtype} from the graph"
    elif a.dtype.kind in "fV":
        relative, absolute = TOLERANCE[a.dtype.itemsize]
        with np.errstate(all="ignore"):  # signalling NaN; infinity against infinity
            x, y = a.astype(np.float64), b.astype(np.float64)
            same = bool(np.allclose(x, y, rtol=relative, atol=absolute, equal_nan=True))
            reason = "" if same else f"largest difference {np.nanmax(np.abs(x - y), initial=0.0):.3g}"
    else:
        same = bool(np.array_equal(a, b))
        reason = f"{int((a != b).sum())} of {a.size} elements differ"
    if not same:
        raise TraceError(
            f"{module.name}: {what} of the graph differs from the function on perturbed inputs ({reason}). The function depends on "
            "something the graph does not hold: a value read outside tensors, Python state that changes from call to call, or a branch on "
            "a value. Use twofold.cond or where for the branch; check=False records it regardless"
        )


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # a user's own __eq__
        return False
