"""How well probabilities of being right match how often that is so: ECE, Brier, NLL, AUROC.

Every candidate weighs the same; intervals are over tasks, families as wholes. Nothing is fitted
here (calibrator.py), and a joint score is no probability, so none of this is for it; ranks.py is.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.statistics import Estimate
from selftrain.statistics.estimator import Floats
from selftrain.statistics.resampling import task_weights, with_interval
from selftrain.verifier.calibration.bins import (
    Bin,
    Ints,
    equal_mass,
    equal_width,
    reliability_bins,
)
from selftrain.verifier.calibration.labelled import Labelled
from selftrain.verifier.calibration.ranks import auroc_pooled, auroc_within
from selftrain.verifier.calibration.scoring import (
    GroupSums,
    distinct,
    ece,
    ece_of,
    group_sums,
    probabilities,
    reliability_of,
    resolution_of,
    surprise,
    uncertainty_of,
)

NUM_BINS = 15
"""As in Guo et al. 2017 (arXiv 1706.04599)."""
NUM_CHANCE_DRAWS = 200
"""Draws of labels from the probabilities themselves."""


@dataclass(frozen=True, slots=True)
class Brier:
    """The Brier score, and its parts (Murphy 1973) over the equal-mass bins, or over the distinct
    values where these are no more than bins."""

    score: Estimate
    """Mean squared distance of probability and label."""
    reliability: Estimate
    """The smaller the better."""
    resolution: Estimate
    """The larger the better."""
    uncertainty: Estimate
    """Of the labels alone."""
    remainder: float
    """Score - (reliability - resolution + uncertainty): what bins hide; 0 for distinct values."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a verifier's probabilities are worth on some tasks."""

    num_candidates: int
    mean_probability: float
    share_right: Estimate
    """Share of candidates that are right: what `mean_probability` should be."""
    ece_equal_width: Estimate
    """Noise alone makes an ECE larger; the interval corrects for that, but not near zero, where it
    still lies too high half the time. There the two below tell."""
    ece_equal_mass: Estimate
    ece_by_chance: float
    """Mean equal-mass ECE of labels drawn, each on its own, from these very probabilities: what
    perfect ones would show by the finite number of candidates alone."""
    ece_by_chance_high: float
    """Their 95th percentile: an ECE below this cannot be told from zero."""
    brier: Brier
    nll: Estimate
    """Mean negative log-likelihood of the labels, in nats."""
    auroc: Estimate | None
    """Over all pairs of a right and a wrong candidate; None where there is no such pair."""
    auroc_within: Estimate | None
    """Mean over tasks that have both, of pairs within a task: what ranking them takes. The one
    above may be high because some tasks are easy. None where no task has both."""
    equal_width: tuple[Bin, ...]
    """Reliability diagram; bins without a candidate are left out."""
    equal_mass: tuple[Bin, ...]


def measure_calibration(found: Labelled, *, seed: int, num_bins: int = NUM_BINS) -> Calibration:
    """Measure calibration with 95% intervals over tasks; `seed` is the run's.

    Bins are those of the whole sample in every replicate. Raises ValueError without a candidate.
    """
    if not found.labels.size:
        raise ValueError("Calibration needs at least one candidate; none was given.")
    p = probabilities(found.log_odds)
    width, mass = equal_width(p, num_bins), equal_mass(p, num_bins)
    by_chance, by_chance_high = _ece_by_chance(p, num_bins, seed)
    rows = (found.log_odds, found.labels, found.tasks, found.families)
    return Calibration(
        num_candidates=found.labels.size,
        mean_probability=float(p.mean()),
        share_right=_mean(found, found.labels.astype(np.float64), seed),
        ece_equal_width=_grouped(found, p, width, ece_of, seed),
        ece_equal_mass=_grouped(found, p, mass, ece_of, seed),
        ece_by_chance=by_chance,
        ece_by_chance_high=by_chance_high,
        brier=_brier(found, p, mass, num_bins, seed),
        nll=_mean(found, surprise(found.log_odds, found.labels), seed),
        auroc=auroc_pooled(*rows, seed=seed),
        auroc_within=auroc_within(*rows, seed=seed),
        equal_width=reliability_bins(p, found.labels, found.clusters, width, num_bins),
        equal_mass=reliability_bins(p, found.labels, found.clusters, mass, None),
    )


def calibration_to_row(calibration: Calibration) -> Row:
    """Flatten a calibration for JSON."""
    return asdict(calibration)


def _brier(found: Labelled, p: Floats, mass: Ints, num_bins: int, seed: int) -> Brier:
    groups = distinct(p) if np.unique(p).size <= num_bins else mass
    score = _mean(found, (p - found.labels) ** 2, seed)
    reliability = _grouped(found, p, groups, reliability_of, seed)
    resolution = _grouped(found, p, groups, resolution_of, seed)
    uncertainty = _grouped(found, p, groups, uncertainty_of, seed, biased=False)
    parts = reliability.value - resolution.value + uncertainty.value
    return Brier(score, reliability, resolution, uncertainty, score.value - parts)


def _mean(found: Labelled, values: Floats, seed: int) -> Estimate:
    """Average over candidates, (N,): in replicates a ratio, since tasks differ in size."""
    sums, nums = np.bincount(found.tasks, values), np.bincount(found.tasks)
    weights = task_weights(found.families, seed)
    return with_interval(
        float(values.mean()),
        (weights @ sums) / (weights @ nums),
        found.families,
        num_samples=int(nums.min()),
    )


def _grouped(
    found: Labelled,
    p: Floats,
    groups: Ints,
    statistic: Callable[[GroupSums], Floats],
    seed: int,
    *,
    biased: bool = True,
) -> Estimate:
    """Work out what depends on sums by group alone; with few in a group, noise makes it larger."""
    sums = group_sums(p, found.labels, groups, found.tasks)
    weights = task_weights(found.families, seed)
    return with_interval(
        float(statistic(sums.weighted(np.ones((1, len(found.families)))))[0]),
        statistic(sums.weighted(weights)),
        found.families,
        num_samples=int(np.bincount(found.tasks).min()),
        biased=biased,
    )


def _ece_by_chance(p: Floats, num_bins: int, seed: int) -> tuple[float, float]:
    """Draw labels from the probabilities; give the mean ECE and its 95th percentile: consistency
    resampling, Broecker and Smith 2007 (Weather and Forecasting 22:651)."""
    ordered = np.sort(p)  # So that the order of rows changes no draw.
    groups = equal_mass(ordered, num_bins)
    rng = np.random.default_rng(derive_seed(seed, "labels by chance"))
    drawn = (rng.random(ordered.size) < ordered for _ in range(NUM_CHANCE_DRAWS))
    found = [ece(ordered, labels, groups) for labels in drawn]
    return float(np.mean(found)), float(np.percentile(found, 95))
