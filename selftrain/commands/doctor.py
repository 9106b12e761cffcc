"""`selftrain doctor`: look at a model and its tokenizer before a run."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import add_settings


def add(commands: Any) -> None:
    """Add the command's arguments."""
    doctor = commands.add_parser("doctor", help="look at a model and its tokenizer before a run")
    doctor.set_defaults(run=_run)
    doctor.add_argument(
        "model", help="builtin:tiny, a model folder, a GGUF file, a hub id, or a server's model"
    )
    add_settings(doctor)
    doctor.add_argument("--config", type=Path, help="take the settings of this file first")


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config
    from selftrain.model_source import resolve

    config = load_config(options.config, options.settings)
    model = config.model.model_copy(update={"name": options.model})
    if model.server is None:
        resolve(model.name)
    from selftrain.doctor.examine import examine

    return examine(config.model_copy(update={"model": model}))
