"""The checks of Appendix C that need no run: what a proposal must look like to be a puzzle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzles import Puzzle, PuzzleError, Reason, Rejection, from_row, puzzle_from_source, to_row
from puzzles.filters import well_formed
from puzzles.seen import Seen


def read(source: str) -> Puzzle:
    puzzle = well_formed(source, name="p")
    assert isinstance(puzzle, Puzzle), puzzle
    return puzzle


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", Reason.NO_DEFINITION),
        ("x = 1", Reason.NO_DEFINITION),
        ("def g(x: int): return x", Reason.NO_DEFINITION),
        ("async def f(x: int): return x", Reason.NO_DEFINITION),
        ("@cache\ndef f(x: int): return x", Reason.NO_DEFINITION),
        ("def f(x: int): return x\nf(1)", Reason.NO_DEFINITION),
        ("def f(x: int): return x; import os", None),
        ("def f(x: int) return x", Reason.SYNTAX),
        ("def f(x: int):\n    return '\x00'", Reason.SYNTAX),
        ("def f(x: int): return " + "(" * 10_000, Reason.SYNTAX),
        ("def f(x: int): return x == " + "1" * 60_000, Reason.TOO_LONG),
        ("def f(x: int): x == 1", Reason.NO_RETURN),
        ("def f(x: int):\n    'return'\n    return", Reason.NO_RETURN),
        ("def f(x: int):\n    def h():\n        return x\n    h()", Reason.NO_RETURN),
        ("def f(x: int):\n    yield x\n    return x", Reason.GENERATOR),
        ("def f(x: int): return [(yield x)]", Reason.GENERATOR),
        ("def f(x: int): return next(i for i in [x])", None),
        ("def f(): return True", Reason.SIGNATURE),
        ("def f(x: int, y): return x == y", Reason.SIGNATURE),
        ("def f(x: int = 1, y=2): return x == y", Reason.SIGNATURE),
        ("def f(x: int, *y): return x == y", Reason.SIGNATURE),
        ("def f(x: int, **y): return x == y", Reason.SIGNATURE),
        ("def f(x: int, *, y=1): return x == y", Reason.SIGNATURE),
        ("def f(x: int, /, y=1): return x == y", Reason.SIGNATURE),
        ("def f(x): return x == 1", Reason.ANSWER_TYPE),
        ("def f(x: Dict[str, int]): return x", Reason.ANSWER_TYPE),
        ("def f(x: List): return x", Reason.ANSWER_TYPE),
        ("def f(x: list): return x", Reason.ANSWER_TYPE),
        ("def f(x: List[int, str]): return x", Reason.ANSWER_TYPE),
        ("def f(x: complex): return x", Reason.ANSWER_TYPE),
        ("def f(x: 3): return x", Reason.ANSWER_TYPE),
        ("def f(x: 'x = 1'): return x", Reason.ANSWER_TYPE),
        ("def f(x: int, y=1): return y == 1", Reason.ANSWER_UNUSED),
        ("def f(x: int, y=1): return y.x == 1", Reason.ANSWER_UNUSED),
    ],
)
def test_the_first_failed_check_is_the_reason(source: str, reason: Reason | None) -> None:
    found = well_formed(source, name="p")
    assert (found.reason if isinstance(found, Rejection) else None) is reason


@pytest.mark.parametrize(
    ("annotation", "answer_type"),
    [
        ("int", "int"),
        ("bool", "bool"),
        ("List[int]", "List[int]"),
        ("list[int]", "List[int]"),
        ("typing.List[str]", "List[str]"),
        ("List[list[List[bool]]]", "List[List[List[bool]]]"),
        ("'List[float]'", "List[float]"),
        ("List['str']", "List[str]"),
        ("List[ int ]", "List[int]"),
    ],
)
def test_every_spelling_of_a_type_is_read_as_p3_spells_it(
    annotation: str, answer_type: str
) -> None:
    assert read(f"def f(x: {annotation}): return x == 1").answer_type == answer_type


@pytest.mark.parametrize(
    ("parameters", "inputs"),
    [
        ("x: int", ""),
        ("x: int,", ""),
        ("x: int, a=17, words=['x',  \"y\"]", "a=17, words=['x',  \"y\"]"),
        ("x: List[int], a=(1, 2), b=')', c={1: (2)}", "a=(1, 2), b=')', c={1: (2)}"),
        ("x: int, a: int = 3 ,", "a: int = 3"),
        ("x: int, a=1,  # one\n    b='é', # two\n", "a=1, b='é'"),
        ("x: 'List[int]', a='𝄞', b=(3)", "a='𝄞', b=(3)"),
        ("x: int, \\\n    a=1", "a=1"),
        ("x: int,\x0c a=1", "a=1"),
        ("x: int, a·=1, ℘=2", "a·=1, ℘=2"),
        ("x: int, a=lambda p, q=(1, 2): {p: q}, b='#)'", "a=lambda p, q=(1, 2): {p: q}, b='#)'"),
    ],
)
def test_inputs_are_the_other_parameters_as_written(parameters: str, inputs: str) -> None:
    assert read(f"def f({parameters}) -> bool:\n    return x == 1").inputs == inputs


def test_docstring_and_white_space_around_are_dropped() -> None:
    assert read('\ndef f(x: int):\n    """Find 3."""\n    return x == 3  \n\n').f == (
        "def f(x: int):\n    return x == 3"
    )


def test_a_source_that_is_no_puzzle_raises_one_sentence() -> None:
    with pytest.raises(PuzzleError, match=r"^the answer x has no annotation$"):
        puzzle_from_source("def f(x): return x == 1", name="p")


def test_a_row_gives_back_the_puzzle() -> None:
    puzzle = puzzle_from_source(
        "def f(x: int, a=3): return x == a",
        name="p",
        difficulty="easy",
        solutions=("def g(a=3): return a",),
    )
    assert from_row(to_row(puzzle)) == puzzle


@given(st.text())
def test_any_text_is_a_puzzle_or_a_rejection(text: str) -> None:
    for source in (text, "def f(x: int): return x == " + text, "def f(x: int, " + text):
        assert isinstance(well_formed(source, name="p"), Puzzle | Rejection)


def test_a_duplicate_under_other_names_is_seen() -> None:
    seen = Seen([puzzle_from_source("def f(x: int, a=3): return x == a", name="first")])
    again = puzzle_from_source("def f(y: int, b=3):\n    return y == b", name="second")
    other = puzzle_from_source("def f(y: int, b=4):\n    return y == b", name="third")
    rejection = seen.add(again)
    assert rejection is not None and rejection.reason is Reason.DUPLICATE
    assert "first" in rejection.detail
    assert seen.add(other) is None
    assert seen.add(other) is not None
