"""Gradients limited, parameters as one vector or functions of others, sequences of different lengths: the names of `torch.nn.utils`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.nn.utils import parametrizations, parametrize, rnn
    from twofold.nn.utils.clip_grad import clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
    from twofold.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
    from twofold.nn.utils.fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval, fuse_linear_bn_weights, skip_init
    from twofold.nn.utils.recomputed import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "rnn": (),
        "parametrizations": (),
        "parametrize": (),
        "fusion": ("fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights", "skip_init"),
        "recomputed": ("remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"),
        "clip_grad": ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"),
        "convert_parameters": ("parameters_to_vector", "vector_to_parameters"),
    },
)

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
