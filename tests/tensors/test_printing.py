"""How tensors print: against PyTorch on random tensors, and the cases PyTorch does not have."""

from __future__ import annotations

import math
import re
import threading
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.support.errors import ArgumentError, TwofoldError, ValueRangeError
from twofold.tensors import printing
from twofold.tensors.core import Symbol, Tensor, wrap

torch = pytest.importorskip("torch")

FLOATS = ("float64", "float32", "float16", "bfloat16")
INTS = ("int8", "int16", "int32", "int64", "uint8")
SHAPES = (
    (),
    (1,),
    (3,),
    (0,),
    (2, 0),
    (0, 3),
    (7, 5),
    (2, 3, 4),
    (1, 1, 1, 2),
    (30,),
    (40, 40),
    (1001,),
    (8, 200),
    (3, 2, 300),
    (7, 7, 7, 7),
)


@pytest.fixture(autouse=True)
def _defaults() -> Any:
    printing.reset()
    torch.set_printoptions(profile="default", sci_mode=None)
    yield
    printing.reset()
    torch.set_printoptions(profile="default", sci_mode=None)


def pair(array: np.ndarray, dtype: str) -> tuple[Tensor, Any]:
    """The same values as our tensor and as PyTorch's."""
    t = torch.from_numpy(np.ascontiguousarray(array)).reshape(array.shape).to(getattr(torch, dtype))
    raw = t.view(torch.int16).numpy().view(twofold.bfloat16.numpy) if dtype == "bfloat16" else t.numpy()
    return wrap(raw.reshape(array.shape)), t


def agree(ours: str, theirs: str) -> None:
    """Equal texts; `dtype=torch.` is two letters shorter than ours, so only there the break before a suffix may differ."""
    expected = theirs.replace("torch.", "twofold.")
    if "dtype=" in expected:
        ours, expected = (re.sub(r",\s+(dtype|requires_grad|grad_fn|size)=", r", \1=", s) for s in (ours, expected))
    assert ours == expected


def values(g: np.random.Generator, shape: tuple[int, ...], kind: int) -> np.ndarray:
    """Random values of several magnitudes, whole and not, with NaN and infinities."""
    a = np.asarray(g.standard_normal(shape))
    match kind:
        case 1:
            a = a * 10.0 ** g.integers(-6, 6, shape)
        case 2:
            a = np.round(a * 100)
        case 3:
            a = np.where(g.random(shape) < 0.2, g.choice([math.nan, math.inf, -math.inf, 0.0, -0.0], shape), a)
        case 4:
            a = np.where(g.random(shape) < 0.3, math.nan, np.round(a * 1000))
        case 5:
            a = a * 1e-5
        case 6:
            a = a * 0.0
        case 7:
            a = np.round(a * 3e8)
    return np.asarray(a)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_floats_like_torch(dtype: str, shape: tuple[int, ...]) -> None:
    g = np.random.default_rng(7)
    for kind in range(8):
        ours, theirs = pair(values(g, shape, kind), dtype)
        agree(repr(ours), repr(theirs))


