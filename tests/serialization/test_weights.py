"""`load_weights` and `save_weights`: safetensors, single and sharded."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy

import twofold
from twofold import nn
from twofold.errors import ArgumentError, DataError, MissingFile, StateDictError, TwofoldError, UnsupportedError, ValueRangeError

DTYPES = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
)  # fmt: skip


def tensors() -> dict[str, twofold.Tensor]:
    rng = np.random.default_rng(0)
    made = {}
    for i, name in enumerate(DTYPES):
        dtype = twofold.tensor([], dtype=name).dtype
        raw = rng.integers(0, 2 if name == "bool" else 256, (3 + i, dtype.itemsize), np.uint8)
        made[name] = twofold.from_numpy(raw.reshape(-1).view(dtype.numpy))
    return {**made, "scalar": twofold.tensor(1.5), "empty": twofold.zeros(2, 0), "turned": twofold.arange(6).reshape(2, 3).t()}


def net(bias: bool = True) -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4, bias=bias), nn.BatchNorm1d(4))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Embedding(5, 3)
        self.last = nn.Linear(3, 5, bias=False)
        self.last.weight = self.first.weight


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return list(a) == list(b) and all(
        a[n].dtype is b[n].dtype and a[n].shape == b[n].shape and a[n].numpy().tobytes() == b[n].numpy().tobytes() for n in a
    )


def test_every_dtype_and_the_order_of_names(tmp_path: Path) -> None:
    twofold.save_weights(tensors(), tmp_path / "a.safetensors", metadata={"note": "x"})
    for memory_map in (True, False):
        assert same(twofold.load_weights(tmp_path / "a.safetensors", memory_map=memory_map), tensors())


def test_the_reference_implementation_reads_what_is_written_and_the_other_way_round(tmp_path: Path) -> None:
    twofold.save_weights(tensors(), tmp_path / "a.safetensors", metadata={"note": "x"})
    with safetensors.safe_open(tmp_path / "a.safetensors", "np") as file:
        assert file.metadata() == {"format": "pt", "note": "x"}
        assert set(file.keys()) == set(tensors())
        for name in set(file.keys()) - {"bfloat16"}:
            assert file.get_tensor(name).tobytes() == tensors()[name].numpy().tobytes()
    arrays = {n: t.numpy() for n, t in tensors().items() if n not in ("bfloat16", "turned")}
    safetensors.numpy.save_file(arrays, tmp_path / "b.safetensors")
    found = twofold.load_weights(tmp_path / "b.safetensors")
    assert {n: t.tolist() for n, t in found.items()} == {n: a.tolist() for n, a in arrays.items()}


def test_mapped_tensors_share_pages_until_written(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    twofold.save_weights({"a": twofold.zeros(1000), "b": twofold.zeros(3, dtype=twofold.uint8), "c": twofold.zeros(1000)}, path)
    before = path.read_bytes()
    found = twofold.load_weights(path)
    assert not found["a"].numpy().flags.owndata
    versions = found["c"]._version
    found["a"].fill_(3.0)
    assert found["c"]._version == versions, "the tensors of one file are written apart"
    assert found["a"].sum().item() == 3000.0
    assert twofold.load_weights(path)["a"].sum().item() == 0.0
    assert path.read_bytes() == before
    os.unlink(path)
    assert found["c"].sum().item() == 0.0


@pytest.mark.parametrize("limit", [60, "60B", "0.06KB"])
def test_shards(limit: Any, tmp_path: Path) -> None:
    model = net()
    twofold.save_weights(model, tmp_path, max_shard_size=limit)
    names = sorted(os.listdir(tmp_path))
    assert names == [f"model-0000{i}-of-00003.safetensors" for i in (1, 2, 3)] + ["model.safetensors.index.json"]
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert index["metadata"] == {"total_size": 4 * (12 + 4 * 5) + 8}
    assert list(index["weight_map"]) == list(model.state_dict())
    for path in (tmp_path, tmp_path / "model.safetensors.index.json"):
        assert same(twofold.load_weights(path), model.state_dict())
    twofold.save_weights(model, tmp_path)
    assert os.listdir(tmp_path) == ["model.safetensors"], "what an earlier call left is removed"
    assert same(twofold.load_weights(tmp_path), model.state_dict())


def test_folders_and_names(tmp_path: Path) -> None:
    twofold.save_weights(net(), tmp_path / "new" / "folder")
    assert os.listdir(tmp_path / "new" / "folder") == ["model.safetensors"]
    twofold.save_weights(net(), tmp_path / "other.safetensors", max_shard_size=100)
    assert (tmp_path / "other.safetensors.index.json").is_file()
    with pytest.raises(ValueRangeError, match="must end in"):
        twofold.save_weights(net(), tmp_path / "weights.bin")
    with pytest.raises(MissingFile, match="holds none of"):
        twofold.load_weights(tmp_path)


def test_into_a_module(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    model, other = net(), net()
    twofold.save_weights(model, path)
    result = twofold.load_weights(path, other)
    assert (result.missing_keys, result.unexpected_keys) == ([], [])
    assert same(other.state_dict(), model.state_dict())
    third = net()
    weight = third[0].weight
    twofold.load_weights(path, third, assign=True)
    assert third[0].weight is not weight
    assert third[0].weight.requires_grad
    assert not third[0].weight.detach().numpy().flags.owndata
    third(twofold.ones(2, 3)).sum().backward()
    assert third[0].weight.grad is not None
    with pytest.raises(StateDictError, match=r"Unexpected key.*0\.bias"):
        twofold.load_weights(path, net(bias=False))
    assert twofold.load_weights(path, net(bias=False), strict=False).unexpected_keys == ["0.bias"]
    with pytest.raises(StateDictError, match="size mismatch"):
        twofold.load_weights(path, nn.Sequential(nn.Linear(3, 5)), strict=False)


def test_prefix_and_rename(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    twofold.save_weights({f"model.{n}": t for n, t in net().state_dict().items()} | {"head": twofold.ones(1)}, path)
    model = net()
    twofold.load_weights(path, model, prefix="model.")
    found = twofold.load_weights(path, rename=lambda n: None if n == "head" else n.removeprefix("model.").replace("0.", "linear."))
    assert list(found)[:3] == ["linear.weight", "linear.bias", "1.weight"]
    assert same({n.replace("linear.", "0."): t for n, t in found.items()}, model.state_dict())
    assert list(twofold.load_weights(path, rename={"head": "tail"}))[-1] == "tail"
    with pytest.raises(ValueRangeError, match="two tensors would get the name"):
        twofold.load_weights(path, rename=lambda n: "x")


def test_tied_weights(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    model = Tied()
    twofold.save_weights(model, path)
    with safetensors.safe_open(path, "np") as file:
        assert list(file.keys()) == ["first.weight"]
        assert file.metadata() == {"format": "pt", "last.weight": "first.weight"}
    found = twofold.load_weights(path)
    assert found["first.weight"] is found["last.weight"]
    safetensors.numpy.save_file({"first.weight": np.ones((5, 3), np.float32)}, path)
    for assign in (False, True):
        again = Tied()
        twofold.load_weights(path, again, assign=assign)
        assert again.last.weight is again.first.weight
        assert again.last.weight.sum().item() == 15.0


@pytest.mark.parametrize(
    "value, kind, text",
    [
        ([1], ArgumentError, "mapping"),
        ({"a": 1}, StateDictError, "not a tensor"),
        ({1: twofold.ones(1)}, StateDictError, "name"),
        ({"__metadata__": twofold.ones(1)}, StateDictError, "name"),
        ({"\ud800": twofold.ones(1)}, StateDictError, "name"),
        ({"a": twofold.empty(1, device="meta")}, TwofoldError, "meta"),
    ],
)
def test_what_cannot_be_written(value: Any, kind: type, text: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=text):
        twofold.save_weights(value, tmp_path / "a.safetensors")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("size", [0, -1, "5", "GB", "-1GB", 1.5, True, "1" * 400 + "GB"], ids=str)
def test_shard_sizes(size: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueRangeError, match="max_shard_size"):
        twofold.save_weights(net(), tmp_path, max_shard_size=size)


# ---- malformed files ---------------------------------------------------------------------------------------------------------------------


def file_of(header: Any, data: bytes = bytes(16), size: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if size is None else size).to_bytes(8, "little") + text + data


def entry(dtype: Any = "F32", shape: Any = (4,), begin: Any = 0, end: Any = 16) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


GOOD = file_of({"a": entry()})
BAD: dict[str, bytes] = {
    "empty": b"",
    "short": GOOD[:7],
    "cut off in the header": GOOD[:20],
    "cut off in the data": GOOD[:-1],
    "more than the data": GOOD + b"x",
    "header too long": file_of({"a": entry()}, size=2**63),
    "header above the cap": file_of({"a": entry()}, size=100_000_001),
    "no JSON": file_of(b"{'a': 1}"),
    "not UTF-8": file_of(b'{"\xff": 1}'),
    "a list": file_of([1, 2]),
    "nested": file_of(b"{" + b'"a":{' * 50_000 + b"}" * 50_001),
    "many brackets": file_of(b'{"a":' + b"[" * 4_000_001),
    "doubled": file_of(b'{"a":' + json.dumps(entry()).encode() + b',"a":' + json.dumps(entry()).encode() + b"}"),
    "a name that is no text": file_of(b'{"\\ud800":' + json.dumps(entry()).encode() + b"}"),
    "no dtype": file_of({"a": {"shape": [4], "data_offsets": [0, 16]}}),
    "more keys": file_of({"a": {**entry(), "x": 1}}),
    "dtype a number": file_of({"a": entry(dtype=1)}),
    "a negative size": file_of({"a": entry(shape=[-4])}),
    "a fractional size": file_of({"a": entry(shape=[4.0])}),
    "a bool for a size": file_of({"a": entry(shape=[True, 4])}),
    "text for a shape": file_of({"a": entry(shape="4")}),
    "another size": file_of({"a": entry(shape=[3])}),
    "an overflowing shape": file_of({"a": entry(shape=[2**32, 2**32, 4])}),
    "an overflowing empty shape": file_of({"a": entry(shape=[2**60, 2**60, 0], end=0)}, b""),
    "a huge number": file_of({"a": entry(shape=[10**30])}),
    "a number of many digits": file_of(b'{"a":' + b"1" * 5000 + b"}"),
    "too many dimensions": file_of({"a": entry(shape=[1] * 65 + [4])}),
    "offsets reversed": file_of({"a": entry(begin=16, end=0)}),
    "offset beyond the end": file_of({"a": entry(begin=0, end=2**62), "b": entry()}),
    "three offsets": file_of({"a": {**entry(), "data_offsets": [0, 8, 16]}}),
    "overlapping": file_of({"a": entry(), "b": entry(begin=8, end=24)}, bytes(24)),
    "the same bytes twice": file_of({"a": entry(), "b": entry()}),
    "a hole": file_of({"a": entry(), "b": entry(begin=20, end=36)}, bytes(36)),
    "metadata of numbers": file_of({"__metadata__": {"a": 1}, "a": entry()}),
    "metadata a list": file_of({"__metadata__": [], "a": entry()}),
    "some text": b"this is no weights file of any kind",
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(BAD[name])
    with pytest.raises(DataError, match="cannot be read"):
        twofold.load_weights(path)


def test_the_file_that_the_faults_are_made_of_is_good(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(GOOD)
    assert twofold.load_weights(path)["a"].tolist() == [0.0] * 4
    path.write_bytes(file_of({"a": entry("F8_E4M3", [16])}))
    with pytest.raises(UnsupportedError, match="F8_E4M3"):
        twofold.load_weights(path)
    path.write_bytes(b" " + GOOD)
    with pytest.raises(DataError):
        twofold.load_weights(path)


def test_mutated_files_end_in_our_errors(tmp_path: Path) -> None:
    """Bytes changed, cut, doubled at random: each file is read, or raises a TwofoldError."""
    twofold.save_weights({n: t for n, t in tensors().items() if t.numel() < 12}, tmp_path / "a.safetensors")
    good = (tmp_path / "a.safetensors").read_bytes()
    rng = np.random.default_rng(7)
    outcomes = {True: 0, False: 0}
    for _ in range(400):
        path = tmp_path / "mutated"
        path.write_bytes(mutated(good, rng))
        try:
            for t in twofold.load_weights(path).values():
                t.numpy().tobytes()
            outcomes[True] += 1
        except TwofoldError:
            outcomes[False] += 1
    assert min(outcomes.values()) > 5


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """A few changes to a file, most of them near its beginning or end, where the structure is."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(0, len(changed))) if rng.random() < 0.5 else int(rng.integers(0, min(200, len(changed))))
        kind = rng.integers(0, 4)
        if kind == 0:
            changed[at] = int(rng.integers(0, 256))
        elif kind == 1:
            changed[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 2:
            del changed[at : at + int(rng.integers(1, 9))]
        else:
            changed[at:at] = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), np.uint8))
    return bytes(changed)


