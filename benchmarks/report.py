"""From the figures of many processes to medians, ratios and a table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from pairs import interval

OURS = "twofold"


def _figures(repetitions: Sequence[dict[str, Any]], figure: str) -> dict[str, list[float]]:
    """For each form, one figure a repetition."""
    if figure == "first":
        return {"": [r["first"] for r in repetitions]}
    return {form: [r["forms"][form]["median"] for r in repetitions] for form in repetitions[0]["forms"]}


def _median(repetitions: Sequence[dict[str, Any]], key: str) -> float | None:
    found = [r[key] for r in repetitions if key in r]
    return statistics.median(found) if found else None


def summarise(case: Any, results: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """One row for each peer and form, fastest first, then the peers without figures.

    `results`: for each peer, the figures of its processes, one a repetition. The best peer is the one (other than Twofold) whose median of
    process medians is least; `ratio` is the median over repetitions of this row's figure by the best peer's, `low` and `high` its 90 %
    bootstrap interval. Without another peer nothing is a ratio.
    """
    rows: list[dict[str, Any]] = []
    series: dict[tuple[str, str], list[float]] = {}
    for peer, repetitions in results.items():
        reason = next(((k, r[k]) for r in repetitions for k in ("failed", "unsupported") if k in r), None)
        if reason is not None or not repetitions:
            kind, text = reason or ("failed", "no process ended")
            rows.append({"case": case.name, "peer": peer, "form": "", kind: text})
            continue
        for form, values in _figures(repetitions, case.figure).items():
            series[peer, form] = values
            rows.append({
                "case": case.name, "peer": peer, "form": form,
                "seconds": statistics.median(values), "fastest": min(values), "slowest": max(values), "processes": values,
                "import": _median(repetitions, "import"), "cold": _median(repetitions, "first"), "warm": _median(repetitions, "warm"),
                "memory_peak": _median(repetitions, "memory_peak"), "memory_before": _median(repetitions, "memory_before"),
                "error": max(r["error"] for r in repetitions),
            })  # fmt: skip
    others = [r for r in rows if "seconds" in r and r["peer"] != OURS and r["form"] == ""]
    best = min(others, key=lambda r: r["seconds"], default=None)
    for row in rows:
        if best is None or "seconds" not in row:
            continue
        ratios = [a / b for a, b in zip(series[row["peer"], row["form"]], series[best["peer"], best["form"]], strict=True)]
        row["best"], row["ratio"] = best["peer"], statistics.median(ratios)
        row["low"], row["high"] = interval(ratios)
        if row["peer"] == OURS and case.limit is not None:
            row["limit"], row["holds"] = case.limit, row["low"] <= case.limit
    return sorted(rows, key=lambda r: r.get("seconds", float("inf")))


def duration(seconds: float | None) -> str:
    """Three significant digits and a fitting unit; – for None."""
    if seconds is None:
        return "–"
    unit, scale = "s", 1.0
    while seconds < scale and unit != "µs":
        unit, scale = {"s": ("ms", 1e-3), "ms": ("µs", 1e-6)}[unit]
    value = seconds / scale
    return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f} {unit}"


HEADER = ("peer", "time", "lowest–highest", "ratio", "90 % interval", "import", "cold first", "warm first", "peak MB", "error")


def cells(row: dict[str, Any]) -> list[str]:
    """The row as texts, under HEADER."""
    name = f"{row['peer']} ({row['form']})" if row["form"] else row["peer"]
    if "seconds" not in row:
        kind = "failed" if "failed" in row else "unsupported"
        return [name, f"{kind}: {row[kind]}", *[""] * (len(HEADER) - 2)]
    ratio = f"{row['ratio']:.2f}" if "ratio" in row else "–"
    if "holds" in row:
        ratio += f" ({'≤' if row['holds'] else 'MISSES'} {row['limit']:.2f})"
    span = f"{duration(row['fastest'])} – {duration(row['slowest'])}" if len(row["processes"]) > 1 else "one process"
    between = f"[{row['low']:.2f}, {row['high']:.2f}]" if "low" in row and len(row["processes"]) > 1 else "–"
    memory = f"{row['memory_peak']:.0f} ({row['memory_before']:.0f})"
    return [
        name,
        duration(row["seconds"]),
        span,
        ratio,
        between,
        duration(row["import"]),
        duration(row["cold"]),
        duration(row["warm"]),
        memory,
        f"{row['error']:.1e}",
    ]


def text_table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as aligned plain text; reasons for missing figures are not cut into columns."""
    body = [cells(row) for row in rows]
    full = [c for c, row in zip(body, rows, strict=True) if "seconds" in row]
    widths = [max(len(c[i]) for c in [list(HEADER), *full]) for i in range(len(HEADER))]
    widths[0] = max([widths[0], *(len(c[0]) for c in body)])
    lines = ["  ".join(x.ljust(w) for x, w in zip(line, widths, strict=True)).rstrip() for line in [list(HEADER), *body]]
    return "\n".join(lines)


def markdown_table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as a Markdown table."""
    lines = [list(HEADER), ["---"] * len(HEADER), *(cells(row) for row in rows)]
    return "\n".join("| " + " | ".join(x.replace("|", "\\|") for x in line) + " |" for line in lines)


NOTES = """\
Ratio: the best of the other frameworks = 1.00, so below 1 Twofold is faster than all of them. A time is the median over fresh processes
of the median of a process; where a name is in brackets, the same program was called in another way, or is another generated graph.
Import: of the framework and what the program uses of it, NumPy being imported already. Cold first: from after the import to the first
result with an empty cache of compiled programs; warm first: the same in a new process with the cache that the cold one left (– for
those that keep none). Peak MB: the most resident memory of the process (before compiling in brackets); compilers started as other
processes are not in it. Error: the largest |output - float64 reference| / max |reference| over outputs; for compile_scaling, against
eager.
"""


def markdown_page(document: dict[str, Any], command: str) -> str:
    """RESULTS.md."""
    settings, machine = document["settings"], document["machine"]
    quick = " A trial run with a short steady part: it shows that the cases run, its figures say nothing." if settings["quick"] else ""
    few = (
        ""
        if settings["pairs"] >= 7
        else f" Only {settings['pairs']} process(es) each: on a shared machine two processes of one job differ by 1.2×."
    )
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    parts = [
        f"# Results\n\nMade by `{command}`; do not edit.{quick}{few}\n",
        f"{settings['threads']} threads, {settings['pairs']} processes each. {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['system']}, Python {machine['python']}. {versions}.\n",
    ]
    if document["absent"]:
        parts.append("Not installed: " + ", ".join(document["absent"]) + ".\n")
    parts.append(NOTES)
    for case in document["cases"]:
        parts.append(f"## {case['name']}\n\n{case['summary']}.\n\n{markdown_table(case['rows'])}\n")
    return "\n".join(parts)
