"""Symbolic dimensions: canonical integer expressions with interval bounds.

A `Dim` is a polynomial with integer coefficients over *atoms*: symbols, floor quotients and minima. Everything else is written with these:
``a % b`` is ``a - b*(a//b)``, ``max(a, b)`` is ``-min(-a, -b)``. Atoms are interned, so two expressions with the same canonical form
compare equal (and hash equally) in one step, however they were built. An expression that turns out constant is an int, never a `Dim`.

Comparisons are decided by bounds; one they cannot decide raises TraceError, and so does every use that needs the number itself.
"""

from __future__ import annotations

import itertools
import math
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from twofold.ir.dimtext import print_dim, remainders
from twofold.ir.dtypes import BY_NAME
from twofold.ir.polynomial import INF, Bound, Monomial, add_bounds, bounds_of_terms, div_bounds, monomial_product, monomial_quotient
from twofold.support.errors import ArgumentError, TraceError, ValueRangeError

MAX_DEPTH = 64
MAX_TERMS = 20_000
RESERVED = frozenset(("min", "max", "inf", "nan", "None", "True", "False", "slice", "type", "in", "like", "fresh", *BY_NAME))

_lock = threading.Lock()
_atoms: weakref.WeakValueDictionary[Any, Atom] = weakref.WeakValueDictionary()
_fresh = itertools.count()

ONE: Monomial = frozenset()


class Atom:
    """A symbol, a floor quotient or a minimum; interned, so identity compares."""

    __slots__ = ("__weakref__", "args", "depth", "hi", "kind", "lo")

    def __init__(self, kind: str, args: Any, lo: Bound, hi: Bound, depth: int) -> None:
        self.kind, self.args, self.lo, self.hi, self.depth = kind, args, lo, hi, depth

    def __reduce__(self) -> tuple[object, ...]:
        return _intern, (self.kind, self.args, self.lo, self.hi, self.depth)


def _intern(kind: str, args: Any, lo: Bound, hi: Bound, depth: int) -> Atom:
    if depth > MAX_DEPTH:
        raise ValueRangeError(f"a symbolic dimension is nested more than {MAX_DEPTH} quotients and minima deep")
    with _lock:
        atom = _atoms.get((kind, args))
        if atom is None:
            atom = _atoms[kind, args] = Atom(kind, args, lo, hi, depth)
        return atom


