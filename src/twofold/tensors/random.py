"""Generators, and the random functions over them.

A generator's whole state is a tensor of two uint64, (seed, offset). Eager draws read it and move the offset at once, under a lock. While a
graph is recorded the state is lifted into the graph like any other tensor, read by the draw and written in place with the advanced state:
the graph has the offset as input and output, and running it draws the bits that the eager function would have drawn.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.dtypes import DType, as_dtype
from twofold.ir.mode import RECORDER
from twofold.ir.op import Op, get_op
from twofold.ir.types import tensor_type
from twofold.ops.random import blocks, check_probability, float_words, kept_scale
from twofold.support.errors import ArgumentError, DTypeError, ValueRangeError
from twofold.tensors.batched import LEVELS
from twofold.tensors.batching_random import draw_mapped
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor, memory, wrap, wrap_typed
from twofold.tensors.device import usable_device
from twofold.tensors.dispatch import active_recorder, dispatch, plan_of
from twofold.tensors.inplace import inplace

DEFAULT_SEED = 67280421310721
"""The seed of a generator nobody seeded, PyTorch's."""
MASK = (1 << 64) - 1


class Generator:
    """A stream of random numbers. Two generators of one seed draw the same; drawing from one does not move another.

    Generators are safe to use from several threads; the order in which threads then draw is theirs.
    """

    def __init__(self, device: Any = "cpu") -> None:
        usable_device(device)
        self._lock = threading.Lock()
        self._state = wrap(np.array([DEFAULT_SEED, 0], np.uint64))

    @property
    def device(self) -> str:
        return "cpu"

    def manual_seed(self, seed: int) -> Generator:
        """Begin the stream of this seed (an integer of 64 bits, negative ones wrap); returns the generator."""
        seed = int(seed)
        if not -(1 << 63) <= seed <= MASK:
            raise ValueRangeError(f"manual_seed: the seed must fit 64 bits, got {seed}")
        self._set(seed & MASK, 0)
        return self

    def seed(self) -> int:
        """Begin a stream that nobody can foresee; returns its seed."""
        seed = int.from_bytes(os.urandom(8), "little")
        self._set(seed, 0)
        return seed

    def initial_seed(self) -> int:
        """The seed of the present stream."""
        return int(memory(self._state)[0])

    def get_state(self) -> Tensor:
        """A copy of the state, for `set_state`: two uint64, (seed, offset)."""
        with self._lock:
            return wrap(memory(self._state).copy())

    def set_state(self, new_state: Tensor) -> None:
        """Go on where `get_state` was called; raises DTypeError for a tensor that is no state."""
        if not isinstance(new_state, Tensor) or new_state._type.dtype is not dtypes.uint64 or new_state._type.shape != (2,):
            raise DTypeError(
                f"set_state: a generator's state is a tensor of two uint64, not {getattr(new_state, '_type', type(new_state).__name__)}"
            )
        seed, offset = memory(new_state).tolist()
        self._set(seed, offset)

    def _set(self, seed: int, offset: int) -> None:
        recorder = RECORDER.get()
        if recorder is not None:
            recorder.inplace(get_op("copy"), self._state, (recorder.constant(np.array([seed, offset], np.uint64)),), {})
            return
        with self._lock:
            memory(self._state)[:] = (seed, offset)

    def _claim(self, count: int) -> Tensor:
        """The present state as a tensor of its own, after which the offset is `count` blocks further."""
        with self._lock:
            state = memory(self._state)
            mine = state.copy()
            state[1] = (int(mine[1]) + count) & MASK
        return wrap(mine)

    def _give_back(self, mine: Tensor, count: int) -> None:
        """Undo a claim whose draw was refused, unless somebody drew since."""
        seed, offset = memory(mine).tolist()
        with self._lock:
            state = memory(self._state)
            if state.tolist() == [seed, (offset + count) & MASK]:
                state[1] = offset

    def __reduce__(self) -> tuple[object, ...]:
        seed, offset = memory(self._state).tolist()
        return _rebuild, (seed, offset)

    def __repr__(self) -> str:
        seed, offset = memory(self._state).tolist()
        return f"<twofold.Generator seed={seed} offset={offset}>"


