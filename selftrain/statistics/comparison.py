"""Two models on the same puzzles: the difference of their Pass@k, its interval, test and power.

All three see families as wholes. The interval is about other puzzles and other seeds; the test is
about these trained models, averaged over their seeds, on other families. McNemar is in mcnemar.py.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.statistics.estimator import Floats
from selftrain.statistics.evaluations import aligned, rows_values
from selftrain.statistics.holm import holm
from selftrain.statistics.intervals import cluster_names, percentile_interval, replicate_means

NUM_FLIPS = 9999
"""Draws where the clusters are too many to go through all; the smallest p is then 1 / 10,000."""
MIN_CLUSTERS = 6
"""With five the smallest two-sided p of a sign-flip test is 2 / 2^5, above 5%."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Pass@k of one model minus that of another, on the same puzzles."""

    difference: float
    """Mean over puzzles and seeds; positive where the first model is better."""
    low: float
    """Lower end of its 95% interval, by bootstrap over families, puzzles and seeds."""
    high: float
    """Upper end."""
    p_value: float
    """Of the paired permutation test, two-sided."""
    holm_p_value: float
    """The same, corrected for the comparisons made together; equal where it is the only one."""
    smallest_detectable: float | None
    """Difference that such a test would find four times in five; None where it cannot be told:
    fewer than six clusters, or no two that differ."""
    by_seed: tuple[float, ...]
    """The difference of each pair of seeds; empty where the models have not as many."""
    num_puzzles: int
    num_clusters: int
    """Families, and each puzzle that has none."""
    num_seeds: int
    """The fewer of the two models' seeds."""


def compare(
    a: Sequence[Sequence[Row]], b: Sequence[Sequence[Row]], k: int, *, seed: int
) -> Comparison:
    """Compare Pass@k of two models, each with one list of evaluation rows a seed.

    Where both have as many seeds, the i-th of one is resampled with the i-th of the other, as arms
    of one seed share data. `seed` is the run's. Raises ValueError where puzzles differ or k > n.
    """
    if not a or not b:
        raise ValueError("A comparison needs at least one evaluation of each model.")
    rows = aligned([*a, *b])
    clusters = cluster_names([row["family"] for row in rows[0]])
    values = np.array([rows_values(each, k) for each in rows])
    ours, theirs = values[: len(a)], values[len(a) :]
    by_puzzle = ours.mean(axis=0) - theirs.mean(axis=0)
    difference = float(by_puzzle.mean())
    paired = len(a) == len(b)
    draws = derive_seed(seed, "intervals")
    means = replicate_means(ours, clusters, seed=draws) - replicate_means(
        theirs, clusters, seed=draws, seed_stream=0 if paired else 1
    )
    low, high = percentile_interval(means, difference)
    p_value = sign_flip_p_value(by_puzzle, clusters, seed=derive_seed(seed, "sign flips"))
    return Comparison(
        difference=difference,
        low=low,
        high=high,
        p_value=p_value,
        holm_p_value=p_value,
        smallest_detectable=smallest_detectable(by_puzzle, clusters),
        by_seed=tuple((ours - theirs).mean(axis=1).tolist()) if paired else (),
        num_puzzles=len(by_puzzle),
        num_clusters=len(set(clusters)),
        num_seeds=min(len(a), len(b)),
    )


def with_holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Correct the p-values of comparisons that are read together, such as several arms'."""
    adjusted = holm([one.p_value for one in comparisons])
    return [
        replace(one, holm_p_value=p_value)
        for one, p_value in zip(comparisons, adjusted, strict=True)
    ]


def sign_flip_p_value(differences: Floats, clusters: Sequence[str], *, seed: int) -> float:
    """Test, two-sided, whether paired differences of shape (puzzles,) are exchangeable in sign.

    The null: in every cluster, what the two models did on all its puzzles could be swapped as a
    whole, and be as likely. So a cluster's summed difference keeps its size and takes either sign
    (Fisher 1935; Ernst 2004, Stat Sci 19:676); the statistic is the size of the mean. Up to 13
    clusters that differ, all patterns of signs are gone through; beyond, NUM_FLIPS are drawn and
    the one observed counts among them (Phipson and Smyth 2010, arXiv 1603.05766).
    """
    from scipy.stats import permutation_test

    sums = _cluster_sums(differences, clusters)
    sums = sums[sums != 0]
    if sums.size < 2:
        return 1.0  # Either sign of one number has the same size.
    found = permutation_test(
        (sums,),
        # Rounded, so that equal sums are equal in whatever order they were added.
        lambda flipped, axis: np.round(np.abs(flipped.sum(axis=axis)), 10),
        permutation_type="samples",
        vectorized=True,
        n_resamples=NUM_FLIPS,
        batch=max(1, 2_000_000 // sums.size),
        alternative="greater",
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def smallest_detectable(differences: Floats, clusters: Sequence[str]) -> float | None:
    """Give the true difference that a two-sided test at 5% finds with a chance of 80%.

    (t(0.975) + t(0.8)) SE, with clusters - 1 degrees of freedom: the minimum detectable effect of
    Bloom 1995 (Evaluation Review 19:547). SE is that of the mean paired difference, clustered; it
    holds what n samples and the number of seeds left of noise.
    """
    from scipy.stats import t

    error = clustered_error(differences, clusters)
    num_clusters = len(set(clusters))
    if num_clusters < MIN_CLUSTERS or error == 0:
        return None
    return float((t.ppf(0.975, num_clusters - 1) + t.ppf(0.8, num_clusters - 1)) * error)


def clustered_error(values: Floats, clusters: Sequence[str]) -> float:
    """Give the standard error of the mean of (puzzles,) where clusters, not puzzles, are drawn.

    sqrt(G / (G - 1) sum over clusters of (sum of value - mean)^2) / puzzles: Liang and Zeger 1986;
    for evaluations, Miller 2024 (arXiv 2411.00640), section 2.2. Zero for a single cluster.
    """
    sums = _cluster_sums(values - values.mean(), clusters)
    if len(sums) < 2:
        return 0.0
    correction = len(sums) / (len(sums) - 1)
    return math.sqrt(correction * float((sums**2).sum())) / len(values)


def _cluster_sums(values: Floats, clusters: Sequence[str]) -> Floats:
    """Sum the values of each cluster, in order of first appearance."""
    number = {cluster: index for index, cluster in enumerate(dict.fromkeys(clusters))}
    sums = np.zeros(len(number))
    np.add.at(sums, [number[cluster] for cluster in clusters], values)
    return sums
