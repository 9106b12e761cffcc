"""Sources that are no good programs, or hardly programs: each has its outcome, soon, in any place."""

import json
import time
from itertools import chain
from typing import Any

import pytest

from judge import Limits, Outcome, inputs, judge, judge_many, run
from judge.many import Mode

LIMITS = Limits(fuel=500_000_000)
MAX_SECONDS = 10.0
"""Far more than any needs here (a tenth of a second), so that a busy machine does not matter."""
MODES: list[Mode] = ["strict", "screen"]
F = "def f(x: int, n=7): return x == n"
G = "def g(n): return n"
LOOPED: list[Any] = []
LOOPED.append(LOOPED)

NO_TEXT: dict[str, Any] = {
    "None": None,
    "an int": 3,
    "a bool": True,
    "a float": float("nan"),
    "a list": [G],
    "a dict": {"g": G},
    "bytes": G.encode(),
    "bytes that are no text": b"\xff\x00",
    "a list in itself": LOOPED,
}
BROKEN_TEXT = {
    "a NUL": "def g(n): return n\0",
    "a NUL alone": "\0",
    "a NUL in a comment": "# \0\ndef g(n): return n",
    "a lone surrogate": "def g(n): return '\ud800'",
    "a lone surrogate in a comment": "def g(n): return n  # \udcff",
    "10,000 parentheses": "(" * 10_000 + ")" * 10_000,
    "10,000 brackets": "x = " + "[" * 10_000 + "]" * 10_000,
    "10,000 brackets that stay open": "{" * 10_000,
    "10,000 calls in each other": "def g(n): return " + "g(" * 10_000 + "n" + ")" * 10_000,
    "10,000 signs": "x = " + "-" * 10_000 + "1",
    "200 levels of blocks": "".join(" " * i + "if 1:\n" for i in range(200)) + " " * 200 + "x = 1",
    "a byte order mark": "\ufeffdef g(n): return n",
    "prose": "Here is the solution:",
    "a fence": "```python\ndef g(n): return n\n```",
}
IN_PLACE_OF_G = {
    **{name: (source, Outcome.syntax_error) for name, source in NO_TEXT.items()},
    **{name: (source, Outcome.syntax_error) for name, source in BROKEN_TEXT.items()},
    "10 MB of a comment": (G + "\n#" + "x" * 10_000_000, Outcome.too_large),
    "10 MB of code": ("x = 1\n" * 1_700_000 + G, Outcome.too_large),
    "10 MB of brackets": ("(" * 10_000_000, Outcome.too_large),
    "300,000 characters of four bytes": (G + "\n#" + "\U0001f600" * 300_000, Outcome.too_large),
    "sleeps in its module body": ("import time\ntime.sleep(1e6)\n" + G, Outcome.timed_out),
    "sleeps for ever in its module body": (
        "import time\nwhile True:\n    try: time.sleep(1)\n    except BaseException: pass",
        Outcome.timed_out,
    ),
    "defines no g": ("def h(n): return n", Outcome.no_g),
    "defines f": (F, Outcome.no_g),
    "defines g in a class": ("class A:\n    def g(n): return n", Outcome.no_g),
    "is empty": ("", Outcome.no_g),
    "is white space": (" \n\t\n\f\n", Outcome.no_g),
    "is only comments": ("# def g(n): return n\n# end", Outcome.no_g),
    "two g's, the last wrong": (G + "\ndef g(n): return n + 1", Outcome.wrong_answer),
    "two g's, the last right": ("def g(n): return 1 // 0\n" + G, Outcome.passed),
    "g is a generator function": ("def g(n): yield n", Outcome.wrong_type),
    "g is an async function": ("async def g(n): return n", Outcome.wrong_type),
    "g is an async generator function": ("async def g(n): yield n", Outcome.wrong_type),
    "g returns a lambda": ("def g(n): return lambda: n", Outcome.wrong_type),
    "g returns nothing": ("def g(n): pass", Outcome.wrong_type),
    "g returns itself": ("def g(n): return g", Outcome.wrong_type),
    "CRLF line ends": ("def g(n):\r\n    m = n\r\n    return m\r\n", Outcome.passed),
    "CR line ends": ("def g(n):\r    m = n\r    return m\r", Outcome.passed),
    "no line end": ("def g(n):\n    return n  #", Outcome.passed),
    "non-ASCII names": ("def g(n):\n    größe = n\n    return größe", Outcome.passed),
    "another coding declared": ("# -*- coding: utf-16 -*-\n" + G, Outcome.passed),
}  # fmt: skip
IN_PLACE_OF_F = {
    **{name: (source, Outcome.f_syntax_error) for name, source in NO_TEXT.items()},
    **{name: (source, Outcome.f_syntax_error) for name, source in BROKEN_TEXT.items()},
    "10 MB of a comment": (F + "\n#" + "x" * 10_000_000, Outcome.f_too_large),
    "10 MB of code": ("x = 1\n" * 1_700_000 + F, Outcome.f_too_large),
    "10 MB of brackets": ("(" * 10_000_000, Outcome.f_too_large),
    "sleeps in its module body": ("import time\ntime.sleep(1e6)\n" + F, Outcome.f_timed_out),
    "defines no f": ("def h(x: int, n=7): return True", Outcome.f_raised),
    "defines g alone": (G, Outcome.f_raised),
    "is empty": ("", Outcome.f_raised),
    "is white space": (" \n\t\n\f\n", Outcome.f_raised),
    "is only comments": ("# def f(x, n=7): return True", Outcome.f_raised),
    "two f's, the last wrong": (F + "\ndef f(x: int, n=7): return x != n", Outcome.wrong_answer),
    "two f's, the last right": ("def f(x: int): return 1 // 0\n" + F, Outcome.passed),
    "f is a generator function": ("def f(x: int, n=7): yield True", Outcome.wrong_answer),
    "f is an async function": ("async def f(x: int, n=7): return True", Outcome.wrong_answer),
    "f returns a lambda": ("def f(x: int, n=7): return lambda: True", Outcome.wrong_answer),
    "f returns nothing": ("def f(x: int, n=7): pass", Outcome.wrong_answer),
    "f is a lambda": ("f = lambda x, n=7: x == n", Outcome.passed),
    "CRLF line ends": ("def f(x: int, n=7):\r\n    m = n\r\n    return x == m\r\n", Outcome.passed),
    "CR line ends": ("def f(x: int, n=7):\r    m = n\r    return x == m\r", Outcome.passed),
}  # fmt: skip


