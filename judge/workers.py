"""Calls a function on many items in worker processes, on this machine or on many, through joblib.

The processes are joblib's loky (this machine), or those of a Ray or Dask cluster: the one at an
address, or a local one that ends with its user. Results come in order, one an item, whoever dies
on the way: what was lost is called again, a few times, so a function must be pure. A worker whose
judge is not this process's judge is refused. Not here: what is judged (many.py); starting
processes on other machines, which is the cluster's own; a wall between workers and a cluster's
network, where whoever reaches the scheduler can run what they like.
"""

import contextlib
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from judge.identity import engine_version, guest_fingerprint, guest_hash
from judge.records import JudgeError

if TYPE_CHECKING:
    from joblib import Parallel

MAX_ATTEMPTS = 3
"""How often a batch is tried whose workers die."""
ANSWER_SECONDS = 15.0
"""How long a cluster may take to answer, and to show that it has workers."""
RESERVE_SECONDS = 5.0
"""How long Ray may take to set its processors aside, before it is asked what it still has."""
MAX_RESERVATIONS = 12
"""How often it is asked: a node that died without a word is missed after some 20 seconds."""
EMPTY_SECONDS = 30.0
"""How long a Dask cluster may be without any worker, in the middle of a batch."""
WATCH_SECONDS = 1.0
"""How often a worker looks whether its parent is still there, and a parent whether it has any."""
OBJECT_STORE_BYTES = 100 << 20
"""Shared memory of a local Ray cluster: it needs little, and would take a third of all."""

Backend = Literal["loky", "ray", "dask"]
OpenPool = Callable[[], AbstractContextManager["Parallel"]]
"""Starts processes, or takes them from a cluster; asked again when some of them died."""
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Identity:
    """What a process judges with; two that have the same give the same verdicts."""

    guest: str
    """What the guest is built from (guest_hash)."""
    engine: str
    """Name and version of the engine."""
    fingerprint: str
    """How the guest that was built behaves (guest_fingerprint)."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[R]):
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
    return Identity(guest_hash(), engine_version(), guest_fingerprint())


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
                return [checked(answer) for answer in self.call(function, items)]
            except self.losses as error:
                reason = error
        raise JudgeError(
            f"workers of the judge died {MAX_ATTEMPTS} times in a batch: {in_short(reason)}. "
            "Is memory short? Try fewer workers"
        ) from reason

    def call(self, function: Callable[[T], R], items: Sequence[T]) -> list[Answer[R]]:
        """Call the function on every item, once."""
        from joblib import delayed

        if self.parallel is None:
            self.parallel = self.opened.enter_context(self.open_pool())
        try:
            # One argument, a small tuple: joblib's backends for Ray and Dask would put a larger
            # one on a single node, and lose it there, before the task runs on another.
            answers: list[Answer[R]] = self.parallel(
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
        return answers

    def close(self) -> None:
        """End the workers, or leave the cluster's."""
        self.parallel = None
        self.opened.close()


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
    with ExitStack() as stack:
        if backend == "loky":
            open_pool: OpenPool = partial(loky_pool, min(num_workers, os.cpu_count() or 1))
        elif backend == "ray":
            stack.enter_context(ray_cluster(num_workers, address))
            open_pool = partial(ray_pool, num_workers)
        else:
            at = stack.enter_context(dask_cluster(num_workers, address))
            open_pool = partial(dask_pool, num_workers, at)
        workers = Workers(open_pool, losses(backend))
        stack.callback(workers.close)
        yield workers


def losses(backend: Backend) -> tuple[type[BaseException], ...]:
    """Return what a backend raises when workers are lost, which is worth another attempt."""
    if backend == "loky":
        from joblib.externals.loky.process_executor import BrokenProcessPool

        return (BrokenProcessPool,)
    if backend == "ray":
        from ray import exceptions as of_ray

        return (
            of_ray.RayActorError,
            of_ray.WorkerCrashedError,
            of_ray.NodeDiedError,
            of_ray.LocalRayletDiedError,
            of_ray.ObjectLostError,
            of_ray.OutOfMemoryError,
            of_ray.ActorPlacementGroupRemoved,
            of_ray.ActorUnschedulableError,
            of_ray.RpcError,
            ConnectionError,
        )
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    return (KilledWorker, CancelledError, CommClosedError)


