"""Seconds, in fresh processes, of `import twofold`, of the first tensor, and of NumPy alone."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

PROGRAMS = {
    "numpy": "import numpy",
    "import twofold": "import twofold",
    "import and first tensor": "import twofold; twofold.ones(3)",
    "import and first backward": "import twofold; x = twofold.ones(3, requires_grad=True); (x * x).sum().backward()",
}


def seconds(program: str) -> float:
    """Time of the program inside a fresh interpreter, its start not counted."""
    text = f"import time; t = time.perf_counter(); exec({program!r}); print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    rounds = [{name: seconds(program) for name, program in PROGRAMS.items()} for _ in range(9)]
    print(json.dumps({name: round(statistics.median(r[name] for r in rounds), 4) for name in PROGRAMS}, indent=2))
