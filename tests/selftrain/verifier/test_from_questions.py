"""Questions: what is read of them, how their programs run, and what makes a result right."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from selftrain.config import JudgeConfig
from selftrain.errors import UsageError
from selftrain.judge import Judging, judging_in_evaluation
from selftrain.verifier.tasks.from_questions import (
    Question,
    execute,
    is_ordered,
    read_questions,
    wording,
)
from selftrain.verifier.tasks.task import Candidate, Task

JUDGING = judging_in_evaluation(JudgeConfig(num_workers=1))
SCHEMA = "CREATE TABLE town (name TEXT, people INT)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "towns.sqlite") as connection:
        connection.execute(SCHEMA)
        rows = [("Rom", 3), ("Ulm", 1), ("Bonn", 1)]
        connection.executemany("INSERT INTO town VALUES (?, ?)", rows)
    connection.close()
    return tmp_path


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def python(**more: Any) -> dict[str, Any]:
    return {"task_id": "a", "question": "How many?", "language": "python", **more}


def sql(**more: Any) -> dict[str, Any]:
    row = {"task_id": "b", "question": "Which towns?", "language": "sql"}
    return {**row, "database": "towns.sqlite", **more}


def programs(*texts: str) -> list[dict[str, Any]]:
    return [{"program": text} for text in texts]


def ran(folder: Path, *rows: dict[str, Any], judging: Judging = JUDGING) -> list[Task]:
    return execute(read_questions(write(folder, *rows)), judging)


def results(task: Task) -> list[str | None]:
    return [one.result for one in task.candidates]


def labels(task: Task) -> list[bool | None]:
    return [one.label for one in task.candidates]


def test_a_verifier_reads_question_and_context_or_the_schema(folder: Path) -> None:
    rows = python(context="There are 3."), python(task_id="c"), sql(), sql(task_id="d", context="t")
    texts = [question.task.task for question in read_questions(write(folder, *rows))]
    assert texts == [
        "How many?\nThere are 3.",
        "How many?",
        f"Which towns?\n{SCHEMA}",
        "Which towns?\nt",
    ]


def test_python_defines_or_assigns_the_answer(folder: Path) -> None:
    texts = (
        "def answer():\n    return 6 * 7",
        "answer = 42.0",
        "x = 2\nanswer = [x]",
        "def g(x):\n    return 21 * x\ndef answer():\n    return g(2)",
        "from __future__ import annotations\nanswer = 7",
    )
    (task,) = ran(folder, python(gold_result="42", candidates=programs(*texts)))
    assert results(task) == ["42", "42.0", "[2]", "42", "7"]
    assert labels(task) == [True, True, False, True, False]


def test_each_way_to_fail_is_an_error_of_its_own_and_of_no_other(folder: Path) -> None:
    texts = (
        "answer = 1",
        "while True: pass",
        "answer = 'x' * 10 ** 10",
        "raise SystemExit",
        "answer = (",
        "answer = object()",
        "x = 1",
        "import os\nanswer = os.listdir()",
        "def answer(): return 1 / 0",
    )
    quick = replace(JUDGING, limits=replace(JUDGING.limits, fuel=2_000_000_000))
    (task,) = ran(folder, python(gold_result="1", candidates=programs(*texts)), judging=quick)
    found = [result or "" for result in results(task)]
    kinds = ["timed_out", "out_of_memory", "raised: SystemExit", "syntax_error", "wrong_type"]
    kinds += ["raised: NameError", "forbidden", "raised: ZeroDivisionError"]
    assert found[0] == "1"
    assert all(
        result.startswith(f"ERROR: {kind}") for result, kind in zip(found[1:], kinds, strict=True)
    )
    assert labels(task) == [True] + [False] * 8


def test_a_query_is_right_whatever_the_order_of_its_rows_unless_gold_has_one(folder: Path) -> None:
    texts = (
        "SELECT name FROM town ORDER BY name",
        "SELECT name FROM town ORDER BY name DESC",
        "SELECT name FROM town WHERE people < 3",
        "SELECT people, name FROM town",
        "SELECT size FROM town",
        "DROP TABLE town",
    )
    gold = "['Bonn', 'Rom', 'Ulm']"
    bare = sql(gold_result=gold, candidates=programs(*texts))
    ordered = {**bare, "task_id": "c", "gold_program": "SELECT name FROM town ORDER BY name"}
    loose = {
        **bare,
        "task_id": "d",
        "gold_program": "SELECT name FROM (SELECT * FROM town ORDER BY 1)",
    }
    tasks = ran(folder, bare, ordered, loose)
    assert labels(tasks[0]) == [True, True, False, False, False, False]
    assert labels(tasks[1]) == [True, False, False, False, False, False]
    assert labels(tasks[2]) == labels(tasks[0])
    assert results(tasks[0])[2] == "[('Ulm',), ('Bonn',)]"
    assert all((result or "").startswith("ERROR: ") for result in results(tasks[0])[4:])


def test_a_gold_program_gives_the_gold_result_where_there_is_none(folder: Path) -> None:
    given = sql(gold_program="SELECT max(people) FROM town", candidates=programs("SELECT 3"))
    wrong = python(gold_program="answer = 1 / 0", candidates=programs("answer = 1"))
    nothing = python(task_id="c", candidates=programs("answer = 1"))
    tasks = ran(folder, given, wrong, nothing)
    assert [task.gold_result for task in tasks] == ["[(3,)]", None, None]
    assert [labels(task) for task in tasks] == [[True], [None], [None]]


def test_a_gold_program_that_fails_or_returns_another_result_is_none(folder: Path) -> None:
    golds = ("answer = 1 / 0", "answer = 7", "answer = 8.0")
    rows = [python(task_id=gold, gold_program=gold, gold_result="8") for gold in golds]
    tasks = ran(folder, *rows, sql(gold_program="SELECT nobody FROM town"))
    assert [task.gold_program for task in tasks] == [None, None, "answer = 8.0", None]
    assert [task.gold_result for task in tasks] == ["8", "8", "8", None]


def test_changing_the_gold_result_changes_labels_and_nothing_else(folder: Path) -> None:
    texts = ("answer = 1", "answer = 2", "answer = 1 / 0", "answer = '1'")
    one = ran(folder, python(gold_result="1", candidates=programs(*texts)))[0]
    two = ran(folder, python(gold_result="2", candidates=programs(*texts)))[0]
    assert labels(one) == [True, False, False, False]
    assert labels(two) == [False, True, False, False]
    assert json.dumps([one.task, results(one)]) == json.dumps([two.task, results(two)])


def test_what_is_known_of_a_candidate_stays(folder: Path) -> None:
    known = [{"program": "answer = 1", "result": "5", "label": True, "sum_logprob": -2.5}]
    row = python(gold_result="1", candidates=known, greedy={"program": "answer = 1"})
    (task,) = ran(folder, row)
    assert task.candidates == (Candidate("answer = 1", -2.5, None, "5", True),)
    assert task.greedy == Candidate("answer = 1", None, None, "1", True)


def question(language: Any) -> Question:
    return Question(Task("a", "Which?\n\nCREATE TABLE t", ()), language, None)


def test_prompts_hold_the_task_as_comments_and_begin_the_program() -> None:
    assert wording(question("python")).prompt == "# Which?\n#\n# CREATE TABLE t\ndef answer():\n"
    assert wording(question("sql")).prompt == "-- Which?\n--\n-- CREATE TABLE t\nSELECT"


@pytest.mark.parametrize(
    ("language", "text", "program"),
    [
        ("python", "    return 1\n\n\ndef other", "def answer():\n    return 1"),
        ("python", "    x = 1\n\n    return x\n# next", "def answer():\n    x = 1\n\n    return x\n# next"),
        ("python", "\n\nprint(1)", None),
        ("sql", " a FROM t; SELECT b", "SELECT a FROM t"),
        ("sql", " ';' FROM t -- ;\n  WHERE a;", "SELECT ';' FROM t -- ;\n  WHERE a"),
        ("sql", " a\n  FROM t\n\n  WHERE b", "SELECT a\n  FROM t"),
        ("sql", " a FROM t\n-- Which?", "SELECT a FROM t"),
        ("sql", " a FROM t WHERE b = 'x\n\ny'", "SELECT a FROM t WHERE b = 'x\n\ny'"),
        ("sql", " \n-- Which?", None),
        ("sql", "", None),
    ],
)  # fmt: skip
def test_a_completion_is_cut_where_the_program_ends(
    language: str, text: str, program: str | None
) -> None:
    assert wording(question(language)).cut(text) == program


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("select a from t order\n by a limit 1", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a)", False),
        ("SELECT rank() OVER (ORDER BY a) FROM t", False),
        ("SELECT 'ORDER BY' FROM t -- ORDER BY a", False),
    ],
)
def test_only_an_order_of_the_whole_counts(query: str, ordered: bool) -> None:
    assert is_ordered(query) is ordered


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**python(), "language": "perl"}, "language is 'perl'. Make it 'python' or 'sql'"),
        ({**python(), "database": "a"}, "only a question of SQL has a 'database'"),
        ({**python(), "context": 3}, "context is no text"),
        ({**python(), "question": " "}, "question is ' '. Give what is asked, as text"),
        ({**python(), "gold_result": "Ulm"}, "gold_result is 'Ulm'"),
        ({**python(), "candidates": [{"program": "a", "label": -1}]}, "candidates[0].label is -1"),
        ({**sql(), "database": None}, "database is None. Give the SQLite file"),
        ({**sql(), "database": "none.sqlite"}, "none.sqlite: this is no SQLite database"),
        ({**sql(), "gold_result": "{'a': 1}"}, "which is no table"),
    ],
)
def test_a_wrong_row_is_refused_in_a_sentence(folder: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as error:
        read_questions(write(folder, row))
    assert said in str(error.value) and "questions.jsonl, line 1" in str(error.value)


def test_rows_of_one_split_are_read_alone(folder: Path) -> None:
    path = write(folder, python(split="train"), python(task_id="c", split="test"))
    assert [q.task.task_id for q in read_questions(path, "test")] == ["c"]
    assert len(read_questions(path)) == 2
    with pytest.raises(UsageError, match=r"no row is of the split 'dev'\. There is 'train' \(1\)"):
        read_questions(path, "dev")
    with pytest.raises(UsageError, match="the task_id 'a' is already on line 1"):
        read_questions(write(folder, python(), python()))
