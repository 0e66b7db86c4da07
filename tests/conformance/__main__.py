"""torch's op_db against this package.

python -m tests.conformance NAME [NAME...]     these entries (`sum`, `linalg.inv`, `nn.functional.interpolate`, `std/unbiased`)
python -m tests.conformance --all [--write]    all; --write also writes docs/conformance.md and tests/conformance/results.json
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import torch

from tests.conformance import check as checks
from tests.conformance import known, runner, write
from tests.conformance.resolve import entries


def selected(names: list[str], everything: dict[str, object]) -> list[str]:
    """Titles meant by the names: a title, or a name without variant."""
    found = []
    for name in names:
        hits = [t for t in everything if t == name or t.split("/")[0] == name or t.replace("/", ".") == name]
        if not hits:
            near = [t for t in everything if name.split(".")[-1] in t][:8]
            print(f"{name}: op_db has no such entry{'; there are ' + ', '.join(near) if near else ''}")
        found += [t for t in hits if t not in found]
    return found


def show(report: checks.Report, verbose: bool, seconds: float) -> None:
    """One entry's lines."""
    if report.scope is not None:
        print(f"{report.name}: out of scope: {report.scope}")
        return
    if not report.found:
        print(f"{report.name}: NOT HERE")
        return
    parts = {"forward": report.forward, "forms": report.forms, "backward": report.backward, "errors": report.errors}
    line = "; ".join(f"{k} {p.passed}/{p.total}" for k, p in parts.items())
    missing = [a for a, here in report.aliases.items() if not here]
    print(f"{report.name}: {line} [{seconds:.1f} s]{'; aliases missing: ' + ', '.join(missing) if missing else ''}")
    for k, p in parts.items():
        for text in p.failures[: None if verbose else 4]:
            print(f"    {k} {text[: None if verbose else 330]}")
        if len(p.failures) > 4 and not verbose:
            print(f"    … {len(p.failures) - 4} more (-v)")
        if verbose and p.excluded:
            print(f"    {k} excluded: {p.excluded}")


def run_all(options: argparse.Namespace) -> int:
    """Every entry, in worker processes."""
    arguments = [f"dtypes={','.join(options.dtype)}"] if options.dtype else []
    arguments += [f"limit={options.max_samples}"] if options.max_samples else []
    arguments += ["backward="] if options.no_backward else [f"backward={options.backward_dtype}"]
    state = Path(options.state) if options.state else None
    reports = runner.run(list(entries()), arguments, jobs=options.jobs, seconds=options.seconds, state=state, progress=True)
    results = {"torch": str(torch.__version__), "entries": {name: write.condensed(r) for name, r in reports.items()}}
    print(write.head(results))
    for name, e in write.within(results).items():
        if "broken" in e:
            print(f"{name}: {e['broken']}")
        for part, texts in e.get("failures", {}).items():
            for text in texts:
                why = known.reason(name, part, known.number(text))
                print(f"{name}: {part} {text}" if why is None else f"{name}: {part} {known.number(text)} is known: {why}")
    for (name, part), numbers in known.KNOWN.items():
        failed = {known.number(text) for text in reports.get(name, {}).get(part, {}).get("failures", ())}
        for sample in numbers.keys() - failed:
            print(f"{name}: {part} {sample} is in known.py but passes")
    if options.write:
        write.write(reports, str(torch.__version__))
    return 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="every entry, in --jobs processes")
    parser.add_argument("--write", action="store_true", help="with --all: write docs/conformance.md and tests/conformance/results.json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=900.0, help="with --all: the longest one entry may take")
    parser.add_argument("--state", help="with --all: a file of finished entries, from which an interrupted run goes on")
    parser.add_argument("--dtype", action="append", help="float32, int64, …, or all (default: float32, int64, bool)")
    parser.add_argument("--backward-dtype", default="float64")
    parser.add_argument("--max-samples", type=int)
    parser.add_argument("--no-backward", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.all:
        return run_all(options)
    chosen = checks.FORWARD
    if options.dtype:
        chosen = checks.ALL if "all" in options.dtype else tuple(getattr(torch, d) for d in options.dtype)
    everything = entries()
    for name in selected(options.names, everything):
        start = time.perf_counter()
        report = checks.check(
            name,
            everything[name],
            dtypes=chosen,
            choose=checks.first(options.max_samples) if options.max_samples else None,
            backward=() if options.no_backward else (getattr(torch, options.backward_dtype),),
        )
        show(report, options.verbose, time.perf_counter() - start)
    return 0


if __name__ == "__main__":
    sys.exit(main())
