"""GraphModule: a recorded graph as a module that is called like the function it came from."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from twofold.capture.code import graph_code
from twofold.capture.freeze import refuse_unfreezable, with_constants
from twofold.ir.dims import Dim
from twofold.ir.graph import Graph, Value
from twofold.ir.mode import RECORDER, grad_mode
from twofold.ir.op import get_op
from twofold.ir.printer import print_graph
from twofold.ir.tabular import format_tabular
from twofold.ir.types import TensorType
from twofold.nn.module import Module
from twofold.ops.views import see
from twofold.support.errors import ArgumentError, GuardError, UnsupportedError
from twofold.support.pytree import TreeSpec, tree_flatten, tree_unflatten
from twofold.tape.versions import root_of
from twofold.tensors.alias import alias_of, base_of, keep_layout, overlaps
from twofold.tensors.core import Symbol, Tensor, memory, wrap, wrap_typed
from twofold.tensors.dispatch import dispatch, logical_order
from twofold.tensors.functions import GENERATED
from twofold.tensors.inplace import inplace
from twofold.tensors.interpret import TensorInterpreter


@dataclass(frozen=True)
class InputSpec:
    """How the tensor of a graph input is found: argument leaf `leaf`, or the binding `path`; `whole`: the base it is a view of;
    `reordered`: its memory is put into C order, as the function itself does by viewing it.
    """

    value: Value
    leaf: int | None
    path: str | None
    whole: bool
    reordered: bool = False


@dataclass(frozen=True)
class Watched:
    """A tensor that a call is checked for: argument leaf `leaf`, or the binding `path`. Several may enter the graph through one input,
    their base.
    """

    leaf: int | None
    path: str | None
    name: str
    type: TensorType


def find(spec: InputSpec | Watched, leaves: Sequence[Any], bindings: Mapping[str, Tensor]) -> Any:
    """What the spec stands for among the leaves of the arguments and the closed-over tensors."""
    if spec.leaf is not None:
        return leaves[spec.leaf]
    assert spec.path is not None
    return bindings[spec.path]


@dataclass(frozen=True)
class WriteBack:
    """An input that the program wrote: graph output `output` is stored in it, with a gradient if `tracked`."""

    input: int
    output: int
    tracked: bool


@dataclass(frozen=True)
class Alias:
    """A result that shares memory: the views `chain` of input number `input`, or of the fresh base that is graph output `base`.
    `family_chain` and `family` (a graph output) are set where the program cut its history there with detach.
    """

    input: int | None
    base: int | None
    chain: tuple[Any, ...]
    family_chain: tuple[Any, ...] = ()
    family: int | None = None
    nograd: bool = False


@dataclass(frozen=True)
class Result:
    """One leaf of what the function returned: graph output `output`, or the constant `value`; `alias` where it shares memory."""

    output: int | None
    value: Any = None
    alias: Alias | None = None


@dataclass(frozen=True)
class Layout:
    """What surrounds a graph: how arguments become inputs, and outputs become results."""

    in_spec: TreeSpec
    constants: dict[int, Any]
    inputs: tuple[InputSpec, ...]
    results: tuple[Result, ...]
    out_spec: TreeSpec
    write_backs: tuple[WriteBack, ...]
    watched: tuple[Watched, ...]
    signature: tuple[Any, ...]
    positional: tuple[str, ...] = ()


def _compiler(kind: str) -> Callable[..., Any]:
    def load(*args: Any, **options: Any) -> Any:
        program = import_module("twofold.capture.program")
        return getattr(program, f"compile_{kind}")(*args, **options)

    return load


COMPILERS: dict[str, Callable[..., Any]] = {kind: _compiler(kind) for kind in ("module", "joint")}
"""What `compile` calls: the compiler is loaded when it is first used, since `import twofold` must stay fast."""


class GraphModule(Module):
    """A static graph with its bindings; callable like the function or module it was recorded from.

    `graph`: the `ir.Graph`.  `bindings`: path → tensor, closed over by reference.  `code`: the graph as Python text.  `forward` is the
    call itself.
    """

    def __init__(self, graph: Graph, layout: Layout, bindings: Mapping[str, Tensor], name: str, notes: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.graph = graph
        self.layout = layout
        self.bindings = dict(bindings)
        self.name = name
        self.notes = notes
        for path, t in self.bindings.items():
            self._register_binding(path, t)
        self._interpreter: TensorInterpreter | None = None

    def _register_binding(self, path: str, t: Tensor) -> None:
        """Parameters and buffers of the traced module appear under their own keys in `state_dict`."""
        owner: Module = self
        *parents, last = path.split(".")
        for part in parents:
            child = owner._modules.get(part)
            if child is None:
                child = Module()
                owner._modules[part] = child
            owner = child
        if t._is_param:
            owner._parameters[last] = t
        elif path != "generator.state":
            owner._buffers[last] = t

    @property
    def code(self) -> str:
        """The graph as the text of a Python function."""
        return graph_code(self.graph)

    def compile(self, **options: Any) -> Any:
        """A `Program`: the graph as native code, called like this module.

        strict_math: bool, memory_limit: bytes, target: a CPU's name, verify: bool; see `compiler.options.CompileOptions`. Raises
        UnsupportedError for graphs with symbolic sizes, OutOfMemory where the temporaries exceed memory_limit, ArgumentError for an unknown
        option.
        """
        return COMPILERS["module"](self, **options)

    def operation(self, name: str) -> Callable[..., Any]:
        """The function of an operation, also of those without a public name; `code` uses it."""
        return GENERATED[get_op(name).name]

    def constant(self, name: str) -> Tensor:
        """The constant of this name in the graph; `code` uses it."""
        for node in self.graph.walk():
            if node.op.name == "constant" and node.outputs[0].name == name:
                return wrap(node.attributes["value"].array)
        raise ArgumentError(f"the graph {self.name} has no constant {name!r}")

    def print_tabular(self) -> None:
        """Print the graph as a table: opcode, name, target, args, kwargs."""
        print(format_tabular(self.graph))

    def __repr__(self) -> str:
        return f"GraphModule({self.name})\n{print_graph(self.graph)}"

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph on tensors. Raises GuardError for arguments it was not recorded for."""
        leaves = self.leaves_of(args, kwargs)
        tensors = self.match(leaves)
        recorder = RECORDER.get() or next((t._recorder for t in leaves if isinstance(t, Symbol)), None)
        if recorder is not None:
            sizes = check_symbols(self.name, self.layout, leaves, self.bindings, recorder)
            reorder(self.name, self.layout, tensors, recorder)
            outputs = TensorInterpreter(self.graph).run(*tensors)  # writes the graph's nodes into the one being recorded
        else:
            sizes = check_signature(self.name, self.layout, leaves, self.bindings)
            reorder(self.name, self.layout, tensors, None)
            outputs = self.run_graph(tensors)
        return self.results(tensors, outputs, sizes)

    def freeze(self) -> GraphModule:
        """A module of the same graph in which parameters and buffers are constants, so that passes may fold and pack them.

        It takes the same arguments and has no `bindings`. The constants are read-only copies: later updates of the parameters are not seen,
        and no gradient flows to them. Raises UnsupportedError for a graph that writes a binding (batch normalisation in training mode),
        draws random numbers, or returns a binding's memory; GuardError for a binding whose type has changed since the graph was recorded.
        """
        refuse_unfreezable(self.name, self.layout)
        inputs = self.layout.inputs
        arrays = {}
        for v, i in zip(self.graph.inputs, inputs, strict=True):
            if i.path is not None:
                t = self.bindings[i.path]
                arrays[v] = memory(base_of(t) if i.whole else t)
        kept = [k for k, i in enumerate(inputs) if i.path is None]
        number = {old: new for new, old in enumerate(kept)}
        graph = with_constants(self.graph, arrays)
        watched = tuple(w for w in self.layout.watched if w.path is None)  # arguments come first
        layout = replace(
            self.layout,
            inputs=tuple(replace(inputs[k], value=v) for k, v in zip(kept, graph.inputs, strict=True)),
            results=tuple(
                r if r.alias is None or r.alias.input is None else replace(r, alias=replace(r.alias, input=number[r.alias.input]))
                for r in self.layout.results
            ),
            write_backs=tuple(replace(w, input=number[w.input]) for w in self.layout.write_backs),
            watched=watched,
            signature=self.layout.signature[: len(watched)],
        )
        result = GraphModule(graph, layout, {}, self.name, self.notes)
        result.train(self.training)
        return result

    def leaves_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The leaves of a call's arguments in the recorded order. What was recorded by position may be given by name."""
        names = self.layout.positional
        while kwargs and len(args) < len(names) and names[len(args)] in kwargs:
            name = names[len(args)]
            args, kwargs = (*args, kwargs[name]), {k: v for k, v in kwargs.items() if k != name}
        spec = tree_flatten((args, kwargs))[1]
        if spec != self.layout.in_spec:
            raise GuardError(f"{self.name}: the graph was recorded for arguments {self.layout.in_spec}, this call has {spec}")
        return self.layout.in_spec.flatten_up_to((args, kwargs))

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        """A module of the same graph with bindings of its own."""
        result = GraphModule(self.graph, self.layout, copy.deepcopy(self.bindings, memo), self.name, self.notes)
        result.train(self.training)
        memo[id(self)] = result
        return result

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise UnsupportedError(
            "a GraphModule cannot be pickled, and saving graphs does not exist yet: keep str(module.graph), its text, and the state dict"
        )

    def match(self, leaves: list[Any]) -> list[Tensor]:
        """The tensor of each graph input; constants among the arguments must be the recorded ones."""
        for i, recorded in self.layout.constants.items():
            if leaves[i] is not recorded and not _equal(leaves[i], recorded):
                raise GuardError(
                    f"{self.name}: argument leaf {i} was {recorded!r} when the graph was recorded and is {leaves[i]!r} now; trace again"
                )
        result = []
        for spec in self.layout.inputs:
            t = find(spec, leaves, self.bindings)
            if not isinstance(t, Tensor):
                raise GuardError(f"{self.name}: {spec.value.name} must be a tensor, not {type(t).__name__}")
            result.append(whole_of(t) if spec.whole else t)
        return result

    def run_graph(self, tensors: list[Tensor]) -> tuple[Any, ...]:
        """Interpret the graph. Inputs that will be written enter as copies, so that write-back leaves saved values intact."""
        if self._interpreter is None:
            self._interpreter = TensorInterpreter(self.graph)
        written = {w.input for w in self.layout.write_backs}
        given = [wrap_typed(np.array(memory(t)), t._type, t._node) if k in written else t for k, t in enumerate(tensors)]
        return self._interpreter.run(*given)

    def results(self, tensors: list[Tensor], outputs: tuple[Any, ...], sizes: Mapping[str, Any]) -> Any:
        """Write back what was written, then rebuild the returned structure with its sharing of memory. `sizes`: those of symbolic
        dimensions.
        """
        for w in self.layout.write_backs:
            with grad_mode(w.tracked):
                inplace("copy", tensors[w.input], outputs[w.output])
        made: dict[Any, Tensor] = {}
        leaves = [self.result(r, tensors, outputs, made, sizes) for r in self.layout.results]
        return tree_unflatten(leaves, self.layout.out_spec)

    def result(self, r: Result, tensors: list[Tensor], outputs: tuple[Any, ...], made: dict[Any, Tensor], sizes: Mapping[str, Any]) -> Any:
        """One returned leaf."""
        if r.output is None:
            return r.value
        if r.alias is None:
            return outputs[r.output]
        a = r.alias
        if a.input is not None:
            top = tensors[a.input]
        else:
            assert a.base is not None
            if a.base not in made:
                made[a.base] = contiguous_base(outputs[a.base])
            top = made[a.base]
        if a.family is not None:
            key = ("family", a.family)
            if key not in made:
                made[key] = family_of(top, outputs[a.family], a.family_chain)
            top = made[key]
        with grad_mode(not a.nograd):
            for name, pairs in evaluated_chain(a.chain, sizes):
                attributes = dict(pairs)
                which = attributes.pop("", None)
                shown = dispatch(get_op(name), (top,), attributes)
                top = shown if which is None else shown[which]
        return top


