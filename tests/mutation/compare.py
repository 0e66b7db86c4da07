"""Runs a program in PyTorch, in Twofold eagerly, and as a recorded graph, and compares all that can be seen: refusals, values, written
inputs, requires_grad, which outputs share memory, gradients.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import twofold
from tests.mutation.programs import Program
from tests.mutation.worlds import INNER, LEAVES, TwofoldWorld, World, make_inputs, run_step, write
from twofold import aot, trace
from twofold.autograd import backward
from twofold.support.errors import AutogradError, GuardError, InplaceError
from twofold.tensors.alias import base_of

MODES = ("once", "twice", "other values", "joint", "nested")
"""How a recorded graph is tried: called once; twice (recorded again where the guard asks for it); recorded on other values; forward and
backward in one; called while another graph is recorded.
"""
ONLY_LAYOUT = ("view", "copied")
"""Log entries that may differ where the memory layout of a result decides whether a view exists: a graph is logical, its results are
contiguous.
"""


@dataclass
class Seen:
    """What a run showed."""

    log: list[tuple[int, str]]
    outputs: list[Any]
    requires_grad: list[bool]
    inputs: dict[str, Any]
    inputs_require_grad: list[bool]
    gradients: dict[str, Any] | str = field(default_factory=dict)
    after: list[Any] = field(default_factory=list)


class Run:
    """A program's function over the inputs of one world."""

    def __init__(self, world: World, program: Program, seed: int) -> None:
        self.world, self.program = world, program
        self.inputs = make_inputs(world, seed)
        self.log: list[tuple[int, str]] = []

    @property
    def arguments(self) -> tuple[Any, ...]:
        return tuple(self.inputs[n] for n in self.program.arguments)

    def __call__(self, *arguments: Any) -> list[Any]:
        self.log.clear()
        registers = dict(self.inputs) | dict(zip(self.program.arguments, arguments, strict=True))
        for s in self.program.steps:
            run_step(self.world, registers, s, self.log)
        return [registers[n] for n in self.program.returned if n in registers]

    def look(self, outputs: list[Any], log: list[tuple[int, str]]) -> Seen:
        """Everything that can be seen afterwards; the outputs are written at last, to see who shares memory with whom."""
        world, t = self.world, self.inputs
        seen = Seen(
            log, [world.value(o) for o in outputs], [world.requires_grad(o) for o in outputs], {k: world.value(v) for k, v in t.items()},
            [world.requires_grad(t[k]) for k in INNER],
        )  # fmt: skip
        loss, weights = None, np.random.default_rng(7)
        for x in [*outputs, *(t[k] for k in INNER)]:
            if world.requires_grad(x):
                part = (x * world.plain(weights.standard_normal(tuple(x.shape)))).sum()
                loss = part if loss is None else loss + part
        if loss is not None:
            try:
                loss.backward()
                seen.gradients = {k: None if t[k].grad is None else world.value(t[k].grad) for k in LEAVES}
            except Exception as e:
                seen.gradients = world.kind(e)
        for k, x in enumerate(outputs):
            with world.no_grad():
                try:
                    write(world, "mul_", x, [1.5 + k], ())
                except Exception as e:
                    world.kind(e)
        seen.after = [world.value(x) for x in [*outputs, *t.values()]]
        return seen


def run_plainly(world: World, program: Program, seed: int = 0, calls: int = 1) -> Seen:
    """The program in a world, run as it stands."""
    run = Run(world, program, seed)
    for _ in range(calls):
        outputs = run(*run.arguments)
    return run.look(outputs, list(run.log))


class NotRecorded(Exception):
    """The program's inputs share memory in a way that no graph is recorded for (InplaceError of kind input_alias)."""


def record(function: Any, arguments: tuple[Any, ...], check: bool) -> Any:
    """The graph of a function."""
    try:
        return trace(function, arguments, check=check)
    except InplaceError as e:
        if e.kind == "input_alias":
            raise NotRecorded from None
        raise


