"""Judge a round's candidates as the verifier of the round before would have it.

It gives no verdict: whatever passed has passed the judge. With `verifier.use: judge` a puzzle's
distinct candidates meet the checker likeliest first, until `curate.max_solutions` of them passed;
some puzzles, drawn by lot, are judged whole. With `keep` all are judged, and the verifier's order
says which solutions are kept. A verifier that reads results needs g executed first: a g that fails
has its verdict then, and what is saved is calls of f. One that reads none saves whole judge calls.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from judge import Execution, Verdict
from puzzles import Puzzle, sources
from selftrain.experiment import Experiment
from selftrain.judge import (
    NOT_JUDGED,
    Judged,
    Judging,
    judge_candidates,
    judged_to_row,
    with_verdict,
    without_g,
)
from selftrain.run_directory import RoundDirectory
from selftrain.seeds import derive_seed
from selftrain.solve import Candidate
from selftrain.verifier.ranking.rank import rank
from selftrain.verifier.rounds.in_rounds import earlier_verifier, ranker_of, score
from selftrain.verifier.tasks.from_puzzles import bare_task, tasks_of_rows
from selftrain.verifier.tasks.results import result_of
from selftrain.verifier.tasks.task import Candidate as Program
from selftrain.verifier.tasks.task import Task
from selftrain.verifier.tasks.task_file import distinct

Places = dict[str, dict[str, int]]
"""By puzzle id and program, its place in the verifier's order, from 0."""
Key = tuple[str, str | None]
"""A puzzle's id and the source of a g."""
Executions = Mapping[Key, Execution]
"""What each program did on its puzzle's inputs; empty where nothing was executed first."""


def judge_in_round(
    x: Experiment,
    here: RoundDirectory,
    puzzles: Sequence[Puzzle],
    candidates: Sequence[Candidate],
    *,
    advance: Callable[[int], object],
) -> Iterable[Judged]:
    """Judge the candidates of a shard in order, all of them but where a verifier spares some.

    Candidates come puzzle by puzzle, in the order of `puzzles`. Raises `judge.JudgeError`.
    """
    folder, c = earlier_verifier(x, here), x.config.verifier
    if folder is None or c.use == "watch":
        return judge_candidates(candidates, x.judging, advance=advance)
    place = (x.config.seed, here.number)
    whole = {
        puzzle.id
        for puzzle in puzzles
        if c.use == "keep" or is_explored(*place, puzzle.id, c.explore)
    }
    shard = _Shard(x, folder, {puzzle.id: puzzle for puzzle in puzzles})
    explored = [one for one in candidates if one.puzzle_id in whole]
    judged = shard.judge_whole(explored, advance)
    judged += shard.judge_until_enough(
        [one for one in candidates if one.puzzle_id not in whole], advance
    )
    found = {(one.candidate.puzzle_id, one.candidate.index): one for one in judged}
    return [found[one.puzzle_id, one.index] for one in candidates]


def is_explored(seed: int, round_number: int, puzzle_id: str, share: float) -> bool:
    """Draw whether a puzzle is judged whole; whatever else is drawn changes nothing in it."""
    return derive_seed(seed, round_number, "explore", puzzle_id) < share * 2**63


def judge_until(
    orders: Sequence[Sequence[Candidate]], enough: int, judging: Judging
) -> list[list[Verdict]]:
    """Judge each puzzle's candidates in the order given, all distinct, until `enough` passed.

    Gives the verdicts of those judged, which come first. In waves over all puzzles, so that the
    judge's workers have something to share: each wave judges as many as a puzzle still lacks, so
    that none is judged in vain. Raises `judge.JudgeError`.
    """
    verdicts: list[list[Verdict]] = [[] for _ in orders]
    while True:
        wave = [
            (own, one)
            for own, order in zip(verdicts, orders, strict=True)
            for one in order[len(own) :][: enough - sum(verdict.passed for verdict in own)]
        ]
        if not wave:
            return verdicts
        programs = [(sources(one.f, one.more_inputs), one.g or "") for _, one in wave]
        for (own, _), verdict in zip(wave, judging.judge_on_all(programs), strict=True):
            own.append(verdict)


