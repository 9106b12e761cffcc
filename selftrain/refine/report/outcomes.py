"""What each arm solves, how it differs from forward alone and from re-sampling, and what it costs.

Read from results alone; what the gate and the critics said on the way is counted in counting.py.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from selftrain.config.refine import Arm
from selftrain.difficulty import interval
from selftrain.files import Row
from selftrain.refine.arms import WAYS
from selftrain.refine.report.reading import Ended
from selftrain.refine.trace import Role, Stop, Used
from selftrain.statistics import mcnemar
from selftrain.statistics.holm import holm

FORWARD: Arm = "forward"
RESAMPLE: Arm = "resample"


@dataclass(frozen=True, slots=True)
class Against:
    """How an arm differs from another one, task by task."""

    gained: int
    """Tasks that it solves and the other does not."""
    lost: int
    """Tasks that the other solves and it does not."""
    p_value: float
    """McNemar's, exact and two-sided."""
    holm_p_value: float
    """The same, corrected over all arms that are compared with the other one."""


@dataclass(frozen=True, slots=True)
class Gated:
    """What the gate says of the answers of an arm, beside the hidden tests."""

    num_accepted: int
    num_false_accepts: int
    """Answers that it accepts and the hidden tests do not."""
    num_false_rejects: int
    """Answers that it rejects and the hidden tests do not."""


@dataclass(frozen=True, slots=True)
class ArmOutcome:
    """What an arm came to."""

    arm: Arm
    num_tasks: int
    num_solved: int
    low: float
    """Lower end of the share solved, Wilson's 95% interval."""
    high: float
    """Upper end."""
    gated: Gated | None
    """None where the arm has no gate."""
    against: Mapping[Arm, Against]
    """By what it is compared with: forward and resample, where they are there and another arm."""
    used: Mapping[Role, Used]
    """Tokens and calls of all tasks, by role; those of the first candidate are in every arm."""
    stops: Mapping[Stop, int]
    """Tasks by the reason for which their refinement ended."""
    updates: Mapping[int, int]
    """Tasks by the number of candidates after the first."""
    outcomes: Mapping[str, int]
    """Tasks by what the hidden tests said."""

    @property
    def num_tokens(self) -> int:
        """Give prompts and completions of all roles and tasks together."""
        return sum(used.total for used in self.used.values())

    @property
    def tokens_per_task(self) -> float:
        """Give the mean over tasks."""
        return self.num_tokens / self.num_tasks

    @property
    def tokens_per_solved(self) -> float | None:
        """Give all tokens over the tasks solved; None where none is."""
        return self.num_tokens / self.num_solved if self.num_solved else None


def measure_arms(ended: Mapping[Arm, Sequence[Ended]]) -> list[ArmOutcome]:
    """Measure every arm on the same tasks, of which there is at least one."""
    against = {base: _compare(ended, base) for base in (FORWARD, RESAMPLE) if base in ended}
    return [
        _measure(arm, some, {base: found[arm] for base, found in against.items() if arm in found})
        for arm, some in ended.items()
    ]


def arm_to_row(one: ArmOutcome) -> Row:
    """Flatten for JSON, with the numbers that follow from the others."""
    return asdict(one) | {
        "updates": {str(number): tasks for number, tasks in one.updates.items()},
        "num_tokens": one.num_tokens,
        "tokens_per_task": one.tokens_per_task,
        "tokens_per_solved": one.tokens_per_solved,
    }


def _compare(ended: Mapping[Arm, Sequence[Ended]], base: Arm) -> dict[Arm, Against]:
    # Forward against resample would be resample against forward once more.
    arms = [arm for arm in ended if arm not in (base, FORWARD)]
    found = [mcnemar(_as_rows(ended[arm]), _as_rows(ended[base]), 1) for arm in arms]
    corrected = holm([one.p_value for one in found])
    return {
        arm: Against(one.only_a, one.only_b, one.p_value, adjusted)
        for arm, one, adjusted in zip(arms, found, corrected, strict=True)
    }


def _as_rows(some: Sequence[Ended]) -> list[Row]:
    """Give an evaluation with one sample a task."""
    return [
        {"name": one.task_id, "family": "", "n": 1, "num_correct": int(one.solved)} for one in some
    ]


def _measure(arm: Arm, some: Sequence[Ended], against: Mapping[Arm, Against]) -> ArmOutcome:
    num_solved = sum(one.solved for one in some)
    low, high = interval(num_solved, len(some))
    stops = Counter(one.stop for one in some)
    return ArmOutcome(
        arm=arm,
        num_tasks=len(some),
        num_solved=num_solved,
        low=low,
        high=high,
        gated=_gated(some) if WAYS[arm].gate else None,
        against=against,
        used=_total(some),
        stops={stop: stops[stop] for stop in Stop if stops[stop]},
        updates=dict(sorted(Counter(one.num_updates for one in some).items())),
        outcomes=dict(sorted(Counter(one.outcome for one in some).items())),
    )


def _gated(some: Sequence[Ended]) -> Gated:
    return Gated(
        num_accepted=sum(one.accepted for one in some),
        num_false_accepts=sum(one.accepted and not one.solved for one in some),
        num_false_rejects=sum(one.solved and not one.accepted for one in some),
    )


def _total(some: Sequence[Ended]) -> dict[Role, Used]:
    """Add the tokens of all tasks, by role; a role that was never asked is left out."""
    total = {}
    for role in Role:
        used = [one.used[role] for one in some if role in one.used]
        if used:
            total[role] = Used(
                sum(one.prompt for one in used),
                sum(one.completion for one in used),
                sum(one.num_calls for one in used),
            )
    return total
