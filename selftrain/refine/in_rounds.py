"""Refinement in the rounds of a run: what no attempt solved has another chance.

By lot, an unsolved puzzle is refined from one of its attempts (loop.py), or drawn again with as
many tokens: what refinement is measured against. A way ends with the first answer that the gate
accepts, and one that the judge confirms is a verified pair. It is a further candidate of its puzzle
and no attempt at it: solve rates, and what a verifier learns from, are of attempts alone. What was
gained is counted in gains.py.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TypeVar

from puzzles import Puzzle
from puzzles.syntax import SyntaxFailure, parse, unparse
from selftrain.config.refine import Arm
from selftrain.experiment import Experiment
from selftrain.files import Format, Row
from selftrain.judge import Judged, judge_candidates, judged_from_row, judged_to_row
from selftrain.pairs import Given, Program, candidates_of
from selftrain.refine.arms import WAYS, Way
from selftrain.refine.calls import Calls
from selftrain.refine.forward.candidate import Candidate
from selftrain.refine.loop import refine
from selftrain.refine.means import Means, Samplers, means_of
from selftrain.refine.tasks.held_out import puzzle_task
from selftrain.refine.trace import REFINED, Refined, Role
from selftrain.run_directory import RoundDirectory
from selftrain.sampling import Completion, FinishReason
from selftrain.sampling.lazy import LazySampler
from selftrain.seeds import derive_seed
from selftrain.solve import Candidate as Attempt

T = TypeVar("T")
_DOES_NOTHING = (ast.Expr, ast.Assert, ast.If)
"""What stands beside a g to try it out, such as a call of it."""


@dataclass(frozen=True, slots=True)
class Retried:
    """An unsolved puzzle that was refined or drawn again."""

    puzzle_id: str
    refined: Refined
    """Iteration 0 is the attempt that it began with; no tokens are counted for it."""
    judged: Judged | None
    """The answer as a candidate with its verdict; None where the gate accepted none."""


@dataclass(frozen=True, slots=True)
class Unsolved:
    """A puzzle with all its attempts, none of which passed."""

    puzzle: Puzzle
    attempts: Sequence[Judged]

    @property
    def first(self) -> Candidate:
        """Give the first attempt that holds a g, else the first, as what is refined."""
        shown = next((one for one in self.attempts if one.candidate.g is not None), None)
        attempt = (shown or self.attempts[0]).candidate
        return Candidate(attempt.g, attempt.no_g)


def refine_unsolved(
    x: Experiment,
    here: RoundDirectory,
    shard: int,
    solver: LazySampler,
    puzzles: Sequence[Puzzle],
    judged: list[Judged],
) -> list[Judged]:
    """Give a shard's unsolved puzzles another chance; add what came of it to its candidates.

    Without `refine.enabled` nothing is done. Candidates come puzzle by puzzle, further ones behind
    the attempts. Raises `judge.JudgeError`, and what a sampler raises.
    """
    if not x.config.refine.enabled:
        return judged
    unsolved = unsolved_of(puzzles, judged)
    retrying = partial(retry, x, here, shard, solver, unsolved)
    retried = x.once(here, shard, RETRIED, len(unsolved), retrying)
    further = (one.judged for one in retried if one.judged is not None)
    return list(joined(judged, further, lambda one: one.candidate.puzzle_id))


def unsolved_of(puzzles: Sequence[Puzzle], judged: Iterable[Judged]) -> list[Unsolved]:
    """List the puzzles of which no attempt passed.

    A verifier that spares candidates their verdict spares none of these.
    """
    by_id = {puzzle.id: puzzle for puzzle in puzzles}
    groups = groupby(judged, key=lambda one: one.candidate.puzzle_id)
    tried = [Unsolved(by_id[puzzle_id], list(group)) for puzzle_id, group in groups]
    return [one for one in tried if not any(attempt.passed for attempt in one.attempts)]


def retry(
    x: Experiment,
    here: RoundDirectory,
    shard: int,
    solver: LazySampler,
    unsolved: Sequence[Unsolved],
    *,
    advance: Callable[[float], object],
) -> list[Retried]:
    """Refine each puzzle or draw it again, and judge what the gate accepted, in order.

    Answers of models are kept in the round's folder, so that no kill loses one.
    """
    if not unsolved:
        return []
    calls = here.calls(shard)
    calls.parent.mkdir(parents=True, exist_ok=True)
    place = (here.number, "refine")
    means = means_of(x, Samplers(solver, x.critic), Calls(calls), x.judging, place)
    drawn, rest = _by_lot(x, here, unsolved)
    done = _go(way_of(x), rest, means, advance) | _go(WAYS["resample"], drawn, means, advance)
    accepted = [one for one in unsolved if done[one.puzzle.id].result.accepted]
    answers = [further_candidate(one, done[one.puzzle.id]) for one in accepted]
    verdicts = judge_candidates(answers, x.judging, advance=lambda _: None)
    judged = {one.candidate.puzzle_id: one for one in verdicts}
    return [_retried(one, done[one.puzzle.id], judged.get(one.puzzle.id)) for one in unsolved]


def way_of(x: Experiment) -> Way:
    """Give the way in which a round refines: it ends as soon as the gate accepts an answer."""
    name: Arm = "self_critic" if x.config.refine.critic == "self" else "critic"
    return replace(WAYS[name], until_accepted=True)


def further_candidate(one: Unsolved, refined: Refined) -> Attempt:
    """Make the answer a candidate of its puzzle, numbered behind the attempts.

    Its g stands under the head that f asks for, as in every example; an import or a helper that
    stands before it goes into it.
    """
    source = refined.result.source
    assert source is not None, "the gate accepts no empty answer"
    program = Program(in_one_definition(source), False, 1)
    (cut,) = candidates_of(Given(one.puzzle.name, one.puzzle.f, one.puzzle, (program,), 1))
    completion = _completion(refined, source) or cut.completion
    return replace(cut, index=len(one.attempts), completion=completion)


def in_one_definition(source: str) -> str:
    """Move imports and helpers that stand beside g into it; a source without any stays as it is."""
    try:
        body = parse(source).body
    except SyntaxFailure:
        return source
    g = next((one for one in body if isinstance(one, ast.FunctionDef) and one.name == "g"), None)
    beside = [one for one in body if one is not g and not isinstance(one, _DOES_NOTHING)]
    if g is None or not beside:
        return source
    g.body = [*beside, *g.body]
    return unparse(g)


def joined(
    attempts: Iterable[T], further: Iterable[T], puzzle_id: Callable[[T], str]
) -> Iterator[T]:
    """Stream candidates puzzle by puzzle, further ones behind the attempts at their puzzle.

    Both come in the same order of puzzles.
    """
    rest = iter(further)
    waiting = next(rest, None)
    for key, group in groupby(attempts, key=puzzle_id):
        yield from group
        while waiting is not None and puzzle_id(waiting) == key:
            yield waiting
            waiting = next(rest, None)
    assert waiting is None, "what is tried further was attempted first"


def _by_lot(
    x: Experiment, here: RoundDirectory, unsolved: Sequence[Unsolved]
) -> tuple[list[Unsolved], list[Unsolved]]:
    """Draw the puzzles that are drawn again; give them and the others."""
    bar = x.config.refine.resample_share * 2**63
    lots = [
        derive_seed(x.config.seed, here.number, "refine or draw again", one.puzzle.id) < bar
        for one in unsolved
    ]
    pairs = list(zip(unsolved, lots, strict=True))
    return [one for one, lot in pairs if lot], [one for one, lot in pairs if not lot]


def _go(
    way: Way, unsolved: Sequence[Unsolved], means: Means, advance: Callable[[float], object]
) -> dict[str, Refined]:
    """Go one way with some puzzles, within the tokens of each; give what came of it by their id."""
    tasks = [puzzle_task(one.puzzle)[0] for one in unsolved]
    done = refine(
        tasks,
        way,
        means,
        budgets={task.task_id: means.config.tokens for task in tasks},
        firsts={task.task_id: one.first for task, one in zip(tasks, unsolved, strict=True)},
        advance=advance,
    )
    return {one.puzzle.id: refined for one, refined in zip(unsolved, done, strict=True)}


def _retried(one: Unsolved, refined: Refined, judged: Judged | None) -> Retried:
    """Put down what became of a puzzle; all of f is known, so its verdict is the hidden test."""
    result = replace(
        refined.result,
        solved=judged is not None and judged.passed,
        outcome="" if judged is None else judged.outcome,
    )
    further = None if judged is None else replace(judged, way=result.arm)
    return Retried(one.puzzle.id, replace(refined, result=result), further)


def _completion(refined: Refined, source: str) -> Completion | None:
    """Find the reply that holds the answer; none does where it was an attempt."""
    for step in refined.steps:
        asked = step.calls.get(Role.forward)
        if asked is not None and step.candidate is not None and step.candidate.source == source:
            reason = FinishReason(asked.finish_reason)
            return Completion(asked.reply, reason, asked.used.completion, None)
    return None


def _to_row(one: Retried) -> Row:
    return {
        "puzzle_id": one.puzzle_id,
        **REFINED.to_row(one.refined),
        "judged": None if one.judged is None else judged_to_row(one.judged),
    }


def _from_row(row: Row) -> Retried:
    judged = None if row["judged"] is None else judged_from_row(row["judged"])
    return Retried(row["puzzle_id"], REFINED.from_row(row), judged)


RETRIED = Format("refine", _to_row, _from_row)
