"""A task's candidates as arrays, in the order of their texts: what every ranker reads.

Made once a task, since results are parsed for it; it holds no score of a ranker.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selftrain.verifier.ranking.groups import Bools, Floats, Ints, group_numbers
from selftrain.verifier.tasks.results import is_error
from selftrain.verifier.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Slate:
    """A task and its candidates; arrays are of shape (candidates,), in the order of texts."""

    task: Task
    index: Ints
    """Where each stands among the task's candidates."""
    counts: Ints
    """Samples of each."""
    sums: Floats | None
    """Sums of log-probabilities in nats; None where any is not known."""
    means: Floats | None
    """The same a token; None where any is not known."""
    log_odds: Floats | None
    errors: Bools
    """Whether it ended in an error."""
    groups: Ints
    """Number of the result that it shares with others."""
    labels: Bools | None
    """Whether it is right; None where any is not known."""


def lay_out(task: Task, log_odds: Sequence[float] | None) -> Slate:
    """Put a task's candidates into arrays.

    Raises ValueError where log-odds are not one each, or not a number.
    """
    if log_odds is not None:
        _check(task, log_odds)
    texts = [one.program for one in task.candidates]
    index = np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)
    here = [task.candidates[i] for i in index]
    sums = log_probabilities(task, by_mean=False)
    means = log_probabilities(task, by_mean=True)
    labels = [one.label for one in here if one.label is not None]
    return Slate(
        task=task,
        index=index,
        counts=np.array([one.num_samples for one in here], dtype=np.int64),
        sums=None if sums is None else sums[index],
        means=None if means is None else means[index],
        log_odds=None if log_odds is None else np.array(log_odds, dtype=np.float64)[index],
        errors=np.array([is_error(one.result) for one in here], dtype=np.bool_),
        groups=group_numbers([one.result for one in here]),
        labels=np.array(labels, dtype=np.bool_) if len(labels) == len(here) else None,
    )


def _check(task: Task, log_odds: Sequence[float]) -> None:
    if len(log_odds) != len(task.candidates):
        raise ValueError(
            f"Task {task.task_id!r} has {len(task.candidates)} candidates, but "
            f"{len(log_odds)} log-odds."
        )
    if any(math.isnan(one) for one in log_odds):
        raise ValueError(f"Task {task.task_id!r}: the verifier's log-odds are not a number.")


def log_probabilities(task: Task, *, by_mean: bool) -> Floats | None:
    """Give log P_LM of each candidate in nats, in the task's own order; `by_mean` a token.

    None where any is not known.
    """
    found = []
    for one in task.candidates:
        if one.sum_logprob is None or math.isnan(one.sum_logprob):
            return None
        if by_mean and one.num_tokens is None:
            return None
        found.append(one.sum_logprob / max(1, one.num_tokens or 1) if by_mean else one.sum_logprob)
    return np.array(found, dtype=np.float64)
