"""Runs many entries in worker processes: an entry that crashes or hangs its worker is reported, and the worker replaced."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
START = 120.0
"""Seconds a worker may take to import torch and its table."""


class Worker:
    """One process that checks the entries named on its input."""

    def __init__(self, arguments: list[str]) -> None:
        environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.conformance.worker", *arguments],
            cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        if self.wait(START) != "ready":
            raise RuntimeError("a worker did not start: run `python -m tests.conformance.worker` by hand to see why")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.strip())
        self.lines.put(None)

    def wait(self, seconds: float) -> str | None:
        """The next line; None if the process ended; TimeoutError."""
        try:
            return self.lines.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None

    def check(self, name: str, seconds: float) -> dict[str, Any]:
        """One entry's report, or a report that says what happened to the worker."""
        assert self.process.stdin is not None
        start = time.perf_counter()
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
            line = self.wait(seconds)
            if line is not None:
                return json.loads(line)
            said = f"the process ended with status {self.process.wait()}"
        except TimeoutError:
            said = f"more than {seconds:.0f} s"
        except OSError as error:
            said = f"the process ended: {error}"
        self.stop()
        return {"name": name, "found": True, "scope": None, "broken": said, "seconds": time.perf_counter() - start}

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def run(names: list[str], arguments: list[str], *, jobs: int, seconds: float, state: Path | None, progress: bool) -> dict[str, Any]:
    """Reports by name. With `state`, finished entries are appended to that file and read from it when the run is started again."""
    reports: dict[str, Any] = {}
    if state is not None and state.exists():
        for line in state.read_text().splitlines():
            report = json.loads(line)
            reports[report["name"]] = report
    waiting: queue.Queue[str] = queue.Queue()
    for name in names:
        if name not in reports:
            waiting.put(name)
    lock = threading.Lock()

    def serve() -> None:
        worker: Worker | None = None
        while True:
            try:
                name = waiting.get_nowait()
            except queue.Empty:
                break
            if worker is None or not worker.alive:
                worker = Worker(arguments)
            report = worker.check(name, seconds)
            with lock:
                reports[name] = report
                if state is not None:
                    with state.open("a") as file:
                        file.write(json.dumps(report) + "\n")
                if progress and len(reports) % 50 == 0:
                    print(f"{len(reports)} of {len(names)}", file=sys.stderr, flush=True)
        if worker is not None:
            worker.stop()

    threads = [threading.Thread(target=serve) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {name: reports[name] for name in names if name in reports}
