"""Runs candidates on given inputs, in the judge, and reads what they gave.

The instance that runs a candidate holds nothing but the inputs: neither what is right nor what a
predicate says. So whatever a candidate does to what calls it, it can only give other answers: a
reply is read where it has a result for every call, in order, and as nothing else. All calls of one
run share an instance, as in a test; where one of them ends it, each has its own.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from judge import Execution, Limits, Outcome
from selftrain.judge import Judging
from selftrain.refine.gate.evidence import within
from selftrain.refine.tasks.task import Kind, RefineTask, whole_source
from selftrain.refine.texts import one_line
from selftrain.verifier.tasks.from_functions import RUN_CALLS

ROOM = 16_000_000
"""Bytes of a source with inputs and answers in it; what gives them is shorter."""
MOST_ENCODED = 3
"""Bytes that the judge writes for a byte of a literal, at most: six for a letter of two."""
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


class CallEnd(StrEnum):
    """How a call ended."""

    returned = "returned"
    raised = "raised"
    not_plain = "not_plain"
    """It returned what is no plain data."""
    ended = "ended"
    """It ended the instance: out of instructions or memory, an exit, a source that cannot load."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What one call gave."""

    how: CallEnd
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
    is_called: bool = True
    """False for a function that is only loaded, where its inputs are as they are for a call."""
    answer_bytes: int | None = None
    """Length that one answer may have; None where nothing tells, and the judge's limit holds."""

    @property
    def num_calls(self) -> int:
        """Count the results that it is to have."""
        return len(self.inputs) if self.is_called else 0


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run gave."""

    told: tuple[CallResult, ...]
    """An element a call, all of them or up to the first that ended the instance."""
    fuel: int = 0
    """Instructions of all calls."""
    touched: bool = False
    """Whether a function used standard input or output."""

    @property
    def last(self) -> CallResult | None:
        """Give what ended the run before its end, if anything did."""
        return self.told[-1] if self.told and self.told[-1].how is CallEnd.ended else None


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


def limits_of(run: Run, limits: Limits) -> Limits:
    """Give the limits of one run: the task's own time, where it has one, and room for inputs."""
    limits = within(run.task.time_limit_seconds, with_room(limits))
    return replace(limits, answer_bytes=_answer_bytes(run, limits))


def _answer_bytes(run: Run, limits: Limits) -> int:
    """Give how long a reply may be: reading a megabyte takes seconds, which no fuel pays for."""
    answers = limits.answer_bytes
    if run.answer_bytes is not None:
        answers = run.answer_bytes * len(run.inputs)
    # The judge writes inputs in the same way, and they are not the candidate's.
    size = max(answers, encoded_bytes(run.inputs))
    # A power of two, so that runs of like size are judged together.
    return size if size == limits.answer_bytes else 1 << (size - 1).bit_length()


def encoded_bytes(literals: Iterable[str]) -> int:
    """Give the most bytes that literals have as the judge encodes them."""
    return sum(MOST_ENCODED * len(one.encode("utf-8", "surrogatepass")) for one in literals)


def with_room(limits: Limits) -> Limits:
    """Let a source be longer than a candidate may be, for inputs and answers stand in it too."""
    return replace(limits, source_bytes=max(limits.source_bytes, ROOM))


def _execute(runs: Sequence[Run], judging: Judging, second: bool) -> list[Ran]:
    """Run each in one instance; a program has one input at most."""
    groups: dict[tuple[Limits, bool], list[int]] = {}
    for place, run in enumerate(runs):
        key = limits_of(run, judging.limits), run.task.kind is Kind.program
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
            found[place] = read(execution, runs[place])
    return found


def _whole(run: Run) -> str:
    return whole_source(run.task, run.source)


def _calling(run: Run) -> tuple[str, str]:
    """Write a g that calls the candidate, and an f whose inputs are the arguments of all calls.

    The judge reads f first, in an instance that holds nothing else, so that what this takes is the
    same for all candidates.
    """
    calls = ", ".join(f"lambda: _given[{number}]" for number in range(run.num_calls))
    source = RUN_CALLS.format(source=_whole(run), name=run.task.entry_point, calls=calls)
    return source + TELL_MORE, f"def f(_, given=[{', '.join(run.inputs)}]): pass"


def read(execution: Execution, run: Run) -> Ran:
    """Read what a run gave; whatever a candidate replied, this raises nothing."""
    if execution.answer is None:
        assert execution.failure is not None
        return Ran((_ended(execution.failure, execution.detail),), execution.fuel)
    if run.task.kind is Kind.program:
        return Ran((CallResult(CallEnd.returned, execution.answer),), execution.fuel)
    try:
        return _read_calls(execution, run.num_calls)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        # A candidate that replaced what calls it.
        return Ran((_ended(Outcome.crashed, "replied what cannot be read"),), execution.fuel)


def _read_calls(execution: Execution, num_calls: int) -> Ran:
    """Read what TELL_MORE wrote; raise ValueError where it is something else."""
    assert execution.answer is not None
    written = execution.answer.encode()
    match ast.parse(execution.answer, mode="eval").body:
        case ast.Tuple([ast.List(calls), ast.Constant(bool(touched))]) if len(calls) == num_calls:
            told = tuple(_told(call, written) for call in calls)
            return Ran(told, execution.fuel, touched)
        case ast.Tuple(
            [
                ast.Tuple(
                    [ast.Constant("syntax_error" | "no_g" as tag), ast.Constant(str(detail))]
                ),
                _,
            ]
        ):
            # What RUN_CALLS says of a source that has nothing to call.
            return Ran((_ended(Outcome(tag), detail),), execution.fuel)
    raise ValueError("no calls")


def _told(call: ast.expr, written: bytes) -> CallResult:
    match call:
        case ast.Tuple([ast.Constant("returned"), value]):
            # The judge wrote it in its canonical form, so that a part of it is in that form too.
            return CallResult(
                CallEnd.returned, written[value.col_offset : value.end_col_offset].decode()
            )
        case ast.Tuple([ast.Constant("raised" | "not_plain" as how), ast.Constant(str(text))]):
            return CallResult(CallEnd(how), one_line(text))
    raise ValueError("no call")


def _ended(outcome: Outcome, detail: str) -> CallResult:
    is_plain = outcome is Outcome.raised and detail
    return CallResult(
        CallEnd.ended, detail if is_plain else f"{outcome}: {detail}".rstrip(": "), outcome
    )


def calls_of(run: Run, ran: Ran) -> list[tuple[str, CallResult]]:
    """Pair inputs with what they gave, up to what ended the run."""
    assert len(ran.told) == run.num_calls or ran.last is not None, "a call without a result"
    return list(zip(run.inputs, ran.told, strict=False))
