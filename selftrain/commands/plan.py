"""`selftrain plan`: say what a run will take, before it runs."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import add_settings


def add(commands: Any) -> None:
    """Add the command's arguments."""
    plan = commands.add_parser("plan", help="say what a run will take: counts, bytes, time")
    plan.set_defaults(run=_run)
    plan.add_argument("config", type=Path, help="a YAML file, such as configs/tiny.yaml")
    add_settings(plan)
    plan.add_argument(
        "--probe",
        action=argparse.BooleanOptionalAction,
        help="measure this machine for a minute, whatever has to be downloaded for it or asked of "
        "a server; or do not (default: measure where the weights are here)",
    )


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config
    from selftrain.model_source import resolve

    config = load_config(options.config, options.settings)
    resolve(config.model.name)
    from selftrain.plan.show import show_plan

    return show_plan(config, options.config, options.settings, options.probe)
