"""Judge very many rows as one stream: is the order kept, and does memory stay flat?

The rows are the same small programs over and over, each time in another order; what becomes of
each is known by construction. Ends at the first row whose verdict is not its own. Most verdicts
are remembered ones unless --forget is given, so the rate is no measure of the judge: that is
`scripts.bench_judge`.
"""

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random

import psutil  # type: ignore[import-untyped]

from judge import Outcome, Verdict, judge_many

SEED = 0
NUM_LINES = 10
SAMPLE_SECONDS = 0.2
MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Program:
    """A pair, and what is known to become of it."""

    f: str
    g: str
    outcome: Outcome
    answer: str | None = None
    """The literal; None where g returns nothing that can be written."""
    detail: str = ""
    """What the line about a failure ends in."""


class Memory:
    """What this process and its workers hold, sampled by a thread.

    A thread, since verdicts come out between two batches, when the workers hold least.
    """

    def __init__(self) -> None:
        self.now = self.peak = self.peak_of_line = (0, 0)
        threading.Thread(target=self.sample_for_ever, daemon=True).start()

    def sample_for_ever(self) -> None:
        """Look now and then; parent, and all workers together, in bytes."""
        process = psutil.Process()
        while True:
            self.now = resident(process), sum(map(resident, process.children(recursive=True)))
            self.peak_of_line = higher(self.peak_of_line, self.now)
            self.peak = higher(self.peak, self.now)
            time.sleep(SAMPLE_SECONDS)


def main() -> int:
    """Judge the rows, check each, and print a line a tenth of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-rows", type=int, default=1_000_000)
    parser.add_argument("--num-distinct", type=int, default=20_000)
    parser.add_argument("--num-workers", type=int, default=2)
    parser.add_argument("--forget", action="store_true", help="remember no earlier batch")
    options = parser.parse_args()
    pairs = ((row.f, row.g) for row in rows(options.num_rows, options.num_distinct))
    verdicts = judge_many(
        pairs,
        num_workers=options.num_workers,
        remember=not options.forget,
    )
    watch(verdicts, rows(options.num_rows, options.num_distinct), options.num_rows)
    return 0


def watch(verdicts: Iterator[Verdict], expected: Iterator[Program], num_rows: int) -> None:
    """Hold each verdict against its own row, and print as it goes."""
    memory = Memory()
    begun = line_begun = time.perf_counter()
    line_from = 0
    print(f"{'rows':>12} {'a second':>9} {'parent MB':>16} {'workers MB':>16}   (now, highest)")
    for at, (verdict, row) in enumerate(zip(verdicts, expected, strict=True), 1):
        check(at, verdict, row)
        if at * NUM_LINES // num_rows > (at - 1) * NUM_LINES // num_rows:
            now = time.perf_counter()
            print_line(at, (at - line_from) / (now - line_begun), memory.now, memory.peak_of_line)
            line_begun, line_from, memory.peak_of_line = now, at, memory.now
    seconds = time.perf_counter() - begun
    print(f"all {num_rows:,} in order, {seconds:,.1f} s")
    print_line(num_rows, num_rows / seconds, memory.now, memory.peak)


def check(at: int, verdict: Verdict, row: Program) -> None:
    """Raise where a verdict is not that of its row."""
    found = verdict.outcome, verdict.answer, verdict.detail.endswith(row.detail)
    if found != (row.outcome, row.answer, True):
        raise AssertionError(
            f"row {at} should be {row.outcome} with answer {row.answer!r} and detail "
            f"{row.detail!r}, and is {verdict!r}:\n{row.f}\n{row.g}"
        )


def rows(num_rows: int, num_distinct: int) -> Iterator[Program]:
    """Yield the programs over and over, in an order that is new each time and the same each run."""
    random = Random(SEED)
    order = list(range(num_distinct))

    def endless() -> Iterator[Program]:
        while True:
            random.shuffle(order)
            yield from map(program, order)

    return islice(endless(), num_rows)


def program(index: int) -> Program:
    """Make the program of this number: of every ten four pass, and six fail in six ways."""
    n = index + 10
    length = n % 100 * 40
    number = f"def f(x: int, n={n}):\n    return x == n * n + 1"
    text = f"def f(x: str, n={n}):\n    return x == 'a' * {length} + str(n)"
    numbers = f"def f(x: List[int], n={n}):\n    return sum(x) == 3 * n"
    passed = Outcome.passed
    kinds = (
        Program(number, "def g(n):\n    return n * n + 1", passed, f"{n * n + 1}"),
        Program(numbers, "def g(n):\n    return [n] * 3", passed, f"[{n}, {n}, {n}]"),
        Program(text, text_of(length), passed, repr("a" * length + str(n))),
        Program(number, "def g(n):\n    return sum([n] * n) + 1", passed, f"{n * n + 1}"),
        Program(number, "def g(n):\n    return n", Outcome.wrong_answer, f"{n}"),
        Program(number, "def g(n):\n    return str(n)", Outcome.wrong_type, f"'{n}'"),
        Program(number, "def g(n):\n    raise ValueError(n)", Outcome.raised, None, f": {n}"),
        Program(number, "def g(n):\n    return (", Outcome.syntax_error),
        Program(number, "def h(n):\n    return n", Outcome.no_g),
        Program(number, "def g(n):\n    return open(str(n))", Outcome.forbidden),
    )
    return kinds[index % len(kinds)]


def text_of(length: int) -> str:
    """Write a g that returns a long text."""
    return f"def g(n):\n    return 'a' * {length} + str(n)"


def resident(process: psutil.Process) -> int:
    """Return the resident memory of a process in bytes; 0 where it has just ended."""
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def higher(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Take the higher of each."""
    return max(one[0], other[0]), max(one[1], other[1])


def print_line(num_rows: int, rate: float, now: tuple[int, int], peak: tuple[int, int]) -> None:
    """Print how far it is, how fast, and the memory of the parent and of the workers."""
    memory = (
        f"{f'{at / MEGABYTE:,.0f}, {highest / MEGABYTE:,.0f}':>16}"
        for at, highest in zip(now, peak, strict=True)
    )
    print(f"{num_rows:>12,} {rate:>9,.0f} {' '.join(memory)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
