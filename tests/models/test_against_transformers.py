"""Decoders and encoders against Hugging Face's transformers, with random weights that it wrote."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twofold
from twofold import models

torch = pytest.importorskip("torch")
pytest.importorskip("tokenizers")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]
F = twofold.nn.functional
LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}  # fmt: skip
DECODER = {
    "vocab_size": 61, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
CASES: dict[str, tuple[str, str, type, dict[str, Any]]] = {
    "llama": ("LlamaConfig", "LlamaForCausalLM", models.LlamaForCausalLM, {**DECODER, "num_key_value_heads": 2}),
    "llama3": (
        "LlamaConfig", "LlamaForCausalLM", models.LlamaForCausalLM,
        {**DECODER, "num_key_value_heads": 4, "rope_parameters": LLAMA3, "head_dim": 10, "attention_bias": True, "mlp_bias": True},
    ),
    "qwen2": (
        "Qwen2Config", "Qwen2ForCausalLM", models.Qwen2ForCausalLM,
        {**DECODER, "num_key_value_heads": 1, "tie_word_embeddings": True},
    ),
    "gpt2": (
        "GPT2Config", "GPT2LMHeadModel", models.GPT,
        {**DECODER, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
    ),
    "bert": (
        "BertConfig", "BertModel", models.BertModel,
        {**DECODER, "type_vocab_size": 2},
    ),
}  # fmt: skip
DECODERS = [name for name in CASES if name != "bert"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Any, Any, Path]]]:
    """(theirs, ours, folder) by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers = pytest.importorskip("transformers")
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        found = {}
        for name, (config, model, ours, settings) in CASES.items():
            torch.manual_seed(1)
            theirs = getattr(transformers, model)(getattr(transformers, config)(**settings)).eval()
            for p in theirs.parameters():
                p.data.normal_(0, 0.3)
            folder = tmp_path_factory.mktemp(name)
            theirs.save_pretrained(folder, max_shard_size="20KB")
            found[name] = (theirs, ours.from_pretrained(folder), folder)
        yield found
        torch.set_num_threads(threads)


