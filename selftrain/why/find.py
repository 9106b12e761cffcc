"""Find what an id means in a run: a proposal, a puzzle, one attempt at it, or a held-out puzzle.

Files are streamed, and only lines that may matter are parsed. What is told of it is in story.py.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import count, islice
from pathlib import Path

from selftrain.errors import RunError, UsageError
from selftrain.files import Row, read_rows
from selftrain.run_directory import RoundDirectory, RunDirectory

NUM_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Found:
    """What was asked about."""

    name: str
    """Of the proposal and its puzzle, or of the held-out puzzle."""
    puzzle_id: str | None
    """None for a proposal that was not kept."""
    round_number: int | None
    """The round that it was proposed in; None for a held-out puzzle."""
    attempt: int | None = None
    """Which attempt at the puzzle, where one is named."""


def find(run: RunDirectory, asked: str) -> Found:
    """Find a name, a puzzle's id, or the beginning of one, with or without `/3` for an attempt.

    Raises UsageError where there is none, or more than one.
    """
    found = _find(run, asked)
    if found is not None:
        return found
    stem, slash, number = asked.rpartition("/")
    if slash and number.isdecimal():
        found = _find(run, stem)
        if found is not None:
            return replace(found, attempt=int(number))
    raise UsageError(_unknown(run, asked))


def rounds_of(run: RunDirectory) -> Iterator[RoundDirectory]:
    """List the rounds that were begun, in order."""
    for number in count():
        here = run.round(number)
        if not here.path.is_dir():
            return
        yield here


def rows_with(path: Path, key: str, value: str) -> Iterator[Row]:
    """Stream the rows in which `key` has this value; a file that is not there has none.

    What does not hold the value is not parsed, so a file of a million rows takes seconds.
    """
    if not path.exists():
        return
    needle = json.dumps(value)
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if needle in line:
                row = _parsed(line, path, number)
                if row.get(key) == value:
                    yield row


def _parsed(line: str, path: Path, number: int) -> Row:
    try:
        row: Row = json.loads(line)
    except ValueError as error:
        raise RunError(f"{path}, line {number}: damaged ({error}). Remove the file.") from None
    return row


def _find(run: RunDirectory, asked: str) -> Found | None:
    exact = next(_exactly(run, asked), None)
    if exact is not None or not asked:
        return exact
    beginning = (one for one in _all(run) if _begins(one, asked))
    begun = list(islice(beginning, NUM_NEAREST))
    if len(begun) > 1:
        such = ", ".join(one.name for one in begun)
        raise UsageError(
            f"{run.path}: {asked!r} begins several names or ids, such as {such}. Write more of it."
        )
    return begun[0] if begun else None


def _exactly(run: RunDirectory, asked: str) -> Iterator[Found]:
    for here in rounds_of(run):
        for key in ("id", "puzzle_id"):
            for row in rows_with(here.proposals, key, asked):
                yield _proposed(here, row)
        for key in ("name", "puzzle_id"):
            for row in rows_with(here.evaluation, key, asked):
                yield _held_out(row)


def _all(run: RunDirectory) -> Iterator[Found]:
    """Stream every proposal, and every held-out puzzle once."""
    told = False
    for here in rounds_of(run):
        if here.proposals.exists():
            yield from (_proposed(here, row) for row in read_rows(here.proposals))
        if here.evaluation.exists() and not told:
            told = True
            yield from map(_held_out, read_rows(here.evaluation))


def _proposed(here: RoundDirectory, row: Row) -> Found:
    return Found(row["id"], row["puzzle_id"], here.number)


def _held_out(row: Row) -> Found:
    return Found(row["name"], row["puzzle_id"], None)


def _begins(found: Found, asked: str) -> bool:
    return found.name.startswith(asked) or (found.puzzle_id or "").startswith(asked)


def nearest(names: Iterable[str], asked: str) -> list[str]:
    """Give the few names that are most like what was asked for, the likeliest first."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(asked)  # What is compared with many is prepared once.

    def likeness(name: str) -> float:
        matcher.set_seq1(name)
        return matcher.ratio()

    return nlargest(NUM_NEAREST, names, key=likeness)


def _unknown(run: RunDirectory, asked: str) -> str:
    likely = nearest((one.name for one in _all(run)), asked)
    if not likely:
        return f"{run.path}: no proposal and no held-out puzzle is written yet. Run it first."
    return (
        f"{run.path}: no proposal, puzzle or held-out puzzle is called {asked!r}. The nearest are "
        f"{', '.join(likely)}."
    )
