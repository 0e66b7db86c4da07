"""Recurrent layers in NumPy: one product for all inputs, one product and a few passes for each step.

Rows are packed: those of the first step, then of the second, …; the sizes of the steps do not grow. In backward everything that does not
depend on the incoming gradient is computed for all steps at once; a step then only multiplies by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twofold.ops.recurrent_steps import steps_of
from twofold.ops.summation import add_reduce

Array = Any


def _sigmoid(x: Array) -> None:
    np.negative(x, out=x)
    np.exp(x, out=x)
    x += 1.0
    np.reciprocal(x, out=x)


def _project(x: Array, weight: Array, *biases: Array | None) -> Array:
    y = x.dot(weight.T)
    for b in biases:
        if b is not None:
            y += b
    return y


def before(values: Array, first: Array, sizes: Sequence[int], reverse: bool) -> Array:
    """For each row the state before its step, from the states after the steps and the initial one."""
    out = np.empty_like(values)
    state = first.copy()
    for start, end in steps_of(sizes, reverse):
        out[start:end] = state[: end - start]
        state[: end - start] = values[start:end]
    return out


def rnn_forward(
    x: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, sizes: Sequence[int], reverse: bool, nonlinearity: str
) -> tuple[Array, Array]:
    """(output rows, last h)."""
    out = _project(x, w_ih, b_ih, b_hh)
    h, w = np.array(hx), w_hh.T
    for start, end in steps_of(sizes, reverse):
        a = out[start:end]
        a += h[: end - start].dot(w)
        if nonlinearity == "tanh":
            np.tanh(a, out=a)
        else:
            np.maximum(a, 0, out=a)
        h[: end - start] = a
    return out, h


def rnn_backward(
    g: Array, gh: Array, x: Array, hx: Array, w_ih: Array, w_hh: Array, output: Array, sizes: Sequence[int], reverse: bool,
    nonlinearity: str, wants_input: bool,
) -> tuple[Array, ...]:  # fmt: skip
    """(dx or None, dhx, dw_ih, dw_hh, db)."""
    da = 1.0 - output * output if nonlinearity == "tanh" else (output > 0).astype(output.dtype)
    dh = np.array(gh)
    for start, end in reversed(steps_of(sizes, reverse)):
        d = dh[: end - start]
        d += g[start:end]
        da[start:end] *= d
        np.matmul(da[start:end], w_hh, out=d)
    return da.dot(w_ih) if wants_input else None, dh, da.T.dot(x), da.T.dot(before(output, hx, sizes, reverse)), add_reduce(da, (0,))


def lstm_forward(
    x: Array, hx: Array, cx: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, w_hr: Any, sizes: Sequence[int], reverse: bool
) -> tuple[Array, Array, Array, Array, Array]:
    """(output rows, last h, last c, gates (N, 4H) after their functions, cells (N, H))."""
    gates = _project(x, w_ih, b_ih, b_hh)
    n, width = gates.shape[0], cx.shape[1]
    cells = np.empty((n, width), gates.dtype)
    out = np.empty((n, hx.shape[1]), gates.dtype)
    h, c, w = np.array(hx), np.array(cx), w_hh.T
    product, squashed = np.empty((h.shape[0], 4 * width), gates.dtype), np.empty((h.shape[0], width), gates.dtype)
    with np.errstate(over="ignore"):
        for start, end in steps_of(sizes, reverse):
            m = end - start
            a, cell, t = gates[start:end], cells[start:end], squashed[:m]
            a += np.dot(h[:m], w, out=product[:m])
            _sigmoid(a[:, : 2 * width])
            np.tanh(a[:, 2 * width : 3 * width], out=a[:, 2 * width : 3 * width])
            _sigmoid(a[:, 3 * width :])
            np.multiply(a[:, width : 2 * width], c[:m], out=cell)
            cell += np.multiply(a[:, :width], a[:, 2 * width : 3 * width], out=t)
            np.tanh(cell, out=t)
            c[:m] = cell
            if w_hr is None:
                h[:m] = np.multiply(t, a[:, 3 * width :], out=out[start:end])
            else:
                t *= a[:, 3 * width :]
                h[:m] = out[start:end] = t.dot(w_hr.T)
    return out, h, c, gates, cells


def lstm_backward(
    g: Array, gh: Array, gc: Array, x: Array, hx: Array, cx: Array, w_ih: Array, w_hh: Array, w_hr: Any, output: Array, gates: Array,
    cells: Array, sizes: Sequence[int], reverse: bool, wants_input: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """(dx or None, dhx, dcx, dw_ih, dw_hh, db, dw_hr or None)."""
    n, width = cells.shape
    gate = gates.reshape(n, 4, width)
    i, f, c, o = (gate[:, k] for k in range(4))
    squashed = np.tanh(cells)
    da = gate * (1.0 - gate)  # what each gate's own slope is; the cell's is 1 - c²
    da[:, 0] *= c
    da[:, 1] *= before(cells, cx, sizes, reverse)
    da[:, 2] = i * (1.0 - c * c)
    da[:, 3] *= squashed
    to_cell = o * (1.0 - squashed * squashed)
    flat = da.reshape(n, 4 * width)
    dh, dc = np.array(gh), np.array(gc)
    projected = np.empty((n, dh.shape[1]), dh.dtype) if w_hr is not None else None
    for start, end in reversed(steps_of(sizes, reverse)):
        m = end - start
        h, d, a = dh[:m], dc[:m], da[start:end]
        h += g[start:end]
        if projected is None:
            to_h = h
        else:
            projected[start:end] = h
            to_h = h.dot(w_hr)
        d += to_h * to_cell[start:end]
        a[:, :3] *= d[:, None]
        a[:, 3] *= to_h
        d *= f[start:end]
        np.matmul(flat[start:end], w_hh, out=h)
    dw_hr = None if projected is None else projected.T.dot(o * squashed)
    dx = flat.dot(w_ih) if wants_input else None
    return dx, dh, dc, flat.T.dot(x), flat.T.dot(before(output, hx, sizes, reverse)), add_reduce(flat, (0,)), dw_hr


def gru_forward(
    x: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, sizes: Sequence[int], reverse: bool
) -> tuple[Array, Array, Array]:
    """(output rows, last h, gates (N, 4H): r, z, n and U_n h + b_n)."""
    width = hx.shape[1]
    gates = np.empty((x.shape[0], 4 * width), x.dtype)
    gates[:, : 3 * width] = _project(x, w_ih, b_ih)
    out = np.empty((x.shape[0], width), x.dtype)
    h, w = np.array(hx), w_hh.T
    product = np.empty((h.shape[0], 3 * width), x.dtype)
    with np.errstate(over="ignore"):
        for start, end in steps_of(sizes, reverse):
            m = end - start
            a, last, y = gates[start:end], h[:m], out[start:end]
            p = np.dot(last, w, out=product[:m])
            if b_hh is not None:
                p += b_hh
            a[:, : 2 * width] += p[:, : 2 * width]
            _sigmoid(a[:, : 2 * width])
            a[:, 3 * width :] = p[:, 2 * width :]
            n = a[:, 2 * width : 3 * width]
            n += np.multiply(a[:, :width], a[:, 3 * width :], out=y)
            np.tanh(n, out=n)
            np.subtract(last, n, out=y)
            y *= a[:, width : 2 * width]
            y += n
            last[...] = y
    return out, h, gates


def gru_backward(
    g: Array, gh: Array, x: Array, hx: Array, w_ih: Array, w_hh: Array, output: Array, gates: Array, sizes: Sequence[int], reverse: bool,
    wants_input: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """(dx or None, dhx, dw_ih, dw_hh, db_ih, db_hh)."""
    rows, width = output.shape
    r, z, n, nh = (gates.reshape(rows, 4, width)[:, k] for k in range(4))
    last = before(output, hx, sizes, reverse)
    to_n = (1.0 - z) * (1.0 - n * n)
    dp = np.empty((rows, 3, width), output.dtype)  # of U h + b
    np.multiply(to_n * nh, r * (1.0 - r), out=dp[:, 0])
    np.multiply(last - n, z * (1.0 - z), out=dp[:, 1])
    np.multiply(to_n, r, out=dp[:, 2])
    flat = dp.reshape(rows, 3 * width)
    dh = np.array(gh)
    for start, end in reversed(steps_of(sizes, reverse)):
        h = dh[: end - start]
        h += g[start:end]
        dp[start:end] *= h[:, None]
        to_n[start:end] *= h
        h *= z[start:end]
        h += flat[start:end].dot(w_hh)
    dw_hh, db_hh = flat.T.dot(last), add_reduce(flat, (0,))
    dp[:, 2] = to_n
    return flat.dot(w_ih) if wants_input else None, dh, flat.T.dot(x), dw_hh, add_reduce(flat, (0,)), db_hh
