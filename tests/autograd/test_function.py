"""Custom Functions against PyTorch, class by class; refusals; what is kept alive."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from tests.autograd.libs import Ours, both
from twofold.autograd.function import once_differentiable
from twofold.support.errors import ArgumentError, AutogradError, InplaceError, ShapeError, TwofoldError, UnsupportedError

lib = Ours()
PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Enter a program into the table of those that are run under both libraries."""
    PROGRAMS[function.__name__] = function
    return function


def scaled(lib: Any) -> Any:
    class Scaled(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any, factor: float, power: int = 2) -> Any:
            ctx.save_for_backward(x, w)
            ctx.factor = factor
            ctx.power = power
            return x**power * w * factor

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, w = ctx.saved_tensors
            return g * ctx.power * x ** (ctx.power - 1) * w * ctx.factor, g * x**ctx.power * ctx.factor, None, None

    return Scaled


@program
def first_and_second_derivatives(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    y = scaled(lib).apply(x, w, 0.5, 3)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (g * g).sum().backward()
    return y, g, x.grad, w.grad, y.grad_fn.name(), type(y.grad_fn).__name__, len(y.grad_fn.next_functions), y.grad_fn.factor


@program
def the_context(lib: Any) -> Any:
    seen: list[Any] = []

    class Look(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
            seen.append((ctx.needs_input_grad, a.requires_grad, lib.is_grad_enabled()))
            return a * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append((ctx.needs_input_grad, g.requires_grad, lib.is_grad_enabled(), len(ctx.saved_tensors)))
            return g * 2, None, None, None

    x, c = lib.make([1.0]), lib.make([1.0], False)
    Look.apply(x, 3, c, None).backward()
    lib.autograd.grad(Look.apply(x, [x], c, None), x, create_graph=True)
    Look.apply(c, 1, c, None)
    with lib.no_grad():
        y = Look.apply(x, 1, c, None)
    return seen, x.grad, y.requires_grad, y.grad_fn is None


@program
def setup_context(lib: Any) -> Any:
    class Two(lib.autograd.Function):
        @staticmethod
        def forward(x: Any, power: int = 2) -> Any:
            return x**power, x * 0 + power

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, power = inputs
            ctx.save_for_backward(x, output[0])
            ctx.mark_non_differentiable(output[1])
            ctx.power = power

        @staticmethod
        def backward(ctx: Any, g: Any, unused: Any) -> Any:
            x, y = ctx.saved_tensors
            return g * ctx.power * y / x + unused, None

    x = lib.make([1.0, 2.0])
    a, b = Two.apply(x, 3)
    (a * b).sum().backward()
    first = x.grad.clone()
    a, b = Two.apply(x)
    (g,) = lib.autograd.grad(a.sum(), x, create_graph=True)
    return first, b.requires_grad, g, lib.autograd.grad(g.sum(), x)


def two_outputs(lib: Any, fill: bool) -> Any:
    class Pair(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(fill)
            ctx.zero = x * 0
            return x * 2, x.sum(), (x * 0).long(), "text", x * 5

        @staticmethod
        def backward(ctx: Any, *gs: Any) -> Any:
            ctx.seen.append([g is None for g in gs] + [g for g in gs[:2] if g is not None])
            return sum((g * k for g, k in zip(gs[:2], (2, 1), strict=True) if g is not None), ctx.zero)

    return Pair


@program
def several_outputs(lib: Any) -> Any:
    seen: list[Any] = []
    x = lib.make([1.0, 2.0])
    for fill in (True, False):
        for pick in ((0,), (1,), (0, 1)):
            outs = two_outputs(lib, fill).apply(x)
            outs[0].grad_fn.seen = seen
            sum((outs[k] * (k + 1)).sum() for k in pick).backward()
    return seen, x.grad, outs[2].requires_grad, outs[3], outs[0].grad_fn is outs[4].grad_fn, outs[4].output_nr


@program
def returning_an_input(lib: Any) -> Any:
    class Same(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x, y * 2

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g * 10, h * 100

    x, y = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    a, b = Same.apply(x, y)
    (a * b).sum().backward()
    return x.grad, y.grad, a is x, x.is_leaf, a.data_ptr() == x.data_ptr()


@program
def in_place(lib: Any) -> Any:
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(w)
            ctx.mark_dirty(x)
            x.mul_(w)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (w,) = ctx.saved_tensors
            return g * w, g * 7

    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    y = x * 1
    view = y[:1]
    z = Double.apply(y, w)
    (z.sin().sum() + view.sum()).backward()
    return z is y, z, view, y.grad_fn.name(), x.grad, w.grad


@program
def in_place_on_a_view(lib: Any) -> Any:
    class Triple(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.mark_dirty(x)
            x.mul_(3)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3, g * 100

    x, w = lib.make([1.0, 2.0, 3.0]), lib.make([3.0, 4.0])
    y = x * 1
    Triple.apply(y[1:], w)
    (y * y).sum().backward()
    return y, x.grad, w.grad


@program
def an_overwritten_saved_tensor_raises(lib: Any) -> Any:
    x, w = lib.make([1.0, 2.0]), lib.make([3.0, 4.0], False)
    y = scaled(lib).apply(x, w, 1.0)
    w.add_(1)
    y.sum().backward()


@program
def an_overwritten_output_raises(lib: Any) -> Any:
    class Exp(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    x = lib.make([1.0, 2.0])
    y = Exp.apply(x)
    y.add_(1)
    y.sum().backward()


@program
def a_second_pass_raises(lib: Any) -> Any:
    y = scaled(lib).apply(lib.make([1.0]), lib.make([2.0]), 1.0)
    y.backward()
    y.backward()


@program
def a_second_pass_with_the_graph_retained(lib: Any) -> Any:
    x = lib.make([1.0])
    y = scaled(lib).apply(x, lib.make([2.0]), 1.0)
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@program
def once(lib: Any) -> Any:
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @lib.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2 * ctx.saved_tensors[0]

    x = lib.make([1.0, 2.0])
    (g,) = lib.autograd.grad((Square.apply(x) * x).sum(), x, create_graph=True)
    first = g.detach()
    try:
        g.sum().backward()
    except RuntimeError:
        return first, "raised"
    return first, "went through"


@program
def saved_tensors_are_the_leaves(lib: Any) -> Any:
    seen = []

    class Keep(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            z = x * y
            ctx.save_for_backward(x, None, y, z)
            return z

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            a, none, b, z = ctx.saved_tensors
            seen.append((a is x, none is None, b.grad_fn is not None, z.grad_fn is not None, z.requires_grad))
            return g * b, g * a

    x = lib.make([1.0, 2.0])
    Keep.apply(x, x * 2).sum().backward()
    return seen, x.grad


@program
def broadcast_gradients_are_summed(lib: Any) -> Any:
    class Wide(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2, (g * 3).float()

    x, y = lib.make([[1.0], [2.0]]), lib.make([1.0, 2.0, 3.0])
    Wide.apply(x, y).sum().backward()
    return x.grad, y.grad, str(y.grad.dtype).endswith("64")


def returning(make: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """A program whose backward returns `make(g, ctx)`."""

    def run(lib: Any) -> Any:
        class Bad(lib.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, k: int) -> Any:
                return x * k

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return make(g, ctx)

        x = lib.make([1.0, 2.0])
        Bad.apply(x, 3).sum().backward()
        return x.grad

    return run


PROGRAMS["too_few_gradients_raises"] = returning(lambda g, ctx: g)
PROGRAMS["too_many_gradients_raises"] = returning(lambda g, ctx: (g, None, g))
PROGRAMS["a_gradient_for_a_number_raises"] = returning(lambda g, ctx: (g, g))
PROGRAMS["a_number_as_gradient_raises"] = returning(lambda g, ctx: (3.0, None))
PROGRAMS["a_gradient_of_wrong_shape_raises"] = returning(lambda g, ctx: (g.reshape(2, 1, 1)[:1], None))
PROGRAMS["additional_nones"] = returning(lambda g, ctx: (g, None, None, None))


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_torch(name: str) -> None:
    result = both(PROGRAMS[name])
    assert isinstance(result, str) == name.endswith("raises")


class Exp(twofold.autograd.Function):
    """The usual example."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """exp"""
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """g exp(x)"""
        (y,) = ctx.saved_tensors
        return g * y


def test_names_and_messages() -> None:
    x = lib.make([1.0, 2.0])
    y = Exp.apply(x)
    assert repr(y.grad_fn).startswith("<ExpBackward object at 0x")
    assert repr(y).endswith("grad_fn=<ExpBackward>)")
    assert isinstance(y.grad_fn, twofold.autograd.graph.Node)
    assert y.grad_fn.is_custom
    z = y.sum()
    y.detach().mul_(2)
    with pytest.raises(InplaceError) as caught:
        z.backward()
    for part in ("ExpBackward", "y = Exp.apply(x)", "y.detach().mul_(2)"):
        assert part in str(caught.value)
    with pytest.raises(ShapeError, match=r"BadBackward returned .* \(3,\) for argument 0, which has shape \(2,\)"):

        class Bad(Exp):
            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return lib.make([1.0, 2.0, 3.0], False)

        Bad.apply(x).sum().backward()


def test_what_is_refused() -> None:
    x = lib.make([1.0, 2.0])

    class Nothing(twofold.autograd.Function):
        pass

    class NoBackward(twofold.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    class Leaf(twofold.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.add_(1)

    class Unreturned(twofold.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.add_(1) * 2

    class Text(twofold.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward("text")
            return x

    for call, error in (
        (lambda: Nothing.apply(x), UnsupportedError),
        (lambda: NoBackward.apply(x).sum().backward(), UnsupportedError),
        (lambda: Leaf.apply(x), InplaceError),
        (lambda: Unreturned.apply(x * 1), AutogradError),
        (lambda: Text.apply(x), ArgumentError),
        (lambda: Exp()(x), ArgumentError),
        (lambda: Exp.apply(x=x), ArgumentError),
    ):
        with pytest.raises(error):
            call()


def test_gradients_a_function_returns_are_not_written() -> None:
    """The same tensor returned twice, and kept by the user, stays what it is while the leaves accumulate."""
    kept = []

    class Keep(twofold.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            r = g * 2
            kept.append(r)
            return r, r

    x, y = lib.make([1.0, 2.0]), lib.make([3.0, 4.0])
    Keep.apply(x, y).sum().backward()
    assert not np.shares_memory(x.grad.numpy(), y.grad.numpy())
    (x * 5).sum().backward()
    assert kept[0].tolist() == [2.0, 2.0] == y.grad.tolist()


def test_hooks_and_saved_tensors_hooks() -> None:
    seen: list[str] = []
    x = lib.make([1.0, 2.0])
    with twofold.autograd.graph.saved_tensors_hooks(
        lambda t: seen.append("pack") or t.numpy(), lambda a: seen.append("unpack") or twofold.from_numpy(a)
    ):
        y = Exp.apply(x)
    y.grad_fn.register_hook(lambda inn, out: (inn[0] * 2,))
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([1.0, 2.0]))
    assert seen == ["pack", "unpack"]


def test_once_differentiable_without_create_graph_is_silent() -> None:
    class Square(twofold.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            assert not twofold.is_grad_enabled()
            return g * 2 * ctx.saved_tensors[0]

    x = lib.make([1.0, 2.0])
    Square.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_dirty_view_that_is_no_first_argument() -> None:
    """PyTorch takes the first gradient for the view's here."""

    class Triple(twofold.autograd.Function):
        @staticmethod
        def forward(ctx: Any, w: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 100, g * 3

    x, w = lib.make([1.0, 2.0, 3.0]), lib.make([3.0, 4.0])
    y = x * 1
    Triple.apply(w, y[1:])
    y.sum().backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([1.0, 3.0, 3.0], [100.0, 100.0])


def test_nothing_is_kept_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        x = lib.make([1.0, 2.0])
        y = Exp.apply(x)
        watched = [weakref.ref(o) for o in (x, y, y.grad_fn)]
        y.sum().backward(retain_graph=True)
        del x, y
        assert [w() for w in watched] == [None] * 3
    finally:
        gc.enable()


def test_gradcheck() -> None:
    x, w = lib.make([[0.3, 1.2], [0.7, -0.4]]), lib.make([1.5, 0.2])
    function = scaled(lib)
    assert twofold.autograd.gradcheck(lambda a, b: function.apply(a, b, 0.5, 3), (x, w))
    assert twofold.autograd.gradgradcheck(lambda a, b: function.apply(a, b, 0.5, 3), (x, w))


def test_while_a_graph_is_recorded() -> None:
    """Forward is recorded as the operations it is made of; where the graph would need its backward, that is refused."""
    x = lib.make([1.0, 2.0], False)
    module = twofold.trace(lambda t: Exp.apply(t) * 2, (x,))
    np.testing.assert_allclose(module(x).numpy(), np.exp([1.0, 2.0]) * 2)
    with pytest.raises(UnsupportedError, match=r"Exp\.apply"):
        twofold.trace(lambda t: Exp.apply(t) * 2, (lib.make([1.0, 2.0]),))
    assert issubclass(UnsupportedError, TwofoldError)
