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
    assert task.head == FUNCTION["prompt"]
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
    assert (task.category, task.difficulty) == ("sums", "easy")


def test_json_values_and_texts_become_canonical_literals() -> None:
    task = task_of(
        {
            **FUNCTION,
            "examples": [[[[1, 2.50]], None], "([{2, 1}], (3,))"],
            "invariants": [
                {
                    "name": "empty",
                    "predicate": "answer == 0",
                    "inputs": [[[]], "([1, (2, 3)],)", [{"a": True}], "[-1]"],
                }
            ],
        }
    )
    assert task.examples == (
        Example("(([1, 2.5],), {})", "None"),
        Example("(({1, 2},), {})", "(3,)"),
    )
    inputs = ("([],)", "([1, (2, 3)],)", "({'a': True},)", "(-1,)")
    assert task.invariants == (Invariant("empty", inputs, "answer == 0"),)


def test_a_programs_edge_inputs_are_texts_and_growth_may_stand_alone() -> None:
    invariants = [
        {"name": "zero", "predicate": "int(answer) == 0", "inputs": ["0 0\n"]},
        {"name": "linear", "growth": {**GROWTH, "make": "' '.join(map(str, range(n)))"}},
    ]
    task = task_of({**PROGRAM, "invariants": invariants, "time_limit_seconds": 2})
    assert task.invariants == (
        Invariant("zero", ("0 0\n",), "int(answer) == 0"),
        Invariant("linear", growth=Growth("' '.join(map(str, range(n)))", (10, 20, 40), 1.3)),
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
        ({"invariants": [{**HOLDS, "name": "A"}, HOLDS]}, r"invariants\[1\].name is 'a', as another's"),
        ({"invariants": [{**HOLDS, "name": "imports"}]}, "or the gate's own"),
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
        ({"prompt": "return\ndef largest(xs):\n    pass\n"}, r"'prompt' is no Python \('return' outside"),
        ({"test": "def check(candidate:\n    pass"}, r"'test' is no Python \(.*line 1\)"),
        ({"test": "assert largest([1]) == 1"}, "'test' defines no function check. Write 'def check"),
        ({"test": "def check(c):\n    pass\nreturn"}, r"'test' is no Python \('return' outside"),
        ({"test": "async def check(candidate):\n    pass"}, "a check that does not run"),
        ({"test": "def check(candidate):\n    yield candidate([1])"}, "a check that does not run"),
        ({"test": "def check():\n    assert largest([1]) == 1"}, "a check that takes no argument"),
        ({"test": "def check(candidate):\n    assert candiate([1]) == 1"}, "line 2: candiate is defined nowhere"),
        ({"time_limit": 2}, "Did you mean 'time_limit_seconds'?"),
        ({"timeLimitSeconds": 2}, "Did you mean 'time_limit_seconds'?"),
        ({"timeout": 2}, "Did you mean 'time_limit_seconds'?"),
        ({"tags": ["lists"]}, "Did you mean 'category'?"),
        ({"imports": []}, "Did you mean 'allowed_imports'?"),
        ({"allowed_import": []}, "Did you mean 'allowed_imports'?"),
        ({"Examples": []}, "Did you mean 'examples'?"),
        ({"public_cases": []}, "a function has no 'public_cases'. Give 'examples'"),
        ({"allowed_imports": ["math", "mathh"]}, "allowed_imports has 'mathh', .* Did you mean 'math'?"),
        ({"examples": [[[1, 2], 3]]}, r"examples\[0\] is called with 2 arguments, and largest takes \(xs, \*, n=...\)"),
        ({"examples": [[[1], 1], "([], 3)"]}, r"examples\[1\] is called with 0 arguments"),
        ({"invariants": [{**HOLDS, "inputs": [[1], [1, 2]]}]}, r"inputs\[1\] is called with 2 arguments"),
        ({"invariants": [{**HOLDS, "predicate": "answer == inputs[3]"}]}, r"asks for inputs\[3\] of 1 argument"),
        ({"invariants": [{**HOLDS, "predicate": "answer == inputs[-2]"}]}, r"asks for inputs\[-2\] of 1 argument"),
        ({"invariants": [{"name": "a", "predicate": "inputs[1]", "growth": GROWTH}]}, r"asks for inputs\[1\]"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "make": "list(range(n))"}}]}, "make gives a list"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "make": "([1, -1] * (n // 2))"}}]}, "make gives a list"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "make": "2 * n + 1"}}]}, "make gives an int"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "make": "'a' * n"}}]}, "make gives a str"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "make": "(range(n),)"}}]}, "that is a range, which is no plain"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "make": "([], n)"}}]}, "make is called with 2 arguments"),
        ({"invariants": [{"name": "a", "growth": {**GROWTH, "sizes": [1, 2, 10**7 + 1]}}]}, "sizes has 10,000,001"),
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
        ({"time_limit": 2}, "Did you mean 'time_limit_seconds'?"),
        (
            {"invariants": [{"name": "a", "growth": GROWTH}]},
            "make gives a tuple. Give the standard",
        ),
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


