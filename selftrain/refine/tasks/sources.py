"""Read what is refined: held-out puzzles, HumanEval from the hub, and files of tasks.

Which kind a row is, is told by its keys (rows.py). Nothing is run, and no model is asked.
"""

import difflib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from puzzles import Puzzle
from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_objects
from selftrain.config import Config
from selftrain.downloads import humaneval
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.functions import function_task
from selftrain.refine.tasks.held_out import puzzle_task
from selftrain.refine.tasks.rows import id_of, maker_of
from selftrain.refine.tasks.task import Built, HiddenTests, RefineTask
from selftrain.refine.texts import is_encodable
from selftrain.seeds import derive_seed

PUZZLES = "puzzles"
"""The source of tasks that is the held-out puzzles."""
HUMANEVAL = "humaneval"
WORDS = (PUZZLES, HUMANEVAL)
"""Sources that are no file."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A task that is not built yet: LiveCodeBench's tests are large, and few may be chosen."""

    task_id: str
    where: str
    """Where it is from, for messages."""
    build: Callable[[], Built]


def read_tasks(
    config: Config, held_out: Sequence[Puzzle]
) -> tuple[list[RefineTask], list[HiddenTests]]:
    """Read the tasks of `refine.tasks`, each source's in its own order, and their hidden tests.

    `held_out` are the puzzles that `puzzles` means. With `refine.num_tasks` so many of each source
    are taken, by an order that depends on the seed and a task's id alone. Raises UsageError.
    """
    where_of: dict[str, str] = {}
    tasks: list[RefineTask] = []
    hidden: list[HiddenTests] = []
    for source, name in zip(config.refine.tasks, _names(config.refine.tasks), strict=True):
        drafts = _drafts(source, held_out)
        if not drafts:
            raise UsageError(f"refine.tasks: {source} holds no task. Name a source that has some.")
        for draft in drafts:
            _note(draft, where_of)
        for draft in _chosen(drafts, config.refine.num_tasks, config.seed):
            task, tests = draft.build()
            tasks.append(replace(task, source=name))
            hidden.append(tests)
    return tasks, hidden


def _names(sources: Sequence[str]) -> list[str]:
    """Name each entry, no two alike: a word, or a file's name without its suffixes and folder."""
    found: list[str] = []
    for source in sources:
        name = source if source in WORDS else Path(source.removesuffix(".gz")).stem
        if source.startswith(f"{HUMANEVAL}:"):
            name = HUMANEVAL
        number = 1
        while (numbered := name if number == 1 else f"{name} ({number})") in found:
            number += 1
        found.append(numbered)
    return found


def _drafts(source: str, held_out: Sequence[Puzzle]) -> list[_Draft]:
    if source == PUZZLES:
        return [_Draft(one.name, source, partial(puzzle_task, one)) for one in held_out]
    if source == HUMANEVAL:
        return [
            _Draft(
                task_id,
                source,
                partial(
                    function_task, task_id, one.prompt, one.entry_point, one.test, where=source
                ),
            )
            for task_id, one in humaneval().items()
        ]
    # Not Path.expanduser, which raises where there is no such user.
    path = Path(os.path.expanduser(source.removeprefix(f"{HUMANEVAL}:")))
    if not source.startswith(f"{HUMANEVAL}:") and not path.exists():
        close = difflib.get_close_matches(source.lower(), WORDS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UsageError(
            f"refine.tasks: {source}: there is no such file, and it is none of the words "
            f"{' and '.join(map(repr, WORDS))}.{hint or ' Check the path.'}"
        )
    return _of_file(path)


def _of_file(path: Path) -> list[_Draft]:
    try:
        return [_draft_of(row, where) for where, row in read_objects(path)]
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None


def _draft_of(row: Row, where: str) -> _Draft:
    if not is_encodable(json.dumps(row, ensure_ascii=False)):
        raise UsageError(
            f"{where}: it holds half a surrogate pair, which can neither be sent nor written. Take "
            "it out."
        )
    return _Draft(id_of(row, where), where, partial(maker_of(row, where), row, where))


def _note(draft: _Draft, where_of: dict[str, str]) -> None:
    """Note where a task is from; raise UsageError where another has its id."""
    if draft.task_id in where_of:
        raise UsageError(
            f"{draft.where}: the task_id {draft.task_id!r} is already in "
            f"{where_of[draft.task_id]}. Give each task of a comparison its own."
        )
    where_of[draft.task_id] = draft.where


def _chosen(drafts: Sequence[_Draft], most: int | None, seed: int) -> list[_Draft]:
    """Take the first in a drawn order, and leave them in their own."""
    drawn = sorted(drafts, key=lambda draft: derive_seed(seed, "refine", "task", draft.task_id))
    taken = {draft.task_id for draft in drawn[:most]}
    return [draft for draft in drafts if draft.task_id in taken]
