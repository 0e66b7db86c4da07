"""The record of one operation, and the vocabulary: the table of all records.

A record is written once, in `ops/`, and every other part reads it: the generated functions users call, the interpreter, the backward
engine, the tracer, the compiler, the exporters and the tests. Its signature is a line in the manner of ATen's schemas::

    gather(Tensor input, Dim dim, Tensor index) -> Tensor
    max_dim(Tensor input, Dim dim, bool keepdim=False) -> (Tensor values, Tensor indices)
    transpose(Tensor(a) input, Dim dim0, Dim dim1) -> Tensor(a)            # the output is a view of the input

Parameter kinds: ``Tensor``, ``Tensor?`` (may be None), ``Tensor[]``; attributes ``int float bool str Scalar`` (a Python number),
``dtype``, ``device``, ``Dim`` (a dimension of the first tensor: negative counts from the end), ``NewDim`` (a position where a dimension is
put in), ``Shape`` (ints or symbolic dimensions), ``int[N]`` (N ints; one int stands for N equal ones), ``any`` (hashable), each with ``?``
for "or None" and ``[]`` for a tuple. A ``*`` makes what follows keyword-only.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from twofold.ir.dtypes import as_dtype
from twofold.ir.types import TensorType
from twofold.support.errors import ArgumentError, AutogradError, DimensionError, TwofoldError

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()


class _NotDifferentiable:
    """The explicit word: no gradient flows through this operation (or this input), by its nature."""

    def __repr__(self) -> str:
        return "NOT_DIFFERENTIABLE"


NOT_DIFFERENTIABLE = _NotDifferentiable()


@dataclass(frozen=True, slots=True)
class Joint:
    """One gradient rule for all inputs, where work is shared: returns a tuple with an entry (or None) for each tensor input.

    The rule may name a parameter `needs`: a tuple of bools, which inputs want a gradient.
    """

    rule: Callable[..., tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a signature. `kind` has its ``?``, ``[]`` and alias marks taken off into the flags."""

    name: str
    kind: str
    optional: bool
    many: bool
    count: int
    default: Any
    keyword_only: bool
    alias: str

    @property
    def is_tensor(self) -> bool:
        return self.kind == "Tensor"

    def annotation(self) -> str:
        """The Python annotation of the generated function."""
        base = {
            "Tensor": "Tensor", "Dim": "int", "NewDim": "int", "Shape": "Sequence[int]", "Scalar": "Number", "any": "Any",
            "dtype": "DTypeLike", "device": "DeviceLike",
        }.get(self.kind, self.kind)  # fmt: skip
        if self.many:
            base = f"Sequence[{base}]" if self.kind not in ("int", "Dim") else f"int | Sequence[{base}]"
        return f"{base} | None" if self.optional else base


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a signature: its name ("" where there is one only) and its alias mark."""

    name: str
    alias: str


_PARAM = re.compile(r"^(\w+)(?:\((\w+)!?\))?(\[(\d*)\])?(\?)?\s+(\w+)(?:\s*=\s*(.+))?$")
_OUTPUT = re.compile(r"^Tensor(?:\((\w+)\))?(?:\s+(\w+))?$")
KINDS = frozenset(("Tensor", "int", "float", "bool", "str", "Scalar", "dtype", "device", "Dim", "NewDim", "Shape", "any"))


@cache
def _parameter(text: str, keyword_only: bool) -> Param | None:
    """One parameter of a signature, or None. Most stand in many signatures."""
    m = _PARAM.match(text)
    if not m or m[1] not in KINDS:
        return None
    default = REQUIRED if m[7] is None else _literal(m[7])
    return Param(m[6], m[1], bool(m[5]), bool(m[3]), int(m[4] or 0), default, keyword_only, m[2] or "")


@cache
def _outputs(text: str) -> tuple[Output, ...] | None:
    found = [_OUTPUT.match(part) for part in (_split(text[1:-1]) if text.startswith("(") else (text,))]
    return tuple(Output(m[2] or "", m[1] or "") for m in found if m) if all(found) else None


def _split(text: str) -> Iterator[str]:
    if "(" not in text and "[" not in text:
        parts = text.split(",")
        yield from map(str.strip, parts if parts[-1].strip() else parts[:-1])
        return
    depth, start = 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    if text[start:].strip():
        yield text[start:].strip()


@dataclass(frozen=True, slots=True)
class Signature:
    """A parsed signature line."""

    name: str
    params: tuple[Param, ...]
    outputs: tuple[Output, ...]
    variable_outputs: bool
    text: str

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read a signature line; raises ValueError on a malformed one (a fault of the vocabulary, not of a user)."""
        found = re.match(r"^(\w+)\((.*)\)\s*->\s*(.+)$", text.strip(), re.DOTALL)
        if not found:
            raise ValueError(f"not a signature: {text!r}")
        name, inside, outside = found.groups()
        params, keyword = [], False
        for part in _split(inside):
            if part == "*":
                keyword = True
                continue
            param = _parameter(part, keyword)
            if param is None:
                raise ValueError(f"{name}: bad parameter {part!r}")
            params.append(param)
        variable = outside.strip().endswith("[]")
        outputs = _outputs(outside.strip().removesuffix("[]").strip())
        if outputs is None:
            raise ValueError(f"{name}: bad output in {outside!r}")
        return cls(name, tuple(params), outputs, variable, text)


