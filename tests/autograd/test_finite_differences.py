"""`gradcheck` and `gradgradcheck`: they accept right gradients, find wrong ones, say where, and put the inputs back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold
from twofold.autograd import Function, gradcheck, gradgradcheck
from twofold.autograd.finite_differences import GradcheckError
from twofold.support.errors import ArgumentError, AutogradError, TwofoldError, ValueRangeError

both_modes = pytest.mark.parametrize("fast", [False, True], ids=["full", "fast"])


def leaf(value: Any, dtype: Any = np.float64) -> Any:
    return twofold.from_numpy(np.array(value, dtype)).requires_grad_()


X, W = [[0.3, -0.7, 1.2], [0.1, 0.9, -0.4]], [1.5, 0.2, -0.8]


class Wrong(Function):
    """sin, whose backward is off by one part in a hundred."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * x.cos() * 1.01


class WrongTwice(Function):
    """sin, whose first derivative is right and whose second is zero."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * x.detach().cos()


class Restless(Function):
    """The identity, whose backward is a little different each time."""

    count = 0

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        Restless.count += 1
        return g * (1.0 + 1e-7 * Restless.count)


class Forgetful(Function):
    """(x, 2x, 3x), whose backward answers one undefined gradient among the three with no gradient at all."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        return x * 1.0, x * 2.0, x * 3.0

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        there = [g * (i + 1.0) for i, g in enumerate(gradients) if g is not None]
        return None if len(there) == 2 else sum(there[1:], there[0])


# ---- right gradients -----------------------------------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: x * w,
        lambda x, w: (x.sin() * w).sum(),
        lambda x, w: (x * x, w.tanh(), (x * w).sum(1)),
        lambda x, w: [x.exp(), 3],
        lambda x, w: x,
        lambda x, w: x.t(),
        lambda x, w: (x, x.detach() * 0.0 + 1.0),
    ],
)
def test_right_gradients_pass(function: Any, fast: bool) -> None:
    inputs = (leaf(X), leaf(W))
    assert gradcheck(function, inputs, fast_mode=fast) is True
    assert gradgradcheck(function, inputs, fast_mode=fast) is True
    assert gradgradcheck(function, inputs, fast_mode=fast, gen_non_contig_grad_outputs=True)


@both_modes
def test_a_single_tensor_and_other_arguments(fast: bool) -> None:
    assert gradcheck(lambda x: x.exp(), leaf(W), fast_mode=fast)
    assert gradcheck(lambda x, n, c: x * n * c, (leaf(W), 3, twofold.tensor([2.0], dtype=twofold.float64)), fast_mode=fast)


@both_modes
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)])
def test_small_shapes(shape: tuple[int, ...], fast: bool) -> None:
    x = leaf(np.full(shape, 0.4))
    assert gradcheck(lambda x: (x * x, x.sum()), x, fast_mode=fast)
    assert gradgradcheck(lambda x: (x * x, x.sum()), x, fast_mode=fast)


def test_inputs_are_put_back_also_after_an_error() -> None:
    x = leaf(X)
    gradcheck(lambda t: t.sin(), x)
    np.testing.assert_array_equal(x.detach().numpy(), X)
    calls = [0]

    def fails(t: Any) -> Any:
        calls[0] += 1
        if calls[0] == 4:
            raise KeyError("inside")
        return t * 2.0

    with pytest.raises(KeyError, match="inside"):
        gradcheck(fails, x)
    np.testing.assert_array_equal(x.detach().numpy(), X)
    assert x.grad is None
    assert x._version == 0


def test_inputs_reached_through_a_closure() -> None:
    """As with the parameters of a module: `gradcheck(lambda *_: model(x), tuple(model.parameters()))`."""
    x, w = twofold.tensor(X, dtype=twofold.float64), leaf(W)
    assert gradcheck(lambda *_: (x * w).tanh(), (w,))
    assert not gradcheck(lambda *_: Wrong.apply(x * w), (w,), raise_exception=False)


def test_views_and_gaps_as_inputs() -> None:
    base = leaf(X)
    assert gradcheck(lambda x: x.sin(), base.t())
    assert gradcheck(lambda x: x.sin(), base[:, ::2])


# ---- wrong gradients -----------------------------------------------------------------------------------------------------------------


@both_modes
def test_a_wrong_gradient_is_found_and_located(fast: bool) -> None:
    x, w = leaf(X), leaf(W)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda w, x: (w * 2.0, Wrong.apply(x)), (w, x), fast_mode=fast)
    message = str(caught.value)
    assert "output 1 with respect to input 1" in message
    assert "numerical" in message
    assert "analytical" in message
    assert "test_finite_differences.py" in message
    if not fast:
        assert "0.00995" in message, "the largest difference, cos(0.1) / 100"
        assert "[[" in message
    assert isinstance(caught.value, (AutogradError, RuntimeError))
    assert gradcheck(lambda x: Wrong.apply(x), x, fast_mode=fast, raise_exception=False) is False
    assert gradcheck(lambda x: Wrong.apply(x), x, fast_mode=fast, rtol=0.05)


