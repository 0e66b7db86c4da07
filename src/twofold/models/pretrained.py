"""Configurations of models, and models made from a folder of `config.json` and weights."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from twofold.nn.module import Module
from twofold.serialization.atomic import make_folder, replacing
from twofold.serialization.safetensors_file import bounded_json
from twofold.serialization.source import open_source, path_of
from twofold.serialization.weights import load_weights, save_weights
from twofold.support.errors import DataError, UnsupportedError
from twofold.tensors.core import Tensor

MAX_CONFIG = 1_000_000
"""Bytes of a config.json."""
KINDS: dict[str, tuple[type, ...]] = {
    "int": (int, np.integer),
    "float": (int, float, np.number),
    "bool": (bool,),
    "str": (str,),
    "None": (type(None),),
    "list": (list, tuple),
    "dict": (dict,),
}
C = TypeVar("C", bound="ModelConfig")
M = TypeVar("M", bound="PretrainedModel")


@dataclass
class ModelConfig:
    """Base of configurations: dataclasses whose fields have the names that a config.json has."""

    model_type: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for f in fields(self):
            _checked(f.name, str(f.type), getattr(self, f.name))

    @classmethod
    def from_dict(cls: type[C], given: dict[str, Any]) -> C:
        """A configuration from a parsed config.json; names that are no fields are left out. Raises DataError for wrong values."""
        if given.get("quantization_config") is not None:
            raise UnsupportedError(
                "the configuration has a quantization_config: quantised weights are not read; use the model's plain weights"
            )
        values = {f.name: _checked(f.name, str(f.type), given[f.name]) for f in fields(cls) if f.name in given}
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """What stands in a config.json."""
        return {"model_type": self.model_type, **asdict(self)}


def _checked(name: str, kind: str, value: Any) -> Any:
    allowed = tuple(t for part in kind.split("|") for t in KINDS[part.strip().partition("[")[0]])
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        raise DataError(f"the configuration's {name} must be {kind}, not {value!r}")
    if isinstance(value, list) and "list[int]" in kind and not all(type(v) is int for v in value):
        raise DataError(f"the configuration's {name} must be {kind}, not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"the configuration's {name} must be finite, not {value!r}")
    if isinstance(value, (int, np.integer)) and not (-1 if name.endswith("token_id") else 0) <= value < 1 << 31:
        raise DataError(f"the configuration's {name} is {value}, which is out of range")
    if "layer" in name and isinstance(value, int) and value > 1000:
        raise DataError(f"the configuration's {name} is {value}; at most 1000 layers are made")
    return value


def read_config(folder: str) -> dict[str, Any]:
    """The parsed config.json of a folder; raises DataError."""
    source = open_source(os.path.join(folder, "config.json"), memory_map=False)
    if source.size > MAX_CONFIG:
        raise source.fault(f"it has {source.size} bytes; at most {MAX_CONFIG} are allowed")
    table = bounded_json(source, source.bytes(0, source.size), "the configuration")
    if not isinstance(table, dict):
        raise source.fault("it is no table of settings")
    return table


class PretrainedModel(Module):
    """Base of models that are made from a folder, and written to one."""

    config: Any
    config_class: ClassVar[type[ModelConfig]] = ModelConfig
    accepts: ClassVar[tuple[str, ...]] = ()
    """The `model_type`s of config.json that this class reads."""

    @classmethod
    def from_pretrained(cls: type[M], folder: Any, dtype: Any = None) -> M:
        """The model of a folder with config.json and weights (safetensors, single or sharded, or PyTorch's own files), in evaluation mode.

        dtype: convert floating-point weights to it; None keeps the file's. Weights of that dtype are memory-mapped, not copied. Raises
        FileError, DataError (a malformed file), StateDictError (weights that do not fit the configuration), UnsupportedError.
        """
        folder = path_of(folder, "from_pretrained")
        given = read_config(folder)
        if given.get("model_type") not in cls.accepts:
            raise UnsupportedError(
                f"{cls.__name__} reads models of the type {' or '.join(cls.accepts)}; config.json says {given.get('model_type')!r}"
            )
        model = cls(cls.config_class.from_dict(given), device="meta")
        weights = model.adapt(load_weights(folder), given)
        model.load(weights)
        if dtype is not None:
            model.to(dtype=dtype)
        return model.eval()

    def __init__(self, config: Any, device: Any = None, dtype: Any = None) -> None:
        super().__init__()

    def adapt(self, weights: dict[str, Tensor], given: dict[str, Any]) -> dict[str, Tensor]:
        """The file's tensors under this class's names."""
        return weights

    def tied(self) -> list[tuple[str, str]]:
        """Pairs of names of parameters that are one: (the one a file holds, the other)."""
        return []

    def load(self, weights: dict[str, Tensor]) -> None:
        """Take tensors as the model's own, without copying; tied parameters become one."""
        for kept, other in self.tied():
            if kept not in weights and other in weights:
                weights[kept] = weights[other]
            if kept in weights:
                weights[other] = weights[kept]
        self.load_state_dict(weights, assign=True)
        self.tie()

    def tie(self) -> None:
        """Make tied parameters one object."""
        for kept, other in self.tied():
            path, _, name = other.rpartition(".")
            setattr(self.get_submodule(path), name, self.get_parameter(kept))

    def save_pretrained(self, folder: Any, max_shard_size: int | str | None = None) -> None:
        """Write config.json and weights to a folder, from which `from_pretrained` makes the model again."""
        folder = path_of(folder, "save_pretrained")
        make_folder(folder)
        save_weights(self, folder, max_shard_size=max_shard_size)
        with replacing() as new, new.file(os.path.join(folder, "config.json")) as out:
            out.write(json.dumps(self.config.to_dict(), indent=2).encode())
