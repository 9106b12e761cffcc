"""Risk over coverage, against all orders of small cases, and the threshold of dev tasks."""

import itertools
import json

import numpy as np
import pytest

from selftrain.verifier.calibration.risk import (
    at_threshold,
    choose_threshold,
    describe,
    risk_coverage,
    risk_coverage_to_row,
    selective_to_row,
)


def area_of(right) -> float:
    return float(np.mean([right[: k + 1].count(False) / (k + 1) for k in range(len(right))]))


def test_points_of_a_curve_worked_out_by_hand() -> None:
    curve = risk_coverage([0.9, 0.1, 0.5, 0.7], [True, False, False, True])
    assert [(p.confidence, p.coverage, p.risk, p.num_chosen) for p in curve.points] == [
        (0.9, 0.25, 0.0, 1),
        (0.7, 0.5, 0.0, 2),
        (0.5, 0.75, pytest.approx(1 / 3), 3),
        (0.1, 1.0, 0.5, 4),
    ]
    assert curve.area == curve.area_best == pytest.approx((0 + 0 + 1 / 3 + 1 / 2) / 4)


def test_equal_confidences_are_one_point() -> None:
    curve = risk_coverage([1.0, 0.5, 0.5, 0.5], [True, False, True, True])
    assert [point.coverage for point in curve.points] == [0.25, 1.0]


def test_area_within_ties_is_the_mean_over_their_orders() -> None:
    tied = [True, False, False]
    curve = risk_coverage([3.0, 2.0, 2.0, 2.0, 1.0], [False, *tied, True])
    every = [area_of([False, *order, True]) for order in itertools.permutations(tied)]
    assert curve.area == pytest.approx(np.mean(every))


def test_area_of_random_and_best_are_the_mean_and_the_least_over_all_orders() -> None:
    right = [True, False, True, False, False, True]
    every = [area_of(list(order)) for order in itertools.permutations(right)]
    curve = risk_coverage(np.arange(6), right)
    assert curve.area_random == pytest.approx(np.mean(every))
    assert curve.area_best == pytest.approx(min(every))


def test_one_confidence_for_all_is_as_good_as_random() -> None:
    curve = risk_coverage([0.5] * 5, [True, True, False, False, False])
    assert curve.area == pytest.approx(curve.area_random) and curve.area == pytest.approx(0.6)


def test_the_order_of_tasks_changes_no_curve() -> None:
    rng = np.random.default_rng(0)
    confidence, right = rng.integers(0, 5, 40).astype(float), rng.random(40) < 0.5
    order = rng.permutation(40)
    assert risk_coverage(confidence[order], right[order]) == risk_coverage(confidence, right)


def test_the_threshold_is_the_smallest_confidence_of_the_accepted_risk() -> None:
    # Risks, surest first: 1, 1/2, 1/3, 1/4, 2/5.
    threshold = choose_threshold(
        [0.9, 0.8, 0.7, 0.6, 0.5], [False, True, True, True, False], max_risk=0.34
    )
    assert (threshold.confidence, threshold.coverage, threshold.risk) == (0.6, 0.8, 0.25)


def test_ties_are_taken_whole_by_a_threshold() -> None:
    threshold = choose_threshold([0.9, 0.5, 0.5], [True, True, False], max_risk=0.2)
    assert (threshold.confidence, threshold.coverage) == (0.9, pytest.approx(1 / 3))


def test_where_no_confidence_is_safe_enough_it_is_said_and_nothing_is_chosen() -> None:
    threshold = choose_threshold([0.9, 0.5], [False, True], max_risk=0.2)
    assert threshold.confidence is None and threshold.risk is None
    assert describe(threshold) == (
        "On the 2 dev tasks no confidence keeps the share of wrong choices at or below 20%; the "
        "lowest at any is 50.0%. So there is no threshold."
    )
    test = at_threshold(threshold, [0.9, 0.8], [True, True], ["", ""], seed=0)
    assert test.coverage.value == 0 and test.risk is None


def test_a_task_without_a_choice_is_never_covered() -> None:
    threshold = choose_threshold([0.9, -np.inf], [True, False], max_risk=0.9)
    assert (threshold.confidence, threshold.coverage) == (0.9, 0.5)
    row = risk_coverage_to_row(risk_coverage([0.9, -np.inf], [True, False]))
    assert json.loads(json.dumps(row, allow_nan=False))["points"][1]["confidence"] is None


def test_coverage_and_risk_on_test_tasks_are_of_those_at_or_above_the_threshold() -> None:
    threshold = choose_threshold([0.6, 0.1], [True, False], max_risk=0.2)
    found = at_threshold(
        threshold, [0.6, 0.7, 0.59, 0.8, 0.2], [True, False, False, True, True], [""] * 5, seed=0
    )
    assert found.coverage.value == pytest.approx(3 / 5)
    assert found.risk is not None and found.risk.value == pytest.approx(1 / 3)
    assert found.risk.num_puzzles == 3
    assert json.loads(json.dumps(selective_to_row(found)))["threshold"]["confidence"] == 0.6


def test_a_chosen_threshold_is_said_in_a_sentence() -> None:
    threshold = choose_threshold([0.75, 0.1], [True, False], max_risk=0.2)
    assert describe(threshold) == (
        "On the 2 dev tasks a confidence of at least 0.75 chooses for 50.0% of them, 0.0% wrong, "
        "at most 20% wanted."
    )


@pytest.mark.parametrize(
    ("confidence", "right", "message"),
    [
        ([], [], "Found 0 confidences"),
        ([0.1], [True, False], "Found 1 confidences for 2"),
        ([float("nan")], [True], "1 of 1 confidences are nan"),
    ],
)
def test_what_gives_no_curve_is_refused(confidence, right, message) -> None:
    with pytest.raises(ValueError, match=message):
        risk_coverage(confidence, right)
