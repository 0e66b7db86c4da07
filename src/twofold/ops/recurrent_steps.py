"""Recurrent layers as programs over a dozen primitives, and reverse mode over such programs.

A program is written once, against a function `o(name, *operands, **settings)`. With `Plain` it runs the operations themselves (a layer's
decomposition); with `Graph` it also remembers what was done, so that `gradients` can differentiate it. Gradients are made with the same
primitives, so they can be differentiated again: the gradient of a layer's gradient comes from here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Functions = dict[str, Callable[..., Any]]
"""The operations by name, on arrays or on tensors."""


def _place(f: Functions, g: Any, dim: int, start: int, end: int, size: Any) -> Any:
    shape = tuple(size if i == dim else n for i, n in enumerate(g.shape))
    return f["slice_backward"](g, shape, dim, start, end)


FORWARD: dict[str, Callable[..., Any]] = {
    "mm": lambda f, a, b: f["mm"](a, b),
    "t": lambda f, a: f["t"](a),
    "add": lambda f, a, b: a + b,
    "mul": lambda f, a, b: a * b,
    "bias": lambda f, a, b: a + b,
    "total": lambda f, a: f["sum"](a, (0,), False),
    "spread": lambda f, a, rows: f["expand"](a, (rows, a.shape[0])),
    "negative": lambda f, a: -a,
    "one_minus": lambda f, a: 1.0 - a,
    "sigmoid": lambda f, a: f["sigmoid"](a),
    "tanh": lambda f, a: f["tanh"](a),
    "relu": lambda f, a: f["relu"](a),
    "gate": lambda f, g, a: f["threshold_backward"](g, a, 0.0),
    "cut": lambda f, a, dim, start, end: f["slice"](a, dim, start, end),
    "place": _place,
    "join": lambda f, *parts, dim: f["cat"](parts, dim),
}


def _pull_join(o: Any, g: Any, out: Any, *parts: Any, dim: int) -> tuple[Any, ...]:
    found, start = [], 0
    for p in parts:
        end = start + p.shape[dim]
        found.append(o("cut", g, dim=dim, start=start, end=end))
        start = end
    return tuple(found)


PULL: dict[str, Callable[..., tuple[Any, ...]]] = {
    "mm": lambda o, g, out, a, b: (o("mm", g, o("t", b)), o("mm", o("t", a), g)),
    "t": lambda o, g, out, a: (o("t", g),),
    "add": lambda o, g, out, a, b: (g, g),
    "mul": lambda o, g, out, a, b: (o("mul", g, b), o("mul", g, a)),
    "bias": lambda o, g, out, a, b: (g, o("total", g)),
    "total": lambda o, g, out, a: (o("spread", g, rows=a.shape[0]),),
    "spread": lambda o, g, out, a, rows: (o("total", g),),
    "negative": lambda o, g, out, a: (o("negative", g),),
    "one_minus": lambda o, g, out, a: (o("negative", g),),
    "sigmoid": lambda o, g, out, a: (o("mul", g, o("mul", out, o("one_minus", out))),),
    "tanh": lambda o, g, out, a: (o("mul", g, o("one_minus", o("mul", out, out))),),
    "relu": lambda o, g, out, a: (o("gate", g, a),),
    "gate": lambda o, g, out, h, a: (o("gate", g, a), None),
    "cut": lambda o, g, out, a, dim, start, end: (o("place", g, dim=dim, start=start, end=end, size=a.shape[dim]),),
    "place": lambda o, g, out, a, dim, start, end, size: (o("cut", g, dim=dim, start=start, end=end),),
    "join": _pull_join,
}
"""(o, gradient of the result, result, *operands, **settings) -> gradients of the operands."""


class Plain:
    """Runs primitives on values."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions

    def __call__(self, name: str, *operands: Any, **settings: Any) -> Any:
        return FORWARD[name](self.functions, *operands, **settings)


