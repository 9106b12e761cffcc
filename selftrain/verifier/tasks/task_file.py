"""Files of tasks: a row a task, with its candidates.

    {"task_id": ..., "task": ..., "candidates": [{"program": ..., "sum_logprob": ..., "num_tokens":
    ..., "result": ..., "label": ..., "num_samples": ...}], "greedy": {a candidate}, "gold_program":
    ..., "gold_result": ..., "family": ..., "split": ...}

A row needs `task_id`, `task` and `candidates`, which may be empty; a candidate needs `program`.
What is unknown is null or absent. Not here: what each key may hold (task_rows.py), running and
labelling.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import combinations
from pathlib import Path

from puzzles import PuzzleError, puzzle_from_source
from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_objects
from selftrain.errors import UsageError
from selftrain.files import Format, Row
from selftrain.verifier.tasks.results import shown
from selftrain.verifier.tasks.task import Candidate, Task
from selftrain.verifier.tasks.task_rows import check_row

KEPT = ("candidates", "greedy", "gold_result", "family", "split")
"""Keys that mean in every format what they mean here; another format's rows may lack all."""


def read_tasks(path: Path, split: str | None = None) -> list[Task]:
    """Read the tasks of a file (`.gz` too), their candidates made distinct; raise UsageError.

    Of a file whose rows name a `split`, only the rows of this one, where one is asked for.
    """
    return [task for _, task in _read(path, split, lambda row, where: row)]


def read_as_tasks(
    path: Path, split: str | None, as_task: Callable[[Row, str], Row]
) -> list[tuple[Row, Task]]:
    """Read rows of another format, each with its task; the rest is as in read_tasks.

    `as_task` is given a row, and its file and line for messages, and gives the row of a task, which
    may lack `KEPT`.
    """
    return _read(path, split, partial(_with_kept, as_task))


def _with_kept(as_task: Callable[[Row, str], Row], row: Row, where: str) -> Row:
    kept = {key: row[key] for key in KEPT if key in row}
    return {"candidates": [], **kept, **as_task(row, where)}


def _read(
    path: Path, split: str | None, as_task: Callable[[Row, str], Row]
) -> list[tuple[Row, Task]]:
    found: list[tuple[Row, Task]] = []
    splits: list[str | None] = []
    line_of: dict[str, str] = {}
    try:
        for where, row in read_objects(path):
            task_row = as_task(row, where)
            check_row(task_row, where)
            _note(task_row["task_id"], where, line_of)
            splits.append(task_row.get("split"))
            if split is None or splits[-1] in (None, split):
                found.append((row, _distinct_task(task_from_row(task_row), where)))
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None
    if split is not None:
        _check_splits(path, split, splits)
    return found


def task_to_row(task: Task) -> Row:
    """Flatten a task: a row of a file of tasks."""
    return asdict(task)


def task_from_row(row: Row) -> Task:
    """Rebuild what `task_to_row` flattened, or a row that was checked."""
    greedy = row.get("greedy")
    return Task(
        row["task_id"],
        row["task"],
        tuple(_candidate(candidate) for candidate in row["candidates"]),
        greedy=_candidate(greedy) if greedy else None,
        gold_program=row.get("gold_program"),
        gold_result=row.get("gold_result"),
        family=row.get("family") or "",
    )


TASKS = Format("tasks", task_to_row, task_from_row)


def distinct(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Join candidates of equal text, in the order in which a text comes first.

    What is kept of them does not depend on their order: their samples are added up; the largest
    log-probability stays, with the fewest tokens that have it; and the result of one that is
    labelled, where there is one, the smallest as a text. Raises ValueError where labels of one text
    differ.
    """
    found: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        found.setdefault(candidate.program, []).append(candidate)
    return tuple(_joined(copies) for copies in found.values())


def refuse_overlap(splits: Mapping[str, Sequence[Task]]) -> None:
    """Raise UsageError where two splits share a task, by its task_id or by its text.

    Texts are equal whose white space alone differs; those of puzzles also where names, comments,
    docstrings and layout alone do.
    """
    keys = {name: [_text_key(task.task) for task in tasks] for name, tasks in splits.items()}
    for (name, tasks), (other, others) in combinations(splits.items(), 2):
        ids = {task.task_id for task in others}
        twins = dict(zip(keys[other], (task.task_id for task in others), strict=True))
        shared = [
            (task, key)
            for task, key in zip(tasks, keys[name], strict=True)
            if task.task_id in ids or key in twins
        ]
        if shared:
            first, key = shared[0]
            like = "" if first.task_id in ids else f" (the text of {twins[key]!r})"
            raise UsageError(
                f"{name} and {other} have {len(shared):,} tasks in common, such as "
                f"{first.task_id!r}{like}. Split by task, so that none is in both."
            )


def _text_key(text: str) -> str:
    """Give what two texts share that are one task in two spellings."""
    # Format characters are those without a width, such as U+200B and U+FEFF.
    seen = (c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c) != "Cf")
    plain = "".join(seen)
    try:
        return puzzle_from_source(plain, name="", any_answer=True).id
    except PuzzleError:
        return " ".join(plain.split())


def _candidate(row: Row) -> Candidate:
    sum_logprob = row.get("sum_logprob")
    return Candidate(
        row["program"],
        None if sum_logprob is None else float(sum_logprob),
        row.get("num_tokens"),
        row.get("result"),
        row.get("label"),
        row.get("num_samples", 1),
    )


def _distinct_task(task: Task, where: str) -> Task:
    try:
        return replace(task, candidates=distinct(task.candidates))
    except ValueError as error:
        raise UsageError(f"{where}, task {task.task_id!r}: {error}") from None


def _joined(copies: Sequence[Candidate]) -> Candidate:
    """Join the candidates of one text."""
    labels = {one.label for one in copies} - {None}
    if len(labels) > 1:
        raise ValueError(
            f"the program {shown(copies[0].program, 60)!r} is labelled both true and false. Give "
            "each text one label."
        )
    # Results may differ: how an error is told can depend on what was judged beside it.
    results = [(one.label is None, one.result) for one in copies if one.result is not None]
    return replace(
        max(copies, key=_likelihood),
        result=min(results)[1] if results else None,
        label=next(iter(labels), None),
        num_samples=sum(one.num_samples for one in copies),
    )


def _likelihood(one: Candidate) -> tuple[bool, float, float]:
    tokens = float("inf") if one.num_tokens is None else one.num_tokens
    return one.sum_logprob is not None, one.sum_logprob or 0.0, -tokens


def _note(task_id: str, where: str, line_of: dict[str, str]) -> None:
    """Note where a task stands; raise UsageError where it stands twice."""
    if task_id in line_of:
        raise UsageError(
            f"{where}: the task_id {task_id!r} is already on {line_of[task_id]}. Give each task "
            "its own."
        )
    line_of[task_id] = where.rpartition(", ")[2]


def _check_splits(path: Path, split: str, splits: Sequence[str | None]) -> None:
    """Raise UsageError where the rows do not say which of them are of the split."""
    counts = Counter(splits)
    if counts[None] == len(splits) or (counts[split] and not counts[None]):
        return
    if counts[None]:
        raise UsageError(
            f"{path}: {counts[None]:,} rows name no 'split', and others do. Name it in each, or "
            "in none."
        )
    there = ", ".join(f"{name!r} ({count:,})" for name, count in counts.most_common(5))
    raise UsageError(f"{path}: no row is of the split {split!r}. There is {there}.")
