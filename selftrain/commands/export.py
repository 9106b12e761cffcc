"""`selftrain export`: a run's data and model as folders that others' tools read."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import whole_number


def add(commands: Any) -> None:
    """Add the command's arguments."""
    export = commands.add_parser("export", help="write a run's data and model for others' tools")
    export.set_defaults(run=_run)
    export.add_argument("run_dir", type=Path, help="a run directory, such as runs/tiny")
    export.add_argument("--output", type=Path, help="a new folder (default: RUN-round-NUMBER)")
    export.add_argument("--round", type=whole_number, help="which round (default: the last)")
    export.add_argument(
        "--merged", action="store_true", help="whole weights also where an adapter was trained"
    )


def _run(options: argparse.Namespace) -> int:
    from selftrain.export import export

    return export(options.run_dir, options.output, options.round, merged=options.merged)
