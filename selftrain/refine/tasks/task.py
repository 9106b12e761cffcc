"""A task as it is refined: what models may see of it, and what the gate may check it by.

Its hidden tests are another record, which no model, gate or probe is given.
"""

import __future__

import ast
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from judge import Case, FunctionProblem, TextProblem
from puzzles import Puzzle
from puzzles.syntax import Positions, SyntaxFailure, is_docstring, parse, unix_lines, unparse


class Kind(StrEnum):
    """What a candidate is."""

    puzzle = "puzzle"
    """A `g` whose answer a puzzle's f accepts; f is public, so there is nothing hidden."""
    function = "function"
    """A function of a given name, tested by calls."""
    program = "program"
    """A whole program, tested by its standard output."""


@dataclass(frozen=True, slots=True)
class Example:
    """A public call of a function, and what is right."""

    arguments: str
    """Canonical literal of (positional arguments, keyword arguments)."""
    answer: str
    """Canonical literal."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A bound on how a program's time grows with the size of its input."""

    make: str
    """Python expression over the size `n`: the tuple of positional arguments, or the standard
    input of a program."""
    sizes: tuple[int, ...]
    """At least three, each larger than the one before."""
    max_exponent: float
    """Most k for which the instructions may grow as n to the k."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """What a task's author declares to hold of every right program."""

    name: str
    """Unique in its task."""
    inputs: tuple[str, ...] = ()
    """Edge inputs: canonical literals of positional arguments, a tuple each, or standard inputs."""
    predicate: str | None = None
    """Python expression over `inputs`, the tuple of arguments (or the standard input), and
    `answer` (or the standard output)."""
    growth: Growth | None = None


@dataclass(frozen=True, slots=True)
class RefineTask:
    """One task, without its hidden tests."""

    task_id: str
    """Unique among all tasks of a comparison."""
    kind: Kind
    statement: str
    """What both models read: f's source, HumanEval's prompt, a problem's text."""
    entry_point: str = ""
    """Name of the function; `g` for a puzzle, empty for a program."""
    parameters: str | None = None
    """The function's parameters as the task gives them, without parentheses; None where a
    candidate may name them as it likes."""
    head: str = ""
    """What a candidate begins with where a model goes on with text: HumanEval's prompt,
    `def g(a=17):`; empty where the task gives none."""
    preamble: str = ""
    """Source that stands before every candidate when it is run, such as a prompt's imports and
    helpers."""
    postlude: str = ""
    """Source that stands after it, such as a function that calls a method of `Solution`."""
    examples: tuple[Example | Case, ...] = ()
    """Public ones; `judge.Case` of a program."""
    shows_examples: bool = False
    """Whether the statement shows them all, so that no prompt repeats them."""
    invariants: tuple[Invariant, ...] = ()
    """Those that the task declares."""
    allowed_imports: tuple[str, ...] | None = None
    """Modules that a candidate may import; None leaves it to the configuration."""
    puzzle: Puzzle | None = None
    """The puzzle, where it is one."""
    category: str = ""
    difficulty: str = ""
    """As the source names them; empty where it does not."""
    source: str = ""
    """The entry of `refine.tasks` that it is from: puzzles, humaneval, or the file's name."""
    time_limit_seconds: float | None = None
    """Native seconds that one run may take, of 2e10 instructions each; None is the judge's
    limit."""
    canary: str = ""
    """A word that stands in the hidden tests and nowhere else, where they can hold one. No model is
    shown it."""


@dataclass(frozen=True, slots=True)
class HiddenTests:
    """What scores a final answer, once."""

    task_id: str
    problem: FunctionProblem | TextProblem | Puzzle
    """A function's prompt is its task's `preamble`; a completion of it is a candidate with its
    task's `postlude`."""


FUTURES = {*__future__.all_feature_names} - {"barry_as_FLUFL"}
"""Features that a candidate may ask for where a preamble stands before it. All change nothing of a
preamble and of a hidden test, which stands behind the same one; the other changes what `!=` is."""
Built = tuple[RefineTask, HiddenTests]
"""What is made of a row of a file."""


def is_method(task: RefineTask) -> bool:
    """Tell whether a candidate is LeetCode's class, whose method the postlude calls."""
    return re.search(r"\bSolution\b", task.postlude) is not None


def whole_source(task: RefineTask, source: str) -> str:
    """Give what is run of a candidate."""
    return "".join(head_and_rest(task, source))


def head_and_rest(task: RefineTask, source: str) -> tuple[str, str]:
    """Give what stands first where a candidate is run, the preamble, and what follows it.

    The candidate's imports from `__future__` stand before the preamble: after it they are no
    Python.
    """
    first = ""
    if task.preamble and "__future__" in source:
        first, source = _futures_first(source)
    return first + task.preamble, source + task.postlude


def _futures_first(source: str) -> tuple[str, str]:
    """Cut out the imports from `__future__` that a source begins with; every line stays."""
    source = unix_lines(source)
    try:
        body = parse(source).body
    except SyntaxFailure:
        return "", source
    start = 1 if body and is_docstring(body[0]) else 0
    futures = list(takewhile(_is_future, body[start:]))
    positions, first = Positions(source), ""
    for node in reversed(futures):
        begin, end = positions.span(node)
        first = f"{unparse(node)}\n{first}"
        source = source[:begin] + "pass" + "\n" * source[begin:end].count("\n") + source[end:]
    return first, source


def _is_future(node: ast.stmt) -> bool:
    """Tell whether a statement is an import of what changes nothing but the candidate."""
    return (
        isinstance(node, ast.ImportFrom)
        and (node.module, node.level) == ("__future__", 0)
        and all(alias.name in FUTURES for alias in node.names)
    )
