"""How a process learns that it is one of several, and what it says where these cannot work."""

import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.distributed as dist

from selftrain.cli import main
from selftrain.errors import RunError, UsageError
from selftrain.processes import channel
from selftrain.processes.launch import Launch, read_launch, take_part

TOLD = {
    "WORLD_SIZE": "4",
    "RANK": "3",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "localhost",
    "MASTER_PORT": "29500",
}


def test_a_process_without_a_launcher_is_alone() -> None:
    assert read_launch({}) is None
    assert read_launch({**TOLD, "WORLD_SIZE": "1"}) is None


def test_a_launch_is_read_from_the_environment() -> None:
    assert read_launch(TOLD) == Launch(rank=3, size=4, local_rank=1, local_size=2)


def test_half_a_launch_is_refused() -> None:
    with pytest.raises(UsageError, match="WORLD_SIZE is 4, but there is no RANK"):
        read_launch({"WORLD_SIZE": "4"})


@pytest.mark.parametrize(("rank", "local_rank"), [(0, 0), (2, 0), (1, 1)])
def test_a_command_of_one_process_is_refused_and_told_once_on_each_machine(
    rank: int,
    local_rank: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in {**TOLD, "RANK": str(rank), "LOCAL_RANK": str(local_rank)}.items():
        monkeypatch.setenv(name, value)
    # Else a handler of pytest's own would be lost.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert main(["plan", "a.yaml"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == (1 if local_rank == 0 else 0)
    assert all("works in one process, and 4 were started" in line for line in lines)


def one_of_four(*, rank: int, local_rank: int) -> Launch:
    """Give a process of two machines, of two each."""
    return Launch(rank=rank, size=4, local_rank=local_rank, local_size=2)


@pytest.fixture
def _told_of_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for four processes, of which rank 2 finds too few GPUs on its machine."""

    def gather(heard: list[Any], said: object, **_: object) -> None:
        heard[:] = [said, said, "2 processes were started on b, which has 1 GPUs.", said]

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(dist, "all_gather_object", gather)
    for name in ("init_process_group", "new_group", "destroy_process_group"):
        monkeypatch.setattr(dist, name, lambda *_, **__: "a group")


@pytest.mark.usefixtures("_told_of_another_machine")
def test_too_few_gpus_on_one_machine_are_told_once_on_each() -> None:
    go: Callable[[Launch], int] = partial(take_part, command=lambda: 0, spreads=True)
    for first in (one_of_four(rank=0, local_rank=0), one_of_four(rank=2, local_rank=0)):
        with pytest.raises(UsageError, match="started on b, which has 1 GPUs"):
            go(first)
    assert go(one_of_four(rank=1, local_rank=1)) == go(one_of_four(rank=3, local_rank=1)) == 2


def test_a_machine_with_fewer_gpus_than_processes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(dist, "init_process_group", lambda *_, **__: None)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: None)
    monkeypatch.setattr(dist, "new_group", lambda **_: "a group")
    monkeypatch.setattr(
        dist, "all_gather_object", lambda heard, said, **_: heard.__setitem__(0, said)
    )
    with pytest.raises(UsageError, match=r"2 processes were started on .*, which has 1 GPUs"):
        channel.join(one_of_four(rank=0, local_rank=0))


@pytest.mark.parametrize(
    "error", [dist.DistNetworkError, dist.DistStoreError, RuntimeError], ids=lambda e: e.__name__
)
def test_processes_that_do_not_find_each_other_are_one_sentence(
    error: type[RuntimeError], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(*_: object, **__: object) -> None:
        raise error("[a.cpp:12] timed out after 60s waiting for clients. 1/4 joined.")

    monkeypatch.setattr(dist, "init_process_group", wait)
    with pytest.raises(RunError, match=r"does not find the others \(timed out after") as caught:
        channel.join(one_of_four(rank=1, local_rank=1))
    assert str(caught.value).startswith("rank 1 of 4, on ")
