"""The blocked forms of convolution with blocks so small that images are cut into bands, in every layout of the input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from twofold.ir.op import get_op
from twofold.ops import convolution_eager as fast
from twofold.ops.vocabulary import load_vocabulary

load_vocabulary()
SETTINGS = [
    (kernel, stride, padding, dilation, groups, channels)
    for kernel, stride, padding, dilation, (groups, channels) in itertools.product(
        ((3, 2), (1, 1)), ((1, 1), (2, 3)), ((0, 0), (1, 2), (2, 1, 0, 1)), ((1, 1), (2, 1)), ((1, (3, 4)), (2, (4, 6)), (4, (4, 8)))
    )
]
LAYOUTS = {
    "C": np.ascontiguousarray,
    "channels last": lambda a: np.ascontiguousarray(a.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
    "gaps": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("block", [1, 300, 1 << 18])
def test_blocks(block, layout, monkeypatch):
    monkeypatch.setattr(fast, "BLOCK", block)
    monkeypatch.setattr(fast, "DEEP_BLOCK", block)
    monkeypatch.setattr(fast, "BAND", block)
    rng = np.random.default_rng(0)
    plain, weight_gradient = get_op("convolution"), get_op("convolution_backward_weight")
    arrange = LAYOUTS[layout]
    for kernel, stride, padding, dilation, groups, (c, o) in SETTINGS:
        x = arrange(rng.standard_normal((3, c, 6, 8)))
        w = rng.standard_normal((o, c // groups, *kernel))
        rest = (stride, padding, dilation)
        y = plain.reference(x, w, None, *rest, False, (0, 0), groups)
        np.testing.assert_allclose(plain.eager(x, w, None, *rest, False, (0, 0), groups), y, atol=1e-12)
        g = arrange(rng.standard_normal(y.shape))
        for array in (x, w, g):
            array.flags.writeable = False
        np.testing.assert_allclose(
            weight_gradient.eager(g, x, w.shape, *rest, groups), weight_gradient.reference(g, x, w.shape, *rest, groups), atol=1e-11
        )
        low, high = fast.split_padding(padding, 2)
        extra = tuple(
            n - ((m - 1) * s - a - b + d * (k - 1) + 1)
            for n, m, s, a, b, d, k in zip((6, 8), y.shape[2:], stride, low, high, dilation, kernel, strict=True)
        )
        dx = plain.reference(g, w, None, *rest, True, extra, groups)
        assert dx.shape == x.shape
        np.testing.assert_allclose(plain.eager(g, w, None, *rest, True, extra, groups), dx, atol=1e-12)
        # the gradient of the input is the adjoint of the convolution
        np.testing.assert_allclose((g * y).sum(), (dx * x).sum(), atol=1e-9)


def test_layout_is_channels_last():
    """Results keep the shape (N, C, H, W) and have channels-last strides inside; weights' gradients are C-ordered like weights."""
    op = get_op("convolution")
    x, w = np.ones((2, 3, 5, 5)), np.ones((4, 3, 3, 3))
    y = op.eager(x, w, np.ones(4), (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous
    g = get_op("convolution_backward_weight").eager(y, x, w.shape, (1, 1), (1, 1), (1, 1), 1)
    assert g.flags.c_contiguous
    assert g.base is None


def test_scratch_is_bounded_and_can_be_freed():
    fast.scratch("pad", (4,), np.float32)
    fast.scratch("pad", (fast.KEEP,), np.float64)
    assert all(a.nbytes <= fast.KEEP for a in fast._scratch.buffers.values())
    fast.reset_scratch()
    assert not fast._scratch.buffers
