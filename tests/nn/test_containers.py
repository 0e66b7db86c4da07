"""Containers: behaviour, repr and errors, beside torch's where that is installed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.nn.pairs import ours, to_array
from twofold import nn
from twofold.support.errors import TwofoldError


def layers(package: Any, n: int = 3) -> list[Any]:
    return [package.Linear(i + 1, i + 2) for i in range(n)]


def sequential(p: Any) -> list[Any]:
    """What a Sequential becomes, as reprs and key lists."""
    s = p.Sequential(*layers(p))
    named = p.Sequential(OrderedDict(a=p.ReLU(), b=p.Linear(1, 2), c=p.Sequential(p.Tanh(), p.GELU())))
    out = [s, named, s[1], s[-1], s[1:], named[:2], named[::2], named[-1][0], len(s), list(named.state_dict())]
    s.append(p.Tanh()).insert(1, p.ReLU()).extend(p.Sequential(p.GELU()))
    out += [repr(s), [type(m).__name__ for m in s]]
    del s[0]
    out.append(repr(s))
    del s[1:3]
    out.append(repr(s))
    s[0] = p.Sigmoid()
    popped = s.pop(1)
    out += [repr(s), popped, p.Sequential(p.ReLU()) + p.Sequential(p.Tanh()), p.Sequential(p.ReLU()) * 2, 2 * p.Sequential(p.ReLU())]
    s += p.Sequential(p.Mish())
    s *= 2
    del named[0]
    return [*out, s, named, p.Sequential()]


def module_list(p: Any) -> list[Any]:
    m = p.ModuleList(layers(p))
    out = [repr(m), m[0], m[-1], m[1:], m[::2], len(m), list(m.state_dict())]
    m.append(p.Linear(1, 1)).extend([p.ReLU(), p.ReLU(), p.Sequential(p.ReLU(), p.Tanh()), p.Sequential(p.ReLU(), p.Tanh())])
    m.insert(0, p.Tanh())
    out.append(repr(m))
    del m[1]
    del m[0:2]
    m[0] = p.Identity()
    out += [repr(m), m.pop(-1), repr(m + p.ModuleList([p.SiLU()])), repr(p.ModuleList())]
    m += [p.Tanh()]
    return [*out, m, [type(x).__name__ for x in m]]


def module_dict(p: Any) -> list[Any]:
    m = p.ModuleDict({"b": p.ReLU(), "a": p.Linear(1, 2)})
    out = [repr(m), m["a"], list(m), list(m.keys()), [str(v) for v in m.values()], [k for k, _ in m.items()], len(m), "a" in m, "x" in m]
    m.update([("c", p.Tanh()), ["d", p.GELU()]])
    m.update(p.ModuleDict({"a": p.SiLU()}))
    m["e"] = p.Mish()
    del m["b"]
    out += [repr(m), m.pop("c"), list(m.state_dict())]
    m.clear()
    return [*out, m, len(m)]


def parameters(p: Any) -> list[Any]:
    zeros = (lambda *s: ours(np.zeros(s, np.float32))) if p is nn else __import__("torch").zeros
    m = p.ParameterList([zeros(2, 3), p.Parameter(zeros(4)), 5])
    out = [len(m), [n for n, _ in m.named_parameters()], type(m[2]).__name__, [tuple(t.shape) for t in m[:2]], list(m.state_dict())]
    m.append(zeros(1)).extend([zeros(2)])
    m += [zeros(3)]
    m[0] = zeros(7)
    out += [[n for n, _ in m.named_parameters()], tuple(m[0].shape), tuple(m[-1].shape)]
    d = p.ParameterDict({"a": zeros(2, 3), "b": 3})
    d["c"] = zeros(1)
    d.update({"e": p.Parameter(zeros(2))})
    out += [list(d.keys()), len(d), "a" in d, [n for n, _ in d.named_parameters()], d.get("x", 1), tuple(d.setdefault("a").shape)]
    del d["a"]
    out += [tuple(d.pop("c").shape), list(d), list(d.state_dict())]
    d.clear()
    return [*out, len(d)]


@pytest.mark.parametrize("build", [sequential, module_list, module_dict, parameters], ids=lambda f: f.__name__)
def test_as_torch_does(build: Callable[[Any], list[Any]]) -> None:
    torch = pytest.importorskip("torch")
    mine, other = build(nn), build(torch.nn)
    assert [str(x) for x in mine] == [str(x) for x in other]


def test_repr_of_parameters() -> None:
    torch = pytest.importorskip("torch")
    zeros = ours(np.zeros((2, 3), np.float32))
    for name, mine, other in (
        ("ParameterList", [zeros, 3], [torch.zeros(2, 3), 3]),
        ("ParameterDict", {"a": zeros, "b": 3}, {"a": torch.zeros(2, 3), "b": 3}),
    ):
        a, b = repr(getattr(nn, name)(mine)), repr(getattr(torch.nn, name)(other))
        assert a == b.replace("torch.float32", "twofold.float32").replace("torch.FloatTensor", "twofold.float32")


def test_calls() -> None:
    x = ours(np.array([[-1.0, 2.0]], np.float32))
    np.testing.assert_array_equal(to_array(nn.Sequential(nn.ReLU(), nn.Flatten(0))(x)), [0, 2])
    assert nn.Sequential()(x) is x
    assert nn.Identity(1, a=2)(x) is x
    for container in (nn.ModuleList([nn.ReLU()]), nn.ModuleDict({"a": nn.ReLU()}), nn.ParameterList(), nn.ParameterDict()):
        with pytest.raises(TwofoldError):
            container(x)


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: nn.Sequential(3), TypeError, "int is not a Module"),
    (lambda: nn.Sequential(nn.ReLU())[1], IndexError, "index 1 is out of range, the length is 1"),
    (lambda: nn.Sequential(nn.ReLU())[-2], IndexError, "index -2"),
    (lambda: nn.Sequential(nn.ReLU())["0"], TypeError, "integer or a slice"),
    (lambda: nn.Sequential(nn.ReLU()).insert(3, nn.ReLU()), IndexError, "index 3"),
    (lambda: nn.Sequential(nn.ReLU()).insert(0, 3), TypeError, "int is not a Module"),
    (lambda: nn.Sequential() + 3, TypeError, "only a Sequential"),
    (lambda: nn.Sequential() * 0, TypeError, "positive"),
    (lambda: nn.Sequential() * 1.5, TypeError, "integer number of times"),
    (lambda: nn.ModuleList([3]), TypeError, "int is not a Module"),
    (lambda: nn.ModuleList([nn.ReLU()])[2], IndexError, "index 2"),
    (lambda: nn.ModuleList().extend(3), TypeError, "several modules"),
    (lambda: nn.ModuleList([nn.ReLU()]).__setitem__(0, 3), TypeError, "int is not a Module"),
    (lambda: nn.ModuleDict({"a": 3}), TypeError, "int is not a Module"),
    (lambda: nn.ModuleDict({"a.b": nn.ReLU()}), AttributeError, "dot"),
    (lambda: nn.ModuleDict({"a": nn.ReLU()})["b"], KeyError, "no item 'b'; it has 'a'"),
    (lambda: nn.ModuleDict({"a": nn.ReLU()}).pop("b"), KeyError, "no item 'b'"),
    (lambda: nn.ModuleDict(3), TypeError, "mapping or pairs"),
    (lambda: nn.ModuleDict([("a",)]), TypeError, "item 0 is not a pair"),
    (lambda: nn.ParameterList(3), TypeError, "several values"),
    (lambda: nn.ParameterList()[0], IndexError, "index 0"),
    (lambda: nn.ParameterDict({3: 4}), TypeError, "strings"),
    (lambda: nn.ParameterDict()["a"], KeyError, "no item 'a'; it has none"),
]


@pytest.mark.parametrize("call,kind,text", BAD, ids=[t for _, _, t in BAD])
def test_errors(call: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        call()
    assert isinstance(caught.value, TwofoldError)
