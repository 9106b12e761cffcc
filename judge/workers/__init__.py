"""Calls a function on many items in worker processes, on this machine or on many, through joblib.

The processes are joblib's loky (this machine), or those of a Ray or Dask cluster: the one at an
address, or a local one that ends with its user. Results come in order, one an item, whoever dies
on the way: what was lost is called again, a few times, so a function must be pure. A worker whose
judge is not this process's judge is refused. Not here: what is judged (many.py); starting
processes on other machines, which is the cluster's own; a wall between workers and a cluster's
network, where whoever reaches the scheduler can run what they like.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from judge.records import Backend
from judge.workers.dask import dask_workers
from judge.workers.loky import loky_workers
from judge.workers.pool import Workers
from judge.workers.ray import ray_workers
from judge.workers.worker import identity

__all__ = ["Backend", "Workers", "start_workers"]


@contextmanager
def start_workers(
    num_workers: int, backend: Backend = "loky", address: str | None = None
) -> Iterator[Workers]:
    """Start workers, which end with the context; raise JudgeError if that cannot be done.

    Without an address, ray and dask start a cluster of num_workers on this machine; with one, no
    more than num_workers of that cluster are kept busy. A pool of one worker is this process.
    """
    # Here, so that the guest is built once, rather than by every worker.
    identity()
    if backend == "loky":
        opened: AbstractContextManager[Workers] = loky_workers(num_workers)
    elif backend == "ray":
        opened = ray_workers(num_workers, address)
    else:
        opened = dask_workers(num_workers, address)
    with opened as workers:
        yield workers
