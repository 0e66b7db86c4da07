"""Operations that do much at once, whose public functions hide some outputs: reference, eager form, decomposition and gradients agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ops.row import Gen
from twofold.ir.op import get_op
from twofold.ops.attention_eager import BLOCK
from twofold.tape.namespaces import RAW, TENSOR, clone, prepare_raw
from twofold.tensors.backward import grad
from twofold.tensors.core import wrap
from twofold.tensors.dispatch import dispatch
from twofold.tensors.nodes import new_leaf

STATE = np.array([7, 3], np.uint64)
ATTENTION = {"dropout_p": 0.0, "is_causal": False, "scale": None, "enable_gqa": False}
DROPPED = {**ATTENTION, "dropout_p": 0.4}
LAYER = {"reverse": False, "batch_sizes": None}


def qkv(g: Gen, q: tuple[int, ...], k: tuple[int, ...]) -> list[Any]:
    return [g.real(*q), g.real(*k), g.real(*k)]


def lstm(g: Gen, projected: int = 0, rows: tuple[int, ...] = (3, 2, 2), batch: int = 2) -> list[Any]:
    out = projected or 3
    weights = [g.real(12, 2), g.real(12, out), g.real(12), g.real(12), g.real(projected, 3) if projected else None]
    return [g.real(*rows), g.real(batch, out), g.real(batch, 3), *weights]


def gru(g: Gen, rows: tuple[int, ...] = (3, 2, 2), batch: int = 2) -> list[Any]:
    return [g.real(*rows), g.real(batch, 3), g.real(9, 2), g.real(9, 3), g.real(9), g.real(9)]


CASES: list[tuple[str, Any, dict[str, Any], int]] = [
    # record, operands, attributes, how many outputs carry gradients
    ("scaled_dot_product_attention", lambda g: [*qkv(g, (2, 3, 2), (2, 4, 2)), None, None], ATTENTION, 2),
    ("scaled_dot_product_attention", lambda g: [*qkv(g, (2, 3, 2), (2, 4, 2)), g.real(3, 4), None], ATTENTION, 2),
    ("scaled_dot_product_attention", lambda g: [*qkv(g, (2, 3, 2), (2, 4, 2)), g.real(3, 4), STATE], DROPPED, 2),
    ("scaled_dot_product_attention", lambda g: [*qkv(g, (2, 2, 3, 2), (2, 1, 5, 2)), None, STATE], {**DROPPED, "enable_gqa": True}, 2),
    ("scaled_dot_product_attention", lambda g: [*qkv(g, (5, 2), (3, 2)), None, STATE], {**DROPPED, "is_causal": True, "scale": 0.3}, 2),
    ("scaled_dot_product_attention", lambda g: [*qkv(g, (2, 1, 2, 3, 2), (1, 2, 1, 3, 2)), None, STATE], DROPPED, 2),
    ("scaled_dot_product_attention", lambda g: [*qkv(g, (2, 3, 2), (2, 0, 2)), None, None], ATTENTION, 1),
    ("lstm_layer", lstm, LAYER, 3),
    ("lstm_layer", lambda g: lstm(g, 2), {**LAYER, "reverse": True}, 3),
    ("lstm_layer", lambda g: lstm(g, 2, (6, 2), 3), {"reverse": True, "batch_sizes": (3, 2, 1)}, 3),
    ("gru_layer", gru, LAYER, 2),
    ("gru_layer", lambda g: gru(g, (6, 2), 3), {"reverse": False, "batch_sizes": (3, 3)}, 2),
    ("gru_layer", lambda g: gru(g, (6, 2), 3), {"reverse": True, "batch_sizes": (3, 2, 1)}, 2),
]
each_case = pytest.mark.parametrize("case", range(len(CASES)))


@each_case
def test_forms_agree(case: int) -> None:
    name, make, attributes, _ = CASES[case]
    op = get_op(name)
    arrays = make(Gen(f"{name} {case}"))
    expected = op.reference(*arrays, **attributes)
    prepare_raw(op.decomposition)
    for found in ((op.eager or op.reference)(*arrays, **attributes), clone(op.decomposition, RAW)(*arrays, *attributes.values())):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@each_case
def test_gradients_of_the_decomposition(case: int) -> None:
    """First and second derivatives are those of the decomposition."""
    name, make, attributes, count = CASES[case]
    op = get_op(name)
    tensors = [None if a is None else wrap(a) for a in make(Gen(f"{name} {case}"))]
    leaves = [t for t in tensors if t is not None and t._type.dtype.is_floating_point]
    for t in leaves:
        new_leaf(t)
    results = []
    for outs in (dispatch(op, tuple(tensors), attributes), clone(op.decomposition, TENSOR)(*tensors, *attributes.values())):
        roots = [t for t in outs[:count] if t._node is not None]
        starts = [wrap(np.cos(np.arange(t._type.numel, dtype=np.float64)).reshape(t._type.shape)) for t in roots]
        first = grad(roots, leaves, starts, create_graph=True)
        ends = [wrap(np.sin(np.arange(t._type.numel, dtype=np.float64)).reshape(t._type.shape)) for t in first]
        kept = [(t, e) for t, e in zip(first, ends, strict=True) if t._node is not None]
        second = grad([t for t, _ in kept], leaves, [e for _, e in kept], allow_unused=True)
        results.append([*first, *second])
    for a, b in zip(*results, strict=True):
        zero = np.zeros(())
        np.testing.assert_allclose(
            zero if a is None else a.detach().numpy(), zero if b is None else b.detach().numpy(), rtol=1e-8, atol=1e-11
        )


@pytest.mark.parametrize("lengths", [(90, BLOCK // 64 + 3), (200, 1000)])
def test_blocks_draw_the_same_bits(lengths: tuple[int, int]) -> None:
    """Dropout in blocks drops what the whole matrix's draw says."""
    g = Gen("blocks")
    op = get_op("scaled_dot_product_attention")
    for attributes in (DROPPED, {**DROPPED, "is_causal": True}):
        arrays = [*qkv(g, (2, 3, lengths[0], 4), (2, 3, lengths[1], 4)), None, STATE]
        for a, b in zip(op.eager(*arrays, **attributes), op.reference(*arrays, **attributes), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
