"""What a run goes on with: the same judge, puzzles, data, models and packages, and nothing new."""

from dataclasses import replace

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


def made_with(puzzle: Puzzle = PUZZLE, **data: str) -> dict[str, object]:
    return provenance(["selftrain"], Config(), [puzzle], [], data=data)


def test_nothing_changed_is_told_as_nothing() -> None:
    assert what_changed(made_with(), made_with()) == ""


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
