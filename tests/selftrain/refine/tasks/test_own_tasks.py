"""Rows of one's own: examples, labels, limits and invariants, and what is said of wrong ones."""

from typing import Any

import pytest

from judge import Case, TextProblem
from selftrain.errors import UsageError
from selftrain.refine.tasks.rows import maker_of
from selftrain.refine.tasks.task import Example, Growth, Invariant, Kind, RefineTask

Row = dict[str, Any]
WHERE = "own.jsonl, line 3"
FUNCTION: Row = {
    "task_id": "own/largest",
    "prompt": 'import math\n\ndef largest(xs: list, *, n: int = 3):\n    """ Largest. """\n',
    "entry_point": "largest",
    "test": "def check(candidate):\n    assert candidate([1]) == 1\n",
}
PROGRAM: Row = {
    "task_id": "own/sum",
    "statement": "Add two numbers.",
    "cases": [["1 2", "3"], ["2 2", "4"]],
    "public_cases": [["1 2", "3"]],
}
GROWTH: Row = {"make": "(list(range(n)),)", "sizes": [10, 20, 40], "max_exponent": 1.3}


def task_of(row: Row) -> RefineTask:
    return maker_of(row, WHERE)(row, WHERE)[0]


def test_a_function_keeps_its_prompts_imports_and_its_parameters_without_annotations() -> None:
    task, hidden = maker_of(FUNCTION, WHERE)(FUNCTION, WHERE)
    assert task.preamble == "import math\n\n\n"
    assert task.parameters == "xs, *, n=3"
    assert (task.head, task.source) == (FUNCTION["prompt"], "humaneval")
    assert task.canary in str(hidden.problem)


@pytest.mark.parametrize(
    "prompt",
    [
        "import math\n\ndef largest(xs):",
        "import math\n\ndef largest(xs):\n",
        "import math\n\ndef largest(xs):\n    '''Doc.'''\n\n",
        "import math\n\ndef largest(\n    xs,\n):\n    import re\n    '''Doc.'''\n",
    ],
)
def test_a_prompt_may_end_in_a_bare_head(prompt: str) -> None:
    task = task_of({**FUNCTION, "prompt": prompt})
    assert (task.preamble, task.parameters) == ("import math\n\n\n", "xs")


def test_a_programs_public_cases_are_examples_and_score_too() -> None:
    row = {**PROGRAM, "public_cases": [["0 0", "0"]], "difficulty": "easy", "category": "sums"}
    task, hidden = maker_of(row, WHERE)(row, WHERE)
    assert task.kind is Kind.program
    assert task.examples == (Case("0 0", "0"),)
    assert hidden.problem == TextProblem((Case("0 0", "0"), Case("1 2", "3"), Case("2 2", "4")))
    assert (task.category, task.difficulty, task.source) == ("sums", "easy", "tasks")


def test_json_values_and_texts_become_canonical_literals() -> None:
    task = task_of(
        {
            **FUNCTION,
            "examples": [[[[1, 2.50]], None], "([{2, 1}], (3,))"],
            "invariants": [
                {
                    "name": "empty",
                    "predicate": "answer == 0",
                    "inputs": [[[]], "([1, (2, 3)],)", [{"a": True}, "x"], "[-1]"],
                }
            ],
        }
    )
    assert task.examples == (
        Example("(([1, 2.5],), {})", "None"),
        Example("(({1, 2},), {})", "(3,)"),
    )
    inputs = ("([],)", "([1, (2, 3)],)", "({'a': True}, 'x')", "(-1,)")
    assert task.invariants == (Invariant("empty", inputs, "answer == 0"),)


def test_a_programs_edge_inputs_are_texts_and_growth_may_stand_alone() -> None:
    invariants = [
        {"name": "zero", "predicate": "int(answer) == 0", "inputs": ["0 0\n"]},
        {"name": "linear", "growth": GROWTH},
    ]
    task = task_of({**PROGRAM, "invariants": invariants, "time_limit_seconds": 2})
    assert task.invariants == (
        Invariant("zero", ("0 0\n",), "int(answer) == 0"),
        Invariant("linear", growth=Growth("(list(range(n)),)", (10, 20, 40), 1.3)),
    )
    assert task.time_limit_seconds == 2.0


def test_a_predicate_may_bind_names_of_its_own() -> None:
    text = "all(x <= answer for x in inputs[0]) and (lambda y: y + answer)(0) == answer"
    one = {"name": "max", "predicate": text, "inputs": [[[1]]]}
    assert task_of({**FUNCTION, "invariants": [one]}).invariants[0].predicate == text


