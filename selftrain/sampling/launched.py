"""Sampling by all processes of a launch: each holds the model and draws its part of the requests.

A sample depends on its own seed, so who draws it changes nothing but rounding. Parts follow from
the requests alone, so that a run that goes on repeats them. How processes are told is in
selftrain/processes/; a part is drawn by the sampler that a single process would have.
"""

import socket
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heapreplace
from itertools import chain
from pathlib import Path

from selftrain import models
from selftrain.config import ModelConfig
from selftrain.errors import UsageError
from selftrain.processes import Crew, Held
from selftrain.sampling.completion import Completion, Request, Sampler, Tell, ignore

_PIECES = 4
"""A prompt's samples stay in one process unless they are more than one of so many pieces of a
process's part."""


class SpreadSampler:
    """Samples from one model in all processes; made by `load_spread`."""

    def __init__(self, crew: Crew, held: Held[Sampler]) -> None:
        self._crew = crew
        self._held = held

    @property
    def context_tokens(self) -> int:
        """Give how many tokens prompt and completion may have together."""
        return self._held.own.context_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, as the model reads it."""
        return self._held.own.count_tokens(texts)

    def sample(
        self,
        requests: Sequence[Request],
        *,
        temperature: float,
        max_new_tokens: int,
        advance: Callable[[int], object],
        tell: Tell = ignore,
    ) -> list[Completion]:
        """Draw one completion a request; see `Sampler`.

        `advance` and `tell` hear of this process's part as it is drawn, of the others' when all is.
        """
        prompts = list(dict.fromkeys(request.prompt for request in requests))
        sizes = dict(zip(prompts, self.count_tokens(prompts), strict=True)) if prompts else {}
        parts = divide(requests, sizes, max_new_tokens, self._crew.size)
        found = self._crew.each(
            _sample_part,
            [([requests[i] for i in part], temperature, max_new_tokens) for part in parts],
            self._held,
            advance=advance,
            hear=lambda one: tell(parts[0][one[0]], one[1]),
        )
        advance(len(requests) - len(parts[0]))
        drawn = dict(zip(chain(*parts), chain(*found), strict=True))
        for place in chain(*parts[1:]):
            tell(place, drawn[place])
        return [drawn[i] for i in range(len(requests))]


def load_spread(crew: Crew, config: ModelConfig, trained: Path | None) -> SpreadSampler:
    """Load a model for sampling in all processes at once.

    Raises UsageError where it is not there, or not on all machines.
    """
    refuse_to_spread(crew, config)
    where = trained.resolve() if trained else None
    return SpreadSampler(crew, crew.hold(_load_part, config, where))


def refuse_to_spread(crew: Crew, config: ModelConfig) -> None:
    """Raise UsageError for a model that several processes cannot sample from side by side."""
    if config.device.partition(":")[2]:
        raise UsageError(
            f"model.device is {config.device}, which all {crew.size} processes would share; with "
            "`auto` each takes its own GPU."
        )
    if config.engine == "vllm":
        raise UsageError(
            f"model.engine: vllm samples in one process, and {crew.size} were started. Start one, "
            "or let transformers sample, or name a list of vLLM servers in model.server."
        )


def divide(
    requests: Sequence[Request], sizes: Mapping[str, int], max_new_tokens: int, num_parts: int
) -> list[list[int]]:
    """Deal the numbers of requests out into parts of like work, each number once, in rising order.

    Requests of one prompt, of `sizes` tokens, stay together, so that it is read once, unless there
    are so few prompts that a part would have far too much. The largest piece goes first, each to
    the part that has least: at most a piece more than its share.
    """
    most = max(1, -(-len(requests) // (num_parts * _PIECES)))
    pieces: list[tuple[int, list[int]]] = []
    for prompt, numbers in _by_prompt(requests).items():
        for start in range(0, len(numbers), most):
            piece = numbers[start : start + most]
            pieces.append((sizes[prompt] + len(piece) * max_new_tokens, piece))
    # Equal pieces stay in the order of their requests, so that parts are the same at every start.
    pieces.sort(key=lambda piece: (-piece[0], piece[1]))
    loads = [(0, number) for number in range(num_parts)]
    heapify(loads)
    parts: list[list[int]] = [[] for _ in range(num_parts)]
    for cost, piece in pieces:
        load, number = loads[0]
        parts[number] += piece
        heapreplace(loads, (load + cost, number))
    return [sorted(part) for part in parts]


def _by_prompt(requests: Sequence[Request]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number, request in enumerate(requests):
        groups.setdefault(request.prompt, []).append(number)
    return groups


def _load_part(config: ModelConfig, trained: Path | None) -> Sampler:
    """Load the model in one process."""
    if trained is not None and not trained.is_dir():
        raise UsageError(
            f"{trained} is not there on {socket.gethostname()}. Over several machines, a run lies "
            "in a folder that all of them share."
        )
    return models.load_local_sampler(config, trained)


def _sample_part(
    sampler: Sampler,
    requests: Sequence[Request],
    temperature: float,
    max_new_tokens: int,
    *,
    advance: Callable[[int], object],
    hear: Callable[[tuple[int, Completion]], object],
) -> list[Completion]:
    """Draw one process's part; `hear` is told what `tell` is, as one, as listeners are told."""
    return sampler.sample(
        requests,
        temperature=temperature,
        max_new_tokens=max_new_tokens,
        advance=advance,
        tell=lambda place, completion: hear((place, completion)),
    )
