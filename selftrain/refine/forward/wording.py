"""What the forward model is asked: for a first candidate, and for a revision by a critic's edits.

Two ways. `message` is one message to a model that follows instructions. `continue` is a Python file
that breaks off where the candidate goes on, for a model that only goes on with text. How replies
are read is in reading.py; nothing here knows a hidden test.
"""

from collections.abc import Sequence
from typing import Literal

from puzzles import Puzzle
from puzzles.rename import rename_global
from puzzles.syntax import SyntaxFailure
from selftrain.prompts import solve_head, solve_prompt
from selftrain.refine.critic.review import Edit
from selftrain.refine.forward.invariants import entry_of, invariants
from selftrain.refine.forward.statement import comments_of, example_comments, fenced, statement_of
from selftrain.refine.tasks.task import Kind, RefineTask
from selftrain.refine.texts import one_line

Wording = Literal["message", "continue"]
MAIN_HEAD = "import sys\n\n\ndef main():"
"""How a program begins in a text to go on with: samplers end such a text where a line begins in
column 0, so a program has to be the body of one definition."""
MAIN_CALL = "\n\n\nmain()\n"
"""What such a program ends with; it is no part of what a model writes."""


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


def edit_line(edit: Edit) -> str:
    """Give an edit in one line, whatever line ends it has: `location: action`."""
    location, action = one_line(edit.location), one_line(edit.action)
    return f"{location}: {action}" if location and action else location or action


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
    return "the whole program" if task.kind is Kind.program else f"the whole of {entry_of(task)}"


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
    shown = "" if statement in task.head else comments_of(statement.splitlines())
    return [shown, example_comments(task)]


def _file(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)
