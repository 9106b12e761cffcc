"""What an OpenAI-compatible server answers: completions, its list of models, tokens of a text.

Nothing is asked here; that is in address.py. An answer that lacks something is a HalfAnswer here,
never a completion.
"""

import json
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, InstanceOf, ValidationError

from selftrain.sampling.completion import Completion, FinishReason, ran_past
from selftrain.sampling.server.retry import HalfAnswer

CHARACTERS_PER_TOKEN = 3
"""Of code, a low guess, for servers that do not tokenize."""

Record = TypeVar("Record", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Choice:
    """One completion as a server wrote it."""

    text: str
    """All of it: of a chat, the reply."""
    finish_reason: FinishReason
    logprobs: tuple[float, ...] | None
    """Log-probability of each token in nats, none where the text ended at once; None where one is
    missing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request."""

    choices: tuple[Choice, ...]
    """One or more, in the order of their seeds; perhaps fewer than were asked for."""
    prompt_tokens: int | None
    """What the server counted; None where it does not tell."""
    completion_tokens: int | None
    """The same of the completions; llama.cpp counts the first alone."""


def read_answer(body: bytes, num: int, *, chat: bool = False) -> Answer:
    """Read the answer to a request for `num` completions. Raises HalfAnswer where it is not one."""
    answer: _Answer | _ChatAnswer
    answer = _read(_ChatAnswer, body) if chat else _read(_Answer, body)
    found: list[_TextChoice | _ChatChoice] = [*answer.choices]
    if len(found) > num:
        raise HalfAnswer(f"it gave {len(found)} completions where {num} were asked for")
    there = {place if one.index is None else one.index: one for place, one in enumerate(found)}
    choices: list[Choice] = []
    # One behind a gap is drawn again, with the seed that it had here.
    while len(choices) in there:
        choices.append(there[len(choices)].read())
    if not choices:
        raise HalfAnswer("its first completion is missing")
    usage = answer.usage or _Usage()
    return Answer(tuple(choices), usage.prompt_tokens, usage.completion_tokens)


def withheld(num: int) -> Answer:
    """Give what a server said that would not answer: nothing, so often."""
    return Answer((Choice("", FinishReason.CONTENT_FILTER, ()),) * num, 0, 0)


def completion_of(
    choice: Choice, text: str, num_tokens: int, *, is_message: bool = False
) -> Completion:
    """Make the record of a choice. `text` is what answers the prompt: of a chat, a part.

    `num_tokens` counts where the server told no log-probabilities. The answer to a message may hold
    lines in column 0.
    """
    reason = choice.finish_reason
    if reason is FinishReason.LENGTH and not is_message and ran_past(text):
        reason = FinishReason.STOP
    logprobs = choice.logprobs
    return Completion(
        text,
        reason,
        len(logprobs) if logprobs else num_tokens,
        None if logprobs is None else float(sum(logprobs)),
    )


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
    meta: "_Meta | None" = None
    """More about the model, of llama.cpp."""

    @property
    def context_tokens(self) -> int | None:
        """Give how many tokens prompt and completion may have together, where it is told."""
        return self.max_model_len or (self.meta.n_ctx if self.meta else None)


class _Meta(BaseModel):
    n_ctx: int | None = None


class _Token(BaseModel):
    logprob: float | None = None


class _Logprobs(BaseModel):
    token_logprobs: tuple[float | None, ...] | None = None
    content: tuple[_Token, ...] | None = None
    """How llama.cpp long wrote them here, as in a chat."""

    def of_tokens(self) -> list[float] | None:
        """Give those of all tokens; None where none are told, or one is missing or no number."""
        if self.token_logprobs is not None:
            found = list(self.token_logprobs)
        elif self.content is not None:
            found = [token.logprob for token in self.content]
        else:
            return None
        numbers = [one for one in found if one is not None and abs(one) < float("inf")]
        return numbers if len(numbers) == len(found) else None


class _TextChoice(BaseModel):
    index: int | None = None
    text: InstanceOf[str]
    finish_reason: Literal["stop", "length", "content_filter"]
    logprobs: _Logprobs | None = None

    def read(self) -> Choice:
        return _choice(self.text, self.finish_reason, self.logprobs)


class _Message(BaseModel):
    content: InstanceOf[str] | None = None
    """None where a model thought or refused and wrote nothing; its thoughts are no part of it."""
    refusal: str | None = None
    """Why it will not answer, of OpenAI."""


class _ChatChoice(BaseModel):
    index: int | None = None
    message: _Message
    finish_reason: Literal["stop", "length", "content_filter"]
    logprobs: _Logprobs | None = None

    def read(self) -> Choice:
        if self.message.refusal:
            return _choice("", "content_filter", self.logprobs)
        return _choice(self.message.content or "", self.finish_reason, self.logprobs)


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Answer(BaseModel):
    choices: Annotated[tuple[_TextChoice, ...], Field(min_length=1)]
    usage: _Usage | None = None


class _ChatAnswer(BaseModel):
    choices: Annotated[tuple[_ChatChoice, ...], Field(min_length=1)]
    usage: _Usage | None = None


class _Tokenized(BaseModel):
    tokens: tuple[int, ...]


class _Cards(BaseModel):
    data: tuple[Card, ...]


def _choice(text: str, reason: str, logprobs: _Logprobs | None) -> Choice:
    found = logprobs.of_tokens() if logprobs else None
    # None of no tokens: the text ended at once. None of some were not told.
    told = None if found is None or (text and not found) else tuple(found)
    return Choice(text, FinishReason(reason), told)


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
