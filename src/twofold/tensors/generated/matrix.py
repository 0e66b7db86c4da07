"""Functions and backward nodes of the family "matrix". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any


from twofold.ir.mode import MODE, grad_enabled
from twofold.ir.op import get_op, given_axis
from twofold.ir.types import scalar_type
from twofold.tape.node import tick
from twofold.tape.plan import scalar_key, table
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import NODE_CLASSES, dispatch
from twofold.tensors.inplace import inplace
from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_PLAIN = frozenset((Tensor, bool, int, float))
_PLAIN_OR_NONE = _PLAIN | {type(None)}

_mm = get_op("mm")
_mm_plans = table(_mm)


class MmBackward0(OpNode):
    __slots__ = ("s_input", "s_mat2")
    op = get_op("mm")
    saved = ('input', 'mat2')
    needs = (('mat2',), ('input',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_mat2) if e[0] is not None else None, rules[1](g, self.s_input) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_mat2


NODE_CLASSES["mm"] = MmBackward0

def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, (n, m) and (m, p) to (n, p); both of one dtype, not bool.

    Raises ShapeError unless both have two dimensions that fit, DTypeError for different dtypes.
    """
    if MODE.special or type(input) is not Tensor or type(mat2) is not Tensor:
        return dispatch(_mm, (input, mat2,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = mat2._type
    a1 = mat2._array
    e1 = mat2._node
    k = (t0, t1)
    try:
        p = _mm_plans[k]
    except (KeyError, TypeError):
        p = _mm_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = MmBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_mat2 = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_mv = get_op("mv")
_mv_plans = table(_mv)


class MvBackward0(OpNode):
    __slots__ = ("s_input", "s_vec")
    op = get_op("mv")
    saved = ('input', 'vec')
    needs = (('vec',), ('input',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_vec) if e[0] is not None else None, rules[1](g, self.s_input) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_vec


NODE_CLASSES["mv"] = MvBackward0

def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix (n, m) and a vector (m,), of shape (n,)."""
    if MODE.special or type(input) is not Tensor or type(vec) is not Tensor:
        return dispatch(_mv, (input, vec,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = vec._type
    a1 = vec._array
    e1 = vec._node
    k = (t0, t1)
    try:
        p = _mv_plans[k]
    except (KeyError, TypeError):
        p = _mv_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = MvBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_vec = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_dot = get_op("dot")
_dot_plans = table(_dot)


class DotBackward0(OpNode):
    __slots__ = ("s_input", "s_tensor")
    op = get_op("dot")
    saved = ('input', 'tensor')
    needs = (('tensor',), ('input',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_tensor) if e[0] is not None else None, rules[1](g, self.s_input) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_tensor


NODE_CLASSES["dot"] = DotBackward0

def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors of one length: a 0-d tensor."""
    if MODE.special or type(input) is not Tensor or type(tensor) is not Tensor:
        return dispatch(_dot, (input, tensor,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = tensor._type
    a1 = tensor._array
    e1 = tensor._node
    k = (t0, t1)
    try:
        p = _dot_plans[k]
    except (KeyError, TypeError):
        p = _dot_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = DotBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_tensor = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_bmm = get_op("bmm")
_bmm_plans = table(_bmm)


class BmmBackward0(OpNode):
    __slots__ = ("s_input", "s_mat2")
    op = get_op("bmm")
    saved = ('input', 'mat2')
    needs = (('mat2',), ('input',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_mat2) if e[0] is not None else None, rules[1](g, self.s_input) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_mat2


NODE_CLASSES["bmm"] = BmmBackward0

def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of a batch of matrices: (b, n, m) and (b, m, p) to (b, n, p). Batches are not broadcast; `matmul` does that."""
    if MODE.special or type(input) is not Tensor or type(mat2) is not Tensor:
        return dispatch(_bmm, (input, mat2,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = mat2._type
    a1 = mat2._array
    e1 = mat2._node
    k = (t0, t1)
    try:
        p = _bmm_plans[k]
    except (KeyError, TypeError):
        p = _bmm_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = BmmBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_mat2 = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_matmul = get_op("matmul")
_matmul_plans = table(_matmul)


class MatmulBackward0(OpNode):
    __slots__ = ("s_input", "s_other")
    op = get_op("matmul")
    saved = ('input', 'other')
    needs = (('other',), ('input',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_other, self.plan.ins[0].shape, self.plan.ins[1].shape) if e[0] is not None else None, rules[1](g, self.s_input, self.plan.ins[0].shape, self.plan.ins[1].shape) if e[1] is not None else None)

    def free(self) -> None:
        del self.s_input, self.s_other


NODE_CLASSES["matmul"] = MatmulBackward0

def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product with broadcast batches.

    A 1-d operand is a row on the left and a column on the right, and its dimension vanishes. The public `matmul` (and `@`) records
    `dot`, `mv`, `mm` and `bmm` where the ranks are theirs, and this operation for all other ranks.
    """
    if MODE.special or type(input) is not Tensor or type(other) is not Tensor:
        return dispatch(_matmul, (input, other,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = other._type
    a1 = other._array
    e1 = other._node
    k = (t0, t1)
    try:
        p = _matmul_plans[k]
    except (KeyError, TypeError):
        p = _matmul_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None) and p.tracks and grad_enabled():
        o._node = n = MatmulBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_input = a0 if e1 is not None else None
        n.s_other = a1 if e0 is not None else None
    else:
        o._node = None
    return o


_addmm = get_op("addmm")
_addmm_plans = table(_addmm)


class AddmmBackward0(OpNode):
    __slots__ = ("s_mat1", "s_mat2")
    op = get_op("addmm")
    saved = ('mat1', 'mat2')
    needs = ((), ('mat2',), ('mat1',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["beta"]) if e[0] is not None else None, rules[1](g, self.s_mat2, self.plan.attributes["alpha"]) if e[1] is not None else None, rules[2](g, self.s_mat1, self.plan.attributes["alpha"]) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_mat1, self.s_mat2


NODE_CLASSES["addmm"] = AddmmBackward0

def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2), the addend broadcast to the product's shape; beta=0 ignores the addend."""
    if MODE.special or type(input) is not Tensor or type(mat1) is not Tensor or type(mat2) is not Tensor:
        return dispatch(_addmm, (input, mat1, mat2,), {"beta": beta, "alpha": alpha})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = mat1._type
    a1 = mat1._array
    e1 = mat1._node
    t2 = mat2._type
    a2 = mat2._array
    e2 = mat2._node
    k = (t0, t1, t2, scalar_key(beta), scalar_key(alpha))
    try:
        p = _addmm_plans[k]
    except (KeyError, TypeError):
        p = _addmm_plans.make(k, (t0, t1, t2,), {"beta": beta, "alpha": alpha})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = AddmmBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_mat1 = a1 if e2 is not None else None
        n.s_mat2 = a2 if e1 is not None else None
    else:
        o._node = None
    return o


def addmm_(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """`addmm` whose result is written into the first operand, which is returned."""
    return inplace("addmm", input, mat1, mat2, beta=beta, alpha=alpha)


_baddbmm = get_op("baddbmm")
_baddbmm_plans = table(_baddbmm)


class BaddbmmBackward0(OpNode):
    __slots__ = ("s_batch1", "s_batch2")
    op = get_op("baddbmm")
    saved = ('batch1', 'batch2')
    needs = ((), ('batch2',), ('batch1',))

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.plan.ins[0].shape, self.plan.attributes["beta"]) if e[0] is not None else None, rules[1](g, self.s_batch2, self.plan.attributes["alpha"]) if e[1] is not None else None, rules[2](g, self.s_batch1, self.plan.attributes["alpha"]) if e[2] is not None else None)

    def free(self) -> None:
        del self.s_batch1, self.s_batch2


NODE_CLASSES["baddbmm"] = BaddbmmBackward0

def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2) for batches of matrices; beta=0 ignores the addend."""
    if MODE.special or type(input) is not Tensor or type(batch1) is not Tensor or type(batch2) is not Tensor:
        return dispatch(_baddbmm, (input, batch1, batch2,), {"beta": beta, "alpha": alpha})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = batch1._type
    a1 = batch1._array
    e1 = batch1._node
    t2 = batch2._type
    a2 = batch2._array
    e2 = batch2._node
    k = (t0, t1, t2, scalar_key(beta), scalar_key(alpha))
    try:
        p = _baddbmm_plans[k]
    except (KeyError, TypeError):
        p = _baddbmm_plans.make(k, (t0, t1, t2,), {"beta": beta, "alpha": alpha})
    y = p.kernel(a0, a1, a2)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if (e0 is not None or e1 is not None or e2 is not None) and p.tracks and grad_enabled():
        o._node = n = BaddbmmBackward0()
        n.seq = tick()
        n.edges = (e0, e1, e2)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_batch1 = a1 if e2 is not None else None
        n.s_batch2 = a2 if e1 is not None else None
    else:
        o._node = None
    return o


def baddbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """`baddbmm` whose result is written into the first operand, which is returned."""
    return inplace("baddbmm", input, batch1, batch2, beta=beta, alpha=alpha)


FUNCTIONS: dict[str, Any] = {
    "mm": mm,
    "mv": mv,
    "dot": dot,
    "bmm": bmm,
    "matmul": matmul,
    "addmm": addmm,
    "baddbmm": baddbmm,
}
INPLACE: dict[str, Any] = {
    "addmm_": addmm_,
    "baddbmm_": baddbmm_,
}