def whole_of(t: Tensor) -> Tensor:
    """The base of the family a tensor belongs to."""
    return t._recorder.new_symbol(t._family) if isinstance(t, Symbol) else base_of(t)


def contiguous_base(source: Tensor) -> Tensor:
    """A result as the base of views that assume the logical layout."""
    return source if isinstance(source, Symbol) else wrap_typed(np.array(memory(source), order="C", copy=None), source._type, source._node)


def family_of(top: Tensor, history: Tensor, chain: tuple[Any, ...]) -> Tensor:
    """What the chain shows of the memory of `top`, with the history of another result (the program cut it there with detach)."""
    if isinstance(top, Symbol):
        return top._recorder.new_family(top, history, chain)
    made = wrap_typed(see(chain, memory(top)), history._type, history._node)
    keep_layout(top)
    keep_layout(made)
    return made


def reorder(name: str, layout: Layout, tensors: list[Tensor], recorder: Any) -> None:
    """Put the memory of inputs into C order where the recorded function did."""
    for i, t in zip(layout.inputs, tensors, strict=True):
        if not i.reordered:
            continue
        if recorder is not None:
            done = recorder.reorder(t)
        else:
            done = logical_order(t, memory(t)).flags.c_contiguous
        if not done:
            raise GuardError(
                f"{name}: the memory of {i.value.name} is not in C order, and something else shares it; trace again or pass contiguous()"
            )


