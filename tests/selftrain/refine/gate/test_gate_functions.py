"""What the gate finds of functions: examples, answers, streams, the canary, and what a stub tells."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from judge import JudgeError
from selftrain.config import JudgeConfig
from selftrain.refine.gate.evidence import Evidence, Status
from selftrain.refine.gate.gate import Gate
from selftrain.refine.tasks.task import Example, Kind, RefineTask

Find = Callable[[RefineTask, str], dict[str, Evidence]]
Failed = Callable[[RefineTask, str], dict[str, str]]
NEXT = RefineTask(
    "next",
    Kind.function,
    "Return the number after n.",
    entry_point="f",
    parameters="n",
    examples=(Example("((1,), {})", "2"), Example("((), {'n': 2})", "3")),
    canary="canary_1",
)
WRONG = {
    "a wrong answer": ("def f(n): return 2", {"examples": "f(n=2) returned 2, not 3"}),
    "an error": ("def f(n): return [][n]", {"examples": "f(1) raised IndexError: list index out of range, and should return 2"}),
    "an exit": ("def f(n): raise SystemExit(0)", {"examples": "f(1) raised SystemExit: 0, and should return 2"}),
    "an exit at the second": ("def f(n):\n  if n == 2: raise SystemExit\n  return n + 1", {"examples": "f(n=2) raised SystemExit, and should return 3"}),
    "no plain data": ("def f(n): yield n", {"examples": "f(1) returned what is no plain data: generator, and should return 2", "plain_answer": "f(1) returned what is no plain data: generator"}),
    "endless": ("def f(n):\n  while n: pass", {"examples": "f(1) failed, timed_out: used up its instructions, and should return 2", "resources": "f(1) failed, timed_out: used up its instructions"}),
    "memory": ("def f(n): return len([0] * 10**10)", {"examples": "f(1) failed, out_of_memory: OverflowError: cannot fit 'int' into an index-sized integer, and should return 2", "resources": "f(1) failed, out_of_memory: OverflowError: cannot fit 'int' into an index-sized integer"}),
    "hidden from the tree": ("def f(n):\n  __builtins__['print'](n)\n  return n + 1", {"streams": "it used standard input or output while it ran"}),
    "input hidden from the tree": ("def f(n):\n  try: __builtins__['input']()\n  except EOFError: pass\n  return n + 1", {"streams": "it used standard input or output while it ran"}),
    "what only the compiler finds": ("def f(n): return n + 1\nreturn", {"parses": "syntax_error: SyntaxError: 'return' outside function (<program>, line 2)"}),
    "the canary in its source": ("def f(n): return n + 1 or 'canary_1'", {"hidden": "it holds a word of the hidden tests"}),
    "the canary in an answer": ("def f(n): return 'canary' + '_1'", {"hidden": "it gave a word of the hidden tests", "examples": "f(1) returned '[hidden]', not 2"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_fails_is_named(name: str, failed: Failed) -> None:
    source, expected = WRONG[name]
    assert failed(NEXT, source) == expected


def test_hashes_decide_no_answer(failed: Failed) -> None:
    found = failed(NEXT, "def f(n): return [*{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}]")
    assert list(found) == ["examples", "same_answer"]
    assert found["same_answer"].startswith("f(1) returned ['")


def test_a_set_and_a_dict_are_the_same_in_any_order(find: Find) -> None:
    words = "{'a': 1, 'b': 1, 'c': 1, 'd': 1}"
    found = find(NEXT, f"def f(n): return {{x: 1 for x in set({words})}}, set({words})")
    assert found["same_answer"].status is Status.held


def test_a_right_function_is_accepted_by_its_examples_alone(gate: Gate) -> None:
    (report,) = gate.examine([(NEXT, "def f(n): return n + 1")])
    assert report.accepted
    assert [one.invariant for one in report.evidence if not one.vacuous] == ["examples", "solved"]
    assert report.num_evaluated == 1


def test_nothing_but_what_a_stub_satisfies_is_no_acceptance(gate: Gate) -> None:
    (report,) = gate.examine([(replace(NEXT, examples=()), "def f(n): return n + 1")])
    assert report.failures == ()
    assert report.num_evaluated == 0
    assert not report.accepted


def test_examples_that_a_stub_satisfies_are_vacuous(find: Find) -> None:
    task = replace(NEXT, examples=(Example("((1,), {})", "None"),))
    assert find(task, "def f(n): return None")["examples"].vacuous
    assert not find(NEXT, "def f(n): return n + 1")["examples"].vacuous


def test_answers_are_compared_as_python_compares_them(failed: Failed) -> None:
    assert failed(NEXT, "def f(n): return n + 1.0") == {}
    assert "examples" in failed(NEXT, "def f(n): return [n + 1]")
    assert (
        failed(replace(NEXT, examples=(Example("((1,), {})", "1"),)), "def f(n): return True") == {}
    )
    text = replace(NEXT, examples=(Example("((1,), {})", "['True', 1]"),))
    assert failed(text, "def f(n): return ['True', True]") == {}
    assert "examples" in failed(text, "def f(n): return ['1', True]")
    pair = replace(NEXT, examples=(Example("((1,), {})", "(1, 2)"),))
    assert "examples" in failed(pair, "def f(n): return [1, 2]")


def test_an_answer_that_is_changed_afterwards_counts_as_it_was_returned(failed: Failed) -> None:
    task = replace(NEXT, examples=(Example("((1,), {})", "[1]"), Example("((2,), {})", "[1, 2]")))
    source = "kept = []\ndef f(n):\n  kept.append(n)\n  return kept"
    assert failed(task, source) == {}


def test_equal_candidates_are_examined_once_and_all_are_reported(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "def f(n): return n + 5"
    asked = [(NEXT, source), (NEXT, "def f(n): return n + 6"), (NEXT, source)]
    reports = gate.examine(asked)
    assert reports[0] == reports[2] != reports[1]
    monkeypatch.setattr(
        "selftrain.refine.gate.gate.run_all", lambda runs, *_, **__: [None for _ in runs]
    )
    assert gate.examine(asked) == reports


def test_workers_find_the_same(gate: Gate) -> None:
    sources = ["def f(n): return n + 1", *[source for source, _ in WRONG.values()]]
    asked = [(NEXT, source) for source in sources]
    judging = replace(gate.judging, config=JudgeConfig(num_workers=2))
    assert Gate(judging, gate.allowed_imports).examine(asked) == gate.examine(asked)


def test_a_broken_judge_is_no_evidence(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise JudgeError("no guest")

    monkeypatch.setattr("judge.many.run", broken)
    with pytest.raises(JudgeError, match="no guest"):
        Gate(gate.judging, ()).examine([(NEXT, "def f(n): return n + 1")])


def test_a_method_of_leetcodes_class_is_called_by_the_postlude(failed: Failed) -> None:
    task = replace(
        NEXT,
        parameters="self, n: int",
        postlude="\n\ndef f(*args, **kwargs):\n    return Solution().f(*args, **kwargs)\n",
    )
    head = "class Solution:\n    def f(self, n: int) -> int:\n        return n"
    assert failed(task, f"{head} + 1") == {}
    assert list(failed(task, f"{head} + 2")) == ["examples"]


def test_a_task_has_time_of_its_own(failed: Failed) -> None:
    source = "def f(n):\n  for _ in range(10**6): pass\n  return n + 1"
    assert failed(NEXT, source) == {}
    assert "resources" in failed(replace(NEXT, time_limit_seconds=0.002), source)


def test_imports_from_the_future_stand_before_the_preamble(failed: Failed) -> None:
    task = replace(NEXT, preamble="import math\n\n\n")
    later = "from __future__ import annotations\ndef f(n: Later) -> Later: return math.floor(n + 1)"
    assert failed(task, later) == {}
    assert failed(task, f'"""Ä."""; {later}') == {}
    assert list(failed(task, f"x = 1\n{later}")) == ["parses"]


def test_what_runs_of_a_main_program_alone_is_not_looked_at(failed: Failed) -> None:
    source = 'def f(n): return n + 1\nif __name__ == "__main__":\n    import os\n    print(f(1))\n'
    assert failed(NEXT, source) == {}
    assert "streams" in failed(NEXT, f"{source}else:\n    print(f(1))\n")
    assert "streams" in failed(NEXT, f"__name__ = '__main__'\n{source}")


def test_what_stands_before_a_candidate_is_run_with_it(failed: Failed) -> None:
    task = replace(NEXT, preamble="ONE = 1\n\n\n")
    assert failed(task, "def f(n): return n + ONE") == {}
    assert "examples" in failed(NEXT, "def f(n): return n + ONE")
