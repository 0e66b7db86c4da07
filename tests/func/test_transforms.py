"""Transforms nested two deep in every order, against `torch.func` and against finite differences; their arguments and errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from twofold import func
from twofold.support.errors import AutogradError, ShapeError, TwofoldError
from twofold.support.pytree import tree_leaves

RNG = np.random.default_rng(1)
X = RNG.standard_normal(3)
BATCH = RNG.standard_normal((4, 3))
A = RNG.standard_normal((3, 3))
Make = Callable[[Any, Any], Any]


def base(lib: Any) -> Any:
    """A smooth function of a vector with a matrix that it closes over."""
    a = lib.tensor(A)
    return lambda x: lib.tanh(a @ x) * x.sum() + lib.sin(x)


def linearized(ns: Any, f: Any, x: Any) -> Any:
    """`linearize`; in torch, whose own warns and does not work inside other transforms, `jvp`."""
    return func.linearize(f, x)[1] if ns is twofold else lambda v: ns.func.jvp(f, (x,), (v,))[1]


TRANSFORMS: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda ns, f: ns.func.grad(lambda x: f(x).sum()),
    "vjp": lambda ns, f: lambda x: ns.func.vjp(f, x)[1](ns.cos(x))[0],
    "jvp": lambda ns, f: lambda x: ns.func.jvp(f, (x,), (2 * x,))[1],
    "linearize": lambda ns, f: lambda x: linearized(ns, f, x)(ns.cos(x)),
    "jacrev": lambda ns, f: ns.func.jacrev(f),
    "jacfwd": lambda ns, f: ns.func.jacfwd(f),
    "hessian": lambda ns, f: ns.func.hessian(lambda x: f(x).sum()),
    "vmap": lambda ns, f: lambda x: ns.func.vmap(f)(ns.stack([x, 2 * x])),
}
PAIRS = list(itertools.product(TRANSFORMS, TRANSFORMS))
DEEP = [
    ("vmap", "grad", "vmap"), ("grad", "vmap", "grad"), ("jacrev", "vmap", "jacfwd"), ("vmap", "vmap", "hessian"),
    ("grad", "grad", "vmap"), ("jvp", "vmap", "vjp"), ("vmap", "jacfwd", "jacrev"), ("jacfwd", "jacrev", "jvp"),
]  # fmt: skip


def folded(ns: Any, f: Any) -> Any:
    """A function whose result has any shape made one from vectors to vectors."""
    return lambda x: ns.tanh(f(x).sum()) * x


def composed(ns: Any, names: tuple[str, ...]) -> Any:
    """The transforms applied to the base function, the last first."""
    f = base(ns)
    for k, name in enumerate(reversed(names)):
        f = TRANSFORMS[name](ns, f if k == 0 else folded(ns, f))
    return f


def value(t: Any) -> np.ndarray:
    return np.asarray(t.detach().numpy())


@pytest.mark.parametrize("names", [*PAIRS, *DEEP], ids="-".join)
def test_against_torch(names: tuple[str, ...]) -> None:
    torch = pytest.importorskip("torch")
    ours = composed(twofold, names)(twofold.tensor(X))
    try:
        theirs = composed(torch, names)(torch.tensor(X))
    except NotImplementedError as e:
        pytest.skip(f"torch cannot: {str(e)[:60]}")
    np.testing.assert_allclose(value(ours), value(theirs), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("outer", ["grad", "vjp", "jvp", "linearize", "jacrev", "jacfwd"])
def test_against_finite_differences(outer: str, inner: str) -> None:
    f = folded(twofold, TRANSFORMS[inner](twofold, base(twofold)))
    step = 1e-5
    columns = []
    for i in range(3):
        e = np.zeros(3)
        e[i] = step
        columns.append((value(f(twofold.tensor(X + e))) - value(f(twofold.tensor(X - e)))) / (2 * step))
    jacobian = np.stack(columns, -1)
    directions = {"jvp": 2 * X, "linearize": np.cos(X)}
    expected = {
        "grad": jacobian.sum(0), "vjp": np.cos(X) @ jacobian, "jacrev": jacobian, "jacfwd": jacobian,
        **{k: jacobian @ v for k, v in directions.items()},
    }[outer]  # fmt: skip
    np.testing.assert_allclose(value(TRANSFORMS[outer](twofold, f)(twofold.tensor(X))), expected, rtol=2e-6, atol=2e-8)


@pytest.mark.parametrize("names", [*PAIRS[::5], *DEEP[:4]], ids="-".join)
def test_recorded(names: tuple[str, ...]) -> None:
    """The same inside `trace`: the derivative becomes part of the graph."""
    f = composed(twofold, names)
    x = twofold.tensor(X)
    module = twofold.trace(f, (x,), check=False)
    np.testing.assert_allclose(value(module(x)), value(f(x)), rtol=1e-10, atol=1e-12)
    other = twofold.tensor(BATCH[0])
    np.testing.assert_allclose(value(module(other)), value(f(other)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["grad", "jacrev", "jacfwd", "hessian", "jvp", "vjp"])
def test_examples_are_not_summed(name: str) -> None:
    """What all examples share is differentiated for each of them."""
    transform = TRANSFORMS[name]
    shared = twofold.tensor(X)

    def one(a: Any) -> Any:
        return transform(twofold, lambda w: twofold.tanh(w * a) * w.sum())(shared)

    found = func.vmap(one)(twofold.tensor(BATCH))
    np.testing.assert_allclose(value(found), np.stack([value(one(twofold.tensor(b))) for b in BATCH]), rtol=1e-12)


def test_second_derivatives_of_what_is_captured() -> None:
    """A leaf of the user's that a transformed function closes over keeps its graph."""
    w = twofold.tensor(A, requires_grad=True)
    g = func.grad(lambda x: twofold.tanh(w @ x).sum())(twofold.tensor(X))
    assert g.requires_grad
    found = twofold.autograd.grad(g.sum(), w)[0]
    x = twofold.tensor(X, requires_grad=True)
    again = twofold.autograd.grad(twofold.tanh(w @ x).sum(), x, create_graph=True)[0]
    np.testing.assert_allclose(value(found), value(twofold.autograd.grad(again.sum(), w)[0]), rtol=1e-12)
    assert not func.grad(lambda x: twofold.tanh(w.detach() @ x).sum())(twofold.tensor(X)).requires_grad