@dataclass(frozen=True, slots=True)
class _Shard:
    """The puzzles of one shard, and the verifier that orders their candidates."""

    x: Experiment
    folder: Path
    """The verifier's."""
    puzzles: Mapping[str, Puzzle]
    """By id."""

    def judge_whole(
        self, candidates: Sequence[Candidate], advance: Callable[[int], object]
    ) -> list[Judged]:
        """Judge all, and say where the verifier has them."""
        judged = list(judge_candidates(candidates, self.x.judging, advance=advance))
        rows = [judged_to_row(one) for one in judged if one.candidate.g is not None]
        named = [
            (puzzle_id, self.puzzles[puzzle_id], list(group))
            for puzzle_id, group in groupby(rows, key=lambda row: row["puzzle_id"])
        ]
        places = self.order(tasks_of_rows(named, self.x.judging))
        return [replace(one, rank=_place(places, one.candidate)) for one in judged]

    def judge_until_enough(
        self, candidates: Sequence[Candidate], advance: Callable[[int], object]
    ) -> list[Judged]:
        """Judge as many as it takes in the verifier's order; the others have no verdict."""
        if not candidates:
            return []
        first: dict[Key, Candidate] = {}
        for one in candidates:
            if one.g is not None:
                first.setdefault((one.puzzle_id, one.g), one)
        executions = self.execute(first)
        places = self.order(self.tasks(candidates, executions))
        asked = (one for key, one in first.items() if not _has_failed(executions.get(key)))
        orders = [
            sorted(own, key=lambda one: _place(places, one) or 0)
            for _, own in groupby(asked, key=lambda one: one.puzzle_id)
        ]
        enough = self.x.config.curate.max_solutions
        verdicts: dict[Key, Verdict] = {
            (one.puzzle_id, one.g): verdict
            for order, own in zip(orders, judge_until(orders, enough, self.x.judging), strict=True)
            for one, verdict in zip(order, own, strict=False)
        }
        advance(len(candidates))
        return [_judged(one, places, executions, verdicts) for one in candidates]

    def execute(self, programs: Mapping[Key, Candidate]) -> Executions:
        """Run each g on its puzzle's first inputs, where the verifier reads results."""
        if self.x.config.verifier.results == "none":
            return {}
        asked = [(one.g or "", one.f) for one in programs.values()]
        return dict(zip(programs, self.x.judging.execute(asked), strict=True))

    def tasks(self, candidates: Sequence[Candidate], executions: Executions) -> list[Task]:
        """Make the tasks that the verifier reads, none of which has a label."""
        made = []
        for puzzle_id, group in groupby(candidates, key=lambda one: one.puzzle_id):
            programs = distinct(
                _program(one, executions.get((puzzle_id, one.g)))
                for one in group
                if one.g is not None
            )
            task = bare_task(self.puzzles[puzzle_id], puzzle_id)
            made.append(replace(task, candidates=programs))
        return made

    def order(self, tasks: Sequence[Task]) -> Places:
        """Let the verifier order the programs of each task."""
        c, seed = self.x.config.verifier, self.x.config.seed
        ranker = ranker_of(c, tasks)
        places: Places = {}
        for scored in score(self.x, self.folder, tasks):
            order = rank(scored, ranker, seed=seed, likelihood=c.likelihood).order
            programs = [scored.task.candidates[number].program for number in order]
            places[scored.task.task_id] = {text: place for place, text in enumerate(programs)}
        return places


def _program(one: Candidate, execution: Execution | None) -> Program:
    assert one.g is not None, "a candidate without a g is not ordered"
    return Program(
        program=one.g,
        sum_logprob=one.completion.sum_logprob,
        num_tokens=one.completion.num_tokens,
        result=None if execution is None else result_of(execution),
        label=None,
    )


def _place(places: Places, one: Candidate) -> int | None:
    return None if one.g is None else places[one.puzzle_id][one.g]


def _judged(
    one: Candidate,
    places: Places,
    executions: Executions,
    verdicts: Mapping[Key, Verdict],
) -> Judged:
    """Say what became of a candidate; its fuel is that of running g first and of judging it."""
    key = (one.puzzle_id, one.g)
    executed = executions.get(key)
    if one.g is None:
        judged = without_g(one)
    elif key in verdicts:
        judged = with_verdict(one, verdicts[key])
    elif executed is not None and executed.failure is not None:
        judged = Judged(one, executed.failure, False, None, executed.detail, 0)
    else:
        judged = Judged(one, NOT_JUDGED, False, None, "enough others had passed", 0)
    fuel = judged.fuel + (0 if executed is None else executed.fuel)
    return replace(judged, fuel=fuel, rank=_place(places, one), ordered=True)


def _has_failed(executed: Execution | None) -> bool:
    """Tell whether a g is known to give no answer, so that f is never asked about one."""
    return executed is not None and executed.failure is not None
