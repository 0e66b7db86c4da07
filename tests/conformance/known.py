"""Samples that fail and are known to, each with its reason. The tests fail when one of them passes: then its line goes.

Keys are (entry, part); parts are forward, forms, backward and errors. Numbers of samples are those that `python -m tests.conformance -v`
prints, for the version of torch that tests/conformance/results.json names.
"""

from __future__ import annotations

KNOWN: dict[tuple[str, str], dict[str, str]] = {}


def reason(entry: str, part: str, sample: str) -> str | None:
    """Why this sample fails, or None."""
    return KNOWN.get((entry, part), {}).get(sample)


def number(failure: str) -> str:
    """The sample's number in a line that reports a failure: `float32 #3 (…): …`."""
    return failure.split(" (")[0]
