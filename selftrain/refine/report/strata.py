"""What the arms solve by source, category and difficulty: counts, over all tasks of a stratum."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from selftrain.config.refine import Arm
from selftrain.files import Row
from selftrain.refine.report.reading import Ended
from selftrain.refine.tasks.task import RefineTask
from selftrain.report.strata import strata

UNLABELLED = "(unlabelled)"
"""The stratum of tasks that do not say theirs."""
KEYS = ("source", "category", "difficulty")


@dataclass(frozen=True, slots=True)
class Stratum:
    """The tasks of one source, category or difficulty."""

    label: str
    """As shown, with a † where it is small."""
    num_tasks: int
    num_solved: Mapping[Arm, int]


def arm_strata(
    tasks: Sequence[RefineTask], ended: Mapping[Arm, Sequence[Ended]], key: str
) -> list[Stratum]:
    """Count by one of `KEYS`, easy before hard, those that do not say it last."""
    names = [_name(task, key) for task in tasks]
    by_arm = {
        arm: strata([_row(key, *one) for one in zip(names, some, strict=True)], key)
        for arm, some in ended.items()
    }
    first = next(iter(by_arm.values()))
    found = [
        Stratum(
            one.label, one.num_puzzles, {arm: own[i].num_correct for arm, own in by_arm.items()}
        )
        for i, one in enumerate(first)
    ]
    return sorted(found, key=lambda one: one.label.startswith(UNLABELLED))


def says_nothing(found: Sequence[Stratum]) -> bool:
    """Tell whether no task says its stratum."""
    return all(one.label.startswith(UNLABELLED) for one in found)


def stratum_to_row(one: Stratum) -> Row:
    """Flatten for JSON; the name is without its mark."""
    return {
        "name": one.label.removesuffix(" †"),
        "num_tasks": one.num_tasks,
        "num_solved": dict(one.num_solved),
    }


def _name(task: RefineTask, key: str) -> str:
    named = {"source": task.source, "category": task.category, "difficulty": task.difficulty}
    return named[key] or UNLABELLED


def _row(key: str, name: str, one: Ended) -> Row:
    """Give an evaluation's row, with one sample."""
    return {key: name, "n": 1, "num_correct": int(one.solved), "greedy_passed": None}
