"""The command line: signals, exit codes, errors as one sentence. Each command is in commands/."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial

from judge import JudgeError
from selftrain.commands import add_commands
from selftrain.errors import RunError, UsageError
from selftrain.processes.launch import read_launch, take_part

INTERRUPTED = 130


def console() -> None:
    """Run a command as a program of its own, which Ctrl-C or a scheduler ends at once.

    All that is on disk is whole at any moment, so there is nothing to unwind, and nothing to wait
    for; the processes that judge end with this one.
    """
    # The process that cleans up after joblib's would say so at length.
    os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning")
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, _leave)
    sys.exit(main())


def _leave(signal_number: int, frame: object) -> None:
    show_cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""
    sentence = f"{show_cursor}selftrain: interrupted; what was written stays.\n"
    os.write(2, sentence.encode())
    os._exit(128 + signal_number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 (could not go on), 2 (asked wrongly) or 130 (interrupted)."""
    options = _options(arguments)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        launch = read_launch(os.environ)
        if launch is None:
            status = int(options.run(options))
        else:
            status = take_part(launch, partial(options.run, options), spreads="spreads" in options)
        sys.stdout.flush()
        return status
    except UsageError as error:
        return _end(2, str(error))
    except RunError as error:
        return _end(1, str(error))
    except JudgeError as error:
        return _end(1, f"the judge cannot run: {error}")
    except KeyboardInterrupt:
        return _end(INTERRUPTED, "interrupted; what was written stays.")
    except BrokenPipeError:
        # Whoever read our output has gone; the interpreter would complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        where = error.filename or "a file"
        return _end(1, f"{where}: {error.strerror or error}. What was written stays.")


def _end(status: int, sentence: str) -> int:
    print(f"selftrain: {sentence}", file=sys.stderr)
    return status


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; settings may stand before and after options."""
    parser = argparse.ArgumentParser(
        prog="selftrain", description="A language model teaches itself to program."
    )
    add_commands(parser.add_subparsers(title="commands", required=True, metavar="COMMAND"))
    options, rest = parser.parse_known_args(arguments)
    settings = [word for word in rest if "=" in word and not word.startswith("-")]
    if len(settings) < len(rest) or (rest and "settings" not in options):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if settings:
        options.settings = [*options.settings, *settings]
    return options


if __name__ == "__main__":
    console()