# ---- indices -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index, text",
    [
        ("{", "no JSON"),
        ('{"weight_map": {"a": 1}}', "weight_map"),
        ("{}", "weight_map"),
        ('{"weight_map": {"a": "../a.safetensors"}}', "plain file name"),
        ('{"weight_map": {"a": "/etc/passwd"}}', "plain file name"),
        ('{"weight_map": {"a": ".."}}', "plain file name"),
        ('{"weight_map": {"a": "x\\u0000y"}}', "plain file name"),
        ('{"weight_map": {"a": "link"}}', "leads out of the folder"),
        ('{"weight_map": {"b": "a.safetensors"}}', "does not hold 'b'"),
        ('{"weight_map": {"a": "none"}}', "No such file"),
    ],
)
def test_malformed_indices(index: str, text: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "a.safetensors").write_bytes(GOOD)
    (folder / "a.safetensors").write_bytes(GOOD)
    (folder / "link").symlink_to(tmp_path / "a.safetensors")
    (folder / "model.safetensors.index.json").write_text(index)
    with pytest.raises(DataError, match=text):
        twofold.load_weights(folder)


def test_an_index_is_followed_within_its_folder(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(GOOD)
    (tmp_path / "link").symlink_to("a.safetensors")
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "link"}}')
    assert twofold.load_weights(tmp_path)["a"].tolist() == [0.0] * 4


