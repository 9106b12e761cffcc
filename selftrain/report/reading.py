"""What a report reads of a run: settings, metrics, and the evaluation's row a held-out puzzle.

Candidates are streamed elsewhere; nothing read here grows with the number of proposals.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML

from selftrain.errors import RunError, UsageError
from selftrain.files import Row, read_json, read_rows
from selftrain.report.columns import shown_ks
from selftrain.run_directory import RoundDirectory, RunDirectory

MAX_COLUMNS = 6
"""More k than these would not fit beside each other."""


@dataclass(frozen=True, slots=True)
class Round:
    """One complete round."""

    number: int
    """0 is the base model."""
    metrics: Row
    """The flat metrics of the round."""
    evaluation: tuple[Row, ...]
    """A row a held-out puzzle."""

    @property
    def name(self) -> str:
        """Name the round as tables do."""
        return "0 (base)" if self.number == 0 else str(self.number)

    def dev_rate(self, k: int) -> float | None:
        """Give Pass@k on the dev puzzles, of the epoch chosen; None where there are none."""
        epoch = self.metrics.get("train/epoch", 0)
        where = f"dev/epoch-{epoch:02d}" if epoch else "dev"
        rate: float | None = self.metrics.get(f"{where}/pass@{k}")
        return rate


@dataclass(frozen=True, slots=True)
class Run:
    """What a report says of a run; not the folder's name, so that equal runs give equal reports."""

    seed: int
    """The run's seed."""
    num_rounds: int
    """Rounds asked for, the base model not counted."""
    model: str
    """Name of the base model."""
    temperature: float
    """Sampling temperature of the evaluation."""
    rounds: tuple[Round, ...]
    """The complete rounds, in order."""
    under_way: tuple[int, ...]
    """Rounds that were begun and are not complete."""
    made_with: Row = field(default_factory=dict)
    """What run.json says; empty where there is none."""

    @property
    def ks(self) -> tuple[int, ...]:
        """Give each k that every complete round was measured at, in order."""
        found = [
            {key for key in round_.metrics if re.fullmatch(r"eval/pass@\d+", key)}
            for round_ in self.rounds
        ]
        return (
            tuple(sorted(int(key.removeprefix("eval/pass@")) for key in set.intersection(*found)))
            if found
            else ()
        )

    @property
    def shown_ks(self) -> tuple[int, ...]:
        """Give the k that tables have room for."""
        return tuple(shown_ks(self.ks, MAX_COLUMNS))

    @property
    def best_on_dev(self) -> Round | None:
        """Give the round with the best Pass@k on the dev puzzles, the first of equal ones."""
        rates = {
            r.number: rate for r in self.rounds if (rate := r.dev_rate(self.ks[0])) is not None
        }
        best = max(rates, key=lambda number: (rates[number], -number), default=None)
        return next((r for r in self.rounds if r.number == best), None)

    @property
    def trained(self) -> tuple[Round, ...]:
        """Give the rounds after the base model's."""
        return tuple(round_ for round_ in self.rounds if round_.number > 0)


def read_run(directory: RunDirectory) -> Run:
    """Read the complete rounds of a run. Raises UsageError where the folder holds no run."""
    if not directory.config.exists():
        raise UsageError(f"{directory.path} has no {directory.config.name}. Is it a run directory?")
    settings = YAML(typ="safe").load(directory.config)
    complete = directory.complete_rounds()
    numbers = {round_.number for round_ in complete}
    return Run(
        seed=settings["seed"],
        num_rounds=settings["rounds"],
        model=settings["model"]["name"],
        temperature=settings["evaluate"]["temperature"],
        rounds=tuple(_read_round(round_) for round_ in complete),
        under_way=tuple(
            number
            for number in range(settings["rounds"] + 1)
            if number not in numbers and directory.round(number).path.exists()
        ),
        made_with=read_json(directory.provenance) if directory.provenance.exists() else {},
    )


def _read_round(directory: RoundDirectory) -> Round:
    metrics = read_json(directory.metrics)
    if not isinstance(metrics, dict) or metrics.get("round") != directory.number:
        raise RunError(
            f"{directory.metrics}: damaged (it is not of round {directory.number}). Remove it, "
            "and start the run again: it goes on from there."
        )
    return Round(directory.number, metrics, tuple(rows_if_written(directory.evaluation)))


def rows_if_written(path: Path) -> Iterator[Row]:
    """Stream the rows of a stage's file; a stage that was not reached has none."""
    if path.exists():
        yield from read_rows(path)
