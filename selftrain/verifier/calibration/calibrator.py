"""Turn a verifier's log-odds into those of being right: fitted on dev tasks, and on nothing else.

No calibrator turns a ranking round: what is larger stays at least as large. What a verifier learns
from is not for this, since it is surer there than anywhere.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.statistics.estimator import Floats
from selftrain.verifier.calibration.bins import Bools
from selftrain.verifier.calibration.labelled import Labelled

Kind = Literal["platt", "temperature", "isotonic"]


@dataclass(frozen=True, slots=True)
class Calibrator:
    """An increasing function of log-odds."""

    kind: Kind
    num_candidates: int
    """Candidates of the dev tasks that it was fitted on."""
    num_right: int
    """How many of them are right."""
    slope: float = 1.0
    """Log-odds are multiplied by this, 1 / temperature, never below zero; isotonic has none."""
    intercept: float = 0.0
    """Then this is added; platt alone has one."""
    fitted_slope: float | None = None
    """The slope before it was held at zero; None where the dev log-odds tell nothing of one. Below
    zero, the verifier was worse than chance on the dev tasks: all candidates then have one
    probability, and nothing is ranked by it."""
    steps: tuple[tuple[float, float], ...] = ()
    """Log-odds and probability of each corner of the isotonic function, increasing; straight in
    between, level outside."""


def fit(kind: Kind, log_odds: npt.ArrayLike, labels: npt.ArrayLike) -> Calibrator:
    """Fit a calibrator on dev candidates, (N,), each weighing the same.

    `platt` (Platt 1999) fits slope and intercept, `temperature` (Guo et al. 2017, arXiv
    1706.04599) the slope alone, both by logistic regression without a penalty, on Platt's
    smoothed targets, (R + 1) / (R + 2) for right and 1 / (W + 2) for wrong: else the slope of
    classes that do not overlap would be infinite. `isotonic` (Zadrozny and Elkan 2002) keeps
    its probabilities 1 / (N + 2) away from 0 and 1, so that log-odds stay finite. Raises
    UsageError where a class is missing.
    """
    odds = np.asarray(log_odds, dtype=np.float64)
    right = np.asarray(labels, dtype=np.bool_)
    refuse_one_class(right)
    calibrator = Calibrator(kind, num_candidates=right.size, num_right=int(right.sum()))
    return _FITS[kind](calibrator, odds, right)


def can_fit(labels: npt.ArrayLike) -> bool:
    """Tell whether there are right and wrong candidates, as every calibrator needs."""
    right = np.asarray(labels, dtype=np.bool_)
    return bool(right.any() and not right.all())


def refuse_one_class(labels: npt.ArrayLike) -> None:
    """Raise UsageError where no calibrator can be fitted on dev candidates of these labels."""
    right = np.asarray(labels, dtype=np.bool_)
    if not can_fit(right):
        found = f"{right.size} candidates, all {'right' if right.all() else 'wrong'}"
        raise UsageError(
            f"The dev tasks have {found if right.size else 'no candidates'}: a calibrator needs "
            "right and wrong ones. Set more tasks aside by lever.num_dev, or name others in "
            "lever.dev."
        )


def apply(calibrator: Calibrator, log_odds: npt.ArrayLike) -> Floats:
    """Give calibrated log-odds, of the same shape."""
    odds = np.asarray(log_odds, dtype=np.float64)
    if calibrator.kind == "isotonic":
        places, heights = zip(*calibrator.steps, strict=True)
        p = np.interp(odds, places, heights)
        return np.asarray(np.log(p) - np.log1p(-p))
    return np.asarray(calibrator.slope * odds + calibrator.intercept)


def calibrated(calibrator: Calibrator, found: Labelled) -> Labelled:
    """Give candidates with calibrated log-odds."""
    return replace(found, log_odds=apply(calibrator, found.log_odds))


def calibrator_to_row(calibrator: Calibrator) -> Row:
    """Flatten a calibrator for JSON."""
    return asdict(calibrator)


def calibrator_from_row(row: Row) -> Calibrator:
    """Rebuild what `calibrator_to_row` flattened."""
    return Calibrator(**{**row, "steps": tuple((place, p) for place, p in row["steps"])})


def _fit_platt(calibrator: Calibrator, odds: Floats, right: Bools) -> Calibrator:
    slope, intercept = None, 0.0
    if np.ptp(odds) > 0:  # One value tells nothing of a slope: the share of right ones is all.
        slope, intercept = _logistic(odds, right, with_intercept=True)
    if slope is None or slope <= 0:
        # The loss is convex, so the best slope that is not negative is zero.
        intercept = float(np.log(right.sum() + 1) - np.log((~right).sum() + 1))
    return replace(
        calibrator, slope=max(slope or 0.0, 0.0), intercept=intercept, fitted_slope=slope
    )


def _fit_temperature(calibrator: Calibrator, odds: Floats, right: Bools) -> Calibrator:
    if not odds.any():
        return calibrator  # Every slope gives the same.
    slope, _ = _logistic(odds, right, with_intercept=False)
    return replace(calibrator, slope=max(slope, 0.0), fitted_slope=slope)


def _fit_isotonic(calibrator: Calibrator, odds: Floats, right: Bools) -> Calibrator:
    from sklearn.isotonic import IsotonicRegression

    least = 1 / (right.size + 2)
    model = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip")
    model.fit(odds, right.astype(np.float64))
    places, heights = model.X_thresholds_.tolist(), model.y_thresholds_.tolist()
    return replace(calibrator, steps=tuple(zip(places, heights, strict=True)))


def _logistic(odds: Floats, right: Bools, *, with_intercept: bool) -> tuple[float, float]:
    """Fit slope and intercept to smoothed targets, each as a right and a wrong row of weights."""
    from sklearn.linear_model import LogisticRegression

    num_right, num_wrong = int(right.sum()), int((~right).sum())
    target = np.where(right, (num_right + 1) / (num_right + 2), 1 / (num_wrong + 2))
    scale = float(np.abs(odds).max())  # For Newton's method; it changes no optimum.
    model = LogisticRegression(
        C=np.inf, fit_intercept=with_intercept, solver="newton-cholesky", tol=1e-10
    )
    model.fit(
        np.tile(odds[:, np.newaxis] / scale, (2, 1)),
        np.repeat([True, False], odds.size),
        sample_weight=np.concatenate([target, 1 - target]),
    )
    intercept = float(model.intercept_[0]) if with_intercept else 0.0
    return float(model.coef_[0, 0]) / scale, intercept


_FITS: dict[Kind, Callable[[Calibrator, Floats, Bools], Calibrator]] = {
    "platt": _fit_platt,
    "temperature": _fit_temperature,
    "isotonic": _fit_isotonic,
}
