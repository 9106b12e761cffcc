"""Tell a person what goes on: bars on a terminal, plain lines elsewhere, all of it in the log.

What a sampler has to tell while it works, such as a server that died, it logs as a warning under
`selftrain`; a stage that is under way says it. The timings that a run keeps are written in
experiment.py.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

Advance = Callable[[float], object]


class Progress:
    """Says lines and shows stages on standard error; keeps both in a log where there is one."""

    def __init__(self, log: Path | None = None, stream: TextIO | None = None) -> None:
        self._log = log
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._console: Console | None = None
        """What draws a bar just now."""

    def say(self, line: str) -> None:
        """Print a line, above a bar where there is one, and log it."""
        if self._console is not None:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=self._stream, flush=True)
        self._write(line)

    @contextmanager
    def stage(self, label: str, total: int) -> Iterator[Advance]:
        """Show one stage while the block runs.

        Call what it gives with the number of units that were just done.
        """
        begun = time.monotonic()
        with _hearing(self.say):
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
        self._console = Console(file=self._stream)
        try:
            with Bars(*columns, console=self._console, transient=True) as bars:
                task = bars.add_task(label, total=total)
                yield lambda count: bars.advance(task, count)
        finally:
            self._console = None

    def _write(self, line: str) -> None:
        if self._log:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {line}\n")


@contextmanager
def _hearing(say: Callable[[str], None]) -> Iterator[None]:
    """Say what is logged as a warning while the block runs."""
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: say(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("selftrain")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
