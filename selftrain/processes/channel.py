"""How processes of one launch find each other, and how orders and answers travel between them.

Over a gloo group of torch.distributed that nothing else uses, so that a process may wait for its
next order as long as the first one judges. Objects travel pickled, as among processes that trust
each other: the launcher's. What they say is in orders.py.
"""

import re
import socket
import threading
from collections.abc import Callable
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import Any

import torch
import torch.distributed as dist

from selftrain.errors import RunError, UsageError
from selftrain.processes.launch import Launch
from selftrain.processes.orders import Answer, Lost, Order

_NEVER = timedelta(days=365)
_TRAINING = timedelta(hours=1)
"""How long a process waits for another inside training, where all should be at the same step."""


class Channel:
    """The way between rank 0 and the others; made by `join`."""

    def __init__(self, launch: Launch, group: dist.ProcessGroup) -> None:
        self._group = group
        self.rank = launch.rank
        self.size = launch.size
        self.name = _name(launch)

    def send(self, order: Order | None) -> None:
        """Give all others an order, from rank 0; None ends them. Raises Lost."""
        _waiting(lambda: dist.broadcast_object_list([order], src=0, group=self._group))

    def receive(self) -> Order | None:
        """Wait for the next order of rank 0. Raises Lost."""
        orders: list[Order | None] = [None]
        # Outside Python and in the main thread: a signal ends it all the same (launch.py).
        try:
            dist.broadcast_object_list(orders, src=0, group=self._group)
        except RuntimeError as error:
            raise _lost(error) from None
        return orders[0]

    def answer(self, answer: Answer, seconds: float | None = None) -> None:
        """Give rank 0 an answer. Raises Lost, or TimeoutError where it takes none in time."""
        _waiting(lambda: dist.gather_object(answer, None, dst=0, group=self._group), seconds)

    def answers(self, seconds: float | None = None) -> list[Answer]:
        """Wait in rank 0 for the answers of ranks 1, 2, ... Raises Lost or TimeoutError."""
        found: list[Any] = [None] * self.size
        _waiting(lambda: dist.gather_object(Answer(), found, dst=0, group=self._group), seconds)
        return found[1:]

    def tell_all(self, said: str | None) -> list[str | None]:
        """Say something to all at once, and hear what each says, by rank. Raises Lost."""
        heard: list[str | None] = [None] * self.size
        _waiting(lambda: dist.all_gather_object(heard, said, group=self._group))
        return heard

    def close(self) -> None:
        """Leave the launch in good order; every process does."""
        dist.destroy_process_group()


def join(launch: Launch) -> Channel:
    """Find the other processes, and take the GPU of this one where there are GPUs.

    Raises UsageError, in all of them, where one machine has more processes than GPUs; RunError
    where they do not find each other.
    """
    on_gpus = torch.cuda.is_available()
    try:
        dist.init_process_group("cpu:gloo,cuda:nccl" if on_gpus else "gloo", timeout=_TRAINING)
        group = dist.new_group(backend="gloo", timeout=_NEVER)
    except RuntimeError as error:  # gloo's own, and all that torch derives from it
        raise RunError(
            f"{_name(launch)}, does not find the others ({_shortened(error)}). Can each machine "
            "reach the launcher's address and port, and were all processes started?"
        ) from None
    assert group is not None
    channel = Channel(launch, group)
    # One alone would leave the others waiting for it.
    for refusal in channel.tell_all(_too_few_gpus(launch) if on_gpus else None):
        if refusal is not None:
            channel.close()
            raise UsageError(refusal)
    if on_gpus:
        torch.cuda.set_device(launch.local_rank)
    return channel


def _too_few_gpus(launch: Launch) -> str | None:
    """Say that this machine has fewer GPUs than processes; None where it has enough."""
    if launch.local_size <= torch.cuda.device_count():
        return None
    return (
        f"{launch.local_size} processes were started on {socket.gethostname()}, which has "
        f"{torch.cuda.device_count()} GPUs. Start one a GPU at most, or hide the GPUs with "
        "CUDA_VISIBLE_DEVICES= to work on the CPU."
    )


def _name(launch: Launch) -> str:
    return f"rank {launch.rank} of {launch.size}, on {socket.gethostname()}"


def _waiting(call: Callable[[], object], seconds: float | None = None) -> None:
    """Make a call that waits outside Python in another thread, lest it hold up Ctrl-C.

    Raises Lost where a process has gone, TimeoutError after `seconds`.
    """
    outcome: SimpleQueue[Exception | None] = SimpleQueue()

    def work() -> None:
        try:
            call()
            outcome.put(None)
        except Exception as error:
            outcome.put(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        error = outcome.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if isinstance(error, RuntimeError):
        raise _lost(error) from None
    if error is not None:
        raise error


def _lost(error: RuntimeError) -> Lost:
    return Lost(
        f"another process of this launch has ended ({_shortened(error)}); it, or the launcher, "
        "says why. What was written stays; the same command goes on."
    )


def _shortened(error: Exception) -> str:
    """Give what torch says without the place in its source, and without its advice."""
    return re.sub(r"^\[\S*\]\s*", "", " ".join(str(error).split())).partition(". ")[0][:200]
