"""The two worlds a program runs in: PyTorch, with our stricter refusals imitated, and Twofold, whose tensors are concrete or symbols.

Both have PyTorch's spelling, so `run_step` is written once. What differs is in `World`'s methods.
"""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import twofold
from tests.mutation.programs import Step
from twofold import Tensor
from twofold.support.errors import InplaceError, ShapeError
from twofold.tape.versions import root_of
from twofold.tensors.core import Symbol

WRITES = ("add_", "mul_", "sub_", "iadd", "copy_", "fill_", "clamp_", "masked_fill_", "tanh_", "sin_", "zero_")


class Refused(Exception):
    """A refusal that PyTorch does not make, made in its place."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def overlaps(array: Any) -> bool:
    """True if elements of an array share memory, found by listing their addresses."""
    places: Any = np.zeros((), np.int64)
    for step, n in zip(array.strides, array.shape, strict=True):
        places = places[..., None] + step * np.arange(n)
    return len(np.unique(places)) < places.size


class World:
    """What a program needs beside the tensors' own methods."""

    def leaf(self, a: Any) -> Any: ...
    def plain(self, a: Any) -> Any: ...
    def no_grad(self) -> Any: ...
    def value(self, t: Any) -> Any: ...
    def requires_grad(self, t: Any) -> bool: ...
    def shares(self, a: Any, b: Any) -> bool: ...
    def kind(self, e: Exception) -> str: ...
    def call(self, name: str, *args: Any) -> Any: ...
    def tensor(self, a: Any) -> Any: ...
    def zeros(self, shape: tuple[int, ...]) -> Any: ...

    def read(self, t: Any) -> Any:
        """An operand that is read."""
        return t

    def view(self, make: Callable[[Any], Any], x: Any) -> Any:
        """A view `make(x)`: a tensor or a tuple of them."""
        return make(x)

    def before_write(self, name: str, x: Any, others: list[Any]) -> list[Any]:
        """Refusals of the world's own; returns the sources to write from."""
        return others

    def index(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        """An index whose arrays the world understands."""
        return index

    def set_basic(self, x: Any, index: tuple[Any, ...], value: Any) -> None:
        """`x[index] = value` with an index that gives a view."""
        x[index] = value

    def set_advanced(self, x: Any, index: tuple[Any, ...], value: Any) -> None:
        """`x[index] = value` where arrays are among the index."""
        x[index] = value

    def split(self, x: Any, size: int, dim: int) -> Any:
        return x.split(size, dim)

    def unbind(self, x: Any, dim: int) -> Any:
        return x.unbind(dim)


class TwofoldWorld(World):
    """Eager where tensors are concrete, recording where they are symbols."""

    def leaf(self, a: Any) -> Tensor:
        return twofold.tensor(np.array(a), requires_grad=True)

    def plain(self, a: Any) -> Tensor:
        return twofold.tensor(np.array(a))

    def no_grad(self) -> Any:
        return twofold.no_grad()

    def value(self, t: Tensor) -> Any:
        return np.array(t._array)

    def requires_grad(self, t: Tensor) -> bool:
        return t.requires_grad

    def shares(self, a: Tensor, b: Tensor) -> bool:
        if isinstance(a, Symbol):
            return a._family.storage is a._recorder.lift(b)._family.storage  # the operand may be a closed-over tensor
        return isinstance(a._array, np.ndarray) and isinstance(b._array, np.ndarray) and root_of(a._array) is root_of(b._array)

    def kind(self, e: Exception) -> str:
        if isinstance(e, InplaceError):
            return e.kind
        if isinstance(e, ShapeError):
            return "shape"
        raise e

    def call(self, name: str, *args: Any) -> Any:
        return getattr(twofold, name)(*args)

    def tensor(self, a: Any) -> Any:
        return twofold.tensor(a)

    def zeros(self, shape: tuple[int, ...]) -> Any:
        return twofold.zeros(shape, dtype=twofold.float64)


KINDS = [
    ("leaf", "leaf Variable that requires grad"),
    ("overlap", "more than one element of the written-to"),
    ("version", "modified by an inplace operation"),
    ("nograd_view", "created in no_grad mode"),
    ("view", "view size is not compatible"),
    ("shape", "must match|doesn't match|broadcast|expand|size of tensor|shape mismatch|value tensor of shape"),
]


class TorchWorld(World):
    """PyTorch, with these differences of ours imitated:

    - a view made under no_grad is read as a constant (PyTorch says it requires grad, and raises when it is read after a write);
    - a source that shares memory with what is written is copied first (PyTorch refuses partial overlap, and loses `x.mul_(x)` in backward);
    - writing to a tensor whose elements share memory is refused by every operation (PyTorch permits zero_, fill_, masked_fill_,
    index_put_, and all of
      them where `unfold` made it so);
    - so is a tracked write through a view whose base overlaps itself (PyTorch fails in backward);
    - the outputs of split and unbind can be written, like the selects and slices they are (PyTorch refuses).
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.constant: dict[int, Any] = {}

    def leaf(self, a: Any) -> Any:
        return self.torch.tensor(np.array(a), requires_grad=True)

    def plain(self, a: Any) -> Any:
        return self.torch.tensor(np.array(a))

    def no_grad(self) -> Any:
        return self.torch.no_grad()

    def value(self, t: Any) -> Any:
        return t.detach().numpy().copy()

    def requires_grad(self, t: Any) -> bool:
        return t.requires_grad and id(t) not in self.constant

    def shares(self, a: Any, b: Any) -> bool:
        return bool(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())

    def kind(self, e: Exception) -> str:
        if isinstance(e, Refused):
            return e.kind
        if isinstance(e, RuntimeError):
            for kind, pattern in KINDS:
                if re.search(pattern, str(e)):
                    return kind
        raise e

    def call(self, name: str, *args: Any) -> Any:
        return getattr(self.torch, name)(*args)

    def tensor(self, a: Any) -> Any:
        return self.torch.tensor(a)

    def zeros(self, shape: tuple[int, ...]) -> Any:
        return self.torch.zeros(shape, dtype=self.torch.float64)

    def set_basic(self, x: Any, index: tuple[Any, ...], value: Any) -> None:
        shown = self.view(lambda t: t[index], x)
        (value,) = self.before_write("setitem", shown, [value])
        (shown.copy_ if isinstance(value, self.torch.Tensor) else shown.fill_)(value)

    def set_advanced(self, x: Any, index: tuple[Any, ...], value: Any) -> None:
        if any(isinstance(i, slice) for i in index):  # the basic part is applied first, and decides whether elements share memory
            basic = tuple(i if isinstance(i, slice) else slice(None) for i in index)
            x = self.view(lambda t: t[basic], x)
            index = tuple(slice(None) if isinstance(i, slice) else i for i in index)
        (value,) = self.before_write("setitem", x, [value])
        x[self.index(index)] = value

    def read(self, t: Any) -> Any:
        return t.detach() if isinstance(t, self.torch.Tensor) and id(t) in self.constant else t

    def view(self, make: Callable[[Any], Any], x: Any) -> Any:
        constant = id(x) in self.constant or not self.torch.is_grad_enabled()
        with self.torch.no_grad() if constant else contextlib.nullcontext():
            made = make(x)
        if constant:
            for t in made if isinstance(made, (list, tuple)) else (made,):
                self.constant[id(t)] = t
        return made

    def before_write(self, name: str, x: Any, others: list[Any]) -> list[Any]:
        torch = self.torch
        others = [self.read(o) for o in others]
        others = [o.clone() if isinstance(o, torch.Tensor) and self.shares(x, o) else o for o in others]
        with contextlib.suppress(RuntimeError):
            x.grad_fn  # until this is read PyTorch calls a stale view of a base that gained history a leaf
        sources = [o for o in others if isinstance(o, torch.Tensor)]
        base = x if x._base is None else x._base
        tracked = torch.is_grad_enabled() and any(t.requires_grad for t in (x, base, *sources))
        leaf = base.is_leaf and base.requires_grad
        if overlaps(x.detach().numpy()) and not (tracked and (leaf or id(x) in self.constant)):
            raise Refused("overlap")
        if tracked and overlaps(base.detach().numpy()) and not leaf and id(x) not in self.constant:
            raise Refused("overlap")
        return others

    def index(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self.torch.from_numpy(i) if isinstance(i, np.ndarray) else i for i in index)

    def split(self, x: Any, size: int, dim: int) -> Any:
        n = x.shape[dim]
        return tuple(x.narrow(dim, i, min(size, n - i)) for i in range(0, n, size))

    def unbind(self, x: Any, dim: int) -> Any:
        return tuple(x.select(dim, i) for i in range(x.shape[dim]))


def make_inputs(world: World, seed: int) -> dict[str, Any]:
    """The inputs of `programs.INPUTS`."""
    r = np.random.default_rng(seed)
    t = {name: world.leaf(r.standard_normal(shape)) for name, shape in (("A", (3, 4)), ("P", (3, 4)), ("E", (4,)), ("Z", ()))}
    t |= {name: world.plain(r.standard_normal(shape)) for name, shape in (("B", (3, 4)), ("F", (4,)), ("W", ()))}
    t["C"], t["K"], t["V"] = t["P"] * 2.0, t["E"] * 3.0, t["Z"] * 2.0
    t["T"] = t["A"].permute(1, 0) * 2.0
    t["D"], t["G"], t["H"], t["J"] = t["C"][1:3], t["B"].permute(1, 0), t["F"].detach(), t["K"].expand(2, 4)
    return t


LEAVES = ("A", "P", "E", "Z")
INNER = ("B", "F", "W", "C", "K", "V", "D", "G", "H", "J", "T")
BASIC = (int, slice, type(None), type(...))


def run_step(world: World, registers: dict[str, Any], s: Step, log: list[tuple[int, str]]) -> None:
    """Run one step; a refusal is logged by its kind, and the step has no effect. A step whose operands are missing is skipped."""
    if any(isinstance(o, str) and o not in registers for o in s.operands):
        return
    operands = [registers[o] if isinstance(o, str) else o for o in s.operands]
    try:
        with world.no_grad() if s.no_grad else contextlib.nullcontext():
            result = execute(world, s, operands)
    except Exception as e:
        log.append((s.number, world.kind(e)))
        return
    if s.name in ("view", "reshape") and not world.shares(result, operands[0]):
        log.append((s.number, "copied"))
    if not s.out:
        return
    if isinstance(result, (tuple, list)):
        registers.update({f"{s.out}.{k}": t for k, t in enumerate(result)})
    else:
        registers[s.out] = result


def execute(world: World, s: Step, operands: list[Any]) -> Any:
    """The operation itself."""
    name, params = s.name, s.params
    if name == "zeros":
        return world.zeros(params[0])
    x, others = operands[0], operands[1:]
    if name == "detach":
        return x.detach()
    if name in (
        "index",
        "view",
        "reshape",
        "expand",
        "permute",
        "unsqueeze",
        "squeeze",
        "select",
        "narrow",
        "unfold",
        "transpose",
        "diagonal",
        "split",
        "unbind",
    ):
        return world.view(lambda t: show(world, name, t, params), x)
    if name in WRITES or name in ("setitem", "setmask", "index_put_"):
        return write(world, name, x, others, params)
    x, *others = map(world.read, operands)
    if name == "gather":
        return x[world.index(params)]
    if name == "max":
        return x.max(params[0])[0]
    if name == "sum_dim":
        return x.sum(params[0])
    if name == "cat":
        return world.call("cat", [x, *others], 0)
    if name == "where":
        return world.call("where", x.detach() > 0, *others)
    if name in ("add", "mul"):
        return x + others[0] if name == "add" else x * others[0]
    return getattr(x, name)()


def show(world: World, name: str, x: Any, params: tuple[Any, ...]) -> Any:
    """A view operation."""
    if name == "index":
        return x[params[0]]
    if name == "split":
        return world.split(x, *params)
    if name == "unbind":
        return world.unbind(x, *params)
    return getattr(x, name)(*params)


def write(world: World, name: str, x: Any, others: list[Any], params: tuple[Any, ...]) -> Any:
    """An in-place operation."""
    if name == "setitem":
        index = params[0]
        if all(isinstance(i, BASIC) for i in index):
            world.set_basic(x, index, others[0])
            return x
        world.set_advanced(x, index, others[0])
        return x
    if name == "setmask":
        mask = world.read(others[0]).detach() > 0
        world.before_write(name, x, [])
        x[mask] = others[1]
        return x
    if name == "masked_fill_":
        mask = world.read(others[0]).detach() > 0
        value = world.before_write(name, x, others[1:])[0]
        return x.masked_fill_(mask, value)
    others = world.before_write(name, x, others)
    if name == "index_put_":
        (indices, accumulate) = params
        value = others[0] if hasattr(others[0], "shape") else world.tensor(np.float64(others[0]))
        return x.index_put_(tuple(world.tensor(i) for i in indices), value, accumulate)
    if name == "iadd":
        return operator.iadd(x, others[0])
    if name == "copy_" and not hasattr(others[0], "shape"):
        return x.copy_(world.tensor(np.float64(others[0])))
    return getattr(x, name)(*others, *params)