def call_in_worker(task: tuple[Callable[[T], R], T]) -> Answer[R]:
    """Call the function on the item; this runs in a worker."""
    function, item = task
    return Answer(socket.gethostname(), identity(), function(item))


def checked(answer: Answer[R]) -> R:
    """Return the result, if the worker's judge is this one; raise JudgeError otherwise."""
    here, there = identity(), answer.identity
    if there == here:
        return answer.result
    remedy = "Install the same versions of selftrain and its packages on both"
    if (there.guest, there.engine) == (here.guest, here.engine):
        remedy = (
            f"Copy *-{here.guest}.wasm from this machine's cache to that one's, remove its "
            "*.cwasm there, and start its workers anew"
        )
    raise JudgeError(
        f"a worker on {answer.host} has another judge, so its verdicts may differ: "
        f"{described(there)} there, {described(here)} here. {remedy}"
    )


def described(judge: Identity) -> str:
    """Return an identity in words."""
    return f"guest {judge.guest} that behaves as {judge.fingerprint} in {judge.engine}"


def in_short(error: BaseException) -> str:
    """Return what an error says, or its name, in one line of some length."""
    return " ".join(str(error).split()).removesuffix(".")[:300] or type(error).__name__


def missing(backend: str, module: str) -> JudgeError:
    """Return what to raise where an optional dependency is not there."""
    return JudgeError(
        f"judge.backend is {backend}, but {module} is not installed; "
        f"run `pip install selftrain[{backend}]`"
    )


def unreachable(address: str, reason: str) -> JudgeError:
    """Return what to raise where a cluster does not answer."""
    return JudgeError(
        f"judge.address is {address}, but no cluster answers there: {reason}. Is it running, and "
        "may this machine reach it?"
    )


# Processes of this machine.


def loky_pool(num_workers: int) -> "Parallel":
    """Return a pool whose processes start fresh, never forked from one that may hold an engine."""
    from joblib import Parallel

    return Parallel(num_workers, backend="loky", batch_size=1, initializer=end_with_parent)


