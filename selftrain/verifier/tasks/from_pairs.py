"""Tasks out of programs that are right: each set against programs of other puzzles.

A file of verified pairs holds no failures, so wrong candidates are made: the program of another
puzzle of the same answer type, under the head of this one. What it reads of its own puzzle's inputs
it then reads of this one's, those of the same type in their order; else it would only raise
NameError, and a verifier would learn to see that. Labels are the judge's: a program that is right
by accident is right. Such candidates are no sample of any model, so what is measured on them says
how well programs are told from programs, not how well a model's own errors are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from random import Random

from judge import Outcome, Verdict
from puzzles import Puzzle
from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_objects
from selftrain.errors import UsageError
from selftrain.judge import Judging
from selftrain.pairs import Given, candidates_of, describe, read_pairs
from selftrain.seeds import derive_seed
from selftrain.verifier.tasks.candidates import with_candidates
from selftrain.verifier.tasks.from_puzzles import bare_task, result_of_judged, run_unchecked
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.under_head import under_head
from selftrain.verifier.tasks.withheld import may_ask

MOST = 16
"""Programs of its own that a task shows, and as many of others."""
SHOWN_FOR_A_SPARE = 4
"""Programs of others are judged in reserve, one for so many shown: some raise, few are right."""
_NO_ANSWER_OF_THE_TYPE = (Outcome.wrong_type,)


@dataclass(frozen=True, slots=True)
class Solved:
    """A puzzle, and the programs given for it."""

    puzzle: Puzzle
    programs: tuple[str, ...]
    """Distinct sources of g under the puzzle's own head."""
    counts: tuple[int, ...]
    """How often each was given."""


def read_solved(path: Path, split: str, say: Callable[[str], object]) -> list[Solved]:
    """Read the puzzles of a file that have programs: of one split, where its rows name splits.

    Says what is read and what is refused. Raises UsageError where a row is no pair.
    """
    given = read_pairs(path, split if _names_splits(path) else None)
    for line in describe(given):
        say(line)
    return solved(given)


def _names_splits(path: Path) -> bool:
    """Tell whether the rows of a file name a split."""
    try:
        return any("split" in row for _, row in read_objects(path))
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None


def solved(given: Sequence[Given]) -> list[Solved]:
    """Take the puzzles with a program that defines a g; what is no puzzle is left out."""
    found = []
    for one in given:
        if isinstance(one.result, Puzzle):
            counts: dict[str, int] = {}
            for candidate, program in zip(candidates_of(one), one.programs, strict=False):
                if candidate.g is not None:
                    counts[candidate.g] = counts.get(candidate.g, 0) + program.count
            if counts:
                found.append(Solved(one.result, tuple(counts), tuple(counts.values())))
    return found


def tasks_of_pairs(
    some: Sequence[Solved],
    pool: Sequence[Solved],
    judging: Judging,
    *,
    seed: int,
    advance: Callable[[int], object],
    most: int = MOST,
) -> list[Task]:
    """Make the tasks of some puzzles, with wrong candidates out of a pool of the same split.

    A puzzle is left out where nothing right or nothing wrong is found for it. All is drawn by the
    seed and the puzzle's name; `advance` is told of each puzzle. Raises `judge.JudgeError`.
    """
    shown = [(one, _own(one, most, seed), _others(one, pool, most, seed)) for one in some]
    verdicts = judging.judge(
        (one.puzzle.f, g) for one, own, others in shown for g in (*own, *others)
    )
    tasks = []
    for one, own, others in shown:
        mine = [(g, next(verdicts)) for g in own]
        theirs = [(g, next(verdicts)) for g in others]
        task = _task(one.puzzle, [*mine, *chosen(theirs, len(mine))], seed)
        if len({candidate.label for candidate in task.candidates}) == 2:
            tasks.append(task)
        advance(1)
    return _withholding(tasks, judging)


def _withholding(tasks: Sequence[Task], judging: Judging) -> list[Task]:
    """Run programs that may ask f anew, without it: what they return would tell its verdict."""
    asking = [
        (one.program, task.task)
        for task in tasks
        for one in task.candidates
        if may_ask(one.program)
    ]
    known = run_unchecked(asking, judging)

    def told(task: Task, one: Candidate) -> Candidate:
        return replace(one, result=known.get((one.program, task.task), one.result))

    return [with_candidates(task, told) for task in tasks]


def chosen(judged: Sequence[tuple[str, Verdict]], count: int) -> Iterator[tuple[str, Verdict]]:
    """Keep `count` programs of others: those that give an answer of the type before those that
    raise; and all that are right by accident besides.
    """
    wrong = [pair for pair in judged if not pair[1].passed]
    answers = [pair for pair in wrong if _has_typed_answer(pair[1])]
    yield from (pair for pair in judged if pair[1].passed)
    yield from [*answers, *(pair for pair in wrong if not _has_typed_answer(pair[1]))][:count]


def _has_typed_answer(verdict: Verdict) -> bool:
    return verdict.answer is not None and verdict.outcome not in _NO_ANSWER_OF_THE_TYPE


def _task(puzzle: Puzzle, judged: Sequence[tuple[str, Verdict]], seed: int) -> Task:
    """Shuffle the candidates, so that their order tells nothing."""
    candidates = [
        Candidate(g, None, None, result_of_judged(v.outcome, v.answer, v.detail), v.passed)
        for g, v in judged
    ]
    Random(derive_seed(seed, "pairs", "order", puzzle.name)).shuffle(candidates)
    return replace(bare_task(puzzle), candidates=tuple(candidates), gold_program=None)


def _own(one: Solved, most: int, seed: int) -> list[str]:
    """Draw programs without replacement, one that came more often the sooner."""
    random = Random(derive_seed(seed, "pairs", "own", one.puzzle.name))
    return _drawn(one, random)[:most]


def _drawn(one: Solved, random: Random) -> list[str]:
    """Order programs as weighted draws would (Efraimidis and Spirakis 2006)."""
    keys = {g: random.random() ** (1 / n) for g, n in zip(one.programs, one.counts, strict=True)}
    return sorted(one.programs, key=lambda g: -keys[g])


def _others(one: Solved, pool: Sequence[Solved], most: int, seed: int) -> list[str]:
    """Draw programs of other puzzles of the same answer type, one of each in turn."""
    random = Random(derive_seed(seed, "pairs", "others", one.puzzle.name))
    donors = [
        other
        for other in pool
        if other.puzzle.answer_type == one.puzzle.answer_type and other.puzzle.id != one.puzzle.id
    ]
    random.shuffle(donors)
    count = min(most, len(one.programs))
    wanted = count + count // SHOWN_FOR_A_SPARE + 1
    found: dict[str, None] = {}
    drawn = ([(other, g) for g in _drawn(other, random)[: 4 * wanted]] for other in donors)
    for turn in zip_longest(*drawn):
        for pair in turn:
            if pair is None:
                continue
            g = under_head(pair[1], pair[0].puzzle, one.puzzle)
            if g is not None and g not in one.programs:
                found[g] = None
            if len(found) == wanted:
                return list(found)
    return list(found)
