"""Choices apart by whether the verifier learnt from tasks of the same family.

A new instance of a known family asks little more than to remember; a new family asks whether what
was learnt carries over.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.statistics import Estimate
from selftrain.statistics.intervals import mean_with_interval
from selftrain.verifier.ranking.choices import choose
from selftrain.verifier.ranking.rank import Likelihood, Ranker, Scored
from selftrain.verifier.ranking.slate import lay_out


@dataclass(frozen=True, slots=True)
class Stratum:
    """The test tasks of known, or of new, families."""

    name: str
    """`known families` or `new families`: as the train tasks have them, or lack them."""
    num_tasks: int
    accuracy: Mapping[Ranker, Estimate]
    """Share of tasks whose first candidate is right."""


def by_family(
    test: Sequence[Scored],
    known: Collection[str],
    rankers: Sequence[Ranker],
    *,
    seed: int,
    likelihood: Likelihood,
) -> Iterator[Stratum]:
    """Measure rankers on labelled tasks of known and of new families.

    `known` are the families of the train tasks. Nothing is told apart where all tasks are of one
    kind, or have no family.
    """
    kinds = {"known families": True, "new families": False}
    families = {name: [one for one in test if one.task.family] for name in kinds}
    for name, wanted in kinds.items():
        families[name] = [one for one in families[name] if (one.task.family in known) is wanted]
    if all(families.values()):
        for name, some in families.items():
            yield _stratum(name, some, rankers, seed, likelihood)


def _stratum(
    name: str, some: Sequence[Scored], rankers: Sequence[Ranker], seed: int, likelihood: Likelihood
) -> Stratum:
    slates = [lay_out(one.task, one.log_odds) for one in some]
    accuracy = {
        ranker: mean_with_interval(
            choose(slates, ranker, seed, likelihood).within[:, 0],
            [one.task.family for one in some],
            num_samples=min(int(slate.counts.sum()) for slate in slates),
            seed=derive_seed(seed, "intervals"),
        )
        for ranker in rankers
    }
    return Stratum(name, len(some), accuracy)


def stratum_to_row(stratum: Stratum) -> Row:
    """Flatten for JSON."""
    return asdict(stratum)