class Var:
    """A value and how it was made."""

    __slots__ = ("index", "name", "operands", "settings", "shape", "value")

    def __init__(self, index: int, value: Any, name: str, operands: tuple[Var, ...], settings: dict[str, Any]) -> None:
        self.index, self.value, self.name, self.operands, self.settings = index, value, name, operands, settings
        self.shape = value.shape


class Graph(Plain):
    """Runs primitives on Vars and numbers them in the order in which they are made."""

    def __init__(self, functions: Functions) -> None:
        super().__init__(functions)
        self.count = 0

    def leaf(self, value: Any) -> Var | None:
        """A Var nobody made; None stays None."""
        return None if value is None else self._new(value, "", (), {})

    def _new(self, value: Any, name: str, operands: tuple[Var, ...], settings: dict[str, Any]) -> Var:
        self.count += 1
        return Var(self.count, value, name, operands, settings)

    def __call__(self, name: str, *operands: Any, **settings: Any) -> Any:
        value = FORWARD[name](self.functions, *[v.value for v in operands], **settings)
        return self._new(value, name, operands, settings)

    def gradients(self, results: Sequence[Var], seeds: Sequence[Var | None], wanted: Sequence[Var | None]) -> list[Var | None]:
        """The gradients of sum(<seed, result>); None for what nothing depends on."""
        found: dict[Var, Var] = {}
        reached: dict[int, Var] = {}
        for v, seed in zip(results, seeds, strict=True):
            if seed is not None:
                found[v] = self("add", found[v], seed) if v in found else seed
                reached[v.index] = v
        todo = list(reached.values())
        while todo:
            for x in todo.pop().operands:
                if x.index not in reached:
                    reached[x.index] = x
                    todo.append(x)
        for index in sorted(reached, reverse=True):
            v = reached[index]
            g = found.get(v)
            if g is None or not v.name:
                continue
            for x, gx in zip(v.operands, PULL[v.name](self, g, v, *v.operands, **v.settings), strict=True):
                if gx is not None:
                    found[x] = self("add", found[x], gx) if x in found else gx
        return [None if v is None else found.get(v) for v in wanted]


# ---- the layers --------------------------------------------------------------------------------------------------------------------------


def steps_of(sizes: Sequence[int], reverse: bool) -> list[tuple[int, int]]:
    """The rows [start, end) of each step in the packed rows, in the order of the recurrence."""
    steps, start = [], 0
    for n in sizes:
        steps.append((start, start + n))
        start += n
    return steps[::-1] if reverse else steps


def _columns(o: Any, a: Any, width: Any, count: int) -> list[Any]:
    return [o("cut", a, dim=1, start=i * width, end=(i + 1) * width) for i in range(count)]


def _affine(o: Any, x: Any, weight_t: Any, bias: Any) -> Any:
    y = o("mm", x, weight_t)
    return y if bias is None else o("bias", y, bias)


