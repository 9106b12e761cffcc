"""Invariants that a task's author declares: a predicate over answers, a bound on growth, or both.

A predicate is evaluated in an instance that never saw the candidate, over its answers alone, and
holds only where it gives True itself.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge import Execution
from selftrain.judge import Judging
from selftrain.refine.gate.checks import judged
from selftrain.refine.gate.evidence import Evidence, Status
from selftrain.refine.gate.growth import NO_KEYWORDS, Grown, failure_of
from selftrain.refine.gate.running import How, Ran, Run, Told, calls_of, with_room
from selftrain.refine.gate.words import said
from selftrain.refine.tasks.task import Invariant, Kind, RefineTask
from selftrain.verifier.tasks.results import shown

HOLDS = """
def _predicate(inputs, answer):
    return (
{predicate}
    )

def _holds(inputs, answer):
    try:
        holds = _predicate(inputs, answer)
    except Exception as error:
        return f"raised {{type(error).__name__}}: {{error}}"[:100]
    return holds is True

def g():
    return [_holds(*pair) for pair in [{pairs}]]
"""
SHOWN = 100
"""Characters of a predicate in a detail."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One invariant of one candidate, and what was run for it."""

    task: RefineTask
    invariant: Invariant
    edges: tuple[Run, Ran] | None
    """On the edge inputs."""
    grown: Grown | None
    """At the sizes of its growth; None where that cannot be measured."""
    stub: Grown | None
    """What the stub took at the same sizes."""

    @property
    def calls(self) -> list[tuple[str, Told]]:
        """Give all inputs that the predicate is asked about, and what they gave."""
        edges = [] if self.edges is None else calls_of(*self.edges)
        return [*edges, *(self.grown.calls if self.grown else [])]

    @property
    def fuel(self) -> int:
        """Count the instructions of all runs."""
        edges = 0 if self.edges is None else self.edges[1].fuel
        return edges + sum(ran.fuel for ran in (self.grown.ran if self.grown else ()))


def edge_inputs(task: RefineTask, invariant: Invariant) -> tuple[str, ...]:
    """Give what a candidate is run on for a predicate."""
    if invariant.predicate is None:
        return ()
    if task.kind is Kind.program:
        return invariant.inputs
    return tuple(f"({positional}{NO_KEYWORDS}" for positional in invariant.inputs)


def declared_evidence(asked: Sequence[Declared], judging: Judging) -> list[Evidence]:
    """Check each declared invariant, its predicate in a fresh instance. Raises JudgeError."""
    found = [_failure(one_asked) for one_asked in asked]
    open_ones = [
        place
        for place, one_asked in enumerate(asked)
        if found[place] is None and one_asked.calls and one_asked.invariant.predicate is not None
    ]
    programs = [(_program(asked[place]), None) for place in open_ones]
    executions = replace(judging, limits=with_room(judging.limits)).execute(programs)
    for place, execution in zip(open_ones, executions, strict=True):
        found[place] = _broken(asked[place], execution)
    return [_evidence(*pair) for pair in zip(asked, found, strict=True)]


def _evidence(asked: Declared, failure: str | None) -> Evidence:
    name = f"declared:{asked.invariant.name}"
    if failure is None and asked.invariant.growth is not None and asked.grown is None:
        return Evidence(
            name, Status.not_evaluated, "its `make` gives no input of some size, or one too long"
        )
    if asked.edges is None and asked.grown is None:
        return Evidence(name, Status.not_evaluated)
    return judged(name, failure, asked.fuel)


def _failure(asked: Declared) -> str | None:
    """Say what is wrong before the predicate is asked."""
    if asked.edges is not None:
        for given, told in calls_of(*asked.edges):
            if told.how is not How.returned:
                return said(asked.task, given, told)
    growth = asked.invariant.growth
    if growth is None or asked.grown is None or asked.stub is None:
        return None
    return failure_of(growth, asked.grown, asked.stub)


def _program(asked: Declared) -> str:
    pairs = []
    for given, told in asked.calls:
        is_program = asked.task.kind is Kind.program
        inputs = repr(given) if is_program else given.removeprefix("(").removesuffix(NO_KEYWORDS)
        pairs.append(f"({inputs}, {told.text})")
    return HOLDS.format(predicate=asked.invariant.predicate, pairs=", ".join(pairs))


def _broken(asked: Declared, execution: Execution) -> str | None:
    """Name the first call whose answer breaks the predicate."""
    predicate = shown(" ".join((asked.invariant.predicate or "").split()), SHOWN)
    if execution.answer is None:
        return f"the predicate {predicate} ends in {execution.failure}: {execution.detail}"
    for (given, told), holds in zip(asked.calls, ast.literal_eval(execution.answer), strict=True):
        if holds is not True:
            raised = f" ({holds})" if holds else ""
            return f"{said(asked.task, given, told)}, which breaks {predicate}{raised}"
    return None
