"""Puzzles as text: the record, reading them from files, cutting them from completions, filters.

It knows source text and the judge; it knows no model, no run directory and no prompt, and brings no
torch. Each module holds one noun; only the record is exported here.
"""

from puzzles.puzzle import Puzzle, from_row, instances, puzzle_from_source, sources, to_row
from puzzles.reasons import PuzzleError, Reason, Rejection

__all__ = [
    "Puzzle",
    "PuzzleError",
    "Reason",
    "Rejection",
    "from_row",
    "instances",
    "puzzle_from_source",
    "sources",
    "to_row",
]
