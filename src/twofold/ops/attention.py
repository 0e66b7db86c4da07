"""Scaled dot-product attention as one operation.

With P = softmax(s Q Kᵀ + M), D the multipliers of dropout (0 or 1/(1-p)) and O = (P D) V, the gradients for G = dO are, products by
elements being written next to each other,

    dS = P (dP - δ),  dP = (G Vᵀ) D,  δ = rowsum(G O),  dQ = s dS K,  dK = s dSᵀ Q,  dV = (P D)ᵀ G,  dM = dS.

The gradient of these four against (hQ, hK, hV, hM) follows from <dS, A> + <P, B>, A = s (hQ Kᵀ + Q hKᵀ) + hM and B = (G hVᵀ) D.
"""
# ruff: noqa: F821  (names in rules are vocabulary names, see ops/record.py)
# mypy: disable-error-code="name-defined,call-overload,no-redef"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from twofold.ir import dtypes
from twofold.ir.op import Joint
from twofold.ir.types import TensorType, common_device, tensor_type
from twofold.ops import attention_eager as eager
from twofold.ops import philox
from twofold.ops.random import check_probability, kept_scale
from twofold.ops.record import define, helper
from twofold.ops.reduction import require_float
from twofold.ops.typing import broadcast_shapes, tensor_operand
from twofold.support.errors import DTypeError, ShapeError, ValueRangeError

NAME = "scaled_dot_product_attention"

# ---- types -----------------------------------------------------------------------------------------------------------------------------


def _check_operands(query: Any, key: Any, value: Any, attn_mask: Any) -> None:
    types = [tensor_operand(NAME, t, name) for name, t in (("query", query), ("key", key), ("value", value))]
    common_device((*types, *(() if attn_mask is None else (attn_mask,))), NAME)
    for name, t in zip(("query", "key", "value"), types, strict=True):
        require_float(NAME, t.dtype)
        if t.dtype is not types[0].dtype:
            raise DTypeError(f"{NAME}: {name} is {t.dtype.name}, query is {types[0].dtype.name}; they must have one dtype")
        if t.ndim < 2:
            raise ShapeError(f"{NAME}: {name} needs at least 2 dimensions (…, length, features), its shape is {tuple(t.shape)}")
    if key.shape[-1] != query.shape[-1]:
        raise ShapeError(f"{NAME}: query of shape {tuple(query.shape)} and key of shape {tuple(key.shape)} have different last dimensions")
    if value.shape[-2] != key.shape[-2]:
        raise ShapeError(f"{NAME}: key of shape {tuple(key.shape)} and value of shape {tuple(value.shape)} have different lengths")
    if attn_mask is not None and attn_mask.dtype is not dtypes.bool_ and attn_mask.dtype not in (query.dtype, dtypes.float32):
        raise DTypeError(f"{NAME}: attn_mask must be bool or {query.dtype.name}, not {attn_mask.dtype.name}")


def _heads(query: TensorType, key: TensorType, value: TensorType, enable_gqa: bool) -> tuple[Any, ...]:
    """The batch dimensions of the result."""
    if not enable_gqa:
        return broadcast_shapes(NAME, query.shape[:-2], key.shape[:-2], value.shape[:-2])
    if not query.ndim == key.ndim == value.ndim or query.ndim < 3:
        raise ShapeError(f"{NAME}: with enable_gqa query, key and value must have the same number of dimensions, at least 3")
    heads, shared = query.shape[-3], key.shape[-3]
    if value.shape[-3] != shared or heads % shared != 0:
        raise ShapeError(
            f"{NAME}: the {shared} and {value.shape[-3]} heads of key and value must be equal and divide the {heads} heads of query"
        )
    return (*broadcast_shapes(NAME, query.shape[:-3], key.shape[:-3], value.shape[:-3]), heads)