def _rebuild(seed: int, offset: int) -> Generator:
    made = Generator()
    made._set(seed, offset)
    return made


_process = Generator()
_override: ContextVar[Generator | None] = ContextVar("twofold_default_generator", default=None)


def default_generator() -> Generator:
    """The generator that functions use which are given none."""
    return _override.get() or _process


@contextmanager
def using_generator(generator: Generator) -> Iterator[Generator]:
    """Make another generator the default one for the block, in this thread or task."""
    token = _override.set(_checked(generator))
    try:
        yield generator
    finally:
        _override.reset(token)


def reset() -> None:
    """The default generator as it was when the process began."""
    _process._set(DEFAULT_SEED, 0)


def _checked(generator: Any) -> Generator:
    if not isinstance(generator, Generator):
        raise ArgumentError(f"generator must be a twofold.Generator, not {type(generator).__name__}")
    return generator


def manual_seed(seed: int) -> Generator:
    """Seed the default generator; returns it."""
    return default_generator().manual_seed(seed)


def seed() -> int:
    """Seed the default generator with an unforeseeable number; returns the number."""
    return default_generator().seed()


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator().initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state: two uint64, (seed, offset)."""
    return default_generator().get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the default generator's state."""
    default_generator().set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Draw inside the block as usual; afterwards the default generator goes on as if nothing had been drawn. `devices` is ignored: there
    is one."""
    if not enabled:
        yield
        return
    generator = default_generator()
    state = generator.get_state()
    try:
        yield
    finally:
        generator.set_state(state)


# ---- drawing ---------------------------------------------------------------------------------------------------------------------------


def draw(op: Op, generator: Generator | None, operands: tuple[Any, ...], attributes: dict[str, Any], count: Any, words: int) -> Any:
    """Run or record a random operation whose last operand is the state, and advance the generator by what it consumes."""
    if LEVELS.get():
        return draw_mapped(draw, op, generator, operands, attributes, count, words)
    source = default_generator() if generator is None else _checked(generator)
    used = blocks(count, words)
    recorder = active_recorder(op, operands)
    if recorder is None:
        mine = source._claim(used)
        try:
            return dispatch(op, (*operands, mine), attributes)
        except Exception:
            source._give_back(mine, used)  # a refused call changes nothing
            raise
    result = recorder.call(op, (*operands, source._state), attributes)
    recorder.inplace(get_op("random_advance"), source._state, (), {"count": used})
    return result


def _count(size: Sequence[Any]) -> Any:
    count: Any = 1
    for n in size:
        count = count * n
    return count


def _sizes(name: str, size: tuple[Any, ...]) -> tuple[Any, ...]:
    """`name(2, 3)` and `name((2, 3))`."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    for n in size:
        if isinstance(n, (float, str)) or n is None:
            raise ArgumentError(f"{name}(): sizes must be ints, not {n!r}")
    return size


def _finish(t: Tensor, requires_grad: bool) -> Tensor:
    return t.requires_grad_() if requires_grad else t


def _made(
    name: str,
    size: tuple[Any, ...],
    generator: Any,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    attributes: dict[str, Any],
    words: int = 0,
) -> Tensor:
    """A new random tensor by a record that takes only the state. `words`: by default what a number of the dtype takes."""
    wanted = dtypes.get_default_dtype() if dtype is None else as_dtype(dtype)
    op = get_op(name)
    if device is not None and usable_device(device) == "meta":
        state = (default_generator() if generator is None else _checked(generator))._state
        out = plan_of(op, (state,), {**attributes, "dtype": wanted}).out
        return _finish(wrap_typed(None, tensor_type(out.dtype, out.shape, "meta")), requires_grad)
    result = draw(op, generator, (), {**attributes, "dtype": wanted}, _count(size), words or float_words(wanted))
    return _finish(result, requires_grad)


