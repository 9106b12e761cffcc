"""`selftrain lever`: train a verifier, rank candidates by it, measure rankings."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import add_settings

ARMS = {
    "no-execution": "read no results",
    "type-only": "read the types of results alone",
    "no-program": "read no programs",
}


def add(commands: Any) -> None:
    """Add the command's own commands and their arguments."""
    lever = commands.add_parser("lever", help="learn to rank candidates that no checker has seen")
    parts = lever.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_train_and_evaluate(parts)
    _add_rank(parts)


def _add_train_and_evaluate(parts: Any) -> None:
    train = parts.add_parser("train", help="sample and execute candidates, train a verifier")
    evaluate = parts.add_parser(
        "evaluate", help="the same, then measure rankings against each other; report them"
    )
    for command in (train, evaluate):
        command.set_defaults(run=_run, spreads=True, evaluate=command is evaluate)
        command.add_argument(
            "config", type=Path, help="a YAML file, such as configs/lever-tiny.yaml"
        )
        add_settings(command)
        for split in ("train", "dev", "test"):
            command.add_argument(
                f"--{split}", metavar="TASKS", help=f"the same as lever.{split}=TASKS"
            )
        command.add_argument("--run-dir", type=Path, help="where all lies (default: runs/NAME)")
        _add_arms(command, "train one verifier alone, and let it {}")
    _add_no_groups(evaluate)


def _add_rank(parts: Any) -> None:
    rank = parts.add_parser("rank", help="rank the candidates of tasks by a trained verifier")
    rank.set_defaults(run=_rank, spreads=True)
    rank.add_argument("verifier", type=Path, help="a folder of `selftrain lever train`")
    rank.add_argument(
        "tasks",
        help="a file of tasks, or puzzles, humaneval:FILE, mbpp:FILE, questions:FILE, run:FOLDER",
    )
    add_settings(rank)
    rank.add_argument("--output", type=Path, help="write a row a task to this file")
    _add_arms(rank, "take the verifier that was trained to {}")
    _add_no_groups(rank)


def _add_no_groups(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--no-groups", action="store_true", help="do not pool programs of the same result"
    )


def _add_arms(command: argparse.ArgumentParser, what: str) -> None:
    only = command.add_mutually_exclusive_group()
    for arm, reading in ARMS.items():
        only.add_argument(
            f"--{arm}", dest="arm", action="store_const", const=arm, help=what.format(reading)
        )


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config

    sources = {split: getattr(options, split) for split in ("train", "dev", "test")}
    settings = list(options.settings)
    settings += [f"lever.{split}={tasks}" for split, tasks in sources.items() if tasks]
    if options.arm:
        settings.append(f"lever.arms=[{options.arm}]")
    if options.evaluate and options.no_groups:
        settings.append("verifier.groups=false")
    config = load_config(options.config, settings)
    from selftrain.verifier.lever import lever

    folder = options.run_dir or Path("runs") / options.config.stem
    return lever(config, folder, evaluate=options.evaluate)


def _rank(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config

    settings = [*options.settings, *(["verifier.groups=false"] if options.no_groups else [])]
    # What it learnt from was sampled so, and a score is of the same kind.
    near = (options.verifier, *options.verifier.resolve().parents[:2])
    found = (folder / "config.yaml" for folder in near)
    config = load_config(next((path for path in found if path.is_file()), None), settings)
    from selftrain.verifier.rank_file import rank_file

    return rank_file(config, options.verifier, options.arm, options.tasks, options.output)
