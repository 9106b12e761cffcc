"""Runs candidates on given inputs, in the judge, and reads what they gave.

The instance that runs a candidate holds nothing but the inputs: neither what is right nor what a
predicate says. So whatever a candidate does to what calls it, it can only give other answers. All
calls of one run share an instance, as in a test; where one of them ends it, each has its own.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from judge import Execution, Limits, Outcome
from selftrain.judge import Judging
from selftrain.refine.gate.evidence import SECOND
from selftrain.refine.tasks.task import Kind, RefineTask, whole_source
from selftrain.verifier.tasks.from_functions import RUN_CALLS

MOST_FUEL = 2**63 - 1
ROOM = 16_000_000
"""Bytes of a source with inputs and answers in it; what gives them is shorter."""
TELL_MORE = """
import io
import marshal
import sys

_tell, _call_all, _read, _written = _told, g, marshal.loads, marshal.dumps
_touched = set()

class _Stream(io.StringIO):
    buffer = io.BytesIO()

    def __getattribute__(self, name):
        _touched.add("it")
        return super().__getattribute__(name)

    def write(self, text):
        return len(text)

def _described(error):
    try:
        return f"{type(error).__name__}: {error}"[:150]
    except BaseException:
        return "an exception"

def _told(function, positional, keywords):
    raised = []
    def call(*positional, **keywords):
        try:
            return function(*positional, **keywords)
        except Exception as error:
            raised.append(_described(error))
            raise
    kind, value = _tell(call, positional, keywords)
    if raised:
        return "raised", raised[0]
    if value is None and kind != "NoneType":
        return "not_plain", kind
    # A later call may change what an earlier one returned.
    return "returned", _read(_written(value))

def g(given):
    global _given
    _given, sys.stdin, sys.stdout = given, _Stream(), _Stream()
    return _call_all(), bool(_touched)
"""
"""Stands after RUN_CALLS: what a call raised in its own words, and whether a stream was used."""


class How(StrEnum):
    """How a call ended."""

    returned = "returned"
    raised = "raised"
    not_plain = "not_plain"
    """It returned what is no plain data."""
    ended = "ended"
    """It ended the instance: out of instructions or memory, an exit, a source that cannot load."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one call gave."""

    how: How
    text: str
    """The answer's literal, `NameError: ...`, the answer's type, or why the instance ended."""
    outcome: Outcome | None = None
    """Where the instance ended."""


@dataclass(frozen=True, slots=True)
class Run:
    """A candidate, and what it is to be run on."""

    task: RefineTask
    source: str
    inputs: tuple[str, ...]
    """Literals of (positional, keywords), or standard inputs of a program."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run gave."""

    told: tuple[Told, ...]
    """An element an input, up to the first that ended the instance."""
    fuel: int = 0
    """Instructions of all calls."""
    touched: bool = False
    """Whether a function used standard input or output."""

    @property
    def last(self) -> Told | None:
        """Give what ended the run before its end, if anything did."""
        return self.told[-1] if self.told and self.told[-1].how is How.ended else None


def run_all(runs: Sequence[Run], judging: Judging, *, second: bool = False) -> list[Ran]:
    """Run candidates on their inputs, in order; with `second`, in the second guest.

    Raises `judge.JudgeError`.
    """
    together = [run for run in runs if run.task.kind is not Kind.program]
    found = dict(zip(together, _execute(together, judging, second), strict=True))
    apart = [run for run in runs if _is_apart(run, found.get(run))]
    found |= dict(zip(apart, _one_by_one(apart, judging, second), strict=True))
    return [found[run] for run in runs]


def _is_apart(run: Run, ran: Ran | None) -> bool:
    """Tell whether each input is to have an instance of its own."""
    return ran is None or (ran.last is not None and len(run.inputs) > 1)


def _one_by_one(runs: Sequence[Run], judging: Judging, second: bool) -> list[Ran]:
    found = [Ran(()) for _ in runs]
    for number in range(max((len(run.inputs) for run in runs), default=0)):
        going = [
            place
            for place, run in enumerate(runs)
            if number < len(run.inputs) and found[place].last is None
        ]
        single = [replace(runs[place], inputs=(runs[place].inputs[number],)) for place in going]
        for place, ran in zip(going, _execute(single, judging, second), strict=True):
            before = found[place]
            found[place] = Ran(
                before.told + ran.told, before.fuel + ran.fuel, before.touched or ran.touched
            )
    return found


