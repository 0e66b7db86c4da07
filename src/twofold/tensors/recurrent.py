"""Recurrent networks as functions, with the signatures of `torch.lstm`, `torch.gru`, `torch.rnn_tanh`, …: layers, directions, dropout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from twofold.support.errors import ArgumentError, ShapeError
from twofold.tensors.contraction import call
from twofold.tensors.core import Tensor, memory
from twofold.tensors.random import dropout as drop

States = tuple[Any, ...]


def _sizes(name: str, batch_sizes: Tensor) -> tuple[int, ...]:
    if not isinstance(batch_sizes, Tensor) or batch_sizes._type.ndim != 1 or batch_sizes._type.dtype.name != "int64":
        raise ArgumentError(f"{name}(): batch_sizes must be a 1-d int64 tensor")
    return tuple(memory(batch_sizes).tolist())


def _layer(kind: str, x: Tensor, state: States, weights: Sequence[Any], reverse: bool, sizes: Any) -> tuple[Any, States]:
    """One direction of one layer: (output, last state)."""
    settings = {"reverse": reverse, "batch_sizes": sizes}
    if kind == "lstm":
        found = call("lstm_layer", x, *state, *weights, **settings)
        return found[0], found[1:3]
    if kind == "gru":
        found = call("gru_layer", x, *state, *weights[:4], **settings)
    else:
        found = call("rnn_layer", x, *state, *weights[:4], nonlinearity=kind, **settings)
    return found[0], found[1:2]


def _grouped(name: str, params: Sequence[Tensor], per: int, count: int, has_biases: bool) -> list[list[Any]]:
    """The parameters of each direction of each layer as (weight_ih, weight_hh, bias_ih, bias_hh, weight_hr)."""
    if len(params) != per * count:
        raise ArgumentError(f"{name}(): {count} layers and directions need {per * count} parameters, got {len(params)}")
    groups = []
    for i in range(0, len(params), per):
        part: list[Any] = list(params[i : i + per])
        biases = part[2:4] if has_biases else [None, None]
        projection = part[4 if has_biases else 2 :]
        groups.append([*part[:2], *biases, projection[0] if projection else None])
    return groups


def _stack_of_layers(
    name: str, kind: str, x: Any, hx: Sequence[Tensor], params: Sequence[Tensor], has_biases: bool, num_layers: int, dropout: float,
    train: bool, bidirectional: bool, sizes: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """(output, *last states) of a time-major or packed input."""
    directions = 2 if bidirectional else 1
    count = num_layers * directions
    for which, s in zip(("hx", "cx"), hx, strict=False):
        if s._type.ndim != 3 or s._type.shape[0] != count:
            raise ShapeError(
                f"{name}: {which} must have shape (layers * directions = {count}, batch, features), not {tuple(s._type.shape)}"
            )
    with_projection = kind == "lstm" and hx[0]._type.shape[2] != hx[1]._type.shape[2]
    groups = _grouped(name, params, 2 + 2 * bool(has_biases) + with_projection, count, has_biases)
    last: list[States] = []
    for k in range(num_layers):
        outputs = []
        for d in range(directions):
            i = k * directions + d
            state = tuple(call("select", s, dim=0, index=i) for s in hx)
            out, new = _layer(kind, x, state, groups[i], d == 1, sizes)
            outputs.append(out)
            last.append(new)
        x = outputs[0] if directions == 1 else call("cat", tuple(outputs), dim=outputs[0]._type.ndim - 1)
        if dropout and train and k < num_layers - 1:
            x = drop(x, dropout, True)
    return (x, *(call("stack", states, dim=0) for states in zip(*last, strict=True)))


def _run(name: str, kind: str, args: tuple[Any, ...], several: bool) -> tuple[Any, ...]:
    """Both forms: (input, hx, params, …, batch_first) and, packed, (data, batch_sizes, hx, params, …)."""
    packed = len(args) > 1 and isinstance(args[1], Tensor) and len(args) > 3 and isinstance(args[3], (list, tuple))
    if packed:
        data, batch_sizes, hx, params, *settings = args
        batch_first = False
    else:
        data, hx, params, *settings = args
        batch_first = bool(settings.pop()) if len(settings) == 6 else False
    if len(settings) != 5:
        raise ArgumentError(
            f"{name}() takes (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first), or the packed form "
            "(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)"
        )
    has_biases, num_layers, p, train, bidirectional = settings
    states = tuple(hx) if several else (hx,)
    if len(states) != (2 if several else 1) or not all(isinstance(s, Tensor) for s in states):
        raise ArgumentError(f"{name}(): hx must be {'a pair of tensors (h_0, c_0)' if several else 'a tensor'}")
    sizes = _sizes(name, batch_sizes) if packed else None
    if batch_first:
        data = call("transpose", data, dim0=0, dim1=1)
    out, *last = _stack_of_layers(name, kind, data, states, params, has_biases, num_layers, float(p), train, bidirectional, sizes)
    if batch_first:
        out = call("transpose", out, dim0=0, dim1=1)
    return (out, *last)


SETTINGS = ("has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first")
NAMES = ("input", "hx", "params", *SETTINGS)
PACKED_NAMES = ("data", "batch_sizes", "hx", "params", *SETTINGS[:-1])


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Positional and keyword arguments in order."""
    names = PACKED_NAMES if "batch_sizes" in kwargs or (len(args) > 3 and isinstance(args[3], (list, tuple))) else NAMES
    values = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key not in names or key in values:
            raise ArgumentError(f"{name}() got an unexpected or repeated argument {key!r}")
        values[key] = value
    missing = [n for n in names if n not in values]
    if missing or len(args) > len(names):
        raise ArgumentError(f"{name}() takes {', '.join(names)}; missing: {', '.join(missing) or 'none'}")
    return tuple(values[n] for n in names)


