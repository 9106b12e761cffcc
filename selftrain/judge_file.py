"""The command `selftrain judge`: rows of f and g in, the same rows with their verdicts out."""

import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TextIO

from judge import Limits, judge_many
from selftrain.errors import UsageError
from selftrain.files import Row, check_output, replacing


def judge_file(path: Path, output: Path | None, fuel: int, num_workers: int) -> int:
    """Judge the rows of a file into `output`, or onto standard output. Raises UsageError.

    Every line is read once before anything is judged, so that a bad one is told at once; hence a
    pipe will not do.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: is no regular file. Write the rows into a file first.")
    num_rows = sum(1 for _ in _rows(path))
    if num_rows == 0:
        raise UsageError(f"{path}: the file is empty. Give one row with 'f' and 'g' a line.")
    if output:
        check_output(output)
    limits = Limits(fuel=fuel)
    with replacing(output) if output else nullcontext(sys.stdout) as file:
        num_passed = _judge(path, file, limits, num_workers)
    print(f"{num_passed:,} of {num_rows:,} passed", file=sys.stderr)
    return 0


def _judge(path: Path, output: TextIO, limits: Limits, num_workers: int) -> int:
    num_passed = 0
    verdicts = judge_many(((row["f"], row["g"]) for row in _rows(path)), limits, num_workers)
    for row, verdict in zip(_rows(path), verdicts, strict=True):
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


def _rows(path: Path) -> Iterator[Row]:
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8") as lines
        ):
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _row(line, f"{path}, line {number}")
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: cannot be read ({error}).") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path}: is not UTF-8 text ({error.reason} at byte {error.start})."
        ) from None


def _row(line: str, where: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not valid JSON ({error}). Each line is one object.") from None
    if not isinstance(row, dict):
        raise UsageError(
            f"{where}: found a {type(row).__name__} instead of an object with 'f' and 'g'."
        )
    for key in ("f", "g"):
        if key not in row:
            raise UsageError(
                f"{where}: there is no {key!r}. Each row needs 'f' and 'g', whole definitions."
            )
    return row
