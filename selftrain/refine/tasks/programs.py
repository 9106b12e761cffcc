"""Programs of one's own as tasks: a statement, and cases of standard input and output.

Nothing is run.
"""

from judge import Case, TextProblem
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.refine.tasks.task import HiddenTests, Kind, RefineTask
from selftrain.verifier.tasks.task_rows import text_of


def program_row(row: Row, where: str) -> tuple[RefineTask, HiddenTests]:
    """Make the task of a row with `task_id`, `statement`, `cases` and maybe `public_cases`.

    All cases score, the public ones too. Raises UsageError.
    """
    statement = text_of(row, "statement", where, "what the program is to do")
    public = cases_of(row.get("public_cases", []), "public_cases", where)
    cases = cases_of(row["cases"], "cases", where)
    if not cases:
        raise UsageError(f"{where}: cases is empty. Give [[standard input, standard output], ...].")
    task = RefineTask(
        row["task_id"],
        Kind.program,
        statement,
        examples=public,
        shows_examples=all(is_shown(case, statement) for case in public),
    )
    hidden = tuple(dict.fromkeys((*public, *cases)))
    return task, HiddenTests(task.task_id, TextProblem(hidden))


def is_shown(case: Case, statement: str) -> bool:
    """Tell whether a statement shows a case: its input and its output, as lines of their own."""
    text = _lines(statement)
    return all(_lines(part) in text for part in (case.input, case.output))


def _lines(text: str) -> str:
    """Give the lines that are not blank, each between line ends."""
    return "\n" + "".join(f"{line.strip()}\n" for line in text.splitlines() if line.strip())


def cases_of(value: object, key: str, where: str) -> tuple[Case, ...]:
    """Read a list of [standard input, standard output]; raise UsageError."""
    if not isinstance(value, list) or not all(map(_is_pair, value)):
        raise UsageError(
            f"{where}: {key} is {value!r:.60}. Write [[standard input, standard output], ...]."
        )
    try:
        return tuple(Case(*pair) for pair in value)
    except ValueError as error:
        raise UsageError(f"{where}: {key} holds what cannot be sent ({error}).") from None


def _is_pair(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(isinstance(text, str) for text in value)
