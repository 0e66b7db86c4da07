"""Random operations inside `vmap`: refused, drawn for each example, or drawn once for all, as its `randomness` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twofold.ir.op import Op, get_op
from twofold.ops.random import kept_scale
from twofold.support.errors import UnsupportedError, VmapError
from twofold.tensors.batched import LEVELS, BatchedTensor, Level, batched
from twofold.tensors.batching import product, reshaped, run

Draw = Callable[..., Any]


def draw_mapped(draw: Draw, op: Op, generator: Any, operands: tuple[Any, ...], attributes: dict[str, Any], count: Any, words: int) -> Any:
    """`draw` inside `vmap`: the innermost level is taken off, and `draw` goes on with the others.

    operands: the tensors the operation takes besides the generator's state.
    """
    *outer, level = LEVELS.get()
    needless = op.name == "native_dropout" and not attributes["train"]
    if level.randomness == "error" and not needless:
        raise VmapError(
            f"vmap: {op.name} draws random numbers inside a mapped function, and randomness='error'. Pass randomness='different' (every "
            "example draws its own) or 'same' (all examples see the same draw) to vmap, or draw outside"
        )
    token = LEVELS.set(tuple(outer))
    try:
        draws = Draws(draw, op, generator, attributes, count, words, level)
        if level.randomness == "same" and not needless:
            return draws.same(operands)
        return draws.with_operands(operands) if operands else draws.different()
    finally:
        LEVELS.reset(token)


class Draws:
    """One random call at one level."""

    def __init__(self, draw: Draw, op: Op, generator: Any, attributes: dict[str, Any], count: Any, words: int, level: Level) -> None:
        self.draw, self.op, self.generator, self.attributes = draw, op, generator, attributes
        self.count, self.words, self.level = count, words, level

    def once(self, operands: tuple[Any, ...], attributes: dict[str, Any] | None = None, times: Any = 1) -> Any:
        """Draw outside this level, `times` as many numbers."""
        given = self.attributes if attributes is None else attributes
        return self.draw(self.op, self.generator, operands, given, self.count * times, self.words)

    def holds(self, x: Any) -> bool:
        """True if `x` has the batch of this level."""
        return type(x) is BatchedTensor and x._level == self.level.number

    def different(self) -> Any:
        """A new tensor for each example."""
        n = self.level.size
        if "size" in self.attributes:
            return batched(self.once((), {**self.attributes, "size": (n, *self.attributes["size"])}, n), self.level.number)
        return batched(run("stack", tuple(self.once(()) for _ in range(n)), dim=0), self.level.number)

    def filled(self, x: Any, rank: int) -> Any:
        """A tensor with this level's batch, padded after it to `rank` dimensions; None as it is."""
        if x is None:
            return None
        n, shape = self.level.size, tuple(x._type.shape)
        if not self.holds(x):
            return run("expand", x, size=(n, *(1,) * (rank - len(shape)), *shape))
        return reshaped(x._inner, (n, *(1,) * (rank - len(shape)), *shape))

    def with_operands(self, operands: tuple[Any, ...]) -> Any:
        """Draws that depend on tensors, one for each example."""
        n, shape = self.level.size, tuple(operands[0]._type.shape)
        inner = tuple(self.filled(x, len(shape)) for x in operands)
        if self.op.name == "multinomial" and len(shape) == 2:
            out = self.once((reshaped(inner[0], (n * shape[0], shape[1])),), times=n)
            return batched(out.reshape((n, shape[0], out._type.shape[-1])), self.level.number)
        out = self.once(inner, times=n)
        if type(out) is tuple:
            return tuple(batched(t, self.level.number) for t in out)
        return batched(out, self.level.number)

    def same(self, operands: tuple[Any, ...]) -> Any:
        """One draw for all examples."""
        if not any(map(self.holds, operands)):
            return self.once(operands)
        if self.op.name == "native_dropout":
            x, p = operands[0], self.attributes["p"]
            kind = x._type
            attributes = {"p": 1.0 - p, "size": tuple(kind.shape), "dtype": kind.dtype}
            noise = self.draw(get_op("bernoulli_p"), self.generator, (), attributes, product(kind.shape), 1)
            return run("mul", x, run("mul", noise, kept_scale(p))), run("ne", noise, 0)
        raise UnsupportedError(
            f"vmap: {self.op.name} of a tensor that differs from example to example cannot draw the same for all (randomness='same'); "
            "pass randomness='different', or compare one uniform draw with the probabilities yourself"
        )
