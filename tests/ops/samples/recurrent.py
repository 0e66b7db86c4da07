"""Samples of recurrent layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops.row import E, Gen, Row, S
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError
from twofold.tensors.functions import FUNCTIONS


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def rnn_step(x: Any, h: Any, w: Any, u: Any, b: Any, c: Any, nonlinearity: str) -> Any:
    a = w @ x + b + u @ h + c
    return np.tanh(a) if nonlinearity == "tanh" else np.maximum(a, 0)


def gru_step(x: Any, h: Any, w: Any, u: Any, b: Any, c: Any) -> Any:
    (rx, zx, nx), (rh, zh, nh) = np.split(w @ x + b, 3), np.split(u @ h + c, 3)
    r, z = sigmoid(rx + rh), sigmoid(zx + zh)
    return (1 - z) * np.tanh(nx + r * nh) + z * h


def each_sequence(x: Any, width: int, reverse: bool, batch_sizes: Any, run: Callable[[int, list[Any]], list[Any]]) -> Any:
    """The output of every sequence run by itself, in the layout of x."""
    sizes = (x.shape[1],) * x.shape[0] if batch_sizes is None else batch_sizes
    starts = np.cumsum((0, *sizes))
    rows = x.reshape(-1, x.shape[-1])
    out: dict[int, Any] = {}
    for b in range(sizes[0]):
        places = [starts[t] + b for t, n in enumerate(sizes) if b < n]
        places = places[::-1] if reverse else places
        out.update(zip(places, run(b, [rows[i] for i in places]), strict=True))
    return np.array([out[i] for i in range(sum(sizes))]).reshape(*x.shape[:-1], width)


def simple(step: Callable[..., Any]) -> Any:
    """The oracle of a layer whose only state is h."""

    def oracle(
        x: Any, h: Any, w: Any, u: Any, b: Any = None, c: Any = None, *rest: Any, reverse: bool = False, batch_sizes: Any = None, **s: Any
    ):
        last, zeros = h.copy(), np.zeros(len(w))

        def run(i: int, xs: list[Any]) -> list[Any]:
            found = []
            for v in xs:
                last[i] = step(v, last[i].copy(), w, u, zeros if b is None else b, zeros if c is None else c, *rest, **s)
                found.append(last[i].copy())
            return found

        return each_sequence(x, h.shape[1], reverse, batch_sizes, run), last

    return oracle


def rnn(*args: Any, nonlinearity: str = "tanh", **kwargs: Any) -> Any:
    return simple(rnn_step)(*args, nonlinearity=nonlinearity, **kwargs)


def lstm(
    x: Any, h: Any, cx: Any, w: Any, u: Any, b: Any = None, c: Any = None, p: Any = None, *, reverse: Any = False, batch_sizes: Any = None
):
    last, cell, zeros = h.copy(), cx.copy(), np.zeros(len(w))

    def run(n: int, xs: list[Any]) -> list[Any]:
        found = []
        for v in xs:
            i, f, g, o = np.split(w @ v + (zeros if b is None else b) + u @ last[n] + (zeros if c is None else c), 4)
            cell[n] = sigmoid(f) * cell[n] + sigmoid(i) * np.tanh(g)
            y = sigmoid(o) * np.tanh(cell[n])
            last[n] = y if p is None else p @ y
            found.append(last[n].copy())
        return found

    return each_sequence(x, h.shape[1], reverse, batch_sizes, run), last, cell


def torch_layer(name: str) -> Any:
    """torch's function of one layer in one direction (not packed)."""

    def function(torch: Any, x: Any, *rest: Any, reverse: bool = False, batch_sizes: Any = None, nonlinearity: str = "tanh"):
        states = rest[:2] if name == "lstm" else rest[:1]
        w, u, *more = rest[len(states) :]
        biases, projection = [b for b in more[:2] if b is not None], more[2:]
        hx = [s[None] for s in states]
        run = getattr(torch, name if name != "rnn" else f"rnn_{nonlinearity}")
        turned = x.flip(0) if reverse else x
        weights = [w, u, *biases, *(q for q in projection if q is not None)]
        out, *last = run(turned, tuple(hx) if name == "lstm" else hx[0], weights, bool(biases), 1, 0.0, False, False, False)
        return (out.flip(0) if reverse else out, *(s[0] for s in last))

    return function


