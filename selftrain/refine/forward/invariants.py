"""What a candidate must keep, as models are told: a line each, by name. The gate checks more."""

from selftrain.refine.forward.statement import call_of
from selftrain.refine.tasks.task import Invariant, Kind, RefineTask, is_method
from selftrain.refine.texts import one_line

MOST_CHARACTERS_OF_INPUT = 60
"""Of a declared edge input that is named beside its predicate."""


def invariant_names(task: RefineTask) -> tuple[str, ...]:
    """Name the invariants for which a message asks a proof; a missing one can so be counted."""
    return tuple(invariants(task))


def invariants(task: RefineTask) -> dict[str, str]:
    """Say in a line each what a candidate must keep, by name: the gate's own, then the task's.

    Those of the gate that nobody would argue for (it parses, hidden tests are out of reach) are
    left out.
    """
    said = {"signature": f"defines {entry_of(task)}"} if task.kind is not Kind.program else {}
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


def entry_of(task: RefineTask) -> str:
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
        repr(one) if task.kind is Kind.program else call_of(task, f"({one}, {{}})")
        for one in invariant.inputs[:2]
    ]
    short = [f"`{text}`" for text in named if len(text) <= MOST_CHARACTERS_OF_INPUT]
    return f", also for {' and '.join(short)}" if short else ""
