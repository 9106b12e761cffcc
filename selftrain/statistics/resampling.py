"""Intervals over tasks of what is no mean over tasks: shares of candidates, ratios, areas.

The draws are those of intervals.py, so that all numbers of a run see the same replicates.
Means over tasks themselves are there.
"""

from collections.abc import Sequence

import numpy as np

from selftrain.seeds import derive_seed
from selftrain.statistics.estimator import Floats
from selftrain.statistics.intervals import (
    NUM_REPLICATES,
    Estimate,
    bootstrap_weights,
    cluster_names,
)


def task_weights(families: Sequence[str], seed: int) -> Floats:
    """Draw the weight of each task in each replicate: (replicates, tasks), rows sum to 1.

    `families` has one a task, empty where it has none; `seed` is the run's.
    """
    return bootstrap_weights(
        cluster_names(families),
        seed=derive_seed(seed, "intervals"),
        num_replicates=NUM_REPLICATES,
    )


def with_interval(
    value: float,
    replicates: Floats,
    families: Sequence[str],
    *,
    num_samples: int,
    biased: bool = False,
) -> Estimate:
    """Give a number with its 95% interval, from its value in each replicate of `task_weights`.

    `biased` is for numbers that noise alone makes larger, such as an ECE: a replicate has the
    noise of the sample and its own once more, so its excess over the value is taken off, not added
    (the basic interval of Davison and Hinkley 1997, section 5.2), down to zero. Simulated with 80
    and 300 tasks of 20, an ECE from 0.04 to 0.15 is held by 91 to 97% of such intervals, by 46 to
    93% of percentile ones. Replicates in which the number is not defined, nan, are left out; where
    all are, the interval is [0, 1].
    """
    known = replicates[~np.isnan(replicates)]
    low, high = np.percentile(known, [2.5, 97.5]) if known.size else (0.0, 1.0)
    if biased:
        low, high = max(0.0, 2 * value - high), max(0.0, 2 * value - low)
    return Estimate(
        value=value,
        low=min(float(low), value),
        high=max(float(high), value),
        num_puzzles=len(families),
        num_clusters=len(set(cluster_names(families))),
        num_samples=num_samples,
    )
