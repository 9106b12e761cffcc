"""Bins of candidates by probability or by percentile, and the share that is right in each.

What a reliability diagram and the percentile curve of LEVER's section 5.3 draw. No single number
of calibration is worked out here; see calibration.py.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from selftrain.files import Row
from selftrain.statistics.comparison import clustered_error
from selftrain.statistics.estimator import Floats

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NORMAL_975 = 1.959963984540054
"""The 97.5th percentile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of candidates that are right, with its 95% interval."""

    value: float
    low: float
    high: float
    num_candidates: int
    num_clusters: int
    """Families of their tasks, and each task that has none."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Candidates of about the same probability: one bar of a reliability diagram."""

    low: float
    """Lower edge; the smallest probability in it where bins are of equal mass."""
    high: float
    """Upper edge; the largest probability in it where bins are of equal mass."""
    mean_probability: float
    right: Share


@dataclass(frozen=True, slots=True)
class PercentilePoint:
    """Candidates of about the same rank among all: one point of a percentile curve."""

    percentile: float
    """Mean percentile of their scores, from 0 to 100; the best are at 100."""
    right: Share


def equal_width(p: npt.ArrayLike, num_bins: int) -> Ints:
    """Number the bin of each probability: [0, 1/B), [1/B, 2/B), ..., the last with 1 in it.

    Raises ValueError where a value is no probability.
    """
    return np.searchsorted(_edges(num_bins)[1:-1], as_probabilities(p), side="right")


def equal_mass(scores: npt.ArrayLike, num_bins: int) -> Ints:
    """Number the bin of each score so that bins hold as many as ties allow.

    A score's bin is floor(B x percentile), with equal scores at the percentile of their average
    rank. So equal scores are always together, whatever the order of rows; a bin may then hold
    more or none. Without ties sizes differ by at most one. Raises ValueError for a nan.
    """
    array = _ranked(scores)
    from scipy.stats import rankdata

    # Twice an average rank is a whole number: no rounding decides a bin.
    twice = np.rint(2 * rankdata(array)).astype(np.int64)
    bins: Ints = (twice - 1) * num_bins // (2 * array.size)
    return bins


def percentiles(scores: npt.ArrayLike) -> Floats:
    """Give each score's percentile among all, within 0 and 100; ties have that of their average
    rank, (rank - 1/2) / N. Infinite scores are ranked too. Raises ValueError for a nan."""
    from scipy.stats import rankdata

    array = _ranked(scores)
    found: Floats = 100 * (rankdata(array) - 0.5) / array.size
    return found


def reliability_bins(
    p: npt.ArrayLike, labels: Bools, clusters: Sequence[str], groups: Ints, num_bins: int | None
) -> tuple[Bin, ...]:
    """Draw up a reliability diagram over bins that hold a candidate.

    `p`, `labels`, `clusters` (the name of each candidate's task or family) and `groups` are of
    shape (N,). With `num_bins` the edges are those of `equal_width`; with None, what a bin holds.
    """
    array = as_probabilities(p)
    found = []
    for group in np.unique(groups).tolist():
        members = groups == group
        low, high = float(array[members].min()), float(array[members].max())
        if num_bins is not None:
            low, high = _edges(num_bins)[group : group + 2].tolist()
        right = share_right(labels[members], _picked(clusters, members))
        found.append(Bin(low, high, float(array[members].mean()), right))
    return tuple(found)


def percentile_curve(
    scores: npt.ArrayLike, labels: Bools, clusters: Sequence[str], *, num_bins: int = 10
) -> tuple[PercentilePoint, ...]:
    """Give the share of right candidates by the percentile of a score: LEVER, section 5.3.

    `scores` (N,) are a generator's log-likelihoods, a verifier's log-odds or joint scores, of the
    candidates of all tasks together; any increasing function of them gives the same curve. A flat
    curve ranks nothing; a steep one ends near 1.
    """
    groups, ranks = equal_mass(scores, num_bins), percentiles(scores)
    return tuple(
        PercentilePoint(
            float(ranks[groups == group].mean()),
            share_right(labels[groups == group], _picked(clusters, groups == group)),
        )
        for group in np.unique(groups)
    )


def share_right(labels: Bools, clusters: Sequence[str]) -> Share:
    """Give the share that is right with Wilson's interval, which has a width at 0 and 1 too.

    Candidates of one task are alike, so their number is exchanged for the effective one,
    p (1 - p) / SE^2 with SE clustered (Dean and Pagano 2015, J Surv Stat Methodol 3:484), at most
    N. Where all are alike, or of one cluster, that is not known: then each cluster counts once.
    """
    value, num_clusters = float(labels.mean()), len(set(clusters))
    effective = float(num_clusters)
    if 0 < value < 1 and num_clusters > 1:
        error = clustered_error(labels.astype(np.float64), clusters)
        effective = min(labels.size, value * (1 - value) / error**2) if error else labels.size
    low, high = _wilson(value, effective)
    return Share(value, low, high, labels.size, num_clusters)


def curve_to_row(curve: Sequence[PercentilePoint]) -> list[Row]:
    """Flatten a percentile curve for JSON."""
    return [asdict(point) for point in curve]


def as_probabilities(p: npt.ArrayLike) -> Floats:
    """Check that values are probabilities; a joint score is none. Raises ValueError."""
    array = np.asarray(p, dtype=np.float64)
    outside = array[~((array >= 0) & (array <= 1))]
    if outside.size:
        raise ValueError(
            f"{outside.size} of {array.size} values lie outside [0, 1], the first is {outside[0]}: "
            "they are no probabilities of being right. Rank by them; do not calibrate them."
        )
    return array


def _wilson(value: float, n: float) -> tuple[float, float]:
    """Wilson 1927, with a number of draws that need not be whole."""
    z2 = NORMAL_975**2
    middle = (value + z2 / (2 * n)) / (1 + z2 / n)
    half = NORMAL_975 * math.sqrt(value * (1 - value) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return min(max(0.0, middle - half), value), max(min(1.0, middle + half), value)


def _edges(num_bins: int) -> Floats:
    if num_bins < 1:
        raise ValueError(f"There must be at least one bin; found {num_bins}.")
    # Not linspace: 3 / 10 is the float that 0.3 is, 3 x 0.1 is not.
    edges: Floats = np.arange(num_bins + 1) / num_bins
    return edges


def _ranked(scores: npt.ArrayLike) -> Floats:
    array = np.asarray(scores, dtype=np.float64)
    if np.isnan(array).any():
        raise ValueError(f"{int(np.isnan(array).sum())} of {array.size} scores are nan: no rank.")
    return array


def _picked(clusters: Sequence[str], members: Bools) -> list[str]:
    return [clusters[index] for index in np.flatnonzero(members).tolist()]