def _equal(a: Any, b: Any) -> bool:
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:  # a user's own __eq__
        return False


def evaluated_chain(chain: tuple[Any, ...], sizes: Mapping[str, Any]) -> tuple[Any, ...]:
    """A chain of views with the sizes of this call."""
    return tuple((name, tuple((k, with_sizes(v, sizes)) for k, v in pairs)) for name, pairs in chain) if sizes else chain


def with_sizes(value: Any, sizes: Mapping[str, Any]) -> Any:
    """An attribute with its symbolic dimensions replaced."""
    if isinstance(value, Dim):
        return value.substitute(sizes)
    return tuple(with_sizes(v, sizes) for v in value) if type(value) is tuple else value


def signature_of(tensors: list[Tensor]) -> tuple[Any, ...]:
    """What a recorded graph depends on: who requires grad, who is a leaf, who shares memory with whom and how."""
    ids = [id(t) for t in tensors]
    roots = [id(root_of(memory(t))) if t._array is not None else k for k, t in enumerate(tensors)]
    bases = [id(base_of(t)) for t in tensors]
    result = []
    for t, r, b in zip(tensors, roots, bases, strict=True):
        alias = alias_of(t)
        base = base_of(t)
        chain = alias.chain if alias is not None and alias.base is not None else None
        shared = len({i for i, q in zip(ids, roots, strict=True) if q == r}) > 1
        array = None if t._array is None else memory(t)
        result.append(
            (
                t._node is None,
                base._node is None,
                base._node is not None and base._node.is_accumulate,
                ids.index(id(t)),
                roots.index(r),
                bases.index(b),
                chain if shared else None,
                chain if array is not None and overlaps(array) else None,
                array.strides if array is not None and not array.flags.c_contiguous else None,
            )
        )
    return tuple(result)


