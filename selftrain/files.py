"""Files that are there whole or not at all, whatever kills the process (not: a power cut)."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TextIO, TypeVar

from selftrain.errors import RunError, UsageError

Row = dict[str, Any]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Format(Generic[Record]):
    """The records of one stage, and how they lie in rows of JSON."""

    stage: str
    to_row: Callable[[Record], Row]
    from_row: Callable[[Row], Record]


def read_rows(path: Path) -> Iterator[Row]:
    """Stream the rows of a JSONL file that `write_rows` wrote."""
    number = 0
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                number += 1
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ValueError("no JSON object")
                yield row
    except ValueError as error:
        raise RunError(f"{path}, line {number}: damaged ({error}). Remove the file.") from None


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write one JSON object a line; memory stays flat while `rows` streams."""
    with replacing(path) as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")


def append_row(path: Path, row: Row) -> None:
    """Append a row; one that a kill left half-written is ended first, and no reader minds it."""
    append_rows(path, [row])


def append_rows(path: Path, rows: Sequence[Row]) -> None:
    """Append rows in one write: after a kill all of them are there, or none."""
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(lines)


def drop_torn_row(path: Path) -> None:
    """Drop the end of a file of rows that a kill, or a full disk, cut short, if there is one."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        size = 0
        for line in file:
            if line.endswith(b"\n"):
                size += len(line)
        file.truncate(size)


def read_whole_rows(path: Path) -> Iterator[Row]:
    """Stream the rows that `append_row` wrote, if any, but for those that a kill cut short."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with suppress(json.JSONDecodeError):
                yield json.loads(line)


def read_json(path: Path) -> Any:
    """Read one JSON value."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RunError(f"{path}: damaged ({error}). Remove the file.") from None


def write_json(path: Path, value: object) -> None:
    """Write one indented JSON value."""
    with replacing(path) as file:
        file.write(json.dumps(value, indent=2) + "\n")


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written, before the work that fills it. Raises UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from None
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise UsageError(f"{path}: cannot be written. Name a file in a folder of yours.")


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a file that takes the place of `path` when, and only when, the block ends well.

    A device or a pipe, such as /dev/null, is written to as it is.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    with unfinished.open("w", encoding="utf-8", newline="\n") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def link(source: str | Path, target: str | Path) -> None:
    """Give a file a second name, or where the file system has none, a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Give a fresh folder that becomes `path` when, and only when, the block ends well."""
    unfinished = path.with_name(path.name + ".unfinished")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    unfinished.mkdir(parents=True)
    from safetensors import SafetensorError

    try:
        yield unfinished
    except SafetensorError as error:  # No OSError, even where the disk is full.
        raise RunError(f"{path}: its weights cannot be written ({error}).") from None
    unfinished.rename(path)
