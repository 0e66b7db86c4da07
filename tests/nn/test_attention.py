"""Attention and transformers beside torch's, with the same weights."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import twofold
from tests.nn.pairs import close, copy_state, ours, theirs, to_array
from twofold import nn
from twofold.nn import functional as F
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings(
    "ignore:enable_nested_tensor",
    "ignore:.*nested tensors is in prototype",
    "ignore:Support for mismatched",
    "ignore:.*have different dtypes",
)


def pair(name: str, *args: Any, **settings: Any) -> tuple[Any, Any]:
    """The module of both packages, with torch's weights."""
    other, mine = getattr(torch.nn, name)(*args, **settings), getattr(nn, name)(*args, **settings)
    copy_state(other, mine, lambda a: twofold.from_numpy(np.array(a)))
    assert repr(mine) == repr(other)
    assert list(mine.state_dict()) == list(other.state_dict())
    return mine, other


def compare(a: Any, b: Any, mine: Any, other: Any, inputs: list[tuple[Any, Any]]) -> None:
    """Result, gradients of the parameters and of the inputs."""
    close(a, b, 1e-4, 1e-5)
    weight = np.random.default_rng(5).standard_normal(tuple(b.shape)).astype(np.float32)
    (a * twofold.tensor(weight)).sum().backward()
    (b * torch.tensor(weight)).sum().backward()
    grads = dict(other.named_parameters())
    for k, p in mine.named_parameters():
        if grads[k].grad is None:
            assert p.grad is None or not to_array(p.grad).any(), k
        else:
            close(p.grad, grads[k].grad, 1e-3, 3e-5, k)
    for x, y in inputs:
        if y.requires_grad:
            close(x.grad, y.grad, 1e-3, 3e-5)


def both(rng: Any, *shape: int, grad: bool = True) -> tuple[Any, Any]:
    """The same random tensor in both packages."""
    array = rng.standard_normal(shape).astype(np.float32)
    return ours(array, grad), theirs(torch, array, grad)


def mask_pair(kind: str, rng: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """A mask of both packages that leaves out no whole row."""
    if kind == "float":
        return both(rng, *shape)
    array = rng.random(shape) < 0.4
    array[..., 0] = False
    return ours(array), theirs(torch, array)


L, S, B, E, H = 4, 5, 3, 8, 2
HEADS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    # settings of the module, masks and settings of the call
    ({}, {}),
    ({"bias": False}, {"need_weights": False}),
    ({"batch_first": True}, {"attn_mask": "bool"}),
    ({"batch_first": True}, {"attn_mask": "float", "need_weights": False}),
    ({"kdim": 6, "vdim": 7}, {"key_padding_mask": "bool", "average_attn_weights": False}),
    ({"kdim": 6, "bias": False}, {"key_padding_mask": "bool", "attn_mask": "bool", "need_weights": False}),
    ({"add_bias_kv": True}, {"key_padding_mask": "bool", "attn_mask": "float"}),
    ({"add_zero_attn": True}, {"attn_mask": "bool", "need_weights": False}),
    ({"add_bias_kv": True, "add_zero_attn": True}, {"attn_mask3": "bool", "key_padding_mask": "bool", "need_weights": False}),
    ({}, {"attn_mask3": "float"}),
    ({}, {"key_padding_mask": "float", "need_weights": False}),
]


@pytest.mark.parametrize("settings, call", HEADS)
@pytest.mark.parametrize("batched", [True, False])
def test_multihead_attention(settings: dict[str, Any], call: dict[str, Any], batched: bool) -> None:
    mine, other = pair("MultiheadAttention", E, H, **settings)
    rng = np.random.default_rng(0)
    widths = (E, settings.get("kdim", E), settings.get("vdim", E))
    shapes = [
        (n, w) if not batched else (B, n, w) if settings.get("batch_first") else (n, B, w) for n, w in zip((L, S, S), widths, strict=True)
    ]
    inputs = [both(rng, *s) for s in shapes]
    masks: dict[str, tuple[Any, Any]] = {}
    for name, kind in call.items():
        if name == "key_padding_mask":
            masks[name] = mask_pair(kind, rng, (B, S) if batched else (S,))
        elif name.startswith("attn_mask"):
            masks["attn_mask"] = mask_pair(kind, rng, (L, S) if name == "attn_mask" else (B * H if batched else H, L, S))
    plain = {k: v for k, v in call.items() if k in ("need_weights", "average_attn_weights")}
    a, weights = mine(*(p[0] for p in inputs), **{k: v[0] for k, v in masks.items()}, **plain)
    b, expected = other(*(p[1] for p in inputs), **{k: v[1] for k, v in masks.items()}, **plain)
    if expected is None:
        assert weights is None
    else:
        close(weights, expected, 1e-4, 1e-5)
    compare(a, b, mine, other, [*inputs, *masks.values()])


