"""The backward graph behind a tensor: as an indented tree (`show_graph`) and as a drawing (`make_dot`).

Both only read the graph: nothing runs, and both work after `backward()` (values freed by then are said to be freed).
The graph is met through PyTorch's names: `grad_fn`, `next_functions`, `name()`, `AccumulateGrad.variable`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TextIO

from twofold.support.digraph import Digraph, Raw, escape_text
from twofold.support.errors import ArgumentError, AutogradError

LINES = 1000
"""Lines that `show_graph` prints by default: shared nodes are printed again, so a tree can be far larger than its graph."""

PARAMETER, OUTPUT, BASE, SAVED = "lightblue", "darkolivegreen1", "darkolivegreen3", "orange"
FREED, PACKED = "[freed]", "[packed by a hook]"


class BackwardNode(Protocol):
    """What is read of a node of the backward graph."""

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]: ...

    def name(self) -> str: ...


def show_graph(grad_fn: Any, file: TextIO | None = None, limit: int | None = LINES) -> None:
    """Print the backward graph below `grad_fn` as a tree, two spaces a level, one node a line; a node reached twice is printed twice.

    `grad_fn` may be a node, a tensor (its `grad_fn` is taken), or None (nothing is printed). Goes to `file` (default: standard output).
    After `limit` lines one more says that the tree goes on (None: no limit).
    """
    if not _is_node(grad_fn) and hasattr(grad_fn, "grad_fn"):
        grad_fn = grad_fn.grad_fn
    if grad_fn is None:
        return
    if not _is_node(grad_fn):
        raise ArgumentError(f"show_graph() takes a tensor's grad_fn, not {type(grad_fn).__name__} ({grad_fn!r:.80})")
    out = sys.stdout if file is None else file
    waiting: list[tuple[Any, int]] = [(grad_fn, 0)]
    lines = 0
    while waiting:
        if limit is not None and lines >= limit:
            advice = "show_graph(grad_fn, limit=None) prints all, make_dot() draws each node once"
            print(f"... the tree goes on: {lines:,} lines printed; {advice}", file=out)
            return
        node, depth = waiting.pop()
        print("  " * depth, node, file=out)
        lines += 1
        waiting.extend((following, depth + 1) for following, _ in reversed(node.next_functions) if following is not None)


def make_dot(
    output: Any, params: Mapping[str, Any] | None = None, show_attrs: bool = False, show_saved: bool = False, max_attr_chars: int = 50
) -> Digraph:  # fmt: skip
    """Draw the backward graph of `output` as torchviz does: a `Digraph`, to be rendered, saved or shown in a notebook.

    Green boxes are outputs (darker: the base of an output that is a view, with a dotted edge), grey boxes operations of the backward
    graph, blue boxes leaf tensors that collect a gradient, orange boxes values saved for backward. Arrows follow the data forward.

    `output`: a tensor, or tuples, lists and dicts of tensors (other values in them are passed over).
    `params`: names for tensors, such as ``dict(model.named_parameters())``.
    `show_attrs`: write each node's saved attributes (``dim: 1``) and the shapes of its saved tensors into its box.
    `show_saved`: draw saved tensors as boxes of their own. Tensors saved by a custom `Function` are always drawn, as in torchviz.
    `max_attr_chars`: an attribute's text is cut there.

    Raises ArgumentError if `output` holds no tensor or a value of `params` is no tensor.
    """
    if not isinstance(max_attr_chars, int) or max_attr_chars < 4:
        raise ArgumentError(f"max_attr_chars must be an int of 4 or more, not {max_attr_chars!r}")
    drawing = _Drawing(_names_of(params), show_attrs, show_saved, max_attr_chars)
    outputs = list(_tensors_in(output))
    if not outputs:
        raise ArgumentError(f"make_dot() takes a tensor or a tuple, list or dict of tensors, not {type(output).__name__} ({output!r:.80})")
    drawing.keys = {id(tensor): key for key, tensor in reversed(outputs)}
    for _, tensor in outputs:
        drawing.output(tensor)
    return drawing.finish()


def _is_node(thing: Any) -> bool:
    return hasattr(thing, "next_functions")


def _is_tensor(thing: Any) -> bool:
    return hasattr(thing, "grad_fn") and hasattr(thing, "shape")


def _names_of(params: Mapping[str, Any] | None) -> dict[int, str]:
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise ArgumentError(
            f"params must be a dict of names and tensors, such as dict(model.named_parameters()), not {type(params).__name__}"
        )
    names: dict[int, str] = {}
    for name, tensor in params.items():
        if not _is_tensor(tensor):
            raise ArgumentError(f"params[{name!r}] must be a tensor, not {type(tensor).__name__} ({tensor!r:.80})")
        names[id(tensor)] = str(name)
    return names


def _tensors_in(output: Any) -> Iterator[tuple[str, Any]]:
    """(key, tensor) for each tensor in nested tuples, lists and dicts; the key is the path of dict keys, or "". Cycles are cut."""
    waiting: list[tuple[str, Any]] = [("", output)]
    seen: set[int] = set()
    while waiting:
        key, value = waiting.pop()
        if _is_tensor(value):
            yield key, value
        elif isinstance(value, (tuple, list, Mapping)) and id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Mapping):
                waiting.extend((f"{key}.{k}" if key else str(k), v) for k, v in reversed(list(value.items())))
            else:
                waiting.extend((key, v) for v in reversed(value))


def _shape(tensor: Any) -> str:
    return f"({', '.join(map(str, tensor.shape))})"


def _has_shape(value: Any) -> bool:
    return hasattr(value, "shape")


def _is_packed(value: Any) -> bool:
    return getattr(value, "is_packed", False) is True


def _saved(node: Any) -> dict[str, Any]:
    """Saved values and attributes under their public names; a value already freed is there as `FREED`.

    The slots themselves are read, not `_saved_…`: that would call the user's unpack hooks, and a checkpointed part would run again.
    """
    found = {"self" if name == "input" else name: getattr(node, "s_" + name, FREED) for name in getattr(node, "saved", ())}
    attributes = getattr(getattr(node, "plan", None), "attributes", None) or {}
    return found | {name: value for name, value in attributes.items() if name not in found}


class _Drawing:
    """One call of `make_dot`: numbers what it meets in the order of the walk, so that equal graphs give equal text."""

    def __init__(self, names: dict[int, str], show_attrs: bool, show_saved: bool, max_chars: int) -> None:
        self.names, self.show_attrs, self.show_saved, self.max_chars = names, show_attrs, show_saved, max_chars
        self.dot = Digraph(
            node_attr={"style": "filled", "shape": "box", "fontsize": 10, "height": 0.2, "fontname": "monospace"},
            graph_attr={"ranksep": 0.1, "size": "12,12"},
        )
        self.keys: dict[int, str] = {}  # of each output its key, or ""
        self.ids: dict[int, str] = {}
        self.kept: list[Any] = []  # objects made on request must live as long as their id() is a key
        self.walked: set[str] = set()
        self.statements = 0

    def identify(self, thing: Any) -> str:
        """The dot name of a node or tensor."""
        found = self.ids.get(id(thing))
        if found is None:
            found = self.ids[id(thing)] = f"n{len(self.ids)}"
            self.kept.append(thing)
        return found

    def edge(self, tail: str, head: str, **attributes: str) -> None:
        self.dot.edge(tail, head, None, **attributes)
        self.statements += 1

    def box(self, name: str, label: str, color: str | None = None) -> None:
        self.dot.node(name, label, fillcolor=color)
        self.statements += 1

    def tensor(self, name: str, tensor: Any, color: str) -> None:
        """The box of a tensor, under its name from `params`, else its key among the outputs; outputs are always green."""
        title = self.names.get(id(tensor)) or self.keys.get(id(tensor))
        self.box(name, f"{title}\n{_shape(tensor)}" if title else _shape(tensor), OUTPUT if id(tensor) in self.keys else color)

    def output(self, tensor: Any) -> None:
        """An output, what it is a view of, and the graph below."""
        child = None
        while tensor is not None:
            name = self.identify(tensor)
            known = name in self.walked
            if not known:
                self.walked.add(name)
                self.tensor(name, tensor, BASE)
            if child is not None:
                self.edge(name, child, style="dotted")
            if known:
                return
            if tensor.grad_fn is not None:
                self.edge(self.identify(tensor.grad_fn), name)
                self.walk(tensor.grad_fn)
            child, tensor = name, getattr(tensor, "_base", None)

    def walk(self, root: Any) -> None:
        """The nodes below `root`, each once."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            name = self.identify(node)
            if name in self.walked:
                continue
            self.walked.add(name)
            saved = _saved(node) if self.show_attrs or self.show_saved else {}
            self.box(name, self.label(node, saved))
            if getattr(node, "is_custom", False):
                self.custom(name, node)
            elif self.show_saved:
                for title, value in saved.items():
                    self.saved(name, title, value)
            self.variable(name, node)
            following = [f for f, _ in node.next_functions if f is not None]
            for f in following:
                self.edge(self.identify(f), name)
            waiting.extend(reversed(following))

    def variable(self, name: str, node: Any) -> None:
        """The leaf tensor that an AccumulateGrad node collects into (None once nobody else holds it)."""
        variable = getattr(node, "variable", None)
        if variable is None:
            return
        leaf = self.identify(variable)
        if leaf not in self.walked:
            self.walked.add(leaf)
            self.tensor(leaf, variable, PARAMETER)
        self.edge(leaf, name)

    def custom(self, name: str, node: Any) -> None:
        """Tensors that a custom Function saved; gone after backward."""
        try:
            tensors = getattr(node, "saved_tensors", None)
        except AutogradError:
            return
        for i, tensor in enumerate(tensors or ()):
            self.saved(name, f"saved[{i}]", tensor)

    def saved(self, name: str, title: str, value: Any) -> None:
        """An orange box for each tensor in a saved value."""
        if isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                if _has_shape(part):
                    self.saved(name, f"{title}[{i}]", part)
        elif _has_shape(value) or _is_packed(value):
            box = self.identify(_Saved())
            self.edge(name, box, dir="none")
            self.box(box, f"{title}\n{_shape(value) if _has_shape(value) else PACKED}", SAVED)

    def label(self, node: Any, saved: dict[str, Any]) -> str:
        """The node's name, and with `show_attrs` a line for each saved value."""
        name: str = node.name()
        if not self.show_attrs or not saved:
            return name
        width = max(map(len, saved))
        rows = [f"{k:<{width}}: {self.attribute(v)}" for k, v in saved.items()]
        rule = "-" * max(len(name), *map(len, rows))
        return Raw(f"{escape_text(name)}\\n" + "".join(f"{escape_text(line)}\\l" for line in (rule, *rows)))

    def attribute(self, value: Any) -> str:
        if _is_packed(value):
            text = f"[saved tensor] {PACKED}"
        elif _has_shape(value):
            text = f"[saved tensor] {_shape(value)}"
        elif isinstance(value, (tuple, list)) and any(map(_has_shape, value)):
            text = f"[saved tensors] {', '.join(_shape(v) if _has_shape(v) else repr(v) for v in value)}"
        else:
            text = str(value).replace("\n", " ")
        return text if len(text) <= self.max_chars else text[: self.max_chars - 3] + "..."

    def finish(self) -> Digraph:
        # dot shrinks a drawing to `size` inches; a large graph gets more, so that its text stays readable
        side = f"{max(12.0, 0.15 * self.statements):g}"
        self.dot.graph_attr["size"] = f"{side},{side}"
        return self.dot


class _Saved:
    """Stands for one saved value of one node: each gets a box of its own."""


__all__ = ["LINES", "make_dot", "show_graph"]
