"""Functions as tasks: a verifier reads what was returned at a test's calls, and no more of it."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge import FunctionProblem, Limits
from selftrain.config import JudgeConfig
from selftrain.errors import UsageError
from selftrain.judge import judging_in_evaluation
from selftrain.verifier.tasks.called import calls_in
from selftrain.verifier.tasks.from_functions import execute, read_functions_as_tasks, wording
from selftrain.verifier.tasks.mbpp import mbpp_problem
from selftrain.verifier.tasks.task import Candidate, Task

JUDGING = replace(
    judging_in_evaluation(JudgeConfig(num_workers=1)), limits=Limits(fuel=1_000_000_000)
)
HALF = {
    "task_id": "H/0",
    "prompt": 'def half(x):\n    """ Half of x. """\n',
    "entry_point": "half",
    "test": "def check(candidate):\n    assert candidate(6) == 3 and candidate(x=4) == 2\n"
    "    assert candidate('a') is None\n",
    "canonical_solution": "    return x / 2 if type(x) is int else None\n",
}
ADD = {
    "task_id": 7,
    "text": "Write a function to add.",
    "code": "from typing import List\ndef add(a: int, b: int = 0) -> int:\n    return a + b\n",
    "test_list": ["assert add(1, 2) == 3", "assert add([1], b=[2]) == [1, 2]"],
    "test_setup_code": "",
}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "functions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ran(folder: Path, kind: Any, row: dict[str, Any], *programs: str) -> Task:
    candidates = [{"program": program} for program in programs]
    path = write(folder, {**row, "candidates": candidates})
    (task,) = execute(read_functions_as_tasks(path, kind), JUDGING)
    return task


def told(task: Task) -> list[tuple[str | None, bool | None]]:
    return [(one.result, one.label) for one in task.candidates]


def test_a_result_is_types_and_values_at_each_call(tmp_path: Path) -> None:
    task = ran(
        tmp_path,
        "humaneval",
        HALF,
        "    return x / 2 if type(x) is int else None\n",
        "    return x // 2\n",
        "    return (y for y in ())\n",
        "    raise KeyError(x)\n",
    )
    assert told(task) == [
        ("[('float', 3.0), ('float', 2.0), ('NoneType', None)]", True),
        ("[('int', 3), ('int', 2), ('TypeError', None)]", False),
        ("[('generator', None), ('generator', None), ('generator', None)]", False),
        ("[('KeyError', None), ('KeyError', None), ('KeyError', None)]", False),
    ]
    assert task.gold_result == task.candidates[0].result
    assert task.task == HALF["prompt"]


def test_what_cannot_be_called_is_an_error_and_changes_no_other(tmp_path: Path) -> None:
    task = ran(
        tmp_path,
        "mbpp",
        ADD,
        "def add(a, b): return a + b",
        "def add(a, b):\n    while True: pass",
        "def add(a, b): return [0] * 10 ** 10",
        "def add(a, b): return (",
        "def other(a, b): return a + b",
        "def add(a, b): raise SystemExit",
        "raise ValueError('no')",
        "def add(a, b, c=List): return a + b",
        "def g(a, b): return a + b\nadd = g",
        "import sys\nsys.modules['program'].g = lambda: ('syntax_error', 1, 2)\nadd = 3",
        "def add(a, b): return a + b\n# '''{}\n",
    )
    found = [result or "" for result, _ in told(task)]
    right = "[('int', 3), ('list', [1, 2])]"
    assert [i for i, result in enumerate(found) if result == right] == [0, 8, 10]
    kinds = {1: "timed_out", 2: "out_of_memory", 3: "syntax_error: SyntaxError", 4: "no_g"}
    kinds |= {5: "raised: SystemExit", 6: "raised: ValueError: no", 7: "raised: NameError"}
    assert all(found[i].startswith(f"ERROR: {kind}") for i, kind in kinds.items())
    assert [label for _, label in told(task)] == [i in (0, 8, 10) for i in range(11)]


def test_each_call_has_arguments_of_its_own(tmp_path: Path) -> None:
    row = {**ADD, "test_list": ["x = [1]\nassert add(x, [2]) == [1, 2] and add(x, [3]) == [1, 3]"]}
    task = ran(tmp_path, "mbpp", row, "def add(a, b):\n    a += b\n    return a")
    assert told(task) == [("[('list', [1, 2]), ('list', [1, 3])]", True)]


def test_changing_what_is_expected_changes_labels_and_nothing_that_is_read(tmp_path: Path) -> None:
    programs = ("    return x / 2\n", "    return 0\n", "    return None\n")
    flipped = {**HALF, "test": HALF["test"].replace("== 3", "== 0").replace("== 2", "== 0")}
    flipped["test"] = flipped["test"].replace("is None", "== 0")
    unknown = {**HALF, "canonical_solution": None}
    one = ran(tmp_path, "humaneval", unknown, *programs)
    two = ran(tmp_path, "humaneval", {**flipped, "canonical_solution": None}, *programs)
    read = [(one.task, [c.result for c in t.candidates]) for t in (one, two)]
    assert read[0] == read[1] and len(read[0][1][0].split("), (")) == 3  # type: ignore[union-attr]
    assert [label for _, label in told(one)] == [False, False, False]
    assert [label for _, label in told(two)] == [False, True, False]


RAISES = "def check(candidate):\n    if candidate(2) != {}: raise ValueError\n    candidate(4)\n"
EQUALS = """import unittest
def check(candidate):
    case = unittest.TestCase()
    case.assertEqual(candidate(2), {})
    case.assertEqual(candidate(4), 2)
