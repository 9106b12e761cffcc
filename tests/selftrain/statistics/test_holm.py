"""Holm's correction, against an example worked out by hand."""

from selftrain.statistics.holm import holm


def test_the_worked_example_is_adjusted_step_by_step() -> None:
    # Ascending 0.01, 0.02, 0.03, 0.5 by 4, 3, 2, 1: 0.04, 0.06, 0.06 and 0.5.
    found = holm([0.02, 0.5, 0.01, 0.03])
    assert [round(p, 10) for p in found] == [0.06, 0.5, 0.04, 0.06]


def test_none_falls_below_a_smaller_p_values_adjusted_one() -> None:
    assert holm([0.011, 0.02, 0.021]) == [0.033, 0.04, 0.04]


def test_none_exceeds_one() -> None:
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_a_single_comparison_needs_no_correction() -> None:
    assert holm([0.03]) == [0.03]


def test_no_comparison_gives_none() -> None:
    assert holm([]) == []