HOLDS: Row = {"name": "a", "predicate": "answer", "inputs": [[1]]}


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"prompt": "def other(xs):\n"}, "'prompt' defines no function 'largest'"),
        ({"prompt": "Write a function."}, "'prompt' is no Python"),
        ({"entry_point": ""}, "entry_point is ''"),
        ({"test": 3}, "test is 3"),
        ({"time_limit_second": 2}, "Did you mean 'time_limit_seconds'?"),
        ({"time_limit_seconds": 0}, "time_limit_seconds is 0"),
        ({"time_limit_seconds": "2"}, "time_limit_seconds is '2'"),
        ({"category": 3}, "category is 3"),
        ({"allowed_imports": "math"}, "allowed_imports is 'math'"),
        ({"examples": {}}, "examples is {}"),
        ({"examples": [[1, 2]]}, r"examples\[0\] is \[1, 2\]"),
        ({"examples": ["(f(1), 2)"]}, r"examples\[0\] is no plain data"),
        ({"examples": ["(1, 2)"]}, r"examples\[0\] is '\(1, 2\)'"),
        ({"invariants": {}}, "invariants is {}"),
        ({"invariants": [3]}, r"invariants\[0\] is 3"),
        ({"invariants": [{**HOLDS, "predicat": "1"}]}, "Did you mean 'predicate'?"),
        ({"invariants": [{**HOLDS, "name": " "}]}, r"invariants\[0\].name is ' '"),
        ({"invariants": [HOLDS, HOLDS]}, r"invariants\[1\].name is 'a', as another's"),
        ({"invariants": [{"name": "a"}]}, "neither 'predicate' nor 'growth'"),
        ({"invariants": [{**HOLDS, "inputs": []}]}, "a predicate but no 'inputs'"),
        ({"invariants": [{"name": "a", "growth": GROWTH, "inputs": [[1]]}]}, "no 'predicate'"),
        ({"invariants": [{**HOLDS, "inputs": 3}]}, r"invariants\[0\].inputs is 3"),
        ({"invariants": [{**HOLDS, "inputs": [3]}]}, r"inputs\[0\] is 3"),
        ({"invariants": [{**HOLDS, "inputs": ["3"]}]}, r"inputs\[0\] is '3'"),
        ({"invariants": [{**HOLDS, "inputs": ["[x]"]}]}, r"inputs\[0\] is '\[x\]', which is no"),
        ({"invariants": [{**HOLDS, "inputs": ["[{[1]: 2}]"]}]}, "which is no plain data"),
        ({"invariants": [{**HOLDS, "predicate": "answer ="}]}, "predicate is no Python expression"),
        ({"invariants": [{**HOLDS, "predicate": "x = 1"}]}, "predicate is no Python expression"),
        ({"invariants": [{**HOLDS, "predicate": "(yield)"}]}, "predicate is no Python expression"),
        ({"invariants": [{**HOLDS, "predicate": "1); (2"}]}, "predicate is no Python expression"),
        ({"invariants": [{**HOLDS, "predicate": "anwser"}]}, "uses anwser, which it does not know"),
        ({"invariants": [{**HOLDS, "predicate": "[m for x in inputs]"}]}, "uses m, which"),
        ({"invariants": [{"name": "a", "growth": 3}]}, r"growth is 3"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "size": []}}]}, "Did you mean 'sizes'"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "sizes": [1, 2]}}]}, "at least three"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "sizes": [1, 3, 2]}}]}, "at least thr"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "sizes": [1, 2, 2.5]}}]}, "at least t"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "max_exponent": True}}]}, "is True"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "make": "answer"}}]}, "uses answer"),
    ],
)  # fmt: skip
def test_a_wrong_key_of_a_function_is_told_by_file_line_and_key(more: Row, found: str) -> None:
    assert task_of({**FUNCTION, "invariants": [HOLDS], "examples": [[[1], 2]]}).invariants
    with pytest.raises(UsageError, match=rf"^own.jsonl, line 3.*{found}"):
        task_of({**FUNCTION, **more})


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"statement": ""}, "statement is ''"),
        ({"cases": []}, "cases is empty"),
        ({"cases": [["1"]]}, r"cases is \[\['1'\]\]"),
        ({"cases": "1"}, "cases is '1'"),
        ({"public_cases": [[1, "2"]]}, "public_cases is"),
        ({"cases": [["\ud800", ""]]}, "cases holds what cannot be sent"),
        ({"examples": []}, "a program has no 'examples'"),
        ({"public_case": [], "public_cases": None}, "public_cases is None"),
        ({"invariants": [{**HOLDS, "inputs": [[1]]}]}, r"inputs\[0\] is \[1\]"),
    ],
)
def test_a_wrong_key_of_a_program_is_told_by_file_line_and_key(more: Row, found: str) -> None:
    assert task_of(PROGRAM).kind is Kind.program
    with pytest.raises(UsageError, match=rf"^own.jsonl, line 3.*{found}"):
        task_of({**PROGRAM, **more})


def test_a_row_of_no_kind_says_what_each_kind_needs() -> None:
    row = {"task_id": "a", "prompt": "def f():", "tests": ""}
    with pytest.raises(UsageError, match=r"the keys task_id, prompt, tests is no task"):
        maker_of(row, WHERE)
