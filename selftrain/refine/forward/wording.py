"""What the forward model is asked: for a first candidate, and for a revision by a critic's edits.

Two ways. `message` is one message to a model that follows instructions. `continue` is a Python file
that breaks off where the candidate goes on, for a model that only goes on with text. How replies
are read is in reading.py; nothing here knows a hidden test.
"""

import re
from collections.abc import Sequence
from typing import Literal

from judge import Case
from puzzles import Puzzle
from puzzles.rename import rename_global
from puzzles.syntax import SyntaxFailure, parse
from selftrain.prompts import solve_head, solve_prompt
from selftrain.refine.critic.review import Edit
from selftrain.refine.tasks.calls import written
from selftrain.refine.tasks.task import Example, Invariant, Kind, RefineTask, is_method
from selftrain.refine.texts import one_line

Wording = Literal["message", "continue"]

MAIN_HEAD = "import sys\n\n\ndef main():"
"""How a program begins in a text to go on with: samplers end such a text where a line begins in
column 0, so a program has to be the body of one definition."""
MAIN_CALL = "\n\n\nmain()\n"
"""What such a program ends with; it is no part of what a model writes."""
MOST_EXAMPLES = 5
"""Public examples that a prompt shows, where the statement does not show them itself."""
MOST_CHARACTERS = 2_000
"""Of all that are shown."""
MOST_CHARACTERS_OF_ONE = 500
MOST_CHARACTERS_OF_INPUT = 60
"""Of a declared edge input that is named beside its predicate."""


def first_prompt(task: RefineTask, wording: Wording, few_shot: Sequence[Puzzle] = ()) -> str:
    """Ask for a first candidate. Solved puzzles are shown before a puzzle only.

    In `continue` a puzzle's is `solve_prompt`, and HumanEval's its own prompt, to the character.
    """
    if wording == "message":
        return _message([*_task_parts(task, few_shot), _program_asked_for(task)], task)
    if task.puzzle is not None:
        return solve_prompt(task.puzzle, few_shot)
    return _file([*_context(task), head_of(task)])


def revision_prompt(
    task: RefineTask,
    source: str | None,
    edits: Sequence[Edit],
    wording: Wording,
    few_shot: Sequence[Puzzle] = (),
) -> str:
    """Ask for the next candidate: what the present one is, and the edits, numbered in order.

    Without a present one (None or blank) the program is left out, and a message says so.
    """
    present = (source or "").strip("\n")
    lines = [f"{number}. {line}" for number, line in enumerate(map(edit_line, edits), start=1)]
    if wording == "message":
        parts = _task_parts(task, few_shot)
        parts.append(f"The program so far:\n{fenced(present)}" if present else _NO_PROGRAM)
        if lines:
            parts.append("Make these edits, in this order:\n" + "\n".join(lines))
        return _message([*parts, _program_asked_for(task)], task)
    comments = "\n".join(f"# {line}" for line in lines)
    if task.puzzle is not None:
        return _puzzle_file(task.puzzle, present, comments, few_shot)
    return _file([*_context(task), present, comments, head_of(task)])


def head_of(task: RefineTask, few_shot: Sequence[Puzzle] = ()) -> str:
    """Give what a candidate begins with where a model goes on with text: the prompt ends in it.

    With solved puzzles before it a puzzle's g has a number, as in `solve_prompt`.
    """
    if task.puzzle is not None:
        return solve_head(task.puzzle, len(few_shot) + 1 if few_shot else None)
    if task.head:
        return task.head
    if task.kind is Kind.program:
        return MAIN_HEAD
    # The model names the parameters itself where the task leaves them open.
    open_end = "" if task.parameters is None else f"{task.parameters}):"
    return f"def {task.entry_point}({open_end}"


def invariant_names(task: RefineTask) -> tuple[str, ...]:
    """Name the invariants for which a message asks a proof; a missing one can so be counted."""
    return tuple(invariants(task))


def invariants(task: RefineTask) -> dict[str, str]:
    """Say in a line each what a candidate must keep, by name: the gate's own, then the task's.

    Those of the gate that nobody would argue for (it parses, hidden tests are out of reach) are
    left out.
    """
    said = {"signature": f"defines {_entry(task)}"} if task.kind is not Kind.program else {}
    said["imports"] = _imports(task)
    if task.kind is Kind.program:
        said["streams"] = "reads standard input and writes only the answer to standard output"
    else:
        said["streams"] = "reads no input and prints nothing"
    if task.puzzle is not None:
        said["solved"] = "f(g()) is True" + (
            ", for other inputs too" if task.puzzle.more_inputs else ""
        )
    elif task.examples:
        said["examples"] = "gives the right answer on the task's examples"
    if task.time_limit_seconds is not None:
        said["resources"] = f"ends within {task.time_limit_seconds:g} seconds"
    for declared in task.invariants:
        said.setdefault(declared.name, _declared(declared, task))
    return said


def statement_of(task: RefineTask) -> str:
    """Show what the task asks for, as a message does: code in a fence, prose as it is.

    Public examples that it does not show itself come after it.
    """
    statement = task.statement.strip("\n")
    if task.puzzle is not None:
        head = solve_head(task.puzzle)
        return f"{fenced(statement)}\nWrite `{head}`: it returns an answer that f accepts."
    return "\n\n".join(part for part in (_fenced_code(statement), _shown_examples(task)) if part)


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


