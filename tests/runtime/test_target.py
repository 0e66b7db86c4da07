"""Targets: CPU names, features, and what runs on this machine."""

from __future__ import annotations

import io
from typing import Any

import pytest

from twofold.errors import ArgumentError, UnsupportedError
from twofold.runtime import target as module
from twofold.runtime.codegen import assemble
from twofold.runtime.target import CPUS, LEVELS, check_runs_here, host_features, host_target, named_target
from twofold.support import options

WIDTHS = {
    "x86-64": (16, False), "x86-64-v2": (16, False), "x86-64-v3": (32, True), "x86-64-v4": (64, True), "nehalem": (16, False),
    "sandybridge": (16, False), "haswell": (32, True), "znver3": (32, True), "skylake-avx512": (64, True), "znver4": (64, True),
    "sapphirerapids": (64, True), "aarch64": (16, True),
}  # fmt: skip


@pytest.mark.parametrize("name", WIDTHS)
def test_named_targets(name: str) -> None:
    target = named_target(name)
    assert (target.vector_bytes, target.has_fma) == WIDTHS[name]
    assert target.name == name
    assert target is named_target(name)
    assert target.is_x86 == (name != "aarch64")


@pytest.mark.parametrize("name", sorted({*LEVELS, *CPUS, "native"}))
def test_llvm_knows_every_feature(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """LLVM says on stderr which features and CPUs it does not know, and goes on without them."""
    target = named_target(name)
    assert assemble("define void @f() {\n ret void\n}", target, level=1)
    assert capfd.readouterr().err == ""


def test_a_level_has_all_features_of_the_one_below() -> None:
    v4, v3, v2, _ = LEVELS.values()
    assert set(v2) < set(v3) < set(v4)


@pytest.mark.parametrize(
    "name, message",
    [
        ("hasswell", "did you mean haswell"),
        ("x86-64-v5", "did you mean x86-64-v"),
        ("?", "there are native, x86-64-v4"),
        ("", "there are native"),
    ],
)
def test_no_such_cpu(name: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        named_target(name)


def test_the_environment_names_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_CPU", "x86-64-v2")
    options.reset()
    assert host_target() is named_target("x86-64-v2")
    monkeypatch.setenv("TWOFOLD_CPU", "pentium5")
    options.reset()
    with pytest.raises(ArgumentError, match="no CPU is named 'pentium5' \\(TWOFOLD_CPU, target=\\)"):
        host_target()
    with options.override(cpu="haswell"):
        assert host_target().vector_bytes == 32


def test_this_machine() -> None:
    native = named_target("native")
    check_runs_here(native)
    assert set(native.features) <= host_features()
    assert native.features[: len(module.V1)] == ("sse2",) or set(module.V2) <= set(native.features)


def cpuinfo(monkeypatch: pytest.MonkeyPatch, text: str | None) -> None:
    """What /proc/cpuinfo says, or that it is not there."""

    def opened(path: str, *arguments: Any, **named: Any) -> Any:
        assert path == "/proc/cpuinfo"
        if text is None:
            raise FileNotFoundError(path)
        return io.StringIO(text)

    monkeypatch.setattr(module, "open", opened, raising=False)
    host_features.cache_clear()
    named_target.cache_clear()


@pytest.fixture
def _forget_the_cpu() -> Any:
    yield
    host_features.cache_clear()
    named_target.cache_clear()


V3_FLAGS = "fpu sse2 cx16 popcnt pni ssse3 sse4_1 sse4_2 avx avx2 bmi1 bmi2 f16c fma abm movbe aes"
V4_FLAGS = V3_FLAGS + " avx512f avx512bw avx512cd avx512dq avx512vl avx512_bf16"


@pytest.mark.usefixtures("_forget_the_cpu")
@pytest.mark.parametrize(
    "flags, width, cpu",
    [
        ("fpu sse2", 16, ()),
        (V3_FLAGS, 32, ("aes",)),
        (V4_FLAGS, 64, ("aes", "avx512bf16")),
        (V4_FLAGS.replace("avx512vl", ""), 32, ("aes",)),
        (V3_FLAGS.replace(" fma", ""), 16, ("aes",)),
    ],
    ids=["sse2 only", "avx2", "avx-512", "avx-512 without vl", "avx2 without fma"],
)
def test_native_follows_the_cpu(monkeypatch: pytest.MonkeyPatch, flags: str, width: int, cpu: tuple[str, ...]) -> None:
    """A virtual machine may hide features: whole levels are taken, so no code relies on what is hidden."""
    cpuinfo(monkeypatch, f"processor\t: 0\nflags\t\t: {flags}\n")
    native = named_target("native")
    assert native.vector_bytes == width
    assert tuple(f for f in native.features if f in module.EXTRAS) == cpu
    check_runs_here(native)
    with pytest.raises(UnsupportedError, match=r"lacks .*avx512fp16"):
        check_runs_here(named_target("sapphirerapids"))


@pytest.mark.usefixtures("_forget_the_cpu")
def test_nothing_is_known_of_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    cpuinfo(monkeypatch, None)
    with pytest.raises(UnsupportedError, match="name a CPU with TWOFOLD_CPU"):
        named_target("native")


@pytest.mark.usefixtures("_forget_the_cpu")
def test_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.platform, "machine", lambda: "aarch64")
    named_target.cache_clear()
    with pytest.raises(UnsupportedError, match="graphs are interpreted there"):
        named_target("native")
    with pytest.raises(UnsupportedError, match="it can only be written"):
        check_runs_here(named_target("haswell"))


def test_keys_tell_targets_apart() -> None:
    names = [*LEVELS, *CPUS, "aarch64"]
    by_key: dict[str, set[tuple[str, ...]]] = {}
    for name in names:
        by_key.setdefault(named_target(name).key, set()).add(named_target(name).features)
    assert all(len(features) == 1 for features in by_key.values())
    assert named_target("haswell").key == named_target("x86-64-v3").key
