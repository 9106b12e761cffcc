"""`selftrain why`: from an example back to all that it came from, or what arms did on a task."""

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Add the command's arguments."""
    why = commands.add_parser("why", help="from an example back to all that it came from")
    why.set_defaults(run=_run)
    why.add_argument("run_dir", type=Path, help="a run directory, such as runs/tiny")
    why.add_argument(
        "id",
        help="a name as in 4-examples.jsonl (001-000012, or 001-000012/3 for one attempt), a "
        "puzzle's hash, the beginning of one, or a held-out puzzle's name; in the directory of a "
        "`selftrain refine`, a task's id",
    )
    why.add_argument("--arm", help="of refinements, the one arm to tell of (default: all)")


def _run(options: argparse.Namespace) -> int:
    from selftrain.why import why

    return why(options.run_dir, options.id, options.arm)
