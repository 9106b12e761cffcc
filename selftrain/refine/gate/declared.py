"""Invariants that a task's author declares: a predicate over answers, a bound on growth, or both.

A predicate is evaluated in an instance that never saw the candidate, over its answers alone, and
holds only where it gives True itself. One that cannot even be loaded there is no fault of a
candidate.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge import Execution
from selftrain.judge import Judging
from selftrain.refine.gate.checks import MOST_DETAIL, judged
from selftrain.refine.gate.evidence import Evidence, Status
from selftrain.refine.gate.growth import NO_KEYWORDS, Grown, failure_of, hidden_by
from selftrain.refine.gate.running import CallEnd, CallResult, Ran, Run, calls_of, with_room
from selftrain.refine.gate.words import said
from selftrain.refine.tasks.task import Invariant, Kind, RefineTask
from selftrain.refine.texts import one_line
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
    if holds is True or holds is False:
        return holds
    name = type(holds).__name__
    return (f"gave {{holds!r}}" if name in {plain} else f"gave a {{name}}")[:90] + ", not True"

def g():
    return [_holds(*pair) for pair in [{pairs}]]
"""
PLAIN = ("int", "float", "complex", "str", "bytes", "NoneType")
"""Types whose values say in a few letters what a predicate gave."""
CHUNK = 1_000_000
"""Characters of inputs and answers that one source holds, but for one pair that is longer."""
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
    def calls(self) -> list[tuple[str, CallResult]]:
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
    """Check each declared invariant, its predicate in fresh instances. Raises JudgeError."""
    found = [_before(one_asked) for one_asked in asked]
    open_ones = [
        place
        for place, one_asked in enumerate(asked)
        if found[place].status is not Status.failed
        and one_asked.calls
        and one_asked.invariant.predicate is not None
    ]
    told = _predicates([asked[place] for place in open_ones], judging)
    for place, one in zip(open_ones, told, strict=True):
        # What growth leaves open, a predicate that holds does not close.
        if one.status is not Status.held:
            found[place] = one
    return found


def _before(asked: Declared) -> Evidence:
    """Give what is found before the predicate is asked."""
    failure, growth = _failure(asked), asked.invariant.growth
    if failure is None and growth is not None and asked.grown is None:
        return _open(asked, "its `make` gives no input of some size, or one too long")
    if failure is None and growth and asked.grown and asked.stub:
        hides = hidden_by(growth, asked.grown, asked.stub)
        if hides:
            return _open(asked, hides)
    if asked.edges is None and asked.grown is None:
        return _open(asked, "")
    return judged(_name(asked), failure, asked.fuel)


def _name(asked: Declared) -> str:
    return f"declared:{asked.invariant.name}"


def _open(asked: Declared, why: str) -> Evidence:
    return Evidence(_name(asked), Status.not_evaluated, why, asked.fuel)


def _predicates(asked: Sequence[Declared], judging: Judging) -> list[Evidence]:
    """Ask each predicate of all calls; one that cannot be loaded without any is left open."""
    judging = replace(judging, limits=with_room(judging.limits))
    chunks = [
        (place, calls) for place, one_asked in enumerate(asked) for calls in _chunks(one_asked)
    ]
    executions = judging.execute([(_program(asked[place], calls), None) for place, calls in chunks])
    failures: dict[int, str] = {}
    unread: dict[int, None] = {}
    for (place, calls), execution in zip(chunks, executions, strict=True):
        failure = _broken(asked[place], calls, execution)
        if failure is not None and place not in failures:
            failures[place] = failure
            if execution.answer is None:
                unread[place] = None
    found = [
        judged(_name(one_asked), failures.get(place), one_asked.fuel)
        for place, one_asked in enumerate(asked)
    ]
    alone = judging.execute([(_program(asked[place], []), None) for place in unread])
    for place, execution in zip(unread, alone, strict=True):
        if execution.answer is None:
            found[place] = _open(asked[place], _ends(asked[place], execution))
    return found


def _chunks(asked: Declared) -> list[list[tuple[str, CallResult]]]:
    """Split calls so that a source which holds them is not too long to be read."""
    chunks: list[list[tuple[str, CallResult]]] = [[]]
    size = 0
    for given, told in asked.calls:
        length = len(given) + len(told.text)
        if chunks[-1] and size + length > CHUNK:
            chunks.append([])
            size = 0
        chunks[-1].append((given, told))
        size += length
    return chunks


def _failure(asked: Declared) -> str | None:
    """Say what is wrong before the predicate is asked."""
    if asked.edges is not None:
        for given, told in calls_of(*asked.edges):
            if told.how is not CallEnd.returned:
                return said(asked.task, given, told)
    growth = asked.invariant.growth
    if growth is None or asked.grown is None or asked.stub is None:
        return None
    return failure_of(growth, asked.grown, asked.stub)


def _program(asked: Declared, calls: Sequence[tuple[str, CallResult]]) -> str:
    pairs = []
    for given, told in calls:
        is_program = asked.task.kind is Kind.program
        inputs = repr(given) if is_program else given.removeprefix("(").removesuffix(NO_KEYWORDS)
        pairs.append(f"({inputs}, {told.text})")
    return HOLDS.format(predicate=asked.invariant.predicate, plain=PLAIN, pairs=", ".join(pairs))


def _broken(
    asked: Declared, calls: Sequence[tuple[str, CallResult]], execution: Execution
) -> str | None:
    """Name the first call whose answer breaks the predicate."""
    if execution.answer is None:
        return _ends(asked, execution)
    for (given, told), holds in zip(calls, ast.literal_eval(execution.answer), strict=True):
        if holds is not True:
            why = f" ({holds})" if holds else ""
            return f"{said(asked.task, given, told)}, which breaks {_predicate(asked)}{why}"
    return None


def _ends(asked: Declared, execution: Execution) -> str:
    return (f"the predicate {_predicate(asked)} ends in {execution.failure}: {execution.detail}")[
        :MOST_DETAIL
    ]


def _predicate(asked: Declared) -> str:
    return shown(one_line(asked.invariant.predicate or ""), SHOWN)
