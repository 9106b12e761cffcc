"""McNemar's exact test: do two models solve different puzzles, each once and for all?

It counts every puzzle as independent, so it knows no families and no seeds; the permutation test
of comparison.py does. It is here because readers know it, and it needs no draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from selftrain.files import Row
from selftrain.statistics.evaluations import aligned


@dataclass(frozen=True, slots=True)
class McNemar:
    """Puzzles that one of two models solved and the other did not."""

    only_a: int
    """Puzzles that the first model alone solved."""
    only_b: int
    """Puzzles that the second model alone solved."""
    p_value: float
    """Two-sided, exact: a fair coin falls at least this unevenly in `only_a + only_b` throws."""


def mcnemar(a: Sequence[Row], b: Sequence[Row], k: int | None) -> McNemar:
    """Compare what two models solved, a row a puzzle of each; McNemar 1947, exact as in Agresti
    2013, section 11.1.

    Solved means that at least one of the first k samples passed, in the order drawn; with k None,
    that greedy decoding passed. Raises ValueError where puzzles differ or rows cannot tell.
    """
    from scipy.stats import binomtest

    a, b = aligned([a, b])
    pairs = [(solved_within(x, k), solved_within(y, k)) for x, y in zip(a, b, strict=True)]
    only_a, only_b = pairs.count((True, False)), pairs.count((False, True))
    # No discordant pair: nothing speaks against the null.
    p_value = float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0
    return McNemar(only_a, only_b, p_value)


def solved_within(row: Row, k: int | None) -> bool:
    """Tell whether one of the first k samples passed, or for None the greedy one.

    For a k below n the row must have `first_correct`, the index of the first sample that passed
    (null where none did): a count alone has no order.
    """
    if k is None:
        if row.get("greedy_passed") is None:
            raise ValueError(
                f"{row['name']!r} has no 'greedy_passed', so it was not tried greedily."
            )
        return bool(row["greedy_passed"])
    if not 1 <= k <= row["n"]:
        raise ValueError(f"k is {k}, but {row['name']!r} has samples 1 to {row['n']}.")
    if row["num_correct"] in (0, row["n"]) or k == row["n"]:
        return bool(row["num_correct"] > 0)
    if "first_correct" not in row:
        raise ValueError(
            f"{row['name']!r} has no 'first_correct', so which of its first {k} samples passed is "
            f"not known. Compare at k = {row['n']}, which needs no order."
        )
    return row["first_correct"] is not None and row["first_correct"] < k
