"""A writer of Graphviz's dot language with the methods that users of the Python package `graphviz` know.

One difference: text is text. A label given as an ordinary string is shown as it is, backslashes and angle brackets included. For dot's own
escapes (``\\l``, ``\\N``, record fields) wrap the string in `Raw`; for HTML-like labels wrap it in `Html`.
Grammar: https://graphviz.org/doc/info/lang.html, escapes: https://graphviz.org/docs/attr-types/escString/.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any

from twofold.support import options
from twofold.support.dotprogram import OutputError, RenderError, check_format, open_file, run_dot, write_file
from twofold.support.errors import ArgumentError, TwofoldError

MAX_NODES = options.register(
    "viz.max_nodes",
    int,
    5000,
    "largest number of nodes that render(), pipe() and notebooks draw, since dot needs minutes beyond (0: no limit)",
)

_NUMBER = re.compile(r"-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)")
_KEYWORDS = frozenset(("node", "edge", "graph", "digraph", "subgraph", "strict"))
_TEXT_ATTRIBUTES = frozenset(
    ("label", "xlabel", "headlabel", "taillabel", "tooltip", "edgetooltip", "headtooltip", "labeltooltip", "tailtooltip")
)
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_ODD_BACKSLASH = re.compile(r'(?<!\\)((?:\\\\)*)\\(?="|\Z)')


class Raw(str):
    """A string in dot's own escaped notation: ``\\l`` ends a left-aligned line, ``\\N`` is the node's name; only quotes are escaped."""


class Html(str):
    """An HTML-like label, without the outer angle brackets."""


def _visible(text: str) -> str:
    # control characters and lone surrogates are legal in no output format: show their escapes
    if text.isprintable():
        return text
    return _UNSAFE.sub(lambda m: repr(m[0])[1:-1], text.replace("\r\n", "\n").expandtabs(4))


def _is_word(text: str) -> bool:
    """True if dot's grammar takes `text` without quotes."""
    if text.isidentifier():
        return text.isascii() and text.lower() not in _KEYWORDS
    return _NUMBER.fullmatch(text) is not None


def escape_text(text: str) -> Raw:
    """`text` in the notation of `Raw`, shown as it is: to be put together with dot's own escapes."""
    # dot replaces HTML entities in labels, so an ampersand that would begin one is written as an entity itself
    return Raw(_ENTITY.sub("&amp;", _visible(text)).replace("\\", "\\\\").replace("\n", "\\n"))


def quote(name: str) -> str:
    """An identifier of the dot language for any string: bare where that is allowed, else quoted. Different strings stay different."""
    return name if _is_word(name) else '"' + escape_text(name).replace('"', '\\"') + '"'


def quote_text(text: str) -> str:
    """A label that shows `text` as it is; `Raw` and `Html` are taken as written."""
    if isinstance(text, Html):
        return f"<{text}>"
    return quote_value(text) if isinstance(text, Raw) else quote(text)


def quote_value(value: str) -> str:
    """The value of an attribute that is not shown text (a colour, a size): backslashes stay, for dot reads them as they are."""
    if _is_word(value):
        return value
    # a backslash before a quote or at the end would swallow the quote
    return '"' + _ODD_BACKSLASH.sub(r"\1\\\\", _visible(value)).replace('"', '\\"').replace("\n", "\\n") + '"'


def _value(name: str, value: Any) -> str:
    if type(value) is str and _is_word(value):
        return value
    if isinstance(value, str):
        return quote_text(value) if name in _TEXT_ATTRIBUTES or isinstance(value, Html) else quote_value(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return quote(str(value))
    raise ArgumentError(f"attribute {name!r} must be a string or a number, not {type(value).__name__} ({value!r:.80})")


def _attributes(attributes: Mapping[str, Any]) -> str:
    """`[name=value …]` with a space in front, or nothing; None leaves an attribute out."""
    parts = [f"{quote(k)}={_value(k, v)}" for k, v in attributes.items() if v is not None]
    return f" [{' '.join(parts)}]" if parts else ""


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f"the name of a node must be a string, not {type(value).__name__} ({value!r:.80})")
    return value


