"""`selftrain run`: run self-training rounds, or go on with them."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import add_settings


def add(commands: Any) -> None:
    """Add the command's arguments."""
    run = commands.add_parser("run", help="run self-training rounds, or go on with a run")
    run.set_defaults(run=_run, spreads=True)
    run.add_argument("config", type=Path, help="a YAML file, such as configs/tiny.yaml")
    add_settings(run)
    run.add_argument("--run-dir", type=Path, help="where the run lies (default: runs/NAME)")


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config
    from selftrain.model_source import resolve

    # Before torch and its family are imported, which takes seconds.
    config = load_config(options.config, options.settings)
    for model in (config.model, config.propose.model, config.solve.model):
        if model is not None and model.server is None:
            resolve(model.name)
    from selftrain.run import run

    return run(config, options.run_dir or Path("runs") / options.config.stem)
