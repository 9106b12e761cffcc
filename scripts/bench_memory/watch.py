"""Watches the memory of this process and its children while stages go by.

It takes the place of a run's `Progress`, so it is told of each stage.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil  # type: ignore[import-untyped]

MIB = 1 << 20
SECONDS = 0.1
"""How often a thread looks: the peak of a stage lies inside it."""


class Silent:
    """Watches nothing."""

    def say(self, line: str) -> None:
        """Say nothing."""

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Callable[[int], object]]:
        """Let a stage run."""
        del label, total
        yield lambda _: None

    def line(self, what: str) -> None:
        """Print nothing."""


class Watch:
    """Prints a line each so many proposals, and one each stage that is no shard of them."""

    def __init__(self, proposals_a_line: int) -> None:
        self.proposals_a_line = proposals_a_line
        self.process = psutil.Process()
        self.num_proposals = 0
        self.begun = time.monotonic()
        self.start = self.now()
        self.peak = self.start
        self.highest = 0
        """The most that this process held beyond its start, in bytes."""
        print(f"start: {self.start[0] / MIB:,.0f} and, in workers, {self.start[1] / MIB:,.0f} MiB")
        print(f"{'seconds':>8} {'proposals':>10} {'here MiB':>16} {'workers MiB':>16}  (now, peak)")
        threading.Thread(target=self._look_for_ever, daemon=True).start()

    def now(self) -> tuple[int, int]:
        """Give the resident bytes of this process, and of all its children together."""
        return _resident(self.process), sum(map(_resident, self.process.children(recursive=True)))

    def say(self, line: str) -> None:
        """Print what a run would say."""
        print(line, flush=True)

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Callable[[int], object]]:
        """Let a stage run, and count proposals once the last stage of their shard has them."""
        yield lambda _: None
        name = label.split("  ")[1].split()[0] if "  " in label else label
        if name == "propose":
            before = self.num_proposals
            self.num_proposals += total
            if before // self.proposals_a_line < self.num_proposals // self.proposals_a_line:
                self.line("propose")
        elif name in ("diversity", "fine-tune"):
            self.line(name)

    def line(self, what: str) -> None:
        """Print what is held now, and what was at most since the last line."""
        now = self.now()
        self._raise_to(now)
        parts = (
            f"{(now[i] - self.start[i]) / MIB:+,.0f}, {(self.peak[i] - self.start[i]) / MIB:+,.0f}"
            for i in range(2)
        )
        here, workers = parts
        seconds = time.monotonic() - self.begun
        print(
            f"{seconds:>8,.0f} {self.num_proposals:>10,} {here:>16} {workers:>16}  {what}",
            flush=True,
        )
        self.peak = now

    def _look_for_ever(self) -> None:
        while True:
            self._raise_to(self.now())
            time.sleep(SECONDS)

    def _raise_to(self, now: tuple[int, int]) -> None:
        self.peak = max(self.peak[0], now[0]), max(self.peak[1], now[1])
        self.highest = max(self.highest, now[0] - self.start[0])


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
