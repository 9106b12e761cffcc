"""How this process was started: alone, or as one of several, and what it does then.

Read from what launchers put into the environment; no process is started here.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selftrain.errors import UsageError

if TYPE_CHECKING:
    from selftrain.processes.channel import Channel

_NEEDED = ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


@dataclass(frozen=True, slots=True)
class Launch:
    """This process among those of its launch."""

    rank: int
    """Its number, from 0. Rank 0 is the whole program; the others serve it."""
    size: int
    """Processes in all, two at least."""
    local_rank: int
    """Its number on this machine, from 0, and that of its GPU."""
    local_size: int
    """Processes on this machine."""


def read_launch(environment: Mapping[str, str]) -> Launch | None:
    """Read what the launcher says; None where this process is alone.

    Raises UsageError where several processes are told of by half.
    """
    size = environment.get("WORLD_SIZE", "1")
    if size == "1":
        return None
    missing = [name for name in _NEEDED if not environment.get(name)]
    if missing:
        raise UsageError(
            f"the environment variable WORLD_SIZE is {size}, but there is no {missing[0]}. Start "
            "several processes by `accelerate launch` or `torchrun`, or unset WORLD_SIZE."
        )
    return Launch(
        rank=int(environment["RANK"]),
        size=int(size),
        local_rank=int(environment["LOCAL_RANK"]),
        local_size=int(environment["LOCAL_WORLD_SIZE"]),
    )


def take_part(launch: Launch, command: Callable[[], int], *, spreads: bool) -> int:
    """Run a command as rank 0, or serve it as another one; give the exit code.

    Raises UsageError, once on each machine, for a command that does not spread over processes or
    processes that a machine has no GPUs for; RunError where they do not find each other.
    """
    if launch.rank > 0:
        # Writes nothing and may wait long outside Python, where no handler would be called.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
    _end_with_parent()
    try:
        channel = _join(launch, spreads=spreads)
    except UsageError:
        if launch.local_rank > 0:  # The first one on this machine says the same.
            return 2
        raise
    if launch.rank > 0:
        from selftrain.processes.serve import serve

        serve(channel)
    from selftrain.processes.crew import lead

    with lead(channel):
        return command()


def _join(launch: Launch, *, spreads: bool) -> "Channel":
    """Find the other processes. Raises UsageError, in all of them, and RunError; see `join`."""
    if not spreads:
        raise UsageError(
            f"this command works in one process, and {launch.size} were started. Start it without "
            "`accelerate launch` or `torchrun`."
        )
    from selftrain.processes.channel import join

    return join(launch)


def _end_with_parent() -> None:
    """End this process when its launcher has gone: killed, that could not end it itself."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
