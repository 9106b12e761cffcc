"""Functions judged by a test that calls them: what crosses, and what a candidate cannot reach."""

import gzip
import json
import os
from pathlib import Path

import pytest

from judge import FunctionProblem, Limits, Outcome, judge_function
from judge.engine import guest
from judge.identity import Kind

LIMITS = Limits(fuel=2_000_000_000)
ADD = FunctionProblem(
    prompt="def add(a, b):\n    '''The sum.'''\n",
    entry_point="add",
    test="def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(a=5, b=0) == 5\n",
)
EQUALS_EVERYTHING = """
    class Any:
        def __eq__(self, other): return True
        def __getattr__(self, name): return self
        def __call__(self, *a): return self
        def __lt__(self, other): return True
        __gt__ = __le__ = __ge__ = __lt__
        def __bool__(self): return True
        def __sub__(self, other): return 0
        def __abs__(self): return 0
        def __len__(self): return 1
        def __iter__(self): return iter(())
    return Any()
"""


def outcome(completion: str, problem: FunctionProblem = ADD) -> Outcome:
    return judge_function(problem, completion, LIMITS).outcome


def with_test(test: str) -> FunctionProblem:
    lines = "".join(f"    {line}\n" for line in test.splitlines())
    return FunctionProblem(ADD.prompt, "add", f"def check(candidate):\n{lines}")


def test_a_right_function_passes() -> None:
    verdict = judge_function(ADD, "    return a + b\n", LIMITS)
    assert (verdict.outcome, verdict.answer) == (Outcome.passed, "5")
    assert verdict == judge_function(ADD, "    return a + b\n", LIMITS)
    assert verdict.seconds > 0


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        ("    return a - b\n", Outcome.wrong_answer),
        ("    return None\n", Outcome.wrong_answer),
        ("    return 1 / 0\n", Outcome.raised),
        ("    return (\n", Outcome.syntax_error),
        ("    while True: pass\n", Outcome.timed_out),
        ("    return [0] * 10 ** 9\n", Outcome.out_of_memory),
        ("    import os; os._exit(0)\n", Outcome.forbidden),
        ("    raise SystemExit(0)\n", Outcome.raised),
        ("    raise KeyboardInterrupt\n", Outcome.raised),
        ("    exit()\n", Outcome.raised),
        (EQUALS_EVERYTHING, Outcome.wrong_type),
        ("    return lambda: 3\n", Outcome.wrong_type),
        ("    return 'x' * 10 ** 7\n", Outcome.too_large),
        ("    return a + b\nraise SystemExit(0)\n", Outcome.raised),
        ("    return a + b\ndel add\n", Outcome.no_g),
        ("    return a + b\nadd = 3\n", Outcome.raised),
        ("\0", Outcome.syntax_error),
        ("    return a + b\n" + "(" * 10_000, Outcome.syntax_error),
        ("    return a + b\n#" + "x" * 10**7, Outcome.too_large),
        ("    import sys; sys.modules['__main__'].check = None; return 0\n", Outcome.wrong_answer),
        ("    return a + b\ndef check(c): pass\n", Outcome.passed),
        ("    return 0\ndef check(c): pass\n", Outcome.wrong_answer),
        ("    import builtins; builtins.AssertionError = ValueError; return 0\n", Outcome.wrong_answer),
        ("    raise AssertionError\n", Outcome.raised),
        ("    print('passed'); return 0\n", Outcome.wrong_answer),
        ("    f = __import__('sys')._getframe(1).f_globals; f['encode'] = lambda *x: '[\"passed\",\"\"]'; return 0", Outcome.crashed),
    ],
)  # fmt: skip
def test_a_wrong_function_does_not_pass(completion: str, expected: Outcome) -> None:
    assert outcome(completion) is expected


def test_a_completion_that_is_no_text_has_an_outcome() -> None:
    assert judge_function(ADD, 3, LIMITS).outcome is Outcome.syntax_error  # type: ignore[arg-type]


def test_a_candidate_gets_copies() -> None:
    problem = with_test("items = [1]\ncandidate(items, 2)\nassert items == [1]")
    assert outcome("    a.append(b); return a\n", problem) is Outcome.passed


def test_a_candidate_keeps_its_state_between_calls() -> None:
    problem = with_test("assert [candidate(i, 0) for i in (5, 6)] == [1, 2]")
    completion = "    seen.append(a); return len(seen)\nseen = []\n"
    assert outcome(completion, problem) is Outcome.passed


def test_an_expected_exception_passes_and_an_exit_does_not() -> None:
    problem = with_test(
        "try: candidate(1, 2)\nexcept ValueError as e: assert str(e) == 'no'\nelse: assert False"
    )
    assert outcome("    raise ValueError('no')\n", problem) is Outcome.passed
    assert outcome("    raise ValueError('yes')\n", problem) is Outcome.raised
    forgiving = with_test("try: candidate(1, 2)\nexcept BaseException: pass")
    assert outcome("    raise SystemExit\n", forgiving) is Outcome.raised
    assert outcome("    while True: pass\n", forgiving) is Outcome.timed_out
    assert outcome("    return object()\n", forgiving) is Outcome.wrong_type


def test_failures_of_the_test_are_its_own() -> None:
    assert outcome("    return 1", with_test("1 / 0")) is Outcome.f_raised
    assert outcome("    return 1", with_test("while True: pass")) is Outcome.f_timed_out
    assert outcome("    return 1", with_test("pass")) is Outcome.f_raised
    assert outcome("    return 1", with_test("candidate(lambda: 1, 2)")) is Outcome.f_raised
    broken = FunctionProblem(ADD.prompt, "add", "def check(candidate:")
    assert outcome("    return 1", broken) is Outcome.f_syntax_error
    missing = FunctionProblem(ADD.prompt, "add", "x = 1")
    assert outcome("    return 1", missing) is Outcome.f_raised


def test_the_checker_can_ask_for_one_call_and_nothing_else() -> None:
    checker = guest(Kind.checker)
    assert list(checker.component.type.imports(checker.engine)) == ["call"]


def test_humaneval_references_pass_and_empty_bodies_fail() -> None:
    shared = Path(os.environ.get("SELFTRAIN_SHARED", Path(__file__).parents[3] / "shared"))
    if not shared.is_dir():
        pytest.skip(f"there is no {shared}")
    with gzip.open(shared / "data/humaneval/HumanEval.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    assert len(rows) == 164
    bodies = ("    pass\n", "    return None\n", "    raise SystemExit(0)\n", EQUALS_EVERYTHING)
    for row in rows:
        problem = FunctionProblem(row["prompt"], row["entry_point"], row["test"])
        assert judge_function(problem, row["canonical_solution"]).passed, row["task_id"]
        assert not any(judge_function(problem, body).passed for body in bodies), row["task_id"]
