"""Recurrent layers: one direction of one layer over a whole sequence is one operation.

The input is (T, B, I), or packed rows (N, I) with `batch_sizes`: how many sequences are still running at each step, not growing. Besides
its results a layer gives what backward needs (gates, cells). The gradient of a layer's gradient comes from the layer as a program, see
`ops.recurrent_steps`.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from twofold.ir.op import Joint
from twofold.ir.types import TensorType, common_device
from twofold.ops import recurrent_eager as eager
from twofold.ops import recurrent_steps
from twofold.ops.record import define, helper
from twofold.ops.reduction import require_float
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

# ---- types -----------------------------------------------------------------------------------------------------------------------------


def _check_sizes(name: str, input: TensorType, batch_sizes: Any) -> Any:
    """The number of sequences."""
    if batch_sizes is None:
        if input.ndim != 3:
            raise ShapeError(f"{name}: the input must have 3 dimensions (steps, batch, features), its shape is {tuple(input.shape)}")
        if input.shape[0] == 0:
            raise ShapeError(f"{name}: the input of shape {tuple(input.shape)} has no steps; a sequence needs at least one")
        return input.shape[1]
    if input.ndim != 2:
        raise ShapeError(f"{name}: a packed input must have 2 dimensions (rows, features), its shape is {tuple(input.shape)}")
    if not batch_sizes or any(a < b for a, b in pairwise(batch_sizes)) or batch_sizes[-1] < 1:
        raise ValueRangeError(f"{name}: batch_sizes must be positive and must not grow, they are {batch_sizes}")
    total = sum(batch_sizes)
    if input.shape[0] != total:
        raise ShapeError(f"{name}: batch_sizes add up to {total}, the packed input has {input.shape[0]} rows")
    return batch_sizes[0]


def _check(name: str, gates: int, input: TensorType, width: Any, batch_sizes: Any, state: dict[str, Any], weights: dict[str, Any]) -> Any:
    """Shapes and dtypes of a layer of `width` units with so many gates; returns the number of sequences."""
    require_float(name, input.dtype)
    present = [t for t in (input, *state.values(), *weights.values()) if t is not None]
    common_device(tuple(present), name)
    for which, t in (state | weights).items():
        if t is not None and t.dtype is not input.dtype:
            raise DTypeError(f"{name}: {which} is {t.dtype.name}, the input is {input.dtype.name}; they must have one dtype")
    batch = _check_sizes(name, input, batch_sizes)
    last = state["hx"].shape[-1]
    wanted = {
        "hx": (batch, last), "cx": (batch, width), "weight_ih": (gates * width, input.shape[-1]), "weight_hh": (gates * width, last),
        "bias_ih": (gates * width,), "bias_hh": (gates * width,), "weight_hr": (last, width),
    }  # fmt: skip
    for which, t in (state | weights).items():
        if t is not None and tuple(t.shape) != wanted[which]:
            raise ShapeError(
                f"{name}: {which} has shape {tuple(t.shape)}, expected {wanted[which]} for the input of shape {tuple(input.shape)}"
            )
    return batch


def _rnn_type(
    input: Any, hx: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any, bias_hh: Any, nonlinearity: str, reverse: bool, batch_sizes: Any
) -> tuple[TensorType, TensorType]:
    if nonlinearity not in ("tanh", "relu"):
        raise ValueRangeError(f"rnn_layer: nonlinearity must be 'tanh' or 'relu', not {nonlinearity!r}")
    weights = {"weight_ih": weight_ih, "weight_hh": weight_hh, "bias_ih": bias_ih, "bias_hh": bias_hh}
    _check("rnn_layer", 1, input, hx.shape[-1], batch_sizes, {"hx": hx}, weights)
    return input.with_shape((*input.shape[:-1], hx.shape[-1])), hx


def _lstm_type(
    input: Any, hx: Any, cx: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any, bias_hh: Any, weight_hr: Any, reverse: bool,
    batch_sizes: Any,
) -> tuple[TensorType, ...]:  # fmt: skip
    weights = {"weight_ih": weight_ih, "weight_hh": weight_hh, "bias_ih": bias_ih, "bias_hh": bias_hh, "weight_hr": weight_hr}
    width = cx.shape[-1]
    _check("lstm_layer", 4, input, width, batch_sizes, {"hx": hx, "cx": cx}, weights)
    if weight_hr is None and hx.shape[-1] != width:
        raise ShapeError(f"lstm_layer: hx of shape {tuple(hx.shape)} and cx of shape {tuple(cx.shape)} differ, and there is no weight_hr")
    lead = input.shape[:-1]
    return input.with_shape((*lead, hx.shape[-1])), hx, cx, input.with_shape((*lead, 4 * width)), input.with_shape((*lead, width))


def _gru_type(
    input: Any, hx: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any, bias_hh: Any, reverse: bool, batch_sizes: Any
) -> tuple[TensorType, ...]:
    weights = {"weight_ih": weight_ih, "weight_hh": weight_hh, "bias_ih": bias_ih, "bias_hh": bias_hh}
    _check("gru_layer", 3, input, hx.shape[-1], batch_sizes, {"hx": hx}, weights)
    lead = input.shape[:-1]
    return input.with_shape((*lead, hx.shape[-1])), hx, input.with_shape((*lead, 4 * hx.shape[-1]))


def _wanted(input: TensorType, wants_input: bool) -> TensorType:
    return input if wants_input else input.with_shape((0,))


# ---- on arrays ---------------------------------------------------------------------------------------------------------------------------


def _rows(a: Any) -> Any:
    return a if a.ndim == 2 else a.reshape(-1, a.shape[-1]) if a.size else a.reshape(a.shape[0] * a.shape[1], a.shape[2])


def _sizes(input: Any, batch_sizes: Any) -> tuple[int, ...]:
    return (input.shape[1],) * input.shape[0] if batch_sizes is None else batch_sizes


def _like(rows: Any, input: Any) -> Any:
    return rows.reshape(*input.shape[:-1], rows.shape[-1])


def _rnn(
    input: Any, hx: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None, nonlinearity: str = "tanh",
    reverse: bool = False, batch_sizes: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    out, h = eager.rnn_forward(_rows(input), hx, weight_ih, weight_hh, bias_ih, bias_hh, _sizes(input, batch_sizes), reverse, nonlinearity)
    return _like(out, input), h


def _rnn_backward(
    grad: Any, grad_h: Any, input: Any, hx: Any, weight_ih: Any, weight_hh: Any, output: Any, bias_ih: Any, bias_hh: Any,
    wants_input: bool, nonlinearity: str = "tanh", reverse: bool = False, batch_sizes: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    dx, *rest = eager.rnn_backward(
        _rows(grad), grad_h, _rows(input), hx, weight_ih, weight_hh, _rows(output), _sizes(input, batch_sizes), reverse, nonlinearity,
        wants_input,
    )  # fmt: skip
    return (_or_none(dx, input), *rest)


def _or_none(dx: Any, input: Any) -> Any:
    return np.zeros(0, input.dtype) if dx is None else dx.reshape(input.shape)


def _lstm(
    input: Any, hx: Any, cx: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None, weight_hr: Any = None,
    reverse: bool = False, batch_sizes: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    out, h, c, gates, cells = eager.lstm_forward(
        _rows(input), hx, cx, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr, _sizes(input, batch_sizes), reverse
    )
    return _like(out, input), h, c, _like(gates, input), _like(cells, input)


def _lstm_backward(
    grad: Any, grad_h: Any, grad_c: Any, input: Any, hx: Any, cx: Any, weight_ih: Any, weight_hh: Any, output: Any, gates: Any, cells: Any,
    bias_ih: Any, bias_hh: Any, weight_hr: Any, wants_input: bool, reverse: bool = False, batch_sizes: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    dx, dh, dc, w_ih, w_hh, db, w_hr = eager.lstm_backward(
        _rows(grad), grad_h, grad_c, _rows(input), hx, cx, weight_ih, weight_hh, weight_hr, _rows(output), _rows(gates), _rows(cells),
        _sizes(input, batch_sizes), reverse, wants_input,
    )  # fmt: skip
    return _or_none(dx, input), dh, dc, w_ih, w_hh, db, np.zeros(0, input.dtype) if w_hr is None else w_hr


def _gru(
    input: Any, hx: Any, weight_ih: Any, weight_hh: Any, bias_ih: Any = None, bias_hh: Any = None, reverse: bool = False,
    batch_sizes: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    out, h, gates = eager.gru_forward(_rows(input), hx, weight_ih, weight_hh, bias_ih, bias_hh, _sizes(input, batch_sizes), reverse)
    return _like(out, input), h, _like(gates, input)


def _gru_backward(
    grad: Any, grad_h: Any, input: Any, hx: Any, weight_ih: Any, weight_hh: Any, output: Any, gates: Any, bias_ih: Any, bias_hh: Any,
    wants_input: bool, reverse: bool = False, batch_sizes: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    dx, *rest = eager.gru_backward(
        _rows(grad), grad_h, _rows(input), hx, weight_ih, weight_hh, _rows(output), _rows(gates), _sizes(input, batch_sizes), reverse,
        wants_input,
    )  # fmt: skip
    return (_or_none(dx, input), *rest)


# ---- in other operations -----------------------------------------------------------------------------------------------------------------


@helper
def recurrent_functions() -> Any:
    """What the primitives of `recurrent_steps` are made of, in this namespace."""
    return {
        "mm": mm, "t": t, "sum": sum, "expand": expand, "sigmoid": sigmoid, "tanh": tanh, "relu": relu, "slice": slice, "cat": cat,
        "threshold_backward": threshold_backward, "slice_backward": slice_backward,
    }  # fmt: skip


@helper
def packed_rows(x: Any) -> Any:
    return x if len(x.shape) == 2 else reshape(x, (x.shape[0] * x.shape[1], x.shape[2]))


@helper
def step_sizes(input: Any, batch_sizes: Any) -> Any:
    return (input.shape[1],) * input.shape[0] if batch_sizes is None else batch_sizes


@helper
def recurrent_parts(
    kind: str, input: Any, state: Any, parameters: Any, reverse: bool, batch_sizes: Any, nonlinearity: str, steps: Any = recurrent_steps
) -> Any:
    """A layer step by step: (output, *last state, *what backward needs)."""
    out, state, kept = steps.layer(
        steps.Plain(recurrent_functions()), kind, packed_rows(input), state, parameters, step_sizes(input, batch_sizes), reverse,
        nonlinearity, kind != "rnn",
    )  # fmt: skip
    lead = input.shape[: len(input.shape) - 1]
    flat = [out, *kept]
    wide = [reshape(a, (*lead, a.shape[1])) for a in flat]
    return (wide[0], *state, *wide[1:])


@helper
def recurrent_double(
    kind: str, cotangents: Any, grads: Any, input: Any, state: Any, parameters: Any, wants_input: bool, reverse: bool, batch_sizes: Any,
    nonlinearity: str, steps: Any = recurrent_steps,
) -> Any:  # fmt: skip
    """The gradient of a layer's gradient: a list for (grad, grads of last state, input, state, parameters)."""
    first = packed_rows(cotangents[0]) if wants_input else None
    found = list(
        steps.layer_double(
            recurrent_functions(), kind, (first, *cotangents[1:]), (packed_rows(grads[0]), *grads[1:]), packed_rows(input), state,
            parameters, step_sizes(input, batch_sizes), reverse, nonlinearity,
        )
    )  # fmt: skip
    for i, like in ((0, grads[0]), (len(grads), input)):
        if found[i] is not None:
            found[i] = reshape(found[i], like.shape)
    return found