def run_recorded(program: Program, mode: str, check: bool) -> tuple[Seen, int]:
    """The program as a recorded graph; also returns the seed of the inputs it was called on."""
    seed, world = 0, TwofoldWorld()
    run = Run(world, program, 0)
    module = record(run, run.arguments, check)
    log = list(run.log)
    if mode == "nested":
        inner = module
        module = record(lambda *arguments: inner(*arguments), run.arguments, check)
    if mode == "other values" and not module.bindings:
        seed, run = 1, Run(world, program, 1)
    outputs = module(*run.arguments)
    if mode == "twice":
        try:
            outputs = module(*run.arguments)
        except GuardError:
            module = record(run, run.arguments, False)
            log = list(run.log)
            outputs = module(*run.arguments)
    return run.look(outputs, log), seed


def joint_differs(program: Program) -> str | None:
    """The joint graph of `aot` against eager gradients of the outputs alone."""
    eager, joint = Run(TwofoldWorld(), program, 0), Run(TwofoldWorld(), program, 0)
    outputs = eager(*eager.arguments)
    try:
        module = aot(joint, *joint.arguments)
    except AutogradError:
        return None if not any(o.requires_grad for o in outputs) else "aot found nothing to differentiate"
    except InplaceError as e:
        if e.kind == "input_alias":
            raise NotRecorded from None
        raise
    return joint_result(eager, outputs, joint, module)


def joint_result(eager: Run, outputs: list[Any], joint: Run, module: Any) -> str | None:
    """Outputs of the joint graph against eager ones, and its gradients (carried on to the leaves) against those of eager backward."""
    forward = module.forward_module
    given = np.random.default_rng(5)
    weights = [given.standard_normal(tuple(o.shape)) for o in outputs]
    wanted: list[Any] = [o for o in outputs if o.requires_grad]
    try:
        backward(wanted, [twofold.tensor(np.array(w)) for w, o in zip(weights, outputs, strict=True) if o.requires_grad])
    except InplaceError:
        return None  # an overwritten value: in the graph it still exists
    tangents: dict[str, Any] = {}
    for w, r in zip(weights, forward.layout.results, strict=True):
        name = "grad_" + forward.graph.outputs[r.output].name
        tangents[name] = tangents.get(name, 0.0) + w
    names = [v.name for v in module.graph.inputs if v.name.startswith("grad_")]
    results, gradients = module(*joint.arguments, tangents=[twofold.tensor(np.array(tangents[n])) for n in names])
    for k, (a, b) in enumerate(zip(outputs, results, strict=True)):
        if not same(eager.world.value(a), joint.world.value(b)):
            return f"output {k}: {a} / {b}"
    tensors = []
    for i in (forward.layout.inputs[k] for k in module._gradients_of):
        t = joint.arguments[i.leaf] if i.leaf is not None else forward.bindings[i.path]
        tensors.append(base_of(t) if i.whole else t)
    backward(tensors, [gradients[n] for n in module.gradients_of])
    for n in LEAVES:
        a, b = (None if r.inputs[n].grad is None else r.world.value(r.inputs[n].grad) for r in (eager, joint))
        if not same_gradient(a, b, True):
            return f"gradient of {n}: {a} / {b}"
    return None


def same(a: Any, b: Any) -> bool:
    """Equal values and shapes."""
    if a is None or b is None:
        return a is b
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-8, atol=1e-8, equal_nan=True)


def same_gradient(a: Any, b: Any, none_is_zero: bool) -> bool:
    if none_is_zero and (a is None or b is None):
        return (a is None or not np.any(a)) and (b is None or not np.any(b))
    return same(a, b)


