"""What a forward model is taught: first tries, and (wrong try, edits, right try) triples.

The prompts are those that it is later asked with, word for word. Nothing is judged or trained here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from random import Random

from judge import Outcome
from puzzles import Puzzle
from selftrain.curate import Example
from selftrain.judge import Judged
from selftrain.prompts import example_completion
from selftrain.refine.critic.reading import read_review
from selftrain.refine.critic.rules import rules_review
from selftrain.refine.forward.wording import revision_prompt
from selftrain.refine.gate.evidence import GateReport
from selftrain.refine.tasks.held_out import puzzle_task
from selftrain.seeds import derive_seed


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong try that is taught from, and the right one that it should become."""

    puzzle: Puzzle
    index: int
    """Number of the attempt."""
    source: str
    """The wrong g."""
    g: str
    """The right one."""
    answer: str | None
    """What the right one returned; None where nobody ran it."""
    num_attempts: int
    num_correct: int


def wrong_tries(
    puzzles: Sequence[Puzzle], judged: Sequence[Judged], most: int, seed: int
) -> list[Wrong]:
    """Draw at most `most` distinct wrong tries of each puzzle, where a right one is known.

    The judged ones come puzzle by puzzle. `seed` is the run's.
    """
    by_id = {puzzle.id: puzzle for puzzle in puzzles}
    chosen: list[Wrong] = []
    for puzzle_id, group in groupby(judged, key=lambda one: one.candidate.puzzle_id):
        tried = list(group)
        chosen += _of_puzzle(by_id[puzzle_id], tried, most, derive_seed(seed, "teach", puzzle_id))
    return chosen


def _of_puzzle(puzzle: Puzzle, tried: Sequence[Judged], most: int, seed: int) -> Iterator[Wrong]:
    right = {one.candidate.g: one for one in tried if one.passed and one.candidate.g is not None}
    # What passed by luck is neither right nor wrong.
    wrong = {
        one.candidate.g: one.candidate.index
        for one in reversed(tried)
        if not one.passed and one.candidate.g is not None and one.outcome != Outcome.flaky
    }
    answers = {g: one.answer for g, one in right.items()} or dict.fromkeys(puzzle.solutions[:1])
    if not answers:
        return
    num_correct = sum(one.passed for one in tried)
    for source in Random(seed).sample(list(wrong), min(most, len(wrong))):
        g = nearest(source, list(answers))
        yield Wrong(puzzle, wrong[source], source, g, answers[g], len(tried), num_correct)


def nearest(wrong: str, right: Sequence[str]) -> str:
    """Give the right source that is nearest to a wrong one by edits, the first of equal ones."""
    return max(right, key=lambda g: SequenceMatcher(None, wrong, g, autojunk=False).ratio())


def example_of(one: Wrong, report: GateReport, round_number: int) -> Example | None:
    """Make an example of a wrong try, by the edits that the rules ask for.

    None where the gate accepts it after all.
    """
    task, _ = puzzle_task(one.puzzle)
    edits = read_review(rules_review(task, one.source, report)).edits
    if not edits:
        return None
    return Example(
        round=round_number,
        puzzle_id=one.puzzle.id,
        prompt=revision_prompt(task, one.source, edits, "continue"),
        completion=example_completion(one.puzzle, one.g),
        name=one.puzzle.name,
        index=one.index,
        f=one.puzzle.f,
        g=one.g,
        answer=one.answer,
        num_attempts=one.num_attempts,
        num_correct=one.num_correct,
    )
