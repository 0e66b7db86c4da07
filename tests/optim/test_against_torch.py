"""Optimisers and schedules beside torch's: the same numbers step for step."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import twofold
from tests.nn.pairs import close, ours, theirs, to_array
from twofold import optim
from twofold.optim import lr_scheduler
from twofold.tensors.core import Tensor

torch = pytest.importorskip("torch")

SHAPES = ((3, 4), (5,), (), (2, 3, 2, 2), (0, 3))
OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.01, "maximize": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "amsgrad": True}),
    ("Adam", {"lr": 0.01, "maximize": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "decoupled_weight_decay": True, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "amsgrad": True, "weight_decay": 0.2, "maximize": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.01, "alpha": 0.9, "momentum": 0.5, "centered": True, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.5, "maximize": True}),
    ("Adagrad", {"lr": 0.1}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "eps": 1e-4, "weight_decay": 0.1, "maximize": True}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.01, "betas": (0.8, 0.95), "weight_decay": 0.1, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"lr": 0.01, "weight_decay": 0.1, "momentum_decay": 0.1, "maximize": True}),
    ("NAdam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.05}),
    ("RAdam", {"lr": 0.01, "betas": (0.8, 0.9), "weight_decay": 0.1, "maximize": True}),
    ("RAdam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "etas": (0.4, 1.5), "step_sizes": (1e-3, 0.3), "maximize": True}),
    ("ASGD", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "lambd": 0.01, "alpha": 0.5, "t0": 4, "weight_decay": 0.1, "maximize": True}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "maximize": True}),
]
CASES = pytest.mark.parametrize("name,kwargs", OPTIMIZERS, ids=lambda v: str(v).replace(" ", ""))


def problem(dtype: str = "float32") -> tuple[list[Any], list[Any]]:
    """(initial values, targets) of some parameters."""
    g = np.random.default_rng(0)
    return [g.standard_normal(s).astype(dtype) for s in SHAPES], [g.standard_normal(s).astype(dtype) for s in SHAPES]


def step(parameters: list[Any], targets: list[Any], skip: int | None = None) -> None:
    """Gradients of the sum of cos(p) + p²/2 - target p; parameter `skip` gets none."""
    for i, (p, t) in enumerate(zip(parameters, targets, strict=True)):
        p.grad = None
        if i != skip:
            (p.cos() + p * p * 0.5 - p * t).sum().backward()


def both(name: str, kwargs: dict[str, Any], dtype: str = "float32") -> tuple[list[Any], list[Any], Any, list[Any], list[Any], Any]:
    start, targets = problem(dtype)
    a, b = [ours(x, True) for x in start], [theirs(torch, x, True) for x in start]
    mine, other = getattr(optim, name)(a, **kwargs), getattr(torch.optim, name)(b, **kwargs)
    return a, [ours(t) for t in targets], mine, b, [theirs(torch, t) for t in targets], other


def same_state(mine: Any, other: Any) -> None:
    """Equal state dicts: structure, and numbers to rounding."""
    a, b = mine.state_dict(), other.state_dict()
    assert a["param_groups"] == b["param_groups"]
    assert list(a["state"]) == list(b["state"])
    for key, entry in b["state"].items():
        assert {k for k, v in entry.items() if v is not None} == set(a["state"][key])
        for name, value in entry.items():
            if value is not None:
                close(a["state"][key][name], value, what=f"{key} {name}")


@CASES
def test_twenty_steps(name: str, kwargs: dict[str, Any]) -> None:
    for dtype in ("float32", "float64"):
        a, at, mine, b, bt, other = both(name, kwargs, dtype)
        assert str(mine) == str(other)
        for i in range(20):
            step(a, at, skip=i % 7)
            step(b, bt, skip=i % 7)
            mine.step()
            other.step()
            for p, q in zip(a, b, strict=True):
                close(p, q, rtol=1e-4, atol=1e-5, what=f"step {i}")
        same_state(mine, other)


@CASES
def test_resuming_from_a_state_dict_either_way(name: str, kwargs: dict[str, Any]) -> None:
    a, at, mine, b, bt, other = both(name, kwargs)
    for _ in range(3):
        step(a, at)
        mine.step()
    convert = lambda make, state: {i: {k: make(to_array(v)) for k, v in e.items()} for i, e in state.items()}
    saved = mine.state_dict()
    other.load_state_dict({"state": convert(torch.from_numpy, saved["state"]), "param_groups": saved["param_groups"]})
    with torch.no_grad():
        for p, q in zip(a, b, strict=True):
            q.copy_(torch.from_numpy(to_array(p)))
    fresh = [ours(to_array(p), True) for p in a]
    third = getattr(optim, name)(fresh, **{**kwargs, "lr": 123.0})
    third.load_state_dict({"state": convert(ours, other.state_dict()["state"]), "param_groups": other.state_dict()["param_groups"]})
    assert third.param_groups[0]["lr"] == mine.param_groups[0]["lr"]
    for _ in range(3):
        for parameters, targets, optimizer in ((a, at, mine), (b, bt, other), (fresh, at, third)):
            step(parameters, targets)
            optimizer.step()
    for p, q, r in zip(a, b, fresh, strict=True):
        close(p, q, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(to_array(p), to_array(r))


def test_groups_with_their_own_settings() -> None:
    start, targets = problem()
    a, b = [ours(x, True) for x in start], [theirs(torch, x, True) for x in start]
    groups = lambda ps: [{"params": ps[:2], "lr": 0.05, "weight_decay": 0.1}, {"params": ps[2], "momentum": 0.0}, {"params": ps[3:]}]
    mine, other = optim.SGD(groups(a), lr=0.1, momentum=0.9), torch.optim.SGD(groups(b), lr=0.1, momentum=0.9)
    at, bt = [ours(t) for t in targets], [theirs(torch, t) for t in targets]
    for _ in range(5):
        step(a, at)
        step(b, bt)
        mine.step()
        other.step()
    for p, q in zip(a, b, strict=True):
        close(p, q)
    assert mine.state_dict()["param_groups"] == other.state_dict()["param_groups"]
    assert list(mine.state_dict()["state"]) == [0, 1, 3, 4]


def test_learning_rate_as_a_tensor() -> None:
    a, at, _, b, bt, _ = both("SGD", {})
    lr, torch_lr = ours(np.float32(0.1)), torch.tensor(0.1)
    mine, other = optim.AdamW(a, lr=lr), torch.optim.AdamW(b, lr=torch_lr, foreach=False)
    schedules = lr_scheduler.ExponentialLR(mine, 0.5), torch.optim.lr_scheduler.ExponentialLR(other, 0.5)
    for _ in range(3):
        step(a, at)
        step(b, bt)
        mine.step()
        other.step()
        for s in schedules:
            s.step()
    assert mine.param_groups[0]["lr"] is lr
    close(lr, torch_lr)
    for p, q in zip(a, b, strict=True):
        close(p, q)


@pytest.mark.parametrize("name", [*sorted({name for name, _ in OPTIMIZERS}), "LBFGS"])
def test_signatures(name: str) -> None:
    mine, other = (inspect.signature(getattr(o, name).__init__).parameters for o in (optim, torch.optim))
    assert [(p.name, p.default, p.kind) for p in mine.values()] == [(p.name, p.default, p.kind) for p in other.values()]


# ---- schedules ---------------------------------------------------------------------------------------------------------------------------

SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("LambdaLR", {"lr_lambda": lambda e: 0.9**e}),
    ("LambdaLR", {"lr_lambda": [lambda e: 0.9**e, lambda e: 1 / (e + 1)]}),
    ("MultiplicativeLR", {"lr_lambda": lambda e: 0.9 + 0.01 * e}),
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [2, 5, 5, 9], "gamma": 0.5}),
    ("ConstantLR", {"factor": 0.25, "total_iters": 4}),
    ("LinearLR", {"start_factor": 0.25, "end_factor": 0.75, "total_iters": 4}),
    ("ExponentialLR", {"gamma": 0.8}),
    ("PolynomialLR", {"total_iters": 6, "power": 2.0}),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 4}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 3}),
    ("CyclicLR", {"base_lr": [0.1, 0.2], "max_lr": 0.5, "step_size_up": 3, "step_size_down": 2, "mode": "triangular2"}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": [0.5, 0.6], "step_size_up": 2, "mode": "exp_range", "gamma": 0.9, "cycle_momentum": False}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "scale_fn": lambda x: 1 / (x + 1), "scale_mode": "iterations"}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 14}),
    ("OneCycleLR", {"max_lr": [0.5, 0.1], "epochs": 7, "steps_per_epoch": 2, "three_phase": True, "anneal_strategy": "linear"}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 14, "pct_start": 0.5, "cycle_momentum": False}),
]
SCHEDULE_CASES = pytest.mark.parametrize("name,kwargs", SCHEDULES, ids=lambda v: v if isinstance(v, str) else "-".join(v))


def two_optimizers(adam: bool = False) -> tuple[Any, Any]:
    """Optimisers with two groups of rates 0.1 and 0.2; their gradients are None, so steps change nothing."""
    pairs = []
    for package, make in ((optim, lambda: ours(np.zeros(2, np.float32), True)), (torch.optim, lambda: torch.zeros(2, requires_grad=True))):
        groups = [{"params": [make()]}, {"params": [make()], "lr": 0.2}]
        pairs.append(package.AdamW(groups, lr=0.1) if adam else package.SGD(groups, lr=0.1, momentum=0.9))
    return pairs[0], pairs[1]


def run(optimizer: Any, scheduler: Any, steps: int, keys: tuple[str, ...] = ("lr",)) -> list[Any]:
    """The groups' rates at each step."""
    seen = []
    for _ in range(steps):
        seen.append([tuple(float(g[k]) if k != "betas" else g[k] for k in keys) for g in optimizer.param_groups])
        optimizer.step()
        scheduler.step()
        assert scheduler.get_last_lr() == [g["lr"] for g in optimizer.param_groups]
    return seen


