"""What a row of one's own may say of its task besides the task: labels, limits, public examples,
and invariants (invariants.py).

The same keys are read of HumanEval's rows, and HumanEval+'s. Nothing is run.
"""

from collections.abc import Callable
from dataclasses import replace

from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.invariants import arguments_of, invariants_of
from selftrain.refine.tasks.literals import as_tuple, canonical_value, elements
from selftrain.refine.tasks.slips import check_call, check_modules, refuse_slips
from selftrain.refine.tasks.task import Built, Example, Kind, RefineTask
from selftrain.verifier.tasks.task_rows import text_of

OWN_KEYS = (
    *("category", "difficulty", "time_limit_seconds"),
    *("allowed_imports", "examples", "invariants"),
)
KEYS = {
    Kind.function: (
        *("task_id", "prompt", "entry_point", "test", "base_input", "plus_input", "atol"),
        *OWN_KEYS,
    ),
    Kind.program: (
        *("task_id", "statement", "cases", "public_cases"),
        *(key for key in OWN_KEYS if key != "examples"),
    ),
}
"""What is read of a row of each kind."""
IGNORED = ("canonical_solution", "contract", "example_test")
"""Known keys of rows of HumanEval, HumanEval+ and HumanEval-X, which are no slips of these."""


def with_own(make: Callable[[Row, str], Built], kind: Kind) -> Callable[[Row, str], Built]:
    """Let what makes a task of a row of such a kind read what the row adds."""

    def make_with_own(row: Row, where: str) -> Built:
        # First, since both words are near each other's.
        for key, right, other in (
            ("examples", "public_cases", Kind.program),
            ("public_cases", "examples", Kind.function),
        ):
            if kind is other and row.get(key) is not None:
                raise UsageError(f"{where}: a {kind} has no {key!r}. Give {right!r}.")
        refuse_slips(row, KEYS[kind], (*IGNORED, "examples", "public_cases"), where)
        task, hidden = make(row, where)
        return _extended(task, row, where), hidden

    return make_with_own


def _extended(task: RefineTask, row: Row, where: str) -> RefineTask:
    examples = task.examples
    if row.get("examples") is not None:
        examples = _examples(row["examples"], task, where)
    return replace(
        task,
        category=_label(row, "category", where),
        difficulty=_label(row, "difficulty", where),
        time_limit_seconds=_seconds(row, where),
        allowed_imports=_imports(row, where),
        examples=examples,
        shows_examples=task.shows_examples and set(examples) <= set(task.examples),
        invariants=invariants_of(row.get("invariants", []), task, where),
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
    check_modules(value, "allowed_imports", where)
    return tuple(value)


def _examples(value: object, task: RefineTask, where: str) -> tuple[Example, ...]:
    """Read public calls: [arguments, answer], or a text with the literal of such a pair."""
    if not isinstance(value, list):
        raise UsageError(f"{where}: examples is {value!r:.60}. Write [[arguments, answer], ...].")
    return tuple(_example(one, task, f"{where}: examples[{i}]") for i, one in enumerate(value))


def _example(one: object, task: RefineTask, place: str) -> Example:
    arguments: tuple[str, ...] | None = None
    answer = ""
    try:
        if isinstance(one, str):
            pair = elements(one)
            if pair is not None and len(pair) == 2:
                arguments, answer = elements(pair[0]), pair[1]
        elif isinstance(one, list) and len(one) == 2:
            arguments, answer = arguments_of(one[0]), canonical_value(one[1])
    except ValueError as error:
        raise UsageError(f"{place} is no plain data ({error}).") from None
    if arguments is None:
        raise UsageError(
            f"{place} is {one!r:.60}. Write [[argument, ...], answer], or as text a Python literal "
            "such as '([(1, 2)], {3})'."
        )
    check_call(task, len(arguments), place)
    return Example(f"({as_tuple(arguments)}, {{}})", answer)
