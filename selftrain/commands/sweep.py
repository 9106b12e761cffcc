"""`selftrain sweep`: choose a sampling temperature on the dev puzzles."""

import argparse
import math
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import add_settings

TEMPERATURES = (0.2, 0.4, 0.6, 0.8, 1.0)


def add(commands: Any) -> None:
    """Add the command's arguments."""
    sweep = commands.add_parser("sweep", help="measure Pass@k by temperature, on dev puzzles")
    sweep.set_defaults(run=_run, spreads=True)
    sweep.add_argument("model", help="builtin:tiny, a model folder, or a hub id")
    add_settings(sweep)
    sweep.add_argument(
        "--temperatures",
        type=_temperatures,
        default=TEMPERATURES,
        help="above 0, with commas between (default: 0.2,0.4,0.6,0.8,1.0)",
    )
    sweep.add_argument("--config", type=Path, help="take the settings of this file first")
    sweep.add_argument(
        "--output", type=Path, help="folder of rows, table and plot (default: sweeps/MODEL)"
    )


def _temperatures(text: str) -> tuple[float, ...]:
    """Read temperatures, each once, lowest first."""
    try:
        found = {float(part) for part in text.split(",")}
    except ValueError:
        found = set()
    if not found or not all(math.isfinite(each) and each > 0 for each in found):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no list of numbers above 0, such as 0.2,0.8 (greedy is measured anyway)"
        )
    return tuple(sorted(found))


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config
    from selftrain.model_source import resolve

    config = load_config(options.config, options.settings)
    named = config.model.model_copy(update={"name": options.model})
    if named.server is None:
        resolve(named.name)  # Before torch and its family are imported, which takes seconds.
    from selftrain.sweep import sweep

    folder = options.output or Path("sweeps") / Path(options.model).name.replace(":", "-")
    return sweep(config.model_copy(update={"model": named}), options.temperatures, folder)
