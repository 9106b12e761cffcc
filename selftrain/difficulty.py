"""How hard each generated puzzle is: one minus its solve rate, with an interval.

Puzzles that were judged only until enough had passed have none: stopping there hides failures.
Which difficulties are trained on is chosen in curate.py.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from selftrain.files import Row


def difficulties(candidates: Iterable[Row]) -> Iterator[Row]:
    """Give a row a puzzle all of whose candidates were judged; they come puzzle by puzzle."""
    for puzzle_id, group in groupby(candidates, key=lambda row: row["puzzle_id"]):
        rows = list(group)
        if rows[0].get("ordered", False):
            continue
        passed = [row["passed"] for row in rows]
        low, high = interval(len(passed) - sum(passed), len(passed))
        yield {
            "puzzle_id": puzzle_id,
            "num_attempts": len(passed),
            "num_correct": sum(passed),
            "difficulty": 1 - sum(passed) / len(passed),
            "difficulty_low": low,
            "difficulty_high": high,
        }


def interval(count: int, total: int) -> tuple[float, float]:
    """Give the 95% interval of a share by Wilson's score (Wilson 1927), each end from 0 to 1."""
    from scipy.stats import binomtest

    ends = binomtest(count, total).proportion_ci(confidence_level=0.95, method="wilson")
    return float(ends.low), float(ends.high)
