"""Kinds of arguments that several commands take."""

import argparse
from typing import get_args

from judge import Mode

MODES = get_args(Mode)
MODE_HELP = "each program alone, or the attempts at one f together first (default: strict)"


def whole_number(text: str) -> int:
    """Read a whole number from 1 on."""
    if not text.isdecimal() or not 1 <= int(text) < 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 2^63 - 1")
    return int(text)


def add_settings(command: argparse.ArgumentParser) -> None:
    """Let a command take settings, before and after its options."""
    # Without a default, argparse would call them required.
    command.add_argument(
        "settings", nargs="*", default=[], metavar="section.key=value", help="settings on top"
    )
