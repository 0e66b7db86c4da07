"""`vmap`'s part of dispatch: an operation with batched operands becomes operations on the tensors inside.

A rule is a function of a `Call`: it runs operations on the inner tensors (through `dispatch`, so that outer levels, static graphs and the
backward graph follow by themselves) and returns results whose dimension 0 is the batch. A record names its rule with `batching`: one of
the words in `WORDS`, or a rule of its own. Where it names none, the table `RULES` has it under the record's name (rules need functions over
tensors, which records stand below), and what is left follows from the record: elementwise operations broadcast, reductions shift their
dimensions. All others run example by example ("loop"), which is right for every operation whose output sizes do not depend on values,
and warns that it is slow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from twofold.ir.mode import AUTOCAST
from twofold.ir.op import Op, get_op
from twofold.ir.run import compute_dtype
from twofold.ir.types import TensorType
from twofold.support.errors import InplaceError, UnsupportedError, VmapError, line_of, user_frame
from twofold.tensors.batched import HANDLERS, BatchedTensor, batched, refuse_size
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import dispatch, operand, plan_of, type_of_operand
from twofold.tensors.inplace import check_result, inplace

Rule = Callable[["Call"], Any]
Attributes = dict[str, Any]


def run(name: str, *operands: Any, **attributes: Any) -> Any:
    """Run or record a record by name."""
    return dispatch(get_op(name), operands, attributes)


class Call:
    """One call of an operation at one level.

    operands: as given;  ins, out: types of one example;  attributes: canonical for one example;  size: the number of examples.
    """

    __slots__ = ("attributes", "ins", "level", "op", "operands", "out", "size")

    def __init__(self, op: Op, operands: tuple[Any, ...], attributes: Attributes, level: int) -> None:
        self.op, self.operands, self.level = op, operands, level
        self.ins = tuple(map(type_of_operand, operands))
        if all(t.is_static for t in self.flat_types()):
            plan = plan_of(op, operands, attributes)
            self.attributes, self.out = plan.attributes, plan.out
        else:
            self.attributes = op.canonical(self.ins, attributes)
            self.out = op.infer(self.ins, self.attributes)
        self.size = next(n for x in operands if (n := self.count(x)) is not None)

    def flat_types(self) -> list[TensorType]:
        """The types of all tensors among the operands."""
        parts = [t for x in self.ins for t in (x if type(x) is tuple else (x,))]
        return [t for t in parts if type(t) is TensorType]

    def count(self, x: Any) -> Any:
        """The number of examples in an operand, or None."""
        if type(x) is tuple:
            return next((n for t in x if (n := self.count(t)) is not None), None)
        return x._inner._type.shape[0] if type(x) is BatchedTensor and self.holds(x) else None

    def holds(self, x: Any) -> bool:
        """True if `x` has this call's batch."""
        return type(x) is BatchedTensor and x._level == self.level

    def has(self, index: int) -> bool:
        """True if operand `index` (or a tensor in it) has the batch."""
        x = self.operands[index]
        return any(map(self.holds, x)) if type(x) is tuple else self.holds(x)

    def raw(self, index: int) -> Any:
        """Operand `index`: the tensor with all examples where it has the batch, else as it is."""
        x = self.operands[index]
        return x._inner if self.holds(x) else x

    def full(self, index: int) -> Any:
        """Operand `index` with all examples along dimension 0, repeated without copying where it has no batch; None and numbers as they
        are."""
        return self.fill(self.operands[index])

    def fill(self, x: Any) -> Any:
        """See `full`."""
        if type(x) is tuple:
            return tuple(map(self.fill, x))
        if not isinstance(x, Tensor):
            return x
        if type(x) is BatchedTensor and x._level == self.level:
            return x._inner
        return run("expand", x, size=(self.size, *x._type.shape))

    def everything(self) -> tuple[Any, ...]:
        """All operands with all examples."""
        return tuple(map(self.fill, self.operands))

    def rank(self, index: int = 0) -> int:
        """The number of dimensions of one example of operand `index`."""
        return self.ins[index].ndim

    def shape(self, index: int = 0) -> tuple[Any, ...]:
        """The shape of one example of operand `index`."""
        return tuple(self.ins[index].shape)

    def again(self, operands: Any, **changed: Any) -> Any:
        """The same operation on other operands, with some attributes changed."""
        return dispatch(self.op, tuple(operands), {**self.attributes, **changed})

    def outs(self) -> tuple[TensorType, ...]:
        """The output types of one example."""
        return self.out if type(self.out) is tuple else (self.out,)

    def finished(self, result: Any) -> Any:
        """Results in the shapes of all examples."""
        if type(result) is not tuple:
            return reshaped(result, (self.size, *self.out.shape))
        return tuple(reshaped(r, (self.size, *t.shape)) for r, t in zip(result, self.outs(), strict=True))


