"""Shared prefixes against the plain way: each row read in one go, without a cache or padding."""

import copy
import weakref

import pytest
import torch
from tiny_networks import CONFIGS
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    GPTNeoXConfig,
    MistralConfig,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen2MoeConfig,
)

from selftrain.errors import UsageError
from selftrain.sampling.local.attention_parts import KeysValues, by_products
from selftrain.sampling.local.decoding import (
    Decoder,
    RepeatedDecoder,
    SharedDecoder,
    can_share,
    read_common,
)
from selftrain.sampling.local.shared_prefix import NAME

COMMON = [5, 9, 2, 7, 7, 1, 30, 12, 3, 44, 6, 8]
RESTS = ([11, 4, 4, 21, 9], [11, 4], [60, 2, 17])
OWNERS = (0, 0, 0, 1, 2, 2)
_SIZES = {
    "vocab_size": 643,
    "hidden_size": 24,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
    "initializer_range": 0.3,
}
SHARING = ("llama", "gpt_neox", "gpt_neo", "qwen2", "gpt2", "mistral")
"""The third and the last with a window that is shorter than what is read."""


@pytest.fixture(autouse=True)
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what was drawn outgrow its room more than once in a dozen steps."""
    monkeypatch.setattr("selftrain.sampling.local.shared_prefix._FIRST_CAPACITY", 3)


def made(config: PreTrainedConfig) -> PreTrainedModel:
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(copy.deepcopy(config)).eval()


def network(kind: str) -> PreTrainedModel:
    """Two query heads to a key head, but for classes that have as many of both."""
    if kind == "gpt_neox":
        return made(GPTNeoXConfig(**_SIZES))
    if kind == "mistral":
        return made(MistralConfig(**_SIZES, num_key_value_heads=2, sliding_window=9))
    config = copy.deepcopy(CONFIGS[kind])
    if kind == "gpt_neo":
        config.window_size = 9
    if kind in ("llama", "qwen2"):
        config.num_attention_heads, config.head_dim = 4, 6
    return made(config)


def rows() -> list[list[int]]:
    return [[*COMMON, *RESTS[owner]] for owner in OWNERS]


def largest_error(model: PreTrainedModel, decoder: Decoder, so_far: list[list[int]]) -> float:
    plain = torch.stack([model(torch.tensor([row])).logits[0, -1] for row in so_far])
    ours = decoder.logits.log_softmax(-1)
    return float((ours - plain.log_softmax(-1)).abs().max())


@torch.inference_mode()
def decode(plain: PreTrainedModel, decoder: Decoder, num_steps: int = 12) -> float:
    """Take the same random tokens both ways, while rows leave; give the largest error."""
    so_far = rows()
    random = torch.Generator().manual_seed(3)
    worst = largest_error(plain, decoder, so_far)
    for step in range(num_steps):
        if step in (4, 10):  # the second leaves the third prompt without rows
            kept = [0, 2, 4, 5] if step == 4 else [0, 1]
            decoder.keep_rows(torch.tensor(kept))
            so_far = [so_far[i] for i in kept]
        drawn = torch.randint(0, 64, (len(so_far),), generator=random)
        for row, token in zip(so_far, drawn.tolist(), strict=True):
            row.append(token)
        decoder.step(drawn)
        worst = max(worst, largest_error(plain, decoder, so_far))
    return worst


@pytest.mark.parametrize("name", SHARING)
@pytest.mark.parametrize("num_common", [0, 7, 12])
def test_log_probabilities_are_those_of_the_plain_way(name: str, num_common: int) -> None:
    plain = network(name)
    model = copy.deepcopy(plain)
    assert can_share(model)
    with torch.inference_mode():
        common = read_common(model, COMMON[:num_common]) if num_common else None
        assert decode(plain, SharedDecoder(model, rows(), common)) < 1e-4


@pytest.mark.parametrize("name", ["llama", "gpt_neo", "mistral"])
def test_so_they_are_on_devices_without_the_kernel_of_cpus(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selftrain.sampling.local.shared_prefix.attend", by_products)
    monkeypatch.setattr("selftrain.sampling.local.attention_parts.attend", by_products)
    plain = network(name)
    model = copy.deepcopy(plain)
    assert can_share(model)
    with torch.inference_mode():
        assert decode(plain, SharedDecoder(model, rows(), read_common(model, COMMON[:7]))) < 1e-4


def test_scores_beyond_half_precision_are_no_infinities() -> None:
    query = torch.full((1, 1, 1, 64), 60.0, dtype=torch.float16)
    keys = torch.cat([query, -query], dim=2)
    part = by_products(query, KeysValues(keys, keys), scaling=1.0)
    assert part.log_sum.item() == 64 * 60.0**2
    assert part.out.unique().tolist() == [60.0]


@pytest.mark.parametrize("name", SHARING)
def test_so_they_are_where_the_cache_is_repeated(name: str) -> None:
    plain = network(name)
    with torch.inference_mode():
        assert decode(plain, RepeatedDecoder(plain, rows())) < 1e-4


def test_prompts_are_read_in_pieces_where_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = network("llama")
    model = copy.deepcopy(plain)
    assert can_share(model)
    monkeypatch.setattr("selftrain.sampling.local.decoding.PIECE_TOKENS", 20)
    with torch.inference_mode():
        assert decode(plain, SharedDecoder(model, rows(), read_common(model, COMMON[:7]))) < 1e-4


def test_a_class_that_attends_in_another_way_is_left_as_it_was() -> None:
    model = made(BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4))
    before = model.config._attn_implementation
    assert not can_share(model)
    assert model.config._attn_implementation == before


def test_a_class_that_keeps_its_window_in_a_mask_does_not_fit() -> None:
    sizes = {
        **_SIZES,
        "num_key_value_heads": 2,
        "moe_intermediate_size": 16,
        "num_experts": 4,
        "num_experts_per_tok": 2,
    }
    windowed = {"use_sliding_window": True, "sliding_window": 9}
    windowed["layer_types"] = ["sliding_attention", "full_attention"]
    assert not can_share(made(Qwen2MoeConfig(**sizes, **windowed)))
    assert can_share(made(Qwen2MoeConfig(**sizes)))


@pytest.mark.parametrize("kind", ["bert", "mamba"])
def test_what_answers_otherwise_token_by_token_is_refused(kind: str) -> None:
    with pytest.raises(UsageError, match="cannot be sampled from here"):
        can_share(made(CONFIGS[kind]))


def test_a_gpt_neo_that_shares_is_gone_with_its_last_user() -> None:
    model = network("gpt_neo")
    assert can_share(model)
    gone = weakref.ref(model.transformer.h[0].attn.attention.q_proj)
    del model
    assert gone() is None


def test_a_model_in_half_precision_fits() -> None:
    model = network("llama").to(torch.bfloat16)
    assert can_share(model)
    assert model.config._attn_implementation == NAME
