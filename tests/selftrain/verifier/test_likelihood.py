"""A program's log-probability: what the sampler told when it drew the same tokens."""

from collections.abc import Sequence

import pytest

from selftrain.config import ModelConfig
from selftrain.models import load_model, load_sampler, load_tokenizer
from selftrain.sampling import Completion, Request
from selftrain.verifier.tasks.candidates import Wording
from selftrain.verifier.tasks.likelihood import Logprob, read_logprobs
from selftrain.verifier.tasks.reread import reread
from selftrain.verifier.tasks.task import Candidate, Task

PROMPTS = (
    "def f(k: int):\n    return k + 964 == 1853\n\ndef g():",
    "def f(s: str):\n    return 'a'",
)
BUILTIN = ModelConfig(name="builtin:tiny", device="cpu", dtype="float32", batch_size=16)


def read(
    pairs: Sequence[tuple[str, str]],
    config: ModelConfig,
    *,
    batch_size: int = 8,
    context_tokens: int = 500,
) -> list[Logprob | None]:
    model, tokenizer = load_model(config), load_tokenizer(config)
    return read_logprobs(
        model,
        tokenizer,
        pairs,
        batch_size=batch_size,
        context_tokens=context_tokens,
        advance=lambda _: None,
    )


def drawn(config: ModelConfig, max_new_tokens: int) -> list[tuple[str, Completion]]:
    requests = [Request(prompt, seed) for prompt in PROMPTS for seed in range(10)]
    completions = load_sampler(config).sample(
        requests, temperature=0.8, max_new_tokens=max_new_tokens, advance=lambda _: None
    )
    return [(r.prompt, c) for r, c in zip(requests, completions, strict=True)]


def test_it_is_what_the_sampler_told_of_the_same_tokens() -> None:
    # An end-of-text token is in the sampler's count and in no text, hence no `stop` by one here.
    some = drawn(BUILTIN, 60)
    found = read([(prompt, c.text) for prompt, c in some], BUILTIN)
    same = [
        (completion, likelihood)
        for (_, completion), likelihood in zip(some, found, strict=True)
        if likelihood and likelihood.num_tokens == completion.num_tokens
    ]
    assert len(same) >= 10
    for completion, likelihood in same:
        assert likelihood.sum_logprob == pytest.approx(completion.sum_logprob, abs=1e-3)


def test_it_does_not_depend_on_what_else_is_read(tiny_config: ModelConfig) -> None:
    pairs = [
        (PROMPTS[0], "\n    return 1853 - 964\n\nassert"),
        (PROMPTS[1], " == s"),
        (PROMPTS[0], " return 1"),
        (PROMPTS[0], ""),
    ]
    together = read(pairs, tiny_config)
    alone = [read([pair], tiny_config, batch_size=1)[0] for pair in pairs]
    for one, other in zip(together, alone, strict=True):
        assert one is not None and other is not None
        assert one.sum_logprob == pytest.approx(other.sum_logprob, abs=1e-3)
        assert one.num_tokens == other.num_tokens
    assert together[3] == (0.0, 0)


def test_what_the_context_does_not_hold_has_none(tiny_config: ModelConfig) -> None:
    long = (PROMPTS[0], "\n    return 0" * 40)
    short = (PROMPTS[0], "\n    return 0")
    found = read([long, short], tiny_config, context_tokens=60)
    assert found[0] is None and found[1] is not None


def test_a_long_unlikely_program_does_not_underflow(tiny_config: ModelConfig) -> None:
    (found,) = read([(PROMPTS[0], "\n    return zxqj" * 30)], tiny_config)
    assert found is not None
    assert -1e5 < found.sum_logprob < -745


def test_what_a_model_cannot_have_drawn_is_left_out_and_told() -> None:
    task = Task(
        "t", "?", (Candidate("def g(): 1", None, None, "1", True), Candidate("long", None, None, "2", False))
    )  # fmt: skip
    asked: list[tuple[str, str]] = []
    said: list[str] = []

    def read(pairs: Sequence[tuple[str, str]]) -> list[Logprob | None]:
        asked.extend(pairs)
        return [Logprob(-3.0, 2), None]

    words = Wording("?\n\ndef g():", lambda _: None, "def g():", "\n")

    (done,) = reread([task], {"t": words}, read, said.append)
    assert asked == [("?\n\ndef g():", " 1\n"), ("?\n\ndef g():", "long\n")]
    assert done.candidates == (Candidate("def g(): 1", -3.0, 2, "1", True),)
    assert len(said) == 1 and said[0].startswith("1 of 2 candidates")
