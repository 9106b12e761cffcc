"""What the gate, the critics and the forward model said on the way, counted in one pass.

Counters are all that is kept: they grow with tasks and names of invariants, not with the trace.
Which refinements are shown word for word is chosen in samples.py.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from selftrain.config.refine import Arm
from selftrain.files import Row
from selftrain.refine.critic.review import How
from selftrain.refine.forward.invariants import invariant_names
from selftrain.refine.forward.wording import Wording
from selftrain.refine.gate.evidence import SECOND, GateReport, Status
from selftrain.refine.tasks.task import RefineTask
from selftrain.refine.trace import Fate, Role, Step
from selftrain.sampling.completion import FinishReason

NOTHING = "(nothing evaluated)"
"""Stands where an invariant's name does for a candidate that fails none, and for which none that
tells was evaluated."""
CUT, REFUSED = str(FinishReason.LENGTH), str(FinishReason.CONTENT_FILTER)
"""Finish reasons of replies that are not whole."""
TOO_LONG = str(FinishReason.PROMPT_TOO_LONG)
"""Stands where a finish reason does for a prompt that left no room and was never sent."""
DECLARED = "declared:"
"""What the names of invariants that tasks declare begin with."""


@dataclass
class Rejections:
    """Candidates that one invariant rejected in an arm; one may be rejected by several."""

    by_iteration: Counter[int] = field(default_factory=Counter)
    num_discarded: int = 0
    """How many of these were updates that the loop threw away for it."""
    fuel: int = 0
    """Instructions that the failed check took."""

    @property
    def total(self) -> int:
        """Count those of all iterations."""
        return self.by_iteration.total()


@dataclass
class ArmCounts:
    """What was said in an arm."""

    num_checked: int = 0
    """Candidates that the gate examined, replies without a program among them."""
    rejected: Rejections = field(default_factory=Rejections)
    """All that it rejected, each once; `fuel` is that of all their checks."""
    by_invariant: dict[str, Rejections] = field(default_factory=dict)
    hows: Counter[How] = field(default_factory=Counter)
    """Reviews by how they were read."""
    num_edits: int = 0
    """Edits that reviews asked for, repeated ones once a review."""
    num_dropped: int = 0
    """Edits beyond the bounds, left out."""
    finished: Counter[tuple[Role, str]] = field(default_factory=Counter)
    """Replies by who was asked and why they end, prompts that were never sent among them."""
    num_candidates: int = 0
    """Replies of the forward model, read."""
    no_source: Counter[str] = field(default_factory=Counter)
    """Those that hold no program, by the reason."""
    proofs_asked: int = 0
    proofs_given: int = 0
    """Those of the ones asked for that were given."""


@dataclass
class InvariantCounts:
    """What became of an invariant over all arms, iterations and tasks."""

    status: Counter[Status] = field(default_factory=Counter)
    vacuous: set[str] = field(default_factory=set)
    """Tasks of which a stub satisfies it."""


@dataclass
class Counts:
    """All that is counted."""

    arms: dict[str, ArmCounts]
    invariants: dict[str, InvariantCounts] = field(default_factory=dict)
    evaluated: dict[str, int] = field(default_factory=dict)
    """By task: the most invariants that tell, evaluated for one of its candidates."""
    unchecked: dict[str, None] = field(default_factory=dict)
    """Tasks of which a candidate was not accepted because nothing that tells was evaluated."""

    @property
    def least_evaluated(self) -> int | None:
        """Give the fewest of a task; None where the gate examined nothing."""
        return min(self.evaluated.values(), default=None)

    @property
    def median_evaluated(self) -> float | None:
        """Give the median over tasks."""
        return float(median(self.evaluated.values())) if self.evaluated else None


def begin(arms: Sequence[Arm]) -> Counts:
    """Begin with nothing counted."""
    return Counts({arm: ArmCounts() for arm in arms})


def count_step(counts: Counts, step: Step, task: RefineTask, wording: Wording) -> None:
    """Count an iteration of a task, whose forward model was asked in this wording."""
    own = counts.arms[step.arm]
    for role, call in step.calls.items():
        own.finished[role, str(call.finish_reason)] += 1
    if step.review is not None and step.calls[Role.critic].finish_reason != TOO_LONG:
        own.hows[step.review.how] += 1
        own.num_edits += len(step.review.edits)
        own.num_dropped += step.review.num_dropped
    if step.candidate is not None and step.has_candidate:
        own.num_candidates += 1
        if step.candidate.source is None:
            own.no_source[step.candidate.no_source] += 1
        asked = invariant_names(task) if wording == "message" else ()
        given = {name for name, text in step.candidate.proofs if text.strip()}
        own.proofs_asked += len(asked)
        own.proofs_given += len(given.intersection(asked))
    if step.report is not None:
        own.num_checked += 1
        if not step.report.accepted:
            _count_rejection(own, step, step.report)
        _count_evidence(counts, step.task_id, step.report)


def _count_rejection(own: ArmCounts, step: Step, report: GateReport) -> None:
    failed = {one.invariant: one.fuel for one in report.failures} or {NOTHING: 0}
    for name, fuel in failed.items():
        _reject(own.by_invariant.setdefault(name, Rejections()), step, fuel)
    _reject(own.rejected, step, sum(one.fuel for one in report.evidence))


def _reject(rejections: Rejections, step: Step, fuel: int) -> None:
    rejections.by_iteration[step.iteration] += 1
    rejections.num_discarded += step.fate is Fate.discarded
    rejections.fuel += fuel


def _count_evidence(counts: Counts, task_id: str, report: GateReport) -> None:
    for one in report.evidence:
        found = counts.invariants.setdefault(one.invariant, InvariantCounts())
        found.status[one.status] += 1
        if one.vacuous:
            found.vacuous.add(task_id)
    before = counts.evaluated.get(task_id, 0)
    counts.evaluated[task_id] = max(before, report.num_evaluated)
    if not report.failures and not report.num_evaluated:
        counts.unchecked[task_id] = None


def counts_to_row(counts: Counts) -> Row:
    """Flatten for JSON; seconds are native ones, reckoned from instructions."""
    return {
        "arms": {arm: _arm_to_row(own) for arm, own in counts.arms.items()},
        "invariants": {
            name: {
                **{status.value: found.status[status] for status in Status},
                "num_tasks_vacuous": len(found.vacuous),
            }
            for name, found in sorted(counts.invariants.items())
        },
        "evaluated": {
            "num_tasks": len(counts.evaluated),
            "least": counts.least_evaluated,
            "median": counts.median_evaluated,
        },
        "unchecked": sorted(counts.unchecked),
    }


def _arm_to_row(own: ArmCounts) -> Row:
    finished: dict[str, dict[str, int]] = {}
    for (role, reason), number in sorted(own.finished.items()):
        finished.setdefault(role.value, {})[reason] = number
    return {
        "num_checked": own.num_checked,
        "rejected": _rejections_to_row(own.rejected),
        "by_invariant": {
            name: _rejections_to_row(one) for name, one in sorted(own.by_invariant.items())
        },
        "hows": {how.value: own.hows[how] for how in How},
        "num_edits": own.num_edits,
        "num_dropped": own.num_dropped,
        "finished": finished,
        "num_candidates": own.num_candidates,
        "no_source": _ordered(own.no_source),
        "proofs": {
            "asked": own.proofs_asked,
            "given": own.proofs_given,
            "missing": own.proofs_asked - own.proofs_given,
        },
    }


def _rejections_to_row(one: Rejections) -> Row:
    by_iteration = {str(number): found for number, found in sorted(one.by_iteration.items())}
    return {
        "by_iteration": by_iteration,
        "total": one.total,
        "num_discarded": one.num_discarded,
        "seconds": one.fuel / SECOND,
    }


def _ordered(counter: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counter.items()))
