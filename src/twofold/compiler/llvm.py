"""A writer of LLVM text: modules, functions, typed values. It writes what it is told and keeps nothing but text.

Types are their LLVM spelling: "float", "i64", "ptr", "<16 x float>". Floating-point instructions take no fast-math flags but `contract`
(multiply and add may fuse): `reassoc` would delete the additions of magic numbers by which the mathematical functions round.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

REGISTERS = {
    "f32": "float", "f64": "double", "bool": "i1", "i8": "i8", "u8": "i8", "i16": "i16", "u16": "i16", "i32": "i32", "u32": "i32",
    "i64": "i64", "u64": "i64",
}  # fmt: skip
"""LLVM's type for each type of expressions."""
MEMORY = REGISTERS | {"bool": "i8", "bf16": "i16", "f16": "half"}
"""LLVM's type for elements in memory, by the dtype's short name."""
SUFFIX = {"float": "f32", "double": "f64", "half": "f16"}


class Val(NamedTuple):
    """A value: its type and its spelling (`%t3`, or a constant)."""

    type: str
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def is_vector(self) -> bool:
        return self.type[0] == "<"

    @property
    def lanes(self) -> int:
        """The number of elements of a vector, 1 of a scalar."""
        return int(self.type[1 : self.type.index(" ")]) if self.type[0] == "<" else 1

    @property
    def element(self) -> str:
        return element_of(self.type)


Operand = Val | int | float | bool


def vector(element: str, lanes: int) -> str:
    """The type of `lanes` elements; a scalar for one."""
    return f"<{lanes} x {element}>" if lanes > 1 else element


def element_of(type: str) -> str:
    return type[type.index("x ") + 2 : -1] if type[0] == "<" else type


def with_element(type: str, element: str) -> str:
    """A type of the same number of lanes with another element."""
    return type[: type.index("x ") + 2] + element + ">" if type[0] == "<" else element


def suffix_of(type: str) -> str:
    """How intrinsics spell a type: v16f32, i64, v8p0."""
    element = element_of(type)
    short = SUFFIX.get(element) or ("p0" if element == "ptr" else element)
    return f"v{type[1 : type.index(' ')]}{short}" if type[0] == "<" else short


