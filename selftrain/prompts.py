"""Prompts and training texts, in the words of the paper's release.

What the model answers is cut in puzzles/cut.py.
"""

from collections.abc import Sequence

from puzzles import Puzzle
from puzzles.p3_tutorials import tutorials
from puzzles.rename import rename_global
from puzzles.syntax import SyntaxFailure

TYPING = "from typing import List"


def propose_prompt(puzzles: Sequence[Puzzle]) -> str:
    """Show puzzles as f1, f2, ... without solutions, and begin the next; it ends in `def f4(`."""
    shown = [_numbered(puzzle.f, "f", i) for i, puzzle in enumerate(puzzles, start=1)]
    return "\n\n".join([*shown, propose_head(len(puzzles))])


def propose_head(num_shown: int) -> str:
    """Give the end of a proposal's prompt, with which the proposed definition begins."""
    return f"def f{num_shown + 1}("


def solve_prompt(puzzle: Puzzle, few_shot: Sequence[Puzzle] = ()) -> str:
    """Show solved puzzles and the one to solve, and begin its solution.

    It ends in `def g6():` or the like. Without solved puzzles the names carry no number,
    as in an example to train on.
    """
    if not few_shot:
        return f"{puzzle.f}\n\n{solve_head(puzzle)}"
    parts = [TYPING]
    for i, shown in enumerate(few_shot, start=1):
        parts += [
            _numbered(shown.f, "f", i),
            _numbered(shown.solutions[0], "g", i),
            f"assert f{i}(g{i}())",
        ]
    number = len(few_shot) + 1
    return "\n\n".join([*parts, _numbered(puzzle.f, "f", number), solve_head(puzzle, number)])


def solve_head(puzzle: Puzzle, number: int | None = None) -> str:
    """Give the head of a solution: `def g(<inputs>):`, with nothing after the colon."""
    return f"def g{number or ''}({puzzle.inputs}):"


def few_shot_puzzles(train: Sequence[Puzzle], count: int) -> list[Puzzle]:
    """Choose `count` puzzles with a reference solution, each of another family.

    The first are P3's five tutorials in the paper's own words, where the train split has them.
    """
    chosen: dict[str, Puzzle] = {}
    for puzzle in (*tutorials(train), *train):
        if puzzle.solutions and len(chosen) < count:
            chosen.setdefault(puzzle.family or puzzle.name, puzzle)
    return list(chosen.values())


def example_prompt(puzzle: Puzzle) -> str:
    """Give the first part of an example: the puzzle and the head of the solution."""
    return solve_prompt(puzzle)


def example_completion(puzzle: Puzzle, g: str) -> str:
    """Give the second part of an example: the body of g, and the call that asserts it."""
    return f"{g.removeprefix(solve_head(puzzle))}\n\nassert f(g())"


def _numbered(source: str, letter: str, number: int) -> str:
    """Number the function that a source defines, in its head and wherever the source calls it."""
    try:
        return rename_global(source, {letter: f"{letter}{number}"})
    except SyntaxFailure:
        # A local variable of the source has just that name; calls by the old name then stay.
        return source.replace(f"def {letter}(", f"def {letter}{number}(", 1)
