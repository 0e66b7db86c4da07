"""What a static graph is made of: values, nodes, regions. A graph is logical: typed SSA without memory, every value written once.

A graph and the bodies of control flow are `Region`s: inputs, nodes in an order in which every value stands before its uses, and outputs.
A region sees the values of the regions around it. All walks are linear in the number of nodes and recurse only into nested regions.
"""

from __future__ import annotations

import builtins
import keyword
import linecache
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from twofold.ir.dims import Dim
from twofold.ir.op import Op
from twofold.ir.types import TensorType, Type
from twofold.support.errors import GraphError, line_of

TAKEN_NAMES = frozenset(dir(builtins)) | frozenset(keyword.kwlist) | frozenset(("inf", "nan", "match", "case"))


class Source:
    """Where a node comes from: the user's line, found only when asked for.

    `code` and `instruction` are a code object and the byte offset of an instruction in it; a node read from text has `place`, a text
    "file:line", instead. `module` is the path of the nn.Module that ran ("layer1.0.conv1"); `spelling` is "function", "method" or
    "operator", and `name` what the user typed ("" where that is the operation's own name).
    """

    __slots__ = ("code", "instruction", "module", "name", "place", "spelling")

    def __init__(
        self,
        code: CodeType | None = None,
        instruction: int = 0,
        module: str = "",
        spelling: str = "function",
        name: str = "",
        place: str = "",
    ) -> None:
        self.code, self.instruction, self.module, self.spelling, self.name, self.place = code, instruction, module, spelling, name, place

    @property
    def file(self) -> str:
        """The file's path as Python knows it ("" where unknown)."""
        return self.code.co_filename if self.code is not None else self.place.rpartition(":")[0]

    @property
    def line(self) -> int | None:
        """The line number, or None."""
        if self.code is not None:
            return line_of(self.code, self.instruction)
        text = self.place.rpartition(":")[2]
        return int(text) if text.isdigit() else None

    @property
    def column(self) -> int | None:
        """The column (from 0) where the expression begins, or None where it was not recorded."""
        if self.code is None:
            return None
        for i, (_, _, column, _) in enumerate(self.code.co_positions()):
            if i == self.instruction // 2:
                return column
        return None

    @property
    def text(self) -> str:
        """The source line, stripped; "" where the file cannot be read."""
        line = self.line
        return linecache.getline(self.file, line).strip() if line and self.file else ""

    @property
    def location(self) -> str:
        """`file.py:12`, without the folder; "" where unknown."""
        return f"{os.path.basename(self.file)}:{self.line}" if self.file else self.place

    @property
    def full_location(self) -> str:
        """`/folder/file.py:12`; "" where unknown."""
        return f"{self.file}:{self.line}" if self.file else self.place

    def key(self, op_name: str) -> tuple[str, str, str, str]:
        """What two equal sources agree in."""
        return self.location, self.module, self.spelling, self.name or op_name

    def __repr__(self) -> str:
        return f"<Source {self.location or 'unknown'}>"


class Value:
    """One value: the output `index` of `node`, or an input of a region (`node` is None). Compared by identity."""

    __slots__ = ("_region", "index", "name", "node", "type")

    def __init__(self, type: Type, name: str, node: Node | None = None, index: int = 0, region: Region | None = None) -> None:
        self.type, self.name, self.node, self.index, self._region = type, name, node, index, region

    @property
    def region(self) -> Region | None:
        """The region in which the value is defined."""
        return self._region if self.node is None else self.node.region

    @property
    def graph(self) -> GraphBase | None:
        region = self.region
        return region.graph if region is not None else None

    def __repr__(self) -> str:
        return f"<Value {self.name}: {self.type}>"


Operand = Any
"""One entry of `Node.inputs`: a Value, a Python number (bool, int, float), None, or a tuple of Values for a ``Tensor[]`` parameter."""


