"""The base of the optimisers: groups, hooks, state dicts, errors; how updates treat memory, 16-bit floats and recorded graphs."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.nn.pairs import ours, to_array
from twofold.capture.trace.tracer import trace
from twofold.nn import Parameter
from twofold.optim import (
    ASGD,
    LBFGS,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lion,
    NAdam,
    Optimizer,
    RAdam,
    RMSprop,
    Rprop,
    lr_scheduler,
)
from twofold.optim.optimizer import PIECE
from twofold.support.errors import (
    ArgumentError,
    InplaceError,
    ShapeError,
    StateDictError,
    TwofoldError,
    UnsupportedError,
    ValueRangeError,
)  # fmt: skip
from twofold.tape.versions import STAMPS, root_of
from twofold.tensors.core import Tensor

MAKERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: SGD(p, lr=0.1),
    "SGD momentum": lambda p: SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "SGD maximize": lambda p: SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1, maximize=True),
    "Adam": lambda p: Adam(p, lr=0.01, weight_decay=0.1),
    "AdamW": lambda p: AdamW(p, lr=0.01, amsgrad=True),
    "RMSprop": lambda p: RMSprop(p, centered=True, momentum=0.5, weight_decay=0.1),
    "Adadelta": lambda p: Adadelta(p, weight_decay=0.1),
    "Adamax": lambda p: Adamax(p, weight_decay=0.1),
    "NAdam": lambda p: NAdam(p, weight_decay=0.1),
    "RAdam": lambda p: RAdam(p, betas=(0.8, 0.9), weight_decay=0.1, decoupled_weight_decay=True),
    "Rprop": lambda p: Rprop(p, lr=0.125),
    "ASGD": lambda p: ASGD(p, t0=1, weight_decay=0.1),
    "Lion": lambda p: Lion(p, lr=0.01, weight_decay=0.1, maximize=True),
    "Adagrad": lambda p: Adagrad(p, lr_decay=0.1, weight_decay=0.1),
}
EACH = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def values(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def leaf(*shape: int, seed: int = 0) -> Tensor:
    return ours(values(*shape, seed=seed), True)


# ---- updates -----------------------------------------------------------------------------------------------------------------------------


@EACH
def test_large_parameters_are_updated_in_pieces(make: Any) -> None:
    """The same numbers as element by element, in memory of any order."""
    n = 2 * PIECE + 17
    big, small = leaf(n), leaf(n)
    transposed = Parameter(ours(values(n).reshape(n, 1).repeat(2, 1)).T)
    assert not transposed.is_contiguous()
    parts = [ours(to_array(small)[i : i + 1000], True) for i in range(0, n, 1000)]
    whole, split, turned = make([big]), make(parts), make([transposed])
    for k in range(2):
        grad = values(n, seed=k + 1)
        big.grad = ours(grad)
        transposed.grad = ours(np.stack([grad, grad]))
        for i, p in enumerate(parts):
            p.grad = ours(grad[1000 * i : 1000 * (i + 1)])
        for o in (whole, split, turned):
            o.step()
    np.testing.assert_array_equal(to_array(big), np.concatenate([to_array(p) for p in parts]))
    np.testing.assert_array_equal(to_array(big), to_array(transposed)[1])


@EACH
def test_the_gradient_is_not_changed_and_memory_is_kept(make: Any) -> None:
    p = leaf(3, 4)
    memory = p.detach().numpy()
    p.grad = ours(values(3, 4, seed=1))
    kept = to_array(p.grad)
    make([p]).step()
    np.testing.assert_array_equal(to_array(p.grad), kept)
    assert np.shares_memory(memory, p.detach().numpy())
    assert not np.array_equal(memory, values(3, 4))


@EACH
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_parameters_are_updated_in_float32(make: Any, dtype: str) -> None:
    p = ours(values(50)).to(dtype).requires_grad_()
    wide = ours(to_array(p.float()), True)
    grad = ours(values(50, seed=1)).to(dtype)
    p.grad, wide.grad = grad, grad.float()
    low, high = make([p]), make([wide])
    low.step()
    high.step()
    assert p.dtype is grad.dtype
    np.testing.assert_array_equal(to_array(p.float()), to_array(wide.to(dtype).float()))
    for name, state in high.state[wide].items():
        mine = low.state[p][name]
        expected = state if state.dim() == 0 else state.to(dtype)  # numbers stay float32
        assert mine.dtype is expected.dtype
        np.testing.assert_array_equal(to_array(mine.float()), to_array(expected.float()))


@EACH
def test_parameters_without_gradients_are_skipped(make: Any) -> None:
    p, q = leaf(3), leaf(3)
    optimizer = make([p, q])
    q.grad = ours(values(3, seed=1))
    optimizer.step()
    np.testing.assert_array_equal(to_array(p), values(3))
    assert "exp_avg" not in optimizer.state.get(p, {})
    assert not np.array_equal(to_array(q), values(3))


@EACH
def test_backward_through_overwritten_weights_is_refused(make: Any) -> None:
    """A graph that saved the old weights names the step that overwrote them."""
    w, x = leaf(3, 4), leaf(2, 4, seed=1)
    optimizer = make([w])
    first = (x @ w.T).sum()
    first.backward(retain_graph=True)
    optimizer.step()  # this line must be named
    assert w._version == 1
    assert STAMPS[id(root_of(w._array))].name == f"{type(optimizer).__name__}.step"
    with pytest.raises(InplaceError, match=rf"(?s){type(optimizer).__name__}\.step.*this line must be named"):
        first.backward()
    (x @ w.T).sum().backward()


@EACH
def test_a_recorded_step_gives_the_same_numbers(make: Any) -> None:
    start = [values(3, 4), np.float32(0.5)]
    a, b = [[Parameter(ours(x)) for x in start] for _ in range(2)]
    recorded, eager = make(a), make(b)

    def step(*grads: Any) -> Any:
        for p, g in zip(a, grads, strict=True):
            p.grad = g
        recorded.step()
        for p in a:
            p.grad = None
        return a[0].detach() * 1.0

    gradients = [[ours(values(3, 4, seed=k)), ours(np.float32(0.1 * k))] for k in range(1, 5)]
    graph = trace(step, tuple(gradients[0]), check=False)
    np.testing.assert_array_equal(to_array(a[0]), start[0])
    for grads in gradients:
        out = graph(*grads)
        for p, g in zip(b, grads, strict=True):
            p.grad = ours(to_array(g))
        eager.step()
        np.testing.assert_allclose(to_array(out), to_array(b[0]), rtol=1e-6, atol=1e-7)
    for p, q in zip(a, b, strict=True):
        np.testing.assert_allclose(to_array(p), to_array(q), rtol=1e-6, atol=1e-7)
        for name, value in eager.state[q].items():
            np.testing.assert_allclose(to_array(recorded.state[p][name]), to_array(value), rtol=1e-6, atol=1e-7, err_msg=name)


def test_recording_the_first_step_with_dampening_is_refused() -> None:
    p = Parameter(ours(values(3)))
    optimizer = SGD([p], lr=0.1, momentum=0.9, dampening=0.5)

    def step(g: Any) -> Any:
        p.grad = g
        optimizer.step()
        p.grad = None
        return g + 1

    with pytest.raises(UnsupportedError, match="run one step before recording"):
        trace(step, (ours(values(3, seed=1)),), check=False)
    p.grad = ours(values(3, seed=1))
    optimizer.step()
    trace(step, (ours(values(3, seed=1)),), check=False)


def test_nan_and_infinite_gradients_make_no_noise() -> None:
    p = leaf(3)
    for make in MAKERS.values():
        optimizer = make([p])
        p.grad = ours(np.array([np.inf, np.nan, 1e38], np.float32))
        optimizer.step()
    assert not math.isfinite(to_array(p)[0])


# ---- groups, closures, hooks -------------------------------------------------------------------------------------------------------------


def test_closure_runs_with_gradients_and_its_value_comes_back() -> None:
    p = leaf(3)
    optimizer = SGD([p], lr=0.1)

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    before = to_array(p)
    assert float(optimizer.step(closure)) == pytest.approx(float((before**2).sum()))
    np.testing.assert_allclose(to_array(p), before * 0.8, rtol=1e-6)


def test_zero_grad() -> None:
    p, q = leaf(3), leaf(2)
    optimizer = SGD([p, q], lr=0.1)
    p.grad = ours(values(3, seed=1))
    held = p.grad
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is held
    assert not to_array(p.grad).any()
    optimizer.zero_grad()
    assert p.grad is None
    assert q.grad is None


def test_step_hooks() -> None:
    p = leaf(3)
    p.grad = ours(values(3, seed=1))
    optimizer = SGD([p], lr=0.1)
    seen: list[Any] = []
    pre = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(("pre", o, args, kwargs, to_array(p).tolist())))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(("post", o, args, kwargs, to_array(p).tolist())))
    before = to_array(p).tolist()
    optimizer.step()
    assert [s[:4] for s in seen] == [("pre", optimizer, (), {}), ("post", optimizer, (), {})]
    assert seen[0][4] == before != seen[1][4]
    pre.remove()
    optimizer.step(closure=None)
    assert [s[0] for s in seen] == ["pre", "post", "post"]
    assert seen[-1][3] == {"closure": None}
    replaced = optimizer.register_step_pre_hook(lambda o, args, kwargs: ((lambda: 7.0,), {}))
    assert optimizer.step() == 7.0
    replaced.remove()
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(ArgumentError, match="pre-hook"):
        optimizer.step()


def test_hooks_of_a_users_own_optimizer() -> None:
    class Descent(Optimizer):
        def __init__(self, params: Any) -> None:
            super().__init__(params, {"lr": 0.5})

        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    p.data = p.detach() - group["lr"] * p.grad

    p = leaf(3)
    p.grad = ours(values(3))
    optimizer = Descent([p])
    seen = []
    optimizer.register_step_post_hook(lambda *a: seen.append(1))
    optimizer.step()
    assert seen == [1]
    np.testing.assert_allclose(to_array(p), values(3) * 0.5)
    with pytest.raises(UnsupportedError, match="Bare defines no step"):
        type("Bare", (Optimizer,), {})([p], {}).step()


def test_named_parameters_and_added_groups() -> None:
    p, q = leaf(3), leaf(2)
    optimizer = SGD([("weight", p)], lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight"]
    with pytest.raises(ValueRangeError, match="named"):
        optimizer.add_param_group({"params": [q]})
    optimizer.add_param_group({"params": [("bias", q)], "lr": 0.5})
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 0.5]
    assert optimizer.state_dict()["param_groups"][1]["param_names"] == ["bias"]
    with pytest.warns(UserWarning, match="twice"):
        SGD([p, p], lr=0.1)


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: SGD([], lr=0.1), ValueError, "empty list"),
    (lambda: SGD(leaf(2), lr=0.1), TypeError, r"pass \[parameter\]"),
    (lambda: SGD(3, lr=0.1), TypeError, "iterable"),
    (lambda: SGD([1.0], lr=0.1), TypeError, "not float"),
    (lambda: SGD([leaf(2) * 2], lr=0.1), ValueError, "no leaf"),
    (lambda: SGD([{"params": {leaf(2)}}], lr=0.1), TypeError, "order"),
    (lambda: SGD([{"lr": 1}], lr=0.1), TypeError, '"params"'),
    (lambda: SGD([{"params": 3}], lr=0.1), TypeError, "must be tensors"),
    (lambda: SGD([{"params": [leaf(2)]}, 3], lr=0.1), TypeError, "must be a dict"),
    (lambda: SGD([leaf(2)], lr=-1), ValueError, "invalid learning rate: -1"),
    (lambda: SGD([leaf(2)], lr=float("nan")), ValueError, "invalid learning rate"),
    (lambda: SGD([leaf(2)], lr="fast"), TypeError, "must be a number"),
    (lambda: SGD([leaf(2)], lr=leaf(2)), ValueError, "one element"),
    (lambda: SGD([leaf(2)], momentum=-0.1), ValueError, "invalid momentum"),
    (lambda: SGD([leaf(2)], weight_decay=-0.1), ValueError, "invalid weight_decay"),
    (lambda: SGD([leaf(2)], nesterov=True), ValueError, "nesterov"),
    (lambda: SGD([leaf(2)], momentum=0.9, dampening=0.1, nesterov=True), ValueError, "nesterov"),
    (lambda: SGD([leaf(2)], differentiable=True), NotImplementedError, "differentiable"),
    (lambda: Adam([leaf(2)], betas=(1.0, 0.9)), ValueError, "beta at index 0"),
    (lambda: Adam([leaf(2)], betas=(0.9, -0.1)), ValueError, "beta at index 1"),
    (lambda: Adam([leaf(2)], betas=0.9), TypeError, "two numbers"),
    (lambda: Adam([leaf(2)], eps=-1.0), ValueError, "invalid eps"),
    (lambda: RMSprop([leaf(2)], alpha=-1.0), ValueError, "invalid alpha"),
    (lambda: Adadelta([leaf(2)], rho=1.5), ValueError, "invalid rho"),
    (lambda: Lion([leaf(2)], betas=(0.9, 1.0)), ValueError, "beta at index 1"),
    (lambda: NAdam([leaf(2)], momentum_decay=-1.0), ValueError, "invalid momentum_decay"),
    (lambda: Rprop([leaf(2)], etas=(1.2, 0.5)), ValueError, "invalid etas"),
    (lambda: LBFGS([leaf(2)], line_search_fn="armijo"), ValueError, "strong_wolfe"),
    (lambda: LBFGS([{"params": [leaf(2)]}, {"params": [leaf(2)]}]), ValueError, "one group"),
    (lambda: LBFGS([leaf(2)]).step(), TypeError, "closure"),
    (lambda: Adagrad([leaf(2)], lr_decay=-1.0), ValueError, "invalid lr_decay"),
    (lambda: Adagrad([leaf(2)], initial_accumulator_value=-1.0), ValueError, "initial_accumulator_value"),
]


@pytest.mark.parametrize("call,kind,text", BAD, ids=[t for _, _, t in BAD])
def test_bad_arguments(call: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        call()
    assert isinstance(caught.value, TwofoldError)


def test_a_refused_group_adds_nothing() -> None:
    p = leaf(2)
    optimizer = SGD([p], lr=0.1)
    with pytest.raises(ValueRangeError, match="more than one"):
        optimizer.add_param_group({"params": [leaf(3), p]})
    assert len(optimizer.param_groups) == 1


def test_a_gradient_of_another_shape_is_refused_before_anything_is_written() -> None:
    p, q = leaf(2), leaf(3)
    p.grad, q.grad = ours(values(2, seed=1)), ours(values(3, seed=1))
    q.data = ours(values(1))
    optimizer = SGD([p, q], lr=0.1)
    with pytest.raises((ShapeError, TwofoldError), match="shape"):
        optimizer.step()
    np.testing.assert_array_equal(to_array(p), values(2))


# ---- state -------------------------------------------------------------------------------------------------------------------------------


def stepped(make: Any) -> tuple[Any, list[Tensor]]:
    parameters = [leaf(3), leaf(2, seed=3)]
    optimizer = make(parameters)
    for i, p in enumerate(parameters):
        p.grad = ours(values(*p.shape, seed=i + 5))
    optimizer.step()
    return optimizer, parameters


@EACH
def test_loaded_state_is_a_copy(make: Any) -> None:
    optimizer, _ = stepped(make)
    other, parameters = stepped(make)
    saved = optimizer.state_dict()
    other.load_state_dict(saved)
    held = {(k, n): to_array(v) for k, e in saved["state"].items() for n, v in e.items()}
    for p in parameters:
        p.grad = ours(values(*p.shape, seed=9))
    other.step()
    for (k, n), v in held.items():
        np.testing.assert_array_equal(to_array(saved["state"][k][n]), v)


def test_state_takes_its_parameters_dtype_when_loaded() -> None:
    optimizer, _ = stepped(MAKERS["Adam"])
    p, q = leaf(3), leaf(2)
    p.data, q.data = p.detach().double(), q.detach().double()
    other = MAKERS["Adam"]([p, q])
    other.load_state_dict(optimizer.state_dict())
    assert {n: str(v.dtype) for n, v in other.state[p].items()} == {
        "step": "twofold.float32",
        "exp_avg": "twofold.float64",
        "exp_avg_sq": "twofold.float64",
    }


def test_state_dicts_that_do_not_fit() -> None:
    optimizer, _ = stepped(MAKERS["Adam"])
    state = optimizer.state_dict()
    for bad, text in (
        ({"state": {}}, '"param_groups"'),
        ({**state, "param_groups": []}, "0 parameter groups"),
        ({**state, "param_groups": [{**state["param_groups"][0], "params": [0]}]}, "has 1 parameters"),
        ({**state, "param_groups": [{"lr": 0.1}]}, 'no "params"'),
        (stepped(MAKERS["SGD"])[0].state_dict(), "not one of Adam: it has no betas, eps"),
    ):
        with pytest.raises(StateDictError, match=text):
            optimizer.load_state_dict(bad)
    assert optimizer.state_dict() == state or list(optimizer.state_dict()["state"]) == [0, 1]


def test_an_older_state_dict_keeps_the_newer_hyperparameters() -> None:
    optimizer, _ = stepped(MAKERS["Adam"])
    state = optimizer.state_dict()
    for name in ("decoupled_weight_decay", "fused", "maximize"):
        del state["param_groups"][0][name]
    optimizer.load_state_dict(state)
    optimizer.step()
    assert optimizer.param_groups[0]["decoupled_weight_decay"] is False


@EACH
def test_pickle_and_deepcopy(make: Any) -> None:
    optimizer, parameters = stepped(make)
    for clone in (pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
        copies = clone.param_groups[0]["params"]
        assert copies[0] is not parameters[0]
        for p, q in zip(parameters, copies, strict=True):
            p.data = ours(to_array(q))
            q.grad = ours(values(*q.shape, seed=11))
        clone.step()
        assert str(clone) == str(optimizer)
    assert set(clone.state) <= set(copies)


# ---- schedules ---------------------------------------------------------------------------------------------------------------------------


def test_stepping_the_schedule_first_warns() -> None:
    optimizer = SGD([leaf(2)], lr=0.1)
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.9)
    with pytest.warns(UserWarning, match=r"before optimizer\.step"):
        scheduler.step()


def test_functions_of_a_lambda_schedule_in_state_dicts() -> None:
    class Decay:
        def __init__(self, base: float) -> None:
            self.base = base

        def __call__(self, epoch: int) -> float:
            return self.base**epoch

    optimizer = SGD([{"params": [leaf(2)]}, {"params": [leaf(2)]}], lr=0.1)
    scheduler = lr_scheduler.LambdaLR(optimizer, [Decay(0.5), lambda e: 1.0])
    state = scheduler.state_dict()
    assert state["lr_lambdas"] == [{"base": 0.5}, None]
    other = lr_scheduler.LambdaLR(SGD([{"params": [leaf(2)]}, {"params": [leaf(2)]}], lr=0.1), [Decay(0.9), lambda e: 1.0])
    other.load_state_dict(state)
    assert other.lr_lambdas[0].base == 0.5


BAD_SCHEDULES: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda o: lr_scheduler.StepLR(3, 1), TypeError, "needs an Optimizer"),
    (lambda o: lr_scheduler.StepLR(o, 1, last_epoch=3), KeyError, "initial_lr"),
    (lambda o: lr_scheduler.StepLR(o, 0), ValueError, "step_size must be a positive"),
    (lambda o: lr_scheduler.CosineAnnealingLR(o, 0), ValueError, "T_max must be a positive"),
    (lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.2, step_size_up=0), ValueError, "step_size_up must be a positive"),
    (lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.2, step_size_down=-1), ValueError, "step_size_down must be a positive"),
    (lambda o: lr_scheduler.LambdaLR(o, [abs, abs]), ValueError, "expected 1 functions"),
    (lambda o: lr_scheduler.LinearLR(o, start_factor=0.0), ValueError, "start_factor"),
    (lambda o: lr_scheduler.LinearLR(o, end_factor=2.0), ValueError, "end_factor"),
    (lambda o: lr_scheduler.ConstantLR(o, factor=2.0), ValueError, "factor"),
    (lambda o: lr_scheduler.OneCycleLR(o, 0.1), TypeError, "total_steps"),
    (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=-1), ValueError, "total_steps"),
    (lambda o: lr_scheduler.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=1), ValueError, "epochs"),
    (lambda o: lr_scheduler.OneCycleLR(o, [0.1, 0.2], total_steps=3), ValueError, "max_lr"),
    (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=3, pct_start=2.0), ValueError, "pct_start"),
    (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=3, anneal_strategy="exp"), ValueError, "anneal_strategy"),
    (lambda o: lr_scheduler.OneCycleLR(Adagrad([leaf(2)]), 0.1, total_steps=3), ValueError, "momentum"),
    (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 0), ValueError, "T_0"),
    (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 1, 0), ValueError, "T_mult"),
    (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 1).step(-1), ValueError, "negative"),
    (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1.0), ValueError, "factor"),
    (lambda o: lr_scheduler.ReduceLROnPlateau(o, mode="up"), ValueError, "mode"),
    (lambda o: lr_scheduler.SequentialLR(o, [], []), ValueError, "at least one"),
    (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ExponentialLR(o, 0.9)], [3]), ValueError, "milestones"),
    (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ReduceLROnPlateau(o)], []), ValueError, "metric"),
    (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ExponentialLR(SGD([leaf(1)]), 0.9)], []), ValueError, "another optimizer"),
]


@pytest.mark.parametrize("call,kind,text", BAD_SCHEDULES, ids=[t for _, _, t in BAD_SCHEDULES])
def test_bad_schedules(call: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        call(SGD([leaf(2)], lr=0.1, momentum=0.9))
    assert isinstance(caught.value, TwofoldError)


def test_a_cycle_that_is_over() -> None:
    optimizer = SGD([leaf(2)], lr=0.1, momentum=0.9)
    scheduler = lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=2)
    optimizer.step()
    scheduler.step()
    scheduler.step()
    with pytest.raises(ValueRangeError, match="beyond the run of 2 steps"):
        scheduler.step()
