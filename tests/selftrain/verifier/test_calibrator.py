"""Calibrators: what they learn from, that they never reverse a ranking, and their edge cases."""

import json

import numpy as np
import pytest

from selftrain.errors import UsageError
from selftrain.verifier.calibration.calibration import measure_calibration
from selftrain.verifier.calibration.calibrator import (
    apply,
    calibrated,
    calibrator_from_row,
    calibrator_to_row,
    can_fit,
    fit,
)
from selftrain.verifier.calibration.labelled import Labelled
from selftrain.verifier.calibration.scoring import probabilities, surprise

KINDS = ("platt", "temperature", "isotonic")
GRID = np.linspace(-30, 30, 601)


def drawn(seed: int, *, sureness: float = 3.0, shift: float = 0.0, num_tasks: int = 30) -> Labelled:
    """Log-odds that are `sureness` times too large, and shifted."""
    rng = np.random.default_rng(seed)
    true = rng.normal(0, 1.5, size=num_tasks * 10)
    return Labelled(
        log_odds=sureness * true + shift,
        labels=rng.random(true.size) < probabilities(true),
        tasks=np.repeat(np.arange(num_tasks), 10),
        families=("",) * num_tasks,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_an_over_sure_verifier_is_better_calibrated_after(kind) -> None:
    dev, test = drawn(1, num_tasks=60), drawn(2, num_tasks=60)
    after = measure_calibration(calibrated(fit(kind, dev.log_odds, dev.labels), test), seed=0)
    before = measure_calibration(test, seed=0)
    assert after.ece_equal_mass.high < before.ece_equal_mass.low
    assert after.nll.value < before.nll.value


@pytest.mark.parametrize("kind", KINDS)
def test_no_calibrator_reverses_a_ranking(kind) -> None:
    for worse in (1.0, -1.0):
        dev = drawn(4, sureness=worse)
        assert (np.diff(apply(fit(kind, dev.log_odds, dev.labels), GRID)) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_dev_candidates_changes_nothing(kind) -> None:
    dev = drawn(5)
    order = np.random.default_rng(0).permutation(dev.labels.size)
    here = apply(fit(kind, dev.log_odds, dev.labels), GRID)
    assert apply(fit(kind, dev.log_odds[order], dev.labels[order]), GRID) == pytest.approx(here)


def test_platt_takes_off_scale_and_shift() -> None:
    dev = drawn(6, sureness=3, shift=6, num_tasks=2000)
    found = fit("platt", dev.log_odds, dev.labels)
    assert found.slope == pytest.approx(1 / 3, rel=0.1)
    assert found.intercept == pytest.approx(-2, rel=0.1)


def test_temperature_takes_off_the_scale_alone() -> None:
    dev = drawn(6, sureness=3, num_tasks=2000)
    found = fit("temperature", dev.log_odds, dev.labels)
    assert found.slope == pytest.approx(1 / 3, rel=0.1)
    assert apply(found, [0.0]).tolist() == [0.0]


def test_no_slope_and_intercept_near_platts_have_a_smaller_loss_on_smoothed_targets() -> None:
    dev = drawn(7)
    found = fit("platt", dev.log_odds, dev.labels)
    right, wrong = dev.labels.sum(), (~dev.labels).sum()
    target = np.where(dev.labels, (right + 1) / (right + 2), 1 / (wrong + 2))

    def loss(slope: float, intercept: float) -> float:
        odds = slope * dev.log_odds + intercept
        return float((np.logaddexp(0, odds) - target * odds).sum())

    best = loss(found.slope, found.intercept)
    for step in (-1e-3, 1e-3):
        assert loss(found.slope + step, found.intercept) > best
        assert loss(found.slope, found.intercept + step) > best


@pytest.mark.parametrize("kind", ["platt", "temperature"])
def test_a_verifier_worse_than_chance_gets_one_probability_and_the_slope_is_told(kind) -> None:
    found = fit(kind, [-2.0, -1.0, 1.0, 2.0, 3.0], [True, True, False, False, False])
    assert found.slope == 0
    assert found.fitted_slope is not None and found.fitted_slope < 0
    assert np.ptp(apply(found, GRID)) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_classes_that_do_not_overlap_give_finite_log_odds(kind) -> None:
    found = fit(kind, [-900.0, -800.0, 700.0, 1000.0], [False, False, True, True])
    calibrated = apply(found, [-1000.0, 0.0, 1000.0])
    assert np.isfinite(calibrated).all()
    assert calibrated[0] < 0 < calibrated[2]


@pytest.mark.parametrize("kind", ["platt", "isotonic"])
def test_dev_candidates_of_one_value_leave_the_share_of_right_ones(kind) -> None:
    found = fit(kind, [0.3] * 8, [True] * 6 + [False] * 2)
    assert probabilities(apply(found, [0.3]))[0] == pytest.approx(0.75, abs=0.06)


def test_log_odds_of_zero_tell_temperature_nothing() -> None:
    found = fit("temperature", [0.0, 0.0, 0.0], [True, True, False])
    assert (found.slope, found.fitted_slope) == (1.0, None)


def test_isotonic_keeps_away_from_0_and_1_by_the_number_of_dev_candidates() -> None:
    found = fit("isotonic", [-1.0, 0.0, 1.0], [False, False, True])
    assert probabilities(apply(found, [-9.0, 9.0])).tolist() == pytest.approx([0.2, 0.8])


def test_isotonic_is_the_best_increasing_fit_of_pooled_neighbours() -> None:
    found = fit("isotonic", [1.0, 2.0, 3.0, 4.0], [False, True, False, True])
    assert probabilities(apply(found, [1.0, 2.0, 3.0, 4.0])).tolist() == pytest.approx(
        [1 / 6, 0.5, 0.5, 5 / 6]
    )


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ([], "no candidates"),
        ([True] * 3, "3 candidates, all right"),
        ([False], "1 candidates, all wrong"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_one_class_alone_is_refused_in_a_sentence(kind, labels, found) -> None:
    assert not can_fit(labels)
    with pytest.raises(UsageError, match=f"The dev tasks have {found}: a calibrator needs"):
        fit(kind, [0.5] * len(labels), labels)


@pytest.mark.parametrize("kind", KINDS)
def test_a_calibrator_read_back_is_the_same(kind) -> None:
    dev = drawn(8)
    found = fit(kind, dev.log_odds, dev.labels)
    assert calibrator_from_row(json.loads(json.dumps(calibrator_to_row(found)))) == found
    after = surprise(apply(found, dev.log_odds), dev.labels)
    assert after.mean() < surprise(dev.log_odds, dev.labels).mean()
