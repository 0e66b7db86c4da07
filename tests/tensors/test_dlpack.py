"""DLPack with NumPy and PyTorch, both ways: shared memory, lifetimes, refusals; and operators between NumPy arrays and tensors."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

import twofold
from twofold.support.errors import ArgumentError, DeviceError, DTypeError, ExportError, TwofoldError
from twofold.tape.versions import has_escaped
from twofold.tensors.core import Tensor, memory, wrap

NUMPY_DTYPES = ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
SHAPES = ((), (1,), (4,), (0,), (2, 0, 3), (2, 3, 4))


def sample(dtype: str, shape: tuple[int, ...]) -> Tensor:
    return wrap(np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape).astype(getattr(twofold, dtype).numpy))


class Once:
    """Hands out one capsule, as a library does; `versions` False: one that does not know max_version."""

    def __init__(self, capsule: Any, place: tuple[int, int] = (1, 0)) -> None:
        self.capsule, self.place = capsule, place

    def __dlpack__(self) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_with_numpy(dtype: str, shape: tuple[int, ...]) -> None:
    t = sample(dtype, shape)
    a = np.from_dlpack(t)
    assert a.shape == shape
    assert a.dtype == t.dtype.numpy
    np.testing.assert_array_equal(a, t.detach().numpy())
    back = twofold.from_dlpack(a)
    assert (back.dtype, tuple(back.shape)) == (t.dtype, shape)
    if a.size:
        assert np.shares_memory(a, memory(t))
        assert np.shares_memory(memory(back), memory(t))
        memory(back)[...] = 1
        assert (a == 1).all()
    assert has_escaped(memory(t))
    assert has_escaped(memory(back))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bfloat16"])
def test_with_torch(dtype: str, shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    t = sample(dtype, shape)
    for theirs in (torch.from_dlpack(t), torch.utils.dlpack.from_dlpack(twofold.to_dlpack(t))):
        assert theirs.dtype is getattr(torch, dtype)
        assert tuple(theirs.shape) == shape
        assert theirs.tolist() == t.tolist()
        for back in (twofold.from_dlpack(theirs), twofold.from_dlpack(torch.utils.dlpack.to_dlpack(theirs))):
            assert back.dtype is t.dtype
            assert back.tolist() == t.tolist()
            if t.numel():
                assert back.data_ptr() == theirs.data_ptr() == t.data_ptr()
                assert memory(back).flags.writeable
    if t.numel():
        theirs.fill_(1)
        assert t.reshape(-1).tolist() == [1] * t.numel()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_strides_are_kept(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    t = sample(dtype, (4, 6))
    for ours in (t.t(), wrap(memory(t)[1:, ::2]), wrap(memory(t)[:, 3])):
        theirs = torch.from_dlpack(ours)
        assert theirs.stride() == ours.stride()
        assert theirs.tolist() == ours.tolist()
        back = twofold.from_dlpack(theirs)
        assert back.stride() == ours.stride()
        assert back.tolist() == ours.tolist()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_export_keeps_the_memory_and_lets_it_go(dtype: str) -> None:
    torch = pytest.importorskip("torch")

    owner = np.ones(1000, getattr(twofold, dtype).numpy)
    watched = weakref.ref(owner)
    t = wrap(owner)
    theirs = torch.from_dlpack(t)
    del owner, t
    gc.collect()
    assert watched() is not None
    assert theirs.sum().item() == 1000
    del theirs
    gc.collect()
    assert watched() is None
    capsule = sample(dtype, (3,)).__dlpack__()
    del capsule  # never used: its memory goes as well


def test_an_import_keeps_the_memory_and_lets_it_go() -> None:
    owner = np.ones(1000, np.float32)
    watched = weakref.ref(owner)
    t = twofold.from_dlpack(owner)
    older = twofold.from_dlpack(Once(owner.__dlpack__()))
    view = older[2:]
    del owner, older
    gc.collect()
    assert watched() is not None
    assert view.sum().item() == 998
    del t
    assert watched() is not None
    del view
    gc.collect()
    assert watched() is None


def test_no_leak() -> None:
    def turn() -> None:
        for dtype in ("float32", "bfloat16"):
            t = sample(dtype, (50, 50))
            twofold.from_dlpack(t)
            twofold.from_dlpack(Once(t.__dlpack__()))
            t.__dlpack__(max_version=(1, 0))

    for _ in range(3):
        turn()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(50):
            turn()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 5_000  # one turn holds more than 10,000 bytes
    finally:
        tracemalloc.stop()


def test_read_only_memory_stays_read_only() -> None:
    a = np.arange(3.0)
    a.flags.writeable = False
    t = twofold.from_dlpack(a)
    assert not memory(t).flags.writeable
    with pytest.raises(ExportError, match="cannot be exported"):
        t.__dlpack__()  # the older capsule cannot say it
    assert not np.from_dlpack(t).flags.writeable


def test_the_older_capsule_is_writable() -> None:
    a = np.arange(6.0).reshape(2, 3)[:, ::-1]
    t = twofold.from_dlpack(Once(a.__dlpack__()))
    memory(t)[0, 0] = 9
    assert a[0, 0] == 9
    assert t.tolist() == a.tolist()


def test_copies() -> None:
    a = np.arange(3.0)
    t = twofold.from_dlpack(a, copy=True)
    assert not np.shares_memory(memory(t), a)
    assert not has_escaped(memory(t))
    b = np.from_dlpack(Once(t.__dlpack__(copy=True, max_version=(1, 0))))
    assert not np.shares_memory(memory(t), b)


def test_refusals() -> None:
    leaf = twofold.ones(3).requires_grad_()
    for bad in (leaf, leaf * 2):
        with pytest.raises(BufferError, match="detach"):
            np.from_dlpack(bad)
    np.from_dlpack(leaf.detach())
    meta = twofold.zeros(2, device="meta")
    with pytest.raises(ExportError, match="meta"):
        meta.__dlpack__()
    with pytest.raises(ExportError, match="meta"):
        meta.__dlpack_device__()
    t = twofold.ones(2)
    with pytest.raises(ExportError, match=r"\(2, 0\)"):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ExportError, match="stream"):
        t.__dlpack__(stream=1)
    assert t.__dlpack_device__() == (1, 0)
    for wrong in (3, [1.0], "x"):
        with pytest.raises(ArgumentError, match="__dlpack__"):
            twofold.from_dlpack(wrong)
    with pytest.raises(DeviceError, match=r"\(2, 0\)"):
        twofold.from_dlpack(Once(None, (2, 0)))
    with pytest.raises(DeviceError, match="cuda"):
        twofold.from_dlpack(np.ones(2), device="cuda")
    with pytest.raises(TwofoldError):
        twofold.from_dlpack(np.ones(2, np.complex64))
    capsule = t.__dlpack__()
    twofold.from_dlpack(capsule)
    with pytest.raises(ArgumentError, match="once"):
        twofold.from_dlpack(capsule)


def test_foreign_dtypes() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises((DTypeError, TwofoldError)):
        twofold.from_dlpack(torch.ones(2, dtype=torch.complex64))


BINARY = ("add", "sub", "mul", "truediv", "pow", "matmul", "floordiv", "mod")


@pytest.mark.parametrize("name", BINARY)
def test_an_array_and_a_tensor_do_not_mix(name: str) -> None:
    """PyTorch raises TypeError for array-tensor operators; so here, in both orders, and the message says what to do."""
    import operator

    function, a, t = getattr(operator, name), np.ones(3), twofold.ones(3, dtype=twofold.float64)
    for operands in ((a, t), (t, a)):
        with pytest.raises(TypeError, match="from_numpy"):
            function(*operands)


def test_numpy_numbers_mix() -> None:
    t = twofold.ones(3)
    for number in (np.float64(2), np.float32(2), np.int64(2)):
        for result in (number * t, t * number, number + t, number - t, number / t):
            assert isinstance(result, Tensor)
            assert result.dtype is twofold.float32
    assert (np.float64(3) - t).tolist() == [2.0, 2.0, 2.0]
    assert (np.float64(3) > t).tolist() == [True] * 3


def test_numpy_functions_take_tensors() -> None:
    t = twofold.ones(3)
    assert isinstance(np.sin(t), np.ndarray)
    np.testing.assert_array_equal(np.add(np.ones(3), t), np.full(3, 2.0))
    np.testing.assert_array_equal(np.asarray(t), np.ones(3, np.float32))
    with pytest.raises(TwofoldError, match="detach"):
        np.asarray(twofold.ones(3).requires_grad_())