@helper
def rnn_gradient(
    g: Any, gh: Any, input: Any, hx: Any, w_ih: Any, w_hh: Any, output: Any, b_ih: Any, b_hh: Any, nonlinearity: str, reverse: bool,
    batch_sizes: Any, needs: Any,
) -> Any:  # fmt: skip
    d = rnn_layer_backward(g, gh, input, hx, w_ih, w_hh, output, b_ih, b_hh, needs[0], nonlinearity, reverse, batch_sizes)
    return d[0] if needs[0] else None, d[1], d[2], d[3], d[4] if needs[4] else None, clone(d[4]) if needs[5] else None


@helper
def rnn_double(
    hi: Any, hh: Any, hwi: Any, hwh: Any, hb: Any, g: Any, gh: Any, input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any,
    wants_input: bool, nonlinearity: str, reverse: bool, batch_sizes: Any,
) -> Any:  # fmt: skip
    b = bias_pair(hb, b_ih, b_hh)
    d = recurrent_double(
        "rnn", (hi, hh, hwi, hwh, *b, None), (g, gh), input, (hx,), (w_ih, w_hh, b_ih, b_hh, None), wants_input, reverse, batch_sizes,
        nonlinearity,
    )  # fmt: skip
    return d[0], d[1], d[2], d[3], d[4], d[5], None, d[6], d[7]


