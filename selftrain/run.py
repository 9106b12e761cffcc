"""The command `selftrain run`: prepares a run directory, or takes up an old one, and lets the loop
work.
"""

from pathlib import Path

from filelock import FileLock, Timeout

from judge import JudgeError
from selftrain import models
from selftrain.config import Config
from selftrain.config_file import differences, load_config, save_config
from selftrain.errors import RunError, UsageError
from selftrain.experiment import Experiment, Paused
from selftrain.files import read_json, write_json, write_rows
from selftrain.loop import self_train
from selftrain.progress import Progress
from selftrain.provenance import command_line, provenance
from selftrain.puzzle_source import read_split
from selftrain.report import final_table, write_report
from selftrain.run_directory import RunDirectory


def run(config: Config, folder: Path) -> int:
    """Run an experiment in `folder`, or go on with it. Raises UsageError or RunError."""
    models.resolve(config.model.name)
    directory = RunDirectory(folder)
    _refuse_foreign(directory, config)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: no run can be kept there ({error.strerror}).") from None
    try:
        with FileLock(directory.lock, timeout=0):
            return _run(_prepare(config, directory))
    except Timeout:
        raise UsageError(f"{folder}: another process is at work in this run directory.") from None
    except JudgeError as error:
        raise RunError(f"the judge cannot run: {error}") from None


def _refuse_foreign(directory: RunDirectory, config: Config) -> None:
    """Refuse a directory of another configuration; limits only say when to stop, so they may
    change.
    """
    if not directory.config.exists():
        if directory.path.is_dir() and any(directory.path.glob("round-*")):
            raise UsageError(
                f"{directory.path} holds rounds but no config.yaml; choose another --run-dir."
            )
        return
    theirs = load_config(directory.config)
    changed = differences(config, theirs.model_copy(update={"limits": config.limits}))
    if changed:
        raise UsageError(
            f"{directory.path} was made with another configuration ({'; '.join(changed)}). "
            "Choose another run directory with --run-dir."
        )


def _prepare(config: Config, directory: RunDirectory) -> Experiment:
    experiment = Experiment(
        config=config,
        run=directory,
        train=read_split(config.puzzles.train, "train"),
        held_out=read_split(config.puzzles.held_out, "held_out"),
        progress=Progress(directory.log),
        load=lambda trained: models.load_sampler(config.model, trained),
    )
    if not directory.config.exists():
        save_config(config, directory.config)
    if not directory.provenance.exists():
        write_json(directory.provenance, provenance(command_line(), config.model.name))
    return experiment


def _run(experiment: Experiment) -> int:
    directory, say = experiment.run, experiment.progress.say
    before = len(directory.complete_rounds())
    say(f"{directory.path}: {'going on after round ' + str(before - 1) if before else 'a new run'}")
    try:
        for _ in self_train(experiment):
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