def differ(a: Seen, b: Seen, none_is_zero: bool = False) -> str | None:
    """In what two runs differ, or None."""
    for what in ("log", "requires_grad", "inputs_require_grad"):
        if getattr(a, what) != getattr(b, what):
            return f"{what}: {getattr(a, what)} / {getattr(b, what)}"
    for what in ("outputs", "after"):
        x, y = getattr(a, what), getattr(b, what)
        if len(x) != len(y):
            return f"number of {what}: {len(x)} / {len(y)}"
        for k, (u, v) in enumerate(zip(x, y, strict=True)):
            if not same(u, v):
                return f"{what} {k}: {u} / {v}"
    for name, x in a.inputs.items():
        if not same(x, b.inputs[name]):
            return f"input {name}: {x} / {b.inputs[name]}"
    return gradients_differ(a.gradients, b.gradients, none_is_zero)


def gradients_differ(a: Any, b: Any, none_is_zero: bool) -> str | None:
    if isinstance(a, str) or isinstance(b, str):
        return None if a == b else f"gradient error: {a if isinstance(a, str) else 'none'} / {b if isinstance(b, str) else 'none'}"
    for name in {**a, **b}:
        if not same_gradient(a.get(name), b.get(name), none_is_zero):
            return f"gradient of {name}: {a.get(name)} / {b.get(name)}"
    return None


def layout_steps(a: Seen, b: Seen) -> set[int]:
    """The steps whose logs differ only because of a result's memory layout."""
    return {label for label, kind in set(a.log) ^ set(b.log) if kind in ONLY_LAYOUT}


def judge(program: Program, mode: str, torch_world: Any = None, stats: Counter[str] | None = None, check: bool = False) -> str | None:
    """What differs between PyTorch (a function that makes its world, or None to leave it out), eager and recorded; None if nothing does."""
    stats = Counter() if stats is None else stats
    if mode == "joint":
        return judge_joint(program, stats)
    calls = 2 if mode == "twice" else 1
    eager = run_plainly(TwofoldWorld(), program, 0, calls)
    wanted = run_plainly(torch_world(), program, 0, calls) if torch_world is not None else None
    recorded: Seen | None = None
    seed = 0
    try:
        recorded, seed = run_recorded(program, mode, False)
    except NotRecorded:
        stats["not recorded: input_alias"] += 1
    odd = (layout_steps(wanted, eager) if wanted is not None else set()) | (
        layout_steps(eager, recorded) if recorded is not None else set()
    )
    if odd:
        stats["steps left out because layout decides"] += len(odd)
        return judge(program.without(odd), mode, torch_world, stats, check)
    if check and recorded is not None:
        recorded, seed = run_recorded(program, mode, True)
    if seed:
        stats["recorded on other values"] += 1
        eager = run_plainly(TwofoldWorld(), program, seed)
        wanted = run_plainly(torch_world(), program, seed) if torch_world is not None else None
    for _, kind in eager.log:
        stats[f"refused: {kind}"] += 1
    if wanted is not None:
        found = differ(wanted, eager)
        if found == "gradient error: version / none" and (recorded is None or differ(recorded, eager, True) is None):
            stats["PyTorch's version error about a 0-d value that is saved as an immutable scalar"] += 1
            found = None
        if found:
            return f"eager: {found}"
    if isinstance(eager.gradients, str):
        stats[f"backward: {eager.gradients}"] += 1
    if recorded is None:
        return None
    if eager.gradients == "version" and recorded.gradients != "version":
        stats["version error eagerly, none recorded: the old value exists there"] += 1
        eager.gradients = recorded.gradients
    found = differ(eager, recorded, True)
    return f"recorded: {found}" if found else None


def judge_joint(program: Program, stats: Counter[str]) -> str | None:
    """`judge` for the joint graph; steps whose meaning depends on the layout are left out first."""
    try:
        eager, (recorded, _) = run_plainly(TwofoldWorld(), program), run_recorded(program, "once", False)
        odd = layout_steps(eager, recorded)
        if odd:
            stats["steps left out because layout decides"] += len(odd)
            return judge_joint(program.without(odd), stats)
        found = joint_differs(program)
    except NotRecorded:
        stats["not recorded: input_alias"] += 1
        return None
    return f"joint: {found}" if found else None
