"""Rank a task's candidates: by chance, by frequency, by likelihood, by a verifier, by the labels.

All rankers see the same candidates. No network is run here, and no checker: `oracle` reads the
labels that a task already has. The joint score is Ni et al. 2023 (LEVER), equation 3, in log space.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.verifier.ranking.groups import Floats, Ints, Order, Standing, pool, put_in_order
from selftrain.verifier.ranking.slate import Slate, lay_out, log_probabilities
from selftrain.verifier.tasks.task import Task

Ranker = Literal[
    "greedy",
    "random",
    "most frequent",
    "LM sum",
    "LM mean",
    "LM sum, error-free",
    "most frequent, error-free",
    "verifier",
    "joint",
    "joint with groups",
    "oracle",
]
RANKERS: tuple[Ranker, ...] = get_args(Ranker)
"""In the order of the table."""
Likelihood = Literal["sum", "mean"]
"""What P_LM of a program is: the sum of its tokens' log-probabilities, or their mean."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A task with what a verifier says of its candidates."""

    task: Task
    log_odds: tuple[float, ...] | None
    """log P(right) - log P(wrong), one a candidate, in order; None where there is no verifier."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates of a task in the order of one ranker."""

    order: tuple[int, ...]
    """Indices into the task's candidates, best first."""
    scores: tuple[float, ...]
    """What each candidate's place comes from, in the order of the candidates: its share of samples,
    the samples with its result, a log-probability in nats, log-odds, a joint log score, its
    group's, or its label."""
    num_ties: int
    """Further candidates that could as well have come first, had the tie been drawn otherwise."""


def rank(
    scored: Scored,
    ranker: Ranker,
    *,
    seed: int,
    likelihood: Likelihood = "sum",
) -> Ranking:
    """Rank a task's candidates; ties are drawn by `seed` and the task's id.

    Programs that end in an error are ranked by their scores as others are, since a verifier has
    read the error; pooled scores are of one result, so an error has its own score alone. Only the
    error-free rankers put errors after all others. `greedy` has a program of its own: it ranks the
    candidate of that text, if there is one, and no other. Raises UsageError where the task lacks
    what the ranker needs.
    """
    why = refusal(scored, ranker, likelihood)
    if why:
        raise UsageError(why)
    if ranker == "greedy":
        return _greedy(scored.task)
    if not scored.task.candidates:
        return Ranking((), (), 0)
    slate = lay_out(scored.task, scored.log_odds)
    return rank_slate(slate, ranker, seed=seed, likelihood=likelihood)


def refusal(scored: Scored, ranker: Ranker, likelihood: Likelihood) -> str | None:
    """Say in a sentence why a ranker cannot rank a task; None where it can."""
    task = scored.task
    jointly = ranker in ("joint", "joint with groups")
    if ranker == "greedy" and task.greedy is None:
        return f"Task {task.task_id!r} has no greedy program, which is drawn apart from candidates."
    if (ranker == "verifier" or jointly) and scored.log_odds is None:
        return f"Task {task.task_id!r} has no verifier's scores, so {ranker!r} cannot rank it."
    if ranker.startswith("LM") or jointly:
        by_mean = likelihood == "mean" if jointly else ranker == "LM mean"
        if log_probabilities(task, by_mean=by_mean) is None:
            what = "scored jointly" if jointly else f"ranked by {ranker!r}"
            return (
                f"The candidates of task {task.task_id!r} have no log-probabilities"
                f"{' a token' if by_mean else ''}, so they cannot be {what}; "
                "lever.logprobs=model lets the model read them."
            )
    if ranker == "oracle" and any(one.label is None for one in task.candidates):
        return f"Task {task.task_id!r} has candidates without a label, so there is no oracle."
    return None


def usable(
    scored: Sequence[Scored], *, likelihood: Likelihood, groups: bool
) -> tuple[list[Ranker], dict[Ranker, str]]:
    """Find the rankers that can rank every task, and why each other cannot, in a sentence.

    Without `groups` the one that pools is not asked for, so it is neither.
    """
    rankers: list[Ranker] = []
    refused: dict[Ranker, str] = {}
    for ranker in RANKERS:
        if ranker == "joint with groups" and not groups:
            continue
        reasons = (refusal(one, ranker, likelihood) for one in scored)
        reason = next((one for one in reasons if one), None)
        if reason is None:
            rankers.append(ranker)
        else:
            refused[ranker] = reason
    return rankers, refused


