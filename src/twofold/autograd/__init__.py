"""Automatic differentiation over the dynamic graph, with PyTorch's names: `backward`, `grad`, modes, hooks, `Function`, `gradcheck`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.autograd import functional, graph
    from twofold.autograd.anomaly import detect_anomaly, is_anomaly_check_nan_enabled, is_anomaly_enabled, set_detect_anomaly
    from twofold.autograd.finite_differences import gradcheck, gradgradcheck
    from twofold.autograd.function import Function
    from twofold.autograd.grad_mode import (
        enable_grad,
        inference_mode,
        is_grad_enabled,
        is_inference_mode_enabled,
        no_grad,
        set_grad_enabled,
    )
    from twofold.autograd.recompute import checkpoint
    from twofold.tensors.backward import backward, grad

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "anomaly": ("detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_detect_anomaly"),
        "function": ("Function",),
        "grad_mode": ("enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad", "set_grad_enabled"),
        "finite_differences": ("gradcheck", "gradgradcheck"),
        "twofold.tensors.backward": ("backward", "grad"),
        "recompute": ("checkpoint",),
        "functional": (),
        "graph": (),
    },
)
__all__ = [
    "Function", "backward", "checkpoint", "detect_anomaly", "enable_grad", "functional", "grad", "gradcheck", "gradgradcheck", "graph",
    "inference_mode",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled", "is_inference_mode_enabled", "no_grad", "set_detect_anomaly",
    "set_grad_enabled",
]  # fmt: skip
