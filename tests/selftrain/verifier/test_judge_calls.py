"""Judge calls that an order saves, against all orders of small cases."""

import itertools
import json
from statistics import fmean

import pytest

from selftrain.verifier.ranking.judge_calls import (
    calls_until,
    expected_calls,
    saved_share,
    savings,
    savings_to_row,
)


@pytest.mark.parametrize(
    ("labels", "m", "calls"),
    [
        ([True, False, True], 1, 1),
        ([False, True, True], 1, 2),
        ([True, False, True, False], 2, 3),
        ([True, False, False], 2, 3),
        ([False, False], 1, 2),
        ([], 1, 0),
    ],
)
def test_calls_stop_at_the_mth_right_one_or_at_the_last(labels, m, calls) -> None:
    assert calls_until(labels, m) == calls


@pytest.mark.parametrize("n", range(7))
@pytest.mark.parametrize("m", [1, 2, 3])
def test_expected_calls_are_the_mean_over_all_orders(n: int, m: int) -> None:
    for num_right in range(n + 1):
        labels = [True] * num_right + [False] * (n - num_right)
        every = [calls_until(order, m) for order in itertools.permutations(labels)]
        assert expected_calls(n, num_right, m) == pytest.approx(fmean(every))


def test_right_ones_first_is_the_least_and_keeps_as_much() -> None:
    best = savings([[True, True, False, False], [True, False]], ["", ""], 2, seed=0)
    worst = savings([[False, False, True, True], [False, True]], ["", ""], 2, seed=0)
    assert (best.num_calls, best.least_calls, best.num_kept) == (4, 4, 3)
    assert (worst.num_calls, worst.least_calls, worst.num_kept) == (6, 4, 3)
    assert best.saved.value == pytest.approx(2 / 6) and worst.saved.value == 0


def test_savings_against_random_are_of_its_expected_calls() -> None:
    found = savings([[True, False, False]], [""], 1, seed=0)
    assert found.random_calls == 2
    assert found.saved_of_random.value == 0.5
    assert found.random_saved.value == pytest.approx(1 / 3)


def test_an_order_worse_than_random_saves_less_than_nothing() -> None:
    assert savings([[False, False, True]], [""], 1, seed=0).saved_of_random.value == -0.5


def test_no_order_saves_where_fewer_than_m_are_right() -> None:
    for labels in itertools.permutations([True, False, False]):
        found = savings([labels], [""], 2, seed=0)
        assert found.saved.value == found.random_saved.value == found.saved_of_random.value == 0


def test_savings_average_over_all_orders_to_those_of_random() -> None:
    orders = list(itertools.permutations([True, True, False, False, False]))
    found = savings(orders, [""] * len(orders), 1, seed=0)
    assert found.saved_of_random.value == pytest.approx(0)


def test_puzzles_without_candidates_are_left_out() -> None:
    found = savings([[], [True, False]], ["a", "b"], 1, seed=0)
    assert (found.num_puzzles, found.num_candidates) == (1, 2)


def test_an_interval_is_over_puzzles_and_holds_the_share() -> None:
    found = savings([[True, False, False], [False, True, False], [False] * 3], [""] * 3, 1, seed=0)
    assert found.saved.value == pytest.approx(3 / 9)
    assert found.saved.low < found.saved.value < found.saved.high
    assert found.saved.num_puzzles == 3


def test_two_orders_of_the_same_puzzles_are_compared_puzzle_by_puzzle() -> None:
    half = saved_share([1, 2, 3], [2, 4, 6], [""] * 3, seed=0)
    assert (half.low, half.value, half.high) == pytest.approx((0.5, 0.5, 0.5))


def test_savings_are_a_row_of_json() -> None:
    row = savings_to_row(savings([[True, False]], [""], 1, seed=0))
    assert json.loads(json.dumps(row, allow_nan=False))["num_calls"] == 1


@pytest.mark.parametrize("bad", [lambda: calls_until([True], 0), lambda: expected_calls(2, 1, 0)])
def test_an_m_of_zero_is_refused(bad) -> None:
    with pytest.raises(ValueError, match="found m = 0"):
        bad()


def test_no_candidate_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to judge"):
        savings([[]], [""], 1, seed=0)
