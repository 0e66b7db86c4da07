"""The gradient of ctc_loss, after log_softmax as it takes for granted, and its refusal of a second one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.nn.pairs import close, ours, theirs
from twofold.autograd.finite_differences import gradcheck
from twofold.nn import functional as F
from twofold.support.errors import UnsupportedError
from twofold.tensors.backward import grad

RNG = np.random.default_rng(7)
CASES: list[tuple[Any, Any, Any, dict[str, Any]]] = [
    (np.array([[1, 2], [2, 2]]), [5, 4], [2, 2], {"reduction": "none"}),
    (np.array([1, 1, 2]), [5, 3], [1, 2], {"reduction": "mean"}),
    (np.array([[0, 1], [1, 0]]), [5, 5], [2, 0], {"blank": 3, "reduction": "sum"}),
    (np.array([[1, 2], [1, 1]]), [5, 2], [2, 2], {"zero_infinity": True}),
]


@pytest.mark.parametrize("targets,inputs,lengths,settings", CASES)
def test_finite_differences(targets: Any, inputs: Any, lengths: Any, settings: dict[str, Any]) -> None:
    x = ours(RNG.standard_normal((5, 2, 4)), True)
    assert gradcheck(lambda t: F.ctc_loss(F.log_softmax(t, -1), ours(targets), inputs, lengths, **settings), (x,))


@pytest.mark.parametrize("targets,inputs,lengths,settings", CASES)
def test_torch(targets: Any, inputs: Any, lengths: Any, settings: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    array = RNG.standard_normal((5, 2, 4))
    a, b = ours(array, True), theirs(torch, array, True)
    mine = F.ctc_loss(a, ours(targets), inputs, lengths, **settings)
    other = torch.nn.functional.ctc_loss(b, theirs(torch, targets), torch.tensor(inputs), torch.tensor(lengths), **settings)
    close(mine, other)
    mine.sum().backward()
    other.sum().backward()
    close(a.grad, b.grad, rtol=1e-9, atol=1e-11)


def test_an_impossible_target_has_no_gradient() -> None:
    x = ours(np.zeros((2, 1, 3)), True)
    F.ctc_loss(x, ours(np.array([[1, 1]])), [2], [2], reduction="none").sum().backward()
    assert np.isnan(x.grad._array).all()


def test_unbatched() -> None:
    array = RNG.standard_normal((5, 4))
    alone = F.ctc_loss(ours(array), ours(np.array([1, 2])), ours(np.array(5)), ours(np.array(2)), reduction="none")
    batch = F.ctc_loss(ours(array[:, None]), ours(np.array([[1, 2]])), [5], [2], reduction="none")
    assert alone._type.shape == ()
    close(alone, batch.reshape(()))


def test_no_second_derivative() -> None:
    x = ours(RNG.standard_normal((5, 2, 4)), True)
    loss = F.ctc_loss(x, ours(np.array([[1, 2], [2, 2]])), [5, 5], [2, 2])
    (first,) = grad([loss], [x], create_graph=True)
    with pytest.raises(UnsupportedError, match="second derivative"):
        first.sum().backward()