class Node:
    """One application of an operation. `inputs` has an entry for each tensor parameter of the signature; `attributes` are canonical."""

    __slots__ = ("attributes", "inputs", "op", "outputs", "region", "regions", "source")

    def __init__(
        self,
        op: Op,
        inputs: tuple[Operand, ...],
        attributes: dict[str, Any],
        regions: tuple[Region, ...] = (),
        source: Source | None = None,
    ) -> None:
        self.op, self.inputs, self.attributes, self.regions, self.source = op, inputs, attributes, regions, source
        self.outputs: tuple[Value, ...] = ()
        self.region: Region | None = None
        for r in regions:
            r.owner = self

    @property
    def name(self) -> str:
        """The name of the first output."""
        return self.outputs[0].name if self.outputs else self.op.name

    @property
    def output(self) -> Value:
        """The only output; raises GraphError where there are several."""
        if len(self.outputs) != 1:
            raise GraphError(f"{self.name} ({self.op.name}) has {len(self.outputs)} outputs, not one")
        return self.outputs[0]

    def operands(self) -> Iterator[Value]:
        """The input values, flat and in order; numbers and None are left out."""
        for x in self.inputs:
            kind = type(x)
            if kind is Value:
                yield x
            elif kind is tuple:
                yield from x

    def map_operands(self, change: Callable[[Value], Any]) -> None:
        """Replace every input value by `change(value)`."""
        self.inputs = tuple(change(x) if type(x) is Value else tuple(change(v) for v in x) if type(x) is tuple else x for x in self.inputs)

    def __repr__(self) -> str:
        return f"<Node {self.name} = {self.op.name}>"


class Region:
    """Inputs, nodes and outputs (Values, Python numbers or None). `owner` is the node it is a body of, None for a graph.

    `token` is the last effect of the region so far (None: no effects); a graph keeps it, a finished body returns it as an output.
    """

    __slots__ = ("_parent", "inputs", "nodes", "outputs", "owner", "token")

    def __init__(self, parent: Region | None = None) -> None:
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.outputs: list[Any] = []
        self.owner: Node | None = None
        self.token: Value | None = None
        self._parent = parent

    @property
    def parent(self) -> Region | None:
        """The region around this one."""
        return self._parent if self.owner is None or self.owner.region is None else self.owner.region

    @property
    def graph(self) -> GraphBase | None:
        """The graph this region is part of."""
        region: Region | None = self
        while region is not None and not isinstance(region, GraphBase):
            region = region.parent
        return region

    def append(self, node: Node) -> Node:
        """Put a node at the end."""
        node.region = self
        self.nodes.append(node)
        return node

    def insert(self, index: int, node: Node) -> Node:
        """Put a node before the one at `index`."""
        node.region = self
        self.nodes.insert(index, node)
        return node

    def output_values(self) -> Iterator[Value]:
        """The outputs that are values, the last token included."""
        for x in self.outputs:
            if type(x) is Value:
                yield x
        if self.token is not None:
            yield self.token

    def walk(self) -> Iterator[Node]:
        """All nodes, each before the nodes of its own regions."""
        for node in self.nodes:
            yield node
            for r in node.regions:
                yield from r.walk()

    def regions(self) -> Iterator[Region]:
        """This region and all nested ones."""
        yield self
        for node in self.nodes:
            for r in node.regions:
                yield from r.regions()

    def users(self) -> dict[Value, list[Node]]:
        """For every value used by a node: the nodes that use it, each once (computed now, one sweep). Regions' outputs are not nodes."""
        result: dict[Value, list[Node]] = {}
        for node in self.walk():
            for v in node.operands():
                users = result.setdefault(v, [])
                if not users or users[-1] is not node:
                    users.append(node)
        return result

    def replace_all_uses(self, mapping: Mapping[Value, Any]) -> None:
        """Replace values by others (or by Python numbers) wherever a node or a region's output uses them: one sweep for all.

        A replacement that is itself replaced is followed; types are not checked (the verifier does).
        """
        if not mapping:
            return

        def change(value: Any) -> Any:
            seen = 0
            while type(value) is Value and value in mapping:
                value = mapping[value]
                seen += 1
                if seen > len(mapping):
                    raise GraphError("the replacements form a cycle")
            return value

        for node in self.walk():
            if any(v in mapping for v in node.operands()):
                node.map_operands(change)
        for region in self.regions():
            region.outputs = [change(x) if type(x) is Value else x for x in region.outputs]
            if region.token is not None:
                region.token = change(region.token)

    def erase(self, nodes: Iterable[Node]) -> None:
        """Remove nodes of this region or of nested ones in one sweep; GraphError, and nothing removed, if one still has a user."""
        gone = set(nodes)
        inside = {n for node in gone for r in node.regions for n in r.walk()} | gone
        outputs = {v: node for node in gone for v in node.outputs}
        for node in self.walk():
            if node not in inside:
                for v in node.operands():
                    if v in outputs:
                        raise GraphError(f"{v.name} cannot be erased: {node.name} ({node.op.name}) uses it")
        for region in self.regions():
            if region.owner in inside:
                continue
            for v in region.output_values():
                if v in outputs:
                    raise GraphError(f"{v.name} cannot be erased: it is an output")
        for region in list(self.regions()):
            region.nodes[:] = [node for node in region.nodes if node not in gone]
        for node in gone:
            node.region = None

    def count(self) -> int:
        """The number of nodes, nested ones included."""
        return sum(1 for _ in self.walk())


