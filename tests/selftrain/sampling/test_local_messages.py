"""Messages to a model in this process: the chat template, and where an answer ends."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from selftrain.config import ModelConfig
from selftrain.errors import UsageError
from selftrain.models import load_model, load_sampler, load_tokenizer
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.completion import TOO_LONG, Message
from selftrain.sampling.local import sampler as local
from selftrain.sampling.local.sampler import TransformersSampler
from selftrain.sampling.templates import encode_prompts, end_of_turn

SMOLLM2 = Path(__file__).parents[3] / "models" / "smollm2-135m"
TURN = "<|turn|>"
"""Ends a turn in the template below; end-of-text is another token."""
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '<|turn|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
)
REFUSES = "{{ raise_exception('System first.') }}"
PROMPT = "def f(x: int):\n    return x + 1 == 3"
IN_TEMPLATE = f"user: {PROMPT}{TURN}assistant: "
MANY = [
    Request(f"{PROMPT}{rest}", seed, message)
    for rest in ("", "4")
    for seed in range(4)
    for message in (None, Message(), Message("{}"))
]


def sampler_of(
    config: ModelConfig, template: str | None = TEMPLATE, batch_size: int = 64
) -> TransformersSampler:
    """Give the tiny model with a chat template, and a token that ends a turn in it."""
    model, tokenizer = load_model(config), load_tokenizer(config)
    tokenizer.add_tokens(TURN, special_tokens=True)
    torch.manual_seed(0)
    model.resize_token_embeddings(len(tokenizer))  # type: ignore[no-untyped-call]
    tokenizer.chat_template = template
    return TransformersSampler(model, tokenizer, batch_size=batch_size, context_tokens=512)


def sample(
    sampler: TransformersSampler, requests: Sequence[Request], max_new_tokens: int = 24
) -> list[Completion]:
    return sampler.sample(
        requests, temperature=0.9, max_new_tokens=max_new_tokens, advance=lambda _: None
    )


def spell(
    sampler: TransformersSampler, text: str, request: Request, monkeypatch: pytest.MonkeyPatch
) -> Completion:
    """Let the model spell a text, whatever it is asked."""
    tokens = sampler._tokenizer(text)["input_ids"]
    left = iter(tokens)

    def draw(*_: object) -> object:
        return np.array([next(left)]), np.array([-1.0])

    monkeypatch.setattr(local, "draw", draw)
    (done,) = sample(sampler, [request], len(tokens))
    return done


def test_a_message_is_read_in_the_chat_template_and_a_definition_as_it_is(
    tiny_config: ModelConfig,
) -> None:
    tokenizer = sampler_of(tiny_config)._tokenizer
    message, plain = encode_prompts(tokenizer, [Request(PROMPT, 1, Message()), Request(PROMPT, 1)])
    assert message == tokenizer(IN_TEMPLATE, add_special_tokens=False)["input_ids"]
    assert plain == tokenizer(PROMPT)["input_ids"]


def test_without_a_chat_template_a_message_is_read_as_it_is(tiny_config: ModelConfig) -> None:
    tokenizer = load_tokenizer(tiny_config)
    message, plain = encode_prompts(tokenizer, [Request(PROMPT, 1, Message()), Request(PROMPT, 1)])
    assert message == plain == tokenizer(PROMPT)["input_ids"]


def test_an_answer_is_what_the_model_goes_on_with_behind_the_template(
    tiny_config: ModelConfig,
) -> None:
    sampler = sampler_of(tiny_config)
    (done,) = sampler.sample(
        [Request(PROMPT, 0, Message())],
        temperature=0,
        max_new_tokens=24,
        advance=lambda _: None,
    )
    ids = torch.tensor([sampler._tokenizer(IN_TEMPLATE, add_special_tokens=False)["input_ids"]])
    ends = [sampler._tokenizer.eos_token_id, end_of_turn(sampler._tokenizer)]
    drawn = sampler._model.generate(ids, do_sample=False, max_new_tokens=24, eos_token_id=ends)
    theirs = drawn[0, ids.shape[1] :].tolist()
    kept = theirs[:-1] if theirs[-1] in ends else theirs
    assert (done.num_tokens, done.text) == (len(theirs), sampler._tokenizer.decode(kept))


@pytest.mark.parametrize("template", [TEMPLATE, None])
def test_a_line_in_column_0_does_not_end_an_answer(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch, template: str | None
) -> None:
    sampler = sampler_of(tiny_config, template)
    text = "Well:\n```python\ndef f():\n    pass\n```\nDone"
    done = spell(sampler, text, Request(PROMPT, 0, Message()), monkeypatch)
    assert (done.text, done.finish_reason) == (text, FinishReason.LENGTH)
    cut = spell(sampler, text, Request(PROMPT, 0), monkeypatch)
    assert cut.text in text[:-4] and cut.finish_reason is FinishReason.STOP


def test_the_token_that_ends_a_turn_ends_an_answer_and_is_not_in_its_text(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = sampler_of(tiny_config)
    done = spell(sampler, f"Done.{TURN}user: more", Request(PROMPT, 0, Message()), monkeypatch)
    assert (done.text, done.finish_reason) == ("Done.", FinishReason.STOP)
    assert done.num_tokens == len(sampler._tokenizer(f"Done.{TURN}")["input_ids"])


def test_end_of_text_ends_an_answer_too(
    tiny_config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = sampler_of(tiny_config)
    text = f"Done.{sampler._tokenizer.eos_token}user: more"
    done = spell(sampler, text, Request(PROMPT, 0, Message()), monkeypatch)
    assert (done.text, done.finish_reason) == ("Done.", FinishReason.STOP)


@pytest.mark.parametrize("batch_size", [1, 5])
def test_messages_and_definitions_together_draw_what_each_draws_alone(
    tiny_config: ModelConfig, batch_size: int
) -> None:
    together = sample(sampler_of(tiny_config), MANY)
    alone = [
        one
        for request in MANY
        for one in sample(sampler_of(tiny_config, batch_size=batch_size), [request])
    ]
    assert [(one.text, one.finish_reason) for one in together] == [
        (one.text, one.finish_reason) for one in alone
    ]
    # The template makes a difference, a schema none: nothing here follows one.
    by_kind = [[one.text for one in together[kind::3]] for kind in range(3)]
    assert by_kind[0] != by_kind[1] == by_kind[2]


def test_the_room_is_that_of_the_prompt_in_its_template(tiny_config: ModelConfig) -> None:
    sampler = sampler_of(tiny_config)
    (size,) = sampler.count_tokens([PROMPT])
    (whole,) = sampler.count_tokens([IN_TEMPLATE])
    room = sampler.context_tokens - size - 1
    assert size + 1 < whole
    asked = [Request(PROMPT, 1, Message()), Request(PROMPT, 1)]
    message, plain = sample(sampler, asked, room)
    assert message == TOO_LONG and plain.num_tokens > 0


@pytest.mark.parametrize("template", [REFUSES, "{{ messages[3]['content'] + 1 }}", "{% if %}"])
def test_a_template_that_refuses_a_message_is_a_sentence_and_definitions_are_drawn(
    tiny_config: ModelConfig, template: str
) -> None:
    sampler = sampler_of(tiny_config, template)
    with pytest.raises(UsageError, match=r"the chat template of .* does not take a message"):
        sample(sampler, [Request(PROMPT, 1, Message())])
    assert sample(sampler, [Request(PROMPT, 1)])[0].num_tokens > 0


def test_smollm2_ends_its_turn() -> None:
    if not SMOLLM2.is_dir():
        pytest.skip("SmolLM2-135M is not here: python -m scripts.fetch_smollm2")
    config = ModelConfig(name=str(SMOLLM2), device="cpu", dtype="float32")
    sampler: Any = load_sampler(config)
    assert sampler._tokenizer.decode([end_of_turn(sampler._tokenizer) or 0]) == "<|im_end|>"
    (done,) = sampler.sample(
        [Request("What is the capital of France? One word.", 0, Message())],
        temperature=0,
        max_new_tokens=40,
        advance=lambda _: None,
    )
    assert "Paris" in done.text and "<|im_" not in done.text
    assert done.finish_reason is FinishReason.STOP and done.num_tokens < 40
