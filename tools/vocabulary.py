"""Write docs/vocabulary.md from the records and the table of functions.

python tools/vocabulary.py            write it
python tools/vocabulary.py --check    fail if it is not what the records say
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from twofold.ir.op import NOT_DIFFERENTIABLE, VOCABULARY, Joint, Op  # noqa: E402
from twofold.ops.vocabulary import FAMILIES, load_vocabulary  # noqa: E402
from twofold.tensors.functions import FUNCTIONS, GENERATED, INPLACE  # noqa: E402

TARGET = ROOT / "docs" / "vocabulary.md"
INTRODUCTION = """# The vocabulary

Made from the records by `tools/vocabulary.py`; do not edit. A **record** is one operation, a node of the static graph. A **composite** is
a record that also has a decomposition into others. A **function** is plain Python over records. `Gradient`: *rules* (one an input), *joint*
(one for all), or *none* where the operation is not differentiable; inputs without a gradient are named. `name_` forms write in place. ONNX:
the operator and the opset it is taken from, where there is a direct one.
"""


def gradient_of(op: Op) -> str:
    """What a reader wants to know of the gradient."""
    if op.gradient is NOT_DIFFERENTIABLE:
        return "none"
    if op.gradient is None:
        return "by its bodies"
    if isinstance(op.gradient, Joint):
        return "joint"
    without = [p.name for p, r in zip(op.inputs, op.gradient, strict=True) if r is NOT_DIFFERENTIABLE]
    return "rules" + (f" (not: {', '.join(without)})" if without else "")


def row(op: Op) -> str:
    kind = "composite" if op.decomposition is not None else "record"
    attributes = ", ".join(p.name for p in op.attributes) or "–"
    inputs = ", ".join(p.name + ("[]" if p.many else "?" if p.optional else "") for p in op.inputs) or "–"
    node = f"`{op.node_name}`" if op.gradient is not NOT_DIFFERENTIABLE and op.gradient is not None else "–"
    written = " (`_`)" if op.inplace else ""
    view = " *view*" if op.is_view else ""
    return f"| `{op.name}`{written}{view} | {kind} | {inputs} | {attributes} | {node} | {gradient_of(op)} | {op.onnx or '–'} |"


def text() -> str:
    """The whole page."""
    load_vocabulary()
    records = list(VOCABULARY.values())
    composites = sum(op.decomposition is not None for op in records)
    plain = sorted(n for n in FUNCTIONS if n not in GENERATED)
    counts = f"{len(records)} records ({composites} of them composites), {len(plain)} functions, {len(INPLACE)} in-place forms."
    lines = [INTRODUCTION, counts, ""]
    families = [*FAMILIES, *dict.fromkeys(op.family for op in records if op.family not in FAMILIES)]
    for family in families:
        own = [op for op in records if op.family == family]
        if not own:
            continue
        lines += [f"## {family}", "", "| name | kind | inputs | attributes | node | gradient | ONNX |", "|---|---|---|---|---|---|---|"]
        lines += [row(op) for op in own]
        lines.append("")
    lines += ["## functions", "", "Plain functions over records: " + ", ".join(f"`{n}`" for n in plain) + ".", ""]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    wanted = text()
    if arguments.check:
        if not TARGET.exists() or TARGET.read_text() != wanted:
            print("docs/vocabulary.md is not fresh: run python tools/vocabulary.py")
            return 1
        return 0
    TARGET.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
