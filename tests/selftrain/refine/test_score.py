"""Hidden tests score what is right as passed, and nothing else."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge import Outcome, Verdict
from puzzles import puzzle_from_source
from selftrain.config_file import load_config
from selftrain.judge import judging_in_evaluation
from selftrain.refine.score import score
from selftrain.refine.tasks.held_out import puzzle_task
from selftrain.refine.tasks.rows import maker_of
from selftrain.refine.tasks.sources import read_tasks
from selftrain.refine.tasks.task import Built

Row = dict[str, Any]
JUDGING = judging_in_evaluation(load_config(None, []).judge)
PROMPT = 'def half(xs: list) -> list:\n    """ Half of each. """\n'
HALF = f"{PROMPT}    return [x / 2 for x in xs]\n"
PLUS: Row = {
    "task_id": "HumanEval/900",
    "prompt": PROMPT,
    "entry_point": "half",
    "canonical_solution": "    return [x / 2 for x in xs]\n",
    "base_input": [[[1, 2]]],
    "plus_input": [[[]], [[0.1, 1e9]]],
    "contract": "    assert xs",
    "atol": 0,
}
CALLS = [{"input": "[1, 2]\n3", "output": "[1, 2, 3]", "testtype": "functional"}]
METHOD: Row = {
    "question_title": "Append",
    "question_content": "Append b to a.",
    "question_id": "append",
    "starter_code": "class Solution:\n    def add(self, a: List[int], b: int) -> List[int]:\n",
    "public_test_cases": json.dumps(CALLS),
    "private_test_cases": json.dumps([{**CALLS[0], "input": "[]\n4", "output": "[4]"}]),
    "metadata": '{"func_name": "add"}',
}
PROGRAM: Row = {
    "task_id": "sum",
    "statement": "Add two numbers.",
    "cases": [["1 2", "3"], ["2 2", "4"]],
}


def made(row: Row) -> Built:
    return maker_of(row, "a.jsonl, line 1")(row, "a.jsonl, line 1")


def outcomes(*asked: tuple[Row, str]) -> list[Outcome]:
    found = score([(*made(row), source) for row, source in asked], JUDGING, advance=lambda _: None)
    assert all(isinstance(verdict, Verdict) for verdict in found)
    return [verdict.outcome for verdict in found if verdict is not None]


def test_every_reference_solution_of_humaneval_passes(p3_folder: Path) -> None:
    path = p3_folder.parent / "humaneval" / "HumanEval.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"HumanEval's file is not there: {path}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    right = {row["task_id"]: row["prompt"] + row["canonical_solution"] for row in rows}
    tasks, hidden = read_tasks(load_config(None, [f"refine.tasks=[{path}]"]), [])
    both = list(zip(tasks, hidden, strict=True))
    counted: list[int] = []
    passed = score(
        [(task, tests, right[task.task_id]) for task, tests in both],
        JUDGING,
        advance=counted.append,
    )
    assert [verdict.outcome for verdict in passed if verdict] == [Outcome.passed] * 164
    assert sum(counted) == 164
    stub = [(task, tests, f"def {task.entry_point}(*a):\n    return None") for task, tests in both]
    failed = score(stub, JUDGING, advance=lambda _: None)
    assert not any(verdict is None or verdict.passed for verdict in failed)


def test_where_there_is_no_answer_there_is_no_verdict() -> None:
    counted: list[int] = []
    asked = [(*made(PLUS), None), (*made(PLUS), HALF), (*made(PROGRAM), None)]
    found = score(asked, JUDGING, advance=counted.append)
    assert [verdict and verdict.passed for verdict in found] == [None, True, None]
    assert sum(counted) == 3


def test_inputs_of_humaneval_plus_are_compared_with_the_reference() -> None:
    close = HALF.replace("x / 2", "x * 0.5 * (1 + 1e-9)")
    base_only = HALF.replace("x / 2", "x // 2 + x % 2 / 2 if x < 9 else 0")
    integer = HALF.replace("x / 2", "x // 2")
    nothing = HALF.replace("return", "return None or")
    found = outcomes((PLUS, HALF), (PLUS, close), (PLUS, base_only), (PLUS, integer))
    assert found == [Outcome.passed, Outcome.passed, Outcome.wrong_answer, Outcome.wrong_answer]
    assert outcomes((PLUS, nothing)) == [Outcome.passed]
    assert outcomes((PLUS, "x = 1"), (PLUS, "def half(")) == [Outcome.no_g, Outcome.syntax_error]


def test_imports_from_the_future_stand_before_a_prompts_imports() -> None:
    prompt = f"import math\n\n\n{PROMPT}"
    row = {**PLUS, "prompt": prompt}
    later = HALF.replace("list", "Later")
    future = "from __future__ import annotations\n"
    assert outcomes((row, future + later)) == [Outcome.passed]
    assert outcomes((row, "x = 1\n" + future + later)) == [Outcome.syntax_error]
    # It would change what != is in the test.
    flufl = "from __future__ import barry_as_FLUFL\n"
    assert outcomes((row, flufl + HALF)) == [Outcome.syntax_error]


def test_a_reference_that_fails_blames_the_test_and_no_candidate() -> None:
    broken = {**PLUS, "canonical_solution": "    return xs[0] / 0\n"}
    assert outcomes((broken, HALF)) == [Outcome.f_raised]


def test_any_root_passes_find_zero() -> None:
    prompt = "def find_zero(xs: list):\n"
    row = {
        **PLUS,
        "prompt": prompt,
        "entry_point": "find_zero",
        "canonical_solution": "    return 1.0\n",
        "base_input": [[[-1, 0, 1, 0]]],
        "plus_input": [],
        "atol": 1e-4,
    }
    roots = [f"{prompt}    return {root}\n" for root in ("-1.0", "1.00001", "0.5")]
    passed, wrong = Outcome.passed, Outcome.wrong_answer
    assert outcomes(*((row, root) for root in roots)) == [passed, passed, wrong]


def test_the_hubs_form_of_humaneval_plus_finds_what_it_wants_of_numpy() -> None:
    test = (
        "import numpy as np\n\n"
        "def is_floats(x):\n    if isinstance(x, np.ndarray):\n"
        "        return x.dtype == np.float64\n    return isinstance(x, float)\n\n"
        "def assertion(out, exp, atol):\n    if out != exp:\n"
        "        assert np.allclose(out, exp, rtol=1e-07, atol=atol)\n\n"
        "def check(candidate):\n"
        "    for inp, exp in zip([[[1, 2]]], [[0.5, 1.0]]):\n"
        "        is_floats(exp)\n        assertion(candidate(*inp), exp, 1e-6)\n"
    )
    row = {key: PLUS[key] for key in ("task_id", "prompt", "entry_point", "canonical_solution")}
    close, far = HALF.replace("x / 2", "x / 2 + 1e-8"), HALF.replace("x / 2", "x / 2 + 1e-3")
    longer = HALF.replace("in xs]", "in xs] + [0.0]")
    asked = [({**row, "test": test}, source) for source in (HALF, close, far, longer)]
    wrong = Outcome.wrong_answer
    assert outcomes(*asked) == [Outcome.passed, Outcome.passed, wrong, wrong]


def test_a_method_of_livecodebench_is_scored_by_its_private_cases_too() -> None:
    head = METHOD["starter_code"]
    right, as_tuple = f"{head}        return a + [b]\n", f"{head}        return (*a, b)\n"
    public_only = f"{head}        return [1, 2, b]\n"
    found = outcomes((METHOD, right), (METHOD, as_tuple), (METHOD, public_only))
    assert found == [Outcome.passed, Outcome.passed, Outcome.wrong_answer]
    assert outcomes((METHOD, "class Solution:\n    pass\n")) == [Outcome.raised]


def test_a_program_is_scored_by_all_its_cases() -> None:
    right = "print(sum(map(int, input().split())))"
    assert outcomes((PROGRAM, right), (PROGRAM, "print(3)")) == [
        Outcome.passed,
        Outcome.wrong_answer,
    ]


def test_a_puzzle_is_scored_at_all_its_inputs() -> None:
    puzzle = puzzle_from_source(
        "def f(x: int, a=17):\n    return x > a", name="more", more_inputs=("a=40",)
    )
    tries = ["def g(a=17):\n    return a + 1", "def g(a=17):\n    return 18"]
    asked = [(*puzzle_task(puzzle), source) for source in tries]
    found = score(asked, JUDGING, advance=lambda _: None)
    assert [verdict and verdict.outcome for verdict in found] == ["passed", "wrong_answer"]


def test_a_tasks_own_time_limit_is_kept_and_no_other_tasks() -> None:
    slow = "for i in range(300_000): pass\nprint(sum(map(int, input().split())))"
    asked = [
        (*made({**PROGRAM, "time_limit_seconds": seconds}), slow) for seconds in (0.01, 2.0, 0.01)
    ]
    found = score(asked, JUDGING, advance=lambda _: None)
    assert [verdict and verdict.outcome for verdict in found] == [
        "timed_out",
        "passed",
        "timed_out",
    ]


def test_tests_longer_than_a_program_may_be_still_score() -> None:
    numbers = list(range(100_000))
    row = {**PLUS, "plus_input": [[numbers]], "base_input": []}
    judging = replace(JUDGING, limits=replace(JUDGING.limits, source_bytes=2_000))
    (verdict,) = score([(*made(row), HALF)], judging, advance=lambda _: None)
    assert verdict is not None
    assert verdict.outcome is Outcome.passed


def test_a_hostile_answer_is_a_verdict_and_never_raises() -> None:
    sources = ["\ud800", "\0", "(" * 5_000, "raise SystemExit", "x" * 2_000_000, ""]
    found = outcomes(*((PLUS, source) for source in sources), *((PROGRAM, s) for s in sources))
    assert len(found) == 12
    assert Outcome.passed not in found