@SCHEDULE_CASES
def test_schedules(name: str, kwargs: dict[str, Any]) -> None:
    keys = ("lr", "momentum") if name in ("OneCycleLR", "CyclicLR") else ("lr",)
    mine, other = two_optimizers()
    a, b = getattr(lr_scheduler, name)(mine, **kwargs), getattr(torch.optim.lr_scheduler, name)(other, **kwargs)
    np.testing.assert_allclose(run(mine, a, 13, keys), run(other, b, 13, keys), rtol=1e-12)
    parameters = inspect.signature(getattr(torch.optim.lr_scheduler, name).__init__).parameters
    assert list(inspect.signature(getattr(lr_scheduler, name).__init__).parameters) == list(parameters)


@SCHEDULE_CASES
def test_schedules_resume(name: str, kwargs: dict[str, Any]) -> None:
    def begin() -> tuple[Any, Any]:
        optimizer, _ = two_optimizers()
        return optimizer, getattr(lr_scheduler, name)(optimizer, **kwargs)

    optimizer, scheduler = begin()
    whole = run(optimizer, scheduler, 12)
    optimizer, scheduler = begin()
    first = run(optimizer, scheduler, 5)
    other, resumed = begin()
    resumed.load_state_dict(scheduler.state_dict())
    other.load_state_dict(optimizer.state_dict())
    assert first + run(other, resumed, 7) == whole


