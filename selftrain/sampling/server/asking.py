"""What a request for completions holds: OpenAI's protocol, and what kinds of servers add to it.

A chat is another body of the same request; what it is told stands in chat.py. One that asks for
something else than text (a JSON schema) would be another body here. Nothing is sent.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from openai import APIStatusError

from selftrain.sampling.server import chat

STOP = ("\ndef", "\nassert", "\n#", "\nclass")
"""Where a definition most often ends; OpenAI takes four at most. puzzles/cut.py finds the rest. A
chat is asked with none: its reply may begin with what would end it."""
SPARED = ("max_tokens", "logprobs", "seed", "stop", "top_p")
"""What a server may refuse and be asked without: `max_tokens` has a newer name, `top_p` is sent as
1, which changes nothing, and without `seed` no text can be drawn again."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a kind of server understands beyond OpenAI's protocol."""

    unwarped: Mapping[str, float]
    """Settings without which it would sample by a default of its own, or of the model's makers."""
    text_key: str
    """What /tokenize calls the text."""


DIALECTS = {
    "vllm": Dialect({"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}, "prompt"),
    "sglang": Dialect({"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}, "prompt"),
    "llamacpp": Dialect({"top_k": -1, "min_p": 0.0, "repeat_penalty": 1.0}, "content"),
}
"""By `owned_by` in the server's list of models; others may know OpenAI's protocol alone."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How all completions of one call are drawn."""

    api: Literal["completions", "chat"]
    temperature: float
    max_new_tokens: int

    @property
    def path(self) -> str:
        """Give the endpoint, below the base URL."""
        return "/chat/completions" if self.api == "chat" else "/completions"


def body(how: Drawing, model: str, prompt: str, num: int, seed: int) -> dict[str, Any]:
    """Write a request for `num` completions of one prompt in OpenAI's protocol."""
    asked: dict[str, Any] = {"model": model}
    if how.api == "chat":
        asked["messages"] = [{"role": "user", "content": chat.message(prompt)}]
        asked["max_tokens"] = how.max_new_tokens + chat.MORE_TOKENS
    else:
        asked["prompt"] = prompt
        asked["max_tokens"] = how.max_new_tokens
        asked["stop"] = list(STOP)
    return asked | {
        "temperature": how.temperature,
        "top_p": 1.0,
        "seed": seed,
        "n": num,
        "logprobs": True if how.api == "chat" else 1,
    }


def without(asked: dict[str, Any], spared: set[str]) -> dict[str, Any]:
    """Leave out of a body what a server does not take."""
    kept = {key: value for key, value in asked.items() if key not in spared}
    if "max_tokens" in spared:
        kept["max_completion_tokens"] = asked["max_tokens"]
    return kept


def refused_settings(error: APIStatusError, asked: Mapping[str, Any]) -> set[str]:
    """Find what a refusal names of a request's settings that can be left out."""
    return {
        name
        for name in SPARED
        if name in asked
        and (error.param == name or re.search(f"['\"`]{name}['\"`]", str(error.body)))
    }


def says_too_long(error: APIStatusError) -> bool:
    """Tell whether a server refused a prompt as longer than it reads; each says so otherwise."""
    said = f"{error.code} {error.type} {error.body}"
    return error.status_code in (400, 413, 422) and bool(
        re.search(r"context[ _](length|size)", said)
    )
