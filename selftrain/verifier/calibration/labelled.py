"""Candidates of many tasks, one after the other: what calibration is measured on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selftrain.statistics.estimator import Floats
from selftrain.statistics.intervals import cluster_names
from selftrain.verifier.calibration.bins import Bools, Ints
from selftrain.verifier.ranking.rank import Scored


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Log-odds and labels of N candidates of T tasks."""

    log_odds: Floats
    """log P(right) - log P(wrong), shape (N,); finite."""
    labels: Bools
    """Whether each is right, shape (N,)."""
    tasks: Ints
    """Number of each one's task, from 0 to T - 1, shape (N,)."""
    families: tuple[str, ...]
    """Family of each task, empty where it has none: T of them."""

    @property
    def clusters(self) -> list[str]:
        """Name what each candidate is resampled with: its task's family, else its task."""
        names = cluster_names(self.families)
        return [names[task] for task in self.tasks]


def join_scored(scored: Sequence[Scored]) -> Labelled:
    """Join the candidates of tasks that a verifier has read; see `join`."""
    return join(
        [one.log_odds or () for one in scored],
        [[candidate.label for candidate in one.task.candidates] for one in scored],
        [one.task.family for one in scored],
    )


def join(
    log_odds: Sequence[Sequence[float]],
    labels: Sequence[Sequence[bool | None]],
    families: Sequence[str],
) -> Labelled:
    """Join what is given task by task; a task without candidates is left out.

    Raises ValueError where lengths differ, a label is not known or log-odds are not finite.
    """
    some = [index for index, own in enumerate(labels) if own]
    for odds, own in zip(log_odds, labels, strict=True):
        if len(odds) != len(own):
            raise ValueError(f"A task has {len(own)} labels, but {len(odds)} log-odds.")
        if any(label is None for label in own):
            raise ValueError("A candidate has no label: execute and label the tasks first.")
    found = Labelled(
        log_odds=np.array([each for index in some for each in log_odds[index]], dtype=np.float64),
        labels=np.array([each for index in some for each in labels[index]], dtype=np.bool_),
        tasks=np.repeat(np.arange(len(some)), [len(labels[index]) for index in some]),
        families=tuple(families[index] for index in some),
    )
    if not np.isfinite(found.log_odds).all():
        raise ValueError("Log-odds must be finite; a verifier gave nan or infinity.")
    return found