def _attention_type(
    query: Any, key: Any, value: Any, attn_mask: Any, state: Any, dropout_p: float, is_causal: bool, scale: Any, enable_gqa: bool
) -> tuple[TensorType, TensorType]:
    _check_operands(query, key, value, attn_mask)
    check_probability(NAME, dropout_p)
    if dropout_p > 0.0 and state is None:
        raise ValueRangeError(f"{NAME}: dropout needs the state of a generator")
    if is_causal and attn_mask is not None:
        raise ValueRangeError(f"{NAME}: attn_mask must not be given where is_causal=True; put the causal part into the mask")
    batch = _heads(query, key, value, enable_gqa)
    scores = (*batch, query.shape[-2], key.shape[-2])
    if attn_mask is not None:
        lead = len(scores) - attn_mask.ndim
        if lead < 0 or any(n not in (1, m) for n, m in zip(attn_mask.shape, scores[lead:], strict=True)):
            raise ShapeError(f"{NAME}: attn_mask of shape {tuple(attn_mask.shape)} does not broadcast to the scores' shape {scores}")
    dtype = dtypes.float32 if query.dtype.is_low_precision else query.dtype
    return query.with_shape((*scores[:-1], value.shape[-1])), tensor_type(dtype, scores[:-1], query.device)


# ---- on arrays ---------------------------------------------------------------------------------------------------------------------------


def _problem(
    query: Any, key: Any, value: Any, attn_mask: Any, state: Any, dropout_p: float, is_causal: bool, scale: Any, enable_gqa: bool
) -> eager.Problem:
    if attn_mask is not None and attn_mask.ndim < 2:
        attn_mask = attn_mask.reshape((1,) * (2 - attn_mask.ndim) + attn_mask.shape)
    return eager.Problem(query, key, value, attn_mask, state, dropout_p, is_causal, scale, enable_gqa)


