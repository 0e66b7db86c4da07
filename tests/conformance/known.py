"""Samples that fail and are known to, each with its reason. The tests fail when one of them passes: then its line goes.

Keys are (entry, part); parts are forward, forms, backward and errors. Numbers of samples are those that `python -m tests.conformance -v`
prints, for the version of torch that tests/conformance/results.json names.
"""

from __future__ import annotations

UINT8 = "torch's weights for uint8 images are 16-bit integers: results next to one half are rounded the other way"
CANCELLED = "`use_mm_for_euclid_dist` computes |a|² + |b|² - 2ab, which cancels; torch's error happens to be smaller in this sample"
KNOWN: dict[tuple[str, str], dict[str, str]] = {
    ("cdist", "forward"): {"float32 #32": CANCELLED},
    ("nn.functional.interpolate/bilinear", "forward"): dict.fromkeys(("uint8 #8", "uint8 #9"), UINT8),
    ("nn.functional.interpolate/bicubic", "forward"): dict.fromkeys(("uint8 #0", "uint8 #1", "uint8 #4", "uint8 #6"), UINT8),
}


def reason(entry: str, part: str, sample: str) -> str | None:
    """Why this sample fails, or None."""
    return KNOWN.get((entry, part), {}).get(sample)


def number(failure: str) -> str:
    """The sample's number in a line that reports a failure: `float32 #3 (…): …`."""
    return failure.split(" (")[0]
