"""The dot writer: quoting, files, and running Graphviz."""

from __future__ import annotations

import os
import pathlib
import re
import stat
import sys
import xml.etree.ElementTree as ET

import pytest

from twofold.support import options
from twofold.support.digraph import quote, quote_text, quote_value
from twofold.support.errors import ArgumentError, MissingDependency, TwofoldError, ValueRangeError
from twofold.viz import Digraph, Html, OutputError, Raw, RenderError

TEXTS = [
    "plain", "two words", 'a "quoted" word', "back\\slash", "ends in \\", "ends in \\\\",
    "\\N \\l \\n \\G", "first\nsecond", "windows\r\nline",
    "<b>not html</b>", "<looks like html>", "a & b", "&lt; &amp; &#60; &nbsp;",
    "{a|b} <f0>", "naïve 漢字 Ω 🎈", "node", "Graph", "5.", "-.5",
    "1e5", "// no comment /* here */", "# line", "semi;colon, [x=y]", "\\\"", "tab\there", "control \x01 \x1b \x7f",
]  # fmt: skip


def small() -> Digraph:
    dot = Digraph("small")
    dot.edge("a", "b")
    return dot


def svg_texts(svg: str) -> list[str]:
    root = ET.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", svg))
    return [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text")]


def shown(text: str) -> list[str]:
    """What a reader should see: one string a line, control characters as escapes, tabs as blanks."""
    text = text.replace("\r\n", "\n").expandtabs(4)
    for c in ("\x01", "\x1b", "\x7f"):
        text = text.replace(c, repr(c)[1:-1])
    return text.split("\n")


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_shown_as_it_is(text: str, graphviz: str) -> None:
    dot = Digraph()
    dot.node("a", text)
    dot.node(text + " ")  # no label: the name is shown
    dot.edge("a", text + " ", text)
    lines = [line.replace("\xa0", " ") for line in svg_texts(dot.pipe("svg", "utf-8"))]
    assert lines == shown(text) + shown(text + " ") + shown(text)


def test_different_names_stay_different(graphviz: str) -> None:
    dot = Digraph()
    for text in TEXTS:
        dot.node(text, "x")
    assert dot.pipe("svg", "utf-8").count("<text") == len(TEXTS) == dot.node_count


@pytest.mark.parametrize(
    "text, expected",
    [
        ("abc_1", "abc_1"), ("Node", '"Node"'), ("strict", '"strict"'), ("-1.5", "-1.5"), ("1a", '"1a"'), ("", '""'), ("é", '"é"'),
        ('a"b', '"a\\"b"'), ("a\\", '"a\\\\"'), ("a\nb", '"a\\nb"'), ("\ud800", '"\\\\ud800"'),
    ],
)  # fmt: skip
def test_quote(text: str, expected: str) -> None:
    assert quote(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a &lt;", '"a &amp;lt;"'), ("a & b", '"a & b"'), (Raw("a\\l&lt;"), '"a\\l&lt;"'), (Raw('say "x"'), '"say \\"x\\""'),
        (Raw("ends\\"), '"ends\\\\"'), (Raw('a\\"'), '"a\\\\\\""'), (Raw("a\\\\"), '"a\\\\"'),
        (Html("<b>x</b>"), "<<b>x</b>>"), ("<x>", '"<x>"'),
    ],
)  # fmt: skip
def test_quote_text(text: str, expected: str) -> None:
    assert quote_text(text) == expected


@pytest.mark.parametrize("value, expected", [("red", "red"), ("12,12", '"12,12"'), ("c:\\a", '"c:\\a"'), ("c:\\", '"c:\\\\"')])
def test_quote_value(value: str, expected: str) -> None:
    assert quote_value(value) == expected


def test_raw_escapes_and_html_are_dots_own(graphviz: str) -> None:
    dot = Digraph()
    dot.node("a", Raw("left\\l\\N"))
    dot.node("b", Html("x<b>y</b>&lt;"))
    assert svg_texts(dot.pipe("svg", "utf-8")) == ["left", "a", "x", "y", "<"]