def test_outer_graph_of_the_argument() -> None:
    x = twofold.tensor(X, requires_grad=True)
    g = func.grad(lambda a: (a**3).sum())(x)
    g.sum().backward()
    np.testing.assert_allclose(value(x.grad), 6 * X)
    y, push = func.linearize(lambda a: a**2, x)
    assert y.requires_grad
    assert push(twofold.ones(3, dtype=twofold.float64)).requires_grad


def test_no_grad() -> None:
    """Outside it does not matter, inside it is respected, as in torch.func."""
    x = twofold.tensor(X)

    def f(a: Any) -> Any:
        with twofold.no_grad():
            c = a**2
        return (a**3 - c).sum()

    with twofold.no_grad():
        g = func.grad(f)(x)
    np.testing.assert_allclose(value(g), 3 * X**2)
    assert not g.requires_grad

    def cut(a: Any) -> Any:
        with twofold.no_grad():
            return func.grad(lambda b: (b**3).sum())(a).sum() + 0 * a.sum()

    np.testing.assert_allclose(value(func.grad(lambda a: cut(a) + a.sum())(x)), np.ones(3))


# ---- arguments -----------------------------------------------------------------------------------------------------------------------


def leaves_equal(a: Any, b: Any) -> None:
    for x, y in zip(tree_leaves(a), tree_leaves(b), strict=True):
        np.testing.assert_allclose(value(x), value(y), rtol=1e-10)


