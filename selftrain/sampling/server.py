"""Sampling from an OpenAI-compatible server by its completions endpoint: vLLM, llama.cpp, OpenAI.

A request is one completion with a seed of its own. `n` is not used, since servers differ in what a
seed means for several: some count it up, some repeat the completion. One that caches prefixes still
reads a shared prompt once; one that bills by tokens bills it every time. Whether a seed gives the
same text again is the server's word, not ours. It is found in connect.py, and borne with in
retry.py. Nothing here chats, keeps to a rate or spreads over servers.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TypeVar

from cachetools import LRUCache
from httpx2 import Response
from openai import APIStatusError, OpenAI

from selftrain.errors import UsageError
from selftrain.sampling.answers import estimate, read_completion, read_count
from selftrain.sampling.completion import Completion, FinishReason, Request
from selftrain.sampling.retry import Server, ask

STOP = ("\ndef", "\nassert", "\n#", "\nclass")
"""Where a definition most often ends; OpenAI takes four at most. puzzles/cut.py finds the rest."""
_TOO_LONG = Completion("", FinishReason.PROMPT_TOO_LONG, 0, 0.0)

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a kind of server understands beyond OpenAI's protocol."""

    unwarped: Mapping[str, float]
    """Settings without which it would sample by a default of its own, or of the model's makers."""
    text_key: str
    """What /tokenize calls the text."""


class ServerSampler:
    """Samples from a model that a server holds; made by `connect`."""

    def __init__(
        self,
        client: OpenAI,
        server: Server,
        name: str,
        dialect: Dialect | None,
        *,
        concurrency: int,
        context_tokens: int,
    ) -> None:
        self._client = client
        self._server = server
        self._name = name
        self._unwarped = dict(dialect.unwarped) if dialect else {}
        self._text_key = dialect.text_key if dialect and self._tokenizes(dialect) else None
        self._concurrency = concurrency
        self._context_tokens = context_tokens
        # The same train puzzles are counted for every prompt.
        self._counts: LRUCache[str, int] = LRUCache(maxsize=10_000)

    @property
    def context_tokens(self) -> int:
        """Give how many tokens prompt and completion may have together."""
        return self._context_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text; a third of its characters where the server cannot."""
        if self._text_key is None:
            return [estimate(text) for text in texts]
        known = {text: self._counts[text] for text in texts if text in self._counts}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        count = partial(self._count, text_key=self._text_key)
        known.update(zip(new, self._each(count, new, advance=lambda _: None), strict=True))
        self._counts.update(known)
        return [known[text] for text in texts]

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
    ) -> list[Completion]:
        """Draw one completion a request; see `Sampler`. The text ends before a stop sequence.

        The log-probabilities are at temperature 1 where the server's are: those of OpenAI, of
        llama.cpp, and of vLLM from 0.10 on unless it was started with another --logprobs-mode.
        Raises RunError where the server fails for good, UsageError where it refuses.
        """
        sizes = self.count_tokens([request.prompt for request in requests])
        draw = partial(self._draw, temperature=temperature, max_new_tokens=max_new_tokens)
        asked = list(zip(requests, fold_seeds(requests), sizes, strict=True))
        return self._each(draw, asked, advance)

    def _each(
        self,
        do: Callable[[Item, Event], Result],
        items: Sequence[Item],
        advance: Callable[[int], object],
    ) -> list[Result]:
        """Do all, many at once; the first failure ends the rest, and is raised."""
        stopped = Event()
        with ThreadPoolExecutor(self._concurrency) as pool:
            futures = [pool.submit(do, item, stopped) for item in items]
            try:
                for future in as_completed(futures):
                    future.result()
                    advance(1)
            except BaseException:
                stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [future.result() for future in futures]

    def _draw(
        self,
        asked: tuple[Request, int, int],
        stopped: Event,
        *,
        temperature: float,
        max_new_tokens: int,
    ) -> Completion:
        request, seed, size = asked
        if size + max_new_tokens > self._context_tokens:
            return _TOO_LONG

        def call() -> Completion:
            try:
                answer = self._client.completions.with_raw_response.create(
                    model=self._name,
                    prompt=request.prompt,
                    max_tokens=max_new_tokens,
                    temperature=temperature,
                    top_p=1.0,
                    seed=seed,
                    n=1,
                    logprobs=1,
                    stop=list(STOP),
                    extra_body=self._unwarped,
                )
            except APIStatusError as error:
                if _says_too_long(error):
                    return _TOO_LONG
                raise
            return read_completion(answer.content)

        return ask(call, self._server, stopped)

    def _tokenizes(self, dialect: Dialect) -> bool:
        """Ask whether the server counts tokens; a proxy may let through the protocol alone."""
        try:
            self._count("x", Event(), text_key=dialect.text_key)
        except UsageError:
            return False
        return True

    def _count(self, text: str, stopped: Event, *, text_key: str) -> int:
        url = self._server.address.rstrip("/").removesuffix("/v1") + "/tokenize"
        # llama.cpp adds the token that begins a text only where told to; vLLM does by itself.
        body = {"model": self._name, text_key: text, "add_special": True}

        def call() -> int:
            answer = self._client.post(url, cast_to=Response, body=body)
            return read_count(answer.content)

        return ask(call, self._server, stopped)


def fold_seeds(requests: Sequence[Request]) -> list[int]:
    """Fold each seed of 63 bits to the 31 that every server takes, 1 to 2^31 - 1.

    Two seeds that coincide under one prompt would be one sample twice; the later takes the next.
    """
    taken: dict[tuple[str, int], int] = {}
    folded = []
    for request in requests:
        seed = request.seed % (2**31 - 1)
        while taken.setdefault((request.prompt, seed), request.seed) != request.seed:
            seed = (seed + 1) % (2**31 - 1)
        folded.append(seed + 1)
    return folded


def _says_too_long(error: APIStatusError) -> bool:
    """Tell whether a server refused a prompt as longer than it reads; each says so otherwise."""
    said = f"{error.code} {error.type} {error.body}"
    return error.status_code in (400, 413, 422) and bool(
        re.search(r"context[ _](length|size)", said)
    )
