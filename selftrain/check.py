"""The command `selftrain check`: every reference solution goes through the real judge."""

from selftrain.config import JudgeConfig
from selftrain.judge import judging_in_evaluation
from selftrain.progress import Progress
from selftrain.puzzle_source import read_split
from selftrain.references import failures


def check(tasks: str, num_workers: int) -> int:
    """Judge all reference solutions, print those that fail, and return 1 if any does.

    A puzzle that cannot be read is printed too, and counts as a failure.
    """
    refused: list[str] = []
    puzzles = read_split(tasks, "all", refused.append)
    print("\n".join(refused), end="\n" if refused else "")
    judging = judging_in_evaluation(JudgeConfig(num_workers=num_workers))
    failed = 0
    for failure in failures(puzzles, judging, Progress()):
        failed += 1
        print(failure)
    num_references = sum(len(puzzle.solutions) for puzzle in puzzles)
    without = sum(not puzzle.solutions for puzzle in puzzles)
    print(
        f"{num_references - failed:,} of {num_references:,} reference solutions"
        f" of {len(puzzles):,} puzzles passed ({without:,} puzzles have none)"
        + (f"; {len(refused):,} puzzles or solutions could not be read" if refused else "")
    )
    return 1 if failed or refused else 0
