"""Relocatable ELF objects (64 bits, little-endian): the parts that loading needs, each offset and size checked before it is used.

Layouts and numbers are those of the System V ABI, chapters "Object Files" (generic and AMD64 supplement). Everything read here may come
from a damaged file, so whatever does not fit raises CompileError; no field is trusted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from twofold.support.errors import CompileError

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")

IDENT = b"\x7fELF\x02\x01\x01"
"""Magic number, 64 bits, little-endian, version 1."""
ET_REL = 1
EM_X86_64 = 62
MACHINES = {EM_X86_64: "x86-64", 183: "AArch64", 3: "x86", 40: "Arm", 243: "RISC-V"}

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOBITS, SHT_REL = 1, 2, 3, 4, 8, 9
SHT_INIT_ARRAY, SHT_FINI_ARRAY, SHT_PREINIT_ARRAY = 14, 15, 16
SHT_X86_64_UNWIND = 0x70000001
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS = 1, 2, 4, 0x400

SHN_UNDEF, SHN_LORESERVE, SHN_ABS, SHN_COMMON = 0, 0xFF00, 0xFFF1, 0xFFF2
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE = 0, 1, 2, 3, 4


class Section(NamedTuple):
    """One section header. `offset` and `size` are inside the file, except for NOBITS (zeroed memory), which has no bytes there."""

    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int

    @property
    def in_memory(self) -> bool:
        return bool(self.flags & SHF_ALLOC)

    @property
    def is_code(self) -> bool:
        return bool(self.flags & SHF_EXECINSTR)

    @property
    def is_written(self) -> bool:
        """Whether the program writes it. `.data.rel.ro` is written by relocation only."""
        return bool(self.flags & SHF_WRITE) and not self.name.startswith(".data.rel.ro")


class Symbol(NamedTuple):
    """One symbol. `section` is an index of a section, or SHN_UNDEF (defined elsewhere) or SHN_ABS."""

    name: str
    binding: int
    type: int
    section: int
    value: int


class Relocation(NamedTuple):
    """A place at `offset` in section number `section` that needs the address of a symbol."""

    section: int
    offset: int
    type: int
    symbol: int
    addend: int


class ObjectFile(NamedTuple):
    """A parsed object: `data` are the bytes of the file."""

    data: bytes
    machine: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]

    def contents(self, section: Section) -> memoryview:
        return memoryview(self.data)[section.offset : section.offset + section.size]


def corrupt(what: str) -> CompileError:
    return CompileError(f"the object code is corrupt: {what}. If it came from the object cache, clear that and compile again")


def _text(strings: bytes, offset: int, what: str) -> str:
    end = strings.find(b"\0", offset) if offset < len(strings) else -1
    if end < 0:
        raise corrupt(f"the name of {what} is outside its string table")
    try:
        return strings[offset:end].decode()
    except UnicodeDecodeError:
        raise corrupt(f"the name of {what} is no text") from None


def _section_fields(data: bytes) -> tuple[int, list[tuple[int, ...]], int]:
    """The machine, the raw section headers, and which of them holds the names."""
    if len(data) < HEADER.size or not data.startswith(IDENT):
        raise corrupt("it is no 64-bit little-endian ELF file")
    _, kind, machine, _, _, _, start, _, _, _, _, size, count, names = HEADER.unpack_from(data)
    if kind != ET_REL:
        raise corrupt("it is no relocatable object")
    if size != SECTION.size or start > len(data) or count * size > len(data) - start:
        raise corrupt("its section headers are outside the file")
    headers = [SECTION.unpack_from(data, start + i * size) for i in range(count)]
    if names >= count:
        raise corrupt("it has no section names")
    return machine, headers, names


def _sections(data: bytes, headers: list[tuple[int, ...]], names: int) -> tuple[Section, ...]:
    for number, (_, kind, _, _, offset, size, _, _, alignment, _) in enumerate(headers):
        if kind not in (0, SHT_NOBITS) and (offset > len(data) or size > len(data) - offset):
            raise corrupt(f"section {number} is outside the file")
        if alignment & (alignment - 1):
            raise corrupt(f"the alignment of section {number} is no power of two")
    strings = data[headers[names][4] : headers[names][4] + headers[names][5]]
    return tuple(
        Section(_text(strings, name, f"section {number}"), kind, flags, offset, size, link, info, max(alignment, 1), entry)
        for number, (name, kind, flags, _, offset, size, link, info, alignment, entry) in enumerate(headers)
    )


def _symbols(data: bytes, sections: tuple[Section, ...]) -> tuple[int, tuple[Symbol, ...]]:
    """The number of the symbol table, and the symbols."""
    tables = [i for i, s in enumerate(sections) if s.type == SHT_SYMTAB]
    if not tables:
        return -1, ()
    table = sections[tables[0]]
    if len(tables) > 1 or table.size % SYMBOL.size or table.link >= len(sections) or sections[table.link].type != SHT_STRTAB:
        raise corrupt("its symbol table is malformed")
    names = sections[table.link]
    strings = data[names.offset : names.offset + names.size]
    symbols = []
    for number, (name, info, _, section, value, _) in enumerate(
        SYMBOL.iter_unpack(memoryview(data)[table.offset : table.offset + table.size])
    ):
        if section >= len(sections) and section != SHN_ABS and section != SHN_COMMON:
            raise corrupt(f"symbol {number} is in a section that does not exist")
        symbols.append(Symbol(_text(strings, name, f"symbol {number}"), info >> 4, info & 15, section, value))
    return tables[0], tuple(symbols)


def _relocations(data: bytes, sections: tuple[Section, ...], table: int, symbols: int) -> Iterator[Relocation]:
    for section in sections:
        if section.type == SHT_REL:
            raise corrupt("it has relocations without addends, which x86-64 does not use")
        if section.type != SHT_RELA:
            continue
        if section.size % RELOCATION.size or section.link != table or not 0 < section.info < len(sections):
            raise corrupt(f"the relocations {section.name} are malformed")
        for offset, info, addend in RELOCATION.iter_unpack(memoryview(data)[section.offset : section.offset + section.size]):
            if info >> 32 >= symbols:
                raise corrupt(f"{section.name} names a symbol that does not exist")
            yield Relocation(section.info, offset, info & 0xFFFFFFFF, info >> 32, addend)


def parse_object(data: bytes) -> ObjectFile:
    """Reads a relocatable object; CompileError if it is malformed. Sections that are not loaded are read, but not interpreted."""
    machine, headers, names = _section_fields(data)
    sections = _sections(data, headers, names)
    table, symbols = _symbols(data, sections)
    return ObjectFile(data, machine, sections, symbols, tuple(_relocations(data, sections, table, len(symbols))))
