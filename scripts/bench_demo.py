"""Where the time of `make demo` goes, stage by stage, and what of it no stage has timed.

    python -m scripts.bench_demo --runs 3         # runs the demo three times, in fresh folders
    python -m scripts.bench_demo runs/a runs/b    # reads runs that are there

Seconds on the clock, and in brackets those of all processors: work that waits for others takes
longer by the first, not by the second. Of several runs the median. Of a run that was made without
this script only the stages are known, and the reference solutions by its log. Nothing is installed
or judged here, and the settings of the demo are those of its file.
"""

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

TIMES = "bench.jsonl"
"""What this script writes into the folder of a run that it makes."""
PARTS = {"references": "with_sound_references", "report": "_publish", "provenance": "provenance"}
"""Functions of selftrain.run that no stage times."""
FINISHED = re.compile(r"^(\S+) reference solutions: .* done in ([\d.]+) s$")


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one piece of work."""

    stage: str
    round: int | None
    """None where it belongs to no round."""
    wall: float
    cpu: float | None = None
    """Of this process and its children; None where nobody counted."""


def main() -> int:
    """Run or read, and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.bench_demo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", nargs="*", type=Path, help="runs that are there")
    parser.add_argument("--runs", type=int, default=1, help="how often the demo is run")
    parser.add_argument("--config", default="configs/tiny.yaml")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return inside(options.inside, options.config)
    if options.folders:
        runs = [read(folder) for folder in options.folders]
    else:
        with tempfile.TemporaryDirectory(prefix="bench_demo.") as folder:
            runs = [run(Path(folder) / str(i), options.config) for i in range(options.runs)]
    print(table(runs))
    return 0


def run(folder: Path, config: str) -> list[Spent]:
    """Run the demo in a process of its own, and read what it took."""
    command = [sys.executable, "-m", "scripts.bench_demo", "--inside", str(folder)]
    begun = time.monotonic()
    subprocess.run([*command, "--config", config], check=True, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - begun
    spent = [one for one in read(folder) if one.stage != "all"]
    return [*spent, Spent("all", None, wall)]


def inside(folder: Path, config: str) -> int:
    """Be the command `selftrain run`, and write down what each part of it takes."""
    begun = time.monotonic()
    from selftrain import experiment
    from selftrain import run as command
    from selftrain.cli import main as selftrain

    spent: list[dict[str, Any]] = []
    note(spent, "start-up", None, time.monotonic() - begun, cpu_seconds())
    timed = experiment.Experiment.timed

    @contextlib.contextmanager
    def counted(x: Any, here: Any, stage: str, shard: int, total: int) -> Iterator[Any]:
        with counting(spent, stage, here.number), timed(x, here, stage, shard, total) as advance:
            yield advance

    experiment.Experiment.timed = counted  # type: ignore[method-assign]
    for stage, name in PARTS.items():
        setattr(command, name, counted_call(spent, stage, getattr(command, name)))
    status = selftrain(["run", config, "--run-dir", str(folder)])
    with (folder / TIMES).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in spent)
    return status


def counted_call(
    spent: list[dict[str, Any]], stage: str, function: Callable[..., Any]
) -> Callable[..., Any]:
    """Let a function count the time it takes."""

    def call(*arguments: Any, **more: Any) -> Any:
        with counting(spent, stage, None):
            return function(*arguments, **more)

    return call


@contextlib.contextmanager
def counting(spent: list[dict[str, Any]], stage: str, number: int | None) -> Iterator[None]:
    """Count the time of a block."""
    begun, before = time.monotonic(), cpu_seconds()
    yield
    note(spent, stage, number, time.monotonic() - begun, cpu_seconds() - before)


def note(
    spent: list[dict[str, Any]], stage: str, number: int | None, wall: float, cpu: float
) -> None:
    """Write one piece of work down."""
    spent.append({"stage": stage, "round": number, "wall": wall, "cpu": cpu})


def cpu_seconds() -> float:
    """Count the processor's seconds of this process and of its children, the living ones too."""
    import psutil  # type: ignore[import-untyped]

    process = psutil.Process()
    total = sum(process.cpu_times()[:4])
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            total += sum(child.cpu_times()[:4])
    return float(total)


def read(folder: Path) -> list[Spent]:
    """Read what a run took; `all` is the time from its log's first line to its last."""
    if (folder / TIMES).exists():
        rows = map(json.loads, (folder / TIMES).read_text(encoding="utf-8").splitlines())
        return [Spent(**row) for row in rows]
    lines = (folder / "timings.jsonl").read_text(encoding="utf-8").splitlines()
    spent = [Spent(row["stage"], row["round"], row["seconds"]) for row in map(json.loads, lines)]
    log = (folder / "log.txt").read_text(encoding="utf-8").splitlines()
    judged = [found for line in log if (found := FINISHED.match(line))]
    spent += [Spent("references", None, float(found[2])) for found in judged]
    first, last = (datetime.fromisoformat(log[i].split()[0]) for i in (0, -1))
    started = float(judged[0][2]) if judged else 0.0
    return [*spent, Spent("all", None, (last - first).total_seconds() + started)]


def table(runs: Sequence[Sequence[Spent]]) -> str:
    """Lay out the medians: a row a stage, a column a round, and what no stage has timed."""
    parts = list(dict.fromkeys(one.stage for spent in runs for one in spent if one.stage != "all"))
    numbers = sorted({one.round for spent in runs for one in spent if one.round is not None})
    lines = [row("", *(f"round {number}" for number in numbers), "all rounds")]
    for stage in parts:
        cells = [cell(runs, stage, number) for number in numbers]
        lines.append(row(stage, *cells, cell(runs, stage)))
    timed = [sum(one.wall for one in spent if one.stage != "all") for spent in runs]
    whole = [sum(one.wall for one in spent if one.stage == "all") for spent in runs]
    rest = [all_of_it - part for all_of_it, part in zip(whole, timed, strict=True)]
    blanks = [""] * len(numbers)
    lines.append(row("timed by nobody", *blanks, f"{median(rest):.1f}"))
    lines.append(row("the whole command", *blanks, f"{median(whole):.1f}"))
    return "\n".join([f"seconds (of all processors), median of {len(runs)}", *lines])


def cell(runs: Sequence[Sequence[Spent]], stage: str, number: int | None = None) -> str:
    """Give the median of a stage's seconds, in a round or in all."""
    found = [
        [one for one in spent if one.stage == stage and number in (None, one.round)]
        for spent in runs
    ]
    if not any(found):
        return ""
    wall = median(sum(one.wall for one in some) for some in found)
    if any(one.cpu is None for some in found for one in some):
        return f"{wall:.1f}"
    cpu = median(sum(one.cpu or 0.0 for one in some) for some in found)
    return f"{wall:.1f} ({cpu:.1f})"


def row(name: str, *cells: str) -> str:
    """Align a row."""
    return f"{name:<20}" + "".join(f"{one:>18}" for one in cells)


if __name__ == "__main__":
    sys.exit(main())