def test_structures_of_arguments() -> None:
    params = {"w": twofold.tensor(A), "b": twofold.tensor(X)}

    def loss(p: Any, x: Any, *, scale: float = 1.0) -> Any:
        return ((p["w"] @ x + p["b"]) ** 2).sum() * scale

    g = func.grad(loss)(params, twofold.tensor(X), scale=2.0)
    r = A @ X + X
    assert set(g) == {"w", "b"}
    np.testing.assert_allclose(value(g["w"]), 4 * np.outer(r, X))
    np.testing.assert_allclose(value(g["b"]), 4 * r)
    both = func.grad(loss, argnums=(0, 1))(params, twofold.tensor(X))
    assert type(both) is tuple
    np.testing.assert_allclose(value(both[1]), 2 * A.T @ r)
    last = func.grad(loss, argnums=-1)(params, twofold.tensor(X))
    np.testing.assert_allclose(value(last), 2 * A.T @ r)


def test_values_and_aux() -> None:
    x = twofold.tensor(X)
    f = lambda a: ((a**2).sum(), {"twice": 2 * a, "n": 3})
    g, aux = func.grad(f, has_aux=True)(x)
    assert aux["n"] == 3
    assert not aux["twice"].requires_grad
    np.testing.assert_allclose(value(g), 2 * X)
    g, (v, aux) = func.grad_and_value(f, has_aux=True)(x)
    assert not v.requires_grad
    np.testing.assert_allclose(v.item(), (X**2).sum())
    (v, aux), g = func.value_and_grad(f, has_aux=True)(x)
    v, g = func.value_and_grad(lambda a: (a**2).sum())(x)
    np.testing.assert_allclose(value(g), 2 * X)
    h = lambda a: (a**2, a)
    out, back, aux = func.vjp(h, x, has_aux=True)
    np.testing.assert_allclose(value(back(out)[0]), 2 * X**3)
    out, along, aux = func.jvp(h, (x,), (x,), has_aux=True)
    np.testing.assert_allclose(value(along), 2 * X**2)
    for jac in (func.jacrev, func.jacfwd):
        j, aux = jac(h, has_aux=True)(x)
        np.testing.assert_allclose(value(j), np.diag(2 * X))
        np.testing.assert_allclose(value(aux), X)


def test_jacobians_of_structures() -> None:
    f = lambda a, b: {"s": a.sum() * b["v"], "t": (a * 2,)}
    args = (twofold.tensor(X), {"v": twofold.tensor(A)})
    for jac in (func.jacrev, func.jacfwd, func.jacobian):
        j = jac(f, argnums=(0, 1))(*args)
        assert set(j) == {"s", "t"}
        assert j["s"][0].shape == (3, 3, 3)
        assert j["s"][1]["v"].shape == (3, 3, 3, 3)
        np.testing.assert_allclose(value(j["t"][0][0]), 2 * np.eye(3))
        np.testing.assert_allclose(value(j["t"][0][1]["v"]), 0)
        np.testing.assert_allclose(value(j["s"][0]), np.repeat(A[:, :, None], 3, 2))
    for size in (1, 2, 100):
        leaves_equal(func.jacrev(f, chunk_size=size)(*args), func.jacrev(f)(*args))
    assert func.jacrev(lambda a: a[:0])(args[0]).shape == (0, 3)
    assert func.hessian(lambda a, b: (a * b["v"]).sum(), argnums=0)(*args).shape == (3, 3)


