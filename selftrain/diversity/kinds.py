"""How often kinds are met in a pool: their entropy, and what a smaller pool would have shown.

A larger pool of the same source holds more kinds, and the share of distinct ones falls as it grows.
So pools are compared at one size: the smaller one's.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Kinds:
    """How many kinds were met once, twice, and so on; which they are is not kept."""

    times: tuple[int, ...]
    """How often a kind was met: rising, each from 1 on."""
    num_kinds: tuple[int, ...]
    """How many kinds were met that often."""

    @property
    def size(self) -> int:
        """Count the members of the pool."""
        return sum(a * b for a, b in zip(self.times, self.num_kinds, strict=True))

    @property
    def num_distinct(self) -> int:
        """Count the kinds."""
        return sum(self.num_kinds)


@dataclass(frozen=True, slots=True)
class Variety:
    """How varied a pool is in one respect."""

    num_distinct: float
    """Kinds in it; of a smaller pool, the number expected."""
    bits: float
    """Entropy of the kinds, 0 where all members are of one kind."""

    @property
    def effective_number(self) -> float:
        """Give 2^bits: so many kinds, all equally frequent, would be as varied."""
        return float(2.0**self.bits)


def kinds_of(counts: NDArray[np.int64]) -> Kinds:
    """Sum up the counts of all kinds, each at least 1."""
    times, num_kinds = np.unique(counts, return_counts=True)
    return Kinds(tuple(times.tolist()), tuple(num_kinds.tolist()))


def variety(kinds: Kinds) -> Variety:
    """Count the kinds and give their entropy; an empty pool has none of either."""
    size = kinds.size
    if size == 0:
        return Variety(0, 0.0)
    shares = np.array(kinds.times) / size
    bits = -np.sum(np.array(kinds.num_kinds) * shares * np.log2(shares))
    return Variety(kinds.num_distinct, max(0.0, float(bits)))


def variety_at(kinds: Kinds, size: int) -> Variety:
    """Give the variety expected of `size` members drawn without replacement (rarefaction).

    The number of kinds is Hurlbert's (1971); the entropy is the mean of the entropies of all such
    draws, exactly. A `size` beyond the pool's is taken as the pool's.
    """
    total = kinds.size
    if size >= total:
        return variety(kinds)
    num_distinct = bits = 0.0
    for times, num_kinds in zip(kinds.times, kinds.num_kinds, strict=True):
        drawn = np.arange(max(1, size - (total - times)), min(times, size) + 1)
        chances = _chances(drawn, times, total, size)
        num_distinct += num_kinds * float(chances.sum())
        bits -= num_kinds * float(np.sum(chances * drawn / size * np.log2(drawn / size)))
    return Variety(num_distinct, max(0.0, bits))


def _chances(drawn: NDArray[np.int64], times: int, total: int, size: int) -> NDArray[np.float64]:
    """Give the chance of each number of members of a kind among `size` drawn (hypergeometric)."""
    from scipy.stats import hypergeom

    chances: NDArray[np.float64] = hypergeom.pmf(drawn, total, times, size)
    return chances
