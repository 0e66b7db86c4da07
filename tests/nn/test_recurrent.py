"""Recurrent networks, cells and packed sequences beside torch's, with the same weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import twofold
from tests.nn.pairs import close, copy_state, ours, theirs
from twofold import nn
from twofold.nn.utils import rnn as packing
from twofold.support.errors import ArgumentError, ShapeError, ValueRangeError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections")

NETWORKS: list[tuple[str, dict[str, Any]]] = [
    ("RNN", {}),
    ("RNN", {"nonlinearity": "relu", "bias": False, "num_layers": 2}),
    ("RNN", {"bidirectional": True, "batch_first": True}),
    ("LSTM", {}),
    ("LSTM", {"num_layers": 2, "bidirectional": True, "batch_first": True}),
    ("LSTM", {"proj_size": 3, "num_layers": 2, "bidirectional": True}),
    ("LSTM", {"bias": False, "proj_size": 2}),
    ("GRU", {}),
    ("GRU", {"num_layers": 3, "bidirectional": True}),
    ("GRU", {"bias": False, "batch_first": True}),
]


def pair(name: str, settings: dict[str, Any], *sizes: int) -> tuple[Any, Any]:
    """The module of both packages, with torch's weights."""
    theirs_, mine = getattr(torch.nn, name)(*sizes, **settings), getattr(nn, name)(*sizes, **settings)
    copy_state(theirs_, mine, lambda a: twofold.from_numpy(np.array(a)))
    return mine, theirs_


def flat(result: Any) -> list[Any]:
    """The tensors of a result, packed ones as data."""
    if isinstance(result, (packing.PackedSequence, torch.nn.utils.rnn.PackedSequence)):
        return [result.data]
    return [t for r in result for t in flat(r)] if isinstance(result, (tuple, list)) else [result]


def compare(a: Any, b: Any, mine: Any, other: Any, inputs: list[tuple[Any, Any]]) -> None:
    """Results, gradients of the parameters and of the inputs."""
    rng = np.random.default_rng(1)
    for x, y in zip(flat(a), flat(b), strict=True):
        close(x, y)
    weights = [rng.standard_normal(tuple(t.shape)).astype(np.float32) for t in flat(b)]
    sum((t * twofold.tensor(w)).sum() for t, w in zip(flat(a), weights, strict=True)).backward()
    sum((t * torch.tensor(w)).sum() for t, w in zip(flat(b), weights, strict=True)).backward()
    grads = dict(other.named_parameters())
    assert list(grads) == [k for k, _ in mine.named_parameters()]
    for k, p in mine.named_parameters():
        close(p.grad, grads[k].grad, 2e-4, 2e-5, k)
    for x, y in inputs:
        close(x.grad, y.grad, 2e-4, 2e-5)


@pytest.mark.parametrize("name, settings", NETWORKS)
@pytest.mark.parametrize("form", ["batch", "with state", "alone", "packed"])
def test_networks(name: str, settings: dict[str, Any], form: str) -> None:
    mine, other = pair(name, settings, 3, 5)
    assert repr(mine) == repr(other)
    assert list(mine.state_dict()) == list(other.state_dict())
    rng = np.random.default_rng(0)
    batch, steps = 4, 6
    first = settings.get("batch_first", False)
    shape = (steps, 3) if form == "alone" else (batch, steps, 3) if first else (steps, batch, 3)
    x = rng.standard_normal(shape).astype(np.float32)
    inputs = [(ours(x, True), theirs(torch, x, True))]
    state: Any = [None, None]
    if form in ("with state", "packed"):
        count = settings.get("num_layers", 1) * (1 + settings.get("bidirectional", False))
        sizes = [settings.get("proj_size", 0) or 5, 5][: 1 + (name == "LSTM")]
        made = [rng.standard_normal((count, batch, n)).astype(np.float32) for n in sizes]
        inputs += [(ours(h, True), theirs(torch, h, True)) for h in made]
        state = [tuple(p[i] for p in inputs[1:]) for i in range(2)]
        state = state if name == "LSTM" else [s[0] for s in state]
    a, b = inputs[0]
    if form == "packed":
        lengths = [3, 6, 1, 6]
        a = packing.pack_padded_sequence(a, lengths, first, enforce_sorted=False)
        b = torch.nn.utils.rnn.pack_padded_sequence(b, torch.tensor(lengths), first, enforce_sorted=False)
        close(a.batch_sizes, b.batch_sizes)
    compare(mine(a, state[0]), other(b, state[1]), mine, other, inputs)


