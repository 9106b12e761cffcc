"""The command `selftrain lever`: tasks, verifiers, scores, and what came out, each once.

What is finished is not done again: the same command goes on after a kill, and ends with the same
bytes. Where tasks come from is in sources.py, how a verifier learns in learn.py, how rankings are
measured in measure.py.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from selftrain.claim import LEVER, claim, refuse_foreign, working_in
from selftrain.config import Config
from selftrain.errors import UsageError
from selftrain.experiment import Experiment, Paused
from selftrain.files import read_rows, write_rows
from selftrain.provenance import command_line, describe_model, provenance
from selftrain.run import without_puzzles
from selftrain.seeds import derive_seed
from selftrain.verifier.arms import Learner, learners
from selftrain.verifier.directory import SPLITS, LeverDirectory, Split
from selftrain.verifier.learning.train import train_verifier
from selftrain.verifier.tasks.outline import Outline, digest
from selftrain.verifier.tasks.sources import complete, outlines, refuse_overlapping
from selftrain.verifier.tasks.task import Task
from selftrain.verifier.tasks.task_file import TASKS, task_from_row

_MAY_CHANGE = (
    "lever.arms",
    "lever.train_sizes",
    "lever.max_risk",
    "verifier.groups",
    "verifier.likelihood",
)
"""Settings that no task and no verifier depends on: what is there stays good."""


def lever(config: Config, folder: Path, *, evaluate: bool) -> int:
    """Train the verifiers of a configuration in `folder`, or go on with it; then measure them.

    Raises UsageError or RunError.
    """
    directory = LeverDirectory(folder)
    refuse_foreign(LEVER, directory.run, config, _MAY_CHANGE)
    there = outlines(config)
    refuse_overlapping(there)
    with working_in(directory.run):
        data: dict[str, str] = {split: digest(there[split]) for split in SPLITS}
        data["verifier"] = str(describe_model(config.verifier.model))
        made_with = provenance(command_line(), config, (), (), data=data)
        with claim(LEVER, directory.run, config, made_with, _MAY_CHANGE):
            return _run(without_puzzles(config, directory.run), directory, there, evaluate=evaluate)


def _run(
    x: Experiment, directory: LeverDirectory, there: Mapping[Split, Outline], *, evaluate: bool
) -> int:
    x.progress.say(f"{directory.path}: {'going on' if directory.is_begun() else 'a new verifier'}")
    try:
        tasks = {split: make_tasks(x, directory, split, there[split]) for split in SPLITS}
        for learner in learners(x.config):
            make_verifier(x, directory, learner, tasks)
            if evaluate:
                for split in SPLITS[1:]:
                    score(x, directory, learner, split, tasks[split])
    except Paused as paused:
        x.progress.say(f"Paused: {paused}. The same command goes on; limits may be changed for it.")
        return 0
    if not evaluate:
        print(*(directory.verifier(one.name) for one in learners(x.config)), sep="\n")
        print(f"\nnext: selftrain lever rank {directory.path} TASKS")
        return 0
    from selftrain.verifier.report.page import publish

    publish(directory, x.config, tasks)
    return 0


def make_tasks(
    x: Experiment, directory: LeverDirectory, split: Split, outline: Outline
) -> list[Task]:
    """Sample, execute and label the candidates of a split, shard by shard, unless that is done."""
    path, here = directory.tasks(split), directory.under_way(split)
    if not path.exists():
        sampler = x.generator(0)
        size = x.config.evaluate.shard_size
        for shard, start in enumerate(range(0, len(outline.items), size)):
            some = outline.items[start : start + size]
            making = partial(complete, outline, some, x.config, sampler)
            x.once(here, shard, TASKS, outline.num_units(len(some)), making)
        x.release(sampler)
        outline.release()
        write_rows(path, here.rows(TASKS.stage))
    directory.remove_shards(split)
    tasks = [task_from_row(row) for row in read_rows(path)]
    if not tasks:
        raise UsageError(f"lever.{split}: it holds no task. Name a source with at least one.")
    return tasks


def make_verifier(
    x: Experiment,
    directory: LeverDirectory,
    learner: Learner,
    tasks: Mapping[Split, Sequence[Task]],
) -> None:
    """Train one verifier, unless it is there."""
    folder = directory.verifier(learner.name)
    if folder.exists():
        return
    c = learner.settings(x.config.verifier)
    x.progress.say(f"verifier {learner.name}: {learner.describe()}")
    with x.timed(directory.training(learner.name), "train", 0, c.steps) as advance:
        train_verifier(
            folder,
            c,
            learner.reads(c),
            learner.choose(tasks["train"], x.config.seed),
            tasks["dev"],
            seed=derive_seed(x.config.seed, "verifier"),  # the same for all
            advance=advance,
        )


def score(
    x: Experiment,
    directory: LeverDirectory,
    learner: Learner,
    split: Split,
    tasks: Sequence[Task],
) -> None:
    """Let a verifier read the candidates of a split, unless it has."""
    from selftrain.verifier.learning.network import load
    from selftrain.verifier.learning.score import log_odds

    path = directory.scores(learner.name, split)
    if path.exists():
        return
    num_candidates = sum(len(task.candidates) for task in tasks)
    with x.timed(directory.training(learner.name), f"score {split}", 0, num_candidates) as advance:
        verifier = load(directory.verifier(learner.name), x.config.verifier.model)
        batch_size = x.config.verifier.model.batch_size
        found = log_odds(verifier, tasks, batch_size=batch_size, advance=advance)
        write_rows(
            path,
            (
                {"task_id": task.task_id, "log_odds": list(odds)}
                for task, odds in zip(tasks, found, strict=True)
            ),
        )
