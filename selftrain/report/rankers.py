"""What the rankers of candidates are, in words: the same wherever a report shows them.

How each ranks is in verifier/ranking/rank.py.
"""

from collections.abc import Collection

from selftrain.verifier.ranking.rank import Ranker

FEW_TASKS = 30
"""Intervals over fewer tasks say little."""
_MEANINGS: tuple[tuple[str, tuple[Ranker, ...], str], ...] = (
    (
        "greedy",
        ("greedy",),
        "a sample of its own at temperature 0, so that it may be right where no candidate is",
    ),
    ("random", ("random",), "a sample at random, which is Pass@1"),
    ("most frequent", ("most frequent",), "the result that most samples have"),
    ("LM sum", ("LM sum",), "the program likeliest by the sum of its tokens' log-probabilities"),
    ("LM mean", ("LM mean",), "by their mean"),
    (
        "error-free",
        ("LM sum, error-free", "most frequent, error-free"),
        "programs that fail come last",
    ),
    ("verifier", ("verifier",), "its probability alone"),
    ("joint", ("joint",), "that times the likelihood (equation 3 of LEVER)"),
    ("with groups", ("joint with groups",), "pooled over programs of equal result"),
    ("oracle", ("oracle",), "a candidate that is right, where there is one"),
)
"""A name or a part of one, the rankers that have it, and what it chooses."""


def meanings(shown: Collection[str]) -> str:
    """Say what each of the rankers shown chooses, in one line."""
    said = (
        f"{name}: {what}"
        for name, rankers, what in _MEANINGS
        if any(ranker in shown for ranker in rankers)
    )
    return f"What each chooses. {'; '.join(said)}."
