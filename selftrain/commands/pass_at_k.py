"""`selftrain pass-at-k`: Pass@k of any file of counts, with intervals and comparisons."""

import argparse
from pathlib import Path
from typing import Any

from selftrain.commands.arguments import whole_number


def add(commands: Any) -> None:
    """Add the command's arguments."""
    command = commands.add_parser("pass-at-k", help="compute Pass@k from a file of counts")
    command.set_defaults(run=_run)
    command.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="JSONL (.gz too): 'n' and 'num_correct' a line; 'family', 'name' where known",
    )
    command.add_argument(
        "--k", type=whole_numbers, default=(1,), help="one k or several: 1,10,100 (default: 1)"
    )
    command.add_argument(
        "--where",
        type=_condition,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="count only rows that have it, as in split=test; may be given again",
    )
    command.add_argument(
        "--split",
        type=_split,
        dest="where",
        action="append",
        metavar="NAME",
        help="the same as --where split=NAME",
    )
    command.add_argument(
        "--against", type=Path, metavar="FILE", help="compare with this file's, puzzle by puzzle"
    )
    command.add_argument("--seed", type=_seed, default=0, help="of the resampling (default: 0)")


def whole_numbers(text: str) -> tuple[int, ...]:
    """Read several whole numbers from 1 on, each once, smallest first."""
    return tuple(sorted({whole_number(part.strip()) for part in text.split(",")}))


def _condition(text: str) -> str:
    key, equals, _ = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is no KEY=VALUE, such as split=test")
    return text


def _split(name: str) -> str:
    return f"split={name}"


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 on")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    from selftrain.pass_at_k_file import pass_at_k_file

    return pass_at_k_file(options.files, options.k, options.where, options.against, options.seed)
