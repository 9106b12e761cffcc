"""Candidates that gave one result: their number, what they weigh together, the order that follows.

All on arrays of one task: a row a draw of its samples (one row where nothing is drawn), a column a
candidate, in the order of the programs' texts, so that the order of input rows can change nothing.
What a score means is in rank.py.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from selftrain.verifier.tasks.results import is_error, result_key

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_DECIMALS = 9
"""Scores, less the task's highest, are compared after rounding to so many: sums that differ in
nothing but the order of adding tie, and a constant added to all of a task's changes no rank."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a ranker says of a task's candidates, before ties are drawn."""

    members: Floats
    """(draws, candidates): each candidate's own score, which orders those of one group."""
    pooled: Floats
    """(draws, candidates): its group's score, which orders the groups."""
    groups: Ints
    """(candidates,): the number of its group; each has its own where nothing is pooled."""
    last: Bools
    """(candidates,): whether it comes after all that are not."""


@dataclass(frozen=True, slots=True)
class Order:
    """Candidates from best to worst, in each draw."""

    columns: Ints
    """(draws, candidates): columns, best first; those that a draw lacks come last."""
    num_ties: Ints
    """(draws,): further candidates that could as well have come first, but for the draw of ties."""


def group_numbers(results: Sequence[str | None]) -> Ints:
    """Number the groups of (candidates,), from 0 in order of first appearance.

    One result is one group, by `result_key`. What cannot be compared is a group of its own: an
    error, an unknown result, and one too odd to be read.
    """
    keys = {result: _key(result) for result in set(results)}
    found: dict[Hashable, int] = {}
    return np.array(
        [
            found.setdefault(column if keys.get(result) is None else keys[result], len(found))
            for column, result in enumerate(results)
        ],
        dtype=np.int64,
    )


def _key(result: str | None) -> str | None:
    """Give what results of one group share; None for one that is merged with nothing."""
    return None if result is None or is_error(result) else result_key(result)


def pool(scores: Floats, groups: Ints, add: np.ufunc) -> Floats:
    """Give each of (draws, candidates) what its group comes to by `add`.

    `np.logaddexp` adds probabilities in log space: -inf where every member has -inf.
    """
    pooled = scores.copy()
    for number in np.flatnonzero(np.bincount(groups) > 1):
        members = np.flatnonzero(groups == number)
        pooled[:, members] = add.reduce(scores[:, members], axis=1, keepdims=True)
    return pooled


def put_in_order(standing: Standing, present: Bools, priority: Ints) -> Order:
    """Order groups by their score, and give the best of each group first, in the groups' order.

    The second of each group come after all the first, since a program can hardly be right where
    another with the same result is wrong; and so on. Equal scores go by `priority` of shape
    (draws, candidates), a permutation in each row, the smaller first: between two groups that of
    their first columns, which favours neither the larger group nor its members' scores.
    """
    own, theirs = relative(standing.members), relative(standing.pooled)
    places = _places(own, standing.groups, present, priority)
    _, first_columns = np.unique(standing.groups, return_index=True)
    of_group = priority[:, first_columns[standing.groups]]
    last = np.broadcast_to(standing.last, own.shape)
    columns = np.lexsort((of_group, -theirs, places, last, ~present), axis=-1)
    chosen = columns[:, :1]
    tied = (
        present
        & (last == np.take_along_axis(last, chosen, 1))
        & (theirs == np.take_along_axis(theirs, chosen, 1))
        & (own == pool(np.where(present, own, -np.inf), standing.groups, np.maximum))
    )
    return Order(columns, tied.sum(axis=1) - 1)


def relative(scores: Floats) -> Floats:
    """Subtract the highest score of each row, and round, so that equality can be asked for.

    Where the highest is infinite, those that equal it are 0 and all others -inf: a row of -inf
    alone is a tie of all.
    """
    best = scores.max(axis=1, keepdims=True)
    infinite = np.isinf(best)
    differences = scores - np.where(infinite, 0.0, best)
    of_infinite = np.where(scores == best, 0.0, -np.inf)
    return np.where(infinite, of_infinite, np.round(differences, _DECIMALS))


def _places(own: Floats, groups: Ints, present: Bools, priority: Ints) -> Ints:
    """Give each candidate its place in its group, from 0, by its own score."""
    numbers = np.broadcast_to(groups, own.shape)
    columns = np.lexsort((priority, -own, ~present, numbers), axis=-1)
    sorted_numbers = np.take_along_axis(numbers, columns, 1)
    starts = np.ones(own.shape, dtype=np.bool_)
    starts[:, 1:] = sorted_numbers[:, 1:] != sorted_numbers[:, :-1]
    position = np.arange(own.shape[1])
    begin = np.maximum.accumulate(np.where(starts, position, 0), axis=1)
    places = np.empty(own.shape, dtype=np.int64)
    np.put_along_axis(places, columns, position - begin, axis=1)
    return places
