"""Gradients that exist but are not computed raise in backward: none is dropped silently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import twofold
import twofold.nn.functional as F
from twofold.ir.op import VOCABULARY
from twofold.support.errors import UnsupportedError

labels, half = twofold.tensor([0, 2]), twofold.full((2, 3), 0.5)
CALLS: dict[str, Callable[[Any], Any]] = {
    "igamma": lambda x: twofold.igamma(x, twofold.ones(3)),
    "igammac": lambda x: twofold.igammac(x, twofold.ones(3)),
    "zeta": lambda x: twofold.special.zeta(x + 1, twofold.ones(3)),
    "bessel_j0": twofold.special.bessel_j0,
    "airy_ai": twofold.special.airy_ai,
    "legendre": lambda x: twofold.special.legendre_polynomial_p(x, 3),
    "heaviside": lambda x: twofold.heaviside(x, twofold.tensor(0.5)),
    "geqrf": lambda x: twofold.geqrf(twofold.eye(3) * x)[0],
    "ldl_factor": lambda x: twofold.linalg.ldl_factor(twofold.eye(3) * x)[0],
    "cross_entropy": lambda x: F.cross_entropy(half, labels, weight=x),
    "nll_loss": lambda x: F.nll_loss(half, labels, weight=x),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(half, half, x),
    "with_logits": lambda x: F.binary_cross_entropy_with_logits(half, half, x),
    "pos_weight": lambda x: F.binary_cross_entropy_with_logits(half, half, pos_weight=x),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_backward_raises(name: str, create_graph: bool) -> None:
    x = twofold.rand(3).requires_grad_()
    y = CALLS[name](x)
    assert y.requires_grad
    with pytest.raises(UnsupportedError, match="not computed"):
        (y.sum() + x.sum()).backward(create_graph=create_graph)
    assert CALLS[name](x.detach()).requires_grad is False


def test_refusing_rules_say_which_operation() -> None:
    found = 0
    for op in VOCABULARY.values():
        for rule in op.gradient if isinstance(op.gradient, tuple) else ():
            if callable(rule) and "refuse_gradient" in rule.__code__.co_names:
                reason = next(c for c in rule.__code__.co_consts if isinstance(c, str))
                name = op.name.replace("linalg_", "linalg.").replace("special_", "special.").removesuffix("_ex").removesuffix("_backward")
                assert name in reason, reason
                found += 1
    assert found >= 30