def _example_comments(task: RefineTask) -> str:
    """Show examples in a file that breaks off, as comments."""
    texts = _example_texts(task)
    if not texts:
        return ""
    lines = [_title(task, len(texts))]
    for one, two in texts:
        is_call = task.kind is Kind.function
        lines += [one] if is_call else ["Input:", *one.split("\n"), "Output:", *two.split("\n")]
    return _comments(lines)


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
    return f"{_call(task, example.arguments)} == {example.answer}", ""


def _call(task: RefineTask, arguments: str) -> str:
    """Write a call of the task's function with the literal of (positional, keyword arguments)."""
    name = f"Solution().{task.entry_point}" if is_method(task) else task.entry_point
    try:
        return f"{name}({written(arguments)})"
    except ValueError:  # So long that nothing is to be gained by reading it.
        return f"{name}(*{arguments})"


def edit_line(edit: Edit) -> str:
    """Give an edit in one line, whatever line ends it has: `location: action`."""
    location, action = one_line(edit.location), one_line(edit.action)
    return f"{location}: {action}" if location and action else location or action


def fenced(text: str, language: str = "python") -> str:
    """Put a text between fences that are longer than any run of backticks in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


_NO_PROGRAM = "There is no program so far: the last reply held none."


def _message(parts: Sequence[str], task: RefineTask) -> str:
    """Join a message, and end it with what to answer."""
    said = invariants(task)
    kept = "\n".join(f"- {name}: {line}" for name, line in said.items())
    proofs = "\n".join(f"Proof ({name}): ..." for name in said)
    return "\n\n".join(
        [
            *parts[:-1],
            f"It must keep these invariants:\n{kept}",
            f"Answer with one ```python block that holds {parts[-1]}. After the block, say in a "
            f"line each why the invariants hold:\n{proofs}",
        ]
    )


def _task_parts(task: RefineTask, few_shot: Sequence[Puzzle]) -> list[str]:
    parts = []
    if task.puzzle is not None and few_shot:
        shown = "\n\n\n".join(f"{one.f}\n\n\n{one.solutions[0]}" for one in few_shot)
        parts.append(f"Solved puzzles:\n{fenced(shown)}")
    what = {
        Kind.puzzle: "Solve this puzzle in Python.",
        Kind.function: "Write this function in Python.",
        Kind.program: "Write a Python program for this task.",
    }
    return [*parts, f"{what[task.kind]}\n\n{statement_of(task)}"]


def _program_asked_for(task: RefineTask) -> str:
    return "the whole program" if task.kind is Kind.program else f"the whole of {_entry(task)}"


def _entry(task: RefineTask) -> str:
    """Name what a candidate defines."""
    if is_method(task):
        return f"class Solution with its method `{task.entry_point}`"
    return f"`{task.entry_point}({'...' if task.parameters is None else task.parameters})`"


def _imports(task: RefineTask) -> str:
    if task.allowed_imports is None:
        return "imports only plain standard modules, such as math, re, itertools, collections"
    if not task.allowed_imports:
        return "imports nothing"
    return f"imports nothing but {', '.join(task.allowed_imports)}"


def _declared(invariant: Invariant, task: RefineTask) -> str:
    said = []
    if invariant.predicate is not None:
        where = (
            "inputs is the standard input, answer the standard output"
            if task.kind is Kind.program
            else "inputs is the tuple of arguments, answer what is returned"
        )
        said.append(f"`{one_line(invariant.predicate)}` is True ({where}){_named(invariant, task)}")
    if invariant.growth is not None:
        growth = invariant.growth
        said.append(
            f"time grows at most as n ** {growth.max_exponent:g}, on inputs "
            f"`{one_line(growth.make)}`"
        )
    return "; ".join(said) or "as the task says"


def _named(invariant: Invariant, task: RefineTask) -> str:
    """Name the first two edge inputs, those that are short."""
    named = [
        repr(one) if task.kind is Kind.program else _call(task, f"({one}, {{}})")
        for one in invariant.inputs[:2]
    ]
    short = [f"`{text}`" for text in named if len(text) <= MOST_CHARACTERS_OF_INPUT]
    return f", also for {' and '.join(short)}" if short else ""


def _puzzle_file(puzzle: Puzzle, present: str, comments: str, few_shot: Sequence[Puzzle]) -> str:
    """Put the wrong g and the edits between f and the head that `solve_prompt` ends in."""
    number = len(few_shot) + 1 if few_shot else None
    head = solve_head(puzzle, number)
    before = solve_prompt(puzzle, few_shot).removesuffix(head).rstrip("\n")
    return _file([before, _numbered(present, number) if number else present, comments, head])


def _numbered(g: str, number: int) -> str:
    try:
        return rename_global(g, {"f": f"f{number}", "g": f"g{number}"})
    except SyntaxFailure:
        # It does not parse, or a local variable has that name; calls by the old name then stay.
        return g.replace("def g(", f"def g{number}(", 1)


def _context(task: RefineTask) -> list[str]:
    """Give statement and examples as comments, where the head does not hold them already."""
    statement = task.statement.strip()
    shown = "" if statement in task.head else _comments(statement.splitlines())
    return [shown, _example_comments(task)]


def _comments(lines: Sequence[str]) -> str:
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _file(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)
