"""What the gate found of one candidate: an invariant a row. Nothing is run here."""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from judge import Limits
from selftrain.files import Row

SECOND = 20_000_000_000
"""Instructions that are about a second of native work, as the judge has it."""
MOST_FUEL = 2**63 - 1
"""The most that the judge's limits may be."""


def fuel_in(seconds: float) -> int:
    """Give the instructions that native seconds allow, at least 1, and as many as the judge may."""
    return min(MOST_FUEL, max(1, round(seconds * SECOND)))


def within(seconds: float | None, limits: Limits) -> Limits:
    """Give the limits of a task that may take so many native seconds; None leaves them."""
    return limits if seconds is None else replace(limits, fuel=fuel_in(seconds))


class Status(StrEnum):
    """What became of an invariant."""

    held = "held"
    failed = "failed"
    not_evaluated = "not_evaluated"
    """The task gives nothing to check it by, or an earlier failure leaves nothing to run."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One invariant of one candidate."""

    invariant: str
    """parses, signature, imports, streams, examples, plain_answer, resources, same_answer, hidden,
    solved (a puzzle's f), or the name that the task declares, as `declared:NAME`."""
    status: Status
    detail: str = ""
    """What was found, one short line that says what to change; empty where it held. The critic
    reads it, so nothing of hidden tests is in it."""
    fuel: int = 0
    """Instructions that it took."""
    vacuous: bool = False
    """Whether it tells nothing of an answer: a stub that returns None satisfies it too, or any
    wrong answer may."""

    @property
    def seconds(self) -> float:
        """Give the native seconds that it took, reckoned from instructions: the same every time."""
        return self.fuel / SECOND


@dataclass(frozen=True, slots=True)
class GateReport:
    """All invariants of one candidate, in the order in which they are checked."""

    evidence: tuple[Evidence, ...]

    @property
    def failures(self) -> tuple[Evidence, ...]:
        """Give those that failed."""
        return tuple(one for one in self.evidence if one.status is Status.failed)

    @property
    def num_evaluated(self) -> int:
        """Count those that were evaluated and that a stub does not satisfy."""
        return sum(
            one.status is not Status.not_evaluated and not one.vacuous for one in self.evidence
        )

    @property
    def accepted(self) -> bool:
        """Tell whether nothing failed, and something that tells was evaluated."""
        return not self.failures and self.num_evaluated > 0


def report_to_row(report: GateReport) -> Row:
    """Flatten a report: a part of a trace's row."""
    return {
        "accepted": report.accepted,
        "num_evaluated": report.num_evaluated,
        "evidence": [asdict(one) for one in report.evidence],
    }


def report_from_row(row: Row) -> GateReport:
    """Rebuild what `report_to_row` flattened."""
    return GateReport(
        tuple(Evidence(**{**one, "status": Status(one["status"])}) for one in row["evidence"])
    )
