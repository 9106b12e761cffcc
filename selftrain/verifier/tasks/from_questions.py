"""Questions with a right answer, and maybe no right program: weak supervision, as in LEVER.

    {"task_id": ..., "question": ..., "language": "python" | "sql", "database": a path from the
    file's folder (sql alone), "context": a table, a schema, a passage, "gold_result": a literal,
    "gold_program": ..., "candidates": [...], "greedy": ..., "family": ..., "split": ...}

Of these `task_id`, `question` and `language` are needed. A verifier reads the question, then the
context; where a question of SQL has none, that is the schema of its database. A Python program
defines `answer()` or assigns `answer`; a query gives its table, a list of tuples.

A program is right where its result is the gold result. Tables are equal where they have the same
rows, cell by cell, 18 equal to 18.0, whatever the order of the rows, unless the gold program ends
in an ORDER BY of the whole; columns keep their order. The gold result of a query may be short: 18
is `[(18,)]`, and `["a", "b"]` two rows of a column. Not here: what a query may do (sql.py).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.humaneval import cut_function
from selftrain.judge import Judging
from selftrain.verifier.tasks.candidates import Wording, everyone, with_candidates, with_gold
from selftrain.verifier.tasks.execute import run_all
from selftrain.verifier.tasks.results import same_value
from selftrain.verifier.tasks.sql import run_sql, schema_of
from selftrain.verifier.tasks.sql_guard import SqlLimits
from selftrain.verifier.tasks.tables import as_table, same_table
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.task_file import read_as_tasks
from selftrain.verifier.tasks.task_rows import text_of

HEAD = {"python": "def answer():\n", "sql": "SELECT"}
"""What a program that is sampled begins with; the last of its prompt."""
COMMENT = {"python": "# ", "sql": "-- "}
SQL_TOKEN = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*\]
    | --[^\n]* | /\*.*?\*/ | \w+ | \s+ | .""",
    re.DOTALL | re.VERBOSE,
)
SQL_LIMITS = SqlLimits()
RUN_ANSWER = """

def g(_before=globals().get("g")):
    if _before is not None:
        globals()["g"] = _before
    return answer() if callable(answer) else answer
"""
"""Makes a g of a program, which may have a g of its own and call it."""

Results = dict[tuple[Path | None, str], str]
"""By database, None for Python, and program."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and where its programs run."""

    task: Task
    language: Literal["python", "sql"]
    database: Path | None
    """What a query reads; None for Python."""


def read_questions(path: Path, split: str | None = None) -> list[Question]:
    """Read the questions of a file (`.gz` too), or of its split, candidates made distinct.

    Raises UsageError, also where a database is missing: before any program runs.
    """
    schema = cache(schema_of)

    def as_task(row: Row, where: str) -> Row:
        question = text_of(row, "question", where, "what is asked")
        database = _database(row, where, path)
        context = row.get("context")
        try:
            # Read in any case, since that finds a database that is none.
            tables = schema(database) if database else None
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        gold = row.get("gold_result")
        return {
            "task_id": row.get("task_id"),
            "task": "\n".join(filter(None, (question, context or tables))),
            "gold_program": row.get("gold_program"),
            "gold_result": _gold_table(gold, where) if database and gold is not None else gold,
        }

    return [
        Question(task, row["language"], _database(row, str(path), path))
        for row, task in read_as_tasks(path, split, as_task)
    ]


def _database(row: Row, where: str, path: Path) -> Path | None:
    """Give the database of a row of SQL; check its language, and its context."""
    language = row.get("language")
    if not isinstance(language, str) or language not in HEAD:
        raise UsageError(f"{where}: language is {language!r}. Make it 'python' or 'sql'.")
    if not isinstance(row.get("context"), str | None):
        raise UsageError(f"{where}: context is no text. Write the table or passage as text.")
    if language == "sql":
        return path.parent / text_of(row, "database", where, "the SQLite file of the question")
    if row.get("database") is not None:
        raise UsageError(f"{where}: only a question of SQL has a 'database'. Take it out.")
    return None