def reshaped(t: Any, size: tuple[Any, ...]) -> Any:
    """`reshape`: a view where the layout allows one; the tensor itself where it has the shape already."""
    return t if t._type.shape == size else t.reshape(size)


def product(sizes: Any) -> Any:
    """The product of sizes, symbolic ones too."""
    result: Any = 1
    for n in sizes:
        result = result * n
    return result


def padded(c: Call, index: int, rank: int) -> Any:
    """Operand `index` with dimensions of size 1 after the batch, so that it broadcasts as one example of it would to `rank` dimensions."""
    x = c.operands[index]
    if not c.holds(x) or c.rank(index) >= rank:
        return c.raw(index)
    return run("view", x._inner, size=(c.size, *(1,) * (rank - c.rank(index)), *c.shape(index)))


# ---- rules that many records share ----------------------------------------------------------------------------------------------------


def broadcast(c: Call) -> Any:
    """Elementwise: operands broadcast, with the batch in front of them all."""
    tensors = [i for i, t in enumerate(c.ins) if type(t) is TensorType]
    if c.op.promotion is None and len({c.shape(i) for i in tensors}) == 1:  # it may want operands of one shape
        return leading(c)
    rank = max(c.rank(i) for i in tensors)
    operands = [padded(c, i, rank) for i in range(len(c.operands))]
    if c.op.promotion is not None and len({c.ins[i].dtype for i in tensors}) > 1:
        promote(c, operands, tensors)
    result = c.again(operands)
    outs = result if type(result) is tuple else (result,)
    full = tuple(spread(r, (c.size, *t.shape)) for r, t in zip(outs, c.outs(), strict=True))
    return full if type(result) is tuple else full[0]


def spread(t: Any, size: tuple[Any, ...]) -> Any:
    """`expand` where something is to be repeated."""
    return t if t._type.shape == size else run("expand", t, size=size)


def promote(c: Call, operands: list[Any], tensors: list[int]) -> None:
    """Convert what is one number an example to the dtype that one example is computed in: a 0-d tensor counts less in promotion than
    a vector of examples."""
    dtype = compute_dtype(c.op, c.ins, c.outs())
    for i in tensors:
        lone = c.rank(i) == 0 and c.holds(c.operands[i]) and c.op.inputs[i].name not in ("condition", "mask")
        if lone and dtype is not None and c.ins[i].dtype is not dtype:
            operands[i] = run("to", operands[i], dtype=dtype)


def shifted_attributes(c: Call) -> Attributes:
    """The attributes with every dimension one further, and shapes with the batch in front."""
    result: Attributes = {}
    for p in c.op.attributes:
        value = c.attributes[p.name]
        if value is not None and (p.kind in ("Dim", "NewDim") or (p.kind == "int" and p.name in ("dim", "dim1", "dim2", "dimension"))):
            value = tuple(d + 1 for d in value) if type(value) is tuple else value + 1
        elif p.kind == "Shape" and p.name in SHAPES:
            value = (c.size, *value)
        result[p.name] = value
    return result


SHAPES = ("size", "sizes", "input_sizes")
"""Names of attributes that are the whole shape of a tensor."""


