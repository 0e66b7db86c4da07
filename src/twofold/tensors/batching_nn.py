"""Batching rules of convolution, normalisation, losses, embedding and dropout."""

from __future__ import annotations

from typing import Any

from twofold.ir.dtypes import int64
from twofold.tensors.batching import RULES, Call, loop, padded, reshaped, run

# ---- convolution -----------------------------------------------------------------------------------------------------------------


def into_channels(c: Call, index: int) -> Any:
    """(B, N, C, …) as (N, B * C, …)."""
    x = c.full(index)
    b, n, ch, *rest = x._type.shape
    return reshaped(run("transpose", x, dim0=0, dim1=1), (n, b * ch, *rest))


def from_channels(c: Call, t: Any) -> Any:
    """(N, B * C, …) as (B, N, C, …)."""
    n, ch, *rest = t._type.shape
    return run("transpose", t.reshape((n, c.size, ch // c.size, *rest)), dim0=0, dim1=1)


def first_two(t: Any) -> Any:
    """The first two dimensions as one."""
    shape = tuple(t._type.shape)
    return reshaped(t, (shape[0] * shape[1], *shape[2:]))


def convolution(c: Call) -> Any:
    """A weight all examples share: the batch is part of the convolution's own. A weight an example: examples are groups of channels."""
    a = c.attributes
    if c.has(1):
        shared = not c.has(0) and a["groups"] == 1 and not a["transposed"]
        x = c.operands[0] if shared else into_channels(c, 0)
        groups = a["groups"] if shared else a["groups"] * c.size
        result = from_channels(c, c.again((x, first_two(c.raw(1)), None), groups=groups))
    elif c.has(0):
        whole = c.operands[2] if not c.has(2) else None
        result = c.finished(c.again((first_two(c.raw(0)), c.operands[1], whole)))
        if whole is not None:
            return result
    else:
        result = c.again((c.operands[0], c.operands[1], None))
    if c.operands[2] is None:
        return result
    bias = c.raw(2)
    lead = (c.size, 1) if c.has(2) else (1,)
    return run("add", result, reshaped(bias, (*lead, c.shape(2)[0], *(1,) * (len(c.out.shape) - 2))))


def convolution_weight(c: Call) -> Any:
    """The gradient of the weight, an example a group of channels."""
    size, groups = c.attributes["size"], c.attributes["groups"]
    shared = not c.has(1) and groups == 1
    x = c.operands[1] if shared else into_channels(c, 1)
    result = c.again((into_channels(c, 0), x), size=(c.size * size[0], *size[1:]), groups=groups if shared else groups * c.size)
    return c.finished(result)


def convolution_bias(c: Call) -> Any:
    return run("sum", c.raw(0), dim=(1, *range(3, c.rank() + 1)))


# ---- normalisation ---------------------------------------------------------------------------------------------------------------


def spread_channels(c: Call, index: int, rank: int) -> Any:
    """A value a channel as something that broadcasts with an input of all examples (rank: of one)."""
    lead = (c.size,) if c.has(index) else ()
    return reshaped(c.raw(index), (*lead, *((1,) if c.has(index) else ()), c.shape(index)[0], *(1,) * (rank - 2)))


def scaled(c: Call, result: Any, weight: Any, bias: Any) -> Any:
    """result * weight + bias, in the result's dtype."""
    dtype = result._type.dtype
    if weight is not None:
        result = run("mul", result, weight)
    if bias is not None:
        result = run("add", result, bias)
    return result if result._type.dtype is dtype else run("to", result, dtype=dtype)


def last_dims(name: str) -> Any:
    """layer_norm and rms_norm: leading dimensions are a batch already, unless a parameter differs from example to example."""

    def rule(c: Call) -> Any:
        count = len(c.operands)
        if not any(c.has(i) for i in range(1, count)):
            return c.again((c.raw(0), *c.operands[1:]))
        plain = c.again((c.full(0), *(None,) * (count - 1)))
        parameters = [None if x is None else padded(c, i, c.rank()) for i, x in enumerate(c.operands) if i]
        return scaled(c, plain, parameters[0], parameters[1] if count > 2 else None)

    rule.__name__ = name
    return rule


def last_dims_backward(name: str, forward: str) -> Any:
    """The gradients of layer_norm and rms_norm: those of the parameters are sums over the other dimensions of one example."""

    def rule(c: Call) -> Any:
        a = c.attributes
        grad, x, weight = c.full(0), c.full(1), c.operands[2]
        scaled_grad = grad if weight is None else run("mul", grad, padded(c, 2, c.rank(1)))
        wants = [k for k in ("wants_weight", "wants_bias") if k in a]
        first = c.again((scaled_grad, x, None), **dict.fromkeys(wants, False))
        lead = tuple(range(1, c.rank(1) - len(a["normalized_shape"]) + 1))
        empty = run("zeros", size=(c.size, 0), dtype=grad._type.dtype)
        result = [first[0]]
        if len(wants) and a["wants_weight"]:
            given = {"normalized_shape": a["normalized_shape"], "eps": a["eps"]}
            seen = run(forward, x, None, None, **given) if forward == "layer_norm" else run(forward, x, None, **given)
            result.append(_summed(run("mul", grad, seen), lead))
        elif wants:
            result.append(empty)
        if "wants_bias" in a:
            result.append(_summed(grad, lead) if a["wants_bias"] else empty)
        return _typed(c, result)

    rule.__name__ = name
    return rule


def _summed(t: Any, along: tuple[int, ...]) -> Any:
    return run("sum", t, dim=along) if along else run("clone", t)


def _typed(c: Call, results: list[Any]) -> tuple[Any, ...]:
    return tuple(r if r._type.dtype is t.dtype else run("to", r, dtype=t.dtype) for r, t in zip(results, c.outs(), strict=True))


def group_norm(c: Call) -> Any:
    if not c.has(1) and not c.has(2):
        return c.finished(c.again((first_two(c.raw(0)), *c.operands[1:])))
    plain = c.finished(c.again((first_two(c.full(0)), None, None)))
    weight, bias = (None if c.operands[i] is None else spread_channels(c, i, c.rank()) for i in (1, 2))
    return scaled(c, plain, weight, bias)


def group_norm_backward(c: Call) -> Any:
    a = c.attributes
    grad, x, weight = c.full(0), c.full(1), c.operands[2]
    scaled_grad = grad if weight is None else run("mul", grad, spread_channels(c, 2, c.rank(1)))
    first = c.again((first_two(scaled_grad), first_two(x), None), wants_weight=False, wants_bias=False)
    along = (1, *range(3, c.rank(1) + 1))
    empty = run("zeros", size=(c.size, 0), dtype=grad._type.dtype)
    result = [reshaped(first[0], tuple(x._type.shape)), empty, empty]
    if a["wants_weight"]:
        seen = reshaped(run("group_norm", first_two(x), None, None, num_groups=a["num_groups"], eps=a["eps"]), tuple(x._type.shape))
        result[1] = _summed(run("mul", grad, seen), along)
    if a["wants_bias"]:
        result[2] = _summed(grad, along)
    return _typed(c, result)


def of_channels(c: Call, index: int) -> Any:
    """A value a channel for the channels of all examples."""
    return None if c.operands[index] is None else reshaped(c.full(index), (c.size * c.shape(index)[0],))


def batch_norm(c: Call) -> Any:
    """Statistics of one example over its own batch: examples become channels."""
    x = into_channels(c, 0)
    out, mean, var = c.again((x, *(of_channels(c, i) for i in range(1, 5))))
    ch = c.shape()[1]
    return from_channels(c, out), *(
        r if r._type.numel == 0 and ch else reshaped(r, (c.size, *t.shape)) for r, t in zip((mean, var), c.outs()[1:], strict=True)
    )


def batch_norm_backward(c: Call) -> Any:
    parts = [into_channels(c, 0), *(of_channels(c, i) for i in (1, 2)), into_channels(c, 3), *(of_channels(c, i) for i in (4, 5, 6))]
    dx, dw, db = c.again(parts)
    return from_channels(c, dx), *(reshaped(r, (c.size, *t.shape)) for r, t in zip((dw, db), c.outs()[1:], strict=True))


# ---- losses ----------------------------------------------------------------------------------------------------------------------


def reduced(c: Call, loss: Any, reduction: str) -> Any:
    """The losses of elements, one example's reduced."""
    along = tuple(range(1, loss._type.ndim))
    if reduction == "none" or not along:
        return loss
    return run("mean" if reduction == "mean" else "sum", loss, dim=along)


def elementwise_loss(c: Call) -> Any:
    rank = max(t.ndim for t in c.flat_types())
    alike = c.shape(0) == c.shape(1)  # some losses want input and target of one shape
    operands = [c.full(i) if alike and i < 2 and c.rank(i) == rank else padded(c, i, rank) for i in range(len(c.operands))]
    loss = c.again(operands, reduction="none")
    return reduced(c, loss, c.attributes["reduction"])


def class_rows(c: Call, index: int, classes: bool, rank: int) -> Any:
    """Operand `index`, of one example (N, C, …) or (C,) with classes, (N, …) or () without, as rows of all examples."""
    x = c.full(index)
    return first_two(x) if rank > 1 else x


def class_loss(c: Call) -> Any:
    """nll_loss and cross_entropy: the loss of each row, then the reduction of each example."""
    a = c.attributes
    if c.has(2):
        return loop(c)
    rank = c.rank()
    x, target = (class_rows(c, i, i == 0, rank) for i in (0, 1))
    rows = c.again((x, target, c.operands[2]), reduction="none")
    rows = reshaped(rows, (c.size, *c.shape(1)))
    if a["reduction"] == "none":
        return rows
    along = tuple(range(1, rows._type.ndim))
    total = run("sum", rows, dim=along) if along else rows
    return total if a["reduction"] == "sum" else run("div", total, row_weights(c, along))


def row_weights(c: Call, along: tuple[int, ...]) -> Any:
    """The sum, for each example, of the weights of the rows that count."""
    target, weight = c.full(1), c.operands[2]
    counted = run("ne", target, c.attributes["ignore_index"])
    if weight is None:
        counts = run("to", counted, dtype=c.out.dtype)
    else:
        safe = run("where", counted, target, 0)
        counts = run("where", counted, run("index", weight, (safe,), dims=(0,)), 0.0)
    return run("sum", counts, dim=along) if along else counts


def class_backward(c: Call) -> Any:
    """Gradients of losses of rows; where only one number's gradient is batched, the gradient of 1 times it."""
    a = c.attributes
    others = range(1, len(c.operands))
    rank = len(c.out.shape)
    if a["reduction"] != "none":
        if any(c.has(i) for i in others) or c.rank():
            return loop(c)
        one = run("full", size=(), fill_value=1.0, dtype=c.ins[0].dtype)
        return run("mul", reshaped(c.raw(0), (c.size, *(1,) * rank)), c.again((one, *c.operands[1:])))
    if c.has(len(c.operands) - 1):
        return loop(c)
    classes = rank if c.op.name != "cross_entropy_factor" else c.rank(1)
    operands = [x if i == len(c.operands) - 1 else class_rows(c, i, True, classes) for i, x in enumerate(c.operands)]
    changed = {}
    if "size" in a:
        n, *rest = a["size"]
        changed["size"] = (c.size * n, *rest) if classes > 1 else (c.size, n)
    return c.finished(c.again(operands, **changed))


# ---- lookup ----------------------------------------------------------------------------------------------------------------------


def embedding(c: Call) -> Any:
    a = c.attributes
    if not c.has(0) and not a["scale_grad_by_freq"]:
        return c.again((c.operands[0], c.raw(1)))
    table, rows = c.full(0), c.shape()[0]
    flat = first_two(table)
    places = numbered(c, c.full(1), rows)
    if a["padding_idx"] < 0 or not flat.requires_grad:
        return c.again((flat, places), padding_idx=-1)
    found = c.again((flat, places), padding_idx=-1)
    padding = run("unsqueeze", run("eq", c.full(1), a["padding_idx"]), dim=c.rank(1) + 1)
    return run("where", padding, found.detach(), found)


def numbered(c: Call, index: Any, rows: Any) -> Any:
    """Row numbers of each example as row numbers of all tables laid one after another."""
    first = run("arange", start=0, end=c.size, dtype=int64)
    return run("add", index, reshaped(run("mul", first, rows), (c.size, *(1,) * (index._type.ndim - 1))))


def embedding_backward(c: Call) -> Any:
    a = c.attributes
    rows, grad, index = a["num_weights"], c.full(0), c.full(1)
    if a["padding_idx"] >= 0:
        padding = run("unsqueeze", run("eq", index, a["padding_idx"]), dim=index._type.ndim)
        grad = run("masked_fill", grad, padding, value=0)
    result = c.again((grad, numbered(c, index, rows)), num_weights=c.size * rows, padding_idx=-1)
    return c.finished(result)


RULES.update({
    "convolution": convolution, "convolution_backward_weight": convolution_weight, "convolution_backward_bias": convolution_bias,
    "layer_norm": last_dims("layer_norm"), "rms_norm": last_dims("rms_norm"), "group_norm": group_norm,
    "layer_norm_backward": last_dims_backward("layer_norm_backward", "layer_norm"),
    "rms_norm_backward": last_dims_backward("rms_norm_backward", "rms_norm"), "group_norm_backward": group_norm_backward,
    "native_batch_norm": batch_norm, "native_batch_norm_backward": batch_norm_backward,
    "nll_loss": class_loss, "cross_entropy": class_loss, "nll_loss_backward": class_backward, "cross_entropy_backward": class_backward,
    "cross_entropy_factor": class_backward, "embedding": embedding, "embedding_dense_backward": embedding_backward,
})  # fmt: skip
for _name in (
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div",
):  # fmt: skip
    RULES[_name] = elementwise_loss