def first(name: str, count: int) -> Any:
    """The results of a layer without what it keeps for backward."""
    return lambda *args, **kwargs: FUNCTIONS[name](*args, **kwargs)[:count]


def samples(gates: int, **more: Any) -> Callable[[Gen], list[S]]:
    def made(g: Gen) -> list[S]:
        def one(x: tuple[int, ...], batch: int, width: int, bias: bool = True, projected: int = 0, **settings: Any) -> S:
            rows, out = gates * width, projected or width
            state = [g.real(batch, out)] + ([g.real(batch, width)] if gates == 4 else [])
            biases = [g.real(rows), g.real(rows)] if bias else []
            extra = [g.real(projected, width)] if projected else []
            if extra and not biases:
                biases = [None, None]
            return S(g.real(*x), *state, g.real(rows, x[-1]), g.real(rows, out), *biases, *extra, **settings)

        found = [
            one((3, 2, 2), 2, 3),
            one((2, 2, 3), 2, 2, False, reverse=True),
            one((1, 1, 1), 1, 1),
            one((2, 0, 2), 0, 2),
            one((6, 2), 3, 2, batch_sizes=(3, 2, 1)).but(torch=False),
            one((5, 2), 3, 2, False, reverse=True, batch_sizes=(3, 1, 1)).but(torch=False),
        ]
        if gates == 4:
            # torch warns of projections; tests/nn/test_recurrent.py compares with it
            found += [one((3, 2, 2), 2, 3, True, 2).but(torch=False), one((4, 2), 3, 3, False, 1, batch_sizes=(3, 1)).but(torch=False)]
        if gates == 1:
            found += [
                one((3, 2, 2), 2, 3, nonlinearity="relu"),
                one((4, 2), 3, 2, nonlinearity="relu", batch_sizes=(3, 1)).but(torch=False),
            ]
        return found

    return made


def wrong(states: int, gates: int) -> Callable[[Gen], list[E]]:
    def made(g: Gen) -> list[E]:
        def one(error: type[Exception], text: str, x: Any = None, h: Any = None, w: Any = None, **kwargs: Any) -> E:
            state = [g.real(2, 2) if h is None else h] + [g.real(2, 2)] * (states - 1)
            weights = [g.real(2 * gates, 3) if w is None else w, g.real(2 * gates, 2)]
            return E((g.real(4, 2, 3) if x is None else x, *state, *weights), kwargs, error, text)

        return [
            one(ShapeError, "3 dimensions", g.real(4, 3)),
            one(ShapeError, "no steps", g.real(0, 2, 3)),
            one(ShapeError, "hx", h=g.real(3, 2)),
            one(ShapeError, "weight_ih", w=g.real(2 * gates, 4)),
            one(ShapeError, "add up", g.real(4, 3), batch_sizes=(2, 1)),
            one(ShapeError, "2 dimensions", batch_sizes=(2, 2, 2, 2)),
            one(ValueRangeError, "must not grow", g.real(4, 3), batch_sizes=(1, 3)),
            one(DTypeError, "one dtype", h=g.real(2, 2).astype(np.float32)),
            one(DTypeError, "floating", g.index((4, 2, 3), 2)),
        ]

    return made


ROWS = [
    # Products of products round once more at each step.
    Row("rnn_layer", samples(1), rnn, torch_layer("rnn"), covers=("rnn_layer_backward",), errors=wrong(1, 1), tolerance=4.0),
    Row(
        "lstm_layer", samples(4), lstm, torch_layer("lstm"), call=first("lstm_layer", 3), covers=("lstm_layer_backward",),
        errors=wrong(2, 4), tolerance=4.0,
    ),
    Row(
        "gru_layer", samples(3), simple(gru_step), torch_layer("gru"), call=first("gru_layer", 2), covers=("gru_layer_backward",),
        errors=wrong(1, 3), tolerance=4.0,
    ),
]  # fmt: skip
