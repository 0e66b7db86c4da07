"""Normalisation over rows, groups and batches.

The gradient of a normalisation x̂ = (x - mean) r, r = 1/sqrt(var + eps) over N elements, is r P(u) with P(u) = u - mean(u) - x̂ mean(u x̂)
(RMS normalisation: no mean(u)). P is symmetric, so the gradient of that gradient has the same parts; see `normalized_double`.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import Joint
from twofold.ir.types import TensorType, tensor_type
from twofold.ops.batch_statistics import Layout, gradients, normalize, statistics
from twofold.ops.record import define, helper
from twofold.ops.reduction import require_float
from twofold.ops.summation import chunks, column_sums, row_sums
from twofold.support.errors import ShapeError, ValueRangeError

# ---- the parts that normalisations share -------------------------------------------------------------------------------------------


@helper
def row_statistics(x: Any, dim: Any, eps: float, centred: bool) -> Any:
    """(x - mean, r, x̂) over `dim`."""
    c = x - mean(x, dim, True) if centred else x
    r = rsqrt(mean(c * c, dim, True) + eps)
    return c, r, c * r


@helper
def projected(u: Any, xhat: Any, dim: Any, centred: bool) -> Any:
    """P(u), see the module's text."""
    p = u - xhat * mean(u * xhat, dim, True)
    return p - mean(u, dim, True) if centred else p


@helper
def normalized_double(h: Any, hw: Any, hb: Any, g: Any, x: Any, w: Any, dim: Any, eps: float, centred: bool) -> Any:
    """The gradient of (dx, dw, db) = (r P(g w), g x̂, g) against (h, hw, hb), everything broadcast to x; hw, hb and w may be None.

    Returns (to g, to x, to w before it is summed to w's shape).
    """
    _, r, xhat = row_statistics(x, dim, eps, centred)
    u = g if w is None else g * w
    ph = projected(h, xhat, dim, centred)
    to_u = r * ph
    to_g = to_u if w is None else to_u * w
    q = -(r * (h * mean(u * xhat, dim, True) + u * mean(h * xhat, dim, True)))
    if hw is not None:
        to_g = to_g + hw * xhat
        q = q + hw * g
    if hb is not None:
        to_g = to_g + hb
    to_x = r * projected(q, xhat, dim, centred) - (r * r) * xhat * mean(u * ph, dim, True)
    return to_g, to_x, g * to_u


def _rows(a: Any, width: int) -> Any:
    return a.reshape(-1, width) if width else a.reshape(0, 0)


def _normalize_rows(x: Any, out: Any, eps: float, centred: bool) -> Any:
    """x̂ of 2-d rows into `out`; returns r, one a row."""
    n = x.shape[1]
    if centred:
        np.subtract(x, row_sums(x) / n, out=out)
        x = out
    r = 1.0 / np.sqrt(np.vecdot(x, x) / n + x.dtype.type(eps))
    np.multiply(x, r[:, None], out=out)
    return r


def _norm_forward(input: Any, width: int, weight: Any, bias: Any, eps: float, centred: bool) -> Any:
    """Normalise rows of `width` elements; weight and bias are 1-d of that width."""
    x = _rows(input, width)
    out = np.empty(x.shape, x.dtype)
    for part in chunks(*x.shape):
        o = out[part]
        _normalize_rows(x[part], o, eps, centred)
        if weight is not None:
            o *= weight
        if bias is not None:
            o += bias
    return out.reshape(input.shape)


def _norm_backward(
    grad: Any, input: Any, width: int, weight: Any, eps: float, centred: bool, wants: tuple[bool, bool]
) -> tuple[Any, Any, Any]:
    """(dx, dw or None, db or None) for rows of `width` elements."""
    g, x = _rows(grad, width), _rows(input, width)
    dx = np.empty(x.shape, x.dtype)
    dw, db = (np.zeros(width, x.dtype) if want else None for want in wants)
    for part in chunks(*x.shape):
        gp, d = g[part], dx[part]
        xhat = np.empty(gp.shape, x.dtype)
        r = _normalize_rows(x[part], xhat, eps, centred)
        if dw is not None:
            dw += column_sums(np.multiply(gp, xhat, out=d))
        if db is not None:
            db += column_sums(gp)
        u = gp if weight is None else gp * weight
        _project_rows(u, xhat, d, centred)
        d *= r[:, None]
    return dx.reshape(input.shape), dw, db


