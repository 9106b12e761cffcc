"""Find near-duplicates of held-out puzzles: by the runs of five tokens that two puzzles share.

It compares text, not meaning: two ways to ask for the same thing may pass. On P3's own split it
finds five pairs at the default threshold, among them Study_1/Study_2,
Sstriiinggssuubb/Sssuubbstriiingg and Nash/ZeroSum. Counting is exact, through an inverted index, so
no hashing library is needed at some hundreds of held-out puzzles.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from puzzles.normal import normal_form, shape
from puzzles.puzzle import Puzzle
from puzzles.reasons import Reason, Rejection

NUM_TOKENS = 5
"""Tokens in a run."""
THRESHOLD = 0.75
"""Containment from which two puzzles are near-duplicates. In P3, 0.74 is already a mere shared
beginning (ListPosSum/ListLen), and 0.75 still the same task (Nash/ZeroSum)."""

_TOKEN = re.compile(r"""[A-Za-z_]\w*|\d[\w.]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\S""")
_OWN_NAME = re.compile(r"v\d+")


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near one indexed puzzle is to the puzzle asked about."""

    name: str
    """Name of the indexed puzzle."""
    containment: float
    """Share of the smaller puzzle's runs that the other has too, from 0 to 1."""
    same_shape: bool
    """True where the two differ in constants only, as instances of one family do."""


class NearIndex:
    """The held-out puzzles, indexed by their runs of tokens."""

    def __init__(self, puzzles: Iterable[Puzzle]) -> None:
        self._names: list[str] = []
        self._shapes: list[str] = []
        self._sizes: list[int] = []
        self._having: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, puzzle in enumerate(puzzles):
            found = runs(puzzle.f)
            self._names.append(puzzle.name)
            self._shapes.append(shape(puzzle.f))
            self._sizes.append(len(found))
            for run in found:
                self._having[run].append(number)

    def near(self, puzzle: Puzzle, threshold: float = THRESHOLD) -> list[Nearness]:
        """List the indexed puzzles whose containment reaches `threshold`, nearest first."""
        found = runs(puzzle.f)
        shared: Counter[int] = Counter()
        for run in found:
            shared.update(self._having.get(run, ()))
        reached = [
            (count / min(len(found), self._sizes[number]), number)
            for number, count in shared.items()
        ]
        reached = [pair for pair in reached if pair[0] >= threshold]
        if not reached:
            return []
        own_shape = shape(puzzle.f)
        return [
            Nearness(self._names[number], containment, self._shapes[number] == own_shape)
            for containment, number in sorted(reached, key=lambda pair: (-pair[0], pair[1]))
        ]


def runs(source: str) -> set[tuple[str, ...]]:
    """Give the distinct runs of five tokens in the normal form, its own names all made equal.

    Numbered names would not do: one more variable at the start would change all that follow.
    """
    tokens = [
        "v" if _OWN_NAME.fullmatch(token) else token
        for token in _TOKEN.findall(normal_form(source))
    ]
    return {tuple(tokens[i : i + NUM_TOKENS]) for i in range(max(1, len(tokens) - NUM_TOKENS + 1))}


def too_close(
    puzzle: Puzzle,
    held_out: NearIndex,
    threshold: float = THRESHOLD,
    *,
    same_shape_is_new: bool = False,
) -> Rejection | None:
    """Reject a puzzle that is a near-duplicate of a held-out one.

    With `same_shape_is_new`, a puzzle that differs from a held-out one in constants only counts as
    a new instance of a known family, not as a near-duplicate; equal ones are `Seen`'s to find.
    """
    for nearness in held_out.near(puzzle, threshold):
        if not (same_shape_is_new and nearness.same_shape):
            return Rejection(
                Reason.TOO_CLOSE,
                f"containment {nearness.containment:.2f} with the held-out {nearness.name}",
            )
    return None
