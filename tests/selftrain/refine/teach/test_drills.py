"""Drills: edits that lead from one try to another, right or wrong, in the words of the rules."""

import pytest

from puzzles import puzzle_from_source
from selftrain.refine.critic.clues import find_clues
from selftrain.refine.critic.review import Edit
from selftrain.refine.teach.drills import drill_pairs, edits_between


def g(body: str) -> str:
    return f"def g(a=57, b=[12]):\n    {body}"


def actions(source: str, target: str) -> list[str]:
    edits = edits_between(g(source), g(target), ("a", "b"))
    assert all(edit.location == "line 2" for edit in edits)
    return [edit.action for edit in edits]


@pytest.mark.parametrize(
    ("source", "target", "edits"),
    [
        ("return b + a", "return b - a", ["change + to -"]),
        ("return b // a", "return b ** a", ["change // to **"]),
        ("return b + a", "return a + b", ["swap the sides of +"]),
        ("return b + b", "return b + a", ["change one b to a"]),
        ("return max(b)", "return min(b)", ["change max to min"]),
        ("return 965 - 776", "return 965 - 766", ["change 776 to 766"]),
        ('return "tuko"', 'return "tuko"[::-1]', ["use [::-1]"]),
        ("return 476 - 69", "return 474 + 69", ["change 476 to 474", "change - to +"]),
    ],
)
def test_a_step_or_two_are_told(source: str, target: str, edits: list[str]) -> None:
    assert actions(source, target) == edits


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("return b + a", "return b + a"),
        ("return b + a", "return [b, a]"),
        ("return a - 1 - 2", "return b + 3 - 2 * 2"),
        ("return a - 10 - 20", "return b + 30 - 20"),
        ("return b + a", "return b"),
    ],
)
def test_what_differs_in_more_or_in_nothing_is_no_drill(source: str, target: str) -> None:
    assert actions(source, target) == []


@pytest.mark.parametrize(
    ("check", "wrong", "right"),
    [
        ("return x + a == 9", "return 9 + a", "return 9 - a"),
        ("return x + a == b", "return b - b", "return b - a"),
        ('return x + "tu" == a', 'return a[:len("ta")]', 'return a[:len("tu")]'),
        ("return x[::-1] == a", "return a", "return a[::-1]"),
    ],
)
def test_drills_speak_as_the_rules_do(check: str, wrong: str, right: str) -> None:
    kind = "str" if '"tu"' in check or "::" in check else "int"
    puzzle = puzzle_from_source(f"def f(x: {kind}, a=57, b=8):\n    {check}", name="p")
    head = f"def g({puzzle.inputs}):\n    "
    (edit,) = edits_between(head + wrong, head + right, ("a", "b"))
    clues = [Edit(f"line {one.line}", one.action) for one in find_clues(puzzle, head + wrong)]
    assert clues == [edit]


def test_pairs_lead_where_their_edits_say_and_are_drawn_by_the_seed() -> None:
    tries = [g(f"return {sign.join('ab')}") for sign in "+-*/%^"]
    pairs = drill_pairs(tries, ("a", "b"), 8, 0)
    assert len(pairs) == 8 and pairs == drill_pairs(tries, ("a", "b"), 8, 0)
    assert pairs != drill_pairs(tries, ("a", "b"), 8, 1)
    for source, target, (edit,) in pairs:
        _, old, _, new = edit.action.split()
        assert source.replace(old, new) == target


def test_a_single_try_makes_no_drill() -> None:
    assert drill_pairs([g("return a")] * 9, ("a", "b"), 8, 0) == []
