"""GPT, Llama, Qwen2 and BERT without other packages: cache, padding, sampling, graphs, folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import twofold
from twofold import models, nn
from twofold.errors import ArgumentError, DataError, ShapeError, StateDictError, UnsupportedError, ValueRangeError
from twofold.models.generation import choose, filtered

F = nn.functional
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}


def llama(**changes: Any) -> Any:
    sizes = {"vocab_size": 31, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
    return models.LlamaForCausalLM(models.LlamaConfig(**{**sizes, "num_key_value_heads": 2, "rope_scaling": LLAMA3, **changes}))


def qwen() -> Any:
    return models.Qwen2ForCausalLM(
        models.Qwen2Config(
            vocab_size=31,
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=1,
            head_dim=6,
        )
    )


def gpt(**changes: Any) -> Any:
    return models.GPT(models.GPTConfig(**{"block_size": 64, "vocab_size": 31, "n_layer": 2, "n_head": 2, "n_embd": 16, **changes}))


DECODERS = {"gpt": gpt, "llama": llama, "qwen2": qwen}


def strong(model: Any) -> Any:
    """The model with weights large enough for its tokens to differ."""
    twofold.manual_seed(7)
    for p in model.parameters():
        nn.init.normal_(p, 0.0, 0.4)
    return model.eval()


def tokens(*shape: int, seed: int = 0) -> twofold.Tensor:
    return twofold.from_numpy(np.random.default_rng(seed).integers(3, 31, shape))


def scores_of(model: Any, ids: Any, **kwargs: Any) -> Any:
    """Scores of all positions."""
    return model.lm_head(model.hidden(ids, **kwargs)) if isinstance(model, models.GPT) else model(ids, **kwargs)


# ---- the cache ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DECODERS)
def test_tokens_with_the_cache_are_those_without(name: str) -> None:
    model = strong(DECODERS[name]())
    ids = tokens(3, 5)
    with_cache = model.generate(ids, 20, eos_token_id=())
    assert with_cache.tolist() == model.generate(ids, 20, use_cache=False, eos_token_id=()).tolist()
    assert with_cache.shape == (3, 25)
    assert with_cache[:, :5].tolist() == ids.tolist()
    assert len(set(with_cache[:, 5:].flatten().tolist())) > 3
    a, b = (model.generate(ids, 20, do_sample=True, use_cache=c, generator=twofold.Generator().manual_seed(1)) for c in (True, False))
    assert a.tolist() == b.tolist()


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("parts", [(7,), (1,) * 7, (3, 4), (4, 1, 2)], ids=str)
def test_scores_in_parts_are_those_at_once(name: str, parts: tuple[int, ...]) -> None:
    model = strong(DECODERS[name]()).double()
    ids = tokens(2, 7)
    wanted = scores_of(model, ids)
    cache = model.new_cache(2, 9)
    with twofold.no_grad():
        found = [scores_of(model, part, cache=cache) for part in ids.split(parts, 1)]
    assert cache.position == 7
    assert np.allclose(twofold.cat(found, 1).numpy(), wanted.detach().numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", DECODERS)
def test_a_step_of_fixed_shapes_is_one_graph(name: str) -> None:
    """With the position as a tensor, one recorded step serves every position."""
    model = strong(DECODERS[name]())
    ids = tokens(2, 9)
    cache = model.new_cache(2, 12)

    def step(token: Any, position: Any) -> Any:
        cache.position = position
        return scores_of(model, token, cache=cache)

    with twofold.no_grad():
        graph = twofold.trace(step, (ids[:, :1], twofold.tensor(0)))
        found = [graph(ids[:, i : i + 1], twofold.tensor(i)) for i in range(9)]
        wanted = scores_of(model, ids)
    assert np.allclose(twofold.cat(found, 1).numpy(), wanted.numpy(), rtol=1e-4, atol=1e-4)


def test_faults_of_the_cache() -> None:
    model = llama()
    with twofold.no_grad():
        cache = model.new_cache(2, 4)
        with pytest.raises(ValueRangeError, match="5 positions do not fit a capacity of 4"):
            model(tokens(2, 5), cache=cache)
        with pytest.raises(ShapeError, match="do not fit a buffer"):
            model(tokens(3, 2), cache=cache)
        model(tokens(2, 4), cache=cache)
        cache.reset()
        assert cache.position == 0


# ---- padding -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("name", DECODERS)
def test_rows_padded_on_the_left_are_as_alone(name: str, use_cache: bool) -> None:
    model = strong(DECODERS[name]())
    rows = [tokens(1, n, seed=n) for n in (6, 2, 4)]
    ids = twofold.cat([twofold.cat([twofold.zeros(1, 6 - r.shape[1], dtype=twofold.int64), r], 1) for r in rows])
    mask = twofold.tensor([[0] * (6 - r.shape[1]) + [1] * r.shape[1] for r in rows])
    together = model.generate(ids, 10, attention_mask=mask, use_cache=use_cache, eos_token_id=())
    alone = [model.generate(r, 10, use_cache=use_cache, eos_token_id=()) for r in rows]
    assert together[:, 6:].tolist() == [a[0, -10:].tolist() for a in alone]
    scores = scores_of(model.double(), ids, attention_mask=mask)
    for i, r in enumerate(rows):
        n = r.shape[1]
        assert np.allclose(scores[i, 6 - n :].detach().numpy(), scores_of(model, r)[0].detach().numpy(), rtol=1e-6, atol=1e-6)


def test_rows_end_at_stop_tokens_and_are_filled() -> None:
    model = strong(llama())
    ids = tokens(4, 3)
    free = model.generate(ids, 15, eos_token_id=())
    stops = [free[0, 5].item(), free[1, 9].item()]
    found = model.generate(ids, 15, eos_token_id=stops, pad_token_id=0)
    ends = []
    for row, whole in zip(found[:, 3:].tolist(), free[:, 3:].tolist(), strict=True):
        end = next((i + 1 for i, t in enumerate(whole) if t in stops), 15)
        ends.append(end)
        assert row == (whole[:end] + [0] * 15)[: len(row)]
    assert found.shape[1] == 3 + max(ends)
    model.config.eos_token_id = stops
    model.config.pad_token_id = 0
    assert model.generate(ids, 15).tolist() == found.tolist()
    assert model.generate(ids[:1], 15, eos_token_id=stops[0], pad_token_id=0).shape[1] <= 6


def test_arguments_of_generate() -> None:
    model = gpt()
    assert model.generate(tokens(1, 3), 0).shape == (1, 3)
    for arguments, kind, text in [
        ((tokens(3), 1), ShapeError, "batch, length"),
        ((tokens(1, 0), 1), ShapeError, "at least 1"),
        ((tokens(1, 2), -1), ValueRangeError, "max_new_tokens"),
    ]:
        with pytest.raises(kind, match=text):
            model.generate(*arguments)
    with pytest.raises(ShapeError, match="attention_mask"):
        model.generate(tokens(1, 3), 1, attention_mask=twofold.ones(1, 2))
    with pytest.raises(ArgumentError, match="left"):
        model.generate(tokens(1, 3), 1, attention_mask=twofold.tensor([[1, 1, 0]]))
    with pytest.raises(ArgumentError, match="eos_token_id"):
        model.generate(tokens(1, 3), 1, eos_token_id=["x"])
    for name, value in [("temperature", 0.0), ("top_k", 0), ("top_p", 0.0), ("top_p", 1.5)]:
        with pytest.raises(ValueRangeError, match=name):
            model.generate(tokens(1, 3), 1, do_sample=True, **{name: value})


def test_a_gpt_slides_its_window() -> None:
    model = strong(gpt(block_size=8))
    ids = tokens(2, 5)
    found = model.generate(ids, 10, eos_token_id=())
    assert found.tolist() == model.generate(ids, 10, use_cache=False, eos_token_id=()).tolist()
    for n in range(5, 15):  # nanoGPT's loop
        scores, loss = model(found[:, max(0, n - 8) : n])
        assert loss is None
        assert scores[:, -1].argmax(-1).tolist() == found[:, n].tolist()
    with pytest.raises(ShapeError, match="block_size"):
        model(tokens(1, 9))


# ---- sampling ----------------------------------------------------------------------------------------------------------------------------


def kept_by_hand(row: np.ndarray, temperature: float, k: int | None, p: float | None) -> np.ndarray:
    x = row.astype(np.float64) / temperature
    alive = np.ones(len(x), bool)
    if k is not None:
        alive &= x >= np.sort(x)[::-1][min(k, len(x)) - 1]
    if p is not None:
        e = np.where(alive, np.exp(x - x.max()), 0)
        e /= e.sum()
        order = np.argsort(-e, kind="stable")
        total = 0.0
        for i in order:
            if total >= p:
                alive[i] = False
            total += e[i]
    return alive


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("k, p", [(None, None), (3, None), (None, 0.7), (4, 0.5), (100, 0.999), (1, 0.01), (None, 1.0)])
def test_filters(temperature: float, k: int | None, p: float | None) -> None:
    scores = np.random.default_rng(5).standard_normal((6, 12)).astype(np.float32) * 2
    found = filtered(twofold.from_numpy(scores), temperature, k, p).numpy()
    for row, given in zip(found, scores, strict=True):
        alive = kept_by_hand(given, temperature, k, p)
        assert np.array_equal(np.isfinite(row), alive)
        assert np.allclose(row[alive], given[alive] / temperature, rtol=1e-6)


def test_draws_follow_the_probabilities() -> None:
    scores = np.log(np.array([[0.5, 0.3, 0.15, 0.05]], np.float32))
    many = twofold.from_numpy(np.repeat(scores, 20_000, 0))
    generator = twofold.Generator().manual_seed(3)
    drawn = choose(many, True, 1.0, None, 0.9, generator).numpy()[:, 0]
    shares = np.bincount(drawn, minlength=4) / 20_000
    assert np.allclose(shares, [0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0], atol=0.015)
    assert choose(many[:2], False, 1.0, None, None, None).tolist() == [[0], [0]]


# ---- graphs ------------------------------------------------------------------------------------------------------------------------------


def bert() -> Any:
    return models.BertModel(
        models.BertConfig(
            vocab_size=31, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=16
        )
    )


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", [*DECODERS, "bert"])
def test_recorded(name: str, masked: bool) -> None:
    model = strong({**DECODERS, "bert": bert}[name]())
    ids = tokens(2, 5)
    mask = twofold.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])

    def run(ids: Any, mask: Any = None) -> Any:
        if name == "bert":
            return model(ids, mask).last_hidden_state
        return scores_of(model, ids, attention_mask=mask)

    inputs = (ids, mask) if masked else (ids,)
    graph = twofold.trace(run, inputs)
    assert graph(*inputs).tolist() == run(*inputs).tolist()
    assert "scaled_dot_product_attention" in str(graph.graph)
    other = (tokens(2, 5, seed=9), mask) if masked else (tokens(2, 5, seed=9),)
    assert graph(*other).tolist() == run(*other).tolist()


@pytest.mark.parametrize("name", [*DECODERS, "bert"])
def test_recorded_for_every_batch_and_length(name: str) -> None:
    model = strong({**DECODERS, "bert": bert}[name]())

    def run(ids: Any, mask: Any) -> Any:
        return model(ids, mask).last_hidden_state if name == "bert" else scores_of(model, ids, attention_mask=mask)

    sizes = {0: twofold.Dim("batch"), 1: twofold.Dim("length")}
    graph = twofold.trace(run, (tokens(3, 5), twofold.ones(3, 5, dtype=twofold.int64)), dynamic_shapes=[sizes, sizes])
    for batch, length in [(3, 5), (1, 9), (4, 2)]:
        ids, mask = tokens(batch, length, seed=length), twofold.ones(batch, length, dtype=twofold.int64)
        mask[0, 0] = 0
        assert graph(ids, mask).tolist() == run(ids, mask).tolist()


@pytest.mark.parametrize("name", DECODERS)
def test_gradients_ahead_of_time(name: str) -> None:
    model = strong(DECODERS[name]())
    ids = tokens(2, 6)

    def loss(ids: Any) -> Any:
        scores = scores_of(model, ids)
        return F.cross_entropy(scores[:, :-1].reshape(-1, 31), ids[:, 1:].reshape(-1))

    value = loss(ids)
    value.backward()
    out, gradients = twofold.aot(loss, ids)(ids)
    assert out.item() == pytest.approx(value.item(), rel=1e-5)
    found = sorted(g.numpy().astype(np.float64).ravel().tolist() for g in gradients.values())
    wanted = sorted(p.grad.numpy().astype(np.float64).ravel().tolist() for p in model.parameters())
    assert [len(g) for g in found] == [len(g) for g in wanted]
    for a, b in zip(found, wanted, strict=True):
        assert np.allclose(a, b, rtol=1e-3, atol=1e-5)


def test_a_gpt_learns() -> None:
    twofold.manual_seed(0)
    model = gpt(dropout=0.1).train()
    ids = twofold.from_numpy(np.arange(48).reshape(2, 24) % 7)
    optimizer = twofold.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        _, loss = model(ids[:, :-1], ids[:, 1:])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    model.eval()
    assert model.generate(ids[:, :8], 4).tolist() == ids[:, :12].tolist()


# ---- names, initial values, folders ------------------------------------------------------------------------------------------------------


def test_names_and_initial_values_of_a_gpt() -> None:
    twofold.manual_seed(0)
    model = gpt(n_embd=64, n_layer=2)
    names = list(model.state_dict())
    assert names[:5] == [
        "transformer.wte.weight", "transformer.wpe.weight", "transformer.h.0.ln_1.weight", "transformer.h.0.ln_1.bias",
        "transformer.h.0.attn.c_attn.weight",
    ]  # fmt: skip
    assert names[-3:] == ["transformer.ln_f.weight", "transformer.ln_f.bias", "lm_head.weight"]
    assert model.lm_head.weight is model.transformer["wte"].weight
    for name, p in model.named_parameters():
        a = p.detach().numpy()
        if name.endswith("c_proj.weight"):
            assert abs(a.std() / 0.01 - 1) < 0.1, name
        elif a.ndim == 2:
            assert abs(a.std() / 0.02 - 1) < 0.1, name
        else:
            assert (a == (0 if name.endswith("bias") else 1)).all(), name
    assert not [n for n in gpt(bias=False).state_dict() if n.endswith("bias")]


@pytest.mark.parametrize("dtype", [None, "float64", "bfloat16"])
@pytest.mark.parametrize("name", [*DECODERS, "bert"])
def test_folders(name: str, dtype: Any, tmp_path: Path) -> None:
    model = strong({**DECODERS, "bert": bert}[name]())
    model.save_pretrained(tmp_path, max_shard_size=2000)
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    twofold.manual_seed(3)
    state = twofold.get_rng_state().tolist()
    again = type(model).from_pretrained(tmp_path, dtype)
    assert twofold.get_rng_state().tolist() == state
    assert again.config == model.config
    assert not again.training
    wanted = model.state_dict()
    assert list(again.state_dict()) == list(wanted)
    for key, t in again.state_dict().items():
        assert t.dtype is (twofold.float32 if dtype is None else getattr(twofold, dtype))
        assert t.tolist() == wanted[key].to(t.dtype).tolist()
    if dtype is None:
        ids = tokens(1, 4)
        run = (lambda m: m(ids).last_hidden_state) if name == "bert" else (lambda m: scores_of(m, ids))
        assert run(again).tolist() == run(model).tolist()
        assert not again.get_parameter(next(iter(wanted))).detach().numpy().flags.owndata, "mapped, not copied"
    if name in ("gpt", "qwen2"):
        head = again.lm_head.weight
        assert head is (again.transformer["wte"].weight if name == "gpt" else again.model.embed_tokens.weight)


@pytest.mark.parametrize(
    "change, kind, text",
    [
        ({"model_type": "mamba"}, UnsupportedError, "mamba"),
        ({"model_type": None}, UnsupportedError, "None"),
        ({"hidden_size": "16"}, DataError, "hidden_size must be int"),
        ({"hidden_size": True}, DataError, "hidden_size must be int"),
        ({"hidden_size": 2**40}, DataError, "out of range"),
        ({"num_hidden_layers": 10**6}, DataError, "layers"),
        ({"hidden_size": 2**30}, StateDictError, "size mismatch"),
        ({"num_hidden_layers": 3}, StateDictError, "Missing key"),
        ({"num_attention_heads": 0}, ValueRangeError, "heads"),
        ({"num_key_value_heads": 3}, ValueRangeError, "heads"),
        ({"hidden_act": "relu"}, UnsupportedError, "relu"),
        ({"rope_parameters": {"rope_type": "yarn"}}, UnsupportedError, "yarn"),
        ({"rope_parameters": []}, StateDictError, "^$"),
        ({"rope_parameters": [1]}, DataError, "rope"),
        ({"rope_scaling": {"type": "linear", "factor": "2"}}, DataError, "factor"),
        ({"use_sliding_window": True}, UnsupportedError, "sliding"),
    ],
)
def test_configurations_that_do_not_fit(change: dict[str, Any], kind: type, text: str, tmp_path: Path) -> None:
    llama(rope_scaling=None).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, **change}))
    if text == "^$":  # an empty list is as if it were not there
        models.LlamaForCausalLM.from_pretrained(tmp_path)
        return
    with pytest.raises(kind, match=text):
        models.LlamaForCausalLM.from_pretrained(tmp_path)


@pytest.mark.parametrize("config", ["", "{", "[]", '{"model_type": "llama", "model_type": "gpt2"}', "[" * 100_000])
def test_malformed_configurations(config: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(DataError):
        models.LlamaForCausalLM.from_pretrained(tmp_path)


def test_a_linear_scaling_of_positions() -> None:
    plain, scaled = llama(rope_scaling=None), llama(rope_scaling={"rope_type": "linear", "factor": 4.0})
    assert np.allclose(scaled.model.inv_freq.numpy() * 4, plain.model.inv_freq.numpy())
    ids = tokens(1, 5)
    scaled.load_state_dict(plain.state_dict())
    stretched = plain(ids, position_ids=twofold.arange(5).unsqueeze(0) / 4)
    assert np.allclose(scaled(ids).detach().numpy(), stretched.detach().numpy(), atol=1e-6)


def test_wrong_tokens_and_settings_end_in_our_errors_at_the_users_line() -> None:
    model = models.LlamaForCausalLM(
        models.LlamaConfig(vocab_size=11, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2, pad_token_id=3)
    )
    assert model.model.embed_tokens.weight[3].abs().sum().item() == 0.0
    tokens = twofold.tensor([[1, 2]])
    wrong: list[dict[str, Any]] = [
        {"input_ids": [[1, 2]]}, {"input_ids": None}, {"attention_mask": [[1, 1]]}, {"eos_token_id": 1.5}, {"eos_token_id": True},
        {"pad_token_id": 1.5}, {"do_sample": True, "temperature": "1"}, {"do_sample": True, "top_p": "1"},
    ]  # fmt: skip
    for change in wrong:
        with pytest.raises(ArgumentError, match=r"test_language\.py"):
            model.generate(**{"input_ids": tokens, "max_new_tokens": 1, **change})
    assert model.generate(tokens, 1, eos_token_id=np.int64(5), pad_token_id=np.int64(0)).dtype is twofold.int64
    with pytest.raises(ArgumentError, match="tokens as a tensor"):
        model([[1, 2]])
    with pytest.raises(ShapeError, match="batch, length"):
        model(twofold.tensor([1, 2]))


@pytest.mark.parametrize(
    "change",
    [
        {"head_dim": 2_000_000_000}, {"head_dim": 7}, {"head_dim": 0}, {"rope_theta": 0.0}, {"rope_theta": -5.0}, {"rope_theta": "a"},
        {"rms_norm_eps": float("nan")}, {"eos_token_id": [1, "a"]}, {"hidden_size": "a"}, {"hidden_size": -8}, {"rope_scaling": 5},
        {"num_hidden_layers": "2"}, {"vocab_size": True}, {"quantization_config": {"bits": 4}},
        {"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 1.0,
                          "original_max_position_embeddings": 64}},
    ],
)  # fmt: skip
def test_settings_out_of_range(change: dict[str, Any]) -> None:
    small = {"vocab_size": 11, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    with pytest.raises((DataError, ValueRangeError, UnsupportedError)):
        models.LlamaForCausalLM(models.LlamaConfig.from_dict({**small, **change}))
    if "quantization_config" not in change:
        with pytest.raises((DataError, ValueRangeError)):
            models.LlamaForCausalLM(models.LlamaConfig(**{**small, **change}))


@pytest.mark.parametrize("change", [{"scale_attn_weights": False}, {"scale_attn_by_inverse_layer_idx": True}, {"n_inner": 7}])
def test_settings_of_gpt2_that_change_the_result_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError, match="not supported"):
        models.GPTConfig.from_dict({"model_type": "gpt2", "n_embd": 8, "n_head": 2, **change})


def test_mean_pooling() -> None:
    states = twofold.arange(12.0).reshape(2, 3, 2)
    mask = twofold.tensor([[1, 1, 0], [0, 0, 0]])
    assert models.mean_pooling(states, mask, normalize=False).tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert np.allclose(models.mean_pooling(states, mask)[0].numpy(), np.array([1, 2]) / np.sqrt(5))
