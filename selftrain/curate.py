"""Curate: keep at most m distinct verified solutions a puzzle, shortest first.

The verdicts are given in judge.py; nothing is judged here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from puzzles.filters import well_formed
from puzzles.puzzle import Puzzle
from selftrain.judge import Judged
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


def curate(judged: Iterable[Judged], max_solutions: int, round_number: int) -> Iterator[Example]:
    """Make examples of a round's judged candidates, which come puzzle by puzzle."""
    for puzzle_id, group in groupby(judged, key=lambda one: one.candidate.puzzle_id):
        solved = [one.candidate for one in group if one.passed]
        solutions = sorted({candidate.g or "" for candidate in solved}, key=lambda g: (len(g), g))
        if not solutions:
            continue
        puzzle = well_formed(solved[0].f, name=puzzle_id)
        assert isinstance(puzzle, Puzzle), "a judged puzzle passed the filter"
        for g in solutions[:max_solutions]:
            yield Example(
                round_number, puzzle_id, example_prompt(puzzle), example_completion(puzzle, g)
            )
