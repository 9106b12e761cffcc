"""Invariants that look like a slip in a task's file, or like one that nobody can keep.

A task's author may give an example wrong arguments, or a predicate that raises itself: then every
candidate fails it, whatever it does. Only the number of tasks and invariants is kept in memory.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from selftrain.config.refine import Arm
from selftrain.files import Row
from selftrain.refine.arms import WAYS
from selftrain.refine.gate.evidence import GateReport, Status
from selftrain.refine.report.counting import DECLARED
from selftrain.refine.report.reading import Ended
from selftrain.refine.tasks.task import Kind, RefineTask
from selftrain.report.blocks import count, plain
from selftrain.report.verbatim import visible

MAX_NAMED = 3
"""Invariants of tasks that a sentence names; the JSON has all."""
MAX_DETAIL = 100
"""Characters of what the gate said in a sentence."""


@dataclass(slots=True)
class Fates:
    """What became of an invariant of a task, over all candidates of all arms."""

    has_held: bool = False
    has_failed: bool = False
    detail: str = ""
    """What the gate said the first time that it said something."""


Invariants = dict[tuple[str, str], Fates]
"""By task and invariant."""


@dataclass(frozen=True, slots=True)
class Slip:
    """An invariant of a task, and what the gate said of it."""

    task_id: str
    invariant: str
    detail: str


@dataclass(frozen=True, slots=True)
class Slips:
    """What looks like a slip, in the order of tasks."""

    refuted: Sequence[Slip] = field(default_factory=list)
    """Every candidate fails it, and one of them passes the hidden tests."""
    never_held: Sequence[Slip] = field(default_factory=list)
    """Every candidate fails it, and the task may be too hard."""
    never_evaluated: Sequence[Slip] = field(default_factory=list)
    """It could not be evaluated of any candidate, for what the task says."""


def note_invariants(found: Invariants, task_id: str, report: GateReport) -> None:
    """Look at what the gate said of a candidate."""
    for one in report.evidence:
        fates = found.setdefault((task_id, one.invariant), Fates())
        fates.has_held |= one.status is Status.held
        fates.has_failed |= one.status is Status.failed
        fates.detail = fates.detail or one.detail


def slips_of(
    found: Invariants, tasks: Sequence[RefineTask], ended: Mapping[Arm, Sequence[Ended]]
) -> Slips:
    """Choose the invariants that no candidate keeps, and those that nobody could evaluate."""
    right = _rejected_though_right(ended)
    names: dict[str, list[str]] = {}
    for task_id, name in found:
        names.setdefault(task_id, []).append(name)
    refuted, never_held, never_evaluated = [], [], []
    for task in tasks:
        for name in names.get(task.task_id, ()):
            fates = found[task.task_id, name]
            slip = Slip(task.task_id, name, fates.detail)
            is_given = name == "examples" or name.startswith(DECLARED)
            if fates.has_failed and not fates.has_held:
                if task.task_id in right and is_given:
                    refuted.append(slip)
                elif is_given and task.kind is not Kind.puzzle:
                    never_held.append(slip)
            elif is_given and not fates.has_held and fates.detail:
                never_evaluated.append(slip)
    return Slips(refuted, never_held, never_evaluated)


def _rejected_though_right(ended: Mapping[Arm, Sequence[Ended]]) -> set[str]:
    """Name the tasks with an answer that the gate rejects and the hidden tests do not."""
    return {
        one.task_id
        for arm, some in ended.items()
        if WAYS[arm].gate
        for one in some
        if one.solved and not one.accepted
    }


def likely_slips(slips: Slips) -> Iterator[str]:
    """Say which invariants are most likely wrong themselves."""
    if slips.refuted:
        yield (
            "A likely slip in a task's file: every candidate fails it, though the hidden tests "
            f"pass one of them. {_named(slips.refuted)}."
        )
    if slips.never_evaluated:
        yield (f"Declared, but never evaluated of any candidate: {_named(slips.never_evaluated)}.")


def possible_slips(slips: Slips) -> Iterator[str]:
    """Say which invariants no candidate keeps in tasks that may just be too hard."""
    if slips.never_held:
        yield (
            "Every candidate of every arm fails these, which is a hard task or a slip in its file: "
            f"{_named(slips.never_held)}."
        )


def slips_to_row(slips: Slips) -> Row:
    """Flatten for JSON, all of them."""
    return {
        "refuted": _rows(slips.refuted),
        "never_held": _rows(slips.never_held),
        "never_evaluated": _rows(slips.never_evaluated),
    }


def _rows(slips: Collection[Slip]) -> list[Row]:
    return [
        {"task_id": one.task_id, "invariant": one.invariant, "detail": one.detail} for one in slips
    ]


def _named(slips: Sequence[Slip]) -> str:
    named = "; ".join(map(_spelt, slips[:MAX_NAMED]))
    more = len(slips) - MAX_NAMED
    return f"{named}; and {count(more)} more" if more > 0 else named


def _spelt(one: Slip) -> str:
    detail = one.detail if len(one.detail) <= MAX_DETAIL else f"{one.detail[: MAX_DETAIL - 1]}…"
    said = f" ({detail})" if detail else ""
    return visible(plain(f"{one.task_id}: {one.invariant.removeprefix(DECLARED)}{said}"))
