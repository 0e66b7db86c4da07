"""Shape functions that choose between records: `reshape` is a view where memory allows one, a copy where not."""

from __future__ import annotations

from typing import Any

from twofold.ir.op import get_op
from twofold.ops.views import resolve_sizes
from twofold.support.errors import InplaceError
from twofold.tensors.core import Symbol, Tensor
from twofold.tensors.dispatch import dispatch

_view, _copy = get_op("view"), get_op("reshape_copy")


def reshape(input: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape; one size may be -1. A view where the memory layout allows one, otherwise a copy."""
    size = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) and not hasattr(shape[0], "is_symbolic_dim") else shape
    resolved = resolve_sizes("reshape", input._type.shape, tuple(size))
    if isinstance(input, Symbol):
        return input._recorder.reshape(input, resolved)  # type: ignore[no-any-return]
    array = input._array
    if array is None or array.flags.c_contiguous:
        return dispatch(_view, (input,), {"size": resolved})  # type: ignore[no-any-return]
    try:
        return dispatch(_view, (input,), {"size": resolved})  # type: ignore[no-any-return]
    except InplaceError:
        return dispatch(_copy, (input,), {"size": resolved})  # type: ignore[no-any-return]


FUNCTIONS = {"reshape": reshape}
