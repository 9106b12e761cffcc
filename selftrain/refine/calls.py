"""Every answer of a model is written down as it comes, and never asked for again.

So a killed comparison goes on where it was, and arms that ask the same are told the same. Which
calls there are follows from tasks and answers alone; nothing here decides anything.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from selftrain.files import append_rows, drop_torn_row, read_whole_rows
from selftrain.propose import completion_from_row
from selftrain.sampling import Completion, Request, Sampler
from selftrain.sampling.completion import Tell, ignore


class Calls:
    """The answers of all models so far, in a file of rows."""

    def __init__(self, path: Path) -> None:
        drop_torn_row(path)
        self._path = path
        self._known = _read(path)

    def __len__(self) -> int:
        """Count the answers."""
        return len(self._known)

    def get(self, key: str) -> Completion | None:
        """Give an earlier answer."""
        return self._known.get(key)

    def note(self, model: str, answered: Sequence[tuple[str, Request, Completion]]) -> None:
        """Write answers down, all of them or none; each has its key."""
        rows = [
            {"key": key, "model": model, "prompt": request.prompt, "seed": request.seed}
            | asdict(completion)
            for key, request, completion in answered
        ]
        append_rows(self._path, rows)
        self._known.update({key: completion for key, _, completion in answered})


class OnceSampler:
    """Keeps the Protocol `Sampler`; asks the one it stands before what nobody asked yet."""

    def __init__(self, calls: Calls, model: str, sampler: Sampler, together: int | None) -> None:
        """Stand before the sampler of a model; its answers are known by the name `model`.

        With `together`, so many requests are asked at a time, and written down at a time, so that
        they are always the same ones: a model in this process answers a batch at once, and rounding
        depends on what is in it. Else each answer is written down as it comes.
        """
        self._calls = calls
        self._model = model
        self._sampler = sampler
        self._together = together

    @property
    def context_tokens(self) -> int:
        """Give how many tokens prompt and completion may have together."""
        return self._sampler.context_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, as the model reads it."""
        return self._sampler.count_tokens(texts)

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
        tell: Tell = ignore,
    ) -> list[Completion]:
        """Give an answer to each request; see `Sampler`."""
        keys = [_key(self._model, one, temperature, max_new_tokens) for one in requests]
        distinct = dict(zip(keys, requests, strict=True))
        is_new = {key for key in distinct if self._calls.get(key) is None}
        advance(len(requests) - len(is_new))
        for some in self._chunks(distinct):
            if new := [(key, one) for key, one in some if key in is_new]:
                self._ask(new, temperature, max_new_tokens, advance)
        return [self._told(place, key, tell) for place, key in enumerate(keys)]

    def _ask(
        self,
        new: Sequence[tuple[str, Request]],
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
    ) -> None:
        """Ask what nobody asked yet, and write the answers down."""

        def note(place: int, answer: Completion) -> None:
            self._calls.note(self._model, [(*new[place], answer)])

        answers = self._sampler.sample(
            [request for _, request in new],
            temperature=temperature,
            max_new_tokens=max_new_tokens,
            advance=advance,
            tell=note if self._together is None else ignore,
        )
        if self._together is not None:
            answered = [(*pair, answer) for pair, answer in zip(new, answers, strict=True)]
            self._calls.note(self._model, answered)

    def _chunks(self, distinct: dict[str, Request]) -> Iterator[list[tuple[str, Request]]]:
        """Cut the requests into what is asked together, the longest first."""
        if self._together is None:
            yield list(distinct.items())
            return
        ordered = sorted(distinct.items(), key=lambda item: (-len(item[1].prompt), item[0]))
        for start in range(0, len(ordered), self._together):
            yield ordered[start : start + self._together]

    def _told(self, place: int, key: str, tell: Tell) -> Completion:
        answer = self._calls.get(key)
        assert answer is not None, "a sampler tells of each completion"
        tell(place, answer)
        return answer


def _read(path: Path) -> dict[str, Completion]:
    """Read the answers by key; what is damaged is no answer, and will be asked for again."""
    known = {}
    for row in read_whole_rows(path):
        with suppress(KeyError, TypeError, ValueError):
            known[row["key"]] = completion_from_row(row)
    return known


def _key(model: str, request: Request, temperature: float, max_new_tokens: int) -> str:
    message = None if request.message is None else [request.message.schema]
    asked = [model, request.prompt, request.seed, message, temperature, max_new_tokens]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]
