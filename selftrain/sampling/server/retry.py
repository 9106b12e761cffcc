"""Ask a server until it answers: which failures pass, how long to wait, what is said in the end.

What is asked, and what an answer must look like, is decided in address.py.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import uniform
from threading import Event
from typing import TypeVar
from urllib.parse import urlsplit

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError, Timeout

from selftrain.errors import RunError, UsageError
from selftrain.sampling.server.pace import Pace

Answer = TypeVar("Answer")
TOO_MANY_REQUESTS = 429
SHORTEST_KEY = 8
"""Characters that a key has at least, to be told from what a text may hold anyway."""


class HalfAnswer(Exception):
    """A server answered, but not with what was asked for; says what is wrong."""


class NoAnswer(RunError):
    """A server was given up; what was asked of it may be asked again."""

    def __init__(self, what: str, *, answers_wrongly: bool = False) -> None:
        super().__init__(
            f"{what}. Nothing was counted as wrong; once it answers again, the same command goes "
            "on."
        )
        self.what = what
        """The address and what happened, without an end."""
        self.answers_wrongly = answers_wrongly
        """Whether somebody is there, whose answers are errors of his own or half."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server is borne with. Waits double with each try, up to a minute."""

    num_tries: int = 7
    """Tries of a request that fails; the waits between them are about half a minute."""
    num_limited_tries: int = 14
    """Tries of a request that is refused as one too many; the waits are about seven minutes."""
    num_hung_tries: int = 2
    """Tries of a request that is not answered in time."""
    timeout_seconds: float = 600.0
    """Longest wait for an answer: a server may let it queue behind many others."""
    first_wait_seconds: float = 0.5
    """Wait after the first failure."""
    most_wait_seconds: float = 300.0
    """Longest wait that a server may ask for; one that asks for more is given up."""

    @property
    def timeout(self) -> Timeout:
        """Give the wait for an answer, and a shorter one for a connection."""
        return Timeout(self.timeout_seconds, connect=min(10.0, self.timeout_seconds))


@dataclass(frozen=True, slots=True)
class Server:
    """A server as its user knows it."""

    address: str
    """Base URL, as configured."""
    key_variable: str
    """Environment variable of the key."""
    key: str | None = field(repr=False)
    """The key, kept out of every message; None where the variable is not set."""
    patience: Patience
    pace: Pace
    """When its next request may go out, whichever thread asks."""


def ask(call: Callable[[], Answer], server: Server, stopped: Event) -> Answer:
    """Call until there is an answer, or `stopped` is set; each call waits for its turn.

    A wait that the server asks for holds up all that is asked of it. Raises UsageError where asking
    again cannot help, NoAnswer where it did not.
    """
    num_tries = 0
    while True:
        if not server.pace.wait(stopped):
            raise NoAnswer(f"{server.address} was not asked, since another request failed")
        num_tries += 1
        try:
            return call()
        except (APIError, HalfAnswer) as error:
            seconds = _wait_seconds(error, num_tries, server.patience)
            if seconds is not None:
                server.pace.pause(_retry_after(error))
            if seconds is None or stopped.wait(seconds):
                raise _last_word(error, num_tries, server) from None


def _wait_seconds(error: APIError | HalfAnswer, num_tries: int, patience: Patience) -> float | None:
    """Say how long to wait before the next try; None where there is to be none."""
    most = patience.num_tries
    if isinstance(error, APITimeoutError):
        most = patience.num_hung_tries
    elif _status(error) == TOO_MANY_REQUESTS:
        most = patience.num_limited_tries
    if num_tries >= most or not _may_pass(error):
        return None
    asked_for = _retry_after(error)
    if asked_for > patience.most_wait_seconds:
        return None
    # Apart from each other, lest all that failed together return together.
    return asked_for + uniform(0.5, 1.5) * min(
        patience.first_wait_seconds * 2.0 ** (num_tries - 1), 60
    )


def refused(error: APIStatusError) -> bool:
    """Tell whether a server understood a request and will not do it as it stands."""
    return error.status_code in (400, 413, 422, 501)


def _may_pass(error: APIError | HalfAnswer) -> bool:
    status = _status(error)
    if status is None:
        return True
    # OpenAI answers 429 to an account without money, too.
    used_up = isinstance(error, APIError) and error.code == "insufficient_quota"
    passing = status in (408, 409, TOO_MANY_REQUESTS) or (status >= 500 and status != 501)
    return passing and not used_up


def _status(error: APIError | HalfAnswer) -> int | None:
    return error.status_code if isinstance(error, APIStatusError) else None


def _retry_after(error: APIError | HalfAnswer) -> float:
    """Read Retry-After, given in seconds or as a date; 0 where there is none."""
    text = (
        error.response.headers.get("retry-after", "") if isinstance(error, APIStatusError) else ""
    )
    with suppress(ValueError):
        return max(0.0, float(text))
    with suppress(ValueError, TypeError):
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    return 0.0


def _last_word(error: APIError | HalfAnswer, num_tries: int, server: Server) -> Exception:
    said, variable = _said(error, server), server.key_variable
    if _status(error) in (401, 403):
        if server.key is None:
            return UsageError(
                f"{server.address} asks for a key ({said}). "
                f"Put it into the environment variable {variable}."
            )
        return UsageError(
            f"{server.address} refuses the key of the environment variable {variable} ({said})."
        )
    if not _may_pass(error) and _status(error) != TOO_MANY_REQUESTS:
        return UsageError(f"{server.address} refuses what it is asked for ({said}).")
    tries = "1 try" if num_tries == 1 else f"{num_tries} tries"
    wrongly = isinstance(error, HalfAnswer) or (_status(error) or 0) >= 500
    if wrongly and urlsplit(server.address).path in ("", "/"):
        said += "; most addresses end in /v1"
    return NoAnswer(f"{server.address} did not answer in {tries} ({said})", answers_wrongly=wrongly)


def _said(error: APIError | HalfAnswer, server: Server) -> str:
    """Give what went wrong in a few words, never with the key."""
    if isinstance(error, APITimeoutError):
        text = (
            f"nothing came in {server.patience.timeout_seconds:g} seconds; try a lower batch_size"
        )
    elif isinstance(error, APIConnectionError):
        text = str(error.__cause__ or error)
    elif isinstance(error, APIStatusError):
        body = error.body
        detail = body.get("message", body) if isinstance(body, dict) else ""
        text = f"{error.status_code} {error.response.reason_phrase}: {detail}".rstrip(": ")
    else:
        text = str(error)
    text = masked(text, server.key)
    return " ".join(text.split())[:300]


def masked(text: str, key: str | None) -> str:
    """Put stars where a text repeats a key, as it is or as Python or JSON write it.

    A key of a few letters is left: it would be found in any text.
    """
    if key is None or len(key) < SHORTEST_KEY:
        return text
    for form in (key, repr(key)[1:-1], json.dumps(key)[1:-1], key.replace("'", "\\'")):
        text = text.replace(form, "***")
    return text


def masked_body(body: bytes, key: str | None) -> bytes:
    """Do the same in an answer before it is read: what it holds goes into files."""
    return masked(body.decode("utf-8", "surrogateescape"), key).encode("utf-8", "surrogateescape")