class Statements:
    """What a graph and a subgraph share: default attributes and a list of statements."""

    def __init__(
        self, graph_attr: Mapping[str, Any] | None, node_attr: Mapping[str, Any] | None, edge_attr: Mapping[str, Any] | None
    ) -> None:
        self.graph_attr: dict[str, Any] = dict(graph_attr or {})
        self.node_attr: dict[str, Any] = dict(node_attr or {})
        self.edge_attr: dict[str, Any] = dict(edge_attr or {})
        self._body: list[str | Subgraph] = []
        self._names: set[str] = set()

    def node(self, name: str, label: str | None = None, **attrs: Any) -> None:
        """Add a node. Without a label its name is shown."""
        written = quote(_name(name))
        if label is None and written != name:
            label = name
        self._body.append(written + _attributes({"label": label, **attrs}))
        self._names.add(name)

    def edge(self, tail_name: str, head_name: str, label: str | None = None, **attrs: Any) -> None:
        """Add an edge from `tail_name` to `head_name`; nodes not added before are made by it. A colon is part of a name (no ports)."""
        written = f"{quote(_name(tail_name))} -> {quote(_name(head_name))}"
        self._body.append(f"{written}{_attributes({'label': label, **attrs})}")
        self._names.update((tail_name, head_name))

    def edges(self, tail_head_iter: Iterable[tuple[str, str] | str]) -> None:
        """Add an edge for each pair (a string of two characters counts as a pair)."""
        for pair in tail_head_iter:
            if len(pair) != 2:
                raise ArgumentError(f"edges() takes pairs of names, not {pair!r:.80}")
            self.edge(pair[0], pair[1])

    def attr(self, kw: str | None = None, **attrs: Any) -> None:
        """Set attributes from here on: of all nodes, edges or graphs (`kw` "node", "edge", "graph"), or of this graph (`kw` None)."""
        if kw is None:
            self._body.extend(f"{quote(k)}={_value(k, v)}" for k, v in attrs.items() if v is not None)
            return
        if kw.lower() not in ("node", "edge", "graph"):
            raise ArgumentError(f"attr() takes 'node', 'edge', 'graph' or None, not {kw!r}")
        self._body.append(kw.lower() + (_attributes(attrs) or " []"))

    def subgraph(
        self, name: str | None = None, *, graph_attr: Mapping[str, Any] | None = None, node_attr: Mapping[str, Any] | None = None,
        edge_attr: Mapping[str, Any] | None = None,
    ) -> Subgraph:  # fmt: skip
        """A subgraph at this place, to be filled (also ``with dot.subgraph(…) as s:``). A name beginning with ``cluster`` makes a frame."""
        child = Subgraph(name, self._names, graph_attr, node_attr, edge_attr)
        self._body.append(child)
        return child

    def _statements(self) -> Iterator[str | Subgraph]:
        for kind, attributes in (("graph", self.graph_attr), ("node", self.node_attr), ("edge", self.edge_attr)):
            if attributes:
                yield kind + _attributes(attributes)
        yield from self._body


class Subgraph(Statements):
    """A part of a `Digraph`; made by its `subgraph` method."""

    def __init__(
        self, name: str | None, names: set[str], graph_attr: Mapping[str, Any] | None, node_attr: Mapping[str, Any] | None,
        edge_attr: Mapping[str, Any] | None,
    ) -> None:  # fmt: skip
        super().__init__(graph_attr, node_attr, edge_attr)
        self.name = name
        self._names = names

    def __enter__(self) -> Subgraph:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    @property
    def head(self) -> str:
        """The words that open it in the source."""
        return "{" if self.name is None else f"subgraph {quote(self.name)} {{"


