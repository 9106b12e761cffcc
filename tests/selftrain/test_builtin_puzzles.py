"""The built-in puzzles: enough, varied, solvable, not trivial, held out where they should be."""

from collections import Counter

import pytest

from judge import Limits, judge_many
from puzzles import Puzzle
from puzzles.builtin.read import FAMILIES, read_builtin
from puzzles.near import NearIndex, too_close
from puzzles.normal import shape
from puzzles.trivial import check_trivial
from selftrain.config import Config

TRAIN = read_builtin("train")
HELD_OUT = read_builtin("held_out")
NEW_FAMILIES = {family.name for family in FAMILIES if family.held_out}


def test_there_are_150_to_train_on_and_200_held_out() -> None:
    assert len(TRAIN) >= 150
    assert len(HELD_OUT) >= 200


def test_names_are_unique() -> None:
    names = Counter(puzzle.name for puzzle in [*TRAIN, *HELD_OUT])
    assert [name for name, count in names.items() if count > 1] == []


def test_there_are_30_families_of_distinct_shapes() -> None:
    by_family: dict[str, set[str]] = {}
    for puzzle in [*TRAIN, *HELD_OUT]:
        by_family.setdefault(puzzle.family, set()).add(shape(puzzle.f))
    assert all(len(shapes) == 1 for shapes in by_family.values())
    shapes = [next(iter(shapes)) for shapes in by_family.values()]
    assert len(set(shapes)) == len(shapes) >= 30


def test_every_answer_type_is_there() -> None:
    types = {puzzle.answer_type for puzzle in HELD_OUT}
    assert {"int", "str", "float", "List[int]"} <= types
    assert any(answer_type.startswith("List[List[") for answer_type in types)


def test_every_puzzle_has_category_difficulty_family_and_solution() -> None:
    for puzzle in [*TRAIN, *HELD_OUT]:
        assert puzzle.category in {"integers", "strings", "floats", "lists"}
        assert puzzle.difficulty in {"easy", "medium", "hard"}
        assert puzzle.family
        assert puzzle.solutions
        assert puzzle.origin == "builtin"


@pytest.mark.parametrize("puzzles", [TRAIN, HELD_OUT], ids=["train", "held_out"])
def test_every_difficulty_is_in_each_split(puzzles: list[Puzzle]) -> None:
    assert {puzzle.difficulty for puzzle in puzzles} == {"easy", "medium", "hard"}


def test_some_held_out_families_are_absent_from_the_train_split() -> None:
    trained, held_out = ({p.family for p in split} for split in (TRAIN, HELD_OUT))
    assert held_out - trained == NEW_FAMILIES
    assert len(NEW_FAMILIES) >= 10
    assert trained < held_out


def test_every_reference_solution_passes_within_the_limits_of_rounds() -> None:
    pairs = [(puzzle, g) for puzzle in [*TRAIN, *HELD_OUT] for g in puzzle.solutions]
    limits = Limits(fuel=Config().judge.fuel)
    verdicts = judge_many(((puzzle.f, g) for puzzle, g in pairs), limits)
    failed = {p.name: v.outcome for (p, _), v in zip(pairs, verdicts, strict=True) if not v.passed}
    assert failed == {}


def test_no_puzzle_is_trivial_by_our_own_filter() -> None:
    limits = Limits(fuel=Config().filter.fuel)
    trivial = {p.name: check_trivial(p, limits) for p in [*TRAIN, *HELD_OUT]}
    assert {name: rejection for name, rejection in trivial.items() if rejection} == {}


def test_no_puzzle_is_there_twice() -> None:
    ids = Counter(puzzle.id for puzzle in [*TRAIN, *HELD_OUT])
    assert [puzzle_id for puzzle_id, count in ids.items() if count > 1] == []


def test_no_held_out_puzzle_is_near_a_train_puzzle_but_for_its_constants() -> None:
    index = NearIndex(TRAIN)
    found = {p.name: too_close(p, index, same_shape_is_new=True) for p in HELD_OUT}
    assert {name: rejection for name, rejection in found.items() if rejection} == {}


def test_no_train_puzzle_is_near_one_of_a_held_out_family() -> None:
    index = NearIndex([puzzle for puzzle in HELD_OUT if puzzle.family in NEW_FAMILIES])
    found = {p.name: too_close(p, index) for p in TRAIN}
    assert {name: rejection for name, rejection in found.items() if rejection} == {}