def _blocked(
    query: Any, key: Any, value: Any, attn_mask: Any = None, state: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: Any = None, enable_gqa: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    problem = _problem(query, key, value, attn_mask, state, dropout_p, is_causal, scale, enable_gqa)
    lead = problem.batch if not enable_gqa else (*problem.batch[:-2], query.shape[-3])
    return eager.forward(problem, (*lead, query.shape[-2], value.shape[-1]))


def _plain(
    query: Any, key: Any, value: Any, attn_mask: Any = None, state: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: Any = None, enable_gqa: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The formula as it stands, with all scores at once."""
    if enable_gqa:
        groups = query.shape[-3] // max(1, key.shape[-3])
        key, value = np.repeat(key, groups, -3), np.repeat(value, groups, -3)
    width = query.shape[-1]
    s = np.matmul(query * query.dtype.type(scale if scale is not None else 1.0 / math.sqrt(width or 1)), np.swapaxes(key, -1, -2))
    if attn_mask is not None:
        s = np.where(attn_mask, s, -np.inf) if attn_mask.dtype == np.bool_ else s + attn_mask
    if is_causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], np.bool_)), s, -np.inf)
    top = np.max(s, axis=-1, keepdims=True, initial=-np.inf)
    top = np.where(top == -np.inf, 0.0, top)
    e = np.exp(s - top)
    total = np.sum(e, axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (np.log(total) + top)[..., 0]
    p = e / np.where(total == 0.0, 1.0, total)
    if dropout_p > 0.0:
        p = p * philox.bernoulli(int(state[0]), int(state[1]), 1.0 - dropout_p, p.shape) * kept_scale(dropout_p)
    return np.matmul(p, value).astype(query.dtype, copy=False), lse.astype(query.dtype, copy=False)


def _attention_backward(
    grad: Any, grad_logsumexp: Any, query: Any, key: Any, value: Any, output: Any, logsumexp: Any, attn_mask: Any, state: Any,
    wants_mask: bool, dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    problem = _problem(query, key, value, attn_mask, state, dropout_p, is_causal, scale, enable_gqa)
    dq, dk, dv, dm = eager.backward(problem, grad, grad_logsumexp, output, logsumexp, wants_mask)
    return dq, dk, dv, np.zeros(0, dq.dtype) if dm is None else dm.reshape(attn_mask.shape)


# ---- in other operations -----------------------------------------------------------------------------------------------------------------


@helper
def attention_scale(query: Any, scale: Any) -> Any:
    """The factor of the scores: 1 / sqrt(features) by default."""
    if scale is not None:
        return scale
    return (query.shape[-1] or 1) ** -0.5


@helper
def shared_heads(x: Any, groups: Any) -> Any:
    """Heads of key or value repeated for the queries that share them."""
    n = len(x.shape) - 2
    wide = expand(unsqueeze(x, n), (*x.shape[:n], groups, *x.shape[n:]))
    return reshape(wide, (*x.shape[: n - 1], x.shape[n - 1] * groups, *x.shape[n:]))


@helper
def unshared_heads(g: Any, shape: Any, enable_gqa: bool) -> Any:
    """The gradient of `shared_heads` and of broadcasting: sums down to `shape`."""
    if not enable_gqa:
        return unbroadcast(g, shape)
    n = len(g.shape) - 3
    groups = g.shape[n] // shape[-3]
    apart = reshape(g, (*g.shape[:n], shape[-3], groups, *g.shape[n + 1 :]))
    return unbroadcast(sum(apart, (n + 1,), False), shape)


@helper
def attention_weights(query: Any, key: Any, attn_mask: Any, is_causal: bool, scale: Any) -> Any:
    """(P, logsumexp) with all scores at once; key with the heads of query."""
    s = matmul(query * attention_scale(query, scale), swapped(key))
    if attn_mask is not None:
        s = where(attn_mask, s, -float("inf")) if attn_mask.dtype.itemsize == 1 else s + attn_mask
    if is_causal:
        rows, columns = arange(0, query.shape[-2]), arange(0, key.shape[-2])
        s = where(ge(unsqueeze(rows, 1), columns), s, -float("inf"))
    n = len(s.shape) - 1
    if s.shape[n] == 0:
        return s, sum(s, (n,), False) - float("inf")
    top = amax(s, (n,), True)
    top = where(eq(top, -float("inf")), 0.0, top)
    e = exp(s - top)
    total = sum(e, (n,), True)
    some = where(eq(total, 0.0), 1.0, total)
    lse = where(eq(total, 0.0), -float("inf"), top + log(some))
    return e / some, squeeze(lse, (n,))


@helper
def attention_parts(
    query: Any, key: Any, value: Any, attn_mask: Any, state: Any, dropout_p: float, is_causal: bool, scale: Any, enable_gqa: bool
) -> Any:
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = shared_heads(key, groups), shared_heads(value, groups)
    p, lse = attention_weights(query, key, attn_mask, is_causal, scale)
    if dropout_p > 0.0:
        p = native_dropout(p, state, dropout_p, True)[0]
    return matmul(p, value), lse


@helper
def attention_backward_parts(
    g: Any, gl: Any, query: Any, key: Any, value: Any, attn_mask: Any, state: Any, dropout_p: float, is_causal: bool, scale: Any
) -> Any:
    """(P, D or None, dP, δ - gradient of logsumexp), key and value with the heads of query."""
    p = attention_weights(query, key, attn_mask, is_causal, scale)[0]
    dp = matmul(g, swapped(value))
    keep = None
    if dropout_p > 0.0:
        keep = native_dropout(ones_like(p), state, dropout_p, True)[0]
        dp = dp * keep
    n = len(p.shape) - 1
    delta = sum(p * dp, (n,), True)
    return p, keep, dp, delta if gl is None else delta - unsqueeze(gl, n)


@helper
def attention_double(
    hq: Any, hk: Any, hv: Any, hm: Any, g: Any, gl: Any, query: Any, key: Any, value: Any, attn_mask: Any, state: Any, dropout_p: float,
    is_causal: bool, scale: Any, enable_gqa: bool,
) -> Any:  # fmt: skip
    """See the module's text: returns the gradients of (grad, grad_logsumexp, query, key, value, attn_mask)."""
    key_shape, value_shape = key.shape, value.shape
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value, hk, hv = shared_heads(key, groups), shared_heads(value, groups), shared_heads(hk, groups), shared_heads(hv, groups)
    p, keep, dp, delta = attention_backward_parts(g, gl, query, key, value, attn_mask, state, dropout_p, is_causal, scale)
    factor = attention_scale(query, scale)
    n = len(p.shape) - 1
    a = (matmul(hq, swapped(key)) + matmul(query, swapped(hk))) * factor
    if hm is not None:
        a = a + hm
    b = matmul(g, swapped(hv))
    pd = p
    if keep is not None:
        b, pd = b * keep, p * keep
    u = sum(p * a, (n,), True)
    to_p = a * (dp - delta) - u * dp + b
    to_s = p * (to_p - sum(p * to_p, (n,), True))
    to_dp = p * (a - u)
    if keep is not None:
        to_dp = to_dp * keep
    ds = p * (dp - delta)
    to_g = matmul(to_dp, value) + matmul(pd, hv)
    to_q = (matmul(to_s, key) + matmul(ds, hk)) * factor
    to_k = (matmul(swapped(to_s), query) + matmul(swapped(ds), hq)) * factor
    to_v = matmul(swapped(to_dp), g)
    return (
        to_g, None if gl is None else squeeze(u, (n,)), unbroadcast(to_q, query.shape), unshared_heads(to_k, key_shape, enable_gqa),
        unshared_heads(to_v, value_shape, enable_gqa), None if hm is None else unbroadcast(to_s, attn_mask.shape),
    )  # fmt: skip


@helper
def attention_gradient(
    g: Any, gl: Any, query: Any, key: Any, value: Any, output: Any, logsumexp: Any, attn_mask: Any, state: Any, dropout_p: float,
    is_causal: bool, scale: Any, enable_gqa: bool, needs: Any,
) -> Any:  # fmt: skip
    d = scaled_dot_product_attention_backward(
        g, gl, query, key, value, output, logsumexp, attn_mask, state, needs[3], dropout_p, is_causal, scale, enable_gqa
    )
    return d[0], d[1], d[2], d[3] if needs[3] else None, None


@helper
def attention_backward_formula(
    g: Any, gl: Any, query: Any, key: Any, value: Any, attn_mask: Any, state: Any, wants_mask: bool, dropout_p: float, is_causal: bool,
    scale: Any, enable_gqa: bool,
) -> Any:  # fmt: skip
    """The four gradients with all scores at once."""
    key_shape, value_shape = key.shape, value.shape
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = shared_heads(key, groups), shared_heads(value, groups)
    p, keep, dp, delta = attention_backward_parts(g, gl, query, key, value, attn_mask, state, dropout_p, is_causal, scale)
    factor = attention_scale(query, scale)
    ds = p * (dp - delta)
    dv = matmul(swapped(p if keep is None else p * keep), g)
    return (
        unbroadcast(matmul(ds, key) * factor, query.shape),
        unshared_heads(matmul(swapped(ds), query) * factor, key_shape, enable_gqa),
        unshared_heads(dv, value_shape, enable_gqa),
        unbroadcast(ds, attn_mask.shape) if wants_mask else full((0,), 0.0, dtype=query.dtype),
    )


# ---- the records -------------------------------------------------------------------------------------------------------------------------


def _flops(query: TensorType, key: TensorType, value: TensorType, out: TensorType, products: tuple[int, int]) -> Any:
    """Multiplications and additions of products with (query and key, value) features."""
    scores = out.numel * key.shape[-2]  # times features / features of value
    return 2 * (products[0] * query.shape[-1] + products[1] * value.shape[-1]) * (scores // value.shape[-1])


define(
    """scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, Tensor? state=None,
    float dropout_p=0.0, bool is_causal=False, float? scale=None, bool enable_gqa=False) -> (Tensor output, Tensor logsumexp)""",
    type_rule=_attention_type, reference=_plain, eager=_blocked, cost="matmul", method=False,
    node_name="ScaledDotProductFlashAttentionForCpuBackward0",
    flops=lambda ins, outs, attributes: _flops(ins[0], ins[1], ins[2], outs[0], (1, 1)),
    gradient=Joint(
        lambda g_output, g_logsumexp, query, key, value, output, logsumexp, attn_mask, state, dropout_p, is_causal, scale, enable_gqa,
        needs: attention_gradient(
            g_output, g_logsumexp, query, key, value, output, logsumexp, attn_mask, state, dropout_p, is_causal, scale, enable_gqa, needs
        )
    ),
    decomposition=lambda query, key, value, attn_mask, state, dropout_p, is_causal, scale, enable_gqa: attention_parts(
        query, key, value, attn_mask, state, dropout_p, is_causal, scale, enable_gqa
    ),
    doc="""softmax(scale query keyᵀ + mask) value, and the logarithms of the rows' sums of exp.

query (…, L, E), key (…, S, E), value (…, S, Ev), output (…, L, Ev), logsumexp (…, L). Batch dimensions broadcast.

attn_mask: bool (true: takes part) or added to the scores; broadcasts to (…, L, S). is_causal: query i sees keys 0 … i. Rows that see no
key are zero. scale: 1/sqrt(E) by default. enable_gqa: key and value may have fewer heads (dimension -3), each shared by a group of queries.
dropout_p: weights dropped after the softmax, drawn from `state` (a word a weight). `twofold.nn.functional.scaled_dot_product_attention` is
the function of the first output. A. Vaswani et al., arXiv:1706.03762; J. Ainslie et al., arXiv:2305.13245.""",
)  # fmt: skip


def _backward_type(
    grad: Any, grad_logsumexp: Any, query: Any, key: Any, value: Any, output: Any, logsumexp: Any, attn_mask: Any, state: Any,
    wants_mask: bool, **attributes: Any,
) -> tuple[TensorType, TensorType, TensorType, TensorType]:  # fmt: skip
    if wants_mask and (attn_mask is None or attn_mask.dtype is dtypes.bool_):
        raise DTypeError(f"{NAME}_backward: only a floating-point attn_mask has a gradient, not {attn_mask}")
    return query, key, value, attn_mask if wants_mask else query.with_shape((0,))


define(
    """scaled_dot_product_attention_backward(Tensor grad, Tensor? grad_logsumexp, Tensor query, Tensor key, Tensor value, Tensor output,
    Tensor logsumexp, Tensor? attn_mask, Tensor? state, bool wants_mask, float dropout_p=0.0, bool is_causal=False, float? scale=None,
    bool enable_gqa=False) -> (Tensor dquery, Tensor dkey, Tensor dvalue, Tensor dmask)""",
    type_rule=_backward_type, reference=_attention_backward, cost="matmul", method=False,
    node_name="ScaledDotProductFlashAttentionForCpuBackwardBackward0",
    flops=lambda ins, outs, attributes: _flops(ins[2], ins[3], ins[4], ins[5], (3, 2)),
    gradient=Joint(
        lambda g_dquery, g_dkey, g_dvalue, g_dmask, grad, grad_logsumexp, query, key, value, attn_mask, state, wants_mask, dropout_p,
        is_causal, scale, enable_gqa: twice_attention(
            attention_double(
                g_dquery, g_dkey, g_dvalue, g_dmask if wants_mask else None, grad, grad_logsumexp, query, key, value, attn_mask, state,
                dropout_p, is_causal, scale, enable_gqa,
            )
        )
    ),
    decomposition=lambda grad, grad_logsumexp, query, key, value, output, logsumexp, attn_mask, state, wants_mask, dropout_p, is_causal,
    scale, enable_gqa: attention_backward_formula(
        grad, grad_logsumexp, query, key, value, attn_mask, state, wants_mask, dropout_p, is_causal, scale, enable_gqa
    ),
    doc="""The gradients of scaled_dot_product_attention; that of a mask that is not wanted has shape (0,).

`output` and `logsumexp` are those of the same operands: its own gradient counts them as functions of query, key, value and mask.""",
)  # fmt: skip


@helper
def twice_attention(d: Any) -> Any:
    """Places for output, logsumexp and state, which have no gradient of their own."""
    return d[0], d[1], d[2], d[3], d[4], None, None, d[5], None
