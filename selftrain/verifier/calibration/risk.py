"""What is gained by choosing only where one is confident: risk over coverage, and a threshold.

Given for each task how confident its choice is and whether it is right. The threshold is chosen on
dev tasks; it promises nothing for others, so test tasks say what it gives.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.statistics import Estimate
from selftrain.statistics.estimator import Floats
from selftrain.statistics.intervals import mean_with_interval
from selftrain.verifier.calibration.bins import Bools


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """All choices of at least some confidence."""

    confidence: float
    """The least of them."""
    coverage: float
    """Share of tasks whose choice they are."""
    risk: float
    """Share of them that is wrong; selective accuracy is 1 - risk."""
    num_chosen: int


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Risk by coverage, from the most confident choices alone to all."""

    points: tuple[RiskPoint, ...]
    """One for each confidence that occurs, highest first."""
    area: float
    """Mean risk over coverages 1/N, 2/N, ..., 1; within ties the mean of all their orders."""
    area_random: float
    """Its mean over all orders: the share of wrong choices."""
    area_best: float
    """Its value where every right choice is surer than every wrong one."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A confidence chosen on dev tasks."""

    max_risk: float
    """Share of wrong choices that is accepted."""
    confidence: float | None
    """The smallest at which the dev risk is at most that; None where none is."""
    coverage: float
    """Share of dev tasks at or above it; 0 where there is none."""
    risk: float | None
    """Share of these that is wrong; None where there is none."""
    num_tasks: int
    """Dev tasks."""
    lowest_risk: float
    """The lowest dev risk at any confidence."""


@dataclass(frozen=True, slots=True)
class Selective:
    """What a threshold gives on test tasks."""

    threshold: Threshold
    coverage: Estimate
    """Share of tasks at or above it."""
    risk: Estimate | None
    """Share of these that is wrong; None where there is none."""


def risk_coverage(confidence: npt.ArrayLike, right: npt.ArrayLike) -> RiskCoverage:
    """Draw up the risk-coverage curve (El-Yaniv and Wiener 2010; area: Geifman et al. 2019, arXiv
    1805.08206).

    `confidence` and `right` are of shape (tasks,); confidence is any number, larger is surer, and
    may be infinite, as for a task without a candidate: -inf and wrong. Raises ValueError for a nan
    or without a task.
    """
    surest, wrong = _sorted(confidence, right)
    num = wrong.size
    ends = np.flatnonzero(np.r_[surest[1:] != surest[:-1], True])
    errors = np.cumsum(wrong)[ends]
    points = tuple(
        RiskPoint(float(surest[end]), float((end + 1) / num), float(some / (end + 1)), int(end + 1))
        for end, some in zip(ends, errors, strict=True)
    )
    # Within ties every order is as good; the mean number of wrong ones then grows evenly.
    places = np.arange(1, num + 1)
    expected = np.interp(places, np.r_[0, ends + 1], np.r_[0, errors])
    best = np.maximum(0, places - (num - wrong.sum()))
    return RiskCoverage(
        points=points,
        area=float((expected / places).mean()),
        area_random=float(wrong.mean()),
        area_best=float((best / places).mean()),
    )


def choose_threshold(confidence: npt.ArrayLike, right: npt.ArrayLike, max_risk: float) -> Threshold:
    """Choose, on dev tasks, the smallest confidence whose risk is at most `max_risk`.

    Equal confidences are taken whole; one of -inf is no choice, so none is made there. Raises
    ValueError for a nan or without a task.
    """
    points = risk_coverage(confidence, right).points
    enough = [one for one in points if one.risk <= max_risk and one.confidence > -np.inf]
    chosen = enough[-1] if enough else None
    return Threshold(
        max_risk=max_risk,
        confidence=chosen.confidence if chosen else None,
        coverage=chosen.coverage if chosen else 0.0,
        risk=chosen.risk if chosen else None,
        num_tasks=points[-1].num_chosen,
        lowest_risk=min(point.risk for point in points),
    )


def at_threshold(
    threshold: Threshold,
    confidence: npt.ArrayLike,
    right: npt.ArrayLike,
    families: Sequence[str],
    *,
    seed: int,
) -> Selective:
    """Give coverage and risk of a threshold on test tasks, with 95% intervals over tasks.

    `confidence`, `right` and `families` have one a task; `seed` is the run's. The interval of the
    risk is about tasks that reach the threshold. Raises ValueError without a task.
    """
    wrong = ~np.asarray(right, dtype=np.bool_)
    chosen = np.zeros(wrong.size, dtype=np.bool_)
    if threshold.confidence is not None:
        chosen = np.asarray(confidence, dtype=np.float64) >= threshold.confidence
    draws = derive_seed(seed, "intervals")
    return Selective(
        threshold,
        mean_with_interval(chosen.astype(np.float64), families, num_samples=1, seed=draws),
        mean_with_interval(
            wrong[chosen].astype(np.float64),
            [families[index] for index in np.flatnonzero(chosen).tolist()],
            num_samples=1,
            seed=draws,
        )
        if chosen.any()
        else None,
    )


def describe(threshold: Threshold) -> str:
    """Say in a sentence what was chosen on the dev tasks, or that nothing could be."""
    if threshold.confidence is None or threshold.risk is None:
        return (
            f"On the {threshold.num_tasks} dev tasks no confidence keeps the share of wrong "
            f"choices at or below {threshold.max_risk:.0%}; the lowest at any is "
            f"{threshold.lowest_risk:.1%}. So there is no threshold."
        )
    return (
        f"On the {threshold.num_tasks} dev tasks a confidence of at least "
        f"{threshold.confidence:.3g} chooses for {threshold.coverage:.1%} of them, "
        f"{threshold.risk:.1%} wrong, at most {threshold.max_risk:.0%} wanted."
    )


def risk_coverage_to_row(curve: RiskCoverage) -> Row:
    """Flatten a risk-coverage curve for JSON, which has no infinity: null."""
    row = asdict(curve)
    for point in row["points"]:
        if np.isinf(point["confidence"]):
            point["confidence"] = None
    return row


def selective_to_row(selective: Selective) -> Row:
    """Flatten a threshold and what it gives for JSON."""
    return asdict(selective)


def _sorted(confidence: npt.ArrayLike, right: npt.ArrayLike) -> tuple[Floats, Bools]:
    """Give confidences, surest first, and whether each choice is wrong."""
    array = np.asarray(confidence, dtype=np.float64)
    wrong = ~np.asarray(right, dtype=np.bool_)
    if not array.size or array.shape != wrong.shape:
        raise ValueError(f"Found {array.size} confidences for {wrong.size} choices; one each.")
    if np.isnan(array).any():
        raise ValueError(f"{int(np.isnan(array).sum())} of {array.size} confidences are nan.")
    order = np.argsort(-array, kind="stable")
    return array[order], wrong[order]
