"""`selftrain report`: write the reports of a run, with times."""

import argparse
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Add the command's arguments."""
    report = commands.add_parser("report", help="write report.md and report.html of a run")
    report.set_defaults(run=_run)
    report.add_argument("run_dir", type=Path, help="a run directory, such as runs/tiny")


def _run(options: argparse.Namespace) -> int:
    from selftrain.claim import require_run, working_in
    from selftrain.report import write_report
    from selftrain.run_directory import RunDirectory

    run = RunDirectory(options.run_dir)
    require_run(run)
    with working_in(run):
        write_report(run, with_timings=True)
    print(run.report_markdown, run.report_html, sep="\n")
    return 0
