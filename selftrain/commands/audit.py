"""`selftrain audit`: put known attacks and honest programs through the judge."""

import argparse
from typing import Any

from selftrain.commands.arguments import MODE_HELP, MODES, whole_number

FUEL = 4_000_000_000


def add(commands: Any) -> None:
    """Add the command's arguments."""
    audit = commands.add_parser("audit", help="judge known attacks and honest programs")
    audit.set_defaults(run=_run)
    audit.add_argument("--fuel", type=whole_number, default=FUEL, help="instructions a stage")
    audit.add_argument("--mode", choices=MODES, default="strict", help=MODE_HELP)
    audit.add_argument("--workers", type=whole_number, default=2, help="processes that judge")


def _run(options: argparse.Namespace) -> int:
    from selftrain.audit import audit_judge

    return audit_judge(options.fuel, options.workers, options.mode)
