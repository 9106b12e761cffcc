"""Says in a line what a candidate was run on and what it gave. Nothing is run or compared here."""

from judge import Outcome
from selftrain.refine.gate.running import CallEnd, CallResult
from selftrain.refine.tasks.calls import written
from selftrain.refine.tasks.task import Kind, RefineTask
from selftrain.verifier.tasks.results import shown

SHOWN = 80
"""Characters of an input or of an answer in a detail."""


def called(task: RefineTask, given: str) -> str:
    """Write what a candidate was run on, for people: `f([1, 2])`, or a program's input."""
    if task.kind is Kind.program:
        return f"with the input {shown(given, SHOWN)!r} it"
    try:
        # A long one is no longer wanted whole.
        arguments = written(given)
    except ValueError:
        arguments = "..."
    return f"{task.entry_point}({shown(arguments, SHOWN)})"


def said(task: RefineTask, given: str, told: CallResult) -> str:
    """Say what a call gave: `f([1, 2]) returned 3`."""
    what = "wrote" if task.kind is Kind.program else "returned"
    return f"{called(task, given)} {_verb(told, what)} {shown(told.text, SHOWN)}"


def failed(told: CallResult) -> str:
    """Say how a call failed, such as `raised KeyError: 1`."""
    return f"{_verb(told, 'returned')} {shown(told.text, SHOWN)}"


def _verb(told: CallResult, returned: str) -> str:
    if told.how is CallEnd.ended and told.outcome is not Outcome.raised:
        return "failed,"
    return {
        CallEnd.returned: returned,
        CallEnd.not_plain: "returned what is no plain data:",
    }.get(told.how, "raised")
