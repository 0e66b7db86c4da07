"""What happens to a graph before it is planned: a copy of it, and outputs that stand for memory of their own."""

from __future__ import annotations

from twofold.ir.graph import Graph, Node, Region, Value, copy_region
from twofold.ir.op import get_op
from twofold.ir.types import TensorType
from twofold.support.errors import UnsupportedError


def copy_graph(graph: Graph) -> Graph:
    """A copy that passes may change."""
    result = Graph(graph.name)
    values: dict[Value, Value] = {}
    copy_region(graph, result, values)
    for region in result.regions():
        for v in (*region.inputs, *(o for n in region.nodes for o in n.outputs)):
            result.claim_name(v.name)
    result.bindings = {values[v]: path for v, path in graph.bindings.items()}
    return result


def check_supported(graph: Graph) -> None:
    """Raise UnsupportedError for what no program can be made of: sizes that are not known, other devices."""
    for region in graph.regions():
        for v in (*region.inputs, *(o for n in region.nodes for o in n.outputs)):
            t = v.type
            if type(t) is not TensorType:
                continue
            where = f"{v.name}: {t}"
            if v.node is not None and v.node.source is not None and v.node.source.location:
                where += f" ({v.node.source.location})"
            if not t.is_static:
                raise UnsupportedError(
                    f"compile: {where} has a size that is known only when the graph runs; trace with fixed sizes (no dynamic_shapes=), or "
                    "call the graph module itself, which interprets such graphs"
                )
            if t.device != "cpu":
                raise UnsupportedError(f"compile: {where} is not on the CPU")


def separate_outputs(graph: Graph) -> int:
    """Give every output of the graph and of each body memory of its own: what is an input, a constant, a value from outside, or returned
    twice is cloned. Returns the number of clones."""
    made = 0
    for region in list(graph.regions()):
        seen: set[Value] = set()
        outputs = []
        for v in region.outputs:
            if type(v) is Value and isinstance(v.type, TensorType):
                own = v.node is not None and v.region is region and v.node.op.name != "constant"
                if not own or v in seen:
                    v = _cloned(graph, region, v)
                    made += 1
                seen.add(v)
            outputs.append(v)
        region.outputs = outputs
    return made


def _cloned(graph: Graph, region: Region, v: Value) -> Value:
    node = Node(get_op("clone"), (v,), {"memory_format": None}, (), v.node.source if v.node is not None else None)
    node.outputs = (Value(v.type, graph.unique_name(v.name + "_out"), node),)
    region.append(node)
    return node.outputs[0]
