"""The command `selftrain refine`: arms on the same tasks, and what came out, each once.

What is finished is not done again, and no model is asked for an answer twice: the same command goes
on after a kill, and ends with the same bytes. The loop itself is in loop.py.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from selftrain.claim import REFINE, claim, refuse_foreign, working_in
from selftrain.config import Config
from selftrain.config_file import save_config
from selftrain.experiment import Experiment, Paused
from selftrain.files import Format, read_rows, write_rows
from selftrain.judge import judging_in_evaluation
from selftrain.provenance import command_line, provenance
from selftrain.puzzle_source import read_splits
from selftrain.refine.arms import Way, reference, ways_of
from selftrain.refine.calls import Calls
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.loop import refine as refine_tasks
from selftrain.refine.means import Means, Samplers, means_of
from selftrain.refine.report.page import publish
from selftrain.refine.score import score
from selftrain.refine.tasks.sources import PUZZLES, read_tasks
from selftrain.refine.tasks.task import HiddenTests, RefineTask
from selftrain.refine.teach.teach import teach
from selftrain.refine.trace import (
    NO_CANDIDATE,
    REFINED,
    Refined,
    Result,
    result_from_row,
    result_to_row,
    step_to_row,
)
from selftrain.run import build, without_puzzles

_MAY_CHANGE = ("refine.arms",)
"""Another arm is done beside those that are there; no model is asked again for theirs."""
SCORED = Format("score", result_to_row, result_from_row)


def refine(config: Config, folder: Path) -> int:
    """Compare the arms of a configuration in `folder`, or go on with it.

    Raises UsageError or RunError.
    """
    directory = RefineDirectory(folder)
    refuse_foreign(REFINE, directory.run, config, _MAY_CHANGE)
    refused: list[str] = []
    train, held_out = (
        read_splits(config.puzzles, refused.append) if asks_puzzles(config) else ([], [])
    )
    tasks, hidden = read_tasks(config, held_out)
    with working_in(directory.run):
        data = {"tasks": _digest(tasks, hidden)}
        made_with = provenance(command_line(), config, train, held_out, len(refused), data)
        with claim(REFINE, directory.run, config, made_with, _MAY_CHANGE):
            # It has the arms that were compared last.
            save_config(config, directory.run.config)
            run = directory.run
            x = (
                build(config, run, train, held_out, refused)
                if train
                else without_puzzles(config, run)
            )
            return _run(x, directory, tasks, hidden)


def asks_puzzles(config: Config) -> bool:
    """Tell whether puzzles are read: to teach, to show as solved ones, or to be measured on."""
    return config.refine.teach or PUZZLES in config.refine.tasks


def _run(
    x: Experiment,
    directory: RefineDirectory,
    tasks: Sequence[RefineTask],
    hidden: Sequence[HiddenTests],
) -> int:
    calls = Calls(directory.calls)
    begun = f"going on, with {len(calls):,} answers of models" if len(calls) else "a new comparison"
    x.progress.say(f"{directory.path}: {begun}")
    try:
        if not is_compared(directory, x.config):
            compare(x, directory, tasks, hidden, calls)
    except Paused as paused:
        x.progress.say(f"Paused: {paused}. The same command goes on; limits may be changed for it.")
        return 0
    directory.remove_shards()
    publish(directory, x.config, tasks)
    return 0


def is_compared(directory: RefineDirectory, config: Config) -> bool:
    """Tell whether the results are there, and of just these arms."""
    if not directory.results.exists():
        return False
    arms = {row.get("arm") for row in read_rows(directory.results)}
    return arms == {way.name for way in ways_of(config.refine)}


def compare(
    x: Experiment,
    directory: RefineDirectory,
    tasks: Sequence[RefineTask],
    hidden: Sequence[HiddenTests],
    calls: Calls,
) -> None:
    """Refine the tasks in every arm's way, then ask the hidden tests, once; write both down."""
    taught = teach(x, directory) if x.config.refine.teach else None
    samplers = Samplers.of(x, taught)
    means = means_of(x, samplers, calls)
    if len(calls) == 0:
        samplers.reach()
    ways = ways_of(x.config.refine)
    spent: list[Refined] = []
    refined: list[Refined] = []
    base = reference(ways)
    for way in ways:
        allowed, budgets = within(way, means, spent), budgets_of(way, spent)
        done = run_arm(x, directory, way, tasks, allowed, budgets, base)
        if way == base:
            spent = done
        refined += done
    samplers.release()
    results = score_all(x, directory, tasks, hidden, [one.result for one in refined])
    write_rows(directory.trace, (step_to_row(step) for one in refined for step in one.steps))
    # Last: its presence means that the comparison is complete.
    write_rows(directory.results, map(result_to_row, results))


