"""Comparisons of two models, against cases that can be worked out by hand."""

from typing import Any

import numpy as np
import pytest

from selftrain.statistics import (
    Comparison,
    compare,
    mean_over_seeds,
    rows_pass_at_k,
    with_holm,
)
from selftrain.statistics.comparison import sign_flip_p_value, smallest_detectable


def rows(num_correct: list[int], families: str = "", *, n: int = 4) -> list[dict[str, Any]]:
    """Give a row a puzzle; families are named by a letter each, a blank for none."""
    return [
        {"name": f"puzzle {i}", "family": families[i : i + 1].strip(), "n": n, "num_correct": c}
        for i, c in enumerate(num_correct)
    ]


def p_value(differences: list[float], clusters: str) -> float:
    return sign_flip_p_value(np.array(differences), list(clusters), seed=0)


def test_three_clusters_that_agree_have_the_exact_p_of_two_in_eight() -> None:
    assert p_value([0.5, 0.25, 0.125], "abc") == 2 / 8


def test_of_three_clusters_all_sums_at_least_as_large_are_counted() -> None:
    # Sums ±1 ±2 -3: of the eight, 6 and -6 by the rest, and the six others are 0, ±2 or ±4.
    assert p_value([1.0, 2.0, -3.0], "abc") == 1.0
    assert p_value([-1.0, 2.0, 3.0], "abc") == 4 / 8


def test_puzzles_of_a_family_flip_together() -> None:
    assert p_value([1.0, 1.0, 1.0, 1.0], "abcd") == 2 / 16
    assert p_value([1.0, 1.0, 1.0, 1.0], "aabb") == 2 / 4


def test_puzzles_that_do_not_differ_change_no_p_value() -> None:
    assert p_value([1.0, 1.0, 1.0, 0.0, 0.0], "abcde") == 2 / 8


def test_models_that_never_differ_have_a_p_of_one() -> None:
    assert p_value([0.0, 0.0, 0.0], "abc") == 1.0


def test_a_single_cluster_proves_nothing() -> None:
    assert p_value([1.0] * 20, "a" * 20) == 1.0


def test_sums_that_differ_by_rounding_alone_are_ties() -> None:
    # 0.1 + 0.2 - 0.3 is 5e-17, and a zero in exact numbers: every one of the eight is as large.
    assert p_value([0.1, 0.2, -0.3], "abc") == 1.0


def test_of_many_clusters_the_one_observed_counts_among_the_draws() -> None:
    assert p_value([1.0] * 40, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN") == 1 / 10_000


def test_drawn_and_enumerated_p_values_agree() -> None:
    found = [0.31, -0.13, 0.22, 0.257, -0.056, 0.101, 0.148, -0.2, 0.299, 0.05, 0.117, -0.153]
    exact = p_value(found, "abcdefghijkl")
    # Two more clusters of next to nothing make the patterns too many to go through.
    drawn = p_value([*found, 1e-9, 1e-9], "abcdefghijklmn")
    assert exact == pytest.approx(drawn, abs=0.015)
    assert 0.05 < exact < 0.5


def test_a_comparison_is_the_mean_difference_over_puzzles_and_seeds() -> None:
    found = compare([rows([4, 2]), rows([4, 4])], [rows([0, 2]), rows([2, 2])], 1, seed=0)
    assert found.difference == (1.0 + 0.0 + 0.5 + 0.5) / 4
    assert found.by_seed == (0.5, 0.5)
    assert (found.num_puzzles, found.num_clusters, found.num_seeds) == (2, 2, 2)


def test_puzzles_are_paired_by_name_not_by_place() -> None:
    a, b = rows([4, 0, 1, 3]), rows([3, 0, 1, 3])
    assert compare([a], [b[::-1]], 1, seed=0) == compare([a], [b], 1, seed=0)


def test_the_other_way_round_only_signs_change() -> None:
    a, b = [rows([4, 0, 1, 3, 4, 4, 2])], [rows([3, 0, 2, 1, 1, 0, 1])]
    there, back = compare(a, b, 2, seed=3), compare(b, a, 2, seed=3)
    assert there.difference == -back.difference
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.p_value == back.p_value
    assert there.smallest_detectable == pytest.approx(back.smallest_detectable)


def test_paired_puzzles_are_compared_more_sharply_than_their_intervals_would_tell() -> None:
    hard = [0, 1, 2, 3] * 4
    a, b = [rows([c + 1 for c in hard])], [rows(hard)]
    found = compare(a, b, 1, seed=0)
    assert found.high - found.low < 1e-9
    assert rows_pass_at_k(b[0], 1, 0).high > rows_pass_at_k(a[0], 1, 0).low


def test_seeds_that_disagree_widen_the_interval_of_the_difference() -> None:
    base = [rows([1] * 40), rows([1] * 40)]
    agree = compare([rows([2] * 40), rows([2] * 40)], base, 1, seed=0)
    disagree = compare([rows([1] * 40), rows([3] * 40)], base, 1, seed=0)
    assert agree.difference == disagree.difference
    assert (agree.low, agree.high) == pytest.approx((0.25, 0.25))
    assert (disagree.low, disagree.high) == pytest.approx((0.0, 0.5))


def test_a_base_model_measured_once_is_compared_with_several_seeds() -> None:
    found = compare([rows([2, 3, 4]), rows([2, 3, 2])], [rows([1, 1, 1])], 1, seed=0)
    assert (found.by_seed, found.num_seeds) == ((), 1)
    assert found.difference == pytest.approx(5 / 12)


def test_other_puzzles_are_refused() -> None:
    with pytest.raises(
        ValueError,
        match=r"Evaluations 1 and 2 are not of the same puzzles and families: they differ in "
        r"'puzzle 2'\.",
    ):
        compare([rows([1, 2, 3])], [rows([1, 2])], 1, seed=0)


def test_other_families_are_refused() -> None:
    with pytest.raises(ValueError, match="in 'puzzle 0' and 1 more"):
        compare([rows([1, 2, 3], "aab")], [rows([1, 2, 3], "bbb")], 1, seed=0)


def test_a_puzzle_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="Evaluation 1 has two rows of one name"):
        compare([rows([1]) + rows([2])], [rows([1])], 1, seed=0)