@pytest.mark.parametrize(
    "name, settings",
    [
        ("RNNCell", {}),
        ("RNNCell", {"nonlinearity": "relu", "bias": False}),
        ("LSTMCell", {}),
        ("LSTMCell", {"bias": False}),
        ("GRUCell", {}),
    ],
)
@pytest.mark.parametrize("form", ["batch", "with state", "alone"])
def test_cells(name: str, settings: dict[str, Any], form: str) -> None:
    mine, other = pair(name, settings, 3, 5)
    assert repr(mine) == repr(other)
    assert list(mine.state_dict()) == list(other.state_dict())
    rng = np.random.default_rng(0)
    lead = () if form == "alone" else (4,)
    arrays = [rng.standard_normal((*lead, n)).astype(np.float32) for n in (3, 5, 5)[: 3 if name == "LSTMCell" else 2]]
    inputs = [(ours(v, True), theirs(torch, v, True)) for v in (arrays if form == "with state" else arrays[:1])]
    state: Any = [None, None]
    if form == "with state":
        state = [tuple(p[i] for p in inputs[1:]) for i in range(2)]
        state = state if name == "LSTMCell" else [s[0] for s in state]
    compare(mine(inputs[0][0], state[0]), other(inputs[0][1], state[1]), mine, other, inputs)


@pytest.mark.parametrize("name, settings", [("RNN", {}), ("LSTM", {"proj_size": 2}), ("GRU", {"bidirectional": True})])
def test_second_derivatives(name: str, settings: dict[str, Any]) -> None:
    mine, other = pair(name, settings, 2, 3)
    x = np.random.default_rng(0).standard_normal((4, 2, 2)).astype(np.float32)
    a, b = ours(x, True), theirs(torch, x, True)
    for t, module, library in ((a, mine, twofold), (b, other, torch)):
        (g,) = library.autograd.grad((module(t)[0] ** 2).sum(), t, create_graph=True)
        (g * g).sum().backward()
    close(a.grad, b.grad, 1e-3, 1e-5)
    for p, q in zip(mine.parameters(), other.parameters(), strict=True):
        close(p.grad, q.grad, 1e-3, 1e-5)


def test_dropout_between_layers() -> None:
    net = nn.LSTM(3, 4, num_layers=2, dropout=0.5)
    x = twofold.ones(5, 2, 3)
    twofold.manual_seed(0)
    first, _ = net(x)
    second, _ = net(x)
    twofold.manual_seed(0)
    again, _ = net(x)
    assert not np.array_equal(first.detach().numpy(), second.detach().numpy())
    np.testing.assert_array_equal(first.detach().numpy(), again.detach().numpy())
    net.eval()
    np.testing.assert_array_equal(net(x)[0].detach().numpy(), net(x)[0].detach().numpy())
    with pytest.warns(UserWarning, match="no effect"):
        nn.GRU(3, 4, dropout=0.1)


def test_traced_layer_is_one_operation() -> None:
    net = nn.GRU(3, 4)
    x = twofold.randn(5, 2, 3)
    graph = twofold.trace(lambda x: net(x)[0], (x,))
    assert "gru_layer" in str(graph.graph)
    np.testing.assert_array_equal(graph(x).detach().numpy(), net(x)[0].detach().numpy())


SEQUENCES = [np.arange(6.0).reshape(3, 2), np.arange(2.0).reshape(1, 2) + 10, np.arange(8.0).reshape(4, 2) + 20]


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("side", ["right", "left"])
def test_padding(batch_first: bool, side: str) -> None:
    a, b = [twofold.tensor(s) for s in SEQUENCES], [torch.tensor(s) for s in SEQUENCES]
    mine, other = packing.pad_sequence(a, batch_first, -1.0, side), torch.nn.utils.rnn.pad_sequence(b, batch_first, -1.0, side)
    close(mine, other)
    lengths = [len(s) for s in SEQUENCES]
    for x, y in zip(
        packing.unpad_sequence(mine, twofold.tensor(lengths), batch_first),
        torch.nn.utils.rnn.unpad_sequence(other, torch.tensor(lengths), batch_first),
        strict=True,
    ):
        close(x, y)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("total", [None, 7])
