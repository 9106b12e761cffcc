"""Calibration, against values worked out by hand and scikit-learn's."""

import itertools
import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from selftrain.statistics.resampling import task_weights
from selftrain.verifier.calibration.bins import (
    equal_mass,
    equal_width,
    percentile_curve,
    percentiles,
    reliability_bins,
    share_right,
)
from selftrain.verifier.calibration.calibration import calibration_to_row, measure_calibration
from selftrain.verifier.calibration.labelled import Labelled, join
from selftrain.verifier.calibration.ranks import auroc, auroc_pooled, auroc_weighted, auroc_within
from selftrain.verifier.calibration.scoring import (
    distinct,
    ece,
    group_sums,
    reliability_of,
    resolution_of,
    surprise,
    uncertainty_of,
)

SEVEN_OF_TEN = [True] * 7 + [False] * 3


def drawn(num_tasks: int = 12, each: int = 5, *, sureness: float = 1.0) -> Labelled:
    """Tasks of unequal difficulty, whose probabilities are right where sureness is 1."""
    rng = np.random.default_rng(5)
    odds = rng.normal(size=(num_tasks, 1)) + rng.normal(size=(num_tasks, each))
    labels = rng.random(odds.shape) < 1 / (1 + np.exp(-odds))
    return join((sureness * odds).tolist(), labels.tolist(), [""] * num_tasks)


@pytest.mark.parametrize("groups", [equal_width, equal_mass])
def test_constant_0_7_with_70_percent_right_has_ece_0(groups) -> None:
    p = [0.7] * 10
    assert ece(p, SEVEN_OF_TEN, groups(p, 15)) == pytest.approx(0, abs=1e-12)


def test_measured_constant_0_7_with_70_percent_right_is_all_uncertainty() -> None:
    odds = float(np.log(0.7 / 0.3))
    found = measure_calibration(join([[odds] * 10] * 3, [SEVEN_OF_TEN] * 3, [""] * 3), seed=1)
    assert found.ece_equal_width.value == pytest.approx(0, abs=1e-12)
    assert found.ece_equal_mass.value == pytest.approx(0, abs=1e-12)
    assert found.brier.score.value == pytest.approx(0.21)
    assert found.brier.reliability.value == pytest.approx(0, abs=1e-12)
    assert found.brier.resolution.value == pytest.approx(0, abs=1e-12)
    assert found.brier.uncertainty.value == pytest.approx(0.21)
    assert found.brier.remainder == pytest.approx(0, abs=1e-12)
    assert found.nll.value == pytest.approx(-0.7 * np.log(0.7) - 0.3 * np.log(0.3))
    assert found.auroc is not None and found.auroc.value == 0.5


def test_perfect_forecasts_have_neither_error_nor_misrankings() -> None:
    found = measure_calibration(
        join([[800.0, -800.0], [-900.0, 700.0]], [[True, False], [False, True]], ["", ""]),
        seed=1,
    )
    assert found.ece_equal_width.value == 0
    assert found.brier.score.value == 0
    assert found.nll.value < 1e-300
    assert found.auroc is not None and found.auroc.value == 1
    assert found.brier.resolution.value == found.brier.uncertainty.value == 0.25


def test_with_one_bin_ece_is_the_distance_of_the_means() -> None:
    p, labels = [0.9, 0.9, 0.1, 0.5], [True, False, False, False]
    assert ece(p, labels, equal_width(p, 1)) == pytest.approx(0.6 - 0.25)
    assert ece(p, labels, equal_mass(p, 1)) == pytest.approx(0.6 - 0.25)


def test_ece_weighs_bins_by_their_candidates() -> None:
    p, labels = [0.2, 0.2, 0.2, 0.8], [True, False, False, False]
    assert ece(p, labels, equal_width(p, 2)) == pytest.approx(0.75 * (1 / 3 - 0.2) + 0.25 * 0.8)


def test_equal_width_bins_hold_their_lower_edge_and_the_last_one_1() -> None:
    edges = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert equal_width(edges, 10).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]


def test_equal_mass_bins_differ_by_at_most_one_without_ties() -> None:
    sizes = np.bincount(equal_mass(np.arange(107), 15))
    assert sizes.sum() == 107 and set(sizes.tolist()) == {7, 8}


def test_equal_values_are_in_one_equal_mass_bin_in_any_order_of_rows() -> None:
    values = [0.1, 0.4, 0.4, 0.4, 0.9, 0.9]
    for order in set(itertools.permutations(values)):
        bins = dict(zip(order, equal_mass(order, 3).tolist(), strict=True))
        assert [bins[value] for value in order] == equal_mass(order, 3).tolist()
        assert bins == {0.1: 0, 0.4: 1, 0.9: 2}


