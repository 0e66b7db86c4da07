"""Files of torch.save, read by our own reader."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twofold
from twofold import nn
from twofold.errors import DataError, TwofoldError
from twofold.serialization import torch_stream

torch = pytest.importorskip("torch")
FORMS = {"zip": {}, "old": {"_use_new_zipfile_serialization": False}}
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")


def saved(value: Any, form: str = "zip") -> bytes:
    file = io.BytesIO()
    torch.save(value, file, **FORMS[form])
    return file.getvalue()


def load(data: bytes) -> Any:
    return twofold.load(io.BytesIO(data))


def bits(t: Any) -> bytes:
    return t.contiguous().flatten().view(torch.uint8).numpy().tobytes() if t.numel() else b""


@pytest.mark.parametrize("form", FORMS)
def test_every_dtype_and_layout(form: str) -> None:
    base = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    values = {name: torch.arange(5).to(getattr(torch, name)) for name in DTYPES}
    if form == "zip":
        values |= {name: torch.arange(5).to(getattr(torch, name)) for name in ("uint16", "uint32", "uint64")}
    values |= {
        "scalar": torch.tensor(2.5),
        "empty": torch.zeros(0, 3),
        "turned": base.t(),
        "steps": base[1::2, ::3],
        "wide": base[:1].expand(5, 6),
    }
    found = load(saved(values, form))
    assert list(found) == list(values)
    for name, t in values.items():
        assert str(found[name].dtype).removeprefix("twofold.") == str(t.dtype).removeprefix("torch."), name
        assert tuple(found[name].shape) == tuple(t.shape)
        assert found[name].numpy().tobytes() == bits(t), name


@pytest.mark.parametrize("form", FORMS)
def test_sharing_parameters_and_plain_values(form: str) -> None:
    base = torch.arange(12.0).reshape(3, 4)
    plain = [1, 2.5, -(2**70), None, True, "text\u20ac", b"bytes", (1, (2,), 3, 4), [], {}, {1: {"a": [None]}}, OrderedDict(a=1)]
    value = {"base": base, "row": base[1], "p": torch.nn.Parameter(base.clone()), "q": torch.nn.Parameter(base.clone(), False), "x": plain}
    value |= {"size": base.shape, "dtype": torch.bfloat16, "grad": torch.ones(2, requires_grad=True)}
    found = load(saved(value, form))
    assert found["x"] == plain
    assert found["size"] == (3, 4)
    assert found["dtype"] is twofold.bfloat16
    found["row"].fill_(7.0)
    assert found["base"].tolist() == [[0, 1, 2, 3], [7, 7, 7, 7], [8, 9, 10, 11]]
    assert isinstance(found["p"], nn.Parameter)
    assert (found["p"].requires_grad, found["q"].requires_grad, found["grad"].requires_grad) == (True, False, True)


@pytest.mark.parametrize("form", FORMS)
def test_state_dicts_of_modules_and_optimisers(form: str, tmp_path: Path) -> None:
    def build(m: Any) -> Any:
        return m.Sequential(m.Conv2d(1, 3, 3), m.BatchNorm2d(3), m.Flatten(), m.Linear(3, 2))

    theirs = build(torch.nn)
    optimizer = torch.optim.Adam(theirs.parameters(), lr=0.01)
    theirs(torch.randn(4, 1, 3, 3)).sum().backward()
    optimizer.step()
    (tmp_path / "w.bin").write_bytes(saved(theirs.state_dict(), form))
    ours = build(nn)
    twofold.load_weights(tmp_path / "w.bin", ours)
    for name, t in theirs.state_dict().items():
        assert np.array_equal(ours.state_dict()[name].numpy(), t.numpy()), name
    mine = twofold.optim.Adam(ours.parameters(), lr=0.5)
    mine.load_state_dict(load(saved({"o": optimizer.state_dict(), "epoch": 3}, form))["o"])
    assert mine.param_groups[0]["lr"] == 0.01
    states = [mine.state[p]["exp_avg"].numpy() for p in ours.parameters()]
    assert all(np.array_equal(a, optimizer.state[p]["exp_avg"].numpy()) for a, p in zip(states, theirs.parameters(), strict=True))
    with pytest.raises(DataError, match=r"not all its entries are tensors.*epoch"):
        (tmp_path / "c.pt").write_bytes(saved({"model": theirs.state_dict(), "epoch": 3}, form))
        twofold.load_weights(tmp_path / "c.pt")


class Evil:
    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> Any:
        return self.call, self.arguments


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "value, name",
    [
        (Evil(eval, "1/0"), "eval"),
        (Evil(__import__, "os"), "__import__"),
        (Evil(getattr, "a", "b"), "getattr"),
        (torch.nn.Linear(1, 1), "torch.nn.modules.linear.Linear"),
        ({"a": [np.float32(1.0)]}, "numpy"),
        (np.zeros(3), "numpy"),
        (slice(1), "slice"),
        ({1, 2}, "set"),
        (1j, "complex"),
        (torch.tensor([1j]), "ComplexFloatStorage"),
        (torch.eye(2).to_sparse(), "_rebuild_sparse_tensor"),
    ],
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
def test_other_names_are_refused_by_name(value: Any, name: str, form: str) -> None:
    with pytest.raises(DataError, match=name):
        load(saved(value, form))


def stream(operations: bytes, storages: dict[str, bytes] | None = None, order: bytes = b"little") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("a/data.pkl", operations)
        out.writestr("a/byteorder", order)
        for key, data in (storages or {"0": bytes(16)}).items():
            out.writestr(f"a/data/{key}", data)
    return file.getvalue()


def text(s: str) -> bytes:
    return b"X" + len(s).to_bytes(4, "little") + s.encode()


def number(n: int) -> bytes:
    raw = n.to_bytes(20, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw


def numbers(*ns: int) -> bytes:
    return b"(" + b"".join(map(number, ns)) + b"t"


def tensor(offset: int = 0, size: Any = (2, 2), stride: Any = (2, 1), kind: str = "FloatStorage", key: str = "0", count: int = 4) -> bytes:
    storage = b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text("cpu") + number(count) + b"tQ"
    arguments = storage + number(offset) + numbers(*size) + numbers(*stride) + b"\x89" + b"ccollections\nOrderedDict\n)R"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + arguments + b"tR"


BAD = {
    "empty": stream(b""),
    "no stop": stream(tensor()),
    "two objects": stream(b"NN."),
    "nothing": stream(b"."),
    "a mark": stream(b"(."),
    "unknown opcode": stream(b"\xff."),
    "an instance": stream(b"(i__main__\nThing\n."),
    "an extension": stream(b"\x82\x01."),
    "protocol 9": stream(b"\x80\x09N."),
    "text cut off": stream(b"X\xff\xff\xff\xffabc."),
    "text that is no UTF-8": stream(b"X\x01\x00\x00\x00\xff."),
    "bytes of 2**63": stream(b"\x8e" + b"\xff" * 8 + b"."),
    "a huge integer": stream(b"\x8b\x00\x08\x00\x00" + b"\x01" * 2048 + b"."),
    "many digits": stream(b"I" + b"1" * 3000 + b"\n."),
    "a memo that is not there": stream(b"h\x05."),
    "append to a dict": stream(b"}Na."),
    "items of a list": stream(b"]NNs."),
    "a key without value": stream(b"}(Nu."),
    "an unhashable key": stream(b"}]Ns."),
    "a tuple as key": stream(b"})Ns."),
    "a bare name": stream(b"ctorch\nSize\n."),
    "a bare name inside": stream(b"]ctorch\nFloatStorage\na."),
    "a bare storage": stream(b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + number(4) + b"tQ."),
    "a call of text": stream(text("eval") + b")R."),
    "a call of a storage": stream(b"ctorch\nFloatStorage\n)R."),
    "a call without a tuple": stream(b"ccollections\nOrderedDict\n]R."),
    "arguments missing": stream(b"ctorch._utils\n_rebuild_tensor_v2\n)R."),
    "state of a tensor": stream(tensor() + b"}b."),
    "a list that holds itself": stream(b"]q\x00h\x00a."),
    "nested too deeply": stream(b"]" * 300 + b"a" * 299 + b"."),
    "tuples nested": stream(b")" + b"\x85" * 300 + b"."),
    "offset": stream(tensor(offset=1) + b"."),
    "negative offset": stream(tensor(offset=-1) + b"."),
    "size": stream(tensor(size=(3, 2)) + b"."),
    "negative size": stream(tensor(size=(-1, 2)) + b"."),
    "stride": stream(tensor(stride=(3, 1)) + b"."),
    "negative stride": stream(tensor(stride=(-2, 1)) + b"."),
    "overflowing product": stream(tensor(size=(2**61, 2**61)) + b"."),
    "overflowing stride": stream(tensor(stride=(2**62, 1)) + b"."),
    "expanded beyond bounds": stream(tensor(size=(2**50, 1), stride=(0, 0)) + b"."),
    "empty and overflowing": stream(tensor(size=(2**61, 0, 2**61), stride=(0, 0, 0)) + b"."),
    "empty beyond the end": stream(tensor(offset=5, size=(0, 2)) + b"."),
    "strides missing": stream(tensor(stride=(1,)) + b"."),
    "too many dimensions": stream(tensor(size=(1,) * 65, stride=(1,) * 65) + b"."),
    "a storage that is not there": stream(tensor(key="1") + b"."),
    "a storage elsewhere": stream(tensor(key="../data.pkl") + b"."),
    "wider elements": stream(tensor(kind="DoubleStorage", count=2) + b"."),
    "half an element": stream(tensor() + b".", {"0": bytes(17)}),
    "two dtypes": stream(b"(" + tensor() + tensor(kind="IntStorage") + b"t."),
    "big-endian": stream(tensor() + b".", order=b"big"),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_streams(name: str) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        load(BAD[name])


def test_operations_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = stream(b"N0" * 1000 + b"N.")
    assert load(data) is None
    monkeypatch.setattr(torch_stream, "MAX_OPERATIONS", 2000)
    with pytest.raises(DataError, match="more than 2000 operations"):
        load(data)


def test_what_a_stream_repeats_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few bytes must not stand for much work: nested tuples as a name, a list or a text that calls get again and again."""
    with pytest.raises(DataError, match="by what is no text"):
        load(stream(b")" + b"2\x86" * 60 + text("x") + b"\x93."))
    encode = b"c_codecs\nencode\nq\x000" + text("a" * 1000) + text("latin1") + b"\x86q\x010"
    assert load(stream(encode + b"h\x00h\x01R.")) == b"a" * 1000
    with pytest.raises(DataError, match="too often"):
        load(stream(encode + b"](" + b"h\x00h\x01R" * 10 + b"e."))
    pairs = b"ccollections\nOrderedDict\nq\x000](" + b"K\x01K\x02\x86" * 1000 + b"e\x85q\x010"
    calls = stream(pairs + b"](" + b"h\x00h\x01R" * 10 + b"e.")
    assert load(calls) == [{1: 2}] * 10
    monkeypatch.setattr(torch_stream, "MAX_OPERATIONS", 10_000)
    with pytest.raises(DataError, match="too often"):
        load(calls)


