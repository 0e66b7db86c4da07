"""Functions and backward nodes of the family "random". Generated from the records by tools/generate.py: do not edit."""
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
from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_PLAIN = frozenset((Tensor, bool, int, float))
_PLAIN_OR_NONE = _PLAIN | {type(None)}

_uniform = get_op("uniform")
_uniform_plans = table(_uniform)


def uniform(state: Tensor, size: Sequence[int], low: float = 0.0, high: float = 1.0, *, dtype: DTypeLike | None = None) -> Tensor:
    """Numbers from [low, high): u * (high - low) + low with u from [0, 1), product and sum rounded one by one. Default dtype if None.

    Consumes a word a value (float64: two); 16-bit floats are computed in float32.
    """
    if MODE.special or type(state) is not Tensor:
        return dispatch(_uniform, (state,), {"size": size, "low": low, "high": high, "dtype": dtype})
    t0 = state._type
    a0 = state._array
    e0 = state._node
    k = (t0, size, scalar_key(low), scalar_key(high), dtype)
    try:
        p = _uniform_plans[k]
    except (KeyError, TypeError):
        p = _uniform_plans.make(k, (t0,), {"size": size, "low": low, "high": high, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_normal = get_op("normal")
_normal_plans = table(_normal)


def normal(state: Tensor, size: Sequence[int], mean: float = 0.0, std: float = 1.0, *, dtype: DTypeLike | None = None) -> Tensor:
    """Numbers from the normal distribution, z * std + mean, product and sum rounded one by one. Consumes a word a value (float64: two)."""
    if MODE.special or type(state) is not Tensor:
        return dispatch(_normal, (state,), {"size": size, "mean": mean, "std": std, "dtype": dtype})
    t0 = state._type
    a0 = state._array
    e0 = state._node
    k = (t0, size, scalar_key(mean), scalar_key(std), dtype)
    try:
        p = _normal_plans[k]
    except (KeyError, TypeError):
        p = _normal_plans.make(k, (t0,), {"size": size, "mean": mean, "std": std, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_exponential = get_op("exponential")
_exponential_plans = table(_exponential)


def exponential(state: Tensor, size: Sequence[int], lambd: float = 1.0, *, dtype: DTypeLike | None = None) -> Tensor:
    """Numbers from the exponential distribution of rate `lambd`. Consumes a word a value (float64: two)."""
    if MODE.special or type(state) is not Tensor:
        return dispatch(_exponential, (state,), {"size": size, "lambd": lambd, "dtype": dtype})
    t0 = state._type
    a0 = state._array
    e0 = state._node
    k = (t0, size, scalar_key(lambd), dtype)
    try:
        p = _exponential_plans[k]
    except (KeyError, TypeError):
        p = _exponential_plans.make(k, (t0,), {"size": size, "lambd": lambd, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_randint = get_op("randint")
_randint_plans = table(_randint)


def randint(state: Tensor, low: int, high: int, size: Sequence[int], *, dtype: DTypeLike | None = None) -> Tensor:
    """Whole numbers from [low, high), int64 by default. Consumes two words a value."""
    if MODE.special or type(state) is not Tensor:
        return dispatch(_randint, (state,), {"low": low, "high": high, "size": size, "dtype": dtype})
    t0 = state._type
    a0 = state._array
    e0 = state._node
    k = (t0, low, high, size, dtype)
    try:
        p = _randint_plans[k]
    except (KeyError, TypeError):
        p = _randint_plans.make(k, (t0,), {"low": low, "high": high, "size": size, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_randperm = get_op("randperm")
_randperm_plans = table(_randperm)


def randperm(state: Tensor, n: int, *, dtype: DTypeLike | None = None) -> Tensor:
    """A random order of 0 … n-1, int64 by default. Consumes two words a value."""
    if MODE.special or type(state) is not Tensor:
        return dispatch(_randperm, (state,), {"n": n, "dtype": dtype})
    t0 = state._type
    a0 = state._array
    e0 = state._node
    k = (t0, n, dtype)
    try:
        p = _randperm_plans[k]
    except (KeyError, TypeError):
        p = _randperm_plans.make(k, (t0,), {"n": n, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_bernoulli = get_op("bernoulli")
_bernoulli_plans = table(_bernoulli)


class BernoulliBackward0(OpNode):
    __slots__ = ()
    op = get_op("bernoulli")
    saved = ()
    needs = ((), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g) if e[0] is not None else None, None)


NODE_CLASSES["bernoulli"] = BernoulliBackward0

def bernoulli(input: Tensor, state: Tensor) -> Tensor:
    """1 with the probability that the input holds at each place, else 0. Consumes a word a value. The gradient is zero, as in PyTorch.

    Raises ValueRangeError for a probability outside [0, 1].
    """
    if MODE.special or type(input) is not Tensor or type(state) is not Tensor:
        return dispatch(_bernoulli, (input, state,), {})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = state._type
    a1 = state._array
    e1 = state._node
    k = (t0, t1)
    try:
        p = _bernoulli_plans[k]
    except (KeyError, TypeError):
        p = _bernoulli_plans.make(k, (t0, t1,), {})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = BernoulliBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
    else:
        o._node = None
    return o


_bernoulli_p = get_op("bernoulli_p")
_bernoulli_p_plans = table(_bernoulli_p)


def bernoulli_p(state: Tensor, p: float, size: Sequence[int], *, dtype: DTypeLike | None = None) -> Tensor:
    """1 with probability p, else 0, at every place. Consumes a word a value."""
    if MODE.special or type(state) is not Tensor:
        return dispatch(_bernoulli_p, (state,), {"p": p, "size": size, "dtype": dtype})
    t0 = state._type
    a0 = state._array
    e0 = state._node
    k = (t0, scalar_key(p), size, dtype)
    try:
        p = _bernoulli_p_plans[k]
    except (KeyError, TypeError):
        p = _bernoulli_p_plans.make(k, (t0,), {"p": p, "size": size, "dtype": dtype})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_multinomial = get_op("multinomial")
_multinomial_plans = table(_multinomial)


def multinomial(input: Tensor, state: Tensor, num_samples: int, replacement: bool = False) -> Tensor:
    """Indices drawn in proportion to the weights of each row, int64.

    With replacement by the inverse of the cumulative sum (two words a sample), without by the order of exponential arrival times (two words a
    weight). Raises ValueRangeError for weights that are no distribution.
    """
    if MODE.special or type(input) is not Tensor or type(state) is not Tensor:
        return dispatch(_multinomial, (input, state,), {"num_samples": num_samples, "replacement": replacement})
    t0 = input._type
    a0 = input._array
    e0 = input._node
    t1 = state._type
    a1 = state._array
    e1 = state._node
    k = (t0, t1, num_samples, replacement)
    try:
        p = _multinomial_plans[k]
    except (KeyError, TypeError):
        p = _multinomial_plans.make(k, (t0, t1,), {"num_samples": num_samples, "replacement": replacement})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_random_advance = get_op("random_advance")
_random_advance_plans = table(_random_advance)


def random_advance(state: Tensor, count: int) -> Tensor:
    """The state after `count` blocks of the stream were consumed."""
    if MODE.special or type(state) is not Tensor:
        return dispatch(_random_advance, (state,), {"count": count})
    t0 = state._type
    a0 = state._array
    e0 = state._node
    k = (t0, count)
    try:
        p = _random_advance_plans[k]
    except (KeyError, TypeError):
        p = _random_advance_plans.make(k, (t0,), {"count": count})
    y = p.kernel(a0)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    o._node = None
    return o


_native_dropout = get_op("native_dropout")


class NativeDropoutBackward0(OpNode):
    __slots__ = ("s_mask",)
    op = get_op("native_dropout")
    saved = ('mask',)
    needs = (('mask',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g[0], self.s_mask, self.plan.attributes["p"], self.plan.attributes["train"]) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_mask


NODE_CLASSES["native_dropout"] = NativeDropoutBackward0

def native_dropout(input: Tensor, state: Tensor, p: float, train: bool = True) -> tuple[Tensor, Tensor]:
    """Each element is kept with probability 1 - p and then divided by it, else zero; the second output says which were kept.

    Consumes a word a value. Without `train` everything is kept as it is.
    """
    return dispatch(_native_dropout, (input, state,), {"p": p, "train": train})


_native_dropout_backward = get_op("native_dropout_backward")
_native_dropout_backward_plans = table(_native_dropout_backward)


class NativeDropoutBackwardBackward0(OpNode):
    __slots__ = ("s_mask",)
    op = get_op("native_dropout_backward")
    saved = ('mask',)
    needs = (('mask',), ())

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        e = self.edges
        return (rules[0](g, self.s_mask, self.plan.attributes["scale"]) if e[0] is not None else None, None)

    def free(self) -> None:
        del self.s_mask


NODE_CLASSES["native_dropout_backward"] = NativeDropoutBackwardBackward0

def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """The gradient where the mask is true, times `scale`; zero elsewhere."""
    if MODE.special or type(grad_output) is not Tensor or type(mask) is not Tensor:
        return dispatch(_native_dropout_backward, (grad_output, mask,), {"scale": scale})
    t0 = grad_output._type
    a0 = grad_output._array
    e0 = grad_output._node
    t1 = mask._type
    a1 = mask._array
    e1 = mask._node
    k = (t0, t1, scalar_key(scale))
    try:
        p = _native_dropout_backward_plans[k]
    except (KeyError, TypeError):
        p = _native_dropout_backward_plans.make(k, (t0, t1,), {"scale": scale})
    y = p.kernel(a0, a1)
    t = p.out
    o = Tensor()
    o._type = t
    o._array = y
    if e0 is not None and p.tracks and grad_enabled():
        o._node = n = NativeDropoutBackwardBackward0()
        n.seq = tick()
        n.edges = (e0, e1)
        n.plan = p
        n.type = t
        n.hooks = None
        f = _frame(1)
        n.code = f.f_code
        n.lasti = f.f_lasti
        n.s_mask = a1 if e0 is not None else None
    else:
        o._node = None
    return o


FUNCTIONS: dict[str, Any] = {
    "uniform": uniform,
    "normal": normal,
    "exponential": exponential,
    "randint": randint,
    "randperm": randperm,
    "bernoulli": bernoulli,
    "bernoulli_p": bernoulli_p,
    "multinomial": multinomial,
    "random_advance": random_advance,
    "native_dropout": native_dropout,
    "native_dropout_backward": native_dropout_backward,
}
INPLACE: dict[str, Any] = {
}
