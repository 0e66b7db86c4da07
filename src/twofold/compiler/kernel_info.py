"""What can be said of each step of a program: nodes, lines, listing, code, memory traffic, operations."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from twofold.compiler.assemble import HostCall, Launch
from twofold.compiler.executable import Executable
from twofold.compiler.expr import is_float, walk
from twofold.compiler.spec import KernelSpec, Reduce, roots_of
from twofold.ir.graph import Node, Value, input_types
from twofold.ir.types import TensorType, scalar_type
from twofold.runtime.codegen import assembly
from twofold.runtime.target import Target

NO_OPERATION = frozenset(("load", "const", "iota", "acc", "within", "check_index"))
"""Expressions that address, select or hold; everything else is counted as one operation."""
COMPARED = frozenset(
    ("where", "lt", "le", "eq", "ne", "gt", "ge", "and", "or", "xor", "not", "cast", "isnan", "isinf", "isfinite", "signbit")
)
"""Operations that are counted, not as floating-point ones."""


@dataclass(frozen=True)
class KernelInfo:
    """One kernel of a program.

    nodes, lines:  the graph's nodes it computes, and the user's lines
    listing:       what it computes (its spec, or its template), with those lines; `schedule`: how
    llvm:          the LLVM text of this kernel alone, before LLVM's passes; `assembly()` is its machine code as text
    chunks:        calls of its code in one run, over all its launches; threads share them
    bytes:         bytes_read + bytes_written: elements it touches, each counted once
    kinds:         scalar operations of one run by kind ("add": 1024, …); a reduction's combinations under its name
    flops:         those of them that are floating-point arithmetic; a function such as exp counts as one
    """

    name: str
    nodes: tuple[str, ...]
    lines: tuple[str, ...]
    listing: str
    schedule: str
    chunks: int
    bytes_read: int
    bytes_written: int
    kinds: dict[str, int]
    flops: int
    llvm: str = field(repr=False)
    target: Target = field(repr=False)

    @property
    def bytes(self) -> int:
        return self.bytes_read + self.bytes_written

    @property
    def operations(self) -> int:
        """Scalar operations of one run."""
        return sum(self.kinds.values())

    def assembly(self) -> str:
        """The machine code of this kernel alone, as assembly text; it is made anew."""
        return assembly(self.llvm, self.target, name=self.name, level=1)


def kernels_of(executable: Executable) -> tuple[KernelInfo, ...]:
    """The kernels of a program in the order in which they run."""
    module = ModuleText(executable.assembly.text)
    nodes = {v.name: n for n in executable.assembly.graph.walk() for v in n.outputs}
    return tuple(_info(x, module, nodes, executable.target) for x in executable.assembly.launches)


def _info(x: Launch, module: ModuleText, nodes: dict[str, Node], target: Target) -> KernelInfo:
    symbols = [s for s, _ in x.code.launches] if x.code is not None else []
    chunks = sum(n for _, n in x.code.launches) if x.code is not None else 0
    own = [nodes[n] for n in x.nodes if n in nodes]
    if x.spec is not None:
        read, written = spec_traffic(x.spec)
        kinds, flops = spec_operations(x.spec)
    else:
        read, written, flops = nodes_traffic(own, x.template.inputs, x.template.outputs)
        kinds = {n.op.name: node_flops(n) for n in own}
    listing = x.spec.listing() if x.spec is not None else "\n".join([*(f"# {line}" for line in lines_of(own)), str(x.template)])
    lines = launch_lines(x) or lines_of(own)
    return KernelInfo(
        x.name, x.nodes, lines, listing, str(x.schedule or ""), chunks, read, written, kinds, flops, module.alone(symbols), target
    )


def launch_lines(x: Launch) -> tuple[str, ...]:
    """The user's lines that a kernel comes from, each once."""
    sources = x.spec.sources if x.spec is not None else ()
    return tuple(dict.fromkeys(f"{s.location}: {s.text}" for s in sources if s.location))


def lines_of(nodes: Any) -> tuple[str, ...]:
    """The user's lines of nodes, each once."""
    return tuple(dict.fromkeys(f"{n.source.location}: {n.source.text}" for n in nodes if n.source is not None and n.source.location))


# --- memory traffic and operations


