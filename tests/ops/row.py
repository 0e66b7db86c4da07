"""The table of samples: one `Row` for each operation, read by every test in this folder.

    Row("logaddexp",
        samples=lambda g: [S(g.real(3, 4), g.real(4)), S(g.real(0, 3), g.real(1)), S(g.real(2), 1.5)],
        numpy=lambda a, b: np.logaddexp(a, b),
        errors=lambda g: [E((g.real(2), g.real(3)), {}, ShapeError, "logaddexp")])

Arguments of samples: NumPy arrays stand for tensors (in lists and tuples too), a `twofold` DType stands for itself (the oracle gets its
NumPy dtype, torch its own), everything else is passed as it is. *float64 arrays are cast to the dtype under test*, arrays of other dtypes
(indices, masks) stay. A cast to integers keeps whole numbers and turns others into small whole numbers of the same sign, never 0;
unsigned: without sign; bool: `a > 0`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from twofold.ir.dtypes import BY_NAME, DType

FLOAT = ("float64", "float32", "bfloat16", "float16")
SIGNED = ("int8", "int16", "int32", "int64")
SMALL_UNSIGNED = ("uint8",)
WIDE_UNSIGNED = ("uint16", "uint32", "uint64")  # torch has few operations for these: they are not compared with it
GROUPS: dict[str, tuple[str, ...]] = {
    "float": FLOAT,
    "integral": (*SIGNED, *SMALL_UNSIGNED, *WIDE_UNSIGNED, "bool"),
    "number": (*FLOAT, *SIGNED, *SMALL_UNSIGNED, *WIDE_UNSIGNED),
    "all": (*FLOAT, *SIGNED, *SMALL_UNSIGNED, *WIDE_UNSIGNED, "bool"),
}
SAME: Any = "the row's name"


class S:
    """One sample: the arguments of a call. `but` says what this sample is not used for, or changes other settings of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs
        self.grad = True
        self.torch = True
        self.layouts = True
        self.dtypes: tuple[str, ...] | None = None

    def but(self, *, grad: bool = True, torch: bool = True, layouts: bool = True, dtypes: str | tuple[str, ...] | None = None) -> S:
        """grad=False: no gradient checks (kinks, infinities);  torch=False: torch differs here (say why in a comment);
        layouts=False: no automatic other layouts and sizes;  dtypes: only these."""
        self.grad, self.torch, self.layouts = grad, torch, layouts
        self.dtypes = None if dtypes is None else dtype_names(dtypes)
        return self

    def __repr__(self) -> str:
        parts = [shown(a) for a in self.args] + [f"{k}={shown(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(parts)})"


@dataclass(frozen=True)
class E:
    """A call that must be refused: arguments (arrays keep their dtype), the error class, and text its message must contain."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    error: type[BaseException]
    text: str


@dataclass(frozen=True, repr=False)
class Row:
    """What is known of one operation (a record, or a function over records) for tests.

    numpy:     the oracle: the same arguments with float arrays in float64. Integers: in the dtype under test where the result is integer
               (so that they wrap), in float64 where the result is a float. None: give `check`.
    check:     `check(result arrays, *args, **kwargs)` asserts what must hold instead (random operations)
    torch:     a name under torch.nn.functional, torch, torch.special or torch.Tensor, or a callable(torch, *args, **kwargs), or None
    dtypes:    "float", "number" (float and integers), "integral" (integers and bool), "all", or a tuple of names
    grad:      True: all float arguments for which the record has a gradient rule; False; or which: positions, names of keyword arguments
    meta:      False: the result's shape depends on values, so the meta device must refuse it
    inplace:   the name of the in-place method ("add_"), compared with the out-of-place form where the sample allows it
    call:      what is called instead of the public function of this name: callable(*args, **kwargs)
    covers:    further records that these samples exercise, for the completeness test
    empty:     whether samples may be cut to size 0 and to 0-d automatically; None: if the record is elementwise
    tolerance: a factor on all error limits (say why in a comment where it is not 1)
    """

    name: str
    samples: Callable[[Gen], list[S]]
    numpy: Callable[..., Any] | None = None
    torch: Any = SAME
    dtypes: str | tuple[str, ...] = "float"
    grad: bool | tuple[int | str, ...] = True
    meta: bool = True
    inplace: str = ""
    errors: Callable[[Gen], list[E]] | None = None
    check: Callable[..., None] | None = None
    call: Callable[..., Any] | None = None
    covers: tuple[str, ...] = ()
    empty: bool | None = None
    tolerance: float = 1.0
    made: list[S] = field(default_factory=list, compare=False)

    def __repr__(self) -> str:
        return f"<Row {self.name}>"

    def all_samples(self) -> list[S]:
        """The samples, the same in every run and made once; tests must not change their arrays."""
        if not self.made:
            self.made.extend(self.samples(Gen(self.name)))
        return self.made

    def all_errors(self) -> list[E]:
        return [] if self.errors is None else self.errors(Gen(self.name + " errors"))

    def dtype_names(self, sample: S | None = None) -> tuple[str, ...]:
        """The dtypes to test (with this sample)."""
        names = dtype_names(self.dtypes)
        return names if sample is None or sample.dtypes is None else tuple(n for n in names if n in sample.dtypes)

    def with_samples(self, samples: Callable[[Gen], list[S]]) -> Row:
        """The same row with other samples."""
        return replace(self, samples=samples, made=[])


class Gen:
    """Makes arrays; seeded by the row's name, so rows do not depend on one another."""

    def __init__(self, name: str) -> None:
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def between(self, low: float, high: float, *shape: int) -> np.ndarray:
        """Uniform numbers between `low` and `high`."""
        return np.asarray(self.rng.uniform(low, high, shape))

    def real(self, *shape: int) -> np.ndarray:
        """Normal numbers."""
        return np.asarray(self.rng.standard_normal(shape))

    def positive(self, *shape: int) -> np.ndarray:
        """Between 0.1 and 3."""
        return self.between(0.1, 3.0, *shape)

    def nonzero(self, *shape: int) -> np.ndarray:
        """Of either sign, between 0.3 and 3 in magnitude (denominators)."""
        return np.asarray(self.between(0.3, 3.0, *shape) * np.where(self.rng.random(shape) < 0.5, -1.0, 1.0))

    def unit(self, *shape: int) -> np.ndarray:
        """Inside (0, 1)."""
        return self.between(0.05, 0.95, *shape)

    def open(self, *shape: int) -> np.ndarray:
        """Inside (-1, 1)."""
        return self.between(-0.95, 0.95, *shape)

    def ints(self, *shape: int, low: int = -5, high: int = 6) -> np.ndarray:
        """Whole numbers, low <= n < high, as float64: cast exactly to the dtype under test."""
        return np.asarray(self.rng.integers(low, high, shape), np.float64)

    def distinct(self, *shape: int) -> np.ndarray:
        """No two equal or near one another (maxima, sorting), of either sign, spaced by 0.25."""
        n = int(np.prod(shape))
        return np.asarray(self.rng.permutation(n) * 0.25 - n * 0.125 + 0.06).reshape(shape)

    def bools(self, *shape: int) -> np.ndarray:
        """bool, stays bool."""
        return np.asarray(self.rng.random(shape) < 0.5)

    def index(self, shape: int | tuple[int, ...], high: int, low: int = 0) -> np.ndarray:
        """int64 indices, low <= i < high; stay int64."""
        return np.asarray(self.rng.integers(low, high, shape), np.int64)

    def permutation(self, n: int) -> np.ndarray:
        """int64, each of 0 … n-1 once."""
        return np.asarray(self.rng.permutation(n), np.int64)

    def special(self) -> np.ndarray:
        """Zeros of both signs, infinities, NaN, large and small numbers, 1-d; use with `.but(grad=False, dtypes="float")`."""
        return np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3e4, -3e4, 1e-3, -1e-3, 80.0, -80.0])

    def noncontiguous(self, a: np.ndarray) -> np.ndarray:
        """The same values with gaps or transposed in memory."""
        return other_layout(a)


