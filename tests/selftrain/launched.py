"""Starts programs over two processes, as `torchrun` does, and finds their processes.

Run as a program, it is what each of them does in most tests of test_processes.py: rank 0 gives
orders that succeed or fail, and prints, as JSON, what came of them.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psutil

LAUNCHER = (
    *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"),
    # A free port on this machine.
    *("--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"),
)
PROMPTS = ("def f(", "def f(x: int):\n    return x", "def f(s: str):\n    return s ==")


def launch(arguments: Sequence[str | Path], folder: Path) -> "subprocess.Popen[str]":
    """Start a program in two processes, in `folder`."""
    return subprocess.Popen(
        [*LAUNCHER, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def ranks_of(launcher: int) -> dict[str, psutil.Process]:
    """Find the processes of a launch by their rank, as far as they have been started."""
    return {one.environ()["RANK"]: one for one in psutil.Process(launcher).children()}


def ignore(_: object) -> None:
    pass


def where(*, advance: object) -> int:
    """Give the process's number; of all, what rank 0 gives comes back."""
    return int(os.environ["RANK"])


def fail_in(rank: int, error: type[Exception], *, advance: object) -> None:
    """Fail in one process, or in all where `rank` is -1."""
    if rank in (-1, int(os.environ["RANK"])):
        raise error("it is broken")


def meet_or_fail(rank: int, *, advance: object) -> None:
    """Wait for the other process inside, as in training, but fail in one."""
    import torch.distributed as dist

    fail_in(rank, RuntimeError, advance=advance)
    dist.barrier()


def num_held(*, advance: object) -> int:
    """Count the samplers that this process has in memory."""
    import gc

    from selftrain.sampling.local.sampler import TransformersSampler

    return sum(type(one) is TransformersSampler for one in gc.get_objects())


def rows(completions: Sequence[Any]) -> list[list[Any]]:
    return [[one.text, one.finish_reason, one.num_tokens] for one in completions]


def draw(model: str) -> dict[str, Any]:
    """Sample in both processes, and then in this one; count what process 1 holds."""
    from selftrain import models
    from selftrain.config import ModelConfig
    from selftrain.processes import current_crew
    from selftrain.sampling import Request
    from selftrain.sampling.completion import Message

    crew = current_crew()
    assert crew is not None
    config = ModelConfig(name=model, device="cpu", dtype="float32", batch_size=4)
    requests = [Request(PROMPTS[i % 3], seed=i) for i in range(24)] + [Request("f(" * 600, 0)]
    requests += [Request(PROMPTS[1], seed=i, message=Message("{}")) for i in range(4)]
    advanced: list[int] = []
    told: list[tuple[int, Any]] = []
    sampler = models.load_sampler(config)
    spread = sampler.sample(
        requests,
        temperature=0.9,
        max_new_tokens=24,
        advance=advanced.append,
        tell=lambda *one: told.append(one),
    )
    alone = models.load_local_sampler(config).sample(
        requests, temperature=0.9, max_new_tokens=24, advance=ignore
    )
    held = [crew.each(num_held, [()] * 2, advance=ignore)[1]]
    del sampler
    held.append(crew.each(num_held, [()] * 2, advance=ignore)[1])
    drawn = {"spread": rows(spread), "alone": rows(alone), "advanced": sum(advanced)}
    in_order = [one for _, one in sorted(told, key=lambda one: one[0])]
    return {**drawn, "told": rows(in_order), "held": held}


def said(rank: int, error: type[Exception]) -> list[str]:
    """Let a process fail; give what rank 0 hears of it."""
    from selftrain.processes import everywhere

    try:
        everywhere(fail_in, rank, error, advance=ignore)
    except Exception as found:
        return [type(found).__name__, str(found)]
    return []


def give_orders(model: str) -> int:
    """Give orders of every kind, as rank 0, and print what came of them; then fail."""
    from selftrain.errors import RunError, UsageError
    from selftrain.processes import everywhere

    result = {
        **draw(model),
        "in_1": said(1, UsageError),
        "bug_in_1": said(1, ZeroDivisionError),
        "in_0": said(0, RunError),
        "in_all": said(-1, RunError),
        "from": everywhere(where, advance=ignore),
    }
    print(json.dumps(result), flush=True)
    try:
        everywhere(meet_or_fail, 1, advance=ignore)
    except RunError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    from selftrain.processes.launch import read_launch, take_part

    me = read_launch(os.environ)
    assert me is not None
    sys.exit(take_part(me, partial(give_orders, sys.argv[1]), spreads=True))
