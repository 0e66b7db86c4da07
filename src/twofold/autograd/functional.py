"""Jacobians, Hessians and their products with vectors, by backward passes one after another or all at once; PyTorch's
`torch.autograd.functional`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twofold.autograd.vectorized import by_columns, by_rows
from twofold.ir.mode import grad_mode
from twofold.support.errors import ArgumentError, AutogradError, ShapeError, UnsupportedError, ValueRangeError
from twofold.tape.namespaces import TENSOR
from twofold.tensors.backward import grad
from twofold.tensors.core import Tensor, wrap, wrap_typed

Tensors = tuple[Tensor, ...]


def _tuple_of(value: Any, what: str, name: str) -> tuple[bool, Tensors]:
    """(whether it was a tuple, the tensors)."""
    many = isinstance(value, (tuple, list))
    parts = tuple(value) if many else (value,)
    for i, t in enumerate(parts):
        if not isinstance(t, Tensor):
            raise ArgumentError(f"{name}: {what} must be a tensor or a tuple of tensors; entry {i} is {type(t).__name__}")
    return many, parts


def _prepared(inputs: Tensors, create_graph: bool) -> Tensors:
    """Inputs to differentiate by: in the graph of the caller's tensors if a graph is wanted, leaves of their own if not."""
    if create_graph:
        return tuple(TENSOR["alias"](t) if t._node is not None else t.detach().requires_grad_() for t in inputs)
    return tuple(t.detach().requires_grad_() for t in inputs)


def _finished(results: Tensors, create_graph: bool, many: bool) -> Any:
    done = results if create_graph else tuple(t.detach() for t in results)
    return done if many else done[0]


def _zeros(t: Tensor) -> Tensor:
    return wrap(np.zeros(t._type.shape, t._type.dtype.numpy))


def _gradients(outputs: Any, inputs: Tensors, weights: Any, create_graph: bool, strict: bool, name: str) -> Tensors:
    """Gradients of the outputs that depend on the inputs; zeros for inputs they do not depend on, or an error if strict."""
    pairs = [(o, w) for o, w in zip(outputs, weights, strict=True) if o._node is not None]
    if strict and len(pairs) < len(outputs):
        raise AutogradError(f"{name}(strict=True): an output does not depend on the inputs")
    found: tuple[Any, ...] = (None,) * len(inputs)
    if pairs:
        found = grad([o for o, _ in pairs], inputs, [w for _, w in pairs], retain_graph=True, create_graph=create_graph, allow_unused=True)
    if strict and any(g is None for g in found):
        raise AutogradError(f"{name}(strict=True): the outputs do not depend on input {found.index(None)}")
    return tuple(_zeros(t) if g is None else g for g, t in zip(found, inputs, strict=True))


def _vectors(v: Any, like: Tensors, many: bool, what: str, name: str) -> Tensors:
    """The vector argument, or ones for a single number."""
    if v is None:
        if len(like) != 1 or like[0]._type.numel != 1:
            raise AutogradError(f"{name}: the vector v may be left out only where the {what} is a single number")
        return (wrap(np.ones(like[0]._type.shape, like[0]._type.dtype.numpy)),)
    given = _tuple_of(v, "v", name)[1]
    if len(given) != len(like):
        raise ArgumentError(f"{name}: v has {len(given)} tensors, the {what} {len(like)}")
    for i, (a, b) in enumerate(zip(given, like, strict=True)):
        if a._type.shape != b._type.shape:
            raise ShapeError(f"{name}: v[{i}] has shape {tuple(a._type.shape)}, the {what} {tuple(b._type.shape)}")
    return given


