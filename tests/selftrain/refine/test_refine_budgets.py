"""What arms that draw again may spend."""

from selftrain.refine.arms import WAYS
from selftrain.refine.refine import budgets_of

SPENT = {"a": 10, "b": 110}


def test_with_the_gate_a_task_has_what_was_spent_on_it() -> None:
    assert budgets_of(WAYS["resample"], SPENT) == SPENT


def test_without_the_gate_a_budget_does_not_tell_what_the_gate_said() -> None:
    assert budgets_of(WAYS["resample_no_gate"], SPENT) == {"a": 60, "b": 60}


def test_what_revises_has_no_budget() -> None:
    assert budgets_of(WAYS["critic"], SPENT) is None