@both_modes
def test_a_wrong_second_derivative_is_found(fast: bool) -> None:
    x = leaf(X)
    assert gradcheck(lambda x: WrongTwice.apply(x), x, fast_mode=fast)
    with pytest.raises(GradcheckError):
        gradgradcheck(lambda x: WrongTwice.apply(x), x, fast_mode=fast)
    assert gradgradcheck(lambda x: WrongTwice.apply(x), x, fast_mode=fast, raise_exception=False) is False


@both_modes
def test_an_output_cut_from_the_graph_is_found(fast: bool) -> None:
    with pytest.raises(GradcheckError, match="does not require grad"):
        gradcheck(lambda x: x.detach() * 2.0, leaf(W), fast_mode=fast)
    assert gradcheck(lambda x: twofold.ones(2), leaf(W), fast_mode=fast)


@both_modes
def test_a_backward_that_changes_from_pass_to_pass(fast: bool) -> None:
    with pytest.raises(GradcheckError, match="not deterministic"):
        gradcheck(lambda x: Restless.apply(x), leaf(W), fast_mode=fast)
    assert gradcheck(lambda x: Restless.apply(x), leaf(W), fast_mode=fast, nondet_tol=1e-3)


@both_modes
def test_an_undefined_gradient_must_count_as_zero(fast: bool) -> None:
    with pytest.raises(GradcheckError, match="output 0 without a gradient"):
        gradcheck(lambda x: Forgetful.apply(x), leaf(W), fast_mode=fast)
    assert gradcheck(lambda x: Forgetful.apply(x), leaf(W), fast_mode=fast, check_undefined_grad=False)


def test_gradient_of_another_dtype() -> None:
    x = leaf(W)
    assert gradcheck(lambda x: x.to(twofold.float32), x, eps=1e-2, atol=1e-2, check_grad_dtypes=True)


# ---- misuse ----------------------------------------------------------------------------------------------------------------------------


def test_float32_inputs_warn() -> None:
    with pytest.warns(UserWarning, match="input 1 requires grad and is float32"):
        gradcheck(lambda x, y: x * y, (leaf(W), leaf(W, np.float32)), eps=1e-2, atol=1e-1, rtol=1e-1)


@pytest.mark.parametrize(
    "call,error,text",
    [
        (lambda: gradcheck(lambda x: x * 2.0, twofold.ones(3)), ValueRangeError, "requires grad"),
        (lambda: gradcheck(lambda x: x * 2.0, ()), ValueRangeError, "requires grad"),
        (lambda: gradcheck(lambda x: x * 2.0, leaf([1.0]).expand(3)), GradcheckError, "share memory"),
        (lambda: gradgradcheck(lambda x: (x * x, x), leaf(W), (leaf(W),)), ArgumentError, "2 outputs require grad, 1"),
    ],
)
def test_misuse(call: Any, error: type, text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, TwofoldError)
    assert text in str(caught.value)


class WrongForMany(twofold.autograd.Function):
    """A backward that is wrong for gradients of more than one dimension."""

    generate_vmap_rule = False

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2.0

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2.0 if "BatchedTensor" not in type(g).__name__ else g * 3.0


def test_batched_gradients() -> None:
    assert gradcheck(lambda x: (x.exp(), x.sum()), leaf(W), check_batched_grad=True)
    assert gradgradcheck(lambda x: x.exp() * x.sum(), leaf(W), check_batched_grad=True)
    assert gradcheck(WrongForMany.apply, leaf(W))
    with pytest.raises(GradcheckError, match="at once"):
        gradcheck(WrongForMany.apply, leaf(W), check_batched_grad=True)


def test_given_grad_outputs() -> None:
    x = leaf(W)
    assert gradgradcheck(lambda x: x * x, x, leaf([1.0, -2.0, 0.5]))
    assert gradgradcheck(lambda x: x * x, x, twofold.ones(3, dtype=twofold.float64))


def test_verdicts_are_torchs() -> None:
    torch = pytest.importorskip("torch")
    a = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    for eps, atol in ((1e-6, 1e-5), (1e-1, 1e-5), (1e-1, 1e-1), (1e-3, 1e-9)):
        ours = gradcheck(lambda x: x.exp() * x, leaf(X), eps=eps, atol=atol, rtol=0.0, raise_exception=False)
        theirs = torch.autograd.gradcheck(lambda x: x.exp() * x, (a,), eps=eps, atol=atol, rtol=0.0, raise_exception=False)
        assert ours == theirs, (eps, atol)
