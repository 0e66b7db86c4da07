"""Batch normalisation, and constant factors and terms a channel, folded into the convolution or linear layer before them.

With running statistics, batch normalisation maps channel c of y = W x + b to (y - mean) s + beta with s = gamma / sqrt(var + eps). That is
again such a layer, of weight s W and bias (b - mean) s + beta (B. Jacob et al., "Quantization and Training of Neural Networks for
Efficient Integer-Arithmetic-Only Inference", 2018, eq. 14). It is done where every parameter is a constant, as in a frozen graph, in
float64, and rounded once to the weight's dtype. Results differ from those of the unfolded graph by rounding: by some units in the last
place of the greatest term of the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twofold.compiler.canonical_values import NUMBERS, made_by, only_used_here, result, type_of_value
from twofold.ir.dtypes import FLOAT
from twofold.ir.graph import Graph, Node, Value
from twofold.ir.rewrite import PassLog, PassRecord, Rewriter, Rules, apply_rules

BATCH_NORM = Rules()


def fold_batch_norm(graph: Graph, log: PassLog | None = None, verify: bool = False) -> PassRecord:
    """Fold what follows a layer of constant weights into them; linear in the size of the graph."""
    return apply_rules("fold_batch_norm", graph, BATCH_NORM, log, verify=verify)


@dataclass(frozen=True, slots=True)
class Layer:
    """A node that computes W x + b with constant W and b: positions of both among its inputs, and the dimension of its channels."""

    node: Node
    weight_position: int
    bias_position: int
    channel_dim: int

    @property
    def channels(self) -> int:
        """The number of output channels."""
        return int(result(self.node).shape[self.channel_dim])

    @property
    def weight(self) -> np.ndarray:
        """The weight as the node has it."""
        array = constant_array(self.node.inputs[self.weight_position])
        assert array is not None
        return array

    def bias(self) -> np.ndarray:
        """The bias in float64, zeros where there is none."""
        array = constant_array(self.node.inputs[self.bias_position])
        return np.zeros(self.channels) if array is None else array.astype(np.float64).reshape(self.channels)

    def scaled_weight(self, scale: np.ndarray) -> np.ndarray:
        """The weight with output channel c times scale[c], in float64."""
        weight = self.weight.astype(np.float64)
        if self.node.op.name == "addmm":  # (in, out)
            return weight * scale
        if self.node.op.name == "convolution" and self.node.attributes["transposed"]:  # (in, out / groups, *kernel)
            groups = self.node.attributes["groups"]
            parts = weight.reshape(groups, -1, *weight.shape[1:])
            by_group = scale.reshape(groups, 1, -1, *(1,) * (weight.ndim - 2))
            return np.asarray((parts * by_group).reshape(weight.shape))
        return weight * scale.reshape(-1, *(1,) * (weight.ndim - 1))  # (out, …)


def constant_array(x: Any) -> np.ndarray | None:
    """The array of a constant operand, or None."""
    node = made_by(x, "constant")
    return None if node is None else node.attributes["value"].array


def layer_of(x: Any, user: Node, rewriter: Rewriter) -> Layer | None:
    """The layer whose output the operand is, if its parameters are constants and only `user`, in the same region, uses the output."""
    node = made_by(x, "convolution", "linear", "addmm")
    if node is None or node.region is not user.region or not only_used_here(x, rewriter):
        return None
    weight_position, bias_position, channel_dim = {"convolution": (1, 2, 1), "linear": (1, 2, result(node).ndim - 1), "addmm": (2, 0, 1)}[
        node.op.name
    ]
    layer = Layer(node, weight_position, bias_position, channel_dim)
    weight, bias = node.inputs[weight_position], node.inputs[bias_position]
    if constant_array(weight) is None or type(result(node).shape[channel_dim]) is not int:
        return None
    if bias is not None and (constant_array(bias) is None or type_of_value(bias).numel != layer.channels):
        return None
    return None if node.op.name == "addmm" and node.attributes["beta"] != 1 else layer


def rebuilt(layer: Layer, scale: np.ndarray, shift: np.ndarray, rewriter: Rewriter) -> Value | None:
    """The layer with its output times `scale` plus `shift` (float64, a value a channel); None where a parameter would not be finite."""
    node = layer.node
    dtype = layer.weight.dtype
    inputs = list(node.inputs)
    if (scale != 1.0).any():
        with np.errstate(over="ignore", under="ignore"):
            weight = layer.scaled_weight(scale).astype(dtype)
        if not np.isfinite(weight.astype(np.float64)).all():
            return None
        inputs[layer.weight_position] = rewriter.constant(weight)
    if inputs[layer.bias_position] is not None or shift.any():
        with np.errstate(over="ignore", under="ignore"):
            bias = (layer.bias() * scale + shift).astype(dtype)
        if not np.isfinite(bias.astype(np.float64)).all():
            return None
        inputs[layer.bias_position] = rewriter.constant(bias)
    made = rewriter.call(node.op, inputs, node.attributes)
    assert type(made) is Value
    return made


@BATCH_NORM.rule("native_batch_norm")
def fold_batch_norm_into_layer(node: Node, rewriter: Rewriter) -> Any:
    """Batch normalisation by constant running statistics after a layer whose channels it normalises."""
    layer = None if node.attributes["training"] else layer_of(node.inputs[0], node, rewriter)
    if layer is None or layer.channel_dim != 1:
        return None
    gamma, beta, mean, var = map(constant_array, node.inputs[1:])
    missing = [p for p, array in zip(node.inputs[1:], (gamma, beta, mean, var), strict=True) if p is not None and array is None]
    if missing or mean is None or var is None:
        return None
    with np.errstate(all="ignore"):  # a variance below -eps: not folded
        scale = 1.0 / np.sqrt(var.astype(np.float64) + node.attributes["eps"])
    if gamma is not None:
        scale = scale * gamma.astype(np.float64)
    shift = -mean.astype(np.float64) * scale
    if beta is not None:
        shift = shift + beta.astype(np.float64)
    if not (np.isfinite(scale).all() and np.isfinite(shift).all()):
        return None
    made = rebuilt(layer, scale, shift, rewriter)
    return None if made is None else (made, *(statistic(node, k, rewriter) for k in (1, 2)))


def statistic(node: Node, which: int, rewriter: Rewriter) -> Value:
    """What stands for the mean (1) or variance (2) that the normalisation returns: the running statistic, in the output's dtype."""
    given, wanted = node.inputs[2 + which], type_of_value(node.outputs[which])
    if type_of_value(given) is wanted:
        return given
    array = constant_array(given)
    assert array is not None
    return rewriter.constant(array.astype(wanted.dtype.numpy))


