"""Read problems that are no puzzles: HumanEval's functions, and programs tested by their output.

One object a line: `task_id`, and either `prompt`, `entry_point` and `test` (HumanEval's own file),
or `cases`, a list of [standard input, standard output]. Other keys are ignored. Nothing is run.
"""

from pathlib import Path
from typing import Any

from judge import Case, FunctionProblem, TextProblem
from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_objects

FUNCTION_KEYS = ("prompt", "entry_point", "test")


def read_problems(path: str | Path) -> dict[str, FunctionProblem | TextProblem]:
    """Read a JSONL file of problems (`.gz` too) by task_id, or raise `PuzzleFileError`."""
    problems: dict[str, FunctionProblem | TextProblem] = {}
    for where, row in read_objects(Path(path)):
        task_id = _text(row, "task_id", where)
        if task_id in problems:
            raise PuzzleFileError(f"{where}: the task_id {task_id!r} is there twice. Take one out.")
        try:
            problems[task_id] = _problem(row, where)
        except PuzzleFileError:
            raise
        except ValueError as error:
            raise PuzzleFileError(f"{where}: no problem can be made of it ({error}).") from None
    return problems


def _problem(row: dict[str, Any], where: str) -> FunctionProblem | TextProblem:
    if "cases" in row:
        return TextProblem(_cases(row["cases"], where))
    return FunctionProblem(*(_text(row, key, where) for key in FUNCTION_KEYS))


def _text(row: dict[str, Any], key: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise PuzzleFileError(
            f"{where}: there is no text {key!r}. A problem has 'task_id', and either 'prompt', "
            "'entry_point' and 'test', or 'cases'."
        )
    return value


def _cases(value: Any, where: str) -> tuple[Case, ...]:
    pairs = value if isinstance(value, list) else []
    if not pairs or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)
        for pair in pairs
    ):
        raise PuzzleFileError(
            f"{where}: 'cases' is no list of pairs. Write [[standard input, standard output], ...]."
        )
    return tuple(Case(*pair) for pair in pairs)
