"""Comparing texts and behaviour with held-out puzzles: what counts as near, and what as chance."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge import Limits
from puzzles import Puzzle, puzzle_from_source
from puzzles.behaviour import can_tell, fits_by_chance, fitting_answers, input_names, searches
from puzzles.contamination import Bars, Check, HeldOutTexts
from puzzles.p3 import read_p3

HELD_OUT = "def f(x: int, nums=[4, 9, 1], total=170):\n    return x * max(nums) + sum(nums) - min(nums) == total"
LIMITS = Limits(fuel=200_000_000)
TEXT_CHECKS = (Check.SYNTAX, Check.NGRAMS, Check.MINHASH)


def puzzle(f: str, name: str = "p") -> Puzzle:
    return puzzle_from_source(f, name=name)


@pytest.fixture(scope="module")
def texts() -> HeldOutTexts:
    return HeldOutTexts([puzzle(HELD_OUT, "held-out")], Bars(0.75, 0.7), Bars(0.6, 0.5))


def found(texts: HeldOutTexts, f: str, *, keep: bool) -> str:
    overlap = texts.overlap(puzzle(f), TEXT_CHECKS, keep_same_shape=keep)
    return overlap.reason if overlap else ""


@pytest.mark.parametrize(
    ("f", "kept", "removed"),
    [
        (HELD_OUT, "syntax", "syntax"),
        (HELD_OUT.replace("nums", "a").replace("total", "b"), "syntax", "syntax"),
        (HELD_OUT.replace("== total", "== +total").replace("170", "+170"), "ngrams", "ngrams"),
        (HELD_OUT.replace("170", "-(-170)"), "syntax", "syntax"),
        (HELD_OUT.replace("170", "170.0").replace("9", "+9"), "syntax", "syntax"),
        (HELD_OUT.replace("170", "171"), "", "ngrams"),
        (HELD_OUT.replace("==", ">="), "ngrams", "ngrams"),
        ("def f(s: str):\n    return s[::-1] == 'abc'", "", ""),
    ],
)
def test_another_instance_of_a_family_is_near_only_where_that_is_asked(
    texts: HeldOutTexts, f: str, kept: str, removed: str
) -> None:
    assert (found(texts, f, keep=True), found(texts, f, keep=False)) == (kept, removed)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (HELD_OUT, True),
        (HELD_OUT.replace("def f(", "def f7(").replace("    ", "\t"), True),
        (f"def g():\n    '''\n    {HELD_OUT.replace('    ', '        ')}\n    '''", True),
        (HELD_OUT.replace("170", "17 0").replace(" == ", "=="), True),
        (f"def f(y: int):\n    a = {HELD_OUT.replace(' * ', '*')!r}\n    return y == 1", True),
        (HELD_OUT.replace("170", "1700"), False),
        (HELD_OUT + "0", False),
        (HELD_OUT + " + 1", False),
    ],
)
def test_a_quote_is_found_wherever_it_stands_but_not_in_what_goes_on(
    texts: HeldOutTexts, text: str, quoted: bool
) -> None:
    assert (texts.quoted_in(f"x = 1\n{text}\n\ny = 2") is not None) is quoted


@pytest.fixture(scope="module")
def p3(p3_folder: Path) -> tuple[list[Puzzle], list[Puzzle]]:
    files = (p3_folder / "puzzles.json", p3_folder / "split.json")
    return read_p3(*files, "train").puzzles, read_p3(*files, "held_out").puzzles


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (Check.SYNTAX, set()),
        (
            Check.NGRAMS,
            {
                ("Study_1:0", "Study_2:0"),
                ("Study_29:0", "Study_28:0"),
                ("Sstriiinggssuubb:0", "Sssuubbstriiingg:0"),
                ("ReverseLifeStep:0", "Oscillators:0"),
                ("Nash:0", "ZeroSum:0"),
            },
        ),
        (
            Check.MINHASH,
            {
                ("Study_1:0", "Study_2:0"),
                ("Sstriiinggssuubb:0", "Sssuubbstriiingg:0"),
                ("IfProblemWithOr:0", "IfProblemWithAnd:0"),
                ("Nash:0", "ZeroSum:0"),
            },
        ),
    ],
)
def test_near_duplicates_across_the_published_split_are_found(
    p3: tuple[list[Puzzle], list[Puzzle]], check: Check, expected: set[tuple[str, str]]
) -> None:
    train, held_out = p3
    texts = HeldOutTexts(held_out, Bars(0.75, 0.7), Bars(0.75, 0.7))
    near = {p.name: texts.overlap(p, [check], keep_same_shape=False) for p in train}
    assert {(name, one.held_out) for name, one in near.items() if one is not None} == expected


def test_every_answer_that_fits_is_found_and_none_that_raises_or_never_ends() -> None:
    f = "def f(x: int):\n    while x == 7:\n        pass\n    return 100 // x > 8"
    answers = ["0", "3", "7", "12", "11", "'a'", "5"]
    assert fitting_answers([(f, answers), (f, [])], LIMITS) == [{"3", "11", "5"}, set()]


def test_an_f_that_cannot_be_loaded_is_fitted_by_nothing() -> None:
    assert fitting_answers([("def f(x: int, a=1 / 0):\n    return True", ["1"])], LIMITS) == [set()]


def test_workers_find_what_one_process_finds() -> None:
    tasks = [
        (f"def f(x: int):\n    return x % {n} == 0", [*map(str, range(205))]) for n in (50, 70)
    ]  # more than a worker is given at once
    assert fitting_answers(tasks, LIMITS, 2) == fitting_answers(tasks, LIMITS)


@pytest.mark.parametrize(
    ("answer", "answer_type", "expected"),
    [
        ("5", "int", False),
        ("101", "int", True),
        ("'cat'", "str", False),
        ("'tac'", "str", True),
        ("[]", "List[int]", False),
        (repr("x" * 50_000), "str", False),
    ],
)
def test_an_answer_that_anyone_tries_first_tells_nothing(
    answer: str, answer_type: str, expected: bool
) -> None:
    assert can_tell(answer, answer_type) is expected


@pytest.mark.parametrize(
    ("fitting", "unrelated", "expected"),
    [(0, 0, False), (1, 3, False), (2, 3, True), (2, 100, False), (3, 100, True)],
)
def test_it_is_chance_where_more_than_the_rate_fit_and_at_least_two(
    fitting: int, unrelated: int, expected: bool
) -> None:
    assert fits_by_chance(fitting, unrelated, 0.02) is expected


@pytest.mark.parametrize(
    ("g", "expected"),
    [
        ("def g(n=3):\n    i = 0\n    while not f(i):\n        i += 1\n    return i", True),
        ("def g(n=3):\n    f = lambda i: i + n\n    return f(1)", False),
        ("def g(n=3):\n    return [f for f in range(n)]", False),
    ],
)
def test_a_g_searches_where_it_calls_the_f_it_is_given(g: str, expected: bool) -> None:
    assert searches(g) is expected


def test_names_of_inputs_are_those_of_the_parameters() -> None:
    f = "def f(x: int, a: List[int]=[1, 2], b={'c': (3, 4)}):\n    return x in a"
    assert input_names(puzzle(f)) == {"a", "b"}
    assert input_names(puzzle("def f(x: int):\n    return x == 1")) == frozenset()
