"""The texts that are looked at: prompts as a run makes them, each with a completion that is right.

Nothing is tokenized here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from puzzles import Puzzle
from selftrain.config import Config
from selftrain.errors import UsageError
from selftrain.prompts import (
    example_completion,
    example_prompt,
    few_shot_puzzles,
    propose_prompt,
    solve_head,
    solve_prompt,
)

MOST = 100
"""Puzzles that are looked at; more would tell the same."""
_SHOWN = 3
"""Puzzles before the one that is proposed; a run shows as many as fit."""


@dataclass(frozen=True, slots=True)
class Text:
    """A prompt and what should follow it."""

    kind: str
    """propose, solve or example: an example is what is trained on."""
    prompt: str
    completion: str


def make_texts(train: Sequence[Puzzle], config: Config) -> list[Text]:
    """Make the prompts of each kind with their reference completions, from puzzles that have any.

    The reference completion of a prompt to propose is the next puzzle. Raises UsageError where no
    puzzle has a solution.
    """
    solved = [puzzle for puzzle in train if puzzle.solutions][:MOST]
    if not solved:
        raise UsageError(
            f"puzzles.train: none of {len(train):,} puzzles has a reference solution, so there is "
            "no completion to look at. Name puzzles that have some, such as puzzles.train=builtin."
        )
    few_shot = few_shot_puzzles(train, config.solve.num_few_shot)
    proposed = [
        Text("propose", propose_prompt(train[i : i + _SHOWN]), _after_head(train[i + _SHOWN]))
        for i in range(min(len(train) - _SHOWN, MOST))
    ]
    attempted = [
        Text(
            "solve",
            solve_prompt(puzzle, few_shot),
            puzzle.solutions[0].removeprefix(solve_head(puzzle)),
        )
        for puzzle in solved
    ]
    learnt = [
        Text("example", example_prompt(puzzle), example_completion(puzzle, puzzle.solutions[0]))
        for puzzle in solved
    ]
    return proposed + attempted + learnt


def _after_head(puzzle: Puzzle) -> str:
    return puzzle.f.removeprefix("def f(")
