"""Twofold's and torch's modules side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.tensors.core import Tensor, wrap
from twofold.tensors.nodes import new_leaf


def to_array(t: Any) -> Any:
    """The data of a tensor of either package."""
    return np.array(t._array) if isinstance(t, Tensor) else t.detach().numpy().copy()


def ours(array: Any, grad: bool = False) -> Tensor:
    """A tensor with its own copy of the array."""
    t = wrap(np.array(array))
    if grad and t._type.dtype.is_floating_point:
        new_leaf(t)
    return t


def theirs(torch: Any, array: Any, grad: bool = False) -> Any:
    """A torch tensor with its own copy of the array."""
    t = torch.from_numpy(np.array(array))
    return t.requires_grad_() if grad and t.is_floating_point() else t


def copy_state(source: Any, target: Any, make: Any) -> Any:
    """Load `source`'s state dict into `target`, a module of the other package, through arrays; returns the answer of load_state_dict."""
    return target.load_state_dict({k: make(to_array(v)) for k, v in source.state_dict().items()})


def close(mine: Any, other: Any, rtol: float = 2e-5, atol: float = 2e-6, what: str = "") -> None:
    """Equal to rounding, with equal shapes and dtypes."""
    a, b = to_array(mine), to_array(other)
    assert a.shape == b.shape, what
    assert a.dtype == b.dtype, what
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=what)
