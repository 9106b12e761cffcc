"""`selftrain refine`: refine candidates by a critic's edits behind a gate, in several arms."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import add_settings


def add(commands: Any) -> None:
    """Add the command's arguments."""
    refine = commands.add_parser(
        "refine", help="refine candidates by a critic's edits, beside drawing again; one table"
    )
    refine.set_defaults(run=_run, spreads=True)
    refine.add_argument("config", type=Path, help="a YAML file, such as configs/refine-tiny.yaml")
    add_settings(refine)
    refine.add_argument("--run-dir", type=Path, help="where all lies (default: runs/NAME)")


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config

    config = load_config(options.config, options.settings)
    from selftrain.refine.refine import refine

    return refine(config, options.run_dir or Path("runs") / options.config.stem)
