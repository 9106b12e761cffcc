"""How hard the generated puzzles were for the model that solved them."""

from collections import Counter
from itertools import pairwise

from selftrain.report.blocks import Paragraph, Section, Table, count, share
from selftrain.report.reading import Run, rows_if_written
from selftrain.run_directory import RunDirectory

EDGES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Ends of the bands between puzzles that every attempt solved and those that none did."""


def difficulty_section(run: Run, directory: RunDirectory) -> Section:
    """Give the puzzles of each round by difficulty, one minus the solve rate."""
    title = "Difficulty of the generated puzzles"
    counts = {
        round_.number: Counter(
            _band(row["difficulty"])
            for row in rows_if_written(directory.round(round_.number).difficulties)
        )
        for round_ in run.trained
    }
    if not any(counts.values()):
        return Section(title, (Paragraph("No generated puzzle was tried yet."),))
    bands = [_band(0.0), *(_name(low, high) for low, high in _bands()), _band(1.0)]
    rows = [
        (band, *(share(column[band], column.total()) for column in counts.values()))
        for band in bands
    ]
    rows.append(("All", *(count(column.total()) for column in counts.values())))
    table = Table(
        "Puzzles kept by the filter, by difficulty: one minus the share of attempts that passed.",
        ("Difficulty", *(f"Round {number}" for number in counts)),
        tuple(rows),
        "3-difficulties.jsonl has every puzzle's, with its 95% interval (Wilson's).",
    )
    return Section(title, (table,))


def _bands() -> list[tuple[float, float]]:
    return list(pairwise(EDGES))


def _band(difficulty: float) -> str:
    if difficulty == 0:
        return "0: every attempt passed"
    if difficulty == 1:
        return "1: none passed"
    # The last band is open at 1, which has a row of its own.
    low, high = next((low, high) for low, high in _bands() if difficulty <= high)
    return _name(low, high)


def _name(low: float, high: float) -> str:
    return f"over {low:g}, {'below' if high == 1 else 'up to'} {high:g}"
