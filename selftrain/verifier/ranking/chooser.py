"""Which ranking a verifier's choice is made by: the one place that says whether results are pooled.

It is the same wherever a verifier chooses: in a comparison of rankings, in a run's rounds, and in
`selftrain lever rank`.
"""

from collections.abc import Sequence
from typing import Literal

from selftrain.verifier.ranking.rank import Likelihood, Ranker
from selftrain.verifier.ranking.slate import log_probabilities
from selftrain.verifier.tasks.task import Task

Results = Literal["value", "type", "none"]
"""What a verifier reads of a program's result."""
OF_VERIFIERS: tuple[Ranker, ...] = ("verifier", "joint", "joint with groups")
"""The rankers that read what a verifier says."""


def chooser_of(results: Results, *, groups: bool, has_logprobs: bool) -> Ranker:
    """Name the ranker of a verifier that reads so much of `results`.

    Groups are of equal values, so a verifier that is to do without these does without groups too.
    Where the generator told no log-probabilities there is no joint score.
    """
    if not has_logprobs:
        return "verifier"
    return "joint with groups" if groups and results == "value" else "joint"


def has_logprobs(tasks: Sequence[Task], likelihood: Likelihood) -> bool:
    """Tell whether all candidates have the log-probabilities that a joint score takes."""
    by_mean = likelihood == "mean"
    return all(log_probabilities(task, by_mean=by_mean) is not None for task in tasks)