def test_self_attention_projects_once() -> None:
    mine, other = pair("MultiheadAttention", E, H)
    x = both(np.random.default_rng(0), L, B, E)
    graph = twofold.trace(lambda x: mine(x, x, x, need_weights=False)[0], (x[0],))
    assert str(graph.graph).count("= linear(") == 2
    compare(mine(x[0], x[0], x[0])[0], other(x[1], x[1], x[1])[0], mine, other, [x])


def test_causal_hint() -> None:
    mine, other = pair("MultiheadAttention", E, H)
    x = both(np.random.default_rng(0), L, B, E)
    masks = nn.Transformer.generate_square_subsequent_mask(L), torch.nn.Transformer.generate_square_subsequent_mask(L)
    close(*masks)
    a = mine(x[0], x[0], x[0], attn_mask=masks[0], is_causal=True, need_weights=False)[0]
    b = other(x[1], x[1], x[1], attn_mask=masks[1], is_causal=True, need_weights=False)[0]
    compare(a, b, mine, other, [x])


LAYERS: list[tuple[str, dict[str, Any]]] = [
    ("TransformerEncoderLayer", {}),
    ("TransformerEncoderLayer", {"norm_first": True, "batch_first": True, "activation": "gelu"}),
    ("TransformerEncoderLayer", {"bias": False, "layer_norm_eps": 1e-3, "batch_first": True}),
    ("TransformerDecoderLayer", {}),
    ("TransformerDecoderLayer", {"norm_first": True, "batch_first": True, "activation": "gelu", "bias": False}),
]