def end_with_parent() -> None:
    """Let this worker end soon after its parent does; loky's would wait for minutes or for ever.

    Ctrl-C reaches it too, but it is the parent's to answer. A Ray worker's parent is its node.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# Ray.


@contextmanager
def ray_cluster(num_workers: int, address: str | None) -> Iterator[None]:
    """Connect to a Ray cluster, or start one on this machine, and leave it again.

    Where its user is killed outright, two idle helpers of a local one stay for a minute or two.
    """
    # Read when ray is imported: else each death of a worker is many lines on standard output.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise missing("ray", "ray") from error
    settings: dict[str, Any] = {"address": address}
    if address is None:
        # "local", since without an address Ray takes any cluster that it finds.
        settings = {"address": "local", "num_cpus": num_workers, "num_gpus": 0}
        settings |= {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
    elif address != "auto":
        reach(address)
    # Ray takes it for itself.
    at_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**settings, log_to_driver=False, logging_level=logging.CRITICAL)
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        raise unreachable(address or "not set", in_short(error)) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, at_sigterm)
    try:
        yield
    finally:
        ray.shutdown()


def reach(address: str) -> None:
    """Raise JudgeError unless something listens there; Ray would wait for minutes."""
    host, _, port = address.rpartition("//")[2].partition("/")[0].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
    except (OSError, ValueError) as error:
        raise unreachable(address, in_short(error)) from error


@contextmanager
def ray_pool(num_workers: int) -> "Iterator[Parallel]":
    """Start an actor on each of some processors of the cluster, spread over its nodes."""
    from joblib import Parallel
    from ray.util import remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    group = reserve(num_workers)
    with ExitStack() as stack:
        stack.callback(remove_placement_group, group)
        remote = {"num_cpus": 1, "scheduling_strategy": PlacementGroupSchedulingStrategy(group)}
        backend = ray_backend(remote)
        yield stack.enter_context(
            Parallel(group.bundle_count, backend=backend, batch_size=1, initializer=end_with_parent)
        )


def ray_backend(ray_remote_args: dict[str, Any]) -> Any:
    """Return joblib's backend of Ray, which ends when an actor died.

    As it comes, it starts as many actors again before it says so, and waits for ever if the
    cluster has no longer room for them.
    """
    from ray.util.joblib.ray_backend import RayBackend

    class Backend(RayBackend):  # type: ignore[misc, unused-ignore]
        def abort_everything(self, ensure_ready: bool = True) -> None:
            super().abort_everything(ensure_ready=False)

    return Backend(ray_remote_args=ray_remote_args)


def reserve(num_workers: int) -> Any:
    """Set processors of the Ray cluster aside, as many as it has; an actor would wait for ever."""
    import ray
    from ray.util import placement_group, remove_placement_group

    for _ in range(MAX_RESERVATIONS):
        # Asked each time: a node may just have died.
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        has = int(resources.get("CPU", 0))
        if has == 0:
            time.sleep(WATCH_SECONDS)
            continue
        group = placement_group([{"CPU": 1}] * min(num_workers, has), strategy="SPREAD")
        if group.wait(RESERVE_SECONDS):
            return group
        remove_placement_group(group)
    raise JudgeError(
        f"the Ray cluster can set none of its {has} processors aside for {num_workers} workers: "
        "it is busy, or nodes of it have died. See `ray status`, or set judge.num_workers to fewer"
    )


# Dask.


@contextmanager
def dask_cluster(num_workers: int, address: str | None) -> Iterator[str]:
    """Give the address of a Dask scheduler: the one given, or that of a cluster started here."""
    try:
        from distributed import LocalCluster
    except ImportError as error:
        raise missing("dask", "distributed") from error
    with quiet("distributed"):
        if address is not None:
            reach(address)
            yield address
            return
        # Without its memory limit, which would stop a worker at a share of this machine's.
        with LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=num_workers,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster:
            yield cluster.scheduler_address


@contextmanager
def quiet(package: str) -> Iterator[None]:
    """Keep a package's logs to itself; each of its loggers may have a level of its own."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == package]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def dask_pool(num_workers: int, address: str) -> "Iterator[Parallel]":
    """Connect to a Dask scheduler that has workers."""
    from distributed import Client
    from joblib import Parallel

    try:
        client = Client(  # type: ignore[no-untyped-call]
            address, timeout=ANSWER_SECONDS, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise unreachable(address, in_short(error)) from error
    with client, ExitStack() as stack:
        try:
            client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError as error:
            raise JudgeError(
                f"the Dask scheduler at {address} has no worker; "
                f"start some: `dask worker {address}`"
            ) from error
        backend = dask_backend(client)
        stack.enter_context(watched(client, backend))
        # joblib counts the threads of all Dask workers; so what is sent at once is limited here.
        parallel = Parallel(backend=backend, batch_size=1, pre_dispatch=2 * num_workers)
        yield stack.enter_context(parallel)


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

    return Backend(client=client)


@contextmanager
def watched(client: Any, backend: Any) -> Iterator[None]:
    """Cancel what is pending once the cluster has been without workers for a while."""
    ended = threading.Event()

    def watch() -> None:
        seen = time.monotonic()
        while not ended.wait(WATCH_SECONDS):
            # A scheduler that is gone cancels everything by itself.
            with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
                if client.nthreads():
                    seen = time.monotonic()
                elif time.monotonic() - seen > EMPTY_SECONDS:
                    backend.give_up()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
