"""`selftrain diversity`: how varied the puzzles of rounds and runs are, side by side."""

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Add the command's arguments."""
    diversity = commands.add_parser(
        "diversity", help="compare how varied the puzzles of rounds and runs are"
    )
    diversity.set_defaults(run=_run)
    diversity.add_argument(
        "run_dirs", type=Path, nargs="+", metavar="run_dir", help="run directories, side by side"
    )
    diversity.add_argument("--output", type=Path, help="write a page with the map to this file")
    diversity.add_argument(
        "--umap", action="store_true", help="lay the map out by UMAP (default: PCA)"
    )


def _run(options: argparse.Namespace) -> int:
    from selftrain.errors import UsageError

    if options.umap and options.output is None:
        raise UsageError("--umap is for the map. Name a page with --output.")
    from selftrain.diversity.compare import compare_diversity

    return compare_diversity(options.run_dirs, options.output, "umap" if options.umap else "pca")
