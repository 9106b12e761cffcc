"""How well probabilities of being right match how often that is so: ECE, Brier, NLL, AUROC.

Every candidate weighs the same; intervals are over tasks, families as wholes. Nothing is fitted
here (calibrator.py), and a joint score is no probability, so none of this is for it; ranks.py is.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.statistics import Estimate
from selftrain.statistics.estimator import Floats
from selftrain.statistics.intervals import cluster_names
from selftrain.statistics.resampling import task_weights, with_interval
from selftrain.verifier.calibration.bins import (
    Bin,
    Bools,
    Ints,
    equal_mass,
    equal_width,
    reliability_bins,
)
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


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Candidates of many tasks, one after the other, with log-odds and label: N of T tasks."""

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
    brier: Estimate
    reliability: Estimate
    """Murphy's parts of the Brier score, over the equal-mass bins, or over the distinct values
    where these are no more than bins: the smaller the better."""
    resolution: Estimate
    """The larger the better."""
    uncertainty: Estimate
    """Of the labels alone."""
    remainder: float
    """Brier - (reliability - resolution + uncertainty): what bins hide; 0 for distinct values."""
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


def labelled(
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


def measure(found: Labelled, *, seed: int, num_bins: int = NUM_BINS) -> Calibration:
    """Measure calibration with 95% intervals over tasks; `seed` is the run's.

    Bins are those of the whole sample in every replicate. Raises ValueError without a candidate.
    """
    if not found.labels.size:
        raise ValueError("Calibration needs at least one candidate; none was given.")
    p = probabilities(found.log_odds)
    width, mass = equal_width(p, num_bins), equal_mass(p, num_bins)
    parts = distinct(p) if np.unique(p).size <= num_bins else mass
    brier = _mean(found, (p - found.labels) ** 2, seed)
    reliability = _grouped(found, p, parts, reliability_of, seed)
    resolution = _grouped(found, p, parts, resolution_of, seed)
    uncertainty = _grouped(found, p, parts, uncertainty_of, seed, biased=False)
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
        brier=brier,
        reliability=reliability,
        resolution=resolution,
        uncertainty=uncertainty,
        remainder=brier.value - (reliability.value - resolution.value + uncertainty.value),
        nll=_mean(found, surprise(found.log_odds, found.labels), seed),
        auroc=auroc_pooled(*rows, seed=seed),
        auroc_within=auroc_within(*rows, seed=seed),
        equal_width=reliability_bins(p, found.labels, found.clusters, width, num_bins),
        equal_mass=reliability_bins(p, found.labels, found.clusters, mass, None),
    )


def calibration_to_row(calibration: Calibration) -> Row:
    """Flatten a calibration for JSON."""
    return asdict(calibration)


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
