"""Holm's correction: several comparisons, and still at most 5% chance of any false one."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number, in the order given (Holm 1979, Scand J Stat 6:65).

    The i-th smallest of m is multiplied by m - i + 1; none falls below a smaller one's, none
    exceeds 1. It holds however the tests depend on each other, as arms that share a baseline do.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    ascending = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for rank, index in enumerate(ascending):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