def _gold_table(gold: object, where: str) -> str:
    table = as_table(gold) if isinstance(gold, str) else None
    if table is None:
        raise UsageError(
            f"{where}: gold_result is {gold!r:.60}, which is no table. Write the literal of a list "
            "of tuples, of a list of values, or of one value, as text."
        )
    return table


def wording(question: Question) -> Wording:
    """Word question and context as comments, then a program's head.

    A Python program ends where the function does, a query at its `;`, or before a line that is
    blank or begins in column 0, whichever comes first outside quotes and comments.
    """
    head = HEAD[question.language]
    lines = question.task.task.splitlines()
    comments = "".join(f"{COMMENT[question.language]}{line}".rstrip() + "\n" for line in lines)
    prompt = comments + head

    def cut(text: str) -> str | None:
        if question.language == "python":
            body = cut_function(prompt, text)
        else:
            body = "".join(_until_end(head + text)).removeprefix(head)
        return (head + body).rstrip() if body.strip() else None

    return Wording(prompt, cut, head)


def _until_end(query: str) -> Iterator[str]:
    for match in SQL_TOKEN.finditer(query):
        token = match[0]
        if token == ";" or (token.isspace() and (token[-1] == "\n" or token.count("\n") > 1)):
            return
        yield token


def is_ordered(query: str) -> bool:
    """Tell whether a query orders its rows: ORDER BY outside brackets, quotes and comments."""
    depth = 0
    words: list[str] = []
    for match in SQL_TOKEN.finditer(query):
        token = match[0].lower()
        depth += (token == "(") - (token == ")")
        if depth == 0 and not token.isspace() and not token.startswith(("--", "/*")):
            words.append(token)
    return any(pair == ("order", "by") for pair in pairwise(words))


def execute(
    questions: Sequence[Question], judging: Judging, limits: SqlLimits = SQL_LIMITS
) -> list[Task]:
    """Fill results and labels of candidates that are None, and gold results from gold programs.

    A label stays None where no gold result is known. A gold program that fails, or that returns
    another than the gold result, is none. What one program does, the others do not notice. Raises
    `judge.JudgeError`, and UsageError where a database is gone.
    """
    results = _run(questions, judging, limits)

    def finish(question: Question) -> Task:
        ordered = is_ordered(question.task.gold_program or "")

        def fill(task: Task, one: Candidate) -> Candidate:
            result = one.result
            if result is None:
                result = results[question.database, one.program]
            label = one.label
            if label is None and task.gold_result is not None:
                label = _is_gold(result, task.gold_result, question, ordered)
            return replace(one, result=result, label=label)

        return with_candidates(_with_gold(question, results, ordered), fill)

    return [finish(question) for question in questions]


def _with_gold(question: Question, results: Results, ordered: bool) -> Task:
    """Take the gold result from the gold program, and hold the program to it."""
    task = question.task
    if task.gold_program is None:
        return task
    found = results[question.database, task.gold_program]
    wanted = task.gold_result or found
    return with_gold(task, found, is_right=_is_gold(found, wanted, question, ordered))


def _run(questions: Sequence[Question], judging: Judging, limits: SqlLimits) -> Results:
    """Run every program whose result is not known, once; its key is where and what."""
    wanted: dict[tuple[Path | None, str], None] = {}
    for question in questions:
        task = question.task
        programs = [one.program for one in everyone(task) if one.result is None]
        if task.gold_program is not None:
            programs.append(task.gold_program)
        wanted.update(dict.fromkeys((question.database, program) for program in programs))
    python = [key for key in wanted if key[0] is None]
    ran = run_all([(program + RUN_ANSWER, None) for _, program in python], judging)
    results = dict(zip(python, ran, strict=True))
    for database, query in wanted:
        if database is not None:
            results[database, query] = run_sql(database, query, limits)
    return results


def _is_gold(result: str, gold: str, question: Question, ordered: bool) -> bool:
    if question.database is None:
        return same_value(result, gold)
    return same_table(result, gold, ordered=ordered)
