"""Score: the hidden tests judge final answers, once, when all refinement is over.

Nothing here is seen by a model, a gate or a probe. A puzzle has nothing hidden: its f at all its
inputs is the test.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from judge import FunctionProblem, Limits, TextProblem, Verdict
from puzzles import Puzzle, instances
from selftrain.judge import Judging
from selftrain.refine.gate.evidence import within
from selftrain.refine.tasks.task import HiddenTests, RefineTask, head_and_rest, whole_source

Answered = tuple[RefineTask, HiddenTests, str | None]
"""A task, its hidden tests, and the source of the final answer; None where there is none."""
ROOM = 100_000
"""Bytes beyond the hidden tests themselves, for what the judge writes around them."""


def score(
    asked: Sequence[Answered], judging: Judging, *, advance: Callable[[int], object]
) -> list[Verdict | None]:
    """Judge each answer by its task's hidden tests, in order; None where there is no answer.

    A task's time limit is native seconds for each case of a program, and for all calls of a
    function together, as the judge counts them. `advance` is told how many were just scored.
    Raises `judge.JudgeError`.
    """
    found: list[Verdict | None] = [None] * len(asked)
    places: dict[tuple[bool, Limits], list[int]] = defaultdict(list)
    for place, (task, hidden, source) in enumerate(asked):
        if source is None:
            advance(1)
        else:
            is_puzzle = isinstance(hidden.problem, Puzzle)
            places[is_puzzle, limits_of(task, hidden, judging.limits)].append(place)
    for (is_puzzle, limits), together in places.items():
        some = [
            (task, hidden, source or "")
            for task, hidden, source in map(asked.__getitem__, together)
        ]
        how = replace(judging, limits=limits)
        verdicts = (
            how.judge_on_all(_pairs(some)) if is_puzzle else how.judge_completions(_samples(some))
        )
        for place, verdict in zip(together, verdicts, strict=True):
            found[place] = verdict
            advance(1)
    return found


def limits_of(task: RefineTask, hidden: HiddenTests, limits: Limits) -> Limits:
    """Give the limits of a task: its time, and room for tests longer than a program may be."""
    limits, problem = within(task.time_limit_seconds, limits), hidden.problem
    if isinstance(problem, FunctionProblem):
        size = _rounded(len(problem.test.encode()))
        return replace(
            limits,
            source_bytes=max(limits.source_bytes, size),
            answer_bytes=max(limits.answer_bytes, size),
        )
    if isinstance(problem, TextProblem):
        size = _rounded(max(len(case.output.encode()) for case in problem.cases))
        return replace(limits, answer_bytes=max(limits.answer_bytes, size))
    return limits


def _rounded(size: int) -> int:
    """Round a size up to a power of two, so that tasks of like size are judged together."""
    return 1 << (2 * size + ROOM).bit_length()


def _pairs(asked: Sequence[tuple[RefineTask, HiddenTests, str]]) -> list[tuple[list[str], str]]:
    """Give each puzzle's f at all its inputs, and the g."""
    return [
        (instances(hidden.problem), whole_source(task, source))
        for task, hidden, source in asked
        if isinstance(hidden.problem, Puzzle)
    ]


def _samples(
    asked: Sequence[tuple[RefineTask, HiddenTests, str]],
) -> list[tuple[FunctionProblem | TextProblem, str]]:
    """Give each problem, and what completes it, so that what is run is what the gate ran."""
    found: list[tuple[FunctionProblem | TextProblem, str]] = []
    for task, hidden, source in asked:
        if isinstance(hidden.problem, FunctionProblem):
            head, rest = head_and_rest(task, source)
            found.append((replace(hidden.problem, prompt=head), rest))
        elif isinstance(hidden.problem, TextProblem):
            found.append((hidden.problem, whole_source(task, source)))
    return found
