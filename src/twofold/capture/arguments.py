"""The arrays that a call of a graph module gives its graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from twofold.capture.graph_module import GraphModule, check_signature, reorder
from twofold.tensors.core import memory, wrap


def argument_arrays(module: GraphModule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[np.ndarray]:
    """The arrays of a call's arguments and of the bindings, in the order of the graph's inputs; they share the tensors' memory.

    Raises GuardError for arguments that the graph was not recorded for.
    """
    leaves = [wrap(x) if isinstance(x, np.ndarray) else x for x in module.leaves_of(args, kwargs)]
    tensors = module.match(leaves)
    check_signature(module.name, module.layout, leaves, module.bindings)
    reorder(module.name, module.layout, tensors, None)
    return [np.asarray(memory(t)) for t in tensors]
