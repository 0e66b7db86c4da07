"""Long runs: `python -m tests.mutation.fuzz FIRST COUNT [--no-torch]` tries the programs of COUNT seeds and prints every difference,
minimised.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.mutation.compare import MODES, judge
from tests.mutation.programs import Program, minimise, seeded
from tests.mutation.worlds import TorchWorld

SHOWN = 8
"""Differences that are minimised and printed; more are only counted."""


def torch_worlds() -> Callable[[], Any]:
    """A function that makes PyTorch's world."""
    import torch

    torch.set_num_threads(1)
    return lambda: TorchWorld(torch)


def mode_of(seed: int) -> str:
    return MODES[seed % len(MODES)]


def attempt(program: Program, mode: str, torch_world: Any, stats: Counter[str] | None = None, check: bool = False) -> str | None:
    """`judge`, with an unexpected exception as a difference too."""
    try:
        return judge(program, mode, torch_world, stats, check)
    except Exception as e:
        last = traceback.extract_tb(e.__traceback__)[-1]
        return f"crash: {type(e).__name__}: {str(e)[:300]} (in {last.name}, {last.filename.rsplit('/', 1)[-1]}:{last.lineno})"


def run_seed(seed: int, torch_world: Any, stats: Counter[str] | None = None) -> str | None:
    """Try the program of a seed in the mode that belongs to it; the recorded graph of every fifth is checked by `trace` itself too."""
    return attempt(seeded(seed), mode_of(seed), torch_world, stats, check=seed % 5 == 0)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.fuzz", description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--no-torch", action="store_true", help="compare eager and recorded only")
    given = parser.parse_args(arguments)
    worlds = None if given.no_torch else torch_worlds()
    stats: Counter[str] = Counter()
    found: Counter[str] = Counter()
    begin = time.perf_counter()
    for seed in range(given.first, given.first + given.count):
        why = run_seed(seed, worlds, stats)
        stats["programs"] += 1
        if why is None:
            continue
        tag = why.split(":")[0]
        found[tag] += 1
        if sum(found.values()) <= SHOWN:
            report(seed, why, tag, worlds)
    for name, count in sorted(stats.items()):
        print(f"{count:8} {name}")
    print(f"{time.perf_counter() - begin:.0f} s; differences: {dict(found) or 'none'}")
    return 1 if found else 0


def report(seed: int, why: str, tag: str, worlds: Any) -> None:
    """Print a difference and the smallest program that shows it."""
    mode, check = mode_of(seed), seed % 5 == 0

    def fails(p: Program) -> bool:
        now = attempt(p, mode, worlds, None, check)
        return now is not None and now.split(":")[0] == tag

    small = minimise(seeded(seed), fails)
    print(f"--- seed {seed}, {mode}: {why[:200]}\n{small!r}\n=> {attempt(small, mode, worlds, None, check)}"[:3000], flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