class GraphBase(Region):
    """A whole graph: a region with a name, unique value names and `bindings`, the inputs that are closed-over tensors, with their paths."""

    __slots__ = ("_counters", "_names", "_symbols", "bindings", "name")

    def __init__(self, name: str = "forward") -> None:
        super().__init__()
        self.name = name
        self.bindings: dict[Value, str] = {}
        self._names: set[str] = set()
        self._counters: dict[str, int] = {}
        self._symbols: dict[str, Dim] = {}

    def unique_name(self, base: str) -> str:
        """A name not yet used in this graph, as torch.fx makes them: `add`, `add_1`; names of Python built-ins begin at `_1` (`abs_1`)."""
        base = re.sub(r"[^0-9a-zA-Z_]+", "_", base) or "value"
        if base[0].isdigit():
            base = "_" + base
        names = self._names
        if base not in names and base not in TAKEN_NAMES:
            names.add(base)
            return base
        stem, number = base, self._counters.get(base)
        if number is None:
            number = 0
            if (m := re.fullmatch(r"(.*)_(\d{1,9})", base)) is not None and m[1]:
                stem, number = m[1], int(m[2])
        while True:
            number += 1
            name = f"{stem}_{number}"
            if name not in names:
                break
        self._counters[base] = number
        names.add(name)
        return name

    def claim_name(self, name: str) -> bool:
        """Take exactly this name; False if it is in use."""
        if name in self._names:
            return False
        self._names.add(name)
        return True

    def declare_symbols(self, type: Any) -> None:
        """Note the symbols of a type; two different symbols of one name in a graph raise GraphError."""
        for n in type.shape:
            if hasattr(n, "is_symbolic_dim"):
                for s in n.symbols():
                    self.declare_symbol(s)

    def declare_symbol(self, s: Dim) -> None:
        known = self._symbols.setdefault(s.name, s)
        if known != s:
            raise GraphError(
                f"graph {self.name}: the symbolic dimension {s.name} has two sets of bounds or examples: {known.bounds}, {s.bounds}"
            )

    def symbols(self) -> dict[str, Dim]:
        """The symbolic dimensions noted so far, by name."""
        return self._symbols

    def copy(self, mapping: dict[Value, Value] | None = None) -> GraphBase:
        """A graph with the same names, types, attributes and sources; `mapping` receives old value → new value."""
        result = type(self)(self.name)
        result._names = set(self._names)
        result._counters = dict(self._counters)
        result._symbols = dict(self._symbols)
        values = {} if mapping is None else mapping
        copy_region(self, result, values)
        result.bindings = {values[v]: path for v, path in self.bindings.items()}
        return result

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {len(self.inputs)} inputs, {self.count()} nodes, {len(self.outputs)} outputs>"


def copy_region(source: Region, target: Region, values: dict[Value, Value], rename: Callable[[str], str] | None = None) -> None:
    """Append copies of a region's inputs and nodes to `target`, and set its outputs. `values` maps outer and, afterwards, inner values;
    values it lacks are taken as they are. `rename` gives the copies' names (default: the same)."""

    def named(name: str) -> str:
        return rename(name) if rename is not None else name

    def change(v: Value) -> Value:
        return values.get(v, v)

    for v in source.inputs:
        values[v] = new = Value(v.type, named(v.name), region=target)
        target.inputs.append(new)
    for node in source.nodes:
        regions = []
        for r in node.regions:
            inner = Region(target)
            copy_region(r, inner, values, rename)
            regions.append(inner)
        copied = Node(node.op, node.inputs, dict(node.attributes), tuple(regions), node.source)
        copied.map_operands(change)
        copied.outputs = tuple(Value(v.type, named(v.name), copied, v.index) for v in node.outputs)
        values.update(zip(node.outputs, copied.outputs, strict=True))
        target.append(copied)
    target.outputs = [change(x) if type(x) is Value else x for x in source.outputs]
    target.token = None if source.token is None else change(source.token)


def free_values(region: Region) -> list[Value]:
    """The values of enclosing regions that a region (or one nested in it) uses, in order of first use."""
    own: set[Value] = set()
    found: dict[Value, None] = {}

    def visit(r: Region) -> None:
        own.update(r.inputs)
        for node in r.nodes:
            for v in node.operands():
                if v not in own:
                    found[v] = None
            for inner in node.regions:
                visit(inner)
            own.update(node.outputs)
        for v in r.output_values():
            if v not in own:
                found[v] = None

    visit(region)
    return list(found)


