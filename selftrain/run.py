"""The command `selftrain run`: begin a run directory or go on. The rounds are in loop.py."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from puzzles import Puzzle
from selftrain import embeddings, models
from selftrain.claim import RUN, claim, refuse_foreign, working_in
from selftrain.config import Config
from selftrain.dev import split_dev
from selftrain.errors import UsageError
from selftrain.experiment import Experiment, Paused
from selftrain.files import read_json, write_rows
from selftrain.finetune.tracker import check_tracker
from selftrain.held_out import draw_measured
from selftrain.loop import Gather, invent_puzzles, self_train
from selftrain.progress import Progress
from selftrain.provenance import command_line, provenance
from selftrain.puzzle_source import read_splits
from selftrain.references import with_sound_references
from selftrain.report import final_table, write_report
from selftrain.report.spending import spending_line
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
    refuse_foreign(RUN, directory, config)
    refused: list[str] = []
    train, held_out = read_splits(config.puzzles, refused.append)
    if not directory.is_begun():
        critic = config.refine.critic if config.refine.enabled else None
        others = config.propose.model, config.solve.model, critic
        models.check_samplers(config.model, *(one for one in others if not isinstance(one, str)))
    with working_in(directory):
        made_with = provenance(command_line(), config, train, held_out, len(refused), data)
        with claim(RUN, directory, config, made_with):
            return _run(build(config, directory, train, held_out, refused), gather)


def build(
    config: Config,
    directory: RunDirectory,
    train: Sequence[Puzzle],
    held_out: Sequence[Puzzle],
    refused: Sequence[str] = (),
) -> Experiment:
    """Make an experiment in a folder that is claimed, once all reference solutions are judged.

    `refused` says which puzzles could not be read, a sentence each. Raises UsageError where no
    train puzzle is left or a tracker's package is missing, RunError where reference solutions fail.
    """
    check_tracker(config.finetune.tracker)
    progress = Progress(directory.log)
    for sentence in refused:
        progress.say(sentence)
    sound = with_sound_references(train, config, progress)
    shown, dev = split_dev(sound, config.puzzles.num_dev, config.seed)
    # A sweep reads none.
    kept_out = with_sound_references(held_out, config, progress) if held_out else []
    return Experiment(
        config=config,
        run=directory,
        train=shown,
        dev=dev,
        measured=draw_measured(kept_out, config),
        held_out=kept_out,
        progress=progress,
        load=lambda trained: models.load_sampler(config.model, trained),
        load_other=lambda other: models.load_sampler(other),
        embed=lambda texts: embeddings.embed(config.model, texts),
    )


def without_puzzles(config: Config, directory: RunDirectory) -> Experiment:
    """Make an experiment in a folder that is claimed, whose tasks are no puzzles of its own."""
    return Experiment(
        config=config,
        run=directory,
        train=(),
        held_out=(),
        progress=Progress(directory.log),
        load=lambda trained: models.load_sampler(config.model, trained),
        load_other=lambda other: models.load_sampler(other),
    )


def _run(experiment: Experiment, gather: Gather) -> int:
    directory, say = experiment.run, experiment.progress.say
    say(f"{directory.path}: {'going on' if directory.is_begun() else 'a new run'}")
    if not directory.round(experiment.config.rounds).metrics.exists():
        experiment.reach_others()
        experiment.reach_verifier()
    try:
        for here in self_train(experiment, gather):
            if here.number == len(directory.complete_rounds()) - 1:
                _publish(directory)
    except Paused as paused:
        say(f"Paused: {paused}. The same command goes on; limits may be changed for it.")
        return 0
    told = [final_table(directory), spending_line(directory)]
    files = f"{directory.report_markdown}\n{directory.report_html}"
    print("", *filter(None, told), "", files, sep="\n")
    return 0


def _publish(directory: RunDirectory) -> None:
    """Write what a person reads after a round: the metrics of all rounds, and the reports."""
    write_rows(directory.metrics, (read_json(r.metrics) for r in directory.complete_rounds()))
    write_report(directory, with_timings=False)
