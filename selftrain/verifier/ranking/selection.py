"""How well each ranker chooses one candidate a task, and how much more there is to choose.

Measured against the labels that tasks have; all rankers on the same candidates and tasks. How sure
a verifier is, and whether rightly, is in calibration/.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from selftrain.files import Row
from selftrain.seeds import derive_seed
from selftrain.statistics import Comparison, Estimate, compare, with_holm
from selftrain.statistics.intervals import mean_pass_at_k, mean_with_interval
from selftrain.statistics.resampling import task_weights, with_interval
from selftrain.verifier.ranking.choices import (
    Choices,
    choices_to_evaluation,
    choose,
    count_samples,
)
from selftrain.verifier.ranking.draws import doubling_sizes
from selftrain.verifier.ranking.groups import Floats
from selftrain.verifier.ranking.rank import Likelihood, Ranker, Scored, labelled, usable
from selftrain.verifier.ranking.slate import Slate, lay_out

BASELINES: tuple[Ranker, ...] = (
    "greedy",
    "LM sum",
    "LM mean",
    "LM sum, error-free",
    "most frequent",
    "most frequent, error-free",
)
"""All that choose without a verifier; each ranker is compared with each of them."""
EVERY_K = 128
"""Pass@k is given for every k up to this."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What one ranker chose: one candidate a task."""

    ranker: Ranker
    accuracy: Estimate
    """Share of tasks whose chosen program is right; for `random`, of samples: the mean of a task's
    own chance, which is Pass@1."""
    differences: Mapping[Ranker, Comparison]
    """Accuracy minus that of a baseline, task by task. Its p-values are corrected for the rankers
    compared with that baseline, but for the oracle, which knows the labels and proves nothing."""
    num_correct: float
    """Tasks with a right choice; expected, for `random`."""
    num_no_correct: float
    """Coverage misses: a wrong choice, and no candidate was right."""
    num_not_chosen: float
    """Selection misses: a wrong choice, and some candidate was right. The three add up to all."""
    efficiency: Estimate | None
    """(accuracy - random) / (oracle - random); None where every task's samples are all right or
    all wrong, so that there is nothing to choose."""
    num_ties: int
    """Tasks whose choice was drawn among equals; chance alone is no tie."""
    pass_at_k: Mapping[int, Estimate]
    """Ranked Pass@k: a right one is among the first k distinct candidates, or among all where a
    task has fewer. `greedy` has one program, so k = 1 alone."""


@dataclass(frozen=True, slots=True)
class Selections:
    """The table: all rankers on the same tasks."""

    rankers: tuple[Selection, ...]
    """In the order of RANKERS; those that lack what they need are not there."""
    pass_at_k: Mapping[int, Estimate]
    """Unbiased Pass@k of k samples drawn, equal ones or not, up to the fewest a task has."""
    num_tasks: int
    num_left_out: int
    """Tasks some of whose candidates have no label, so that nothing here counts them."""
    refused: Mapping[Ranker, str]
    """Why a ranker that was asked for is not there, in a sentence."""


def select(
    scored: Sequence[Scored],
    *,
    seed: int,
    likelihood: Likelihood = "sum",
    groups: bool = True,
) -> Selections:
    """Let every ranker choose on every task, and measure it; `seed` is the run's.

    Raises UsageError where no task has all its labels.
    """
    known = labelled(scored)
    rankers, refused = usable(known, likelihood=likelihood, groups=groups)
    if any(one.task.greedy and one.task.greedy.label is None for one in known):
        rankers = [ranker for ranker in rankers if ranker != "greedy"]
        refused["greedy"] = "Not every task's greedy program has a label."
    slates = [lay_out(one.task, one.log_odds) for one in known]
    choices = [choose(slates, ranker, seed, likelihood) for ranker in rankers]
    return Selections(
        rankers=_selections(slates, choices, seed),
        pass_at_k=_unbiased(slates, seed),
        num_tasks=len(known),
        num_left_out=len(scored) - len(known),
        refused=refused,
    )


def _selections(
    slates: Sequence[Slate], choices: Sequence[Choices], seed: int
) -> tuple[Selection, ...]:
    """Measure every ranker's choices."""
    rows = {one.ranker: choices_to_evaluation(slates, one) for one in choices}
    compared = {base: _compared(rows, base, seed) for base in BASELINES if base in rows}
    values = {one.ranker: one.within[:, 0] for one in choices}
    return tuple(
        _selection(
            slates,
            one,
            {base: found[one.ranker] for base, found in compared.items() if base != one.ranker},
            _efficiency(slates, values[one.ranker], values["random"], values["oracle"], seed),
            seed,
        )
        for one in choices
    )


