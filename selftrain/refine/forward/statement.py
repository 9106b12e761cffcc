"""How a task is shown to a model: its statement, and the public examples that it lacks."""

import re
from collections.abc import Sequence

from judge import Case
from puzzles.syntax import SyntaxFailure, parse
from selftrain.prompts import solve_head
from selftrain.refine.tasks.calls import written
from selftrain.refine.tasks.task import Example, Kind, RefineTask, is_method

MOST_EXAMPLES = 5
"""Public examples that a prompt shows, where the statement does not show them itself."""
MOST_CHARACTERS = 2_000
"""Of all that are shown."""
MOST_CHARACTERS_OF_ONE = 500


def statement_of(task: RefineTask) -> str:
    """Show what the task asks for, as a message does: code in a fence, prose as it is.

    Public examples that it does not show itself come after it.
    """
    statement = task.statement.strip("\n")
    if task.puzzle is not None:
        head = solve_head(task.puzzle)
        return f"{fenced(statement)}\nWrite `{head}`: it returns an answer that f accepts."
    return "\n\n".join(part for part in (_fenced_code(statement), _shown_examples(task)) if part)


def fenced(text: str, language: str = "python") -> str:
    """Put a text between fences that are longer than any run of backticks in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _fenced_code(statement: str) -> str:
    try:
        parse(statement)
    except SyntaxFailure:
        return statement
    return fenced(statement)


def _shown_examples(task: RefineTask) -> str:
    """Show examples in a message: calls in one fence, cases in a fence for each text."""
    texts = _example_texts(task)
    if not texts:
        return ""
    if task.kind is Kind.function:
        return f"{_title(task, len(texts))}\n" + fenced("\n".join(text for text, _ in texts))
    cases = (f"Input:\n{fenced(one, '')}\nOutput:\n{fenced(two, '')}" for one, two in texts)
    return "\n".join([_title(task, len(texts)), *cases])


def example_comments(task: RefineTask) -> str:
    """Show examples in a file that breaks off, as comments."""
    texts = _example_texts(task)
    if not texts:
        return ""
    lines = [_title(task, len(texts))]
    for one, two in texts:
        is_call = task.kind is Kind.function
        lines += [one] if is_call else ["Input:", *one.split("\n"), "Output:", *two.split("\n")]
    return comments_of(lines)


def comments_of(lines: Sequence[str]) -> str:
    """Write lines as comments."""
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _title(task: RefineTask, num_shown: int) -> str:
    total = len(task.examples)
    return "Examples:" if num_shown == total else f"Examples, {num_shown} of {total}:"


def _example_texts(task: RefineTask) -> list[tuple[str, str]]:
    """Write the first examples that the statement does not show, each in two texts.

    A call is `largest([1, -2, 3]) == 3` and nothing; a case its input and its output. One that is
    too long is left out, and so are all after the last that there is room for.
    """
    found: list[tuple[str, str]] = []
    room = MOST_CHARACTERS
    for example in () if task.shows_examples else task.examples:
        texts = _example_text(task, example)
        length = sum(map(len, texts))
        if length > MOST_CHARACTERS_OF_ONE:
            continue
        room -= length
        if room < 0 or len(found) == MOST_EXAMPLES:
            break
        found.append(texts)
    return found


def _example_text(task: RefineTask, example: Example | Case) -> tuple[str, str]:
    if isinstance(example, Case):
        return example.input.rstrip("\n"), example.output.rstrip("\n")
    return f"{call_of(task, example.arguments)} == {example.answer}", ""


def call_of(task: RefineTask, arguments: str) -> str:
    """Write a call of the task's function with the literal of (positional, keyword arguments)."""
    name = f"Solution().{task.entry_point}" if is_method(task) else task.entry_point
    try:
        return f"{name}({written(arguments)})"
    except ValueError:  # So long that nothing is to be gained by reading it.
        return f"{name}(*{arguments})"
