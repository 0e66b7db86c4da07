"""`program.profile` and `program.kernels`: what is counted, how it is shown. No test here depends on a time."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import twofold
import twofold.nn.functional as F
from twofold.compiler.ceilings import SMALLEST, Bandwidth, ceilings
from twofold.compiler.instrument import ProbedRun, TimedRun, leaves
from twofold.compiler.kernel_info import ModuleText
from twofold.errors import ArgumentError, GuardError, IndexOutOfRange
from twofold.runtime.target import host_target


def values(*shape: int, seed: int = 0) -> Any:
    return twofold.tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def looped(x: Any) -> Any:
    y = twofold.linalg.inv(x).softmax(1)
    y = twofold.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 1.5 + i), (twofold.tensor(0), y))[1]
    return twofold.cond(x.sum() > 0, lambda a: a * 2, lambda a: a - 1, (y,))


def compiled(function: Any, *args: Any, **options: Any) -> Any:
    return twofold.trace(function, args, check=False).compile(**options)


def test_profile_counts_steps() -> None:
    x = values(8, 8).abs()
    program = compiled(looped, x)
    profile = program.profile(x, repeats=3)
    by_nodes = {s.nodes: s for s in profile.steps}
    assert sum(s.kind == "host" for s in profile.steps) == 1
    assert by_nodes["lt",].calls == 6
    body = next(s for n, s in by_nodes.items() if s.calls == 5 and "mul" in n)
    assert (body.bytes, body.flops) == (5 * (2 * 8 * 8 * 4 + 8), 5 * 2 * 64)
    assert not any(s.nodes == ("sub_1",) for s in profile.steps)  # the body that was not taken
    assert abs(sum(s.share for s in profile.steps) - 1.0) < 1e-9
    assert all(s.seconds >= s.least >= 0.0 for s in profile.steps)
    inverse = next(s for s in profile.steps if s.kind == "host")
    assert inverse.nodes == ("linalg_inv_ex_inverse",)
    assert inverse.bytes == 2 * 8 * 8 * 4 + 4  # a matrix in, a matrix and a status out
    assert inverse.flops > 0


def test_profile_is_shown_and_is_data() -> None:
    x = values(8, 8)
    profile = compiled(looped, x).profile(x, repeats=2)
    text = str(profile)
    assert "test_profile.py:" in text
    assert "host step 0" in text
    assert "ceilings:" in text
    data = json.loads(profile.to_json())
    assert data == json.loads(json.dumps(profile.to_dict()))
    assert [s["name"] for s in data["steps"]] == [s.name for s in profile.steps]
    assert data["repeats"] == 2
    assert data["threads"] == profile.threads >= 1


def test_profile_takes_what_a_call_takes() -> None:
    layer = twofold.nn.Linear(4, 3)
    x = values(5, 4)
    with twofold.no_grad():
        program = compiled(layer, x)
        assert program.profile(x, repeats=1).steps
        assert program.profile(x.numpy(), repeats=1).steps
    with pytest.raises(GuardError):
        program.profile(values(6, 4), repeats=1)
    for repeats in (0, 1.5, True, "many"):
        with pytest.raises(ArgumentError, match="repeats"):
            program.profile(x, repeats=repeats)


def test_profile_does_not_write_arguments() -> None:
    def step(x: Any) -> Any:
        x.add_(1.0)
        return x * 2

    x = values(3, 4)
    program = compiled(step, x.clone())
    before = x.numpy().copy()
    program.profile(x, repeats=2)
    np.testing.assert_array_equal(x.numpy(), before)


def test_instrumented_runs_compute_the_same() -> None:
    x = values(33, 33)
    program = compiled(looped, x)
    expected = program(x).numpy()
    e = program.executable
    timed = TimedRun(e)
    np.testing.assert_array_equal(timed([x.numpy()])[0], expected)
    taken = timed.take()
    assert taken[-1, 1] == 1
    assert all(taken[a.step, 1] <= 6 for a in leaves(e.assembly))
    seen: list[tuple[str, int]] = []
    probed = ProbedRun(e, lambda a, view: seen.append(("before", a.step)), lambda a, view: seen.append(("after", a.step)))
    np.testing.assert_array_equal(probed([x.numpy()])[0], expected)
    assert len(seen) == 2 * taken[:-1, 1].sum()
    assert all(a == ("before", b[1]) and b[0] == "after" for a, b in zip(seen[::2], seen[1::2], strict=True))


def test_errors_come_through() -> None:
    program = compiled(lambda table, rows: table[rows] * 2, values(4, 3), twofold.tensor([0, 1]))
    with pytest.raises(IndexOutOfRange):
        program.profile(values(4, 3), twofold.tensor([0, 4]))

    def refuse(action: Any, view: Any) -> None:
        raise ValueError("no")

    probed = ProbedRun(program.executable, refuse, refuse)
    with pytest.raises(ValueError, match="no"):
        probed([values(4, 3).numpy(), np.array([0, 1])])
    with pytest.raises(ArgumentError, match="inputs"):
        probed([])


# --- kernels


def test_kernel_information() -> None:
    x = values(16, 64)
    kernel = compiled(lambda x: F.layer_norm(F.gelu(x), (64,)), x).kernels[0]
    assert {"erfc", "rsqrt"} <= set(kernel.nodes)
    assert any("test_profile.py" in line for line in kernel.lines)
    assert "sum over" in kernel.listing
    assert kernel.schedule
    assert kernel.llvm.count("define ") >= 1
    assert f"@{kernel.llvm.split('@', 1)[1].split('(')[0]}" in kernel.llvm
    assert "define i32 @run" not in kernel.llvm
    assert ".Lfunc_end" in kernel.assembly()
    assert (kernel.bytes_read, kernel.bytes_written, kernel.bytes) == (16 * 64 * 4, 16 * 64 * 4, 2 * 16 * 64 * 4)
    assert kernel.kinds["sum"] == 2 * 16 * 64
    assert kernel.operations == sum(kernel.kinds.values())
    assert 0 < kernel.flops <= kernel.operations


@pytest.mark.parametrize("function,read,written,flops", [
    (lambda x: x * 2 + 1, 64 * 4, 64 * 4, 2 * 64),
    (lambda x: x.sum(0), 64 * 4, 8 * 4, 64),
    (lambda x: x[2:4] * 2, 16 * 4, 16 * 4, 16),  # a part of a buffer is read
    (lambda x: (x > 0).to(twofold.int64), 64 * 4, 64 * 8, 0),  # a comparison is no arithmetic
    (lambda x: x.expand(3, 8, 8) + 1, 64 * 4, 3 * 64 * 4, 64),  # the sum does not vary along the new dimension
])  # fmt: skip
def test_traffic_and_operations(function: Any, read: int, written: int, flops: int) -> None:
    (kernel,) = compiled(function, values(8, 8)).kernels
    assert (kernel.bytes_read, kernel.bytes_written, kernel.flops) == (read, written, flops)


def test_gathered_rows_are_counted_not_the_table() -> None:
    (kernel,) = compiled(lambda table, rows: table[rows] * 2, values(1000, 4), twofold.tensor([5, 6])).kernels
    assert kernel.bytes_read == 2 * 4 * 4 + 2 * 8


def test_functions_of_a_module() -> None:
    module = ModuleText(
        "@table = constant i8 1\n@other = constant i8 2\ndeclare float @f(float)\ndeclare float @g(float)\n"
        "define void @a() {\nentry:\n  call void @b()\n  ret void\n}\n"
        "define internal void @b() {\n  %x = load i8, ptr @table\n  call float @f(float 1.0)\n  ret void\n}\n"
        "define void @c() {\n  ret void\n}\n"
    )
    text = module.alone(["a"])
    assert all(part in text for part in ("define void @a", "define internal void @b", "@table = ", "declare float @f"))
    assert not any(part in text for part in ("@other", "@g", "@c"))


# --- ceilings


def test_ceilings_are_measured_once() -> None:
    limits = ceilings(host_target(), 1)
    assert ceilings(host_target(), 1) is limits
    small = limits.bandwidth(10)
    assert small.nbytes == SMALLEST
    assert limits.bandwidth(SMALLEST) is small
    assert 0.0 < small.read <= small.copy
    assert 0.0 < small.write <= small.copy
    assert limits.peak("float32") == limits.peak("float32") > 0.0


def test_least_time_of_traffic() -> None:
    b = Bandwidth(1 << 20, 1.0, 2.0, 2.5)
    assert b.seconds(10, 0) == 10.0
    assert b.seconds(0, 10) == 20.0
    assert b.seconds(10, 10) == 25.0
    assert b.seconds(30, 10) == 30.0
