"""Outlines: what a source holds for a split, before anything is drawn or run.

An outline is cheap and is made at each start; how its tasks are completed is its source's business
(sources.py).
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from puzzles import Puzzle
from selftrain.config import Config
from selftrain.errors import UsageError
from selftrain.judge import Judging
from selftrain.sampling import Sampler
from selftrain.seeds import derive_seed
from selftrain.verifier.tasks.candidates import Wording
from selftrain.verifier.tasks.likelihood import Reader
from selftrain.verifier.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Means:
    """What tasks are completed with."""

    config: Config
    sampler: Sampler
    judging: Judging
    split: Sequence[Task]
    """All tasks of the split; a source may borrow candidates from these, and from no others."""
    advance: Callable[[int], object]
    """Told of each unit that is done; see `Outline.num_units`."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a source holds for one split."""

    items: Sequence[Task]
    """Its tasks, as far as they are known; a puzzle's candidates, for one, are yet to come."""
    read: object = field(repr=False)
    """All that the source was read into, other splits included: for `digest` alone."""
    make: Callable[[Sequence[Task], Means], list[Task]] = field(compare=False, repr=False)
    """Completes a slice of the tasks. What comes out depends on no other slice."""
    wording: Callable[[Task], Wording] = field(compare=False, repr=False)
    """Says how a program of a task stands in a prompt."""
    num_samples: int = 0
    """Samples that are drawn of each task, the greedy one among them; 0 where none is."""
    few_shot: Sequence[Puzzle] = ()
    """Puzzles that are shown with their solutions before the one to solve; no task is among them.
    """
    reader: Reader | None = field(default=None, compare=False)
    """Reads log-probabilities, where a model is to tell them that did not draw the candidates."""

    @property
    def needs_model(self) -> bool:
        """Tell whether anything is to be sampled."""
        return self.num_samples > 0

    def num_units(self, num_items: int) -> int:
        """Count what `make` advances by for so many tasks."""
        return num_items * max(1, self.num_samples)

    def release(self) -> None:
        """Give the memory of a model back that read log-probabilities."""
        if self.reader:
            self.reader.release()


def split_outline(
    whole: Outline, num_dev: int, seed: int, *, by_family: bool = True
) -> tuple[Outline, Outline]:
    """Set tasks aside, or whole families with `num_dev` tasks at least; parts keep their order.

    Raises UsageError where nothing is left to learn from.
    """
    families: dict[str, list[int]] = {}
    for index, task in enumerate(whole.items):
        name = task.family if by_family and task.family else f"task {index}"
        families.setdefault(name, []).append(index)
    order = list(families)
    Random(derive_seed(seed, "lever", "dev")).shuffle(order)
    chosen: set[int] = set()
    while order and len(chosen) < num_dev:
        chosen.update(families[order.pop()])
    if len(chosen) == len(whole.items):
        raise UsageError(
            f"lever.num_dev is {num_dev}, which leaves none of the {len(whole.items)} train tasks "
            "to learn from. Lower it, or name tasks in lever.dev."
        )
    parts: tuple[list[Task], list[Task]] = ([], [])
    for index, task in enumerate(whole.items):
        parts[index in chosen].append(task)
    return replace(whole, items=parts[0]), replace(whole, items=parts[1])


def digest(whole: Outline) -> str:
    """Hash what an outline holds, so that a command goes on with the same tasks only.

    Of a database its bytes count, wherever it lies.
    """
    bytes_of = cache(_hash_file)

    def plain(value: Any) -> Any:
        return bytes_of(value) if isinstance(value, Path) else asdict(value)

    held = [whole.items, whole.few_shot, whole.read]
    text = json.dumps(held, default=plain, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
