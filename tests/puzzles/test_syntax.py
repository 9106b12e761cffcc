"""Parsing text that a model wrote: a tree or one failure, and the interpreter as it was."""

from __future__ import annotations

import ast
import contextlib
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzles.normal import normal_form, shape
from puzzles.syntax import SyntaxFailure, parse, without_docstring

HOSTILE = {
    "nul": "def f(x: int):\n    return '\x00' == x",
    "brackets": "(" * 10_000,
    "closed brackets": "(" * 10_000 + ")" * 10_000,
    "lists": "x = " + "[" * 90 + "]" * 90 + "[0]" * 15_000,
    "nots": "not " * 10_000 + "x",
    "minuses": "-" * 40_000 + "1",
    "sum": "1" + "+1" * 20_000,
    "powers": "1" + "**1" * 10_000,
    "attributes": "a" + ".a" * 20_000,
    "calls": "a" + "()" * 20_000,
    "lambdas": "lambda: " * 6_000 + "0",
    "comparisons": "a" + "<a" * 20_000,
    "ifs": "".join(" " * depth + "if x:\n" for depth in range(200)),
    "elifs": "if x:\n pass\n" + "elif x:\n pass\n" * 3_000,
    "else ifs": "x" + " if x else x" * 4_000,
    "f-strings": "f'{" * 3_000 + "}'" * 3_000,
    "surrogate": "x = '\ud800'",
    "ten megabytes": "x = 1\n" * 1_700_000,
    "bom": "\ufeffx = 1",
    "digits": "x = " + "9" * 49_000,
    "hexadecimal": "x = 0x" + "f" * 49_000,
    "tabs and spaces": "if x:\n\ty\n        z",
    "escape": "x = '\\d'",
    "backslash at the end": "x = \\",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_a_tree_or_one_failure(name: str) -> None:
    for read in (parse, normal_form, shape):
        try:
            read(HOSTILE[name])
        except SyntaxFailure as failure:
            assert str(failure)


@given(st.text())
def test_arbitrary_text_is_a_tree_or_one_failure(text: str) -> None:
    with contextlib.suppress(SyntaxFailure):
        shape(text)


def test_no_warning_reaches_the_user() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert normal_form("x = '\\d' if 1is 1 else 0") == "v0 = '\\\\d' if 1 is 1 else 0"


def test_long_integers_are_read_and_the_digit_limit_is_as_before() -> None:
    before = sys.get_int_max_str_digits()
    digits = "9" * 8_844
    assert normal_form(f"x = {digits}") == f"v0 = {digits}"
    assert sys.get_int_max_str_digits() == before


def test_a_failure_names_the_line() -> None:
    with pytest.raises(SyntaxFailure, match=r"^line 2: invalid syntax$"):
        parse("x = 1\ny = = 2")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('def f(x):\n    """Doc."""\n    return x', "def f(x):\n    return x"),
        (
            'def f(x):\n    """Doc\n    more."""\n\n    # why\n    return x',
            "def f(x):\n    # why\n    return x",
        ),
        ("def f(x):\n\t'doc'\n\treturn  x", "def f(x):\n\treturn  x"),
        ("def f(x): 'doc'; return x", "def f(x): return x"),
        ("def f(x):\n    'é'; return 'é' # c", "def f(x):\n    return 'é' # c"),
        ("def f(x):\n    'doc';  # c\n    return x", "def f(x):\n    return x"),
        ("def f(x):\n    ('doc'\n     'more')\n    return x", "def f(x):\n    return x"),
        ("def f(x):\n    'doc'", "def f(x):\n    'doc'"),
        ("def f(x):\n    'doc' + x\n    return x", "def f(x):\n    'doc' + x\n    return x"),
    ],
)
def test_a_docstring_goes_and_all_other_text_stays(source: str, expected: str) -> None:
    assert without_docstring(source, ast.parse(source)) == expected


def test_what_nests_too_deep_does_not_depend_on_how_deep_the_caller_stands() -> None:
    deepest, deeper = "x = " + "-" * 97 + "y", "x = " + "-" * 99 + "y"

    def below(levels: int) -> None:
        if levels:
            return below(levels - 1)
        assert shape(deepest) == deepest.replace("x", "v0")
        with pytest.raises(SyntaxFailure, match="it nests more than 100 levels deep"):
            shape(deeper)

    below(0)
    below(300)


@pytest.mark.parametrize(
    "head",
    ['    """a"""\n    """b"""\n', '    "a"; "b"\n', "    'a'\n    'b'\n    'c'\n"],
)
def test_no_string_is_left_to_become_the_docstring(head: str) -> None:
    source = f"def f(x: int):\n{head}    return x == 1"
    without = without_docstring(source, ast.parse(source))
    assert without == "def f(x: int):\n    return x == 1"
    assert without_docstring(without, ast.parse(without)) == without
