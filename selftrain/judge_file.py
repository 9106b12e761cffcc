"""The command `selftrain judge`: rows of programs in, the same rows with their verdicts out.

A row is a pair of `f` and `g`, or, where a file of problems is given, a `task_id` of it and a
`completion`.
"""

import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TextIO, TypeAlias

from filelock import FileLock, Timeout

from judge import FunctionProblem, TextProblem, Verdict
from puzzles.files import PuzzleFileError
from puzzles.problems import read_problems
from selftrain.errors import UsageError
from selftrain.files import Row, check_output, replacing
from selftrain.judge import Judging

PAIR = ("f", "g")
SAMPLE = ("task_id", "completion")
Problems: TypeAlias = dict[str, FunctionProblem | TextProblem]


def judge_file(path: Path, problems: Path | None, output: Path | None, judging: Judging) -> int:
    """Judge the rows of a file into `output`, or onto standard output. Raises UsageError.

    Every line is read once before anything is judged, so that a bad one is told at once; hence a
    pipe will not do.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: is no regular file. Write the rows into a file first.")
    known = _read_problems(problems) if problems else None
    num_rows = sum(1 for _ in _rows(path, known))
    if num_rows == 0:
        keys = SAMPLE if problems else PAIR
        raise UsageError(f"{path}: the file is empty. Give one row with {_named(keys)} a line.")
    if output:
        check_output(output)
    with _writing(output) if output else nullcontext(sys.stdout) as file:
        num_passed = _write(file, _rows(path, known), _verdicts(path, known, judging))
    print(f"{num_passed:,} of {num_rows:,} passed", file=sys.stderr)
    return 0


@contextmanager
def _writing(output: Path) -> Iterator[TextIO]:
    """Open the output, which no other process may be writing."""
    lock = FileLock(f"{output}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(f"{output}: another process is writing it. Name another file.") from None
    try:
        with replacing(output) as file:
            yield file
    finally:
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def _read_problems(path: Path) -> Problems:
    try:
        return read_problems(path)
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None


def _verdicts(path: Path, problems: Problems | None, judging: Judging) -> Iterator[Verdict]:
    rows = _rows(path, problems)
    if problems is None:
        return judging.judge((row["f"], row["g"]) for row in rows)
    return judging.judge_completions((problems[row["task_id"]], row["completion"]) for row in rows)


def _write(output: TextIO, rows: Iterator[Row], verdicts: Iterator[Verdict]) -> int:
    num_passed = 0
    for row, verdict in zip(rows, verdicts, strict=True):
        judged = {
            **row,
            "passed": verdict.passed,
            "outcome": verdict.outcome,
            "answer": verdict.answer,
            "detail": verdict.detail,
            "fuel": verdict.fuel,
            "seconds": round(verdict.seconds, 6),
        }
        output.write(json.dumps(judged) + "\n")
        num_passed += verdict.passed
    return num_passed


def _rows(path: Path, problems: Problems | None) -> Iterator[Row]:
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8-sig")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8-sig") as lines
        ):
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _row(line, f"{path}, line {number}", problems)
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: cannot be read ({error}).") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path}: is not UTF-8 text ({error.reason} at byte {error.start})."
        ) from None


def _row(line: str, where: str, problems: Problems | None) -> Row:
    keys = PAIR if problems is None else SAMPLE
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not valid JSON ({error}). Each line is one object.") from None
    if not isinstance(row, dict):
        found = type(row).__name__
        raise UsageError(f"{where}: found a {found} instead of an object with {_named(keys)}.")
    for key in keys:
        if key not in row:
            raise UsageError(f"{where}: there is no {key!r}. {_wanted(keys)}")
    if problems is not None and (
        not isinstance(row["task_id"], str) or row["task_id"] not in problems
    ):
        raise UsageError(
            f"{where}: the problems have no task_id {row['task_id']!r}. Give the file of problems "
            "that these completions are for."
        )
    return row


def _named(keys: tuple[str, str]) -> str:
    return f"{keys[0]!r} and {keys[1]!r}"


def _wanted(keys: tuple[str, str]) -> str:
    if keys == PAIR:
        return (
            "Each row needs 'f' and 'g', whole definitions; for rows of 'task_id' and "
            "'completion' name the problems with --problems."
        )
    return "Each row needs 'task_id' and 'completion'."
