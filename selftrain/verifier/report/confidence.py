"""How sure the first verifier is, and whether rightly: calibration, and where a choice pays.

Calibrator and threshold come from the dev tasks alone; the calibrator came with the verifier. The
joint score is no probability of being right, so it is neither calibrated nor a confidence: a choice
is as sure as the verifier is of the program that was chosen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selftrain.files import Row
from selftrain.verifier.calibration.calibration import (
    Calibration,
    calibration_to_row,
    measure_calibration,
)
from selftrain.verifier.calibration.calibrator import (
    Calibrator,
    apply,
    calibrated,
    calibrator_to_row,
)
from selftrain.verifier.calibration.labelled import join_scored
from selftrain.verifier.calibration.risk import (
    RiskCoverage,
    Selective,
    at_threshold,
    choose_threshold,
    risk_coverage,
    risk_coverage_to_row,
    selective_to_row,
)
from selftrain.verifier.calibration.scoring import probabilities
from selftrain.verifier.ranking.rank import Likelihood, Ranker, Scored, rank


@dataclass(frozen=True, slots=True)
class Confidence:
    """What a verifier's probabilities are worth on the test tasks."""

    before: Calibration
    """As the verifier gives them."""
    after: Calibration
    """After the calibrator."""
    calibrator: Calibrator
    """Fitted on the dev tasks."""
    curve: RiskCoverage
    """Risk of the choices over the share of tasks where one is made."""
    selective: Selective | None
    """What the threshold of the dev tasks gives; None where none of these has all its labels."""


def measure_confidence(
    dev: Sequence[Scored],
    test: Sequence[Scored],
    *,
    chooser: Ranker,
    calibrator: Calibrator,
    max_risk: float,
    seed: int,
    likelihood: Likelihood,
) -> Confidence:
    """Choose a threshold on `dev`, measure on `test`, all labels of which are known.

    `calibrator` is the verifier's own; `seed` is the run's. Raises ValueError where the test tasks
    have no candidate.
    """

    def choices(scored: Sequence[Scored]) -> tuple[list[float], list[bool]]:
        made = [_choice(one, chooser, calibrator, seed, likelihood) for one in scored]
        return [sure for sure, _ in made], [right for _, right in made]

    found, (sure, right) = join_scored(test), choices(test)
    selective = None
    if dev:
        threshold = choose_threshold(*choices(dev), max_risk)
        families = [one.task.family for one in test]
        selective = at_threshold(threshold, sure, right, families, seed=seed)
    return Confidence(
        before=measure_calibration(found, seed=seed),
        after=measure_calibration(calibrated(calibrator, found), seed=seed),
        calibrator=calibrator,
        curve=risk_coverage(sure, right),
        selective=selective,
    )


def confidence_to_row(confidence: Confidence) -> Row:
    """Flatten for JSON."""
    selective = confidence.selective
    return {
        "before": calibration_to_row(confidence.before),
        "after": calibration_to_row(confidence.after),
        "calibrator": calibrator_to_row(confidence.calibrator),
        "risk_coverage": risk_coverage_to_row(confidence.curve),
        "threshold": selective_to_row(selective) if selective else None,
    }


def _choice(
    scored: Scored, chooser: Ranker, calibrator: Calibrator, seed: int, likelihood: Likelihood
) -> tuple[float, bool]:
    """Give how sure a task's choice is, and whether it is right; no candidate is neither."""
    order = rank(scored, chooser, seed=seed, likelihood=likelihood).order
    if not order:
        return -math.inf, False  # Never covered, as risk.py has it.
    assert scored.log_odds is not None
    sure = probabilities(apply(calibrator, np.array([scored.log_odds[order[0]]])))
    return float(sure[0]), bool(scored.task.candidates[order[0]].label)