def test_source(golden) -> None:
    dot = Digraph(
        "my graph", comment="first\nsecond", graph_attr={"rankdir": "LR"}, node_attr={"shape": "box"}, edge_attr={"color": "#ff0000"}
    )
    dot.attr("node", style="filled")
    dot.attr(label="title here")
    dot.node("a", "A", penwidth=2.5, fixedsize=True, xlabel=None)
    with dot.subgraph("cluster_0", graph_attr={"label": "inside"}) as inside:
        inside.node("b")
        with inside.subgraph() as deep:
            deep.attr(rank="same")
            deep.edge("b", "c")
    dot.edges([("a", "b"), "ac"])
    assert dot.node_count == 3
    assert str(dot) == dot.source
    golden("digraph.dot", dot.source)


def test_deeply_nested_subgraphs_need_no_recursion() -> None:
    dot = Digraph()
    part = dot.subgraph("s")
    for i in range(3000):
        part = part.subgraph(f"s{i}")
    part.node("x")
    assert dot.source.count("}") == 3002
    assert dot.node_count == 1


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda d: d.node(3), "name of a node must be a string, not int"),
        (lambda d: d.edge("a", None), "name of a node must be a string, not NoneType"),
        (lambda d: d.node("a", color=["red"]), "attribute 'color' must be a string or a number, not list"),
        (lambda d: d.attr("cluster", color="red"), "'cluster'"),
    ],
)
def test_bad_arguments(call, words: str) -> None:
    dot = Digraph()
    with pytest.raises(ArgumentError, match=words):
        call(dot)
    assert dot.node_count == 0


MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-", "svg": b"<?xml", "jpg": b"\xff\xd8\xff"}


@pytest.mark.parametrize("format", MAGIC)
def test_render_writes_source_and_drawing(format: str, tmp_path: pathlib.Path, graphviz: str) -> None:
    dot = small()
    path = dot.render(tmp_path / "new" / "name", format=format)
    assert path == str(tmp_path / "new" / f"name.{format}")
    assert pathlib.Path(path).read_bytes().startswith(MAGIC[format])
    assert (tmp_path / "new" / "name").read_text() == dot.source
    assert len(list((tmp_path / "new").iterdir())) == 2


def test_format_as_attribute_as_in_the_document(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, graphviz: str) -> None:
    monkeypatch.chdir(tmp_path)
    dot = small()
    dot.format = "png"
    assert dot.render("model_graph") == "model_graph.png"
    assert sorted(os.listdir()) == ["model_graph", "model_graph.png"]


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"format": "svg"}, {"filename": "x.gv", "format": "png"}, {"filename": "x", "directory": "d", "cleanup": True, "format": "svg"},
        {"outfile": "o.svg"}, {"outfile": "d/o.png", "cleanup": True},
    ],
)  # fmt: skip
def test_paths_are_those_of_the_graphviz_package(arguments, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, graphviz: str) -> None:
    theirs = pytest.importorskip("graphviz").Digraph("small")
    theirs.edge("a", "b")
    found = []
    for name, dot in (("theirs", theirs), ("ours", small())):
        folder = tmp_path / name
        (folder / "d").mkdir(parents=True)
        monkeypatch.chdir(folder)
        path = dot.render(**arguments)
        found.append((path.replace("\\", "/"), sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))))
    assert found[0] == found[1]


def test_save_and_file_permissions(tmp_path: pathlib.Path) -> None:
    dot = Digraph("g", filename="here.gv", directory=tmp_path / "sub")
    dot.node("ü")
    path = dot.save()
    assert path == str(tmp_path / "sub" / "here.gv")
    assert pathlib.Path(path).read_text(encoding="utf-8") == dot.source
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(os.stat(path).st_mode) == stat.S_IMODE(os.stat(plain).st_mode)


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: pathlib.Path) -> None:
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "folder", tmp_path / "nul\0byte"):
        with pytest.raises(OutputError, match="cannot be written") as caught:
            small().save(target)
        assert isinstance(caught.value, OSError)
    assert os.listdir(tmp_path) == ["folder"]
    assert os.listdir(tmp_path / "folder") == []


