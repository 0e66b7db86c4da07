"""Pictures and text views of graphs: the backward graph behind a tensor, and static graphs. Drawing never runs or changes a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.ir.dot import graph_to_dot
    from twofold.support.digraph import Digraph, Html, Raw
    from twofold.support.dotprogram import OutputError, RenderError
    from twofold.viz.backward import make_dot, show_graph

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "backward": ("make_dot", "show_graph"),
        "twofold.support.digraph": ("Digraph", "Html", "Raw"),
        "twofold.support.dotprogram": ("OutputError", "RenderError"),
        "twofold.ir.dot": ("graph_to_dot",),
    },
)
__all__ = ["Digraph", "Html", "OutputError", "Raw", "RenderError", "graph_to_dot", "make_dot", "show_graph"]
