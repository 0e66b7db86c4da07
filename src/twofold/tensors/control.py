"""Control flow that a graph can hold: `cond` and `while_loop`. On concrete tensors they run as Python; on symbols they become nodes with
bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from twofold.ir.control import build_cond, build_while
from twofold.ir.dtypes import bool_
from twofold.ir.graph import Value
from twofold.ir.mode import RECORDER
from twofold.support.errors import ArgumentError, DTypeError, ShapeError
from twofold.support.pytree import tree_flatten, tree_unflatten
from twofold.tensors.core import Symbol, Tensor
from twofold.tensors.recorder import Family, Recorder, Storage
from twofold.tensors.sites import source_here


def _recorder(values: Sequence[Any]) -> Recorder | None:
    active = RECORDER.get()
    for v in values:
        if isinstance(v, Symbol):
            if active is not None and v._recorder is not active:
                active.foreign_symbol("cond / while_loop", v)
            active = v._recorder
    return active


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    """`true_fn(*operands)` if `pred` is true, else `false_fn(*operands)`.

    pred: a Python bool or a bool tensor of one element. Both functions must return tensors of the same types and structure. On symbols both
    are recorded as bodies of one node; on concrete tensors only the one that is taken runs. Differentiable.
    """
    _check_callable("cond", true_fn, false_fn)
    operands = tuple(operands)
    recorder = _recorder([pred, *operands])
    if recorder is None or not isinstance(pred, Tensor):
        return true_fn(*operands) if pred else false_fn(*operands)
    if pred._type.dtype is not bool_ or pred._type.numel != 1:
        raise DTypeError(f"cond: the predicate must be a bool tensor of one element, not {pred._type}")
    predicate = recorder.read(pred if not pred._type.shape else pred.reshape(()))
    specs: list[Any] = []
    flags: list[list[bool]] = []
    body = _body(recorder, operands, specs, flags)
    values = [recorder.read(t) for t in _tensors(operands, "cond")]
    out = build_cond(recorder.builder, predicate, values, body(true_fn), body(false_fn), source_here(recorder.module_path))
    if specs[0] != specs[1]:
        raise ShapeError(f"cond: the two functions return different structures: {specs[0]} and {specs[1]}")
    for v, a, b in zip(out, flags[0], flags[1], strict=True):
        recorder.tracks[v] = a or b
    return tree_unflatten([recorder.fresh(v) for v in out], specs[0])


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Run `operands = body_fn(*operands)` while `cond_fn(*operands)` is true; returns the last operands, a tuple.

    The types of the operands stay the same. On symbols one node with two bodies is recorded; on concrete tensors the loop runs as Python
    and gradients flow through every turn.
    """
    _check_callable("while_loop", cond_fn, body_fn)
    carried = tuple(operands)
    recorder = _recorder(carried)
    if recorder is None:
        while bool(cond_fn(*carried)):
            carried = _as_tuple(body_fn(*carried), len(carried))
        return carried
    specs: list[Any] = []
    flags: list[list[bool]] = []
    tensors = _tensors(carried, "while_loop")
    values = [recorder.read(t) for t in tensors]
    tracked = [bool(recorder.tracks.get(v, False)) for v in values]
    body = _body(recorder, carried, specs, flags)
    out = build_while(
        recorder.builder, values, body(cond_fn), body(lambda *a: _as_tuple(body_fn(*a), len(carried))), source_here(recorder.module_path)
    )
    for v, a, b in zip(out, flags[1], tracked, strict=True):
        recorder.tracks[v] = a or b
    return tuple(recorder.fresh(v) for v in out)


def _check_callable(name: str, *functions: Any) -> None:
    for f in functions:
        if not callable(f):
            raise ArgumentError(f"{name}: its bodies are functions, not {type(f).__name__}")


def _as_tuple(result: Any, count: int) -> tuple[Any, ...]:
    values = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if len(values) != count:
        raise ArgumentError(f"while_loop: the body must return {count} values, one for each operand, not {len(values)}")
    return values


def _tensors(operands: Sequence[Any], where: str) -> list[Tensor]:
    for t in operands:
        if not isinstance(t, Tensor):
            raise ArgumentError(f"{where}: operands must be tensors, not {type(t).__name__}; close over other values instead")
    return list(operands)


def _body(recorder: Recorder, operands: Sequence[Any], specs: list[Any], flags: list[list[bool]]) -> Callable[..., Any]:
    """Wraps a user's function as a body builder: values in, values out; notes the structure and which outputs carry gradients."""

    tracked = [recorder.requires_grad(recorder.lift(t)) for t in operands]

    def wrap(function: Callable[..., Any]) -> Callable[..., list[Value]]:
        def build(*values: Value) -> list[Value]:
            symbols = []
            for v, flag in zip(values, tracked, strict=True):
                recorder.tracks[v] = flag
                storage = Storage()
                recorder.borrowed.add(storage)
                symbols.append(recorder.new_symbol(Family(storage, v)))
            recorder.open_bodies.append((recorder.builder.region, len(recorder.graph.nodes)))
            try:
                with recorder.recording():
                    leaves, spec = tree_flatten(function(*symbols))
                    outs = []
                    for leaf in leaves:
                        if not isinstance(leaf, Tensor):
                            raise ArgumentError(f"a body of cond or while_loop must return tensors, not {type(leaf).__name__}")
                        outs.append(recorder.read(leaf))
            finally:
                recorder.open_bodies.pop()
            specs.append(spec)
            flags.append([bool(recorder.tracks.get(v, False)) for v in outs])
            return outs

        return build

    return wrap


FUNCTIONS: dict[str, Callable[..., Any]] = {}