def labelled(scored: Sequence[Scored]) -> list[Scored]:
    """Keep the tasks whose candidates all have a label. Raises UsageError where there is none."""
    known = [one for one in scored if all(c.label is not None for c in one.task.candidates)]
    if not known:
        raise UsageError(
            f"Of {len(scored)} tasks none has labels of all its candidates, so no ranking can be "
            "measured; tasks with a checker, tests or a gold result are labelled by executing them."
        )
    return known


def rank_slate(slate: Slate, ranker: Ranker, *, seed: int, likelihood: Likelihood) -> Ranking:
    """Rank a task that is laid out, has candidates, and lacks nothing that the ranker needs."""
    rng = np.random.default_rng(derive_seed(seed, "ties", slate.task.task_id))
    if ranker == "random":
        # Texts in the order in which samples drawn one by one first show them: the largest of
        # u^(1 / weight) comes first (Efraimidis and Spirakis 2006).
        keys = rng.exponential(size=len(slate.counts)) / slate.counts
        priority = np.argsort(np.argsort(keys))
    else:
        priority = rng.permutation(len(slate.counts))
    counts = slate.counts[np.newaxis]
    standing = stand(slate, ranker, counts, likelihood)
    order = put_in_order(standing, counts > 0, priority[np.newaxis])
    shares = slate.counts / slate.counts.sum()
    shown = shares if ranker == "random" else standing.pooled[0]
    return Ranking(
        order=tuple(slate.index[order.columns[0]].tolist()),
        scores=tuple(shown[np.argsort(slate.index)].tolist()),
        num_ties=int(order.num_ties[0]),
    )


def rank_draws(
    slate: Slate, ranker: Ranker, counts: Ints, priority: Ints, likelihood: Likelihood
) -> Order:
    """Rank what each draw of a task's samples holds: `counts` of (draws, candidates), 0 where a
    draw lacks one. Ties go by `priority` of the same shape, the smaller first.
    """
    return put_in_order(stand(slate, ranker, counts, likelihood), counts > 0, priority)


def stand(slate: Slate, ranker: Ranker, counts: Ints, likelihood: Likelihood) -> Standing:
    """Score the candidates of each draw, of shape (draws, candidates), and their groups.

    A group pools the distinct programs of one result, as the paper does; a majority counts its
    samples. All that `random` says is a tie.
    """
    present = counts > 0
    alone = np.arange(len(slate.counts))
    last = slate.errors if ranker.endswith("error-free") else np.zeros_like(slate.errors)
    if ranker in ("most frequent", "most frequent, error-free"):
        samples = counts.astype(np.float64)
        return Standing(samples, pool(samples, slate.groups, np.add), slate.groups, last)
    scores = np.where(present, _scores(slate, ranker, likelihood), -np.inf)
    if ranker == "joint with groups":
        return Standing(scores, pool(scores, slate.groups, np.logaddexp), slate.groups, last)
    return Standing(scores, scores, alone, last)


def joint_scores(log_likelihoods: Floats, log_odds: Floats) -> Floats:
    """Add log P_LM and log P(right): equation 3. log P(right) is log sigmoid of the log-odds."""
    return log_likelihoods - np.logaddexp(0.0, -log_odds)


def _scores(slate: Slate, ranker: Ranker, likelihood: Likelihood) -> Floats:
    if ranker == "random":
        return np.zeros(len(slate.counts))
    if ranker == "oracle":
        assert slate.labels is not None
        return slate.labels.astype(np.float64)
    if ranker == "verifier":
        assert slate.log_odds is not None
        return slate.log_odds
    if ranker.startswith("LM"):
        found = slate.means if ranker == "LM mean" else slate.sums
        assert found is not None
        return found
    found = slate.means if likelihood == "mean" else slate.sums
    assert found is not None and slate.log_odds is not None
    return joint_scores(found, slate.log_odds)


def _greedy(task: Task) -> Ranking:
    text = task.greedy.program if task.greedy else None
    same = [one.program == text for one in task.candidates]
    order = tuple(index for index, is_it in enumerate(same) if is_it)
    return Ranking(order, tuple(map(float, same)), 0)


def ranking_to_row(task: Task, ranking: Ranking) -> Row:
    """Flatten to JSON, candidates best first; a score of -inf, which JSON lacks, is null."""
    return {
        "task_id": task.task_id,
        "num_ties": ranking.num_ties,
        "candidates": [
            {
                "program": task.candidates[index].program,
                "result": task.candidates[index].result,
                "score": ranking.scores[index] if math.isfinite(ranking.scores[index]) else None,
            }
            for index in ranking.order
        ],
    }