@helper
def bias_pair(hb: Any, b_ih: Any, b_hh: Any) -> Any:
    """The cotangent of the biases' common gradient goes to one of them."""
    return (hb, None) if b_ih is not None else (None, hb if b_hh is not None else None)


@helper
def lstm_gradient(
    g: Any, gh: Any, gc: Any, input: Any, hx: Any, cx: Any, w_ih: Any, w_hh: Any, output: Any, gates: Any, cells: Any, b_ih: Any,
    b_hh: Any, w_hr: Any, reverse: bool, batch_sizes: Any, needs: Any,
) -> Any:  # fmt: skip
    d = lstm_layer_backward(g, gh, gc, input, hx, cx, w_ih, w_hh, output, gates, cells, b_ih, b_hh, w_hr, needs[0], reverse, batch_sizes)
    bias = (d[5] if needs[5] else None, clone(d[5]) if needs[6] else None)
    return d[0] if needs[0] else None, d[1], d[2], d[3], d[4], *bias, d[6] if needs[7] else None


@helper
def lstm_double(
    hi: Any, hh: Any, hc: Any, hwi: Any, hwh: Any, hb: Any, hwr: Any, g: Any, gh: Any, gc: Any, input: Any, hx: Any, cx: Any, w_ih: Any,
    w_hh: Any, b_ih: Any, b_hh: Any, w_hr: Any, wants_input: bool, reverse: bool, batch_sizes: Any,
) -> Any:  # fmt: skip
    b = bias_pair(hb, b_ih, b_hh)
    d = recurrent_double(
        "lstm", (hi, hh, hc, hwi, hwh, *b, None if w_hr is None else hwr), (g, gh, gc), input, (hx, cx), (w_ih, w_hh, b_ih, b_hh, w_hr),
        wants_input, reverse, batch_sizes, "tanh",
    )  # fmt: skip
    return d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], None, None, None, d[8], d[9], d[10]


