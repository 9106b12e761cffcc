"""What one ranker chose on every task, and whether it was right. No interval is drawn here."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.verifier.ranking.draws import right_within_by_chance
from selftrain.verifier.ranking.groups import Floats
from selftrain.verifier.ranking.rank import Likelihood, Ranker, rank_slate
from selftrain.verifier.ranking.slate import Slate


@dataclass(frozen=True, slots=True)
class Choices:
    """What a ranker's choices came to, task by task."""

    ranker: Ranker
    within: Floats
    """(tasks, k): the chance that one of the first k is right; the first column is the choice."""
    num_ties: int


def choose(slates: Sequence[Slate], ranker: Ranker, seed: int, likelihood: Likelihood) -> Choices:
    """Let one ranker order the candidates of all tasks, whose labels are known."""
    if ranker == "greedy":
        programs = [slate.task.greedy for slate in slates]
        right = [[one is not None and bool(one.label)] for one in programs]
        return Choices(ranker, np.array(right, dtype=np.float64), 0)
    within = np.zeros((len(slates), max(1, *(len(slate.counts) for slate in slates))))
    num_ties = 0
    for row, slate in zip(within, slates, strict=True):
        if not len(slate.counts):
            continue  # Nothing to choose: wrong.
        assert slate.labels is not None
        if ranker == "random":
            place = derive_seed(seed, "chance", slate.task.task_id)
            found = right_within_by_chance(slate.labels, slate.counts, seed=place)
        else:
            ranking = rank_slate(slate, ranker, seed=seed, likelihood=likelihood)
            labels = [bool(slate.task.candidates[index].label) for index in ranking.order]
            found = np.logical_or.accumulate(labels).astype(np.float64)
            num_ties += ranking.num_ties > 0
        row[: len(found)] = found
        row[len(found) :] = found[-1]
    return Choices(ranker, within, num_ties)


def choices_to_evaluation(slates: Sequence[Slate], choices: Choices) -> list[Row]:
    """Give choices as rows of an evaluation: one sample a task, or for `random` all of them."""
    rows = []
    for slate, value in zip(slates, choices.within[:, 0], strict=True):
        n, num_correct = 1, int(value)
        if choices.ranker == "random" and len(slate.counts):
            n, num_correct = count_samples(slate)
        task = slate.task
        rows.append(
            {"name": task.task_id, "family": task.family, "n": n, "num_correct": num_correct}
        )
    return rows


def count_samples(slate: Slate) -> tuple[int, int]:
    """Count a task's samples, and those that are right."""
    assert slate.labels is not None
    return int(slate.counts.sum()), int((slate.counts * slate.labels).sum())