@pytest.mark.parametrize("dtype", [*INTS, "bool"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_integers_like_torch(dtype: str, shape: tuple[int, ...]) -> None:
    g = np.random.default_rng(8)
    for high in (2, 100, 30000):
        ours, theirs = pair(np.asarray(g.integers(-high if dtype[0] == "i" else 0, high, shape)), dtype)
        agree(repr(ours), repr(theirs))


OPTIONS: tuple[dict[str, Any], ...] = (
    {"precision": 2}, {"precision": 0}, {"precision": 9}, {"threshold": 5}, {"threshold": 5, "edgeitems": 1}, {"threshold": 0,
    "edgeitems": 0}, {"linewidth": 20},
    {"linewidth": 200}, {"profile": "short"}, {"profile": "full"}, {"sci_mode": True}, {"sci_mode": False}, {"profile": "short",
    "precision": 7},
)  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_like_torch(options: dict[str, Any]) -> None:
    torch.set_printoptions(**options)
    twofold.set_printoptions(**options)
    g = np.random.default_rng(9)
    for shape in ((), (12,), (4, 9), (2, 8, 8), (1200,), (0, 2)):
        for kind in range(8):
            ours, theirs = pair(values(g, shape, kind), "float32")
            agree(repr(ours), repr(theirs))


def test_graph_suffixes_like_torch() -> None:
    for n in (1, 3, 9, 25):
        a = np.linspace(1, 2, n, dtype=np.float32)
        t, x = torch.tensor(a, requires_grad=True), wrap(a.copy()).requires_grad_()
        agree(repr(x), repr(t))
        agree(repr(x * x), repr(t * t))
        agree(repr((x * x).sum()), repr((t * t).sum()))
        agree(repr(x.detach()), repr(t.detach()))
        agree(repr(x.double() * 2), repr(t.double() * 2))
    agree(repr(x.unbind(0)[0]), repr(t.unbind(0)[0]))


def test_default_dtype_decides_the_suffix() -> None:
    ours, theirs = pair(np.ones(3), "float64")
    torch.set_default_dtype(torch.float64)
    twofold.set_default_dtype(twofold.float64)
    try:
        agree(repr(ours), repr(theirs))
        agree(repr(wrap(np.ones(3, np.float32))), repr(torch.ones(3, dtype=torch.float32)))
        agree(repr(wrap(np.ones((0, 3)))), repr(torch.ones(0, 3)))
    finally:
        torch.set_default_dtype(torch.float32)
        twofold.set_default_dtype(twofold.float32)


def test_meta() -> None:
    t = twofold.zeros(2, 3, device="meta")
    assert repr(t) == "tensor(..., device='meta', size=(2, 3))" == repr(torch.zeros(2, 3, device="meta"))
    agree(repr(t.to(twofold.int64)), repr(torch.zeros(2, 3, device="meta").long()))


def test_parameter() -> None:
    class Param(Tensor):
        __slots__ = ()
        _is_param = True

    p = Param()
    p._array, p._type, p._node = (t := wrap(np.ones(2, np.float32)))._array, t._type, None
    p.requires_grad_()
    assert repr(p) == repr(torch.nn.Parameter(torch.ones(2)))


def test_transposed_and_broadcast() -> None:
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    agree(repr(wrap(a).t()), repr(torch.from_numpy(a).t()))
    agree(repr(wrap(a[:1]).expand(3, 4)), repr(torch.from_numpy(a[:1]).expand(3, 4)))
    agree(repr(wrap(a[::-1, ::2])), repr(torch.from_numpy(a[::-1, ::2].copy())))


def test_wide_unsigned() -> None:
    assert repr(wrap(np.array([1, 2**64 - 1], np.uint64))) == ("tensor([                   1, 18446744073709551615], dtype=twofold.uint64)")


@pytest.mark.parametrize("spec", [".3f", "10.2e", "", "g", "+.1%"])
def test_format_of_one_number(spec: str) -> None:
    for dtype in (*FLOATS, "int64"):
        ours, theirs = pair(np.asarray(3.0), dtype)
        assert format(ours, spec) == format(theirs, spec)
    x = wrap(np.float32(0.25)).requires_grad_()
    assert format(x * 2, spec) == format(0.5, spec)


def test_format_of_several_numbers() -> None:
    t = wrap(np.ones(2, np.float32))
    assert f"{t}" == "tensor([1., 1.])" == str(t)
    with pytest.raises(ArgumentError, match=r"shape \(2,\)"):
        format(t, ".3f")


def test_bad_options() -> None:
    before = printing.get_printoptions()
    for bad in ({"precision": -1}, {"profile": "none"}, {"linewidth": "wide"}, {"edgeitems": True}):
        with pytest.raises(ValueRangeError):
            twofold.set_printoptions(**bad)
    with pytest.raises(ArgumentError, match="precision"), printing.printoptions(digits=3):
        pass
    assert printing.get_printoptions() == before


def test_options_for_a_block_stay_in_their_thread() -> None:
    t, seen = wrap(np.array([0.123456], np.float32)), []
    with printing.printoptions(precision=2):
        thread = threading.Thread(target=lambda: seen.append(repr(t)))
        thread.start()
        thread.join()
        assert repr(t) == "tensor([0.12])"
    assert seen == ["tensor([0.1235])"] == [repr(t)]


class _Halfway:
    """A recorder in the middle of things: every question raises."""

    def __getattr__(self, name: str) -> Any:
        raise TwofoldError(f"no {name} yet")


def test_a_symbol_always_prints() -> None:
    s = Symbol()
    assert repr(s).startswith("Symbol(")
    s._recorder, s._type, s._array, s._node = _Halfway(), wrap(np.ones((2, 3), np.float32))._type, None, None
    assert repr(s) == f"{s}" == "Symbol(f32[2, 3])"
    with pytest.raises(ArgumentError, match="a symbol"):
        format(s, ".2f")
