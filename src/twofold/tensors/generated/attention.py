"""Functions and backward nodes of the family "attention". Generated from the records by tools/generate.py: do not edit."""
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

_scaled_dot_product_attention = get_op("scaled_dot_product_attention")


class ScaledDotProductFlashAttentionForCpuBackward0(OpNode):
    __slots__ = ("s_query", "s_key", "s_value", "s_attn_mask", "s_state", "s_output", "s_logsumexp")
    op = get_op("scaled_dot_product_attention")
    saved = ('query', 'key', 'value', 'attn_mask', 'state', 'output', 'logsumexp')
    needs = (('query', 'key', 'value', 'output', 'logsumexp', 'attn_mask', 'state'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], self.s_query, self.s_key, self.s_value, self.s_output, self.s_logsumexp, self.s_attn_mask, self.s_state, self.plan.attributes["dropout_p"], self.plan.attributes["is_causal"], self.plan.attributes["scale"], self.plan.attributes["enable_gqa"], tuple(e is not None for e in self.edges))

    def free(self) -> None:
        del self.s_query, self.s_key, self.s_value, self.s_attn_mask, self.s_state, self.s_output, self.s_logsumexp


NODE_CLASSES["scaled_dot_product_attention"] = ScaledDotProductFlashAttentionForCpuBackward0

def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, state: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> tuple[Tensor, Tensor]:
    """softmax(scale query keyᵀ + mask) value, and the logarithms of the rows' sums of exp.

    query (…, L, E), key (…, S, E), value (…, S, Ev), output (…, L, Ev), logsumexp (…, L). Batch dimensions broadcast.

    attn_mask: bool (true: takes part) or added to the scores; broadcasts to (…, L, S). is_causal: query i sees keys 0 … i. Rows that see no
    key are zero. scale: 1/sqrt(E) by default. enable_gqa: key and value may have fewer heads (dimension -3), each shared by a group of queries.
    dropout_p: weights dropped after the softmax, drawn from `state` (a word a weight). `twofold.nn.functional.scaled_dot_product_attention` is
    the function of the first output. A. Vaswani et al., arXiv:1706.03762; J. Ainslie et al., arXiv:2305.13245.
    """
    return dispatch(_scaled_dot_product_attention, (query, key, value, attn_mask, state,), {"dropout_p": dropout_p, "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa})


_scaled_dot_product_attention_backward = get_op("scaled_dot_product_attention_backward")


class ScaledDotProductFlashAttentionForCpuBackwardBackward0(OpNode):
    __slots__ = ("s_grad", "s_grad_logsumexp", "s_query", "s_key", "s_value", "s_attn_mask", "s_state")
    op = get_op("scaled_dot_product_attention_backward")
    saved = ('grad', 'grad_logsumexp', 'query', 'key', 'value', 'attn_mask', 'state')
    needs = (('grad', 'grad_logsumexp', 'query', 'key', 'value', 'attn_mask', 'state'),)

    def pull(self, g: Any, rules: Any) -> tuple[Any, ...]:
        return rules[0](g[0], g[1], g[2], g[3], self.s_grad, self.s_grad_logsumexp, self.s_query, self.s_key, self.s_value, self.s_attn_mask, self.s_state, self.plan.attributes["wants_mask"], self.plan.attributes["dropout_p"], self.plan.attributes["is_causal"], self.plan.attributes["scale"], self.plan.attributes["enable_gqa"])

    def free(self) -> None:
        del self.s_grad, self.s_grad_logsumexp, self.s_query, self.s_key, self.s_value, self.s_attn_mask, self.s_state


NODE_CLASSES["scaled_dot_product_attention_backward"] = ScaledDotProductFlashAttentionForCpuBackwardBackward0

def scaled_dot_product_attention_backward(grad: Tensor, grad_logsumexp: Tensor | None, query: Tensor, key: Tensor, value: Tensor, output: Tensor, logsumexp: Tensor, attn_mask: Tensor | None, state: Tensor | None, wants_mask: bool, dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The gradients of scaled_dot_product_attention; that of a mask that is not wanted has shape (0,).

    `output` and `logsumexp` are those of the same operands: its own gradient counts them as functions of query, key, value and mask.
    """
    return dispatch(_scaled_dot_product_attention_backward, (grad, grad_logsumexp, query, key, value, output, logsumexp, attn_mask, state,), {"wants_mask": wants_mask, "dropout_p": dropout_p, "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa})


FUNCTIONS: dict[str, Any] = {
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "scaled_dot_product_attention_backward": scaled_dot_product_attention_backward,
}
INPLACE: dict[str, Any] = {
}
