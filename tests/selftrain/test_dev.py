"""The dev part of the train split: whole families, apart from what prompts show."""

import pytest

from puzzles import Puzzle, puzzle_from_source
from selftrain.dev import split_dev
from selftrain.errors import UsageError


def puzzle(number: int, family: str = "") -> Puzzle:
    return puzzle_from_source(
        f"def f(x: int):\n    return x == {number}", name=f"p{number}", family=family
    )


ALONE = [puzzle(number) for number in range(10)]
FAMILIES = [puzzle(number, f"family-{number // 4}") for number in range(12)]


def test_no_dev_puzzle_is_also_trained_with() -> None:
    rest, dev = split_dev(ALONE, 3, seed=0)
    assert len(dev) == 3
    assert sorted([*rest, *dev], key=lambda one: ALONE.index(one)) == ALONE


def test_families_stay_whole() -> None:
    rest, dev = split_dev(FAMILIES, 3, seed=0)
    assert len(dev) == 4
    assert not {one.family for one in rest} & {one.family for one in dev}


def test_the_choice_comes_from_the_seed() -> None:
    assert split_dev(ALONE, 3, seed=1) == split_dev(ALONE, 3, seed=1)
    assert len({split_dev(ALONE, 3, seed=seed)[1][0] for seed in range(20)}) > 3


def test_none_are_set_aside_unless_asked() -> None:
    assert split_dev(ALONE, 0, seed=0) == (ALONE, [])


def test_something_is_left_to_train_with() -> None:
    with pytest.raises(UsageError, match=r"puzzles.num_dev is 10, which leaves none of the 10"):
        split_dev(ALONE, 10, seed=0)
