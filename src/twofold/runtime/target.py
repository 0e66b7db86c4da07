"""The machine that code is made for: its instruction set, as LLVM names it, and the width of its vectors.

What this machine has is read from /proc/cpuinfo, not asked of LLVM: a process that finds its code in the cache never imports llvmlite.
Code is made for a level of the x86-64 psABI and a list of further features. It uses nothing else, so comparing `Target.features` with those
of the machine decides whether it runs there.
"""

from __future__ import annotations

import difflib
import platform
from dataclasses import dataclass
from functools import cache

from twofold.support import options
from twofold.support.errors import ArgumentError, UnsupportedError

CPU = options.register(
    "cpu", str, "native", "the CPU that code is made for: native, x86-64-v2, x86-64-v3, x86-64-v4, haswell, another LLVM name, aarch64",
    "TWOFOLD_CPU",
)  # fmt: skip

V1 = ("sse2",)
V2 = ("cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2")
V3 = (*V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
V4 = (*V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
"""The levels of the x86-64 psABI, supplement "Micro-architecture levels" (without features of the system such as lahf and xsave)."""
LEVELS = {"x86-64-v4": V4, "x86-64-v3": V3, "x86-64-v2": V2, "x86-64": V1}

_CRYPTO = ("aes", "pclmul")
_VECTOR_CRYPTO = (*_CRYPTO, "gfni", "vaes", "vpclmulqdq")
_ICELAKE = (*_VECTOR_CRYPTO, "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni", "avx512bitalg", "avx512vpopcntdq")
_AMX = ("amx-tile", "amx-int8", "amx-bf16")
EXTRAS = (*_ICELAKE, "avx512bf16", "avx512fp16", "avxvnni", *_AMX)
"""Features above the levels that code generation may profit from."""
CPUINFO = {
    "sse3": "pni", "sse4.1": "sse4_1", "sse4.2": "sse4_2", "bmi": "bmi1", "lzcnt": "abm", "pclmul": "pclmulqdq",
    "avx512vbmi2": "avx512_vbmi2", "avx512vnni": "avx512_vnni", "avx512bitalg": "avx512_bitalg",
    "avx512vpopcntdq": "avx512_vpopcntdq", "avx512bf16": "avx512_bf16", "avx512fp16": "avx512_fp16", "avxvnni": "avx_vnni",
    "amx-tile": "amx_tile", "amx-int8": "amx_int8", "amx-bf16": "amx_bf16",
}  # fmt: skip
"""How /proc/cpuinfo spells features, where it differs from LLVM."""

_SAPPHIRE = (*V4, *_ICELAKE, "avx512bf16", "avx512fp16", "avxvnni", *_AMX)
CPUS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("k8", "opteron", "athlon64", "nocona"), V1),
    "nehalem": V2,
    **dict.fromkeys(("westmere", "silvermont", "goldmont", "goldmont-plus", "tremont"), (*V2, *_CRYPTO)),
    "sandybridge": (*V2, *_CRYPTO, "avx"),
    "ivybridge": (*V2, *_CRYPTO, "avx", "f16c"),
    "haswell": V3,
    **dict.fromkeys(("broadwell", "skylake", "znver1", "znver2"), (*V3, *_CRYPTO)),
    "znver3": (*V3, *_CRYPTO, "vaes", "vpclmulqdq"),
    **dict.fromkeys(("alderlake", "raptorlake", "meteorlake"), (*V3, *_VECTOR_CRYPTO, "avxvnni")),
    "skylake-avx512": (*V4, *_CRYPTO),
    "cascadelake": (*V4, *_CRYPTO, "avx512vnni"),
    "cooperlake": (*V4, *_CRYPTO, "avx512vnni", "avx512bf16"),
    **dict.fromkeys(("icelake-client", "icelake-server", "rocketlake", "tigerlake"), (*V4, *_ICELAKE)),
    "znver4": (*V4, *_ICELAKE, "avx512bf16"),
    "znver5": (*V4, *_ICELAKE, "avx512bf16", "avxvnni"),
    **dict.fromkeys(("sapphirerapids", "emeraldrapids", "graniterapids"), _SAPPHIRE),
}
"""CPUs by LLVM's names. Only the instruction set is taken from them: scheduling is LLVM's generic one."""

