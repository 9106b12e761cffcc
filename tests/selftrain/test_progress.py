"""What a person is told while a stage runs, and what the log keeps of it."""

import io
import logging
from pathlib import Path

from selftrain.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def warn(text: str) -> None:
    logging.getLogger("selftrain.sampling.server.fleet").warning("%s", text)


def test_a_warning_in_a_stage_is_said_once_and_logged(tmp_path: Path) -> None:
    stream = io.StringIO()
    progress = Progress(tmp_path / "log.txt", stream)
    with progress.stage("solve", 2):
        warn("http://a did not answer [in 3 tries]")
    assert stream.getvalue().count("http://a did not answer [in 3 tries]\n") == 1
    assert (tmp_path / "log.txt").read_text().count("http://a did not answer [in 3 tries]\n") == 1


def test_a_warning_is_said_above_the_bar_of_a_terminal() -> None:
    stream = Terminal()
    with Progress(None, stream).stage("solve", 2) as advance:
        advance(1)
        warn("http://a did not answer [in 3 tries]")
    assert "\x1b[2Khttp://a did not answer [in 3 tries]\n" in stream.getvalue()


def test_a_stage_that_is_over_hears_nothing(tmp_path: Path) -> None:
    stream = io.StringIO()
    with Progress(None, stream).stage("solve", 2):
        pass
    warn("too late")
    assert "too late" not in stream.getvalue()
