"""The tables of what the gate, the critics and the forward model said on the way.

What they hold is counted in counting.py.
"""

from collections.abc import Iterator, Mapping, Sequence

from selftrain.refine.critic.review import How
from selftrain.refine.gate.evidence import SECOND, Status
from selftrain.refine.report.counting import (
    CUT,
    DECLARED,
    NOTHING,
    REFUSED,
    TOO_LONG,
    ArmCounts,
    Counts,
    InvariantCounts,
    Rejections,
)
from selftrain.refine.trace import Role
from selftrain.report.blocks import Table, count

MAX_NAMES = 12
"""Invariants an arm, and in all, that a table names; the rest share a row. The JSON has all."""
_MOST = 3
"""The last iteration with a column of its own."""


def rejections_table(counts: Counts) -> Table:
    """Lay out what the gate rejected, by arm, invariant and iteration."""
    rows = [row for arm, own in counts.arms.items() for row in _rejected(arm, own)]
    return Table(
        "Candidates that the gate rejected, by the invariant that failed and the iteration.",
        (
            "Arm: invariant",
            *map(str, range(_MOST + 1)),
            f"{_MOST + 1} or more",
            "All",
            "Discarded",
            "Seconds",
        ),
        tuple(rows),
        "Iteration 0 is the first candidate, the same in all arms; a reply without a program fails "
        "`parses`. A candidate that fails several "
        "invariants is in several rows, and once in the row of all. Discarded: updates that were "
        "thrown away. Seconds: native ones of 2e10 instructions, of the failed check, and of all "
        f"checks of a rejected candidate in the row of all. {NOTHING}: none failed, but none that "
        "tells could be evaluated, and that is no acceptance.",
    )


def _rejected(arm: str, own: ArmCounts) -> Iterator[tuple[str, ...]]:
    if not own.num_checked:
        return
    yield _cells(f"{arm}: all of {count(own.num_checked)} checked", own.rejected)
    # The most frequent first; of equal ones, by name.
    names = sorted(own.by_invariant, key=lambda name: (-own.by_invariant[name].total, name))
    named, others = _named(names)
    for name in named:
        yield _cells(f"{arm}: {name}", own.by_invariant[name])
    if others:
        rest = Rejections()
        for name in others:
            one = own.by_invariant[name]
            rest.by_iteration.update(one.by_iteration)
            rest.num_discarded += one.num_discarded
            rest.fuel += one.fuel
        yield _cells(f"{arm}: ({count(len(others))} others)", rest)


def _named(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part the names, in order, into those with a row and the rest: declared ones are cut last."""
    kept = set(sorted(names, key=lambda name: not name.startswith(DECLARED))[:MAX_NAMES])
    return [name for name in names if name in kept], [name for name in names if name not in kept]


def _cells(name: str, one: Rejections) -> tuple[str, ...]:
    beyond = sum(found for number, found in one.by_iteration.items() if number > _MOST)
    return (
        name,
        *(count(one.by_iteration[number]) for number in range(_MOST + 1)),
        count(beyond),
        count(one.total),
        count(one.num_discarded),
        f"{one.fuel / SECOND:,.3f}",
    )


def invariants_table(invariants: Mapping[str, InvariantCounts]) -> Table:
    """Lay out what became of each invariant, and of how many tasks it tells nothing.

    One that no task gives anything to check by has no row, unless a task declares it.
    """
    there = [
        name
        for name, one in invariants.items()
        if name.startswith(DECLARED) or one.status[Status.held] or one.status[Status.failed]
    ]
    names = sorted(there, key=lambda name: (-invariants[name].status.total(), name))
    named, others = _named(names)
    rows = [
        (
            name,
            *(count(invariants[name].status[status]) for status in Status),
            count(len(invariants[name].vacuous)),
        )
        for name in named
    ]
    if others:
        rest = [invariants[name] for name in others]
        rows.append(
            (
                f"({count(len(rest))} others)",
                *(count(sum(one.status[status] for one in rest)) for status in Status),
                count(len(set().union(*(one.vacuous for one in rest)))),
            )
        )
    return Table(
        "What became of each invariant, over all candidates and arms.",
        ("Invariant", "Held", "Failed", "Not evaluated", "Vacuous (tasks)"),
        tuple(rows),
        "Vacuous: a stub that returns None satisfies it too, so it tells nothing of an answer and "
        "does not count as evaluated.",
    )


def reviews_table(counts: Counts) -> Table:
    """Lay out how the critics' reviews were read, and which replies were cut or refused."""
    rows = [
        (
            arm,
            count(own.hows.total()),
            *(count(own.hows[how]) for how in How),
            count(own.num_edits),
            count(own.num_dropped),
            *(count(_finished(own, reason, _CRITICS)) for reason in _NOT_WHOLE),
        )
        for arm, own in counts.arms.items()
        if own.hows or _finished(own, TOO_LONG, _CRITICS)
    ]
    return Table(
        "Reviews, and how they were read.",
        (
            "Arm",
            "Reviews",
            "As JSON",
            "Mended",
            "By lines",
            "Nothing",
            "Edits",
            "Edits dropped",
            "Cut",
            "Refused",
            "Too long",
        ),
        tuple(rows),
        "Nothing: no verdict could be read, and that is no pass. Cut and refused are replies of "
        "the critic, those about calls to run among them; too long are prompts that left no room, "
        "which were never sent.",
    )


def forward_table(counts: Counts) -> Table:
    """Lay out what the forward model's replies held: programs, reasons for none, proofs."""
    reasons = sorted({reason for own in counts.arms.values() for reason in own.no_source})
    rows = [
        (
            arm,
            count(own.num_candidates),
            *(count(own.no_source[reason]) for reason in reasons),
            *(count(_finished(own, reason, (Role.forward,))) for reason in _NOT_WHOLE),
            count(own.proofs_asked),
            count(own.proofs_given),
            count(own.proofs_asked - own.proofs_given),
        )
        for arm, own in counts.arms.items()
    ]
    return Table(
        "Replies of the forward model: those without a program by the reason, those cut and "
        "refused, and proofs.",
        (
            "Arm",
            "Replies",
            *(f"No program: {reason}" for reason in reasons),
            "Cut",
            "Refused",
            "Too long",
            "Proofs asked",
            "Given",
            "Missing",
        ),
        tuple(rows),
        "A proof is a text that says why an invariant holds; a message asks for one each. They are "
        "kept and shown, and decide nothing. The first reply is the same in all arms. Too long: "
        "prompts that left no room and were never sent, so there is no reply.",
    )


_NOT_WHOLE = (CUT, REFUSED, TOO_LONG)
_CRITICS = (Role.critic, Role.probes)


def _finished(own: ArmCounts, reason: str, roles: Sequence[Role]) -> int:
    return sum(own.finished[role, reason] for role in roles)
