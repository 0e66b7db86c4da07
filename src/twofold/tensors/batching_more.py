"""Batching rules of decompositions of matrices, resampling, folding, attention and recurrent layers."""

from __future__ import annotations

from typing import Any

from twofold.tensors.batching import (
    RULES,
    Call,
    broadcast,
    dims,
    fold,
    leading,
    loop,
    merged,
    padded,
    reshaped,
    run,
)


def rank_of(c: Call) -> int:
    """The largest number of dimensions of an operand."""
    return max(t.ndim for t in c.flat_types())


def aligned(c: Call, indices: Any, rank: int) -> list[Any]:
    """Operands with all examples, padded after the batch to one rank."""
    return [None if c.operands[i] is None else reshaped(c.full(i), (c.size, *(1,) * (rank - c.rank(i)), *c.shape(i))) for i in indices]


def matrices(c: Call) -> Any:
    """Operands of matrices whose leading dimensions broadcast."""
    return c.finished(c.again(aligned(c, range(len(c.operands)), rank_of(c))))


def solve(c: Call) -> Any:
    """A right side of vectors is one of them for each matrix: with more matrices than that the rule for one example does not carry over."""
    a, b = c.rank(0), c.rank(1)
    vectors = b == 1 or (b == a - 1 and c.shape(1) == c.shape(0)[:-1])
    if vectors:
        return leading(c) if b == a - 1 else loop(c)
    if c.shape(0)[:-1] == c.shape(1)[: c.rank(0) - 1] and a != b:
        return loop(c)
    return matrices(c)


def least_squares(c: Call) -> Any:
    return leading(c) if c.shape(0)[:-2] == c.shape(1)[:-2] else loop(c)


def tolerant(c: Call) -> Any:
    """pinv: the tolerances have a value a matrix."""
    return leading(c) if all(x is None or c.rank(i) == c.rank() - 2 for i, x in enumerate(c.operands) if i) else loop(c)


def images(c: Call) -> Any:
    """(N, C, …) with an attribute `size` for the last dimensions: the batch goes into N."""
    return fold(len(c.attributes["size"]))(c)


def im2col(c: Call) -> Any:
    return fold(2)(c)


def col2im(c: Call) -> Any:
    return fold(1)(c)


def unpool(c: Call) -> Any:
    return fold(len(c.attributes["output_size"]))(c)


def isin(c: Call) -> Any:
    if c.has(1):
        return loop(c)
    return c.again((c.raw(0), c.operands[1]))


def cross(c: Call) -> Any:
    return dims(c) if c.rank(0) == c.rank(1) else loop(c)


def attention(c: Call) -> Any:
    """Leading dimensions are a batch already; a mask broadcasts against them."""
    if c.operands[4] is not None:  # dropout: which numbers are dropped follows from the place among all of one example
        return loop(c)
    rank = max(c.rank(i) for i in range(3))
    q, k, v = aligned(c, range(3), rank)
    mask = None if c.operands[3] is None else padded(c, 3, rank)
    return c.again((q, k, v, mask, None))


def attention_backward(c: Call) -> Any:
    names = [p.name for p in c.op.inputs]
    plain = c.operands[names.index("attn_mask")] is None and c.operands[names.index("state")] is None
    return leading(c) if plain else loop(c)


def recurrent(states: int) -> Any:
    """Layers over (time, batch, features) whose weights all examples share: the examples go into the batch."""

    def rule(c: Call) -> Any:
        if any(c.has(i) for i in range(states + 1, len(c.operands))) or c.attributes["batch_sizes"] is not None or c.rank() != 3:
            return loop(c)
        x = run("transpose", c.full(0), dim0=0, dim1=1)
        t, _, n, width = x._type.shape
        operands = [reshaped(x, (t, c.size * n, width))]
        operands += [merged(c.full(i), 1) for i in range(1, states + 1)]
        outs = c.again((*operands, *c.operands[states + 1 :]))
        return tuple(parted(c, r, kind) for r, kind in zip(outs, c.outs(), strict=True))

    return rule


def parted(c: Call, t: Any, kind: Any) -> Any:
    """A result of all examples, which lie in its dimension of the batch, with the examples in front."""
    if kind.ndim < 3:
        return reshaped(t, (c.size, *kind.shape))
    steps, n, *rest = kind.shape
    return run("transpose", reshaped(t, (steps, c.size, n, *rest)), dim0=0, dim1=1)


RULES.update({
    "gap_ratio": leading, "linalg_cholesky_ex": leading, "linalg_qr": leading, "geqrf": leading, "linalg_householder_product": leading,
    "linalg_svd": leading, "linalg_svdvals": leading, "linalg_eigh": leading, "linalg_eigvalsh": leading,
    "linalg_lu_factor_ex": leading, "lu_unpack": leading, "linalg_ldl_factor_ex": leading, "linalg_ldl_solve": leading,
    "linalg_inv_ex": leading, "linalg_matrix_exp": leading, "linalg_cofactor": leading, "linalg_det": leading,
    "linalg_slogdet": leading, "linalg_lstsq": least_squares, "linalg_pinv": tolerant, "linalg_solve_ex": solve,
    "linalg_solve_triangular": matrices, "cdist_forward": matrices, "linalg_cross": cross, "frexp": broadcast,
    "im2col": im2col, "col2im": col2im, "max_unpool2d": unpool, "max_unpool3d": unpool, "resample_backward": images, "isin": isin,
    "scaled_dot_product_attention": attention, "scaled_dot_product_attention_backward": attention_backward,
    "rnn_layer": recurrent(1), "gru_layer": recurrent(1), "lstm_layer": recurrent(2),
})  # fmt: skip
for _name in (
    "nearest1d", "nearest_exact1d", "nearest2d", "nearest_exact2d", "nearest3d", "nearest_exact3d", "linear1d", "bilinear2d",
    "trilinear3d", "bicubic2d", "bilinear2d_aa", "bicubic2d_aa", "lanczos2d_aa",
):  # fmt: skip
    RULES[f"upsample_{_name}"] = images
for _name in (  # no better way is known, or nobody needs one
    "view_chain_backward", "as_strided_backward", "put", "bincount_of", "masked_spread", "masked_scatter", "masked_scatter_backward",
    "unique", "unique_consecutive", "nonzero_static", "histc", "histogram_bin_edges", "histogram_counts", "bincount",
    "fractional_max_pool2d", "fractional_max_pool3d", "ctc_loss", "ctc_loss_backward", "refuse_gradient", "rnn_layer_backward",
    "lstm_layer_backward", "gru_layer_backward",
):  # fmt: skip
    RULES[_name] = loop
