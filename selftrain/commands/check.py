"""`selftrain check`: judge every reference solution."""

import argparse
from typing import Any

from selftrain.commands.arguments import whole_number


def add(commands: Any) -> None:
    """Add the command's arguments."""
    check = commands.add_parser("check", help="judge every reference solution")
    check.set_defaults(run=_run)
    check.add_argument(
        "--tasks",
        default="builtin",
        help="builtin, p3, p3-all (all instances of a problem), p3:FOLDER, p3-all:FOLDER, or a"
        " JSONL file of puzzles (default: builtin)",
    )
    check.add_argument("--workers", type=whole_number, default=2, help="processes that judge")


def _run(options: argparse.Namespace) -> int:
    from selftrain.check import check

    return check(options.tasks, options.workers)
