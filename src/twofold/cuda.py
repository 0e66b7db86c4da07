"""There is no CUDA device; this says so to code that asks."""

from __future__ import annotations

from typing import Any

from twofold.support.errors import DeviceError, UnknownNameError


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def is_initialized() -> bool:
    """False."""
    return False


def is_bf16_supported() -> bool:
    """False."""
    return False


def current_device() -> int:
    """Raises DeviceError."""
    raise DeviceError("there is no CUDA device: Twofold computes on the CPU only (twofold.cuda.is_available() is False)")


def synchronize(device: Any = None) -> None:
    """Raises DeviceError."""
    raise DeviceError("there is no CUDA device to wait for: Twofold computes on the CPU only (twofold.cuda.is_available() is False)")


def manual_seed(seed: int) -> None:
    """Nothing: there is no CUDA generator to seed (PyTorch does nothing either without a device)."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Nothing: there is no CUDA memory."""


def __getattr__(name: str) -> Any:
    raise UnknownNameError(f"twofold.cuda has no {name!r}: Twofold computes on the CPU only (twofold.cuda.is_available() is False)")
