"""Assembly text, taken apart."""

from __future__ import annotations

import re


def instructions(text: str) -> set[str]:
    """The mnemonics in assembly text, without directives and labels."""
    return {m[1] for line in text.splitlines() if (m := re.match(r"\t([a-z][a-z0-9.]*)(\s|$)", line))}