def test_packing(batch_first: bool, total: int | None) -> None:
    a, b = [twofold.tensor(s) for s in SEQUENCES], [torch.tensor(s) for s in SEQUENCES]
    mine, other = packing.pack_sequence(a, False), torch.nn.utils.rnn.pack_sequence(b, False)
    for x, y in zip(mine, other, strict=True):
        close(x, y)
    back, lengths = packing.pad_packed_sequence(mine, batch_first, 5.0, total)
    expected, their_lengths = torch.nn.utils.rnn.pad_packed_sequence(other, batch_first, 5.0, total)
    close(back, expected)
    close(lengths, their_lengths)
    for x, s in zip(packing.unpack_sequence(mine), SEQUENCES, strict=True):
        np.testing.assert_array_equal(x.numpy(), s)
    assert mine.float().data.dtype == twofold.float32
    assert mine.to(twofold.float64) is mine


def test_padding_carries_gradients() -> None:
    a = twofold.tensor(SEQUENCES[0], requires_grad=True)
    packed = packing.pack_sequence([twofold.tensor(SEQUENCES[2]), a])
    padded, _ = packing.pad_packed_sequence(packed)
    (padded * padded).sum().backward()
    np.testing.assert_array_equal(a.grad.numpy(), 2 * SEQUENCES[0])


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: nn.RNN(3, 4, nonlinearity="gelu"), ValueRangeError, "nonlinearity"),
    (lambda: nn.LSTM(3, 4, proj_size=4), ValueRangeError, "proj_size"),
    (lambda: nn.GRU(3, 4, proj_size=2), ValueRangeError, "LSTM only"),
    (lambda: nn.GRU(0, 4), ValueRangeError, "input_size"),
    (lambda: nn.GRU(3, 4, dropout=2.0), ValueRangeError, "dropout"),
    (lambda: nn.GRU(3, 4, bias=1), ArgumentError, "bias"),
    (lambda: nn.GRU(3, 4)(twofold.zeros(2, 2, 5)), ShapeError, "input_size"),
    (lambda: nn.GRU(3, 4)(twofold.zeros(2, 2, 2, 3)), ShapeError, "2 or 3 dimensions"),
    (lambda: nn.GRU(3, 4)(twofold.zeros(2, 2, 3), twofold.zeros(1, 3, 4)), ShapeError, "hx must have the shape"),
    (lambda: nn.GRU(3, 4)(twofold.zeros(0, 2, 3)), ShapeError, "at least one"),
    (lambda: nn.GRU(3, 4)(twofold.zeros(2, 2, 3, dtype=twofold.float64)), ValueRangeError, "weights are float32"),
    (lambda: nn.LSTM(3, 4)(twofold.zeros(2, 2, 3), twofold.zeros(1, 2, 4)), ArgumentError, "pair"),
    (lambda: nn.LSTMCell(3, 4)(twofold.zeros(2, 5)), ShapeError, "weight_ih"),
    (lambda: packing.pack_padded_sequence(twofold.zeros(3, 2), [1, 2]), ValueRangeError, "must fall"),
    (lambda: packing.pack_padded_sequence(twofold.zeros(3, 2), [4, 2]), ShapeError, "longest"),
    (lambda: packing.pack_padded_sequence(twofold.zeros(3, 2), [2, 0]), ValueRangeError, "at least one element"),
    (lambda: packing.pad_sequence([]), ArgumentError, "at least one"),
    (lambda: twofold.gru(twofold.zeros(2, 2, 3), twofold.zeros(1, 2, 4), []), ArgumentError, "missing"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused(case: int) -> None:
    call, error, text = REFUSED[case]
    with warnings.catch_warnings(), pytest.raises(error, match=text):
        warnings.simplefilter("ignore")
        call()