def other_layout(a: np.ndarray) -> np.ndarray:
    """A copy that is not C-contiguous where its shape allows that: reversed dimensions and every second element."""
    if a.ndim == 0:
        return a.copy()
    wide = np.zeros((*a.shape[::-1], 2), a.dtype)
    result = wide[..., 0].T
    result[...] = a
    return result


def dtype_names(dtypes: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names a `dtypes` setting stands for."""
    if not isinstance(dtypes, str):
        return tuple(n for d in dtypes for n in dtype_names(d))
    return GROUPS.get(dtypes) or (BY_NAME[dtypes].name,)


def cast(a: np.ndarray, dtype: DType) -> np.ndarray:
    """A float64 array in the dtype under test, see the module's text; other arrays as they are."""
    if a.dtype != np.float64:
        return a
    with np.errstate(all="ignore"):
        if dtype.category == 2:
            return a.astype(dtype.numpy)
        if dtype.category == 0:
            return a > 0
        whole = a if np.array_equal(a, np.trunc(a)) else np.sign(a) * np.ceil(np.abs(a) * 3)
        return (whole if dtype.is_signed else np.abs(whole)).astype(dtype.numpy)


def map_arrays(function: Callable[[np.ndarray], Any], value: Any) -> Any:
    """`value` with `function` applied to every array in it (lists and tuples are entered)."""
    if isinstance(value, (np.ndarray, np.generic)):
        return function(np.asarray(value))
    if isinstance(value, list):
        return [map_arrays(function, v) for v in value]
    if type(value) is tuple:
        return tuple(map_arrays(function, v) for v in value)
    return value


def arrays_in(values: Iterable[Any]) -> list[np.ndarray]:
    """All arrays among the values, in order."""
    found: list[np.ndarray] = []
    for v in values:
        map_arrays(found.append, v)
    return found


def shown(value: Any) -> str:
    """A short text of an argument: arrays as their dtype and shape."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(shown, value))}]"
    return repr(value)
