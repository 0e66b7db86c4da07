"""Random numbers as functions of a generator's state, and dropout.

The state is a tensor of two uint64: (seed, offset). Every operation here takes it as an input and reads the blocks `offset, offset + 1, …`
of the seed's stream (see `twofold.ops.philox`); how many it consumes depends on types and attributes only, and `random_advance` makes the
next state. So these operations are pure functions: eager, recorded and compiled runs draw the same bits, and nothing is drawn twice as
long as each draw is followed by its advance, which the public functions see to.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import DType
from twofold.ir.op import NOT_DIFFERENTIABLE
from twofold.ir.types import TensorType, tensor_type
from twofold.ops import philox
from twofold.ops.creation import sized
from twofold.ops.record import define, helper
from twofold.ops.typing import tensor_operand
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

Array = Any
Shape = tuple[Any, ...]


def random_state(name: str, state: Any) -> TensorType:
    """The type of a generator's state; raises DTypeError for another tensor."""
    t = tensor_operand(name, state, "state")
    if t.dtype is not dtypes.uint64 or t.shape != (2,):
        raise DTypeError(f"{name}: the state of a generator is two uint64 (seed, offset), not {t}")
    return t


def state_parts(state: Array) -> tuple[int, int]:
    """(seed, offset) of a state."""
    return int(state[0]), int(state[1])


def _float_type(name: str, state: Any, size: Shape, dtype: DType | None) -> TensorType:
    result = sized(name, size, dtype, random_state(name, state).device)
    if not result.dtype.is_floating_point:
        raise DTypeError(f"{name} draws floating-point numbers, not {result.dtype.name}")
    return result


# ---- how far a draw moves the offset -----------------------------------------------------------------------------------------------------


def float_words(dtype: DType) -> int:
    """Words that one floating-point number takes."""
    return 2 if dtype.itemsize == 8 else 1


