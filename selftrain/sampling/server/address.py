"""One address of an OpenAI-compatible server: how it is asked, and what it was found to refuse.

What a request holds is in asking.py, how a failure is borne with in retry.py, who asks which
address in fleet.py.
"""

import logging
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

from httpx2 import Response
from openai import APIStatusError, NotFoundError, OpenAI, RequestOptions

from selftrain.errors import UsageError
from selftrain.sampling.completion import Completion
from selftrain.sampling.server.answers import (
    Answer,
    Card,
    Choice,
    completion_of,
    estimate,
    read_answer,
    read_cards,
    read_count,
    withheld,
)
from selftrain.sampling.server.asking import (
    DIALECTS,
    Dialect,
    Drawing,
    body,
    refused_settings,
    says_too_long,
    says_withheld,
    schema_of,
    without,
)
from selftrain.sampling.server.retry import NoAnswer, Server, ask, masked_body, refused
from selftrain.sampling.spending import Bill, Prices, priced

NOT_WRITTEN_TWICE = "# 48 random letters: "
"""What is gone on with to see whether a server draws several completions or one, repeated."""
REACH_SECONDS = 10.0
"""Longest wait of `Address.reach` for each answer, none of which is more than a list."""

_LOG = logging.getLogger(__name__)


class TooLong(Exception):
    """A server found prompt and new tokens longer than it reads."""