@helper
def gru_gradient(
    g: Any, gh: Any, input: Any, hx: Any, w_ih: Any, w_hh: Any, output: Any, gates: Any, b_ih: Any, b_hh: Any, reverse: bool,
    batch_sizes: Any, needs: Any,
) -> Any:  # fmt: skip
    d = gru_layer_backward(g, gh, input, hx, w_ih, w_hh, output, gates, b_ih, b_hh, needs[0], reverse, batch_sizes)
    return d[0] if needs[0] else None, d[1], d[2], d[3], d[4] if needs[4] else None, d[5] if needs[5] else None


@helper
def gru_double(
    hi: Any, hh: Any, hwi: Any, hwh: Any, hbi: Any, hbh: Any, g: Any, gh: Any, input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any,
    b_hh: Any, wants_input: bool, reverse: bool, batch_sizes: Any,
) -> Any:  # fmt: skip
    b = (None if b_ih is None else hbi, None if b_hh is None else hbh)
    d = recurrent_double(
        "gru", (hi, hh, hwi, hwh, *b, None), (g, gh), input, (hx,), (w_ih, w_hh, b_ih, b_hh, None), wants_input, reverse, batch_sizes,
        "tanh",
    )  # fmt: skip
    return d[0], d[1], d[2], d[3], d[4], d[5], None, None, d[6], d[7]


