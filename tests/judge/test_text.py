"""Whole programs judged by their output."""

import pytest

from judge import Case, Limits, Outcome, TextProblem, judge_text
from judge.text import lines

LIMITS = Limits(fuel=1_000_000_000, answer_bytes=10_000)
DOUBLE = TextProblem((Case("1\n", "2\n"), Case("21", "42")))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("print(2 * int(input()))", Outcome.passed),
        ("import sys\nfor line in sys.stdin: print(2 * int(line))", Outcome.passed),
        ("import sys\nsys.stdout.write(str(2 * int(sys.stdin.read())))", Outcome.passed),
        ("import sys\nsys.stdout.buffer.write(b'%d' % (2 * int(sys.stdin.buffer.readline())))", Outcome.passed),
        ("if __name__ == '__main__':\n    print(2 * int(input()), end='  \\n\\n')", Outcome.passed),
        ("print(2 * int(input()))\nexit()", Outcome.passed),
        ("import sys\nprint(2 * int(input()))\nsys.exit(0)", Outcome.passed),
        ("import sys\nprint(2 * int(input()))\nsys.exit(1)", Outcome.raised),
        ("print(2 * int(input()))\n1 / 0", Outcome.raised),
        ("print(2)", Outcome.wrong_answer),
        ("print(int(input()))", Outcome.wrong_answer),
        ("input(); input(); print(2)", Outcome.raised),
        ("while True: print(1)", Outcome.timed_out),
        ("print('x' * 10 ** 5)", Outcome.too_large),
        ("print(open('/etc/passwd').read())", Outcome.forbidden),
        ("import os; os.write(1, b'2')", Outcome.forbidden),
        ("print(", Outcome.syntax_error),
        ("import sys\nsys.stdout = None\nprint(2)", Outcome.wrong_answer),
        ("import sys\nclass A(str): pass\nsys.stdout.write(A(2 * int(input())))", Outcome.passed),
    ],
)  # fmt: skip
def test_outcome_of_a_program(source: str, expected: Outcome) -> None:
    assert judge_text(DOUBLE, source, LIMITS).outcome is expected


def test_the_first_failing_case_is_named() -> None:
    verdict = judge_text(DOUBLE, "print(2)", LIMITS)
    assert verdict.detail == "case 2: line 1 is '2', not '42'"


def test_cases_share_no_state() -> None:
    source = "import builtins\nprint(getattr(builtins, 'seen', 0))\nbuiltins.seen = 1"
    assert judge_text(TextProblem((Case("", "0"), Case("", "0"))), source, LIMITS).passed


def test_text_of_any_kind_crosses() -> None:
    text = "é\n\u2028 \U0001f600 \0 tab\t."
    problem = TextProblem((Case(text, text),))
    assert judge_text(problem, "import sys\nprint(sys.stdin.read())", LIMITS).passed


def test_white_space_at_ends_does_not_count_and_inside_does() -> None:
    assert lines("a \nb\n\n") == lines("a\nb")
    assert lines("a  b") != lines("a b")
    assert lines("\na") != lines("a")


def test_no_case_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one case"):
        TextProblem(())
