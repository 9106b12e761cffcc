"""`selftrain ablate`: compare training on verified, unverified, wrong and human pairs."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import add_settings


def add(commands: Any) -> None:
    """Add the command's arguments."""
    ablate = commands.add_parser(
        "ablate", help="compare training on verified, unverified, wrong and human pairs"
    )
    ablate.set_defaults(run=_run, spreads=True)
    ablate.add_argument("config", type=Path, help="a YAML file, such as configs/tiny.yaml")
    add_settings(ablate)
    ablate.add_argument(
        "--run-dir", type=Path, help="where the ablation lies (default: runs/NAME-ablation)"
    )


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config
    from selftrain.model_source import resolve

    # Before torch and its family are imported, which takes seconds.
    config = load_config(options.config, options.settings)
    resolve(config.model.name)
    from selftrain.ablation.ablate import ablate

    return ablate(config, options.run_dir or Path("runs") / f"{options.config.stem}-ablation")
