"""LLVM texts of small modules, and objects made of them, for the tests of loader, cache and code generation."""

from __future__ import annotations

import ctypes
from functools import cache

from twofold.runtime import elf
from twofold.runtime.codegen import assemble
from twofold.runtime.loader import NativeCode
from twofold.runtime.target import named_target

ADD = """
define i64 @add(i64 %a, i64 %b) {
  %s = add i64 %a, %b
  ret i64 %s
}
"""

VARIETY = """
@table = private constant [4 x double] [double 1.0, double 2.5, double -3.0, double 0.125]
@words = internal constant [2 x ptr] [ptr @add, ptr @twice]
@counter = global i64 5
@zeros = internal global [1000 x i64] zeroinitializer

declare double @exp(double)
declare double @llvm.pow.f64(double, double)
declare i64 @given(i64)
declare ptr @PyLong_FromLong(i64)

define i64 @add(i64 %a, i64 %b) {
  %s = add i64 %a, %b
  ret i64 %s
}
define i64 @twice(i64 %a, i64 %b) {
  %s = call i64 @add(i64 %a, i64 %a)
  ret i64 %s
}
define double @constant(i64 %i) {
  %p = getelementptr double, ptr @table, i64 %i
  %v = load double, ptr %p
  ret double %v
}
define i64 @indirect(i64 %which, i64 %a, i64 %b) {
  %p = getelementptr ptr, ptr @words, i64 %which
  %f = load ptr, ptr %p
  %r = call i64 %f(i64 %a, i64 %b)
  ret i64 %r
}
define double @exponential(double %x) {
  %r = call double @exp(double %x)
  %s = call double @llvm.pow.f64(double %r, double 2.0)
  ret double %s
}
define i64 @outside(i64 %x) {
  %r = call i64 @given(i64 %x)
  ret i64 %r
}
define i64 @count() {
  %old = load i64, ptr @counter
  %new = add i64 %old, 1
  store i64 %new, ptr @counter
  ret i64 %old
}
define i64 @zero(i64 %i) {
  %p = getelementptr i64, ptr @zeros, i64 %i
  %v = load i64, ptr %p
  %next = add i64 %v, 1
  store i64 %next, ptr %p
  ret i64 %v
}
define ptr @number(i64 %x) {
  %r = call ptr @PyLong_FromLong(i64 %x)
  ret ptr %r
}
"""
"""Every way of referring to something that compiled programs use: constants, tables of pointers, variables, calls in and out."""

BASE = named_target("x86-64-v2")


@cache
def object_of(text: str, level: int = 1) -> bytes:
    """The object of a text for x86-64-v2, made once."""
    return assemble(text, BASE, level=level)


def section_with(number: int, **fields: int) -> bytes:
    """The object of VARIETY with fields of the header of one section replaced; a number below 0 counts from the end."""
    data = bytearray(object_of(VARIETY))
    header = elf.HEADER.unpack_from(data)
    place = header[6] + number % header[12] * elf.SECTION.size
    names = ("name", "type", "flags", "address", "offset", "size", "link", "info", "alignment", "entry")
    values = dict(zip(names, elf.SECTION.unpack_from(data, place), strict=True)) | fields
    elf.SECTION.pack_into(data, place, *values.values())
    return bytes(data)


def function(code: NativeCode, name: str, *types: type) -> ctypes._CFuncPtr:
    """A function of native code: result type, then argument types. It keeps the code in memory."""
    found = ctypes.CFUNCTYPE(*types)(code.address(name))
    found.code = code  # type: ignore[attr-defined]
    return found


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def given(x: int) -> int:
    """What the module VARIETY calls `given`."""
    return 3 * x


GIVEN = {"given": ctypes.cast(given, ctypes.c_void_p).value or 0}
