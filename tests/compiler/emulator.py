"""Runs programs made for AArch64 in an emulated CPU (Python package `unicorn`): a loader of their objects, memory, one call of `run`."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from twofold.compiler.executable import Executable
from twofold.runtime import elf
from twofold.runtime.codegen import assemble

CODE, DATA, STACK = 0x100000, 0x10000000, 0x40000000
DATA_BYTES, STACK_BYTES = 1 << 22, 1 << 20
MOST_INSTRUCTIONS = 50_000_000

ABS64, PREL32, ADR_PAGE, ADD_LOW, JUMP26, CALL26, GOT_PAGE, GOT_LOW = 257, 261, 275, 277, 282, 283, 311, 312
LOAD_LOW = {278: 0, 284: 1, 285: 2, 286: 3, 299: 4, GOT_LOW: 3}
"""Relocations of "ELF for the Arm 64-bit Architecture" (IHI 0056), table of static relocations; loads: type → log2 of their size."""

HELPERS = """
define i32 @helper_launch(ptr %context, ptr %kernel, ptr %args, i64 %chunks) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %chunks
  br i1 %more, label %body, label %done
body:
  call void %kernel(ptr %args, i64 %i)
  %next = add nsw i64 %i, 1
  br label %head
done:
  ret i32 0
}
define i32 @helper_poll(ptr %context) {
  ret i32 0
}
define ptr @memcpy(ptr %to, ptr %from, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %p = getelementptr i8, ptr %from, i64 %i
  %v = load volatile i8, ptr %p
  %q = getelementptr i8, ptr %to, i64 %i
  store volatile i8 %v, ptr %q
  %next = add nsw i64 %i, 1
  br label %head
done:
  ret ptr %to
}
"""
"""What the runtime gives a program: the launch of all chunks, the poll for Ctrl-C; and of the C library, memcpy."""


def _patched(word: int, kind: int, target: int, place: int) -> int:
    """An instruction with the field of a relocation filled in."""
    if kind in (ADR_PAGE, GOT_PAGE):
        pages = (target >> 12) - (place >> 12)
        return word | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
    if kind == ADD_LOW:
        return word | (target & 0xFFF) << 10
    if kind in LOAD_LOW:
        return word | (target & 0xFFF) >> LOAD_LOW[kind] << 10
    if kind in (JUMP26, CALL26):
        return word | (target - place) >> 2 & 0x3FFFFFF
    raise NotImplementedError(f"relocation {kind}")


def link(data: bytes) -> tuple[bytes, dict[str, int]]:
    """The memory image of an AArch64 object at CODE, and the addresses of its symbols."""
    parsed = elf.parse_object(data)
    image, places = bytearray(), {}
    for number, section in enumerate(parsed.sections):
        if section.in_memory and section.size and not section.name.startswith(".eh_frame"):
            image += bytes(-len(image) % max(section.alignment, 16))
            places[number] = len(image)
            image += bytes(section.size) if section.type == elf.SHT_NOBITS else bytes(parsed.contents(section))
    image += bytes(-len(image) % 16)
    addresses = [CODE + places[s.section] + s.value if s.section in places else None for s in parsed.symbols]
    loaded = [r for r in parsed.relocations if r.section in places]
    got: dict[int, int] = {}
    for r in loaded:
        if addresses[r.symbol] is None:
            raise NotImplementedError(f"the program needs {parsed.symbols[r.symbol].name!r}")
        if r.type in (GOT_PAGE, GOT_LOW) and r.symbol not in got:
            got[r.symbol] = CODE + len(image)
            image += struct.pack("<Q", addresses[r.symbol])
    for r in loaded:
        offset = places[r.section] + r.offset
        target = (got[r.symbol] if r.type in (GOT_PAGE, GOT_LOW) else addresses[r.symbol] or 0) + r.addend
        if r.type == ABS64:
            struct.pack_into("<Q", image, offset, target)
        elif r.type == PREL32:
            struct.pack_into("<i", image, offset, target - CODE - offset)
        else:
            (word,) = struct.unpack_from("<I", image, offset)
            struct.pack_into("<I", image, offset, _patched(word, r.type, target, CODE + offset))
    return bytes(image), {s.name: a for s, a in zip(parsed.symbols, addresses, strict=True) if a is not None}


class Machine:
    """An AArch64 CPU with memory."""

    def __init__(self, image: bytes) -> None:
        import unicorn
        from unicorn import arm64_const as names

        self.names = names
        self.cpu = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self.cpu.reg_write(names.UC_ARM64_REG_CPACR_EL1, 3 << 20)  # vector instructions are allowed
        self.cpu.mem_map(CODE, -(-len(image) // 4096) * 4096)
        self.cpu.mem_write(CODE, image)
        self.cpu.mem_map(DATA, DATA_BYTES)
        self.cpu.mem_map(STACK, STACK_BYTES)
        self.top = DATA

    def place(self, content: bytes) -> int:
        """The address of new memory with this content."""
        address = self.top
        self.cpu.mem_write(address, content)
        self.top = address + -(-len(content) // 64) * 64 + 64
        return address

    def read(self, address: int, count: int) -> bytes:
        return bytes(self.cpu.mem_read(address, count))

    def call(self, function: int, *arguments: int) -> int:
        """Calls a function; its result in x0."""
        names = self.names
        for register, value in zip((names.UC_ARM64_REG_X0, names.UC_ARM64_REG_X1), arguments, strict=True):
            self.cpu.reg_write(register, value)
        self.cpu.reg_write(names.UC_ARM64_REG_SP, STACK + STACK_BYTES - 256)
        self.cpu.reg_write(names.UC_ARM64_REG_X30, STACK)  # where it returns to, and the emulation ends
        self.cpu.emu_start(function, STACK, count=MOST_INSTRUCTIONS)
        assert self.cpu.reg_read(names.UC_ARM64_REG_PC) == STACK, "it did not return"
        return int(self.cpu.reg_read(names.UC_ARM64_REG_X0))


def run(executable: Executable, inputs: list[np.ndarray]) -> tuple[int, list[np.ndarray]]:
    """Runs a program for AArch64 without host steps: its error word, and its outputs."""
    assembly = executable.assembly
    assert not assembly.hosts
    image, symbols = link(assemble(assembly.text + HELPERS, executable.target, level=1))
    machine = Machine(image)
    error = machine.place(bytes(8))
    slots = {0: error}
    for info, array in zip(executable.inputs, inputs, strict=True):
        slots[info.slot] = machine.place(np.ascontiguousarray(array).tobytes())
    results: list[Any] = executable.fresh_outputs()
    for info, array in zip(executable.outputs, results, strict=True):
        slots[info.slot] = machine.place(bytes(array.nbytes))
    for info in assembly.buffers.values():
        if info.kind == "constant":
            slots[info.slot] = machine.place(np.ascontiguousarray(info.array).tobytes())
    arena = machine.place(bytes(assembly.memory.peak))
    for name, offset in assembly.memory.offsets.items():
        slots[assembly.scratch_slots[name] if name in assembly.scratch_slots else assembly.buffers[name].slot] = arena + offset
    table = machine.place(b"".join(struct.pack("<Q", slots.get(i, 0)) for i in range(assembly.slots)))
    context = machine.place(struct.pack("<QQQ", symbols["helper_launch"], 0, symbols["helper_poll"]))
    status = machine.call(symbols["run"], table, context) & 0xFFFFFFFF
    assert status == 0, f"run returned {status}"
    outputs = [
        np.frombuffer(machine.read(slots[info.slot], array.nbytes), array.dtype).reshape(array.shape)
        for info, array in zip(executable.outputs, results, strict=True)
    ]
    return struct.unpack("<q", machine.read(error, 8))[0], outputs
