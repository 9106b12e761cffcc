"""What a comparison left behind, as its report reads it: results an arm, and refinements in turn.

Sources and replies are dropped or stream by, so memory grows with tasks and arms alone.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from selftrain.config.refine import Arm
from selftrain.errors import RunError
from selftrain.files import Row, read_rows
from selftrain.refine.tasks.task import RefineTask
from selftrain.refine.trace import Role, Step, Stop, Used, result_from_row, step_from_row

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Ended:
    """What a task came to in an arm, without its answer."""

    task_id: str
    solved: bool
    """Whether the hidden tests pass."""
    accepted: bool
    """Whether the gate accepts the answer."""
    outcome: str
    """A `judge.Outcome`, or `no_candidate`."""
    stop: Stop
    num_updates: int
    """Candidates after the first."""
    used: Mapping[Role, Used]


def read_results(
    path: Path, arms: Sequence[Arm], tasks: Sequence[RefineTask]
) -> dict[Arm, list[Ended]]:
    """Read what each task came to, by arm, in the order of `arms` and of `tasks`.

    Raises RunError where the file is not of these arms and tasks, or has rows without a score.
    """
    found: dict[str, dict[str, Ended]] = {arm: {} for arm in arms}
    for one in _records(path, result_from_row):
        if one.arm not in found or one.task_id in found[one.arm] or one.solved is None:
            raise _not_of_these(path, f"task {one.task_id!r} in the arm {one.arm}")
        found[one.arm][one.task_id] = Ended(
            one.task_id, one.solved, one.accepted, one.outcome, one.stop, one.num_updates, one.used
        )
    wanted = [task.task_id for task in tasks]
    for arm in arms:
        differ = sorted(set(wanted) ^ found[arm].keys())
        if differ:
            raise _not_of_these(path, f"task {differ[0]!r} in the arm {arm}")
    return {arm: [found[arm][task_id] for task_id in wanted] for arm in arms}


def read_refinements(
    path: Path, arms: Collection[Arm], task_ids: Collection[str]
) -> Iterator[list[Step]]:
    """Stream the iterations of each task in each arm, which lie together.

    Raises RunError where the file is not of these arms and tasks.
    """
    steps = _records(path, step_from_row)
    for (arm, task_id), refinement in groupby(steps, key=lambda step: (step.arm, step.task_id)):
        if arm not in arms or task_id not in task_ids:
            raise RunError(
                f"{path}: task {task_id!r} in the arm {arm} is none of this configuration. Remove "
                "it and the results beside it, and start the same command again."
            )
        yield list(refinement)


def _records(path: Path, from_row: Callable[[Row], Record]) -> Iterator[Record]:
    """Stream the records of a file. Raises RunError where a row is none of them."""
    for number, row in enumerate(read_rows(path), start=1):
        try:
            record = from_row(row)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise RunError(
                f"{path}, line {number}: damaged ({error!r}). Remove it and the results beside it, "
                "and start the same command again: no model is asked twice."
            ) from None
        yield record


def _not_of_these(path: Path, what: str) -> RunError:
    return RunError(
        f"{path}: it does not have one scored row a task and arm of this configuration: see {what}."
        " Remove it, and start the same command again: no model is asked twice."
    )