def test_without_graphviz(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(MissingDependency) as caught:
        small().render(tmp_path / "x", format="png")
    for words in ("apt install graphviz", "brew install graphviz", "conda install graphviz", "dot"):
        assert words in caught.value.message
    assert os.listdir(tmp_path) == ["empty"]
    bundle = small()._repr_mimebundle_()
    assert list(bundle) == ["text/plain"]
    assert "apt install graphviz" in bundle["text/plain"]


def fake_dot(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    program = folder / "dot"
    program.write_text(f"#!{sys.executable}\nimport sys, time\n{body}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.skipif(sys.platform == "win32", reason="a script with a #! line")
@pytest.mark.parametrize(
    "body, kind, words",
    [
        ("print('no memory', file=sys.stderr); sys.exit(3)", RenderError, "exit status 3: no memory"),
        ("sys.exit(1)", RenderError, "it said nothing"),
        ("time.sleep(30)", RenderError, "had not finished after 0.5 seconds"),
        ("print('Format: \"png\" not recognized. Use one of: svg', file=sys.stderr); sys.exit(1)", ValueRangeError, "Use one of: svg"),
    ],
)
def test_failing_program(body: str, kind: type, words: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    fake_dot(tmp_path / "bin", monkeypatch, body)
    with pytest.raises(kind, match=words):
        small().render(tmp_path / "x", format="png", timeout=0.5 if "sleep" in body else 60)
    assert os.listdir(tmp_path) == ["bin"]


@pytest.mark.skipif(sys.platform == "win32", reason="a script with a #! line")
def test_what_dot_says_beside_a_drawing_is_a_warning(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, monkeypatch, "print('scaled down', file=sys.stderr); print('drawing')")
    with pytest.warns(UserWarning, match="dot: scaled down"):
        assert small().pipe("png") == b"drawing\n"


def test_dots_own_error_is_shown(tmp_path: pathlib.Path, graphviz: str) -> None:
    dot = Digraph()
    dot.node("a", Html("<b>not closed"))
    with pytest.raises(RenderError, match="'dot' failed"):
        dot.render(tmp_path / "x", format="svg")
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueRangeError, match="cannot write the format 'nosuch'"):
        small().pipe("nosuch")


@pytest.mark.parametrize("format", ["", "../x", "p ng", "-o", 3])
def test_bad_format(format, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueRangeError, match="format must be"):
        small().render(tmp_path / "x", format=format)


def test_size_guard(tmp_path: pathlib.Path, graphviz: str) -> None:
    dot = Digraph()
    for i in range(12):
        dot.node(f"n{i}")
    with pytest.raises(RenderError, match=r"12 nodes, more than the 11 .*\.save\(path\).*max_nodes=0"):
        dot.render(tmp_path / "x", format="svg", max_nodes=11)
    assert os.listdir(tmp_path) == []
    assert dot.pipe("svg", max_nodes=12)
    assert dot.pipe("svg", max_nodes=0)
    for i in range(5002):
        dot.node(f"n{i}")
    with pytest.raises(RenderError, match="5,002 nodes, more than the 5,000 "):
        dot.pipe("svg")
    with options.override({"viz.max_nodes": 5}), pytest.raises(RenderError, match="5,002 nodes, more than the 5 "):
        dot.pipe("svg")
    assert "not drawn: the graph has 5,002 nodes" in dot._repr_mimebundle_()["text/plain"]


def test_notebook_picture(graphviz: str) -> None:
    bundle = small()._repr_mimebundle_(include=["image/svg+xml"])
    assert list(bundle) == ["image/svg+xml"]
    assert svg_texts(bundle["image/svg+xml"]) == ["a", "b"]
    assert "<svg" in small()._repr_svg_()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="xdg-open is for other systems")
def test_view_needs_an_opener(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, graphviz: str) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "dot").symlink_to(os.path.realpath(graphviz))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(MissingDependency, match="xdg-open"):
        small().view(tmp_path / "x", format="svg")
    assert (tmp_path / "x.svg").exists()


def test_source_and_drawing_at_one_path(tmp_path: pathlib.Path) -> None:
    with pytest.raises(OutputError, match="would both be"):
        small().render("x.svg", outfile="x.svg", directory=tmp_path)
    assert issubclass(OutputError, TwofoldError)