def run_arm(
    x: Experiment,
    directory: RefineDirectory,
    way: Way,
    tasks: Sequence[RefineTask],
    means: Means,
    budgets: Mapping[str, int] | None,
    base: Way | None,
) -> list[Refined]:
    """Refine all tasks in one arm's way, shard by shard, unless that is done.

    `base` is the arm whose tokens those that draw again may use.
    """
    # What may be drawn again depends on what was spent there.
    part = f"{way.name}-as-{base.name}" if way.resamples and base else way.name
    here, size = directory.under_way(part, f"arm {way.name}"), x.config.refine.shard_size
    refined: list[Refined] = []
    for shard, start in enumerate(range(0, len(tasks), size)):
        some = tasks[start : start + size]
        refining = partial(refine_tasks, some, way, means, budgets=budgets)
        refined += x.once(here, shard, REFINED, len(some), refining)
    return refined


def score_all(
    x: Experiment,
    directory: RefineDirectory,
    tasks: Sequence[RefineTask],
    hidden: Sequence[HiddenTests],
    results: Sequence[Result],
) -> list[Result]:
    """Ask the hidden tests of each task about the answer of each arm."""
    by_id = {task.task_id: (task, tests) for task, tests in zip(tasks, hidden, strict=True)}

    def scoring(*, advance: Callable[[int], object]) -> list[Result]:
        asked = [(*by_id[one.task_id], one.source) for one in results]
        verdicts = score(asked, judging_in_evaluation(x.config.judge), advance=advance)
        return [
            replace(
                one,
                solved=verdict is not None and verdict.passed,
                outcome=NO_CANDIDATE if verdict is None else str(verdict.outcome),
            )
            for one, verdict in zip(results, verdicts, strict=True)
        ]

    part = "-".join(["score", *dict.fromkeys(one.arm for one in results)])
    here = directory.under_way(part, "hidden tests")
    return x.once(here, 0, SCORED, len(results), scoring)


def budgets_of(way: Way, spent: Sequence[Refined]) -> Mapping[str, int] | None:
    """Give an arm that draws again with the gate what was spent, task by task."""
    if not (way.resamples and way.gate):
        return None
    return {one.result.task_id: one.result.num_tokens for one in spent}


def within(way: Way, means: Means, spent: Sequence[Refined]) -> Means:
    """Let an arm that draws again without a gate draw as often as what was spent allows.

    As often on every task, whatever the draws turn out to be: that few tokens were spent on a task
    tells that its first candidate passed, and a draw that crosses a budget is a long one.
    """
    if not way.resamples or way.gate:
        return means
    firsts = sum(asked.used.total for one in spent for asked in one.steps[0].calls.values())
    total = sum(one.result.num_tokens for one in spent)
    num_updates = max(0, round(total / max(1, firsts)) - 1)
    return replace(means, config=means.config.model_copy(update={"iterations": num_updates}))


def _digest(tasks: Sequence[RefineTask], hidden: Sequence[HiddenTests]) -> str:
    """Hash tasks and hidden tests, so that a command goes on with the same only."""
    digest = hashlib.sha256()
    for task, tests in zip(tasks, hidden, strict=True):
        digest.update(json.dumps([asdict(task), asdict(tests)]).encode())
    return digest.hexdigest()
