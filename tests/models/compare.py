"""Comparing a model of ours with its twin in torch: in float64 to rounding, in float32 by the error against float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import twofold

Run = tuple[list[np.ndarray], dict[str, np.ndarray]]


def run_ours(model: Any, inputs: tuple[Any, ...], loss: Callable[[Any], Any]) -> Run:
    """Outputs; gradients by parameter and buffers."""
    model.zero_grad()
    out = model(*inputs)
    loss(out).backward()
    state = {n: p.grad.numpy().copy() for n, p in model.named_parameters() if p.grad is not None}
    parameters = {n for n, _ in model.named_parameters(remove_duplicate=False)}
    state |= {n: t.numpy().copy() for n, t in model.state_dict().items() if n not in parameters}
    return [np.array(out.detach().numpy())], state


def run_theirs(model: Any, inputs: tuple[Any, ...], loss: Callable[[Any], Any]) -> Run:
    """The same of the twin."""
    model.zero_grad()
    out = model(*inputs)
    loss(out).backward()
    state = {n: p.grad.numpy().copy() for n, p in model.named_parameters() if p.grad is not None}
    state |= {n: b.numpy().copy() for n, b in model.named_buffers()}
    return [out.detach().numpy()], state


class Twin:
    """A twin that is a function of a dict of parameters and the inputs."""

    def __init__(self, forward: Callable[..., Any]) -> None:
        self.forward = forward
        self.dtype = torch.float32
        self.parameters: dict[str, Any] = {}

    def to(self, dtype: Any) -> None:
        self.dtype = dtype

    def load_state_dict(self, state: dict[str, Any], strict: bool = True) -> None:
        self.parameters = {n: t.to(self.dtype).requires_grad_() for n, t in state.items()}

    def zero_grad(self) -> None: ...

    def named_parameters(self) -> Any:
        return self.parameters.items()

    def named_buffers(self) -> Any:
        return []

    def __call__(self, *inputs: Any) -> Any:
        return self.forward(self.parameters, *inputs)


def error(value: np.ndarray, truth: np.ndarray, scale: float) -> float:
    """The greatest difference, by the greatest magnitude of the truth (at least `scale`: some gradients are 0 but for rounding)."""
    if truth.size == 0:
        return 0.0
    return float(np.abs(value.astype(np.float64) - truth).max() / max(float(np.abs(truth).max()), scale))


def assert_same(
    ours: Any, theirs: Any, inputs: tuple[np.ndarray, ...], loss: Callable[[Any], Any], factor: float = 4.0, double: float = 1e-9
) -> None:
    """Outputs, gradients and buffers of a float32 model and its twin, which gets our state: float64 agrees to `double`; float32 errs at
    most `factor` times as much as torch's float32, or 1e-6."""
    start = {n: np.array(t.numpy()) for n, t in ours.state_dict().items()}
    truth: Run | None = None
    errors = []
    for dtype in ("float64", "float32"):
        ours.to(dtype=getattr(twofold, dtype))
        ours.load_state_dict({n: twofold.from_numpy(np.array(a)) for n, a in start.items()})
        theirs.to(getattr(torch, dtype))
        theirs.load_state_dict({n: torch.from_numpy(np.array(a)) for n, a in start.items()}, strict=False)
        own = [a.astype(dtype) if a.dtype.kind == "f" else a for a in inputs]
        mine = run_ours(ours, tuple(twofold.from_numpy(np.array(a)) for a in own), loss)
        other = run_theirs(theirs, tuple(torch.from_numpy(np.array(a)) for a in own), loss)
        assert set(mine[1]) == set(other[1])
        if truth is None:
            truth = other
            scale = 1e-3 * float(np.median([np.abs(b).max() for _, _, b in pairs(mine, other) if b.size]))
            for name, a, b in pairs(mine, other):
                assert error(a, b, scale) < double, f"float64: {name} differs by {error(a, b, scale):.2e}"
            continue
        for name, a, b, t in ((n, a, b, t) for (n, a, t), (_, b, _) in zip(pairs(mine, truth), pairs(other, truth), strict=True)):
            errors.append((error(a, t, scale), error(b, t, scale), name))
    floor = max(1e-6, float(np.median([e[1] for e in errors])))
    wrong = [e for e in errors if e[0] > factor * max(e[1], floor)]
    assert not wrong, "\n".join(f"float32: {n}: ours errs by {a:.2e}, torch by {b:.2e}" for a, b, n in wrong)


def pairs(mine: Run, other: Run) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """(name, ours, the other's)."""
    found = [(f"output {i}", a, b) for i, (a, b) in enumerate(zip(mine[0], other[0], strict=True))]
    return found + [(n, mine[1][n], other[1][n]) for n in sorted(mine[1])]
