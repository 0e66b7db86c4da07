"""The reader of ELF objects: what it finds in a real one, and that nothing malformed gets past it."""

from __future__ import annotations

import struct

import pytest

from tests.runtime.objects import ADD, VARIETY, object_of, section_with
from twofold.errors import CompileError
from twofold.runtime import elf
from twofold.runtime.elf import parse_object


def test_a_real_object() -> None:
    parsed = parse_object(object_of(VARIETY))
    assert parsed.machine == elf.EM_X86_64
    names = {s.name: s for s in parsed.sections}
    text = names[".text"]
    assert text.is_code
    assert text.in_memory
    assert not text.is_written
    assert names[".data"].is_written
    assert names[".bss"].type == elf.SHT_NOBITS
    assert names[".bss"].size == 8000
    relro = names[".data.rel.ro"]
    assert relro.in_memory
    assert not relro.is_written
    symbols = {s.name: s for s in parsed.symbols}
    assert symbols["add"].type == elf.STT_FUNC
    assert parsed.sections[symbols["add"].section].name == ".text"
    assert symbols["exp"].section == elf.SHN_UNDEF
    assert len(parsed.contents(text)) == text.size > 0
    used = {parsed.symbols[r.symbol].name for r in parsed.relocations if r.section == parsed.sections.index(text)}
    assert {"exp", "given", "PyLong_FromLong"} <= used


def header_with(**fields: int) -> bytes:
    """The object of ADD with fields of its header replaced."""
    data = bytearray(object_of(ADD))
    names = (
        "ident",
        "type",
        "machine",
        "version",
        "entry",
        "phoff",
        "shoff",
        "flags",
        "ehsize",
        "phsize",
        "phnum",
        "shsize",
        "shnum",
        "shstr",
    )
    values = dict(zip(names, elf.HEADER.unpack_from(data), strict=True)) | fields
    elf.HEADER.pack_into(data, 0, *values.values())
    return bytes(data)


def number_of(kind: int) -> int:
    """The number of the first section of a type in VARIETY's object."""
    return next(i for i, s in enumerate(parse_object(object_of(VARIETY)).sections) if s.type == kind)


MALFORMED = {
    "nothing": (lambda: b"", "no 64-bit little-endian ELF"),
    "text": (lambda: b"ceci n'est pas un objet" * 10, "no 64-bit little-endian ELF"),
    "32 bits": (lambda: b"\x7fELF\x01" + object_of(ADD)[5:], "no 64-bit little-endian ELF"),
    "big-endian": (lambda: b"\x7fELF\x02\x02" + object_of(ADD)[6:], "no 64-bit little-endian ELF"),
    "an executable": (lambda: header_with(type=2), "no relocatable object"),
    "headers outside": (lambda: header_with(shoff=1 << 40), "outside the file"),
    "too many headers": (lambda: header_with(shnum=60000), "outside the file"),
    "headers of another size": (lambda: header_with(shsize=40), "outside the file"),
    "no names": (lambda: header_with(shstr=5000), "no section names"),
    "section outside": (lambda: section_with(2, offset=1 << 50), "outside the file"),
    "section too long": (lambda: section_with(2, size=1 << 63), "outside the file"),
    "odd alignment": (lambda: section_with(2, alignment=24), "no power of two"),
    "section name outside": (lambda: section_with(2, name=1 << 30), "outside its string table"),
    "half a symbol": (lambda: section_with(number_of(elf.SHT_SYMTAB), size=25), "symbol table is malformed"),
    "symbols without names": (lambda: section_with(number_of(elf.SHT_SYMTAB), link=0), "symbol table is malformed"),
    "half a relocation": (lambda: section_with(number_of(elf.SHT_RELA), size=25), "malformed"),
    "relocations of nothing": (lambda: section_with(number_of(elf.SHT_RELA), info=999), "malformed"),
    "relocations without addends": (lambda: section_with(number_of(elf.SHT_RELA), type=elf.SHT_REL), "without addends"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name: str) -> None:
    make, message = MALFORMED[name]
    with pytest.raises(CompileError, match=message):
        parse_object(make())


def test_a_relocation_of_no_symbol() -> None:
    data = bytearray(object_of(VARIETY))
    table = parse_object(bytes(data)).sections[number_of(elf.SHT_RELA)]
    struct.pack_into("<I", data, table.offset + 12, 5_000_000)
    with pytest.raises(CompileError, match="names a symbol that does not exist"):
        parse_object(bytes(data))


def test_every_truncation_is_seen() -> None:
    """The section headers stand at the end of LLVM's objects, so no proper prefix is whole."""
    data = object_of(VARIETY)
    for length in range(len(data)):
        with pytest.raises(CompileError):
            parse_object(data[:length])
