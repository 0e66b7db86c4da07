"""Devices by name. Only `cpu` (and `meta`, shapes without data) exist; naming another is allowed, computing on it raises."""

from __future__ import annotations

import re

from twofold.support.errors import DeviceError


class device(str):  # noqa: N801  (PyTorch's name)
    """A device: `device("cpu")`, `device("cuda:0")`; `type` and `index` are its parts. Compares equal to its string."""

    __slots__ = ()

    def __new__(cls, type: str, index: int | None = None) -> device:
        if isinstance(type, device) and index is None:
            return type
        text = str(type) if index is None else f"{type}:{index}"
        if not re.fullmatch(r"(cpu|meta|cuda|xpu|mps|xla|hip)(:\d+)?", text):
            raise DeviceError(f"{text!r} is no device name; the devices here are 'cpu' and 'meta'")
        return str.__new__(cls, "cpu" if text == "cpu:0" else text)

    @property
    def type(self) -> str:
        """The kind of device."""
        return self.split(":")[0]

    @property
    def index(self) -> int | None:  # type: ignore[override]  # hides str.index: PyTorch's name
        """The number after the colon, or None."""
        return int(self.split(":")[1]) if ":" in self else None

    def __repr__(self) -> str:
        return f"device(type={self.type!r})" if self.index is None else f"device(type={self.type!r}, index={self.index})"

    def __reduce__(self) -> tuple[object, ...]:
        return device, (str(self),)


def usable_device(value: object) -> str:
    """The name of a device tensors can live on here; raises DeviceError for the others."""
    name = str(device(str(value)))
    if name not in ("cpu", "meta"):
        raise DeviceError(f"device {name!r} is not available: Twofold computes on the CPU only (twofold.cuda.is_available() is False)")
    return name
