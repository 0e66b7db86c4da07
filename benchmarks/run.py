"""Twofold and its peers on the same cases, in alternating fresh processes.

python benchmarks/run.py [CASE…] [--peers twofold,torch,…] [--pairs 7] [--threads 2] [--json FILE] [--write] [--quick] [--list]

A CASE is a name or the beginning of one (`compile_scaling`); all cases without one. Every (case, peer, repetition) is a process of its
own, in an order that rotates from repetition to repetition. The table gives medians of the processes' medians, ratios to the best peer
(1.00) with 90 % bootstrap intervals, the first call with an empty and with a filled cache, peak memory, and the error against float64.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "src")]

from cases import CASES, select  # noqa: E402
from cases.case import Case, ScalingCase  # noqa: E402
from pairs import machine  # noqa: E402
from peers import PEERS, Peer, environment  # noqa: E402
from report import OURS, markdown_page, summarise, text_table  # noqa: E402

RESULTS = HERE / "RESULTS.md"
QUICK_SECONDS = 0.05


def end_group(pid: int) -> None:
    """End what is left of a worker: itself after a time limit or Ctrl-C, and compilers that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def worker(arguments: list[str], variables: dict[str, str], limit: float) -> dict[str, Any]:
    """Run `worker.py`; the object it prints, or {"failed": reason}. What it writes to stderr is shown if it failed."""
    path = os.pathsep.join(p for p in (str(ROOT / "src"), os.environ.get("PYTHONPATH", "")) if p)
    command = [sys.executable, str(HERE / "worker.py"), *arguments]
    process = subprocess.Popen(
        command,
        env={**os.environ, **variables, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=limit)
        lines = out.strip().splitlines()
        result = json.loads(lines[-1]) if lines and not process.returncode else {"failed": f"ended with status {process.returncode}"}
    except subprocess.TimeoutExpired:
        result, errors = {"failed": f"took longer than {limit:.0f} s"}, ""
    finally:
        end_group(process.pid)
    if "failed" in result:
        print(f"{' '.join(arguments)}: {result['failed']}\n{errors[-2000:]}", file=sys.stderr)
    return result


def measure(case: Case | ScalingCase, peer: Peer, folder: Path, a: argparse.Namespace) -> dict[str, Any]:
    """A process with an empty cache; where the peer keeps one, another with what the first left there, whose first call is `warm`."""
    arguments = ["measure", case.name, peer.name, "--folder", str(folder), "--threads", str(a.threads), "--seconds", str(a.seconds)]
    with tempfile.TemporaryDirectory(prefix="cache-", dir=folder) as cache:
        # XDG_CACHE_HOME: nothing from an earlier run may be found in a user's own folder
        variables = environment(a.threads) | dict.fromkeys((*peer.cache, "XDG_CACHE_HOME"), cache)
        result = worker(arguments, variables, a.limit)
        if peer.cache and "first" in result:
            warm = worker([*arguments, "--first-only"], variables, a.limit)
            if "failed" in warm:
                return {"failed": f"with a filled cache: {warm['failed']}"}
            result["warm"] = warm["first"]
    return result


def run_case(case: Case | ScalingCase, peers: list[Peer], folder: Path, a: argparse.Namespace) -> dict[str, list[dict[str, Any]]]:
    """All processes of a case. A peer that gave no figures is not asked again."""
    onnx = any(p.onnx for p in peers)
    written = worker(["prepare", case.name, "--folder", str(folder), *(["--onnx"] if onnx else [])], environment(a.threads), a.limit)
    if "failed" in written:
        return {p.name: [written] for p in peers}
    results: dict[str, list[dict[str, Any]]] = {p.name: [] for p in peers}
    for repetition in range(a.pairs):
        turn = repetition % len(peers)
        for peer in peers[turn:] + peers[:turn]:
            found = results[peer.name]
            if not any("failed" in r or "unsupported" in r for r in found):
                print(f"{case.name}: {peer.name}, process {repetition + 1} of {a.pairs}", file=sys.stderr)
                found.append(measure(case, peer, folder, a))
    return results


def show(case: Case | ScalingCase, rows: list[dict[str, Any]]) -> None:
    print(f"\n{case.name}: {case.summary}\n{text_table(rows)}", flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--peers", default=",".join(PEERS), help="names separated by commas (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=7, help="processes of each peer (default: 7)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of the steady part (default: 1)")
    parser.add_argument("--limit", type=float, default=900.0, help="most seconds of a process (default: 900)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true", help="write benchmarks/RESULTS.md")
    parser.add_argument("--quick", action="store_true", help="a steady part of 0.05 s: to see whether the cases run")
    parser.add_argument("--list", action="store_true", help="list cases and peers")
    a = parser.parse_args()
    a.peers = a.peers.split(",")
    for name in a.peers:
        if name not in PEERS:
            parser.error(f"no peer {name!r}; known: {', '.join(PEERS)}")
    try:
        a.cases = select(a.cases)
    except KeyError as error:
        parser.error(f"no case begins with {error.args[0]!r}; known: {', '.join(CASES)}")
    if a.pairs < 1 or a.threads < 1:
        parser.error("--pairs and --threads are at least 1")
    if a.quick:
        a.seconds = QUICK_SECONDS
    return a


def main() -> None:
    a = parse()
    missing = {name: gone for name in a.peers if (gone := PEERS[name].missing())}
    if a.list:
        for case in a.cases:
            print(f"{case.name:24} {case.summary}")
        for name in a.peers:
            print(f"{name:24} {'absent: ' + ', '.join(missing[name]) if name in missing else PEERS[name].version()}")
        return
    for name, gone in missing.items():
        print(f"{name} is absent: {', '.join(gone)} is not installed", file=sys.stderr)
    peers = [PEERS[name] for name in a.peers if name not in missing]
    if not peers:
        raise SystemExit("none of the peers is installed")
    document: dict[str, Any] = {
        "machine": machine(), "versions": {p.name: p.version() for p in peers}, "absent": list(missing),
        "settings": {"pairs": a.pairs, "threads": a.threads, "seconds": a.seconds, "quick": a.quick}, "cases": [],
    }  # fmt: skip
    for case in a.cases:
        chosen = [p for p in peers if p.name == OURS] if isinstance(case, ScalingCase) else peers
        if not chosen:
            print(f"{case.name}: measured for Twofold only", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory(prefix="twofold-bench-") as folder:
            results = run_case(case, chosen, Path(folder), a)
        rows = summarise(case, results)
        show(case, rows)
        document["cases"].append({"name": case.name, "summary": case.summary, "rows": rows, "processes": results})
        if a.json:
            a.json.write_text(json.dumps(document, indent=2) + "\n")  # after each case: a run takes hours
    if a.write:
        RESULTS.write_text(markdown_page(document, shlex.join(["python", "benchmarks/run.py", *sys.argv[1:]])))
    rows = [row for case in document["cases"] for row in case["rows"]]
    if any("failed" in r or r.get("holds") is False for r in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
