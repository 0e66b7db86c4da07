"""What of op_db is not compared, each with its reason. An entry is out of scope only if no call of it takes and gives dense real tensors on
the CPU, or if it is not part of torch's public names."""

from __future__ import annotations

from typing import Any

import torch
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, OpInfo, SampleInput

from tests.conformance.convert import DTYPES

COMPLEX_RESULT = "its result is complex for real input"
COMPLEX_INPUT = "takes complex input only"
PRIVATE = "a private name of torch, not something users call"
OPS_ONLY = "reachable through torch.ops.aten only, not a public name"
CUDA = "runs on CUDA only"
SPARSE = "needs sparse tensors"

ENTRIES: dict[str, str] = (
    dict.fromkeys(
        ("complex", "polar", "cdouble", "cfloat", "chalf", "linalg.eig", "linalg.eigvals", "stft", *(
            f"fft.{name}" for name in ("fft", "fft2", "fftn", "rfft", "rfft2", "rfftn", "ifft", "ifft2", "ifftn", "ihfft",
                                           "ihfft2", "ihfftn")
        )),
        COMPLEX_RESULT,
    )
    | dict.fromkeys(("view_as_real", "view_as_complex", "imag", "istft", "nn.functional.silu/complex"), COMPLEX_INPUT)
    | dict.fromkeys(
        ("_softmax_backward_data", "_native_batch_norm_legit", "_batch_norm_with_update", "_upsample_bilinear2d_aa", "torch._scaled_mm_v2",
         "torch._scaled_mm", "torch.ops.aten._safe_softmax.default", "torch.ops.aten._flash_attention_forward",
         "torch.ops.aten._efficient_attention_forward", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "_chunk_cat",
         "_segment_reduce/lengths", "_segment_reduce/offsets"),
        PRIVATE,
    )
    | dict.fromkeys(("max_pool2d_with_indices_backward", "native_dropout_backward", "slice"), OPS_ONLY)
    | dict.fromkeys(
        ("jiterator_unary", "jiterator_binary", "jiterator_4inputs_with_extra_args", "jiterator_binary_return_by_ref",
         "jiterator_2inputs_2outputs", "bmm/triton_optimized"),
        CUDA,
    )
    | dict.fromkeys(("sparse.sampled_addmm", "sparse.mm.reduce/", "sparse.mm/reduce", "to_sparse"), SPARSE)
)  # fmt: skip

COMPLEX_SAMPLE = "complex operand or dtype"
OUT = "out= argument"
NO_COUNTERPART = "operand of a kind this package does not have: {}"


def scope(op: OpInfo, name: str) -> str | None:
    """Why the entry is out of scope, or None."""
    if name in ENTRIES:
        return ENTRIES[name]
    if not op.dtypes & set(DTYPES):
        return "no real dtype on the CPU"
    return None


def sample(values: Any) -> str | None:
    """Why a sample (input, args, kwargs) is not compared, or None."""
    for leaf in _walk(values):
        if isinstance(leaf, torch.Tensor):
            if leaf.is_complex():
                return COMPLEX_SAMPLE
            if leaf.layout is not torch.strided:
                return "sparse operand"
            if leaf.device.type not in ("cpu", "meta"):
                return "operand on another device"
            if leaf.dim() > 64:
                return "operand of more than 64 dimensions, NumPy's limit"
            if leaf.is_quantized or leaf.is_nested or leaf.dtype not in DTYPES:
                return f"operand of {leaf.dtype}"
        elif isinstance(leaf, complex):
            return COMPLEX_SAMPLE
        elif isinstance(leaf, torch.dtype) and leaf not in DTYPES:
            return COMPLEX_SAMPLE if leaf.is_complex else f"dtype {leaf}"
        elif isinstance(leaf, torch.layout) and leaf is not torch.strided:
            return "sparse layout"
        elif isinstance(leaf, torch.memory_format) and leaf is torch.channels_last_3d:
            return "memory format channels_last_3d"
        elif (isinstance(leaf, torch.device) and leaf.type not in ("cpu", "meta")) or (isinstance(leaf, str) and leaf.startswith("cuda")):
            return "another device"
    kwargs = values[2] if len(values) > 2 else {}
    if kwargs.get("out") is not None:
        return OUT
    return None


def particular(name: str, s: SampleInput, part: str) -> str | None:
    """Why this sample of this entry is not compared, or None."""
    if (
        name == "as_strided/partial_views"
        and "storage_offset" in s.kwargs
        and s.input.untyped_storage().nbytes() != s.input.numel() * s.input.element_size()
    ):
        return "as_strided of a view counts from the view's first element here, not from its storage's (docs/differences.md)"
    if s.kwargs.get("sparse") or s.kwargs.get("sparse_grad"):
        return "asks for a sparse gradient"
    if name == "as_strided_scatter" and part == "backward":
        return "torch's gradient flows to elements that are overwritten; ours is that of finite differences"
    return None


def error(op: OpInfo, s: SampleInput) -> str | None:
    """Why an error input is not compared, or None."""
    if isinstance(op, BinaryUfuncInfo):
        numbers = [isinstance(v, (bool, int, float)) for v in (s.input, *s.args[:1])]
        if any(numbers) and not all(numbers):
            return "a Python number for either operand is taken here, as by NumPy (docs/differences.md)"
    return None


def _walk(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _walk(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _walk(item)]
    return [value]
