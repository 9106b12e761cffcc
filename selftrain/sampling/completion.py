"""What a sampler is asked, what it answers, and the Protocol that all samplers keep.

Nothing is drawn here; that is done in local/, by a server in server/, by vLLM in vllm.py.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

_COLUMN_ZERO = re.compile(r"\n\S")


class FinishReason(StrEnum):
    """Why a completion ends."""

    STOP = "stop"
    """The definition ended (a line began in column 0), or the model said that the text ends."""
    LENGTH = "length"
    """`max_new_tokens` were drawn."""
    CONTENT_FILTER = "content_filter"
    """A server withheld the rest."""
    PROMPT_TOO_LONG = "prompt_too_long"
    """The prompt leaves no room for `max_new_tokens`; nothing was drawn."""


@dataclass(frozen=True, slots=True)
class Message:
    """Says that a prompt is a message to be answered, not a definition to go on with.

    The prompt goes through the model's chat template where there is one, and the answer ends where
    the model ends it. A chat server is asked for the message as it is.
    """

    schema: str | None = None
    """JSON schema that the answer should follow, as text. It is asked for where a server can; a
    reply may break it all the same."""


@dataclass(frozen=True, slots=True)
class Request:
    """One completion to draw."""

    prompt: str
    """Text to go on from; a prompt that many requests share is read once."""
    seed: int
    """All that the draw depends on besides prompt, model and settings, 0 to 2^63 - 1."""
    message: Message | None = None
    """Set where the prompt is a message; None where it is a definition that breaks off."""


@dataclass(frozen=True, slots=True)
class Completion:
    """Raw model text, never edited."""

    text: str
    """What was drawn, with the token that crossed the definition's end, without end-of-text.

    Servers and vLLM end it before a stop sequence instead.
    """
    finish_reason: FinishReason
    """Why it ends."""
    num_tokens: int
    """Tokens drawn, an end-of-text token among them; of a server, those it tells of."""
    sum_logprob: float | None
    """Sum of these tokens' log-probabilities in nats, at temperature 1, unwarped; None where a
    server tells none."""


TOO_LONG = Completion("", FinishReason.PROMPT_TOO_LONG, 0, 0.0)
"""What is answered for a prompt that leaves no room."""


def ran_past(text: str) -> bool:
    """Tell whether a completion goes on behind its definition: a line begins in column 0."""
    return _COLUMN_ZERO.search(text) is not None


Tell = Callable[[int, Completion], object]
"""Is told a completion and the place of its request."""


def ignore(place: int, completion: Completion) -> None:
    """Take no note of a completion."""


class Sampler(Protocol):
    """Draws completions; a real model, a server, or a script in a test."""

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
        tell: Tell = ignore,
    ) -> list[Completion]:
        """Draw one completion a request, in the order of the requests.

        Temperature 0 takes the likeliest token. `advance` is told how many completions were just
        finished, `tell` the place and the completion of each, once, as soon as it is final. It may
        be called in another thread, never in two at a time.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, as the model reads it."""
        ...

    @property
    def context_tokens(self) -> int:
        """Give how many tokens prompt and completion may have together."""
        ...
