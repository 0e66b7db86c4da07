"""Between torch and twofold: operands of a sample one way, results the other way. Memory is copied, strides are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch

import twofold

DTYPES = {
    torch.float64: twofold.float64, torch.float32: twofold.float32, torch.float16: twofold.float16, torch.bfloat16: twofold.bfloat16,
    torch.int64: twofold.int64, torch.int32: twofold.int32, torch.int16: twofold.int16, torch.int8: twofold.int8,
    torch.uint8: twofold.uint8, torch.uint16: twofold.uint16, torch.uint32: twofold.uint32, torch.uint64: twofold.uint64,
    torch.bool: twofold.bool,
}  # fmt: skip
TORCH_DTYPES = {str(ours): theirs for theirs, ours in DTYPES.items()}
FORMATS = {
    torch.contiguous_format: twofold.contiguous_format,
    torch.preserve_format: twofold.preserve_format,
    torch.channels_last: twofold.channels_last,
}


class Inconvertible(Exception):
    """A value of a kind that has no counterpart here (complex and sparse tensors, other devices): says which."""


def copy_memory(t: torch.Tensor) -> torch.Tensor:
    """A tensor of the same values, strides and offset over a copy of the storage."""
    t = t.detach()
    storage = t.untyped_storage().clone()
    return torch.empty(0, dtype=t.dtype).set_(storage, t.storage_offset(), t.size(), t.stride())


def to_array(t: torch.Tensor) -> np.ndarray:
    """The tensor's values as an array with the same strides (memory shared)."""
    if t.layout is not torch.strided or t.is_quantized or t.is_nested or t.is_complex() or t.device.type != "cpu":
        raise Inconvertible(f"a tensor of {t.dtype}, {t.layout}, on {t.device}")
    t = t.detach()
    if t.is_neg():
        t = t.resolve_neg()
    if t.dtype is torch.bfloat16:
        return t.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    if t.dtype not in DTYPES:
        raise Inconvertible(f"a tensor of {t.dtype}")
    return t.numpy()


class Converter:
    """Converts the operands of one call; a tensor that occurs twice is the same tensor in the result. `leaves` lists (theirs, ours) of
    the tensors that require grad."""

    def __init__(self, *, grad: bool = False) -> None:
        self.grad = grad
        self.seen: dict[int, Any] = {}
        self.leaves: list[tuple[torch.Tensor, twofold.Tensor]] = []

    def tensor(self, t: torch.Tensor) -> twofold.Tensor:
        if id(t) in self.seen:
            return self.seen[id(t)]
        if t.device.type == "meta":
            self.seen[id(t)] = twofold.empty(tuple(t.shape), dtype=plain(t.dtype), device="meta")
            return self.seen[id(t)]
        to_array(t[:0] if t.dim() else t)  # raises before a large copy
        ours = twofold.from_numpy(to_array(copy_memory(t)))
        if self.grad and t.requires_grad:
            ours.requires_grad_()
            self.leaves.append((t, ours))
        self.seen[id(t)] = ours
        return ours

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, torch.Size):
            return twofold.Size(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return tuple(map(self, value))
        if isinstance(value, (list, tuple)):
            return type(value)(map(self, value))
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items() if v is not torch.strided}  # the only layout there is
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        return plain(value)


def plain(value: Any) -> Any:
    """A dtype, device, layout, generator, function or Python value."""
    if isinstance(value, torch.dtype):
        if value not in DTYPES:
            raise Inconvertible(f"dtype {value}")
        return DTYPES[value]
    if isinstance(value, torch.device):
        if value.type not in ("cpu", "meta"):
            raise Inconvertible(f"device {value}")
        return twofold.device(value.type)
    if isinstance(value, str) and value.startswith(("cuda", "xla", "mps")):
        raise Inconvertible(f"device {value}")
    if isinstance(value, torch.layout):
        raise Inconvertible(f"layout {value}")
    if isinstance(value, torch.memory_format):
        if value not in FORMATS:
            raise Inconvertible(f"{value}")
        return FORMATS[value]
    if isinstance(value, torch.Generator):
        return twofold.Generator().manual_seed(value.initial_seed() % 2**63)
    if isinstance(value, torch.nn.Module):
        return ours_of_module(value)
    return value


def ours_of_module(module: torch.nn.Module) -> Any:
    """The module of the same class name and arguments without parameters (distance functions of losses)."""
    cls = getattr(twofold.nn, type(module).__name__)
    names = getattr(module, "__constants__", [])
    return cls(**{"p" if name == "norm" else name: getattr(module, name) for name in names})


def to_torch(t: twofold.Tensor) -> torch.Tensor:
    """Our tensor as torch's, in memory of its own."""
    if str(t.dtype) not in TORCH_DTYPES:
        raise Inconvertible(f"our dtype {t.dtype}")
    array = np.array(t.detach().numpy(), copy=True)
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def leaves_of(value: Any) -> list[Any]:
    """The leaves of nested lists, tuples and dicts, in order."""
    if isinstance(value, (torch.Size, twofold.Size)):
        return [tuple(value)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves_of(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves_of(item)]
    return [value]


def structure_of(value: Any, is_tensor: Callable[[Any], bool]) -> Any:
    """Nesting and lengths; a list counts as a tuple."""
    if isinstance(value, (list, tuple)) and not isinstance(value, (torch.Size, twofold.Size)):
        return tuple(structure_of(item, is_tensor) for item in value)
    return "tensor" if is_tensor(value) else "value"
