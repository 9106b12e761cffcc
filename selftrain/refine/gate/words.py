"""Says in a line what a candidate was run on and what it gave. Nothing is run or compared here."""

import ast

from judge import Outcome
from puzzles.syntax import SyntaxFailure, parse, unparse
from selftrain.refine.gate.running import How, Told
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
        positional, keywords = _arguments(given)
        written = ", ".join([*map(unparse, positional), *keywords])
    except (SyntaxFailure, ValueError):
        written = "..."
    return f"{task.entry_point}({shown(written, SHOWN)})"


def _arguments(given: str) -> tuple[list[ast.expr], list[str]]:
    """Read the literal of (positional arguments, keyword arguments)."""
    match parse(given).body[0]:
        case ast.Expr(ast.Tuple([ast.Tuple(elts=positional), ast.Dict(keys=keys, values=values)])):
            words = [
                f"{key.value}={unparse(value)}"
                for key, value in zip(keys, values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
            return positional, words
    raise ValueError("no arguments")


def said(task: RefineTask, given: str, told: Told) -> str:
    """Say what a call gave: `f([1, 2]) returned 3`."""
    what = "wrote" if task.kind is Kind.program else "returned"
    return f"{called(task, given)} {_verb(told, what)} {shown(told.text, SHOWN)}"


def failed(told: Told) -> str:
    """Say how a call failed, such as `raised KeyError: 1`."""
    return f"{_verb(told, 'returned')} {shown(told.text, SHOWN)}"


def _verb(told: Told, returned: str) -> str:
    if told.how is How.ended and told.outcome is not Outcome.raised:
        return "failed,"
    return {
        How.returned: returned,
        How.not_plain: "returned what is no plain data:",
    }.get(told.how, "raised")