def dims(c: Call) -> Any:
    """All operands have the batch in front; dimensions named by attributes are one further, shapes one longer."""
    operands = c.everything()
    named = any(p.kind == "Dim" for p in c.op.attributes)
    if named and all(t.ndim == 0 for t in c.flat_types()):  # PyTorch lets dimension 0 of a 0-d tensor be named
        operands = tuple(run("unsqueeze", x, dim=1) if isinstance(x, Tensor) else x for x in operands)
        return c.finished(c.again(operands, **shifted_attributes(c)))
    return c.again(operands, **shifted_attributes(c))


def leading(c: Call) -> Any:
    """The record treats leading dimensions as a batch already."""
    return c.finished(c.again(c.everything()))


def reduce(c: Call) -> Any:
    """A reduction of the first operand over `dim` (all dimensions where it is None)."""
    inner, many = c.full(0), next(p.many for p in c.op.attributes if p.name == "dim")
    dim, keep = c.attributes["dim"], bool(c.attributes.get("keepdim", False))
    rank = c.rank()
    if rank == 0:
        inner = run("unsqueeze", inner, dim=1)
        rank = 1
    if dim is None or dim == ():
        if not many:
            inner, dim = reshaped(inner, (c.size, product(c.shape()))), 0
        else:
            dim = tuple(range(rank))
    shift = tuple(d + 1 for d in dim) if type(dim) is tuple else dim + 1
    changed: Attributes = {"dim": shift} | ({"keepdim": False} if keep else {})
    return c.finished(c.again((inner,), **changed))


def merged(t: Tensor, trailing: int) -> Any:
    """All dimensions but the last `trailing` made one."""
    shape = tuple(t._type.shape)
    at = len(shape) - trailing
    return reshaped(t, (product(shape[:at]), *shape[at:]))


