"""How varied the syntax of puzzles is: by which kinds of node stand under which in their trees.

Shapes are all or nothing: two that differ in one operator count as two. This measure sees how much
grammar they have in common. Every puzzle is a distribution over pairs (node, child), such as
(Compare, Call); the entropy of the pooled pairs less the mean entropy inside a puzzle is the part
that lies between puzzles (the Jensen-Shannon divergence; Jost 2007 on its effective number). The
pooled entropy alone would not do: one rich puzzle, repeated, has much of it.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from math import log2

from puzzles.syntax import SyntaxFailure, parse

Shares = tuple[tuple[tuple[str, str], float], ...]


class SyntaxVariety:
    """The syntax of the puzzles added so far; it does not grow with their number."""

    def __init__(self) -> None:
        self._pooled: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._inside = 0.0
        self._num_puzzles = 0

    def add(self, shape: str) -> None:
        """Add a puzzle by its shape, so that the length of its literals has no say."""
        shares, bits = _pairs(shape)
        if shares:
            self._num_puzzles += 1
            self._inside += bits
            for pair, part in shares:
                self._pooled[pair] += part

    @property
    def bits(self) -> float:
        """Give the entropy between puzzles: 0 for equal ones, log2(n) for n that share no pair."""
        if self._num_puzzles == 0:
            return 0.0
        pooled = _entropy(part / self._num_puzzles for part in self._pooled.values())
        return max(0.0, pooled - self._inside / self._num_puzzles)


@lru_cache(maxsize=4_096)  # 4 kB each; a model's puzzles have few shapes, met again and again
def _pairs(shape: str) -> tuple[Shares, float]:
    """Give each pair's share of a puzzle, and their entropy in bits; nothing for no Python."""
    try:
        tree = parse(shape)
    except SyntaxFailure:
        return (), 0.0
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context):  # says only where a name stands
                counts[type(node).__name__, type(child).__name__] += 1
    total = sum(counts.values())
    shares = tuple((pair, count / total) for pair, count in counts.items())
    return shares, _entropy(part for _, part in shares)


def _entropy(shares: Iterator[float]) -> float:
    return -sum(part * log2(part) for part in shares)
