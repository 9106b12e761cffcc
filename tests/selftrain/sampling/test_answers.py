"""What a server answers, as a completion; what lacks something is none."""

import json

import pytest

from selftrain.sampling import Completion, FinishReason
from selftrain.sampling.server.answers import completion_of, read_answer
from selftrain.sampling.server.retry import HalfAnswer


def read_completion(body: bytes) -> Completion:
    found = read_answer(body, 1)
    return completion_of(found.choices[0], found.choices[0].text, found.completion_tokens or 0)


def answer(text: str = "x", reason: str = "stop", logprobs: object = None) -> bytes:
    choice = {"text": text, "finish_reason": reason, "logprobs": logprobs}
    return json.dumps({"choices": [choice], "usage": {"completion_tokens": 9}}).encode()


@pytest.mark.parametrize(
    ("text", "theirs", "ours"),
    [
        ("x: int):\n    return x", "stop", FinishReason.STOP),
        ("x: int):\n    return x", "length", FinishReason.LENGTH),
        ("x: int):\n    return x\n\nprint(1)", "length", FinishReason.STOP),
        ("x: int):", "content_filter", FinishReason.CONTENT_FILTER),
    ],
)
def test_a_finish_reason_says_whether_the_definition_ended(
    text: str, theirs: str, ours: FinishReason
) -> None:
    assert read_completion(answer(text, theirs)) == Completion(text, ours, 9, None)


@pytest.mark.parametrize("missing", ["null", "NaN", "-Infinity"])
def test_one_missing_log_probability_leaves_no_sum(missing: str) -> None:
    body = answer(logprobs={"token_logprobs": [-1.0, 0]}).replace(b", 0]", f", {missing}]".encode())
    assert read_completion(body).sum_logprob is None


@pytest.mark.parametrize("form", ["token_logprobs", "content"])
def test_a_text_that_ended_at_once_has_a_log_probability_of_zero(form: str) -> None:
    assert read_completion(answer("", logprobs={form: []})).sum_logprob == 0.0


@pytest.mark.parametrize(("text", "logprobs"), [("x", {"token_logprobs": []}), ("", {}), ("", {"content": None})])  # fmt: skip
def test_log_probabilities_of_no_token_are_not_taken_for_those_of_a_text(
    text: str, logprobs: object
) -> None:
    assert read_completion(answer(text, logprobs=logprobs)).sum_logprob is None


def test_half_a_surrogate_pair_is_text() -> None:
    assert read_completion(answer("'\ud83d")).text == "'\ud83d"


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'{"choices": 1}', b'{"choices": [{}, {}]}', b"\xff", answer(reason="")])  # fmt: skip
def test_what_is_no_answer_is_no_completion(body: bytes) -> None:
    with pytest.raises(HalfAnswer):
        read_completion(body)


def test_a_choice_behind_a_gap_is_drawn_again() -> None:
    choices = [{"index": i, "text": str(i), "finish_reason": "stop"} for i in (2, 0)]
    found = read_answer(json.dumps({"choices": choices}).encode(), 3)
    assert [one.text for one in found.choices] == ["0"]


def test_choices_come_in_the_order_of_their_seeds() -> None:
    choices = [{"index": i, "text": str(i), "finish_reason": "stop"} for i in (1, 2, 0)]
    found = read_answer(json.dumps({"choices": choices}).encode(), 3)
    assert [one.text for one in found.choices] == ["0", "1", "2"]