def spec_traffic(spec: KernelSpec) -> tuple[int, int]:
    """Bytes that a kernel reads and writes if each element it touches moves once: no more than a buffer has, nor than are accessed."""
    accessed: Counter[str] = Counter()
    for e in spec.loads():
        accessed[e.attr[0]] += math.prod(spec.sizes[d] for d in e.dims)
    stored: Counter[str] = Counter()
    for s in spec.stores:
        stored[s.buffer] += math.prod(spec.sizes[d] for d in s.dims)
        if s.mode != "set":
            accessed[s.buffer] += math.prod(spec.sizes[d] for d in s.dims)
    buffers = spec.buffers.values()
    read = sum(min(b.numel, accessed[b.name]) * b.dtype.itemsize for b in buffers)
    return read, sum(min(b.numel, stored[b.name]) * b.dtype.itemsize for b in buffers)


def spec_operations(spec: KernelSpec) -> tuple[dict[str, int], int]:
    """Scalar operations of one run by kind, each expression of a stage once at each position of the dimensions it varies along; and how
    many of them are floating-point arithmetic."""
    kinds: Counter[str] = Counter()
    flops = 0
    for s in spec.stages:
        for e in walk(*roots_of(s)):
            if e.op in NO_OPERATION:
                continue
            count = math.prod(spec.sizes[d] for d in e.dims)
            kinds[e.op] += count
            if is_float(e.type) and e.op not in COMPARED:
                flops += count
        combines = s.op if isinstance(s, Reduce) else s.mode if s.mode != "set" else ""
        if combines:
            count = math.prod(spec.sizes[d] for d in s.dims)
            kinds[combines] += count
            floats = is_float(s.value.type)
            flops += count if floats else 0
    return dict(kinds), flops


def node_flops(node: Node) -> int:
    """Floating-point operations of a node by its record; one an element where the record does not say, none for integers and views."""
    types = tuple(v.type for v in node.outputs)
    floats = [t.numel for t in types if isinstance(t, TensorType) and t.dtype.is_floating_point]
    if node.op.is_view or not floats:
        return 0
    if node.op.flops is None:
        return sum(floats) if node.op.cost != "free" else 0
    return int(node.op.flops(input_types(node.inputs, scalar_type), types, node.attributes))


def nodes_traffic(nodes: Any, inputs: Any, outputs: Any) -> tuple[int, int, int]:
    """Bytes read and written, and operations, of nodes that run as one step."""
    return _nbytes(inputs), _nbytes(outputs), sum(map(node_flops, nodes))


def host_traffic(call: HostCall) -> tuple[int, int, int]:
    """Bytes read and written, and operations, of a host step."""
    own = {v for n in call.views for v in n.outputs}
    operands = [v for n in (*call.views, call.node) for v in n.operands() if v not in own]
    return nodes_traffic([call.node], dict.fromkeys(operands), call.node.outputs)


def _nbytes(values: Any) -> int:
    return sum(v.type.nbytes for v in values if type(v) is Value and isinstance(v.type, TensorType))


# --- code


class ModuleText:
    """The text of an LLVM module, by function."""

    def __init__(self, text: str) -> None:
        self.functions: dict[str, str] = {}
        self.declarations: dict[str, str] = {}
        self.globals: dict[str, str] = {}
        for found in re.finditer(r"^define [^\n]*?@([\w.$-]+)\(.*?^\}", text, re.MULTILINE | re.DOTALL):
            self.functions[found[1]] = found[0]
        for found in re.finditer(r"^declare [^\n]*?@([\w.$-]+)\([^\n]*", text, re.MULTILINE):
            self.declarations[found[1]] = found[0]
        for found in re.finditer(r"^([@!#$][\w.$-]+) = [^\n]*", text, re.MULTILINE):
            self.globals[found[1]] = found[0]

    def alone(self, names: list[str]) -> str:
        """A module of these functions with what they use."""
        used: dict[str, None] = {}
        todo = [self.functions[n] for n in names]
        while todo:
            for name in re.findall(r"([@!#][\w.$-]+)", todo.pop()):
                if name in used:
                    continue
                used[name] = None
                text = self.functions.get(name[1:]) if name[0] == "@" else None
                text = text or self.globals.get(name) or (self.declarations.get(name[1:]) if name[0] == "@" else None)
                if text is not None:
                    todo.append(text)
        functions = dict.fromkeys([*names, *(n[1:] for n in used if n[0] == "@" and n[1:] in self.functions)])
        parts = [text for name, text in self.globals.items() if name in used]
        parts += [text for name, text in self.declarations.items() if "@" + name in used]
        return "\n".join([*parts, *(self.functions[n] for n in functions)]) + "\n"
