"""Held-out puzzles as tasks: f is public and is the test, so nothing is hidden."""

from puzzles import Puzzle
from selftrain.prompts import solve_head
from selftrain.refine.tasks.task import HiddenTests, Kind, RefineTask


def puzzle_task(puzzle: Puzzle) -> tuple[RefineTask, HiddenTests]:
    """Make the task of a puzzle, named as the puzzle is."""
    task = RefineTask(
        puzzle.name,
        Kind.puzzle,
        puzzle.f,
        entry_point="g",
        parameters=puzzle.inputs,
        head=solve_head(puzzle),
        puzzle=puzzle,
        category=puzzle.category,
        difficulty=puzzle.difficulty,
    )
    return task, HiddenTests(puzzle.name, puzzle)
