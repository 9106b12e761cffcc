"""For a puzzle the gate is the solve test: f at all inputs, in two guests."""

from collections.abc import Callable

import pytest

from judge import run
from puzzles import Puzzle, puzzle_from_source
from selftrain.refine.gate.evidence import Evidence, Status
from selftrain.refine.gate.gate import Gate
from selftrain.refine.tasks.task import Kind, RefineTask

ROOT = puzzle_from_source(
    "def f(x: int, n=9): return x * x == n and x >= 0", name="root", more_inputs=("n=0", "n=144")
)
BAD = puzzle_from_source("def f(x: int): return 1 // x == 1", name="bad")


def task(puzzle: Puzzle) -> RefineTask:
    return RefineTask(puzzle.name, Kind.puzzle, puzzle.f, entry_point="g", puzzle=puzzle)


WRONG = {
    "a wrong answer": (ROOT, "def g(n): return 17", {"solved": "f rejects the answer 17"}),
    "right at the first inputs only": (ROOT, "def g(n): return 3", {"solved": "f rejects the answer 3 on inputs 2"}),
    "an error": (ROOT, "def g(n): return foo", {"solved": "raised NameError: name 'foo' is not defined"}),
    "another type": (ROOT, "def g(n): return 'a'", {"solved": "the answer 'a': the answer is not of type int"}),
    "no plain data": (ROOT, "def g(n): return iter([])", {"plain_answer": "the answer is or holds a list_iterator", "solved": "wrong_type the answer is or holds a list_iterator"}),
    "endless": (ROOT, "def g(n):\n  while 1: pass", {"resources": "timed_out: used up its instructions", "solved": "timed_out used up its instructions"}),
    "what undoes f": (BAD, "def g(): return 0", {"solved": "f_raised on the answer 0: ZeroDivisionError: division by zero"}),
    "what only the compiler finds": (ROOT, "def g(n): return n\nreturn 3", {"parses": "SyntaxError: 'return' outside function (<g>, line 2)"}),
    "no g": (ROOT, "def h(n): return n", {"signature": "it defines no function g at module level"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_fails_is_named(
    name: str, failed: Callable[[RefineTask, str], dict[str, str]]
) -> None:
    puzzle, source, expected = WRONG[name]
    assert failed(task(puzzle), source) == expected


def test_a_right_answer_is_accepted_by_what_a_stub_does_not_satisfy(gate: Gate) -> None:
    (report,) = gate.examine([(task(ROOT), "def g(n): return int(n ** 0.5)")])
    assert report.accepted
    tell = [one.invariant for one in report.evidence if not one.vacuous and one.status == "held"]
    assert tell == ["solved"]
    assert report.num_evaluated == 1


def test_luck_fails_the_second_guest(
    find: Callable[[RefineTask, str], dict[str, Evidence]],
) -> None:
    source = "import random\ndef g(): return random.random()"
    drawn = run(source).answer
    found = find(
        task(puzzle_from_source(f"def f(x: float): return x == {drawn}", name="luck")), source
    )
    assert found["same_answer"].status is found["solved"].status is Status.failed
    assert found["solved"].detail.startswith(f"flaky on the answer {drawn}: in a second guest")


def test_nothing_of_examples_or_hidden_tests_is_evaluated(
    find: Callable[[RefineTask, str], dict[str, Evidence]],
) -> None:
    found = find(task(ROOT), "def g(n): return int(n ** 0.5)")
    assert found["examples"].status is found["hidden"].status is Status.not_evaluated
    assert found["solved"].fuel > 0


def test_a_g_that_cannot_be_called_is_not_run(
    find: Callable[[RefineTask, str], dict[str, Evidence]],
) -> None:
    found = find(task(ROOT), "x = 1")
    assert found["solved"].status is found["resources"].status is Status.not_evaluated
