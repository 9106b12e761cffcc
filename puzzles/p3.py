"""Read Python Programming Puzzles from P3's own files, `puzzles.json` and `split.json`.

Only this file knows P3's words: sat is our f, sol our g, `test` our held-out split, and a problem
(`Study_1`) has instances (`Study_1:0`). Nothing of P3 is in this package; the files are the user's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from puzzles.files import PuzzleFileError, read_text
from puzzles.puzzle import Puzzle, puzzle_from_source
from puzzles.reasons import PuzzleError
from puzzles.rename import rename_global
from puzzles.syntax import SyntaxFailure

Split = Literal["train", "held_out", "all"]

_IN_SPLIT_JSON = {"train": "train", "held_out": "test"}
_KEYS = ("name", "sat", "ans_type", "sol_header", "sol_bodies", "module")


def read_p3(
    puzzles_json: str | Path,
    split_json: str | Path | None = None,
    split: Split = "all",
    *,
    every_instance: bool = False,
) -> list[Puzzle]:
    """Read P3 in the order of its file: the first instance of each problem, or every one.

    A puzzle is named as its instance (`Study_1:0`); its family is the problem (`Study_1`). Raises
    `PuzzleFileError` where a file is not as P3 publishes it.
    """
    if split != "all" and split_json is None:
        raise ValueError(f"the split {split!r} was asked for without a split.json")
    rows = _rows(Path(puzzles_json))
    problems = [_problem(row["name"]) for row in rows]
    if split != "all" and split_json is not None:
        wanted = _split_names(Path(split_json), _IN_SPLIT_JSON[split], set(problems), puzzles_json)
    else:
        wanted = set(problems)
    found: list[Puzzle] = []
    taken: set[str] = set()
    for row, problem in zip(rows, problems, strict=True):
        if problem in wanted and (every_instance or problem not in taken):
            taken.add(problem)
            found.append(_puzzle(row, problem, puzzles_json))
    return found


def _problem(name: str) -> str:
    return name.partition(":")[0]


def _json(path: Path) -> Any:
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PuzzleFileError(f"{path}: this is no JSON ({error}). Download it again.") from None


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = _json(path)
    if not isinstance(rows, list) or not rows:
        raise PuzzleFileError(f"{path}: found no list of puzzles. Is this P3's puzzles.json?")
    names: set[str] = set()
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            raise PuzzleFileError(
                f"{path}: item {number} of the list has no 'name'. Is this P3's puzzles.json?"
            )
        for key in _KEYS:
            if key not in row:
                raise PuzzleFileError(
                    f"{path}: puzzle {row['name']!r} has no {key!r}."
                    f" Is this a P3 file from before {key} was added?"
                )
            if key != "sol_bodies" and not isinstance(row[key], str):
                raise PuzzleFileError(
                    f"{path}: {key!r} of puzzle {row['name']!r} is no string."
                    " Is this P3's puzzles.json?"
                )
        bodies = row["sol_bodies"]
        if not isinstance(bodies, list) or not all(isinstance(body, str) for body in bodies):
            raise PuzzleFileError(
                f"{path}: 'sol_bodies' of puzzle {row['name']!r} is no list of strings."
                " Is this P3's puzzles.json?"
            )
        if row["name"] in names:
            raise PuzzleFileError(f"{path}: two puzzles have the name {row['name']!r}. Remove one.")
        names.add(row["name"])
    return rows


def _split_names(
    path: Path, key: str, problems: Iterable[str], puzzles_json: str | Path
) -> set[str]:
    content = _json(path)
    names = content.get(key) if isinstance(content, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise PuzzleFileError(f"{path}: found no list {key!r} of names. Is this P3's split.json?")
    if missing := sorted(set(names) - set(problems)):
        raise PuzzleFileError(
            f"{path}: {missing[0]!r} in {key!r} is no problem of {puzzles_json}"
            f" ({len(missing)} such). Use the two files of one version of P3."
        )
    return set(names)


def _puzzle(row: dict[str, Any], problem: str, path: str | Path) -> Puzzle:
    name = row["name"]
    try:
        puzzle = puzzle_from_source(
            rename_global(row["sat"], {"sat": "f", "sol": "g"}),
            name=name,
            category=row["module"].removesuffix(".py"),
            family=problem,
            origin="p3",
            # A solution keeps its own head: in 32 instances its inputs have another order than
            # f's, and it may call itself by position.
            solutions=tuple(
                rename_global(f"{row['sol_header']}\n{body}", {"sol": "g", "sat": "f"})
                for body in row["sol_bodies"]
            ),
        )
    except (PuzzleError, SyntaxFailure) as error:
        raise PuzzleFileError(f"{path}: puzzle {name!r} cannot be used: {error}.") from None
    if puzzle.answer_type != row["ans_type"]:
        raise PuzzleFileError(
            f"{path}: puzzle {name!r} has 'ans_type' {row['ans_type']}, but its sat asks for"
            f" {puzzle.answer_type}. Correct one of the two."
        )
    return puzzle
