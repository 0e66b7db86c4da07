"""Control flow in a graph: `cond` and `while_loop`, whose bodies are regions.

    cond(predicate, operands)   regions: (true, false); each takes the operands; both return the same types
    while_loop(operands)        regions: (test, body); both take the carried values; the test returns a 0-d bool, the body the next values

Bodies may also use values of the regions around them (`captures` lists these; `with_explicit_operands` makes them operands, which is
the form to differentiate). Their gradients are no record's rule: the joint graph is made from the bodies' own nodes, so `gradient` is
absent and asking for it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from twofold.ir import dtypes
from twofold.ir.builder import Builder
from twofold.ir.graph import Node, Region, Source, Value, free_values
from twofold.ir.op import Op, Signature, register
from twofold.ir.types import TOKEN, TensorType
from twofold.support.errors import GraphError, UnsupportedError


def _types(values: Sequence[Any], where: str) -> tuple[Any, ...]:
    for v in values:
        if type(v) is not Value:
            raise GraphError(f"{where} returns {v!r}; a body must return values of the graph (make a constant of it)")
    return tuple(v.type for v in values)


def _shown(types: Sequence[Any]) -> str:
    return f"({', '.join(map(str, types))})"


def _check_inputs(region: Region, types: tuple[Any, ...], where: str) -> None:
    own = tuple(v.type for v in region.inputs)
    if own != tuple(types):
        raise GraphError(f"{where} takes {_shown(own)}, the operands are {_shown(types)}")


def _check_bool(t: Any, where: str) -> None:
    if type(t) is not TensorType or t.dtype is not dtypes.bool_ or t.ndim:
        raise GraphError(f"{where} must be a bool tensor without dimensions, not {t}")


def _cond_rule(predicate: Any, operands: tuple[Any, ...], regions: tuple[Region, ...]) -> tuple[Any, ...]:
    if len(regions) != 2:
        raise GraphError(f"cond has two bodies (true, false), not {len(regions)}")
    _check_bool(predicate, "cond: the predicate")
    names = "cond: the true body", "cond: the false body"
    for region, name in zip(regions, names, strict=True):
        _check_inputs(region, operands, name)
    true, false = (_types(r.outputs, n) for r, n in zip(regions, names, strict=True))
    if true != false:
        raise GraphError(
            f"cond: the bodies must return the same types: the true body returns {_shown(true)}, the false body {_shown(false)}"
        )
    return true


def _while_rule(operands: tuple[Any, ...], regions: tuple[Region, ...]) -> tuple[Any, ...]:
    if len(regions) != 2:
        raise GraphError(f"while_loop has two bodies (test, body), not {len(regions)}")
    test, body = regions
    _check_inputs(test, operands, "while_loop: the test")
    _check_inputs(body, operands, "while_loop: the body")
    if len(test.outputs) != 1 or type(test.outputs[0]) is not Value:
        raise GraphError(f"while_loop: the test must return one value, not {len(test.outputs)}")
    _check_bool(test.outputs[0].type, "while_loop: what the test returns")
    carried = _types(body.outputs, "while_loop: the body")
    if carried != tuple(operands):
        raise GraphError(f"while_loop: the body must return the types it takes, {_shown(operands)}; it returns {_shown(carried)}")
    return carried


def _no_reference(*args: Any, **attributes: Any) -> Any:
    raise UnsupportedError("control flow has no reference of its own: an interpreter runs its bodies")


cond = register(
    Op(
        Signature.parse("cond(Tensor predicate, Tensor[] operands) -> Tensor[]"),
        _cond_rule,
        _no_reference,
        None,
        "control",
        doc="Runs one of two bodies.",
        any_dtype=True,
        method=False,
        function=False,
        cost="control",
        regions=True,
    )
)
while_loop = register(
    Op(
        Signature.parse("while_loop(Tensor[] operands) -> Tensor[]"),
        _while_rule,
        _no_reference,
        None,
        "control",
        doc="Runs a body as long as a test is true.",
        any_dtype=True,
        method=False,
        function=False,
        cost="control",
        regions=True,
    )
)


# --- building


def build_cond(
    builder: Builder,
    predicate: Value,
    operands: Sequence[Value],
    true: Callable[..., Any],
    false: Callable[..., Any],
    source: Source | None = None,
) -> tuple[Value, ...]:
    """Write a cond node; `true` and `false` are called with the bodies' inputs and return their outputs. Effects inside are threaded."""
    types = [v.type for v in operands]
    names = [v.name for v in operands]
    regions = [builder.body(types, names, f) for f in (true, false)]
    inputs, threaded = _thread(builder, regions, list(operands), regions)
    return _finish(builder, builder.call(cond, (predicate, inputs), {}, source, regions), threaded)


def build_while(
    builder: Builder, operands: Sequence[Value], test: Callable[..., Any], body: Callable[..., Any], source: Source | None = None
) -> tuple[Value, ...]:
    """Write a while_loop node; `test` and `body` are called with the carried values. The body may have effects, the test none."""
    types = [v.type for v in operands]
    names = [v.name for v in operands]
    regions = [builder.body(types, names, f) for f in (test, body)]
    if regions[0].token is not None:
        raise UnsupportedError("the test of a while_loop cannot print, assert or assign: move that into the body")
    inputs, threaded = _thread(builder, regions, list(operands), regions[1:])
    return _finish(builder, builder.call(while_loop, (inputs,), {}, source, regions), threaded)


def _thread(builder: Builder, regions: Sequence[Region], operands: list[Value], returning: Sequence[Region]) -> tuple[list[Value], bool]:
    """If a body has effects, hand the current token through all of them: an operand, an input and an output more."""
    if all(r.token is None for r in regions):
        return operands, False
    for region in regions:
        with builder.inside(region):
            entry = builder.input(TOKEN, "token")
        starts = [node for node in region.nodes if node.op.name == "token"]
        region.replace_all_uses({node.output: entry for node in starts})
        region.nodes[:] = [node for node in region.nodes if node.op.name != "token"]
        if region in returning:
            region.outputs.append(entry if region.token is None else region.token)
        region.token = None
    return [*operands, builder.current_token()], True


def _finish(builder: Builder, outputs: tuple[Value, ...], threaded: bool) -> tuple[Value, ...]:
    if threaded:
        builder.region.token = outputs[-1]
        return outputs[:-1]
    return outputs


# --- for those who differentiate or compile bodies


def captures(node: Node) -> list[Value]:
    """The values of enclosing regions that the node's bodies use beside its operands, in order of first use."""
    found: dict[Value, None] = {}
    for region in node.regions:
        found.update(dict.fromkeys(free_values(region)))
    return list(found)


def with_explicit_operands(node: Node, unique_name: Callable[[str], str]) -> list[Value]:
    """Change a cond or while_loop node so that its bodies use nothing but their inputs; returns the values that became operands.

    A while_loop carries them unchanged, and so has new outputs at the end.
    """
    added = captures(node)
    if not added:
        return added
    for i, region in enumerate(node.regions):
        inner = {v: Value(v.type, unique_name(v.name), region=region) for v in added}
        region.replace_all_uses(inner)
        region.inputs += inner.values()
        if node.op is while_loop and i == 1:
            region.outputs += inner.values()
    node.inputs = (*node.inputs[:-1], (*node.inputs[-1], *added))
    if node.op is while_loop:
        first = len(node.outputs)
        node.outputs += tuple(Value(v.type, unique_name(v.name), node, first + i) for i, v in enumerate(added))
    return added
