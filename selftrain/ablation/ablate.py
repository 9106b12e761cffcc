"""The command `selftrain ablate`: begin an ablation or go on. What it does is in pipeline.py."""

import json
from collections.abc import Sequence
from pathlib import Path

from selftrain.ablation.arms import Arm, arms_of, check_arms, generators_of
from selftrain.ablation.directory import AblationDirectory
from selftrain.ablation.page import terminal_text, write_pages
from selftrain.ablation.pipeline import run_arms, seeds_of
from selftrain.ablation.results import Result, read_results, write_results
from selftrain.config import Config
from selftrain.config_file import load_config, save_config
from selftrain.errors import RunError, UsageError
from selftrain.experiment import Experiment, Paused
from selftrain.provenance import describe_model
from selftrain.puzzle_source import read_splits
from selftrain.run import prepare, refuse_foreign, working_in


def ablate(config: Config, folder: Path) -> int:
    """Run an ablation in `folder`, or go on with it. Raises UsageError or RunError."""
    directory = AblationDirectory(folder)
    arms = arms_of(config)
    refused: list[str] = []
    train, held_out = read_splits(config.puzzles, refused.append)
    check_arms(config, arms, train)
    _refuse_other(directory, config)
    with working_in(directory.run):
        try:
            others = {
                g.label: json.dumps(describe_model(g.model))
                for g in generators_of(config)
                if g.label
            }
            x = prepare(config, directory.run, train, held_out, refused, others)
            save_config(config, directory.run.config)
            return _run(x, directory, arms)
        except (UsageError, RunError):
            if not directory.is_begun():  # What was refused at the first start claims no directory.
                directory.run.config.unlink(missing_ok=True)
                directory.run.provenance.unlink(missing_ok=True)
            raise


def _refuse_other(directory: AblationDirectory, config: Config) -> None:
    """Refuse the directory of a run or of another ablation.

    Limits may change, and the number of tokens as long as no arm was trained on it.
    """
    if directory.run.is_begun():
        raise UsageError(f"{directory.path} holds a run. Choose another with --run-dir.")
    if not directory.run.config.exists():
        if directory.is_begun():
            raise UsageError(f"{directory.path} holds pools but no config.yaml; choose another.")
        return
    if not directory.has_data():
        theirs = load_config(directory.run.config).ablate.train_tokens
        same = config.ablate.model_copy(update={"train_tokens": theirs})
        config = config.model_copy(update={"ablate": same})
    refuse_foreign(directory.run, config)


def _run(x: Experiment, directory: AblationDirectory, arms: Sequence[Arm]) -> int:
    say, seeds = x.progress.say, seeds_of(x)
    begun = "going on with" if directory.is_begun() else "a new ablation of"
    say(f"{directory.path}: {begun} {len(arms)} arms in {len(seeds)} seeds")
    results: list[Result] = []
    try:
        for number, _ in enumerate(run_arms(x, directory, arms), start=1):
            # Seeds that an earlier process measured are in the table of a later one.
            if not any(directory.arm(arms[0], seed).metrics.exists() for seed in seeds[number:]):
                results = _publish(x, directory, arms, seeds[:number])
    except Paused as paused:
        say(f"Paused: {paused}. The same command goes on; limits may be changed for it.")
        return 0
    print(f"\n{terminal_text(results, x.config.evaluate.k)}\n")
    print(directory.report_markdown, directory.report_html, sep="\n")
    return 0


def _publish(
    x: Experiment, directory: AblationDirectory, arms: Sequence[Arm], seeds: Sequence[int]
) -> list[Result]:
    """Write what a person reads, of the seeds that are complete."""
    c = x.config
    results = read_results(directory, arms, seeds, c.evaluate.k, c.seed)
    write_results(directory, results)
    write_pages(directory, c, results)
    return results