def test_one_cycle_moves_betas() -> None:
    mine, other = two_optimizers(adam=True)
    a = lr_scheduler.OneCycleLR(mine, 0.5, total_steps=8)
    b = torch.optim.lr_scheduler.OneCycleLR(other, 0.5, total_steps=8)
    for x, y in zip(run(mine, a, 7, ("lr", "betas")), run(other, b, 7, ("lr", "betas")), strict=True):
        for (lr, betas), (lr2, betas2) in zip(x, y, strict=True):
            np.testing.assert_allclose([lr, *betas], [lr2, *betas2], rtol=1e-12)


@pytest.mark.parametrize("milestones", [[2, 5], [1, 2], [4, 9]], ids=str)
def test_sequential(milestones: list[int]) -> None:
    def make(package: Any, optimizer: Any) -> Any:
        parts = [
            package.LinearLR(optimizer, start_factor=0.1, total_iters=3),
            package.ExponentialLR(optimizer, 0.9),
            package.CosineAnnealingLR(optimizer, T_max=4),
        ]
        return package.SequentialLR(optimizer, parts, milestones)

    mine, other = two_optimizers()
    a, b = make(lr_scheduler, mine), make(torch.optim.lr_scheduler, other)
    expected = run(other, b, 12)
    np.testing.assert_allclose(run(mine, a, 12), expected, rtol=1e-12)
    first, _ = two_optimizers()
    scheduler = make(lr_scheduler, first)
    seen = run(first, scheduler, 4)
    second, _ = two_optimizers()
    resumed = make(lr_scheduler, second)
    resumed.load_state_dict(scheduler.state_dict())
    second.load_state_dict(first.state_dict())
    np.testing.assert_allclose(seen + run(second, resumed, 8), expected, rtol=1e-12)


