"""Threads with a deep stack, on which the engine runs.

How much of the machine's stack a guest's frame takes depends on the processor, so the end of that
stack must never decide a verdict: the guest's own limits have to come first. The main thread's
stack is too small for that, and nothing but a thread's can be chosen.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from typing import ParamSpec, TypeVar

STACK_BYTES = 160 << 20
"""Two instances, one called from the other, may use 64 MiB each; untouched, it is no memory."""
MAX_THREADS = 64
"""Callers at once that have a deep thread each; more of them wait."""
P = ParamSpec("P")
R = TypeVar("R")
LOCK = threading.Lock()
HERE = threading.local()


def deep(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function run on a deep stack, whichever thread calls it."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if hasattr(HERE, "is_deep"):
            return function(*args, **kwargs)
        with LOCK:
            before = threading.stack_size(STACK_BYTES)
            try:
                future = threads(os.getpid()).submit(function, *args, **kwargs)
            finally:
                threading.stack_size(before)
        return future.result()

    return call


@cache
def threads(process: int) -> ThreadPoolExecutor:
    """Return the deep threads of a process; a child of a fork has none of its parent's."""
    return ThreadPoolExecutor(MAX_THREADS, "judge", initializer=mark)


def mark() -> None:
    """Say that this thread is a deep one."""
    HERE.is_deep = True
