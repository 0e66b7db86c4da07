"""How tensors print: numbers, shapes and suffixes as PyTorch's users know them. Printing runs no operation and never raises.

Floating-point numbers take one of three forms, chosen for the whole tensor from its finite values that are not zero: whole numbers
(`6.`), a fixed number
of decimals, or scientific, where max/min > 1000, max > 1e8 or min < 1e-4.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import BOOL, FLOAT, get_default_dtype
from twofold.support.errors import ArgumentError, ValueRangeError
from twofold.tensors.batched import BatchedTensor, batched_text
from twofold.tensors.core import Symbol, Tensor, wrap


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """precision: decimals;  threshold: elements above which only edges are shown;  edgeitems: how many at each edge;  linewidth:
    characters a line;
    sci_mode: scientific form always (True), never (False), or where it helps (None)."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_lock = threading.Lock()
_process = [PrintOptions()]
_override: ContextVar[PrintOptions | None] = ContextVar("twofold_print_options", default=None)


def get_printoptions() -> PrintOptions:
    """The options in force here."""
    return _override.get() or _process[0]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print, for the whole process; what is not given stays. `sci_mode` is always set (None: where it helps).

    profile: "default", "short" (precision 2, edgeitems 2) or "full" (no threshold), the start for the rest.
    """
    with _lock:
        _process[0] = _changed(_process[0], precision, threshold, edgeitems, linewidth, profile, sci_mode)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """`set_printoptions` for the block, in this thread and task only."""
    given = {"precision": None, "threshold": None, "edgeitems": None, "linewidth": None, "profile": None, "sci_mode": None}
    for name in options:
        if name not in given:
            raise ArgumentError(f"printoptions() has no option {name!r}; the options are {', '.join(given)}")
    token = _override.set(_changed(get_printoptions(), **{**given, **options}))
    try:
        yield
    finally:
        _override.reset(token)


def reset() -> None:
    """The defaults again."""
    with _lock:
        _process[0] = PrintOptions()


def _changed(
    old: PrintOptions, precision: Any, threshold: Any, edgeitems: Any, linewidth: Any, profile: Any, sci_mode: Any
) -> PrintOptions:
    if profile is not None:
        if profile not in PROFILES:
            raise ValueRangeError(f"there is no print profile {profile!r}; the profiles are {', '.join(PROFILES)}")
        chosen = PROFILES[profile]
        old = replace(old, precision=chosen.precision, threshold=chosen.threshold, edgeitems=chosen.edgeitems, linewidth=chosen.linewidth)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0):
            raise ValueRangeError(f"the print option {name} must be a number of 0 or more, not {value!r}")
    return replace(old, sci_mode=sci_mode, **{name: value for name, value in given.items() if value is not None})


# ---- numbers -----------------------------------------------------------------------------------------------------------------------


def edges_only(array: np.ndarray, count: int) -> np.ndarray:
    """The array without the middle of each dimension longer than 2 * count."""
    for axis, n in enumerate(array.shape):
        if n > 2 * count:
            kept = [*range(count), *range(n - count, n)]
            array = np.take(array, kept, axis)
    return array


def number_format(shown: np.ndarray, category: int, options: PrintOptions) -> tuple[Callable[[Any], str], int]:
    """(value -> text, common width) for the values that will be shown."""
    if category != FLOAT:
        return str, max((len(str(v)) for v in shown.ravel().tolist()), default=1)
    values = shown.astype(np.float64).ravel()
    values = values[np.isfinite(values) & (values != 0)]
    form, sci = f".{options.precision}f", f".{options.precision}e"
    if values.size == 0:
        return _whole, 1
    sizes = np.abs(values)
    low, high = float(sizes.min()), float(sizes.max())
    whole = bool((values == np.ceil(values)).all())
    scientific = options.sci_mode
    if scientific is None:
        scientific = high > 1e8 or low < 1e-4 or high / low > 1000.0
    if scientific:
        return (lambda v: format(v, sci)), max(len(format(v, sci)) for v in values.tolist())
    if whole:
        return _whole, max(len(f"{v:.0f}") + 1 for v in values.tolist())
    return (lambda v: format(v, form)), max(len(format(v, form)) for v in values.tolist())


def _whole(value: float) -> str:
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


class _Layout:
    """Prints one array: brackets, lines, and dots for what is left out."""

    def __init__(self, array: np.ndarray, category: int, options: PrintOptions, indent: int) -> None:
        self.options, self.indent = options, indent
        self.summarize = array.size > options.threshold
        self.text, self.width = number_format(edges_only(array, options.edgeitems) if self.summarize else array, category, options)
        self.array = array

    def one(self, value: Any) -> str:
        return self.text(value).rjust(self.width)

    def whole(self) -> str:
        """The text of the array."""
        return self.part(self.array, self.indent)

    def part(self, array: np.ndarray, indent: int) -> str:
        """The text of a sub-array whose opening bracket stands at column `indent`; as deep as the array has dimensions (64 at most)."""
        if array.ndim == 0:
            return self.one(array.item())
        if array.ndim == 1:
            return self.row(array, indent)
        count = self.options.edgeitems
        if self.summarize and len(array) > 2 * count:
            items = (
                [self.part(a, indent + 1) for a in array[:count]]
                + ["..."]
                + [self.part(a, indent + 1) for a in array[len(array) - count :]]
            )
        else:
            items = [self.part(a, indent + 1) for a in array]
        return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(items) + "]"

    def row(self, array: np.ndarray, indent: int) -> str:
        per_line = max(1, (self.options.linewidth - indent) // (self.width + 2))
        count = self.options.edgeitems
        if self.summarize and not count:
            items = ["..."]
        elif self.summarize and len(array) > 2 * count:
            items = [*map(self.one, array[:count].tolist()), " ...", *map(self.one, array[len(array) - count :].tolist())]
        else:
            items = [*map(self.one, array.tolist())]
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)] or [""]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


# ---- tensors -----------------------------------------------------------------------------------------------------------------------


def array_text(array: Any, dtype: dtypes.DType, indent: int, options: PrintOptions) -> str:
    """The numbers of an array, the first bracket standing at column `indent`."""
    if array.size == 0:
        return "[]"
    array = np.asarray(array)
    if dtype.is_low_precision:
        array = array.astype(np.float32)
    return _Layout(array, dtype.category, options, indent).whole()


def tensor_text(t: Tensor) -> str:
    """`tensor(...)` with its suffixes."""
    options, array, dtype = get_printoptions(), t._array, t._type.dtype
    suffixes = []
    shape = f"size={tuple(t._type.shape)}"
    default = get_default_dtype()
    if array is None:
        suffixes = ["device='meta'", shape] + ([f"dtype={dtype}"] if dtype is not default else [])
        body = "..."
    elif array.size == 0:
        suffixes = ([shape] if array.ndim != 1 else []) + ([f"dtype={dtype}"] if dtype is not default else [])
        body = "[]"
    else:
        body = array_text(array, dtype, len("tensor("), options)
        if not options.edgeitems:
            suffixes.append(shape)
        if dtype not in (default, dtypes.int64) and dtype.category != BOOL:
            suffixes.append(f"dtype={dtype}")
    node = t._node
    if node is not None:
        suffixes.append("requires_grad=True" if node.is_accumulate else f"grad_fn=<{(node.owner if node.is_out else node).name()}>")  # type: ignore[attr-defined]
    text = "tensor(" + body
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > options.linewidth:
            text += ",\n" + " " * len("tensor(") + suffix
            column = len("tensor(") + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def symbol_text(s: Symbol) -> str:
    """`Symbol(name, type, made at file:line)`, or the example's value where the recorder takes values from example inputs."""
    recorder = _try(lambda: s._recorder)
    if _try(lambda: recorder.specialize and not recorder.open_bodies):
        shown = _try(lambda: tensor_text(wrap(recorder.example(s))))
        if shown is not None:
            return str(shown)
    value = _try(lambda: s._seen[1]) or (_try(lambda: s._family.value) if not _try(lambda: s._chain) else None)
    name, source = getattr(value, "name", None), _try(lambda: value.node.source)  # type: ignore[union-attr]
    parts = [str(name)] if name else []
    parts.append(repr(getattr(s, "_type", "of unknown type")))
    place = _try(lambda: source.full_location) or (_try(lambda: str(source)) if source is not None else None)
    if place:
        parts.append(f"made at {place}")
    return f"Symbol({', '.join(parts)})"


