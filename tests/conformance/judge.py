"""Decides whether our results are those of torch. Each function returns None, or says in one line what differs."""

from __future__ import annotations

from typing import Any

import torch

import twofold
from tests.conformance.convert import TORCH_DTYPES, leaves_of, structure_of, to_torch

TOLERANCE = {  # (relative, absolute)
    torch.float64: (1e-9, 1e-9),
    torch.float32: (2e-6, 5e-6),
    torch.float16: (1e-3, 1e-4),
    torch.bfloat16: (1.6e-2, 1e-3),
}
FACTOR = 3.0
"""How many times torch's own largest error (against float64) ours may be, beside the tolerance."""


def is_tensor(value: Any) -> bool:
    """Ours or theirs."""
    return isinstance(value, (torch.Tensor, twofold.Tensor))


def compare(ours: Any, theirs: Any, exact: Any = None, *, values: bool = True, relative: float = 0.0) -> str | None:
    """Compare nested results. `exact` is torch's result in float64, or None. `values=False`: shapes and dtypes only. `relative`: a
    relative tolerance besides the dtype's."""
    a, b = structure_of(ours, is_tensor), structure_of(theirs, is_tensor)
    if a != b:
        return f"structure: ours {a}, torch's {b}"
    exact_leaves = leaves_of(exact) if exact is not None else []
    their_leaves = leaves_of(theirs)
    if len(exact_leaves) != len(their_leaves):
        exact_leaves = [None] * len(their_leaves)
    for i, (x, y, z) in enumerate(zip(leaves_of(ours), their_leaves, exact_leaves, strict=True)):
        said = leaf(x, y, z, values=values, relative=relative)
        if said is not None:
            return said if len(their_leaves) == 1 else f"result {i}: {said}"
    return None


def leaf(ours: Any, theirs: Any, exact: Any, *, values: bool, relative: float = 0.0) -> str | None:
    """One tensor, number, dtype or string."""
    if isinstance(theirs, torch.Tensor):
        if TORCH_DTYPES.get(str(ours.dtype)) is not theirs.dtype:
            return f"dtype: ours {ours.dtype}, torch's {theirs.dtype}"
        if tuple(ours.shape) != tuple(theirs.shape):
            return f"shape: ours {tuple(ours.shape)}, torch's {tuple(theirs.shape)}"
        return tensor_values(to_torch(ours), theirs.detach(), exact, relative) if values else None
    if isinstance(theirs, torch.dtype):
        return None if TORCH_DTYPES.get(str(ours)) is theirs else f"ours {ours}, torch's {theirs}"
    if type(theirs) is not type(ours):
        return f"type: ours {type(ours).__name__}, torch's {type(theirs).__name__}"
    if isinstance(theirs, float):
        return tensor_values(torch.tensor(ours, dtype=torch.float64), torch.tensor(theirs, dtype=torch.float64), None) if values else None
    return None if not values or ours == theirs else f"ours {ours!r}, torch's {theirs!r}"


def tensor_values(ours: torch.Tensor, theirs: torch.Tensor, exact: Any, least: float = 0.0) -> str | None:
    """Values of two tensors of equal shape and dtype."""
    if theirs.numel() == 0:
        return None
    if not theirs.is_floating_point():
        return None if torch.equal(ours, theirs) else f"values: {first_difference(ours, theirs, ours != theirs)}"
    relative, absolute = TOLERANCE[theirs.dtype]
    relative = max(relative, least)
    a, b = ours.double(), theirs.resolve_neg().double()
    wrong = ~close(a, b, relative, absolute)
    if not wrong.any():
        return None
    if isinstance(exact, torch.Tensor) and exact.shape == theirs.shape and exact.is_floating_point():
        z = exact.detach().double()
        error = (b - z).abs()
        finite = error[torch.isfinite(error)]
        slack = FACTOR * float(finite.max()) if finite.numel() else 0.0
        z_low = z.to(theirs.dtype).double()  # beyond the range of the dtype: infinity
        wrong &= ~(close(a, z, relative, absolute + slack) | close(a, z_low, relative, absolute + slack))
        if not wrong.any():
            return None
    return f"values: {first_difference(ours, theirs, wrong)}"


def close(a: torch.Tensor, b: torch.Tensor, relative: float, absolute: float) -> torch.Tensor:
    """|a - b| <= absolute + relative |b|, elementwise; NaN equals NaN, infinities equal themselves."""
    return torch.isclose(a, b, rtol=relative, atol=absolute, equal_nan=True)


def first_difference(ours: torch.Tensor, theirs: torch.Tensor, wrong: torch.Tensor) -> str:
    """`3 of 12, first at (0, 2): ours 1.0, torch's 2.0`."""
    if wrong.dim() == 0:
        return f"ours {ours.item()!r}, torch's {theirs.item()!r}"
    where = tuple(wrong.nonzero()[0].tolist())
    return f"{int(wrong.sum())} of {wrong.numel()}, first at {where}: ours {ours[where].item()!r}, torch's {theirs[where].item()!r}"


def moments(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> str | None:
    """Two sets of random draws of one distribution: mean and spread agree to five standard errors (of both)."""
    a, b = torch.cat([t.double().flatten() for t in ours]), torch.cat([t.double().flatten() for t in theirs])
    a, b = a[torch.isfinite(a)], b[torch.isfinite(b)]
    if a.numel() < 100 or b.numel() < 100:
        return None
    spread = max(float(a.std()), float(b.std()))
    allowed = 5.0 * spread * (1 / a.numel() + 1 / b.numel()) ** 0.5 + 1e-6 * (abs(float(b.mean())) + 1)
    if abs(float(a.mean() - b.mean())) > allowed:
        return f"mean of draws: ours {float(a.mean()):.4g}, torch's {float(b.mean()):.4g}"
    low, high = float(a.std()), float(b.std())
    if max(low, high) > 1.5 * min(low, high) + 1e-6:
        return f"spread of draws: ours {low:.4g}, torch's {high:.4g}"
    return None
