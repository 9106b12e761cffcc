"""A task as it is refined: what models may see of it, and what the gate may check it by.

Its hidden tests are another record, which no model, gate or probe is given.
"""

from dataclasses import dataclass
from enum import StrEnum

from judge import Case, FunctionProblem, TextProblem
from puzzles import Puzzle


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
    """What kind of source it is from: puzzles, humaneval, livecodebench, tasks."""
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


def whole_source(task: RefineTask, source: str) -> str:
    """Give what is run of a candidate."""
    return task.preamble + source + task.postlude
