"""What runs tell of a candidate: examples, plain_answer, resources, same_answer, hidden.

Answers are compared here, on the host, so that what is right never enters a candidate's instance.
Nothing is run.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge import Case, Outcome
from judge.text import difference, lines
from selftrain.refine.gate.evidence import Evidence, Status
from selftrain.refine.gate.running import CallEnd, CallResult, Ran, Run, calls_of, encoded_bytes
from selftrain.refine.gate.words import SHOWN, called, said
from selftrain.refine.tasks.task import Example, RefineTask
from selftrain.verifier.tasks.results import result_key, same_value, shown

OUT_OF_RESOURCES = (Outcome.timed_out, Outcome.out_of_memory, Outcome.too_large)
LEAST_ANSWER_BYTES = 100_000
"""Every answer to an example may be as long as this."""
MOST_DETAIL = 300
MOST_RATIO = 64
BOOL_OR_TEXT = re.compile(r"""True|False|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
NUMBERS = {"True": "1", "False": "0"}
HIDDEN = "[hidden]"
"""Stands in details for the canary, which no critic may read."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A run, what it gave, and what it gave in the second guest."""

    run: Run
    ran: Ran
    again: Ran | None = None
    """None where nothing was there to be run again."""

    def calls(self) -> list[tuple[str, CallResult]]:
        """Pair inputs with what they gave, up to what ended the run."""
        return calls_of(self.run, self.ran)


def one(name: str, status: Status, detail: str = "", fuel: int = 0) -> Evidence:
    """Make a piece of evidence; only a failure has a detail."""
    return Evidence(name, status, detail[:MOST_DETAIL] if status is Status.failed else "", fuel)


def judged(name: str, failure: str | None, fuel: int = 0) -> Evidence:
    """Say that an invariant failed for this reason, or held."""
    return one(name, Status.held if failure is None else Status.failed, failure or "", fuel)


def inputs_of(task: RefineTask) -> tuple[str, ...]:
    """Give what the examples run a candidate on."""
    return tuple(
        example.input if isinstance(example, Case) else example.arguments
        for example in task.examples
    )


def answer_bytes(task: RefineTask) -> int:
    """Give how long an answer to an example may be: no right one is much longer than expected."""
    expected = [
        example.output if isinstance(example, Case) else example.answer for example in task.examples
    ]
    return max([LEAST_ANSWER_BYTES, *(encoded_bytes([one]) for one in expected)])


def is_whole(seen: Sequence[Seen]) -> bool:
    """Tell whether every call returned: what is missing holds nothing."""
    return bool(seen) and all(
        len(one_seen.ran.told) == one_seen.run.num_calls
        and all(told.how is CallEnd.returned for told in one_seen.ran.told)
        for one_seen in seen
    )


def examples(task: RefineTask, seen: Seen | None) -> Evidence:
    """Compare what the examples gave with what is right."""
    if seen is None:
        return Evidence("examples", Status.not_evaluated)
    # What ends before the last is wrong where it ends.
    wrong = (
        failure
        for example, (given, told) in zip(task.examples, seen.calls(), strict=False)
        if (failure := _wrong(task, example, given, told)) is not None
    )
    return judged("examples", next(wrong, None), seen.ran.fuel)


def _wrong(task: RefineTask, example: Example | Case, given: str, told: CallResult) -> str | None:
    """Say what is wrong about a call; None where it is right."""
    if isinstance(example, Case):
        if told.how is not CallEnd.returned:
            return said(task, given, told)
        text = str(ast.literal_eval(told.text))
        if lines(text) == lines(example.output):
            return None
        return f"{called(task, given)} wrote what is wrong: {difference(text, example.output)}"
    if told.how is not CallEnd.returned:
        return f"{said(task, given, told)}, and should return {shown(example.answer, SHOWN)}"
    if _is_right(told.text, example.answer):
        return None
    return f"{said(task, given, told)}, not {shown(example.answer, SHOWN)}"


def _is_right(answer: str, expected: str) -> bool:
    """Compare as a test's `==` does: True is 1 and 1.0, but a list is no tuple."""
    if answer == expected:
        return True
    # Two numbers that are equal are written in lengths of no other ratio, and to read a megabyte
    # takes seconds.
    short, long = sorted((len(answer), len(expected)))
    return long <= MOST_RATIO * short and same_value(_unbooled(answer), _unbooled(expected))


