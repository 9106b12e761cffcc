"""Rows of another format, read as strictly as those of a task file. Which format is its reader's.

Each row becomes that of a task first, so that candidates, splits and gold results are checked, and
complained of, in the words of task_file.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_objects
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.verifier.tasks.task import Task
from selftrain.verifier.tasks.task_file import distinct, task_from_row
from selftrain.verifier.tasks.task_rows import check_row

KEPT = ("candidates", "greedy", "gold_result", "family", "split")
"""Keys that mean in every format what they mean in a task file; all of them may be absent."""


def read_as_tasks(
    path: Path, split: str | None, as_task: Callable[[Row, str], Row]
) -> list[tuple[Row, Task]]:
    """Read the rows of a split, or all, each with the task it makes. Raises UsageError.

    `as_task` is given a row and its place, and gives a task's row, which may lack `KEPT`.
    """
    read: dict[str, tuple[Row, Task]] = {}
    split_of: dict[str, str | None] = {}
    try:
        for where, row in read_objects(path):
            kept = {key: row[key] for key in KEPT if key in row}
            task_row = {"candidates": [], **kept, **as_task(row, where)}
            check_row(task_row, where)
            task = task_from_row(task_row)
            if task.task_id in read:
                raise UsageError(f"{where}: the task_id {task.task_id!r} is there twice.")
            read[task.task_id] = row, replace(task, candidates=distinct(task.candidates))
            split_of[task.task_id] = task_row.get("split")
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None
    except ValueError as error:
        raise UsageError(f"{where}, task {task.task_id!r}: {error}") from None
    return [read[task_id] for task_id in _of_split(path, split, split_of)]


def _of_split(path: Path, split: str | None, split_of: Mapping[str, str | None]) -> list[str]:
    """Give the tasks of a split; all, where rows name none. Raises UsageError."""
    names = set(split_of.values())
    if split is None or names == {None}:
        return list(split_of)
    if None in names:
        raise UsageError(f"{path}: some rows name no 'split'. Name it in each, or in none.")
    found = [task_id for task_id, name in split_of.items() if name == split]
    if not found:
        there = ", ".join(sorted(map(repr, names)))
        raise UsageError(f"{path}: no row is of the split {split!r}. There is {there}.")
    return found


def text_of(row: Row, key: str, where: str, wanted: str) -> str:
    """Give a text that a row must have. Raises UsageError; `wanted` says what it is for."""
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        found = f"{key} is {value!r:.60}" if key in row else f"there is no {key!r}"
        raise UsageError(f"{where}: {found}. Give {wanted}, as text.")
    return value
