"""Intervals of a mean over puzzles, by cluster bootstrap over families, puzzles and seeds.

They say how far the mean would move with other puzzles of this kind and other seeds of this
training, not with puzzles unlike these. Few seeds can say little of how seeds differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from selftrain.statistics.estimator import Floats, pass_at_k

NUM_REPLICATES = 2000
"""Enough for the ends of a 95% interval to settle within a few hundredths of its width."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over puzzles with its 95% interval."""

    value: float
    """The mean, between 0 and 1."""
    low: float
    """Lower end: the 2.5th percentile of the bootstrap."""
    high: float
    """Upper end: the 97.5th percentile of the bootstrap."""
    num_puzzles: int
    """Puzzles in the mean."""
    num_clusters: int
    """What was resampled first: families, and each puzzle that has none."""
    num_samples: int
    """n, samples a puzzle; the smallest where puzzles differ."""
    num_seeds: int = 1
    """Evaluations, each of a model of its own seed, that were averaged and resampled too."""


def mean_pass_at_k(
    n: npt.ArrayLike,
    num_correct: npt.ArrayLike,
    k: int,
    families: Sequence[str],
    *,
    seed: int,
    num_replicates: int = NUM_REPLICATES,
) -> Estimate:
    """Average Pass@k over puzzles, with a 95% interval by cluster bootstrap.

    A puzzle whose family is empty is a cluster on its own.
    """
    ns = np.asarray(n, dtype=np.int64)
    return mean_with_interval(
        pass_at_k(ns, num_correct, k),
        families,
        num_samples=int(ns.min()) if ns.size else 0,
        seed=seed,
        num_replicates=num_replicates,
    )


def mean_with_interval(
    values: npt.ArrayLike,
    families: Sequence[str],
    *,
    num_samples: int,
    seed: int,
    num_replicates: int = NUM_REPLICATES,
) -> Estimate:
    """Average values of shape (puzzles,) or (seeds, puzzles), with a 95% percentile interval.

    Where all values are equal the interval has no width: a bootstrap knows only what was seen.
    """
    array = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if array.size == 0:
        raise ValueError("A mean over puzzles needs at least one puzzle; none was given.")
    clusters = cluster_names(families)
    means = replicate_means(array, clusters, seed=seed, num_replicates=num_replicates)
    value = float(array.mean())
    low, high = percentile_interval(means, value)
    return Estimate(
        value=value,
        low=low,
        high=high,
        num_puzzles=array.shape[1],
        num_clusters=len(set(clusters)),
        num_samples=num_samples,
        num_seeds=array.shape[0],
    )


def percentile_interval(means: Floats, value: float) -> tuple[float, float]:
    """Give the ends of the 95% interval of `value`, from the means of all replicates."""
    low, high = np.percentile(means, [2.5, 97.5])
    # Weights sum to 1 but for rounding, and an interval must not leave its own mean out.
    return min(float(low), value), max(float(high), value)


def replicate_means(
    values: Floats,
    clusters: tuple[str, ...],
    *,
    seed: int,
    num_replicates: int = NUM_REPLICATES,
    seed_stream: int = 0,
) -> Floats:
    """Average (seeds, puzzles) in each replicate: (num_replicates,).

    Puzzles are drawn once a replicate for all seeds, and seeds once for all puzzles, since either
    moves a whole row or column (the pigeonhole bootstrap of Owen 2007, arXiv 0712.1111). It errs
    on the wide side, by up to sqrt(3) where seeds and puzzles are all noise. Calls with the same
    `seed_stream` draw the same seeds.
    """
    of_puzzles = bootstrap_weights(clusters, seed=seed, num_replicates=num_replicates)
    of_seeds = _seed_weights(
        len(values), num_replicates, np.random.default_rng((seed, seed_stream))
    )
    means: Floats = ((of_puzzles @ values.T) * of_seeds).sum(axis=1)
    return means


def _seed_weights(num_seeds: int, num_replicates: int, rng: np.random.Generator) -> Floats:
    """Draw the weight of each seed in each replicate.

    One fewer is drawn than there are: with S draws of S the variance of a mean would come out
    (S - 1) / S of what it is (Rao and Wu 1988, JASA 83:231), half with two seeds.
    """
    if num_seeds == 1:
        return np.ones((num_replicates, 1))
    drawn = rng.multinomial(num_seeds - 1, np.full(num_seeds, 1 / num_seeds), size=num_replicates)
    return drawn / (num_seeds - 1)


def cluster_names(families: Sequence[str]) -> tuple[str, ...]:
    """Name each puzzle's cluster: its family, or, where it has none, itself."""
    return tuple(family or f"\0{index}" for index, family in enumerate(families))


@lru_cache(maxsize=8)
def bootstrap_weights(clusters: tuple[str, ...], *, seed: int, num_replicates: int) -> Floats:
    """Draw the weight of each puzzle in each replicate: (num_replicates, puzzles), rows sum to 1.

    Clusters are drawn with replacement, then puzzles within each drawn cluster (the two-stage
    bootstrap of Davison and Hinkley 1997, section 3.8). As a replicate's mean is a ratio, puzzles
    of small clusters weigh a little more than those of large ones, by the order of 1 / clusters.
    Kept, since every k and round over the same puzzles shares it.
    """
    rng = np.random.default_rng(seed)
    members: dict[str, list[int]] = {}
    for index, cluster in enumerate(clusters):
        members.setdefault(cluster, []).append(index)
    times_drawn = rng.multinomial(
        len(members), np.full(len(members), 1 / len(members)), size=num_replicates
    )
    weights = np.empty((num_replicates, len(clusters)))
    for times, indices in zip(times_drawn.T, members.values(), strict=True):
        # m draws of s puzzles each from a cluster of s are one draw of m * s.
        size = len(indices)
        if size == 1:  # Most are, where puzzles have no families.
            weights[:, indices[0]] = times
        else:
            weights[:, indices] = rng.multinomial(times * size, np.full(size, 1 / size))
    weights /= weights.sum(axis=1, keepdims=True)
    weights.flags.writeable = False
    return weights