def _unbooled(literal: str) -> str:
    """Write True as 1 and False as 0, which they are equal to, wherever they are no text."""
    return BOOL_OR_TEXT.sub(lambda found: NUMBERS.get(found[0], found[0]), literal)


def plain_answer(task: RefineTask, seen: Sequence[Seen]) -> Evidence:
    """Tell whether all answers are plain data."""
    calls = [call for one_seen in seen for call in one_seen.calls()]
    for given, told in calls:
        if told.how is CallEnd.not_plain:
            return one("plain_answer", Status.failed, said(task, given, told))
    return one("plain_answer", Status.held if is_whole(seen) else Status.not_evaluated)


def resources(task: RefineTask, seen: Sequence[Seen]) -> Evidence:
    """Tell whether all calls keep to their instructions and memory."""
    fuel = sum(one_seen.ran.fuel for one_seen in seen)
    for given, told in (call for one_seen in seen for call in one_seen.calls()):
        if told.outcome in OUT_OF_RESOURCES:
            return one("resources", Status.failed, said(task, given, told), fuel)
    ended = any(one_seen.ran.last is not None for one_seen in seen)
    held = seen and not ended
    return one("resources", Status.held if held else Status.not_evaluated, fuel=fuel)


def again(run: Run, ran: Ran) -> Run | None:
    """Give what is to be run in the second guest: what gave an answer in the first."""
    if not any(told.how is CallEnd.returned for told in ran.told):
        return None
    return replace(run, inputs=run.inputs[: len(ran.told) - (ran.last is not None)])


def same_answer(task: RefineTask, seen: Sequence[Seen]) -> Evidence:
    """Tell whether answers are the same under another hash seed, in another order of sets."""
    repeated = [(one_seen, one_seen.again) for one_seen in seen if one_seen.again is not None]
    if not repeated:
        return one("same_answer", Status.not_evaluated)
    fuel = sum(ran.fuel for _, ran in repeated)
    for one_seen, ran in repeated:
        for (given, told), other in zip(one_seen.calls(), ran.told, strict=False):
            if not _is_same(told, other):
                differs = f"and with other hashes {shown(other.text, SHOWN)}"
                failure = f"{said(task, given, told)}, {differs}"
                return one("same_answer", Status.failed, failure, fuel)
    second = [Seen(one_seen.run, ran) for one_seen, ran in repeated]
    held = is_whole([*seen, *second])
    return one("same_answer", Status.held if held else Status.not_evaluated, fuel=fuel)


def _is_same(told: CallResult, other: CallResult) -> bool:
    if told.how is not other.how:
        return False
    if told.how is not CallEnd.returned or told.text == other.text:
        return True
    # Only dicts are written in an order of their own.
    if "{" not in told.text:
        return False
    key = result_key(told.text)
    return key is not None and key == result_key(other.text)


def streams(read: Evidence, seen: Sequence[Seen]) -> Evidence:
    """Add to what the syntax tree tells what was seen where the candidate ran."""
    if read.status is Status.held and any(one_seen.ran.touched for one_seen in seen):
        return judged("streams", "it used standard input or output while it ran")
    return read


def hidden(task: RefineTask, source: str, texts: Sequence[str], has_run: bool) -> Evidence:
    """Tell whether the hidden tests' canary is in a candidate or in what it gave.

    Without all that it should have given, nothing is held.
    """
    if not task.canary:
        return Evidence("hidden", Status.not_evaluated)
    if task.canary in source:
        return judged("hidden", "it holds a word of the hidden tests")
    if any(task.canary in text for text in texts):
        return judged("hidden", "it gave a word of the hidden tests")
    return one("hidden", Status.held if has_run else Status.not_evaluated)


def clean(task: RefineTask, evidence: Evidence) -> Evidence:
    """Take out of a detail what no critic may read, and what no file can hold."""
    detail = evidence.detail.encode("utf-8", "backslashreplace").decode()
    if task.canary:
        detail = detail.replace(task.canary, HIDDEN)
    return replace(evidence, detail=detail)
