"""`selftrain train`: train a model on a file of pairs, and measure it before and after."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import add_settings


def add(commands: Any) -> None:
    """Add the command's arguments."""
    train = commands.add_parser("train", help="train a model on a file of pairs, and measure it")
    train.set_defaults(run=_run, spreads=True)
    train.add_argument("pairs", type=Path, help="JSONL (.gz too): 'f' and 'g' a line, or 'bodies'")
    add_settings(train)
    train.add_argument("--config", type=Path, help="take the settings of this file first")
    train.add_argument("--split", help="read the rows with this 'split' only")
    train.add_argument(
        "--run-dir", type=Path, help="where the run lies (default: runs/NAME of the pairs)"
    )


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config
    from selftrain.model_source import resolve

    # Before torch and its family are imported, which takes seconds.
    config = load_config(options.config, options.settings)
    resolve(config.model.name)
    from selftrain.train_pairs import train_pairs

    name = options.pairs.name.partition(".")[0]
    folder = options.run_dir or Path("runs") / name
    return train_pairs(config, options.pairs, options.split, folder)