def test_chained() -> None:
    def make(package: Any, optimizer: Any) -> Any:
        return package.ChainedScheduler([package.ConstantLR(optimizer, 0.1, 3), package.ExponentialLR(optimizer, 0.9)])

    mine, other = two_optimizers()
    np.testing.assert_allclose(run(mine, make(lr_scheduler, mine), 8), run(other, make(torch.optim.lr_scheduler, other), 8), rtol=1e-12)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"patience": 1},
        {"mode": "max", "patience": 0, "factor": 0.5, "cooldown": 2},
        {"threshold_mode": "abs", "threshold": 0.3, "patience": 1, "min_lr": [0.05, 0.001]},
        {"mode": "max", "threshold_mode": "abs", "threshold": 0.3, "patience": 0},
    ],
    ids=str,
)
def test_plateau(kwargs: dict[str, Any]) -> None:
    mine, other = two_optimizers()
    a, b = lr_scheduler.ReduceLROnPlateau(mine, **kwargs), torch.optim.lr_scheduler.ReduceLROnPlateau(other, **kwargs)
    for metric in (1.0, 0.9, 0.95, 0.8999, 1.2, 1.2, 1.3, 0.2, 0.2, 0.2, 0.1, 5.0, 6.0, 5.0, 5.0, 7.0):
        a.step(metric)
        b.step(metric)
        assert [g["lr"] for g in mine.param_groups] == [g["lr"] for g in other.param_groups]
        assert (a.best, a.num_bad_epochs, a.cooldown_counter) == (b.best, b.num_bad_epochs, b.cooldown_counter)
    assert isinstance(ours(np.float32(1.0)), Tensor)
    a.step(ours(np.float32(0.05)))


def test_epochs_given_use_the_closed_form() -> None:
    for name, kwargs in SCHEDULES:
        if name in ("OneCycleLR", "MultiplicativeLR", "LambdaLR", "CosineAnnealingWarmRestarts"):
            continue
        mine, other = two_optimizers()
        a, b = getattr(lr_scheduler, name)(mine, **kwargs), getattr(torch.optim.lr_scheduler, name)(other, **kwargs)
        mine.step(), other.step()
        for epoch in (4, 2, 7):
            a.step(epoch)
            with pytest.warns(UserWarning, match="epoch parameter"):
                b.step(epoch)
            np.testing.assert_allclose(a.get_last_lr(), b.get_last_lr(), rtol=1e-12)
    mine, other = two_optimizers()
    a = lr_scheduler.CosineAnnealingWarmRestarts(mine, T_0=3, T_mult=2)
    b = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(other, T_0=3, T_mult=2)
    for epoch in (0.5, 2.75, 3.0, 8.9, 9.1, 1.0):
        a.step(epoch)
        b.step(epoch)
        np.testing.assert_allclose(a.get_last_lr(), b.get_last_lr(), rtol=1e-12)


# ---- Lion (not in torch) and L-BFGS ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("maximize", [False, True])
def test_lion_follows_its_paper(maximize: bool) -> None:
    """Against algorithm 2 of arXiv:2302.06675 in float64 NumPy."""
    g = np.random.default_rng(0)
    w = g.standard_normal((3, 4))
    p, m = ours(w, True), np.zeros_like(w)
    optimizer = optim.Lion([p], lr=0.01, betas=(0.8, 0.95), weight_decay=0.3, maximize=maximize)
    for _ in range(100):
        grad = g.standard_normal(w.shape)
        p.grad = ours(grad)
        optimizer.step()
        up = -grad if maximize else grad
        w = w - 0.01 * (np.sign(0.8 * m + 0.2 * up) + 0.3 * w)
        m = 0.95 * m + 0.05 * up
        np.testing.assert_allclose(to_array(p), w, rtol=1e-12)
    np.testing.assert_allclose(to_array(optimizer.state[p]["exp_avg"]), m, rtol=1e-12)


