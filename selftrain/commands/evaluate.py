"""`selftrain evaluate`: measure Pass@k of any model."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import add_settings


def add(commands: Any) -> None:
    """Add the command's arguments."""
    evaluate = commands.add_parser("evaluate", help="measure Pass@k of a model")
    evaluate.set_defaults(run=_run, spreads=True)
    evaluate.add_argument("model", help="builtin:tiny, a model folder, or a hub id")
    add_settings(evaluate)
    evaluate.add_argument("--config", type=Path, help="take the settings of this file first")
    evaluate.add_argument(
        "--tasks",
        help="builtin, p3, p3-all (all instances of a problem), humaneval, each but the first also"
        " with :PATH of a copy, or a JSONL file of puzzles (default: puzzles.held_out)",
    )
    evaluate.add_argument("--output", type=Path, help="write a row a puzzle to this file")


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config
    from selftrain.model_source import resolve

    config = load_config(options.config, options.settings)
    if config.model.server is None:
        resolve(options.model)
    from selftrain.evaluate_model import evaluate_model

    return evaluate_model(config, options.model, options.tasks, options.output)
