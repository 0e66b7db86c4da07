"""A process that checks the entries named on its standard input, one report as a line of JSON for each."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from typing import Any

import torch

from tests.conformance import check as checks
from tests.conformance.resolve import entries


def options(arguments: list[str]) -> dict[str, Any]:
    """`dtypes=float32,int64 limit=4 backward=float64` as keyword arguments of `check`."""
    given = dict(a.split("=", 1) for a in arguments)
    found: dict[str, Any] = {"dtypes": checks.ALL, "choose": checks.thorough}
    if "dtypes" in given:
        found["dtypes"] = checks.ALL if given["dtypes"] == "all" else tuple(getattr(torch, d) for d in given["dtypes"].split(","))
    if "limit" in given:
        found["choose"] = checks.first(int(given["limit"]))
    if "backward" in given:
        found["backward"] = tuple(getattr(torch, d) for d in given["backward"].split(",") if d)
    return found


def main() -> None:
    """Answer until the input ends."""
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w")
    keywords = options(sys.argv[1:])
    everything = entries()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        name = line.strip()
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                report = checks.check(name, everything[name], **keywords).as_dict()
            except Exception as error:
                report = {"name": name, "found": True, "scope": None, "broken": f"{type(error).__name__}: {error}"}
        report["seconds"] = round(time.perf_counter() - start, 2)
        print(json.dumps(report), file=answers, flush=True)


if __name__ == "__main__":
    main()
