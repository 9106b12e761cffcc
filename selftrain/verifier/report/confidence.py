"""How sure the first verifier is, and whether rightly: calibration, and where a choice pays.

Calibrator and threshold come from the dev tasks alone. The joint score is no probability of being
right, so it is neither calibrated nor a confidence: a choice is as sure as the verifier is of the
program that was chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from selftrain.files import Row
from selftrain.verifier.calibration.calibration import (
    Calibration,
    Labelled,
    calibration_to_row,
    labelled,
    measure,
)
from selftrain.verifier.calibration.calibrator import (
    Calibrator,
    Kind,
    apply,
    calibrator_to_row,
    can_fit,
    fit,
)
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
    after: Calibration | None
    """After the calibrator; None where the dev tasks fit none, as in all that follows."""
    calibrator: Calibrator | None
    """Fitted on the dev tasks."""
    curve: RiskCoverage | None
    """Risk of the choices over the share of tasks where one is made."""
    selective: Selective | None
    """What the threshold of the dev tasks gives."""


def measure_confidence(
    dev: Sequence[Scored],
    test: Sequence[Scored],
    *,
    chooser: Ranker,
    kind: Kind,
    max_risk: float,
    seed: int,
    likelihood: Likelihood,
) -> Confidence:
    """Fit on `dev`, measure on `test`, all labels of which are known; `seed` is the run's.

    Raises ValueError where the test tasks have no candidate.
    """
    fitted_on, found = _joined(dev), _joined(test)
    before = measure(found, seed=seed)
    if not can_fit(fitted_on.labels):
        return Confidence(before, None, None, None, None)
    calibrator = fit(kind, fitted_on.log_odds, fitted_on.labels)
    after = measure(replace(found, log_odds=apply(calibrator, found.log_odds)), seed=seed)

    def choices(scored: Sequence[Scored]) -> tuple[list[float], list[bool]]:
        made = [_choice(one, chooser, calibrator, seed, likelihood) for one in scored]
        return [sure for sure, _ in made], [right for _, right in made]

    threshold = choose_threshold(*choices(dev), max_risk)
    sure, right = choices(test)
    families = [one.task.family for one in test]
    selective = at_threshold(threshold, sure, right, families, seed=seed)
    return Confidence(before, after, calibrator, risk_coverage(sure, right), selective)


def confidence_to_row(confidence: Confidence) -> Row:
    """Flatten for JSON; null where the dev tasks fit no calibrator."""
    after, calibrator = confidence.after, confidence.calibrator
    curve, selective = confidence.curve, confidence.selective
    return {
        "before": calibration_to_row(confidence.before),
        "after": calibration_to_row(after) if after else None,
        "calibrator": calibrator_to_row(calibrator) if calibrator else None,
        "risk_coverage": risk_coverage_to_row(curve) if curve else None,
        "threshold": selective_to_row(selective) if selective else None,
    }


def _joined(scored: Sequence[Scored]) -> Labelled:
    return labelled(
        [one.log_odds or () for one in scored],
        [[candidate.label for candidate in one.task.candidates] for one in scored],
        [one.task.family for one in scored],
    )


def _choice(
    scored: Scored, chooser: Ranker, calibrator: Calibrator, seed: int, likelihood: Likelihood
) -> tuple[float, bool]:
    """Give how sure a task's choice is, and whether it is right; no candidate is neither."""
    order = rank(scored, chooser, seed=seed, likelihood=likelihood).order
    if not order:
        return 0.0, False
    assert scored.log_odds is not None
    sure = probabilities(apply(calibrator, np.array([scored.log_odds[order[0]]])))
    return float(sure[0]), bool(scored.task.candidates[order[0]].label)