def rnn_step(o: Any, gx: Any, state: tuple[Any, ...], weights: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """h' = tanh or relu of (W x + b) + (U h + b)."""
    h = o(weights["nonlinearity"], o("add", gx, _affine(o, state[0], weights["hh"], weights["b_hh"])))
    return (h,), None


def lstm_step(o: Any, gx: Any, state: tuple[Any, ...], weights: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """Input, forget, cell and output gates; h' = o tanh(c'), projected by W_hr where there is one."""
    h, c = state
    a = o("add", gx, _affine(o, h, weights["hh"], weights["b_hh"]))
    i, f, g, out = _columns(o, a, c.shape[1], 4)
    i, f, g, out = o("sigmoid", i), o("sigmoid", f), o("tanh", g), o("sigmoid", out)
    c = o("add", o("mul", f, c), o("mul", i, g))
    h = o("mul", out, o("tanh", c))
    if weights["hr"] is not None:
        h = o("mm", h, weights["hr"])
    return (h, c), (i, f, g, out)


def gru_step(o: Any, gx: Any, state: tuple[Any, ...], weights: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    """Reset and update gates; n = tanh(W x + b + r (U h + b)), h' = n + z (h - n)."""
    (h,) = state
    width = h.shape[1]
    rx, zx, nx = _columns(o, gx, width, 3)
    rh, zh, nh = _columns(o, _affine(o, h, weights["hh"], weights["b_hh"]), width, 3)
    r, z = o("sigmoid", o("add", rx, rh)), o("sigmoid", o("add", zx, zh))
    n = o("tanh", o("add", nx, o("mul", r, nh)))
    h = o("add", n, o("mul", z, o("add", h, o("negative", n))))
    return (h,), (r, z, n, nh)


STEPS = {"rnn": rnn_step, "lstm": lstm_step, "gru": gru_step}


def _replaced(o: Any, whole: Any, part: Any) -> Any:
    """`whole` with its first rows replaced."""
    n, m = part.shape[0], whole.shape[0]
    return part if n == m else o("join", part, o("cut", whole, dim=0, start=n, end=m), dim=0)


def layer(
    o: Any, kind: str, x: Any, state: tuple[Any, ...], parameters: tuple[Any, ...], sizes: Sequence[int], reverse: bool,
    nonlinearity: str, kept: bool = False,
) -> tuple[Any, tuple[Any, ...], list[Any]]:  # fmt: skip
    """A layer on packed rows x (N, I): (output rows, last state, what forward keeps if `kept`).

    parameters: (weight_ih, weight_hh, bias_ih, bias_hh, weight_hr), the last three may be None.
    """
    w_ih, w_hh, b_ih, b_hh, w_hr = parameters
    weights = {"hh": o("t", w_hh), "b_hh": b_hh, "hr": None if w_hr is None else o("t", w_hr), "nonlinearity": nonlinearity}
    gx = _affine(o, x, o("t", w_ih), b_ih)
    outputs: list[Any] = []
    extra: list[list[Any]] = [[], []]
    for start, end in steps_of(sizes, reverse):
        n = end - start
        now = tuple(s if n == s.shape[0] else o("cut", s, dim=0, start=0, end=n) for s in state)
        new, gates = STEPS[kind](o, o("cut", gx, dim=0, start=start, end=end), now, weights)
        outputs.append(new[0])
        if kept and gates is not None:
            extra[0].append(o("join", *gates, dim=1))
            if kind == "lstm":
                extra[1].append(new[1])
        state = tuple(_replaced(o, s, p) for s, p in zip(state, new, strict=True))
    order = slice(None, None, -1) if reverse else slice(None)
    return o("join", *outputs[order], dim=0), state, [o("join", *e[order], dim=0) for e in extra if e]


def layer_double(
    functions: Functions, kind: str, cotangents: tuple[Any, ...], grads: tuple[Any, ...], x: Any, state: tuple[Any, ...],
    parameters: tuple[Any, ...], sizes: Sequence[int], reverse: bool, nonlinearity: str,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradient of a layer's gradient: `cotangents` belong to those of (x, *state, *parameters), `grads` to (output, *last state).

    Returns the gradients of (*grads, x, *state, *parameters), None where there is none.
    """
    o = Graph(functions)
    leaves = [o.leaf(v) for v in (x, *state, *parameters)]
    seeds = [o.leaf(g) for g in grads]
    k = 1 + len(state)
    output, last, _ = layer(o, kind, leaves[0], tuple(leaves[1:k]), tuple(leaves[k:]), sizes, reverse, nonlinearity)
    first = o.gradients((output, *last), seeds, leaves)
    pairs = [(v, o.leaf(h)) for v, h in zip(first, cotangents, strict=True) if v is not None and h is not None]
    second = o.gradients([v for v, _ in pairs], [h for _, h in pairs], [*seeds, *leaves])
    return tuple(None if v is None else v.value for v in second)
