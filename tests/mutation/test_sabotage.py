"""Every rule of mutation and aliasing switched off in turn: a named case or a random program must notice.

A rule is a piece of source text. The function that holds it is compiled again with the text replaced, and put in the place of the real one
for the length of the test. `python -m tests.mutation.test_sabotage` looks for the first seeds that notice each.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import pytest

from tests.mutation import fuzz, test_recorded_cases, test_refusals, test_subtle_cases
from tests.mutation.cases import eager, recorded
from tests.mutation.compare import MODES
from tests.mutation.programs import seeded


@dataclass(frozen=True)
class Rule:
    """`function` (module:qualified name) without `text`, which becomes `instead`; noticed by the program `seed`, or by the named case."""

    function: str
    text: str
    instead: str
    seed: int | None = None
    case: str = ""


INPLACE, ALIAS, RECORDER, MODULE = (
    "twofold.tensors.inplace:",
    "twofold.tensors.alias:",
    "twofold.tensors.recorder:",
    "twofold.capture.graph_module:",
)
TRACER = "twofold.capture.trace.tracer:"
RULES = {
    "views get new nodes after a write": Rule(INPLACE + "settle", 'rehome(base, NODE_CLASSES["view_chain"])', "pass", seed=6),
    "a write is numbered after its stamp": Rule(
        INPLACE + "settle", "own.seq = node.seq = tick()", "own.seq = node.seq = own.seq or tick() + 3", seed=1
    ),
    "an operand that is overwritten is copied": Rule(INPLACE + "kept", "if first or same_memory(value, array):", "if False:", seed=39),
    "a write through a view is CopySlices": Rule(INPLACE + "build_node", "if not through_view:", "if True:", seed=6),
    "the inner gradient lands where the view was": Rule(INPLACE + "CopySlices.run", "if self.edges[0] is not None:", "if False:", seed=6),
    "saved values are checked for writes": Rule("twofold.tape.versions:newer_write", "found.clock < seq", "False", seed=101),
    "writes are stamped": Rule(INPLACE + "inplace", 'stamp(array, name + "_", *site)\n    settle', "settle", seed=138),
    "leaves are refused": Rule(INPLACE + "check_write", "if tracked and leaf:", "if False:", seed=18),
    "no_grad views are refused": Rule(INPLACE + "check_write", "if tracked and nograd:", "if False:", seed=119),
    "overlap is refused": Rule(INPLACE + "check_write", "if overlap:", "if False:", seed=40),
    "a base that overlaps itself is refused": Rule(
        INPLACE + "check_write", "if tracked and base_overlap:", "if False:", case="test_detached_expand"
    ),
    "windows that meet count as overlap": Rule(ALIAS + "overlaps", "if step <= reach:", "if False:", seed=157),
    "no_grad views have no history": Rule(ALIAS + "rehome", "if alias.nograd:", "if False:", seed=273),
    "recorded: no_grad writes keep history": Rule(RECORDER + "Recorder.write", "if no_history:", "if False:", seed=54),
    "recorded: other families see the write": Rule(RECORDER + "Recorder.write", "if len(storage.families) > 1:", "if False:", seed=40),
    "recorded: other families keep their history": Rule(
        RECORDER + "Recorder.write",
        "self.emit(set_data, [other.value, window], {}) if self.tracks.get(other.value, False) else window",
        "window",
        seed=73,
    ),
    "recorded: stale views are read again": Rule(RECORDER + "Recorder.read", "seen[0] == family.version and ", "", seed=1),
    "recorded: values of a body stay inside": Rule(
        RECORDER + "Recorder.read", " and self.visible(seen[1])", "", case="test_value_read_in_a_body_is_not_reused_outside"
    ),
    "recorded: no_grad reads are detached": Rule(
        RECORDER + "Recorder.read", "if self.tracks.get(value, False) and (s._nograd or not GRAD.get()):", "if False:", seed=14
    ),
    "recorded: bodies do not write outside": Rule(
        RECORDER + "Recorder.inplace", "not self.visible_inside(family)", "False", case="test_writing_to_the_outside_of_a_body_is_refused"
    ),
    "recorded: an overlapping input enters through its base": Rule(RECORDER + "Recorder.admit", "if b is t or", "if True or", seed=119),
    "graph: written inputs enter as copies": Rule(
        MODULE + "GraphModule.run_graph", " if k in written else t for", " if False else t for", seed=39
    ),
    "graph: write-back knows whether it is tracked": Rule(
        MODULE + "GraphModule.results", "grad_mode(w.tracked)", "grad_mode(True)", seed=27
    ),
    "graph: outputs share memory as they did": Rule(MODULE + "GraphModule.result", "if r.alias is None:", "if True:", seed=6),
    "graph: bases of views are contiguous": Rule(
        MODULE + "contiguous_base", 'np.array(memory(source), order="C", copy=None)', "memory(source)", case="test_output_layout_is_logical"
    ),
    "graph: a call that shares memory otherwise is refused": Rule(
        MODULE + "compare_signatures",
        "was[3:7] != got[3:7] if written else was[3] not in (k, got[3])",
        "False",
        case="test_inputs_that_share_memory",
    ),
    "trace: inputs that share memory are grouped": Rule(TRACER + "Recording.shared_writes", "found.add(root)", "pass", seed=205),
    "trace: assigned buffers are written": Rule(
        "twofold.capture.trace.state:ModuleState.restore",
        'inplace("copy", old, value)',
        "pass",
        case="test_attribute_assigned_twice_and_read_in_between",
    ),
}


def resolve(function: str) -> tuple[Any, str, FunctionType]:
    """(where it lives, its name, the function)."""
    module, path = function.split(":")
    owner: Any = importlib.import_module(module)
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    found = inspect.unwrap(vars(owner)[name])
    assert isinstance(found, FunctionType)
    return owner, name, found


@contextmanager
def switched_off(rule: Rule) -> Iterator[None]:
    """The rule's function without it. Its code object is replaced, so that every importer of the function is reached."""
    _, _, function = resolve(rule.function)
    source = textwrap.dedent(inspect.getsource(function))
    assert rule.text in source, f"{rule.function} has no {rule.text!r} any more: the rule moved"
    changed = source.replace(rule.text, rule.instead)
    scope: dict[str, Any] = {}
    flags = function.__code__.co_flags & 0x1000000  # `from __future__ import annotations`
    exec(compile(changed, function.__code__.co_filename, "exec", flags=flags, dont_inherit=True), function.__globals__, scope)
    original = function.__code__
    function.__code__ = scope[function.__name__].__code__
    try:
        yield
    finally:
        function.__code__ = original


