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
from selftrain.verifier.calibration.calibrator import Calibrator
from selftrain.verifier.calibration.labelled import Labelled, join_scored
from selftrain.verifier.calibration.ranks import auroc_pooled, auroc_within
from selftrain.verifier.directory import Split
from selftrain.verifier.ranking.chooser import Results, chooser_of
from selftrain.verifier.ranking.draws import Drawn, by_number, doubling_sizes, drawn_to_row
from selftrain.verifier.ranking.rank import Likelihood, Ranker, Scored, joint_scores, labelled
from selftrain.verifier.ranking.selection import Selections, select, selections_to_row
from selftrain.verifier.ranking.slate import log_probabilities
from selftrain.verifier.ranking.strata import Stratum, by_family, stratum_to_row
from selftrain.verifier.report.calls import Calls, calls_to_row, measure_calls
from selftrain.verifier.report.compared import (
    Compared,
    Odds,
    Said,
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
class Measured:
    """All numbers of a comparison of rankings."""

    selections: Selections
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
    """What judging in the verifier's order would save; empty where no program needs a call, since
    each fails when it is executed."""


def measure(
    tasks: Mapping[Split, Sequence[Task]],
    said: Sequence[Said],
    calibrator: Calibrator,
    config: Config,
) -> Measured:
    """Measure what `said` makes of the tasks; the first of it, of `calibrator`, is laid open.

    Where candidates have no log-probabilities, what needs none is measured, and
    `selections.refused` says so. Raises UsageError where no test task has candidates, and labels of
    all of them.
    """
    c, first = config.verifier, said[0]
    given = _scored(tasks["test"], first.test)
    how = _How(config.seed, c.likelihood, c.groups, first.learner.reads(c).results)
    selections = select(given, seed=how.seed, likelihood=how.likelihood, groups=how.groups)
    test = labelled(given)
    if not any(one.task.candidates for one in test):
        raise UsageError(f"None of the {len(test):,} test tasks has a candidate to choose.")
    rankers = [one.ranker for one in selections.rankers]
    chooser = chooser_of(how.results, groups=how.groups, has_logprobs="joint" in rankers)
    return Measured(
        selections=selections,
        chooser=chooser,
        strata=_strata(tasks["train"], test, rankers, how),
        learners=compare_learners(said, tasks["test"], config),
        by_number=_by_number(test, how),
        confidence=_confidence(_scored(tasks["dev"], first.dev), test, chooser, calibrator, config),
        scores=dict(_scores(test, how)),
        calls=_calls(test, chooser, how, config.curate.max_solutions),
    )


@dataclass(frozen=True, slots=True)
class _How:
    """How tasks are ranked, and what the first verifier reads."""

    seed: int
    likelihood: Likelihood
    groups: bool
    results: Results


def _strata(
    train: Sequence[Task], test: Sequence[Scored], rankers: Sequence[Ranker], how: _How
) -> tuple[Stratum, ...]:
    known = {task.family for task in train}
    return tuple(by_family(test, known, rankers, seed=how.seed, likelihood=how.likelihood))


def _by_number(test: Sequence[Scored], how: _How) -> tuple[Drawn, ...]:
    sizes = doubling_sizes(max(sum(c.num_samples for c in one.task.candidates) for one in test))
    return by_number(test, sizes, seed=how.seed, likelihood=how.likelihood, groups=how.groups)


def _calls(
    test: Sequence[Scored], chooser: Ranker, how: _How, max_solutions: int
) -> tuple[Calls, ...]:
    seed, likelihood, results = how.seed, how.likelihood, how.results
    return tuple(
        measure_calls(
            test, chooser, {1, max_solutions}, seed=seed, likelihood=likelihood, results=results
        )
    )


def _confidence(
    dev: Sequence[Scored],
    test: Sequence[Scored],
    chooser: Ranker,
    calibrator: Calibrator,
    config: Config,
) -> Confidence:
    """Measure confidence, with a threshold of the dev tasks whose labels are all known."""
    return measure_confidence(
        [one for one in dev if is_labelled(one.task)],
        test,
        chooser=chooser,
        calibrator=calibrator,
        max_risk=config.lever.max_risk,
        seed=config.seed,
        likelihood=config.verifier.likelihood,
    )


def measured_to_row(measured: Measured) -> Row:
    """Flatten for JSON."""
    return {
        "choice": selections_to_row(measured.selections),
        "chooser": measured.chooser,
        "families": [stratum_to_row(one) for one in measured.strata],
        "verifiers": [compared_to_row(one) for one in measured.learners],
        "by_num_samples": [drawn_to_row(one) for one in measured.by_number],
        "confidence": confidence_to_row(measured.confidence),
        "scores": {
            name: asdict(score) | {"curve": curve_to_row(score.curve)}
            for name, score in measured.scores.items()
        },
        "judge_calls": [calls_to_row(one) for one in measured.calls],
    }


def _scored(tasks: Sequence[Task], odds: Odds) -> list[Scored]:
    return [Scored(task, tuple(own)) for task, own in zip(tasks, odds, strict=True)]


def _scores(test: Sequence[Scored], how: _How) -> Iterator[tuple[str, Score]]:
    """Give generator, verifier and joint, over the candidates of all tasks together."""
    some = [one for one in test if one.task.candidates]
    found = join_scored(some)
    by_task = [log_probabilities(one.task, by_mean=how.likelihood == "mean") for one in some]
    known = [one for one in by_task if one is not None]
    if len(known) == len(some):
        generator = np.concatenate(known)
        yield "generator", _score(generator, found, how.seed)
        yield "verifier", _score(found.log_odds, found, how.seed)
        yield "joint", _score(joint_scores(generator, found.log_odds), found, how.seed)
    else:
        yield "verifier", _score(found.log_odds, found, how.seed)


def _score(scores: Floats, found: Labelled, seed: int) -> Score:
    where = (scores, found.labels, found.tasks, found.families)
    return Score(
        curve=percentile_curve(scores, found.labels, found.clusters),
        auroc=auroc_pooled(*where, seed=seed),
        auroc_within=auroc_within(*where, seed=seed),
    )
