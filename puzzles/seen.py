"""Remember which puzzles there were, to drop duplicates: by normal form, so names do not matter."""

from __future__ import annotations

from collections.abc import Iterable

from puzzles.puzzle import Puzzle
from puzzles.reasons import Reason, Rejection


class Seen:
    """The puzzles seen so far, by id. It grows by about 200 bytes a puzzle."""

    def __init__(self, puzzles: Iterable[Puzzle] = ()) -> None:
        self._name_by_id: dict[str, str] = {}
        for puzzle in puzzles:
            self._name_by_id.setdefault(puzzle.id, puzzle.name)

    def add(self, puzzle: Puzzle) -> Rejection | None:
        """Note a puzzle; give a rejection where an equal one was noted before."""
        earlier = self._name_by_id.get(puzzle.id)
        if earlier is None:
            self._name_by_id[puzzle.id] = puzzle.name
            return None
        return Rejection(Reason.DUPLICATE, f"it equals {earlier}, but for names and layout")

    def __len__(self) -> int:
        return len(self._name_by_id)