def notices(case: str) -> bool:
    """True if a named case fails."""
    test = next(vars(m)[case] for m in (test_subtle_cases, test_refusals, test_recorded_cases) if case in vars(m))
    takes_run = "run" in inspect.signature(test).parameters
    for run in (eager, recorded) if takes_run else (None,):
        try:
            test(run) if takes_run else test()
        except (Exception, pytest.fail.Exception):
            return True
    return False


@pytest.fixture(scope="module")
def worlds() -> Any:
    pytest.importorskip("torch")
    return fuzz.torch_worlds()


@pytest.mark.parametrize("name", RULES)
def test_rule_is_guarded(name: str, request: pytest.FixtureRequest) -> None:
    rule = RULES[name]
    if rule.case:
        assert not notices(rule.case)
        with switched_off(rule):
            assert notices(rule.case)
        return
    assert rule.seed is not None, "no program is known to notice: run python -m tests.mutation.test_sabotage"
    worlds = request.getfixturevalue("worlds")
    assert fuzz.run_seed(rule.seed, worlds) is None
    with switched_off(rule):
        assert fuzz.run_seed(rule.seed, worlds) is not None


def search(limit: int) -> None:
    """Print for each rule how many of `limit` programs notice, and the cheapest that does."""
    worlds = fuzz.torch_worlds()
    for name, rule in RULES.items():
        if rule.case:
            continue
        found = []
        with switched_off(rule):
            for seed in range(limit):
                if fuzz.run_seed(seed, worlds) is not None:
                    found.append((len(seeded(seed).steps), seed))
                    if len(found) >= 5:
                        break
        best = min(found)[1] if found else None
        print(
            f"{name:60} {len(found)} noticed by seed {seed}; shortest: {best} {MODES[best % len(MODES)] if best is not None else ''}",
            flush=True,
        )


if __name__ == "__main__":
    search(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
