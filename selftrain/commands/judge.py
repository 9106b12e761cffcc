"""`selftrain judge`: judge rows of programs in a file."""

import argparse
from pathlib import Path
from typing import Any, get_args

from judge import Backend, Limits
from selftrain.commands.arguments import MODE_HELP, MODES, whole_number
from selftrain.errors import UsageError


def add(commands: Any) -> None:
    """Add the command's arguments."""
    judge = commands.add_parser("judge", help="judge rows of {f, g}, or completions of problems")
    judge.set_defaults(run=_run)
    judge.add_argument(
        "file", type=Path, help="JSONL: 'f' and 'g' a line, or 'task_id' and 'completion'"
    )
    judge.add_argument(
        "--problems", type=Path, help="what completions are for: HumanEval's file, or one like it"
    )
    judge.add_argument("--output", type=Path, help="write here (default: standard output)")
    judge.add_argument(
        "--fuel", type=whole_number, default=Limits().fuel, help="instructions a stage"
    )
    judge.add_argument("--mode", choices=MODES, default="strict", help=MODE_HELP)
    judge.add_argument(
        "--confirm", action="store_true", help="a pass by luck (hashes, random, date) is flaky"
    )
    judge.add_argument("--workers", type=whole_number, default=1, help="processes that judge")
    judge.add_argument(
        "--backend", choices=get_args(Backend), default="loky", help="where they run"
    )
    judge.add_argument("--address", help="of the Ray or Dask cluster (default: one is started)")


def _run(options: argparse.Namespace) -> int:
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
