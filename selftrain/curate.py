"""Curate: which verified pairs are trained on. At most m distinct solutions a puzzle, shortest first."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby

from puzzles.filters import well_formed
from puzzles.puzzle import Puzzle
from selftrain.files import Row
from selftrain.prompts import example_completion, example_prompt


@dataclass(frozen=True, slots=True)
class Example:
    """A verified pair as it is trained on."""

    round: int
    puzzle_id: str
    prompt: str
    """The puzzle, and the head of the solution."""
    completion: str
    """The body of the solution, and the call that asserts it."""


def curate(judged_rows: Iterable[Row], max_solutions: int, round_number: int) -> Iterator[Example]:
    """Make examples of a round's judged candidates, which come puzzle by puzzle."""
    for puzzle_id, rows in groupby(judged_rows, key=lambda row: row["puzzle_id"]):
        passed = [row for row in rows if row["passed"]]
        if not passed:
            continue
        puzzle = well_formed(passed[0]["f"], name=puzzle_id)
        assert isinstance(puzzle, Puzzle), "a judged puzzle passed the filter"
        solutions = sorted({row["g"] for row in passed}, key=lambda g: (len(g), g))
        for g in solutions[:max_solutions]:
            yield Example(round_number, puzzle_id, example_prompt(puzzle), example_completion(puzzle, g))


def example_to_row(example: Example) -> Row:
    """Flatten an example: a row of the examples file."""
    return asdict(example)
