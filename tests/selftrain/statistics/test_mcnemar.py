"""McNemar's exact test, and what counts as solved."""

from typing import Any

import pytest

from selftrain.statistics import McNemar, mcnemar


def row(name: str, num_correct: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "family": "", "n": 4, "num_correct": num_correct, **more}


def evaluation(solved: str, **more: Any) -> list[dict[str, Any]]:
    return [row(f"puzzle {i}", int(mark), **more) for i, mark in enumerate(solved)]


def test_five_against_one_has_the_p_of_a_fair_coin() -> None:
    # 2 (C(6,0) + C(6,1)) / 2^6
    assert mcnemar(evaluation("11111011"), evaluation("00000111"), 4) == McNemar(5, 1, 14 / 64)


def test_puzzles_that_both_solve_or_neither_say_nothing() -> None:
    assert mcnemar(evaluation("1100"), evaluation("1100"), 4) == McNemar(0, 0, 1.0)


def test_solved_at_n_needs_a_single_right_sample() -> None:
    assert mcnemar(evaluation("40"), evaluation("01"), 4) == McNemar(1, 1, 1.0)


def test_solved_at_a_smaller_k_goes_by_the_order_drawn() -> None:
    late, early = [row("a", 1, first_correct=3)], [row("a", 1, first_correct=1)]
    assert mcnemar(late, early, 2) == McNemar(0, 1, 1.0)
    assert mcnemar(late, early, 1) == McNemar(0, 0, 1.0)


def test_counts_alone_are_refused_where_the_order_matters() -> None:
    with pytest.raises(ValueError, match=r"'a' has no 'first_correct'.* Compare at k = 4"):
        mcnemar([row("a", 1)], [row("a", 2)], 2)


def test_counts_are_enough_where_all_samples_or_none_passed() -> None:
    assert mcnemar([row("a", 4)], [row("a", 0)], 2) == McNemar(1, 0, 1.0)


def test_greedy_decoding_is_compared_by_itself() -> None:
    a, b = [row("a", 0, greedy_passed=True)], [row("a", 4, greedy_passed=False)]
    assert mcnemar(a, b, None) == McNemar(1, 0, 1.0)


def test_rows_without_a_greedy_solution_are_refused() -> None:
    with pytest.raises(ValueError, match="'a' has no 'greedy_passed'"):
        mcnemar([row("a", 1)], [row("a", 1)], None)


def test_a_k_above_n_is_refused() -> None:
    with pytest.raises(ValueError, match="k is 5, but 'a' has samples 1 to 4"):
        mcnemar([row("a", 1)], [row("a", 1)], 5)