def check_signature(name: str, layout: Layout, leaves: list[Any], bindings: Mapping[str, Tensor]) -> dict[str, Any]:
    """Raise GuardError naming what differs from the recording: shape, dtype, sharing of memory, gradients. Returns this call's symbolic
    sizes.
    """
    tensors = watched_tensors(layout, leaves, bindings)
    sizes = check_types(name, layout, tensors)
    compare_signatures(name, layout, signature_of(tensors), recorded=False)
    return sizes


def check_symbols(name: str, layout: Layout, leaves: list[Any], bindings: Mapping[str, Tensor], recorder: Any) -> dict[str, Any]:
    """`check_signature` for a call that is recorded. Gradients matter only to a graph that writes its inputs."""
    tensors = watched_tensors(layout, leaves, bindings)
    if layout.write_backs:
        recorder.group_inputs(tensors)
    sizes = check_types(name, layout, tensors)
    compare_signatures(name, layout, recorder.signature_of(tensors), recorded=True)
    return sizes


def watched_tensors(layout: Layout, leaves: list[Any], bindings: Mapping[str, Tensor]) -> list[Tensor]:
    """The tensors of a call that are checked."""
    return [find(w, leaves, bindings) for w in layout.watched]


def check_types(name: str, layout: Layout, tensors: list[Tensor]) -> dict[str, Any]:
    """Shapes and dtypes of what a call is given, and of the bases that enter in its place; returns the symbolic sizes."""
    sizes: dict[str, int] = {}
    wholes = {(i.leaf, i.path): i.value.type for i in layout.inputs if i.whole}
    for w, t in zip(layout.watched, tensors, strict=True):
        label = f"{'argument' if w.path is None else 'binding'} {w.name}"
        check_type(name, label, t._type, w.type, sizes)
        base = wholes.get((w.leaf, w.path))
        if base is not None:
            check_type(name, f"the base of {label}", whole_of(t)._type, base, sizes)  # type: ignore[arg-type]
    return sizes


