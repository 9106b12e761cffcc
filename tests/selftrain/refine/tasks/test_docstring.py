"""What counts as a public example in a docstring."""

import gzip
import json
from pathlib import Path

import pytest

from selftrain.config_file import load_config
from selftrain.judge import judging_in_evaluation
from selftrain.refine.tasks.docstring import examples_of
from selftrain.refine.tasks.sources import read_tasks
from selftrain.refine.tasks.task import Example, RefineTask, whole_source

ONE = "((1,), {})"


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        (">>> f(1)\n2", [(ONE, "2")]),
        (">>> f(1)\n2\n>>> f( [1.50,2] )\n[ (1,2) ]", [(ONE, "2"), ("(([1.5, 2],), {})", "[(1, 2)]")]),
        (">>> f(1)\n2\nAnd so on.", [(ONE, "2")]),
        (">>> f(1) == 2\nTrue", [(ONE, "2")]),
        (">>> f(1,\n...   k='a')\nNone", [("((1,), {'k': 'a'})", "None")]),
        ("    >>> f('x\ny')\n    'x\ny'\n    >>> f(1)\n    2\n", [(ONE, "2")]),
        ("f(1) == 2", [(ONE, "2")]),
        ("Examples: f(1) ➞ 2", [(ONE, "2")]),
        ("* f(1) => 2\n- f(2) ==> 3", [(ONE, "2"), ("((2,), {})", "3")]),
        ("for f(1) -> {'a', 'b'}", [(ONE, "{'a', 'b'}")]),
        ("f(1) # returns 'db'", [(ONE, "'db'")]),
        ("f(1) should return 2.", [(ONE, "2")]),
        ("f(1) => true", [(ONE, "True")]),
        ("f(1) == 2  # two", [(ONE, "2")]),
        ("f([\n [1],\n [2]\n], 3) == [\n (1, 2)\n]", [("(([[1], [2]], 3), {})", "[(1, 2)]")]),
        ("f(1) = 2", [(ONE, "2")]),
        ("f('(') == ')'", [("(('(',), {})", "')'")]),
        ("f() == 1", [("((), {})", "1")]),
        ("Input: [1, 2]\nOutput: 3", [("(([1, 2],), {})", "3")]),
        ("    Input: n = 1\n    Output: 2 # two", [(ONE, "2")]),
        ("For n = 1 the output should be 2.", [(ONE, "2")]),
        ('For n = "a", the result should be (1, True)', [("(('a',), {})", "(1, True)")]),
    ],
)  # fmt: skip
def test_an_example_is_read(docstring: str, expected: list[tuple[str, str]]) -> None:
    assert examples_of(docstring, "f", ["n"]) == tuple(Example(*pair) for pair in expected)


@pytest.mark.parametrize(
    "docstring",
    [
        ">>> f(1)\nTraceback (most recent call last):\nValueError: no",
        ">>> f(x)\n2",
        ">>> round(f(1), 2)\n2.5",
        ">>> f(1)",
        ">>> f(1)\nsomething",
        ">>> f(1) == 2\nFalse",
        ">>> g(1)\n2",
        "f(1) -> 19 - 5 = 14",
        "2 * f(1) == 4",
        "f(f(1)) == 4",
        "f(1) == f(2)",
        "f(1) is nice",
        "f(1) == 2 or so",
        "f(1",
        "the_f(1) == 2",
        "x.f(1) == 2",
        "f(1) == 2\nf(1) == 3",
        "f(*[1]) == 2",
        "f(**{'n': 1}) == 2",
        "f(1) = 3\nf(n) = n + f(n - 1)",
        "Input: m = 1\nOutput: 2",
        "Input: 1, 2\nOutput: 2",
        "Input: x\nOutput: 2",
        "",
    ],
)
def test_what_is_no_literal_call_with_a_literal_result_is_left_out(docstring: str) -> None:
    assert examples_of(docstring, "f", ["n"]) == ()


def test_inputs_by_name_are_put_in_the_order_of_the_parameters() -> None:
    found = examples_of("Input: k = 3, grid = [[1]]\nOutput: []", "f", ["grid", "k"])
    assert found == (Example("(([[1]], 3), {})", "[]"),)


def test_of_humaneval_only_three_tasks_show_an_example_that_the_reference_breaks(
    p3_folder: Path,
) -> None:
    path = p3_folder.parent / "humaneval" / "HumanEval.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"HumanEval's file is not there: {path}")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = {row["task_id"]: row for row in map(json.loads, lines)}
    config = load_config(None, [f"refine.tasks=[{path}]"])
    tasks, _ = read_tasks(config, [])
    assert sum(bool(task.examples) for task in tasks) == 150
    shown = [(task, one) for task in tasks for one in task.examples]
    assert len(shown) == 428

    def program(task: RefineTask, one: object) -> str:
        assert isinstance(one, Example)
        source = rows[task.task_id]["prompt"] + rows[task.task_id]["canonical_solution"]
        call = f"lambda a, k: {task.entry_point}(*a, **k)"
        return f"{whole_source(task, source)}\n\ndef g():\n    return ({call})(*{one.arguments})\n"

    judging = judging_in_evaluation(config.judge)
    ran = list(judging.execute([(program(task, one), None) for task, one in shown]))
    assert all(execution.answer is not None for execution in ran)
    wrong = {
        task.task_id
        for (task, one), execution in zip(shown, ran, strict=True)
        if isinstance(one, Example) and execution.answer != one.answer
    }
    assert wrong == {"HumanEval/47", "HumanEval/116", "HumanEval/148"}