@pytest.mark.parametrize("name, settings", LAYERS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("train", [False, True])
def test_layers(name: str, settings: dict[str, Any], masked: bool, train: bool) -> None:
    mine, other = pair(name, E, H, 16, 0.0 if train else 0.3, **settings)
    mine.train(train)
    other.train(train)
    rng = np.random.default_rng(0)
    first = settings.get("batch_first", False)
    x, memory = (both(rng, *((B, n, E) if first else (n, B, E))) for n in (L, S))
    inputs = [x] if name == "TransformerEncoderLayer" else [x, memory]
    masks: dict[str, tuple[Any, Any]] = {}
    if masked:
        own = "src" if len(inputs) == 1 else "tgt"
        masks = {f"{own}_mask": mask_pair("bool", rng, (L, L)), f"{own}_key_padding_mask": mask_pair("bool", rng, (B, L))}
        if len(inputs) == 2:
            masks |= {"memory_mask": mask_pair("float", rng, (L, S))}
    a = mine(*(p[0] for p in inputs), **{k: v[0] for k, v in masks.items()})
    b = other(*(p[1] for p in inputs), **{k: v[1] for k, v in masks.items()})
    compare(a, b, mine, other, [*inputs, *masks.values()])


@pytest.mark.parametrize("batch_first", [False, True])
def test_transformer(batch_first: bool) -> None:
    mine, other = pair("Transformer", E, H, 2, 2, 16, 0.0, batch_first=batch_first, norm_first=batch_first)
    rng = np.random.default_rng(0)
    src, tgt = (both(rng, *((B, n, E) if batch_first else (n, B, E))) for n in (S, L))
    masks = nn.Transformer.generate_square_subsequent_mask(L), torch.nn.Transformer.generate_square_subsequent_mask(L)
    compare(mine(src[0], tgt[0], tgt_mask=masks[0]), other(src[1], tgt[1], tgt_mask=masks[1]), mine, other, [src, tgt])


def test_encoder_finds_causal_mask() -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(E, H, 16, 0.0), 2)
    seen: list[bool] = []
    for layer in encoder.layers:
        layer.register_forward_pre_hook(lambda m, args, kwargs: seen.append(kwargs["is_causal"]), with_kwargs=True)
    x = twofold.randn(L, B, E)
    mask = nn.Transformer.generate_square_subsequent_mask(L)
    known = encoder(x, mask, is_causal=True)
    found = encoder(x, mask)
    plain = encoder(x, mask, is_causal=False)
    encoder(x, twofold.zeros(L, L))
    assert seen == [True, True, True, True, False, False, False, False]
    for y in (found, plain):
        np.testing.assert_allclose(y.detach().numpy(), known.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_dropout_is_drawn_from_the_generator() -> None:
    q = twofold.randn(2, 2, 70, 4) * 0.3
    twofold.manual_seed(0)
    first = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
    second = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
    twofold.manual_seed(0)
    np.testing.assert_array_equal(F.scaled_dot_product_attention(q, q, q, dropout_p=0.5).numpy(), first.numpy())
    assert not np.array_equal(first.numpy(), second.numpy())
    assert not F.scaled_dot_product_attention(q, q, q, dropout_p=1.0).numpy().any()
    many = np.mean([F.scaled_dot_product_attention(q, q, q, dropout_p=0.5).numpy() for _ in range(400)], axis=0)
    np.testing.assert_allclose(many, F.scaled_dot_product_attention(q, q, q).numpy(), atol=0.15)


def test_attention_with_dropout_in_a_graph() -> None:
    q = twofold.randn(2, 3, 4)
    graph = twofold.trace(lambda q: F.scaled_dot_product_attention(q, q, q, dropout_p=0.5), (q,))
    twofold.manual_seed(3)
    eager = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
    twofold.manual_seed(3)
    np.testing.assert_array_equal(graph(q).numpy(), eager.numpy())


@pytest.mark.parametrize("length, keys, causal", [(300, 300, True), (700, 90, True), (90, 700, True), (1100, 257, False)])
def test_attention_in_blocks(length: int, keys: int, causal: bool) -> None:
    rng = np.random.default_rng(0)
    q, k, v = both(rng, 2, 3, length, 8), both(rng, 2, 3, keys, 8), both(rng, 2, 3, keys, 8)
    a, b = (f.scaled_dot_product_attention(*(p[i] for p in (q, k, v)), is_causal=causal) for i, f in enumerate((F, torch.nn.functional)))
    close(a, b, 1e-4, 1e-5)
    g = rng.standard_normal(a.shape).astype(np.float32)
    a.backward(twofold.tensor(g))
    b.backward(torch.tensor(g))
    for x, y in (q, k, v):
        close(x.grad, y.grad, 1e-3, 2e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_low_precision(dtype: str) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((2, 2, 5, 8)).astype(np.float32) for _ in range(3)]
    mine = [twofold.tensor(a).to(getattr(twofold, dtype)).requires_grad_() for a in arrays]
    wide = [twofold.tensor(t.detach().float().numpy(), requires_grad=True) for t in mine]
    a, b = F.scaled_dot_product_attention(*mine), F.scaled_dot_product_attention(*wide)
    assert a.dtype == getattr(twofold, dtype)
    np.testing.assert_array_equal(a.detach().float().numpy(), b.detach().to(a.dtype).float().numpy())
    a.sum().backward()
    b.sum().backward()
    for x, y in zip(mine, wide, strict=True):
        np.testing.assert_allclose(x.grad.float().numpy(), y.grad.numpy(), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("kind", ["indices", "probabilities", "many"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_linear_cross_entropy(kind: str, reduction: str) -> None:
    rng = np.random.default_rng(0)
    lead = (5, 2) if kind == "many" else (5,)
    x, w, b = both(rng, 6, 4), both(rng, *lead, 4), both(rng, *lead)
    if kind == "probabilities":
        target = rng.random((6, 5)).astype(np.float32)
    else:
        target = rng.integers(0, 5, (6, 2) if kind == "many" else (6,))
    settings = {"reduction": reduction, "label_smoothing": 0.1}
    mine = F.linear_cross_entropy(x[0], w[0], twofold.tensor(target), linear_bias=b[0], **settings)
    other = torch.nn.functional.linear_cross_entropy(x[1], w[1], torch.tensor(target), linear_bias=b[1], **settings)
    close(mine, other)
    mine.sum().backward()
    other.sum().backward()
    for p, q in (x, w, b):
        close(p.grad, q.grad, 1e-4, 1e-5)


q4 = twofold.zeros(2, 2, 3, 4)
REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: F.scaled_dot_product_attention(q4, q4, twofold.zeros(2, 2, 5, 4)), ShapeError, "different lengths"),
    (lambda: F.scaled_dot_product_attention(q4, twofold.zeros(2, 2, 3, 5), q4), ShapeError, "last dimensions"),
    (lambda: F.scaled_dot_product_attention(q4, q4, q4, twofold.zeros(3, 4)), ShapeError, "attn_mask"),
    (lambda: F.scaled_dot_product_attention(q4, q4, q4, twofold.zeros(3, 3), is_causal=True), ValueRangeError, "is_causal"),
    (lambda: F.scaled_dot_product_attention(q4, q4.double(), q4), DTypeError, "one dtype"),
    (lambda: F.scaled_dot_product_attention(q4, q4, 3), ArgumentError, "value"),
    (lambda: F.scaled_dot_product_attention(q4, q4, q4, dropout_p=1.5), ValueRangeError, "between 0 and 1"),
    (lambda: F.scaled_dot_product_attention(twofold.zeros(4), q4, q4), ShapeError, "at least 2"),
    (lambda: F.scaled_dot_product_attention(twofold.zeros(1, 3, 3, 4), q4[:1], q4[:1], enable_gqa=True), ShapeError, "heads"),
    (lambda: nn.MultiheadAttention(6, 4), ValueRangeError, "num_heads"),
    (lambda: nn.MultiheadAttention(8, 2)(*(twofold.zeros(3, 4, 6),) * 3), ShapeError, "features"),
    (lambda: nn.MultiheadAttention(8, 2)(*(twofold.zeros(8),) * 3), ShapeError, "3 dimensions"),
    (lambda: nn.MultiheadAttention(8, 2)(*(twofold.zeros(3, 8),) * 3, attn_mask=twofold.zeros(3, 4)), ShapeError, "attn_mask"),
    (lambda: nn.MultiheadAttention(8, 2)(*(twofold.zeros(3, 8),) * 3, is_causal=True), ValueRangeError, "hint"),
    (lambda: nn.MultiheadAttention(8, 2)(*(twofold.zeros(3, 8),) * 3, attn_mask=twofold.zeros(3, 3).long()), DTypeError, "attn_mask"),
    (lambda: nn.TransformerEncoderLayer(8, 2, activation="swish"), ValueRangeError, "activation"),
    (lambda: nn.Transformer(8, 2, 1, 1, 8)(twofold.zeros(3, 2, 8), twofold.zeros(3, 1, 8)), ShapeError, "batch"),
    (lambda: nn.Transformer(8, 2, 1, 1, 8)(twofold.zeros(3, 2, 6), twofold.zeros(3, 2, 8)), ShapeError, "d_model"),
    (lambda: F.linear_cross_entropy(twofold.zeros(2, 3), twofold.zeros(4, 5), twofold.zeros(2).long()), ShapeError, "features"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused(case: int) -> None:
    call, error, text = REFUSED[case]
    with warnings.catch_warnings(), pytest.raises(error, match=text):
        warnings.simplefilter("ignore")
        call()


def test_square_subsequent_mask() -> None:
    mask = nn.Transformer.generate_square_subsequent_mask(3, dtype=twofold.float64)
    assert mask.dtype == twofold.float64
    np.testing.assert_array_equal(mask.numpy(), np.where(np.tri(3) > 0, 0.0, -math.inf))
