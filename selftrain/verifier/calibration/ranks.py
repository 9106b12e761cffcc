"""How well scores tell right from wrong candidates, whatever their scale: AUROC, with intervals.

Unlike calibration.py it takes any score, also a likelihood or a joint score, and infinite ones.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from selftrain.seeds import derive_seed
from selftrain.statistics import Estimate
from selftrain.statistics.estimator import Floats
from selftrain.statistics.intervals import mean_with_interval
from selftrain.statistics.resampling import task_weights, with_interval
from selftrain.verifier.calibration.bins import Bools, Ints

_MOST_CELLS = 2_000_000
"""Numbers held at once while replicates are gone through."""


def auroc(scores: npt.ArrayLike, labels: Bools) -> float | None:
    """Give the share of pairs of a right and a wrong candidate that a score orders rightly.

    Pairs of equal scores count half (Mann and Whitney 1947). `scores` and `labels` are of shape
    (N,); None where one class is missing. By ranks, since scikit-learn's refuses infinite scores.
    """
    from scipy.stats import rankdata

    num_right = int(labels.sum())
    num_pairs = num_right * (labels.size - num_right)
    if not num_pairs:
        return None
    above = rankdata(np.asarray(scores))[labels].sum() - num_right * (num_right + 1) / 2
    return float(above / num_pairs)


def auroc_pooled(
    scores: Floats, labels: Bools, tasks: Ints, families: Sequence[str], *, seed: int
) -> Estimate | None:
    """Give the AUROC over all tasks' candidates together, with a 95% interval over tasks.

    It is high also where a score only tells easy tasks from hard ones; `auroc_within` is not.
    `tasks` (N,) numbers each one's task, `families` has one a task; `seed` is the run's. None
    where one class is missing; replicates that lack one are left out.
    """
    value = auroc(scores, labels)
    if value is None:
        return None
    weights = task_weights(families, seed)
    size = max(1, _MOST_CELLS // labels.size)
    parts = [
        auroc_weighted(scores, labels, tasks, weights[start : start + size])
        for start in range(0, len(weights), size)
    ]
    smallest = int(np.bincount(tasks).min())
    return with_interval(value, np.concatenate(parts), families, num_samples=smallest)


def auroc_within(
    scores: Floats, labels: Bools, tasks: Ints, families: Sequence[str], *, seed: int
) -> Estimate | None:
    """Average each task's own AUROC over the tasks that have right and wrong candidates.

    What ranking a task's candidates takes. Arguments as those of `auroc_pooled`; None where no
    task has both.
    """
    order = np.argsort(tasks, kind="stable")
    starts = np.searchsorted(tasks[order], np.arange(len(families) + 1))
    found = []
    for task, family in enumerate(families):
        own = order[starts[task] : starts[task + 1]]
        value = auroc(scores[own], labels[own])
        if value is not None:
            found.append((value, family, own.size))
    if not found:
        return None
    values, kept, sizes = zip(*found, strict=True)
    draws = derive_seed(seed, "intervals")
    return mean_with_interval(values, kept, num_samples=min(sizes), seed=draws)


def auroc_weighted(scores: Floats, labels: Bools, tasks: Ints, weights: Floats) -> Floats:
    """Give the AUROC by each row of tasks' weights (replicates, T); nan without a pair."""
    right, wrong = scores[labels], scores[~labels]
    order = np.argsort(wrong, kind="stable")
    of_right, of_wrong = weights[:, tasks[labels]], weights[:, tasks[~labels][order]]
    below = np.zeros((len(weights), wrong.size + 1))
    np.cumsum(of_wrong, axis=1, out=below[:, 1:])
    places = [np.searchsorted(wrong[order], right, side=side) for side in ("left", "right")]
    # Wrong ones below a right one, and half of those that equal it.
    area = sum(np.einsum("ij,ij->i", of_right, below[:, place]) / 2 for place in places)
    pairs = of_right.sum(axis=1) * below[:, -1]
    found: Floats = np.divide(area, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
    return found
