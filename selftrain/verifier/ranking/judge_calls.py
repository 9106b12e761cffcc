"""How many judge calls an order of judging saves, at equal kept pairs.

A puzzle's distinct candidates are judged one after the other until m of them passed, or none is
left. Any order keeps equally many, the smaller of m and all that would pass; what differs is how
many are judged for it. Nothing is judged here: the labels of all candidates must be known. Where a
verifier reads results, each program is executed first, and one that fails is no call.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from selftrain.files import Row
from selftrain.statistics import Estimate
from selftrain.statistics.resampling import task_weights, with_interval
from selftrain.verifier.ranking.chooser import Results
from selftrain.verifier.ranking.rank import Likelihood, Ranker, Scored, rank
from selftrain.verifier.tasks.results import is_error
from selftrain.verifier.tasks.task import Candidate


@dataclass(frozen=True, slots=True)
class Savings:
    """Judge calls that an order needs, against judging all and against a random order."""

    num_puzzles: int
    num_candidates: int
    """Distinct ones that need a call, of all puzzles: the calls of judging them all."""
    num_kept: int
    """Pairs kept: at most m a puzzle, the same whatever the order."""
    num_calls: int
    """Calls of this order."""
    random_calls: float
    """Expected calls of a random order."""
    least_calls: int
    """Calls of the best order: right ones first. Where fewer than m are right all are judged."""
    saved: Estimate
    """Share of the calls of judging all that is saved."""
    random_saved: Estimate
    """The same of a random order, that stops at m too."""
    saved_of_random: Estimate
    """Share of a random order's calls that is saved; negative where random is better."""


def labels_in_order(
    scored: Scored,
    ranker: Ranker,
    *,
    seed: int,
    likelihood: Likelihood,
    results: Results,
) -> list[bool]:
    """Give the labels of a task's programs that need a call, best first, for a verifier that reads
    so much of `results`. Raises UsageError where the ranker cannot rank.
    """
    order = rank(scored, ranker, seed=seed, likelihood=likelihood).order
    candidates = [scored.task.candidates[number] for number in order]
    return [one.label is True for one in candidates if needs_call(one, results)]


def needs_call(candidate: Candidate, results: Results) -> bool:
    """Tell whether a program needs a call: of those executed first, one that failed does not."""
    return results == "none" or not is_error(candidate.result)


def calls_until(labels: Sequence[bool], m: int) -> int:
    """Count the calls, in the order of `labels`, until m right ones are found or none is left.

    Raises ValueError for an m below 1.
    """
    _checked(m)
    found = 0
    for number, label in enumerate(labels, start=1):
        found += label
        if found == m:
            return number
    return len(labels)


def expected_calls(n: int, num_right: int, m: int) -> float:
    """Give the mean of `calls_until` over all orders of n candidates, of which num_right are right.

    m (n + 1) / (num_right + 1), the mean of the negative hypergeometric distribution; n where
    fewer than m are right. Raises ValueError where num_right is not from 0 to n, or m below 1.
    """
    _checked(m)
    if not 0 <= num_right <= n:
        raise ValueError(f"{num_right} of {n} candidates cannot be right.")
    return m * (n + 1) / (num_right + 1) if num_right >= m else float(n)


def savings(
    orders: Sequence[Sequence[bool]], families: Sequence[str], m: int, *, seed: int
) -> Savings:
    """Work out what an order saves, with 95% intervals over puzzles.

    `orders` has the labels of each puzzle's candidates in the order of judging, `families` one a
    puzzle; `seed` is the run's. Raises ValueError where no puzzle has a candidate.
    """
    some = [(order, family) for order, family in zip(orders, families, strict=True) if order]
    if not some:
        raise ValueError("No puzzle has a candidate: there is nothing to judge, or to save.")
    kept, names = [order for order, _ in some], [family for _, family in some]
    sizes = [len(order) for order in kept]
    rights = [sum(order) for order in kept]
    calls = [calls_until(order, m) for order in kept]
    expected = [expected_calls(n, right, m) for n, right in zip(sizes, rights, strict=True)]
    return Savings(
        num_puzzles=len(kept),
        num_candidates=sum(sizes),
        num_kept=sum(min(m, right) for right in rights),
        num_calls=sum(calls),
        random_calls=float(sum(expected)),
        least_calls=sum(m if right >= m else n for n, right in zip(sizes, rights, strict=True)),
        saved=saved_share(calls, sizes, names, seed=seed),
        random_saved=saved_share(expected, sizes, names, seed=seed),
        saved_of_random=saved_share(calls, expected, names, seed=seed),
    )


def saved_share(
    calls: npt.ArrayLike, of_calls: npt.ArrayLike, families: Sequence[str], *, seed: int
) -> Estimate:
    """Give 1 - calls / other calls, sums over puzzles, with a 95% interval over puzzles, paired.

    Both are of shape (puzzles,), such as `calls_until` of two orders of the same puzzles; negative
    where the first needs more.
    """
    ours, theirs = np.asarray(calls, dtype=np.float64), np.asarray(of_calls, dtype=np.float64)
    weights = task_weights(families, seed)
    return with_interval(
        float(1 - ours.sum() / theirs.sum()),
        1 - (weights @ ours) / (weights @ theirs),
        families,
        num_samples=1,
    )


def savings_to_row(found: Savings) -> Row:
    """Flatten savings for JSON."""
    return asdict(found)


def _checked(m: int) -> None:
    if m < 1:
        raise ValueError(f"At least one right candidate must be wanted; found m = {m}.")
