"""Names for annotations."""

from __future__ import annotations

from typing import Any, TypeAlias

from twofold.ir.dtypes import DType

Number: TypeAlias = bool | int | float
DTypeLike: TypeAlias = DType | str | type | Any
DeviceLike: TypeAlias = Any