def _try(read: Callable[[], Any]) -> Any:
    """What `read` returns, or None if it raises: a symbol must print even while its graph is half built."""
    try:
        return read()
    except Exception:  # whatever a half-built graph raises
        return None


def __repr__(self: Tensor) -> str:  # noqa: N807
    if type(self) is BatchedTensor:
        return batched_text(self)
    text = symbol_text(self) if isinstance(self, Symbol) else tensor_text(self)
    return "Parameter containing:\n" + text if self._is_param and not isinstance(self, Symbol) else text


def __format__(self: Tensor, spec: str) -> str:  # noqa: N807
    """A 0-d tensor formats as its number, anything else as `str` (then no format specification is allowed)."""
    if isinstance(self, Symbol) or self._array is None or self._type.ndim:
        if spec:
            shape = "a symbol" if isinstance(self, Symbol) else f"a tensor of shape {tuple(self._type.shape)} on {self._type.device}"
            raise ArgumentError(f"format {spec!r} needs one number, not {shape}: use t.item(), or format(str(t), ...)")
        return repr(self)
    value = np.asarray(self._array).item() if not self._type.dtype.is_low_precision else float(self._array)
    return format(value, spec)


METHODS: dict[str, Callable[..., Any]] = {"__repr__": __repr__, "__str__": __repr__, "__format__": __format__}