# ---- the records -------------------------------------------------------------------------------------------------------------------------


def _flops(input: TensorType, weight_ih: TensorType, weight_hh: TensorType, times: int) -> Any:
    """Two products for each row."""
    rows: Any = 1
    for n in input.shape[:-1]:
        rows = rows * n
    return 2 * times * rows * (weight_ih.numel + weight_hh.numel)


define(
    """rnn_layer(Tensor input, Tensor hx, Tensor weight_ih, Tensor weight_hh, Tensor? bias_ih=None, Tensor? bias_hh=None,
    str nonlinearity='tanh', bool reverse=False, int[]? batch_sizes=None) -> (Tensor output, Tensor h_n)""",
    type_rule=_rnn_type, reference=_rnn, cost="matmul", method=False, function=False, onnx="RNN@14",
    flops=lambda ins, outs, attributes: _flops(ins[0], ins[2], ins[3], 1),
    gradient=Joint(
        lambda g_output, g_h_n, input, hx, weight_ih, weight_hh, output, bias_ih, bias_hh, nonlinearity, reverse, batch_sizes, needs:
        rnn_gradient(
            g_output, g_h_n, input, hx, weight_ih, weight_hh, output, bias_ih, bias_hh, nonlinearity, reverse, batch_sizes, needs
        )
    ),
    decomposition=lambda input, hx, weight_ih, weight_hh, bias_ih, bias_hh, nonlinearity, reverse, batch_sizes: recurrent_parts(
        "rnn", input, (hx,), (weight_ih, weight_hh, bias_ih, bias_hh, None), reverse, batch_sizes, nonlinearity
    ),
    doc="""h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu, over a sequence: one direction of one Elman layer (Elman 1990).

input (T, B, I), or packed rows (N, I) with batch_sizes; hx (B, H); weight_ih (H, I); weight_hh (H, H); biases (H,). Output (T, B, H) or
(N, H), and the last state (B, H). reverse: from the last step to the first.""",
)  # fmt: skip
define(
    """rnn_layer_backward(Tensor grad, Tensor grad_h, Tensor input, Tensor hx, Tensor weight_ih, Tensor weight_hh, Tensor output,
    Tensor? bias_ih, Tensor? bias_hh, bool wants_input, str nonlinearity='tanh', bool reverse=False, int[]? batch_sizes=None)
    -> (Tensor dinput, Tensor dhx, Tensor dweight_ih, Tensor dweight_hh, Tensor dbias)""",
    type_rule=lambda grad, grad_h, input, hx, weight_ih, weight_hh, output, bias_ih, bias_hh, wants_input, **attributes: (
        _wanted(input, wants_input), hx, weight_ih, weight_hh, weight_ih.with_shape(weight_ih.shape[:1])
    ),
    reference=_rnn_backward, cost="matmul", method=False, function=False,
    flops=lambda ins, outs, attributes: _flops(ins[2], ins[4], ins[5], 2),
    gradient=Joint(
        lambda g_dinput, g_dhx, g_dweight_ih, g_dweight_hh, g_dbias, grad, grad_h, input, hx, weight_ih, weight_hh, bias_ih, bias_hh,
        wants_input, nonlinearity, reverse, batch_sizes: rnn_double(
            g_dinput, g_dhx, g_dweight_ih, g_dweight_hh, g_dbias, grad, grad_h, input, hx, weight_ih, weight_hh, bias_ih, bias_hh,
            wants_input, nonlinearity, reverse, batch_sizes,
        )
    ),
    doc="""The gradients of rnn_layer; both biases have the same. That of an input that is not wanted has shape (0,).

`output` is that of the same operands: its own gradient counts it as their function.""",
)  # fmt: skip
define(
    """lstm_layer(Tensor input, Tensor hx, Tensor cx, Tensor weight_ih, Tensor weight_hh, Tensor? bias_ih=None, Tensor? bias_hh=None,
    Tensor? weight_hr=None, bool reverse=False, int[]? batch_sizes=None)
    -> (Tensor output, Tensor h_n, Tensor c_n, Tensor gates, Tensor cells)""",
    type_rule=_lstm_type, reference=_lstm, cost="matmul", method=False, function=False, onnx="LSTM@14",
    flops=lambda ins, outs, attributes: _flops(ins[0], ins[3], ins[4], 1),
    gradient=Joint(
        lambda g_output, g_h_n, g_c_n, input, hx, cx, weight_ih, weight_hh, output, gates, cells, bias_ih, bias_hh, weight_hr, reverse,
        batch_sizes, needs: lstm_gradient(
            g_output, g_h_n, g_c_n, input, hx, cx, weight_ih, weight_hh, output, gates, cells, bias_ih, bias_hh, weight_hr, reverse,
            batch_sizes, needs,
        )
    ),
    decomposition=lambda input, hx, cx, weight_ih, weight_hh, bias_ih, bias_hh, weight_hr, reverse, batch_sizes: recurrent_parts(
        "lstm", input, (hx, cx), (weight_ih, weight_hh, bias_ih, bias_hh, weight_hr), reverse, batch_sizes, "tanh"
    ),
    doc="""One direction of one LSTM layer over a sequence (Hochreiter and Schmidhuber 1997, with forget gates).

Of W_ih x + b_ih + W_hh h + b_hh the quarters are i, f, g, o; c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c'), projected
by weight_hr (P, H) if given.

input (T, B, I), or packed rows (N, I) with batch_sizes; hx (B, P or H), cx (B, H); weight_ih (4H, I); weight_hh (4H, P or H). The gates and
cells of all steps are kept for backward; no gradient flows through these two outputs.""",
)  # fmt: skip
define(
    """lstm_layer_backward(Tensor grad, Tensor grad_h, Tensor grad_c, Tensor input, Tensor hx, Tensor cx, Tensor weight_ih,
    Tensor weight_hh, Tensor output, Tensor gates, Tensor cells, Tensor? bias_ih, Tensor? bias_hh, Tensor? weight_hr, bool wants_input,
    bool reverse=False, int[]? batch_sizes=None) -> (Tensor dinput, Tensor dhx, Tensor dcx, Tensor dweight_ih, Tensor dweight_hh,
    Tensor dbias, Tensor dweight_hr)""",
    type_rule=lambda grad, grad_h, grad_c, input, hx, cx, weight_ih, weight_hh, output, gates, cells, bias_ih, bias_hh, weight_hr,
    wants_input, **attributes: (
        _wanted(input, wants_input), hx, cx, weight_ih, weight_hh, weight_ih.with_shape(weight_ih.shape[:1]),
        input.with_shape((0,)) if weight_hr is None else weight_hr,
    ),
    reference=_lstm_backward, cost="matmul", method=False, function=False,
    flops=lambda ins, outs, attributes: _flops(ins[3], ins[6], ins[7], 2),
    gradient=Joint(
        lambda g_dinput, g_dhx, g_dcx, g_dweight_ih, g_dweight_hh, g_dbias, g_dweight_hr, grad, grad_h, grad_c, input, hx, cx, weight_ih,
        weight_hh, bias_ih, bias_hh, weight_hr, wants_input, reverse, batch_sizes: lstm_double(
            g_dinput, g_dhx, g_dcx, g_dweight_ih, g_dweight_hh, g_dbias, g_dweight_hr, grad, grad_h, grad_c, input, hx, cx, weight_ih,
            weight_hh, bias_ih, bias_hh, weight_hr, wants_input, reverse, batch_sizes,
        )
    ),
    doc="""The gradients of lstm_layer; both biases have the same.

Those of an input that is not wanted and of a missing weight_hr have shape (0,). `output`, `gates` and
`cells` are those of the same operands: its own gradient counts them as their functions.""",
)  # fmt: skip
define(
    """gru_layer(Tensor input, Tensor hx, Tensor weight_ih, Tensor weight_hh, Tensor? bias_ih=None, Tensor? bias_hh=None,
    bool reverse=False, int[]? batch_sizes=None) -> (Tensor output, Tensor h_n, Tensor gates)""",
    type_rule=_gru_type, reference=_gru, cost="matmul", method=False, function=False, onnx="GRU@14",
    flops=lambda ins, outs, attributes: _flops(ins[0], ins[2], ins[3], 1),
    gradient=Joint(
        lambda g_output, g_h_n, input, hx, weight_ih, weight_hh, output, gates, bias_ih, bias_hh, reverse, batch_sizes, needs: gru_gradient(
            g_output, g_h_n, input, hx, weight_ih, weight_hh, output, gates, bias_ih, bias_hh, reverse, batch_sizes, needs
        )
    ),
    decomposition=lambda input, hx, weight_ih, weight_hh, bias_ih, bias_hh, reverse, batch_sizes: recurrent_parts(
        "gru", input, (hx,), (weight_ih, weight_hh, bias_ih, bias_hh, None), reverse, batch_sizes, "tanh"
    ),
    doc="""One direction of one GRU layer over a sequence (Cho et al., arXiv:1406.1078).

r, z = sigmoid(W x + b + U h + b), n = tanh(W_n x + b + r (U_n h + b)), h' = (1 - z) n + z h; the weights hold r, z, n in this order.

input (T, B, I), or packed rows (N, I) with batch_sizes; hx (B, H); weight_ih (3H, I); weight_hh (3H, H). `gates` (r, z, n, U_n h + b of all
steps) is kept for backward; no gradient flows through it.""",
)  # fmt: skip
define(
    """gru_layer_backward(Tensor grad, Tensor grad_h, Tensor input, Tensor hx, Tensor weight_ih, Tensor weight_hh, Tensor output,
    Tensor gates, Tensor? bias_ih, Tensor? bias_hh, bool wants_input, bool reverse=False, int[]? batch_sizes=None)
    -> (Tensor dinput, Tensor dhx, Tensor dweight_ih, Tensor dweight_hh, Tensor dbias_ih, Tensor dbias_hh)""",
    type_rule=lambda grad, grad_h, input, hx, weight_ih, weight_hh, output, gates, bias_ih, bias_hh, wants_input, **attributes: (
        _wanted(input, wants_input), hx, weight_ih, weight_hh, weight_ih.with_shape(weight_ih.shape[:1]),
        weight_ih.with_shape(weight_ih.shape[:1]),
    ),
    reference=_gru_backward, cost="matmul", method=False, function=False,
    flops=lambda ins, outs, attributes: _flops(ins[2], ins[4], ins[5], 2),
    gradient=Joint(
        lambda g_dinput, g_dhx, g_dweight_ih, g_dweight_hh, g_dbias_ih, g_dbias_hh, grad, grad_h, input, hx, weight_ih, weight_hh, bias_ih,
        bias_hh, wants_input, reverse, batch_sizes: gru_double(
            g_dinput, g_dhx, g_dweight_ih, g_dweight_hh, g_dbias_ih, g_dbias_hh, grad, grad_h, input, hx, weight_ih, weight_hh, bias_ih,
            bias_hh, wants_input, reverse, batch_sizes,
        )
    ),
    doc="""The gradients of gru_layer; that of an input that is not wanted has shape (0,).

`output` and `gates` are those of the same operands: its own gradient counts them as their functions.""",
)  # fmt: skip
