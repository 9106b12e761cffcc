"""The story of one task of a comparison of refinements: what each arm asked, got and found.

All of it is read from the trace and the results; puzzles of a run have theirs in story.py.
"""

from collections.abc import Iterator, Sequence

from selftrain.errors import UsageError
from selftrain.files import read_rows
from selftrain.refine.critic.review import Field, How, Review
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.forward.wording import edit_line
from selftrain.refine.gate.evidence import GateReport
from selftrain.refine.trace import (
    NO_CANDIDATE,
    Result,
    Role,
    Step,
    Used,
    result_from_row,
    step_from_row,
)
from selftrain.report.verbatim import visible
from selftrain.sampling.completion import FinishReason
from selftrain.why.find import nearest, rows_with
from selftrain.why.text import block, headed


def refined_task_story(
    directory: RefineDirectory, task_id: str, arm: str | None = None
) -> Iterator[str]:
    """Tell of a task line by line, arm by arm, or of one arm alone.

    Raises UsageError where there is no such task or arm, or no trace yet.
    """
    if not directory.results.exists():
        raise UsageError(
            f"{directory.path}: the comparison is under way; its trace comes when all arms are "
            "done. The same `selftrain refine` goes on with it."
        )
    results = [result_from_row(row) for row in rows_with(directory.results, "task_id", task_id)]
    if not results:
        raise UsageError(_unknown(directory, task_id))
    arms = [one.arm for one in results]
    if arm is not None and arm not in arms:
        raise UsageError(f"{directory.path}: no arm is called {arm!r}. There are {_listed(arms)}.")
    steps: dict[str, list[Step]] = {name: [] for name in arms}
    for row in rows_with(directory.trace, "task_id", task_id):
        step = step_from_row(row)
        steps.setdefault(step.arm, []).append(step)
    yield visible(f"{task_id}: {_solved_by(results)}")
    yield ""
    for result in results:
        if arm is None or result.arm == arm:
            yield from _arm(result, steps[result.arm])


def _solved_by(results: Sequence[Result]) -> str:
    solved = [one.arm for one in results if one.solved]
    if not solved:
        return f"solved by no arm of {_listed([one.arm for one in results])}"
    others = [one.arm for one in results if not one.solved]
    return f"solved by {_listed(solved)}" + (f"; not by {_listed(others)}" if others else "")


def _arm(result: Result, steps: Sequence[Step]) -> Iterator[str]:
    hidden = result.outcome
    if result.outcome == NO_CANDIDATE:
        hidden = "not asked, it came to no program"
    lines = [line for step in steps for line in _iteration(step)]
    accepted = ", which the gate accepts" if result.accepted else ""
    lines.append(f"ended: {result.stop}, after {result.num_tokens:,} tokens")
    lines.append(f"hidden tests of the answer{accepted}: {hidden}")
    yield from headed(result.arm, lines)


def _iteration(step: Step) -> Iterator[str]:
    asked = ", ".join(f"{role} {_tokens(call.used)}" for role, call in step.calls.items())
    yield f"iteration {step.iteration}{f' (tokens: {asked})' if asked else ''}"
    for role, call in step.calls.items():
        if call.finish_reason == FinishReason.PROMPT_TOO_LONG:
            yield f"  the prompt of {role} leaves no room for a reply, so it was not asked"
        elif call.finish_reason != FinishReason.STOP:
            yield f"  the reply of {role} ends by {call.finish_reason}"
    if step.probes:
        yield "  calls that the critic had run:"
        for probe in step.probes:
            yield from block(f"{probe.call} -> {probe.result}")
    if step.review is not None:
        yield f"  review, read as {step.review.how}: {_verdicts(step.review)}"
        if step.review.how is How.nothing:
            yield from _reply(step, Role.critic)
    if step.edits:
        yield "  edits that were asked for:"
        for number, edit in enumerate(step.edits, start=1):
            yield from block(f"{number}. {edit_line(edit)}")
    yield from _candidate(step)
    if step.stop is not None:
        yield f"  the end: {step.stop}"


def _candidate(step: Step) -> Iterator[str]:
    if step.candidate is None or not step.has_candidate:
        return
    fate = step.fate or "the same as one before"
    if step.candidate.source is None:
        yield f"  no program ({step.candidate.no_source}), {fate}"
        yield from _reply(step, Role.forward)
    else:
        yield f"  candidate, {fate}:"
        yield from block(step.candidate.source.rstrip("\n"))
    if step.report is not None:
        yield from _gate(step.report)


def _gate(report: GateReport) -> Iterator[str]:
    said = "accepted" if report.accepted else "rejected"
    yield f"  the gate: {said}; invariants evaluated that tell something: {report.num_evaluated}"
    for one in report.failures:
        yield from block(f"{one.invariant}: {one.detail}")


def _reply(step: Step, role: Role) -> list[str]:
    """Give what could not be read, where there is anything."""
    reply = step.calls[role].reply if role in step.calls else ""
    return block(reply) if reply.strip() else []


def _verdicts(review: Review) -> str:
    pairs = zip(Field, review.fields, strict=True)
    return ", ".join(f"{name} {one.verdict}" for name, one in pairs)


def _tokens(used: Used) -> str:
    return f"{used.prompt:,} + {used.completion:,}"


def _unknown(directory: RefineDirectory, task_id: str) -> str:
    names = dict.fromkeys(row["task_id"] for row in read_rows(directory.results))
    likely = _listed(nearest(names, task_id))
    return f"{directory.path}: no task is called {task_id!r}. The nearest are {likely}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
