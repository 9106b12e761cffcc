"""The command line. Every command is a function here; what it needs is imported when it runs."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from judge import Backend, JudgeError, Limits, Mode
from selftrain.errors import RunError, UsageError

INTERRUPTED = 130
MODES = get_args(Mode)
MODE_HELP = "each program alone, or the attempts at one f together first (default: strict)"
AUDIT_FUEL = 4_000_000_000


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
        status = int(options.run(options))
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
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    settings = [word for word in rest if "=" in word and not word.startswith("-")]
    if len(settings) < len(rest) or (rest and "settings" not in options):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if settings:
        options.settings = [*options.settings, *settings]
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="selftrain", description="A language model teaches itself to program."
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run self-training rounds, or go on with a run")
    run.set_defaults(run=_run)
    run.add_argument("config", type=Path, help="a YAML file, such as configs/tiny.yaml")
    run.add_argument("settings", nargs="*", metavar="section.key=value", help="settings on top")
    run.add_argument("--run-dir", type=Path, help="where the run lies (default: runs/NAME)")

    evaluate = commands.add_parser("evaluate", help="measure Pass@k of a model")
    evaluate.set_defaults(run=_evaluate)
    evaluate.add_argument("model", help="builtin:tiny, a model folder, or a hub id")
    evaluate.add_argument("settings", nargs="*", metavar="section.key=value", help="settings")
    evaluate.add_argument("--config", type=Path, help="take the settings of this file first")
    evaluate.add_argument(
        "--tasks", help="builtin, p3:FOLDER or a JSONL file (default: puzzles.held_out)"
    )
    evaluate.add_argument("--output", type=Path, help="write a row a puzzle to this file")

    judge = commands.add_parser("judge", help="judge rows of {f, g}, or completions of problems")
    judge.set_defaults(run=_judge)
    judge.add_argument(
        "file", type=Path, help="JSONL: 'f' and 'g' a line, or 'task_id' and 'completion'"
    )
    judge.add_argument(
        "--problems", type=Path, help="what completions are for: HumanEval's file, or one like it"
    )
    judge.add_argument("--output", type=Path, help="write here (default: standard output)")
    judge.add_argument("--fuel", type=_count, default=Limits().fuel, help="instructions a stage")
    judge.add_argument("--mode", choices=MODES, default="strict", help=MODE_HELP)
    judge.add_argument(
        "--confirm", action="store_true", help="a pass by luck (hashes, random, date) is flaky"
    )
    judge.add_argument("--workers", type=_count, default=1, help="processes that judge")
    judge.add_argument(
        "--backend", choices=get_args(Backend), default="loky", help="where they run"
    )
    judge.add_argument("--address", help="of the Ray or Dask cluster (default: one is started)")

    check = commands.add_parser("check", help="judge every reference solution")
    check.set_defaults(run=_check)
    check.add_argument(
        "--tasks", default="builtin", help="builtin, p3:FOLDER or a JSONL file (default: builtin)"
    )
    check.add_argument("--workers", type=_count, default=2, help="processes that judge")

    audit = commands.add_parser("audit", help="judge known attacks and honest programs")
    audit.set_defaults(run=_audit)
    audit.add_argument("--fuel", type=_count, default=AUDIT_FUEL, help="instructions a stage")
    audit.add_argument("--mode", choices=MODES, default="strict", help=MODE_HELP)
    audit.add_argument("--workers", type=_count, default=2, help="processes that judge")

    report = commands.add_parser("report", help="write report.md and report.html of a run")
    report.set_defaults(run=_report)
    report.add_argument("run_dir", type=Path, help="a run directory, such as runs/tiny")
    return parser


def _count(text: str) -> int:
    """Read a whole number from 1 on."""
    if not text.isdecimal() or not 1 <= int(text) < 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 2^63 - 1")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config
    from selftrain.models import resolve

    # Before torch and its family are imported, which takes seconds.
    config = load_config(options.config, options.settings)
    resolve(config.model.name)
    from selftrain.run import run

    return run(config, options.run_dir or Path("runs") / options.config.stem)


def _evaluate(options: argparse.Namespace) -> int:
    from selftrain.config_file import load_config
    from selftrain.models import resolve

    config = load_config(options.config, options.settings)
    resolve(options.model)
    from selftrain.evaluate_model import evaluate_model

    return evaluate_model(config, options.model, options.tasks, options.output)


def _judge(options: argparse.Namespace) -> int:
    if options.problems and options.confirm:
        raise UsageError("--confirm is for rows of f and g, not for --problems. Leave it out.")
    if options.address and options.backend == "loky":
        raise UsageError("--address is a cluster's. Name it with --backend ray or --backend dask.")
    from selftrain.config import JudgeConfig
    from selftrain.judge import Judging
    from selftrain.judge_file import judge_file

    config = JudgeConfig(
        num_workers=options.workers, backend=options.backend, address=options.address
    )
    judging = Judging(Limits(fuel=options.fuel), options.mode, options.confirm, config)
    return judge_file(options.file, options.problems, options.output, judging)


def _check(options: argparse.Namespace) -> int:
    from selftrain.check import check

    return check(options.tasks, options.workers)


def _audit(options: argparse.Namespace) -> int:
    from selftrain.audit import audit_judge

    return audit_judge(options.fuel, options.workers, options.mode)


def _report(options: argparse.Namespace) -> int:
    from selftrain.report import write_report
    from selftrain.run import working_in
    from selftrain.run_directory import RunDirectory

    run = RunDirectory(options.run_dir)
    if not run.config.is_file():
        raise UsageError(f"{run.path} has no config.yaml. Name a run directory, as in runs/tiny.")
    with working_in(run):
        write_report(run, with_timings=True)
    print(run.report_markdown, run.report_html, sep="\n")
    return 0


if __name__ == "__main__":
    console()
