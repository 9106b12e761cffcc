"""Workers on loky, Ray and Dask: real processes and clusters, some of which are killed."""

import importlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

from judge import JudgeError, Limits, Verdict, judge
from judge.workers import Backend, start_workers
from judge.workers.worker import identity

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="ray is not installed; run `pip install selftrain[ray]`",
)
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None,
    reason="distributed is not installed; run `pip install selftrain[dask]`",
)
RAY = pytest.param("ray", marks=needs_ray)
DASK = pytest.param("dask", marks=needs_dask)
QUICK = Limits(fuel=200_000_000)
PROBES = '''
"""What workers call: it judges, and leaves a letter in the file of its process."""

import os
from pathlib import Path

from judge import Limits, judge


def probe(item):
    f, g, marks = item
    with (Path(marks) / str(os.getpid())).open("a") as file:
        file.write("x")
    return f, g, judge(f, g, Limits(fuel=200_000_000))


def refuse(item):
    raise ZeroDivisionError(item)
'''
BODIES = [
    "return k * 2",
    "return k * 2 + 1",
    "return str(k)",
    "return 1 // (k - k)",
    "return sum(range(k + 4)) - sum(range(k + 4)) + k + k",
    "return k *",
    "while True: pass",
]
"""Bodies of g: two pass, and the others fail in five ways."""
STARTED = """
import signal, sys, time
import psutil
from judge.workers import start_workers

if __name__ == "__main__":
    # A shell starts what runs in the background with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with start_workers(2, sys.argv[1]) as workers:
            assert workers.map(int, ["1", "2", "3"]) == [1, 2, 3]
            children = psutil.Process().children(recursive=True)
            print(*[child.pid for child in children], flush=True)
            workers.map(time.sleep, [60] * 4)
    except KeyboardInterrupt:
        pass
"""
"""Starts a local cluster, tells of its processes, and is busy."""


@pytest.fixture
def probes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module that processes elsewhere can import; those of this file they cannot."""
    (tmp_path / "worker_probes.py").write_text(PROBES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    yield importlib.import_module("worker_probes")
    del sys.modules["worker_probes"]


class Marks:
    """What workers left of their calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def calls(self) -> dict[int, int]:
        """How many calls each process began."""
        return {int(path.name): path.stat().st_size for path in self.folder.iterdir()}

    def when(self, num_processes: int, action: Callable[[list[int]], object]) -> threading.Thread:
        """Do something once so many processes are at work."""

        def watch() -> None:
            while len([n for n in self.calls().values() if n >= 3]) < num_processes:
                time.sleep(0.005)
            action(list(self.calls()))

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        return thread


def programs(marks: Marks, num: int = 140) -> list[tuple[str, str, str]]:
    """So many distinct programs."""
    return [
        (
            f"def f(x: int, k={k}):\n    return x == k * 2",
            f"def g(k):\n    {BODIES[k % len(BODIES)]}",
            str(marks.folder),
        )
        for k in range(num)
    ]


@cache
def judged_here(f: str, g: str) -> Verdict:
    return judge(f, g, QUICK)


def assert_judged_as_here(found: list[Any], items: list[tuple[str, str, str]]) -> None:
    """Each item has one row, in order, and its verdict is that of this process."""
    assert [(f, g) for f, g, _ in found] == [(f, g) for f, g, _ in items]
    assert [verdict for _, _, verdict in found] == [judged_here(f, g) for f, g, _ in items]
    assert len({verdict.outcome for _, _, verdict in found}) == 6


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


# Ray


@pytest.fixture
def ray_nodes(probes: ModuleType) -> Iterator[Any]:
    """Two nodes of Ray on this machine, which hears soon of one's death."""
    cluster_utils = importlib.import_module("ray.cluster_utils")
    sizes = {"include_dashboard": False, "object_store_memory": 80 << 20}
    hears = {"health_check_initial_delay_ms": 500, "health_check_period_ms": 500}
    head = {"num_cpus": 2, "_system_config": {**hears, "health_check_failure_threshold": 2}}
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args={**head, **sizes})
    try:
        cluster.second = cluster.add_node(num_cpus=1, **sizes)
        yield cluster
    finally:
        cluster.shutdown()


def node_of(pid: int) -> str:
    """The node that a worker of Ray belongs to: the process id of its raylet."""
    return str(psutil.Process(pid).ppid())


