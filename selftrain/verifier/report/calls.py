"""What judging in a verifier's order would save, on tasks whose labels are all known.

Nothing is judged: orders come from scores that are there. What a run has in fact saved is counted
in rounds/worth.py.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from selftrain.files import Row
from selftrain.statistics import Estimate
from selftrain.verifier.ranking.chooser import Results, has_logprobs
from selftrain.verifier.ranking.judge_calls import (
    Savings,
    calls_until,
    labels_in_order,
    saved_share,
    savings,
    savings_to_row,
)
from selftrain.verifier.ranking.rank import Likelihood, Ranker, Scored


@dataclass(frozen=True, slots=True)
class Calls:
    """Judge calls until enough candidates of each task have passed."""

    enough: int
    """How many those are: 1, or `curate.max_solutions`."""
    by_order: Mapping[Ranker, Savings]
    """What each order saves."""
    saved_of_likelihood: Estimate | None
    """Share of the calls in the order of `LM sum` that the verifier's order saves; None where
    there are no log-probabilities."""


def can_save(calls: Calls) -> bool:
    """Tell whether any order needs fewer calls than judging all: whether the best one does."""
    return any(one.least_calls < one.num_candidates for one in calls.by_order.values())


def measure_calls(
    test: Sequence[Scored],
    chooser: Ranker,
    enough: Collection[int],
    *,
    seed: int,
    likelihood: Likelihood,
    results: Results,
) -> Iterator[Calls]:
    """Count judge calls in the verifier's order, and in the likelihood's where that is known.

    Calls are of programs that need one, for a verifier that reads so much of `results`; where none
    does, nothing is counted.
    """
    rankers: list[Ranker] = [chooser]
    if has_logprobs([one.task for one in test], "sum"):
        rankers.append("LM sum")
    orders = {
        ranker: [
            labels_in_order(one, ranker, seed=seed, likelihood=likelihood, results=results)
            for one in test
        ]
        for ranker in rankers
    }
    asked = [number for number, order in enumerate(orders[chooser]) if order]
    families = [test[number].task.family for number in asked]
    kept = {ranker: [found[number] for number in asked] for ranker, found in orders.items()}
    if asked:
        yield from (_until(most, kept, chooser, families, seed) for most in sorted(enough))


def _until(
    enough: int,
    orders: Mapping[Ranker, Sequence[Sequence[bool]]],
    chooser: Ranker,
    families: Sequence[str],
    seed: int,
) -> Calls:
    calls = {ranker: [calls_until(one, enough) for one in own] for ranker, own in orders.items()}
    by_order = {ranker: savings(own, families, enough, seed=seed) for ranker, own in orders.items()}
    of_likelihood = None
    if "LM sum" in calls:
        of_likelihood = saved_share(calls[chooser], calls["LM sum"], families, seed=seed)
    return Calls(enough, by_order, of_likelihood)


def calls_to_row(calls: Calls) -> Row:
    """Flatten for JSON."""
    by_order = {ranker: savings_to_row(one) for ranker, one in calls.by_order.items()}
    return asdict(calls) | {"by_order": by_order}
