"""Read puzzles from JSONL: one object a line, with at least `name` and `f`.

Where known it has `solutions`, `category`, `difficulty` and `family`, and in `more_inputs` other
inputs to pass on, each written as in the head of f (`"n=4, m=5"`); other keys are ignored.
Strict, since a file of one's own can be mended: the first line that is no puzzle raises
`PuzzleFileError` with its number. No f is run.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from puzzles.files import PuzzleFileError, reading
from puzzles.puzzle import Puzzle, puzzle_from_source
from puzzles.reasons import PuzzleError
from puzzles.syntax import SyntaxFailure, parse

_WANTED_F = "Write one 'def f(answer: type, inputs with defaults): ...'."
DIFFICULTIES = ("easy", "medium", "hard")


def read_puzzles(path: str | Path) -> list[Puzzle]:
    """Read a JSONL file of puzzles (`.gz` too), or raise `PuzzleFileError`."""
    found: list[Puzzle] = []
    line_of: dict[str, str] = {}
    for where, row in read_objects(Path(path)):
        puzzle = _puzzle(row, where)
        if puzzle.name in line_of:
            raise PuzzleFileError(
                f"{where}: the name {puzzle.name!r} is already on {line_of[puzzle.name]}."
                " Give each puzzle its own name."
            )
        line_of[puzzle.name] = where.rpartition(", ")[2]
        found.append(puzzle)
    return found


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Stream the JSON objects of a file (`.gz` too), each with its place for an error message.

    Raises `PuzzleFileError`, maybe after the rows before what is wrong.
    """
    is_empty = True
    with reading(path) as lines:
        for number, line in enumerate(_decoded(lines, path), start=1):
            if line.strip():
                is_empty = False
                where = f"{path}, line {number}"
                yield where, _row(line, where)
    if is_empty:
        raise PuzzleFileError(f"{path}: the file is empty, and at least one row is needed.")


def _decoded(lines: Iterable[bytes], path: Path) -> Iterator[str]:
    """Decode line by line; in bytes only a newline ends one, and U+2028 in a string does not."""
    start = 0
    for line in lines:
        try:
            text = line.decode("utf-8" if start else "utf-8-sig")
        except UnicodeDecodeError as error:
            raise PuzzleFileError(
                f"{path}: byte {start + error.start} is not UTF-8. Save the file as UTF-8."
            ) from None
        yield text.removesuffix("\n")
        start += len(line)


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise PuzzleFileError(
            f"{where}: no JSON at column {error.colno} ({error.msg})."
            " Each line must be one JSON object."
        ) from None
    except (RecursionError, ValueError):
        raise PuzzleFileError(
            f"{where}: the JSON nests too deep or holds a number too long to be read."
        ) from None
    if not isinstance(row, dict):
        raise PuzzleFileError(f"{where}: found {_kind(row)} instead of a JSON object.")
    return row


def _puzzle(row: dict[str, Any], where: str) -> Puzzle:
    name = _text(row, "name", where)
    f = _text(row, "f", where)
    difficulty = _text(row, "difficulty", where, "")
    if difficulty and difficulty not in DIFFICULTIES:
        raise PuzzleFileError(
            f"{where}: 'difficulty' is {difficulty!r}. Write easy, medium or hard, or leave it out."
        )
    try:
        return puzzle_from_source(
            f,
            name=name,
            category=_text(row, "category", where, ""),
            difficulty=difficulty,
            family=_text(row, "family", where, ""),
            origin="file",
            solutions=_solutions(row, where),
            more_inputs=tuple(_texts(row, "more_inputs", "texts like 'n=4, m=5'", where)),
        )
    except PuzzleError as error:
        raise PuzzleFileError(
            f"{where}: 'f' of {name!r} is no puzzle: {error.detail}. {_WANTED_F}"
        ) from None


def _text(row: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    if key not in row:
        if default is not None:
            return default
        raise PuzzleFileError(
            f"{where}: there is no {key!r}. Each puzzle needs 'name' and 'f', the source of f."
        )
    value = row[key]
    if not isinstance(value, str):
        raise PuzzleFileError(f"{where}: {key!r} is {_kind(value)}. Make it a string.")
    if default is None and not value.strip():
        raise PuzzleFileError(f"{where}: {key!r} is empty. Fill it in.")
    return value


def _solutions(row: dict[str, Any], where: str) -> tuple[str, ...]:
    found = _texts(row, "solutions", "sources 'def g(...): ...'", where)
    for number, source in enumerate(found, start=1):
        if problem := _problem_of_solution(source):
            raise PuzzleFileError(
                f"{where}: solution {number} {problem}. Give the complete source 'def g(...): ...'."
            )
    return tuple(found)


def _texts(row: dict[str, Any], key: str, wanted: str, where: str) -> list[str]:
    value = row.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        found = "a list of other things" if isinstance(value, list) else _kind(value)
        raise PuzzleFileError(f"{where}: {key!r} is {found}. Make it a list of {wanted}.")
    return value


def _problem_of_solution(source: str) -> str:
    try:
        tree = parse(source)
    except SyntaxFailure as failure:
        return f"does not parse ({failure})"
    if any(isinstance(node, ast.FunctionDef) and node.name == "g" for node in tree.body):
        return ""
    return "defines no g"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string"}
    names |= {list: "a list", dict: "an object"}
    return names[type(value)]
