"""Functions and backward nodes of the family "recurrent". Generated from the records by tools/generate.py: do not edit."""
# ruff: noqa
# mypy: disable-error-code="no-any-return,no-untyped-call,assignment,misc,attr-defined,union-attr,override"

from __future__ import annotations

from collections.abc import Sequence
from sys import _getframe as _frame
from typing import Any


from twofold.ir.mode import MODE, grad_enabled
from twofold.ir.op import get_op, given_axis
from twofold.ir.types import scalar_type
from twofold.tape.node import tick
from twofold.tape.plan import scalar_key, table
from twofold.tensors.core import Tensor
from twofold.tensors.dispatch import NODE_CLASSES, dispatch
from twofold.tensors.nodes import OpNode
from twofold.tensors.typing import DeviceLike, DTypeLike, Number

_PLAIN = frozenset((Tensor, bool, int, float))
_PLAIN_OR_NONE = _PLAIN | {type(None)}

_rnn_layer = get_op("rnn_layer")


class RnnLayerBackward0(OpNode):
    __slots__ = ("s_input", "s_hx", "s_weight_ih", "s_weight_hh", "s_bias_ih", "s_bias_hh", "s_output")
    op = get_op("rnn_layer")
    saved = ('input', 'hx', 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh', 'output')
    needs = (('input', 'hx', 'weight_ih', 'weight_hh', 'output', 'bias_ih', 'bias_hh'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], self.s_input, self.s_hx, self.s_weight_ih, self.s_weight_hh, self.s_output, self.s_bias_ih, self.s_bias_hh, self.plan.attributes["nonlinearity"], self.plan.attributes["reverse"], self.plan.attributes["batch_sizes"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_input, self.s_hx, self.s_weight_ih, self.s_weight_hh, self.s_bias_ih, self.s_bias_hh, self.s_output


NODE_CLASSES["rnn_layer"] = RnnLayerBackward0

def rnn_layer(input: Tensor, hx: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor | None = None, bias_hh: Tensor | None = None, nonlinearity: str = 'tanh', reverse: bool = False, batch_sizes: int | Sequence[int] | None = None) -> tuple[Tensor, Tensor]:
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu, over a sequence: one direction of one Elman layer (Elman 1990).

    input (T, B, I), or packed rows (N, I) with batch_sizes; hx (B, H); weight_ih (H, I); weight_hh (H, H); biases (H,). Output (T, B, H) or
    (N, H), and the last state (B, H). reverse: from the last step to the first.
    """
    return dispatch(_rnn_layer, (input, hx, weight_ih, weight_hh, bias_ih, bias_hh,), {"nonlinearity": nonlinearity, "reverse": reverse, "batch_sizes": batch_sizes})


_rnn_layer_backward = get_op("rnn_layer_backward")


class RnnLayerBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_grad_h", "s_input", "s_hx", "s_weight_ih", "s_weight_hh", "s_bias_ih", "s_bias_hh")
    op = get_op("rnn_layer_backward")
    saved = ('grad', 'grad_h', 'input', 'hx', 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh')
    needs = (('grad', 'grad_h', 'input', 'hx', 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[2], g[3], g[4], self.s_grad, self.s_grad_h, self.s_input, self.s_hx, self.s_weight_ih, self.s_weight_hh, self.s_bias_ih, self.s_bias_hh, self.plan.attributes["wants_input"], self.plan.attributes["nonlinearity"], self.plan.attributes["reverse"], self.plan.attributes["batch_sizes"])

    def free(self) -> None:
        del self.s_grad, self.s_grad_h, self.s_input, self.s_hx, self.s_weight_ih, self.s_weight_hh, self.s_bias_ih, self.s_bias_hh


NODE_CLASSES["rnn_layer_backward"] = RnnLayerBackwardBackward0

def rnn_layer_backward(grad: Tensor, grad_h: Tensor, input: Tensor, hx: Tensor, weight_ih: Tensor, weight_hh: Tensor, output: Tensor, bias_ih: Tensor | None, bias_hh: Tensor | None, wants_input: bool, nonlinearity: str = 'tanh', reverse: bool = False, batch_sizes: int | Sequence[int] | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The gradients of rnn_layer; both biases have the same. That of an input that is not wanted has shape (0,).

    `output` is that of the same operands: its own gradient counts it as their function.
    """
    return dispatch(_rnn_layer_backward, (grad, grad_h, input, hx, weight_ih, weight_hh, output, bias_ih, bias_hh,), {"wants_input": wants_input, "nonlinearity": nonlinearity, "reverse": reverse, "batch_sizes": batch_sizes})


_lstm_layer = get_op("lstm_layer")


class LstmLayerBackward0(OpNode):
    __slots__ = ("s_input", "s_hx", "s_cx", "s_weight_ih", "s_weight_hh", "s_bias_ih", "s_bias_hh", "s_weight_hr", "s_output", "s_gates", "s_cells")
    op = get_op("lstm_layer")
    saved = ('input', 'hx', 'cx', 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh', 'weight_hr', 'output', 'gates', 'cells')
    needs = (('input', 'hx', 'cx', 'weight_ih', 'weight_hh', 'output', 'gates', 'cells', 'bias_ih', 'bias_hh', 'weight_hr'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[2], self.s_input, self.s_hx, self.s_cx, self.s_weight_ih, self.s_weight_hh, self.s_output, self.s_gates, self.s_cells, self.s_bias_ih, self.s_bias_hh, self.s_weight_hr, self.plan.attributes["reverse"], self.plan.attributes["batch_sizes"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_input, self.s_hx, self.s_cx, self.s_weight_ih, self.s_weight_hh, self.s_bias_ih, self.s_bias_hh, self.s_weight_hr, self.s_output, self.s_gates, self.s_cells


NODE_CLASSES["lstm_layer"] = LstmLayerBackward0

def lstm_layer(input: Tensor, hx: Tensor, cx: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor | None = None, bias_hh: Tensor | None = None, weight_hr: Tensor | None = None, reverse: bool = False, batch_sizes: int | Sequence[int] | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """One direction of one LSTM layer over a sequence (Hochreiter and Schmidhuber 1997, with forget gates).

    Of W_ih x + b_ih + W_hh h + b_hh the quarters are i, f, g, o; c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c'), projected
    by weight_hr (P, H) if given.

    input (T, B, I), or packed rows (N, I) with batch_sizes; hx (B, P or H), cx (B, H); weight_ih (4H, I); weight_hh (4H, P or H). The gates and
    cells of all steps are kept for backward; no gradient flows through these two outputs.
    """
    return dispatch(_lstm_layer, (input, hx, cx, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr,), {"reverse": reverse, "batch_sizes": batch_sizes})


_lstm_layer_backward = get_op("lstm_layer_backward")


class LstmLayerBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_grad_h", "s_grad_c", "s_input", "s_hx", "s_cx", "s_weight_ih", "s_weight_hh", "s_bias_ih", "s_bias_hh", "s_weight_hr")
    op = get_op("lstm_layer_backward")
    saved = ('grad', 'grad_h', 'grad_c', 'input', 'hx', 'cx', 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh', 'weight_hr')
    needs = (('grad', 'grad_h', 'grad_c', 'input', 'hx', 'cx', 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh', 'weight_hr'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[2], g[3], g[4], g[5], g[6], self.s_grad, self.s_grad_h, self.s_grad_c, self.s_input, self.s_hx, self.s_cx, self.s_weight_ih, self.s_weight_hh, self.s_bias_ih, self.s_bias_hh, self.s_weight_hr, self.plan.attributes["wants_input"], self.plan.attributes["reverse"], self.plan.attributes["batch_sizes"])

    def free(self) -> None:
        del self.s_grad, self.s_grad_h, self.s_grad_c, self.s_input, self.s_hx, self.s_cx, self.s_weight_ih, self.s_weight_hh, self.s_bias_ih, self.s_bias_hh, self.s_weight_hr


NODE_CLASSES["lstm_layer_backward"] = LstmLayerBackwardBackward0

def lstm_layer_backward(grad: Tensor, grad_h: Tensor, grad_c: Tensor, input: Tensor, hx: Tensor, cx: Tensor, weight_ih: Tensor, weight_hh: Tensor, output: Tensor, gates: Tensor, cells: Tensor, bias_ih: Tensor | None, bias_hh: Tensor | None, weight_hr: Tensor | None, wants_input: bool, reverse: bool = False, batch_sizes: int | Sequence[int] | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The gradients of lstm_layer; both biases have the same.

    Those of an input that is not wanted and of a missing weight_hr have shape (0,). `output`, `gates` and
    `cells` are those of the same operands: its own gradient counts them as their functions.
    """
    return dispatch(_lstm_layer_backward, (grad, grad_h, grad_c, input, hx, cx, weight_ih, weight_hh, output, gates, cells, bias_ih, bias_hh, weight_hr,), {"wants_input": wants_input, "reverse": reverse, "batch_sizes": batch_sizes})


_gru_layer = get_op("gru_layer")


class GruLayerBackward0(OpNode):
    __slots__ = ("s_input", "s_hx", "s_weight_ih", "s_weight_hh", "s_bias_ih", "s_bias_hh", "s_output", "s_gates")
    op = get_op("gru_layer")
    saved = ('input', 'hx', 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh', 'output', 'gates')
    needs = (('input', 'hx', 'weight_ih', 'weight_hh', 'output', 'gates', 'bias_ih', 'bias_hh'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], self.s_input, self.s_hx, self.s_weight_ih, self.s_weight_hh, self.s_output, self.s_gates, self.s_bias_ih, self.s_bias_hh, self.plan.attributes["reverse"], self.plan.attributes["batch_sizes"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_input, self.s_hx, self.s_weight_ih, self.s_weight_hh, self.s_bias_ih, self.s_bias_hh, self.s_output, self.s_gates


NODE_CLASSES["gru_layer"] = GruLayerBackward0

def gru_layer(input: Tensor, hx: Tensor, weight_ih: Tensor, weight_hh: Tensor, bias_ih: Tensor | None = None, bias_hh: Tensor | None = None, reverse: bool = False, batch_sizes: int | Sequence[int] | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """One direction of one GRU layer over a sequence (Cho et al., arXiv:1406.1078).

    r, z = sigmoid(W x + b + U h + b), n = tanh(W_n x + b + r (U_n h + b)), h' = (1 - z) n + z h; the weights hold r, z, n in this order.

    input (T, B, I), or packed rows (N, I) with batch_sizes; hx (B, H); weight_ih (3H, I); weight_hh (3H, H). `gates` (r, z, n, U_n h + b of all
    steps) is kept for backward; no gradient flows through it.
    """
    return dispatch(_gru_layer, (input, hx, weight_ih, weight_hh, bias_ih, bias_hh,), {"reverse": reverse, "batch_sizes": batch_sizes})


_gru_layer_backward = get_op("gru_layer_backward")


class GruLayerBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_grad_h", "s_input", "s_hx", "s_weight_ih", "s_weight_hh", "s_bias_ih", "s_bias_hh")
    op = get_op("gru_layer_backward")
    saved = ('grad', 'grad_h', 'input', 'hx', 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh')
    needs = (('grad', 'grad_h', 'input', 'hx', 'weight_ih', 'weight_hh', 'bias_ih', 'bias_hh'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[2], g[3], g[4], g[5], self.s_grad, self.s_grad_h, self.s_input, self.s_hx, self.s_weight_ih, self.s_weight_hh, self.s_bias_ih, self.s_bias_hh, self.plan.attributes["wants_input"], self.plan.attributes["reverse"], self.plan.attributes["batch_sizes"])

    def free(self) -> None:
        del self.s_grad, self.s_grad_h, self.s_input, self.s_hx, self.s_weight_ih, self.s_weight_hh, self.s_bias_ih, self.s_bias_hh


NODE_CLASSES["gru_layer_backward"] = GruLayerBackwardBackward0

def gru_layer_backward(grad: Tensor, grad_h: Tensor, input: Tensor, hx: Tensor, weight_ih: Tensor, weight_hh: Tensor, output: Tensor, gates: Tensor, bias_ih: Tensor | None, bias_hh: Tensor | None, wants_input: bool, reverse: bool = False, batch_sizes: int | Sequence[int] | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The gradients of gru_layer; that of an input that is not wanted has shape (0,).

    `output` and `gates` are those of the same operands: its own gradient counts them as their functions.
    """
    return dispatch(_gru_layer_backward, (grad, grad_h, input, hx, weight_ih, weight_hh, output, gates, bias_ih, bias_hh,), {"wants_input": wants_input, "reverse": reverse, "batch_sizes": batch_sizes})


FUNCTIONS: dict[str, Any] = {
    "rnn_layer": rnn_layer,
    "rnn_layer_backward": rnn_layer_backward,
    "lstm_layer": lstm_layer,
    "lstm_layer_backward": lstm_layer_backward,
    "gru_layer": gru_layer,
    "gru_layer_backward": gru_layer_backward,
}
INPLACE: dict[str, Any] = {
}
