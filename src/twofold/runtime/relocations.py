"""Relocations of x86-64 objects: what is written where, once every section and symbol has an address.

Formulas and numbers are those of the System V ABI, AMD64 supplement, section "Relocation Types". With S the address of the symbol, A the
addend, P the address of the place, G the address of the symbol's entry in the global offset table (GOT):
"""

from __future__ import annotations

import struct

from twofold.runtime.elf import corrupt
from twofold.support.errors import CompileError

NONE, ABSOLUTE_64, PC32, PLT32, GOTPCREL, PC64, GOTPCRELX, REX_GOTPCRELX = 0, 1, 2, 4, 9, 24, 41, 42

WIDTH = {ABSOLUTE_64: 8, PC64: 8, PC32: 4, PLT32: 4, GOTPCREL: 4, GOTPCRELX: 4, REX_GOTPCRELX: 4}
"""Bytes written by each type that is handled: S + A; S + A - P (64 and 32 bits; PLT32 may go through a stub); G + A - P."""
THROUGH_GOT = frozenset((GOTPCREL, GOTPCRELX, REX_GOTPCRELX))
REFUSED = {
    10: "R_X86_64_32", 11: "R_X86_64_32S", 12: "R_X86_64_16", 14: "R_X86_64_8", 19: "R_X86_64_TLSGD", 20: "R_X86_64_TLSLD",
    22: "R_X86_64_GOTTPOFF", 25: "R_X86_64_GOTOFF64", 26: "R_X86_64_GOTPC32", 29: "R_X86_64_GOTPC64",
}  # fmt: skip
"""Types that position-independent code of the small code model without thread-local variables never holds."""

STUB = struct.Struct("<2siH")
"""A stub of the procedure linkage table: `jmp *offset(%rip)`, padded to 8 bytes."""


def check_type(type: int) -> None:
    """CompileError for a relocation type that is not handled."""
    if type not in WIDTH and type != NONE:
        name = REFUSED.get(type, f"number {type}")
        raise CompileError(
            f"the object code has a relocation that is not supported ({name}): it must be position-independent code of the small code"
            " model, without thread-local variables"
        )


def write(image: bytearray, place: int, type: int, value: int) -> None:
    """Writes the field of a relocation at offset `place` of the image. `value` is the formula's result; CompileError if it does not fit."""
    width = WIDTH[type]
    if not 0 <= place <= len(image) - width:
        raise corrupt("a relocation is outside its section")
    if width == 8:
        struct.pack_into("<Q", image, place, value & 0xFFFFFFFFFFFFFFFF)
    elif -(1 << 31) <= value < 1 << 31:
        struct.pack_into("<i", image, place, value)
    else:
        raise CompileError("the object code refers to something more than 2 GiB away, which position-independent code does through the GOT")


def write_stub(image: bytearray, place: int, entry: int) -> None:
    """Writes a stub at offset `place` that jumps to the address in the GOT entry at offset `entry`; both are in the same mapping."""
    STUB.pack_into(image, place, b"\xff\x25", entry - (place + 6), 0x9066)  # 66 90: a two-byte nop