def test_independent_outputs() -> None:
    x = twofold.tensor(X)
    constant = twofold.ones(2, dtype=twofold.float64)
    np.testing.assert_array_equal(value(func.grad(lambda a: constant.sum())(x)), 0)
    np.testing.assert_array_equal(value(func.jvp(lambda a: constant, (x,), (x,))[1]), 0)
    assert func.jacrev(lambda a: constant)(x).shape == (2, 3)
    assert func.jacfwd(lambda a: constant)(x).shape == (2, 3)
    np.testing.assert_array_equal(value(func.hessian(lambda a: a.sum())(x)), 0)
    np.testing.assert_array_equal(value(func.vmap(func.grad(lambda a: constant.sum()))(twofold.tensor(BATCH))), np.zeros((4, 3)))
    with pytest.raises(AutogradError, match="strict"):
        func.jvp(lambda a: constant, (x,), (x,), strict=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: func.grad(lambda a: a)(x),
        lambda x: func.grad(lambda a: 3.0)(x),
        lambda x: func.grad(lambda a: a.sum())(x.long()),
        lambda x: func.grad(lambda a: a.sum(), argnums=2)(x),
        lambda x: func.grad(lambda a, b: a.sum(), argnums=(0, 0))(x, x),
        lambda x: func.grad(lambda a: a.sum(), argnums="a")(x),  # type: ignore[arg-type]
        lambda x: func.grad(lambda a: a.sum(), has_aux=True)(x),
        lambda x: func.grad(lambda a: a)(3.0),
        lambda x: func.jvp(lambda a: a, x, x),
        lambda x: func.jvp(lambda a: a, (x,), (x, x)),
        lambda x: func.jvp(lambda a: a, (x,), (x[:2],)),
        lambda x: func.vjp(lambda a: a, x)[1](x[:2]),
        lambda x: func.vjp(lambda a: a, x)[1]((x, x)),
        lambda x: func.vjp(lambda a: 3, x),
        lambda x: func.jacrev(lambda a: "a")(x),
        lambda x: func.linearize(lambda a: a, x)[1](x[:1]),
    ],
)
def test_wrong_use(call: Any) -> None:
    with pytest.raises((AutogradError, ShapeError)) as e:
        call(twofold.tensor(X))
    assert isinstance(e.value, RuntimeError)
    assert isinstance(e.value, TwofoldError)


# ---- custom functions, checkpoints -------------------------------------------------------------------------------------------------------


class Cube(twofold.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


class Product(twofold.autograd.Function):
    @staticmethod
    def forward(x: Any, y: Any, factor: float) -> Any:
        return x * x * y * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], inputs[1])
        ctx.factor = inputs[2]

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return 2 * x * y * g * ctx.factor, x * x * g * ctx.factor, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, y: Any, factor: float) -> Any:
        assert info.batch_size == 4
        assert in_dims == (0, None, None)
        return Product.apply(x, y, factor), 0


class Generated(Product):
    generate_vmap_rule = True
    vmap = twofold.autograd.Function.vmap  # type: ignore[assignment]


class Neither(Product):
    vmap = twofold.autograd.Function.vmap  # type: ignore[assignment]


def test_custom_functions() -> None:
    x, xs = twofold.tensor(X), twofold.tensor(BATCH)
    np.testing.assert_allclose(value(func.vmap(func.vmap(Cube.apply))(xs)), BATCH**3)
    np.testing.assert_allclose(value(func.vmap(func.grad(lambda a: Cube.apply(a).sum()))(xs)), 3 * BATCH**2)
    np.testing.assert_allclose(value(func.hessian(lambda a: Cube.apply(a).sum())(x)), np.diag(6 * X))
    np.testing.assert_allclose(value(func.jacrev(Cube.apply)(x)), np.diag(3 * X**2))
    for f in (Product, Generated):
        y = twofold.tensor(X, requires_grad=True)
        g = func.vmap(func.grad(lambda a, f=f, y=y: f.apply(a, y, 2.0).sum()))(xs)
        np.testing.assert_allclose(value(g), 4 * BATCH * X)
        y.grad = None
        func.vmap(lambda a, f=f, y=y: f.apply(a, y, 2.0).sum())(xs).sum().backward()
        np.testing.assert_allclose(value(y.grad), 2 * (BATCH**2).sum(0))
    with pytest.raises(AutogradError, match="generate_vmap_rule"):
        func.vmap(lambda a: Neither.apply(a, x, 1.0))(xs)


def test_checkpoint_inside() -> None:
    xs = twofold.tensor(BATCH)
    checkpointed = lambda a: twofold.autograd.checkpoint(lambda b: twofold.tanh(b * b), a).sum()
    plain = lambda a: twofold.tanh(a * a).sum()
    np.testing.assert_allclose(value(func.vmap(func.grad(checkpointed))(xs)), value(func.vmap(func.grad(plain))(xs)))
    x = twofold.tensor(BATCH, requires_grad=True)
    dropped = lambda a: twofold.autograd.checkpoint(lambda b: twofold.nn.functional.dropout(b) * a, a)
    out = func.vmap(dropped, randomness="different")(x)
    out.sum().backward()
    np.testing.assert_allclose(value(x.grad) * BATCH / 2, value(out), rtol=1e-12, atol=1e-12)
