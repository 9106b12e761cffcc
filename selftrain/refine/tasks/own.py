"""What a row of one's own may say of its task besides the task: labels, limits, public examples,
and invariants (invariants.py).

The same keys are read of HumanEval's rows. Nothing is run.
"""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace

from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.invariants import arguments_of, invariants_of
from selftrain.refine.tasks.literals import as_tuple, canonical_value, elements
from selftrain.refine.tasks.task import Example, HiddenTests, Kind, RefineTask
from selftrain.verifier.tasks.task_rows import text_of

Built = tuple[RefineTask, HiddenTests]
OWN_KEYS = (
    *("category", "difficulty", "time_limit_seconds"),
    *("allowed_imports", "examples", "invariants"),
)
KEYS = (
    *("task_id", "prompt", "entry_point", "test", "canonical_solution"),
    *("statement", "cases", "public_cases"),
    *OWN_KEYS,
)
"""Other keys are ignored, as in every format, unless one looks like a slip of these."""


def with_own(make: Callable[[Row, str], Built]) -> Callable[[Row, str], Built]:
    """Let what makes a task of a row read what the row adds."""

    def make_with_own(row: Row, where: str) -> Built:
        refuse_slips(row, KEYS, where)
        task, hidden = make(row, where)
        return _extended(task, row, where), hidden

    return make_with_own


def refuse_slips(row: Row, keys: Sequence[str], where: str) -> None:
    """Raise UsageError where a key looks like a slip of one of these that the row lacks."""
    for key in row:
        close = difflib.get_close_matches(key, keys, n=1, cutoff=0.8)
        if close and key not in keys and close[0] not in row:
            raise UsageError(f"{where}: {key!r} is no key of a task. Did you mean {close[0]!r}?")


def _extended(task: RefineTask, row: Row, where: str) -> RefineTask:
    examples = row.get("examples")
    if examples is not None and task.kind is not Kind.function:
        raise UsageError(f"{where}: a program has no 'examples'. Give 'public_cases'.")
    return replace(
        task,
        source="tasks" if any(key in row for key in OWN_KEYS) else task.source,
        category=_label(row, "category", where),
        difficulty=_label(row, "difficulty", where),
        time_limit_seconds=_seconds(row, where),
        allowed_imports=_imports(row, where),
        examples=task.examples if examples is None else _examples(examples, where),
        invariants=invariants_of(row.get("invariants", []), task.kind, where),
    )


def _label(row: Row, key: str, where: str) -> str:
    return "" if row.get(key) in (None, "") else text_of(row, key, where, "a short name")


def _seconds(row: Row, where: str) -> float | None:
    value = row.get("time_limit_seconds")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e6:
        raise UsageError(
            f"{where}: time_limit_seconds is {value!r:.60}. Make it a number of seconds above 0."
        )
    return float(value)


def _imports(row: Row, where: str) -> tuple[str, ...] | None:
    value = row.get("allowed_imports")
    if value is None:
        return None
    if not isinstance(value, list) or not all(
        isinstance(name, str) and name.isidentifier() for name in value
    ):
        raise UsageError(
            f"{where}: allowed_imports is {value!r:.60}. Make it a list of names of modules."
        )
    return tuple(value)


def _examples(value: object, where: str) -> tuple[Example, ...]:
    """Read public calls: [arguments, answer], or a text with the literal of such a pair."""
    if not isinstance(value, list):
        raise UsageError(f"{where}: examples is {value!r:.60}. Write [[arguments, answer], ...].")
    return tuple(_example(one, f"{where}: examples[{i}]") for i, one in enumerate(value))


def _example(one: object, place: str) -> Example:
    try:
        if isinstance(one, str):
            pair = elements(one)
            arguments = elements(pair[0]) if pair is not None and len(pair) == 2 else None
            if pair is not None and arguments is not None:
                return Example(f"({as_tuple(arguments)}, {{}})", pair[1])
        elif isinstance(one, list) and len(one) == 2:
            arguments = arguments_of(one[0])
            if arguments is not None:
                return Example(f"({as_tuple(arguments)}, {{}})", canonical_value(one[1]))
    except ValueError as error:
        raise UsageError(f"{place} is no plain data ({error}).") from None
    raise UsageError(
        f"{place} is {one!r:.60}. Write [[argument, ...], answer], or as text a Python literal "
        "such as '([(1, 2)], {3})'."
    )
