"""Sends calls to workers and checks what comes back; opens a pool anew when some of them died.

Not here: what a pool is made of (loky.py, ray.py, dask.py), and what a worker does (worker.py).
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import TypeAlias, TypeVar

from joblib import Parallel, delayed

from judge.records import JudgeError
from judge.workers.worker import Returned, call_in_worker, identity

MAX_ATTEMPTS = 3
"""How often a batch is tried whose workers die."""

OpenPool: TypeAlias = Callable[[], AbstractContextManager[Parallel]]
"""Starts processes, or takes them from a cluster; asked again when some of them died."""
T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """Workers, started when they are first needed, and anew after some of them died."""

    def __init__(self, open_pool: OpenPool, losses: tuple[type[BaseException], ...]) -> None:
        self.open_pool = open_pool
        self.losses = losses
        self.opened = ExitStack()
        self.parallel: Parallel | None = None

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Return function(item) of each, in order; what function raises is raised here.

        Raise JudgeError if workers died in each of three attempts, or if they judge otherwise.
        """
        for _ in range(MAX_ATTEMPTS):
            try:
                return [checked(returned) for returned in self.call(function, items)]
            except self.losses as error:
                reason = error
        raise JudgeError(
            f"workers of the judge died {MAX_ATTEMPTS} times in a batch: {in_short(reason)}. "
            "Is memory short? Try fewer workers"
        ) from reason

    def call(self, function: Callable[[T], R], items: Sequence[T]) -> list[Returned[R]]:
        """Call the function on every item, once."""
        if self.parallel is None:
            self.parallel = self.opened.enter_context(self.open_pool())
        try:
            # One argument, a small tuple: joblib's backends for Ray and Dask would put a larger
            # one on a single node, and lose it there, before the task runs on another.
            returned: list[Returned[R]] = self.parallel(
                delayed(call_in_worker)((function, item)) for item in items
            )
        except BaseException as error:
            # After any failure joblib has ended the processes, or left tasks with them.
            self.close()
            if "No module named 'judge" in str(error):
                raise JudgeError(
                    "a worker cannot import judge; install the same version of selftrain there"
                ) from error
            raise
        return returned

    def close(self) -> None:
        """End the workers, or leave the cluster's."""
        self.parallel = None
        self.opened.close()


def checked(returned: Returned[R]) -> R:
    """Return the result, if the worker's judge is this one; raise JudgeError otherwise."""
    here, there = identity(), returned.identity
    if there == here:
        return returned.result
    remedy = "Install the same versions of selftrain and its packages on both"
    if replace(there, fingerprint=here.fingerprint) == here:
        remedy = (
            f"Copy *-{here.guest}.wasm from this machine's cache to that one's, remove its "
            "*.cwasm there, and start its workers anew"
        )
    raise JudgeError(
        f"a worker on {returned.host} has another judge, so its verdicts may differ: "
        f"{there} there, {here} here. {remedy}"
    )


def in_short(error: BaseException) -> str:
    """Return what an error says, or its name, in one line of some length."""
    return " ".join(str(error).split()).removesuffix(".")[:300] or type(error).__name__
