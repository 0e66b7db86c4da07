"""Canonicalisation: one form for things that are equal, so that later stages see fewer of them.

The passes are constant folding, batch normalisation into the layer before it, rules (`algebra`, `algebra_logic`, `canonical_shapes`), the
order of operands, common subexpressions and dead code. Each is linear in the size of the graph and works inside the bodies of `cond` and
`while_loop`.
"""

from __future__ import annotations

from typing import Any

from twofold.compiler.algebra import ARITHMETIC
from twofold.compiler.algebra_logic import LOGIC
from twofold.compiler.canonical_shapes import SHAPES
from twofold.compiler.canonical_values import NUMBERS, call, result
from twofold.compiler.fold_batch_norm import fold_batch_norm
from twofold.ir.dtypes import FLOAT
from twofold.ir.graph import Graph, Node, Value
from twofold.ir.passes import cse, dce, fold
from twofold.ir.rewrite import PassLog, PassRecord, Rewriter, Rules, apply_rules

ROUNDS = 3
"""Merging equal values and folding can let another rule match (x - x); the passes are repeated at most this often."""


def canonicalise(graph: Graph, log: PassLog | None = None, verify: bool = False) -> list[PassRecord]:
    """Bring a graph into its canonical form, in place; returns a record for each pass, and `log` receives every rewrite.

    The graph must be one that is only run (the backward part, where wanted, is in it): `detach` is removed. Types and effects stay, and so
    do the outputs' values, but for

    - the sign and payload of NaN;
    - batch normalisation, and constant factors and terms a channel, folded into constant weights of the layer before (frozen graphs only;
      rounded once, see `fold_batch_norm`).

    Outputs may afterwards be inputs, constants, or twice the same value, where they were copies before: whoever runs the graph gives each
    output memory of its own. Operations whose results nothing needs are removed even if they could fail.
    """
    rules = all_rules()
    records = [fold(graph, log, verify)]
    for _ in range(ROUNDS):
        records.append(fold_batch_norm(graph, log, verify))
        records.append(apply_rules("algebra", graph, rules, log, verify=verify))
        records.append(order_operands(graph, log, verify))
        merged, folded = cse(graph, log, verify), fold(graph, log, verify)
        records += [merged, folded]
        if not merged.changes and not folded.changes:
            break
    records.append(dce(graph, log, verify))
    return records


def all_rules() -> Rules:
    """The rules of the three modules in one table, so that one worklist serves all."""
    merged = Rules()
    for part in (ARITHMETIC, LOGIC, SHAPES):
        for name, rules in part.table.items():
            merged.table.setdefault(name, []).extend(rules)
    return merged


# ---- order of operands -----------------------------------------------------------------------------------------------------------------

COMMUTATIVE = ("add", "mul", "eq", "ne", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")
"""Operations whose operands may be exchanged: for floats exactly, but for which of two NaNs is returned."""
COMMUTATIVE_ON_INTEGERS = ("maximum", "minimum", "fmax", "fmin")
"""For floats the order decides which of 0.0 and -0.0 is returned: NumPy takes the second operand, others the first."""
MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
"""a < b is b > a."""


def order_operands(graph: Graph, log: PassLog | None = None, verify: bool = False) -> PassRecord:
    """Put the operands of commutative operations and of comparisons into the order of their definition, constants and numbers last, so that
    a + b and b + a are found to be equal."""
    return apply_rules("order_operands", graph, ordering_rules(graph), log, verify=verify)


def ordering_rules(graph: Graph) -> Rules:
    """Rules that know where each value of this graph is defined."""
    place: dict[Value, int] = {}
    for region in graph.regions():
        for v in region.inputs:
            place[v] = len(place)
    for node in graph.walk():
        for v in node.outputs:
            place[v] = len(place)
    rules = Rules()

    def rank(x: Any) -> tuple[int, int]:
        """Computed values, then constants, then numbers."""
        if type(x) in NUMBERS:
            return 2, 0
        return int(x.node is not None and x.node.op.name in ("constant", "full")), place[x]

    @rules.rule(*COMMUTATIVE, *COMMUTATIVE_ON_INTEGERS)
    def commuted(node: Node, rewriter: Rewriter) -> Any:
        a, b = node.inputs
        if rank(a) <= rank(b) or (node.op.name in COMMUTATIVE_ON_INTEGERS and result(node).dtype.category == FLOAT):
            return None
        rewriter.set_inputs(node, (b, a))
        return True

    @rules.rule(*MIRRORED)
    def mirrored(node: Node, rewriter: Rewriter) -> Any:
        a, b = node.inputs
        if rank(a) <= rank(b):
            return None
        turned = call(rewriter, MIRRORED[node.op.name], b, a)
        place[turned] = place[node.output]
        return turned

    return rules