def test_a_comparison_with_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one evaluation of each model"):
        compare([], [rows([1])], 1, seed=0)


def test_a_k_above_n_is_refused() -> None:
    with pytest.raises(ValueError, match="Pass@5 needs at least 5 samples"):
        compare([rows([1])], [rows([1])], 5, seed=0)


def test_the_smallest_detectable_difference_of_known_spread_is_blooms() -> None:
    # Ten clusters, differences ±0.1: SE = sqrt(10/9 * 10 * 0.01) / 10; t(9) 2.26216 and 0.88340.
    found = smallest_detectable(np.array([0.1, -0.1] * 5), list("abcdefghij"))
    assert found == pytest.approx((2.26216 + 0.88340) * 0.033333, rel=1e-4)


def test_clusters_of_puzzles_that_agree_hide_larger_differences() -> None:
    differences = np.repeat([0.1, -0.1] * 4, 5)
    alone = smallest_detectable(differences, [str(i) for i in range(40)])
    clustered = smallest_detectable(differences, [str(i // 5) for i in range(40)])
    assert alone is not None
    assert clustered is not None
    assert clustered > 2 * alone


@pytest.mark.parametrize(
    ("differences", "clusters"), [([0.1, 0.2, 0.3, 0.1, 0.5], "abcde"), ([0.0] * 8, "abcdefgh")]
)
def test_what_could_be_detected_is_not_told_of_too_few_clusters_or_no_spread(
    differences: list[float], clusters: str
) -> None:
    assert smallest_detectable(np.array(differences), list(clusters)) is None


def test_several_arms_are_corrected_together() -> None:
    arms = [
        compare([rows(correct)], [rows([0] * 4)], 1, seed=0) for correct in ([1] * 4, [0, 0, 0, 1])
    ]
    assert [arm.p_value for arm in arms] == [2 / 16, 1.0]
    corrected: list[Comparison] = with_holm(arms)
    assert [arm.holm_p_value for arm in corrected] == [4 / 16, 1.0]
    assert [arm.p_value for arm in corrected] == [2 / 16, 1.0]


def test_one_seed_has_the_estimate_of_its_rows() -> None:
    evaluation = rows([0, 1, 2, 4, 3], "aab")
    assert mean_over_seeds([evaluation], 2, seed=5) == rows_pass_at_k(evaluation, 2, 5)


def test_the_mean_over_seeds_counts_the_seeds_and_their_spread() -> None:
    found = mean_over_seeds([rows([1] * 30), rows([3] * 30)], 1, seed=0)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.25, 0.75))
    assert (found.num_seeds, found.num_puzzles, found.num_samples) == (2, 30, 4)
