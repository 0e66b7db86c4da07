"""What a compiled program is given: arrays and tensors that are served in spite of their memory, and those that are refused clearly. Never
wrong numbers, never a write into memory that is not an output's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.errors import ArgumentError, DeviceError, DTypeError, GuardError, IndexOutOfRange, ShapeError, TwofoldError

SHAPE = (4, 6)


def function(x: Any, y: Any) -> Any:
    return (x * 2.0 + y).softmax(1), (x - y).sum(0)


def values(seed: int = 0, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="module")
def program() -> Any:
    return twofold.trace(function, (twofold.zeros(SHAPE), twofold.zeros(SHAPE)), check=False).compile()


def expected(x: Any, y: Any) -> list[np.ndarray]:
    wide = [np.asarray(a, np.float64) for a in (x, y)]
    e = np.exp(wide[0] * 2 + wide[1] - (wide[0] * 2 + wide[1]).max(1, keepdims=True))
    return [e / e.sum(1, keepdims=True), (wide[0] - wide[1]).sum(0)]


def same(got: Any, x: Any, y: Any) -> None:
    for a, b in zip(got, expected(x, y), strict=True):
        np.testing.assert_allclose(np.asarray(a, np.float64), b, rtol=1e-5, atol=1e-6)


def misaligned(a: np.ndarray, by: int = 1) -> np.ndarray:
    return np.frombuffer(b"\0" * by + a.tobytes(), np.uint8)[by:].view(a.dtype).reshape(a.shape)


def read_only(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


ODD_MEMORY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "column by column": np.asfortranarray,
    "a transposed array": lambda a: np.ascontiguousarray(a.T).T,
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "every third row": lambda a: np.repeat(a, 3, axis=0)[1::3],
    "rows backwards": lambda a: a[::-1].copy()[::-1],
    "columns backwards": lambda a: a[:, ::-1].copy()[:, ::-1],
    "a window": lambda a: np.pad(a, 2)[2:-2, 2:-2],
    "one byte off": lambda a: misaligned(a, 1),
    "two bytes off": lambda a: misaligned(a, 2),
    "one byte off and transposed": lambda a: misaligned(np.ascontiguousarray(a.T), 3).T,
    "read-only": read_only,
    "a subclass": lambda a: a.view(np.recarray),
    "one row shown four times": lambda a: np.broadcast_to(a[:1], SHAPE),
}


@pytest.mark.parametrize("name", ODD_MEMORY)
def test_arrays_of_odd_memory_are_served_or_refused(program: Any, name: str) -> None:
    x, y = ODD_MEMORY[name](values()), values(1)
    before = x.copy()
    for arguments in ((x, y), (y, x)):
        if x.flags.c_contiguous:
            same(program(*arguments), *arguments)
        else:  # as with the graph module itself: views and writes recorded for one layout may mean another thing in another
            with pytest.raises(GuardError, match="memory"):
                program(*arguments)
    outputs = [np.empty(SHAPE, np.float32), np.empty(6, np.float32)]
    program.run_into(outputs, x, y)
    same(outputs, x, y)
    np.testing.assert_array_equal(x, before)


TENSOR_VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda t: t.t().contiguous().t(),
    "a step": lambda t: t.repeat_interleave(2, 1)[:, ::2],
    "expanded": lambda t: t[:1].expand(4, 6),
    "a window": lambda t: twofold.nn.functional.pad(t, (1, 2, 3, 4))[3:-4, 1:-2],
    "a row of another": lambda t: twofold.stack([t, t])[1],
    "detached": lambda t: (t.requires_grad_() * 1).detach(),
}


@pytest.mark.parametrize("name", TENSOR_VIEWS)
def test_views_are_served_or_refused(program: Any, name: str) -> None:
    x, y = TENSOR_VIEWS[name](twofold.tensor(values())), twofold.tensor(values(1))
    with twofold.no_grad():
        if x.is_contiguous():
            same([t.numpy() for t in program(x, y)], x.numpy(), y.numpy())
        else:
            with pytest.raises(GuardError, match="memory"):
                program(x, y)
        recorded = twofold.trace(function, (x, y), check=False).compile()  # for tensors of this layout
        same([t.numpy() for t in recorded(x, y)], x.numpy(), y.numpy())
        outputs = [twofold.empty(SHAPE), twofold.empty(6)]
        program.run_into(outputs, x, y)
        same([t.numpy() for t in outputs], x.numpy(), y.numpy())


REFUSED: dict[str, tuple[Callable[[], tuple[Any, ...]], type[Exception]]] = {
    "another shape": (lambda: (values(shape=(6, 4)), values()), GuardError),
    "the shape flat": (lambda: (values(shape=(24,)), values()), GuardError),
    "a dimension more": (lambda: (values()[None], values()), GuardError),
    "no elements": (lambda: (values(shape=(0, 6)), values()), GuardError),
    "a row that would broadcast": (lambda: (values(shape=(1, 6)), values()), GuardError),
    "a number": (lambda: (np.float32(1), values()), GuardError),
    "float64": (lambda: (values().astype(np.float64), values()), GuardError),
    "float16": (lambda: (values().astype(np.float16), values()), GuardError),
    "integers": (lambda: (values().astype(np.int32), values()), GuardError),
    "the other byte order": (lambda: (values().astype(">f4"), values()), TwofoldError),
    "complex numbers": (lambda: (values().astype(np.complex64), values()), TwofoldError),
    "objects": (lambda: (values().astype(object), values()), TwofoldError),
    "text": (lambda: (np.full(SHAPE, "a"), values()), TwofoldError),
    "a list": (lambda: (values().tolist(), values()), TwofoldError),
    "a float": (lambda: (1.0, values()), TwofoldError),
    "nothing": (lambda: (None, values()), TwofoldError),
    "one argument": (lambda: (values(),), TwofoldError),
    "no argument": (lambda: (), TwofoldError),
    "three arguments": (lambda: (values(), values(), values()), TwofoldError),
    "a pair": (lambda: ((values(), values()),), TwofoldError),
    "a tensor of no memory": (lambda: (twofold.zeros(SHAPE, device="meta"), twofold.zeros(SHAPE)), TwofoldError),
    "a tensor of another shape": (lambda: (twofold.zeros(6, 4), twofold.zeros(SHAPE)), GuardError),
    "a tensor of another dtype": (lambda: (twofold.zeros(SHAPE, dtype=twofold.float64), twofold.zeros(SHAPE)), GuardError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_arguments(program: Any, name: str) -> None:
    make, error = REFUSED[name]
    with pytest.raises(error) as caught:
        program(*make())
    assert isinstance(caught.value, TwofoldError)
    assert str(caught.value)
    x, y = values(), values(1)
    same(program(x, y), x, y)  # and the program is as good as before


@pytest.mark.parametrize("name", [n for n in REFUSED if n not in ("a tensor of no memory", "a list", "a number")])
def test_refused_sources_of_run_into(program: Any, name: str) -> None:
    outputs = [np.full(SHAPE, 7.0, np.float32), np.full(6, 7.0, np.float32)]
    with pytest.raises((ArgumentError, DTypeError, ShapeError, TwofoldError)):
        program.run_into(outputs, *REFUSED[name][0]())
    assert all((o == 7).all() for o in outputs)


def test_keyword_arguments(program: Any) -> None:
    x, y = values(), values(1)
    same(program(y=y, x=x), x, y)
    same(program(x, y=y), x, y)
    for wrong in ({"x": x}, {"x": x, "z": y}, {"x": x, "y": y, "z": y}):
        with pytest.raises(TwofoldError):
            program(**wrong)


def fresh() -> list[np.ndarray]:
    return [np.full(SHAPE, 7.0, np.float32), np.full(6, 7.0, np.float32)]


X, Y = values(2), values(3)
SHARED = np.zeros(64, np.float32)
BAD_OUTPUTS: dict[str, Callable[[], list[Any]]] = {
    "read-only": lambda: [read_only(fresh()[0]), fresh()[1]],
    "the other byte order": lambda: [fresh()[0].astype(">f4"), fresh()[1]],
    "float64": lambda: [fresh()[0].astype(np.float64), fresh()[1]],
    "another shape": lambda: [np.zeros((6, 4), np.float32), fresh()[1]],
    "column by column": lambda: [np.asfortranarray(fresh()[0]), fresh()[1]],
    "every other column": lambda: [np.zeros((4, 12), np.float32)[:, ::2], fresh()[1]],
    "backwards": lambda: [fresh()[0], fresh()[1][::-1]],
    "one byte off": lambda: [np.zeros(97, np.uint8)[1:].view(np.float32).reshape(SHAPE), fresh()[1]],
    "an input": lambda: [X, fresh()[1]],
    "the other input": lambda: [Y, fresh()[1]],
    "a part of an input": lambda: [fresh()[0], X.reshape(-1)[3:9]],
    "one array twice": lambda: [SHARED[:24].reshape(SHAPE), SHARED[23:29]],
    "one": lambda: fresh()[:1],
    "three": lambda: [*fresh(), fresh()[0]],
    "none": list,
    "a list": lambda: [fresh()[0].tolist(), fresh()[1]],
    "nothing": lambda: [None, fresh()[1]],
    "a tensor of no memory": lambda: [twofold.zeros(SHAPE, device="meta"), fresh()[1]],
}


@pytest.mark.parametrize("name", BAD_OUTPUTS)
def test_refused_outputs(program: Any, name: str) -> None:
    x, y = X.copy(), Y.copy()
    outputs = BAD_OUTPUTS[name]()
    before = [np.array(o, copy=True) if isinstance(o, np.ndarray) else o for o in outputs]
    with pytest.raises(TwofoldError):
        program.run_into(outputs, X, Y)
    np.testing.assert_array_equal(X, x)
    np.testing.assert_array_equal(Y, y)
    for o, b in zip(outputs, before, strict=True):
        if isinstance(o, np.ndarray):
            np.testing.assert_array_equal(o, b)


def test_outputs_in_parts_of_one_array(program: Any) -> None:
    """Beside each other, and beside an input, in one array: nothing is shared."""
    whole = np.full(64, 7.0, np.float32)
    whole[:24] = X.reshape(-1)
    outputs = [whole[24:48].reshape(SHAPE), whole[48:54]]
    program.run_into(outputs, whole[:24].reshape(SHAPE), Y)
    same(outputs, X, Y)
    np.testing.assert_array_equal(whole[:24], X.reshape(-1))
    assert (whole[54:] == 7).all()


SIZES: list[tuple[int, ...]] = [(), (0,), (1,), (0, 3), (3, 0), (1, 1), (1, 7), (7, 1), (1, 0, 1), (1, 1, 1, 1)]


@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_small_shapes(shape: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        return x * 2 + 1, x.sum(), x.reshape(-1), (x > 0).sum()

    x = twofold.tensor(values(shape=shape))
    program = twofold.trace(f, (x,), check=False).compile()
    for source in (x.numpy(), np.array(x.numpy(), order="F"), misaligned(x.numpy(), 2)):
        for a, b in zip(program(source), f(x), strict=True):
            np.testing.assert_allclose(a, b.numpy(), rtol=1e-6)
            assert a.shape == tuple(b.shape)
            assert a.dtype == b.numpy().dtype


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_values_without_a_number(dtype: str) -> None:
    """NaN of every payload, infinities, zeros of both signs and subnormal numbers pass like others."""
    numpy = getattr(twofold, dtype)
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-7, -1e-7, 1.0]
    x = twofold.tensor(special, dtype=numpy)

    def f(x: Any) -> Any:
        return x + 1, -x, twofold.abs(x), x * 0, twofold.relu(x), x.sum(), x.flip(0), x == x, twofold.isinf(x), twofold.maximum(x, -x) + 1

    for a, b in zip(twofold.trace(f, (x,), check=False).compile()(x), f(x), strict=True):
        np.testing.assert_array_equal(a.numpy().astype(np.float64), b.numpy().astype(np.float64))
        np.testing.assert_array_equal(np.signbit(a.numpy()) | np.isnan(a.numpy()), np.signbit(b.numpy()) | np.isnan(b.numpy()))


def test_bits_of_nan_are_kept_by_what_only_moves_them() -> None:
    bits = np.array([0x7F800001, 0x7FC12345, 0xFFC00001, 0x7F800000, 1, 0x80000000], np.uint32)
    moved = twofold.trace(lambda x: (x.flip(0), x.reshape(2, 3).t()), (twofold.from_numpy(bits.view(np.float32)),)).compile()
    first, second = moved(bits.view(np.float32))
    np.testing.assert_array_equal(first.view(np.uint32), bits[::-1])
    np.testing.assert_array_equal(np.ascontiguousarray(second).view(np.uint32), bits.reshape(2, 3).T)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_bad_indices_are_found_whatever_their_dtype(dtype: str) -> None:
    table = twofold.tensor(values(shape=(5, 3)))
    rows = np.array([0, 4, 2], dtype)
    program = twofold.trace(lambda t, i: twofold.index_select(t, 0, i.to(twofold.int64)) * 2, (table, twofold.from_numpy(rows))).compile()
    np.testing.assert_array_equal(program(table.numpy(), rows), table.numpy()[rows.astype(int)] * 2)
    for wrong in (5, 100, np.iinfo(dtype).max, np.iinfo(dtype).min):
        if wrong:
            with pytest.raises(IndexOutOfRange):
                program(table.numpy(), np.array([0, wrong, 2], dtype))
    np.testing.assert_array_equal(program(table.numpy(), rows), table.numpy()[rows.astype(int)] * 2)


LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "cross_entropy": lambda x, t: twofold.nn.functional.cross_entropy(x, t),
    "cross_entropy, smoothed": lambda x, t: twofold.nn.functional.cross_entropy(x, t, label_smoothing=0.1, reduction="sum"),
    "nll_loss": lambda x, t: twofold.nn.functional.nll_loss(x, t),
    "nll_loss, weighted": lambda x, t: twofold.nn.functional.nll_loss(x, t, twofold.ones(5)),
}


@pytest.mark.parametrize("bad", [5, -1, -101, 2**40])
@pytest.mark.parametrize("name", LOSSES)
def test_targets_that_are_no_class(name: str, bad: int) -> None:
    """Also where only the gradient is wanted, whose decomposition compares classes and picks none."""
    x, t = twofold.tensor(values(shape=(3, 5))), twofold.tensor([0, 4, -100])
    for f in (LOSSES[name], twofold.func.grad(LOSSES[name])):
        program = twofold.trace(f, (x, t), check=False).compile()
        np.testing.assert_allclose(program(x, t).numpy(), f(x, t).numpy(), rtol=1e-5, atol=1e-7)
        with pytest.raises(IndexOutOfRange):
            program(x, twofold.tensor([0, bad, 1]))


def test_a_program_of_meta_tensors_is_refused() -> None:
    with pytest.raises(TwofoldError) as caught:
        twofold.trace(lambda x: x + 1, (twofold.zeros(3, device="meta"),)).compile()(twofold.zeros(3, device="meta"))
    assert isinstance(caught.value, (DeviceError, TwofoldError))