def test_the_stream_that_the_faults_are_made_of_is_good() -> None:
    assert load(stream(tensor() + b".")).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert load(stream(tensor(size=(0, 2)) + b".")).shape == (0, 2)


@pytest.mark.parametrize("protocol", [1, 2, 3, 4, 5])
def test_streams_of_every_protocol(protocol: int) -> None:
    value = {"a": [1, -5, 300, 70000, 2**40, 2**70, 1.5, None, True, False], "b": ("x" * 300, "\u20ac", ()), "c": {"d": [[], {}]}}
    assert load(stream(pickle.dumps(value, protocol))) == value


@pytest.mark.parametrize("form", FORMS)
def test_mutated_files_end_in_our_errors(form: str) -> None:
    value = {
        "w": torch.arange(6.0).reshape(2, 3),
        "p": torch.nn.Parameter(torch.ones(3)),
        "n": [1, "x", (2.5, None)],
        "o": OrderedDict(a=torch.tensor(1)),
    }
    good = saved(value, form)
    rng = np.random.default_rng(11)
    outcomes = {True: 0, False: 0}
    for _ in range(500):
        data = bytearray(good)
        for _ in range(int(rng.integers(1, 4))):
            at = int(rng.integers(0, len(data)))
            if rng.random() < 0.8:
                data[at] = int(rng.integers(0, 256))
            else:
                del data[at : at + int(rng.integers(1, 5))]
        try:
            load(bytes(data))
            outcomes[True] += 1
        except TwofoldError:
            outcomes[False] += 1
    assert min(outcomes.values()) > 5
