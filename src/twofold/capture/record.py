"""`record`: a launch plan, which repeats a whole function on the same memory as one native call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from sys import getrefcount
from typing import Any

import numpy as np

from twofold.capture.calling import TENSORS, counted_programs, refuse_gradients
from twofold.capture.graph_module import GraphModule, find, reorder, whole_of
from twofold.capture.trace.tracer import trace
from twofold.compiler.executable import Executable
from twofold.compiler.pipeline import compile_graph
from twofold.ir.mode import RECORDER, grad_mode
from twofold.runtime.builtin import BOUND, EITHER, RESULT_FIXED, LeafSpec, Signature, make_call
from twofold.runtime.entry import Frame
from twofold.runtime.target import check_runs_here
from twofold.support.errors import ArgumentError, GuardError, InplaceError, TraceError
from twofold.support.pytree import tree_flatten, tree_unflatten
from twofold.tape.versions import stamp
from twofold.tensors.core import Tensor, memory, wrap
from twofold.tensors.dispatch import user_site
from twofold.tensors.inplace import inplace


@dataclass(frozen=True)
class NativeCalls:
    """How many calls from Python into native code one run of a recorded function takes.

    eager:     operation by operation: one for each (at least)
    compiled:  as the function was written: one for each compiled program it calls, and for each operation outside of them
    replayed:  by `replay`: one, and a call back into Python for each of `host_steps` operations that have no native kernel
    """

    eager: int
    compiled: int
    replayed: int
    host_steps: int

    def __str__(self) -> str:
        hosts = f" and {self.host_steps} host steps" if self.host_steps else ""
        return f"native calls a run: eager {self.eager}, compiled {self.compiled}, replayed {self.replayed}{hosts}"


class Bound:
    """A compiled graph, its input tensors, and the memory of its outputs.

    written:  number of an input that the graph writes → number of the output that holds its new value
    strided:  number of an input whose memory is not in C order → the array in which it enters, copied before every run
    """

    def __init__(self, module: GraphModule, executable: Executable, tensors: Sequence[Tensor]) -> None:
        self.module, self.executable = module, executable
        self.tensors = list(tensors)
        self.types = [t._type for t in tensors]
        self.outputs = executable.fresh_outputs()
        self.written: dict[int, int] = {w.input: executable.results[w.output] for w in module.layout.write_backs}
        self.native = executable.native(len(self.tensors), self.new_frame)
        self.strided = {k: np.empty(t._type.shape, t._type.dtype.numpy) for k, t in enumerate(tensors) if not memory(t).flags.c_contiguous}

    def new_frame(self) -> Frame:
        """A frame whose table has the memory of the outputs and of the copies."""
        frame = self.executable.new_frame()
        for info, array in zip(self.executable.outputs, self.outputs, strict=True):
            frame.table[info.slot] = array.ctypes.data
        for k, array in self.strided.items():
            frame.table[self.executable.inputs[k].slot] = array.ctypes.data
        return frame

    def builtin(self, careful: Callable[..., Any], result: Any = None, watched: Sequence[np.ndarray] = ()) -> Callable[..., Any] | None:
        """A run as one native call that returns `result`; it hands to `careful` what is out of the ordinary, and everything once something
        new looks at the arrays `watched`."""
        executable = self.executable
        leaves = [
            LeafSpec(BOUND, object=t, gradient=EITHER, buffer=executable.buffer_spec(executable.inputs[k], k in self.written))
            for k, t in enumerate(self.tensors)
            if k not in self.strided
        ]
        copies = [
            (executable.outputs[output].slot, executable.inputs[k].slot, executable.inputs[k].nbytes) for k, output in self.written.items()
        ]
        signature = Signature(leaves, (), 0, TENSORS)
        return make_call(self.native, signature, careful, result=RESULT_FIXED, copies=copies, fixed=result, watched=watched)

    def stage(self) -> None:
        """Copy the inputs that are not in C order to where the program reads them."""
        for k, array in self.strided.items():
            self._check_type(k)
            np.copyto(array, memory(self.tensors[k]))

    def run(self) -> None:
        """A run that checks everything, and copies what is not dense."""
        if RECORDER.get() is not None:
            raise TraceError(f"{self.module.name}: a plan cannot be replayed while a graph is recorded; call the function itself")
        refuse_gradients(self.module.name, self.tensors)
        for k in range(len(self.tensors)):
            self._check_type(k)
            if k in self.written and not memory(self.tensors[k]).flags.writeable:
                raise InplaceError(f"{self.module.name}: the tensor {self._name(k)}, which is written, has become read-only", "read_only")
        arrays = [self.executable.prepared(memory(t), info) for t, info in zip(self.tensors, self.executable.inputs, strict=True)]
        self.executable.call(arrays, self.outputs)
        for k, output in self.written.items():
            np.copyto(memory(self.tensors[k]), self.outputs[output])

    def _name(self, k: int) -> str:
        return self.module.layout.inputs[k].value.name

    def _check_type(self, k: int) -> None:
        was, now = self.types[k], self.tensors[k]._type
        if now is not was:
            raise GuardError(f"{self.module.name}: {self._name(k)} was {was} when the plan was recorded and is {now} now; record again")

    def results(self) -> Any:
        """What the function returns, around the memory of the outputs."""
        made: dict[Any, Tensor] = {}
        layout = self.module.layout
        outputs = tuple(wrap(self.outputs[r]) if type(r) is int else r[0] for r in self.executable.results)
        leaves = [self.module.result(r, self.tensors, outputs, made, {}) for r in layout.results]
        return tree_unflatten(leaves, layout.out_spec)


class Replays:
    """Runs a bound graph again and again, one run at a time."""

    def __init__(self, bound: Bound, arguments: Sequence[Any]) -> None:
        self.bound, self.arguments = bound, arguments
        self.lock = threading.RLock()
        native = None if bound.strided.keys() & bound.written.keys() else bound.builtin(bound.run)
        self._run: Callable[[], Any] = native or bound.run
        self._run_staged()
        self.result: Any = bound.results()
        self._count_versions()
        self._holders = _holders(bound.outputs)

    def replay(self, *args: Any) -> Any:
        """`Plan.replay`."""
        with self.lock:
            if args:
                self._copy_arguments(args)
            busy = list(self.bound.outputs)  # by these references a builtin replay in another thread comes here, and waits
            self._run_staged()
            del busy
            if self.bound.written or _holders(self.bound.outputs) != self._holders:
                self._count_versions()
        return self.result

    def builtin(self) -> Callable[..., Any]:
        """`replay` as a builtin function. That needs a program which only writes its outputs, and which keeps the GIL, so that no other
        replay can begin during one."""
        bound = self.bound
        if bound.written or bound.strided or bound.native.is_long:
            return self.replay
        return bound.builtin(self.replay, self.result, bound.outputs) or self.replay

    def _run_staged(self) -> None:
        if self.bound.strided:
            self.bound.stage()
        self._run()

    def _count_versions(self) -> None:
        """Enter the writes where autograd looks for them: values saved for backward, and views of results, may have been overwritten."""
        site = user_site()
        for array in (*(memory(self.bound.tensors[k]) for k in self.bound.written), *self.bound.outputs):
            stamp(array, "replay", *site)

    def _copy_arguments(self, args: tuple[Any, ...]) -> None:
        module = self.bound.module
        leaves = [wrap(x) if isinstance(x, np.ndarray) else x for x in module.leaves_of(args, {})]
        module.match(leaves)  # what is no tensor is as recorded
        for recorded, given in zip(self.arguments, leaves, strict=True):
            if not isinstance(recorded, Tensor) or given is recorded:
                continue
            if given._type is not recorded._type:
                raise GuardError(f"{module.name}: an argument was {recorded._type} at the recording, {given._type} does not fit")
            with grad_mode(False):
                inplace("copy", recorded, given)


def _holders(arrays: Sequence[Any]) -> list[int]:
    """How many references there are to each array: more than at the recording where something else looks at its memory."""
    return list(map(getrefcount, arrays))


class Plan:
    """A recorded launch plan; made by `record`.

    result:        what the function returned. Its tensors stay the same; every replay gives them new contents
    native_calls:  a `NativeCalls`: what a run takes, eagerly, as written, and replayed
    """

    __slots__ = ("__weakref__", "_bound", "native_calls", "replay", "result")
    replay: Callable[..., Any]
    """`replay(*args)`: run again, as one native call. Returns `result`.

    Inputs (arguments, parameters, everything closed over) are read anew from the tensors that were there at the recording. With `args`,
    their values are first copied into the recorded arguments. Raises GuardError where a recorded tensor has another type now, or an
    argument does not fit; AutogradError under grad mode, if an input requires grad. """

    def __init__(self, replays: Replays, native_calls: NativeCalls) -> None:
        self._bound = replays.bound
        self.native_calls = native_calls
        self.result: Any = replays.result
        self.replay = replays.builtin()

    def report(self) -> str:
        """The plan in words: native calls a run, what is read, what is written."""
        b = self._bound
        lines = [f"{b.module.name}: {self.native_calls}"]
        for k, (spec, kind) in enumerate(zip(b.module.layout.inputs, b.types, strict=True)):
            notes = [note for note, holds in (("written", k in b.written), ("copied into C order", k in b.strided)) if holds]
            lines.append(f"  in {spec.value.name}: {kind}" + (f" ({', '.join(notes)})" if notes else ""))
        lines += [f"  out {info.name}: {info.type}" for info in b.executable.outputs]
        lines += [f"  host step: {h.node.name} ({h.reason})" for h in b.executable.assembly.hosts]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Plan {self._bound.module.name}: {self.native_calls}>"


def record(fn: Callable[..., Any], *args: Any, **options: Any) -> Plan:
    """Record what `fn(*args)` does (operations and calls of compiled programs) as a launch plan, and run it once.

        plan = twofold.record(step, x, state)
        x.copy_(new_x)
        plan.replay()

    `plan.replay()` repeats all of it as one native call on the same memory: it reads the tensors that were there at the recording
    (arguments and what `fn` closes over), writes those that `fn` writes, and fills the tensors of `plan.result` anew. `fn` itself runs only
    now, with symbols, as by `trace`: Python in it is not repeated, and a branch on a value raises TraceError. options: as of
    `GraphModule.compile`. Raises AutogradError where an input requires grad under grad mode: a plan computes no gradients unless `fn`
    itself asks for them.
    """
    for name in ("reuse_outputs", "verify"):
        if options.get(name):
            raise ArgumentError(f"record: {name} is an option of programs; a plan has outputs of its own, and does not check its runs")
    with counted_programs() as programs:
        module = trace(fn, args, check=False)
    leaves = tree_flatten((args, {}))[0]
    layout = module.layout
    tensors = [find(i, leaves, module.bindings) for i in layout.inputs]
    tensors = [whole_of(t) if i.whole else t for i, t in zip(layout.inputs, tensors, strict=True)]
    refuse_gradients(module.name, tensors)
    reorder(module.name, layout, tensors, None)
    executable, compilation = compile_graph(module.graph, **options)
    check_runs_here(compilation.target)
    operations = sum(n.op.name != "constant" for n in module.graph.walk())
    hosts = len(executable.assembly.hosts)
    calls = NativeCalls(operations, programs.calls + max(operations - programs.nodes, 0), 1, hosts)
    return Plan(Replays(Bound(module, executable, tensors), leaves), calls)
