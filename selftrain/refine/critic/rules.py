"""The critic that is a program: it says by rules which kind of edit a candidate needs.

It reads what the gate found, the candidate's syntax and, of a puzzle, f's. It runs nothing, asks no
model, and knows neither a solution nor hidden tests. Its answer is the raw text of a reply, which
is read as a model's is.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from puzzles.syntax import SyntaxFailure, parse
from selftrain.refine.critic.clues import find_clues, order_clue, unknown_names
from selftrain.refine.critic.review import Edit, Field, distinct
from selftrain.refine.gate.evidence import Evidence, GateReport
from selftrain.refine.tasks.task import Kind, RefineTask
from selftrain.refine.texts import one_line

MOST_EDITS = 2
"""Edits of a field; a small model follows few at a time."""
LONGEST = 160
"""Characters of an edit's action."""

_LINE = re.compile(r"line (\d+)")
_RAISED = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Exit|Interrupt)\b|\bStopIteration\b")
_SLOW = re.compile(r"\b(?:timed_out|out_of_memory|instructions|grows|exponent)\b|timed out")
_TYPE = re.compile(r"^wrong_type|not of type|plain data")
_EXHAUSTED = ("timed_out", "out_of_memory", "too_large")
_MENDED = (
    ("was never closed", "close the bracket"),
    ("unterminated string", "close the string"),
    ("unmatched", "drop the bracket that opens nowhere"),
    ("does not match", "close the bracket by its own kind"),
    ("expected an indented block", "indent the body"),
    ("unindent", "indent all lines alike"),
    ("unexpected indent", "indent all lines alike"),
    ("expected ':'", "put a colon"),
    ("leading zeros", "drop leading zeros"),
)
_FIELDS = {
    "parses": Field.completeness,
    "signature": Field.format,
    "imports": Field.format,
    "streams": Field.format,
    "plain_answer": Field.format,
    "hidden": Field.format,
    "resources": Field.efficiency,
}
"""Where what fails belongs, if its detail says no more; all else is correctness."""
_MISFITS = (
    (r"multiply sequence by non-int", "change * to +"),
    (r"operand type\(s\) for (\S+): 'str' and 'str'", r"change \1 to +"),
    (r"operand type\(s\) for (\S+): '\w+' and 'list'|for (\S+): 'list' and '\w+'", "use the items"),
    (r"can only concatenate (?:list|str)", "change + to *"),
    (r"slice indices must be integers", "slice by an int"),
    (r"for \+: 'int' and 'str'", "change sum to len"),
    (r"'int' object is not iterable", "go through a list"),
    (r"object of type '\w+' has no len", "change len to int"),
    (r"unexpected keyword argument '(\w+)'", r"drop \1="),
    (r"takes no keyword arguments", "change list to sorted"),
)
"""What a TypeError says, and what to do where f tells nothing."""


@dataclass(frozen=True, slots=True)
class _Said:
    """One edit and the field that it belongs to."""

    field: Field
    edit: Edit


def rules_review(task: RefineTask, source: str, report: GateReport | None) -> str:
    """Review a candidate by rules; give the JSON text of a reply.

    A candidate that the gate accepts passes. Without a report, what syntax alone tells is said.
    """
    if report is not None and report.accepted:
        return _reply([])
    if not source.strip():
        whole = Edit(task.entry_point, "write the whole program")
        return _reply([_Said(Field.completeness, whole)])
    tree_failure = _unparsed(source)
    if tree_failure is not None:
        return _reply([tree_failure])
    if report is None:
        return _reply([*_unknown(task, source), *_of_puzzle(task, source)])
    said = [one for found in report.failures for one in _of_failure(task, source, found)]
    if not said:
        # Nothing failed, but nothing was evaluated that tells.
        said = [_Said(Field.correctness, Edit("", "show that the answer is right"))]
    return _reply(said)


def _reply(said: list[_Said]) -> str:
    """Write the four fields, each with its first edits."""
    fields = {}
    for field in Field:
        edits = distinct([one.edit for one in said if one.field is field])[:MOST_EDITS]
        fields[field.value] = {
            "verdict": "fail" if edits else "pass",
            "edits": [
                {"location": one.location, "action": one_line(one.action)[:LONGEST]}
                for one in edits
            ],
        }
    return json.dumps(fields)