def screened(pairs: list[tuple[Any, Any]]) -> list[Outcome]:
    return [verdict.outcome for verdict in judge_many(pairs, LIMITS, mode="screen")]


@pytest.mark.parametrize("name", IN_PLACE_OF_G)
def test_in_place_of_g_it_has_its_outcome_soon(name: str) -> None:
    g, outcome = IN_PLACE_OF_G[name]
    begun = time.monotonic()
    assert judge(F, g, LIMITS).outcome is outcome
    # With others at the same f, so that it is tried in a shared instance.
    pairs = [(F, G), (F, g), (F, "def g(n): return 0"), (F, G + " + 0")]
    assert screened(pairs) == [Outcome.passed, outcome, Outcome.wrong_answer, Outcome.passed]
    assert time.monotonic() - begun < MAX_SECONDS


@pytest.mark.parametrize("name", IN_PLACE_OF_F)
def test_in_place_of_f_it_has_its_outcome_soon(name: str) -> None:
    f, outcome = IN_PLACE_OF_F[name]
    begun = time.monotonic()
    assert judge(f, G, LIMITS).outcome is outcome
    # Several attempts at it, so that they are tried in a shared instance.
    assert screened([(f, G), (F, G), (f, G), (f, G + " + 0")]) == [
        outcome,
        Outcome.passed,
        outcome,
        outcome,
    ]
    assert time.monotonic() - begun < MAX_SECONDS


@pytest.mark.parametrize("name", [n for n in IN_PLACE_OF_F if IN_PLACE_OF_F[n][1].startswith("f_")])
def test_what_f_is_blamed_for_does_not_depend_on_g(name: str) -> None:
    f, outcome = IN_PLACE_OF_F[name]
    gs = [G, "def g(*_, **__): return 7", "def g(**_): return 1 // 0"]
    found = [judge(f, g, LIMITS).outcome for g in gs]
    assert found == [outcome] * 3


@pytest.mark.parametrize("name", NO_TEXT)
def test_what_is_no_text_is_an_outcome_in_both_places_at_once(name: str) -> None:
    source = NO_TEXT[name]
    assert judge(source, source, LIMITS).outcome is Outcome.f_syntax_error
    assert screened([(source, source), (source, G), (F, G)])[:2] == [Outcome.f_syntax_error] * 2


@pytest.mark.parametrize("name", [*NO_TEXT, *BROKEN_TEXT])
def test_running_and_asking_for_inputs_have_outcomes_too(name: str) -> None:
    source = (NO_TEXT | BROKEN_TEXT)[name]
    assert run(source, limits=LIMITS).failure is Outcome.syntax_error
    assert inputs(source, LIMITS).failure is Outcome.f_syntax_error


@pytest.mark.parametrize("num_workers", [1, 2])
@pytest.mark.parametrize("mode", MODES)
def test_a_batch_goes_on_around_every_bad_input(mode: Mode, num_workers: int) -> None:
    bad = [
        *[(F, g) for g, _ in IN_PLACE_OF_G.values()],
        *[(f, G) for f, _ in IN_PLACE_OF_F.values()],
    ]
    honest = [(f"def f(x: int, n={i}): return x == n", G) for i in range(len(bad))]
    same_f = [(F, f"def g(n): return n + {i} - {i}") for i in range(len(bad))]
    pairs = list(chain.from_iterable(zip(honest, same_f, bad, same_f, strict=True)))
    expected = [outcome for _, outcome in chain(IN_PLACE_OF_G.values(), IN_PLACE_OF_F.values())]
    found = [one.outcome for one in judge_many(pairs, LIMITS, num_workers, mode=mode)]
    assert found[0::4] == [Outcome.passed] * len(bad)
    assert found[1::4] == found[3::4] == [Outcome.passed] * len(bad)
    assert found[2::4] == expected


@pytest.mark.parametrize("num_workers", [1, 2])
@pytest.mark.parametrize("mode", MODES)
def test_a_list_that_json_can_hold_is_an_outcome_however_deep(mode: Mode, num_workers: int) -> None:
    deep = json.loads("[" * 500 + "]" * 500)
    pairs = [(F, G), (F, deep), (deep, G), (F, G + " + 1")]
    assert [one.outcome for one in judge_many(pairs, LIMITS, num_workers, mode=mode)] == [
        Outcome.passed,
        Outcome.syntax_error,
        Outcome.f_syntax_error,
        Outcome.wrong_answer,
    ]