class Address:
    """A model at one address."""

    def __init__(
        self, client: OpenAI, server: Server, name: str, *, most_choices: int, prices: Prices
    ) -> None:
        self.server = server
        self.is_dead = False
        """Whether it was given up; it is asked again before the next shard."""
        self.tokenizes = False
        """Whether it counts tokens, once it was reached."""
        self.context_tokens: int | None = None
        """What it told of its context, once it was reached."""
        self.bill = Bill()
        self._client = client
        self._name = name
        self._prices = prices
        self._dialect: Dialect | None = None
        self._most_choices = most_choices
        """Completions it is asked for in one request, fewer once it refused more."""
        self._spared: set[str] = set()
        self._draws_several: bool | None = None
        """Whether several completions of one request differ; None before that was in doubt."""

    def reach(self, *, again: bool = False) -> None:
        """Find the model in the server's list, and what the server can; `again` in one try each.

        Raises UsageError where the model is not there or the key is refused, RunError where nobody
        answers.
        """
        # Not with all patience: an address with a typing error should be told of soon.
        patience = self.server.patience
        soon = replace(
            patience,
            num_tries=1 if again else min(3, patience.num_tries),
            num_limited_tries=1 if again else patience.num_limited_tries,
            num_hung_tries=1,
            timeout_seconds=min(REACH_SECONDS, patience.timeout_seconds),
        )
        server = replace(self.server, patience=soon)
        card = self._card(server)
        self.context_tokens = card.context_tokens
        self._dialect = DIALECTS.get(card.owned_by)
        self.tokenizes = self._dialect is not None and self._counts(server)
        self.is_dead = False

    def count(self, text: str, stopped: Event, *, special: bool = True) -> int:
        """Count the tokens of a text, with those that begin a text where `special`."""
        return self._count(text, self.server, stopped, special=special)

    def _count(self, text: str, server: Server, stopped: Event, *, special: bool) -> int:
        assert self._dialect is not None
        url = self.server.address.rstrip("/").removesuffix("/v1") + "/tokenize"
        asked = {
            "model": self._name,
            self._dialect.text_key: text,
            # Of llama.cpp, and of vLLM; each has the other default.
            "add_special": special,
            "add_special_tokens": special,
        }
        return ask(lambda: read_count(self._post(url, asked, server)), server, stopped)

    def draw(
        self, prompt: str, size: int, num: int, seed: int, how: Drawing, stopped: Event
    ) -> list[Completion]:
        """Draw `num` completions of a prompt of `size` tokens, with seeds from `seed` on.

        A server that refuses so many, or gives fewer, is asked again for the rest. Raises TooLong,
        UsageError, or RunError where the server fails for good.
        """
        drawn: list[Completion] = []
        while len(drawn) < num:
            more = num - len(drawn)
            some = self._ask(prompt, size, more, seed + len(drawn), how, stopped)
            if len(some) > 1 and how.temperature > 0 and self._repeats(some, how, stopped):
                some = some[:1]
            drawn += some
        return drawn

    def _ask(
        self, prompt: str, size: int, num: int, seed: int, how: Drawing, stopped: Event
    ) -> list[Completion]:
        """Ask for at most `num` completions, with less or for fewer where that is refused.

        All that come are on the bill, whatever becomes of them.
        """
        answer = None
        while answer is None:
            most = min(num, self._most_choices)
            whole = body(how, self._name, prompt, most, seed) | schema_of(how, self._dialect)
            asked = without(whole, self._spared)
            answer = ask(partial(self._once, how, asked), self.server, stopped)
        count = answer.completion_tokens if most == 1 else None
        some = [self._completion(prompt, one, count, how, stopped) for one in answer.choices]
        self._charge(answer, size, sum(one.num_tokens for one in some))
        return some

    def _once(self, how: Drawing, asked: dict[str, Any]) -> Answer | None:
        """Send a request; None where it was refused and something was learnt from that."""
        unwarped = self._dialect.unwarped if self._dialect else {}
        try:
            answer = self._post(how.path, asked | dict(unwarped), self.server)
        except APIStatusError as error:
            if says_too_long(error):
                raise TooLong from None
            if says_withheld(error):
                return withheld(asked["n"])
            if refused(error) and (self._spare(error, asked) or self._ask_for_fewer(asked["n"])):
                return None
            raise
        return read_answer(answer, asked["n"], chat=how.api == "chat")

    def _spare(self, error: APIStatusError, asked: dict[str, Any]) -> bool:
        """Leave out from now on what a refusal names; tell whether it names anything."""
        named = refused_settings(error, asked)
        if named - self._spared:
            self._spared |= named
            self._warn(f"does not take {' and '.join(sorted(named))}, and is asked without")
        return bool(named)

    def _ask_for_fewer(self, num: int) -> bool:
        self._most_choices = min(self._most_choices, max(1, num // 2))
        return num > 1

    def _repeats(self, drawn: list[Completion], how: Drawing, stopped: Event) -> bool:
        """Tell whether a server gives one completion several times, as some do.

        Where all are equal, it is asked once for two that cannot be equal by chance.
        """
        if self._draws_several is None and len({one.text for one in drawn}) == 1:
            hot = replace(how, temperature=1.0, max_new_tokens=32)
            size = estimate(NOT_WRITTEN_TWICE)
            two = self._ask(NOT_WRITTEN_TWICE, size, 2, 1, hot, stopped)
            self._draws_several = len({one.text for one in two}) == len(two)
            if not self._draws_several:
                self._most_choices = 1
                self._warn(
                    "repeats one completion where several are asked for; it is asked for one"
                )
        return self._draws_several is False

    def _completion(
        self, prompt: str, choice: Choice, count: int | None, how: Drawing, stopped: Event
    ) -> Completion:
        """Make the record; tokens are those with log-probabilities, else counted, else guessed."""
        text = how.part(prompt, choice.text)
        if choice.logprobs is not None or count is not None:
            num_tokens = count or 0
        elif self.tokenizes:
            num_tokens = self.count(choice.text, stopped, special=False)
        else:
            num_tokens = estimate(choice.text)
        return completion_of(choice, text, num_tokens, is_message=how.message is not None)

    def _charge(self, answer: Answer, size: int, num_tokens: int) -> None:
        prompt = size if answer.prompt_tokens is None else answer.prompt_tokens
        # llama.cpp counts one completion of several.
        completions = max(answer.completion_tokens or 0, num_tokens)
        self.bill.charge(priced(1, prompt, completions, self._prices))

    def _post(self, path: str, asked: dict[str, Any], server: Server) -> bytes:
        patient: RequestOptions = {"timeout": server.patience.timeout}
        answer = self._client.post(path, cast_to=Response, body=asked, options=patient)
        return masked_body(answer.content, server.key)

    def _card(self, server: Server) -> Card:
        """Find the model in the list; a server without a list is taken at its user's word."""

        def call() -> tuple[Card, ...]:
            try:
                asked = self._client.models.with_raw_response
                listed = asked.list(timeout=server.patience.timeout)
                return read_cards(masked_body(listed.content, server.key))
            except NotFoundError:
                return ()

        cards = ask(call, server, Event())
        if not cards:
            return Card(id=self._name)
        for card in cards:
            if card.id == self._name:
                return card
        names = ", ".join(card.id for card in cards[:5]) + (", ..." if len(cards) > 5 else "")
        raise UsageError(
            f"model.name: {server.address} serves no {self._name!r}. It serves {names}."
        )

    def _counts(self, server: Server) -> bool:
        """Ask whether it counts tokens; a proxy may let through the protocol alone."""
        try:
            self._count("x", server, Event(), special=True)
        except UsageError:
            return False
        except NoAnswer as error:
            if not error.answers_wrongly:
                raise
            return False
        return True

    def _warn(self, what: str) -> None:
        _LOG.warning("%s %s.", self.server.address, what)