@BATCH_NORM.rule("mul", "div", "add", "sub", "rsub")
def fold_channel_map_into_layer(node: Node, rewriter: Rewriter) -> Any:
    """A product, quotient, sum or difference of a layer's output and a constant with one value a channel (or one in all)."""
    name, operands = node.op.name, node.inputs[::-1] if node.op.name == "rsub" else node.inputs
    for position in (0, 1):
        layer = layer_of(operands[position], node, rewriter)
        if layer is None or result(node) is not result(layer.node) or result(node).dtype.category != FLOAT:
            continue
        c = channel_values(operands[1 - position], layer)
        if c is None or (name == "div" and (position == 1 or not c.all())):
            continue
        one, nothing = np.ones(layer.channels), np.zeros(layer.channels)
        if name in ("mul", "div"):
            scale, shift = (c if name == "mul" else 1.0 / c), nothing
        elif name == "add":
            scale, shift = one, c
        else:
            scale, shift = (one, -c) if position == 0 else (-one, c)
        return rebuilt(layer, scale, shift, rewriter)
    return None


def channel_values(x: Any, layer: Layer) -> np.ndarray | None:
    """A finite constant operand as a float64 value for each channel; None for other operands, and for constants that vary otherwise."""
    n = layer.channels
    if type(x) in NUMBERS:
        values = np.full(n, float(x)) if abs(x) < 1 << 63 else np.full(n, np.nan)
    else:
        array = constant_array(x)
        rank = result(layer.node).ndim
        if array is None or array.ndim > rank or array.size not in (1, n):
            return None
        shape = (1,) * (rank - array.ndim) + array.shape
        if any(size != 1 for d, size in enumerate(shape) if d != layer.channel_dim):
            return None
        values = np.broadcast_to(array.reshape(-1).astype(np.float64), (n,))
    return values if np.isfinite(values).all() else None
