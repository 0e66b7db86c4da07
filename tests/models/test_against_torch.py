"""GPT, Llama, Qwen2 and BERT against networks written with torch, in float64 and float32: outputs and gradients."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import twofold
from twofold import models

torch = pytest.importorskip("torch")

from tests.models import torch_transformers as twins  # noqa: E402
from tests.models.compare import Twin, assert_same  # noqa: E402
from tests.models.torch_gpt import TorchGPT  # noqa: E402


def shaken(model: Any) -> Any:
    """The model with every parameter moved, so that none is 0 or 1."""
    twofold.manual_seed(1)
    for p in model.parameters():
        p.data.add_(twofold.randn_like(p) * 0.2)
    return model.eval()


def called_as(model: Any, forward: Any) -> Any:
    """The model with another forward."""
    model.__class__ = type("Called", (type(model),), {"forward": lambda self, *inputs: forward(self, *inputs)})
    return model


def ids(*shape: int) -> np.ndarray:
    """Tokens other than 0, whose embedding is padding's."""
    return np.random.default_rng(2).integers(1, 31, shape)


@pytest.mark.parametrize("bias", [True, False])
def test_gpt(bias: bool) -> None:
    model = shaken(models.GPT(models.GPTConfig(16, 31, 2, 2, 24, 0.0, bias)))
    forward = models.GPT.forward
    targets = np.roll(ids(3, 12), 1, 1)
    targets[0, :4] = -1
    ours = called_as(model, lambda self, x, y: forward(self, x, y)[1])
    assert_same(ours, TorchGPT(31, 16, 2, 2, 24, bias), (ids(3, 12), targets), lambda loss: loss * 1.0)


MASK = np.array([[1] * 9, [0] * 3 + [1] * 6, [0] + [1] * 8])


@pytest.mark.parametrize("name", ["llama", "qwen2"])
def test_decoders(name: str) -> None:
    sizes = {
        "vocab_size": 31, "hidden_size": 24, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }  # fmt: skip
    if name == "llama":
        model: Any = models.LlamaForCausalLM(models.LlamaConfig(**sizes, head_dim=8))
    else:
        model = models.Qwen2ForCausalLM(models.Qwen2Config(**sizes, tie_word_embeddings=False))
    twin = partial(twins.llama, layers=2, count=4, shared=2, theta=model.config.rope_theta, eps=1e-6)
    forward = models.LlamaForCausalLM.forward
    real = MASK[:, :, None].astype(np.float64)  # what stands at padding does not matter
    # Our positions count from the first real token, the twin's from the first: scores depend on differences only.
    assert_same(
        called_as(shaken(model), lambda self, x, mask, real: forward(self, x, mask) * real),
        Twin(lambda p, x, mask, real: twin(p, x, mask) * real),
        (ids(3, 9), MASK, real),
        lambda y: (y * y).mean(),
        double=1e-6,
    )


def test_bert() -> None:
    model = models.BertModel(
        models.BertConfig(
            vocab_size=31, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40, max_position_embeddings=16
        )
    )
    forward = models.BertModel.forward

    def joined(self: Any, x: Any, mask: Any, kinds: Any) -> Any:
        out = forward(self, x, mask, kinds)
        return twofold.cat((out.last_hidden_state, out.pooler_output.unsqueeze(1)), 1)

    twin = Twin(partial(twins.bert, layers=2, count=3, eps=1e-12))
    mask = MASK[:, ::-1].copy()
    assert_same(called_as(shaken(model), joined), twin, (ids(3, 9), mask, ids(3, 9) % 2), lambda y: (y * y).mean(), factor=6.0)
