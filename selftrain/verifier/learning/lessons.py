"""What a verifier learns from: a task's distinct labelled candidates, and its gold program, once.

How often a text was sampled plays no part: it tells how likely it is, not how right. What is done
with them is in learn.py.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from transformers import PreTrainedTokenizerBase

from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.verifier.learning.inputs import Encoded, Reads, read, shares_cut
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.task_file import distinct


@dataclass(frozen=True, slots=True)
class Example:
    """A candidate as it is learnt from."""

    row: Encoded
    """What is read of it."""
    label: bool
    """Whether it is right."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the tasks."""

    num_tasks: int
    """Tasks there were."""
    num_unlabelled: int
    """Tasks left out, since no candidate of theirs has a label."""
    num_examples: int
    """Candidates that are learnt from, gold programs among them."""
    num_right: int
    """How many of these are right."""
    num_gold: int
    """Gold programs that were added."""
    num_gold_left_out: int
    """Gold programs that were not, since their result is not known. That holds for a verifier that
    reads no results too, so that all arms learn from the same candidates."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """The examples of some tasks."""

    tasks: tuple[tuple[Example, ...], ...]
    """One row of examples a task, never empty."""
    counts: Counts
    """What became of the tasks."""

    def report(self) -> Row:
        """Give the counts, and for each segment the share of examples in which it is cut."""
        rows = [example.row for task in self.tasks for example in task]
        return asdict(self.counts) | {"cut": shares_cut(rows)}


def make_lessons(
    tokenizer: PreTrainedTokenizerBase, reads: Reads, tasks: Sequence[Task], *, gold: bool
) -> Lessons:
    """Lay out each task's labelled candidates; with `gold` its gold program too, where there is one
    that is not among them, trailing white space aside.
    """
    kept: list[tuple[Example, ...]] = []
    num_gold = num_gold_left_out = 0
    for task in tasks:
        candidates = [one for one in distinct(task.candidates) if one.label is not None]
        added = _gold(task, candidates) if gold else None
        if added and added.result is None:
            num_gold_left_out += 1
        elif added:
            num_gold += 1
            candidates.append(added)
        if candidates:
            kept.append(tuple(_example(tokenizer, reads, task, one) for one in candidates))
    examples = [example for lesson in kept for example in lesson]
    counts = Counts(
        num_tasks=len(tasks),
        num_unlabelled=len(tasks) - len(kept),
        num_examples=len(examples),
        num_right=sum(example.label for example in examples),
        num_gold=num_gold,
        num_gold_left_out=num_gold_left_out,
    )
    return Lessons(tuple(kept), counts)


def refuse_one_sided(lessons: Lessons) -> None:
    """Raise UsageError where there is nothing to tell apart."""
    num_right, num_examples = lessons.counts.num_right, lessons.counts.num_examples
    if num_examples == 0:
        raise UsageError(
            f"verifier: none of the {lessons.counts.num_tasks:,} train tasks has a labelled "
            "candidate to learn from."
        )
    if num_right in (0, num_examples):
        raise UsageError(
            f"verifier: all {num_examples:,} labelled candidates of the train tasks are "
            f"{'right' if num_right else 'wrong'}; a verifier learns from right and wrong ones. "
            "Draw more candidates, or take tasks with gold programs."
        )


def _gold(task: Task, candidates: Sequence[Candidate]) -> Candidate | None:
    if task.gold_program is None:
        return None
    if task.gold_program.rstrip() in {one.program.rstrip() for one in candidates}:
        return None
    return Candidate(task.gold_program, None, None, task.gold_result, label=True)


def _example(
    tokenizer: PreTrainedTokenizerBase, reads: Reads, task: Task, one: Candidate
) -> Example:
    row = read(tokenizer, reads, task.task, one.program, one.result)
    return Example(row, bool(one.label))