def _check_strategy(name: str, vectorize: bool, strict: bool, create_graph: bool, strategy: str) -> None:
    """What goes together, as in PyTorch."""
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueRangeError(f"{name}: the strategy must be 'reverse-mode' or 'forward-mode', not {strategy!r}")
    if vectorize and strict:
        raise AutogradError(f"{name}: strict=True and vectorize=True do not go together")
    if strategy == "forward-mode" and not vectorize:
        raise UnsupportedError(f"{name}: the strategy 'forward-mode' needs vectorize=True")
    if strategy == "forward-mode" and create_graph and name == "jacobian":
        raise UnsupportedError("jacobian: the strategy 'forward-mode' does not go with create_graph=True; use twofold.func.jacfwd")


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: for outputs of shape S and inputs of shape T a tensor of shape S + T; nested tuples [output][input] where either is
    a tuple.

    One backward pass for each element of the outputs, or with vectorize all at once, by rows (strategy "reverse-mode") or columns
    ("forward-mode"). strict: raise AutogradError where an output does not depend on an input (else zeros).
    """
    _check_strategy("jacobian", vectorize, strict, create_graph, strategy)
    many_in, given = _tuple_of(inputs, "inputs", "jacobian")
    with grad_mode(True):
        prepared = _prepared(given, create_graph)
        many_out, outputs = _tuple_of(func(*prepared), "the function's outputs", "jacobian")
        if vectorize:
            make = by_rows if strategy == "reverse-mode" else by_columns
            table = make(outputs, prepared, create_graph)
            rows = [_finished(tuple(row), create_graph, many_in) for row in table]
            return tuple(rows) if many_out else rows[0]
        rows = []
        for out in outputs:
            parts = [_gradients([out], prepared, [unit], create_graph, strict, "jacobian") for unit in _units(out)]
            row = []
            for k, t in enumerate(prepared):
                shape = (*out._type.shape, *t._type.shape)
                if not parts:
                    row.append(wrap(np.zeros(shape, t._type.dtype.numpy)))
                elif create_graph:
                    row.append(TENSOR["reshape"](TENSOR["stack"]([p[k] for p in parts]), shape))
                else:
                    row.append(wrap(np.stack([np.asarray(p[k]._array) for p in parts]).reshape(shape)))
            rows.append(tuple(row) if many_in else row[0])
    return tuple(rows) if many_out else rows[0]


def _units(out: Tensor) -> list[Tensor]:
    """One gradient for each element of `out`: 1 there, 0 elsewhere."""
    result = []
    for j in range(out._type.numel):
        unit = np.zeros(out._type.shape, out._type.dtype.numpy)
        unit.reshape(-1)[j] = 1
        result.append(wrap_typed(unit, out._type))
    return result


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function with one number as output: a tensor of shape T + T, or nested tuples [input][input]. vectorize and
    outer_jacobian_strategy: see `jacobian`."""
    _check_strategy("hessian", vectorize, strict, create_graph, outer_jacobian_strategy)
    many, given = _tuple_of(inputs, "inputs", "hessian")

    def gradient(*xs: Tensor) -> Any:
        out = _single_number(func(*xs), "hessian")
        return _gradients([out], xs, [None], True, strict, "hessian")

    result = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if many else result[0][0]


def _single_number(out: Any, name: str) -> Tensor:
    many, parts = _tuple_of(out, "the function's output", name)
    if many or parts[0]._type.numel != 1:
        raise AutogradError(f"{name}: the function must return one tensor with a single number")
    return parts[0]


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """(outputs, vᵀJ): one backward pass with the gradient `v` of the outputs (1 for a single number)."""
    many_in, given = _tuple_of(inputs, "inputs", "vjp")
    with grad_mode(True):
        prepared = _prepared(given, create_graph)
        many_out, outputs = _tuple_of(func(*prepared), "the function's outputs", "vjp")
        weights = _vectors(v, outputs, many_out, "output", "vjp")
        result = _gradients(outputs, prepared, weights, create_graph, strict, "vjp")
    return _finished(outputs, create_graph, many_out), _finished(result, create_graph, many_in)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """(outputs, Jv), by two backward passes: vᵀJ is linear in v, and its own derivative along `v` is Jv."""
    many_in, given = _tuple_of(inputs, "inputs", "jvp")
    with grad_mode(True):
        prepared = _prepared(given, create_graph)
        weights = _vectors(v, prepared, many_in, "input", "jvp")
        many_out, outputs = _tuple_of(func(*prepared), "the function's outputs", "jvp")
        dummies = tuple(_zeros(o).requires_grad_() for o in outputs)
        pulled = _gradients(outputs, prepared, dummies, True, strict, "jvp")
        result = _gradients(pulled, dummies, weights, create_graph, False, "jvp")
    return _finished(outputs, create_graph, many_out), _finished(result, create_graph, many_out)


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """(output, vᵀH) of a function with one number as output."""
    many, given = _tuple_of(inputs, "inputs", "vhp")
    with grad_mode(True):
        prepared = _prepared(given, create_graph)
        weights = _vectors(v, prepared, many, "input", "vhp")
        out = _single_number(func(*prepared), "vhp")
        gradients = _gradients([out], prepared, [None], True, strict, "vhp")
        result = _gradients(gradients, prepared, weights, create_graph, strict, "vhp")
    return _finished((out,), create_graph, False), _finished(result, create_graph, many)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """(output, Hv) of a function with one number as output. H is symmetric where the second derivatives are continuous; no use is made
    of that."""
    many, given = _tuple_of(inputs, "inputs", "hvp")
    with grad_mode(True):
        prepared = _prepared(given, create_graph)
        weights = _vectors(v, prepared, many, "input", "hvp")
        out = _single_number(func(*prepared), "hvp")
        gradients = _gradients([out], prepared, [None], True, strict, "hvp")
        dummies = tuple(_zeros(g).requires_grad_() for g in gradients)
        pulled = _gradients(gradients, prepared, dummies, True, strict, "hvp")
        result = _gradients(pulled, dummies, weights, create_graph, False, "hvp")
    return _finished((out,), create_graph, False), _finished(result, create_graph, many)


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
