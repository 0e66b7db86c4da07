"""Generators, and the public random functions: reproducible, in eager and recorded runs the same bits, with the right distributions."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest

import twofold.tensors.methods  # noqa: F401
from twofold.ir import dtypes
from twofold.ir.builder import Builder
from twofold.ir.graph import Graph
from twofold.ops import philox
from twofold.support.errors import ArgumentError, DTypeError, InplaceError, ShapeError, TwofoldError, ValueRangeError
from twofold.tensors import random
from twofold.tensors.core import Tensor, memory, wrap
from twofold.tensors.functions import FUNCTIONS
from twofold.tensors.random import Generator, default_generator, fork_rng, manual_seed, using_generator


@pytest.fixture(autouse=True)
def _seeded():
    random.reset()
    yield
    random.reset()


def call(name, *args, **kwargs):
    return FUNCTIONS[name](*args, **kwargs)


def array(t):
    return np.asarray(memory(t))


def ones(*shape, dtype=np.float32):
    return wrap(np.ones(shape, dtype))


DRAWS = {
    "rand": lambda g: call("rand", 3, 5, generator=g),
    "rand float64": lambda g: call("rand", (3, 5), generator=g, dtype=dtypes.float64),
    "rand bfloat16": lambda g: call("rand", 7, generator=g, dtype="bfloat16"),
    "randn": lambda g: call("randn", 3, 5, generator=g),
    "randint": lambda g: call("randint", 2, 9, (4,), generator=g),
    "randint float": lambda g: call("randint", 9, (4,), generator=g, dtype=dtypes.float32),
    "randperm": lambda g: call("randperm", 9, generator=g),
    "normal": lambda g: call("normal", 1.0, 2.0, (4,), generator=g),
    "normal of tensors": lambda g: call("normal", ones(3), ones(2, 3), generator=g),
    "bernoulli": lambda g: call("bernoulli", wrap(np.full((3, 5), 0.5)), generator=g),
    "bernoulli p": lambda g: call("bernoulli", ones(3, 5), 0.5, generator=g),
    "multinomial": lambda g: call("multinomial", ones(2, 5), 3, generator=g),
    "multinomial with replacement": lambda g: call("multinomial", ones(5), 9, True, generator=g),
    "rand_like": lambda g: call("rand_like", ones(3), generator=g),
    "randn_like": lambda g: call("randn_like", ones(3), generator=g),
    "randint_like": lambda g: call("randint_like", ones(30), 9, generator=g),
    "uniform_": lambda g: ones(3).uniform_(generator=g),
    "normal_": lambda g: ones(3).normal_(generator=g),
    "exponential_": lambda g: ones(3).exponential_(generator=g),
    "log_normal_": lambda g: ones(3).log_normal_(generator=g),
    "bernoulli_": lambda g: ones(30).bernoulli_(generator=g),
    "bernoulli_ of a tensor": lambda g: ones(20, 2).bernoulli_(wrap(np.array([0.5, 0.7])), generator=g),
    "random_": lambda g: ones(3).random_(generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_gives_the_same_numbers_again(name):
    draw = DRAWS[name]
    g = Generator().manual_seed(5)
    first, second = array(draw(g)).copy(), array(draw(g)).copy()
    assert not np.array_equal(first, second)
    assert np.array_equal(array(draw(Generator().manual_seed(5))), first)
    with using_generator(Generator().manual_seed(5)):
        assert np.array_equal(array(draw(None)), first)
        assert np.array_equal(array(draw(None)), second)
    assert default_generator().get_state().tolist() == [random.DEFAULT_SEED, 0], "another generator moved the default one"


def test_a_draw_is_the_stream_at_the_offset():
    g = Generator().manual_seed(11)
    assert np.array_equal(array(call("rand", 5, generator=g)), philox.uniform_f32(11, 0, 5))
    assert np.array_equal(array(call("randn", 3, generator=g, dtype=dtypes.float64)), philox.normal_f64(11, 2, 3))
    assert g.get_state().tolist() == [11, 4]


def test_seeds():
    assert manual_seed(-1) is default_generator()
    assert random.initial_seed() == (1 << 64) - 1
    manual_seed(3)
    assert random.initial_seed() == default_generator().initial_seed() == 3
    assert random.seed() == random.initial_seed()
    assert random.seed() != random.seed()
    with pytest.raises(ValueRangeError, match="64 bits"):
        manual_seed(1 << 64)


def test_state_can_be_kept_and_put_back():
    call("rand", 3)
    state = random.get_rng_state()
    first = array(call("randn", 4))
    random.set_rng_state(state)
    assert np.array_equal(array(call("randn", 4)), first)
    with fork_rng():
        assert not np.array_equal(array(call("randn", 4)), first)
    with fork_rng(enabled=False):
        call("rand", 1)
    random.set_rng_state(state)
    assert np.array_equal(array(call("randn", 4)), first)
    for wrong in (wrap(np.zeros(2)), wrap(np.zeros(3, np.uint64)), 3):
        with pytest.raises(DTypeError, match="uint64"):
            random.set_rng_state(wrong)


def test_generators_are_copied_and_pickled():
    g = Generator().manual_seed(4)
    call("rand", 9, generator=g)
    wanted = None
    for other in (copy.deepcopy(g), pickle.loads(pickle.dumps(g)), g):
        drawn = array(call("rand", 9, generator=other))
        assert wanted is None or np.array_equal(drawn, wanted)
        wanted = drawn
    assert "seed=4" in repr(g)


def test_threads_share_a_generator_without_overlap():
    g = Generator().manual_seed(1)
    drawn: list[np.ndarray] = []

    def work():
        for _ in range(50):
            drawn.append(array(call("rand", 4, generator=g)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert g.get_state().tolist() == [1, 200]
    assert np.array_equal(np.sort(np.concatenate(drawn)), np.sort(philox.uniform_f32(1, 0, 800)))


MOMENTS = {
    "rand": (lambda: call("rand", 40000), 0.5, 1 / 12),
    "randn": (lambda: call("randn", 40000), 0.0, 1.0),
    "normal": (lambda: call("normal", 3.0, 2.0, (40000,)), 3.0, 4.0),
    "uniform_": (lambda: ones(40000).uniform_(-1, 3), 1.0, 16 / 12),
    "exponential_": (lambda: ones(40000).exponential_(2.0), 0.5, 0.25),
    "bernoulli_": (lambda: ones(40000).bernoulli_(0.3), 0.3, 0.21),
    "randint": (lambda: call("randint", -2, 4, (40000,)), 0.5, 35 / 12),
    "dropout": (lambda: call("dropout", ones(40000), 0.2), 1.0, 0.25),
    "multinomial": (lambda: call("multinomial", wrap(np.array([1.0, 0.0, 3.0])), 40000, True), 1.5, 0.75),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_moments(name):
    """Mean and variance within five standard errors (the errors of a variance bounded by those of a heavy tail)."""
    make, mean, variance = MOMENTS[name]
    a = array(make()).astype(np.float64)
    assert abs(a.mean() - mean) < 5 * np.sqrt(variance / a.size)
    assert abs(a.var() - variance) < 5 * variance * np.sqrt(8 / a.size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponential_logarithm(dtype):
    u = philox.uniform(9, 0, 20000, dtype).astype(np.float64)
    exact = -np.log1p(-u)
    found = philox.exponential(9, 0, 20000, dtype)
    assert found.dtype == dtype
    assert (found >= 0).all()
    np.testing.assert_allclose(found, exact, rtol=4 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


def test_sampling_without_replacement_follows_the_weights():
    """The first of two samples is distributed as the weights say."""
    weights = np.tile([1.0, 2.0, 5.0], (20000, 1))
    counts = np.bincount(array(call("multinomial", wrap(weights), 2))[:, 0], minlength=3) / 20000
    np.testing.assert_allclose(counts, [0.125, 0.25, 0.625], atol=0.02)


def test_dropout():
    x = ones(50, 40)
    assert call("dropout", x, 0.5, training=False) is x
    assert call("dropout", x, 0.0) is x
    assert (array(call("dropout", x, 1.0)) == 0).all()
    y = array(call("dropout", x, 0.75))
    assert set(np.unique(y)) == {0.0, 4.0}
    z = ones(50, 40)
    assert call("dropout", z, 0.5, inplace=True) is z
    assert set(np.unique(array(z))) == {0.0, 2.0}
    out, mask = call("native_dropout", x, 0.5, True)
    assert np.array_equal(array(out), array(mask) * np.float32(2))
    out, mask = call("native_dropout", x, 0.5, False)
    assert array(mask).all()
    assert np.array_equal(array(out), array(x))
    assert not np.shares_memory(array(out), array(x))


def test_dropout_gradient_is_the_same_noise():
    x = ones(6, 7)
    x.requires_grad_()
    y = call("dropout", x, 0.5)
    assert y.grad_fn.name() == "NativeDropoutBackward0"
    y.backward(ones(6, 7))
    assert np.array_equal(array(x.grad), array(y))


@pytest.mark.parametrize("name,shape,lead", [("dropout1d", (8, 9, 5), 2), ("dropout2d", (8, 9, 3, 2), 2), ("dropout3d", (9, 2, 3, 2), 1)])
def test_channels_are_dropped_whole(name, shape, lead):
    y = array(call(name, ones(*shape), 0.5)).reshape(*shape[:lead], -1)
    assert (y == y[..., :1]).all()
    assert set(np.unique(y)) == {0.0, 2.0}
    with pytest.raises(TwofoldError, match=name):
        call(name, ones(2), 0.5)


@pytest.mark.parametrize("name,shape", [("alpha_dropout", (400, 100)), ("feature_alpha_dropout", (400, 100, 2))])
def test_alpha_dropout_keeps_mean_and_variance(name, shape):
    x = wrap(np.random.default_rng(0).standard_normal(shape))
    y = array(call(name, x, 0.3, training=True))
    assert abs(y.mean()) < 0.05
    assert abs(y.var() - 1) < 0.1
    assert call(name, x, 0.3) is x
    z = wrap(array(x).copy())
    assert call(name, z, 1.0, training=True, inplace=True) is z
    assert (array(z) == 0).all()


def test_attributes():
    t = call("rand", 2, 3, dtype=dtypes.float64, requires_grad=True)
    assert (t._type.dtype, t._type.shape, t.requires_grad) == (dtypes.float64, (2, 3), True)
    assert call("rand")._type.shape == ()
    assert call("randperm", 3, dtype=dtypes.int32)._type.dtype is dtypes.int32
    meta = call("rand_like", wrap(np.ones((2, 3))), device="meta")
    assert (meta._type.device, meta._type.shape, meta._type.dtype) == ("meta", (2, 3), dtypes.float64)
    assert default_generator().get_state().tolist()[1] == 6, "the meta device draws nothing"


ERRORS = {
    "negative size": (lambda: call("rand", -1), ShapeError),
    "float size": (lambda: call("rand", 2.0), ArgumentError),
    "integer rand": (lambda: call("rand", 2, dtype=dtypes.int64), DTypeError),
    "no generator": (lambda: call("rand", 2, generator=3), ArgumentError),
    "randint without size": (lambda: call("randint", 3), ArgumentError),
    "randint empty": (lambda: call("randint", 3, 3, (2,)), ValueRangeError),
    "dropout p": (lambda: call("dropout", ones(2), 1.5), ValueRangeError),
    "dropout of integers": (lambda: call("dropout", wrap(np.ones(2, np.int64)), 0.5), DTypeError),
    "dropout of no tensor": (lambda: call("dropout", 1.0), ArgumentError),
    "bernoulli range": (lambda: call("bernoulli", wrap(np.array([2.0]))), ValueRangeError),
    "multinomial weights": (lambda: call("multinomial", wrap(np.zeros(2)), 1), ValueRangeError),
    "normal std": (lambda: call("normal", 0.0, -1.0, (2,)), ValueRangeError),
    "normal without size": (lambda: call("normal", 0.0, 1.0), ArgumentError),
    "normal with size": (lambda: call("normal", ones(2), 1.0, (2,)), ArgumentError),
    "exponential rate": (lambda: ones(2).exponential_(0.0), ValueRangeError),
    "uniform bounds": (lambda: ones(2).uniform_(1.0, 0.0), ValueRangeError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_refused_draw_moves_no_generator(name):
    function, error = ERRORS[name]
    state = default_generator().get_state().tolist()
    with pytest.raises(error):
        function()
    assert default_generator().get_state().tolist() == state


def test_filling_a_leaf_is_refused_while_gradients_are_recorded():
    x = ones(3)
    x.requires_grad_()
    with pytest.raises(InplaceError, match="leaf"):
        x.normal_()
    assert (array(x) == 1).all()


def test_counts_may_be_symbolic():
    """A graph over a symbolic size advances the state by an expression of it."""
    from twofold.ir.dims import symbol
    from twofold.ir.interpreter import Interpreter
    from twofold.ir.op import get_op
    from twofold.ir.types import tensor_type
    from twofold.ops.random import blocks

    n = symbol("n")
    builder = Builder(Graph("draw"))
    builder.input(tensor_type(dtypes.float32, (n,)), "x")
    state = builder.input(tensor_type(dtypes.uint64, (2,)), "state")
    drawn = builder.call(get_op("uniform"), (state,), {"size": (n,)})
    advanced = builder.call(get_op("random_advance"), (state,), {"count": blocks(n, 1)})
    builder.output(drawn, advanced)
    u, after = Interpreter(builder.graph).run(np.zeros(9, np.float32), np.array([3, 1], np.uint64))
    assert np.array_equal(u, philox.uniform_f32(3, 1, 9))
    assert after.tolist() == [3, 4]


def noisy(x: Tensor) -> Tensor:
    """Three draws, one of them of gradients' interest."""
    y = FUNCTIONS["dropout"](x, 0.5)
    y = y + FUNCTIONS["randn"](4, 3)
    return y * FUNCTIONS["rand_like"](x)


def test_recorded_draws_are_the_eager_ones():
    """The graph carries the offset: run twice, it draws what two eager calls draw, and moves the generator as far."""
    from twofold.capture.trace.tracer import trace

    x = wrap(np.ones((4, 3), np.float32))
    manual_seed(8)
    graph = trace(noisy, (x,))
    assert default_generator().get_state().tolist() == [8, 0], "recording draws nothing"
    recorded = [array(graph(x)).copy() for _ in range(2)]
    state = default_generator().get_state().tolist()
    manual_seed(8)
    eager = [array(noisy(x)) for _ in range(2)]
    assert default_generator().get_state().tolist() == state
    for a, b in zip(recorded, eager, strict=True):
        assert np.array_equal(a, b)
    assert not np.array_equal(*recorded)
