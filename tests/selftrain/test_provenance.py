"""What a run goes on with: the same judge, puzzles, data, models and packages, and nothing new."""

from dataclasses import replace
from typing import Any

import pytest

from puzzles import Puzzle, puzzle_from_source
from selftrain.config import Config
from selftrain.provenance import provenance, what_changed

PUZZLE = puzzle_from_source(
    "def f(x: int, a=3):\n    return x == a",
    name="same",
    family="one",
    solutions=("def g(a=3):\n    return a",),
)


def made_with(puzzle: Puzzle = PUZZLE, **data: str) -> dict[str, Any]:
    return provenance(["selftrain"], Config(), [puzzle], [], data=data)


def test_nothing_changed_is_told_as_nothing() -> None:
    assert what_changed(made_with(), made_with()) == ""


def test_the_number_of_processes_is_told_and_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    class Three:
        size = 3

    alone = made_with()
    monkeypatch.setattr("selftrain.provenance.current_crew", Three)
    launched = made_with()
    assert (alone["machine"]["processes"], launched["machine"]["processes"]) == (1, 3)
    assert what_changed(alone, launched) == ""


def test_a_judge_that_takes_another_answer_for_right_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = made_with()
    monkeypatch.setattr("judge.judge_hash", lambda: "another")
    assert what_changed(before, made_with()).startswith("judge.code (")


@pytest.mark.parametrize(
    "changed",
    [
        replace(PUZZLE, solutions=("def g(a=3):\n    return 3",)),
        replace(PUZZLE, family="two"),
        replace(PUZZLE, more_inputs=("a=4",)),
        replace(PUZZLE, name="other"),
    ],
    ids=["solutions", "family", "inputs", "name"],
)
def test_other_puzzles_are_noticed_whatever_is_other(changed: Puzzle) -> None:
    assert what_changed(made_with(), made_with(changed)).startswith("puzzles.train (")


def test_data_that_are_new_or_gone_are_noticed() -> None:
    assert what_changed(made_with(), made_with(pairs="12")) == "data.pairs (None, now 12)"
    assert what_changed(made_with(pairs="12"), made_with()) == "data.pairs (12, now None)"