def rosenbrock(a: Any, b: Any) -> Any:
    """A curved valley, and a quadratic bowl."""
    return ((1 - a[:-1]) ** 2 + 100 * (a[1:] - a[:-1] ** 2) ** 2).sum() + ((b - 3) ** 2).sum()


@pytest.mark.parametrize(
    "kwargs",
    [
        {"line_search_fn": "strong_wolfe"},
        {"lr": 1e-3, "history_size": 3},
        {"line_search_fn": "strong_wolfe", "history_size": 2, "max_eval": 7},
    ],
    ids=str,
)
def test_lbfgs(kwargs: dict[str, Any]) -> None:
    start = np.array([-1.2, 1.0, 0.5, 0.3]), np.array([[1.0, 2.0]])
    a, b = [ours(x, True) for x in start], [theirs(torch, x, True) for x in start]
    mine, other = optim.LBFGS(a, **kwargs), torch.optim.LBFGS(b, **kwargs)
    assert str(mine) == str(other)

    def closure(optimizer: Any, parameters: list[Any]) -> Any:
        optimizer.zero_grad()
        loss = rosenbrock(*parameters)
        loss.backward()
        return loss

    for i in range(5):
        losses = mine.step(lambda: closure(mine, a)).item(), other.step(lambda: closure(other, b)).item()
        np.testing.assert_allclose(*losses, rtol=1e-5, err_msg=f"step {i}")
        for p, q in zip(a, b, strict=True):
            close(p, q, rtol=1e-5, atol=1e-7, what=f"step {i}")
    assert mine.state[a[0]]["func_evals"] == other.state[b[0]]["func_evals"]
    assert set(mine.state[a[0]]) == set(other.state[b[0]]) - {"al"}
    resumed = optim.LBFGS([ours(to_array(p), True) for p in a], **kwargs)
    resumed.load_state_dict(mine.state_dict())
    again = resumed.param_groups[0]["params"]
    resumed.step(lambda: closure(resumed, again))
    mine.step(lambda: closure(mine, a))
    for p, q in zip(a, again, strict=True):
        np.testing.assert_array_equal(to_array(p), to_array(q))


@CASES
def test_a_hundred_steps_to_rounding(name: str, kwargs: dict[str, Any]) -> None:
    """A small network's loss follows torch's for 100 steps; in float32 no further from float64 than torch's own float32 run."""
    g = np.random.default_rng(1)
    x, y = g.standard_normal((16, 6)), g.integers(0, 3, 16)
    weights = [g.standard_normal(s) * 0.5 for s in ((6, 8), (8,), (8, 3), (3,))]
    quiet = {**kwargs, "maximize": False} if "maximize" in kwargs else kwargs

    def losses(package: Any, library: Any, make: Any, dtype: str) -> Any:
        leaves, data, labels = [make(w.astype(dtype), True) for w in weights], make(x.astype(dtype)), make(y)
        optimizer = getattr(package, name)(leaves, **quiet)
        seen = []
        for _ in range(100):
            optimizer.zero_grad()
            logits = (data @ leaves[0] + leaves[1]).tanh() @ leaves[2] + leaves[3]
            loss = library.nn.functional.cross_entropy(logits, labels)
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        return np.array(seen)

    mine = {dtype: losses(optim, twofold, ours, dtype) for dtype in ("float32", "float64")}
    other = {dtype: losses(torch.optim, torch, lambda *a: theirs(torch, *a), dtype) for dtype in ("float32", "float64")}
    exact = other["float64"]
    rounding = np.maximum.accumulate(abs(other["float32"] - exact)).max() * 8 + 1e-6
    if name != "Rprop":  # one sign that differs by rounding, and its paths part
        np.testing.assert_allclose(mine["float64"], exact, rtol=1e-6, atol=1e-8)
        assert abs(mine["float32"] - exact).max() <= rounding
    else:
        np.testing.assert_allclose(mine["float64"][:50], exact[:50], rtol=1e-6, atol=1e-8)
