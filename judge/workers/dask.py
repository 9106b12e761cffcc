"""Workers of a Dask cluster: the one whose scheduler is at an address, or one started here.

Not here: starting Dask on other machines (`dask scheduler`, `dask worker`), and what holds for
every cluster (cluster.py).
"""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

from joblib import Parallel

from judge.records import JudgeError
from judge.workers.cluster import ANSWER_SECONDS, missing, reach, unreachable
from judge.workers.pool import Workers

EMPTY_SECONDS = 30
"""How long a cluster may be without any worker, in the middle of a batch."""
SILENT = logging.CRITICAL + 1
"""Level of Dask's logs: what they would tell, Workers tells."""


@contextmanager
def dask_workers(num_workers: int, address: str | None) -> Iterator[Workers]:
    """Connect to a cluster's workers when they are first needed."""
    try:
        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError
        from distributed.utils import silence_logging_cmgr
    except ImportError as error:
        raise missing("dask", "distributed") from error
    losses = (KilledWorker, CancelledError, CommClosedError)
    with (
        silence_logging_cmgr(SILENT),
        dask_cluster(num_workers, address) as at,
        closing(Workers(partial(dask_pool, num_workers, at), losses)) as workers,
    ):
        yield workers


@contextmanager
def dask_cluster(num_workers: int, address: str | None) -> Iterator[str]:
    """Give the address of a Dask scheduler: the one given, or that of a cluster started here."""
    if address is not None:
        reach(address)
        yield address
        return
    from distributed import LocalCluster

    # Without its memory limit, which would stop a worker at a share of this machine's, and with
    # its pages on any port, since it warns where another cluster has the usual one.
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=num_workers,
        threads_per_worker=1,
        memory_limit=0,
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        silence_logs=SILENT,
    ) as cluster:
        yield cluster.scheduler_address


@contextmanager
def dask_pool(num_workers: int, address: str) -> Iterator[Parallel]:
    """Connect to a Dask scheduler that has workers."""
    from distributed import Client

    try:
        client = Client(  # type: ignore[no-untyped-call]
            address, timeout=ANSWER_SECONDS, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise unreachable(address, error) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError as error:
            raise JudgeError(
                f"the Dask scheduler at {address} has no worker; "
                f"start some: `dask worker {address}`"
            ) from error
        backend = dask_backend(client)
        # joblib counts the threads of all Dask workers; so what is sent at once is limited here.
        sent = 2 * num_workers
        with (
            watched(client, backend),
            Parallel(backend=backend, batch_size=1, pre_dispatch=sent) as parallel,
        ):
            yield parallel


def dask_backend(client: Any) -> Any:
    """Return joblib's backend of Dask, which hears of tasks that were lost.

    As it comes, it waits for ever for a task that no worker brought to its end.
    """
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc, unused-ignore]
        def effective_n_jobs(self, n_jobs: int) -> int:
            # For 1, joblib calls the function here, and leaves the cluster idle.
            return max(2, int(super().effective_n_jobs(n_jobs)))

        def submit(self, func: Any, callback: Any = None) -> Any:
            def tell(done: Any) -> None:
                if done.exception() is not None:
                    callback(done.exception())

            future = super().submit(func, callback)
            future.add_done_callback(tell)
            return future

        def give_up(self) -> None:
            self.client.cancel(list(self._results), force=True)

    # Nor does it wait for workers by itself: that is the task of dask_pool and watched.
    return Backend(client=client, wait_for_workers_timeout=0)


@contextmanager
def watched(client: Any, backend: Any) -> Iterator[None]:
    """Cancel what is pending once the cluster has been without workers for a while."""
    ended = threading.Event()

    def watch() -> None:
        empty_seconds = 0
        # Where the scheduler is gone, the client cancels everything, and closes, by itself.
        while not ended.wait(1) and client.status != "closed":
            with suppress(OSError):
                empty_seconds = 0 if client.nthreads() else empty_seconds + 1
            if empty_seconds > EMPTY_SECONDS:
                backend.give_up()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
