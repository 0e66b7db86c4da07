"""The other ways to run an operation: as a node of a static graph, traced, and through its decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twofold
from tests.ops.calls import (
    arguments,
    array,
    assert_near,
    bind,
    call,
    each_sample,
    is_random,
    own_record,
    tensors_in,
    type_of_array,
    with_leaves,
)
from tests.ops.row import Row, S, map_arrays
from tests.ops.test_gradients import has_gradient
from tests.ops.test_ops import CLOSE, FLOAT64, first_dtype, gradient_like
from twofold.ir.builder import Builder
from twofold.ir.dtypes import BY_NAME
from twofold.ir.graph import Graph, difference
from twofold.ir.interpreter import Interpreter
from twofold.ir.op import Op
from twofold.ir.parser import parse_graph
from twofold.ir.printer import print_graph
from twofold.ir.run import make_kernel
from twofold.ir.types import type_of
from twofold.ir.verifier import verify
from twofold.ops.record import reference_of_body
from twofold.tape.namespaces import RAW, TENSOR, clone, prepare_raw
from twofold.tensors.backward import grad
from twofold.tensors.core import wrap


def deterministic_record(row: Row, sample: S) -> bool:
    """True if the row has a record of its own that gives the same result in every run."""
    op = own_record(row)
    return op is not None and not is_random(row) and not op.regions


def run_reference(op: Op, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> tuple[np.ndarray, ...]:
    """The record's reference on float64 or integer arrays."""
    result = op.reference(*inputs, **attributes)
    return tuple(map(np.asarray, result)) if isinstance(result, (tuple, list)) else (np.asarray(result),)


def bound(op: Op, sample: S, dtype: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """(arrays, canonical attributes) of a sample."""
    inputs, attributes = bind(op, *arguments(sample, dtype, np.copy))
    return inputs, op.canonical(tuple(map(type_of_array, inputs)), attributes)


# ---- a graph of one node -----------------------------------------------------------------------------------------------------------


@each_sample(deterministic_record)
def test_graph_of_one_node(row: Row, sample: S) -> None:
    """A node made of the record verifies, prints and parses back equal, and the interpreter computes what eager does."""
    op = own_record(row)
    assert op is not None
    for name in row.dtype_names(sample):
        inputs, attributes = bind(op, *arguments(sample, BY_NAME[name], np.copy))
        builder = Builder(Graph("one"))
        operands = map_arrays(lambda a, b=builder: b.input(type_of(a)), inputs)
        outputs = builder.call(op, operands, attributes)
        builder.output(*(outputs if isinstance(outputs, tuple) else (outputs,)))
        graph = builder.graph
        verify(graph)
        assert difference(graph, parse_graph(print_graph(graph))) == ""
        arrays = [a for x in inputs for a in (x if isinstance(x, tuple) else (x,)) if isinstance(a, np.ndarray)]
        results = Interpreter(graph).run(*arrays)
        for a, t in zip(results, call(row, *arguments(sample, BY_NAME[name])), strict=True):
            assert np.asarray(a).dtype == array(t).dtype
            assert_near(np.asarray(a), array(t), CLOSE.get(name, 0.0) * row.tolerance, name)


@pytest.mark.skipif(not hasattr(twofold, "trace"), reason="twofold.trace does not exist yet")
@each_sample(lambda row, s: not is_random(row) and row.meta)
def test_traced(row: Row, sample: S) -> None:
    """The operation recorded by `trace` and interpreted computes what eager does."""
    args, kwargs = arguments(sample, first_dtype(row, sample))
    inputs = tensors_in(args, kwargs)
    if not inputs:
        pytest.skip("no tensor operand")

    def function(*others: Any) -> Any:
        rest = iter(others)
        result = call(row, *(replaced(x, rest) for x in (args, kwargs)))
        return result if len(result) > 1 else result[0]

    graph_module = twofold.trace(function, tuple(inputs), check=False)
    results = graph_module(*inputs)
    for a, t in zip(results if isinstance(results, (tuple, list)) else (results,), call(row, args, kwargs), strict=True):
        assert a._type is t._type
        assert_near(array(a), array(t), CLOSE.get(t._type.dtype.name, 0.0) * row.tolerance)


def replaced(value: Any, others: Any) -> Any:
    """`value` with its tensors replaced by the next of `others`."""
    if isinstance(value, twofold.Tensor):
        return next(others)
    if isinstance(value, dict):
        return {k: replaced(v, others) for k, v in value.items()}
    return type(value)(replaced(v, others) for v in value) if isinstance(value, (list, tuple)) else value


# ---- bodies and decompositions -----------------------------------------------------------------------------------------------------


@each_sample(lambda row, s: deterministic_record(row, s) and bool(own_record(row).body))  # type: ignore[union-attr]
def test_body(row: Row, sample: S) -> None:
    """The scalar expression the compiler reads computes what the reference does."""
    op = own_record(row)
    assert op is not None
    names = tuple(p.name for p in (*op.inputs, *op.attributes))
    inputs, attributes = bound(op, sample, first_dtype(row, sample))
    types = tuple(map(type_of_array, inputs))
    out = op.infer(types, attributes)
    a, b = (make_kernel(op, types, out, attributes, f)(*inputs) for f in (reference_of_body(names, op.body), op.reference))
    assert_near(np.asarray(a), np.asarray(b), 1e-14 * row.tolerance)


has_decomposition = each_sample(lambda row, s: deterministic_record(row, s) and own_record(row).decomposition is not None)  # type: ignore[union-attr]


@has_decomposition
def test_decomposition(row: Row, sample: S) -> None:
    """The operation in terms of others, on arrays, computes what the reference does."""
    op = own_record(row)
    assert op is not None
    prepare_raw(op.decomposition)
    inputs, attributes = bound(op, sample, first_dtype(row, sample))
    result = clone(op.decomposition, RAW)(*inputs, *attributes.values())
    for a, b in zip(result if isinstance(result, (tuple, list)) else (result,), run_reference(op, inputs, attributes), strict=True):
        assert_near(np.asarray(a), b, 1e-11 * row.tolerance)


@has_decomposition
def test_decomposition_gradient(row: Row, sample: S) -> None:
    """Differentiating the decomposition gives what the record's own rule does."""
    op = own_record(row)
    assert op is not None
    if not has_gradient(row, sample):
        pytest.skip("not differentiated")
    args, kwargs, leaves = with_leaves(row, sample, FLOAT64)
    inputs, _ = bind(op, args, kwargs)
    _, attributes = bound(op, sample, FLOAT64)
    composed = clone(op.decomposition, TENSOR)(*inputs, *attributes.values())
    results = []
    for outs in (call(row, args, kwargs), composed if isinstance(composed, (tuple, list)) else (composed,)):
        roots = [t for t in outs if t._node is not None]
        results.append(grad(roots, leaves, [wrap(gradient_like(t)) for t in roots], allow_unused=True))
    for i, (a, b) in enumerate(zip(*results, strict=True)):
        zeros = np.zeros(leaves[i]._type.shape)
        assert_near(zeros if b is None else array(b), zeros if a is None else array(a), 1e-9 * row.tolerance, f"input {i}")
