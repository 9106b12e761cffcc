"""Read what is refined: held-out puzzles, HumanEval from the hub, and files of tasks.

Which kind a row is, is told by its keys (rows.py). Nothing is run, and no model is asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from puzzles import Puzzle
from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_objects
from selftrain.config import Config
from selftrain.downloads import humaneval
from selftrain.errors import UsageError
from selftrain.refine.tasks.functions import function_task
from selftrain.refine.tasks.held_out import puzzle_task
from selftrain.refine.tasks.rows import Built, id_of, maker_of
from selftrain.refine.tasks.task import HiddenTests, RefineTask
from selftrain.seeds import derive_seed


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
    for source in config.refine.tasks:
        drafts = _drafts(source, held_out)
        if not drafts:
            raise UsageError(f"refine.tasks: {source} holds no task. Name a source that has some.")
        for draft in drafts:
            _note(draft, where_of)
        for draft in _chosen(drafts, config.refine.num_tasks, config.seed):
            task, tests = draft.build()
            tasks.append(task)
            hidden.append(tests)
    return tasks, hidden


def _drafts(source: str, held_out: Sequence[Puzzle]) -> list[_Draft]:
    if source == "puzzles":
        return [_Draft(one.name, source, partial(puzzle_task, one)) for one in held_out]
    if source == "humaneval":
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
    return _of_file(Path(source.removeprefix("humaneval:")).expanduser())


def _of_file(path: Path) -> list[_Draft]:
    try:
        return [
            _Draft(id_of(row, where), where, partial(maker_of(row, where), row, where))
            for where, row in read_objects(path)
        ]
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None


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