def _project_rows(u: Any, xhat: Any, out: Any, centred: bool) -> None:
    """P(u) of 2-d rows into `out`; overwrites x̂."""
    n = u.shape[1]
    a = np.vecdot(u, xhat) / n
    if centred:
        np.subtract(u, row_sums(u) / n, out=out)
        u = out
    xhat *= a[:, None]
    np.subtract(u, xhat, out=out)


def _optional(t: TensorType | None, shape: tuple[Any, ...], wanted: bool, like: TensorType) -> TensorType:
    """The type of a parameter's gradient; of shape (0,) where it is not wanted."""
    return tensor_type(like.dtype if t is None else t.dtype, shape if wanted else (0,), like.device)


def _or_empty(a: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    return np.zeros(0, dtype) if a is None else a.reshape(shape)


# ---- layer and RMS normalisation -------------------------------------------------------------------------------------------------------


def check_normalized(name: str, input: TensorType, normalized_shape: tuple[Any, ...], *parameters: TensorType | None) -> None:
    """The last dimensions must be `normalized_shape`, and so must be the parameters' shapes."""
    require_float(name, input.dtype)
    k = len(normalized_shape)
    if k == 0 or input.shape[max(0, input.ndim - k) :] != normalized_shape:
        raise ShapeError(
            f"{name}: normalized_shape={normalized_shape} must be the last dimensions of the input, whose shape is {input.shape}"
        )
    for which, p in zip(("weight", "bias"), parameters, strict=False):
        if p is not None and p.shape != normalized_shape:
            raise ShapeError(f"{name}: {which} has shape {p.shape}, not normalized_shape={normalized_shape}")


def _layer_norm_type(input: TensorType, weight: Any, bias: Any, normalized_shape: tuple[Any, ...], eps: float) -> TensorType:
    check_normalized("layer_norm", input, normalized_shape, weight, bias)
    return input


def _flat(a: Any) -> Any:
    return None if a is None else a.reshape(-1)


def _layer_norm(input: Any, weight: Any, bias: Any, normalized_shape: tuple[int, ...], eps: float = 1e-5) -> Any:
    return _norm_forward(input, math.prod(normalized_shape), _flat(weight), _flat(bias), eps, True)


@helper
def last_dims(input_shape: Any, normalized_shape: Any) -> Any:
    return tuple(range(len(input_shape) - len(normalized_shape), len(input_shape)))


@helper
def affine(xhat: Any, weight: Any, bias: Any) -> Any:
    if weight is not None:
        xhat = xhat * weight
    return xhat if bias is None else xhat + bias


@helper
def layer_norm_gradient(g: Any, input: Any, weight: Any, normalized_shape: Any, eps: float, needs: Any) -> Any:
    d = layer_norm_backward(g, input, normalized_shape, eps, needs[1], needs[2], weight)
    return d[0] if needs[0] else None, d[1] if needs[1] else None, d[2] if needs[2] else None


define(
    "layer_norm(Tensor input, Shape normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
    type_rule=_layer_norm_type, cost="reduction", node_name="NativeLayerNormBackward0", method=False, onnx="LayerNormalization@17",
    reference=_layer_norm,
    gradient=Joint(
        lambda g, input, weight, normalized_shape, eps, needs: layer_norm_gradient(g, input, weight, normalized_shape, eps, needs)
    ),
    decomposition=lambda input, weight, bias, normalized_shape, eps: affine(
        row_statistics(input, last_dims(input.shape, normalized_shape), eps, True)[2], weight, bias
    ),
    doc="""(x - mean) / sqrt(var + eps) over the last dimensions, which are `normalized_shape`, times `weight` plus `bias`.

    Backward computes mean and variance anew rather than keep them: two passes over the input in place of a second output.
    J. L. Ba, J. R. Kiros, G. E. Hinton, "Layer Normalization" (2016).""",
)  # fmt: skip


def _layer_norm_backward_type(
    grad: TensorType, input: TensorType, weight: Any, normalized_shape: Any, eps: float, wants_weight: bool, wants_bias: bool
) -> tuple[TensorType, TensorType, TensorType]:
    return input, _optional(weight, normalized_shape, wants_weight, input), _optional(weight, normalized_shape, wants_bias, input)


def _layer_norm_backward(
    grad: Any, input: Any, weight: Any, normalized_shape: Any, eps: float, wants_weight: bool, wants_bias: bool
) -> tuple[Any, Any, Any]:
    dx, dw, db = _norm_backward(grad, input, math.prod(normalized_shape), _flat(weight), eps, True, (wants_weight, wants_bias))
    return dx, _or_empty(dw, normalized_shape, input.dtype), _or_empty(db, normalized_shape, input.dtype)


@helper
def layer_norm_double(h: Any, hw: Any, hb: Any, g: Any, x: Any, w: Any, normalized_shape: Any, eps: float, centred: bool) -> Any:
    to_g, to_x, to_w = normalized_double(h, hw, hb, g, x, w, last_dims(x.shape, normalized_shape), eps, centred)
    return to_g, to_x, None if w is None else sum_to_size(to_w, normalized_shape)


@helper
def norm_backward_parts(
    g: Any, input: Any, weight: Any, normalized_shape: Any, eps: float, centred: bool, wants_weight: bool, wants_bias: bool
) -> Any:
    """(dx, dw, db) of a normalisation of the last dimensions: r P(g w), and g x̂ and g summed over the others."""
    dim = last_dims(input.shape, normalized_shape)
    _, r, xhat = row_statistics(input, dim, eps, centred)
    return (
        r * projected(g if weight is None else g * weight, xhat, dim, centred),
        sum_to_size(g * xhat, normalized_shape) if wants_weight else new_zeros(input, (0,)),
        sum_to_size(g, normalized_shape) if wants_bias else new_zeros(input, (0,)),
    )


define(
    """layer_norm_backward(
        Tensor grad, Tensor input, Shape normalized_shape, float eps, bool wants_weight, bool wants_bias, Tensor? weight=None)
    -> (Tensor dinput, Tensor dweight, Tensor dbias)""",
    type_rule=_layer_norm_backward_type, reference=_layer_norm_backward, cost="reduction", method=False,
    gradient=Joint(
        lambda g_dinput, g_dweight, g_dbias, grad, input, weight, normalized_shape, eps, wants_weight, wants_bias: layer_norm_double(
            g_dinput, g_dweight if wants_weight else None, g_dbias if wants_bias else None, grad, input, weight, normalized_shape, eps, True
        )
    ),
    decomposition=lambda grad, input, weight, normalized_shape, eps, wants_weight, wants_bias: norm_backward_parts(
        grad, input, weight, normalized_shape, eps, True, wants_weight, wants_bias
    ),
    doc="The gradients of layer_norm; those of parameters that are not wanted have shape (0,).",
)  # fmt: skip


def _rms_eps(eps: float | None, dtype: Any) -> float:
    return float(np.finfo(dtype).eps) if eps is None else eps


@helper
def eps_of(eps: Any, dtype: Any) -> Any:
    """The default of rms_norm: the distance from 1 to the next number of the dtype."""
    if eps is not None:
        return eps
    return 2.0**-52 if dtype.itemsize == 8 else 2.0**-23


def _rms_norm_type(input: TensorType, weight: Any, normalized_shape: tuple[Any, ...], eps: float | None) -> TensorType:
    check_normalized("rms_norm", input, normalized_shape, weight)
    return input


@helper
def rms_norm_gradient(g: Any, input: Any, weight: Any, input_dtype: Any, normalized_shape: Any, eps: Any, needs: Any) -> Any:
    d = rms_norm_backward(g, input, normalized_shape, eps_of(eps, input_dtype), needs[1], weight)
    return d[0] if needs[0] else None, d[1] if needs[1] else None


define(
    "rms_norm(Tensor input, Shape normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    type_rule=_rms_norm_type, cost="reduction", node_name="FusedRmsNormBackward0", method=False, onnx="RMSNormalization@23",
    reference=lambda input, weight, normalized_shape, eps=None: _norm_forward(
        input, math.prod(normalized_shape), _flat(weight), None, _rms_eps(eps, input.dtype), False
    ),
    gradient=Joint(
        lambda g, input, weight, input_dtype, normalized_shape, eps, needs: rms_norm_gradient(
            g, input, weight, input_dtype, normalized_shape, eps, needs
        )
    ),
    decomposition=lambda input, weight, normalized_shape, eps: affine(
        row_statistics(input, last_dims(input.shape, normalized_shape), eps_of(eps, input.dtype), False)[2], weight, None
    ),
    doc="""x / sqrt(mean(x²) + eps) over the last dimensions, which are `normalized_shape`, times `weight`.

    eps: by default the machine epsilon of the dtype computed in. B. Zhang, R. Sennrich, "Root Mean Square Layer Normalization" (2019).""",
)  # fmt: skip


def _rms_norm_backward(grad: Any, input: Any, weight: Any, normalized_shape: Any, eps: float, wants_weight: bool) -> tuple[Any, Any]:
    dx, dw, _ = _norm_backward(grad, input, math.prod(normalized_shape), _flat(weight), eps, False, (wants_weight, False))
    return dx, _or_empty(dw, normalized_shape, input.dtype)


define(
    """rms_norm_backward(Tensor grad, Tensor input, Shape normalized_shape, float eps, bool wants_weight, Tensor? weight=None)
    -> (Tensor dinput, Tensor dweight)""",
    type_rule=lambda grad, input, weight, normalized_shape, eps, wants_weight: (
        input, _optional(weight, normalized_shape, wants_weight, input)
    ),
    reference=_rms_norm_backward, cost="reduction", method=False,
    gradient=Joint(
        lambda g_dinput, g_dweight, grad, input, weight, normalized_shape, eps, wants_weight: layer_norm_double(
            g_dinput, g_dweight if wants_weight else None, None, grad, input, weight, normalized_shape, eps, False
        )
    ),
    decomposition=lambda grad, input, weight, normalized_shape, eps, wants_weight: norm_backward_parts(
        grad, input, weight, normalized_shape, eps, False, wants_weight, False
    )[:2],
    doc="The gradients of rms_norm; that of a weight that is not wanted has shape (0,).",
)  # fmt: skip

# ---- group normalisation ---------------------------------------------------------------------------------------------------------------


def check_channels(name: str, input: TensorType, **parameters: TensorType | None) -> None:
    """Parameters of one element a channel (dimension 1)."""
    require_float(name, input.dtype)
    if input.ndim < 2:
        raise ShapeError(f"{name}: the input needs at least 2 dimensions (batch, channels, …), its shape is {input.shape}")
    for which, p in parameters.items():
        if p is not None and p.shape != (input.shape[1],):
            raise ShapeError(f"{name}: {which} has shape {p.shape}, the input of shape {input.shape} has {input.shape[1]} channels")


def _group_norm_type(input: TensorType, weight: Any, bias: Any, num_groups: int, eps: float) -> TensorType:
    check_channels("group_norm", input, weight=weight, bias=bias)
    if num_groups < 1 or input.shape[1] % num_groups != 0:
        raise ValueRangeError(f"group_norm: {input.shape[1]} channels do not divide into {num_groups} groups")
    return input


def _grouped(a: Any, num_groups: int) -> tuple[Any, tuple[int, int, int]]:
    """(rows of one group each, (N, C, L))."""
    n, c = a.shape[:2]
    length = math.prod(a.shape[2:])
    return a.reshape(n * num_groups, c // num_groups * length), (n, c, length)


def _group_norm(input: Any, weight: Any, bias: Any, num_groups: int, eps: float = 1e-5) -> Any:
    x, ncl = _grouped(input, num_groups)
    out = np.empty(x.shape, x.dtype)
    if not x.size:
        return out.reshape(input.shape)
    for part in chunks(*x.shape):
        _normalize_rows(x[part], out[part], eps, True)
    images = out.reshape(ncl)
    if weight is not None:
        images *= weight[:, None]
    if bias is not None:
        images += bias[:, None]
    return out.reshape(input.shape)


def _group_norm_backward(
    grad: Any, input: Any, weight: Any, num_groups: int, eps: float, wants_weight: bool, wants_bias: bool
) -> tuple[Any, Any, Any]:
    x, ncl = _grouped(input, num_groups)
    g = grad.reshape(ncl)
    dx, xhat = np.zeros(x.shape, x.dtype), np.empty(x.shape, x.dtype)
    r = np.empty(x.shape[0], x.dtype)
    for part in chunks(*x.shape) if x.size else ():
        r[part] = _normalize_rows(x[part], xhat[part], eps, True)
    dw = np.add.reduce(np.vecdot(g, xhat.reshape(ncl)), axis=0) if wants_weight else None
    db = np.add.reduce(np.add.reduce(g, axis=2), axis=0) if wants_bias else None
    u = (g if weight is None else g * weight[:, None]).reshape(x.shape)
    for part in chunks(*x.shape) if x.size else ():
        _project_rows(u[part], xhat[part], dx[part], True)
        dx[part] *= r[part, None]
    return dx.reshape(input.shape), _or_empty(dw, input.shape[1:2], input.dtype), _or_empty(db, input.shape[1:2], input.dtype)


@helper
def grouped_shape(shape: Any, num_groups: int) -> Any:
    """(N, groups, channels a group, length)."""
    length = 1
    for n in shape[2:]:
        length = length * n
    return (shape[0], num_groups, shape[1] // num_groups, length)


@helper
def channel_of_group(p: Any, num_groups: int) -> Any:
    """A value a channel, so that it broadcasts to `grouped_shape`."""
    return None if p is None else reshape(p, (1, num_groups, p.shape[0] // num_groups, 1))


@helper
def group_norm_gradient(g: Any, input: Any, weight: Any, num_groups: int, eps: float, needs: Any) -> Any:
    d = group_norm_backward(g, input, num_groups, eps, needs[1], needs[2], weight)
    return d[0] if needs[0] else None, d[1] if needs[1] else None, d[2] if needs[2] else None


@helper
def group_norm_parts(input: Any, weight: Any, bias: Any, num_groups: int, eps: float) -> Any:
    x = reshape(input, grouped_shape(input.shape, num_groups))
    xhat = row_statistics(x, (2, 3), eps, True)[2]
    return reshape(affine(xhat, channel_of_group(weight, num_groups), channel_of_group(bias, num_groups)), input.shape)


@helper
def group_norm_backward_parts(grad: Any, input: Any, weight: Any, num_groups: int, eps: float, wants_weight: bool, wants_bias: bool) -> Any:
    shape, parts = input.shape, grouped_shape(input.shape, num_groups)
    g = reshape(grad, parts)
    _, r, xhat = row_statistics(reshape(input, parts), (2, 3), eps, True)
    w = channel_of_group(weight, num_groups)
    return (
        reshape(r * projected(g if w is None else g * w, xhat, (2, 3), True), shape),
        reshape(sum(g * xhat, (0, 3), False), (shape[1],)) if wants_weight else new_zeros(input, (0,)),
        reshape(sum(g, (0, 3), False), (shape[1],)) if wants_bias else new_zeros(input, (0,)),
    )


@helper
def group_norm_double(h: Any, hw: Any, hb: Any, g: Any, x: Any, w: Any, num_groups: int, eps: float) -> Any:
    shape, parts = x.shape, grouped_shape(x.shape, num_groups)
    to_g, to_x, to_w = normalized_double(
        reshape(h, parts), channel_of_group(hw, num_groups), channel_of_group(hb, num_groups), reshape(g, parts), reshape(x, parts),
        channel_of_group(w, num_groups), (2, 3), eps, True,
    )  # fmt: skip
    to_w = None if w is None else reshape(sum(to_w, (0, 3), False), w.shape)
    return reshape(to_g, shape), reshape(to_x, shape), to_w


define(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
    type_rule=_group_norm_type, reference=_group_norm, cost="reduction", node_name="NativeGroupNormBackward0", method=False,
    onnx="GroupNormalization@21",
    gradient=Joint(lambda g, input, weight, num_groups, eps, needs: group_norm_gradient(g, input, weight, num_groups, eps, needs)),
    decomposition=lambda input, weight, bias, num_groups, eps: group_norm_parts(input, weight, bias, num_groups, eps),
    doc="""Normalises each of `num_groups` groups of channels (dimension 1) of each sample; `weight` and `bias` have one element a channel.

    Y. Wu, K. He, "Group Normalization" (2018).""",
)  # fmt: skip


def _channel_types(input: TensorType, weight: Any, wants_weight: bool, wants_bias: bool) -> tuple[TensorType, TensorType, TensorType]:
    shape = (input.shape[1],)
    return input, _optional(weight, shape, wants_weight, input), _optional(weight, shape, wants_bias, input)


define(
    """group_norm_backward(
        Tensor grad, Tensor input, int num_groups, float eps, bool wants_weight, bool wants_bias, Tensor? weight=None)
    -> (Tensor dinput, Tensor dweight, Tensor dbias)""",
    type_rule=lambda grad, input, weight, num_groups, eps, wants_weight, wants_bias: _channel_types(
        input, weight, wants_weight, wants_bias
    ),
    reference=_group_norm_backward, cost="reduction", method=False,
    gradient=Joint(
        lambda g_dinput, g_dweight, g_dbias, grad, input, weight, num_groups, eps, wants_weight, wants_bias: group_norm_double(
            g_dinput, g_dweight if wants_weight else None, g_dbias if wants_bias else None, grad, input, weight, num_groups, eps
        )
    ),
    decomposition=lambda grad, input, weight, num_groups, eps, wants_weight, wants_bias: group_norm_backward_parts(
        grad, input, weight, num_groups, eps, wants_weight, wants_bias
    ),
    doc="The gradients of group_norm; those of parameters that are not wanted have shape (0,).",
)  # fmt: skip

# ---- batch normalisation -----------------------------------------------------------------------------------------------------------------


def _batch_norm_type(
    input: TensorType, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float
) -> tuple[TensorType, TensorType, TensorType]:
    check_channels("batch_norm", input, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    if not training and (running_mean is None or running_var is None):
        raise ValueRangeError("batch_norm: without training=True, running_mean and running_var must be given")
    dtype = dtypes.float32 if input.dtype.is_low_precision else input.dtype
    statistic = tensor_type(dtype, (input.shape[1],), input.device)
    return input, statistic, statistic


def _batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool = False, eps: float = 1e-5
) -> tuple[Any, Any, Any]:
    layout = Layout(input)
    x = layout.open(input)
    mean, var = statistics(x, layout) if training else (running_mean.astype(x.dtype), running_var.astype(x.dtype))
    return layout.close(normalize(x, layout, mean, var, weight, bias, eps)), mean, var


def _batch_norm_backward(
    grad: Any, grad_mean: Any, grad_var: Any, input: Any, mean: Any, var: Any, weight: Any, training: bool, eps: float
) -> tuple[Any, Any, Any]:
    layout = Layout(input)
    g, x = layout.open(grad), layout.open(input)
    dx, dw, db = gradients(g, grad_mean, grad_var, x, layout, mean, var, weight, training, eps)
    return layout.close(dx), dw, db


@helper
def batch_norm_gradient(
    g: Any, gm: Any, gv: Any, input: Any, mean: Any, var: Any, weight: Any, training: bool, eps: float, needs: Any
) -> Any:
    d = native_batch_norm_backward(g, gm, gv, input, mean, var, training, eps, weight)
    return d[0] if needs[0] else None, d[1] if needs[1] else None, d[2] if needs[2] else None, None, None


@helper
def channels(p: Any, shape: Any) -> Any:
    """A value a channel, so that it broadcasts to (N, C, …)."""
    return None if p is None else reshape(p, (1, shape[1], *[1 for _ in shape[2:]]))


@helper
def but_channels(shape: Any) -> Any:
    """All dimensions but that of the channels."""
    return tuple([i for i in range(len(shape)) if i != 1])


@helper
def batch_norm_parts(input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> Any:
    shape = input.shape
    if training:
        centre = mean(input, but_channels(shape), False)
        spread = mean(squared(input - channels(centre, shape)), but_channels(shape), False)
    else:
        centre, spread = clone(running_mean), clone(running_var)
    xhat = (input - channels(centre, shape)) * channels(rsqrt(spread + eps), shape)
    return affine(xhat, channels(weight, shape), channels(bias, shape)), centre, spread


@helper
def batch_norm_backward_parts(
    g: Any, gm: Any, gv: Any, input: Any, centre: Any, spread: Any, weight: Any, training: bool, eps: float
) -> Any:
    """(dx, dw, db): dx = a g, in training also the terms by way of mean and variance, one factor a channel for each."""
    shape, dim = input.shape, but_channels(input.shape)
    r = rsqrt(spread + eps)
    c = input - channels(centre, shape)
    dw, db = sum(g * c, dim, False) * r, sum(g, dim, False)
    a = r if weight is None else r * weight
    dx = g * channels(a, shape)
    if training:
        by_var = divide_by_count(gv * 2.0 - a * r * dw, reduced_sizes(shape, dim))
        by_mean = divide_by_count(gm - a * db, reduced_sizes(shape, dim))
        dx = dx + c * channels(by_var, shape) + channels(by_mean, shape)
    return dx, dw, db


@helper
def batch_norm_double(
    h: Any, hw: Any, hb: Any, g: Any, gm: Any, gv: Any, x: Any, centre: Any, spread: Any, w: Any, training: bool, eps: float
) -> Any:
    """The gradient of native_batch_norm_backward: the normalisation's own, and the terms of the gradients of mean and variance."""
    shape, dim = x.shape, but_channels(x.shape)
    hw, hb, wide = channels(hw, shape), channels(hb, shape), channels(w, shape)
    if not training:
        r = channels(rsqrt(spread + eps), shape)
        scaled = h * r
        to_g = (scaled if w is None else scaled * wide) + hw * ((x - channels(centre, shape)) * r) + hb
        return to_g, None, None, hw * g * r, None, None, None if w is None else sum(scaled * g, dim, False)
    to_g, to_x, to_w = normalized_double(h, hw, hb, g, x, wide, dim, eps, True)
    far = h - mean(h, dim, True)
    to_x = to_x + channels(divide_by_count(gv * 2.0, reduced_sizes(shape, dim)), shape) * far
    to_gv = mean(far * x, dim, False) * 2.0
    return to_g, mean(h, dim, False), to_gv, to_x, None, None, None if w is None else sum(to_w, dim, False)


define(
    """native_batch_norm(Tensor input, Tensor? weight=None, Tensor? bias=None, Tensor? running_mean=None, Tensor? running_var=None,
    bool training=False, float eps=1e-05) -> (Tensor output, Tensor mean, Tensor var)""",
    type_rule=_batch_norm_type, reference=_batch_norm, cost="reduction", node_name="NativeBatchNormBackward0", method=False,
    onnx="BatchNormalization@15",
    gradient=Joint(
        lambda g_output, g_mean, g_var, input, mean, var, weight, training, eps, needs: batch_norm_gradient(
            g_output, g_mean, g_var, input, mean, var, weight, training, eps, needs
        )
    ),
    decomposition=lambda input, weight, bias, running_mean, running_var, training, eps: batch_norm_parts(
        input, weight, bias, running_mean, running_var, training, eps
    ),
    doc="""Normalises each channel (dimension 1) over the batch and all other dimensions; returns (output, mean, variance).

    training: mean and (biased) variance of this batch; otherwise `running_mean` and `running_var`, which carry no gradient. Nothing is
    written: `twofold.batch_norm` updates running statistics. S. Ioffe, C. Szegedy, "Batch Normalization" (2015).""",
)  # fmt: skip
define(
    """native_batch_norm_backward(Tensor grad, Tensor grad_mean, Tensor grad_var, Tensor input, Tensor mean, Tensor var, bool training,
    float eps, Tensor? weight=None) -> (Tensor dinput, Tensor dweight, Tensor dbias)""",
    type_rule=lambda grad, grad_mean, grad_var, input, mean, var, weight, training, eps: _channel_types(input, weight, True, True),
    reference=_batch_norm_backward, cost="reduction", method=False,
    gradient=Joint(
        lambda g_dinput, g_dweight, g_dbias, grad, grad_mean, grad_var, input, mean, var, weight, training, eps: batch_norm_double(
            g_dinput, g_dweight, g_dbias, grad, grad_mean, grad_var, input, mean, var, weight, training, eps
        )
    ),
    decomposition=lambda grad, grad_mean, grad_var, input, mean, var, weight, training, eps: batch_norm_backward_parts(
        grad, grad_mean, grad_var, input, mean, var, weight, training, eps
    ),
    doc="The gradients of native_batch_norm for those of its three outputs; in training mean and var are functions of the input.",
)  # fmt: skip
