"""Tell by its keys what kind of task a row of a file is.

What each kind's keys may hold is for the file of its name: functions.py, evalplus.py,
livecodebench.py, programs.py; what rows of one's own may add, for own.py.
"""

from collections.abc import Callable

from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.evalplus import evalplus_row
from selftrain.refine.tasks.functions import function_row
from selftrain.refine.tasks.livecodebench import livecodebench_row
from selftrain.refine.tasks.own import with_own
from selftrain.refine.tasks.programs import program_row
from selftrain.refine.tasks.task import Built, Kind

Maker = Callable[[Row, str], Built]
"""Makes a task of a row; the text is its file and line. Raises UsageError."""


def maker_of(row: Row, where: str) -> Maker:
    """Give what makes a task of such a row; raise UsageError where it is of no kind."""
    if "question_id" in row and ("public_test_cases" in row or "private_test_cases" in row):
        return livecodebench_row
    if "prompt" in row and "entry_point" in row:
        if "base_input" in row or "plus_input" in row:
            return with_own(evalplus_row, Kind.function)
        if "test" in row:
            return with_own(function_row, Kind.function)
    if "statement" in row and "cases" in row:
        return with_own(program_row, Kind.program)
    found = ", ".join(row) or "nothing"
    raise UsageError(
        f"{where}: a row with the keys {found:.200} is no task. A function has 'task_id', "
        "'prompt', 'entry_point' and 'test' (or 'base_input' and 'plus_input'), a program "
        "'task_id', 'statement' and 'cases', a row of LiveCodeBench 'question_id' and "
        "'public_test_cases'."
    )


def id_of(row: Row, where: str) -> str:
    """Give a row's task_id, of LiveCodeBench its question_id; raise UsageError without one."""
    key = "task_id" if "task_id" in row or "question_id" not in row else "question_id"
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        found = f"{key} is {value!r:.60}" if key in row else f"there is no {key!r}"
        raise UsageError(f"{where}: {found}. Give the task a name of its own, as text.")
    return value
