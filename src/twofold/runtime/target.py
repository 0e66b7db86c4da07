"""The machine code is made for: a CPU, its features, the width of its vectors."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import lru_cache

from twofold.support import options
from twofold.support.errors import ArgumentError, UnsupportedError

CPU = options.register(
    "cpu", str, "native", "the CPU that code is made for: native, x86-64-v2, x86-64-v3, haswell, x86-64-v4, aarch64", "TWOFOLD_CPU"
)

V2 = ("cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2")
V3 = (*V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
V4 = (*V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
CPUINFO = {"sse3": "pni", "sse4.1": "sse4_1", "sse4.2": "sse4_2", "bmi": "bmi1", "lzcnt": "abm"}
"""How /proc/cpuinfo spells features, where it differs from LLVM."""
KNOWN = {"x86-64-v2": V2, "x86-64-v3": V3, "haswell": V3, "x86-64-v4": V4}


@dataclass(frozen=True)
class Target:
    """A CPU. `features` are LLVM's names; `vector_bytes` the width of its vectors."""

    name: str
    triple: str
    cpu: str
    features: tuple[str, ...]
    vector_bytes: int

    @property
    def has_fma(self) -> bool:
        """Whether multiply-and-add is one instruction."""
        return not self.is_x86 or "fma" in self.features

    @property
    def is_x86(self) -> bool:
        return self.triple.startswith("x86_64")

    @property
    def feature_text(self) -> str:
        """The features as LLVM takes them."""
        return ",".join("+" + f for f in self.features)

    @property
    def key(self) -> str:
        """What code for this target depends on, as text."""
        return f"{self.triple}/{self.cpu}/{self.feature_text}"


def _made(name: str, features: tuple[str, ...]) -> Target:
    width = 64 if "avx512vl" in features else 32 if "avx2" in features else 16
    cpu = name if name in KNOWN else "x86-64"
    return Target(name, "x86_64-unknown-linux-gnu", cpu, features, width)


@lru_cache(maxsize=1)
def host_features() -> frozenset[str]:
    """The features of this machine's CPU by LLVM's names, as far as targets name them."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line for line in file if line.startswith("flags")), "").split()
    except OSError:
        flags = []
    return frozenset(f for f in V4 if CPUINFO.get(f, f) in flags)


def named_target(name: str) -> Target:
    """The target of a name; ArgumentError naming the known ones."""
    if name == "native":
        if platform.machine() not in ("x86_64", "AMD64"):
            raise UnsupportedError(
                f"native code is made for x86-64 on Linux; this machine is {platform.machine()}: graphs are interpreted there"
            )
        have = host_features()
        level = next((level for level in (V4, V3, V2) if set(level) <= have), ())
        return _made("native", level)
    if name == "aarch64":
        return Target(name, "aarch64-unknown-linux-gnu", "generic", ("neon",), 16)
    if name in KNOWN:
        return _made(name, KNOWN[name])
    raise ArgumentError(f"no CPU is named {name!r} (TWOFOLD_CPU, target=): native, {', '.join(KNOWN)}, aarch64")


def host_target() -> Target:
    """The target that TWOFOLD_CPU names, this machine unless it does."""
    return named_target(CPU.value)


def check_runs_here(target: Target) -> None:
    """Raise UnsupportedError if this machine cannot run the target's code."""
    missing = [f for f in target.features if f not in host_features()] if target.is_x86 else ["x86-64"]
    if missing or not target.is_x86 or platform.machine() not in ("x86_64", "AMD64"):
        raise UnsupportedError(f"code for {target.name} does not run on this machine ({platform.machine()}, without {', '.join(missing)})")
