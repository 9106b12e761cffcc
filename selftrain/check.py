"""The command `selftrain check`: every reference solution goes through the real judge."""

from judge import Limits, judge_many
from selftrain.progress import Progress
from selftrain.puzzle_source import read_split


def check(tasks: str, num_workers: int) -> int:
    """Judge all reference solutions, print those that fail, and return 1 if any does."""
    puzzles = read_split(tasks, "all")
    pairs = [(puzzle, g) for puzzle in puzzles for g in puzzle.solutions]
    failed = 0
    with Progress().stage("check", len(pairs)) as advance:
        verdicts = judge_many(((puzzle.f, g) for puzzle, g in pairs), Limits(), num_workers)
        for (puzzle, _), verdict in zip(pairs, verdicts, strict=True):
            advance(1)
            if not verdict.passed:
                failed += 1
                print(f"{puzzle.name}: {verdict.outcome} {verdict.detail}")
    without = sum(not puzzle.solutions for puzzle in puzzles)
    print(
        f"{len(pairs) - failed:,} of {len(pairs):,} reference solutions"
        f" of {len(puzzles):,} puzzles passed ({without:,} puzzles have none)"
    )
    return 1 if failed else 0
