"""Sampling by transformers: what is drawn depends on prompt, seed and settings alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from selftrain.config import ModelConfig
from selftrain.errors import RunError
from selftrain.models import load_model, load_sampler, load_tokenizer
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.local import sampler as local
from selftrain.sampling.local.sampler import TransformersSampler

PROMPTS = (
    "def f(x: int):\n    return x + 1 == 3\n\ndef g():",
    "def f(s: str, a='word'):\n    return s[::-1] == a\n\ndef g(a='word'):",
    "x",
    "def f1(li: List[int]):\n    return sum(li) == 17 and len(li) == 3\n\n" * 3 + "def f2(",
)
REQUESTS = [Request(prompt, seed) for seed in range(16) for prompt in PROMPTS]


def sampler_of(config: ModelConfig, batch_size: int) -> TransformersSampler:
    return load_sampler(config.model_copy(update={"batch_size": batch_size}))


def sample(
    sampler: TransformersSampler,
    requests: Sequence[Request],
    temperature: float = 0.9,
    max_new_tokens: int = 24,
) -> list[Completion]:
    return sampler.sample(
        requests, temperature=temperature, max_new_tokens=max_new_tokens, advance=lambda _: None
    )


def drawn(completions: Sequence[Completion]) -> list[tuple[str, str, int]]:
    return [(one.text, one.finish_reason, one.num_tokens) for one in completions]


@pytest.fixture(scope="module")
def in_one_batch(tiny_config: ModelConfig) -> list[Completion]:
    return sample(sampler_of(tiny_config, 64), REQUESTS)


def test_the_draws_are_varied_enough_to_tell_samplers_apart(in_one_batch: list[Completion]) -> None:
    assert len({one.text for one in in_one_batch}) > 50
    assert {one.finish_reason for one in in_one_batch} == {FinishReason.STOP, FinishReason.LENGTH}


def test_batch_size_does_not_matter(
    tiny_config: ModelConfig, in_one_batch: list[Completion]
) -> None:
    alone = sample(sampler_of(tiny_config, 1), REQUESTS)
    assert drawn(alone) == drawn(in_one_batch)
    assert [one.sum_logprob for one in alone] == pytest.approx(
        [one.sum_logprob for one in in_one_batch], abs=1e-3
    )


def test_the_order_of_requests_does_not_matter(
    tiny_config: ModelConfig, in_one_batch: list[Completion]
) -> None:
    backwards = sample(sampler_of(tiny_config, 7), REQUESTS[::-1])
    assert drawn(backwards[::-1]) == drawn(in_one_batch)


def test_a_shared_prompt_draws_what_separate_prompts_draw(tiny_config: ModelConfig) -> None:
    requests = [Request(PROMPTS[1], seed) for seed in range(8)]
    sampler = sampler_of(tiny_config, 64)
    together = sample(sampler, requests)
    separately = [sample(sampler, [request])[0] for request in requests]
    assert drawn(together) == drawn(separately)


def test_another_seed_draws_another_text(tiny_config: ModelConfig) -> None:
    one, other = sample(sampler_of(tiny_config, 2), [Request("x", 1), Request("x", 2)])
    assert one.text != other.text


@pytest.mark.parametrize("name", ["tiny", "builtin:tiny"])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_draws_what_generate_draws_up_to_the_stop(
    tiny_config: ModelConfig, name: str, prompt: str
) -> None:
    config = tiny_config if name == "tiny" else tiny_config.model_copy(update={"name": name})
    model, tokenizer = load_model(config), load_tokenizer(config)
    ours = sample(load_sampler(config), [Request(p, 0) for p in PROMPTS], temperature=0)
    mine = ours[PROMPTS.index(prompt)]
    ids = torch.tensor([tokenizer(prompt)["input_ids"]])
    theirs = model.generate(ids, do_sample=False, max_new_tokens=24)[0, ids.shape[1] :]
    kept = theirs[: mine.num_tokens].tolist()
    ended = kept[-1] == tokenizer.eos_token_id
    assert mine.text == tokenizer.decode(kept[:-1] if ended else kept)
    if mine.finish_reason is FinishReason.LENGTH:
        assert mine.num_tokens == 24


@pytest.mark.parametrize("temperature", [0, 0.5, 2.0])
def test_sum_logprob_is_that_of_a_plain_forward_pass_at_temperature_1(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch, temperature: float
) -> None:
    model, tokenizer = load_model(tiny_config), load_tokenizer(tiny_config)
    tokens: list[int] = []

    def draw(*args: Any) -> Any:
        drawn, logprobs = real_draw(*args)
        tokens.append(int(drawn[0]))
        return drawn, logprobs

    real_draw = local.draw
    monkeypatch.setattr(local, "draw", draw)
    for request in REQUESTS[:8]:
        tokens.clear()
        (one,) = sample(sampler_of(tiny_config, 1), [request], temperature)
        prompt = tokenizer(request.prompt)["input_ids"]
        with torch.no_grad():
            logits = model(torch.tensor([[*prompt, *tokens]])).logits[0, len(prompt) - 1 : -1]
        logprobs = torch.log_softmax(logits, dim=-1).double()
        expected = sum(logprobs[i, token].item() for i, token in enumerate(tokens))
        assert one.num_tokens == len(tokens)
        assert one.sum_logprob == pytest.approx(expected, abs=1e-4)


def test_a_prompt_without_room_gets_nothing_and_keeps_its_place(tiny_config: ModelConfig) -> None:
    told: list[int] = []
    long, short = sampler_of(tiny_config, 4).sample(
        [Request("xx", 0), Request("x", 0)],
        temperature=0.9,
        max_new_tokens=511,
        advance=told.append,
    )
    assert long == Completion("", FinishReason.PROMPT_TOO_LONG, 0, 0.0)
    assert short.num_tokens > 0
    assert sum(told) == 2


def test_the_context_of_the_configuration_counts(tiny_config: ModelConfig) -> None:
    sampler = load_sampler(tiny_config.model_copy(update={"context_tokens": 64}))
    assert sampler.context_tokens == 64
    (done,) = sample(sampler, [Request("x = 1\n" * 20, 0)])
    assert done.finish_reason is FinishReason.PROMPT_TOO_LONG


def test_every_finished_completion_is_told_once(tiny_config: ModelConfig) -> None:
    told: list[int] = []
    sampler_of(tiny_config, 5).sample(
        REQUESTS[:12], temperature=0.9, max_new_tokens=9, advance=told.append
    )
    assert sum(told) == 12


def test_no_request_gives_no_completion(tiny_config: ModelConfig) -> None:
    assert sample(sampler_of(tiny_config, 4), []) == []


class Spelling:
    """A model that spells a text, a token at a time, whatever it is drawn with."""

    def __init__(self, config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tokenizer = load_tokenizer(config)
        self._sampler = sampler_of(config, 4)
        self._monkeypatch = monkeypatch

    def spell(self, text: str) -> Completion:
        tokens = iter(self.tokenizer(text)["input_ids"])

        def draw(*_: object) -> object:
            token = next(tokens)
            return np.array([token]), np.array([-1.0])

        self._monkeypatch.setattr(local, "draw", draw)
        num_tokens = len(self.tokenizer(text)["input_ids"])
        (done,) = sample(self._sampler, [Request("def g():", 0)], max_new_tokens=num_tokens)
        return done


STOPPED = [
    ("\n    return 1\n\ndef h():\n    pass", "\n    return 1\n\ndef"),
    ("\n    return 1\nassert f(g())", "\n    return 1\na"),
    ("\n    if 1:\n        return 2\n\n    return 1\n\n\n#", "\n    if 1:\n        return 2\n\n    return 1\n\n\n#"),
    (" return 1\nx", " return 1\nx"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "start"), STOPPED)
def test_a_line_in_column_0_ends_a_definition(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch, text: str, start: str
) -> None:
    done = Spelling(tiny_config, monkeypatch).spell(text)
    assert done.finish_reason is FinishReason.STOP
    # The whole token that crossed is there, and nothing after it.
    assert done.text.startswith(start)
    assert done.text.rstrip() in text
    assert len(done.text) - len(start) < 8


def test_an_indented_or_blank_line_ends_nothing(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n    a = 1\n\n\n    b = 2\n  \n\treturn a"
    done = Spelling(tiny_config, monkeypatch).spell(text)
    assert (done.text, done.finish_reason) == (text, FinishReason.LENGTH)


def test_end_of_text_ends_and_is_not_in_the_text(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    spelling = Spelling(tiny_config, monkeypatch)
    done = spelling.spell("\n    return 1" + spelling.tokenizer.eos_token + "\n    more")
    assert done.text == "\n    return 1"
    assert done.finish_reason is FinishReason.STOP
    assert done.num_tokens == len(spelling.tokenizer("\n    return 1")["input_ids"]) + 1


def test_a_batch_that_memory_does_not_hold_is_halved_and_each_completion_told_once(
    tiny_config: ModelConfig,
    in_one_batch: list[Completion],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    sizes: list[int] = []

    def draw(logits: Any, *rest: Any) -> Any:
        sizes.append(len(logits))
        if len(logits) > 16:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return real_draw(logits, *rest)

    real_draw = local.draw
    monkeypatch.setattr(local, "draw", draw)
    told: list[int] = []
    drawn = sampler_of(tiny_config, 64).sample(
        REQUESTS, temperature=0.9, max_new_tokens=24, advance=told.append
    )
    assert [one.text for one in drawn] == [one.text for one in in_one_batch]
    assert sum(told) == len(REQUESTS)
    assert max(sizes[2:]) <= 16
    assert "memory ran out on cpu" in caplog.text


def test_one_sample_that_memory_does_not_hold_ends_in_a_sentence(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(*_: object) -> object:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried")

    monkeypatch.setattr(local, "draw", draw)
    with pytest.raises(RunError, match="not even one sample fits"):
        sample(sampler_of(tiny_config, 4), REQUESTS[:3])


def test_another_error_of_the_model_is_no_lack_of_memory(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(*_: object) -> object:
        raise RuntimeError("shapes differ")

    monkeypatch.setattr(local, "draw", draw)
    with pytest.raises(RuntimeError, match="shapes differ"):
        sample(sampler_of(tiny_config, 4), REQUESTS[:3])


def test_what_all_prompts_begin_with_is_read_once_and_changes_no_sample(
    tiny_config: ModelConfig,
) -> None:
    shown = "def f1(n: int):\n    return n % 97 == 31\n\ndef g1():\n    return 31\n\ndef f2("
    requests = [
        Request(shown + rest, seed) for rest in ("x: int", "n: str", "p") for seed in range(4)
    ]
    alone = [sample(sampler_of(tiny_config, 1), [request])[0] for request in requests]
    sampler = sampler_of(tiny_config, 64)
    together = sample(sampler, requests)
    assert [one.text for one in together] == [one.text for one in alone]
    common = sampler._common
    assert common is not None
    assert load_tokenizer(tiny_config).decode(common.tokens).startswith("def f1(n: int):")
    sample(sampler, requests[:8])
    assert sampler._common is common
