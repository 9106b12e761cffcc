"""Cutting a definition from a completion: where it ends, and what it calls itself and f."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzles.cut import cut_puzzle, cut_solution
from puzzles.reasons import Reason, Rejection


def test_a_puzzle_ends_at_the_first_line_in_column_zero() -> None:
    assert cut_puzzle("def f4(x: int):\n    return x == 3\n\n\ndef f5(y: int):\n    return y") == (
        "def f(x: int):\n    return x == 3"
    )


def test_a_comment_in_column_zero_ends_it_too() -> None:
    assert cut_puzzle("def f(x: int):\n    return x == 3\n# next\n    + 4") == (
        "def f(x: int):\n    return x == 3"
    )


def test_the_number_goes_from_recursive_calls_and_from_nothing_else() -> None:
    text = (
        "def f4(f4s: List[int], n=4):\n"
        "    # f4 is recursive\n"
        "    s = 'f4(é)'; return n == 0  or  f4(f4s, n - 1) and f40 and s.f4"
    )
    assert cut_puzzle(text) == (
        "def f(f4s: List[int], n=4):\n"
        "    # f4 is recursive\n"
        "    s = 'f4(é)'; return n == 0  or  f(f4s, n - 1) and f40 and s.f4"
    )


def test_columns_are_counted_in_characters_not_bytes() -> None:
    assert cut_puzzle("def f4(s: str): return 'é€𝄞' == s or f4('é', f4(s))") == (
        "def f(s: str): return 'é€𝄞' == s or f('é', f(s))"
    )


def test_a_solution_calls_the_puzzle_f() -> None:
    head, completion = (
        "def g6(n=3):",
        "\n    i = 0\n    while not f6(i):\n        i += 1\n    return i\n\nassert f6(g6())",
    )
    assert cut_solution(head, completion) == (
        "def g(n=3):\n    i = 0\n    while not f(i):\n        i += 1\n    return i"
    )


def test_a_solution_that_calls_itself_is_renamed_inside() -> None:
    assert cut_solution("def g6(n=3):", "\n    return [] if n == 0 else [n] + g6(n - 1)") == (
        "def g(n=3):\n    return [] if n == 0 else [n] + g(n - 1)"
    )


def test_a_local_variable_of_that_name_stays() -> None:
    assert cut_solution("def g6():", "\n    f6 = lambda g6: g6\n    return f6(1)") == (
        "def g():\n    f6 = lambda g6: g6\n    return f6(1)"
    )


def test_a_call_that_a_local_f_would_capture_is_refused() -> None:
    cut = cut_solution("def g6():", "\n    f = 1\n    return f6(f)")
    assert isinstance(cut, Rejection) and cut.reason is Reason.SYNTAX


def test_a_solution_on_one_line() -> None:
    assert cut_solution("def g():", " return 'x'\n\n") == "def g(): return 'x'"


def test_windows_line_ends() -> None:
    assert cut_solution("def g():", "\r\n    return 1\r\nprint()") == "def g():\n    return 1"


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        ("", Reason.SYNTAX),
        ("\nreturn 1", Reason.SYNTAX),
        ("\n    return [1,", Reason.SYNTAX),
        ("\n    return '\x00'", Reason.SYNTAX),
        ("\n    return " + "[" * 10_000, Reason.SYNTAX),
        ("\n    return " + "1" * 10_000_000, Reason.TOO_LONG),
        ("\n    return 1\n\x0cexit()", Reason.NO_DEFINITION),
        ("\n    return 1\rexit()", None),
    ],
)
def test_what_does_not_parse_has_a_reason(completion: str, reason: Reason | None) -> None:
    cut = cut_solution("def g6():", completion)
    assert (cut.reason if isinstance(cut, Rejection) else None) is reason


def test_a_short_definition_before_endless_text_is_cut() -> None:
    assert cut_puzzle("def f4(x: int):\n    return x == 3\n" + "x" * 10_000_000) == (
        "def f(x: int):\n    return x == 3"
    )


@pytest.mark.parametrize("text", ["", "f(x)", "def g(x): return x", "async def f(x): return 1"])
def test_text_that_does_not_start_with_f_is_no_puzzle(text: str) -> None:
    cut = cut_puzzle(text)
    assert isinstance(cut, Rejection) and cut.reason is Reason.NO_DEFINITION


@given(st.text())
def test_any_completion_gives_a_source_or_a_rejection(completion: str) -> None:
    assert isinstance(cut_puzzle("def f4(" + completion), str | Rejection)
    assert isinstance(cut_solution("def g6():", completion), str | Rejection)
