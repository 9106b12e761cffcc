"""The command `selftrain run`: begin a run directory or go on. The rounds are in loop.py."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from puzzles import Puzzle
from selftrain import embeddings, models
from selftrain.config import Config
from selftrain.config_file import differences, load_config, save_config
from selftrain.dev import split_dev
from selftrain.errors import RunError, UsageError
from selftrain.experiment import Experiment, Paused
from selftrain.files import read_json, write_json, write_rows
from selftrain.loop import Gather, invent_puzzles, self_train
from selftrain.progress import Progress
from selftrain.provenance import command_line, provenance, what_changed
from selftrain.puzzle_source import read_splits
from selftrain.references import with_sound_references
from selftrain.report import final_table, write_report
from selftrain.run_directory import RunDirectory


def run(
    config: Config,
    folder: Path,
    *,
    gather: Gather = invent_puzzles,
    data: Mapping[str, str] | None = None,
) -> int:
    """Run an experiment in `folder`, or go on with it. Raises UsageError or RunError.

    `gather` writes what a round trains on; `data` are hashes of what it reads besides.
    """
    if config.model.server:
        raise UsageError(
            "model.server: a model that is trained cannot be a server's. Name the server in "
            "propose.model and solve.model, and in model the one that learns."
        )
    directory = RunDirectory(folder)
    refuse_foreign(directory, config)
    refused: list[str] = []
    train, held_out = read_splits(config.puzzles, refused.append)
    with working_in(directory):
        try:
            x = prepare(config, directory, train, held_out, refused, data or {})
            return _run(x, gather)
        except (UsageError, RunError):
            if not directory.is_begun():  # What was refused at the first start claims no directory.
                directory.config.unlink(missing_ok=True)
                directory.provenance.unlink(missing_ok=True)
            raise


@contextmanager
def working_in(directory: RunDirectory) -> Iterator[None]:
    """Hold a run directory while the block runs. Raises UsageError where another process does."""
    try:
        directory.path.mkdir(parents=True, exist_ok=True)
        with FileLock(directory.lock, timeout=0):
            yield
    except Timeout:
        raise UsageError(
            f"{directory.path}: another process is at work in it; it reports as it goes on."
        ) from None
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise UsageError(
            f"{directory.path}: no run can be kept there ({error.strerror})."
        ) from None


def refuse_foreign(directory: RunDirectory, config: Config) -> None:
    """Refuse a directory of another configuration; limits may change."""
    if not directory.config.exists():
        if directory.is_begun():
            raise UsageError(f"{directory.path} holds rounds but no config.yaml; choose another.")
        return
    theirs = load_config(directory.config)
    changed = differences(config, theirs.model_copy(update={"limits": config.limits}))
    if changed:
        raise UsageError(
            f"{directory.path} was made with another configuration ({'; '.join(changed)}). "
            "Choose another run directory with --run-dir."
        )


def prepare(
    config: Config,
    directory: RunDirectory,
    train: list[Puzzle],
    held_out: list[Puzzle],
    refused: Sequence[str] = (),
    data: Mapping[str, str] | None = None,
) -> Experiment:
    """Claim a directory for an experiment, or check that it goes on with what it began with.

    `refused` says which puzzles could not be read, a sentence each. Raises UsageError where
    anything has changed, RunError where reference solutions fail.
    """
    made_with = provenance(command_line(), config, train, held_out, len(refused), data)
    if directory.provenance.exists():
        changed = what_changed(read_json(directory.provenance), made_with)
        if changed:
            raise UsageError(
                f"{directory.path} was made with another {changed}. Put the old one back, or "
                "choose another run directory with --run-dir."
            )
    else:
        save_config(config, directory.config)
        write_json(directory.provenance, made_with)
    progress = Progress(directory.log)
    for sentence in refused:
        progress.say(sentence)
    sound = with_sound_references(train, config, progress)
    shown, dev = split_dev(sound, config.puzzles.num_dev, config.seed)
    return Experiment(
        config=config,
        run=directory,
        train=shown,
        dev=dev,
        held_out=with_sound_references(held_out, config, progress),
        progress=progress,
        load=lambda trained: models.load_sampler(config.model, trained),
        load_other=lambda other: models.load_sampler(other),
        embed=lambda texts: embeddings.embed(config.model, texts),
    )


def _run(experiment: Experiment, gather: Gather) -> int:
    directory, say = experiment.run, experiment.progress.say
    say(f"{directory.path}: {'going on' if directory.is_begun() else 'a new run'}")
    if not directory.round(experiment.config.rounds).metrics.exists():
        experiment.reach_others()
    try:
        for here in self_train(experiment, gather):
            if here.number == len(directory.complete_rounds()) - 1:
                _publish(directory)
    except Paused as paused:
        say(f"Paused: {paused}. The same command goes on; limits may be changed for it.")
        return 0
    print(f"\n{final_table(directory)}\n\n{directory.report_markdown}\n{directory.report_html}")
    return 0


def _publish(directory: RunDirectory) -> None:
    """Write what a person reads after a round: the metrics of all rounds, and the reports."""
    write_rows(directory.metrics, (read_json(r.metrics) for r in directory.complete_rounds()))
    write_report(directory, with_timings=False)
