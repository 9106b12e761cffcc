"""The dev part of the train split: whole families, apart from what prompts show."""

import pytest

from puzzles import Puzzle, puzzle_from_source
from puzzles.p3_tutorials import FAMILIES as TUTORIALS
from selftrain.config import DecontaminateConfig, JudgeConfig
from selftrain.curate import Example
from selftrain.decontaminate import HeldOutIndex, decontaminate
from selftrain.dev import split_dev
from selftrain.errors import UsageError
from selftrain.judge import judging_in_rounds
from selftrain.near_training import near_rows


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


def test_the_papers_tutorials_stay_with_the_train_puzzles() -> None:
    puzzles = [puzzle(n, family) for n, family in enumerate([*TUTORIALS, "a", "b", "c"])]
    for seed in range(10):
        _, dev = split_dev(puzzles, 2, seed)
        assert not {one.family for one in dev} & set(TUTORIALS)


def test_an_example_of_a_dev_puzzle_is_not_trained_on() -> None:
    held_out, dev = puzzle(100_000), puzzle(200_000)
    index = HeldOutIndex([held_out], DecontaminateConfig(), [dev])
    examples = [
        Example(1, p.id, p.f, "", p.name, 0, p.f, "def g():\n    return 0", None, 1, 1)
        for p in (held_out, dev)
    ]
    checked = decontaminate(
        examples, index, DecontaminateConfig(checks=("syntax",)), judging_in_rounds(JudgeConfig())
    )
    assert [one.rejection is None for one in checked] == [False, False]
    assert [row["name"] for row in near_rows(index, [], [], [])] == [held_out.name]