class Dim:
    """A size that is not known yet. Make symbols with `symbol`, expressions with ``+ - * // %``, `minimum` and `maximum`."""

    __slots__ = ("_bounds", "_hash", "_key", "_terms")
    is_symbolic_dim = True

    def __init__(self, terms: dict[Monomial, int]) -> None:
        self._terms = terms
        self._key = frozenset(terms.items())
        self._hash = hash(self._key)
        self._bounds: tuple[Bound, Bound] | None = None

    # --- arithmetic

    def __add__(self, other: Any) -> Any:
        return _linear(self, other, 1) if type(other) is Dim or type(other) is int else _other(self, other, "+")

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return _linear(self, other, -1) if type(other) is Dim or type(other) is int else _other(self, other, "-")

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> Any:
        return Dim({m: -k for m, k in self._terms.items()})

    def __pos__(self) -> Dim:
        return self

    def __mul__(self, other: Any) -> Any:
        return _product(self, other) if type(other) is Dim or type(other) is int else _other(self, other, "*")

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __floordiv__(self, other: Any) -> Any:
        return floordiv(self, other) if type(other) is Dim or type(other) is int else _other(self, other, "//")

    def __rfloordiv__(self, other: Any) -> Any:
        return floordiv(other, self) if type(other) is int else _other(other, self, "//")

    def __mod__(self, other: Any) -> Any:
        return self - other * (self // other)

    def __rmod__(self, other: Any) -> Any:
        return other - self * (other // self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __truediv__(self, other: Any) -> Any:
        if hasattr(other, "_array"):
            return NotImplemented
        raise TraceError(f"({self}) / ({other}) is not an integer expression of symbolic dimensions; use // for the floor quotient")

    def __rtruediv__(self, other: Any) -> Any:
        raise TraceError(f"({other}) / ({self}) is not an integer expression of symbolic dimensions; use // for the floor quotient")

    def __pow__(self, power: Any) -> Any:
        if type(power) is not int or power < 0:
            return NotImplemented
        result: Any = 1
        for _ in range(power):
            result = result * self
        return result

    # --- comparison

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Dim and self._hash == other._hash and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: Any) -> bool:
        return self._order(other, "<", False)

    def __ge__(self, other: Any) -> bool:
        return not self._order(other, ">=", False)

    def __gt__(self, other: Any) -> bool:
        return not self._order(other, ">", True)

    def __le__(self, other: Any) -> bool:
        return self._order(other, "<=", True)

    def _order(self, other: Any, sign: str, equal: bool) -> Any:
        """`self < other` (or <=) where bounds decide it."""
        if hasattr(other, "_array"):
            return NotImplemented
        difference = self - other
        lo, hi = _interval(difference)
        limit = 0 if equal else -1
        if hi <= limit:
            return True
        if lo > limit:
            return False
        raise TraceError(f"{self._unknown()}: `{self} {sign} {other}` depends on it")

    def __bool__(self) -> bool:
        lo, hi = _interval(self)
        if lo > 0 or hi < 0:
            return True
        raise TraceError(f"{self._unknown()}: whether it is zero depends on it")

    # --- conversions that need the number

    def __index__(self) -> int:
        raise TraceError(f"{self._unknown()}: the code needs it as a Python int")

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        raise TraceError(f"{self._unknown()}: the code needs it as a Python float")

    def _unknown(self) -> str:
        names = ", ".join(s.name for s in self.symbols())
        lo, hi = self.bounds
        known = f"{'-∞' if lo is None else lo} to {'∞' if hi is None else hi}"
        what = f"symbolic dimension {self}" if self.is_symbol else f"symbolic dimension {self} (of {names})"
        return f"the value of the {what}, in {known}, is not known while the graph is recorded"

    # --- reading

    @property
    def is_symbol(self) -> bool:
        """True for a bare symbol."""
        return self._symbol_atom() is not None

    def _symbol_atom(self) -> Any:
        if len(self._terms) == 1:
            ((monomial, k),) = self._terms.items()
            if k == 1 and len(monomial) == 1:
                ((atom, power),) = monomial
                if power == 1 and atom.kind == "symbol":
                    return atom
        return None

    @property
    def name(self) -> str:
        """The name of a bare symbol; raises ArgumentError for other expressions."""
        atom = self._symbol_atom()
        if atom is None:
            raise ArgumentError(f"{self} is an expression, not a symbol: it has no name")
        return str(atom.args[0])

    @property
    def is_fresh(self) -> bool:
        """True for a symbol that stands for a data-dependent size (made by `fresh`)."""
        atom = self._symbol_atom()
        return atom is not None and bool(atom.args[4])

    @property
    def is_unnamed(self) -> bool:
        """True for a symbol of `fresh` that no graph has named yet."""
        return self.is_fresh and self.name.startswith("_u")

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """(least, greatest) possible value; None where unbounded."""
        lo, hi = _interval(self)
        return (None if lo == -INF else int(lo)), (None if hi == INF else int(hi))

    @property
    def hint(self) -> int | None:
        """The value for the symbols' example sizes, or None where a symbol has none."""
        env = {}
        for s in self.symbols():
            atom = s._symbol_atom()
            assert atom is not None
            if atom.args[3] is None:
                return None
            env[s.name] = atom.args[3]
        return self.evaluate(env)

    def symbols(self) -> tuple[Dim, ...]:
        """The symbols of the expression, by name."""
        found: dict[Atom, None] = {}
        _collect(self, found)
        return tuple(sorted((Dim({frozenset(((a, 1),)): 1}) for a in found), key=lambda s: s.name))

    def evaluate(self, env: Mapping[str, int]) -> int:
        """The value for the symbols' values; raises ArgumentError for a symbol that has none and ValueRangeError for a division by zero."""
        total = 0
        for monomial, k in self._terms.items():
            for atom, power in monomial:
                k *= _atom_value(atom, env) ** power
            total += k
        return total

    def substitute(self, env: Mapping[str, Any]) -> Any:
        """The expression with symbols replaced by ints or other expressions; symbols that `env` lacks stay."""
        total: Any = 0
        for monomial, k in self._terms.items():
            term: Any = k
            for atom, power in monomial:
                value = _atom_substitute(atom, env)
                for _ in range(power):
                    term = term * value
            total = total + term
        return total

    def __repr__(self) -> str:
        return print_dim(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (tuple((tuple(m), k) for m, k in self._terms.items()),)

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: object) -> Dim:
        return self


Size = int | Dim


def _rebuild(terms: Iterable[tuple[tuple[Any, ...], int]]) -> Dim:
    return Dim({frozenset(m): k for m, k in terms})


def _other(a: Any, b: Any, sign: str) -> Any:
    """Arithmetic with something that is neither a plain int nor a Dim: ints of other classes count, the rest is Python's to judge."""
    left, right = (x if type(x) is Dim else _as_int(x) for x in (a, b))
    if left is None or right is None:
        return NotImplemented
    if sign == "//":
        return floordiv(left, right)
    return left + right if sign == "+" else left - right if sign == "-" else left * right


def _as_int(value: Any) -> int | None:
    if isinstance(value, float) or hasattr(value, "_array"):  # a tensor has its own way with sizes
        return None
    try:
        return int(value.__index__())
    except AttributeError:
        return None


def symbol(name: str, lo: int | None = 0, hi: int | None = None, hint: int | None = None) -> Dim:
    """The symbol `name` with values in [lo, hi] (None: unbounded) and an example value. Equal arguments give equal symbols."""
    return _symbol(name, lo, hi, hint, False)


def fresh(lo: int | None = 0, hi: int | None = None) -> Dim:
    """A new symbol for a size that depends on data (`nonzero`): type rules make one, the graph builder gives it a name of its graph."""
    return _symbol(f"_u{next(_fresh)}", lo, hi, None, True)


def _symbol(name: str, lo: int | None, hi: int | None, hint: int | None, is_fresh: bool) -> Dim:
    if not name.isidentifier() or not name.isascii() or name in RESERVED:
        raise ArgumentError(
            f"{name!r} cannot name a symbolic dimension: it must be an ASCII identifier that is no dtype and no reserved word"
        )
    if lo is not None and hi is not None and lo > hi:
        raise ValueRangeError(f"symbolic dimension {name}: no value lies between {lo} and {hi}")
    atom = _intern("symbol", (name, lo, hi, hint, is_fresh), -INF if lo is None else lo, INF if hi is None else hi, 0)
    return Dim({frozenset(((atom, 1),)): 1})


def renamed(dim: Dim, name: str) -> Dim:
    """A bare symbol under another name, all else kept."""
    atom = dim._symbol_atom()
    assert atom is not None
    return _symbol(name, *atom.args[1:])


def as_fresh(dim: Dim) -> Dim:
    """A bare symbol as one that stands for a data-dependent size."""
    atom = dim._symbol_atom()
    assert atom is not None
    name, lo, hi, hint, _ = atom.args
    return _symbol(name, lo, hi, hint, True)


def declaration(dim: Dim) -> str:
    """How graph text declares a bare symbol: ``s0 in 2..64 like 8``; what is default is left out."""
    atom = dim._symbol_atom()
    assert atom is not None
    name, lo, hi, hint, is_fresh = atom.args
    text = ("fresh " if is_fresh else "") + name
    if (lo, hi) != (0, None):
        text += f" in {'' if lo is None else lo}..{'' if hi is None else hi}"
    return text if hint is None else f"{text} like {hint}"


# --- canonical forms


def _terms_of(value: Size) -> dict[Monomial, int]:
    return value._terms if type(value) is Dim else ({ONE: value} if value else {})  # type: ignore[dict-item]


def _made(terms: dict[Monomial, int]) -> Size:
    """An int where only the constant is left."""
    if not terms:
        return 0
    if len(terms) == 1 and ONE in terms:
        return terms[ONE]
    return Dim(terms)


def _linear(a: Size, b: Size, factor: int) -> Size:
    terms = dict(_terms_of(a))
    for m, k in _terms_of(b).items():
        total = terms.get(m, 0) + k * factor
        if total:
            terms[m] = total
        else:
            terms.pop(m, None)
    return _made(terms)


def _product(a: Size, b: Size) -> Size:
    left, right = _terms_of(a), _terms_of(b)
    if len(left) * len(right) > MAX_TERMS:
        raise ValueRangeError(
            f"a product of symbolic dimensions would have up to {len(left) * len(right)} terms (the limit is {MAX_TERMS})"
        )
    terms: dict[Monomial, int] = {}
    for m, k in left.items():
        for n, j in right.items():
            monomial = monomial_product(m, n)
            total = terms.get(monomial, 0) + k * j
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
    return _made(terms)


def floordiv(a: Size, b: Size) -> Size:
    """``a // b``, rounded towards minus infinity as in Python; raises ValueRangeError for a zero divisor."""
    if type(b) is int:
        if b == 0:
            raise ValueRangeError(f"({a}) // 0: division of a symbolic dimension by zero")
        return a // b if type(a) is int else _floordiv_int(a, b)  # type: ignore[arg-type]
    assert type(b) is Dim
    lo, hi = _interval(b)
    if hi < 0:
        return floordiv(-a, -b)
    whole: dict[Monomial, int] = {}
    rest = _terms_of(a)
    if lo > 0 and len(b._terms) == 1:  # whole multiples of a monomial leave the quotient
        ((monomial, k),) = b._terms.items()
        rest = {}
        for m, j in _terms_of(a).items():
            quotient = monomial_quotient(m, monomial)
            if quotient is not None and j % k == 0:
                whole[quotient] = j // k
            else:
                rest[m] = j
    elif lo > 0 and type(a) is Dim and a == b:
        return 1
    remainder = _made(dict(rest))
    if lo > 0 and _interval(remainder)[0] >= 0 and _interval(remainder - b)[1] < 0:
        return _made(whole)
    if remainder == 0 and lo > 0:
        return _made(whole)
    return _made(whole) + _quotient_atom(remainder, b)


def _floordiv_int(a: Dim, b: int) -> Size:
    if b < 0:
        a, b = -a, -b
    # a = b*whole + rest with the coefficients of rest in [0, b): the whole part leaves the quotient
    whole = {m: k // b for m, k in a._terms.items() if k // b}
    rest = {m: k % b for m, k in a._terms.items() if k % b}
    quotient = _made(whole)
    remainder = _made(rest)
    lo, hi = _interval(remainder)
    if lo >= 0 and hi < b:
        return quotient
    assert type(remainder) is Dim
    divisor = math.gcd(b, *(k for m, k in remainder._terms.items() if m))
    if divisor > 1:  # (g*x + c) // (g*d) is (x + c//g) // d
        reduced = _made({m: k // divisor for m, k in remainder._terms.items() if k // divisor})
        return quotient + floordiv(reduced, b // divisor)
    constant = remainder._terms.get(ONE, 0)
    inner = _linear(remainder, constant, -1)
    assert type(inner) is Dim
    if len(inner._terms) == 1:  # (x//d + c) // b is (x + c*d) // (d*b)
        ((monomial, k),) = inner._terms.items()
        if k == 1 and len(monomial) == 1:
            ((atom, power),) = monomial
            if power == 1 and atom.kind == "floordiv" and type(atom.args[1]) is int:
                x, d = atom.args
                return quotient + floordiv(x + constant * d, d * b)
    return quotient + _quotient_atom(remainder, b)


def _quotient_atom(a: Size, b: Size) -> Dim:
    (alo, ahi), (blo, bhi) = _interval(a), _interval(b)
    if blo > 0:
        lo = min(div_bounds(alo, blo), div_bounds(alo, bhi))
        hi = max(div_bounds(ahi, blo), div_bounds(ahi, bhi))
    else:
        lo, hi = -INF, INF
    atom = _intern("floordiv", (a, b), lo, hi, 1 + max(_depth(a), _depth(b)))
    return Dim({frozenset(((atom, 1),)): 1})


def minimum(*sizes: Size) -> Size:
    """The least of the sizes."""
    found: dict[Any, None] = {}
    for size in sizes:
        atom = _single(size, "min")
        for part in atom.args if atom is not None else (size,):
            found[part] = None
    parts = _undominated(list(found))
    if len(parts) == 1:
        return parts[0]
    shared = set.intersection(*(set(_terms_of(p).items()) for p in parts))
    offset: Size = _made({m: k for m, k in shared if m})
    symbolic = [p for p in parts if type(p) is Dim]
    offset = offset + min(p._terms.get(ONE, 0) for p in symbolic)
    if offset != 0:
        return offset + minimum(*(p - offset for p in parts))
    factor = math.gcd(*(k for p in parts for k in _terms_of(p).values()))
    if factor > 1:
        return factor * minimum(*(_made({m: k // factor for m, k in _terms_of(p).items()}) for p in parts))
    bounds = [_interval(p) for p in parts]
    args = frozenset(parts)
    atom = _intern("min", args, min(b[0] for b in bounds), min(b[1] for b in bounds), 1 + max(map(_depth, parts)))
    return Dim({frozenset(((atom, 1),)): 1})


def maximum(*sizes: Size) -> Size:
    """The greatest of the sizes."""
    return -minimum(*(-s for s in sizes))


def _undominated(parts: list[Size]) -> list[Size]:
    """Without the sizes that another one is never greater than."""
    kept: list[Size] = []
    for i, p in enumerate(parts):
        for j, q in enumerate(parts):
            if i != j:
                lo, hi = _interval(p - q)
                if lo > 0 or (lo == 0 and (hi > 0 or j < i)):
                    break
        else:
            kept.append(p)
    return kept


def _single(size: Size, kind: str) -> Atom | None:
    if type(size) is Dim and len(size._terms) == 1:
        ((monomial, k),) = size._terms.items()
        if k == 1 and len(monomial) == 1:
            ((atom, power),) = monomial
            if power == 1 and atom.kind == kind:
                return atom
    return None


def _depth(size: Size) -> int:
    if type(size) is not Dim:
        return 0
    return max((atom.depth for m in size._terms for atom, _ in m), default=0)


def _collect(size: Size, found: dict[Atom, None]) -> None:
    if type(size) is Dim:
        for monomial in size._terms:
            for atom, _ in monomial:
                if atom.kind == "symbol":
                    found[atom] = None
                else:
                    for part in atom.args:
                        _collect(part, found)


def _value(size: Size, env: Mapping[str, int]) -> int:
    return size.evaluate(env) if type(size) is Dim else size  # type: ignore[return-value]


def _atom_value(atom: Atom, env: Mapping[str, int]) -> int:
    if atom.kind == "symbol":
        try:
            return env[atom.args[0]]
        except KeyError:
            raise ArgumentError(f"the symbolic dimension {atom.args[0]} has no value here; known are {', '.join(env) or 'none'}") from None
    if atom.kind == "min":
        return min(_value(p, env) for p in atom.args)
    a, b = (_value(p, env) for p in atom.args)
    if b == 0:
        raise ValueRangeError(f"({atom.args[0]}) // ({atom.args[1]}): the divisor is zero for {dict(env)}")
    return a // b


def _atom_substitute(atom: Atom, env: Mapping[str, Any]) -> Any:
    if atom.kind == "symbol":
        found = env.get(atom.args[0])
        return Dim({frozenset(((atom, 1),)): 1}) if found is None else found
    parts = [p.substitute(env) if type(p) is Dim else p for p in atom.args]
    return minimum(*parts) if atom.kind == "min" else floordiv(*parts)


# --- bounds


def _interval(size: Size) -> tuple[Bound, Bound]:
    if type(size) is not Dim:
        return size, size  # type: ignore[return-value]
    if size._bounds is None:
        lo, hi = bounds_of_terms(size._terms)
        current: Size = size
        shift_lo: Bound = 0
        shift_hi: Bound = 0
        for x, b, m in remainders(size):  # m*b*(x//b) is m*x - m*(x % b), and x % b lies in [0, b - 1]
            current = current - m * b * (x // b) + m * x
            ends = 0, -m * (b - 1)
            shift_lo, shift_hi = add_bounds(shift_lo, min(ends)), add_bounds(shift_hi, max(ends))
            a, z = bounds_of_terms(_terms_of(current))
            lo, hi = max(lo, add_bounds(a, shift_lo)), min(hi, add_bounds(z, shift_hi))
        for rest, x, b, k in _quotients(size):  # b*(rest + k*(x//b)) is b*rest + k*x - k*(x % b)
            a, z = bounds_of_terms(_terms_of(rest * b + x * k))
            ends = 0, -k * (b - 1)
            lo = max(lo, -div_bounds(-add_bounds(a, min(ends)), b))
            hi = min(hi, div_bounds(add_bounds(z, max(ends)), b))
        size._bounds = lo, hi
    return size._bounds


def _quotients(size: Dim) -> Iterator[tuple[Size, Dim, int, int]]:
    """(rest, x, b, k) for every term k*(x//b) with an integer divisor b that stands beside other terms."""
    for monomial, k in size._terms.items() if len(size._terms) > 1 else ():
        if len(monomial) == 1:
            ((atom, power),) = monomial
            if power == 1 and atom.kind == "floordiv" and type(atom.args[1]) is int:
                rest = _made({m: j for m, j in size._terms.items() if m != monomial})
                yield rest, atom.args[0], atom.args[1], k
