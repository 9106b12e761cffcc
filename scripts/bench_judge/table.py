"""What the measurements come to: medians, ratios, differing verdicts, and targets met or missed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from scripts.bench_judge.programs import EVALUATION_FUEL, ROUND_FUEL, Workload
from scripts.bench_judge.rivals import TIMEOUT_SECONDS
from scripts.bench_judge.ways import Measurement

MAX_SHOWN = 5
"""Differing verdicts shown of one way and workload."""


@dataclass(frozen=True, slots=True)
class Target:
    """How fast one way has to be, as a multiple of another."""

    workload: str
    way: str
    rival: str
    factor: float


TARGETS = (
    Target("trivial", "strict", "human-eval", 4.0),
    Target("trivial", "strict", "fork", 0.75),
    Target("attempts", "screen", "strict", 5.0),
    Target("attempts-loops", "screen", "pebble", 1.0),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One way over one workload, all repeats together."""

    workload: str
    way: str
    num_programs: int
    rate: float
    """Programs a second, median."""
    slowest: float
    fastest: float
    times_strict: float | None
    """The median rate as a multiple of strict's; None where strict was not measured."""
    startup_seconds: float
    """Median; in no rate."""
    num_passed: int
    """In the first repeat."""
    num_differing: int | None
    """Verdicts other than strict's, in the first repeat; None where strict was not measured."""
    num_changing: int
    """Verdicts that were not the same in all repeats."""


def to_rows(measurements: Sequence[Measurement]) -> list[Row]:
    """Sum up, in the order in which ways and workloads first came."""
    repeats: dict[tuple[str, str], list[Measurement]] = {}
    for one in measurements:
        repeats.setdefault((one.workload, one.way), []).append(one)
    order = list(dict.fromkeys(workload for workload, _ in repeats))
    return [
        to_row(all_repeats, repeats.get((workload, "strict")))
        for (workload, _), all_repeats in sorted(
            repeats.items(), key=lambda i: order.index(i[0][0])
        )
    ]


def to_row(repeats: list[Measurement], strict: list[Measurement] | None) -> Row:
    """Sum up the repeats of one way over one workload."""
    rates = [one.rate for one in repeats]
    first = repeats[0]
    return Row(
        workload=first.workload,
        way=first.way,
        num_programs=len(first.said),
        rate=median(rates),
        slowest=min(rates),
        fastest=max(rates),
        times_strict=median(rates) / median(one.rate for one in strict) if strict else None,
        startup_seconds=median(one.startup_seconds for one in repeats),
        num_passed=sum(first.passed),
        num_differing=len(differing(first, strict[0])) if strict else None,
        num_changing=num_changing(repeats),
    )


def num_changing(repeats: list[Measurement]) -> int:
    """Count the pairs that one way judged now so, now otherwise."""
    by_pair = zip(*(one.passed for one in repeats), strict=True)
    return sum(len(set(verdicts)) > 1 for verdicts in by_pair)


def differing(one: Measurement, other: Measurement) -> list[int]:
    """Say for which pairs the two disagree."""
    both = zip(one.passed, other.passed, strict=True)
    return [at for at, (mine, theirs) in enumerate(both) if mine != theirs]


def print_rows(rows: list[Row], console: Console) -> None:
    """Print a row a way and workload."""
    table = Table(box=MARKDOWN)
    for name in ("workload", "programs", "way"):
        table.add_column(name, no_wrap=True)
    for name in ("a second", "from", "to", "x strict", "start-up s", "passed", "differ", "change"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.workload,
            f"{row.num_programs:,}",
            row.way,
            *(f"{rate:,.0f}" for rate in (row.rate, row.slowest, row.fastest)),
            "" if row.times_strict is None else f"{row.times_strict:.2f}",
            f"{row.startup_seconds:.1f}",
            f"{row.num_passed:,}",
            "" if row.num_differing is None else str(row.num_differing),
            str(row.num_changing),
        )
    console.print(table)
    console.print(
        "a second: programs, median of the repeats, start-up left out. differ: verdicts other than "
        "strict's. change: verdicts not the same in all repeats.\n"
        f"ours: {EVALUATION_FUEL:.0e} instructions a stage, {ROUND_FUEL:.0e} for attempts; "
        f"rivals: {TIMEOUT_SECONDS:g} s a program.",
        highlight=False,
    )


def to_targets(rows: list[Row]) -> list[dict[str, object]]:
    """Hold the medians against the targets that were measured."""
    rates = {(row.workload, row.way): row.rate for row in rows}
    held = []
    for target in TARGETS:
        ours, theirs = (rates.get((target.workload, way)) for way in (target.way, target.rival))
        if ours is not None and theirs is not None:
            found = ours / theirs
            held.append({**asdict(target), "found": found, "met": found >= target.factor})
    return held


def print_targets(held: list[dict[str, object]], console: Console) -> None:
    """Print a line a target."""
    table = Table("target", "found", "", box=MARKDOWN)
    for one in held:
        table.add_row(
            f"{one['workload']}: {one['way']} at least {one['factor']} x {one['rival']}",
            f"{one['found']:.2f} x",
            "met" if one["met"] else "MISSED",
        )
    if held:
        console.print(table)


def print_differences(
    workloads: Sequence[Workload], measurements: Sequence[Measurement], console: Console
) -> None:
    """Print a few pairs that a way judges otherwise than strict, once a way and workload."""
    pairs = {workload.name: workload.pairs for workload in workloads}
    first: dict[tuple[str, str], Measurement] = {}
    for one in measurements:
        first.setdefault((one.workload, one.way), one)
    for (workload, way), one in first.items():
        if strict := first.get((workload, "strict")):
            for at in differing(one, strict)[:MAX_SHOWN]:
                console.rule(f"{workload}, pair {at}")
                said = f"strict: {strict.said[at]}", f"{way}: {one.said[at]}"
                console.print(*said, *pairs[workload][at], sep="\n", markup=False, highlight=False)
