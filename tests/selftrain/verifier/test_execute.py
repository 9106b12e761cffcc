"""Executing many programs: each gets its own result."""

from dataclasses import replace

from judge import Limits
from selftrain.config import JudgeConfig
from selftrain.judge import judging_in_rounds
from selftrain.verifier.tasks.execute import run_all

F = "def f(x: int, n=7):\n    assert x == 18, 'expected 18'\n    return True"
JUDGING = replace(judging_in_rounds(JudgeConfig(num_workers=1)), limits=Limits(fuel=200_000_000))


def test_each_program_has_its_own_result_in_order() -> None:
    programs = [
        ("def g(n): return n", F),
        ("def g():\n    while True: pass", None),
        ("def g(n): return {2, n, 1}", F),
        ("def g(n): return 1 // (n - 7)", F),
        ("def g(): return 'a'", None),
    ]
    assert run_all(programs, JUDGING) == [
        "7",
        "ERROR: timed_out: used up its instructions",
        "{1, 2, 7}",
        "ERROR: raised: ZeroDivisionError: division by zero",
        "'a'",
    ]


def test_a_wrong_and_a_right_answer_are_told_alike() -> None:
    f = "def f(x: int, n=7): return x == {}"
    g = "def g(n): return 18"
    assert run_all([(g, f.format(18))], JUDGING) == run_all([(g, f.format(19))], JUDGING)


def test_where_f_cannot_be_loaded_no_g_has_a_result() -> None:
    (result,) = run_all([("def g(n): return 1", "def f(x: int, n=1/0): return x == 18")], JUDGING)
    assert result == "ERROR: not_run: its inputs could not be made"
