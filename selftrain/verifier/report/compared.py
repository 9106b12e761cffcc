"""Verifiers that read or learnt less, beside the first: what each chooses, and what the lack costs.

All rank the same candidates of the same tasks. A ranking that pools programs of one result looks at
results, so a verifier that is to do without them is compared by its joint scores alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from selftrain.config import Config
from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.statistics import Comparison, Estimate, compare, with_holm
from selftrain.statistics.intervals import mean_with_interval
from selftrain.verifier.arms import Learner
from selftrain.verifier.ranking.choices import choices_to_evaluation, choose
from selftrain.verifier.ranking.chooser import OF_VERIFIERS, chooser_of
from selftrain.verifier.ranking.rank import Ranker, Scored, labelled, usable
from selftrain.verifier.ranking.slate import lay_out
from selftrain.verifier.tasks.task import Task

Odds = Sequence[Sequence[float]]
"""log P(right) - log P(wrong) of each candidate of each task, in order."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one verifier says of tasks that it did not learn from."""

    learner: Learner
    """Which it is."""
    dev: Odds
    """Of the dev tasks."""
    test: Odds
    """Of the test tasks."""


@dataclass(frozen=True, slots=True)
class Compared:
    """How well one verifier chooses, and its difference to the first one."""

    learner: Learner
    """Which it is."""
    accuracy: Mapping[Ranker, Estimate]
    """Share of right choices by each ranker that reads it, and can rank."""
    chooser: Ranker
    """The ranker it is compared by."""
    difference: Comparison | None
    """Accuracy of that minus that of the first verifier's own; None for the first itself. Its
    p-value is corrected for the verifiers compared."""
    alike: Ranker
    """A ranker without groups, by which both are compared once more."""
    alike_difference: Comparison | None
    """The same by `alike`: what is due to the verifier, not to the groups."""


def compare_learners(
    said: Sequence[Said], tasks: Sequence[Task], config: Config
) -> tuple[Compared, ...]:
    """Compare each verifier with the first on the test tasks whose labels are known.

    Raises UsageError where there is no such task.
    """
    seed, found = config.seed, [_choices(one, tasks, config) for one in said]
    mains = [
        chooser_of(
            one.learner.reads(config.verifier).results,
            groups=config.verifier.groups,
            has_logprobs="joint" in rows,
        )
        for one, rows in zip(said, found, strict=True)
    ]
    alike: Ranker = "joint" if "joint" in found[0] else "verifier"
    differences = _compared([rows[main] for rows, main in zip(found, mains, strict=True)], seed)
    alike_differences = _compared([rows[alike] for rows in found], seed)
    return tuple(
        Compared(
            learner=one.learner,
            accuracy={ranker: _mean(row, seed) for ranker, row in rows.items()},
            chooser=main,
            difference=difference,
            alike=alike,
            alike_difference=alike_difference,
        )
        for one, rows, main, difference, alike_difference in zip(
            said, found, mains, differences, alike_differences, strict=True
        )
    )


def compared_to_row(compared: Compared) -> Row:
    """Flatten for JSON."""
    return asdict(compared) | {"learner": compared.learner.name}


def _choices(said: Said, tasks: Sequence[Task], config: Config) -> dict[Ranker, list[Row]]:
    """Give what each ranker that reads the verifier chose, as rows of an evaluation."""
    c, pairs = config.verifier, zip(tasks, said.test, strict=True)
    known = labelled([Scored(task, tuple(odds)) for task, odds in pairs])
    rankers, _ = usable(known, likelihood=c.likelihood, groups=c.groups)
    slates = [lay_out(one.task, one.log_odds) for one in known]
    return {
        ranker: choices_to_evaluation(slates, choose(slates, ranker, config.seed, c.likelihood))
        for ranker in OF_VERIFIERS
        if ranker in rankers
    }


def _compared(choices: Sequence[Sequence[Row]], seed: int) -> list[Comparison | None]:
    """Compare all but the first with the first."""
    found = [compare([rows], [choices[0]], 1, seed=seed) for rows in choices[1:]]
    return [None, *with_holm(found)]


def _mean(rows: Sequence[Row], seed: int) -> Estimate:
    return mean_with_interval(
        [row["num_correct"] / row["n"] for row in rows],
        [row["family"] for row in rows],
        num_samples=1,
        seed=derive_seed(seed, "intervals"),
    )
