"""Writes tests/conformance/results.json and docs/conformance.md from the reports of a full run."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.conformance.known import KNOWN, number, reason

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "tests" / "conformance" / "results.json"
PAGE = ROOT / "docs" / "conformance.md"
PARTS = ("forward", "forms", "backward", "errors")
KEPT, WIDTH = 5, 220

INTRODUCTION = """# Conformance with PyTorch

PyTorch describes its own operations in a table, `op_db`, with sample inputs and error inputs for each. `tests/conformance` runs them
against this package. Made by `python -m tests.conformance --all --write` from tests/conformance/results.json; do not edit.

- **forward**: the function on every sample in float32, int64 and bool, and on ten samples in float64, int32, uint8, bfloat16 and float16.
  Shape, dtype and values, the error against a run in float64 at most
  3 times PyTorch's largest (besides 2e-6 relative and 5e-6 absolute in float32). Random operations: shape, dtype and moments of many draws.
- **forms**: the method and the in-place form on the first three samples of each dtype.
- **backward**: gradients of a random combination of the results, in float64, to 1e-9.
- **errors**: what PyTorch refuses is refused here, by an exception of the same built-in class.
"""


def namespace(name: str) -> str:
    """The part of torch that an entry belongs to."""
    head = name.split("/")[0]
    return head.rsplit(".", 1)[0] if "." in head else "torch"


def condensed(report: dict[str, Any]) -> dict[str, Any]:
    """What of a report is kept: counts, exclusions, the first failures. No times: they would change in every run."""
    kept: dict[str, Any] = {"found": report["found"]}
    if report["scope"] is not None:
        return {"scope": report["scope"]}
    if report.get("broken"):
        return kept | {"broken": report["broken"]}
    if not report["found"]:
        return kept
    for part in PARTS:
        p = report[part]
        kept[part] = [p["passed"], p["total"]]
        if p["failures"]:
            kept.setdefault("failures", {})[part] = [
                text[:WIDTH] for text in p["failures"][: max(KEPT, len(KNOWN.get((report["name"], part), {})))]
            ]
        for why, n in p["excluded"].items():
            excluded = kept.setdefault("excluded", {})
            excluded[f"{part}: {why}"] = excluded.get(f"{part}: {why}", 0) + n
    if report["aliases"]:
        kept["aliases"] = report["aliases"]
    return kept


def write(reports: dict[str, Any], torch_version: str) -> None:
    """Write both files."""
    entries = {name: condensed(r) for name, r in sorted(reports.items())}
    lines = [f"  {json.dumps(name)}: {json.dumps(e, ensure_ascii=False)}" for name, e in entries.items()]
    RESULTS.write_text(f'{{"torch": {json.dumps(torch_version)}, "entries": {{\n' + ",\n".join(lines) + "\n}}\n")
    PAGE.write_text(page(load()))


def load() -> dict[str, Any]:
    """The results of the last full run."""
    return json.loads(RESULTS.read_text())


def within(results: dict[str, Any]) -> dict[str, Any]:
    """The entries that concern dense real tensors on the CPU."""
    return {name: e for name, e in results["entries"].items() if "scope" not in e}


def totals(entries: dict[str, Any]) -> dict[str, list[int]]:
    """Passed and all samples of each part."""
    counts = {part: [0, 0] for part in PARTS}
    for e in entries.values():
        for part in PARTS:
            for k, n in enumerate(e.get(part, (0, 0))):
                counts[part][k] += n
    return counts


def share(passed: int, total: int) -> str:
    """`5 of 6 (83.33 %)`; not rounded up to 100."""
    if not total:
        return "0"
    percent = int(10000 * passed / total) / 100
    return f"{passed} of {total} ({percent:.2f} %)"


def head(results: dict[str, Any]) -> str:
    """The counts in total."""
    inside = within(results)
    found = sum(e["found"] for e in inside.values())
    aliases = [here for e in inside.values() for here in e.get("aliases", {}).values()]
    rows = [f"| {part} | {share(*counts)} |" for part, counts in totals(inside).items()]
    return "\n".join((
        f"PyTorch {results['torch']}: {len(results['entries'])} entries, of which {len(inside)} concern dense real tensors on the CPU.",
        f"Of these {share(found, len(inside))} exist here, and {share(sum(aliases), len(aliases))} of their second names.",
        "", "| part | samples passed |", "|---|---|", *rows,
    ))  # fmt: skip


def page(results: dict[str, Any]) -> str:
    """The document."""
    inside = within(results)
    return "\n".join((
        INTRODUCTION, "## Counts", "", head(results), "", "## By namespace", "", *by_namespace(inside), "", "## What fails", "",
        *failing(inside), "", "## Entries that are missing", "", *missing(inside), "",
        "## Entries out of scope", "", *out_of_scope(results), "",
        "## Samples left out", "", *left_out(inside), "",
    ))  # fmt: skip


def by_namespace(inside: dict[str, Any]) -> list[str]:
    groups: dict[str, dict[str, Any]] = {}
    for name, e in inside.items():
        groups.setdefault(namespace(name), {})[name] = e
    rows = ["| namespace | entries | here | forward | forms | backward | errors |", "|---|---|---|---|---|---|---|"]
    for group, entries in sorted(groups.items()):
        counts = totals(entries)
        shown = " | ".join(f"{p}/{t}" for p, t in counts.values())
        rows.append(f"| {group} | {len(entries)} | {sum(e['found'] for e in entries.values())} | {shown} |")
    return rows


def failing(inside: dict[str, Any]) -> list[str]:
    rows = []
    for name, e in inside.items():
        if "broken" in e:
            rows.append(f"| `{name}` | all | | {e['broken']} |")
        for part, texts in e.get("failures", {}).items():
            passed, total = e[part]
            reasons = Counter(reason(name, part, number(text)) or f"not explained: {text[:120]}" for text in texts)
            for why, _ in reasons.items():
                rows.append(f"| `{name}` | {part} | {total - passed} of {total} | {why.replace('|', '/')} |")
    return ["| entry | part | samples | reason |", "|---|---|---|---|", *rows] if rows else ["Nothing."]


def missing(inside: dict[str, Any]) -> list[str]:
    names = [f"`{name}`" for name, e in inside.items() if not e["found"]]
    return [", ".join(names) + "."] if names else ["None."]


def out_of_scope(results: dict[str, Any]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for name, e in results["entries"].items():
        if "scope" in e:
            groups.setdefault(e["scope"], []).append(f"`{name}`")
    return [f"- {why} ({len(names)}): {', '.join(names)}." for why, names in sorted(groups.items())]


def left_out(inside: dict[str, Any]) -> list[str]:
    counts: Counter[str] = Counter()
    where: dict[str, set[str]] = {}
    for name, e in inside.items():
        for key, n in e.get("excluded", {}).items():
            why = key.split(": ", 1)[1]
            counts[why] += n
            where.setdefault(why, set()).add(name)
    rows = ["| samples | reason | entries |", "|---|---|---|"]
    for why, n in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        names = sorted(where[why])
        shown = ", ".join(f"`{x}`" for x in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        rows.append(f"| {n} | {why} | {shown} |")
    return rows