def has_effect(node: Node) -> bool:
    """True if the node, or one in its regions, prints, asserts or assigns: it must run whether or not its outputs are used."""
    if node.op.effect in ("print", "assert", "assign"):
        return True
    return any(has_effect(n) for r in node.regions for n in r.nodes)


def input_types(inputs: tuple[Operand, ...], scalar: Callable[[type], Type]) -> tuple[Any, ...]:
    """What a type rule is given for a node's inputs: a type, None, or a tuple of types each."""
    return tuple(
        x.type if type(x) is Value else None if x is None else tuple(v.type for v in x) if type(x) is tuple else scalar(type(x))
        for x in inputs
    )


def same_attribute(a: Any, b: Any) -> bool:
    """Equality of attribute values by type and content: 1 is not 1.0 and not True, NaN equals NaN, -0.0 is not 0.0."""
    return bool(attribute_key(a) == attribute_key(b))


def attribute_key(value: Any) -> Any:
    """A hashable stand-in for an attribute value, equal exactly for the same values."""
    kind = type(value)
    if kind is float:
        return float, value.hex()
    if kind is tuple:
        return tuple, tuple(map(attribute_key, value))
    if kind is slice:
        return slice, attribute_key(value.start), attribute_key(value.stop), attribute_key(value.step)
    return kind, value


def same_graph(a: Region, b: Region, names: bool = True, sources: bool = True) -> bool:
    """True if two graphs (or regions) are equal: structure, operations, attributes, types, bindings and, unless switched off, names and
    sources."""
    return difference(a, b, names, sources) == ""


def difference(a: Region, b: Region, names: bool = True, sources: bool = True) -> str:
    """The first difference between two graphs in words; "" if they are equal."""
    if isinstance(a, GraphBase) and isinstance(b, GraphBase) and names and a.name != b.name:
        return f"graphs are named {a.name} and {b.name}"
    pairs: dict[Value, Value] = {}
    found = _region_difference(a, b, names, sources, pairs)
    if not found and isinstance(a, GraphBase) and isinstance(b, GraphBase):
        left = [a.bindings.get(v) for v in a.inputs]
        right = [b.bindings.get(v) for v in b.inputs]
        if left != right:
            return f"bindings differ: {left} and {right}"
    return found


def _region_difference(a: Region, b: Region, names: bool, sources: bool, pairs: dict[Value, Value]) -> str:
    if len(a.inputs) != len(b.inputs) or len(a.nodes) != len(b.nodes) or len(a.outputs) != len(b.outputs):
        return (
            f"{len(a.inputs)} inputs, {len(a.nodes)} nodes, {len(a.outputs)} outputs against "
            f"{len(b.inputs)}, {len(b.nodes)}, {len(b.outputs)}"
        )

    def value(v: Value, w: Value) -> str:
        pairs[v] = w
        if v.type != w.type or (names and v.name != w.name):
            return f"{v.name}: {v.type} against {w.name}: {w.type}"
        return ""

    def same(x: Any, y: Any) -> bool:
        if type(x) is not type(y):
            return False
        if type(x) is Value:
            return pairs.get(x, x) is y
        if type(x) is tuple:
            return len(x) == len(y) and all(map(same, x, y))
        return same_attribute(x, y)

    for v, w in zip(a.inputs, b.inputs, strict=True):
        if text := value(v, w):
            return text
    for m, n in zip(a.nodes, b.nodes, strict=True):
        if m.op is not n.op or not same(m.inputs, n.inputs) or len(m.outputs) != len(n.outputs) or len(m.regions) != len(n.regions):
            return f"{m.name} ({m.op.name}) against {n.name} ({n.op.name}): operations, inputs or outputs differ"
        if m.attributes.keys() != n.attributes.keys() or not all(same_attribute(x, n.attributes[k]) for k, x in m.attributes.items()):
            return f"{m.name} ({m.op.name}): attributes {m.attributes} against {n.attributes}"
        if sources and (m.source and m.source.key(m.op.name)) != (n.source and n.source.key(n.op.name)):
            return f"{m.name} ({m.op.name}): sources differ"
        for r, s in zip(m.regions, n.regions, strict=True):
            if text := _region_difference(r, s, names, sources, pairs):
                return text
        for v, w in zip(m.outputs, n.outputs, strict=True):
            if text := value(v, w):
                return text
    if not all(map(same, a.outputs, b.outputs)) or not same(a.token, b.token):
        return "outputs differ"
    return ""


def tensor_symbols(type: Any) -> Iterator[Dim]:
    """The symbols in a tensor type's shape (none for other types)."""
    if isinstance(type, TensorType):
        for n in type.shape:
            if not isinstance(n, int):
                yield from n.symbols()
