"""Attributes and conversions of tensors, against PyTorch where it has them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import twofold
from tests.autograd.libs import Ours, both
from twofold.support.errors import (
    ArgumentError,
    AutogradError,
    DeviceError,
    DTypeError,
    InplaceError,
    ShapeError,
    TwofoldError,
    ValueRangeError,
)
from twofold.tape.versions import has_escaped
from twofold.tensors.core import Tensor, memory

lib = Ours()
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "shape": lambda lib: [
        (tuple(t.shape), tuple(t.size()), t.dim(), t.ndim, t.numel(), t.nelement(), t.size(-1) if t.ndim else 0) for t in several(lib)
    ],
    "layout": lambda lib: [
        (t.stride(), t.is_contiguous(), t.storage_offset(), t.element_size(), t.nbytes, t.itemsize) for t in several(lib)
    ],
    "views": lambda lib: [
        (v.stride(), v.is_contiguous(), v.storage_offset())
        for t in several(lib)
        if t.ndim == 2 and t.numel()
        for v in (t.t(), t[:, 1:], t[1], t[::2])
    ],
    "gradient state": lambda lib: [state(t) for t in graph(lib)],
    "item": lambda lib: [lib.make(v, False, d).item() for v, d in ((2.5, "f4"), ([[3]], "i8"), (True, "?"), ([1.5], "f2"))],
    "tolist": lambda lib: [t.tolist() for t in several(lib)],
    "numbers": lambda lib: [
        int(lib.make(2.7)),
        float(lib.make([2])),
        bool(lib.make([[0.0]])),
        complex(lib.make(1.5)),
        [7, 8, 9][lib.make(1, False, "i8")],
    ],
    "length": lambda lib: [len(lib.make([[1.0, 2.0]])), [t.tolist() for t in lib.make([[1.0, 2.0], [3.0, 4.0]])]],
    "contains": lambda lib: [1.0 in lib.make([1.0, 2.0]), 3.0 in lib.make([1.0, 2.0])],
    "to": lambda lib: [
        names(lib.make([1.7, -2.7], False).to(d)) for d in (lib.float32, lib.float16, lib.bfloat16, lib.int64, lib.uint8, lib.bool)
    ],
    "short forms": lambda lib: [names(f(lib.make([1.5], False))) for f in SHORT],
    "type name": lambda lib: [lib.make([1.0], False, d).type().rpartition(".")[2] for d in ("f4", "f8", "f2", "i8", "i4", "u1", "?")],
    "to itself": lambda lib: [(t := lib.make([1.0])).to(lib.float64) is t, t.to(lib.float64, copy=True) is t, t.cpu() is t, t.to(t) is t],
    "gradient through to": lambda lib: [(x := lib.make([1.0, 2.0])), (x.float() * 2).sum().backward(), x.grad],
    "deepcopy": lambda lib: deep(lib),
    "data": lambda lib: data(lib),
    "len of a number": lambda lib: len(lib.make(1.0)),
    "iteration over a number": lambda lib: list(lib.make(1.0)),
    "item of several": lambda lib: lib.make([1.0, 2.0]).item(),
    "bool of several": lambda lib: bool(lib.make([1.0, 2.0])),
    "index of a float": lambda lib: [1, 2][lib.make(1.0)],
    "numpy of a tensor that requires grad": lambda lib: lib.make([1.0]).numpy(),
    "size out of range": lambda lib: lib.make([1.0]).size(1),
    "deepcopy of an inner tensor": lambda lib: copy.deepcopy(lib.make([1.0]) * 2),
    "integers with gradient": lambda lib: lib.make([1], False, "i8").requires_grad_(),
    "requires_grad of an inner tensor": lambda lib: setattr(lib.make([1.0]) * 2, "requires_grad", False),
}
REFUSED = tuple(PROGRAMS)[list(PROGRAMS).index("len of a number") :]
SHORT = (
    lambda t: t.float(), lambda t: t.double(), lambda t: t.half(), lambda t: t.bfloat16(), lambda t: t.int(), lambda t: t.long(), lambda
    t: t.short(),
    lambda t: t.char(), lambda t: t.byte(), lambda t: t.bool(),
)  # fmt: skip


def several(lib: Any) -> list[Any]:
    arrays = (np.float32(2), np.arange(3.0), np.zeros((0, 3)), np.arange(12, dtype="i4").reshape(3, 4), np.ones((2, 1, 2), "f2"))
    return [lib.make(a, False, a.dtype) for a in arrays]


def graph(lib: Any) -> list[Any]:
    x = lib.make([1.0, 2.0])
    y = x * 2
    return [x, y, y.detach(), y.data, x.detach(), lib.make([1.0], False), y[0], (y > 1), x.unbind(0)[1]]


def state(t: Any) -> list[Any]:
    return [
        t.requires_grad,
        t.is_leaf,
        t.grad_fn is None,
        t.output_nr,
        t._version,
        t._base is None,
        t.is_floating_point(),
        t.is_complex(),
        t.is_cuda,
        t.is_meta,
    ]


def names(t: Any) -> list[Any]:
    return [str(t.dtype).rpartition(".")[2], t.double().tolist()]


def deep(lib: Any) -> list[Any]:
    x = lib.make([1.0, 2.0])
    (x * x).sum().backward()
    y, (a, b) = copy.deepcopy(x), copy.deepcopy([x, x])
    shallow = copy.copy(x) if lib.name == "torch" else x
    return [
        y,
        y.grad,
        y.requires_grad,
        y.is_leaf,
        y.data_ptr() == x.data_ptr(),
        a is b,
        a.grad is x.grad,
        shallow.data_ptr() == x.data_ptr(),
    ]


def data(lib: Any) -> list[Any]:
    x = lib.make([1.0, 2.0])
    before = x.data_ptr()
    x.data = lib.make([5.0, 6.0, 7.0], False)
    x.data.mul_(2)
    (x * x).sum().backward()
    return [x, x.grad, x.requires_grad, x.data_ptr() == before, x.data.requires_grad]


@pytest.mark.parametrize("name", PROGRAMS)
def test_like_torch(name: str) -> None:
    result = both(PROGRAMS[name])
    assert isinstance(result, str) == (name in REFUSED)


def test_pickle_keeps_values_dtype_and_gradient_state() -> None:
    for dtype in ("float32", "bfloat16", "int64", "bool", "float16"):
        t = twofold.tensor([[1.0, 0.0], [3.0, 4.0]]).to(getattr(twofold, dtype)).t()
        for protocol in (2, pickle.HIGHEST_PROTOCOL):
            u = pickle.loads(pickle.dumps(t, protocol))
            assert (u.dtype, u.tolist(), u.requires_grad) == (t.dtype, t.tolist(), False)
    x = lib.make([1.0, 2.0])
    u = pickle.loads(pickle.dumps(x))
    assert u.requires_grad
    assert u.is_leaf
    assert pickle.loads(pickle.dumps(twofold.tensor(2.0))).shape == ()


def test_numpy_shares_memory_and_marks_it() -> None:
    t = twofold.ones(3)
    a = t.numpy()
    a[0] = 5
    assert t.tolist() == [5.0, 1.0, 1.0]
    assert has_escaped(memory(t))
    assert not has_escaped(memory(twofold.ones(3)))
    number = twofold.ones(3).sum()
    number.numpy()[...] = 7
    assert number.item() == 7.0
    assert twofold.ones(2, requires_grad=True).numpy(force=True).tolist() == [1.0, 1.0]
    back = twofold.from_numpy(a)
    back[1] = 9
    assert a[1] == 9


def test_meta_tensors_have_no_values() -> None:
    t = twofold.zeros(2, 3, device="meta")
    assert (t + t).shape == (2, 3)
    assert (t @ t.t()).device.type == "meta"
    for ask in (
        lambda: t.item(),
        lambda: t.tolist(),
        lambda: t.numpy(),
        lambda: bool(t[0, 0]),
        lambda: t.data_ptr(),
        lambda: t.to("cpu"),
        lambda: pickle.dumps(t),
    ):
        with pytest.raises(DeviceError, match="meta"):
            ask()
    with pytest.raises(DeviceError, match=r"cpu.*meta|meta.*cpu"):
        t + twofold.zeros(2, 3)


def test_refusals_name_what_is_wrong() -> None:
    x = lib.make([1.0, 2.0])
    for call, error, words in (
        (lambda: x.to(nothing=3), ArgumentError, "nothing"),
        (lambda: x.to("cuda"), DeviceError, "CPU only"),
        (lambda: x.to("complex64"), (DTypeError, TwofoldError), "complex"),
        (lambda: x.to("quantum"), (DeviceError, DTypeError), "quantum"),
        (lambda: x.item(), ValueRangeError, r"\(2,\)"),
        (lambda: bool(x > 0), ValueRangeError, "any"),
        (lambda: x.numpy(), AutogradError, "detach"),
        (lambda: setattr(x, "data", 3), ArgumentError, "int"),
        (lambda: setattr(x, "data", lib.make([1], False, "i8")), DTypeError, "int64"),
        (lambda: setattr(x[:1], "data", x.detach()), InplaceError, "view"),
        (lambda: setattr(x, "grad", 3), ArgumentError, "int"),
        (lambda: setattr(x, "grad", x), AutogradError, "own"),
        (lambda: setattr(x, "grad", x.detach().float()), DTypeError, "float32"),
        (lambda: setattr(x, "grad", lib.make([1.0], False)), ShapeError, r"\(1,\)"),
    ):
        with pytest.raises(error, match=words):
            call()
    assert x.tolist() == [1.0, 2.0]
    assert x.grad is None


def test_size() -> None:
    s = twofold.ones(2, 3).shape
    assert repr(s) == "twofold.Size([2, 3])"
    assert (s.numel(), s[0], s == (2, 3), tuple(s), s[1:]) == (6, 2, True, (2, 3), (3,))
    assert isinstance(s, twofold.Size)
    assert twofold.Size([1, 2]) == (1, 2)


def test_tensors_hash_by_identity() -> None:
    a, b = twofold.ones(2), twofold.ones(2)
    assert len({a, b, a}) == 2
    assert {a: 1}[a] == 1
    assert isinstance(a == b, Tensor)