def _make(name: str, kind: str, what: str, several: bool = False) -> Callable[..., tuple[Any, ...]]:
    def function(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return _run(name, kind, _arguments(name, args, kwargs), several)

    function.__name__ = function.__qualname__ = name
    results = "(output, h_n, c_n)" if several else "(output, h_n)"
    state = "a pair (h_0, c_0)" if several else "h_0"
    function.__doc__ = f"""{what} of several layers and directions: returns {results}.

    {name}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first): input (T, B, I), or (B, T, I) with
    batch_first; hx is {state} of shape (layers * directions, B, H); params: weight_ih, weight_hh and, with has_biases, bias_ih, bias_hh of
    each direction of each layer. Packed: {name}(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional).
    """
    return function


rnn_tanh = _make("rnn_tanh", "tanh", "An Elman network with tanh")
rnn_relu = _make("rnn_relu", "relu", "An Elman network with relu")
lstm = _make("lstm", "lstm", "An LSTM network", True)
gru = _make("gru", "gru", "A GRU network")


def _cell(kind: str, input: Tensor, state: States, weights: tuple[Any, ...]) -> States:
    """One step. Input (B, I) or (I,)."""
    alone = input._type.ndim == 1
    if alone:
        state = tuple(call("unsqueeze", s, dim=0) for s in state)
        input = call("unsqueeze", input, dim=0)
    _, new = _layer(kind, call("unsqueeze", input, dim=0), state, (*weights, None), False, None)
    return tuple(call("squeeze", s, dim=(0,)) for s in new) if alone else new


def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """tanh(w_ih input + b_ih + w_hh hx + b_hh): input (B, I), hx (B, H)."""
    return _cell("tanh", input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """max(0, w_ih input + b_ih + w_hh hx + b_hh): input (B, I), hx (B, H)."""
    return _cell("relu", input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


def lstm_cell(
    input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: input (B, I), hx a pair (h, c) of (B, H); the new (h, c)."""
    h, c = hx
    new = _cell("lstm", input, (h, c), (w_ih, w_hh, b_ih, b_hh))
    return new[0], new[1]


def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """One step of a GRU: input (B, I), hx (B, H); the new h."""
    return _cell("gru", input, (hx,), (w_ih, w_hh, b_ih, b_hh))[0]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (rnn_tanh, rnn_relu, lstm, gru, rnn_tanh_cell, rnn_relu_cell, lstm_cell, gru_cell)
}