def test_the_order_of_rows_changes_no_number() -> None:
    found = drawn()
    order = np.random.default_rng(0).permutation(found.labels.size)
    shuffled = Labelled(
        found.log_odds[order], found.labels[order], found.tasks[order], found.families
    )
    here, there = (
        calibration_to_row(measure_calibration(each, seed=3, num_bins=4))
        for each in (found, shuffled)
    )
    assert list(flat(here)) == pytest.approx(list(flat(there)), abs=1e-12)


def flat(value):
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, int | float):
        yield value
    else:
        for each in value:
            yield from flat(each)


def test_brier_is_reliability_minus_resolution_plus_uncertainty_for_grouped_values() -> None:
    rng = np.random.default_rng(2)
    odds, labels = rng.choice([-3.0, -0.8, 0.2, 2.2], size=(20, 10)), rng.random((20, 10)) < 0.4
    found = measure_calibration(join(odds.tolist(), labels.tolist(), [""] * 20), seed=0)
    assert found.brier.remainder == pytest.approx(0, abs=1e-12)
    assert min(found.brier.reliability.value, found.brier.resolution.value) > 0


def test_what_one_bin_hides_of_the_brier_score_is_told_as_the_remainder() -> None:
    odds = float(np.log(0.8 / 0.2))
    found = measure_calibration(join([[odds, -odds]], [[True, False]], [""]), seed=0, num_bins=1)
    # Each is 0.2 from its label; the bin has a mean of 0.5, of which half are right.
    assert found.brier.score.value == pytest.approx(0.04)
    assert found.brier.reliability.value == pytest.approx(0, abs=1e-12)
    assert found.brier.uncertainty.value == 0.25
    assert found.brier.remainder == pytest.approx(-0.21)


def test_murphy_parts_of_two_groups_worked_out_by_hand() -> None:
    p, labels = [0.2, 0.2, 0.6, 0.6], [False, False, True, False]
    sums = group_sums(p, labels, distinct(p))
    parts = [each(sums)[0] for each in (reliability_of, resolution_of, uncertainty_of)]
    assert parts == pytest.approx((0.025, 0.0625, 0.1875))


def test_nll_stays_finite_where_a_probability_is_rounded_to_0_or_1() -> None:
    assert surprise([-768.0, 768.0], [True, True]).tolist() == [768, 0]


@pytest.mark.parametrize("function", [equal_width, lambda p, n: ece(p, [True] * len(p), p)])
def test_a_joint_score_is_refused_as_no_probability(function) -> None:
    with pytest.raises(ValueError, match=r"2 of 3 values lie outside \[0, 1\], the first is -12"):
        function(np.array([-12.0, 0.3, 1.5]), 5)


def test_auroc_is_that_of_scikit_learn_with_ties() -> None:
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 9, size=200).astype(float)
    labels = rng.random(200) < scores / 9
    assert auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))


def test_auroc_takes_infinite_scores() -> None:
    assert auroc([-np.inf, -np.inf, 0.0], np.array([True, False, True])) == 0.75


@pytest.mark.parametrize("label", [True, False])
def test_auroc_of_one_class_is_none_and_the_rest_is_there(label: bool) -> None:
    found = measure_calibration(
        join([[0.5, 1.0], [2.0]], [[label, label], [label]], ["", ""]), seed=0
    )
    assert found.auroc is None and found.auroc_within is None
    assert found.share_right.value == label


def test_telling_easy_from_hard_tasks_ranks_nothing_within_a_task() -> None:
    scores = np.array([2.0, 2.0, 2.0, -2.0, -2.0, -2.0])
    labels = np.array([True, True, False, True, False, False])
    tasks = np.array([0, 0, 0, 1, 1, 1])
    pooled = auroc_pooled(scores, labels, tasks, ["", ""], seed=0)
    within = auroc_within(scores, labels, tasks, ["", ""], seed=0)
    assert pooled is not None and pooled.value == pytest.approx(6 / 9)
    assert within is not None and within.value == 0.5


def test_interval_of_auroc_is_that_of_scikit_learn_in_every_replicate() -> None:
    found = drawn(8)
    found.log_odds.round(1, out=found.log_odds)  # Some are equal.
    ours = auroc_pooled(found.log_odds, found.labels, found.tasks, found.families, seed=7)
    weights = task_weights(found.families, 7)[:40]
    theirs = [
        roc_auc_score(found.labels, found.log_odds, sample_weight=row[found.tasks])
        for row in weights
    ]
    assert auroc_weighted(found.log_odds, found.labels, found.tasks, weights) == pytest.approx(
        theirs
    )
    assert ours is not None and ours.low < ours.value < ours.high


