"""Recurrent networks and cells as modules, with PyTorch's parameters' names."""

from __future__ import annotations

import math
import warnings
from typing import Any

from twofold.nn import init
from twofold.nn.create import new_parameter
from twofold.nn.module import Module
from twofold.nn.utils.rnn import PackedSequence
from twofold.support.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from twofold.tensors.core import Tensor, memory
from twofold.tensors.functions import FUNCTIONS

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}
RUN = {"RNN_TANH": "rnn_tanh", "RNN_RELU": "rnn_relu", "LSTM": "lstm", "GRU": "gru"}


def _zeros_like_input(input: Any, *shapes: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(FUNCTIONS["zeros"](s, dtype=input._type.dtype, device=input._type.device) for s in shapes)


def _shape(t: Any) -> tuple[Any, ...]:
    return tuple(t._type.shape)


class RNNBase(Module):
    """What `RNN`, `LSTM` and `GRU` share: parameters weight_ih_l<k>, weight_hh_l<k>, bias_ih_l<k>, bias_hh_l<k> (and weight_hr_l<k>) of
    each layer k, for the backward direction with the ending _reverse. All begin uniform in ±1/sqrt(hidden_size)."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_settings(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        directions, out = self._sizes()
        rows = GATES[mode] * hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:directions]:
                shapes = {
                    "weight_ih": (rows, input_size if layer == 0 else out * directions), "weight_hh": (rows, out),
                    **({"bias_ih": (rows,), "bias_hh": (rows,)} if bias else {}),
                    **({"weight_hr": (out, hidden_size)} if proj_size else {}),
                }  # fmt: skip
                names = {f"{name}_l{layer}{suffix}": shape for name, shape in shapes.items()}
                for name, shape in names.items():
                    self.register_parameter(name, new_parameter(shape, device, dtype))
                self._all_weights.append(list(names))
        self.reset_parameters()

    def _sizes(self) -> tuple[int, int]:
        """(directions, features of a direction's output)."""
        return 2 if self.bidirectional else 1, self.proj_size or self.hidden_size

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Any]:
        return [w for group in self.all_weights for w in group]

    def flatten_parameters(self) -> None:
        """Does nothing: there is no library here that wants the parameters in one piece of memory."""

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def check_input(self, input: Any, batch_sizes: Any) -> None:
        """Raise DTypeError or ShapeError where an input (with its batch, or packed) does not fit."""
        dtype = self._flat_weights[0]._type.dtype
        if input._type.dtype is not dtype:
            raise ValueRangeError(
                f"{self._get_name()}: the input is {input._type.dtype.name}, the weights are {dtype.name}; convert one with .to(dtype)"
            )
        rank = 3 if batch_sizes is None else 2
        if input._type.ndim != rank:
            raise ShapeError(f"{self._get_name()}: the input must have {rank} dimensions, its shape is {_shape(input)}")
        if _shape(input)[-1] != self.input_size:
            raise ShapeError(f"{self._get_name()}: the input of shape {_shape(input)} must have input_size = {self.input_size} features")

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape h_0 must have."""
        batch = _shape(input)[0 if self.batch_first else 1] if batch_sizes is None else int(memory(batch_sizes)[0])
        directions, out = self._sizes()
        return self.num_layers * directions, batch, out

    def _states(self, input: Any, hx: Any, batch_sizes: Any, batched: bool) -> tuple[Any, ...]:
        """The initial states as tensors (layers * directions, B, features), checked."""
        count, batch, out = self.get_expected_hidden_size(input, batch_sizes)
        shapes = [(count, batch, out), *([(count, batch, self.hidden_size)] if self.mode == "LSTM" else [])]
        if hx is None:
            return _zeros_like_input(input, *shapes)
        states = tuple(hx) if self.mode == "LSTM" else (hx,)
        if len(states) != len(shapes) or not all(isinstance(s, Tensor) for s in states):
            raise ArgumentError(f"{self._get_name()}: hx must be {'a pair (h_0, c_0)' if self.mode == 'LSTM' else 'a tensor'}")
        for s in states:
            if s._type.ndim != (3 if batched else 2):
                raise ShapeError(
                    f"{self._get_name()}: hx must have {3 if batched else 2} dimensions like the input, its shape is {_shape(s)}"
                )
        if not batched:
            states = tuple(FUNCTIONS["unsqueeze"](s, 1) for s in states)
        for s, shape in zip(states, shapes, strict=True):
            if _shape(s) != shape:
                raise ShapeError(f"{self._get_name()}: hx must have the shape {shape}, it has {_shape(s)}")
        return states

    def _run(self, input: Any, states: tuple[Any, ...], batch_sizes: Any) -> tuple[Any, tuple[Any, ...]]:
        hx = states if self.mode == "LSTM" else states[0]
        settings = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        run = FUNCTIONS[RUN[self.mode]]
        out, *last = run(input, hx, *settings, self.batch_first) if batch_sizes is None else run(input, batch_sizes, hx, *settings)
        return out, tuple(last)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """(output, last state). Output: the last layer's states at all steps, directions side by side; packed if the input is."""
        if isinstance(input, PackedSequence):
            data, batch_sizes, order, back = input
            self.check_input(data, batch_sizes)
            states = self._states(data, hx, batch_sizes, True)
            if order is not None and hx is not None:
                states = tuple(FUNCTIONS["index_select"](s, 1, order) for s in states)
            out, last = self._run(data, states, batch_sizes)
            if back is not None:
                last = tuple(FUNCTIONS["index_select"](s, 1, back) for s in last)
            return PackedSequence(out, batch_sizes, order, back), last if self.mode == "LSTM" else last[0]
        if not isinstance(input, Tensor):
            raise ArgumentError(f"{self._get_name()}: the input must be a tensor or a PackedSequence, not {type(input).__name__}")
        if input._type.ndim not in (2, 3):
            raise ShapeError(f"{self._get_name()}: the input must have 2 or 3 dimensions, its shape is {_shape(input)}")
        batched, batch_dim = input._type.ndim == 3, 0 if self.batch_first else 1
        x = input if batched else FUNCTIONS["unsqueeze"](input, batch_dim)
        self.check_input(x, None)
        out, last = self._run(x, self._states(x, hx, None, batched), None)
        if not batched:
            out, last = FUNCTIONS["squeeze"](out, batch_dim), tuple(FUNCTIONS["squeeze"](s, 1) for s in last)
        return out, last if self.mode == "LSTM" else last[0]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0), ("bidirectional", False)
        ):  # fmt: skip
            value = getattr(self, name)
            if value != usual:
                text += f", {name}={value}"
        return text


