"""Measure a comparison of rankings: all that lever.json holds and the report shows.

It reads labels, log-odds and log-probabilities that are there; no model runs and nothing is judged.
The first verifier is laid open; the others are compared with it in compared.py. What is fitted or
chosen comes from the dev tasks, what is stated from the test tasks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from selftrain.config import Config
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.statistics import Estimate
from selftrain.statistics.estimator import Floats
from selftrain.verifier.calibration.bins import PercentilePoint, curve_to_row, percentile_curve
from selftrain.verifier.calibration.calibration import Labelled
from selftrain.verifier.calibration.calibration import labelled as joined
from selftrain.verifier.calibration.ranks import auroc_pooled, auroc_within
from selftrain.verifier.directory import Split
from selftrain.verifier.ranking.draws import Drawn, by_number, doubling_sizes, drawn_to_row
from selftrain.verifier.ranking.judge_calls import (
    Savings,
    calls_until,
    saved_share,
    savings,
    savings_to_row,
)
from selftrain.verifier.ranking.rank import (
    Likelihood,
    Ranker,
    Scored,
    joint_scores,
    labelled,
    rank,
)
from selftrain.verifier.ranking.selection import Outcome, outcome_to_row, select
from selftrain.verifier.ranking.slate import log_probabilities
from selftrain.verifier.ranking.strata import Stratum, by_family, stratum_to_row
from selftrain.verifier.report.compared import (
    Compared,
    Odds,
    Said,
    chooser_of,
    compare_learners,
    compared_to_row,
)
from selftrain.verifier.report.confidence import Confidence, confidence_to_row, measure_confidence
from selftrain.verifier.report.facts import is_labelled
from selftrain.verifier.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Score:
    """How well one score tells the right candidates of all test tasks from the wrong ones."""

    curve: tuple[PercentilePoint, ...]
    """Share right by the score's percentile: section 5.3 of the paper."""
    auroc: Estimate | None
    """Over all candidates; None where all are right or all are wrong."""
    auroc_within: Estimate | None
    """Mean over tasks that have both kinds, of pairs within a task; None where none has."""


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


@dataclass(frozen=True, slots=True)
class Measured:
    """All numbers of a comparison of rankings."""

    outcome: Outcome
    """The one table: every ranker on the test tasks, the first verifier read by those that read
    one."""
    chooser: Ranker
    """What the first verifier's choice is made by: without groups where it reads no results."""
    strata: tuple[Stratum, ...]
    """Every ranker on tasks of known and of new families; empty where they are not told apart."""
    learners: tuple[Compared, ...]
    """Every verifier, the first one first."""
    by_number: tuple[Drawn, ...]
    """Every ranker on fewer candidates."""
    confidence: Confidence
    """How sure the first verifier is, and whether rightly."""
    scores: Mapping[str, Score]
    """Of `generator`, `verifier` and `joint`; only of `verifier` without log-probabilities."""
    calls: tuple[Calls, ...]
    """What judging in the verifier's order would save."""


def measure(
    tasks: Mapping[Split, Sequence[Task]], said: Sequence[Said], config: Config
) -> Measured:
    """Measure what `said` makes of the tasks; the first of it is laid open.

    Where candidates have no log-probabilities, what needs none is measured, and `outcome.notes` say
    so. Raises UsageError where no test task has candidates, and labels of all of them.
    """
    seed, likelihood, groups = config.seed, config.verifier.likelihood, config.verifier.groups
    given = _scored(tasks["test"], said[0].test)
    outcome = select(given, seed=seed, likelihood=likelihood, groups=groups)
    test = labelled(given)
    if not any(one.task.candidates for one in test):
        raise UsageError(f"None of the {len(test):,} test tasks has a candidate to choose.")
    dev = [one for one in _scored(tasks["dev"], said[0].dev) if is_labelled(one.task)]
    rankers = [one.ranker for one in outcome.rankers]
    chooser = chooser_of(rankers, said[0].learner, config.verifier)
    most = max(sum(c.num_samples for c in one.task.candidates) for one in test)
    return Measured(
        outcome=outcome,
        chooser=chooser,
        strata=tuple(
            by_family(
                test,
                {task.family for task in tasks["train"]},
                rankers,
                seed=seed,
                likelihood=likelihood,
            )
        ),
        learners=compare_learners(said, tasks["test"], config),
        by_number=by_number(
            test, doubling_sizes(most), seed=seed, likelihood=likelihood, groups=groups
        ),
        confidence=measure_confidence(
            dev,
            test,
            chooser=chooser,
            kind=config.verifier.calibrator,
            max_risk=config.lever.max_risk,
            seed=seed,
            likelihood=likelihood,
        ),
        scores=dict(_scores(test, seed, likelihood)),
        calls=tuple(
            _calls(test, chooser, enough, config)
            for enough in sorted({1, config.curate.max_solutions})
        ),
    )


