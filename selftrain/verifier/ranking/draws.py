"""What draws of a task's samples give: rankings of fewer of them, and choices by chance alone.

Nothing is sampled from a model: samples that are there are drawn without replacement, and those of
equal text are one candidate again after each draw.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.statistics import Estimate
from selftrain.statistics.intervals import mean_with_interval
from selftrain.verifier.ranking.groups import Bools, Floats, Ints
from selftrain.verifier.ranking.rank import (
    Likelihood,
    Ranker,
    Scored,
    labelled,
    rank_draws,
    usable,
)
from selftrain.verifier.ranking.slate import Slate, lay_out

NUM_REPEATS = 20
"""Draws of a task's samples that a ranker's choices are averaged over."""
_NUM_ORDERS = 200
"""Random orders of the wrong texts that are averaged over, where they differ in their samples."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """How often one ranker is right among a number of samples."""

    ranker: Ranker
    num_samples: int
    """Samples a task that it chooses among; all that a task has, where it has fewer."""
    accuracy: Estimate
    """Share of right choices, over tasks and repeats; its interval is over tasks."""


def by_number(
    scored: Sequence[Scored],
    sizes: Sequence[int],
    *,
    repeats: int = NUM_REPEATS,
    seed: int,
    likelihood: Likelihood = "sum",
    groups: bool = True,
) -> tuple[Drawn, ...]:
    """Measure every ranker on fewer samples, in order of rankers, then of `sizes`.

    In each repeat the samples of a task are shuffled, and a size takes the first of them, for all
    rankers the same: so the oracle never falls as the size grows. `random` is its expectation,
    which is equal at all sizes; `greedy` chooses among no samples, and is left out. Tasks without
    all labels are too. Raises UsageError where no task is left.
    """
    known = labelled(scored)
    rankers, _ = usable(known, likelihood=likelihood, groups=groups)
    rankers = [ranker for ranker in rankers if ranker != "greedy"]
    slates = [lay_out(one.task, one.log_odds) for one in known]
    shares = [_right_shares(slate, rankers, sizes, repeats, seed, likelihood) for slate in slates]
    # (rankers, sizes, tasks)
    values = np.moveaxis(np.array(shares), 0, -1)
    families, draws = [one.task.family for one in known], derive_seed(seed, "intervals")
    return tuple(
        Drawn(ranker, size, mean_with_interval(own, families, num_samples=size, seed=draws))
        for ranker, of_ranker in zip(rankers, values, strict=True)
        for size, own in zip(sizes, of_ranker, strict=True)
    )


def doubling_sizes(num_samples: int) -> tuple[int, ...]:
    """Give 1, 2, 4, ... and the number of samples itself."""
    powers = [2**power for power in range(num_samples.bit_length()) if 2**power < num_samples]
    return (*powers, num_samples)


def _right_shares(
    slate: Slate,
    rankers: Sequence[Ranker],
    sizes: Sequence[int],
    repeats: int,
    seed: int,
    likelihood: Likelihood,
) -> Floats:
    """Give the share of repeats in which each ranker is right, of shape (rankers, sizes)."""
    shares = np.zeros((len(rankers), len(sizes)))
    if not len(slate.counts):
        return shares
    assert slate.labels is not None
    counts, priority = _draw(slate, sizes, repeats, seed)
    for row, ranker in enumerate(rankers):
        if ranker == "random":
            shares[row] = right_by_chance(slate.labels, slate.counts)
            continue
        order = rank_draws(slate, ranker, counts, priority, likelihood)
        right = slate.labels[order.columns[:, 0]].reshape(repeats, len(sizes))
        shares[row] = right.mean(axis=0)
    return shares


def _draw(slate: Slate, sizes: Sequence[int], repeats: int, seed: int) -> tuple[Ints, Ints]:
    """Count each candidate in each draw, and draw an order for ties: (repeats * sizes, candidates).

    The sizes of a repeat are nested, and follow each other.
    """
    num_candidates = len(slate.counts)
    samples = np.repeat(np.arange(num_candidates), slate.counts)
    counts, priority = [], []
    for repeat in range(repeats):
        place = ("draws", slate.task.task_id, repeat)
        rng = np.random.default_rng(derive_seed(seed, *place))
        shuffled = rng.permutation(samples)
        counts += [np.bincount(shuffled[:size], minlength=num_candidates) for size in sizes]
        priority += [rng.permutation(num_candidates)] * len(sizes)
    return np.array(counts, dtype=np.int64), np.array(priority, dtype=np.int64)


def right_by_chance(labels: Bools, counts: Ints) -> float:
    """Give the share of samples that are right, which is the chance that one drawn is: Pass@1."""
    return float((labels * counts).sum() / counts.sum()) if counts.size else 0.0


def right_within_by_chance(labels: Bools, counts: Ints, *, seed: int) -> Floats:
    """Give the chance that of the first k distinct texts that draws show one is right, k from 1 on.

    Of shape (candidates,). Samples are drawn one by one, without replacement. All of the first k
    are wrong with the product over j of W_j / (R + W_j), where R samples are right and W_j are
    those of wrong texts not yet seen before the j-th, in a random order of the wrong texts alone;
    its mean over orders is exact where these are as frequent as each other, and at k = 1 always.
    """
    right, wrong = counts[labels].sum(), counts[~labels]
    rng = np.random.default_rng(seed)
    keys = rng.exponential(size=(_NUM_ORDERS, len(wrong))) / wrong
    in_order = wrong[np.argsort(keys, axis=1)]
    left = np.cumsum(in_order[:, ::-1], axis=1)[:, ::-1]
    missed = np.cumprod(left / (right + left), axis=1).mean(axis=0)
    return np.concatenate([1.0 - missed, np.ones(len(counts) - len(wrong))])


def drawn_to_row(drawn: Drawn) -> Row:
    """Flatten to JSON."""
    return asdict(drawn)
