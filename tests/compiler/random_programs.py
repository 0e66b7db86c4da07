"""Random programs for the compiler: lines of Python over the public API, which only the types of their operands restrict.

A program is made by running it: a line is drawn, tried eagerly on the values so far, and kept if it runs. So programs can be read, cut down
line by line, and pasted into a test.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import twofold
from tests.compiler.line_programs import DTYPES, FLOATS, INTEGERS, SHORT, Input, Program, tidy
from tests.compiler.random_templates import BINARY, EXACT_BINARY, EXACT_UNARY, INTEGER, LOGIC, NORMALISED, UNARY, WRITES
from twofold.errors import InplaceError, TwofoldError

SIZES = (0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 16, 17, 31, 33, 64, 65, 100, 257)
MAX_ELEMENTS, MAX_RANK = 12_000, 5
LARGE = 300_000
"""Elements of a value in one program of twenty: enough for several chunks."""
MAX_VALUE, MAX_NARROW_VALUE = 200.0, 20.0
"""Larger magnitudes, of which rounding errors are large, are not computed with; the second where a 16-bit float takes part."""


@dataclass
class Register:
    """A value while a program is made. `exact`: every way of computing it gives the same bits, so one may branch on it."""

    value: Any
    exact: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    @property
    def dtype(self) -> str:
        return SHORT[self.value.dtype]

    @property
    def floating(self) -> bool:
        return self.dtype in FLOATS


REDUCTIONS = ("sum", "mean", "amax", "amin", "sum", "var", "std", "logsumexp", "prod", "norm")
EXACT_REDUCTIONS = ("amax", "amin", "argmax", "argmin", "max", "min", "any", "all", "count_nonzero", "sort", "aminmax")


@dataclass
class Maker:
    """Makes one program. `gradients`: only lines through which gradients are continuous, no write of an input."""

    rng: random.Random
    gradients: bool = False
    inputs: list[Input] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    registers: dict[str, Register] = field(default_factory=dict)
    seed: int = 0
    largest: int = MAX_ELEMENTS

    # --- choices

    def shape(self) -> tuple[int, ...]:
        rank = self.rng.choice((0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4))
        while True:
            shape = tuple(self.rng.choice(SIZES) for _ in range(rank))
            if self.largest == LARGE and rank:
                shape = (*shape[:-1], self.rng.choice((1021, 4096, 20_011, 100, 65)))
            if np.prod(shape) <= self.largest // 2 and (0 not in shape or self.rng.random() < 0.15):
                return shape

    def add_input(self, dtype: str, shape: tuple[int, ...], kind: str = "normal", high: int = 1) -> str:
        name = f"x{len(self.inputs)}"
        self.inputs.append(Input(name, dtype, shape, kind, high))
        value = twofold.tensor(self.inputs[-1].array(self.seed), dtype=DTYPES[dtype])
        self.registers[name] = Register(value, True)
        return name

    def pick(self, wanted: Callable[[Register], bool]) -> str | None:
        """A register, later ones more likely."""
        names = [n for n, r in self.registers.items() if wanted(r)]
        if not names:
            return None
        return names[max(self.rng.randrange(len(names)), self.rng.randrange(len(names)))]

    def dim(self, shape: tuple[int, ...]) -> int:
        return self.rng.randrange(-len(shape), len(shape))

    def dims(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape)))))

    def slice(self, size: int) -> str:
        start, stop = sorted((self.rng.randint(0, size), self.rng.randint(0, size)))
        step = self.rng.choice(("", "", ":2", ":3"))
        return self.rng.choice(
            (":", f"{start}:", f"{start}:{stop}", f":{max(stop, 1)}{step}", f"{start}:{step}", "-1:", f"{self.rng.randrange(max(size, 1))}")
        )

    def index(self, shape: tuple[int, ...]) -> str:
        return ", ".join(self.slice(n) for n in shape[: self.rng.randint(1, len(shape))]) if shape else "..."

    def factors(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Another shape of as many elements."""
        total = int(np.prod(shape))
        result = []
        while total > 1 and len(result) < 4:
            divisors = [d for d in range(1, total + 1) if total % d == 0]
            result.append(self.rng.choice(divisors))
            total //= result[-1]
        return (*result, total) if total != 1 or not result else tuple(result)

    # --- lines

    def try_line(self, line: str, exact: bool) -> bool:
        """Run a line on the values so far, and keep it if it runs and its results are fit to be computed with."""
        target = f"v{len(self.lines)}"
        written = "=" in line.replace("==", "").split("(")[0] or "_(" in line
        values = {n: r.value for n, r in self.registers.items()}
        backup = {n: v.clone() for n, v in values.items()} if written else {}
        space: dict[str, Any] = {"tf": twofold, "F": twofold.nn.functional, **DTYPES, **values}
        try:
            with np.errstate(all="ignore"):
                exec(line if written else f"{target} = {line}", space)
        except (TwofoldError, TypeError, ValueError, AttributeError, NotImplementedError):
            return False
        if written:
            if not all(self._fit(r.value) for r in self.registers.values()):
                for n, b in backup.items():
                    with contextlib.suppress(InplaceError):  # an expanded one: its base is put back
                        values[n].copy_(b)
                return False
            self.lines.append(line)
            for r in self.registers.values():
                r.exact = False
            return True
        result = space[target]
        parts = list(result) if isinstance(result, (tuple, list)) else [result]
        if not parts or not all(isinstance(p, twofold.Tensor) and p.dtype in SHORT and self._fit(p) for p in parts):
            return False
        names = [f"{target}_{k}" for k in range(len(parts))] if isinstance(result, (tuple, list)) else [target]
        self.lines.append(f"{', '.join(names)}{',' if isinstance(result, (tuple, list)) and len(names) == 1 else ''} = {line}")
        for n, p in zip(names, parts, strict=True):
            self.registers[n] = Register(p, exact)
        return True

    def _fit(self, t: Any) -> bool:
        if t.numel() > self.largest or len(t.shape) > MAX_RANK:
            return False
        a = np.asarray(t.detach().numpy(), np.float64)
        finite = np.abs(a[np.isfinite(a)])
        narrow = any(r.dtype in ("bf16", "f16") for r in self.registers.values())
        return finite.size == 0 or float(finite.max()) <= (MAX_NARROW_VALUE if narrow else MAX_VALUE)

    def step(self) -> bool:
        kinds = (
            [self.unary] * 4 + [self.binary] * 5 + [self.view] * 7 + [self.reduction] * 4 + [self.normalised] * 2 + [self.joining] * 3
            + [self.indexing] * 3 + [self.scattering] * 2 + [self.window] * 2 + [self.mixed]
        )  # fmt: skip
        if not self.gradients:
            kinds += [self.exact] * 3 + [self.integer] * 3 + [self.cast] * 2 + [self.write] * 2 + [self.positions] * 2
        kinds += [self.control]
        return self.rng.choice(kinds)()

    def unary(self) -> bool:
        a = self.pick(lambda r: r.floating)
        return a is not None and self.try_line(self.rng.choice(UNARY).format(a), False)

    def exact(self) -> bool:
        a = self.pick(lambda r: r.floating and r.exact)
        return a is not None and self.try_line(self.rng.choice(EXACT_UNARY).format(a), True)

    def partner(self, a: str, wanted: Callable[[Register], bool]) -> str | None:
        """Another value that broadcasts with `a`, made fit by an expand or a sum where none is."""
        shape = self.registers[a].shape

        def fits(r: Register) -> bool:
            return wanted(r) and all(m == n or 1 in (m, n) for m, n in zip(shape[::-1], r.shape[::-1], strict=False))

        return self.pick(fits)

    def binary(self) -> bool:
        a = self.pick(lambda r: r.floating)
        b = self.partner(a, lambda r: r.floating) if a else None
        if a is None or b is None:
            return False
        if self.registers[a].exact and self.registers[b].exact and self.rng.random() < 0.4 and not self.gradients:
            return self.try_line(self.rng.choice(EXACT_BINARY).format(a, b), True)
        return self.try_line(self.rng.choice(BINARY).format(a, b), False)

    def mixed(self) -> bool:
        a = self.pick(lambda r: r.floating)
        b = self.partner(a, lambda r: not r.floating) if a else None
        if a is None or b is None:
            return False
        if self.registers[b].dtype == "bool":
            return self.try_line(
                self.rng.choice(("tf.where({1}, {0}, 0.5)", "{0}.masked_fill({1}, -0.5)", "{0} * {1}", "tf.where({1}, {0}, -{0})")).format(
                    a, b
                ),
                self.registers[a].exact,
            )
        return self.try_line(
            self.rng.choice(("{0} + {1}", "{0} * {1}", "{0} - {1} / 2", "tf.where({1} > 1, {0}, {0} * 2)")).format(a, b), False
        )

    def integer(self) -> bool:
        logic = self.rng.random() < 0.4
        a = self.pick(lambda r: r.exact and (r.dtype == "bool" if logic else r.dtype in INTEGERS))
        b = self.partner(a, lambda r: r.exact and (r.dtype == "bool" if logic else r.dtype in INTEGERS)) if a else None
        return a is not None and b is not None and self.try_line(self.rng.choice(LOGIC if logic else INTEGER).format(a, b), True)

    def cast(self) -> bool:
        to = self.rng.choice((*FLOATS, "f32", "i64", "i32", "u8", "bool"))
        a = self.pick(lambda r: r.exact or to in FLOATS)
        if a is None:
            return False
        r = self.registers[a]
        finite = not r.floating or bool(np.isfinite(np.asarray(r.value.numpy(), np.float64)).all())
        if to not in FLOATS and (not finite or (to == "u8" and r.dtype != "bool")):
            return False
        return self.try_line(f"{a}.to({to})", r.exact and to not in ("bf16", "f16"))

    def view(self) -> bool:
        a = self.pick(lambda r: len(r.shape) > 0 or self.rng.random() < 0.1)
        if a is None:
            return False
        s = self.registers[a].shape
        if not s:
            return self.try_line(f"{a}.expand({self.rng.choice((1, 3, 5))}, 2)", self.registers[a].exact)
        d, e, n = self.dim(s), self.dim(s), self.rng.randint(1, 3)
        permuted = tuple(self.rng.sample(range(len(s)), len(s)))
        size = s[d]
        window = self.rng.randint(1, max(size, 1))
        lines = (
            f"{a}.permute({permuted})",
            f"{a}.transpose({d}, {e})",
            f"{a}.flip({self.dims(s)})",
            f"{a}.reshape({self.factors(s)})",
            f"{a}[{self.index(s)}]",
            f"{a}[{self.index(s)}]",
            f"{a}.reshape(-1)",
            f"{a}.unsqueeze({d})",
            f"{a}.squeeze()",
            f"{a}.expand({(n + 1, *s)})",
            f"{a}.select({d}, {self.rng.randrange(max(size, 1))})",
            f"{a}.narrow({d}, {size - window}, {window})",
            f"{a}.diagonal(0, {d}, {e})",
            f"{a}.unfold({d}, {window}, {n})",
            f"{a}.roll({n}, {d})",
            f"{a}.repeat({(n, *[1] * (len(s) - 1))})",
            f"{a}.movedim({d}, {e})",
            f"{a}.repeat_interleave({n}, {d})",
            f"{a}.tril()",
            f"{a}.triu({n - 2})",
            f"{a}.rot90(1, (0, {len(s) - 1}))",
            f"{a}.unflatten({d}, ({size // n if n and size % n == 0 else size}, -1))",
            f"{a}.flatten({min(d % len(s), e % len(s))}, {max(d % len(s), e % len(s))})",
            f"{a}.contiguous().view({self.factors(s)})",
            f"{a}.split({window}, {d})",
            f"{a}.chunk({n}, {d})",
            f"{a}[..., None]",
            f"{a}.reshape({self.factors(s)}).flip(0)",
            f"{a}.transpose({d}, {e}).reshape({self.factors(s)})",
            f"{a}.unbind({d})[:3]",
            f"{a}.swapaxes({d}, {e}).flatten()",
            f"tf.diag_embed({a})",
            f"{a}.flip({d}).reshape({self.factors(s)})",
        )
        return self.try_line(self.rng.choice(lines), self.registers[a].exact)

    def reduction(self) -> bool:
        a = self.pick(lambda r: r.floating)
        if a is None:
            return False
        s = self.registers[a].shape
        name, keep = self.rng.choice(REDUCTIONS), self.rng.choice(("", ", keepdim=True"))
        if not s or self.rng.random() < 0.15:
            return self.try_line(f"{a}.{self.rng.choice(('sum', 'mean', 'amax', 'var'))}()", False)
        dims = self.dims(s)
        if name == "prod":
            return self.try_line(f"(tf.tanh({a}) + 0.9).prod({self.dim(s)}{keep})", False)
        if name == "norm":
            return self.try_line(f"{a}.norm({self.rng.choice((1, 2, 3))}, {dims}{keep})", False)
        return self.try_line(f"{a}.{name}({dims if self.rng.random() < 0.6 else self.dim(s)}{keep})", False)

    def positions(self) -> bool:
        """Reductions that depend on an order, or count."""
        a = self.pick(lambda r: r.exact and len(r.shape) > 0)
        if a is None:
            return False
        s = self.registers[a].shape
        name = self.rng.choice(EXACT_REDUCTIONS)
        arguments = "" if name in ("any", "all") and self.rng.random() < 0.3 else str(self.dim(s))
        if name == "aminmax":
            return self.try_line(f"tuple(tf.aminmax({a}, dim={arguments}))", True)
        if name in ("max", "min", "sort"):
            return self.try_line(
                f"tuple({a}.{name}({arguments}))" if name != "sort" else f"tuple({a}.sort({arguments}, stable=True))", True
            )
        if not self.registers[a].floating and self.rng.random() < 0.4:
            return self.try_line(f"{a}.{self.rng.choice(('sum', 'prod', 'cumsum'))}({arguments or 0})", True)
        return self.try_line(f"{a}.{name}({arguments})", True)

    def normalised(self) -> bool:
        a = self.pick(lambda r: r.floating and len(r.shape) > 0)
        if a is None:
            return False
        s = self.registers[a].shape
        if len(s) >= 2 and self.rng.random() < 0.25:
            groups = self.rng.choice([g for g in range(1, max(s[1], 1) + 1) if s[1] % g == 0])
            return self.try_line(
                self.rng.choice((f"F.batch_norm({a}, None, None, training=True)", f"F.group_norm({a}, {groups})", f"F.instance_norm({a})")),
                False,
            )
        if len(s) == 2 and self.rng.random() < 0.25 and s[0] and s[1]:
            target = self.add_input("i64", (s[0],), "index", s[1])
            smoothing = self.rng.choice(("", ", label_smoothing=0.1", ", reduction='sum'", ", reduction='none'", ", ignore_index=1"))
            return self.try_line(f"F.cross_entropy({a}, {target}{smoothing})", False)
        return self.try_line(self.rng.choice(NORMALISED).format(a, dim=self.dim(s), last=s[-1]), False)

    def joining(self) -> bool:
        a = self.pick(lambda r: len(r.shape) > 0)
        if a is None:
            return False
        ra = self.registers[a]
        s, d = ra.shape, self.dim(ra.shape)

        def joins(r: Register) -> bool:
            return len(r.shape) == len(s) and all(m == n for k, (m, n) in enumerate(zip(r.shape, s, strict=True)) if k != d % len(s))

        b, n, m = self.pick(joins), self.rng.randint(0, 2), self.rng.randint(0, 3)
        assert b is not None
        exact = ra.exact and self.registers[b].exact
        mode = self.rng.choice(("constant", "constant", "reflect", "replicate", "circular"))
        value = ", value=0.5" if mode == "constant" and ra.floating else ""
        lines = (
            f"tf.cat([{a}, {b}], {d})",
            f"tf.cat([{a}, {b}, {a}], {d})",
            f"tf.stack([{a}, {b}], {d})",
            f"F.pad({a}, ({n}, {m}), mode='{mode}'{value})",
            f"F.pad({a}, ({n}, {m}))",
            f"F.pad({a}, ({n}, {m}, {m}, {n}))",
            f"F.pad({a}, ({-n}, {m}))",
            f"tf.cat([{a}.flip({d}), {a}], {d}).sum({d})" if ra.floating else f"tf.cat([{a}, {a}], {d})",
            f"F.pad({a}[:, None], ({n}, {m}), mode='{mode}')",
        )
        line = self.rng.choice(lines)
        return self.try_line(line, exact and ".sum" not in line)

    def indexing(self) -> bool:
        a = self.pick(lambda r: len(r.shape) > 0 and 0 not in r.shape)
        if a is None:
            return False
        r = self.registers[a]
        s, d = r.shape, self.dim(r.shape)
        count = self.rng.choice((1, 2, 3, 5, 9))
        kind = self.rng.choice(("index_select", "gather", "index", "index2", "take_along", "embedding", "mask", "take", "computed"))
        if kind == "index_select":
            return self.try_line(f"{a}.index_select({d}, {self.add_input('i64', (count,), 'index', s[d])})", r.exact)
        if kind in ("gather", "take_along"):
            shape = (*s[: d % len(s)], count, *s[d % len(s) + 1 :])
            i = self.add_input("i64", shape, "index", s[d])
            return self.try_line(f"{a}.gather({d}, {i})" if kind == "gather" else f"tf.take_along_dim({a}, {i}, {d})", r.exact)
        if kind == "index":
            i = self.add_input("i64", self.rng.choice(((count,), (count, 2), ())), "index", s[0])
            return self.try_line(f"{a}[{i}]", r.exact)
        if kind == "index2" and len(s) >= 2:
            i, j = (self.add_input("i64", shape, "index", n) for shape, n in (((count, 1), s[0]), ((3,), s[-1])))
            return self.try_line(f"{a}[{i}, ..., {j}]" if self.rng.random() < 0.5 else f"{a}[{i} - {s[0]}, ..., {j}]", r.exact)
        if kind == "embedding" and len(s) == 2:
            return self.try_line(f"F.embedding({self.add_input('i64', (count, 2), 'index', s[0])}, {a})", r.exact)
        if kind == "take":
            return self.try_line(f"{a}.take({self.add_input('i64', (count,), 'index', int(np.prod(s)))})", r.exact)
        if kind == "computed":
            i = self.add_input("i64", (count,), "index", s[0])
            return self.try_line(f"{a}[({i} * 2 + 1) % {s[0]}].flip(0)", r.exact)
        return self.try_line(f"tf.where({a} > 0.1234, {a}, {a}.flip({d}))", r.exact) if r.exact else False

    def scattering(self) -> bool:
        a = self.pick(lambda r: r.floating and len(r.shape) > 0 and 0 not in r.shape)
        if a is None:
            return False
        r = self.registers[a]
        s, d = r.shape, self.dim(r.shape)
        p, count = d % len(r.shape), self.rng.choice((1, 2, 4, 7))
        b = self.pick(lambda q: q.floating and q.shape == s and q.dtype == r.dtype)
        kind = self.rng.choice(
            (
                "scatter_add",
                "scatter_reduce",
                "index_add",
                "index_put",
                "index_copy",
                "index_fill",
                "scatter",
                "select_scatter",
                "slice_scatter",
                "masked_scatter",
            )
        )
        exact = (
            r.exact
            and self.registers[b or a].exact
            and kind in ("index_copy", "index_fill", "scatter", "select_scatter", "slice_scatter", "index_put")
        )
        if kind in ("scatter_add", "scatter"):
            i = self.add_input("i64", s, "index", s[d])
            return self.try_line(f"{a}.{kind}({d}, {i}, {b})", exact)
        if kind == "scatter_reduce":
            i = self.add_input("i64", s, "index", s[d])
            how = self.rng.choice(("sum", "amax", "amin", "mean"))
            return self.try_line(f"{a}.scatter_reduce({d}, {i}, {b}, '{how}', include_self={self.rng.random() < 0.5})", False)
        if kind in ("index_add", "index_copy"):
            i = self.add_input("i64", (s[p],), "index", s[p])
            return self.try_line(f"{a}.{kind}({d}, {i}, {b})", exact)
        if kind == "index_fill":
            return self.try_line(f"{a}.index_fill({d}, {self.add_input('i64', (count,), 'index', s[d])}, 0.5)", exact)
        if kind == "index_put":
            i = self.add_input("i64", (s[0],), "index", s[0])
            accumulate = self.rng.random() < 0.5
            return self.try_line(f"{a}.index_put(({i},), {b}, accumulate={accumulate})", exact and not accumulate)
        if kind == "select_scatter":
            return self.try_line(f"{a}.select_scatter({b}.select({d}, 0), {d}, {s[d] - 1})", exact)
        if kind == "slice_scatter":
            return self.try_line(f"{a}.slice_scatter({b}.narrow({d}, 0, {(s[d] + 1) // 2}), {d}, 0, {s[d]}, 2)", exact)
        return False

    def window(self) -> bool:
        a = self.pick(lambda r: r.floating and len(r.shape) in (3, 4) and 0 not in r.shape)
        if a is None:
            return False
        n = "1d" if len(self.registers[a].shape) == 3 else "2d"
        k, step = self.rng.randint(1, 3), self.rng.randint(1, 2)
        lines = (
            f"F.max_pool{n}({a}, {k}, {step}, {k // 2})",
            f"F.avg_pool{n}({a}, {k}, {step}, {k // 2})",
            f"F.avg_pool{n}({a}, {k}, {step}, {k // 2}, count_include_pad=False)",
            f"F.adaptive_avg_pool{n}({a}, {k})",
            f"F.max_pool{n}({a}, {k}, {step}, ceil_mode=True)",
            f"F.adaptive_max_pool{n}({a}, {k})",
            f"F.interpolate({a}, scale_factor=2)",
            f"F.interpolate({a}, size={k + 2}, mode='{'linear' if n == '1d' else 'bilinear'}')",
            f"F.lp_pool{n}(tf.abs({a}) + 0.1, 2, {k})",
            f"F.max_pool{n}({a}, {k}, {step}, dilation=2)",
        ) + (
            (f"F.pixel_shuffle({a}, 2)", f"F.pixel_unshuffle({a}, 2)", f"F.unfold({a}, {k})", f"F.channel_shuffle({a}, 2)")
            if n == "2d"
            else ()
        )
        return self.try_line(self.rng.choice(lines), False)

    def write(self) -> bool:
        a = self.pick(lambda r: r.floating)
        b = self.partner(a, lambda r: r.floating) if a else None
        if a is None or b is None:
            return False
        return self.try_line(self.rng.choice(WRITES).format(a, b, index=self.index(self.registers[a].shape)), False)

    def control(self) -> bool:
        a = self.pick(lambda r: r.floating and r.dtype in ("f32", "f64"))
        if a is None:
            return False
        count = self.rng.randint(0, 3)
        predicate = f"tf.abs({a}).sum() > {self.rng.choice((0.0777, 5.1234))}"
        lines = [f"tf.cond({predicate}, lambda a: tf.relu(a) * 2 + 1, lambda a: a.flip(()) - 1, ({a},))"]
        if not self.gradients:
            lines += [
                f"tf.while_loop(lambda i, a: i < {count}, lambda i, a: (i + 1, tf.tanh(a) * 1.25 + i), (tf.tensor(0), {a}))",
                f"tf.while_loop(lambda i, a, b: i < {count}, lambda i, a, b: (i + 1, b, a * 0.5), (tf.tensor(0), {a}, {a} + 1))",
                f"tf.cond(tf.abs({a}).sum() > 3.1234, lambda: {a} * 2, lambda: {a})",
            ]
        return self.try_line(self.rng.choice(lines), False)