def _check_settings(
    mode: str, input_size: Any, hidden_size: Any, num_layers: int, bias: Any, batch_first: Any, dropout: Any, proj_size: int
) -> None:
    if mode not in GATES:
        raise ValueRangeError(f"RNNBase: mode must be one of {', '.join(GATES)}, not {mode!r}")
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueRangeError(f"{mode}: dropout must be a number within [0, 1], not {dropout!r}")
    for name, flag in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(flag, bool):
            raise ArgumentError(f"{mode}: {name} must be a bool, not {type(flag).__name__}")
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise ArgumentError(f"{mode}: {name} must be an int, not {type(size).__name__}")
        if size <= 0:
            raise ValueRangeError(f"{mode}: {name} must be positive, it is {size}")
    if num_layers <= 0:
        raise ValueRangeError(f"{mode}: num_layers must be positive, it is {num_layers}")
    if not 0 <= proj_size < hidden_size:
        raise ValueRangeError(f"{mode}: proj_size must be at least 0 and smaller than hidden_size ({hidden_size}), it is {proj_size}")
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            f"dropout comes after all but the last layer, so dropout={dropout} has no effect with num_layers=1", UserWarning, stacklevel=4
        )


class RNN(RNNBase):
    """Elman networks: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu with nonlinearity="relu".

    RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0, bidirectional=False).
    Input (T, B, I), with batch_first (B, T, I), without a batch (T, I), or a PackedSequence; h_0 (layers * directions, B, H), zeros by
    default. Returns (output (T, B, directions * H), h_n).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueRangeError("RNN: proj_size is for LSTM only")
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueRangeError(f"RNN: nonlinearity must be 'tanh' or 'relu', not {nonlinearity!r}")
        super().__init__("RNN_" + nonlinearity.upper(), *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: i, f, o = sigmoid, g = tanh of W_ih x + b_ih + W_hh h + b_hh; c' = f c + i g, h' = o tanh(c'), projected to
    proj_size features if that is not 0.

    LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False, proj_size=0). Input as
    for `RNN`; (h_0, c_0) of shapes (layers * directions, B, proj_size or H) and (layers * directions, B, H), zeros by default. Returns
    (output, (h_n, c_n)).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units: r, z = sigmoid of W x + b + U h + b, n = tanh(W_n x + b + r (U_n h + b)), h' = (1 - z) n + z h.

    GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False). Input and results as for
    `RNN`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueRangeError("GRU: proj_size is for LSTM only")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """What cells share: weight_ih (gates * H, I), weight_hh (gates * H, H), bias_ih and bias_hh; all begin uniform in ±1/sqrt(H)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_ih = new_parameter((num_chunks * hidden_size, input_size), device, dtype)
        self.weight_hh = new_parameter((num_chunks * hidden_size, hidden_size), device, dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, new_parameter((num_chunks * hidden_size,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _step(self, function: str, input: Any, states: Any, count: int) -> Any:
        """One step from given states, or from zeros."""
        name = self._get_name()
        if input._type.ndim not in (1, 2):
            raise ShapeError(f"{name}: the input must have the shape (B, I) or (I,), it has {_shape(input)}")
        shape = (*_shape(input)[:-1], self.hidden_size)
        if states is None:
            states = _zeros_like_input(input, *(shape,) * count)
        for s in states:
            if s._type.ndim not in (1, 2) or _shape(s) != shape:
                raise ShapeError(f"{name}: hx must have the shape {shape} for an input of shape {_shape(input)}, it has {_shape(s)}")
            if s._type.dtype is not input._type.dtype:
                raise DTypeError(f"{name}: hx is {s._type.dtype.name}, the input is {input._type.dtype.name}")
        hx = states[0] if count == 1 else states
        return FUNCTIONS[function](input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"


class RNNCell(RNNCellBase):
    """One step of an Elman network: input (B, I) or (I,), hx (B, H) or (H,), zeros by default; returns the new h."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Tensor | None = None) -> Tensor:
        """The new h."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueRangeError(f"RNNCell: nonlinearity must be 'tanh' or 'relu', not {self.nonlinearity!r}")
        out: Tensor = self._step(f"rnn_{self.nonlinearity}_cell", input, None if hx is None else (hx,), 1)
        return out


class LSTMCell(RNNCellBase):
    """One step of an LSTM: input (B, I) or (I,), hx a pair (h, c) of (B, H) or (H,), zeros by default; returns the new (h, c)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The new (h, c)."""
        h, c = self._step("lstm_cell", input, hx, 2)
        return h, c


class GRUCell(RNNCellBase):
    """One step of a GRU: input (B, I) or (I,), hx (B, H) or (H,), zeros by default; returns the new h."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Tensor | None = None) -> Tensor:
        """The new h."""
        out: Tensor = self._step("gru_cell", input, None if hx is None else (hx,), 1)
        return out
