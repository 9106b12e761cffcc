"""The commands, a file each: its arguments, and a call of the code that does the work."""

from typing import Any

from selftrain.commands import (
    ablate,
    audit,
    check,
    diversity,
    doctor,
    evaluate,
    export,
    judge,
    lever,
    pass_at_k,
    plan,
    refine,
    report,
    run,
    sweep,
    train,
    why,
)


def add_commands(commands: Any) -> None:
    """Add every command, in the order in which help lists them."""
    for command in (
        *(run, plan, evaluate, sweep, ablate, train, lever, refine),
        *(report, why, diversity, export),
        *(judge, pass_at_k, check, audit, doctor),
    ):
        command.add(commands)
