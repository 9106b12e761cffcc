"""Difficulty: one minus the solve rate, with Wilson's interval."""

import pytest

from selftrain.difficulty import difficulties, interval


def test_difficulty_is_one_minus_the_solve_rate() -> None:
    candidates = [{"puzzle_id": "a", "passed": passed} for passed in (True, False, False, False)]
    candidates += [{"puzzle_id": "b", "passed": True}]
    first, second = difficulties(candidates)
    assert (first["puzzle_id"], first["num_correct"], first["difficulty"]) == ("a", 1, 0.75)
    assert (second["puzzle_id"], second["num_attempts"], second["difficulty"]) == ("b", 1, 0.0)
    assert first["difficulty_low"] < 0.75 < first["difficulty_high"]


def test_a_puzzle_judged_only_until_enough_passed_has_no_difficulty() -> None:
    spared = [
        {"puzzle_id": "a", "passed": True, "ordered": True},
        {"puzzle_id": "a", "passed": False, "ordered": True},
    ]
    (told,) = difficulties([*spared, {"puzzle_id": "b", "passed": True}])
    assert told["puzzle_id"] == "b"


def test_the_interval_is_wilsons() -> None:
    # (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n) with p = 0.5, n = 8, z = 1.96.
    assert interval(4, 8) == pytest.approx((0.2152, 0.7848), abs=1e-4)


def test_the_interval_of_none_and_of_all_has_a_width() -> None:
    assert interval(0, 8) == pytest.approx((0.0, 0.3244), abs=1e-4)
    assert interval(8, 8) == pytest.approx((0.6756, 1.0), abs=1e-4)
