"""Measure the judge beside its peers, one after another in one run, and print who is how fast.

Needs the rivals (`pip install --editable '.[bench]'`) and P3's file of Codex programs. Use a
machine that does nothing else. What is compared: programs.py has the workloads, rivals.py the
rivals, table.py the targets. Ours counts instructions and the rivals a second of time, so a
program near the limit may differ.
"""

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from judge import engine_version, guest_hash
from scripts.bench_judge import programs, table, ways
from scripts.codex_programs import p3_folder

ALL_WAYS = (*ways.OURS, *ways.RIVALS)


def main() -> int:
    """Measure, print, and write what was found."""
    options = arguments()
    ways.check_installed(tuple(options.ways))
    sizes = programs.Sizes(
        options.num_trivial, None if options.full else options.num_programs, options.num_puzzles
    )
    workloads = [programs.read_workload(name, sizes, options.data) for name in options.workloads]
    console = Console(width=None if sys.stdout.isatty() else 160)
    measurements: list[ways.Measurement] = []
    for repeat in range(options.repeats):
        for workload in workloads:
            # There and back again, so that no way always comes after the same one.
            for way in options.ways if repeat % 2 == 0 else reversed(options.ways):
                measured = ways.measure(way, workload, options.num_workers)
                measurements.append(measured)
                said = f"{repeat + 1}/{options.repeats} {workload.name} {way}: {measured.rate:,.0f}"
                print(f"{said} a second", file=sys.stderr, flush=True)
    rows = table.to_rows(measurements)
    held = table.to_targets(rows)
    table.print_rows(rows, console)
    table.print_targets(held, console)
    if options.verbose:
        table.print_differences(workloads, measurements, console)
    if options.output:
        found = {"machine": machine(), "num_workers": options.num_workers}
        found |= {"fuel": {workload.name: workload.fuel for workload in workloads}}
        found |= {"rows": [asdict(row) for row in rows], "targets": held}
        options.output.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-workers", type=int, default=2, help="of every way")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workloads", nargs="+", choices=programs.NAMES, default=programs.NAMES)
    parser.add_argument("--ways", nargs="+", choices=ALL_WAYS, default=ALL_WAYS)
    parser.add_argument("--num-trivial", type=int, default=1000)
    parser.add_argument("--num-programs", type=int, default=800, help="of Codex, evenly spread")
    parser.add_argument("--full", action="store_true", help="all of Codex's programs")
    parser.add_argument("--num-puzzles", type=int, default=8, help="with 128 attempts each")
    parser.add_argument("--data", type=Path, default=p3_folder(), help="folder of P3's files")
    parser.add_argument("--output", type=Path, help="JSON")
    parser.add_argument("--verbose", action="store_true", help="show a few differing verdicts")
    return parser.parse_args()


def machine() -> dict[str, object]:
    """Say where and by what this was measured."""
    return {
        "platform": platform.platform(),
        "num_cores": os.cpu_count(),
        "python": platform.python_version(),
        "engine": engine_version(),
        "guest": guest_hash(),
    }


if __name__ == "__main__":
    sys.exit(main())
