"""`debugging.bisect` and `debugging.minify`: faults put into the compiler are found exactly, graphs become small, scripts show them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twofold
from tests.compiler import broken
from twofold.capture import debugging
from twofold.compiler.bisecting import default_arrays, find_pass, first_nodes
from twofold.compiler.faults import CRASH, Fault, fault_of, isolated_fault_of
from twofold.compiler.options import CompileOptions
from twofold.compiler.reproducing import decoded, encoded, run_script
from twofold.compiler.shrinking import Shrinker
from twofold.compiler.subgraphs import ValueRecorder, live_outputs, reachable, resized, subgraph
from twofold.compiler.verifying import CODE, SPEC
from twofold.errors import ArgumentError, FileError, ParseError
from twofold.ir.dtypes import bfloat16
from twofold.ir.interpreter import Interpreter
from twofold.ir.parser import parse_graph
from twofold.runtime.target import host_target

ROOT = Path(__file__).resolve().parents[2]


def values(*shape: int, seed: int = 0) -> Any:
    return twofold.tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> broken.Put:
    def put(owner: Any, name: str, value: Any) -> None:
        (monkeypatch.setitem if isinstance(owner, dict) else monkeypatch.setattr)(owner, name, value)

    return put


def network(x: Any, w: Any) -> Any:
    h = twofold.relu(x @ w + 1.0)
    h = twofold.exp(h * 0.1) - h
    h = twofold.tanh(h) + h * 0.5
    h = h.softmax(1)
    return h.sum(0), h * 2.0


ARGS = (values(6, 8), values(8, 5))

# --- bisecting


def test_no_fault() -> None:
    assert debugging.bisect(network, ARGS) is None
    with pytest.raises(ArgumentError, match="no fault"):
        debugging.minify(network, ARGS)


@pytest.mark.parametrize("breaks,kind", [(broken.break_spec, SPEC), (broken.break_code, CODE)])
def test_the_wrong_node_is_found(breaks: Any, kind: str, put: broken.Put) -> None:
    breaks(put)
    found = debugging.bisect(network, ARGS)
    assert found is not None
    assert (found.fault.kind, found.pass_name, found.nodes) == (kind, "", ("tanh",))
    assert "h = twofold.tanh(h) + h * 0.5" in found.lines[0]
    assert "first node that differs: tanh" in str(found)


def wrong_twice(x: Any) -> Any:
    a = twofold.sin(x + 1.0)
    b = twofold.sin(x * 2.0)
    return twofold.sin(b * 3.0) + a.softmax(0)


def test_the_wrong_rule_and_rewrite_are_found(put: broken.Put) -> None:
    broken.break_pass(put)
    found = debugging.bisect(wrong_twice, (values(4),))
    assert found is not None
    assert (found.pass_name, found.rule) == ("algebra", "sine_is_cosine")
    assert found.rewrite is not None
    assert "sin(mul)" in found.rewrite.before  # the first of the two
    assert "sine_is_cosine" in str(found)
    assert found.nodes == ("mul", "sin_1")  # the rule needs both
    module = twofold.trace(wrong_twice, (values(4),))
    assert find_pass(module.graph, [values(4).numpy()], CompileOptions(passes=())) is None


def test_a_pass_that_raises(put: broken.Put) -> None:
    def refuse(graph: Any) -> int:
        raise ValueError("no")

    import twofold.compiler.pipeline as pipeline

    put(pipeline, "separate_outputs", refuse)
    found = debugging.bisect(network, ARGS)
    assert found is not None
    assert found.fault.kind == "ValueError"
    assert "pass after" in found.pass_name


def test_own_check() -> None:
    def has_softmax_after_tanh(graph: Any, arrays: Any) -> bool:
        names = [n.op.name for n in graph.walk()]
        return "tanh" in names and "softmax" in names[names.index("tanh") :]

    found = debugging.bisect(network, ARGS, check=has_softmax_after_tanh)
    assert found is not None
    assert found.nodes[-1] == "softmax"
    assert "tanh" in found.nodes
    assert not {"relu", "mm", "exp"} & set(found.nodes)


def test_first_nodes_of_nothing() -> None:
    graph = parse_graph("graph g(x: f32[2]) {\n  y: f32[2] = exp(x)\n  return (y,)\n}")
    assert first_nodes(graph, default_arrays(graph), lambda g, a: None) is None


# --- faults


def test_faults_have_names(put: broken.Put) -> None:
    graph = twofold.trace(network, ARGS).graph
    arrays = [a.numpy() for a in ARGS]
    assert fault_of(graph, arrays) is None
    broken.break_spec(put)
    fault = fault_of(graph, arrays)
    assert fault is not None
    assert fault.kind == SPEC
    assert isolated_fault_of(graph, arrays) == Fault(fault.kind, fault.text)


def test_what_the_interpreter_refuses_is_no_fault() -> None:
    graph = twofold.trace(lambda t, i: t[i], (values(4, 2), twofold.tensor([0, 1]))).graph
    assert fault_of(graph, [values(4, 2).numpy(), np.array([0, 9])]) is None


def test_a_crash_is_a_fault_in_a_child(put: broken.Put) -> None:
    from twofold.compiler import faults

    def crash(*args: Any, **options: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    graph = twofold.trace(network, ARGS).graph
    put(faults, "compile_graph", crash)
    fault = isolated_fault_of(graph, [a.numpy() for a in ARGS])
    assert fault is not None
    assert fault.kind == CRASH
    assert "SIGKILL" in fault.text


# --- minifying


def run_python(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.run([sys.executable, str(path), *arguments], capture_output=True, text=True, env=environment, timeout=120)


def test_scripts_show_the_fault(put: broken.Put, tmp_path: Path) -> None:
    broken.break_spec(put)
    preamble = "from tests.compiler import broken\n\nif '--mended' not in sys.argv:\n    broken.break_spec(broken.put)"
    path = debugging.minify(network, ARGS, path=tmp_path / "repro.py", preamble=preamble)
    text = path.read_text()
    graph = parse_graph(text.split('GRAPH = r"""\n')[1].split('"""')[0].strip())
    assert [n.op.name for n in graph.nodes] == ["tanh"]
    assert graph.inputs[0].type.numel == 1
    assert "test_minify.py" in text
    for arguments, status, said in (((), 1, "fault: "), (("--mended",), 0, "no fault")):
        run = run_python(path, *arguments)
        assert (run.returncode, run.stderr) == (status, "")
        assert said in run.stdout


def test_a_script_asks_the_predicate(tmp_path: Path) -> None:
    path = debugging.minify(network, ARGS, broken.has_softmax, path=tmp_path / "repro.py", target=host_target())
    assert f"'target': {host_target().name!r}" in path.read_text()
    run = run_python(path)
    assert (run.returncode, run.stderr) == (1, "")
    assert "has_softmax is true" in run.stdout


def test_a_fault_of_several_nodes(put: broken.Put) -> None:
    broken.break_pass(put)
    case = debugging.smallest(twofold.trace(wrong_twice, (values(4),)).graph, [values(4).numpy()])
    assert [n.op.name for n in case.graph.nodes] == ["mul", "sin"]
    assert case.elements == 1


def test_own_predicate_and_its_errors(tmp_path: Path) -> None:
    def fails(graph: Any, arrays: Any) -> bool:
        names = [n.op.name for n in graph.walk()]
        if "relu" not in names:
            raise ValueError("not this one")
        return "softmax" in names

    case = debugging.smallest(twofold.trace(network, ARGS).graph, [a.numpy() for a in ARGS], fails)
    names = [n.op.name for n in case.graph.walk()]
    assert names[0] == "relu"
    assert names[-1] == "softmax"
    assert "mm" not in names
    with pytest.raises(ArgumentError, match="nothing to make smaller"):
        debugging.smallest(twofold.trace(network, ARGS).graph, [a.numpy() for a in ARGS], lambda graph, arrays: False)
    with pytest.raises(ArgumentError, match="top of a module"):
        debugging.minify(network, ARGS, fails, path=tmp_path / "repro.py")
    with pytest.raises(FileError):
        debugging.minify(network, ARGS, broken.has_softmax, path=tmp_path / "nowhere" / "repro.py")


def test_delta_debugging_finds_a_smallest_set() -> None:
    shrinker = Shrinker(lambda graph, arrays: True)
    for wanted in ({3}, {0, 9}, {2, 5, 7}, set(range(10))):
        assert set(shrinker._fewest(range(10), lambda items, wanted=wanted: wanted <= set(items))) == wanted


def test_numbers_and_sizes_become_plain() -> None:
    graph = twofold.trace(lambda x: (x * 2).sum(1), (values(12, 16),)).graph
    arrays = [values(12, 16).numpy()]
    case = Shrinker(lambda g, a: a[0].shape[1] >= 3 and any(n.op.name == "sum" for n in g.nodes)).shrink(graph, arrays)
    assert case.arrays[0].shape == (1, 3)
    assert not case.arrays[0].any()
    Interpreter(case.graph).run(*case.arrays)


# --- parts of graphs


def test_parts_compute_the_same() -> None:
    graph = twofold.trace(network, ARGS).graph
    arrays = [a.numpy() for a in ARGS]
    values = ValueRecorder(graph).record(arrays)
    for n in (1, 4, len(graph.nodes)):
        nodes = graph.nodes[:n]
        outputs = live_outputs(nodes, graph)
        part, outside = subgraph(nodes, outputs)
        for got, v in zip(Interpreter(part).run(*[values[v] for v in outside]), outputs, strict=True):
            np.testing.assert_array_equal(got, values[v])
    assert reachable(graph.nodes, graph.nodes[0].outputs) == graph.nodes[:1]


def test_parts_with_control_flow() -> None:
    def loop(x: Any, y: Any) -> Any:
        return twofold.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * y), (twofold.tensor(0), x))[1] + 1

    args = (values(3), values(3, seed=1))
    graph = twofold.trace(loop, args).graph
    node = next(n for n in graph.nodes if n.op.name == "while_loop")
    part, outside = subgraph([node], node.outputs)
    recorded = ValueRecorder(graph).record([a.numpy() for a in args])
    np.testing.assert_array_equal(Interpreter(part).run(*[recorded[v] for v in outside])[1], recorded[node.outputs[1]])
    assert any(v is graph.inputs[1] for v in outside)  # the body reads it from outside
    assert resized(graph, [a.numpy() for a in args], 3, 1) is None


def test_dimensions_that_do_not_fit_are_left() -> None:
    graph = twofold.trace(lambda x: x.view(3, 2) * 2, (values(6),)).graph
    assert resized(graph, [values(6).numpy()], 6, 1) is None
    found = resized(twofold.trace(lambda x: x.view(4, 4) * 2, (values(4, 4),)).graph, [values(4, 4).numpy()], 4, 2)
    assert found is not None
    assert Interpreter(found[0]).run(*found[1])[0].shape == (2, 2)


# --- scripts


@pytest.mark.parametrize("array", [
    np.array([1.5, -0.0, np.inf, np.nan], np.float32), np.array(3, np.int64), np.array([True, False]), np.zeros((0, 3), np.float64),
    np.array([[2**63]], np.uint64), np.random.default_rng(0).standard_normal((20, 30)).astype(np.float16),
    np.arange(200, dtype=np.float32).astype(bfloat16.numpy), np.array([1.0, 2.5], np.float32).astype(bfloat16.numpy),
])  # fmt: skip
def test_arrays_as_text(array: Any) -> None:
    back = decoded(encoded(array))
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())


@pytest.mark.parametrize("text", ["", "f32", "f99[2]{1.0, 2.0}", "f32[2]{1.0}", "f32[2] base64 !!!!", "f32[99999999999] base64 AAAA"])
def test_malformed_arrays(text: str) -> None:
    with pytest.raises(ParseError):
        decoded(text)


def test_scripts_report(capsys: pytest.CaptureFixture[str], put: broken.Put) -> None:
    graph = "graph g(x: f32[1]) {\n  y: f32[1] = tanh(x)\n  return (y,)\n}\n"
    assert run_script(graph, ["f32[1]{2.0}"], {}, SPEC) == 0
    broken.break_spec(put)
    assert run_script(graph, ["f32[1]{2.0}"], {}, SPEC) == 1
    assert run_script(graph, ["f32[1]{2.0}"], {}, CODE) == 1
    assert "another one" in capsys.readouterr().out
