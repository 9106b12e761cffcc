"""What a round's proposals define, counted: normal forms, and shapes as the families of puzzles.

Proposals stream; kept are 16 bytes a definition. A row's text is parsed once more, since a proposal
that was dropped carries no normal form; what is repeated to the letter is not.
"""

import hashlib
import heapq
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from puzzles.normal import content_id, shape
from puzzles.syntax import SyntaxFailure
from selftrain.diversity.kinds import Kinds, kinds_of
from selftrain.diversity.syntax import SyntaxVariety
from selftrain.files import Row, read_rows
from selftrain.seeds import derive_seed

Digests = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Counted:
    """The definitions of one pool, counted."""

    normal_forms: Kinds
    """How often normal forms are met."""
    families: Kinds
    """How often shapes are met."""
    syntax_bits: float
    """Entropy of the syntax between definitions, see syntax.py."""
    shapes: Digests
    """A digest of each shape, rising."""
    counts: NDArray[np.int64]
    """How often each of them is met."""
    first: NDArray[np.int64]
    """The number of the first definition of each, counted from 0."""

    @property
    def num_definitions(self) -> int:
        """Count the definitions."""
        return int(self.counts.sum())


def read_definitions(proposals: Path) -> Iterator[Row]:
    """Stream the rows of a proposals file from which a definition was cut, kept or not."""
    return (row for row in read_rows(proposals) if row["f"] is not None)


def count_definitions(proposals: Path, advance: Callable[[int], object]) -> Counted:
    """Count what a proposals file defines. `advance` is told of each definition."""
    normal_forms, shapes, syntax = array("Q"), array("Q"), SyntaxVariety()
    for row in read_definitions(proposals):
        normal_forms.append(_normal_form(row["f"], row["puzzle_id"]))
        found = _shape(row["f"])
        shapes.append(shape_digest(found))
        syntax.add(found)
        advance(1)
    distinct, first, counts = np.unique(
        np.frombuffer(shapes, dtype=np.uint64), return_index=True, return_counts=True
    )
    _, times = np.unique(np.frombuffer(normal_forms, dtype=np.uint64), return_counts=True)
    return Counted(kinds_of(times), kinds_of(counts), syntax.bits, distinct, counts, first)


def shapes_of(sources: Iterator[str]) -> Digests:
    """Digest the shapes of some puzzles, each once."""
    found = {shape_digest(_shape(source)) for source in sources}
    return np.array(sorted(found), dtype=np.uint64)


def draw_definitions(proposals: Path, size: int, seed: int) -> list[Row]:
    """Draw at most `size` definitions at random, equal ones with their frequency.

    Each row's place in the draw comes from its id, so the draw does not depend on their order.
    """
    return heapq.nsmallest(
        size, read_definitions(proposals), key=lambda row: derive_seed(seed, "embed", row["id"])
    )


def most_frequent(proposals: Path, counted: Counted, size: int) -> list[tuple[str, int]]:
    """Give the first definition of each of the most frequent shapes, with its count."""
    order = np.lexsort((counted.first, -counted.counts))[:size]
    wanted = {int(counted.first[i]): int(counted.counts[i]) for i in order}
    texts: dict[int, str] = {}
    for number, row in enumerate(read_definitions(proposals)):
        if number in wanted:
            texts[number] = row["f"]
            if len(texts) == len(wanted):
                break
    return [(texts[number], count) for number, count in wanted.items()]


@lru_cache(maxsize=16_384)
def _shape(f: str) -> str:
    """Give the shape; a text that nests too deep to have one counts as itself."""
    try:
        return shape(f)
    except SyntaxFailure:
        return f


def _normal_form(f: str, puzzle_id: str | None) -> int:
    """Give the normal form's digest, which the filter has noted where it kept the puzzle."""
    if puzzle_id is not None:
        return int(puzzle_id, 16)
    try:
        return int(content_id(f), 16)
    except SyntaxFailure:
        return shape_digest(f)


def shape_digest(text: str) -> int:
    """Hash a shape to 64 bits: two of a million shapes are alike by chance once in 10^7 rounds."""
    spelt = text.encode("utf-8", "backslashreplace")
    return int.from_bytes(hashlib.blake2b(spelt, digest_size=8).digest(), "big")