"""
ASSERTS = "def check(candidate):\n    assert candidate(2) == {} and candidate(4) == 2\n"


@pytest.mark.parametrize("test", [RAISES, EQUALS, ASSERTS])
def test_where_the_reference_fails_its_test_nothing_is_known_but_what_the_row_gives(
    tmp_path: Path, test: str
) -> None:
    half = "    return x / 2\n"
    right, *wrong = (
        ran(tmp_path, "humaneval", {**HALF, "test": test.format(expected)}, half)
        for expected in ("1", "0", "8")
    )
    assert told(right) == [("[('float', 1.0), ('float', 2.0)]", True)]
    assert right.gold_program == HALF["canonical_solution"]
    assert right.gold_result == right.candidates[0].result
    assert all(told(task) == [(None, None)] for task in wrong)
    assert all(task.gold_program is task.gold_result is None for task in wrong)
    known = {"program": half, "result": "5", "label": True}
    row = {**HALF, "test": test.format("0"), "candidates": [known]}
    (task,) = execute(read_functions_as_tasks(write(tmp_path, row), "humaneval"), JUDGING)
    assert told(task) == [("5", True)]


def test_a_gold_result_of_its_own_stays(tmp_path: Path) -> None:
    told = "[('int', 9)]"
    for row in (HALF, {**HALF, "canonical_solution": None}):
        assert ran(tmp_path, "humaneval", {**row, "gold_result": told}).gold_result == told


@pytest.mark.parametrize("wrong", ["assert add(1, 2) == 4", "assert not add(1, 2)", "1 / 0"])
def test_asserts_and_faults_of_a_test_take_no_calls_away(wrong: str) -> None:
    row = {**ADD, "test_list": [f"try:\n    {wrong}\nfinally: pass", *ADD["test_list"]]}
    problem = mbpp_problem(row, "row 1")
    calls = calls_in(problem, ADD["code"], JUDGING.limits)
    assert calls[-1] == "(([1],), {'b': [2]})" or wrong == "1 / 0"
    assert "(([1], ), {'b': [2]})" in calls_in(problem, None, JUDGING.limits)


def test_without_a_reference_literal_calls_are_known() -> None:
    test = "def check(candidate):\n    for i in range(3): assert candidate(i)\n"
    test += "    assert candidate(-1, k=[2]) == candidate('a', *[1]) == candidate(-1, k=[2])\n"
    problem = FunctionProblem("def h(x):\n", "h", test)
    assert calls_in(problem, None, JUDGING.limits) == ["((-1, ), {'k': [2]})"]
    nothing = FunctionProblem("def h(x):\n", "h", "def check(candidate): pass\n")
    assert calls_in(nothing, "    return 1\n", JUDGING.limits) == []


def test_where_no_call_is_known_results_are_unknown_and_labels_are_not(tmp_path: Path) -> None:
    test = "def check(candidate):\n    for i in range(3): assert candidate(i) == i / 2\n"
    row = {**HALF, "test": test, "canonical_solution": None}
    task = ran(tmp_path, "humaneval", row, "    return x / 2\n", "    return x\n")
    assert told(task) == [(None, True), (None, False)]


def test_a_program_is_cut_from_a_completion(tmp_path: Path) -> None:
    (half,) = read_functions_as_tasks(write(tmp_path, HALF), "humaneval")
    assert wording(half).prompt == HALF["prompt"]
    assert wording(half).cut("    return 1\n\nprint(half(3))") == "    return 1\n"
    bare = {**ADD, "task_id": 8, "code": None}
    add, unknown = read_functions_as_tasks(write(tmp_path, ADD, bare), "mbpp")
    assert add.task.task_id == "7" and add.task.task == "Write a function to add."
    assert wording(add).prompt == "# Write a function to add.\ndef add(a, b=0):\n"
    assert wording(add).cut("    return a\nadd(1)") == "def add(a, b=0):\n    return a"
    assert wording(unknown).prompt == "# Write a function to add.\ndef add("
    assert wording(unknown).cut("x, y):\n    return x\nadd(1)") == "def add(x, y):\n    return x"


def test_mbpp_setup_stands_before_every_program(tmp_path: Path) -> None:
    row = {**ADD, "test_setup_code": "ONE = 1", "test_imports": ["import math"], "code": None}
    row["test_list"] = ["assert math.isclose(add(ONE, 2), 3)", "assert set([add(1, 1)]) == {2}"]
    task = ran(tmp_path, "mbpp", row, "def add(a, b): return a + b * ONE")
    assert told(task) == [("[('int', 2)]", True)]


@pytest.mark.parametrize(
    ("kind", "row", "said"),
    [
        ("humaneval", {**HALF, "canonical_solution": 1}, "canonical_solution is 1. Give it"),
        ("humaneval", {**HALF, "test": "'\ud800'"}, "holds half a surrogate pair"),
        ("mbpp", {**ADD, "code": [1]}, "code is [1]. Give it as text, or leave it out"),
        ("mbpp", {**ADD, "test_imports": {}}, "test_imports is {}. Make it a list of texts"),
        ("humaneval", {**HALF, "test": None}, "test is None. Give the source of check(candidate)"),
        ("humaneval", {**HALF, "entry_point": "a b"}, "entry_point is 'a b'"),
        ("mbpp", {**ADD, "test_list": []}, "give the asserts in 'test_list'"),
        ("mbpp", {**ADD, "test_list": ["assert add("]}, "test_list is no Python"),
        ("mbpp", {**ADD, "test_list": ["assert len([])"]}, "test_list calls no function"),
        ("mbpp", {**ADD, "text": 3}, "text is 3. Give what the function is to do"),
    ],
)
def test_a_wrong_row_is_refused_in_a_sentence(
    tmp_path: Path, kind: Any, row: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as error:
        read_functions_as_tasks(write(tmp_path, row), kind)
    assert "functions.jsonl, line 1: " in str(error.value) and said in str(error.value)


def test_humanevals_references_are_right_at_the_calls_of_their_tests(
    p3_folder: Path, tmp_path: Path
) -> None:
    path = p3_folder.parent / "humaneval" / "HumanEval.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"HumanEval's file is not there: {path}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:6]
    functions = read_functions_as_tasks(write(tmp_path, *rows), "humaneval")
    with_gold = [
        replace(one, task=replace(one.task, candidates=(unlabelled(one.task.gold_program),)))
        for one in functions
    ]
    tasks = execute(with_gold, JUDGING)
    assert all(task.candidates[0].label for task in tasks)
    assert [task.candidates[0].result for task in tasks] == [task.gold_result for task in tasks]
    assert tasks[2].gold_result == "[('float', 0.5), ('float', 0.33000000000000007), ('float', 0.45600000000000307)]"  # fmt: skip


def unlabelled(program: str | None) -> Candidate:
    assert program is not None
    return Candidate(program, None, None, None, None)
