"""A real server, llama.cpp's, with SmolLM2-135M: what we promise of it, as it answers."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from llama import CONTEXT_TOKENS, NAME, llama_server
from openai import OpenAI
from served import QUICK, texts

from puzzles.cut import cut_puzzle
from scripts.fetch_smollm2 import gguf_path
from selftrain.config import ModelConfig
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.completion import Message
from selftrain.sampling.server import chat
from selftrain.sampling.server.address import Address, TooLong
from selftrain.sampling.server.asking import Drawing
from selftrain.sampling.server.connect import connect
from selftrain.sampling.server.pace import Pace
from selftrain.sampling.server.retry import Patience, Server
from selftrain.sampling.server.sampler import ServerSampler

PROMPT = "def f1(x: int):\n    return x > 3\n\ndef f2(s: str):\n    return len(s) == 5\n\ndef f3("
OTHER = "def f1(x: int):\n    return x * x == 49\n\ndef f2("


@pytest.fixture(scope="module")
def gguf() -> Path:
    """Find SmolLM2's file; skip where it or the server's package is missing."""
    pytest.importorskip("xllamacpp", reason="llama.cpp's server is not here: pip install xllamacpp")
    if not gguf_path().is_file():
        pytest.skip("SmolLM2-135M is not here: python -m scripts.fetch_smollm2")
    return gguf_path()


@pytest.fixture(scope="module")
def url(gguf: Path) -> Iterator[str]:
    with llama_server(gguf) as (address, _):
        yield address


def sampler_of(*urls: str, **settings: Any) -> ServerSampler:
    settings = {"batch_size": 2} | settings
    patience = Patience(num_tries=3, first_wait_seconds=0.01)
    return connect(ModelConfig(name=NAME, server=urls, **settings), patience)


def draw(
    sampler: ServerSampler, requests: Sequence[Request], temperature: float = 1.0, **how: Any
) -> list[Completion]:
    how = {"max_new_tokens": 6, "advance": lambda _: None} | how
    return sampler.sample(requests, temperature=temperature, **how)


def requests(*seeds: int, prompt: str = PROMPT) -> list[Request]:
    return [Request(prompt, seed) for seed in seeds]


def test_a_seed_gives_the_same_text_whatever_is_drawn_beside_it(url: str) -> None:
    asked = [*requests(5, 6), *requests(5, prompt=OTHER)]
    first = texts(draw(sampler_of(url), asked))
    again = texts(draw(sampler_of(url, batch_size=1), asked[::-1]))
    assert again == first[::-1]
    assert len(set(first)) == 3


def test_samples_of_one_request_are_those_of_single_ones(url: str) -> None:
    # It holds two at once and refuses four, so the request is split.
    several = sampler_of(url, samples_per_request=4)
    together = draw(several, requests(10, 11, 12, 13), max_new_tokens=12)
    single = draw(sampler_of(url), requests(40, 41, 42, 43), max_new_tokens=12)
    assert texts(together) == texts(single)
    assert [one.num_tokens for one in together] == [one.num_tokens for one in single]
    assert len(set(texts(together))) == 4


def test_tokens_and_requests_are_counted(url: str) -> None:
    sampler = sampler_of(url, samples_per_request=2, dollars_per_million_tokens=(1e6, 1e6))
    done = draw(sampler, requests(0, 1), max_new_tokens=4)
    (size,) = sampler.count_tokens([PROMPT])
    cut = [one for one in done if one.finish_reason is FinishReason.LENGTH]
    assert {one.num_tokens for one in cut} == {4}
    assert (sampler.spent.requests, sampler.spent.prompt_tokens) == (1, size)
    assert sampler.spent.completion_tokens >= sum(one.num_tokens for one in done)
    assert sampler.spent.dollars == size + sampler.spent.completion_tokens


def test_log_probabilities_are_those_of_temperature_1_at_any_temperature(url: str) -> None:
    (greedy,) = draw(sampler_of(url), requests(1), temperature=0.0)
    (cold,) = draw(sampler_of(url), requests(1), temperature=0.001)
    assert greedy.text == cold.text
    assert greedy.sum_logprob is not None and greedy.sum_logprob < -0.5
    assert cold.sum_logprob == pytest.approx(greedy.sum_logprob, abs=1e-3)


def test_a_definition_that_ended_stops_before_the_next(url: str) -> None:
    shown = "def f1(x: int):\n    return x == 1\n\ndef f2(x: int):\n    return x == 2\n\n"
    (done,) = draw(sampler_of(url), requests(0, prompt=f"{shown}def f3("), 0.0, max_new_tokens=40)
    assert done.finish_reason is FinishReason.STOP
    assert "\ndef" not in done.text
    assert cut_puzzle(f"def f3({done.text}") == "def f(x: int):\n    return x == 3"


def test_the_context_is_that_of_a_slot_and_a_longer_prompt_is_no_failure(url: str) -> None:
    sampler = sampler_of(url)
    assert sampler.context_tokens == CONTEXT_TOKENS
    (done,) = draw(sampler, requests(0, prompt="x = 1\n" * 300))
    assert done.finish_reason is FinishReason.PROMPT_TOO_LONG


@pytest.mark.parametrize("api", ["completions", "chat"])
def test_the_server_s_own_word_on_a_long_prompt_is_understood(url: str, api: Any) -> None:
    server = Server(url, "", None, QUICK, Pace())
    client = OpenAI(base_url=url, api_key="none", max_retries=0)
    address = Address(client, server, NAME, most_choices=1, prices=None)
    with pytest.raises(TooLong):
        address.draw("x = 1\n" * 300, 1, 1, 1, Drawing(api, 1.0, 8), Event())


def test_a_chat_is_drawn_and_counted_too(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "MORE_TOKENS", 4)
    single = draw(sampler_of(url, api="chat"), requests(40, 41), max_new_tokens=4)
    sampler = sampler_of(url, api="chat", samples_per_request=2)
    together = draw(sampler, requests(20, 21), max_new_tokens=4)
    assert together == single
    assert len({one.sum_logprob for one in together}) == 2
    assert all(1 < one.num_tokens <= 8 and (one.sum_logprob or 0) < 0 for one in together)
    # What it is told stands around the prompt, and the server's template around that.
    assert sampler.spent.prompt_tokens > sum(sampler.count_tokens([PROMPT, chat.message("")]))


SCHEMA = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["pass", "fail"]},
        "line": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["verdict", "line"],
    "additionalProperties": False,
}
ASKED = "Is `def f(x): return x` right? Say in JSON which line is wrong."


@pytest.mark.parametrize("api", ["completions", "chat"])
def test_a_reply_by_a_schema_is_of_its_shape_or_cut(url: str, api: str) -> None:
    asked = [Request(ASKED, seed, Message(json.dumps(SCHEMA))) for seed in range(3)]
    done = draw(sampler_of(url, api=api), asked, max_new_tokens=60)
    whole = [json.loads(one.text) for one in done if one.finish_reason is FinishReason.STOP]
    assert len(whole) + sum(one.finish_reason is FinishReason.LENGTH for one in done) == 3
    assert whole
    for reply in whole:
        assert list(reply) == ["verdict", "line"]
        assert reply["verdict"] in ("pass", "fail") and 0 <= reply["line"] <= 99


def test_a_schema_that_it_cannot_take_is_left_out(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    unknown = Message(json.dumps({"type": "object", "properties": {"a": {"type": "nonsense"}}}))
    (done,) = draw(sampler_of(url, api="chat"), [Request(ASKED, 1, unknown)])
    assert done.num_tokens > 1
    assert caplog.text.count("does not take response_format, and is asked without") == 1


def test_a_message_is_answered_in_the_model_s_turn(url: str) -> None:
    asked = [Request("What is the capital of France? One word.", 0, Message())]
    (done,) = draw(sampler_of(url, api="chat"), asked, 0.0, max_new_tokens=40)
    assert "Paris" in done.text and done.finish_reason is FinishReason.STOP


def test_a_server_that_is_killed_has_its_work_done_by_the_other(
    url: str, gguf: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked = [Request(prompt, seed) for prompt in (PROMPT, OTHER) for seed in range(4)]
    alone = texts(draw(sampler_of(url), asked, max_new_tokens=5))
    with llama_server(gguf) as (second, process):
        finished: list[int] = []

        def kill_in_the_middle(count: int) -> None:
            finished.append(count)
            if len(finished) == 3:
                process.kill()

        sampler = sampler_of(url, second)
        done = draw(sampler, asked, max_new_tokens=5, advance=kill_in_the_middle)
    assert texts(done) == alone
    assert caplog.text.count(f"{second} did not answer in 3 tries") == 1
    assert len(finished) == 8
