"""Rows of functions and questions with a value of the wrong kind: a sentence, or a task that runs."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from judge import Limits
from selftrain.config import JudgeConfig
from selftrain.errors import UsageError
from selftrain.judge import Judging
from selftrain.verifier.tasks import from_functions, from_questions

LIMITS = Limits(fuel=1_000_000_000)
JUDGING = Judging(LIMITS, "strict", False, JudgeConfig(num_workers=1))
VALUES: list[Any] = [True, -1, 1.5, [], [1], [""], ["\ud800"], {}, {"a": 1}, None, "", "\0"]
VALUES += ["\ud800", "'\ud800'", "a b", "1"]
SHARED = {"task_id": "a", "candidates": [], "greedy": None, "gold_result": None}
SHARED |= {"family": None, "split": None}
ROWS: dict[str, dict[str, Any]] = {
    "humaneval": {
        **SHARED,
        "prompt": "def half(x):\n",
        "entry_point": "half",
        "test": "def check(candidate):\n    assert candidate(6) == 3\n",
        "canonical_solution": "    return x / 2\n",
    },
    "mbpp": {
        **SHARED,
        "text": "Write a function to add.",
        "prompt": "Write a function to add.",
        "code": "def add(a, b):\n    return a + b\n",
        "test_list": ["assert add(1, 2) == 3"],
        "test_setup_code": "",
        "test_imports": [],
    },
    "python": {
        **SHARED,
        "question": "How many?",
        "language": "python",
        "context": None,
        "database": None,
        "gold_program": "answer = 1",
    },
    "sql": {
        **SHARED,
        "question": "How many?",
        "language": "sql",
        "context": None,
        "database": "towns.sqlite",
        "gold_program": "SELECT 1",
    },
}


def run(kind: Any, path: Path) -> int:
    """Read and run a file; give the number of its tasks."""
    if kind in ("humaneval", "mbpp"):
        functions = from_functions.read_functions_as_tasks(path, kind)
        return len(from_functions.execute(functions, JUDGING))
    return len(from_questions.execute(from_questions.read_questions(path), JUDGING))


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind in ROWS for key in ROWS[kind]])
def test_a_value_of_the_wrong_kind_is_refused_or_makes_a_task(
    tmp_path: Path, kind: str, key: str
) -> None:
    with sqlite3.connect(tmp_path / "towns.sqlite") as connection:
        connection.execute("CREATE TABLE town (name TEXT)")
    connection.close()
    path = tmp_path / "rows.jsonl"
    for value in VALUES:
        path.write_text(json.dumps({**ROWS[kind], key: value}) + "\n")
        try:
            assert run(kind, path) == 1
        except UsageError as error:
            assert "rows.jsonl, line 1" in str(error), (key, value)
