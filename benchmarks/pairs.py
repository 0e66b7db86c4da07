"""Alternating processes and the statistics of their ratios."""

from __future__ import annotations

import json
import os
import platform
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TWOFOLD_NUM_THREADS": "1"}


def measure(command: Sequence[str], environment: dict[str, str] | None = None) -> dict[str, float]:
    """Run one fresh process that prints a JSON object of figures on its last line."""
    env = {**os.environ, **ONE_THREAD, **(environment or {})}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])  # type: ignore[no-any-return]


def paired(
    ours: Sequence[str], theirs: Sequence[str], pairs: int, environment: dict[str, str] | None = None
) -> list[tuple[dict[str, float], dict[str, float]]]:
    """`pairs` runs of each, in turn, the order changing from pair to pair."""
    result = []
    for i in range(pairs):
        if i % 2:
            b = measure(theirs, environment)
            a = measure(ours, environment)
        else:
            a = measure(ours, environment)
            b = measure(theirs, environment)
        result.append((a, b))
        print(f"pair {i + 1} of {pairs}", file=sys.stderr)
    return result


def interval(ratios: Sequence[float], level: float = 0.9, draws: int = 2000) -> tuple[float, float]:
    """The bootstrap interval of the median."""
    rng = random.Random(0)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(draws))
    cut = int(draws * (1 - level) / 2)
    return medians[cut], medians[-cut - 1]


def summarise(results: list[tuple[dict[str, float], dict[str, float]]], limits: dict[str, float]) -> list[dict[str, Any]]:
    """For each figure: medians of both sides, the median ratio with its interval, the limit and whether it holds."""
    rows = []
    for key in results[0][0]:
        if key not in results[0][1]:
            continue
        ratios = [a[key] / b[key] for a, b in results]
        low, high = interval(ratios)
        limit = limits.get(key)
        rows.append({
            "case": key, "ours": statistics.median(a[key] for a, _ in results), "theirs": statistics.median(b[key] for _, b in results),
            "ratio": statistics.median(ratios), "low": low, "high": high, "limit": limit, "holds": None if limit is None else low <= limit,
        })  # fmt: skip
    return rows


def show(rows: list[dict[str, Any]], unit: str) -> None:
    """Print the table."""
    print(f"{'case':34} {'ours':>10} {'theirs':>10} {'ratio':>7}  {'90 % interval':17} {'limit':>6}")
    for r in rows:
        mark = "" if r["holds"] is None else "holds" if r["holds"] else "MISSED"
        limit = "" if r["limit"] is None else f"{r['limit']:.2f}"
        span = f"[{r['low']:.2f}, {r['high']:.2f}]"
        print(f"{r['case']:34} {r['ours']:10.3f} {r['theirs']:10.3f} {r['ratio']:7.2f}  {span}      {limit:>6} {mark}")
    print(f"({unit})")


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    model = ""
    try:
        with open("/proc/cpuinfo") as f:
            model = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), "")
    except OSError:
        pass
    return {"python": platform.python_version(), "cpu": model, "system": platform.platform(), "cores": str(os.cpu_count())}
