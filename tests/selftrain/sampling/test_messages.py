"""Messages to a server: what it is asked, what is made of its reply, and of what it refuses."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from scripted import ScriptedSampler
from served import connected, draw, serving, texts

from selftrain.errors import UsageError
from selftrain.sampling import Completion, FinishReason, Request
from selftrain.sampling.completion import Message

SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["pass", "fail"]}}}
IN_JSON = Message(json.dumps(SCHEMA))
RESPONSE_FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
}
REPLY = "Well:\n```python\ndef f(x):\n    return 1\n\nassert f(2)\n```\nDone.\n"


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


class Replying(ScriptedSampler):
    """Gives one reply to everything."""

    def __init__(self, reason: FinishReason = FinishReason.STOP) -> None:
        super().__init__()
        self.reason = reason

    def sample(self, requests: Sequence[Request], **how: Any) -> list[Completion]:
        return [Completion(REPLY, self.reason, 9, -1.0) for _ in requests]


def review(*seeds: int, message: Message = Message()) -> list[Request]:  # noqa: B008
    return [Request("Review def f(", seed, message) for seed in seeds or (7,)]


def test_a_chat_is_sent_a_message_as_it_is() -> None:
    with serving(ScriptedSampler()) as served:
        draw(connected(served, api="chat"), review())
    (body,) = served.asked
    assert body["messages"] == [{"role": "user", "content": "Review def f("}]
    assert body["max_tokens"] == 50
    assert not body.keys() & {"stop", "prompt", "response_format", "json_schema"}


def test_a_message_is_a_prompt_without_stop_sequences_where_there_is_no_chat() -> None:
    with serving(ScriptedSampler()) as served:
        draw(connected(served), [*review(), Request("def f(", 7)])
    message, plain = sorted(served.asked, key=lambda body: body["prompt"])
    assert (message["prompt"], message["max_tokens"]) == ("Review def f(", 50)
    assert "stop" not in message and "stop" in plain


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_a_reply_to_a_message_is_kept_whole(api: str) -> None:
    with serving(Replying()) as served:
        asked = [*review(), Request("Review def f(", 7)]
        whole, part = draw(connected(served, api=api), asked)
    assert whole.text == REPLY
    # The same prompt as a definition is gone on with: a part of the reply.
    assert part.text != REPLY and part.text in REPLY


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_a_reply_that_was_cut_says_so_whatever_stands_in_column_0(api: str) -> None:
    with serving(Replying(FinishReason.LENGTH)) as served:
        (cut,) = draw(connected(served, api=api), review())
    assert (cut.text, cut.finish_reason) == (REPLY, FinishReason.LENGTH)


@pytest.mark.parametrize(
    ("kind", "api", "setting"),
    [
        ("vllm", "chat", {"response_format": RESPONSE_FORMAT}),
        ("vllm", "completions", {"response_format": RESPONSE_FORMAT}),
        ("openai", "chat", {"response_format": RESPONSE_FORMAT}),
        ("llamacpp", "chat", {"response_format": RESPONSE_FORMAT}),
        ("llamacpp", "completions", {"json_schema": SCHEMA}),
    ],
)
def test_a_schema_is_asked_for_as_each_server_understands_it(
    kind: str, api: str, setting: dict[str, Any]
) -> None:
    with serving(ScriptedSampler(), kind=kind) as served:
        draw(connected(served, api=api), review(message=IN_JSON))
    (body,) = served.asked
    found = {key: body[key] for key in ("response_format", "json_schema") if key in body}
    assert found == setting


@pytest.mark.parametrize(
    ("kind", "setting", "said", "names_param"),
    [
        ("openai", "response_format", "Invalid parameter.", True),
        ("openai", "response_format", "'response_format' of type 'json_schema' is not supported", False),
        ("openai", "response_format", "This response_format type is unavailable now", False),
        ("vllm", "response_format", "guided decoding is off", False),
        ("llamacpp", "json_schema", "JSON schema error at #/properties/a: unrecognized", False),
    ],
)  # fmt: skip
def test_a_server_that_refuses_a_schema_is_asked_without_and_that_is_said_once(
    kind: str, setting: str, said: str, names_param: bool, caplog: pytest.LogCaptureFixture
) -> None:
    refuses = {setting: said}
    with serving(Replying(), kind=kind, refuses=refuses, names_param=names_param) as served:
        done = draw(connected(served, batch_size=1), review(1, 2, 3, message=IN_JSON))
    assert texts(done) == [REPLY] * 3
    assert [setting in body for body in served.asked] == [True, False, False, False]
    assert caplog.text.count(f"does not take {setting}, and is asked without") == 1


def test_a_refusal_that_speaks_of_no_schema_still_ends_the_run() -> None:
    failing = serving(Replying(), failures=["400"] * 9)
    with failing as served, pytest.raises(UsageError, match="refuses what it is asked for"):
        draw(connected(served), review(message=IN_JSON))
    assert len(served.asked) == 1


@pytest.mark.parametrize(
    "beside", [{"refusal": "I will not."}, {"refusal": "I will not.", "content": None}]
)
def test_a_refusal_is_a_completion_that_was_withheld(beside: dict[str, Any]) -> None:
    with serving(Replying(), beside=beside) as served:
        (done,) = draw(connected(served, api="chat"), review())
    assert (done.text, done.finish_reason) == ("", FinishReason.CONTENT_FILTER)


def test_a_reply_that_a_filter_ends_says_so() -> None:
    with serving(Replying(FinishReason.CONTENT_FILTER), beside={"content": None}) as served:
        (done,) = draw(connected(served, api="chat"), review())
    assert (done.text, done.finish_reason) == ("", FinishReason.CONTENT_FILTER)


@pytest.mark.parametrize("failure", ["content_filter", "content_policy_violation"])
@pytest.mark.parametrize("api", ["chat", "completions"])
def test_a_prompt_that_a_filter_refuses_does_not_end_the_run(api: str, failure: str) -> None:
    with serving(Replying(), failures=["", failure]) as served:
        sampler = connected(served, api=api, batch_size=1)
        done = draw(sampler, review(1, 2, 3))
    assert [one.finish_reason for one in done] == ["stop", "content_filter", "stop"]
    assert done[1] == Completion("", FinishReason.CONTENT_FILTER, 0, 0.0)
    assert (len(served.asked), sampler.spent.requests) == (3, 3)


def test_a_definition_that_a_filter_refuses_is_refused_for_all_its_samples() -> None:
    with serving(ScriptedSampler(), failures=["content_filter"]) as served:
        sampler = connected(served, samples_per_request=4)
        done = draw(sampler, [Request("def f(", seed) for seed in range(4)], temperature=0.0)
    assert [one.finish_reason for one in done] == [FinishReason.CONTENT_FILTER] * 4
    assert len(served.asked) == 1


def test_what_a_model_thinks_is_no_part_of_its_reply() -> None:
    with serving(Replying(), beside={"reasoning_content": "Hm. def g(): pass"}) as served:
        (done,) = draw(connected(served, api="chat"), review())
    assert (done.text, done.finish_reason) == (REPLY, FinishReason.STOP)


def test_each_message_is_a_request_of_its_own_with_the_seed_that_a_group_would_have() -> None:
    with serving(ScriptedSampler()) as served:
        sampler = connected(served, samples_per_request=4, batch_size=1)
        draw(sampler, review(0, 1, 2))
        draw(sampler, [Request("def f(", 2)])
    assert [(body["n"], body["seed"]) for body in served.asked] == [(1, 1), (1, 5), (1, 9), (1, 9)]


def test_a_message_has_the_room_that_the_request_to_go_on_would_take() -> None:
    with serving(Replying(), max_model_len=300) as served:
        sampler = connected(served, api="chat")
        long = "x" * 3 * 200
        message, definition = draw(sampler, [Request(long, 1, Message()), Request(long, 1)])
    assert message.text == REPLY
    assert definition.finish_reason is FinishReason.PROMPT_TOO_LONG
    assert len(served.asked) == 1
