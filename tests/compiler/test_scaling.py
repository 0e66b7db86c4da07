"""Work done by the compiler's Python stages grows linearly with the graph: counted, not timed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.compiler import assemble, pipeline
from twofold.compiler.canonical import canonicalise
from twofold.compiler.kernel_builder import KernelBuilder
from twofold.compiler.options import CompileOptions
from twofold.compiler.planner import Planner
from twofold.ir import rewrite
from twofold.support.collector import collector_paused


def chain(x: Any, steps: int) -> Any:
    for _ in range(steps):
        x = twofold.sin(x) * 0.5 + 0.25
    return x


def layers(x: Any, steps: int) -> Any:
    for k in range(steps):
        centred = x - x.mean(-1, keepdim=True)
        x = x + twofold.tanh(centred * (1.0 + 0.001 * k)) * 0.1
    return x


def branches(x: Any, steps: int) -> Any:
    return tuple((twofold.tanh(x * (1 + 0.01 * k)) + 0.5).sum(-1) for k in range(steps))


def every_step(x: Any, steps: int) -> Any:
    outputs = []
    for _ in range(steps):
        x = twofold.tanh(x) * 0.9
        outputs.append(x)
    return tuple(outputs)


def products(x: Any, steps: int) -> Any:
    w = twofold.full((8, 8), 0.1)
    for _ in range(steps):
        x = twofold.relu(x @ w) * 0.5
    return x


FORMS: dict[str, Callable[[Any, int], Any]] = {f.__name__: f for f in (chain, layers, branches, every_step, products)}


def graph_of(form: str, steps: int) -> Any:
    return twofold.trace(lambda x: FORMS[form](x, steps), (twofold.ones(4, 8),), check=False).graph


@contextmanager
def counted(counts: Counter[str], owner: Any, name: str) -> Iterator[None]:
    """Calls of a function meanwhile."""
    real = getattr(owner, name)

    def count(*args: Any, **kwargs: Any) -> Any:
        counts[name] += 1
        return real(*args, **kwargs)

    setattr(owner, name, count)
    try:
        yield
    finally:
        setattr(owner, name, real)


@pytest.mark.parametrize("form", FORMS)
def test_pulls_and_joins_are_linear(form: str) -> None:
    """Nodes pulled into kernels, kernels tried, and expressions walked, for graphs of one and of four times the size: not
    sixteen times as many. (A little more than four times: the first rounds of planning end early in small graphs.)"""
    found = []
    for steps in (60, 240):
        counts: Counter[str] = Counter()
        c = pipeline.prepare(graph_of(form, steps), CompileOptions())
        with counted(counts, KernelBuilder, "_pull"), counted(counts, KernelBuilder, "extended"), counted(counts, Planner, "_is_dear"):
            pipeline.plan(c)
        counts["nodes"] = c.graph.count()
        found.append(counts)
    small, large = found
    assert large["nodes"] > 3.5 * small["nodes"]
    assert large["_pull"] > 0 or form == "products"
    for name in ("_pull", "extended", "_is_dear"):
        assert large[name] <= 5 * small[name] + 40, (name, small, large)


@pytest.mark.parametrize("form", FORMS)
def test_rules_tried_are_linear(form: str) -> None:
    found = []
    for steps in (60, 240):
        counts: Counter[str] = Counter()
        graph = graph_of(form, steps)
        with counted(counts, rewrite, "_try_rules"):
            canonicalise(graph)
        found.append(counts["_try_rules"])
    assert found[1] <= 4.4 * found[0] + 40


def test_a_join_pulls_only_what_is_new() -> None:
    """Of a kernel with many roots none is pulled again when another joins."""
    counts: Counter[str] = Counter()
    c = pipeline.prepare(graph_of("every_step", 15), CompileOptions())
    with counted(counts, KernelBuilder, "_pull"):
        pipeline.plan(c)
    assert c.plan is not None
    assert len(c.plan.steps) == 1
    assert counts["_pull"] <= 4 * c.graph.count()


@pytest.mark.parametrize("form", ["chain", "layers"])
def test_long_graphs_need_no_deep_recursion(form: str) -> None:
    compilation = pipeline.assemble(pipeline.plan(pipeline.prepare(graph_of(form, 300), CompileOptions())))
    assert compilation.assembly is not None
    assert compilation.assembly.launches


def test_run_is_written_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many launches and host steps: parts of `run` that return the first status that is not 0, also inside bodies of loops."""
    monkeypatch.setattr(assemble, "PART_ACTIONS", 4)
    x = twofold.tensor(np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32))
    program = twofold.trace(lambda x: products(x, 9), (x,), check=False).compile()
    text = program.executable.assembly.text
    assert text.count("define internal i32 @part") == -(-len(program.executable.assembly.actions) // 4)
    np.testing.assert_allclose(np.asarray(program(x)), np.asarray(products(x, 9)), rtol=2e-5)


def test_collector_is_paused_and_comes_back() -> None:
    import gc

    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError), collector_paused():
        raise ValueError
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


REVERSED: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: (x * 2).flip(0).reshape(2, 12) + 1,
    "columns": lambda x: (x * 2).flip(1).reshape(2, 12) + 1,
    "both": lambda x: (x * 2).flip(0, 1).reshape(-1) + 1,
    "straddling": lambda x: (x * 2).flip(0, 1).reshape(3, 8) + 1,
    "flat": lambda x: (x * 2).reshape(24).flip(0).reshape(4, 6) + 1,
    "flat, every other": lambda x: (x * 2).reshape(24)[::2].flip(0).reshape(4, 3).sum(1),
    "twice": lambda x: (x * 2).reshape(24).flip(0).reshape(4, 6).flip(0).reshape(8, 3).sum(1),
    "padded": lambda x: twofold.cat([(x * 2).reshape(24).flip(0).reshape(4, 6), x], 1).sum(0),
}


@pytest.mark.parametrize("name", REVERSED)
def test_reshapes_of_reversed_tensors(name: str) -> None:
    """Index maps with negative coefficients: served, or a copy; all but the one that straddles rows are one kernel."""
    function, x = REVERSED[name], twofold.arange(24.0).reshape(4, 6)
    program = twofold.trace(function, (x,), check=False).compile(verify=True)
    np.testing.assert_array_equal(np.asarray(program(x)), np.asarray(function(x)))
    assert len(program.executable.assembly.launches) == 1 or name == "straddling"
