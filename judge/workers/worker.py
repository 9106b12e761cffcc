"""What runs in a worker: one call, and a watch on its parent.

A worker says with each result what it judges with. Not here: what is made of that (pool.py), and
how a worker starts (loky.py, ray.py, dask.py).
"""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from judge.identity import engine_version, guest_fingerprint, guest_hash, judge_hash

WATCH_SECONDS = 1.0
"""How often a worker looks whether its parent is still there."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Identity:
    """What a process judges with; two that have the same give the same verdicts."""

    guest: str
    """What the guest is built from (guest_hash)."""
    code: str
    """What judges beside it (judge_hash)."""
    engine: str
    """Name and version of the engine."""
    fingerprint: str
    """How the guest that was built behaves (guest_fingerprint)."""

    def __str__(self) -> str:
        return (
            f"judge {self.code} with guest {self.guest} that behaves as {self.fingerprint} in "
            f"{self.engine}"
        )


@dataclass(frozen=True, slots=True)
class Returned(Generic[R]):
    """What comes back from a worker."""

    host: str
    """The machine it ran on."""
    identity: Identity
    """The judge of the worker."""
    result: R
    """What the function returned."""


@cache
def identity() -> Identity:
    """Return what this process judges with; builds the guest where there is none."""
    return Identity(guest_hash(), judge_hash(), engine_version(), guest_fingerprint())


def call_in_worker(task: tuple[Callable[[T], R], T]) -> Returned[R]:
    """Call the function on the item."""
    function, item = task
    return Returned(socket.gethostname(), identity(), function(item))


def end_with_parent(parent: int | None = None) -> None:
    """Let this worker end soon after its parent does; loky's would wait for minutes or for ever.

    Who starts it says its own process number, since it may be gone before the worker can ask.
    Ctrl-C reaches a worker too, but is the parent's to answer. A Ray worker's parent is its node.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid() if parent is None else parent

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
