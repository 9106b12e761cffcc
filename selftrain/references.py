"""Reference solutions through the real judge: where one fails, no score can be trusted.

Benchmarks have been scored on machines where not even their own solutions passed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from judge import Verdict
from puzzles import Puzzle, instances
from selftrain.config import Config
from selftrain.errors import RunError
from selftrain.judge import Judging, judging_in_evaluation
from selftrain.progress import Progress


@dataclass(frozen=True, slots=True)
class Failure:
    """A reference solution that the judge does not accept."""

    puzzle: Puzzle
    number: int
    """Which of its solutions, from 1."""
    verdict: Verdict

    def __str__(self) -> str:
        reason = f"{self.verdict.outcome} {self.verdict.detail}".strip()
        return f"{self.puzzle.name!r}: solution {self.number}: {reason}"


def failures(puzzles: Sequence[Puzzle], judging: Judging, progress: Progress) -> Iterator[Failure]:
    """Judge all reference solutions, each on all inputs of its puzzle; yield those that fail.

    Raises `judge.JudgeError`.
    """
    references = [
        (puzzle, number, g)
        for puzzle in puzzles
        for number, g in enumerate(puzzle.solutions, start=1)
    ]
    with progress.stage("reference solutions", len(references)) as advance:
        verdicts = judging.judge_on_all([(instances(puzzle), g) for puzzle, _, g in references])
        for (puzzle, number, _), verdict in zip(references, verdicts, strict=True):
            advance(1)
            if not verdict.passed:
                yield Failure(puzzle, number, verdict)


def with_sound_references(
    puzzles: Sequence[Puzzle], config: Config, progress: Progress
) -> list[Puzzle]:
    """Return the puzzles, without the reference solutions that fail where these may be dropped.

    Raises RunError where they may not.
    """
    failed = list(failures(puzzles, judging_in_evaluation(config.judge), progress))
    if failed and config.puzzles.failing_references == "refuse":
        raise RunError(
            f"{len(failed)} of the reference solutions fail (the first is {failed[0]}), so nothing "
            "was scored. `selftrain check --tasks FILE` lists them; mend them, or leave them out "
            "with puzzles.failing_references=drop."
        )
    wrong = {(one.puzzle.name, one.number) for one in failed}
    for one in failed:
        progress.say(f"reference solution left out: {one}")
    return [
        replace(
            puzzle,
            solutions=tuple(
                g
                for number, g in enumerate(puzzle.solutions, start=1)
                if (puzzle.name, number) not in wrong
            ),
        )
        for puzzle in puzzles
    ]
