"""A chat as sampler: what it is told, and which part of its reply goes on with the prompt."""

import json
from typing import Any

import pytest
from scripted import ScriptedSampler
from served import REQUESTS, connected, draw, serving

from puzzles.cut import cut_puzzle, cut_solution
from selftrain.sampling import FinishReason, Request
from selftrain.sampling.server.answers import completion_of, read_answer
from selftrain.sampling.server.chat import INSTRUCTION, MORE_TOKENS, continuation

PROPOSE = "def f1(x: int):\n    return x > 3\n\ndef f2(x: str):\n    return x == 'a'\n\ndef f3("
SOLVE = "from typing import List\n\ndef f1(x: int, a=17):\n    return x == a\n\ndef g1(a=17):\n    return a\n\nassert f1(g1())\n\ndef f2(x: int, b=(1, 2)):\n    return x == b[0]\n\ndef g2(b=(1, 2)):"
F = "def f(x: int):\n    return x % 7 == 3"
G = "def g(b=(1, 2)):\n    return b[0]"


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.parametrize(
    "reply",
    [
        "x: int):\n    return x % 7 == 3",
        "x: int):\n    return x % 7 == 3\n\nassert f3(3)\n",
        "def f3(x: int):\n    return x % 7 == 3",
        "def f(x: int):\n    return x % 7 == 3",
        "```python\ndef f3(x: int):\n    return x % 7 == 3\n```",
        "```\ndef f3(x: int):\n    return x % 7 == 3\n```\nIt is 3 modulo 7.",
        "Sure! Here is it:\n\n```python\nfrom typing import List\n\ndef f3(x: int):\n    return x % 7 == 3\n```\n\nIt is.",
        f"```python\n{PROPOSE}x: int):\n    return x % 7 == 3\n\ndef f4(x: int):\n    return True\n```",
        "```python\nx: int):\n    return x % 7 == 3\n```",
        "  def f3(x: int):\n    return x % 7 == 3",
    ],
)
def test_a_puzzle_is_cut_from_a_reply_however_it_is_dressed(reply: str) -> None:
    assert cut_puzzle("def f3(" + continuation(PROPOSE, reply)) == F


@pytest.mark.parametrize(
    "reply",
    [
        "\n    return b[0]",
        "    return b[0]",
        "def g2(b=(1, 2)):\n    return b[0]",
        "def g(b=(1, 2)):\n    return b[0]",
        "def g2(b: tuple[int, int] = (1, 2)) -> int:\n    return b[0]",
        "def g2(\n    b=(1, 2),\n):\n    return b[0]\n",
        "```python\ndef g2(b=(1, 2)):\n    return b[0]\n\nassert f2(g2())\n```\nDone.",
        f"```python\n{SOLVE}\n    return b[0]\n```",
        "```python\n    return b[0]\n```",
    ],
)
def test_a_solution_is_cut_from_a_reply_however_it_is_dressed(reply: str) -> None:
    assert cut_solution("def g2(b=(1, 2)):", continuation(SOLVE, reply)) == G


def test_what_goes_on_with_the_prompt_is_not_touched() -> None:
    rest = "x: int):\n    return x == '```'  \n\n```\n\nThat's it  \n"
    assert continuation(PROPOSE, f"Well:\n```py\ndef f3({rest}") == rest
    assert continuation(PROPOSE, rest) == rest


def test_a_docstring_that_is_repeated_stays_an_expression() -> None:
    prompt = 'def add(a, b):\n    """Add."""\n'
    reply = '```python\ndef add(a, b):\n    """Add."""\n    return a + b\n```'
    assert continuation(prompt, reply) == '\n    """Add."""\n    return a + b\n```'


def test_a_chat_is_told_to_go_on_and_asked_without_stop_sequences() -> None:
    with serving(ScriptedSampler()) as served:
        draw(connected(served, api="chat"), [Request("def f(", 7)])
    (body,) = served.asked
    assert body["messages"] == [{"role": "user", "content": INSTRUCTION + "def f("}]
    assert (body["max_tokens"], body["temperature"], body["n"]) == (50 + MORE_TOKENS, 0.9, 1)
    assert (body["seed"], body["logprobs"], body["top_p"], body["top_k"]) == (8, True, 1.0, -1)
    assert "stop" not in body and "prompt" not in body


def test_a_chat_server_of_openai_is_asked_nothing_beyond_its_protocol() -> None:
    with serving(ScriptedSampler(), kind="openai") as served:
        draw(connected(served, api="chat"), REQUESTS[:1])
    assert set(served.asked[0]) == {
        "model", "messages", "max_tokens", "temperature", "top_p", "seed", "n", "logprobs",
    }  # fmt: skip


def test_a_dressed_reply_gives_the_text_of_a_plain_one() -> None:
    def dress(text: str) -> str:
        return f"Sure:\n```python\ndef f({text}"

    with serving(ScriptedSampler()) as plain, serving(ScriptedSampler(), reply=dress) as dressed:
        assert draw(connected(dressed, api="chat")) == draw(connected(plain, api="chat"))


def test_tokens_of_a_reply_are_those_with_log_probabilities() -> None:
    with serving(ScriptedSampler()) as served:
        (done,) = draw(connected(served, api="chat"), REQUESTS[:1])
    assert done.num_tokens == 2
    assert done.sum_logprob is not None and done.sum_logprob < -1


def test_several_replies_in_one_request_have_seeds_of_their_own() -> None:
    with serving(ScriptedSampler()) as served:
        together = draw(connected(served, api="chat", samples_per_request=6))
        one_by_one = draw(connected(served, api="chat"), [Request("def f(", s) for s in range(6)])
    assert together == one_by_one
    assert [body["n"] for body in served.asked] == [6, 1, 1, 1, 1, 1, 1]


def reply_of(message: dict[str, Any], reason: str = "stop") -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": reason}]}).encode()


@pytest.mark.parametrize("message", [{"content": None}, {"content": None, "refusal": "No."}, {}])
def test_a_reply_without_text_is_an_empty_completion(message: dict[str, Any]) -> None:
    (choice,) = read_answer(reply_of(message), 1, chat=True).choices
    assert choice.text == ""


def test_a_reply_that_was_cut_behind_the_definition_has_stopped() -> None:
    reply = "def f3(x: int):\n    return x\n\nprint("
    (choice,) = read_answer(reply_of({"content": reply}, "length"), 1, chat=True).choices
    whole = completion_of(choice, continuation(PROPOSE, reply), 9)
    assert whole.finish_reason is FinishReason.STOP
    cut = completion_of(choice, continuation(PROPOSE, "def f3(x: int):\n    return"), 9)
    assert cut.finish_reason is FinishReason.LENGTH


def test_a_chat_leaves_room_for_what_stands_around_a_prompt() -> None:
    with serving(ScriptedSampler(), max_model_len=700) as served:
        context = connected(served).context_tokens - connected(served, api="chat").context_tokens
        around = connected(served).count_tokens([INSTRUCTION])[0]
    assert context > around + MORE_TOKENS
