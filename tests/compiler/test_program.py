"""`graph_module.compile()`: programs called on tensors and arrays, what they refuse, how they are looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold
import twofold.nn as nn
import twofold.nn.functional as F
from twofold.errors import ArgumentError, AutogradError, DTypeError, GuardError, IndexOutOfRange, OutOfMemory, ShapeError, UnsupportedError
from twofold.support.logs import logs_set


def chain(x: Any) -> Any:
    return twofold.relu(x * 1.3 + 0.2) * twofold.tanh(x) + twofold.exp(-x * x)


def values(*shape: int, seed: int = 0) -> Any:
    return twofold.tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def near(a: Any, b: Any, tolerance: float = 1e-5) -> None:
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1e-30, float(np.abs(b).max(initial=0))))


FUNCTIONS = {
    "pointwise": (chain, (5, 7)),
    "softmax": (lambda x: x.softmax(1), (6, 33)),
    "softmax over columns": (lambda x: x.softmax(0), (33, 70)),
    "log_softmax": (lambda x: x.log_softmax(-1), (4, 9)),
    "gelu and layer norm": (lambda x: F.layer_norm(F.gelu(x), (12,)), (6, 12)),
    "rms norm": (lambda x: F.rms_norm(x, (12,)), (6, 12)),
    "group norm": (lambda x: F.group_norm(x, 2), (3, 4, 5)),
    "batch norm": (lambda x: F.batch_norm(x, None, None, training=True), (3, 4, 5, 2)),
    "column sums": (lambda x: (x.sum(0), x.mean(), x.t() * 2), (70, 65)),
    "positions": (lambda x: (x.argmax(1), x.max(0), x.amin()), (6, 7)),
    "shapes": (lambda x: twofold.cat([x[:, 1:3], x.flip(1)], 1).reshape(3, -1).permute(1, 0).sum(0), (6, 5)),
    "padded": (lambda x: F.pad(x, (1, 2, 3, 0)).sum(1), (4, 5)),
    "a product": (lambda x: (x @ x.t()).softmax(1), (6, 5)),
    "several outputs": (lambda x: (x, x, x + 1, x.view(-1)), (3, 4)),
    "no elements": (lambda x: (x.sum(0), x * 2), (0, 4)),
    "one element": (lambda x: x.softmax(0) + x.var(), (1, 1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_as_eager(name: str) -> None:
    function, shape = FUNCTIONS[name]
    x = values(*shape)
    program = twofold.trace(function, (x,), check=False).compile(verify=True)
    with np.errstate(all="ignore"):
        expected = function(x)
    got = program(x)
    for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (got, expected)), strict=True):
        for p, q in zip(*((r if isinstance(r, tuple) else (r,)) for r in (a, b)), strict=True):
            assert p.dtype is q.dtype
            near(p.numpy(), q.numpy())
            assert not np.shares_memory(p.numpy(), x.numpy()) or name == "several outputs"


@pytest.mark.parametrize("function,kernels", [
    (chain, 1), (lambda x: x.softmax(1), 1), (lambda x: x.log_softmax(1), 1), (lambda x: F.layer_norm(F.gelu(x), (64,)), 1),
    (lambda x: F.rms_norm(x, (64,)), 1), (lambda x: F.batch_norm(x, None, None, training=True), 1), (lambda x: x.sum(0), 1),
    (lambda x: twofold.exp(x).t() + 1, 1), (lambda x: (x.max(1), x.argmax(1)), 1),
])  # fmt: skip
def test_kernel_counts(function: Any, kernels: int) -> None:
    assert len(twofold.trace(function, (values(32, 64),)).compile().kernels) == kernels


@pytest.mark.parametrize("kind", ["cross entropy", "layer norm", "batch norm"])
def test_joint_programs(kind: str) -> None:
    x = values(6, 8).requires_grad_()
    w = values(8, seed=1).requires_grad_()
    target = twofold.tensor([1, 2, 3, 4, 5, 6])
    loss = {
        "cross entropy": lambda x, w: F.cross_entropy(x * w, target),
        "layer norm": lambda x, w: (F.layer_norm(x, (8,), w) ** 2).mean(),
        "batch norm": lambda x, w: (F.batch_norm(x, None, None, w, training=True) ** 3).sum(),
    }[kind]
    joint = twofold.aot(loss, x, w)
    value, gradients = joint.compile(verify=True)(x, w)
    expected, wanted = joint(x, w)
    near(value.numpy(), expected.numpy())
    for name, g in wanted.items():
        near(gradients[name].numpy(), g.numpy(), 2e-5)


def test_module_with_parameters() -> None:
    model = nn.Sequential(nn.Linear(5, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3)).eval()
    x = values(4, 5)
    program = twofold.trace(model, (x,)).compile()
    with pytest.raises(AutogradError, match="no_grad"):
        program(x)
    with twofold.no_grad():
        near(program(x).numpy(), model(x).numpy())
        model[0].weight.mul_(2.0)  # closed-over tensors are read at every call
        near(program(x).numpy(), model(x).numpy())


def test_control_flow() -> None:
    def loop(x: Any) -> Any:
        return twofold.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 1.5 + i), (twofold.tensor(0), x))[1]

    def swap(x: Any) -> Any:
        return twofold.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b, a), (twofold.tensor(0), x, x + 1))[1]

    def branch(x: Any) -> Any:
        return twofold.cond(x.sum() > 0, lambda a: a * 2, lambda a: a - 1, (x,))

    for function in (loop, swap, branch):
        for sign in (1.0, -1.0):
            x = values(3, 4).abs() * sign
            program = twofold.trace(function, (x,), check=False).compile()
            assert not program.executable.assembly.hosts
            near(program(x).numpy(), function(x).numpy())


def test_written_arguments() -> None:
    def step(x: Any) -> Any:
        x.add_(1.0)
        return x * 2

    x, y = values(3, 4), values(3, 4)
    program = twofold.trace(step, (x.clone(),)).compile()
    near(program(x).numpy(), step(y).numpy())
    near(x.numpy(), y.numpy())
    with pytest.raises(ArgumentError, match="writes its arguments"):
        program.run_into([np.empty((3, 4), np.float32)], x)


def test_arrays_and_run_into() -> None:
    x = values(5, 7)
    program = twofold.trace(chain, (x,)).compile()
    result = program(x.numpy())
    assert type(result) is np.ndarray
    out = np.empty((5, 7), np.float32)
    program.run_into([out], x.numpy())
    np.testing.assert_array_equal(out, result)
    transposed = np.asfortranarray(x.numpy())
    program.run_into([out], transposed)
    np.testing.assert_array_equal(out, result)
    misaligned = np.frombuffer(b"\0" + x.numpy().tobytes(), np.uint8)[1:].view(np.float32).reshape(5, 7)
    program.run_into([out], misaligned)
    np.testing.assert_array_equal(out, result)


@pytest.mark.parametrize("outputs,inputs,error", [
    (lambda x: [np.empty((5, 6), np.float32)], lambda x: [x], ShapeError),
    (lambda x: [np.empty((5, 7), np.float64)], lambda x: [x], DTypeError),
    (lambda x: [np.empty((7, 5), np.float32).T], lambda x: [x], ArgumentError),
    (lambda x: [x], lambda x: [x], ArgumentError),
    (lambda x: [], lambda x: [x], ArgumentError),
    (lambda x: ["text"], lambda x: [x], ArgumentError),
    (lambda x: [np.empty((5, 7), np.float32)], lambda x: [x.astype(np.float64)], DTypeError),
    (lambda x: [np.empty((5, 7), np.float32)], lambda x: [x[:4]], ShapeError),
    (lambda x: [np.empty((5, 7), np.float32)], lambda x: [], ArgumentError),
])  # fmt: skip
def test_run_into_refuses(outputs: Any, inputs: Any, error: type[Exception]) -> None:
    x = values(5, 7).numpy()
    program = twofold.trace(chain, (twofold.tensor(x),)).compile()
    with pytest.raises(error):
        program.run_into(outputs(x), *inputs(x))


def test_read_only_output() -> None:
    out = np.empty((5, 7), np.float32)
    out.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        twofold.trace(chain, (values(5, 7),)).compile().run_into([out], values(5, 7))


def test_guards() -> None:
    program = twofold.trace(chain, (values(5, 7),)).compile()
    with pytest.raises(GuardError):
        program(values(5, 8))


def test_index_out_of_range_names_the_line() -> None:
    def lookup(table: Any, rows: Any) -> Any:
        return table[rows] * 2

    program = twofold.trace(lookup, (values(4, 3), twofold.tensor([0, 1]))).compile()
    near(program(values(4, 3), twofold.tensor([-1, 3])).numpy(), lookup(values(4, 3), twofold.tensor([-1, 3])).numpy())
    with pytest.raises(IndexOutOfRange) as caught:
        program(values(4, 3), twofold.tensor([0, 4]))
    assert any("test_program.py" in note for note in caught.value.__notes__)
    near(program(values(4, 3), twofold.tensor([0, 1])).numpy(), (values(4, 3)[:2] * 2).numpy())


def test_options() -> None:
    graph_module = twofold.trace(lambda x: (x @ x).sum(0).sort()[0] + 1, (values(9, 9),))
    with pytest.raises(ArgumentError, match="strict_math"):
        graph_module.compile(strict_maths=True)
    with pytest.raises(ArgumentError, match="CPU"):
        graph_module.compile(target="nothing")
    assert graph_module.compile().memory.peak >= 9 * 9 * 4
    with pytest.raises(OutOfMemory, match="memory_limit"):
        graph_module.compile(memory_limit=8)
    with pytest.raises(UnsupportedError, match="size"):
        twofold.trace(chain, (values(3, 4),), dynamic_shapes=({0: "n"},)).compile()


def test_strict_sums() -> None:
    x = values(1, 200_000)
    exact = x.numpy().astype(np.float64).sum()
    strict = twofold.trace(lambda x: x.sum(), (x,)).compile(strict_math=True)(x).item()
    assert abs(strict - exact) <= abs(float(np.float32(exact)) - exact) * 2 + 1e-30


@pytest.mark.parametrize("cpu", ["x86-64-v2", "haswell", "native"])
def test_cpus(cpu: str) -> None:
    x = values(33, 65)
    program = twofold.trace(lambda x: F.layer_norm(chain(x), (65,)).softmax(0), (x,)).compile(target=cpu)
    near(program(x).numpy(), F.layer_norm(chain(x), (65,)).softmax(0).numpy())


def test_looking_at_it() -> None:
    lines: list[str] = []
    with logs_set("fusion", "kernels", "memory", "code", to=lambda record: lines.append(record.artifact)):
        program = twofold.trace(lambda x: (chain(x) @ x.t()).softmax(1), (values(5, 7),)).compile()
    assert set(lines) == {"fusion", "kernels", "memory", "code"}
    kernel = program.kernels[0]
    assert "tanh" in kernel.nodes
    assert "test_program.py" in kernel.lines[0]
    assert "tanh(" in kernel.listing
    assert kernel.bytes == 2 * 5 * 7 * 4
    assert kernel.operations > 0
    assert "host: mm" in program.report()
    assert "define void @kernel0" in program.llvm
    assert "kernel0:" in program.assembly()
    assert "2 kernels, 1 host steps" in repr(program)
    assert [s.name for s in program.compilation.stages] == ["prepare", "plan", "assemble", "build"]


def test_threads_share_a_program() -> None:
    from concurrent.futures import ThreadPoolExecutor

    program = twofold.trace(lambda x: (x @ x.t()).softmax(1).sum(0), (values(8, 8),)).compile()
    inputs = [values(8, 8, seed=k) for k in range(32)]
    with ThreadPoolExecutor(8) as pool:
        for x, y in zip(inputs, pool.map(program, inputs), strict=True):
            near(y.numpy(), (x @ x.t()).softmax(1).sum(0).numpy())


def test_recording_a_program_writes_its_graph() -> None:
    program = twofold.trace(chain, (values(5, 7),)).compile()
    assert "tanh" in str(twofold.trace(lambda x: program(x) + 1, (values(5, 7),)).graph)
