"""Rows that are drawn together, and what was drawn so far. Nothing is drawn here."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from selftrain.sampling.local.drawing import uniforms_of

COMPACT_BELOW = 0.75
"""Finished rows leave when less than this share goes on: leaving costs a copy of the cache."""


@dataclass(frozen=True, slots=True)
class Row:
    """One completion to draw."""

    index: int
    """Place of its request."""
    prompt: list[int]
    """Tokens."""
    seed: int
    is_message: bool = False
    """Whether a line in column 0 ends nothing."""


class Told:
    """Tells of finished rows, of each once, though a batch may be drawn twice."""

    def __init__(self, advance: Callable[[int], object]) -> None:
        self._advance = advance
        self._in_batch = self._ahead = 0

    def finished(self, count: int) -> None:
        """Tell of rows of the batch under way."""
        self._in_batch += count
        new = self._in_batch - self._ahead
        if new > 0:
            self._advance(new)
            self._ahead = self._in_batch

    def batch_done(self) -> None:
        """Begin another batch."""
        self._ahead -= self._in_batch
        self._in_batch = 0

    def batch_failed(self) -> None:
        """Forget what the batch had finished: it is drawn again, but not told again."""
        self._in_batch = 0


class Batch:
    """Rows that are drawn together: what was drawn so far, and which rows go on.

    `places` says which rows are still here; `going` and `at_line_start` are of these.
    """

    def __init__(self, rows: list[Row], max_new_tokens: int) -> None:
        self.rows = rows
        self.tokens = np.zeros((len(rows), max_new_tokens), dtype=np.int64)
        self.num_tokens = np.zeros(len(rows), dtype=np.int64)
        self.sum_logprob = np.zeros(len(rows))
        self.stopped = np.zeros(len(rows), dtype=np.bool_)
        self.uniforms = np.stack([uniforms_of(row.seed, max_new_tokens) for row in rows])
        self.places = np.arange(len(rows))
        self.going = np.ones(len(rows), dtype=np.bool_)
        self.at_line_start = np.zeros(len(rows), dtype=np.bool_)
        self.are_messages = np.array([row.is_message for row in rows], dtype=np.bool_)

    def compact(self) -> NDArray[np.intp] | None:
        """Drop finished rows once they are many; give the positions that stay, None if all do."""
        if self.going.mean() >= COMPACT_BELOW:
            return None
        kept = np.flatnonzero(self.going)
        self.places, self.at_line_start = self.places[kept], self.at_line_start[kept]
        self.going = self.going[kept]
        return kept
