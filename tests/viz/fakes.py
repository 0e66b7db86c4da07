"""Backward nodes and tensors that implement only what the views read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class FakeTensor:
    def __init__(self, shape: tuple[int, ...] = (), grad_fn: FakeNode | None = None, base: FakeTensor | None = None) -> None:
        self.shape, self.grad_fn, self._base = shape, grad_fn, base
        self.requires_grad = True
        self.is_leaf = grad_fn is None


class FakeNode:
    """As the nodes of the tape: a slot ``s_<name>`` for each name in `saved`, attributes in `plan`."""

    def __init__(self, name: str, *following: FakeNode | None, attributes: dict[str, Any] | None = None, **saved: Any) -> None:
        self._name = name
        self.next_functions = tuple((f, 0) for f in following)
        self.saved = tuple(saved)
        self.plan = SimpleNamespace(attributes=attributes or {})
        for k, v in saved.items():
            setattr(self, "s_" + k, v)

    def name(self) -> str:
        return self._name

    def free(self) -> None:
        for name in self.saved:
            delattr(self, "s_" + name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_saved", "saved_tensors_by_name")):
            raise AssertionError("reading this may run the user's unpack hooks")
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f"<{self._name} object at 0x7f00>"


class FakeAccumulate(FakeNode):
    def __init__(self, variable: FakeTensor | None) -> None:
        super().__init__("AccumulateGrad")
        self.variable = variable


def document_graph() -> tuple[FakeTensor, FakeTensor, FakeTensor]:
    """w = log(x1 * x2) * sin(x2) as in the third document: (w, x1, x2)."""
    x1, x2 = FakeTensor(), FakeTensor()
    leaf = FakeAccumulate(x2)
    product = FakeNode("MulBackward0", FakeAccumulate(x1), leaf, input=x1, other=x2)
    log = FakeNode("LogBackward0", product, input=FakeTensor((), product))
    sine = FakeNode("SinBackward0", leaf, input=x2)
    w = FakeNode("MulBackward0", log, sine, input=FakeTensor((), log), other=FakeTensor((), sine))
    return FakeTensor((), w), x1, x2


def chain(length: int) -> FakeTensor:
    """A graph of `length` nodes in a row above one leaf."""
    node: FakeNode = FakeAccumulate(FakeTensor((3,)))
    for _ in range(length - 1):
        node = FakeNode("AddBackward0", node)
    return FakeTensor((3,), node)


def ladder(depth: int) -> FakeTensor:
    """A graph of `depth` nodes, each of which uses the one below twice: 2**depth paths."""
    node: FakeNode = FakeAccumulate(FakeTensor((3,)))
    for _ in range(depth):
        node = FakeNode("AddBackward0", node, node)
    return FakeTensor((3,), node)
