"""What can be seen of programs, forward and joint: the same members on both."""

from __future__ import annotations

import pytest

import twofold
import twofold.nn.functional as F


@pytest.fixture(scope="module", params=["forward", "joint"])
def program(request):
    x = twofold.arange(48, dtype=twofold.float32).reshape(6, 8).requires_grad_(request.param == "joint")
    w = twofold.ones(8)

    def function(x, w):
        return (F.layer_norm(x, (8,), w) * w).sum()

    compiled = twofold.aot(function, x, w).compile() if request.param == "joint" else twofold.trace(function, (x, w)).compile()
    return compiled, (x, w)


def test_members(program):
    compiled, arguments = program
    assert "layer_norm" in compiled.report()
    assert "bytes" in compiled.report()
    assert "define i32 @run" in compiled.llvm
    assert ".text" in compiled.assembly()
    assert compiled.memory.peak >= 0
    assert all(kernel.bytes > 0 for kernel in compiled.kernels)
    assert repr(compiled).startswith(f"<{type(compiled).__name__} ")
    profile = compiled.profile(*arguments, repeats=2)
    assert [s.name for s in profile.steps] == [k.name for k in compiled.kernels]
    assert "0 diverge" in str(compiled.verify(*arguments))


def test_joint_programs_take_tangents():
    x = twofold.ones(3, 4).requires_grad_()
    joint = twofold.aot(lambda x: x * x, x).compile()
    tangents = twofold.full((3, 4), 2.0)
    _, gradients = joint(x, tangents=tangents)
    assert gradients["x"].tolist() == [[4.0] * 4] * 3
    assert "0 diverge" in str(joint.verify(x, tangents=tangents))