def limits_of(task: RefineTask, limits: Limits) -> Limits:
    """Give the limits of one run: the task's own time, where it has one, and room for inputs."""
    seconds, limits = task.time_limit_seconds, with_room(limits)
    if seconds is None:
        return limits
    return replace(limits, fuel=min(MOST_FUEL, max(1, round(seconds * SECOND))))


def with_room(limits: Limits) -> Limits:
    """Let a source be longer than a candidate may be, for inputs and answers stand in it too."""
    return replace(limits, source_bytes=max(limits.source_bytes, ROOM))


def _execute(runs: Sequence[Run], judging: Judging, second: bool) -> list[Ran]:
    """Run each in one instance; a program has one input at most."""
    groups: dict[tuple[Limits, bool], list[int]] = {}
    for place, run in enumerate(runs):
        key = limits_of(run.task, judging.limits), run.task.kind is Kind.program
        groups.setdefault(key, []).append(place)
    found = [Ran(()) for _ in runs]
    for (limits, is_program), places in groups.items():
        how = replace(judging, limits=limits)
        some = [runs[place] for place in places]
        executions = (
            how.execute_texts([(_whole(run), run.inputs[0]) for run in some], second=second)
            if is_program
            else how.execute([_calling(run) for run in some], second=second)
        )
        for place, execution in zip(places, executions, strict=True):
            found[place] = _read(execution, is_program)
    return found


def _whole(run: Run) -> str:
    return whole_source(run.task, run.source)


def _calling(run: Run) -> tuple[str, str]:
    """Write a g that calls the candidate, and an f whose inputs are the arguments of all calls.

    The judge reads f first, in an instance that holds nothing else, so that what this takes is the
    same for all candidates.
    """
    calls = ", ".join(f"lambda: _given[{number}]" for number in range(len(run.inputs)))
    source = RUN_CALLS.format(source=_whole(run), name=run.task.entry_point, calls=calls)
    return source + TELL_MORE, f"def f(_, given=[{', '.join(run.inputs)}]): pass"


def _read(execution: Execution, is_program: bool) -> Ran:
    if execution.answer is None:
        assert execution.failure is not None
        return Ran((_ended(execution.failure, execution.detail),), execution.fuel)
    if is_program:
        return Ran((Told(How.returned, execution.answer),), execution.fuel)
    try:
        return _read_calls(execution)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        # A candidate that replaced what calls it.
        return Ran((_ended(Outcome.crashed, "replied what cannot be read"),), execution.fuel)


def _read_calls(execution: Execution) -> Ran:
    """Read what TELL_MORE wrote; raise ValueError where it is something else."""
    assert execution.answer is not None
    written = execution.answer.encode()
    match ast.parse(execution.answer, mode="eval").body:
        case ast.Tuple([ast.List(calls), ast.Constant(bool(touched))]):
            told = tuple(_told(call, written) for call in calls)
            return Ran(told, execution.fuel, touched)
        case ast.Tuple([ast.Tuple([ast.Constant(str(tag)), ast.Constant(str(detail))]), _]):
            # What RUN_CALLS says of a source that has nothing to call.
            return Ran((_ended(Outcome(tag), detail),), execution.fuel)
    raise ValueError("no calls")


def _told(call: ast.expr, written: bytes) -> Told:
    match call:
        case ast.Tuple([ast.Constant("returned"), value]):
            # The judge wrote it in its canonical form, so that a part of it is in that form too.
            return Told(How.returned, written[value.col_offset : value.end_col_offset].decode())
        case ast.Tuple([ast.Constant(str(how)), ast.Constant(str(text))]):
            return Told(How(how), " ".join(text.split()))
    raise ValueError("no call")


def _ended(outcome: Outcome, detail: str) -> Told:
    if outcome is Outcome.wrong_type:
        return Told(How.not_plain, detail)
    is_plain = outcome is Outcome.raised and detail
    return Told(How.ended, detail if is_plain else f"{outcome}: {detail}".rstrip(": "), outcome)


def calls_of(run: Run, ran: Ran) -> list[tuple[str, Told]]:
    """Pair inputs with what they gave, up to what ended the run."""
    return list(zip(run.inputs, ran.told, strict=False))
