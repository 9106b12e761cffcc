"""An evaluation by category and by difficulty: counts, since a share of few puzzles says little."""

from collections.abc import Sequence
from dataclasses import dataclass

from selftrain.files import Row
from selftrain.report.blocks import count, percent
from selftrain.report.text_table import text_table

SMALL_STRATUM = 10
"""Strata with fewer puzzles are marked: a single puzzle would move them by over ten points."""
_ORDER = {"easy": 0, "medium": 1, "hard": 2}


@dataclass(frozen=True, slots=True)
class Stratum:
    """The puzzles of one category or difficulty, and what became of them."""

    name: str
    """As the puzzles say; empty for those that say nothing."""
    num_puzzles: int
    num_correct: int
    """Samples that passed, over all its puzzles."""
    num_samples: int
    """Samples drawn, over all its puzzles."""
    num_greedy: int
    """Puzzles whose greedy solution passed."""

    @property
    def label(self) -> str:
        """Its name as shown, with a † where it is small."""
        mark = " †" if self.num_puzzles < SMALL_STRATUM else ""
        return f"{self.name or 'unnamed'}{mark}"


def strata(rows: Sequence[Row], key: str) -> list[Stratum]:
    """Count the rows of an evaluation by `category` or `difficulty`, easy before hard."""
    names = sorted({row[key] for row in rows}, key=lambda name: (_ORDER.get(name, 3), name))
    found = []
    for name in names:
        members = [row for row in rows if row[key] == name]
        found.append(
            Stratum(
                name=name,
                num_puzzles=len(members),
                num_correct=sum(row["num_correct"] for row in members),
                num_samples=sum(row["n"] for row in members),
                num_greedy=sum(bool(row["greedy_passed"]) for row in members),
            )
        )
    return found


def strata_text(rows: Sequence[Row]) -> str:
    """Lay out an evaluation by category and by difficulty; empty where no puzzle names either."""
    tables, marked = [], False
    for key in ("category", "difficulty"):
        found = strata(rows, key)
        if [stratum.name for stratum in found] != [""]:
            tables.append(text_table([(key, *_HEADS), *map(_cells, found)]))
            marked = marked or any(stratum.num_puzzles < SMALL_STRATUM for stratum in found)
    note = [f"† fewer than {SMALL_STRATUM} puzzles"] if marked else []
    return "\n\n".join([*tables, *note])


_HEADS = ("puzzles", "right / samples", "Pass@1", "greedy right / puzzles")


def _cells(stratum: Stratum) -> tuple[str, ...]:
    return (
        stratum.label,
        count(stratum.num_puzzles),
        f"{count(stratum.num_correct)} / {count(stratum.num_samples)}",
        percent(stratum.num_correct / stratum.num_samples),
        f"{count(stratum.num_greedy)} / {count(stratum.num_puzzles)}",
    )
