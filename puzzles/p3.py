"""Read Python Programming Puzzles from P3's own files, `puzzles.json` and `split.json`.

Only this file and `p3_source` know P3's words: sat is our f, sol our g, `test` our held-out split,
and a problem (`Study_1`) has instances (`Study_1:0`), which differ in their inputs alone. Nothing
of P3 is in this package; the files are the user's. A file that is not P3's raises; a puzzle that
cannot be used is refused in one sentence, and the others are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from puzzles.files import PuzzleFileError, read_text
from puzzles.p3_source import Refused, problem_of, read_instance
from puzzles.puzzle import Puzzle
from puzzles.signature import only_inputs_differ

Split = Literal["train", "held_out", "all"]
Instances = Literal["first", "together", "apart"]
"""Of each problem: its first instance; one puzzle with the inputs of all; each a puzzle."""

_IN_SPLIT_JSON = {"train": "train", "held_out": "test"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of a file of puzzles."""

    puzzles: list[Puzzle]
    """Those that can be used, in the order of the file."""
    refused: list[str]
    """A sentence for each puzzle, or reference solution, that cannot."""


def read_p3(
    puzzles_json: str | Path,
    split_json: str | Path | None = None,
    split: Split = "all",
    *,
    instances: Instances = "first",
) -> Reading:
    """Read P3: by default the first instance of each problem that can be used.

    A puzzle is named as its instance (`Study_1:0`); its family is the problem (`Study_1`). Raises
    `PuzzleFileError` where a file as a whole is not as P3 publishes it.
    """
    if split != "all" and split_json is None:
        raise ValueError(f"the split {split!r} was asked for without a split.json")
    refused: list[str] = []
    rows = list(_rows(Path(puzzles_json), refused))
    if split != "all" and split_json is not None:
        known = {problem_of(row) for row in rows}
        wanted = _split_names(Path(split_json), _IN_SPLIT_JSON[split], known, puzzles_json)
        rows = [row for row in rows if problem_of(row) in wanted]
    found: list[Puzzle] = []
    # The published file keeps the instances of a problem together; another file may not.
    order = {problem: number for number, problem in enumerate(dict.fromkeys(map(problem_of, rows)))}
    rows.sort(key=lambda row: order[problem_of(row)])
    for _, group in groupby(rows, key=problem_of):
        found += _problem(_readable(group, refused), instances, refused)
    return Reading(found, refused)


def _readable(rows: Iterable[dict[str, Any]], refused: list[str]) -> Iterator[Puzzle]:
    """Read instance after instance, as far as they are asked for."""
    for row in rows:
        try:
            yield read_instance(row, refused)
        except Refused as error:
            refused.append(f"puzzle {row['name']!r}: {error}")


def _problem(readable: Iterator[Puzzle], instances: Instances, refused: list[str]) -> list[Puzzle]:
    """Make the puzzles of one problem."""
    if instances == "apart":
        return list(readable)
    first = next(readable, None)
    if first is None:
        return []
    if instances == "first":
        return [first]
    more: list[str] = []
    for other in readable:
        if not only_inputs_differ(first.f, other.f):
            refused.append(
                f"puzzle {other.name!r}: it differs from {first.name!r} in more than its inputs"
            )
        elif other.inputs not in (first.inputs, *more):
            more.append(other.inputs)
    return [replace(first, more_inputs=tuple(more))]


def _json(path: Path) -> Any:
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PuzzleFileError(f"{path}: this is no JSON ({error}). Download it again.") from None


def _rows(path: Path, refused: list[str]) -> Iterator[dict[str, Any]]:
    """Yield what has a name of its own and a sat; whether that is a puzzle is seen later."""
    items = _json(path)
    if not isinstance(items, list) or not any(
        isinstance(item, dict) and isinstance(item.get("name"), str) and "sat" in item
        for item in items
    ):
        raise PuzzleFileError(f"{path}: found no list of puzzles. Is this P3's puzzles.json?")
    names: set[str] = set()
    for number, item in enumerate(items):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str):
            refused.append(f"item {number} of the list: it has no name")
        elif name in names:
            refused.append(f"item {number} of the list: an earlier puzzle has the name {name!r}")
        else:
            names.add(name)
            yield item


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
