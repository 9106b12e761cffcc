"""The command `selftrain ablate`: begin an ablation or go on. What it does is in pipeline.py."""

import json
from collections.abc import Sequence
from pathlib import Path

from selftrain import models
from selftrain.ablation.arms import Arm, arms_of, check_arms, generators_of
from selftrain.ablation.directory import AblationDirectory
from selftrain.ablation.page import terminal_text, write_pages
from selftrain.ablation.pipeline import run_arms, seeds_of
from selftrain.ablation.results import Result, read_results, write_results
from selftrain.claim import ABLATION, claim, refuse_foreign, working_in
from selftrain.config import Config
from selftrain.config_file import save_config
from selftrain.experiment import Experiment, Paused
from selftrain.provenance import command_line, describe_model, provenance
from selftrain.puzzle_source import read_splits
from selftrain.run import build


def ablate(config: Config, folder: Path) -> int:
    """Run an ablation in `folder`, or go on with it. Raises UsageError or RunError."""
    directory = AblationDirectory(folder)
    arms = arms_of(config)
    # The number of tokens may change as long as no arm was trained on it.
    may_change = () if directory.has_data() else ("ablate.train_tokens",)
    refused: list[str] = []
    train, held_out = read_splits(config.puzzles, refused.append)
    check_arms(config, arms, train)
    refuse_foreign(ABLATION, directory.run, config, may_change)
    generators = generators_of(config)
    if not directory.is_begun():
        others_of = (config.propose.model, config.solve.model)
        models.check_samplers(config.model, *others_of, *(g.model for g in generators))
    with working_in(directory.run):
        others = {g.label: json.dumps(describe_model(g.model)) for g in generators if g.label}
        made_with = provenance(command_line(), config, train, held_out, len(refused), others)
        with claim(ABLATION, directory.run, config, made_with, may_change):
            save_config(config, directory.run.config)
            return _run(build(config, directory.run, train, held_out, refused), directory, arms)


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
