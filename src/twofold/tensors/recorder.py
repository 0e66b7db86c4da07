"""Recording: operations on symbols become nodes of a static graph, with views and in-place writes made functional.

A symbol is a window (a chain of views) on a *family*: the part of a storage that one gradient history describes, with its present SSA
value. A write through a view makes a new value of the family (`view_scatter`); every other family of the storage gets the new data and
keeps its history (`set_data`). A view that is stale since a write replays its chain when it is read. Inputs that were written are listed
for write-back.

Under no_grad, operands that carry gradients are read through `detach`, so a graph needs no gradient mode of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from twofold.ir.builder import Builder
from twofold.ir.dtypes import FLOAT
from twofold.ir.graph import Graph, Region, Source, Value, input_types
from twofold.ir.mode import GRAD, RECORDER, grad_mode, special
from twofold.ir.op import NOT_DIFFERENTIABLE, Joint, Op, get_op
from twofold.ir.run import run_record
from twofold.ir.types import TensorType, scalar_type
from twofold.ops.views import chain_type, see
from twofold.support.errors import ArgumentError, GraphError, InplaceError, TraceError, UnsupportedError, describe_site
from twofold.tape.versions import root_of
from twofold.tensors.alias import alias_of, base_of, make_step, overlaps
from twofold.tensors.core import Symbol, Tensor, memory
from twofold.tensors.dispatch import layout_is_free, operand
from twofold.tensors.inplace import check_result, check_write
from twofold.tensors.sites import source_here

Chain = tuple[Any, ...]


class Regroup(BaseException):
    """A recorded call found that inputs which entered one by one share memory that it writes: the recording must begin again with them
    grouped. No `Exception`, so that the user's own handlers let it through.
    """

    def __init__(self, recorder: Recorder, roots: set[int]) -> None:
        super().__init__()
        self.recorder, self.roots = recorder, roots


class Storage:
    """Memory that several families may share. `source`: (tensor, whether its base is meant) for inputs; `reordered`: it was put into C
    order for a view.
    """

    __slots__ = ("families", "gradwrite", "reordered", "source", "written")

    def __init__(self) -> None:
        self.families: list[Family] = []
        self.source: tuple[Tensor, bool] | None = None
        self.written = self.gradwrite = self.reordered = False


ORDERED_VIEWS = frozenset(("alias", "detach", "squeeze", "unsqueeze", "view"))
"""Views of memory in C order that lie in C order whatever the sizes."""


class Family:
    """See the module's text. `root_chain`: where it lies in the storage's first family; `leaf`: its base is a leaf that requires grad;
    `loose`: eager would put its memory into C order for a view (`dispatch.logical_order`), since nothing else knows it yet.
    """

    __slots__ = ("_layout", "base_grad", "leaf", "loose", "root_chain", "storage", "value", "version")

    def __init__(
        self, storage: Storage, value: Value, root_chain: Chain = (), layout: Any = None, leaf: bool = False, base_grad: bool = False
    ) -> None:
        self.storage, self.value, self.root_chain, self._layout = storage, value, root_chain, layout
        self.leaf, self.base_grad, self.version, self.loose = leaf, base_grad, 0, False
        storage.families.append(self)

    @property
    def layout(self) -> Any:
        """An array with the strides this memory has in eager: views are checked against it. Results are contiguous."""
        if self._layout is None:
            t = self.value.type
            assert isinstance(t, TensorType)
            self._layout = np.empty(tuple(example_size(n) for n in t.shape), np.int8)
        return self._layout


def example_size(n: Any) -> int:
    """A dimension's size, or the example's where it is symbolic."""
    if type(n) is int:
        return n
    hint = n.hint
    return 2 if hint is None else int(hint)


def overlapping(family: Family, chain: Chain) -> bool:
    """True if elements of what the chain shows share memory."""
    t = family.value.type
    if isinstance(t, TensorType) and t.is_static:
        return (family._layout is not None or bool(chain)) and overlaps(see(chain, family.layout))
    return any(name in ("expand", "as_strided", "unfold") for name, _ in chain)


class Recorder:
    """Writes one graph. `name_of` gives the path of a closed-over tensor; `ways_out` is what a refusal proposes."""

    def __init__(self, graph: Graph, name_of: Callable[[Tensor], str] | None = None, specialize: bool = False) -> None:
        self.graph = graph
        self.builder = Builder(graph)
        self.name_of = name_of
        self.specialize = specialize
        self.module_path = ""
        self.module_paths: dict[int, str] = {}
        self.closed = False
        self.borrowed: set[Storage] = set()
        """Storages of the operands of open cond and while_loop bodies: tensors of the outside, which a body must not write."""
        self.source: Source | None = None
        """Where set, the source of every node written (those of a graph that is written again keep theirs)."""
        self.tracks: dict[Value, bool] = {}
        self.symbols: dict[int, Symbol] = {}
        self.lifted: list[Tensor] = []
        self.inputs: list[tuple[Value, Storage]] = []
        self.roots: dict[int, list[Tensor]] = {}
        self.detached: dict[Value, Value] = {}
        self.examples: dict[Value, Any] = {}
        self.specialized: list[str] = []
        self.grouped: set[int] = set()
        self.open_bodies: list[tuple[Region, int]] = []
        self.on_input: Callable[[Value, Storage], None] | None = None

    def path_of(self, module: Any) -> str:
        """The path of an nn.Module that runs, for the nodes' sources."""
        return self.module_paths.get(id(module), self.module_path)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Send operations to this recorder for the block."""
        with special(RECORDER, self):
            yield

    # ---- inputs ------------------------------------------------------------------------------------------------------------

    def new_symbol(self, family: Family, chain: Chain = (), nograd: bool = False) -> Symbol:
        s = Symbol()
        s._array = s._node = s._seen = None
        s._recorder, s._family, s._chain, s._nograd = self, family, chain, nograd
        t = family.value.type
        s._type = chain_type(t, chain) if chain else t  # type: ignore[arg-type, assignment]
        return s

    def placeholder(self, name: str, type: TensorType, requires_grad: bool = False) -> Symbol:
        """A symbol for an input that has no tensor yet (define-then-run)."""
        value = self.builder.input(type, name)
        self.tracks[value] = requires_grad
        storage = Storage()
        self.inputs.append((value, storage))
        return self.new_symbol(Family(storage, value, leaf=requires_grad, base_grad=requires_grad))

    def enter(self, t: Tensor, whole: bool, name: str, binding: bool, type: TensorType | None = None) -> Symbol:
        """Make an input of a tensor (or, `whole`, of the base it is a view of)."""
        b = base_of(t)
        entered = b if whole else t
        kind = type or entered._type
        value = self.builder.binding(kind, name) if binding else self.builder.input(kind, name)
        self.tracks[value] = entered._node is not None
        storage = Storage()
        storage.source = (t, whole)
        layout = None if entered._array is None else memory(entered)
        if layout is not None and layout.flags.c_contiguous:
            layout = None
        if self.on_input is not None:
            self.on_input(value, storage)
        family = Family(storage, value, (), layout, b._node is not None and b._node.is_accumulate, b._node is not None)
        family.loose = layout is not None and layout_is_free(entered)
        self.inputs.append((value, storage))
        alias = alias_of(t)
        return self.new_symbol(family, (), not whole and t is not b and alias is not None and alias.nograd)

    def admit(self, t: Tensor, name: str, binding: bool, type: TensorType | None = None) -> None:
        """An input by itself; a view that overlaps itself comes in through its base."""
        b = base_of(t)
        if b is t or t._array is None or not overlaps(memory(t)) or t._alias.nograd:
            self.symbols[id(t)] = self.enter(t, False, name, binding, type)
            return
        family = self.enter(t, True, name, binding)._family
        self.symbols[id(t)] = self.new_symbol(family, t._alias.chain)

    def declare(self, tensors: list[tuple[Tensor, str, bool, TensorType | None]], grouped: set[int]) -> None:
        """The inputs: (tensor, name, is a binding, type). Roots in `grouped` are written and shared: their base becomes the input."""
        self.grouped = grouped
        for t, *_ in tensors:
            self.lifted.append(t)
            if t._array is not None:
                self.roots.setdefault(id(root_of(memory(t))), []).append(t)
        done: set[int] = set()
        for t, name, binding, type in tensors:
            if id(t) in self.symbols:
                continue
            r = id(root_of(memory(t))) if t._array is not None else 0
            if r in grouped:
                if r not in done:
                    done.add(r)
                    self.enter_group(self.roots[r], name, binding)
                continue
            self.admit(t, name, binding, type)

    def enter_group(self, tensors: list[Tensor], name: str, binding: bool) -> None:
        """Inputs that share memory, one of them written: one base as the input, the tensors are views of it."""
        b = base_of(tensors[0])
        reason = ""
        if overlaps(memory(b)):
            reason = "an input whose elements share memory (it was expanded) is written"
        elif len({id(base_of(t)) for t in tensors}) > 1:
            reason = "inputs share memory through detach() or NumPy, and one of them is written"
        elif any((a := alias_of(t)) is not None and a.nograd for t in tensors):
            reason = "a view made under no_grad is among inputs that share memory, and one of them is written"
        if reason:
            raise InplaceError(f"{reason}: such a call cannot be recorded; run it eagerly, or clone() one of them first", "input_alias")
        family = self.enter(tensors[0], True, name, binding)._family
        for t in tensors:
            self.symbols[id(t)] = self.new_symbol(family, t._alias.chain if t is not b else ())

    def lift(self, t: Tensor) -> Symbol:
        """The symbol of a concrete tensor: an argument, or a closed-over tensor, which becomes a binding by reference."""
        if isinstance(t, Symbol):
            if t._recorder is not self:
                self.foreign_symbol("operation", t)
            return t
        found = self.symbols.get(id(t))
        if found is None:
            if t._array is None:
                raise UnsupportedError("a tensor on the meta device has no data and cannot be closed over by a recorded function")
            self.lifted.append(t)
            self.roots.setdefault(id(root_of(memory(t))), []).append(t)
            name = self.name_of(t) if self.name_of is not None else f"tensor_{len(self.lifted)}"
            self.admit(t, name, True)
            found = self.symbols[id(t)]
        return found

    def foreign_symbol(self, where: str, t: Symbol) -> NoReturn:
        """Symbols of two graphs do not mix."""
        other = t._recorder.graph
        raise GraphError(
            f"{where}: symbol {t._family.value.name} ({t._type}) belongs to graph {other.name!r}, not to graph {self.graph.name!r} "
            "which is being recorded; "
            "pass values from one graph to another as inputs"
        )

    def constant(self, array: Any) -> Symbol:
        """A symbol for a literal made while recording."""
        return self.fresh(self.builder.constant(array, source=self.source or source_here(self.module_path)))

    # ---- writing nodes ---------------------------------------------------------------------------------------------------------

    def fresh(self, value: Value) -> Symbol:
        """A symbol for a new result: its own storage."""
        return self.new_symbol(Family(Storage(), value))

    def visible(self, value: Value) -> bool:
        """True if the value can be used where nodes are being written now."""
        region: Region | None = self.builder.region
        home = value.region
        while region is not None:
            if region is home:
                return True
            region = region.parent
        return False

    def emit(self, op: Op, operands: list[Any], attributes: dict[str, Any], typed: bool = False) -> Any:
        """Append a node and note which of its outputs carry gradients. `typed`: it is the call the user wrote, not one that follows from
        it.
        """
        if self.closed:
            raise GraphError(
                f"{op.name}: the recording of graph {self.graph.name!r} has ended; a symbol of it was kept and cannot be used any more. "
                "Return values from the recorded function instead"
            )
        source = self.source or source_here(self.module_path)
        if source is not None and source is not self.source and not typed:
            source.spelling, source.name = "function", ""
        result = self.builder.call(op, operands, attributes, source)
        outs = result if type(result) is tuple else (result,)
        wanted = self.carries(op, operands)
        for v in outs:
            self.tracks[v] = wanted and isinstance(v.type, TensorType) and v.type.dtype.category == FLOAT
        return result

    def carries(self, op: Op, operands: list[Any]) -> bool:
        """True if a gradient flows from the operands through `op`."""
        gradient = op.gradient
        if gradient is NOT_DIFFERENTIABLE or gradient is None:
            return False
        for i, x in enumerate(operands):
            if isinstance(gradient, Joint) or callable(gradient[i]):
                for v in x if type(x) is tuple else (x,):
                    if type(v) is Value and self.tracks.get(v, False):
                        return True
        return False

    def read(self, x: Any) -> Any:
        """The value of an operand now: a Value, a Python number, None, or a tuple."""
        if type(x) is tuple:
            return tuple(self.read(t) for t in x)
        if not isinstance(x, Tensor):
            return x
        s = self.lift(x)
        family = s._family
        seen = s._seen
        if seen is not None and seen[0] == family.version and self.visible(seen[1]):
            value = seen[1]
        else:
            value = self.replay(s)
            if GRAD.get() or not self.tracks.get(family.value, False):
                s._seen = (family.version, value)
        if self.tracks.get(value, False) and (s._nograd or not GRAD.get()):
            return self.detach_value(value)
        return value

    def replay(self, s: Symbol) -> Value:
        """The chain of views applied to the family's present value."""
        value: Value = s._family.value
        with grad_mode(not s._nograd):
            for name, pairs in s._chain:
                attributes = dict(pairs)
                which = attributes.pop("", None)
                out = self.emit(get_op(name), [value], attributes)
                value = out if which is None else out[which]
        return value

    def detach_value(self, value: Value) -> Value:
        found = self.detached.get(value)
        if found is None or not self.visible(found):
            found = self.detached[value] = self.emit(get_op("detach"), [value], {})
        return found

    def call(self, op: Op, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        """Record one operation; returns symbols."""
        if op.name == "detach":
            return self.detach(self.lift(operand(op, op.inputs[0], inputs[0])))
        if op.is_view and not op.name.startswith("view_chain"):
            return self.view(op, self.lift(operand(op, op.inputs[0], inputs[0])), inputs[1:], attributes)
        operands = [self.read(operand(op, p, self.number(x))) for p, x in zip(op.inputs, inputs, strict=True)]
        if op.inputs and not any(type(v) is Value or (type(v) is tuple and v) for v in operands) and op.promotion is not None:
            raise ArgumentError(f"{op.name}(): at least one operand must be a tensor")
        result = self.emit(op, operands, attributes, typed=True)
        return tuple(map(self.fresh, result)) if type(result) is tuple else self.fresh(result)

    def number(self, x: Any) -> Any:
        """A symbolic size as an operand: a symbol with its value; anything else as it is."""
        return self.fresh(self.emit(get_op("sym_size"), [], {"value": x})) if hasattr(x, "is_symbolic_dim") else x

    def view(self, op: Op, s: Symbol, others: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        """A view: no node until it is read. Whether it exists is judged on the eager memory layout."""
        canonical = op.canonical((s._type,), attributes)
        nograd = s._nograd or not GRAD.get()
        several = op.several
        self.check_layout(s, make_step(op.name, canonical))
        with grad_mode(not nograd):
            out = self.emit(op, [self.read(s)], canonical, typed=True)
        made = []
        for k, value in enumerate(out if several else (out,)):
            m = self.new_symbol(s._family, (*s._chain, make_step(op.name, canonical, k if several else None)), nograd)
            m._seen = (s._family.version, value)
            made.append(m)
        return tuple(made) if several else made[0]

    def check_layout(self, s: Symbol, step: Any) -> None:
        """Raise, as eager would, where the memory layout allows no such view."""
        family = s._family
        if step[0] == "view" and s._type.is_static and (family._layout is not None or s._chain):
            if family.loose and not s._chain:
                family._layout = None
                family.storage.reordered = True
            see((*s._chain, step), family.layout)
        family.loose = False

    def lies_in_order(self, s: Symbol) -> bool:
        """Would the elements lie in C order eagerly? With symbolic sizes only views that keep the order are known to."""
        family = s._family
        if family._layout is None and not s._chain:
            return True
        if not s._type.is_static:
            return family._layout is None and all(name in ORDERED_VIEWS for name, _ in s._chain)
        return bool(see(s._chain, family.layout).flags.c_contiguous)

    def reshape(self, s: Symbol, size: tuple[Any, ...]) -> Symbol:
        """A view where the layout allows one, else a copy."""
        try:
            return self.view(get_op("view"), s, (), {"size": size})
        except InplaceError:
            return self.call(get_op("reshape_copy"), (s,), {"size": size})

    def detach(self, s: Symbol) -> Symbol:
        """The same memory under a history of its own."""
        family = s._family
        family.loose = False
        with grad_mode(False):
            value = self.read(s)
            if value is family.value and not self.tracks.get(value, False):
                value = self.emit(get_op("detach"), [value], {})
        layout = see(s._chain, family.layout) if family._layout is not None or s._chain else None
        return self.new_symbol(Family(family.storage, value, family.root_chain + s._chain, layout))

    def new_family(self, top: Symbol, history: Symbol, chain: Chain) -> Symbol:
        """What the chain shows of the memory of `top`, with the history of another symbol."""
        family = top._family
        root_chain = family.root_chain + top._chain + chain
        layout = see(top._chain + chain, family.layout) if family._layout is not None or top._chain or chain else None
        return self.new_symbol(Family(family.storage, self.read(history), root_chain, layout))

    def reorder(self, t: Tensor) -> bool:
        """Put a symbol's memory into C order, as a view would; False if something else shares it."""
        s = self.lift(t)
        family = s._family
        if family._layout is not None and family.loose and not s._chain:
            family._layout, family.loose = None, False
            family.storage.reordered = True
        return family._layout is None

    def group_inputs(self, tensors: list[Tensor]) -> None:
        """Raise Regroup if inputs among the tensors (of a recorded call that writes) share memory and entered one by one."""
        roots: dict[int, Storage] = {}
        for t in tensors:
            storage = self.lift(t)._family.storage
            if storage.source is None or storage.source[0]._array is None:
                continue
            root = id(root_of(memory(storage.source[0])))
            if roots.setdefault(root, storage) is not storage and root not in self.grouped:
                raise Regroup(self, {root})

    def signature_of(self, tensors: list[Tensor]) -> tuple[Any, ...]:
        """What `capture.graph_module.signature_of` tells of concrete tensors, for symbols: gradients, and who shares memory with whom and
        how.
        """
        symbols = [self.lift(t) for t in tensors]
        ids, families = [id(s) for s in symbols], [s._family for s in symbols]
        storages = [f.storage for f in families]
        result = []
        for s, f in zip(symbols, families, strict=True):
            tracked = bool(self.tracks.get(f.value, False))
            shared = len({i for i, q in zip(ids, storages, strict=True) if q is f.storage}) > 1
            result.append(
                (
                    s._nograd or not tracked,
                    not (tracked or f.base_grad),
                    f.leaf,
                    ids.index(id(s)),
                    storages.index(f.storage),
                    families.index(f),
                    s._chain if s._chain and shared else None,
                    s._chain if overlapping(f, s._chain) else None,
                    None,
                )
            )
        return tuple(result)

    # ---- in-place ----------------------------------------------------------------------------------------------------------------

    def inplace(self, op: Op, self_tensor: Tensor, others: tuple[Any, ...], attributes: dict[str, Any]) -> Tensor:
        """Record a write of op(self, *others) into self."""
        x = self.lift(self_tensor)
        family = x._family
        if self.open_bodies and (family.storage in self.borrowed or not self.visible_inside(family)):
            raise UnsupportedError(
                f"{op.name}_: a tensor from outside is written inside a cond or while_loop body; return the new value from the body instead"
            )
        ins = [self.read(operand(op, p, self.number(t))) for p, t in zip(op.inputs[1:], others, strict=True)]
        grad = GRAD.get()
        tracked = grad and (self.tracks.get(family.value, False) or family.base_grad or self.carries(op, [None, *ins]))
        check_write(op.name, overlapping(family, x._chain), tracked, x._nograd, family.leaf and tracked, overlapping(family, ()))
        new = self.emit(op, [self.read(x), *ins], attributes, typed=True)
        if new.type is not x._type:
            check_result(op.name, x._type, new.type)
            new = self.emit(get_op("to"), [new], {"dtype": x._type.dtype})
        self.write(x, new, tracked)
        return self_tensor

    def visible_inside(self, family: Family) -> bool:
        """True if the family was born inside the innermost open body."""
        return family.value.region is self.builder.region

    def write(self, x: Symbol, new: Value, tracked: bool) -> None:
        """Make `new` what the window `x` shows."""
        family, storage = x._family, x._family.storage
        storage.written = True
        storage.gradwrite = storage.gradwrite or (tracked and family is storage.families[0])
        old = family.value
        scatter, set_data = get_op("view_scatter"), get_op("set_data")
        no_history = not GRAD.get() and self.tracks.get(old, False)
        base = self.detach_value(old) if no_history and x._chain else old
        family.value = self.emit(scatter, [base, new], {"chain": x._chain}) if x._chain else new
        if no_history:
            family.value = self.emit(set_data, [old, family.value], {})
        if len(storage.families) > 1:
            top = storage.families[0]
            with grad_mode(False):
                if family is top:
                    data = self.plain(family.value)
                else:
                    data = self.emit(scatter, [self.plain(top.value), self.plain(new)], {"chain": family.root_chain + x._chain})
            for other in storage.families:
                if other is family and not overlapping(family, ()):
                    continue  # a detached expand, written untracked: the write shows in other elements too
                window = self.emit(get_op("view_chain"), [data], {"chain": other.root_chain}) if other.root_chain else data
                other.value = self.emit(set_data, [other.value, window], {}) if self.tracks.get(other.value, False) else window
        for other in storage.families:
            other.version += 1

    def plain(self, value: Value) -> Value:
        return self.detach_value(value) if self.tracks.get(value, False) else value

    # ---- questions ---------------------------------------------------------------------------------------------------------------

    def requires_grad(self, s: Symbol) -> bool:
        """Whether gradients flow to the symbol's value."""
        return not s._nograd and bool(self.tracks.get(s._family.value, False))

    def example(self, s: Symbol) -> Any:
        """The value the symbol has for the example inputs (only while specialising)."""
        return self.evaluate(self.read(s))

    def evaluate(self, wanted: Value) -> Any:
        """Compute a value for the example inputs, node by node, remembering what was computed."""
        stack = [wanted]
        while stack:
            v = stack[-1]
            if v in self.examples:
                stack.pop()
                continue
            if v.node is None or v.node.regions:
                raise TraceError(f"{v.name} has no example value: it is computed inside a cond or while_loop body")
            missing = [u for u in v.node.operands() if u not in self.examples]
            if missing:
                stack.extend(missing)
                continue
            node = v.node
            if node.op.name == "constant":
                self.examples[v] = node.attributes["value"].array
                continue
            arrays = tuple(
                self.examples[x] if type(x) is Value else tuple(self.examples[u] for u in x) if type(x) is tuple else x for x in node.inputs
            )
            types = tuple(o.type for o in node.outputs)
            result = run_record(
                node.op, arrays, input_types(node.inputs, scalar_type), types if node.op.several else types[0], node.attributes
            )
            for o, r in zip(node.outputs, result if node.op.several else (result,), strict=True):
                self.examples[o] = r
        return self.examples[wanted]

    def concrete(self, s: Symbol, what: str) -> Any:
        """Python asks for the symbol's value: the example's while specialising, otherwise a refusal that names the ways out."""
        value = self.read(s)
        place = source_here(self.module_path)
        if self.specialize and not self.open_bodies:
            array = self.evaluate(value)
            where = place.full_location if place is not None else "an unknown place"
            self.specialized.append(f"{where}: {what} of {value.name} ({value.type}) was taken from the example inputs")
            return array
        raise TraceError(self.refusal(value, what))

    def refusal(self, value: Value, what: str) -> str:
        node = value.node
        made = ""
        if node is not None and node.source is not None and node.source.code is not None:
            made = f"\n  {value.name} was made at {describe_site(node.source.code, node.source.instruction)}"
        return (
            f"{what} needs the value of the symbol {value.name} ({value.type}), which is not known while a graph is recorded.{made}\n"
            "Ways out: twofold.where or twofold.cond for a choice, twofold.while_loop for a loop, keep the value a tensor, "
            "or trace(..., specialize=True) to use the example's value and record only the branch it takes"
        )


def is_recording() -> bool:
    """True while operations are recorded into a graph (in this thread or task)."""
    return RECORDER.get() is not None