def blocks(count: Any, words: int) -> Any:
    """Blocks that `count` values of `words` words take; `count` may be symbolic."""
    return -(-count * words // philox.WORDS_PER_BLOCK)


# ---- draws -----------------------------------------------------------------------------------------------------------------------------


def _uniform(state: Array, size: Shape, low: float = 0.0, high: float = 1.0, dtype: DType | None = None) -> Array:
    wanted = (dtype or dtypes.get_default_dtype()).numpy
    u = philox.uniform(*state_parts(state), size, wanted)
    if low == 0.0 and high == 1.0:
        return u
    wide = u if wanted.itemsize > 2 else u.astype(np.float32)
    kind = wide.dtype.type
    result = (wide * kind(high - low) + kind(low)).astype(wanted)
    return result if low == high else np.minimum(result, np.nextafter(wanted.type(high), wanted.type(low)))


def _uniform_type(state: Any, size: Shape, low: float, high: float, dtype: DType | None) -> TensorType:
    if not low <= high:
        raise ValueRangeError(f"uniform: expects low <= high, got {low} and {high}")
    return _float_type("uniform", state, size, dtype)


define(
    "uniform(Tensor state, Shape size, float low=0.0, float high=1.0, *, dtype? dtype=None) -> Tensor",
    type_rule=_uniform_type, reference=_uniform, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="random", method=False,
    doc="""Numbers from [low, high): u * (high - low) + low with u from [0, 1), product and sum rounded one by one. Default dtype if None.

Consumes a word a value (float64: two); 16-bit floats are computed in float32.""",
)  # fmt: skip


def _normal(state: Array, size: Shape, mean: float = 0.0, std: float = 1.0, dtype: DType | None = None) -> Array:
    wanted = (dtype or dtypes.get_default_dtype()).numpy
    wide = np.dtype(np.float32) if wanted.itemsize == 2 else wanted
    z = philox.normal(*state_parts(state), size, wide)
    if std != 1.0:
        z *= wide.type(std)
    if mean != 0.0:
        z += wide.type(mean)
    return z.astype(wanted, copy=False)


def _normal_type(state: Any, size: Shape, mean: float, std: float, dtype: DType | None) -> TensorType:
    if not std >= 0.0:
        raise ValueRangeError(f"normal: the standard deviation must not be negative, got {std}")
    return _float_type("normal", state, size, dtype)


define(
    "normal(Tensor state, Shape size, float mean=0.0, float std=1.0, *, dtype? dtype=None) -> Tensor",
    type_rule=_normal_type, reference=_normal, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="random", method=False,
    doc="Numbers from the normal distribution, z * std + mean, product and sum rounded one by one. Consumes a word a value (float64: two).",
)  # fmt: skip


def _exponential_type(state: Any, size: Shape, lambd: float, dtype: DType | None) -> TensorType:
    if not lambd > 0.0:
        raise ValueRangeError(f"exponential: lambd must be positive, got {lambd}")
    return _float_type("exponential", state, size, dtype)


def _exponential(state: Array, size: Shape, lambd: float = 1.0, dtype: DType | None = None) -> Array:
    wanted = (dtype or dtypes.get_default_dtype()).numpy
    e = philox.exponential(*state_parts(state), size, np.dtype(np.float32) if wanted.itemsize == 2 else wanted)
    return (e if lambd == 1.0 else e / e.dtype.type(lambd)).astype(wanted, copy=False)


define(
    "exponential(Tensor state, Shape size, float lambd=1.0, *, dtype? dtype=None) -> Tensor",
    type_rule=_exponential_type, reference=_exponential, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="random", method=False,
    doc="Numbers from the exponential distribution of rate `lambd`. Consumes a word a value (float64: two).",
)  # fmt: skip


def _randint_type(state: Any, low: int, high: int, size: Shape, dtype: DType | None) -> TensorType:
    device = random_state("randint", state).device
    if type(low) is int and type(high) is int and high <= low:
        raise ValueRangeError(f"randint: expects low < high, got low={low} and high={high}")
    result = sized("randint", size, dtype or dtypes.int64, device)
    if result.dtype.is_floating_point or result.dtype is dtypes.bool_:
        raise DTypeError(f"randint draws integers, not {result.dtype.name}")
    return result


define(
    "randint(Tensor state, int low, int high, Shape size, *, dtype? dtype=None) -> Tensor",
    type_rule=_randint_type, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="random", method=False,
    reference=lambda state, low, high, size, dtype=None: philox.randint(
        *state_parts(state), low, high, size, (dtype or dtypes.int64).numpy
    ),
    doc="Whole numbers from [low, high), int64 by default. Consumes two words a value.",
)  # fmt: skip


def _randperm_type(state: Any, n: int, dtype: DType | None) -> TensorType:
    device = random_state("randperm", state).device
    if type(n) is int and n < 0:
        raise ValueRangeError(f"randperm: n must not be negative, got {n}")
    return tensor_type(dtype or dtypes.int64, (n,), device)


define(
    "randperm(Tensor state, int n, *, dtype? dtype=None) -> Tensor",
    type_rule=_randperm_type, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="random", method=False,
    reference=lambda state, n, dtype=None: philox.permutation(*state_parts(state), n).astype((dtype or dtypes.int64).numpy, copy=False),
    doc="A random order of 0 … n-1, int64 by default. Consumes two words a value.",
)  # fmt: skip


def _bernoulli_type(input: Any, state: Any) -> TensorType:
    random_state("bernoulli", state)
    t = tensor_operand("bernoulli", input, "input")
    if not t.dtype.is_floating_point:
        raise DTypeError(f"bernoulli: probabilities must be floating-point, not {t.dtype.name}")
    return t


define(
    "bernoulli(Tensor input, Tensor state) -> Tensor",
    type_rule=_bernoulli_type, cost="random", method=False,
    reference=lambda input, state: philox.bernoulli(*state_parts(state), input, np.shape(input)).astype(input.dtype),
    gradient=(lambda g: g * 0.0, NOT_DIFFERENTIABLE),
    doc="""1 with the probability that the input holds at each place, else 0. Consumes a word a value. The gradient is zero, as in PyTorch.

Raises ValueRangeError for a probability outside [0, 1].""",
)  # fmt: skip


def _bernoulli_p_type(state: Any, p: float, size: Shape, dtype: DType | None) -> TensorType:
    check_probability("bernoulli", p)
    return sized("bernoulli_p", size, dtype, random_state("bernoulli_p", state).device)


def check_probability(name: str, p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueRangeError(f"{name}: the probability must be between 0 and 1, got {p}")


define(
    "bernoulli_p(Tensor state, float p, Shape size, *, dtype? dtype=None) -> Tensor",
    type_rule=_bernoulli_p_type, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="random", method=False, function=False,
    reference=lambda state, p, size, dtype=None: philox.bernoulli(*state_parts(state), p, size).astype(
        (dtype or dtypes.get_default_dtype()).numpy
    ),
    doc="1 with probability p, else 0, at every place. Consumes a word a value.",
)  # fmt: skip


def _multinomial_type(input: Any, state: Any, num_samples: int, replacement: bool) -> TensorType:
    random_state("multinomial", state)
    t = tensor_operand("multinomial", input, "input")
    if t.ndim not in (1, 2) or not t.dtype.is_floating_point:
        raise ShapeError(f"multinomial: the weights must be a floating-point vector or matrix, not {t}")
    if num_samples < 1:
        raise ValueRangeError(f"multinomial: num_samples must be at least 1, got {num_samples}")
    n = t.shape[-1]
    if not replacement and type(n) is int and num_samples > n:
        raise ValueRangeError(f"multinomial: {num_samples} samples without replacement from {n} categories")
    return tensor_type(dtypes.int64, (*t.shape[:-1], num_samples), t.device)


def _multinomial(input: Array, state: Array, num_samples: int, replacement: bool) -> Array:
    weights = np.asarray(input).astype(np.float64)
    rows = weights.reshape(-1, weights.shape[-1])
    if not (np.isfinite(rows).all() and (rows >= 0).all()):
        raise ValueRangeError("multinomial: the weights must be finite and not negative")
    if (np.count_nonzero(rows, axis=1) < (1 if replacement else num_samples)).any():
        needed = "one positive weight" if replacement else f"{num_samples} positive weights (without replacement)"
        raise ValueRangeError(f"multinomial: every row needs at least {needed}")
    seed, offset = state_parts(state)
    if replacement:
        u = philox.uniform_f64(seed, offset, (rows.shape[0], num_samples))
        total = np.cumsum(rows, axis=1)
        found = [np.searchsorted(t, v * t[-1], side="right") for t, v in zip(total, u, strict=True)]
        last = rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)
        result = np.minimum(np.array(found, np.int64).reshape(rows.shape[0], num_samples), last[:, None])
    else:
        # The categories in the order of exponential arrival times of rates `weights` are a sample without replacement.
        waits = philox.exponential(seed, offset, rows.shape, np.float64)
        times = np.divide(waits, rows, out=np.full_like(rows, np.inf), where=rows > 0)
        result = np.argsort(times, axis=1, kind="stable")[:, :num_samples].astype(np.int64)
    return result.reshape((*weights.shape[:-1], num_samples))


define(
    "multinomial(Tensor input, Tensor state, int num_samples, bool replacement=False) -> Tensor",
    type_rule=_multinomial_type, gradient=NOT_DIFFERENTIABLE, cost="random", method=False,
    reference=lambda input, state, num_samples, replacement=False: _multinomial(input, state, num_samples, replacement),
    doc="""Indices drawn in proportion to the weights of each row, int64.

With replacement by the inverse of the cumulative sum (two words a sample), without by the order of exponential arrival times (two words a
weight). Raises ValueRangeError for weights that are no distribution.""",
)  # fmt: skip


def _advance_type(state: Any, count: Any) -> TensorType:
    if type(count) is int and count < 0:
        raise ValueRangeError(f"random_advance: a negative count ({count})")
    return random_state("random_advance", state)


def _advance(state: Array, count: int) -> Array:
    return np.array([int(state[0]), (int(state[1]) + count) & philox.MASK64], np.uint64)


define(
    "random_advance(Tensor state, int count) -> Tensor",
    type_rule=_advance_type, reference=_advance, gradient=NOT_DIFFERENTIABLE, any_dtype=True, cost="random", method=False, function=False,
    doc="The state after `count` blocks of the stream were consumed.",
)  # fmt: skip

# ---- dropout ---------------------------------------------------------------------------------------------------------------------------


def _dropout_type(input: Any, state: Any, p: float, train: bool) -> tuple[TensorType, TensorType]:
    random_state("native_dropout", state)
    t = tensor_operand("native_dropout", input, "input")
    if not t.dtype.is_floating_point:
        raise DTypeError(f"dropout takes floating-point tensors, not {t.dtype.name}")
    check_probability("dropout", p)
    return t, t.with_dtype(dtypes.bool_)


def kept_scale(p: float) -> float:
    """What kept elements are multiplied with."""
    return 0.0 if p == 1.0 else 1.0 / (1.0 - p)


def _masked(values: Array, mask: Array, scale: float) -> Array:
    """values * (mask * scale), in the memory layout of `values`."""
    factor = np.empty_like(values)
    np.copyto(factor, mask)
    factor *= factor.dtype.type(scale)
    return np.multiply(values, factor, out=factor) if type(values) is np.ndarray else values * factor


def _dropout(input: Array, state: Array, p: float, train: bool = True) -> tuple[Array, Array]:
    if not train:
        return np.array(input), np.ones(np.shape(input), np.bool_)
    mask = philox.bernoulli(*state_parts(state), 1.0 - p, np.shape(input))
    return _masked(input, mask, kept_scale(p)), mask


@helper
def dropout_gradient(g: Any, mask: Any, p: Any, train: Any) -> Any:
    """Gradients of the kept elements, scaled like them."""
    return native_dropout_backward(g, mask, 1.0 if not train else 0.0 if p == 1.0 else 1.0 / (1.0 - p))


define(
    "native_dropout(Tensor input, Tensor state, float p, bool train=True) -> (Tensor output, Tensor mask)",
    type_rule=_dropout_type, reference=_dropout, cost="random", method=False,
    gradient=(lambda g_output, mask, p, train: dropout_gradient(g_output, mask, p, train), NOT_DIFFERENTIABLE),
    doc="""Each element is kept with probability 1 - p and then divided by it, else zero; the second output says which were kept.

Consumes a word a value. Without `train` everything is kept as it is.""",
)  # fmt: skip
define(
    "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    type_rule=lambda grad_output, mask, scale: grad_output, reference=_masked, cost="elementwise", method=False, function=False,
    decomposition=lambda grad_output, mask, scale: grad_output * (mask * scale),
    gradient=(lambda g, mask, scale: native_dropout_backward(g, mask, scale), NOT_DIFFERENTIABLE),
    doc="The gradient where the mask is true, times `scale`; zero elsewhere.",
)  # fmt: skip