def test_the_cache_of_hugging_face(tmp_path: Path) -> None:
    """Its snapshots are links to blobs, which is the one place outside the folder where shards may lie."""
    blobs, snapshot = tmp_path / "models--x" / "blobs", tmp_path / "models--x" / "snapshots" / "0123abc"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    (blobs / "hash").write_bytes(GOOD)
    (snapshot / "a.safetensors").symlink_to("../../blobs/hash")
    (snapshot / "model.safetensors.index.json").write_text('{"weight_map": {"a": "a.safetensors"}}')
    assert twofold.load_weights(snapshot)["a"].tolist() == [0.0] * 4
    (tmp_path / "hash").write_bytes(GOOD)
    (snapshot / "a.safetensors").unlink()
    (snapshot / "a.safetensors").symlink_to(tmp_path / "hash")
    with pytest.raises(DataError, match="leads out of the folder"):
        twofold.load_weights(snapshot)


def test_nothing_that_reads_files_imports_pickle() -> None:
    """Processes of one program may send each other objects (data/worker.py, data/processes.py); files
    never are read that way."""
    spec = find_spec("twofold")
    assert spec is not None
    assert spec.origin is not None
    banned = re.compile(
        r"^\s*(?:import|from)\s+_?(?:pickle|cPickle|dill|cloudpickle|joblib|marshal|shelve)\b|allow_pickle=(?!False)", re.MULTILINE
    )
    package = Path(spec.origin).parent
    found = [str(path.relative_to(package)) for path in package.rglob("*.py") if banned.search(path.read_text(encoding="utf-8"))]
    assert set(found) <= {"data/worker.py", "data/processes.py"}
    assert banned.search("import os\nfrom pickle import loads")
    assert banned.search("np.load(f, allow_pickle=True)")