def number(type: str, value: float | int | bool) -> Val:
    """A constant of a scalar or (every lane the same) vector type; floats exactly as given."""
    if type[0] == "<":
        element = element_of(type)
        return Val(type, f"splat ({element} {number(element, value).text})")
    if type == "float":
        # LLVM spells a float as the double of the same value
        value = struct.unpack("<f", struct.pack("<f", _to_f32(float(value))))[0]
        return Val(type, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")
    if type == "double":
        return Val(type, f"0x{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016X}")
    if type == "i1":
        return Val(type, "true" if value else "false")
    return Val(type, str(int(value)))


def _to_f32(value: float) -> float:
    if abs(value) > 3.4028235677973366e38 and value not in (float("inf"), float("-inf")):
        return float("inf") if value > 0 else float("-inf")
    return value


def _true_lanes(mask: Val) -> list[int] | None:
    """The true lanes of a mask that is written out lane by lane; None for others."""
    if not mask.text.startswith("<"):
        return None
    return [i for i, lane in enumerate(mask.text[1:-1].split(",")) if lane.split()[-1] in ("true", "1")]


def lanes_constant(type: str, values: list[int] | list[float] | list[bool]) -> Val:
    """A vector constant, lane by lane."""
    element = element_of(type)
    return Val(type, "<" + ", ".join(f"{element} {number(element, v).text}" for v in values) + ">")


class Module:
    """Globals, declarations and functions of one LLVM module."""

    def __init__(self) -> None:
        self.globals: dict[str, None] = {}
        self.declarations: dict[str, str] = {}
        self.functions: list[Function] = []

    def declare(self, name: str, result: str, parameters: list[str]) -> None:
        self.declarations[name] = f"declare {result} @{name}({', '.join(parameters)})"

    def function(
        self, name: str, parameters: list[tuple[str, str]], result: str = "void", attributes: str = "nounwind", internal: bool = False
    ) -> Function:
        f = Function(self, name, parameters, result, attributes, internal)
        self.functions.append(f)
        return f

    def __str__(self) -> str:
        return "\n".join([*self.globals, *self.declarations.values(), *map(str, self.functions)]) + "\n"


class Function:
    """One function under construction; instructions are appended at the end."""

    def __init__(self, module: Module, name: str, parameters: list[tuple[str, str]], result: str, attributes: str, internal: bool) -> None:
        self.module, self.name, self.result, self.attributes, self.internal = module, name, result, attributes, internal
        self.parameters = [Val(t, "%" + n) for t, n in parameters]
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.block = "entry"
        self._count = 0

    def __str__(self) -> str:
        parameters = ", ".join(f"{p.type} {p.text}" for p in self.parameters)
        kind = "internal " if self.internal else ""
        body = "\n".join(["entry:", *self.allocas, *self.lines])
        return f"define {kind}{self.result} @{self.name}({parameters}) {self.attributes} {{\n{body}\n}}\n"

    # --- writing

    def fresh(self, stem: str = "t") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def emit(self, line: str) -> None:
        self.lines.append("  " + line)

    def let(self, type: str, expression: str) -> Val:
        """`%new = expression`."""
        name = "%" + self.fresh()
        self.lines.append(f"  {name} = {expression}")
        return Val(type, name)

    @staticmethod
    def of(x: Operand, type: str) -> Val:
        """A value, or a number as a constant of the type."""
        return x if isinstance(x, Val) else number(type, x)

    def _pair(self, a: Operand, b: Operand, default: str = "i64") -> tuple[Val, Val]:
        type = a.type if isinstance(a, Val) else b.type if isinstance(b, Val) else default
        return self.of(a, type), self.of(b, type)

    # --- arithmetic

    def binary(self, op: str, a: Operand, b: Operand, flags: str = "") -> Val:
        x, y = self._pair(a, b)
        return self.let(x.type, f"{op} {flags}{' ' if flags else ''}{x.type} {x}, {y}")

    def add(self, a: Operand, b: Operand) -> Val:
        """Integer sum; folds zeros and constants."""
        if isinstance(a, int) and isinstance(b, int):
            return number("i64", a + b)
        if isinstance(b, int) and b == 0 and isinstance(a, Val):
            return a
        if isinstance(a, int) and a == 0 and isinstance(b, Val):
            return b
        return self.binary("add", a, b)

    def mul(self, a: Operand, b: Operand) -> Val:
        """Integer product; folds ones and constants."""
        if isinstance(a, int) and isinstance(b, int):
            return number("i64", a * b)
        if isinstance(b, int) and b == 1 and isinstance(a, Val):
            return a
        return self.binary("mul", a, b)

    def sub(self, a: Operand, b: Operand) -> Val:
        return self.binary("sub", a, b)

    def fadd(self, a: Operand, b: Operand, flags: str = "contract") -> Val:
        return self.binary("fadd", a, b, flags)

    def fsub(self, a: Operand, b: Operand, flags: str = "contract") -> Val:
        return self.binary("fsub", a, b, flags)

    def fmul(self, a: Operand, b: Operand, flags: str = "contract") -> Val:
        return self.binary("fmul", a, b, flags)

    def fdiv(self, a: Operand, b: Operand) -> Val:
        return self.binary("fdiv", a, b)

    def fneg(self, a: Val) -> Val:
        return self.let(a.type, f"fneg {a.type} {a}")

    def fma(self, a: Operand, b: Operand, c: Operand) -> Val:
        """a·b + c, rounded once."""
        type = next(x.type for x in (a, b, c) if isinstance(x, Val))
        return self.intrinsic("llvm.fma", type, self.of(a, type), self.of(b, type), self.of(c, type))

    def icmp(self, predicate: str, a: Operand, b: Operand) -> Val:
        x, y = self._pair(a, b)
        return self.let(with_element(x.type, "i1"), f"icmp {predicate} {x.type} {x}, {y}")

    def fcmp(self, predicate: str, a: Operand, b: Operand) -> Val:
        x, y = self._pair(a, b)
        return self.let(with_element(x.type, "i1"), f"fcmp {predicate} {x.type} {x}, {y}")

    def select(self, condition: Val, a: Operand, b: Operand) -> Val:
        x, y = self._pair(a, b)
        return self.let(x.type, f"select {condition.type} {condition}, {x.type} {x}, {y.type} {y}")

    def convert(self, op: str, a: Val, element: str) -> Val:
        """A conversion instruction (`sitofp`, `trunc`, `bitcast`, …) lane by lane."""
        type = with_element(a.type, element)
        return self.let(type, f"{op} {a.type} {a} to {type}")

    def splat(self, a: Val, lanes: int) -> Val:
        """A vector whose lanes are all the scalar `a`."""
        if lanes == 1 or a.is_vector:
            return a
        type = vector(a.type, lanes)
        if not a.text.startswith("%"):
            return Val(type, f"splat ({a.type} {a.text})")
        first = self.let(type, f"insertelement {type} poison, {a.type} {a}, i64 0")
        return self.let(type, f"shufflevector {type} {first}, {type} poison, <{lanes} x i32> zeroinitializer")

    def shuffle(self, a: Val, b: Val | None, order: list[int]) -> Val:
        """Lanes of a (and b) in another order; -1: any."""
        other = b.text if b is not None else "poison"
        picks = ", ".join("i32 poison" if i < 0 else f"i32 {i}" for i in order)
        return self.let(vector(a.element, len(order)), f"shufflevector {a.type} {a}, {a.type} {other}, <{len(order)} x i32> <{picks}>")

    def transposed(self, rows: list[Val]) -> list[Val]:
        """The columns of a square of n vectors of n lanes, a power of two: log2 n rounds of exchanging halves."""
        n = len(rows)
        half = 1
        while half < n:
            low = [i if not i & half else n + i - half for i in range(n)]
            high = [i + half if not i & half else n + i for i in range(n)]
            following = list(rows)
            for i in range(n):
                if not i & half:
                    following[i] = self.shuffle(rows[i], rows[i + half], low)
                    following[i + half] = self.shuffle(rows[i], rows[i + half], high)
            rows = following
            half *= 2
        return rows

    def call(self, name: str, result: str, *args: Val) -> Val:
        text = f"call {result} @{name}({', '.join(f'{a.type} {a}' for a in args)})"
        if result == "void":
            self.emit(text)
            return Val("void", "")
        return self.let(result, text)

    def intrinsic(self, stem: str, result: str, *args: Val, overload: str | None = None) -> Val:
        """A call of `stem` for the type `result` (or `overload`), declared as needed."""
        name = f"{stem}.{suffix_of(overload or result)}"
        self.module.declare(name, result, [a.type for a in args])
        return self.call(name, result, *args)

    # --- memory

    def gep(self, pointer: Val, offset: Operand, element: str) -> Val:
        """The address of element `offset`."""
        if isinstance(offset, int) and offset == 0:
            return pointer
        o = self.of(offset, "i64")
        return self.let("ptr", f"getelementptr inbounds {element}, ptr {pointer}, i64 {o}")

    def load(self, type: str, pointer: Val, align: int, note: str = "") -> Val:
        return self.let(type, f"load {type}, ptr {pointer}, align {align}{note}")

    def store(self, value: Val, pointer: Val, align: int) -> None:
        self.emit(f"store {value.type} {value}, ptr {pointer}, align {align}")

    def masked_load(self, type: str, pointer: Val, mask: Val, align: int, otherwise: Val | None = None) -> Val:
        """Lanes where the mask is false are not read; they give `otherwise` (zero)."""
        name = f"llvm.masked.load.{suffix_of(type)}.p0"
        self.module.declare(name, type, ["ptr", mask.type, type])
        other = otherwise.text if otherwise is not None else "zeroinitializer"
        return self.let(type, f"call {type} @{name}(ptr align {align} {pointer}, {mask.type} {mask}, {type} {other})")

    def masked_store(self, value: Val, pointer: Val, mask: Val, align: int) -> None:
        """Stores the lanes where the mask is true.

        A constant mask with one true lane becomes a store of that lane: LLVM's code generation would make one too, but of 4 bytes where the
        lanes were narrowed to 16 bits just before, and so overwrite the element beside it (seen with LLVM 22 and AVX-512).
        """
        true = _true_lanes(mask)
        if true is not None and len(true) == 1:
            element = element_of(value.type)
            lane = self.let(element, f"extractelement {value.type} {value}, i64 {true[0]}")
            self.store(lane, self.gep(pointer, true[0], element), align)
            return
        name = f"llvm.masked.store.{suffix_of(value.type)}.p0"
        self.module.declare(name, "void", [value.type, "ptr", mask.type])
        self.emit(f"call void @{name}({value.type} {value}, ptr align {align} {pointer}, {mask.type} {mask})")

    def gather(self, type: str, pointers: Val, mask: Val, align: int) -> Val:
        name = f"llvm.masked.gather.{suffix_of(type)}.{suffix_of(pointers.type)}"
        self.module.declare(name, type, [pointers.type, mask.type, type])
        return self.let(type, f"call {type} @{name}({pointers.type} align {align} {pointers}, {mask.type} {mask}, {type} zeroinitializer)")

    def scatter(self, value: Val, pointers: Val, mask: Val, align: int) -> None:
        name = f"llvm.masked.scatter.{suffix_of(value.type)}.{suffix_of(pointers.type)}"
        self.module.declare(name, "void", [value.type, pointers.type, mask.type])
        self.emit(f"call void @{name}({value.type} {value}, {pointers.type} align {align} {pointers}, {mask.type} {mask})")

    def variable(self, type: str, start: Operand | None = None) -> Val:
        """A stack slot (LLVM makes a register of it); read with `get`, write with `set`."""
        name = "%" + self.fresh("v")
        self.allocas.append(f"  {name} = alloca {type}")
        slot = Val("ptr", name)
        if start is not None:
            self.set(slot, self.of(start, type))
        return slot

    def set(self, slot: Val, value: Val) -> None:
        self.emit(f"store {value.type} {value}, ptr {slot}")

    def get(self, slot: Val, type: str) -> Val:
        return self.let(type, f"load {type}, ptr {slot}")

    def scratch(self, nbytes: int, align: int = 64) -> Val:
        """Stack memory, 64-byte aligned."""
        name = "%" + self.fresh("s")
        self.allocas.append(f"  {name} = alloca [{nbytes} x i8], align {align}")
        return Val("ptr", name)

    # --- control flow

    def label(self, name: str) -> None:
        self.lines.append(name + ":")
        self.block = name

    def branch(self, target: str) -> None:
        self.emit(f"br label %{target}")

    def branch_if(self, condition: Val, yes: str, no: str) -> None:
        self.emit(f"br i1 {condition}, label %{yes}, label %{no}")

    def ret(self, value: Val | None = None) -> None:
        self.emit("ret void" if value is None else f"ret {value.type} {value}")

    @contextmanager
    def loop(self, low: Operand, high: Operand, step: int = 1, note: str = "") -> Iterator[Val]:
        """for i in range(low, high, step): the counter, an i64. `note`: metadata of the back edge."""
        a, b = self.of(low, "i64"), self.of(high, "i64")
        head, body, latch, done = (self.fresh(s) for s in ("head", "body", "latch", "done"))
        before, i, following = self.block, "%" + self.fresh("i"), "%" + self.fresh("n")
        self.branch(head)
        self.label(head)
        self.emit(f"{i} = phi i64 [ {a}, %{before} ], [ {following}, %{latch} ]")
        self.branch_if(self.icmp("slt", Val("i64", i), b), body, done)
        self.label(body)
        yield Val("i64", i)
        self.branch(latch)
        self.label(latch)
        self.emit(f"{following} = add nsw i64 {i}, {step}")
        self.emit(f"br label %{head}{note}")
        self.label(done)

    @contextmanager
    def when(self, condition: Val) -> Iterator[None]:
        """if condition: …"""
        yes, after = self.fresh("then"), self.fresh("after")
        self.branch_if(condition, yes, after)
        self.label(yes)
        yield
        self.branch(after)
        self.label(after)
