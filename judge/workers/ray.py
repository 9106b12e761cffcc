"""Workers that are actors of a Ray cluster: the one at an address, or one started here.

Processors are set aside for them first, so that a cluster that is busy is told from one that is
slow. Not here: starting Ray on other machines (`ray start`), and what holds for every cluster
(cluster.py).
"""

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from joblib import Parallel

from judge.records import JudgeError
from judge.workers.cluster import missing, reach, unreachable
from judge.workers.pool import Workers
from judge.workers.worker import end_with_parent

RESERVE_SECONDS = 5.0
"""How long Ray may take to set its processors aside, before it is asked what it still has."""
MAX_RESERVATIONS = 12
"""How often it is asked: a node that died without a word is missed after some 20 seconds."""
OBJECT_STORE_BYTES = 100 << 20
"""Shared memory of a local cluster: it needs little, and would take a third of all."""


@contextmanager
def ray_workers(num_workers: int, address: str | None) -> Iterator[Workers]:
    """Start actors when they are first needed."""
    with ray_cluster(num_workers, address):
        from ray.exceptions import RayError

        # Not what the function raises, which joblib brings back as itself.
        losses = (RayError, ConnectionError)
        with closing(Workers(partial(ray_pool, num_workers), losses)) as workers:
            yield workers


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
    # Ray takes it for itself.
    at_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**where(num_workers, address), log_to_driver=False, logging_level=logging.CRITICAL)
    except (OSError, RuntimeError, ValueError, ImportError) as error:
        raise unreachable(address or "not set", error) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, at_sigterm)
    try:
        yield
    finally:
        ray.shutdown()


def where(num_workers: int, address: str | None) -> dict[str, Any]:
    """Return what ray.init needs to connect to a cluster that answers, or to start one."""
    if address is None:
        # "local", since without an address Ray takes any cluster that it finds.
        started = {"address": "local", "num_cpus": num_workers, "num_gpus": 0}
        return started | {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
    if address != "auto":
        reach(address)
    return {"address": address}


@contextmanager
def ray_pool(num_workers: int) -> Iterator[Parallel]:
    """Start an actor on each of some processors of the cluster, spread over its nodes."""
    from ray.util import remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    group = reserve(num_workers)
    on_group = {"num_cpus": 1, "scheduling_strategy": PlacementGroupSchedulingStrategy(group)}
    backend, size = ray_backend(on_group), group.bundle_count
    try:
        with Parallel(size, backend=backend, batch_size=1, initializer=end_with_parent) as parallel:
            yield parallel
    finally:
        remove_placement_group(group)


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
        # One where it has none: others may be on their way.
        group = placement_group([{"CPU": 1}] * max(1, min(num_workers, has)), strategy="SPREAD")
        if group.wait(RESERVE_SECONDS):
            return group
        remove_placement_group(group)
    raise JudgeError(
        f"the Ray cluster can set none of its {has} processors aside for {num_workers} workers: "
        "it is busy, or nodes of it have died. See `ray status`, or set judge.num_workers to fewer"
    )