def rand(*size: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform numbers from [0, 1) in a tensor of this size; floating-point dtypes only."""
    shape = _sizes("rand", size)
    return _made("uniform", shape, generator, dtype, device, requires_grad, {"size": shape, "low": 0.0, "high": 1.0})


def randn(*size: Any, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Numbers from the standard normal distribution in a tensor of this size; floating-point dtypes only."""
    shape = _sizes("randn", size)
    return _made("normal", shape, generator, dtype, device, requires_grad, {"size": shape, "mean": 0.0, "std": 1.0})


def randint(
    *arguments: Any,
    low: int = 0,
    high: int | None = None,
    size: Any = None,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Whole numbers from [low, high): `randint(high, size)` or `randint(low, high, size)`; int64 by default, any number dtype."""
    given = list(arguments)
    if size is None and given and isinstance(given[-1], (tuple, list)):
        size = given.pop()
    if len(given) == 2:
        low, high = given
    elif len(given) == 1 and high is None:
        high = given[0]
    elif len(given) == 1:
        low = given[0]
    if high is None or size is None or len(given) > 2:
        raise ArgumentError("randint() takes (high, size) or (low, high, size), the size as a tuple")
    shape = _sizes("randint", (tuple(size),))
    wanted = dtypes.int64 if dtype is None else as_dtype(dtype)
    drawn = dtypes.int64 if wanted.is_floating_point else wanted
    result = _made("randint", shape, generator, drawn, device, False, {"low": low, "high": high, "size": shape}, 2)
    return _finish(result if drawn is wanted else call("to", result, dtype=wanted), requires_grad)


def randperm(n: int, *, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A random order of 0 … n-1; int64 by default."""
    return _made("randperm", (n,), generator, dtype or dtypes.int64, device, requires_grad, {"n": n}, 2)


def normal(
    mean: Tensor | float = 0.0,
    std: Tensor | float = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers with means and standard deviations given as tensors (which broadcast), or as numbers with a `size`.

    The result is standard normal numbers times `std` plus `mean`, so gradients flow to both.
    """
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        if size is None:
            raise ArgumentError("normal(): with two numbers a size is needed: normal(0.0, 1.0, (2, 3))")
        shape = _sizes("normal", (tuple(size),))
        return _made("normal", shape, generator, dtype, device, requires_grad, {"size": shape, "mean": float(mean), "std": float(std)})
    if size is not None:
        raise ArgumentError("normal(): a size is for two numbers; tensors have their own")
    types = [t._type for t in (mean, std) if isinstance(t, Tensor)]
    shape = np.broadcast_shapes(*(t.shape for t in types)) if len(types) == 2 and types[0] is not types[1] else types[0].shape
    z = _made("normal", shape, generator, types[0].dtype, None, False, {"size": shape, "mean": 0.0, "std": 1.0})
    return call("add", call("mul", z, std), mean)


def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability that the input holds at each place (or with probability `p` everywhere), else 0, in the input's dtype."""
    if p is not None:
        return drawn_like("bernoulli_p", input, generator, {"p": float(p)}, 1)
    if not isinstance(input, Tensor):
        raise ArgumentError(f"bernoulli(): input must be a tensor, not {type(input).__name__}")
    return draw(get_op("bernoulli"), generator, (input,), {}, input._type.numel, 1)


def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None) -> Tensor:
    """`num_samples` indices for each row of weights (a vector or a matrix, not necessarily normalised), int64."""
    if not isinstance(input, Tensor):
        raise ArgumentError(f"multinomial(): input must be a tensor, not {type(input).__name__}")
    shape = input._type.shape
    count = _count(shape[:-1]) * (num_samples if replacement or not shape else shape[-1])
    return draw(get_op("multinomial"), generator, (input,), {"num_samples": num_samples, "replacement": replacement}, count, 2)


def drawn_like(
    name: str, input: Tensor, generator: Any, attributes: dict[str, Any], words: int = 0, dtype: Any = None, device: Any = None
) -> Tensor:
    """A random tensor of another's size (and dtype and device)."""
    if not isinstance(input, Tensor):
        raise ArgumentError(f"{name}: input must be a tensor, not {type(input).__name__}")
    size = tuple(input._type.shape)
    wanted = input._type.dtype if dtype is None else dtype
    return _made(name, size, generator, wanted, device or input._type.device, False, {**attributes, "size": size}, words)


def rand_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """`rand` of the input's size, dtype and device."""
    return _finish(drawn_like("uniform", input, generator, {"low": 0.0, "high": 1.0}, 0, dtype, device), requires_grad)


def randn_like(
    input: Tensor, *, generator: Generator | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """`randn` of the input's size, dtype and device."""
    return _finish(drawn_like("normal", input, generator, {"mean": 0.0, "std": 1.0}, 0, dtype, device), requires_grad)


def randint_like(
    input: Tensor, low: int, high: int | None = None, *, generator: Generator | None = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`randint` of the input's size and dtype: `randint_like(x, high)` or `randint_like(x, low, high)`."""
    first, last = (0, low) if high is None else (low, high)
    wanted = input._type.dtype if dtype is None else dtype
    where = input._type.device if device is None else device
    return randint(first, last, tuple(input._type.shape), generator=generator, dtype=wanted, device=where, requires_grad=requires_grad)


# ---- in place --------------------------------------------------------------------------------------------------------------------------


def _fill(self: Tensor, values: Tensor) -> Tensor:
    return inplace("copy", self, values)


def uniform_(self: Tensor, low: float = 0.0, high: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with uniform numbers from [low, high) (PyTorch calls them `from` and `to`)."""
    return _fill(self, drawn_like("uniform", self, generator, {"low": float(low), "high": float(high)}))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers."""
    return _fill(self, drawn_like("normal", self, generator, {"mean": float(mean), "std": float(std)}))


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponentially distributed numbers of rate `lambd`."""
    return _fill(self, drawn_like("exponential", self, generator, {"lambd": float(lambd)}))


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with exp of normal numbers."""
    if not std > 0:
        raise ValueRangeError(f"log_normal_: std must be above 0, not {std}")
    return _fill(self, call("exp", drawn_like("normal", self, generator, {"mean": float(mean), "std": float(std)})))


def bernoulli_(self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with 1 with probability `p` (a number, or a tensor that broadcasts), else 0."""
    if not isinstance(p, Tensor):
        return _fill(self, drawn_like("bernoulli_p", self, generator, {"p": float(p)}, 1))
    wide = p if p._type.shape == self._type.shape else call("expand", p, size=tuple(self._type.shape))
    return _fill(self, bernoulli(wide, generator=generator))


def random_(self: Tensor, low: int = 0, high: int | None = None, *, generator: Generator | None = None) -> Tensor:
    """Fill with whole numbers: `random_()` over the dtype's range from 0 (floats: all that are exact), `random_(high)`, `random_(low,
    high)`."""
    dtype = self._type.dtype
    if high is None:
        low, high = (0, low) if low else (0, _limit(dtype) + 1)
    wanted = dtypes.int64 if dtype.is_floating_point or dtype is dtypes.bool_ else dtype
    return _fill(self, randint(low, high, tuple(self._type.shape), generator=generator, dtype=wanted))


def _limit(dtype: DType) -> int:
    if dtype is dtypes.bool_:
        return 1
    if dtype.is_floating_point:
        return {"float64": 1 << 53, "float32": 1 << 24, "float16": 1 << 11, "bfloat16": 1 << 8}[dtype.name]
    return int(np.iinfo(dtype.numpy).max)


# ---- dropout ---------------------------------------------------------------------------------------------------------------------------


def native_dropout(input: Tensor, p: float, train: bool | None = True) -> tuple[Tensor, Tensor]:
    """Dropout, and the mask of what was kept."""
    if not isinstance(input, Tensor):
        raise ArgumentError(f"native_dropout(): input must be a tensor, not {type(input).__name__}")
    keep_all = train is False
    attributes = {"p": float(p), "train": not keep_all}
    return draw(get_op("native_dropout"), None, (input,), attributes, 0 if keep_all else input._type.numel, 1)


def _needless(name: str, input: Any, p: float, training: bool) -> bool:
    """True if dropout leaves the input as it is; checks the arguments."""
    if not isinstance(input, Tensor):
        raise ArgumentError(f"{name}(): input must be a tensor, not {type(input).__name__}")
    check_probability(name, p)
    return not training or p == 0.0


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training each element becomes zero with probability `p`, and the others are divided by 1 - p; otherwise the input itself is
    returned.

    Source: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting", JMLR 15 (2014).
    """
    if _needless("dropout", input, p, training):
        return input
    if inplace:
        return _scaled(input, tuple(input._type.shape), p, True)
    return draw(get_op("native_dropout"), None, (input,), {"p": float(p), "train": True}, input._type.numel, 1)[0]


def _scaled(input: Tensor, size: tuple[Any, ...], p: float, write: bool) -> Tensor:
    """The input times noise of this size that is 0 with probability p and 1 / (1 - p) else."""
    noise = _made("bernoulli_p", size, None, input._type.dtype, None, False, {"p": 1.0 - p, "size": size}, 1)
    noise = call("mul", noise, kept_scale(p))
    return inplace("mul", input, noise) if write else call("mul", input, noise)


def _feature_size(name: str, input: Tensor, ranks: tuple[int, ...]) -> tuple[Any, ...]:
    """The size of noise that is one number for each channel."""
    shape = tuple(input._type.shape)
    if len(shape) not in ranks:
        raise ArgumentError(f"{name}: the input must have {' or '.join(map(str, ranks))} dimensions, not shape {shape}")
    batched = len(shape) == max(ranks)
    lead = 2 if batched else 1
    return shape[:lead] + (1,) * (len(shape) - lead)


def _feature_dropout(name: str, ranks: tuple[int, ...]) -> Callable[..., Tensor]:
    def function(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        if _needless(name, input, p, training):
            return input
        return _scaled(input, _feature_size(name, input, ranks), p, inplace)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Dropout of whole channels of a tensor of {ranks[-1]} dimensions (batch, channels, …), or {ranks[0]} without a
    batch.

    Source: Tompson et al., "Efficient object localization using convolutional networks", arXiv:1411.4280.
    """
    return function


dropout1d, dropout2d, dropout3d = (_feature_dropout(f"dropout{n}d", (n + 1, n + 2)) for n in (1, 2, 3))
ALPHA = -1.7580993408473766
"""-scale * alpha of SELU: what a dropped element becomes."""


def _alpha_dropout(input: Tensor, size: tuple[Any, ...], p: float, write: bool) -> Tensor:
    """a * (x kept, else ALPHA) + b, with a and b such that mean 0 and variance 1 stay."""
    if p == 1.0:
        return inplace("mul", input, 0.0) if write else call("mul", input, 0.0)
    a = ((1.0 - p) * (1.0 + p * ALPHA * ALPHA)) ** -0.5
    keep = _made("bernoulli_p", size, None, input._type.dtype, None, False, {"p": 1.0 - p, "size": size}, 1)
    shift = call("add", call("mul", keep, -a * ALPHA), a * ALPHA - a * ALPHA * p)
    if write:
        return inplace("add", inplace("mul", input, call("mul", keep, a)), shift)
    return call("add", call("mul", input, call("mul", keep, a)), shift)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of self-normalising networks. Source: Klambauer et al., arXiv:1706.02515."""
    return input if _needless("alpha_dropout", input, p, training) else _alpha_dropout(input, tuple(input._type.shape), p, inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels: dimension 1 of a tensor of at least 2 dimensions."""
    if _needless("feature_alpha_dropout", input, p, training):
        return input
    shape = tuple(input._type.shape)
    if len(shape) < 2:
        raise ArgumentError(f"feature_alpha_dropout: the input must have at least 2 dimensions, not shape {shape}")
    return _alpha_dropout(input, shape[:2] + (1,) * (len(shape) - 2), p, inplace)


FUNCTIONS = {
    "rand": rand, "randn": randn, "randint": randint, "randperm": randperm, "normal": normal,
    "bernoulli": bernoulli, "multinomial": multinomial,
    "rand_like": rand_like, "randn_like": randn_like, "randint_like": randint_like, "native_dropout": native_dropout, "dropout": dropout,
    "dropout1d": dropout1d, "dropout2d": dropout2d, "dropout3d": dropout3d, "alpha_dropout": alpha_dropout,
    "feature_alpha_dropout": feature_alpha_dropout,
}  # fmt: skip
METHODS = {"bernoulli": bernoulli, "multinomial": multinomial}
INPLACE = {
    "uniform_": uniform_, "normal_": normal_, "exponential_": exponential_, "log_normal_": log_normal_, "bernoulli_": bernoulli_,
    "random_": random_,
}  # fmt: skip