def test_slips_of_public_cases_and_of_evalplus_inputs_are_told() -> None:
    program = {key: value for key, value in PROGRAM.items() if key != "public_cases"}
    with pytest.raises(UsageError, match="Did you mean 'public_cases'"):
        task_of({**program, "public_case": []})
    plus = {**FUNCTION, "canonical_solution": "    return max(xs)\n", "base_input": [[[1]]]}
    assert task_of(plus).kind is Kind.function
    for more, found in (
        ({"base_input": [[[1]], [[1], 2]]}, "an input is called with 2 arguments"),
        ({"plus_inputs": [[[1]]]}, "Did you mean 'plus_input'"),
        ({"canonical_solution": "    return max(xs"}, "'canonical_solution' is no Python"),
    ):
        with pytest.raises(UsageError, match=rf"^own.jsonl, line 3: .*{found}"):
            task_of({**plus, **more})


@pytest.mark.parametrize(
    "test",
    [
        "import math as m\nfrom os import path\n\ndef check(f):\n    assert m.pi and path and math.e\n",
        "def check(candidate):\n    assert largest([1]) == 1 == candidate([1])\n",
        "check = lambda candidate: candidate([1])\n",
        "if True:\n    def check(candidate, more=1, *rest): pass\n",
        "from math import *\n\ndef check(candidate):\n    assert candidate([pi])\n",
        "def check(c):\n    try: c([1])\n    except ValueError as e: raise AssertionError(e)\n",
        "x = 1\ndef check(c):\n    assert [y for y in [x] if (z := y)] and z and __name__\n",
        f"TABLE = {[*range(20_000)]}\n\ndef check(candidate):\n    assert candidate(TABLE)\n",
    ],
)
def test_a_test_that_can_be_asked_is_read(test: str) -> None:
    assert task_of({**FUNCTION, "test": test}).entry_point == "largest"


@pytest.mark.parametrize("key", ["solution", "contract", "notes", "version", "example_test", "id"])
def test_keys_of_other_formats_are_ignored(key: str) -> None:
    assert task_of({**FUNCTION, key: "x"}) == task_of(FUNCTION)


def test_arguments_fit_defaults_and_further_ones() -> None:
    prompt = "def largest(a, b=2, *more):\n"
    examples = [[[1], 1], [[1, 2], 1], [[1, 2, 3, 4], 1]]
    holds = {"name": "a", "predicate": "inputs[1:] or answer", "inputs": [[1], [1, 2, 3]]}
    guarded = {**holds, "name": "b", "predicate": "len(inputs) < 2 or inputs[1] == answer"}
    row = {**FUNCTION, "prompt": prompt, "examples": examples, "invariants": [holds, guarded]}
    assert len(task_of(row).examples) == 3
    with pytest.raises(UsageError, match=r"examples\[0\] is called with 0 arguments"):
        task_of({**row, "examples": [[[], 1]]})


@pytest.mark.parametrize(
    "make",
    [
        *("(n,)", "tuple([n])", "([1, -1] * (n // 2),)", "(sorted(range(n)),)", "((n,) * 1)"),
        *("(x := ([n],))", "([n],) if n else ([],)", "(*[[n]],)", "eval('([n],)')"),
    ],
)
def test_what_may_give_a_tuple_is_left_to_the_gate(make: str) -> None:
    one = {"name": "a", "growth": {**GROWTH, "make": make}}
    assert task_of({**FUNCTION, "invariants": [one]}).invariants


def test_a_docstrings_call_that_the_function_cannot_take_is_no_example() -> None:
    doctests = ">>> largest([1], 2, 3)\n    1\n    >>> largest([1])\n    1"
    prompt = f'def largest(xs, n=3):\n    """\n    {doctests}\n    """\n'
    task = task_of({**FUNCTION, "prompt": prompt})
    assert task.examples == (Example("(([1],), {})", "1"),)


def test_it_is_known_whether_a_statement_shows_its_examples() -> None:
    prompt = 'def largest(xs):\n    """\n    >>> largest([1])\n    1\n    """\n'
    row = {**FUNCTION, "prompt": prompt}
    assert task_of(row).shows_examples
    assert task_of({**row, "examples": [[[[1]], 1]]}).shows_examples
    assert not task_of({**row, "examples": [[[[1]], 1], [[[2]], 2]]}).shows_examples
    assert not task_of(PROGRAM).shows_examples
    statement = "Add.\n\nSample input\n  1 2 \n\nSample output\n3\n"
    assert task_of({**PROGRAM, "statement": statement}).shows_examples
    assert not task_of({**PROGRAM, "statement": "Add 1 2 to 3."}).shows_examples
