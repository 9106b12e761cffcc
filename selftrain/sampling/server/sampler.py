"""Sampling from an OpenAI-compatible server, or several that hold the same model.

What a seed means for several completions of one request, servers disagree on: vLLM and llama.cpp
count it up. So a request's seeds are no other's of the same call, and one that is split draws the
same. Whether a seed gives the same text again is the server's word, not ours. docs/servers.md says
what is promised of which server; the servers are found in connect.py and share the work in
fleet.py.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Literal

from cachetools import LRUCache

from selftrain.errors import UsageError
from selftrain.sampling.completion import TOO_LONG, Completion, Message, Request, Tell, ignore
from selftrain.sampling.server import chat
from selftrain.sampling.server.address import Address, TooLong
from selftrain.sampling.server.answers import estimate
from selftrain.sampling.server.asking import Drawing
from selftrain.sampling.server.fleet import spread
from selftrain.sampling.server.retry import NoAnswer
from selftrain.sampling.spending import Spending, add_up

_MOST_SEEDS = 2**31 - 1

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Together:
    """Requests of one prompt that are drawn together."""

    prompt: str
    places: tuple[int, ...]
    """Which requests these are."""
    seed: int
    """Seed of the first; each other has the next."""
    message: Message | None = None
    """As in `Request`."""


class ServerSampler:
    """Samples from a model that servers hold; made by `connect`."""

    def __init__(
        self,
        addresses: Sequence[Address],
        *,
        api: Literal["completions", "chat"],
        samples_per_request: int,
        concurrency: int,
        context_tokens: int,
    ) -> None:
        self._addresses = addresses
        self._api = api
        self._samples_per_request = samples_per_request
        self._concurrency = concurrency
        self._whole_context = context_tokens
        # The same train puzzles are counted for every prompt.
        self._counts: LRUCache[str, int] = LRUCache(maxsize=10_000)
        self._around = 0
        if api == "chat":
            self._around = self.count_tokens([chat.message("")])[0] + chat.TEMPLATE_TOKENS

    @property
    def context_tokens(self) -> int:
        """Give how many tokens prompt and completion may have together; a chat needs some more."""
        return self._whole_context - self._around - (chat.MORE_TOKENS if self._around else 0)

    @property
    def spent(self) -> Spending:
        """Give what was asked of all addresses so far."""
        return add_up([address.bill.total for address in self._addresses])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text; a third of its characters where a server cannot."""
        if all(address.is_dead for address in self._addresses):
            self._reach_the_dead()
        if not all(address.tokenizes for address in self._addresses if not address.is_dead):
            return [estimate(text) for text in texts]
        known = {text: self._counts[text] for text in texts if text in self._counts}
        new = [text for text in dict.fromkeys(texts) if text not in known]

        def count(address: Address, number: int, stopped: Event) -> int:
            return address.count(new[number], stopped)

        counted = spread(count, new, self._addresses, self._concurrency, lambda *_: None)
        known.update(zip(new, counted, strict=True))
        self._counts.update(known)
        return [known[text] for text in texts]

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
        tell: Tell = ignore,
    ) -> list[Completion]:
        """Draw one completion a request; see `Sampler`. The text ends before a stop sequence.

        The log-probabilities are at temperature 1 where the server's are: those of OpenAI, of
        llama.cpp, and of vLLM from 0.10 on unless it was started with another --logprobs-mode.
        Raises RunError where all servers fail for good, UsageError where one refuses.
        """
        self._reach_the_dead()
        together = group(requests, self._samples_per_request)
        prompts = list(dict.fromkeys(request.prompt for request in requests))
        sizes = dict(zip(prompts, self.count_tokens(prompts), strict=True))
        how = Drawing(self._api, temperature, max_new_tokens)

        def draw(address: Address, number: int, stopped: Event) -> list[Completion]:
            asked = together[number]
            like = replace(how, message=asked.message)
            return self._draw(address, asked, sizes[asked.prompt], like, stopped)

        def heard(number: int, completions: list[Completion]) -> None:
            for place, completion in zip(together[number].places, completions, strict=True):
                tell(place, completion)
            advance(len(completions))

        drawn = spread(
            draw,
            [asked.prompt for asked in together],
            self._addresses,
            self._concurrency,
            heard,
        )
        return _apart(together, drawn)

    def _draw(
        self, address: Address, asked: _Together, size: int, how: Drawing, stopped: Event
    ) -> list[Completion]:
        """Draw what is asked together at one address, where there is room."""
        num = len(asked.places)
        around, room = self._around, self.context_tokens
        if how.message is not None and self._api == "chat":
            around, room = chat.TEMPLATE_TOKENS, self._whole_context - chat.TEMPLATE_TOKENS
        if size + how.max_new_tokens > room:
            return [TOO_LONG] * num
        try:
            return address.draw(asked.prompt, size + around, num, asked.seed, how, stopped)
        except TooLong:
            return [TOO_LONG] * num

    def _reach_the_dead(self) -> None:
        """Take in again who was given up and answers by now. Raises RunError where nobody does."""
        failure: NoAnswer | None = None
        for address in self._addresses:
            if not address.is_dead:
                continue
            try:
                address.reach(again=True)
            except NoAnswer as error:
                failure = error
                continue
            if (address.context_tokens or self._whole_context) < self._whole_context:
                raise UsageError(
                    f"model.server: {address.server.address} answers again, but reads "
                    f"{address.context_tokens} tokens only, and its likes {self._whole_context}. "
                    "Start it as they were started, or leave it out."
                )
            _LOG.warning("%s answers again.", address.server.address)
        if failure is not None and all(address.is_dead for address in self._addresses):
            raise failure


def _apart(together: Sequence[_Together], drawn: Sequence[list[Completion]]) -> list[Completion]:
    """Give the completions in the order of their requests."""
    completions = {
        place: completion
        for asked, some in zip(together, drawn, strict=True)
        for place, completion in zip(asked.places, some, strict=True)
    }
    return [completions[place] for place in range(len(completions))]


def group(requests: Sequence[Request], most: int) -> list[_Together]:
    """Take requests of one prompt together, at most so many, each group with seeds of its own.

    A message stands alone, so that its answer is told of as soon as it is there.
    Seeds of 63 bits are folded to the 31 that every server takes, 1 to 2^31 - 1, and stepped by
    `most`. Two groups of one prompt that would share a seed would draw a sample twice; the later
    takes the next seeds.
    """
    num_steps = _MOST_SEEDS // most
    by_prompt: dict[str, list[int]] = {}
    groups = []
    for place, request in enumerate(requests):
        if request.message is None:
            by_prompt.setdefault(request.prompt, []).append(place)
        else:
            groups.append([place])
    for places in by_prompt.values():
        groups += [places[start : start + most] for start in range(0, len(places), most)]
    taken: dict[tuple[str, int], int] = {}
    together = []
    for places in sorted(groups):
        first = requests[places[0]]
        prompt, seed = first.prompt, first.seed
        step = seed % num_steps
        while taken.setdefault((prompt, step), seed) != seed:
            step = (step + 1) % num_steps
        together.append(_Together(prompt, tuple(places), step * most + 1, first.message))
    return together