def measured_to_row(measured: Measured) -> Row:
    """Flatten for JSON."""
    return {
        "choice": outcome_to_row(measured.outcome),
        "chooser": measured.chooser,
        "families": [stratum_to_row(one) for one in measured.strata],
        "verifiers": [compared_to_row(one) for one in measured.learners],
        "by_num_samples": [drawn_to_row(one) for one in measured.by_number],
        "confidence": confidence_to_row(measured.confidence),
        "scores": {
            name: asdict(score) | {"curve": curve_to_row(score.curve)}
            for name, score in measured.scores.items()
        },
        "judge_calls": [_calls_to_row(one) for one in measured.calls],
    }


def _calls_to_row(calls: Calls) -> Row:
    by_order = {ranker: savings_to_row(one) for ranker, one in calls.by_order.items()}
    return asdict(calls) | {"by_order": by_order}


def _scored(tasks: Sequence[Task], odds: Odds) -> list[Scored]:
    return [Scored(task, tuple(own)) for task, own in zip(tasks, odds, strict=True)]


def _scores(
    test: Sequence[Scored], seed: int, likelihood: Likelihood
) -> Iterator[tuple[str, Score]]:
    """Give generator, verifier and joint, over the candidates of all tasks together."""
    some = [one for one in test if one.task.candidates]
    found = joined(
        [one.log_odds or () for one in some],
        [[candidate.label for candidate in one.task.candidates] for one in some],
        [one.task.family for one in some],
    )
    by_task = [log_probabilities(one.task, by_mean=likelihood == "mean") for one in some]
    known = [one for one in by_task if one is not None]
    if len(known) == len(some):
        generator = np.concatenate(known)
        yield "generator", _score(generator, found, seed)
        yield "verifier", _score(found.log_odds, found, seed)
        yield "joint", _score(joint_scores(generator, found.log_odds), found, seed)
    else:
        yield "verifier", _score(found.log_odds, found, seed)


def _score(scores: Floats, found: Labelled, seed: int) -> Score:
    where = (scores, found.labels, found.tasks, found.families)
    return Score(
        curve=percentile_curve(scores, found.labels, found.clusters),
        auroc=auroc_pooled(*where, seed=seed),
        auroc_within=auroc_within(*where, seed=seed),
    )


def _calls(test: Sequence[Scored], chooser: Ranker, enough: int, config: Config) -> Calls:
    """Count judge calls in the verifier's order, and in the likelihood's where that is known."""
    some = [one for one in test if one.task.candidates]
    families = [one.task.family for one in some]
    by_likelihood = all(log_probabilities(one.task, by_mean=False) is not None for one in some)
    seed = config.seed
    orders: dict[Ranker, list[list[bool]]] = {
        ranker: [_labels_in_order(one, ranker, config) for one in some]
        for ranker in (chooser, *(("LM sum",) if by_likelihood else ()))
    }
    calls = {
        ranker: [calls_until(order, enough) for order in found] for ranker, found in orders.items()
    }
    return Calls(
        enough=enough,
        by_order={
            ranker: savings(found, families, enough, seed=seed) for ranker, found in orders.items()
        },
        saved_of_likelihood=saved_share(calls[chooser], calls["LM sum"], families, seed=seed)
        if by_likelihood
        else None,
    )


def _labels_in_order(scored: Scored, ranker: Ranker, config: Config) -> list[bool]:
    likelihood = config.verifier.likelihood
    order = rank(scored, ranker, seed=config.seed, likelihood=likelihood).order
    return [bool(scored.task.candidates[index].label) for index in order]
