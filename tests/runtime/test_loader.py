"""The loader of native code: relocations, stubs, memory, and objects that are damaged."""

from __future__ import annotations

import ctypes
import gc
import mmap
import random
import re
import weakref
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.runtime.objects import ADD, GIVEN, VARIETY, function, object_of, section_with
from twofold.errors import CompileError, OutOfMemory, UnsupportedError
from twofold.runtime import elf, loader, relocations
from twofold.runtime.codegen import assemble
from twofold.runtime.loader import PAGE, load_object
from twofold.runtime.target import named_target

INT, DOUBLE, OBJECT = ctypes.c_int64, ctypes.c_double, ctypes.py_object


@pytest.mark.parametrize("level", [1, 3])
def test_everything_a_program_refers_to(level: int) -> None:
    code = load_object(object_of(VARIETY, level), GIVEN)
    assert function(code, "add", INT, INT, INT)(40, 2) == 42
    assert [function(code, "constant", DOUBLE, INT)(i) for i in range(4)] == [1.0, 2.5, -3.0, 0.125]
    assert [function(code, "indirect", INT, INT, INT, INT)(i, 5, 7) for i in (0, 1)] == [12, 10]
    assert function(code, "exponential", DOUBLE, DOUBLE)(1.0) == pytest.approx(7.38905609893065)
    assert function(code, "outside", INT, INT)(14) == 42
    count = function(code, "count", INT)
    assert [count(), count(), count()] == [5, 6, 7]
    assert ctypes.c_int64.from_address(code.address("counter")).value == 8
    zero = function(code, "zero", INT, INT)
    assert [zero(999), zero(999), zero(0)] == [0, 1, 0]
    assert ctypes.PYFUNCTYPE(OBJECT, INT)(code.address("number"))(10**15) == 10**15
    assert code.written > 0
    assert repr(code).startswith("<NativeCode of ")


def test_copies_have_variables_of_their_own() -> None:
    one, two = (load_object(object_of(VARIETY), GIVEN) for _ in range(2))
    assert function(one, "count", INT)() == 5
    assert function(two, "count", INT)() == 5
    assert load_object(object_of(ADD)).written == 0


def test_a_function_far_away_is_reached_through_a_stub() -> None:
    """The mapping is nowhere near libc by rule; an address at the other end of the address space must do as well."""
    code = load_object(object_of(VARIETY), {"given": 0x7FFF_FFFF_F000})
    assert code.address("outside")
    parsed = elf.parse_object(object_of(VARIETY))
    calls = [r for r in parsed.relocations if r.type == relocations.PLT32 and parsed.symbols[r.symbol].name == "given"]
    assert calls, "the call goes through the procedure linkage table"


