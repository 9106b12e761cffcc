"""Tell a person what goes on: bars on a terminal, plain lines elsewhere, all of it in the log.

The timings that a run keeps are written in experiment.py.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

Advance = Callable[[int], object]


class Progress:
    """Says lines and shows stages on standard error; keeps both in a log where there is one."""

    def __init__(self, log: Path | None = None, stream: TextIO | None = None) -> None:
        self._log = log
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()

    def say(self, line: str) -> None:
        """Print a line, and log it."""
        print(line, file=self._stream, flush=True)
        self._write(line)

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Advance]:
        """Show one stage while the block runs.

        Call what it gives with the number of units that were just done.
        """
        begun = time.monotonic()
        if self._is_terminal:
            with self._bar(label, total) as advance:
                yield advance
        else:
            yield lambda _: None
        line = f"{label}: {total:,} done in {time.monotonic() - begun:.1f} s"
        self._write(line)
        if not self._is_terminal:
            print(line, file=self._stream, flush=True)

    @contextmanager
    def _bar(self, label: str, total: int) -> Iterator[Advance]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Bars(*columns, console=Console(file=self._stream), transient=True) as bars:
            task = bars.add_task(label, total=total)
            yield lambda count: bars.advance(task, count)

    def _write(self, line: str) -> None:
        if self._log:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {line}\n")