def make(seed: int, gradients: bool = False, lines: int | None = None) -> Program:
    """The program of a seed."""
    m = Maker(random.Random(seed), gradients, seed=seed)
    if m.rng.random() < 0.05:
        m.largest = LARGE
    main = m.rng.choice(("f32", "f32", "f32", "f64", "bf16", "f16")) if not gradients else m.rng.choice(("f32", "f64", "f32"))
    shape = m.shape()
    m.add_input(main, shape)
    m.add_input(main, m.rng.choice((shape, shape[1:], m.shape())))
    m.add_input(
        m.rng.choice((*FLOATS, main, main)) if not gradients else main,
        m.shape(),
        m.rng.choice(("normal", "normal", "normal", "special" if not gradients else "normal")),
    )
    if not gradients:
        m.add_input(m.rng.choice((*INTEGERS, "bool")), m.rng.choice((shape, shape, m.shape())))
        m.add_input(m.rng.choice(("bool", "i64")), m.rng.choice((shape, m.shape())))
    wanted = lines or m.rng.choice((3, 5, 8, 12, 16, 24))
    for _ in range(12 * wanted):
        if len(m.lines) >= wanted:
            break
        with np.errstate(all="ignore"):
            m.step()
    names = [n for n in m.registers if not n.startswith("x") and (not gradients or m.registers[n].floating)]
    kept = sorted(m.rng.sample(names, min(len(names), m.rng.randint(1, 4)))) if names else []
    outputs = tuple(dict.fromkeys([*kept, *names[-1:]]))
    return tidy(Program(tuple(m.inputs), tuple(m.lines), outputs, seed))
