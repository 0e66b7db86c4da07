"""Native code in memory: a loader of relocatable ELF objects for x86-64 that needs neither LLVM nor a linker nor a file.

One anonymous mapping holds, in this order, code (and stubs for calls out of it), read-only data (and the global offset table), and data
that is written. It is filled while it can be written, then code becomes executable and no longer writable. Anonymous memory may be executed
where the cache's folder is mounted `noexec`.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field

from twofold.runtime import elf, relocations
from twofold.runtime.elf import ObjectFile, Section, Symbol, corrupt
from twofold.support.errors import CompileError, OutOfMemory, UnsupportedError

PAGE = mmap.PAGESIZE
MAX_BYTES = 1 << 30
"""Largest mapping: any two places in it are less than 2 GiB apart."""
LIBRARIES = (None, "libm.so.6", "libc.so.6", "libgcc_s.so.1")
"""Where names are looked up that the caller does not give: the process (which has the Python C API), then these. Code from LLVM calls libm
for mathematical functions, libc for memcpy and the like, libgcc for conversions of half precision and divisions of 128-bit integers."""

READ, WRITE, EXECUTE = mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return libc


def _map(size: int) -> tuple[mmap.mmap, int]:
    """`size` bytes of zeroed memory that can be read and written, and their address."""
    try:
        memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, READ | WRITE)
    except OSError as error:
        raise OutOfMemory(f"{size} bytes for native code cannot be had: {error.strerror}") from None
    return memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _protect(address: int, size: int, protection: int) -> None:
    if size and _libc().mprotect(address, size, protection):
        raise UnsupportedError(
            f"this system does not let a process make code in memory executable ({os.strerror(ctypes.get_errno())});"
            " run graphs uncompiled here"
        )


@functools.cache
def _library(name: str | None) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


@functools.cache
def _library_symbol(name: str) -> int | None:
    for library in LIBRARIES:
        handle = _library(library)
        if handle is None:
            continue
        try:
            return ctypes.cast(handle[name], ctypes.c_void_p).value
        except AttributeError:
            continue
    return None


def _external(symbol: Symbol, given: Mapping[str, int]) -> int:
    """The address of a symbol that the object does not define."""
    found = given.get(symbol.name)
    if found is None:
        if not symbol.name or "\0" in symbol.name:
            raise corrupt("it needs a symbol without a name")
        found = _library_symbol(symbol.name)
    if found is None:
        if symbol.binding == elf.STB_WEAK:
            return 0
        raise CompileError(
            f"the native code calls {symbol.name!r}, which is neither given to the loader nor in the C library, libm, libgcc or Python"
        )
    if not 0 <= found < 1 << 64:
        raise CompileError(f"the address given for {symbol.name!r} is no address: {found}")
    return found


@dataclass(slots=True)
class _Layout:
    """Where each part is, as offsets in the mapping. Each of `code`, `constants`, `data` begins at a page."""

    place: dict[int, int] = field(default_factory=dict)
    """Section number → offset."""
    stubs: dict[int, int] = field(default_factory=dict)
    got: dict[int, int] = field(default_factory=dict)
    """Symbol number → offset of its stub, of its entry in the GOT."""
    code_end: int = 0
    constants_end: int = 0
    image_end: int = 0
    """Up to here bytes are copied into the mapping; then comes zeroed memory."""
    end: int = 0


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def _is_loaded(section: Section) -> bool:
    """Sections that are mapped: not tables for unwinding, which nothing reads (native code does not throw)."""
    return section.in_memory and section.type != elf.SHT_X86_64_UNWIND and not section.name.startswith(".eh_frame")


def _check_section(section: Section) -> None:
    if section.flags & elf.SHF_TLS:
        raise CompileError("the object code has thread-local variables, which are not supported")
    if section.type in (elf.SHT_INIT_ARRAY, elf.SHT_FINI_ARRAY, elf.SHT_PREINIT_ARRAY) or section.name.startswith((".ctors", ".dtors")):
        raise CompileError("the object code has constructors or destructors, which are not supported")
    if section.is_written and section.is_code:
        raise CompileError("the object code has a section that is both written and executed, which is refused")
    if section.alignment > PAGE or section.size > MAX_BYTES:
        raise corrupt(f"the section {section.name} has the size {section.size} and the alignment {section.alignment}")


def _lay_out(obj: ObjectFile, loaded: dict[int, Section]) -> _Layout:
    """Offsets of all sections, stubs and GOT entries; CompileError if they need more than MAX_BYTES."""
    layout = _Layout()
    called, through_got = set(), set()
    for r in obj.relocations:
        if r.section in loaded:
            relocations.check_type(r.type)
            undefined = obj.symbols[r.symbol].section == elf.SHN_UNDEF
            if r.type == relocations.PLT32 and undefined:
                called.add(r.symbol)
            if r.type in relocations.THROUGH_GOT or (r.type == relocations.PLT32 and undefined):
                through_got.add(r.symbol)

    def put(begin: int, numbers: list[int]) -> int:
        for number in numbers:
            begin = _aligned(begin, loaded[number].alignment)
            layout.place[number] = begin
            begin += loaded[number].size
        return begin

    end = put(0, [i for i, s in loaded.items() if s.is_code])
    for symbol in sorted(called):
        layout.stubs[symbol] = _aligned(end, relocations.STUB.size)
        end = layout.stubs[symbol] + relocations.STUB.size
    layout.code_end = _aligned(end, PAGE)
    end = put(layout.code_end, [i for i, s in loaded.items() if not s.is_code and not s.is_written and s.type != elf.SHT_NOBITS])
    for symbol in sorted(through_got):
        layout.got[symbol] = _aligned(end, 8)
        end = layout.got[symbol] + 8
    layout.constants_end = _aligned(end, PAGE)
    written = [i for i in loaded if i not in layout.place]
    layout.image_end = put(layout.constants_end, [i for i in written if loaded[i].type != elf.SHT_NOBITS])
    layout.end = max(_aligned(put(layout.image_end, [i for i in written if loaded[i].type == elf.SHT_NOBITS]), PAGE), PAGE)
    if layout.end > MAX_BYTES:
        raise corrupt(f"it needs {layout.end} bytes of memory")
    return layout


def _addresses(obj: ObjectFile, loaded: dict[int, Section], layout: _Layout, base: int, given: Mapping[str, int]) -> list[int | None]:
    """The address of each symbol that has one. External ones are looked up only if a relocation of a loaded section needs them."""
    needed = {r.symbol for r in obj.relocations if r.section in loaded and r.type != relocations.NONE}
    addresses: list[int | None] = []
    for number, symbol in enumerate(obj.symbols):
        address: int | None = None
        if symbol.section == elf.SHN_UNDEF:
            address = _external(symbol, given) if number in needed else None
        elif symbol.section == elf.SHN_ABS:
            address = symbol.value
        elif symbol.section in loaded:
            if symbol.type > elf.STT_SECTION:
                raise CompileError(f"the object code defines {symbol.name!r} as a symbol of type {symbol.type}, which is not supported")
            if symbol.value > loaded[symbol.section].size:
                raise corrupt(f"the symbol {symbol.name!r} is outside its section")
            address = base + layout.place[symbol.section] + symbol.value
        if address is None and number in needed:
            raise corrupt(f"the symbol {symbol.name!r} is used and has no address")
        addresses.append(address)
    return addresses


def _image(obj: ObjectFile, loaded: dict[int, Section], layout: _Layout, base: int, addresses: list[int | None]) -> bytearray:
    """The bytes of the mapping, relocated to `base`."""
    image = bytearray(layout.image_end)
    for number, section in loaded.items():
        if section.type != elf.SHT_NOBITS:
            image[layout.place[number] : layout.place[number] + section.size] = obj.contents(section)
    for symbol, entry in layout.got.items():
        relocations.write(image, entry, relocations.ABSOLUTE_64, addresses[symbol] or 0)
    for symbol, stub in layout.stubs.items():
        relocations.write_stub(image, stub, layout.got[symbol])
    for r in obj.relocations:
        section = loaded.get(r.section)  # type: ignore[assignment]
        if section is None or r.type == relocations.NONE:
            continue
        if section.type == elf.SHT_NOBITS or r.offset + relocations.WIDTH[r.type] > section.size:
            raise corrupt(f"a relocation is outside the section {section.name}")
        place = layout.place[r.section] + r.offset
        if r.type in relocations.THROUGH_GOT:
            target = base + layout.got[r.symbol]
        elif r.type == relocations.PLT32 and r.symbol in layout.stubs:
            target = base + layout.stubs[r.symbol]
        else:
            target = addresses[r.symbol] or 0
        relative = 0 if r.type == relocations.ABSOLUTE_64 else base + place
        relocations.write(image, place, r.type, target + r.addend - relative)
    return image


class NativeCode:
    """Machine code in memory. It is unmapped when this object dies: whoever runs it holds a reference.

    symbols:  name → address of each function and variable that the object exports
    size:     bytes of memory it takes
    written:  bytes of it that the code can write (its global variables)
    """

    __slots__ = ("__weakref__", "_memory", "base", "size", "symbols", "written")

    def __init__(self, memory: mmap.mmap, base: int, size: int, symbols: Mapping[str, int], written: int) -> None:
        # Unmapped when `memory` dies. A weak reference's callback would be too early: of a garbage cycle those run before `__del__`,
        # which may still call the code.
        self._memory = memory
        self.base, self.size, self.symbols, self.written = base, size, symbols, written

    def address(self, symbol: str) -> int:
        """Where a function or variable begins; CompileError if there is none of that name."""
        try:
            return self.symbols[symbol]
        except KeyError:
            known = ", ".join(sorted(self.symbols)[:8]) or "none"
            raise CompileError(f"the native code has no symbol {symbol!r}; it has {known}") from None

    def __repr__(self) -> str:
        return f"<NativeCode of {self.size} bytes: {', '.join(sorted(self.symbols)[:4])}{', …' if len(self.symbols) > 4 else ''}>"


def load_object(data: bytes, symbols: Mapping[str, int] | None = None) -> NativeCode:
    """Maps a relocatable x86-64 object into memory.

    `symbols` gives addresses of names that the object uses; what is not there is looked up in the C library, libm, libgcc and the Python C
    API.
    Raises CompileError for a malformed object, a missing symbol, or what only other code models use; UnsupportedError on another machine.
    """
    if platform.machine() not in ("x86_64", "AMD64") or os.name != "posix":
        raise UnsupportedError(f"native code is loaded on x86-64 with Linux only; this machine is {platform.machine()}")
    obj = elf.parse_object(data)
    if obj.machine != elf.EM_X86_64:
        raise UnsupportedError(f"code for {elf.MACHINES.get(obj.machine, f'machine {obj.machine}')} does not run on this x86-64 machine")
    loaded = {number: section for number, section in enumerate(obj.sections) if _is_loaded(section)}
    for section in loaded.values():
        _check_section(section)
    layout = _lay_out(obj, loaded)
    memory, base = _map(layout.end)
    try:
        addresses = _addresses(obj, loaded, layout, base, symbols or {})
        image = _image(obj, loaded, layout, base, addresses)
        ctypes.memmove(base, (ctypes.c_char * len(image)).from_buffer(image), len(image))
        _protect(base, layout.code_end, READ | EXECUTE)
        _protect(base + layout.code_end, layout.constants_end - layout.code_end, READ)
    except BaseException:
        memory.close()
        raise
    exported = {
        symbol.name: address
        for symbol, address in zip(obj.symbols, addresses, strict=True)
        if address is not None and symbol.binding != elf.STB_LOCAL and symbol.section in loaded and symbol.name
    }
    return NativeCode(memory, base, layout.end, exported, layout.end - layout.constants_end)