class Digraph(Statements):
    """A directed graph in the dot language.

    `filename` and `directory` say where `save` and `render` write (default ``<name>.gv`` in the current folder), `format` what `render` and
    `pipe` make (default "pdf"); all three may be set as attributes later.
    """

    def __init__(
        self, name: str | None = None, comment: str | None = None, filename: str | os.PathLike[str] | None = None,
        directory: str | os.PathLike[str] | None = None, format: str | None = None, *, graph_attr: Mapping[str, Any] | None = None,
        node_attr: Mapping[str, Any] | None = None, edge_attr: Mapping[str, Any] | None = None, strict: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(graph_attr, node_attr, edge_attr)
        self.name, self.comment, self.strict = name, comment, strict
        self.filename = os.fspath(filename) if filename is not None else f"{name or 'Digraph'}.gv"
        self.directory = os.fspath(directory) if directory is not None else ""
        self.format = "pdf" if format is None else check_format(format)

    @property
    def node_count(self) -> int:
        """The number of different nodes, in subgraphs too."""
        return len(self._names)

    @property
    def source(self) -> str:
        """The graph in the dot language."""
        lines = [f"// {line}" for line in (self.comment or "").splitlines()]
        lines.append(f"{'strict ' if self.strict else ''}digraph {quote(self.name) + ' ' if self.name is not None else ''}{{")
        open_parts = [self._statements()]
        while open_parts:
            indent = "  " * len(open_parts)
            for statement in open_parts[-1]:
                if isinstance(statement, Subgraph):
                    lines.append(indent + statement.head)
                    open_parts.append(statement._statements())
                    break
                lines.append(indent + statement)
            else:
                open_parts.pop()
                lines.append("  " * len(open_parts) + "}")
        lines.append("")
        return "\n".join(lines)

    def save(self, filename: str | os.PathLike[str] | None = None, directory: str | os.PathLike[str] | None = None) -> str:
        """Write the source (UTF-8) and return its path. Needs no Graphviz and has no size limit. Raises OutputError."""
        path = self._path(filename, directory)
        write_file(path, self.source.encode())
        return path

    def pipe(
        self, format: str | None = None, encoding: str | None = None, *, timeout: float | None = None, max_nodes: int | None = None
    ) -> Any:
        """The drawing as bytes (as a string if `encoding` is given). Errors and limits as for `render`."""
        kind = check_format(self.format if format is None else format)
        limit = MAX_NODES.value if max_nodes is None else max_nodes
        if limit and self.node_count > limit:
            raise RenderError(
                f"the graph has {self.node_count:,} nodes, more than the {limit:,} that may be drawn, because the layout would "
                "take very long; write its text with .save(path) (or to_dot().save(path)), draw a part (fewer layers, less depth), "
                "or pass max_nodes=0 (no limit)"
            )
        data = run_dot(self.source, kind, timeout)
        return data if encoding is None else data.decode(encoding)

    def render(
        self, filename: str | os.PathLike[str] | None = None, *, format: str | None = None, directory: str | os.PathLike[str] | None = None,
        cleanup: bool = False, view: bool = False, outfile: str | os.PathLike[str] | None = None, timeout: float | None = None,
        max_nodes: int | None = None,
    ) -> str:  # fmt: skip
        """Draw the graph with Graphviz and return the drawing's path.

        ``render("name", format="png")`` writes the source to ``name`` and the drawing to ``name.png``. `cleanup` leaves no source behind,
        `view` opens the drawing, `outfile` names the drawing itself (its ending then gives the format; the source goes to the same path
        with the ending ``.gv`` unless `filename` is given). Nothing is written if the drawing fails.

        Raises MissingDependency without Graphviz, RenderError if it fails, exceeds `timeout` seconds (default: the option viz.timeout) or
        the graph has more than `max_nodes` nodes (default: the option viz.max_nodes; 0: no limit), OutputError if a file cannot be written.
        """
        if outfile is not None:
            target = os.path.join(os.fspath(directory) if directory is not None else self.directory, os.fspath(outfile))
            stem, ending = os.path.splitext(target)
            kind = format if format is not None else ending[1:] or self.format
            path = f"{stem}.gv" if filename is None else self._path(filename, directory)
        else:
            path = self._path(filename, directory)
            kind = self.format if format is None else format
            target = f"{path}.{check_format(kind).replace(':', '.')}"
        if os.path.realpath(path) == os.path.realpath(target) and not cleanup:
            raise OutputError(f"the source and the drawing would both be {target!r}; name another filename or outfile")
        data = self.pipe(kind, timeout=timeout, max_nodes=max_nodes)
        if not cleanup:
            write_file(path, self.source.encode())
        write_file(target, data)
        if view:
            open_file(target)
        return target

    def view(self, filename: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """`render` and open the drawing."""
        return self.render(filename, view=True, **options)

    def _path(self, filename: str | os.PathLike[str] | None, directory: str | os.PathLike[str] | None) -> str:
        """Where the source goes; what is given here is remembered, as `graphviz` does."""
        if filename is not None:
            self.filename = os.fspath(filename)
        if directory is not None:
            self.directory = os.fspath(directory)
        return os.path.join(self.directory, self.filename)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"<Digraph {self.name or ''}{' ' if self.name else ''}with {self.node_count:,} nodes; see .source, .save(), .render()>"

    def _repr_svg_(self) -> str:
        """The drawing, for notebooks."""
        return str(self.pipe("svg", "utf-8"))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The drawing for notebooks; where it cannot be made, text that says why."""
        try:
            bundle = {"image/svg+xml": self._repr_svg_(), "text/plain": repr(self)}
        except TwofoldError as e:
            bundle = {"text/plain": f"{self!r}\nnot drawn: {e.message}"}
        return {k: v for k, v in bundle.items() if (not include or k in include) and (not exclude or k not in exclude)}


__all__ = ["MAX_NODES", "Digraph", "Html", "Raw", "Statements", "Subgraph", "escape_text", "quote", "quote_text", "quote_value"]
