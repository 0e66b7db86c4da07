"""What this machine can do at most, measured once a process: memory bandwidth by working-set size, and multiply-and-add.

The measuring kernels are launched as a program's are: in chunks, through the same launcher, on the same threads. Reading is a sum of
integer vectors, copying reads and writes as many bytes each; what writing takes is the difference.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from twofold.compiler.llvm import Function, Module, Val, vector
from twofold.runtime.codegen import NativeCode, build
from twofold.runtime.entry import Frame, aligned_bytes
from twofold.runtime.target import Target

CHUNKS = 64
"""Chunks of the largest measuring launch: as many as the largest launch of a program has."""
CHUNK_BYTES = 1 << 16
"""A chunk of a measuring launch moves at least this much: less is done by fewer threads."""
SMALLEST, LARGEST = 1 << 14, 1 << 27
"""Working sets, in bytes: one that fits into the first cache of one core, one beyond the last cache of most machines."""
STREAMS = 8
"""Vectors that a measuring loop loads at a time."""
ACCUMULATORS = 12
"""Independent multiply-and-adds: two of them begin in a cycle, each takes four or five."""
REPEATS = 12
WINDOW = 1 << 22
"""Bytes that one timing goes over: it ends within a time slice of the scheduler. Larger working sets are gone through window by window, so
that each is out of the caches they exceed when its turn comes."""
FMA_ROUNDS = 1 << 14


@dataclass(frozen=True)
class Bandwidth:
    """Seconds a byte for a working set of `nbytes`: of reading, of writing, and of copying (a byte read and a byte written)."""

    nbytes: int
    read: float
    write: float
    copy: float

    def seconds(self, bytes_read: int, bytes_written: int) -> float:
        """The least time for moving this much: no kernel reads, writes or copies faster."""
        return max(bytes_read * self.read, bytes_written * self.write, min(bytes_read, bytes_written) * self.copy)


def _loop_kernel(module: Module, name: str, target: Target, kind: str) -> None:
    """One pass over a chunk's bytes: args 1 source, 2 destination, 3 sizes (bytes a chunk, …)."""
    f = module.function(name, [("ptr", "args"), ("i64", "chunk")])
    args, chunk = f.parameters
    source, destination, sizes = (f.load("ptr", f.gep(args, i, "ptr"), 8) for i in (1, 2, 3))
    size = f.load("i64", sizes, 8)
    width = target.vector_bytes
    wide = vector("i64", width // 8)
    sums = [f.variable(wide) for _ in range(STREAMS)]
    for s in sums:
        f.emit(f"store {wide} zeroinitializer, ptr {s}")
    begin = f.mul(chunk, size)
    with f.loop(begin, f.add(begin, size), STREAMS * width) as i:
        places = [f.add(i, k * width) for k in range(STREAMS)]
        loaded = [Val(wide, "zeroinitializer")] * STREAMS
        if kind != "write":
            loaded = [f.load(wide, f.gep(source, at, "i8"), 8) for at in places]
        for at, s, x in zip(places, sums, loaded, strict=True):
            if kind == "read":
                f.set(s, f.add(f.get(s, wide), x))
            else:
                f.store(x, f.gep(destination, at, "i8"), 8)
    if kind == "read":
        _store_all(f, sums, wide, destination, chunk, width)
    f.ret()


def _store_all(f: Function, sums: list[Val], wide: str, destination: Val, chunk: Val, width: int) -> None:
    """Keep a chunk's accumulators, so that what they sum is computed."""
    for k, s in enumerate(sums):
        f.store(f.get(s, wide), f.gep(destination, f.add(f.mul(chunk, len(sums) * width), k * width), "i8"), 8)


def _multiply_kernel(module: Module, name: str, target: Target, element: str) -> None:
    """FMA_ROUNDS times a multiply-and-add of each accumulator, all independent."""
    f = module.function(name, [("ptr", "args"), ("i64", "chunk")])
    args, chunk = f.parameters
    source, destination = (f.load("ptr", f.gep(args, i, "ptr"), 8) for i in (1, 2))
    wide = vector(element, target.vector_bytes // (4 if element == "float" else 8))
    factor, term = f.load(wide, source, 4), f.load(wide, f.gep(source, target.vector_bytes, "i8"), 4)
    sums = [f.variable(wide) for _ in range(ACCUMULATORS)]
    for s in sums:
        f.set(s, term)
    with f.loop(0, FMA_ROUNDS):
        for s in sums:
            f.set(s, f.fma(f.get(s, wide), factor, term) if target.has_fma else f.fadd(f.fmul(f.get(s, wide), factor), term))
    _store_all(f, sums, wide, destination, chunk, target.vector_bytes)
    f.ret()


def _runner(f: Function, kernel: str) -> None:
    """`run`: launches, timed together. Table: 1 source, 2 destination, 3 sizes (bytes a chunk, chunks, launches), 4 the nanoseconds."""
    table, context = f.parameters
    arguments, clock = f.scratch(32, 8), f.scratch(16, 8)
    for i in range(4):
        f.store(f.load("ptr", f.gep(table, i, "ptr"), 8), f.gep(arguments, i, "ptr"), 8)
    launch = f.load("ptr", context, 8)

    def now() -> Val:
        f.emit(f"call i32 @clock_gettime(i32 1, ptr {clock})")
        return f.add(f.mul(f.load("i64", clock, 8), 1_000_000_000), f.load("i64", f.gep(clock, 1, "i64"), 8))

    sizes = f.load("ptr", f.gep(table, 3, "ptr"), 8)
    chunks, launches = (f.load("i64", f.gep(sizes, i, "i64"), 8) for i in (1, 2))
    status = f.variable("i32", 0)
    begin = now()
    with f.loop(0, launches):
        done = f.let("i32", f"call i32 {launch}(ptr {context}, ptr @{kernel}, ptr {arguments}, i64 {chunks})")
        f.set(status, f.binary("or", f.get(status, "i32"), done))
    f.store(f.sub(now(), begin), f.load("ptr", f.gep(table, 4, "ptr"), 8), 8)
    f.ret(f.get(status, "i32"))


class _Bench:
    """One measuring kernel and its memory."""

    def __init__(self, target: Target, kind: str) -> None:
        module = Module()
        module.declare("clock_gettime", "i32", ["i32", "ptr"])
        if kind in ("read", "write", "copy"):
            _loop_kernel(module, "kernel", target, kind)
        else:
            _multiply_kernel(module, "kernel", target, kind)
        _runner(module.function("run", [("ptr", "table"), ("ptr", "context")], "i32"), "kernel")
        self.code: NativeCode = build(str(module), target, f"the ceiling of {kind}", level=1)
        self.frame = Frame(self.code, target, 5, 0, {}, {}, None)

    def seconds(self, source: np.ndarray, destination: np.ndarray, chunk_bytes: int, chunks: int, launches: int, windows: int = 1) -> float:
        """The best time of so many launches; the median where they are made on the `windows` of the arrays in turn (the best one may have
        been in a cache)."""
        sizes, taken = np.array([chunk_bytes, chunks, launches], np.int64), np.zeros(1, np.int64)
        pointers = {1: source.ctypes.data, 2: destination.ctypes.data, 3: sizes.ctypes.data, 4: taken.ctypes.data}
        times: list[float] = []
        for k in range(windows + max(REPEATS, windows)):
            place = k % windows * chunk_bytes * chunks
            self.frame.call(pointers | {1: source.ctypes.data + place, 2: destination.ctypes.data + place})
            times.append(float(taken[0]) * 1e-9)
        return min(times[windows:]) if windows == 1 else float(np.median(times[windows:]))


class Ceilings:
    """The ceilings of one target on this machine with one number of threads; each is measured when it is first asked for."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._bandwidths: dict[int, Bandwidth] = {}
        self._peaks: dict[str, float] = {}
        self._lock = threading.Lock()

    def bandwidth(self, nbytes: int) -> Bandwidth:
        """The bandwidth for a working set of about `nbytes`: the next power of two, within 16 KiB and 128 MiB."""
        size = SMALLEST
        while size < min(nbytes, LARGEST):
            size *= 2
        with self._lock:
            if size not in self._bandwidths:
                self._bandwidths[size] = self._measure(size)
            return self._bandwidths[size]

    def _measure(self, size: int) -> Bandwidth:
        step = STREAMS * self.target.vector_bytes
        window = min(size, WINDOW)
        chunks = max(1, min(CHUNKS, window // CHUNK_BYTES))
        half, windows, launches = window // 2 // chunks // step * step, size // window, max(1, WINDOW // window)
        memory = aligned_bytes(2 * half * chunks * windows)
        memory[:] = 0
        second = memory[half * chunks * windows :]

        def measured(kind: str, target: np.ndarray, chunk: int) -> float:
            seconds = _Bench(self.target, kind).seconds(memory, target, chunk, chunks, launches, windows)
            return seconds / (chunk * chunks * launches)

        copy = measured("copy", second, half)
        # copying reads and writes too: what is slower alone was disturbed
        return Bandwidth(size, min(measured("read", memory, 2 * half), copy), min(measured("write", memory, 2 * half), copy), copy)

    def peak(self, dtype: str) -> float:
        """Floating-point operations a second, a multiply-and-add being two: "float32" or "float64"."""
        with self._lock:
            if dtype not in self._peaks:
                element, width = ("double", 8) if dtype == "float64" else ("float", 4)
                lanes = self.target.vector_bytes // width
                source = aligned_bytes(2 * self.target.vector_bytes)
                destination = aligned_bytes(CHUNKS * ACCUMULATORS * self.target.vector_bytes)
                source[:] = 0
                seconds = _Bench(self.target, element).seconds(source, destination, 0, CHUNKS, 1)
                self._peaks[dtype] = 2.0 * lanes * ACCUMULATORS * FMA_ROUNDS * CHUNKS / seconds
            return self._peaks[dtype]


_known: dict[tuple[Target, int], Ceilings] = {}
_known_lock = threading.Lock()


def ceilings(target: Target, threads: int) -> Ceilings:
    """The ceilings for programs of this target that run on so many threads."""
    with _known_lock:
        return _known.setdefault((target, threads), Ceilings(target))
