"""Programs for other CPUs: code is made for AArch64, and for levels of x86-64; what does not run here can be looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
import twofold.nn.functional as F
from tests.runtime.disassembly import instructions
from twofold.errors import ArgumentError, UnsupportedError
from twofold.runtime import counters, elf
from twofold.runtime import target as target_module
from twofold.runtime.codegen import assemble
from twofold.runtime.target import named_target
from twofold.support import options


def values(*shape: int, dtype: Any = np.float32) -> Any:
    return twofold.tensor((np.random.default_rng(len(shape)).standard_normal(shape) * 3).astype(dtype))


INDEX = twofold.tensor([1, 0, 3])
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "pointwise": (lambda x: twofold.relu(x * 1.3 + 0.2) * twofold.tanh(x), (values(37, 5),)),
    "float64": (lambda x: twofold.exp(x) + x.sqrt(), (values(9, dtype=np.float64),)),
    "float16": (lambda x: x * x + 1, (values(33, dtype=np.float16),)),
    "bfloat16": (lambda x: x.to(twofold.bfloat16) * 2, (values(33),)),
    "integers": (lambda x: (x // 3, x % 5, x << 2, x > 1), (values(40, dtype=np.int64),)),
    "cast": (lambda x: (x.to(twofold.int32), x > 0, x.to(twofold.float64)), (values(40),)),
    "transposed": (lambda x: x.t().contiguous() + 1, (values(20, 30),)),
    "row sums": (lambda x: x.sum(1), (values(6, 77),)),
    "column sums": (lambda x: x.sum(0), (values(77, 70),)),
    "all": (lambda x: (x.mean(), x.amax(), x.argmax()), (values(6, 77),)),
    "softmax": (lambda x: x.softmax(1), (values(6, 77),)),
    "norm": (lambda x: F.layer_norm(F.gelu(x), (12,)), (values(6, 12),)),
    "gather": (lambda x, i: x[i] * 2, (values(6, 8), INDEX)),
    "scatter": (lambda x, i: x.index_add(0, i, x[:3]), (values(6, 8), INDEX)),
    "joined": (lambda x: twofold.cat([x, x * 2, x[:1]]), (values(6, 8),)),
    "padded": (lambda x: F.pad(x, (1, 2), "reflect"), (values(6, 8),)),
    "pooled": (lambda x: F.max_pool2d(x, 2), (values(2, 3, 8, 8),)),
    "scan": (lambda x: x.cumsum(1), (values(6, 77),)),
    "sort": (lambda x: x.sort(1).values, (values(6, 77),)),
    "branches": (lambda x: twofold.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)), (values(6),)),
    "loop": (lambda x: twofold.while_loop(lambda x: x.sum() < 9, lambda x: (x * 2,), (x,))[0], (values(6).abs(),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_for_aarch64(name: str) -> None:
    """Every kind of kernel becomes AArch64's machine code: nothing in the texts is x86's alone."""
    function, inputs = PROGRAMS[name]
    program = twofold.trace(function, inputs, check=False).compile(target="aarch64")
    target = named_target("aarch64")
    parsed = elf.parse_object(assemble(program.llvm, target, level=1, name=name))
    assert elf.MACHINES[parsed.machine] == "AArch64"
    assert "run" in {s.name for s in parsed.symbols if s.section != elf.SHN_UNDEF}
    assert program.kernels
    for kernel in program.kernels:
        found = instructions(kernel.assembly())
        assert "ret" in found or "b" in found
        assert not {"movq", "movl", "retq", "vmovups", "movups"} & found, "that is x86"
    with pytest.raises(UnsupportedError, match="does not run on this machine"):
        program(*inputs)


@pytest.mark.parametrize("name", ["pointwise", "row sums", "softmax"])
def test_vectors_on_aarch64(name: str) -> None:
    function, inputs = PROGRAMS[name]
    (kernel,) = twofold.trace(function, inputs, check=False).compile(target="aarch64").kernels
    assert ".4s" in kernel.assembly()


def test_a_program_for_another_machine() -> None:
    """It is planned and written, not built: looking at it works, each way of running it says why it does not."""
    x = values(6, 8)
    before = counters.COMPILATIONS.value
    program = twofold.trace(lambda x: x.softmax(1), (x,)).compile(target="aarch64")
    assert counters.COMPILATIONS.value == before
    assert "ldr\tq" in program.assembly() or "ldp\tq" in program.assembly() or ".4s" in program.assembly()
    assert "aarch64 is not this machine" in program.report()
    output = twofold.empty(6, 8)
    for call in (lambda: program(x), lambda: program(x.numpy()), lambda: program.run_into([output], x), lambda: program.profile(x)):
        with pytest.raises(UnsupportedError, match=r"code for aarch64 \(aarch64-unknown-linux-gnu\) does not run on this machine"):
            call()
    joint = twofold.aot(lambda x: x.softmax(1).square().sum(), x.requires_grad_()).compile(target="aarch64")
    with pytest.raises(UnsupportedError, match="does not run on this machine"):
        joint(x)


def test_a_cpu_with_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code for AVX-512 on a machine without: the features that are missing are named."""
    have = frozenset(f for f in target_module.host_features() if not f.startswith("avx512"))
    monkeypatch.setattr(target_module, "host_features", lambda: have)
    x = values(40)
    program = twofold.trace(lambda x: x * 2, (x,)).compile(target="x86-64-v4")
    assert "zmm" in program.kernels[0].assembly()
    with pytest.raises(UnsupportedError, match="whose CPU lacks avx512f"):
        program(x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_for_an_old_cpu_runs(name: str) -> None:
    """x86-64-v2 has neither AVX nor FMA."""
    function, inputs = PROGRAMS[name]
    graph = twofold.trace(function, inputs, check=False)
    got, wanted = graph.compile(target="x86-64-v2")(*inputs), graph(*inputs)
    if not isinstance(got, tuple):
        got, wanted = (got,), (wanted,)
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype is b.dtype
        kind = {twofold.float16: 1e-3, twofold.bfloat16: 1e-2, twofold.float64: 1e-14}.get(a.dtype, 1e-5)
        np.testing.assert_allclose(a.to(twofold.float64).numpy(), b.to(twofold.float64).numpy(), rtol=kind, atol=kind)


def test_the_environment_s_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    x = values(40)
    graph = twofold.trace(lambda x: x * 2 + 1, (x,))
    monkeypatch.setenv("TWOFOLD_CPU", "x86-64-v2")
    options.reset()
    assert "ymm" not in graph.compile().kernels[0].assembly()
    assert "ymm" in graph.compile(target="haswell").kernels[0].assembly()
    monkeypatch.setenv("TWOFOLD_CPU", "pentium5")
    options.reset()
    with pytest.raises(ArgumentError, match="no CPU is named 'pentium5'"):
        graph.compile()