X86_TRIPLE, ARM_TRIPLE = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"


@dataclass(frozen=True)
class Target:
    """A machine to make code for.

    name:         what the user called it
    triple:       architecture and system, as LLVM writes them
    cpu:          LLVM's name of the CPU whose scheduling and base features are used
    features:     LLVM's names of all features that code may use (of those that `host_features` knows)
    vector_bytes: the width of vectors: 64 with AVX-512 (F, BW, DQ, VL), 32 with AVX2, else 16
    """

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
        """What code for this target depends on, as text: equal for two targets only if the same object code serves both."""
        return f"{self.triple}/{self.cpu}/{self.feature_text}"


def _x86(name: str, features: tuple[str, ...]) -> Target:
    width = 64 if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= set(features) else 32 if "avx2" in features else 16
    cpu = "x86-64-v3" if name == "haswell" else name if name in LEVELS else "x86-64"  # LLVM tunes the level x86-64-v3 for Haswell
    return Target(name, X86_TRIPLE, cpu, features, width)


def _is_x86_machine() -> bool:
    return platform.machine() in ("x86_64", "AMD64")


@cache
def host_features() -> frozenset[str]:
    """The features of this machine's CPU by LLVM's names, as far as targets name them; none where there is no /proc/cpuinfo."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = frozenset(next((line for line in file if line.startswith("flags")), "").split())
    except OSError:
        return frozenset()
    return frozenset(f for f in (*V1, *V4, *EXTRAS) if CPUINFO.get(f, f) in flags)


def _native() -> Target:
    """This machine: the highest level it has, and all further features."""
    if not _is_x86_machine():
        raise UnsupportedError(
            f"native code is made for x86-64 on Linux; this machine is {platform.machine()}: graphs are interpreted there"
        )
    have = host_features()
    level = next((features for features in LEVELS.values() if set(features) <= have), None)
    if level is None:
        raise UnsupportedError("what this CPU can do is read from /proc/cpuinfo, and nothing is there; name a CPU with TWOFOLD_CPU")
    extras = (f for f in EXTRAS if f in have and (level is V4 or not f.startswith(("avx512", "amx"))))
    return _x86("native", (*level, *extras))


@cache
def named_target(name: str) -> Target:
    """The target of a name: "native", a level ("x86-64-v3"), an x86-64 CPU by LLVM's name ("haswell"), or "aarch64", for which code can be
    written, not run. ArgumentError naming some that exist if there is none of that name."""
    if name == "native":
        return _native()
    if name == "aarch64":
        return Target(name, ARM_TRIPLE, "generic", ("neon",), 16)
    features = LEVELS.get(name) or CPUS.get(name)
    if features is None:
        known = ("native", *LEVELS, *CPUS, "aarch64")
        near = difflib.get_close_matches(name, known, 3)
        some = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(known)}"
        raise ArgumentError(f"no CPU is named {name!r} (TWOFOLD_CPU, target=); {some}")
    return _x86(name, features)


def host_target() -> Target:
    """The target that the option `cpu` (TWOFOLD_CPU) names: this machine, unless it was set."""
    return named_target(CPU.value)


def why_not_here(target: Target) -> str:
    """Why this machine cannot run the target's code; "" if it can."""
    if not (target.is_x86 and _is_x86_machine()):
        return f"code for {target.name} ({target.triple}) does not run on this machine ({platform.machine()}); it can only be written"
    missing = [f for f in target.features if f not in host_features()]
    if missing:
        return (
            f"code for {target.name} does not run on this machine, whose CPU lacks {', '.join(missing)};"
            " choose another target (TWOFOLD_CPU=native is this machine)"
        )
    return ""


def check_runs_here(target: Target) -> None:
    """UnsupportedError if this machine cannot run the target's code."""
    if why := why_not_here(target):
        raise UnsupportedError(why)
