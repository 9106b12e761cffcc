"""The commands, a file each: its arguments, and a call of the code that does the work."""

from typing import Any

from selftrain.commands import audit, check, evaluate, judge, report, run


def add_commands(commands: Any) -> None:
    """Add every command, in the order in which help lists them."""
    for command in (run, evaluate, judge, check, audit, report):
        command.add(commands)
