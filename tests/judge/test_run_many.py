"""Running many programs: what `run` says of each, in order, equal ones once."""

from collections.abc import Iterator
from itertools import islice

import pytest

from judge import Execution, Limits, Outcome, run, run_many, run_text, run_texts
from judge.memory import Memory, key

QUICK = Limits(fuel=200_000_000)
F = "def f(x: int, n=7): return x == n"
PROGRAMS = [
    ("def g(n): return [n] * 2", F),
    ("def g(): return 3", None),
    ("def g(n): return 3", None),
    ("def g(n): return n", "def f(x: int, n=1/0): return True"),
    ("def g():\n    while True: pass", None),
    ("def g(: pass", None),
    ("def g(n): return [n] * 2", F),
    ("def g(): return 3", ""),
]
"""As an f, no text at all is one that defines none; None is no f."""


def test_each_program_does_what_it_does_alone() -> None:
    found = list(run_many(PROGRAMS, QUICK))
    assert found == [run(g, f, QUICK) for g, f in PROGRAMS]
    assert [one.answer or one.failure for one in found] == [
        "[7, 7]",
        "3",
        Outcome.raised,
        Outcome.f_raised,
        Outcome.timed_out,
        Outcome.syntax_error,
        "[7, 7]",
        Outcome.f_raised,
    ]


def test_workers_find_the_same() -> None:
    assert list(run_many(PROGRAMS, QUICK, num_workers=2)) == list(run_many(PROGRAMS, QUICK))


@pytest.mark.parametrize(("remember", "num_runs"), [(True, 3), (False, 6)])
def test_equal_programs_are_run_once_where_they_may_be_remembered(
    remember: bool, num_runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def counting(g: str, f: str | None, limits: Limits, *, second: bool) -> Execution:
        ran.append(g)
        return Execution(g, None, "", 1)

    monkeypatch.setattr("judge.many.run", counting)
    found = run_many(((str(i % 3), None) for i in range(6)), QUICK, remember=remember)
    assert [one.answer for one in found] == ["0", "1", "2", "0", "1", "2"]
    assert len(ran) == num_runs


def test_the_same_g_with_another_f_is_another_program() -> None:
    g = "def g(**inputs): return inputs"
    found = run_many([(g, None), (g, F), (g, "def f(x, m=2): return x")], QUICK)
    assert [one.answer for one in found] == ["{}", "{'n': 7}", "{'m': 2}"]


def test_programs_are_streamed() -> None:
    def endless() -> Iterator[tuple[str, None]]:
        while True:
            yield "def g(): return 1", None

    assert [one.answer for one in islice(run_many(endless(), QUICK), 2)] == ["1", "1"]


def test_a_source_that_is_no_text_is_data() -> None:
    programs = [(["g"], None), ("def g(): return 1", {"f": 1})]
    found = run_many(programs, QUICK)  # type: ignore[arg-type]
    assert [one.failure for one in found] == [Outcome.syntax_error, Outcome.f_syntax_error]


def test_long_answers_are_not_remembered_beyond_the_bound() -> None:
    memory: Memory[Execution] = Memory(10_000)
    memory.put(key("long"), [Execution("1" * 10_000, None, "", 1)])
    memory.put(key("short"), [Execution("1", None, "", 1)])
    assert memory.get(key("long")) is None
    assert memory.get(key("short")) == [Execution("1", None, "", 1)]


def test_the_second_guest_has_other_hashes_and_the_same_arithmetic() -> None:
    programs = [("def g(): return hash('a')", None), ("def g(n): return n + 1", F)]
    first, second = (list(run_many(programs, QUICK, second=second)) for second in (False, True))
    assert first[0].answer != second[0].answer
    assert first[1].answer == second[1].answer == "8"
    assert run(*programs[0], QUICK, second=True) == second[0]


TEXTS = [
    ("print(int(input()) + 1)", "6"),
    ("import sys; sys.stdout.write(sys.stdin.read())", "é\n\n"),
    ("if __name__ == '__main__': print('main')", ""),
    ("print(1); raise SystemExit(0)", ""),
    ("raise SystemExit(1)", ""),
    ("input()", ""),
    ("while True: pass", ""),
    ("print(", ""),
    ("pass", "6"),
]


def test_a_whole_program_writes_what_it_is_asked_for() -> None:
    found = list(run_texts(TEXTS, QUICK))
    assert found == [run_text(source, given, QUICK) for source, given in TEXTS]
    assert [one.answer or one.failure for one in found] == [
        "'7\\n'",
        "'é\\n\\n'",
        "'main\\n'",
        "'1\\n'",
        Outcome.raised,
        Outcome.raised,
        Outcome.timed_out,
        Outcome.syntax_error,
        "''",
    ]


def test_workers_write_the_same_texts() -> None:
    assert list(run_texts(TEXTS, QUICK, num_workers=2)) == list(run_texts(TEXTS, QUICK))


def test_a_program_meets_other_hashes_in_the_second_guest() -> None:
    asked = [("print(hash('a'))", ""), ("print(input())", "3")]
    first, second = (list(run_texts(asked, QUICK, second=second)) for second in (False, True))
    assert first[0].answer != second[0].answer
    assert first[1].answer == second[1].answer == "'3\\n'"


def test_a_program_whose_source_is_no_text_is_data() -> None:
    (found,) = run_texts([(["print()"], "")], QUICK)  # type: ignore[list-item]
    assert found.failure is Outcome.syntax_error
