"""Numbers of probabilities and labels on plain arrays: ECE, Brier's parts, negative log-likelihood.

No intervals, no verifier and no task is known here; see calibration.py. Values outside [0, 1] are
refused: a joint score is no probability of being right.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from selftrain.statistics.estimator import Floats
from selftrain.verifier.calibration.bins import Ints, as_probabilities


@dataclass(frozen=True, slots=True, eq=False)
class GroupSums:
    """What groups of candidates add up to; the last axis of each array is the group."""

    num: Floats
    """Candidates, or their weights."""
    forecast: Floats
    """Sum of their probabilities."""
    right: Floats
    """Sum of their labels."""

    def weighted(self, weights: Floats) -> "GroupSums":
        """Add up tasks, (T, groups), by weights (replicates, T)."""
        return GroupSums(weights @ self.num, weights @ self.forecast, weights @ self.right)


def probabilities(log_odds: npt.ArrayLike) -> Floats:
    """Turn log P(right) - log P(wrong) into P(right)."""
    from scipy.special import expit

    return np.asarray(expit(np.asarray(log_odds, dtype=np.float64)))


def distinct(p: npt.ArrayLike) -> Ints:
    """Number the distinct values: the groups for which Brier's parts are exact."""
    groups: Ints = np.unique(np.asarray(p), return_inverse=True)[1]
    return groups


def ece(p: npt.ArrayLike, labels: npt.ArrayLike, groups: Ints) -> float:
    """Average, over candidates, how far a bin's mean probability is from its share of right ones.

    The expected calibration error of Naeini et al. 2015 (AAAI). `p`, `labels` and `groups`, the
    number of each one's bin, are of shape (N,). Raises ValueError outside [0, 1].
    """
    return float(ece_of(group_sums(p, labels, groups))[0])


def surprise(log_odds: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Give each label's negative log-likelihood in nats, shape (N,).

    Finite for any finite log-odds, where a probability would long be rounded to 0 or 1.
    """
    odds = np.asarray(log_odds, dtype=np.float64)
    found: Floats = np.logaddexp(0, np.where(labels, -odds, odds))
    return found


def group_sums(
    p: npt.ArrayLike, labels: npt.ArrayLike, groups: Ints, tasks: Ints | None = None
) -> GroupSums:
    """Add up candidates by task and group: arrays (T, groups), T of 1 where `tasks` is None."""
    array = as_probabilities(p)
    own = np.zeros(array.size, dtype=np.int64) if tasks is None else tasks
    shape = (int(own.max()) + 1, int(groups.max()) + 1)
    cells = own * shape[1] + groups

    def added(values: Floats) -> Floats:
        found = np.bincount(cells, values, minlength=shape[0] * shape[1])
        return found.astype(np.float64).reshape(shape)

    return GroupSums(
        added(np.ones_like(array)), added(array), added(np.asarray(labels, dtype=np.float64))
    )


def ece_of(sums: GroupSums) -> Floats:
    """Give the ECE of each row of sums."""
    found: Floats = np.abs(sums.forecast - sums.right).sum(-1) / sums.num.sum(-1)
    return found


def reliability_of(sums: GroupSums) -> Floats:
    """Give the mean squared distance of a group's mean probability and share of right ones."""
    return _mean_square(sums.forecast - sums.right, sums.num)


def resolution_of(sums: GroupSums) -> Floats:
    """Give the mean squared distance of a group's share of right ones and that of all."""
    share = sums.right.sum(-1, keepdims=True) / sums.num.sum(-1, keepdims=True)
    return _mean_square(sums.right - sums.num * share, sums.num)


def uncertainty_of(sums: GroupSums) -> Floats:
    """Give the variance of the labels."""
    share = sums.right.sum(-1) / sums.num.sum(-1)
    found: Floats = share * (1 - share)
    return found


def _mean_square(distance: Floats, num: Floats) -> Floats:
    """Average (distance / num)^2 over candidates; an empty group has a distance of 0."""
    squares = np.divide(distance**2, num, out=np.zeros_like(distance), where=num > 0)
    found: Floats = squares.sum(-1) / num.sum(-1)
    return found
