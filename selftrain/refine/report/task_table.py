"""The table of tasks by arm: solved or not. It is capped; results.jsonl has every task."""

from collections.abc import Mapping, Sequence

from selftrain.config.refine import Arm
from selftrain.refine.report.reading import Ended
from selftrain.refine.trace import NO_CANDIDATE
from selftrain.report.blocks import ABSENT, Table, count, plain
from selftrain.report.verbatim import MAX_TITLE, visible

MAX_TASKS = 60
"""Tasks that have a row."""


def task_table(ended: Mapping[Arm, Sequence[Ended]], measured: Arm | None) -> Table:
    """Lay out what each arm came to on each task: first the tasks on which arms differ."""
    arms = list(ended)
    told = measured or arms[0]
    of_task = [dict(zip(arms, some, strict=True)) for some in zip(*ended.values(), strict=True)]
    # The sort keeps the order of tasks.
    ordered = sorted(of_task, key=lambda some: len({one.solved for one in some.values()}) == 1)
    rows = [
        (
            visible(plain(some[told].task_id))[:MAX_TITLE],
            *(_solved(some[arm]) for arm in arms),
            some[told].stop.value,
        )
        for some in ordered[:MAX_TASKS]
    ]
    left_out = (
        f" These are {count(MAX_TASKS)} of {count(len(ordered))}; results.jsonl has all."
        if len(ordered) > MAX_TASKS
        else ""
    )
    return Table(
        "Tasks solved, first those that some arms solve and others do not.",
        ("Task", *arms, f"Why {told} ended"),
        tuple(rows),
        f"By the hidden tests; {ABSENT}: it came to no program.{left_out}",
    )


def _solved(one: Ended) -> str:
    if one.outcome == NO_CANDIDATE:
        return ABSENT
    return "yes" if one.solved else "no"
