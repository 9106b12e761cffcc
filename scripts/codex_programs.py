"""Judge the programs that Codex wrote for P3, all of which P3's own judge accepted.

Each one refused here is a difference between the two judges: a limit of ours, or an accident of
theirs. Prints how many are accepted, and the others by cause. No test: which of them must pass is
for tests to say. Run by hand (`python -m scripts.codex_programs`).
"""

import argparse
import gzip
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

from rich.box import MARKDOWN
from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from judge import Outcome, Verdict, judge_many
from puzzles.puzzle import Puzzle, puzzle_from_source

Item = TypeVar("Item")

FILE_NAME = "codex_cushman_med.jsonl.gz"

CAUSES = (
    (Outcome.out_of_memory, "index-sized", "32-bit index"),
    (Outcome.out_of_memory, "too long", "32-bit index"),
    (Outcome.raised, "C ssize_t", "32-bit index"),
    (Outcome.raised, "index-sized", "32-bit index"),
    (Outcome.timed_out, "slept", "sleep"),
    (Outcome.timed_out, "", "fuel"),
    (Outcome.out_of_memory, "", "memory"),
    (Outcome.forbidden, "", "forbidden import or call"),
    (Outcome.too_large, "", "answer too large"),
    (Outcome.wrong_type, "", "type of the answer"),
    (Outcome.crashed, "", "crash of the interpreter"),
)
"""Outcome, what its detail contains, and the cause; the first that fits. f's are as g's."""
CHANCE = ("random", "set(", "hash(", "id(", "time", "{")
"""What makes an answer differ from run to run: chance, and the order of a set."""


@dataclass(frozen=True, slots=True)
class CodexProgram:
    """One accepted program of the file."""

    puzzle: Puzzle
    """The puzzle it solves."""
    body: str
    """What Codex wrote after the head of g."""

    @property
    def pair(self) -> tuple[str, str]:
        """The sources of f and of g."""
        return self.puzzle.f, with_head(self.puzzle, self.body)


def with_head(puzzle: Puzzle, body: str) -> str:
    """Give a body the head of g that a puzzle asks for."""
    return f"def g({puzzle.inputs}):{body}"


def main() -> int:
    """Judge the programs, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-workers", type=int, default=2)
    parser.add_argument("--num-programs", type=int, help="an evenly spread subset, not all")
    parser.add_argument("--data", type=Path, default=p3_folder(), help=f"folder of {FILE_NAME}")
    parser.add_argument("--output", type=Path, help="JSONL, one row a program")
    parser.add_argument("--verbose", action="store_true", help="list each program that differs")
    options = parser.parse_args()
    programs = read_codex(options.data)
    if options.num_programs:
        programs = evenly(programs, options.num_programs)
    verdicts = judge_many((program.pair for program in programs), num_workers=options.num_workers)
    seconds: list[float] = []
    refused: list[tuple[CodexProgram, Verdict]] = []
    with (options.output or Path(os.devnull)).open("w", encoding="utf-8") as rows:
        shown = track(verdicts, "judging", len(programs), console=Console(stderr=True))
        for program, verdict in zip(programs, shown, strict=True):
            rows.write(json.dumps(to_row(program, verdict)) + "\n")
            seconds.append(verdict.seconds)
            if not verdict.passed:
                refused.append((program, verdict))
    accepted = len(programs) - len(refused)
    print(f"accepted {accepted:,} of {len(programs):,} ({accepted / len(programs):.2%})")
    print(f"median {median(seconds) * 1000:.1f} ms a program, on one of {options.num_workers}")
    print_causes(refused, options.verbose)
    return 0


def p3_folder() -> Path:
    """Find P3's folder as the tests do: under SELFTRAIN_SHARED, or beside the checkout."""
    default = Path(__file__).resolve().parents[2] / "shared"
    return Path(os.environ.get("SELFTRAIN_SHARED", default)) / "data" / "p3"


def read_codex(folder: Path) -> list[CodexProgram]:
    """Read all programs in the order of the file."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise SystemExit(
            f"{path} is not there. Give --data the folder of {FILE_NAME}, or set SELFTRAIN_SHARED"
        )
    return list(parse_codex(path))


def parse_codex(path: Path) -> Iterator[CodexProgram]:
    """Yield the programs of a file, one row a puzzle."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            puzzle = puzzle_from_source(row["f"], name=row["p3_name"], origin="p3")
            for body, _ in row["bodies"]:
                yield CodexProgram(puzzle, body)


def evenly(items: Sequence[Item], count: int) -> list[Item]:
    """Take so many items, evenly spread; all where there are no more."""
    count = min(count, len(items))
    return [items[at * len(items) // count] for at in range(count)]


def cause(program: CodexProgram, verdict: Verdict) -> str:
    """Group a refusal by what it seems to come from."""
    outcome = verdict.outcome.removeprefix("f_")
    for known, part, name in CAUSES:
        if outcome == known and part in verdict.detail:
            return name
    if any(word in program.body for word in CHANCE):
        return "nondeterminism, perhaps (chance or the order of a set)"
    return f"{verdict.outcome}: {verdict.detail.partition(':')[0]}".rstrip(": ")


def print_causes(refused: list[tuple[CodexProgram, Verdict]], verbose: bool) -> None:
    """Print a row a cause, and beneath it, if asked, a line a program."""
    by_cause: dict[str, list[tuple[CodexProgram, Verdict]]] = defaultdict(list)
    for program, verdict in refused:
        by_cause[cause(program, verdict)].append((program, verdict))
    table = Table("cause", "programs", "puzzles", "outcomes", box=MARKDOWN)
    for name, members in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        outcomes = Counter(verdict.outcome.value for _, verdict in members)
        puzzles = {program.puzzle.name for program, _ in members}
        said = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
        table.add_row(escape(name), str(len(members)), str(len(puzzles)), said)
    if refused:
        Console(width=None if sys.stdout.isatty() else 120).print(table)
    for name, members in by_cause.items() if verbose else ():
        for program, verdict in members:
            print(f"{name} | {program.puzzle.name} | {verdict.outcome} | {verdict.detail}")
            print(f"    {' '.join(program.body.split())[:160]}")


def to_row(program: CodexProgram, verdict: Verdict) -> dict[str, object]:
    """Give one judged program as a JSON object."""
    return {
        "puzzle": program.puzzle.name,
        "f": program.pair[0],
        "g": program.pair[1],
        "outcome": verdict.outcome.value,
        "detail": verdict.detail,
        "cause": "" if verdict.passed else cause(program, verdict),
        "fuel": verdict.fuel,
        "seconds": round(verdict.seconds, 6),
    }


if __name__ == "__main__":
    sys.exit(main())