def fold(trailing: int | None = None) -> Rule:
    """All dimensions but the last `trailing` (by default the length of `kernel_size` or half that of `pad`) and one are one batch."""

    def rule(c: Call) -> Any:
        a = c.attributes
        k = trailing or (len(a["pad"]) // 2 if "pad" in a else len(a["kernel_size"]) if "kernel_size" in a else len(a["size"]))
        if all(t.ndim > k for t in c.flat_types()):
            k += 1  # channels stay, as most of these operations want (N, C, …) or (C, …)
        operands = [merged(x, k) if isinstance(x, Tensor) else x for x in c.everything()]
        changed: Attributes = {}
        if "input_sizes" in a:
            sizes = a["input_sizes"]
            changed["input_sizes"] = (c.size * product(sizes[: len(sizes) - k]), *sizes[len(sizes) - k :])
        return c.finished(c.again(operands, **changed))

    return rule


def loop(c: Call) -> Any:
    """One example after another."""
    if type(c.size) is not int:
        raise UnsupportedError(
            f"vmap: {c.op.name} has no batching rule, and cannot run example by example for a batch whose size is symbolic ({c.size})"
        )
    warn_slow(c.op.name)
    if c.size == 0:
        made = tuple(run("zeros", size=(0, *t.shape), dtype=t.dtype) for t in c.outs())
        return made if c.op.several else made[0]
    parts = [unbound(c, x) for x in c.operands]
    results = [c.again(tuple(p[k] for p in parts)) for k in range(c.size)]
    if not c.op.several:
        return run("stack", tuple(results), dim=0)
    return tuple(run("stack", tuple(column), dim=0) for column in zip(*results, strict=True))


def warn_slow(name: str) -> None:
    """Tell the user's line, once by Python's default filter."""
    frame = user_frame()
    if frame is None:
        return
    line = line_of(frame.f_code, frame.f_lasti) or 1
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    text = f"vmap: {name} has no batching rule for these operands: it runs example by example, which is slow"
    warnings.warn_explicit(text, UserWarning, frame.f_code.co_filename, line, registry=registry)


def unbound(c: Call, x: Any) -> Any:
    """The examples of one operand."""
    if type(x) is tuple:
        return tuple(zip(*(unbound(c, t) for t in x), strict=True)) if x else ((),) * c.size
    return run("unbind", x._inner, dim=0) if c.holds(x) else (x,) * c.size


def refused(c: Call) -> Any:
    """The output's size depends on values."""
    refuse_size(c.op.name)


WORDS: dict[str, Rule] = {
    "broadcast": broadcast, "dims": dims, "leading": leading, "reduce": reduce, "fold": fold(), "loop": loop, "refused": refused,
}  # fmt: skip
"""What a record's `batching` may say."""
RULES: dict[str, Rule] = {}
"""Rules by record name; the modules `batching_*` fill it in."""


def derived(op: Op) -> Rule:
    """The rule that follows from the record itself."""
    names = {p.kind for p in op.attributes}
    plain = not names & {"Dim", "NewDim", "Shape"} and not any(p.many for p in (*op.inputs, *op.attributes)) and not op.several
    if (op.body or op.cost == "elementwise") and plain and not op.is_random:
        return broadcast
    if op.cost == "reduction" and len(op.inputs) == 1 and {"dim", "keepdim"} <= {p.name for p in op.attributes}:
        return reduce
    return loop


def rule_of(op: Op) -> Rule:
    """The batching rule of a record."""
    if op.batching is None:
        return RULES.get(op.name) or derived(op)
    return WORDS[op.batching] if isinstance(op.batching, str) else op.batching


def call(op: Op, inputs: tuple[Any, ...], attributes: Attributes, level: int) -> Any:
    """Run an operation whose operands are batched, `level` being their highest level."""
    operands = tuple([operand(op, p, x) for p, x in zip(op.inputs, inputs, strict=True)])
    c = Call(op, operands, attributes, level)
    if AUTOCAST.get() is None:
        return wrapped(c, rule_of(op)(c))
    token = AUTOCAST.set(None)  # it converted the operands already; what a rule computes with is not the user's
    try:
        return wrapped(c, rule_of(op)(c))
    finally:
        AUTOCAST.reset(token)


def wrapped(c: Call, result: Any) -> Any:
    """Results as seen by one example; what a rule returned is checked."""
    several = type(result) is tuple
    outs = []
    for r, t in zip(result if several else (result,), c.outs(), strict=True):
        if r._type.shape != (c.size, *t.shape) or r._type.dtype is not t.dtype:
            raise VmapError(f"vmap: the batching rule of {c.op.name} made {r._type} for {c.size} examples of {t}")
        outs.append(batched(r, c.level))
    return tuple(outs) if several else outs[0]


def inplace_call(name: str, self: Tensor, others: tuple[Any, ...], attributes: Attributes, level: int) -> Tensor:
    """Write the result of an operation with batched operands into `self`: into the tensor with all its examples."""
    op = get_op(name)
    if type(self) is not BatchedTensor or self._level != level:
        raise InplaceError(
            f"vmap: {name}_ would write values that differ from example to example into a tensor of shape {tuple(self._type.shape)} that "
            "all examples share. Use the out-of-place operation, or make the tensor from a mapped argument (x.new_zeros, zeros_like)",
            "shape",
        )
    operands = (self, *(operand(op, p, x) for p, x in zip(op.inputs[1:], others, strict=True)))
    c = Call(op, operands, attributes, level)
    check_result(name, self._type, c.out)
    inner = self._inner
    same = len({t.dtype for t in c.flat_types()}) == 1 or name in ("copy", "masked_fill")
    if same and (name == "copy" or rule_of(op) is broadcast):
        inplace(name, inner, *(padded(c, i, self._type.ndim) for i in range(1, len(operands))), **c.attributes)
        return self
    if inner.requires_grad:  # what the operation saves of it must not be overwritten
        c.operands = (batched(run("clone", inner), level), *operands[1:])
    inplace("copy", inner, rule_of(op)(c))
    return self


HANDLERS.call = call
HANDLERS.inplace = inplace_call