def compare_signatures(name: str, layout: Layout, now: tuple[Any, ...], recorded: bool) -> None:
    """Raise GuardError for the first tensor that is not as it was. Who shares memory with whom matters only if the graph writes some of
    it.
    """
    written = bool(layout.write_backs)
    for k, (w, was, got) in enumerate(zip(layout.watched, layout.signature, now, strict=True)):
        what = ""
        if was[:3] != got[:3] and (written or not recorded):
            what = f"requires_grad was {not was[0]} and is {not got[0]}" if was[0] != got[0] else "whether it is a leaf differs"
        elif was[3:7] != got[3:7] if written else was[3] not in (k, got[3]):
            what = "it shares memory with another input in another way"
        elif was[7] != got[7]:
            what = "its elements share memory in another way"
        elif was[8] != got[8] and not recorded:
            what = "its memory layout (strides) differs"
        if what:
            label = f"{'argument' if w.path is None else 'binding'} {w.name}"
            raise GuardError(f"{name}: {label}: {what} from when the graph was recorded; trace again for such inputs")


def check_type(name: str, label: str, got: TensorType, want: TensorType, symbols: dict[str, int]) -> None:
    """Raise GuardError where a tensor's type is not the recorded one; symbolic dimensions take any size, the same for the same symbol."""
    if got is want:
        return
    if got.dtype is not want.dtype:
        raise GuardError(f"{name}: {label} was recorded as {want}, this one is {got}")
    if got.ndim != want.ndim:
        raise GuardError(f"{name}: {label} was recorded with {want.ndim} dimension(s) ({want}), this one has {got.ndim} ({got})")
    for k, (g, w) in enumerate(zip(got.shape, want.shape, strict=True)):
        if isinstance(w, Dim):
            if w.is_symbol and symbols.setdefault(w.name, g) != g:
                raise GuardError(f"{name}: {label}, dimension {k}: {w} is {g} here and {symbols[w.name]} elsewhere")
            lo, hi = w.bounds
            if w.is_symbol and ((lo is not None and g < lo) or (hi is not None and g > hi)):
                raise GuardError(f"{name}: {label}, dimension {k}: {g} is outside the bounds of {w} ({lo} to {hi})")
        elif g != w:
            raise GuardError(
                f"{name}: {label}, dimension {k} was {w} when the graph was recorded and is {g} now; pass dynamic_shapes= to allow it"
            )
