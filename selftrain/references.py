"""Reference solutions through the real judge: where one fails, no score can be trusted.

Benchmarks have been scored on machines where not even their own solutions passed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from judge import Verdict
from puzzles import Puzzle, instances
from selftrain import known_references
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


@dataclass(frozen=True, slots=True)
class _Reference:
    """One reference solution of a puzzle."""

    puzzle: Puzzle
    number: int
    g: str


def failures(puzzles: Sequence[Puzzle], judging: Judging, progress: Progress) -> Iterator[Failure]:
    """Judge all reference solutions, each on all inputs of its puzzle; yield those that fail.

    Raises `judge.JudgeError`.
    """
    yield from _failing(_references(puzzles), judging, progress)


def _references(puzzles: Sequence[Puzzle]) -> list[_Reference]:
    return [
        _Reference(puzzle, number, g)
        for puzzle in puzzles
        for number, g in enumerate(puzzle.solutions, start=1)
    ]


def _failing(
    references: Sequence[_Reference], judging: Judging, progress: Progress
) -> Iterator[Failure]:
    with progress.stage("reference solutions", len(references)) as advance:
        verdicts = judging.judge_on_all([(instances(one.puzzle), one.g) for one in references])
        for one, verdict in zip(references, verdicts, strict=True):
            advance(1)
            if not verdict.passed:
                yield Failure(one.puzzle, one.number, verdict)


def _failing_of_new(
    puzzles: Sequence[Puzzle], judging: Judging, progress: Progress
) -> list[Failure]:
    """Judge the reference solutions that are not known to pass, and note those that do."""
    file = known_references.known_file()
    known, references = known_references.read_known(file), _references(puzzles)
    names = [
        known_references.name_of(instances(one.puzzle), one.g, judging.limits) for one in references
    ]
    new = [one for name, one in zip(names, references, strict=True) if name not in known]
    if len(new) < len(references):
        progress.say(f"reference solutions: {len(references) - len(new):,} passed before")
        if not new:
            return []
    failed = list(_failing(new, judging, progress))
    wrong = {(one.puzzle.name, one.number) for one in failed}
    passed = {
        name
        for name, one in zip(names, references, strict=True)
        if (one.puzzle.name, one.number) not in wrong
    }
    known_references.add_known(file, sorted(passed - known))
    return failed


def with_sound_references(
    puzzles: Sequence[Puzzle], config: Config, progress: Progress
) -> list[Puzzle]:
    """Return the puzzles, without the reference solutions that fail where these may be dropped.

    What this judge accepted before is not judged again. Raises RunError where they may not.
    """
    failed = _failing_of_new(puzzles, judging_in_evaluation(config.judge), progress)
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
