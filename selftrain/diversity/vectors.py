"""What later rounds compare themselves with: a round's shapes and its embedded puzzles, in a file.

Embeddings are kept as directions, vectors of length 1, since only angles between them are asked
for. Where they come from is in embeddings.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selftrain.diversity.definitions import Digests

Directions = NDArray[np.float32]
_ROWS = 512


@dataclass(frozen=True, slots=True)
class Embedded:
    """Some puzzles and their directions."""

    names: tuple[str, ...]
    """The puzzles' names; of proposed ones, their ids."""
    directions: Directions
    """Shape (puzzles, hidden size), each row of length 1."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """What one round leaves to the rounds after it."""

    shapes: Digests
    """A digest of each shape."""
    puzzles: Embedded
    """Proposed puzzles, drawn at random; none where nothing is embedded."""
    train: Embedded
    """Train puzzles; kept by the first round that is measured, of others empty."""


NOTHING = Embedded((), np.empty((0, 0), dtype=np.float32))


def directions(embedded: NDArray[np.float32]) -> Directions:
    """Scale each row to length 1."""
    lengths = np.linalg.norm(embedded.astype(np.float64), axis=1, keepdims=True)
    scaled: Directions = (embedded / np.maximum(lengths, 1e-30)).astype(np.float32)
    return scaled


def mean_distance(rows: Directions) -> float:
    """Average 1 - cosine over all pairs of different rows, at least two: 0 where all agree."""
    count, total = len(rows), rows.astype(np.float64).sum(axis=0)
    return max(0.0, 1 - float(total @ total - count) / (count * (count - 1)))


def nearest_distance(rows: Directions, others: Sequence[Directions]) -> float:
    """Average over the rows 1 - cosine to the nearest of the others: 0 where each has its twin."""
    nearest = np.concatenate(
        [
            np.max([(part @ other.T).max(axis=1) for other in others if len(other)], axis=0)
            for part in np.array_split(rows, range(_ROWS, len(rows), _ROWS))
        ]
    )
    return max(0.0, 1 - float(nearest.mean(dtype=np.float64)))


def write_vectors(path: Path, vectors: Vectors) -> None:
    """Write the file, there whole or not at all; the same vectors give the same bytes."""
    unfinished = path.with_name(path.name + ".unfinished")
    with unfinished.open("wb") as file:
        np.savez(
            file,
            shapes=vectors.shapes,
            puzzle_names=np.array(vectors.puzzles.names, dtype=np.str_),
            puzzles=vectors.puzzles.directions,
            train_names=np.array(vectors.train.names, dtype=np.str_),
            train=vectors.train.directions,
        )
    unfinished.replace(path)


def read_vectors(path: Path) -> Vectors:
    """Read what `write_vectors` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        return Vectors(
            stored["shapes"],
            Embedded(tuple(stored["puzzle_names"].tolist()), stored["puzzles"]),
            Embedded(tuple(stored["train_names"].tolist()), stored["train"]),
        )