@needs_ray
def test_ray_rows_are_whole_and_once_though_a_worker_and_then_a_node_are_killed(
    ray_nodes: Any, probes: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This cluster misses a node after a second, not after 20.
    monkeypatch.setattr("judge.workers.ray.RESERVE_SECONDS", 1.0)
    first, second = Marks(tmp_path / "first"), Marks(tmp_path / "second")
    nodes: set[str] = set()

    def kill_worker(pids: list[int]) -> None:
        nodes.update(node_of(pid) for pid in pids)
        kill(pids[0])

    with start_workers(3, "ray", ray_nodes.address) as workers:
        killing = first.when(3, kill_worker)
        found = workers.map(probes.probe, programs(first))
        killing.join()
        assert_judged_as_here(found, programs(first))
        assert len(nodes) == 2
        assert len(first.calls()) > 3

        raylet = ray_nodes.second.all_processes["raylet"][0].process.pid
        killing = second.when(3, lambda pids: kill(raylet))
        found = workers.map(probes.probe, programs(second))
        killing.join()
        assert_judged_as_here(found, programs(second))
        assert os.getpid() not in second.calls()

        with pytest.raises(ZeroDivisionError, match="7"):
            workers.map(probes.refuse, [7])
        assert workers.map(int, ["1", "2"]) == [1, 2]


# Dask


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def dask_process(tmp_path: Path, kind: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler or a worker of Dask, as on a machine of its own."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *arguments]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def dask_worker(tmp_path: Path, address: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A worker that no nanny starts again."""
    return dask_process(tmp_path, "worker", address, "--no-nanny", "--nthreads", "1")


def wait_for_port(port: int) -> None:
    for _ in range(400):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the scheduler did not start")


@pytest.fixture
def dask_scheduler(probes: ModuleType, tmp_path: Path) -> Iterator[str]:
    """The address of a scheduler that has no worker but those that a test starts."""
    port = free_port()
    at = ("--host", "127.0.0.1", "--port", str(port))
    with dask_process(tmp_path, "scheduler", *at):
        wait_for_port(port)
        yield f"tcp://127.0.0.1:{port}"


@needs_dask
def test_a_dask_scheduler_without_workers_is_one_sentence_soon(
    dask_scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.workers.dask.ANSWER_SECONDS", 1.0)
    advice = f"has no worker; start some: `dask worker {dask_scheduler}`"
    with (
        start_workers(2, "dask", dask_scheduler) as workers,
        pytest.raises(JudgeError, match=advice),
    ):
        workers.map(int, ["1"])


@needs_dask
@pytest.mark.parametrize("busy_seconds", [0, 1], ids=["idle", "busy"])
def test_a_dask_cluster_whose_workers_all_end_is_one_sentence_soon(
    busy_seconds: int, dask_scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.workers.dask.EMPTY_SECONDS", 0)
    with (
        dask_worker(tmp_path, dask_scheduler) as only,
        start_workers(2, "dask", dask_scheduler) as workers,
    ):
        assert workers.map(int, ["1"]) == [1]
        monkeypatch.setattr("judge.workers.dask.ANSWER_SECONDS", 1.0)
        killing = threading.Timer(busy_seconds, only.kill)
        killing.start()
        if not busy_seconds:
            only.wait()
        with pytest.raises(JudgeError, match="has no worker"):
            workers.map(time.sleep, [60, 60])


@needs_dask
def test_dask_rows_are_whole_and_once_though_a_worker_is_killed(
    dask_scheduler: str, probes: ModuleType, tmp_path: Path
) -> None:
    marks = Marks(tmp_path / "marks")
    with (
        dask_worker(tmp_path, dask_scheduler) as one,
        dask_worker(tmp_path, dask_scheduler) as two,
        start_workers(2, "dask", dask_scheduler) as workers,
    ):
        killing = marks.when(2, lambda pids: one.kill())
        found = workers.map(probes.probe, programs(marks))
        killing.join()
        assert one.wait() == -signal.SIGKILL
        assert_judged_as_here(found, programs(marks))
        assert set(marks.calls()) == {one.pid, two.pid}

        with pytest.raises(ZeroDivisionError, match="7"):
            workers.map(probes.refuse, [7])
        assert workers.map(int, ["1", "2"]) == [1, 2]


# Beside another cluster, which has the port that Dask would use.
@needs_dask
@pytest.mark.usefixtures("dask_scheduler")
@pytest.mark.filterwarnings("error:Port")
def test_a_batch_that_kills_every_dask_worker_is_one_sentence() -> None:
    dask_config = importlib.import_module("dask.config")
    with (
        # The scheduler itself would try each of our three times four times.
        dask_config.set({"distributed.scheduler.allowed-failures": 0}),
        start_workers(2, "dask") as workers,
        pytest.raises(
            JudgeError, match=r"workers of the judge died 3 times in a batch: .*Is memory"
        ),
    ):
        workers.map(os._exit, [1])


# loky


def test_loky_rows_are_whole_and_once_though_a_worker_is_killed(
    probes: ModuleType, tmp_path: Path
) -> None:
    marks = Marks(tmp_path / "marks")
    with start_workers(2, "loky") as workers:
        killing = marks.when(2, lambda pids: kill(pids[0]))
        found = workers.map(probes.probe, programs(marks))
        killing.join()
        assert_judged_as_here(found, programs(marks))
        assert len(marks.calls()) > 2

        with pytest.raises(ZeroDivisionError, match="7"):
            workers.map(probes.refuse, [7])
        assert workers.map(int, ["1", "2"]) == [1, 2]


def test_a_batch_that_kills_every_loky_worker_is_one_sentence() -> None:
    with (
        start_workers(2, "loky") as workers,
        pytest.raises(JudgeError, match=r"died 3 times in a batch: .*Try fewer workers"),
    ):
        workers.map(os._exit, [1, 1])


# What holds for all


@pytest.mark.parametrize(
    ("changed", "remedy"),
    [
        ({"guest": "0" * 16, "engine": "wasmtime 1.0"}, "Install the same versions"),
        ({"code": "2" * 16}, "Install the same versions"),
        ({"fingerprint": "1" * 16}, "Copy *-"),
    ],
)
def test_a_worker_with_another_judge_is_refused(
    changed: dict[str, str], remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, other = identity(), replace(identity(), **changed)
    monkeypatch.setattr("judge.workers.pool.identity", lambda: other)
    with start_workers(2, "loky") as workers, pytest.raises(JudgeError) as raised:
        workers.map(int, ["1", "2"])
    for part in (socket.gethostname(), real.fingerprint, other.fingerprint, other.engine, remedy):
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("backend", "address"),
    [
        pytest.param("ray", "127.0.0.1:{}", marks=needs_ray),
        pytest.param("ray", "ray://127.0.0.1:{}", marks=needs_ray),
        pytest.param("dask", "tcp://127.0.0.1:{}", marks=needs_dask),
    ],
)
def test_an_address_that_nobody_answers_is_one_sentence_soon(
    backend: Backend, address: str
) -> None:
    address = address.format(free_port())
    begun = time.monotonic()
    with (
        pytest.raises(JudgeError, match=f"judge.address is {address}, but no cluster answers"),
        start_workers(2, backend, address),
    ):
        pass
    assert time.monotonic() - begun < 15


@pytest.mark.parametrize(("backend", "module"), [("ray", "ray"), ("dask", "distributed")])
def test_a_missing_extra_is_named(
    backend: Backend, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with (
        pytest.raises(
            JudgeError, match=rf"{module} is not .* `pip install selftrain\[{backend}\]`"
        ),
        start_workers(2, backend),
    ):
        pass


def gone(pids: list[int], seconds: float) -> bool:
    """Whether these processes end in so many seconds."""
    deadline = time.monotonic() + seconds
    while any(psutil.pid_exists(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@contextmanager
def busy_script(tmp_path: Path, backend: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A process with a local cluster, in an empty folder, and the processes of the cluster."""
    (tmp_path / "started.py").write_text(STARTED)
    (tmp_path / "folder").mkdir()
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "started.py"), backend],
        cwd=tmp_path / "folder",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as script:
        assert script.stdout is not None
        pids = [int(pid) for pid in script.stdout.readline().split()]
        assert len(pids) >= 2
        yield script, pids


@pytest.mark.parametrize("backend", [RAY, DASK])
def test_a_local_cluster_ends_when_its_user_is_interrupted_and_says_nothing(
    backend: str, tmp_path: Path
) -> None:
    with busy_script(tmp_path, backend) as (script, pids):
        time.sleep(0.5)
        script.send_signal(signal.SIGINT)
        assert script.communicate(timeout=30) == ("", "")
        assert script.returncode == 0
        assert gone(pids, 10)
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("backend", [RAY, DASK])
def test_a_local_cluster_ends_when_its_user_is_killed(backend: str, tmp_path: Path) -> None:
    with busy_script(tmp_path, backend) as (script, pids):
        # Two helpers of Ray's look for the dead cluster for a minute, and end then.
        lasting = [pid for pid in pids if psutil.Process(pid).cmdline()[0].endswith("Agent")]
        script.kill()
        assert gone([pid for pid in pids if pid not in lasting], 15)
        assert len(lasting) == (2 if backend == "ray" else 0)
