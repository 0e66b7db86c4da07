"""Making a graph with a fault small: delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE
Transactions on Software Engineering 28, 2002) over outputs, nodes, dimensions and numbers.

A node that is taken away becomes an input, which is given what the interpreter computes for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from twofold.compiler.subgraphs import ValueRecorder, array_of, live_outputs, needed, reachable, resized, subgraph
from twofold.ir.graph import Graph, Node, Value, has_effect
from twofold.ir.interpreter import Interpreter
from twofold.ir.types import TensorType
from twofold.support.errors import ArgumentError

Fails = Callable[[Graph, "list[Any]"], bool]
"""Whether a graph, run on these arrays, shows the fault."""
Item = TypeVar("Item")
MAX_TRIALS = 2000


@dataclass(frozen=True)
class Case:
    """A graph and the arrays of its inputs."""

    graph: Graph
    arrays: list[Any]

    @property
    def nodes(self) -> int:
        """Nodes that compute something: constants are not counted."""
        return sum(n.op.name != "constant" for n in self.graph.walk())

    @property
    def elements(self) -> int:
        """Elements of all inputs."""
        return sum(int(np.size(a)) for a in self.arrays)


class Shrinker:
    """Makes a case smaller while `fails` is true of it. A case for which `fails`, or the interpreter, raises does not count."""

    def __init__(self, fails: Fails, max_trials: int = MAX_TRIALS) -> None:
        self.fails, self.max_trials, self.trials = fails, max_trials, 0

    def shrink(self, graph: Graph, arrays: Sequence[Any]) -> Case:
        """The smallest case found. Raises ArgumentError if the one given does not fail."""
        case = Case(graph, [array_of(a) for a in arrays])
        if not self.fails(case.graph, case.arrays):
            raise ArgumentError(f"minify: `fails` is false for the graph {graph.name} and these inputs: there is nothing to make smaller")
        case = self._without_effects(case)
        before = (case.nodes + 1, 0)
        while (case.nodes, case.elements) != before and self.trials < self.max_trials:
            before = (case.nodes, case.elements)
            case = self._fewer_outputs(case)
            case = self._fewer_nodes(case)
            case = self._smaller_dimensions(case)
        return self._plainer_numbers(case)

    def _try(self, case: Case | None) -> bool:
        """Whether a smaller case still fails."""
        if case is None or self.trials >= self.max_trials:
            return False
        self.trials += 1
        try:
            Interpreter(case.graph).run(*case.arrays)
            return self.fails(case.graph, case.arrays)
        except Exception:
            return False

    # --- nodes

    def _without_effects(self, case: Case) -> Case:
        nodes = [n for n in case.graph.nodes if not has_effect(n) and n.op.name != "token"]
        if len(nodes) == len(case.graph.nodes):
            return case
        fewer = self._part(case, nodes, None)
        return fewer if fewer is not None and self._try(fewer) else case

    def _fewer_outputs(self, case: Case) -> Case:
        outputs = [v for v in dict.fromkeys(case.graph.outputs) if type(v) is Value]

        def with_outputs(kept: Sequence[Any]) -> Case | None:
            return self._part(case, reachable(case.graph.nodes, kept), kept) if kept else None

        kept = self._fewest(outputs, lambda items: self._try(with_outputs(items)))
        if len(kept) == len(case.graph.outputs):
            return case
        return with_outputs(kept) or case

    def _fewer_nodes(self, case: Case) -> Case:
        values = ValueRecorder(case.graph).record(case.arrays)
        nodes = [n for n in case.graph.nodes if n.op.name != "constant"]

        def with_nodes(kept: Sequence[Node]) -> Case | None:
            return self._part(case, self._with_constants(kept), None, values) if kept else None

        kept = self._fewest(nodes, lambda items: self._try(with_nodes(items)))
        return case if len(kept) == len(nodes) else with_nodes(kept) or case

    @staticmethod
    def _with_constants(kept: Sequence[Node]) -> list[Node]:
        read = dict.fromkeys(v.node for n in kept for v in needed(n) if v.node is not None and v.node.op.name == "constant")
        return [*(n for n in read if n not in kept), *kept]

    @staticmethod
    def _part(case: Case, nodes: Sequence[Node], outputs: Sequence[Any] | None, values: Any = None) -> Case | None:
        """The case of these nodes alone; None if it would have no output, or needs a value that is no tensor."""
        kept = list(nodes)
        returned = list(outputs) if outputs is not None else live_outputs(kept, case.graph)
        if not returned:
            return None
        kept = reachable(kept, returned)
        values = values if values is not None else ValueRecorder(case.graph).record(case.arrays)
        graph, outside = subgraph(kept, returned, case.graph.name)
        if not all(isinstance(v.type, TensorType) for v in outside):
            return None
        return Case(graph, [array_of(values[v]) for v in outside])

    def _fewest(self, items: Sequence[Item], fails: Callable[[Sequence[Item]], bool]) -> list[Item]:
        """Delta debugging: a subset that fails and of which no item can be left out alone."""
        kept, parts = list(items), 2
        while len(kept) > 1:
            size = -(-len(kept) // parts)
            cuts = [kept[i : i + size] for i in range(0, len(kept), size)]
            smaller = next((c for c in cuts if len(cuts) > 1 and fails(c)), None)
            if smaller is not None:
                kept, parts = smaller, 2
                continue
            rest = ([x for c in cuts if c is not cut for x in c] for cut in cuts) if len(cuts) > 2 else ()
            smaller = next((c for c in rest if fails(c)), None)
            if smaller is not None:
                kept, parts = smaller, max(parts - 1, 2)
            elif size == 1:
                break
            else:
                parts = min(2 * parts, len(kept))
        return kept

    # --- dimensions and numbers

    def _smaller_dimensions(self, case: Case) -> Case:
        sizes = sorted({n for a in case.arrays for n in np.shape(a) if n > 1}, reverse=True)
        for size in sizes:
            for smaller in _smaller_sizes(size):
                found = resized(case.graph, case.arrays, size, smaller)
                if found is not None and self._try(Case(*found)):
                    case = Case(*found)
                    break
        return case

    def _plainer_numbers(self, case: Case) -> Case:
        for k, a in enumerate(case.arrays):
            rounded = np.round(a.astype(np.float64), 1).astype(a.dtype) if a.dtype.kind not in "biu" else a
            for plain in (np.zeros_like(a), np.ones_like(a), np.full_like(a, a.reshape(-1)[0]) if a.size else a, rounded):
                if np.array_equal(plain, a):
                    break
                tried = replace(case, arrays=[plain if i == k else b for i, b in enumerate(case.arrays)])
                if self._try(tried):
                    case = tried
                    break
        return case


def _smaller_sizes(size: int) -> list[int]:
    """Sizes to try instead of one, the smallest first."""
    return sorted({n for n in (1, 2, 3, size // 4, size // 2, size - 1) if 0 < n < size})
