"""`twofold.record`: launch plans that repeat a function on the same memory as one native call."""

from __future__ import annotations

import gc
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest

import twofold
import twofold.nn as nn
import twofold.nn.functional as F
from twofold.capture.record import Bound, Plan
from twofold.errors import ArgumentError, AutogradError, GuardError, InplaceError, TraceError, UnsupportedError
from twofold.func import grad_and_value
from twofold.runtime import counters


def values(*shape: int, seed: int = 0) -> Any:
    return twofold.tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def same(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


@pytest.fixture
def only_native(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run may take the careful way."""

    def refuse(self: Bound) -> None:
        raise AssertionError("a replay was not native")

    monkeypatch.setattr(Bound, "run", refuse)


def native_calls(plan: Plan) -> int:
    before = counters.NATIVE_CALLS.value
    plan.replay()
    return counters.NATIVE_CALLS.value - before


@pytest.mark.usefixtures("only_native")
def test_replay_reads_anew_and_writes_the_same_tensors() -> None:
    x = values(4, 5)
    plan = twofold.record(lambda x: (F.relu(x).sum(1), x * 2), x)
    first, second = plan.result
    assert type(plan.replay) is BuiltinFunctionType
    for seed in (1, 2):
        x.copy_(values(4, 5, seed=seed))
        assert plan.replay() is plan.result
        assert plan.result == (first, second)
        same(first, F.relu(x).sum(1))
        same(second, x * 2)


@pytest.mark.usefixtures("only_native")
def test_everything_written_is_written() -> None:
    def step(x: Any, state: Any) -> Any:
        state.mul_(0.5).add_(x)
        x[1:].zero_()
        return {"sum": state.sum(), "part": state[2], "same": state}

    x, state = values(4, 5), values(4, 5, seed=1)
    y, other = x.clone(), state.clone()
    plan = twofold.record(step, x, state)
    expected = step(y, other)
    assert plan.result["same"] is not None
    for _ in range(3):
        for name, value in expected.items():
            same(plan.result[name], value)
        same(x, y)
        same(state, other)
        assert plan.result["part"]._array.base is not None
        plan.replay()
        expected = step(y, other)


@pytest.mark.usefixtures("only_native")
def test_parameters_are_read_anew() -> None:
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.LayerNorm(8)).eval()
    x = values(3, 5)
    with twofold.no_grad():
        plan = twofold.record(model, x)
        model[0].weight.mul_(-1.5)
        model[2].weight.data = values(8, seed=3)  # other memory
        plan.replay()
        same(plan.result, model(x))


def test_running_statistics_and_random_numbers() -> None:
    model = nn.Sequential(nn.BatchNorm1d(5), nn.Dropout(0.5)).train()
    x = values(6, 5)
    twofold.manual_seed(5)
    with twofold.no_grad():
        plan = twofold.record(model, x)
        results = [plan.result.clone(), plan.replay().clone()]
        statistics = model[0].running_mean.clone()
        fresh = nn.Sequential(nn.BatchNorm1d(5), nn.Dropout(0.5)).train()
        twofold.manual_seed(5)
        expected = [fresh(x), fresh(x)]
    assert not np.array_equal(results[0].numpy() == 0, results[1].numpy() == 0), "every replay draws anew"
    for a, b in zip(results, expected, strict=True):
        same(a, b)
    same(statistics, fresh[0].running_mean)


@pytest.mark.usefixtures("only_native")
def test_native_calls_are_counted() -> None:
    inner = twofold.trace(lambda x: F.relu(x) * 2 + 1, (values(8),)).compile()

    def step(x: Any) -> Any:
        return inner(inner(x)) - x.exp()

    x = values(8)
    plan = twofold.record(step, x)
    calls = plan.native_calls
    assert (calls.eager, calls.compiled, calls.replayed, calls.host_steps) == (8, 4, 1, 0)
    assert native_calls(plan) == 1
    before = counters.NATIVE_CALLS.value
    expected = step(x)
    assert counters.NATIVE_CALLS.value - before == 2
    same(plan.result, expected)
    assert "eager 8, compiled 4, replayed 1" in plan.report()
    assert "in x: f32[8]" in plan.report()
    assert "replayed 1" in repr(plan)


def test_host_steps_are_named() -> None:
    x = values(4, 4)
    plan = twofold.record(lambda x: twofold.linalg.inv(x) + 1, x)
    hosts = plan.native_calls.host_steps
    assert hosts >= 1
    assert plan.report().count("host step:") == hosts
    assert native_calls(plan) == 1
    same(plan.result, twofold.linalg.inv(x) + 1)


def test_arguments_of_a_replay_are_copied() -> None:
    x, y = values(4), values(4, seed=1)
    plan = twofold.record(lambda x, y, k: x * k - y, x, y, 3.0)
    new = values(4, seed=2)
    plan.replay(new, y, 3.0)
    same(x, new)
    same(plan.result, new * 3 - y)
    plan.replay(values(4, seed=4).numpy(), y, 3.0)
    same(x, values(4, seed=4))
    for args in ((values(5), y, 3.0), (new, y, 4.0), (new, y), (new, y, 3.0, 1), ("text", y, 3.0), (new.double(), y, 3.0)):
        with pytest.raises(GuardError):
            plan.replay(*args)


def test_tensors_that_are_not_in_c_order() -> None:
    base = values(5, 4)
    x, y = base.t(), values(4, 5, seed=1)

    def step(x: Any, y: Any) -> Any:
        return x * 2 + y

    plan = twofold.record(step, x, y)
    same(plan.result, step(x, y))
    base.add_(1.0)
    same(plan.replay(), step(x, y))
    assert "copied into C order" in plan.report()

    z = values(4, 5).t()
    written = twofold.record(lambda z: z.add_(1.0), z)
    expected = z + 1
    written.replay()
    same(z, expected)


def test_what_has_changed_is_refused() -> None:
    x, y = values(4), values(4, seed=1)
    plan = twofold.record(lambda x: x + y, x)
    kept = y.data
    y.data = values(5)
    with pytest.raises(GuardError, match=r"f32\[4\].*f32\[5\]"):
        plan.replay()
    y.data = kept
    same(plan.replay(), x + y)

    weight = nn.Parameter(values(4))
    with pytest.raises(AutogradError, match="no_grad"):
        twofold.record(lambda x: x * weight, x)
    with twofold.no_grad():
        plan = twofold.record(lambda x: x * weight, x)
        plan.replay()
    with pytest.raises(AutogradError, match="no_grad"):
        plan.replay()

    state = twofold.from_numpy(np.zeros(4, np.float32))
    plan = twofold.record(lambda x: state.add_(x), x)
    state._array.flags.writeable = False
    with pytest.raises(InplaceError, match="read-only"):
        plan.replay()


def test_what_cannot_be_recorded() -> None:
    x = values(4)
    with pytest.raises(TraceError):
        twofold.record(lambda x: x * 2 if x.sum() > 0 else x, x)
    for options in ({"reuse_outputs": True}, {"verify": True}, {"unknown": 1}):
        with pytest.raises(ArgumentError):
            twofold.record(lambda x: x + 1, x, **options)
    with pytest.raises(UnsupportedError, match="aarch64"):
        twofold.record(lambda x: x + 1, x, target="aarch64")
    plan = twofold.record(lambda x: x + 1, x)
    with pytest.raises(TraceError, match="replayed while"):
        twofold.trace(lambda x: plan.replay() + x, (x,), check=False)


def test_backward_sees_that_results_were_overwritten() -> None:
    x = values(4)
    plan = twofold.record(lambda x: x + 1, x)
    w = values(4, seed=1).requires_grad_()
    loss = (w * plan.result).sum()
    loss.backward()
    loss = (w * plan.result).sum()
    plan.replay()
    with pytest.raises(InplaceError, match="replay"):
        loss.backward()


@pytest.mark.usefixtures("only_native")
def test_a_training_step() -> None:
    x, target = values(8, 3), values(8, 1, seed=1)

    def make() -> Any:
        w = values(3, 1, seed=2)

        def step(x: Any, target: Any) -> Any:
            gradient, loss = grad_and_value(lambda w: ((x @ w - target).tanh() ** 2).mean())(w)
            w.sub_(0.5 * gradient)
            return loss

        return step

    plan, eager = twofold.record(make(), x, target), make()
    losses = [plan.result.item(), *(plan.replay().item() for _ in range(20))]
    np.testing.assert_allclose(losses, [eager(x, target).item() for _ in range(21)], rtol=1e-4)
    assert losses == sorted(losses, reverse=True)


def test_threads_take_turns() -> None:
    x = values(16)
    state = twofold.zeros(16)
    plan = twofold.record(lambda x: state.add_(x), x)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: plan.replay(), range(99)))
    np.testing.assert_allclose(state.numpy(), 100 * x.numpy(), rtol=1e-4)


def test_memory() -> None:
    x = values(64)
    plan = twofold.record(lambda x: (x * 2).relu(), x)
    array = weakref.ref(plan.result)
    before = sys.getallocatedblocks()
    for _ in range(2000):
        plan.replay()
    assert sys.getallocatedblocks() - before < 50
    del plan
    gc.collect()
    assert array() is None