def _selection(
    slates: Sequence[Slate],
    choices: Choices,
    differences: Mapping[Ranker, Comparison],
    efficiency: Estimate | None,
    seed: int,
) -> Selection:
    wrong = 1 - choices.within[:, 0]
    covered = np.array([count_samples(slate)[1] > 0 for slate in slates])
    estimates = _estimates(slates, choices, seed)
    return Selection(
        ranker=choices.ranker,
        accuracy=estimates[1],
        differences=differences,
        num_correct=float(choices.within[:, 0].sum()),
        num_no_correct=float(wrong[~covered].sum()),
        num_not_chosen=float(wrong[covered].sum()),
        efficiency=efficiency,
        num_ties=choices.num_ties,
        pass_at_k=estimates,
    )


def shown_ks(most: int) -> list[int]:
    """Give every k up to EVERY_K, and beyond it those that double, and the last.

    An interval for each of thousands would take hours and say the same.
    """
    return sorted({*range(1, min(most, EVERY_K) + 1), *(doubling_sizes(most) if most else ())})


def _estimates(slates: Sequence[Slate], choices: Choices, seed: int) -> dict[int, Estimate]:
    """Average over tasks, for each k."""
    return {
        k: mean_with_interval(
            choices.within[:, k - 1],
            [slate.task.family for slate in slates],
            num_samples=min(int(slate.counts.sum()) for slate in slates),
            seed=derive_seed(seed, "intervals"),
        )
        for k in shown_ks(choices.within.shape[1])
    }


def _compared(
    rows: Mapping[Ranker, Sequence[Row]], baseline: Ranker, seed: int
) -> dict[Ranker, Comparison]:
    """Compare every other ranker with a baseline."""
    found = {
        ranker: compare([ours], [rows[baseline]], 1, seed=seed)
        for ranker, ours in rows.items()
        if ranker != baseline
    }
    tested = [ranker for ranker in found if ranker != "oracle"]
    corrected = with_holm([found[ranker] for ranker in tested])
    return found | dict(zip(tested, corrected, strict=True))


def _efficiency(
    slates: Sequence[Slate], values: Floats, chance: Floats, oracle: Floats, seed: int
) -> Estimate | None:
    """Give the share of the gap between chance and oracle that is closed, from (tasks,) each.

    Its interval is that of a ratio: both gaps are over the same tasks in each replicate, and the
    few replicates without any gap count for nothing. None where there is no gap.
    """
    gap = float((oracle - chance).mean())
    if gap == 0:
        return None
    families = [slate.task.family for slate in slates]
    weights = task_weights(families, seed)
    closed, gaps = weights @ (values - chance), weights @ (oracle - chance)
    return with_interval(
        float((values - chance).mean()) / gap,
        np.divide(closed, gaps, out=np.full_like(gaps, np.nan), where=gaps > 0),
        families,
        num_samples=min(int(slate.counts.sum()) for slate in slates),
    )


def _unbiased(slates: Sequence[Slate], seed: int) -> dict[int, Estimate]:
    """Estimate Pass@k from all samples; a task without any has none right at any k."""
    counted = [count_samples(slate) for slate in slates]
    fewest = min((n for n, _ in counted if n), default=0)
    return {
        k: mean_pass_at_k(
            [n or fewest for n, _ in counted],
            [num_correct for _, num_correct in counted],
            k,
            [slate.task.family for slate in slates],
            seed=derive_seed(seed, "intervals"),
        )
        for k in shown_ks(fewest)
    }


def selection_to_row(selection: Selection) -> Row:
    """Flatten to JSON; the mapping of k becomes a list of estimates, each with its k."""
    return asdict(selection) | {"pass_at_k": _by_k(selection.pass_at_k)}


def selections_to_row(selections: Selections) -> Row:
    """Flatten to JSON, in the same way."""
    return asdict(selections) | {
        "rankers": [selection_to_row(one) for one in selections.rankers],
        "pass_at_k": _by_k(selections.pass_at_k),
    }


def _by_k(estimates: Mapping[int, Estimate]) -> list[Row]:
    return [{"k": k, **asdict(estimate)} for k, estimate in estimates.items()]