def ids(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(3, 61, shape)


def scores_of(model: Any, tokens: Any, **kwargs: Any) -> Any:
    return model.lm_head(model.hidden(tokens, **kwargs)) if isinstance(model, models.GPT) else model(tokens, **kwargs)


def close(ours: Any, theirs: Any, tolerance: float = 2e-6) -> None:
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    assert a.shape == b.shape
    assert np.abs(a - b).max() <= tolerance * max(1e-30, float(np.abs(b).max()))


def gradients(model: Any, loss: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(float32, float64) by parameter."""
    both = []
    for m in (model, copy.deepcopy(model).double()):
        m.zero_grad()
        loss(m).backward()
        both.append({n: p.grad.numpy() for n, p in m.named_parameters()})
    return {n: (both[0][n], both[1][n]) for n in both[0]}


def as_near(ours: np.ndarray, theirs: np.ndarray, truth: np.ndarray) -> None:
    """Ours errs at most four times as much as theirs, or by 2e-6 of the greatest element."""
    largest = max(1e-7, float(np.abs(truth).max()))
    assert np.abs(ours - truth).max() <= 4 * max(float(np.abs(theirs - truth).max()), 5e-7 * largest)


@pytest.mark.parametrize("name", DECODERS)
def test_scores_and_gradients(name: str, pairs: dict[str, tuple[Any, Any, Path]]) -> None:
    theirs, ours, _ = pairs[name]
    tokens = ids(2, 11)

    def run(model: Any) -> Any:
        return model(torch.from_numpy(tokens), labels=torch.from_numpy(tokens))

    out = run(theirs)
    wanted = gradients(theirs, lambda m: run(m).loss)
    ours.zero_grad()
    scores = scores_of(ours, twofold.from_numpy(tokens))
    close(scores.detach().numpy(), out.logits.detach().numpy())
    loss = F.cross_entropy(scores[:, :-1].reshape(-1, 61), twofold.from_numpy(tokens)[:, 1:].reshape(-1))
    loss.backward()
    close(loss.item(), out.loss.item())
    turned = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    assert {n for n, _ in ours.named_parameters()} == set(wanted)
    for n, p in ours.named_parameters():
        g = p.grad.numpy()
        as_near(g.T if name == "gpt2" and n.endswith(turned) else g, *wanted[n])


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("name", DECODERS)
def test_greedy_tokens(name: str, use_cache: bool, pairs: dict[str, tuple[Any, Any, Path]]) -> None:
    theirs, ours, _ = pairs[name]
    tokens = ids(3, 6)
    tokens[1, :3] = 0
    mask = (tokens != 0).astype(np.int64)
    wanted = theirs.generate(
        torch.from_numpy(tokens), attention_mask=torch.from_numpy(mask), max_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=2
    )
    found = ours.generate(twofold.from_numpy(tokens), 12, attention_mask=twofold.from_numpy(mask), use_cache=use_cache, pad_token_id=0)
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("name", DECODERS)
def test_stop_tokens(name: str, pairs: dict[str, tuple[Any, Any, Path]]) -> None:
    theirs, ours, _ = pairs[name]
    tokens = ids(3, 6)
    free = ours.generate(twofold.from_numpy(tokens), 12, eos_token_id=())
    stops = sorted({free[0, 8].item(), free[2, 11].item()})
    wanted = theirs.generate(torch.from_numpy(tokens), max_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=stops)
    assert ours.generate(twofold.from_numpy(tokens), 12, eos_token_id=stops, pad_token_id=0).tolist() == wanted.tolist()


@pytest.mark.parametrize(
    "settings", [{"top_k": 5}, {"top_p": 0.6}, {"temperature": 0.7}, {"top_k": 7, "top_p": 0.8, "temperature": 1.3}], ids=str
)
def test_filters_of_sampling(settings: dict[str, Any]) -> None:
    from transformers.generation import logits_process as lp

    from twofold.models.generation import filtered

    scores = np.random.default_rng(3).standard_normal((4, 50)).astype(np.float32) * 3
    x = torch.from_numpy(scores)
    steps = {"temperature": lp.TemperatureLogitsWarper, "top_k": lp.TopKLogitsWarper, "top_p": lp.TopPLogitsWarper}
    for key, make in steps.items():
        if key in settings:
            x = make(settings[key])(None, x)
    found = filtered(twofold.from_numpy(scores), **settings).numpy()
    assert np.array_equal(np.isfinite(found), np.isfinite(x.numpy()))
    assert np.allclose(found[np.isfinite(found)], x.numpy()[np.isfinite(found)], rtol=1e-6)


def test_an_encoder(pairs: dict[str, tuple[Any, Any, Path]]) -> None:
    theirs, ours, _ = pairs["bert"]
    tokens, kinds = ids(3, 9), np.random.default_rng(4).integers(0, 2, (3, 9))
    mask = np.array([[1] * 9, [1] * 4 + [0] * 5, [1] * 7 + [0] * 2])
    for given in ({}, {"attention_mask": mask}, {"attention_mask": mask, "token_type_ids": kinds}):
        ours.zero_grad()
        inputs = {k: torch.from_numpy(v) for k, v in given.items()}
        wanted = theirs(torch.from_numpy(tokens), **inputs)
        found = ours(twofold.from_numpy(tokens), **{k: twofold.from_numpy(v) for k, v in given.items()})
        close(found.last_hidden_state.detach().numpy(), wanted.last_hidden_state.detach().numpy())
        close(found.pooler_output.detach().numpy(), wanted.pooler_output.detach().numpy())
        both = gradients(theirs, lambda m, inputs=inputs: loss_of(m(torch.from_numpy(tokens), **inputs)))
        loss_of(found).backward()
        assert {n for n, _ in ours.named_parameters()} == set(both)
        for n, p in ours.named_parameters():
            as_near(p.grad.numpy(), *both[n])


def loss_of(out: Any) -> Any:
    return out.last_hidden_state.square().sum() + out.pooler_output.sum()


@pytest.mark.parametrize("name", CASES)
def test_names_initial_values_and_the_way_back(name: str, pairs: dict[str, tuple[Any, Any, Path]], tmp_path: Path) -> None:
    import transformers

    theirs, ours, _ = pairs[name]
    config, model, _, settings = CASES[name]
    shapes = {n: tuple(p.shape) for n, p in ours.named_parameters()}
    turned = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    assert shapes == {
        n: tuple(p.shape)[::-1] if name == "gpt2" and n.endswith(turned) else tuple(p.shape) for n, p in theirs.named_parameters()
    }
    if name == "gpt2":
        return  # ours writes nanoGPT's form
    ours.save_pretrained(tmp_path)
    again = getattr(transformers, model).from_pretrained(tmp_path).eval()
    with torch.no_grad():
        a, b = (m(torch.from_numpy(ids(1, 5)))[0].numpy() for m in (again, theirs))
    assert np.array_equal(a, b)
    twofold.manual_seed(0)
    torch.manual_seed(0)
    fresh = getattr(transformers, model)(getattr(transformers, config)(**{**settings, "hidden_size": 64, "head_dim": 16}))
    mine = type(ours)(ours.config_class.from_dict({**ours.config.to_dict(), "hidden_size": 64, "head_dim": 16}))
    for n, p in fresh.named_parameters():
        a, b = mine.get_parameter(n).detach().numpy(), p.detach().numpy()
        spread = 6 / np.sqrt(a.size)
        assert abs(a.std() - b.std()) <= spread * b.std(), n
        assert abs(a.mean() - b.mean()) <= spread * b.std(), n


@pytest.mark.parametrize("form", ["zip", "old"])
def test_weights_that_torch_saved(form: str, pairs: dict[str, tuple[Any, Any, Path]], tmp_path: Path) -> None:
    theirs, ours, folder = pairs["bert"]
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    state = {f"bert.{n}": t for n, t in theirs.state_dict().items()} | {"cls.bias": torch.zeros(3)}
    torch.save(state, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=form == "zip")
    again = models.BertModel.from_pretrained(tmp_path)
    x = twofold.from_numpy(ids(1, 5))
    assert again(x).last_hidden_state.tolist() == ours(x).last_hidden_state.tolist()


@pytest.mark.parametrize("name", ["llama", "qwen2", "bert"])
def test_the_row_of_padding_gets_no_gradient(name: str, pairs: dict[str, tuple[Any, Any, Path]]) -> None:
    theirs, ours, _ = pairs[name]
    tokens = np.array([[0, 5, 0, 9, 12], [4, 0, 7, 7, 3]])
    theirs.zero_grad()
    ours.zero_grad()
    out = theirs(torch.tensor(tokens))
    (out.last_hidden_state if name == "bert" else out.logits).square().mean().backward()
    found = ours(twofold.tensor(tokens))
    (found.last_hidden_state if name == "bert" else found).square().mean().backward()
    expected = dict(theirs.named_parameters())
    for parameter, p in ours.named_parameters():
        if p.grad is not None and parameter in expected:
            np.testing.assert_allclose(p.grad.numpy(), expected[parameter].grad.numpy(), rtol=2e-3, atol=2e-4, err_msg=parameter)