def test_intervals_resample_tasks_not_candidates() -> None:
    odds, labels = [[0.1, -0.2], [0.4, 1.0], [-1.0, 0.3]], [[True, False], [True] * 2, [False] * 2]
    once = measure_calibration(join(odds, labels, [""] * 3), seed=0)
    copied = measure_calibration(
        join([own * 10 for own in odds], [own * 10 for own in labels], [""] * 3), seed=0
    )
    assert copied.brier.score.low == pytest.approx(once.brier.score.low)
    assert copied.brier.score.high == pytest.approx(once.brier.score.high)


def test_families_are_resampled_as_wholes() -> None:
    odds, labels = [[0.3]] * 8, [[True]] * 4 + [[False]] * 4
    apart = measure_calibration(join(odds, labels, [""] * 8), seed=0).share_right
    joined = measure_calibration(join(odds, labels, ["a"] * 4 + ["b"] * 4), seed=0).share_right
    assert (joined.low, joined.high) == (0, 1)
    assert apart.low > 0 and apart.high < 1


def test_perfect_probabilities_show_an_ece_by_chance_and_over_sure_ones_more() -> None:
    right, over = (
        measure_calibration(drawn(40), seed=0),
        measure_calibration(drawn(40, sureness=8), seed=0),
    )
    assert right.ece_equal_mass.value < right.ece_by_chance_high
    assert over.ece_equal_mass.low > over.ece_by_chance_high


def test_a_task_without_candidates_is_left_out() -> None:
    assert join([[], [0.5]], [[], [True]], ["a", "b"]).families == ("b",)


@pytest.mark.parametrize(
    ("odds", "labels", "message"),
    [
        ([[0.1, 0.2]], [[True]], "1 labels, but 2 log-odds"),
        ([[0.1]], [[None]], "no label"),
        ([[float("nan")]], [[True]], "must be finite"),
    ],
)
def test_what_cannot_be_measured_is_refused(odds, labels, message) -> None:
    with pytest.raises(ValueError, match=message):
        join(odds, labels, [""])


def test_no_candidate_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one candidate"):
        measure_calibration(join([[]], [[]], [""]), seed=0)


def test_a_calibration_is_a_row_of_json() -> None:
    row = calibration_to_row(measure_calibration(drawn(), seed=0))
    assert json.loads(json.dumps(row, allow_nan=False))["num_candidates"] == 60


def test_bins_of_a_reliability_diagram_hold_all_candidates_once() -> None:
    found = measure_calibration(drawn(), seed=0)
    for diagram in (found.equal_width, found.equal_mass):
        assert sum(one.right.num_candidates for one in diagram) == 60
        assert all(one.low <= one.mean_probability <= one.high for one in diagram)


def test_edges_of_an_equal_width_bin_are_told() -> None:
    (only,) = reliability_bins(
        [0.3, 0.34], np.array([True, False]), ["a", "b"], np.array([3, 3]), 10
    )
    assert (only.low, only.high, only.mean_probability) == (0.3, 0.4, pytest.approx(0.32))


def test_a_share_of_all_right_has_an_interval_with_a_width() -> None:
    share = share_right(np.array([True] * 10), [str(index) for index in range(10)])
    assert share.value == share.high == 1
    assert share.low == pytest.approx(0.7224672)  # Wilson's for 10 of 10.


def test_ten_equal_candidates_of_a_task_tell_no_more_than_one() -> None:
    labels = np.array([True, True, False, True])
    once = share_right(labels, ["a", "b", "c", "d"])
    copied = share_right(np.repeat(labels, 10), np.repeat(["a", "b", "c", "d"], 10).tolist())
    assert copied.high - copied.low >= once.high - once.low


def test_percentiles_average_ties_and_take_any_score() -> None:
    assert percentiles([-np.inf, -700.0, -700.0, 3.0]).tolist() == [12.5, 50, 50, 87.5]


def test_a_percentile_curve_is_of_ranks_alone() -> None:
    scores = np.linspace(-800, -3, 40)
    labels, clusters = scores > -100, [str(index // 4) for index in range(40)]
    curve = percentile_curve(scores, labels, clusters, num_bins=4)
    assert [one.right.value for one in curve] == [0, 0, 0, pytest.approx(0.5)]
    assert [one.percentile for one in curve] == [12.5, 37.5, 62.5, 87.5]
    assert percentile_curve(np.exp(scores / 100), labels, clusters, num_bins=4) == curve


def test_a_score_that_is_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="1 of 2 scores are nan"):
        percentiles([float("nan"), 1.0])