def _literal(text: str) -> Any:
    return eval(text, {"__builtins__": {}, "inf": float("inf")}, {})  # our own signature lines


@dataclass(slots=True, eq=False)
class Op:
    """One operation. Two records are equal only if they are the same object; names are unique in the vocabulary.

    signature:   see the module's text
    type_rule:   (input types, **attributes) -> output type or tuple of them; raises ShapeError / DTypeError naming the operands
    reference:   (arrays, **attributes) -> array(s): NumPy, correct before fast; never sees 16-bit floats unless `any_dtype`
    gradient:    a tuple with a rule for each tensor input (a callable or NOT_DIFFERENTIABLE), a `Joint`, or NOT_DIFFERENTIABLE
    promotion:   None (no conversion), "default" (operands to their result type), "float" (integers to the default float dtype)
    body:        elementwise operations: one expression over the inputs' names in the scalar vocabulary (the loop compiler reads it too)
    eager:       optionally a faster NumPy form, same arguments as `reference`, tested against it
    specialize:  optionally (input types, output type, attributes) -> a NumPy function of the arrays alone that is faster for these types,
                 or None
    decomposition: the operation in terms of others (written with their names), or None
    is_view:     an output shares the memory of an input;  several: the operation returns a tuple (both follow from the signature)
    template:    the name of the compiler's template that serves it whole, or ""
    batching:    how `vmap` runs it: a word ("broadcast", "dims", "leading", "reduce", "fold", "loop", "refused"; see tensors.batching) or a
                 rule; None where `tensors.batching` has a rule under its name, or the record itself says it
    """

    signature: Signature
    type_rule: Callable[..., Any]
    reference: Callable[..., Any]
    gradient: Any
    family: str
    doc: str = ""
    promotion: str | None = None
    body: str = ""
    eager: Callable[..., Any] | None = None
    specialize: Callable[..., Any] | None = None
    any_dtype: bool = False
    inplace: bool = False
    method: bool = True
    function: bool = True
    node_name: str = ""
    effect: str = ""
    decomposition: Callable[..., Any] | None = None
    template: str = ""
    batching: Callable[..., Any] | str | None = None
    cost: str = "elementwise"
    flops: Callable[..., Any] | None = None
    onnx: str = ""
    regions: bool = False
    module: str = ""
    inputs: tuple[Param, ...] = field(init=False)
    attributes: tuple[Param, ...] = field(init=False)
    name: str = field(init=False)
    is_view: bool = field(init=False)
    several: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_view = any(o.alias for o in self.signature.outputs)
        self.several = len(self.signature.outputs) > 1 or self.signature.variable_outputs
        self.name = self.signature.name
        self.inputs = tuple(p for p in self.signature.params if p.is_tensor)
        self.attributes = tuple(p for p in self.signature.params if not p.is_tensor)
        if not self.node_name:
            self.node_name = "".join(w[:1].upper() + w[1:] for w in self.name.split("_")) + "Backward0"

    @property
    def is_differentiable(self) -> bool:
        return self.gradient is not NOT_DIFFERENTIABLE

    @property
    def is_random(self) -> bool:
        return self.effect == "random"

    def rule(self, index: int) -> Any:
        """The gradient rule of tensor input `index`: a callable, a Joint, or NOT_DIFFERENTIABLE. A missing rule raises."""
        if isinstance(self.gradient, Joint) or self.gradient is NOT_DIFFERENTIABLE:
            return self.gradient
        try:
            rule = self.gradient[index]
        except (IndexError, TypeError):
            rule = None
        if rule is None:
            raise AutogradError(f"{self.name} has no gradient rule for input {index}")
        return rule

    def infer(self, types: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
        """The output type (or tuple of types) for input types: a TensorType each, a tuple for ``Tensor[]``, None for a missing optional."""
        try:
            return self.type_rule(*types, **attributes)
        except TwofoldError:
            raise
        except (TypeError, ValueError, IndexError, AttributeError) as e:
            shown = ", ".join(f"{p.name}={t}" for p, t in zip(self.inputs, types, strict=False))
            raise ArgumentError(f"{self.name}({shown}): {e}") from e

    def canonical(self, types: tuple[Any, ...], attributes: dict[str, Any]) -> dict[str, Any]:
        """Attributes completed with defaults, converted to their kinds (lists to tuples, negative dimensions counted from the front)."""
        rank = first_rank(types)
        result = {}
        for p in self.attributes:
            value = attributes.get(p.name, p.default)
            if value is REQUIRED:
                raise ArgumentError(f"{self.name}() is missing the argument {p.name!r}")
            result[p.name] = _convert(self, p, value, rank)
        if len(result) != len(attributes):
            for name in attributes:
                if name not in result:
                    raise ArgumentError(f"{self.name}() has no attribute {name!r}; it has {', '.join(result) or 'none'}")
        return result

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.name} is a record: rules name it, and run in a namespace where the name is a function")

    def __repr__(self) -> str:
        return f"<Op {self.name}>"

    def __reduce__(self) -> tuple[object, ...]:
        return get_op, (self.name,)

    def __deepcopy__(self, memo: object) -> Op:
        return self


