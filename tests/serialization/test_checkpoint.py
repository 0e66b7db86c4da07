"""`save` and `load`."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections import Counter, OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import twofold
from twofold import nn
from twofold.errors import ArgumentError, DataError, DeviceError, FileError, MissingFile, TwofoldError, UnsupportedError, ValueRangeError


def round_trip(value: Any) -> Any:
    file = io.BytesIO()
    twofold.save(value, file)
    file.seek(0)
    return twofold.load(file)


PLAIN = [
    None, True, False, 0, -(2**80), 1.5, -0.0, math.inf, -math.inf, 1e-320, "", "text\n\u20ac\U0001f600", b"", b"\x00\xff", [], {}, (),
    [1, [2, (3,)]],
    {"a": 1, 2: "b", None: 3, 1.5: 4, b"k": 5, False: 6}, OrderedDict([("b", 1), ("a", 2)]), Counter({"x": 2}), {1, 2}, set(), ({"a": ()},),
    {"tensor": 0}, [{"tuple": []}], {"dict": [["a", 1]]}, np.float32(1.1), np.int8(-3), np.bool_(True), np.uint64(2**63), np.float16(0.1),
    ml_dtypes.bfloat16(1.5), twofold.float16, twofold.device("cpu"), twofold.Size((2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values(value: Any) -> None:
    again = round_trip({"v": value})["v"]
    assert type(again) is type(value)
    assert again == value
    if isinstance(value, float):
        assert math.copysign(1, again) == math.copysign(1, value)
    if isinstance(value, dict):
        assert list(again) == list(value)
        assert [type(k) for k in again] == [type(k) for k in value]


def test_nan_and_defaultdict() -> None:
    again = round_trip([math.nan, defaultdict(list, {1: [2]})])
    assert math.isnan(again[0])
    assert type(again[1]) is dict
    assert again[1] == {1: [2]}


ALL = [
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
]  # fmt: skip


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)], ids=str)
def test_tensors_of_every_dtype_keep_their_bits(name: str, shape: tuple[int, ...]) -> None:
    dtype = twofold.tensor([], dtype=name).dtype
    bits = np.random.default_rng(1).integers(0, 2 if name == "bool" else 256, (*shape, dtype.itemsize), np.uint8)
    t = twofold.from_numpy(bits.reshape(-1).view(dtype.numpy).reshape(shape))
    again = round_trip(t)
    assert again.dtype is dtype
    assert again.shape == shape
    assert again.numpy().tobytes() == t.numpy().tobytes()
    assert np.array_equal(round_trip(t.numpy()).tobytes(), t.numpy().tobytes())


def test_sharing_of_memory_is_kept() -> None:
    base = twofold.arange(12.0).reshape(3, 4)
    value = {
        "base": base, "again": base, "row": base[1], "turned": base.t(), "steps": base[:, ::2], "wide": base[0].expand(5, 4),
        "apart": base.clone(), "bits": base.view(twofold.int32) if hasattr(base, "view") else base,
    }  # fmt: skip
    v = round_trip(value)
    assert v["again"] is v["base"]
    v["row"].fill_(7.0)
    value["row"].fill_(7.0)
    for name, t in value.items():
        assert np.array_equal(v[name].numpy(), t.numpy()), name
        assert v[name].stride() == t.stride(), name
    assert v["apart"][1].tolist() == [4, 5, 6, 7]


def test_a_part_of_a_large_tensor_is_saved_alone() -> None:
    file = io.BytesIO()
    twofold.save([twofold.zeros(100_000)[::1000], twofold.zeros(100_000)[5:9], twofold.zeros(1).expand(100_000)], file)
    assert len(file.getvalue()) < 4000
    file.seek(0)
    assert [t.shape[0] for t in twofold.load(file)] == [100, 4, 100_000]


def test_a_dense_layout_is_kept() -> None:
    t = twofold.arange(24).reshape(2, 3, 4).permute(2, 0, 1)
    again = round_trip(t)
    assert again.stride() == t.stride()
    assert again.tolist() == t.tolist()


def test_parameters_and_requires_grad() -> None:
    leaf = twofold.ones(2, requires_grad=True)
    p, q, x = round_trip((nn.Parameter(twofold.ones(2)), nn.Parameter(twofold.ones(2), requires_grad=False), leaf * 2))
    assert isinstance(p, nn.Parameter)
    assert p.requires_grad
    assert isinstance(q, nn.Parameter)
    assert not q.requires_grad
    assert x.requires_grad
    assert x.is_leaf
    (p * x).sum().backward()
    assert p.grad.tolist() == [2.0, 2.0]


def test_generators() -> None:
    g = twofold.Generator().manual_seed(2**63 + 5)
    twofold.rand(7, generator=g)
    again = round_trip(g)
    assert twofold.rand(5, generator=again).tolist() == twofold.rand(5, generator=g).tolist()


def test_the_same_value_gives_the_same_bytes_and_the_archive_is_an_ordinary_zip(tmp_path: Path) -> None:
    value = {"a": twofold.ones(3), "b": [1.0, "x"]}
    twofold.save(value, tmp_path / "a")
    twofold.save(value, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["twofold.json", "tensors.safetensors"]
        head = json.loads(archive.read("twofold.json"))
        assert (head["format"], head["version"], head["kind"]) == ("twofold", 1, "checkpoint")


def test_mapped_tensors_are_aligned_and_writes_stay_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "c"
    twofold.save({"b": twofold.ones(3, dtype=twofold.bool), "x": twofold.arange(1000.0, dtype=twofold.float64)}, path)
    before = path.read_bytes()
    for mmap in (True, False):
        t = twofold.load(path, mmap=mmap)["x"]
        assert t.data_ptr() % 8 == 0
        t.add_(1.0)
        assert t[0].item() == 1.0
    assert path.read_bytes() == before


class Thing:
    def state_dict(self) -> None: ...


@pytest.mark.parametrize(
    "value, kind, text",
    [
        ({"a": [1, Thing()]}, UnsupportedError, r"the value\['a'\]\[1\] is a Thing.*state_dict"),
        (lambda: 1, UnsupportedError, "function"),
        ({(1, 2): 3}, UnsupportedError, "key of type tuple"),
        (1j, UnsupportedError, "complex"),
        (np.array(["a"]), UnsupportedError, "NumPy"),
        (np.zeros(2, ">f4"), UnsupportedError, "byte order"),
        ("\ud800", ValueRangeError, "surrogates"),
        (2**5000, ValueRangeError, "4096 bits"),
        (twofold.empty(2, device="meta"), DeviceError, "meta"),
    ],
)
def test_what_is_not_kept_is_refused(value: Any, kind: type, text: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=text):
        twofold.save(value, tmp_path / "x")
    assert os.listdir(tmp_path) == []


def test_a_container_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueRangeError, match="hold themselves"):
        twofold.save(value, io.BytesIO())


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "c"
    twofold.save(1, path)
    with pytest.raises(UnsupportedError):
        twofold.save(object(), path)
    assert twofold.load(path) == 1
    with pytest.raises(FileError, match="cannot be written"):
        twofold.save(1, tmp_path / "no" / "folder")
    assert os.listdir(tmp_path) == ["c"]


def test_arguments(tmp_path: Path) -> None:
    twofold.save({"a": twofold.ones(1)}, tmp_path / "c")
    assert twofold.load(tmp_path / "c", map_location="cpu", weights_only=True)["a"].item() == 1.0
    with pytest.raises(UnsupportedError, match="weights_only=False"):
        twofold.load(tmp_path / "c", weights_only=False)
    with pytest.raises(ArgumentError, match="map_location"):
        twofold.load(tmp_path / "c", "cuda")
    with pytest.raises(ArgumentError, match="path"):
        twofold.load(3)
    with pytest.raises(MissingFile) as caught:
        twofold.load(tmp_path / "none")
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, DataError)
    with pytest.raises(FileError, match="folder"):
        twofold.load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="pipe"):
        twofold.load(tmp_path / "pipe")


def archive_of(head: Any, tensors: bytes | None = None) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("twofold.json", head if isinstance(head, (str, bytes)) else json.dumps(head))
        if tensors is None:
            text = json.dumps({"0": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})
            tensors = len(text).to_bytes(8, "little") + text.encode() + bytes(16)
        out.writestr("tensors.safetensors", tensors)
    file.seek(0)
    return file


def head(value: Any, **changes: Any) -> dict[str, Any]:
    row = {"dtype": "float32", "shape": [2, 2], "stride": [2, 1], "offset": 0, "storage": "0"}
    return {"format": "twofold", "version": 1, "kind": "checkpoint", "value": value, "tensors": [row | changes]}


def deep(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


BAD = {
    "not json": archive_of("{"),
    "not utf-8": archive_of(b"\xff\xfe"),
    "a list": archive_of([]),
    "another format": archive_of({**head(1), "format": "x"}),
    "a newer version": archive_of({**head(1), "version": 2}),
    "a bool for a version": archive_of({**head(1), "version": True}),
    "another kind": archive_of({**head(1), "kind": "program"}),
    "no table": archive_of({**head(1), "tensors": None}),
    "unknown kind": archive_of(head({"object": 1})),
    "two entries": archive_of(head({"tuple": [], "list": []})),
    "a doubled name": archive_of('{"format":"twofold","format":"twofold"}'),
    "number out of range": archive_of(head({"tensor": 1})),
    "negative number": archive_of(head({"tensor": -1})),
    "bool number": archive_of(head({"tensor": False})),
    "shape too large": archive_of(head({"tensor": 0}, shape=[3, 2])),
    "offset too large": archive_of(head({"tensor": 0}, offset=1)),
    "negative offset": archive_of(head({"tensor": 0}, offset=-1)),
    "negative stride": archive_of(head({"tensor": 0}, stride=[-2, 1])),
    "huge stride": archive_of(head({"tensor": 0}, stride=[2**61, 1])),
    "overflowing shape": archive_of(head({"tensor": 0}, shape=[2**32, 2**31, 0], stride=[0, 0, 0])),
    "expanded beyond bounds": archive_of(head({"tensor": 0}, shape=[2**40, 1], stride=[0, 0])),
    "fractional shape": archive_of(head({"tensor": 0}, shape=[2.0, 2])),
    "text for a shape": archive_of(head({"tensor": 0}, shape="22")),
    "too many dimensions": archive_of(head({"tensor": 0}, shape=[1] * 65, stride=[1] * 65)),
    "unknown dtype": archive_of(head({"tensor": 0}, dtype="complex64")),
    "unknown storage": archive_of(head({"tensor": 0}, storage="1")),
    "unhashable storage": archive_of(head({"tensor": 0}, storage=[])),
    "wider dtype": archive_of(head({"tensor": 0}, dtype="float64")),
    "integer that requires grad": archive_of(head({"tensor": 0}, dtype="int32", requires_grad=True)),
    "unhashable key": archive_of(head({"dict": [[[1], 2]]})),
    "pair of three": archive_of(head({"dict": [[1, 2, 3]]})),
    "set of lists": archive_of(head({"set": [[1]]})),
    "not base64": archive_of(head({"bytes": "?"})),
    "bytes from a number": archive_of(head({"bytes": 5})),
    "scalar of another size": archive_of(head({"scalar": ["float32", "00"]})),
    "unknown float": archive_of(head({"float": "1.0"})),
    "generator out of range": archive_of(head({"generator": [-1, 0]})),
    "no device": archive_of(head({"device": "nowhere"})),
    "nested too deeply": archive_of(head(deep(150))),
    "nested beyond JSON": archive_of("[" * 100_000 + "]" * 100_000),
    "a damaged storage": archive_of(head({"tensor": 0}), b"12345678"),
    "empty": io.BytesIO(),
    "text": io.BytesIO(b"hello, this is no file of ours"),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_archives(name: str) -> None:
    BAD[name].seek(0)
    with pytest.raises(DataError):
        twofold.load(BAD[name])


def test_the_archive_that_the_faults_are_made_of_is_good() -> None:
    assert twofold.load(archive_of(head({"tensor": 0}))).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_compressed_members_are_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("twofold.json", " " * 100_000)
    file.seek(0)
    with pytest.raises(DataError, match="compressed"):
        twofold.load(file)


def test_mutated_archives_end_in_our_errors() -> None:
    file = io.BytesIO()
    base = twofold.arange(6.0).reshape(2, 3)
    twofold.save({"a": base, "b": base.t(), "c": [1, (2.5, {"x": None})], "g": twofold.Generator(), "s": np.float32(1)}, file)
    good = file.getvalue()
    rng = np.random.default_rng(13)
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
            twofold.load(io.BytesIO(bytes(data)))
            outcomes[True] += 1
        except TwofoldError:
            outcomes[False] += 1
    assert min(outcomes.values()) > 5
