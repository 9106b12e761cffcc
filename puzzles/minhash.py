"""Find near-duplicates of held-out puzzles as they are written: by the pairs of tokens they share.

`near` compares normal forms by runs of five, so that names do not matter and one changed token
spoils five runs; here names stay and one changed token spoils two pairs, so that a copy edited in
several places is found. On P3's own split it finds, at the default threshold, Study_1/Study_2,
Sstriiinggssuubb/Sssuubbstriiingg, Nash/ZeroSum and, which `near` does not, IfProblemWithOr/
IfProblemWithAnd. MinHash (datasketch) only names the candidates; whether they are near is counted
exactly, so that no estimate decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from puzzles.normal import shape
from puzzles.puzzle import Puzzle

THRESHOLD = 0.7
"""Jaccard similarity from which two puzzles are near-duplicates. In P3, 0.68 is already another
task in nearly the same words (HelloWorld/BackWorlds)."""
NUM_PERMUTATIONS = 128
SEED = 1
WEIGHTS = (0.1, 0.9)
"""How much a false and a missed candidate weigh: the false ones are counted out afterwards."""
MARGIN = 0.2
"""Candidates are asked for from so much less similarity on, since near its own threshold MinHash
misses some."""

_TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*|\S")


@dataclass(frozen=True, slots=True)
class Similarity:
    """How similar one indexed puzzle is to the puzzle asked about."""

    name: str
    """Name of the indexed puzzle."""
    jaccard: float
    """Share of all their pairs of tokens that both have, from 0 to 1."""
    same_shape: bool
    """True where the two differ in constants only, as instances of one family do."""


class MinHashIndex:
    """The held-out puzzles, indexed by MinHash of their pairs of tokens."""

    def __init__(self, puzzles: Iterable[Puzzle], lowest: float = THRESHOLD) -> None:
        # Imported here: datasketch brings scipy, and takes a second.
        from datasketch import MinHash, MinHashLSH

        self.lowest = lowest
        self._empty = MinHash(NUM_PERMUTATIONS, seed=SEED)
        self._index = MinHashLSH(max(lowest - MARGIN, 0.1), NUM_PERMUTATIONS, weights=WEIGHTS)
        self._puzzles = list(puzzles)
        self._pairs = [pairs(puzzle.f) for puzzle in self._puzzles]
        self._shapes = [shape(puzzle.f) for puzzle in self._puzzles]
        for number, found in enumerate(self._pairs):
            self._index.insert(number, self._hashed(found))

    def near(self, puzzle: Puzzle, threshold: float = THRESHOLD) -> list[Similarity]:
        """List the indexed puzzles whose similarity reaches `threshold`, most similar first.

        Below `lowest` of the index, most would be missed: raises ValueError.
        """
        if threshold < self.lowest:
            raise ValueError(f"the index was made for {self.lowest} and more, not {threshold}")
        own = pairs(puzzle.f)
        reached = [
            (jaccard, number)
            for number in self._index.query(self._hashed(own))
            if (jaccard := _jaccard(own, self._pairs[number])) >= threshold
        ]
        if not reached:
            return []
        own_shape = shape(puzzle.f)
        return [
            Similarity(self._puzzles[number].name, jaccard, self._shapes[number] == own_shape)
            for jaccard, number in sorted(reached, key=lambda pair: (-pair[0], pair[1]))
        ]

    def _hashed(self, found: set[str]) -> Any:
        hashed = self._empty.copy()
        hashed.update_batch(pair.encode("utf-8", "surrogatepass") for pair in sorted(found))
        return hashed


def pairs(source: str) -> set[str]:
    """Give the distinct pairs of neighbouring tokens of a source as it is written."""
    tokens = _TOKEN.findall(source)
    return {f"{first} {second}" for first, second in pairwise(tokens)}


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)