def first_rank(types: tuple[Any, ...]) -> int | None:
    """The number of dimensions of the first tensor among the operand types."""
    for t in types:
        if type(t) is TensorType:
            return t.ndim
        if type(t) is tuple and t and type(t[0]) is TensorType:
            return t[0].ndim
    return None


def wrap_dim(dim: int, rank: int, name: str) -> int:
    """`dim` counted from the front; raises DimensionError outside [-rank, rank - 1] (a 0-d tensor counts as one dimension)."""
    size = max(rank, 1)
    if not -size <= dim < size:
        raise DimensionError(
            f"{name}: dimension {dim} is out of range for a tensor of {rank} dimension(s) (expected {-size} to {size - 1})"
        )
    return dim + size if dim < 0 else dim


def given_axis(name: str, axis: Any) -> Any:
    """NumPy's name `axis` in place of a required `dim` that was not given."""
    if axis is None:
        raise ArgumentError(f"{name}() is missing the argument 'dim'")
    return axis


def _wrong(op: Op, p: Param, value: Any) -> ArgumentError:
    return ArgumentError(f"{op.name}(): argument {p.name!r} must be {p.annotation()}, not {type(value).__name__} ({value!r:.80})")


def _int(op: Op, p: Param, value: Any) -> Any:
    if type(value) is int:
        return value
    if hasattr(value, "is_symbolic_dim"):
        return value
    if isinstance(value, float):
        raise _wrong(op, p, value)
    try:
        return operator.index(value)
    except TwofoldError:
        raise
    except TypeError:
        raise _wrong(op, p, value) from None


def _one(op: Op, p: Param, value: Any, rank: int | None) -> Any:
    kind = p.kind
    if kind == "int":
        return _int(op, p, value)
    if kind == "Dim":
        return wrap_dim(_int(op, p, value), rank or 0, op.name)
    if kind == "NewDim":
        return wrap_dim(_int(op, p, value), (rank or 0) + 1, op.name)
    if kind == "bool":
        if isinstance(value, (bool, int)):
            return bool(value)
        if type(value).__name__ == "bool":  # numpy.bool
            return bool(value)
        raise _wrong(op, p, value)
    if kind in ("float", "Scalar"):
        if type(value) in (float, int, bool):
            return float(value) if kind == "float" else value
        if isinstance(value, complex) and not isinstance(value, float):
            raise _wrong(op, p, value)
        if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
            return value.item()
        try:
            return float(value)
        except (TypeError, ValueError):
            raise _wrong(op, p, value) from None
    if kind == "str":
        if not isinstance(value, str):
            raise _wrong(op, p, value)
        return value
    if kind == "dtype":
        return as_dtype(value)
    if kind == "device":
        return str(value)
    return value


def _convert(op: Op, p: Param, value: Any, rank: int | None) -> Any:
    if value is None:
        if p.optional or p.default is None:
            return None
        raise _wrong(op, p, value)
    if p.kind == "Shape" or p.many:
        if p.kind == "Shape":
            p = Param(p.name, "int", False, True, 0, p.default, p.keyword_only, "")
        if isinstance(value, (list, tuple)) or hasattr(value, "__iter__"):
            result = tuple(_one(op, p, v, rank) for v in value)
        else:
            result = (_one(op, p, value, rank),) * (p.count or 1)
        if p.count and len(result) == 1:
            result = result * p.count
        if p.count and len(result) != p.count:
            raise ArgumentError(f"{op.name}(): argument {p.name!r} must have {p.count} values, not {len(result)}: {value!r}")
        if p.kind == "Dim" and len(set(result)) != len(result):
            raise DimensionError(f"{op.name}: dimension given twice in {p.name}={value!r}")
        return result
    return _one(op, p, value, rank)


VOCABULARY: dict[str, Op] = {}
"""All records by name, in the order of their definition. Filled once, when `twofold.ops` is imported."""


def register(op: Op) -> Op:
    """Put a record into the vocabulary; a name taken twice is a fault."""
    if op.name in VOCABULARY:
        raise ValueError(f"operation {op.name!r} is defined twice")
    VOCABULARY[op.name] = op
    return op


def get_op(name: str) -> Op:
    """The record of this name; raises ArgumentError that names near misses."""
    try:
        return VOCABULARY[name]
    except KeyError:
        import difflib

        near = difflib.get_close_matches(name, VOCABULARY, 3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise ArgumentError(f"there is no operation {name!r}{hint}") from None


__all__ = [
    "NOT_DIFFERENTIABLE", "REQUIRED", "VOCABULARY", "Joint", "Op", "Output", "Param", "Signature", "first_rank", "get_op", "given_axis",
    "register",
    "wrap_dim",
]  # fmt: skip
