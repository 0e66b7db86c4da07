"""Pictures and text views of graphs: the backward graph behind a tensor, and static graphs. Drawing never runs or changes a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.viz.backward import make_dot, show_graph
    from twofold.viz.digraph import Digraph, Html, Raw
    from twofold.viz.program import OutputError, RenderError
    from twofold.viz.static import graph_to_dot

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "backward": ("make_dot", "show_graph"),
        "digraph": ("Digraph", "Html", "Raw"),
        "program": ("OutputError", "RenderError"),
        "static": ("graph_to_dot",),
    },
)
__all__ = ["Digraph", "Html", "OutputError", "Raw", "RenderError", "graph_to_dot", "make_dot", "show_graph"]
