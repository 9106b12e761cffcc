"""Statistics of Pass@k: the unbiased estimator, and intervals by cluster bootstrap.

It reads no file and samples no model. The intervals say how far the mean would move with other
puzzles of this kind, not with puzzles unlike these.
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
    """Average one value a puzzle, with a 95% percentile interval by cluster bootstrap.

    Where all values are equal the interval has no width: a bootstrap knows only what was seen.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        raise ValueError("A mean over puzzles needs at least one puzzle; none was given.")
    clusters = cluster_names(families)
    means = bootstrap_weights(clusters, seed=seed, num_replicates=num_replicates) @ array
    low, high = np.percentile(means, [2.5, 97.5])
    value = float(array.mean())
    # Weights sum to 1 but for rounding, and an interval must not leave its own mean out.
    return Estimate(
        value=value,
        low=min(float(low), value),
        high=max(float(high), value),
        num_puzzles=len(array),
        num_clusters=len(set(clusters)),
        num_samples=num_samples,
    )


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
        weights[:, indices] = rng.multinomial(times * size, np.full(size, 1 / size))
    weights /= weights.sum(axis=1, keepdims=True)
    weights.flags.writeable = False
    return weights
