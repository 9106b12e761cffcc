"""What choices were made on: Pass@k on the dev puzzles, and after every epoch measured.

The held-out puzzles choose nothing; where every epoch was measured on them, all are shown.
"""

from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from selftrain.report.blocks import Paragraph, Section, Table, count, interval
from selftrain.report.reading import Run, rows_if_written
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.statistics import rows_pass_at_k

TITLE = "Epochs, and what was chosen on dev"


def choices_section(run: Run, directory: RunDirectory) -> Section | None:
    """Give the tables of epochs; None where a run has neither dev puzzles nor epochs measured."""
    dev = _table(run, directory, "dev", lambda here: here.dev)
    epochs = _table(run, directory, "held-out", lambda here: here.epoch_evaluation)
    if dev is None and epochs is None:
        return None
    blocks = [table for table in (dev, epochs) if table is not None]
    if best := run.best_on_dev:
        told = Paragraph(f"On the dev puzzles round {best.name} is the best by Pass@{run.ks[0]}.")
        return Section(TITLE, (told, *blocks))
    return Section(TITLE, tuple(blocks))


def _table(
    run: Run, directory: RunDirectory, split: str, file: Callable[[RoundDirectory], Path]
) -> Table | None:
    lines: list[tuple[str, ...]] = []
    for round_ in run.rounds:
        path = file(directory.round(round_.number))
        chosen = round_.metrics.get("train/epoch")
        for epoch, group in groupby(rows_if_written(path), key=lambda row: row["epoch"]):
            rows = list(group)
            estimates = [rows_pass_at_k(rows, k, run.seed) for k in run.shown_ks]
            cells = [interval(one.value, one.low, one.high) for one in estimates]
            mark = " *" if epoch and epoch == chosen else ""
            place = f"{round_.name}, epoch {epoch}{mark}" if epoch else round_.name
            lines.append((place, count(len(rows)), *cells))
    if not lines:
        return None
    return Table(
        f"Pass@k on the {split} puzzles in percent, with 95% intervals.",
        ("Round", "Puzzles", *(f"Pass@{k}" for k in run.shown_ks)),
        tuple(lines),
        "* the epoch that the next round starts from."
        if any("*" in line[0] for line in lines)
        else "",
    )