def permissions(address: int) -> str:
    """The permissions of the mapping that holds an address, as the kernel says them."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()  # type: ignore[union-attr]
        if int(begin, 16) <= address < int(end, 16):
            return rights
    return ""


def test_nothing_is_both_written_and_executed() -> None:
    code = load_object(object_of(VARIETY), GIVEN)
    assert permissions(code.address("add")) == "r-xp"
    assert permissions(code.address("counter")) == "rw-p"
    rights = {permissions(page) for page in range(code.base, code.base + code.size, PAGE)}
    assert rights == {"r-xp", "r--p", "rw-p"}


def test_memory_is_given_back() -> None:
    code = load_object(object_of(ADD))
    address, gone = code.address("add"), weakref.ref(code)
    assert permissions(address) == "r-xp"
    del code
    gc.collect()
    assert gone() is None
    if permissions(address):  # another thread may have mapped something there meanwhile
        assert permissions(address) != "r-xp"


class Recorded(mmap.mmap):
    """A mapping that can be found again."""

    made: ClassVar[list[mmap.mmap]] = []

    def __new__(cls, *arguments: Any) -> Recorded:
        cls.made.append(super().__new__(cls, *arguments))
        return cls.made[-1]  # type: ignore[return-value]


def test_memory_is_given_back_when_loading_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recorded, "made", [])
    monkeypatch.setattr(loader.mmap, "mmap", Recorded)
    with pytest.raises(CompileError, match="calls 'given', which is neither given to the loader nor in the C library"):
        load_object(object_of(VARIETY))
    assert [memory.closed for memory in Recorded.made] == [True]


def test_code_in_a_garbage_cycle_runs_until_its_end() -> None:
    """`__del__` of garbage may call code that is garbage too: it is unmapped after that."""
    results = []

    class Caller:
        def __init__(self) -> None:
            self.code = load_object(object_of(ADD))
            self.itself = self

        def __del__(self) -> None:
            results.append(function(self.code, "add", INT, INT, INT)(2, 3))

    Caller()
    gc.collect()
    assert results == [5]


def test_symbols() -> None:
    code = load_object(object_of(ADD))
    with pytest.raises(CompileError, match="no symbol 'subtract'; it has add"):
        code.address("subtract")
    with pytest.raises(CompileError, match="is no address: -1"):
        load_object(object_of(VARIETY), {"given": -1})


def test_a_weak_symbol_may_be_missing() -> None:
    text = """
    declare extern_weak i64 @nowhere_to_be_found()
    define i1 @there() {
      %r = icmp ne ptr @nowhere_to_be_found, null
      ret i1 %r
    }
    """
    assert function(load_object(object_of(text)), "there", ctypes.c_bool)() is False


REFUSED = {
    "thread-local variables": (
        "@v = thread_local global i64 1\ndefine i64 @f() {\n %v = load i64, ptr @v\n ret i64 %v\n}",
        CompileError,
        "thread-local|not supported",
    ),
    "constructors": (
        "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @f, ptr null }]\n"
        "define void @f() {\n ret void\n}",
        CompileError,
        "constructors or destructors",
    ),
    "an indirect function": (
        "@f = ifunc void (), ptr @r\ndefine ptr @r() {\n ret ptr null\n}\ndefine void @g() {\n call void @f()\n ret void\n}",
        CompileError,
        "symbol of type 10",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        load_object(object_of(text))


DAMAGED_SECTIONS = {
    "written and executed": (".text", {"flags": elf.SHF_ALLOC | elf.SHF_EXECINSTR | elf.SHF_WRITE}, "both written and executed"),
    "too large": (".bss", {"size": 1 << 40}, "has the size"),
    "several that are too large together": (".bss", {"size": 1 << 30}, "bytes of memory"),
    "too aligned": (".text", {"alignment": 1 << 20}, "the alignment 1048576"),
    "relocated though it has no bytes": (".text", {"type": elf.SHT_NOBITS}, "outside the section"),
    "relocated beyond its end": (".text", {"size": 16}, "outside"),
    "not loaded though it is used": (".text", {"flags": 0}, "has no address"),
}


@pytest.mark.parametrize("name", DAMAGED_SECTIONS)
def test_damaged_section(name: str) -> None:
    section, fields, message = DAMAGED_SECTIONS[name]
    number = [s.name for s in elf.parse_object(object_of(VARIETY)).sections].index(section)
    with pytest.raises(CompileError, match=message):
        load_object(section_with(number, **fields), GIVEN)


def test_code_of_another_machine() -> None:
    data = assemble(ADD, named_target("aarch64"))
    with pytest.raises(UnsupportedError, match="code for AArch64 does not run on this x86-64 machine"):
        load_object(data)


def test_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader.platform, "machine", lambda: "riscv64")
    with pytest.raises(UnsupportedError, match="this machine is riscv64"):
        load_object(object_of(ADD))


def test_a_system_that_forbids_code_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Strict:
        @staticmethod
        def mprotect(*arguments: object) -> int:
            ctypes.set_errno(13)
            return -1

    monkeypatch.setattr(loader, "_libc", Strict)
    with pytest.raises(UnsupportedError, match="does not let a process make code in memory executable"):
        load_object(object_of(ADD))


def test_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(loader.mmap, "mmap", full)
    with pytest.raises(OutOfMemory, match="bytes for native code cannot be had: Cannot allocate memory"):
        load_object(object_of(ADD))


def try_to_load(data: bytes) -> bool:
    """Loads what may be damaged: whether that worked. Any other error than the two that are promised fails the test."""
    try:
        load_object(data, GIVEN)
    except (CompileError, UnsupportedError):
        return False
    return True


def test_truncated_objects() -> None:
    data = object_of(VARIETY)
    assert not any(try_to_load(data[:length]) for length in range(0, len(data), 3))


@pytest.mark.parametrize("text", [ADD, VARIETY], ids=["add", "variety"])
def test_damaged_objects_never_crash(text: str) -> None:
    """Bytes flipped at random. Damage in the code itself cannot be seen here (the cache's digest is there for that), so code is not run."""
    chance = random.Random(0)
    whole = object_of(text)
    refused = 0
    for _ in range(2000):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 2, 8))):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0xFF, chance.randrange(256)))
        refused += not try_to_load(bytes(data))
    assert refused > 100


def test_damaged_headers_never_crash() -> None:
    """As above, aimed at what the loader trusts least: the header, the section headers, symbols and relocations."""
    chance = random.Random(1)
    whole = object_of(VARIETY)
    parsed = elf.parse_object(whole)
    tables = [range(elf.HEADER.size), range(elf.HEADER.unpack_from(whole)[6], len(whole))]
    tables += [range(s.offset, s.offset + s.size) for s in parsed.sections if s.type in (elf.SHT_SYMTAB, elf.SHT_RELA, elf.SHT_STRTAB)]
    for _ in range(3000):
        data = bytearray(whole)
        table = chance.choice(tables)
        place = table[chance.randrange(len(table))]
        width = chance.choice((1, 1, 2, 4))
        data[place : place + width] = chance.choice((b"\0" * width, b"\xff" * width, chance.randbytes(width)))
        try_to_load(bytes(data[: len(whole)]))
