"""What a request for completions holds: OpenAI's protocol, and what kinds of servers add to it.

A chat is another body of the same request; what it is told stands in chat.py. A message is sent as
it is, without stop sequences, and with the JSON schema that its answer should follow. Nothing is
sent here.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from openai import APIStatusError

from selftrain.sampling.completion import Message
from selftrain.sampling.server import chat
from selftrain.sampling.server.retry import refused

STOP = ("\ndef", "\nassert", "\n#", "\nclass")
"""Where a definition most often ends; OpenAI takes four at most. puzzles/cut.py finds the rest. A
chat is asked with none: its reply may begin with what would end it."""
SPARED = ("max_tokens", "logprobs", "seed", "stop", "top_p")
"""What a server may refuse and be asked without: `max_tokens` has a newer name, `top_p` is sent as
1, which changes nothing, and without `seed` no text can be drawn again."""
SCHEMA = ("response_format", "json_schema")
"""The same, of the setting that holds a JSON schema: a reply may break it anyhow."""
_OF_SCHEMA = re.compile(r"response_format|json[_ ]schema|structured[_ ]output|guided", re.I)
"""What a refusal of a schema speaks of: it need not name the setting."""
_WITHHELD = ("content_filter", "content_policy_violation")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a kind of server understands beyond OpenAI's protocol."""

    unwarped: Mapping[str, float]
    """Settings without which it would sample by a default of its own, or of the model's makers."""
    text_key: str
    """What /tokenize calls the text."""
    has_schema_key: bool = False
    """Whether /completions wants a schema as `json_schema`, and passes over `response_format`."""


DIALECTS = {
    "vllm": Dialect({"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}, "prompt"),
    "sglang": Dialect({"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}, "prompt"),
    "llamacpp": Dialect({"top_k": -1, "min_p": 0.0, "repeat_penalty": 1.0}, "content", True),
}
"""By `owned_by` in the server's list of models; others may know OpenAI's protocol alone."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """How completions are drawn."""

    api: Literal["completions", "chat"]
    temperature: float
    max_new_tokens: int
    message: Message | None = None
    """As in `Request`."""

    @property
    def path(self) -> str:
        """Give the endpoint, below the base URL."""
        return "/chat/completions" if self.api == "chat" else "/completions"

    def part(self, prompt: str, reply: str) -> str:
        """Give the part of a reply that answers a prompt: a message's is all of it."""
        goes_on = self.api == "chat" and self.message is None
        return chat.continuation(prompt, reply) if goes_on else reply


def body(how: Drawing, model: str, prompt: str, num: int, seed: int) -> dict[str, Any]:
    """Write a request for `num` completions of one prompt in OpenAI's protocol."""
    asked: dict[str, Any] = {"model": model, "max_tokens": how.max_new_tokens}
    if how.message is not None:
        one = {"role": "user", "content": prompt}
        asked |= {"messages": [one]} if how.api == "chat" else {"prompt": prompt}
    elif how.api == "chat":
        asked["messages"] = [{"role": "user", "content": chat.message(prompt)}]
        asked["max_tokens"] += chat.MORE_TOKENS
    else:
        asked |= {"prompt": prompt, "stop": list(STOP)}
    return asked | {
        "temperature": how.temperature,
        "top_p": 1.0,
        "seed": seed,
        "n": num,
        "logprobs": True if how.api == "chat" else 1,
    }


def schema_of(how: Drawing, dialect: Dialect | None) -> dict[str, Any]:
    """Write the setting that asks for an answer by JSON schema, where there is to be one."""
    if how.message is None or how.message.schema is None:
        return {}
    schema = json.loads(how.message.schema)
    if how.api == "completions" and dialect is not None and dialect.has_schema_key:
        return {"json_schema": schema}
    named = {"name": "reply", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def without(asked: dict[str, Any], spared: set[str]) -> dict[str, Any]:
    """Leave out of a body what a server does not take."""
    kept = {key: value for key, value in asked.items() if key not in spared}
    if "max_tokens" in spared:
        kept["max_completion_tokens"] = asked["max_tokens"]
    return kept


def refused_settings(error: APIStatusError, asked: Mapping[str, Any]) -> set[str]:
    """Find what a refusal names of a request's settings that can be left out."""
    said = str(error.body)
    named = {
        name
        for name in SPARED
        if name in asked and (error.param == name or re.search(f"['\"`]{name}['\"`]", said))
    }
    schemas = {name for name in SCHEMA if name in asked}
    return named | schemas if _OF_SCHEMA.search(f"{error.param} {said}") else named


def says_withheld(error: APIStatusError) -> bool:
    """Tell whether a server will not answer what a prompt holds, which is an answer, too."""
    return refused(error) and (error.code in _WITHHELD or error.type in _WITHHELD)


def says_too_long(error: APIStatusError) -> bool:
    """Tell whether a server refused a prompt as longer than it reads; each says so otherwise."""
    said = f"{error.code} {error.type} {error.body}"
    return error.status_code in (400, 413, 422) and bool(
        re.search(r"context[ _](length|size)", said)
    )
