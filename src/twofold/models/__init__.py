"""Models of the field, and the small ones of the tour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twofold.support.lazy import lazy_exports

if TYPE_CHECKING:
    from twofold.models.bert import BertConfig, BertModel, mean_pooling
    from twofold.models.cache import KVCache
    from twofold.models.digits import DigitsNet
    from twofold.models.gpt import GPT, GPTConfig
    from twofold.models.llama import LlamaConfig, LlamaForCausalLM
    from twofold.models.qwen2 import Qwen2Config, Qwen2ForCausalLM
    from twofold.models.resnet import BasicBlock, Bottleneck, ResNet, resnet18, resnet34, resnet50, resnet101
    from twofold.models.small import MLP, ConvNet

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "bert": ("BertConfig", "BertModel", "mean_pooling"),
        "cache": ("KVCache",),
        "digits": ("DigitsNet",),
        "gpt": ("GPT", "GPTConfig"),
        "llama": ("LlamaConfig", "LlamaForCausalLM"),
        "qwen2": ("Qwen2Config", "Qwen2ForCausalLM"),
        "resnet": ("BasicBlock", "Bottleneck", "ResNet", "resnet101", "resnet18", "resnet34", "resnet50"),
        "small": ("MLP", "ConvNet"),
    },
)
__all__ = [
    "GPT", "MLP", "BasicBlock", "BertConfig", "BertModel", "Bottleneck", "ConvNet", "DigitsNet", "GPTConfig", "KVCache", "LlamaConfig",
    "LlamaForCausalLM", "Qwen2Config", "Qwen2ForCausalLM", "ResNet", "mean_pooling", "resnet18", "resnet34", "resnet50", "resnet101",
]  # fmt: skip
