"""Autocast and loss scaling: the dtypes and numbers of torch, gradients in float32, recorded graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
import twofold.nn.functional as F
from twofold import amp, nn
from twofold.amp import GradScaler, autocast
from twofold.amp.autocasting import FULL, LOW, WIDEST
from twofold.ir.op import VOCABULARY
from twofold.support.errors import TwofoldError


def values(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def tensor(*shape: int, dtype: Any = None, seed: int = 0) -> Any:
    t = twofold.tensor(values(*shape, seed=seed))
    return t if dtype is None else t.to(dtype)


def test_the_tables_name_records_and_do_not_overlap() -> None:
    for table in (LOW, FULL, WIDEST):
        assert set(VOCABULARY) >= table, table - set(VOCABULARY)
    assert not LOW & FULL | LOW & WIDEST | FULL & WIDEST


# Every call in a namespace that is ours or torch's (t, F, make(shape) a float32 tensor, low(shape) a bfloat16 one).
CALLS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "matmul": lambda t, F, make, low: make(3, 4) @ make(4, 5),
    "matmul low": lambda t, F, make, low: low(3, 4) @ make(4, 5),
    "mm": lambda t, F, make, low: t.mm(make(3, 4), make(4, 5)),
    "bmm": lambda t, F, make, low: t.bmm(make(2, 3, 4), make(2, 4, 5)),
    "baddbmm": lambda t, F, make, low: t.baddbmm(make(2, 3, 5), make(2, 3, 4), make(2, 4, 5)),
    "addmm": lambda t, F, make, low: t.addmm(make(5), make(3, 4), make(4, 5)),
    "einsum": lambda t, F, make, low: t.einsum("ij,jk->ik", make(3, 4), make(4, 5)),
    "tensordot": lambda t, F, make, low: t.tensordot(make(3, 4), make(4, 5), 1),
    "linear": lambda t, F, make, low: F.linear(make(3, 4), make(5, 4), make(5)),
    "conv1d": lambda t, F, make, low: F.conv1d(make(2, 3, 8), make(4, 3, 3)),
    "conv2d": lambda t, F, make, low: F.conv2d(make(2, 3, 8, 8), make(4, 3, 3, 3), make(4)),
    "conv_transpose2d": lambda t, F, make, low: F.conv_transpose2d(make(2, 3, 8, 8), make(3, 4, 3, 3)),
    "attention": lambda t, F, make, low: F.scaled_dot_product_attention(make(1, 2, 4, 8), make(1, 2, 4, 8), make(1, 2, 4, 8)),
    "prelu": lambda t, F, make, low: F.prelu(make(3, 4), make(1)),
    "add": lambda t, F, make, low: low(3) + low(3),
    "mixed add": lambda t, F, make, low: low(3) + make(3),
    "relu low": lambda t, F, make, low: F.relu(low(3)),
    "softmax low": lambda t, F, make, low: F.softmax(low(3, 4), -1),
    "layer_norm low": lambda t, F, make, low: F.layer_norm(low(3, 4), (4,)),
    "sum low": lambda t, F, make, low: low(3, 4).sum(),
    "prod low": lambda t, F, make, low: low(3, 4).prod(),
    "mse_loss low": lambda t, F, make, low: F.mse_loss(low(3, 4), low(3, 4)),
    "l1_loss low": lambda t, F, make, low: F.l1_loss(low(3, 4), low(3, 4)),
    "smooth_l1_loss low": lambda t, F, make, low: F.smooth_l1_loss(low(3, 4), low(3, 4)),
    "huber_loss low": lambda t, F, make, low: F.huber_loss(low(3, 4), low(3, 4)),
    "cross_entropy low": lambda t, F, make, low: F.cross_entropy(low(2, 4), t.tensor([1, 3])),
    "nll_loss low": lambda t, F, make, low: F.nll_loss(low(2, 4), t.tensor([1, 3])),
    "bce logits low": lambda t, F, make, low: F.binary_cross_entropy_with_logits(low(3, 4), low(3, 4)),
    "avg_pool2d low": lambda t, F, make, low: F.avg_pool2d(low(1, 2, 4, 4), 2),
    "avg_pool3d low": lambda t, F, make, low: F.avg_pool3d(low(1, 2, 4, 4, 4), 2),
    "cat": lambda t, F, make, low: t.cat([low(3), make(3)]),
    "cat low": lambda t, F, make, low: t.cat([low(3), low(3)]),
    "stack": lambda t, F, make, low: t.stack([low(3), make(3)]),
    "float64": lambda t, F, make, low: make(3, 4).double() @ make(4, 5).double(),
    "inv low": lambda t, F, make, low: t.linalg.inv(low(3, 3)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_dtypes_and_numbers_are_torchs(name: str, kind: str) -> None:
    torch = pytest.importorskip("torch")
    call = CALLS[name]
    theirs = lambda *shape: torch.from_numpy(values(*shape))
    dtype = getattr(torch, kind)
    with torch.autocast("cpu", dtype):
        expected = call(torch, torch.nn.functional, theirs, lambda *s: theirs(*s).to(dtype))
    with autocast(dtype=getattr(twofold, kind)):
        mine = call(twofold, F, tensor, lambda *s: tensor(*s, dtype=getattr(twofold, kind)))
    assert mine.dtype.name == str(expected.dtype).removeprefix("torch.")
    tolerance = {"float32": 2e-3, "float64": 1e-12}.get(mine.dtype.name, 0.03 if kind == "bfloat16" else 4e-3)
    np.testing.assert_allclose(mine.double().numpy(), expected.double().numpy(), rtol=tolerance, atol=tolerance)


def test_gradients_reach_float32_weights_in_float32() -> None:
    w, x = tensor(4, 5).requires_grad_(), tensor(3, 4, seed=1)
    with autocast(dtype=twofold.bfloat16):
        y = x @ w
        loss = y.float().pow(2).mean()
    assert y.dtype is twofold.bfloat16
    loss.backward()
    assert w.grad is not None
    assert w.grad.dtype is twofold.float32
    exact = tensor(4, 5).requires_grad_()
    (x @ exact).pow(2).mean().backward()
    np.testing.assert_allclose(w.grad.numpy(), exact.grad.numpy(), rtol=0.05, atol=0.01)


def test_weights_are_cast_once_and_anew_after_a_write() -> None:
    w, x = tensor(4, 4).requires_grad_(), tensor(3, 4)
    with autocast():
        first, second = x @ w, x @ w
        casts = {id(y.grad_fn.next_functions[1][0]) for y in (first, second)}
        assert len(casts) == 1
        with autocast():
            assert id((x @ w).grad_fn.next_functions[1][0]) in casts, "the outermost autocast keeps them"
        with twofold.no_grad():
            w.zero_()
        assert (x @ w).abs().max().item() == 0.0
    with autocast(cache_enabled=False):
        assert len({id((x @ w).grad_fn.next_functions[1][0]) for _ in range(2)}) == 2


def test_nesting_and_queries() -> None:
    x = tensor(3, 3)
    assert not twofold.is_autocast_enabled()
    with autocast(dtype=twofold.float16):
        assert twofold.is_autocast_enabled()
        assert twofold.get_autocast_dtype() is twofold.float16
        with autocast(enabled=False):
            assert not twofold.is_autocast_enabled()
            assert (x @ x).dtype is twofold.float32
        with autocast(dtype=twofold.bfloat16):
            assert (x @ x).dtype is twofold.bfloat16
        assert (x @ x).dtype is twofold.float16
    assert (x @ x).dtype is twofold.float32
    context = autocast()
    with context, context:
        assert (x @ x).dtype is twofold.bfloat16
    assert (x @ x).dtype is twofold.float32

    @autocast(dtype=twofold.float16)
    def product(a: Any) -> Any:
        """Doc."""
        return a @ a

    assert product(x).dtype is twofold.float16
    assert product.__doc__ == "Doc."
    assert amp.is_autocast_available("cpu")


def test_an_error_inside_leaves_autocast() -> None:
    with pytest.raises(KeyError), autocast():
        raise KeyError
    assert not twofold.is_autocast_enabled()


def test_recording_under_autocast() -> None:
    """Casts are nodes; the graph gives the same numbers without autocast around it."""
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    x = tensor(3, 4)

    def f(x: Any) -> Any:
        with autocast():
            return model(x)

    graph_module = twofold.trace(f, (x,))
    assert sum(node.op.name == "to" for node in graph_module.graph.nodes) >= 4
    np.testing.assert_array_equal(graph_module(x).float().detach().numpy(), f(x).float().detach().numpy())


def test_training_in_bfloat16_follows_torch() -> None:
    torch = pytest.importorskip("torch")
    mine = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))
    other = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 3))
    other.load_state_dict({k: torch.from_numpy(v.numpy().copy()) for k, v in mine.state_dict().items()})
    x, y = values(32, 6), np.random.default_rng(0).integers(0, 3, 32)

    def train(model: Any, sgd: Any, context: Any, loss_of: Any, x: Any, y: Any) -> list[float]:
        optimizer, seen = sgd(model.parameters(), lr=0.1), []
        for _ in range(20):
            optimizer.zero_grad()
            with context():
                loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        return seen

    ours = train(mine, twofold.optim.SGD, autocast, F.cross_entropy, twofold.tensor(x), twofold.tensor(y))
    bf16 = lambda: torch.autocast("cpu", torch.bfloat16)
    theirs = train(other, torch.optim.SGD, bf16, torch.nn.functional.cross_entropy, torch.from_numpy(x), torch.from_numpy(y))
    np.testing.assert_allclose(ours, theirs, rtol=0.02)
    assert ours[-1] < ours[0]


def test_custom_functions() -> None:
    seen = []

    class Product(twofold.autograd.Function):
        @staticmethod
        @amp.custom_fwd
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @amp.custom_bwd
        def backward(ctx: Any, g: Any) -> Any:
            a, b = ctx.saved_tensors
            seen.append(twofold.is_autocast_enabled())
            return (g.to(a.dtype) @ b.T).to(a.dtype), (a.T @ g.to(a.dtype)).to(b.dtype)

    class Full(twofold.autograd.Function):
        @staticmethod
        @amp.custom_fwd(cast_inputs=twofold.float32)
        def forward(ctx: Any, a: Any) -> Any:
            seen.append((a.dtype.name, twofold.is_autocast_enabled()))
            return a * 2

        @staticmethod
        @amp.custom_bwd
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(twofold.is_autocast_enabled())
            return g * 2

    a = tensor(3, 3).requires_grad_()
    with autocast():
        y = Product.apply(a, tensor(3, 3))
    y.float().sum().backward()
    assert seen == [True]
    seen.clear()
    b = tensor(3, dtype=twofold.bfloat16).requires_grad_()
    with autocast():
        z = Full.apply(b)
    z.sum().backward()
    assert seen == [("float32", False), False]


# ---- loss scaling ------------------------------------------------------------------------------------------------------------------------


def test_scaler_follows_torch() -> None:
    """Good and bad steps in turn: the same scales, skipped steps, parameters and state dicts."""
    torch = pytest.importorskip("torch")
    settings = {"init_scale": 1000.0, "growth_factor": 3.0, "backoff_factor": 0.3, "growth_interval": 2}
    mine, other = GradScaler(**settings), torch.amp.GradScaler("cpu", **settings)
    p, q = tensor(4).requires_grad_(), torch.from_numpy(values(4)).requires_grad_()
    a, b = twofold.optim.SGD([p], lr=0.1), torch.optim.SGD([q], lr=0.1)
    for k in range(12):
        factor = float("inf") if k in (3, 4, 9) else 1.0 + k
        for scaler, optimizer, x in ((mine, a, p), (other, b, q)):
            optimizer.zero_grad()
            scaler.scale((x * x * factor).sum()).backward()
            if k % 2:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
        assert mine.get_scale() == other.get_scale(), k
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-5)
    assert mine.state_dict() == other.state_dict()
    fresh = GradScaler()
    fresh.load_state_dict(mine.state_dict())
    assert fresh.state_dict() == mine.state_dict()


def test_structures_and_disabled() -> None:
    scaler = GradScaler(init_scale=4.0)
    x = tensor(2)
    scaled = scaler.scale([x, (x, x)])
    assert type(scaled) is list
    assert type(scaled[1]) is tuple
    np.testing.assert_array_equal(scaled[1][0].numpy(), x.numpy() * 4)
    scaler.update(2.5)
    assert scaler.get_scale() == 2.5
    off = GradScaler(enabled=False)
    assert off.scale(x) is x
    assert off.get_scale() == 1.0
    assert off.state_dict() == {}
    p = tensor(2).requires_grad_()
    p.sum().backward()
    before = p.detach().clone()
    off.step(twofold.optim.SGD([p], lr=0.5))
    off.update()
    np.testing.assert_allclose(p.detach().numpy(), before.numpy() - 0.5, rtol=1e-6)


def used(times: str) -> None:
    scaler, p = GradScaler(), tensor(2).requires_grad_()
    optimizer = twofold.optim.SGD([p], lr=0.1)
    scaler.scale(p.sum()).backward()
    for step in times:
        if step == "u":
            scaler.unscale_(optimizer)
        elif step == "s":
            scaler.step(optimizer)
        elif step == "c":
            scaler.step(optimizer, lambda: None)
        else:
            scaler.update()


def halves() -> None:
    scaler, p = GradScaler(), tensor(2, dtype=twofold.float16).requires_grad_()
    p.sum().backward()
    scaler.step(twofold.optim.SGD([p], lr=0.1))


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: autocast("cuda"), ValueError, "no device 'cuda'"),
    (lambda: autocast(twofold.bfloat16), TypeError, "device_type must be a string"),  # type: ignore[arg-type]
    (lambda: autocast(dtype=twofold.float32), ValueError, "bfloat16 or float16"),
    (lambda: autocast()(3), TypeError, "decorates functions"),  # type: ignore[type-var]
    (lambda: GradScaler("cuda"), ValueError, "no device"),
    (lambda: GradScaler(growth_factor=1.0), ValueError, "growth_factor"),
    (lambda: GradScaler(backoff_factor=1.0), ValueError, "backoff_factor"),
    (lambda: used("uu"), RuntimeError, "already been called"),
    (lambda: used("su"), RuntimeError, "after step"),
    (lambda: used("ss"), RuntimeError, "already been called"),
    (lambda: used("p"), RuntimeError, "no gradients were unscaled"),
    (lambda: used("c"), RuntimeError, "closures"),
    (halves, ValueError, "float16 gradients"),
    (lambda: GradScaler().load_state_dict({}), RuntimeError, "disabled"),
    (lambda: GradScaler().scale("loss"), TypeError, "must be tensors"),
]


@pytest.mark.parametrize("call, kind, text", BAD, ids=[f"{i}-{t}" for i, (_, _, t) in enumerate(BAD)])
def test_bad_use(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        call()
    assert isinstance(caught.value, TwofoldError)
