"""Find the held-out puzzles among the rows of a run, so that an export shows none of their texts.

Found are copies, whatever their names and layout, and what the run itself removed as such. What
says the same in other words is not found; decontaminate.py looks for it before training.
"""

from puzzles import Puzzle
from puzzles.contamination import Bars, Check, HeldOutTexts
from puzzles.filters import well_formed
from puzzles.reasons import Reason
from selftrain.decontaminate import NEAR
from selftrain.files import Row, read_rows
from selftrain.run_directory import RoundDirectory

TEXTS = ("text", "f", "g", "prompt", "completion")
"""Columns that may hold the source of a puzzle."""
_COPIES = {Check.TEXT, Check.SYNTAX}
"""Why an example is removed that is a held-out puzzle, but for names and layout."""
_BEFORE = {"text": "def f("}
"""What stands before a column: a proposal goes on from a head that its prompt ends in."""


class HeldOut:
    """The held-out puzzles that a round was measured on."""

    def __init__(self, here: RoundDirectory) -> None:
        self._ids = {row["puzzle_id"] for row in read_rows(here.evaluation)}
        sources = {row["name"]: row["f"] for row in read_rows(here.evaluation_candidates)}
        found = [well_formed(f, name=name, any_answer=True) for name, f in sources.items()]
        puzzles = [one for one in found if isinstance(one, Puzzle)]
        assert len(puzzles) == len(sources), "what was measured are puzzles"
        self._heads = {_head(puzzle.f.splitlines()[0]) for puzzle in puzzles}
        self._texts = HeldOutTexts(puzzles, Bars(NEAR.containment, NEAR.jaccard), NEAR)

    def is_in(self, row: Row) -> bool:
        """Tell whether a row is of a held-out puzzle, or quotes one."""
        return (
            _is_removed_as_such(row)
            or _puzzle_id(row) in self._ids
            or any(self._is_quoted_in(_BEFORE.get(key, "") + (row.get(key) or "")) for key in TEXTS)
        )

    def _is_quoted_in(self, text: str) -> bool:
        # Most texts have no such head, and looking for heads is many times as fast.
        return (
            any(_head(line) in self._heads for line in text.splitlines())
            and self._texts.quoted_in(text) is not None
        )


def _head(line: str) -> str:
    """Give what a line has after its first bracket, as a quote under another name has it too."""
    return " ".join(line.split()).partition("(")[2]


def _is_removed_as_such(row: Row) -> bool:
    # A proposal, too, may be rejected for its syntax, which says nothing of a held-out puzzle.
    reason = row.get("reason")
    return reason == Reason.TOO_CLOSE or ("held_out" in row and reason in _COPIES)


def _puzzle_id(row: Row) -> str | None:
    """Give the id of a row's puzzle; a proposal that was rejected as a duplicate has none yet."""
    if row.get("reason") == Reason.DUPLICATE:
        puzzle = well_formed(row["f"], name=row["id"], any_answer=True)
        return puzzle.id if isinstance(puzzle, Puzzle) else None
    known: str | None = row.get("puzzle_id", row.get("id"))
    return known
