"""What an OpenAI-compatible server answers: completions, its list of models, tokens of a text.

An answer that lacks something is a HalfAnswer here, never a completion.
"""

import json
import re
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, InstanceOf, ValidationError

from selftrain.sampling.completion import Completion, FinishReason
from selftrain.sampling.retry import HalfAnswer

CHARACTERS_PER_TOKEN = 3
"""Of code, a low guess, for servers that do not tokenize."""
_COLUMN_ZERO = re.compile(r"\n\S")

Record = TypeVar("Record", bound=BaseModel)


def read_completion(body: bytes) -> Completion:
    """Read the answer to a request for one completion. Raises HalfAnswer where it is not one."""
    answer = _read(_Answer, body)
    (choice,) = answer.choices
    logprobs = choice.logprobs.of_tokens() if choice.logprobs else None
    if logprobs:
        num_tokens = len(logprobs)
    else:
        num_tokens = answer.usage.completion_tokens if answer.usage else estimate(choice.text)
    reason = FinishReason(choice.finish_reason)
    if reason is FinishReason.LENGTH and _COLUMN_ZERO.search(choice.text):
        reason = FinishReason.STOP
    return Completion(choice.text, reason, num_tokens, sum(logprobs) if logprobs else None)


def read_cards(body: bytes) -> tuple["Card", ...]:
    """Read the answer to /models. Raises HalfAnswer where it is not one."""
    return _read(_Cards, body).data


def read_count(body: bytes) -> int:
    """Count the tokens in the answer to /tokenize. Raises HalfAnswer where it has none."""
    return len(_read(_Tokenized, body).tokens)


def estimate(text: str) -> int:
    """Guess the tokens of a text from its characters."""
    return len(text) // CHARACTERS_PER_TOKEN + 1


class Card(BaseModel):
    """A model in a server's list."""

    id: str
    owned_by: str = ""
    """The kind of server, of vLLM, SGLang and llama.cpp."""
    max_model_len: int | None = None
    """Tokens that the model reads, of vLLM and SGLang."""


class _Token(BaseModel):
    logprob: float | None = None


class _Logprobs(BaseModel):
    token_logprobs: tuple[float | None, ...] | None = None
    content: tuple[_Token, ...] | None = None
    """How llama.cpp long wrote them here, as in a chat."""

    def of_tokens(self) -> list[float] | None:
        """Give those of all tokens; None where one is missing or no number."""
        if self.token_logprobs is not None:
            found = list(self.token_logprobs)
        else:
            found = [token.logprob for token in self.content or ()]
        numbers = [one for one in found if one is not None and abs(one) < float("inf")]
        return numbers if len(numbers) == len(found) else None


class _Choice(BaseModel):
    text: InstanceOf[str]
    finish_reason: Literal["stop", "length", "content_filter"]
    logprobs: _Logprobs | None = None


class _Usage(BaseModel):
    completion_tokens: int


class _Answer(BaseModel):
    choices: Annotated[tuple[_Choice, ...], Field(min_length=1, max_length=1)]
    usage: _Usage | None = None


class _Tokenized(BaseModel):
    tokens: tuple[int, ...]


class _Cards(BaseModel):
    data: tuple[Card, ...]


def _read(form: type[Record], body: bytes) -> Record:
    try:
        # Not pydantic's own reader: it refuses half a surrogate pair, which a model may write.
        answer = json.loads(body)
    except ValueError as error:
        raise HalfAnswer(f"its answer is no JSON: {error}") from None
    try:
        return form.model_validate(answer)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        raise HalfAnswer(f"its answer is not of the protocol: {place}: {first['msg']}") from None