def _unparsed(source: str) -> _Said | None:
    """Say what keeps a source from being read, if anything does."""
    try:
        parse(source)
    except SyntaxFailure as failure:
        text = str(failure)
        action = next((what for sign, what in _MENDED if sign in text), None)
        line = _LINE.search(text)
        location = line[0] if line else ""
        return _Said(Field.completeness, Edit(location, action or f"mend the syntax: {text}"))
    return None


def _of_failure(task: RefineTask, source: str, found: Evidence) -> Iterator[_Said]:
    """Say what to do about one failed invariant."""
    detail = found.detail
    if task.kind is Kind.puzzle and found.invariant in ("plain_answer", "resources"):
        return  # `solved` says it again.
    if found.invariant == "parses":
        # The source reads, so there was none: the reply held no program.
        yield _Said(Field.completeness, Edit(task.entry_point, "write the whole program"))
    elif found.invariant == "solved" and task.kind is Kind.puzzle:
        yield from _of_unsolved(task, source, detail)
    elif "NameError" in detail and (unknown := list(_unknown(task, source))):
        yield from unknown
    else:
        yield _Said(_field_of(found), Edit(_place(task, detail), _action(task, found)))


def _field_of(found: Evidence) -> Field:
    if found.invariant in _FIELDS:
        return _FIELDS[found.invariant]
    if _SLOW.search(found.detail):
        return Field.efficiency
    return Field.correctness


def _place(task: RefineTask, detail: str) -> str:
    line = _LINE.search(detail)
    return line[0] if line else task.entry_point


def _action(task: RefineTask, found: Evidence) -> str:
    """Say in words what an invariant asks for, with what the gate found."""
    detail = found.detail
    if found.invariant == "signature" and task.parameters is not None:
        return f"define {task.entry_point}({task.parameters}): {detail}"
    if found.invariant == "imports":
        return f"drop the import: {detail}"
    if found.invariant == "streams":
        return f"return the answer, neither read nor print: {detail}"
    if found.invariant == "plain_answer":
        return f"return plain built-in types: {detail}"
    if found.invariant == "same_answer":
        return f"give the same answer every time, whatever the order of a set: {detail}"
    if found.invariant == "hidden":
        return "answer by computing, not by reading tests"
    if _SLOW.search(detail):
        return f"use fewer steps: {detail}"
    if found.invariant.startswith("declared:"):
        return f"keep {found.invariant.removeprefix('declared:')}: {detail}"
    if _RAISED.search(detail):
        return f"mend what raises: {detail}"
    return f"handle this case: {detail}"


def _of_unsolved(task: RefineTask, source: str, detail: str) -> Iterator[_Said]:
    """Say what to do about a g that its f rejects, or that gives no answer."""
    here = _last_line(source)
    if detail.startswith(_EXHAUSTED):
        yield _Said(Field.efficiency, Edit(here, "use fewer steps"))
        return
    rejected = detail.startswith("f rejects")
    told = [*_unknown(task, source), *_of_puzzle(task, source)]
    yield from told
    if not rejected and _TYPE.search(detail) and task.puzzle is not None:
        yield _Said(Field.format, Edit(here, f"return {task.puzzle.answer_type}"))
    elif not told and task.puzzle is not None:
        clue = order_clue(source, task.puzzle.answer_type) if rejected else None
        action = clue.action if clue else None if rejected else _misfit(detail)
        yield _Said(Field.correctness, Edit(here, action or "write another expression"))


def _misfit(detail: str) -> str | None:
    """Say what a TypeError asks for, as far as its words tell."""
    for sign, action in _MISFITS:
        if match := re.search(sign, detail):
            return match.expand(action)
    return None


def _unknown(task: RefineTask, source: str) -> Iterator[_Said]:
    """Say which names are read that nothing binds."""
    before = task.preamble + task.postlude
    for line, name in unknown_names(source):
        if not re.search(rf"\b{re.escape(name)}\b", before):
            yield _Said(Field.correctness, Edit(f"line {line}", f"{name} is not defined"))


def _of_puzzle(task: RefineTask, source: str) -> Iterator[_Said]:
    """Say what of g's syntax doesn't undo f."""
    if task.puzzle is None:
        return
    for clue in find_clues(task.puzzle, source):
        field = Field.completeness if clue.missing else Field.correctness
        yield _Said(field, Edit(f"line {clue.line}", clue.action))


def _last_line(source: str) -> str:
    return f"line {source.rstrip().count(chr(10)) + 1}"
