"""The trivial answers of Appendix C, and the puzzles that they do and do not solve."""

from __future__ import annotations

import ast

import pytest

from judge import Limits
from puzzles import Reason, puzzle_from_source
from puzzles.trivial import check_loads, check_trivial, trivial_answers

LIMITS = Limits(fuel=1_000_000_000)


@pytest.mark.parametrize(
    ("answer_type", "count", "first", "last"),
    [
        ("int", 111, "-10", "100"),
        ("str", 8, "'cat'", "''"),
        ("float", 13, "-100.0", "100.0"),
        ("List[int]", 1 + 7 + 49, "[]", "[3, 3]"),
        ("List[str]", 1 + 5 + 25, "[]", "['baz', 'baz']"),
        ("List[bool]", 1 + 2 + 4, "[]", "[True, True]"),
        ("List[float]", 1 + 7 + 49, "[]", "[2.0, 2.0]"),
        ("List[List[int]]", 1 + 57, "[]", "[[3, 3]]"),
        ("List[List[List[int]]]", 1 + 58, "[]", "[[[3, 3]]]"),
    ],
)
def test_the_trivial_answers_of_each_type(
    answer_type: str, count: int, first: str, last: str
) -> None:
    answers = trivial_answers(answer_type)
    assert (len(answers), answers[0], answers[-1]) == (count, first, last)
    assert len({repr(ast.literal_eval(answer)) for answer in answers}) == count


def test_the_empty_list_is_tried_at_every_level() -> None:
    assert {"[]", "[[]]", "[[[]]]"} <= set(trivial_answers("List[List[List[str]]]"))


@pytest.mark.parametrize(
    ("source", "reason", "detail"),
    [
        ("def f(x: int, n=9): return x * x == n * n", Reason.TRIVIAL, "-9 makes it True"),
        ("def f(x: int): return x == 101", None, ""),
        ("def f(s: str): return not s", Reason.TRIVIAL, "'' makes it True"),
        ("def f(x: float): return x * x == 0.25", Reason.TRIVIAL, "-0.5 makes it True"),
        ("def f(x: List[int]): return sum(x) == 6", Reason.TRIVIAL, "[3, 3] makes it True"),
        ("def f(x: List[int]): return sum(x) == 7", None, ""),
        ("def f(x: List[List[str]]): return x[0][0] == 'foo'", Reason.TRIVIAL, "[['foo']] makes it True"),
        ("def f(x: bool): return x == 2", Reason.TRIVIAL, "a bool has two values, so every bool puzzle is trivial"),
        ("def f(x: int): return x and nothing == x", None, ""),
        ("def f(x: int): return 1 if x == 7 else 0", None, ""),
        ("def f(x: int):\n    while x != 101:\n        pass\n    return True", None, ""),
        ("def f(x: int, n=nothing): return x == n", Reason.DOES_NOT_RUN, None),
        ("def f(x: int):\n    nonlocal y\n    return x == 1", Reason.DOES_NOT_RUN, None),
    ],
)  # fmt: skip
def test_only_true_itself_makes_a_puzzle_trivial(
    source: str, reason: Reason | None, detail: str | None
) -> None:
    rejection = check_trivial(puzzle_from_source(source, name="p"), LIMITS)
    assert (None if rejection is None else rejection.reason) is reason
    if rejection is not None and detail is not None:
        assert rejection.detail == detail


@pytest.mark.parametrize(
    ("source", "solved"),
    [
        ("def f(x: int): return x and nothing == x", True),
        ("def f(x: int): return 7 if x == 7 else 0", True),
        ("def f(x: int): return x == 101", False),
        ("def f(x: int):\n    if x > 101:\n        return y == 1\n    return x == 101", False),
        ("def f(x: int, n=[5]):\n    n.append(x)\n    return n == [5, 101]", False),
        ("def f(original: int, n=4): return original / 0 == n", False),
        ("def f(x: int, n=0): return f(x, 1) if n == 0 else x == 3", True),
    ],
)
def test_the_released_code_takes_name_errors_and_true_values_as_solved(
    source: str, solved: bool
) -> None:
    rejection = check_trivial(puzzle_from_source(source, name="p"), LIMITS, as_released=True)
    assert (None if rejection is None else rejection.reason) is (Reason.TRIVIAL if solved else None)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(x: int): return x == 3", None),
        ("def f(x: Dict[str, int]): return x == nothing", None),
        ("def f(x: int, n=nothing): return x == n", Reason.DOES_NOT_RUN),
    ],
)
def test_what_is_not_asked_must_still_load(source: str, reason: Reason | None) -> None:
    rejection = check_loads(puzzle_from_source(source, name="p", any_answer=True), LIMITS)
    assert (None if rejection is None else rejection.reason) is reason
