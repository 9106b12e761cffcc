"""The tables of what rankers choose: a ranker a row, and a verifier a row.

What they hold is in compared.py here, and in ranking/selection.py and ranking/draws.py. Here all
numbers are spelt: shares in percent, differences in points.
"""

from collections.abc import Sequence

from selftrain.report.blocks import ABSENT, Table, count, interval, p_value, points
from selftrain.statistics import Comparison, Estimate
from selftrain.verifier.calibration.bins import Share
from selftrain.verifier.ranking.chooser import OF_VERIFIERS
from selftrain.verifier.ranking.draws import NUM_REPEATS, Drawn, doubling_sizes
from selftrain.verifier.ranking.rank import Ranker
from selftrain.verifier.ranking.selection import Selection, Selections
from selftrain.verifier.ranking.strata import Stratum
from selftrain.verifier.report.compared import Compared

MINUS = "\u2212"
_PAIRS: tuple[tuple[Ranker, Ranker], ...] = (
    ("LM sum", "LM sum, error-free"),
    ("most frequent", "most frequent, error-free"),
    ("LM mean", "greedy"),
)
"""Rankers without a verifier: two of them find room in a table of differences."""


def rankers_table(selections: Selections) -> Table:
    """Lay out the one table: a row a ranker."""
    rows = [
        (
            one.ranker,
            spelt(one.accuracy),
            spelt(one.efficiency),
            _number(one.num_correct),
            _number(one.num_no_correct),
            _number(one.num_not_chosen),
            _ties(one),
        )
        for one in selections.rankers
    ]
    note = (
        f"Gap closed: (right {MINUS} random) / (oracle {MINUS} random). The last four columns "
        "count tasks; random has expected numbers. No right one: no candidate is right, so that no "
        "ranking could help. Not chosen: one is, and another was chosen. Ties: tasks whose choice "
        "was drawn among equals, by the seed and the task's id."
    )
    return Table(
        "The candidate that each ranker puts first: share that is right, in percent, with 95% "
        "intervals over tasks.",
        ("Ranker", "Right", "Gap closed", "Right ones", "No right one", "Not chosen", "Ties"),
        tuple(rows),
        note,
    )


def strata_table(strata: Sequence[Stratum]) -> Table:
    """Lay out the rankers on known and on new families, a column each."""
    rows = [
        (ranker, *(spelt(one.accuracy[ranker]) for one in strata)) for ranker in strata[0].accuracy
    ]
    heads = (f"{one.name.capitalize()} ({count(one.num_tasks)} tasks)" for one in strata)
    return Table(
        "The same apart: families that the train tasks have too, and families that they lack.",
        ("Ranker", *heads),
        tuple(rows),
    )


def differences_tables(selections: Selections) -> tuple[Table, ...]:
    """Lay out each ranker's differences to those that need no verifier, two a table."""
    found = (_differences(selections, pair) for pair in _PAIRS)
    return tuple(table for table in found if len(table.columns) > 1)


def _differences(selections: Selections, asked: Sequence[Ranker]) -> Table:
    bases = [base for base in asked if any(one.ranker == base for one in selections.rankers)]
    rows = [
        (
            one.ranker,
            *(cell for base in bases for cell in difference_cells(one.differences.get(base))),
        )
        for one in selections.rankers
    ]
    return Table(
        f"Differences to {' and '.join(bases)}, in points, with 95% intervals.",
        ("Ranker", *(head for base in bases for head in (f"{MINUS} {base}", "p"))),
        tuple(rows),
        "Paired by task; intervals are a bootstrap over families and the tasks within. p is of a "
        "two-sided permutation test that flips whole families, corrected over the rankers compared "
        "with one baseline (Holm), but for the oracle's, which knows the labels.",
    )


def pass_at_k_table(selections: Selections) -> Table:
    """Lay out ranked Pass@k beside the unbiased one, at 1, 2, 4, ..., n."""
    ks = doubling_sizes(max(selections.pass_at_k, default=1))
    rows = [("samples as drawn", *(spelt(selections.pass_at_k.get(k)) for k in ks))]
    rows += [(one.ranker, *(spelt(ranked_at(one, k)) for k in ks)) for one in selections.rankers]
    note = (
        "Samples as drawn: the unbiased estimator of Pass@k, equal samples counted each time. "
        "Rankers order distinct candidates, so that random is above it beyond k = 1; where a task "
        "has fewer than k of them, all count."
    )
    return Table(
        "Ranked Pass@k: share of tasks with a right one among the first k candidates, in percent.",
        ("Ranker", *(f"k = {k}" for k in ks)),
        tuple(rows),
        note,
        folded=True,
    )


def ranked_at(selection: Selection, k: int) -> Estimate | None:
    """Give ranked Pass@k for any k: beyond the most candidates of a task, all are among the first;
    None where greedy, which has one program, is asked for more.
    """
    if selection.ranker == "greedy" and k > 1:
        return None
    return selection.pass_at_k[max(known for known in selection.pass_at_k if known <= k)]


def learners_table(learners: Sequence[Compared]) -> Table:
    """Lay out what each verifier chooses by each ranker that reads it."""
    rankers = [one for one in OF_VERIFIERS if any(one in each.accuracy for each in learners)]
    return Table(
        "Right choices by what a verifier reads and learns from, in percent, with 95% intervals.",
        ("Verifier", "Chooses by", *rankers),
        tuple(
            (each.learner.name, each.chooser, *(spelt(each.accuracy.get(one)) for one in rankers))
            for each in learners
        ),
        "Groups pool programs by their results. A verifier that does without these chooses without "
        "groups; the last column says what they would add."
        if "joint with groups" in rankers
        else "",
    )


def learner_differences_table(learners: Sequence[Compared]) -> Table:
    """Lay out the difference of each verifier to the first; where some choose by groups, once more
    without them.
    """
    first, alike = learners[0], learners[0].alike
    grouped = any(each.chooser != alike for each in learners)
    rows = [
        (
            each.learner.name,
            *difference_cells(each.difference),
            *(difference_cells(each.alike_difference) if grouped else ()),
        )
        for each in learners[1:]
    ]
    heads = ("As each chooses", "p", f"Both by {alike}", "p") if grouped else (f"By {alike}", "p")
    left = (
        "What is left where both choose alike, without groups, is due to the verifier alone. "
        if grouped
        else ""
    )
    return Table(
        f"Differences to {first.learner.name}, in points, with 95% intervals.",
        ("Verifier", *heads),
        tuple(rows),
        f"Paired by task. {left}p is corrected over the verifiers (Holm).",
    )


def by_number_table(drawn: Sequence[Drawn]) -> Table:
    """Lay out right choices by the number of samples to choose among."""
    sizes = sorted({one.num_samples for one in drawn})
    found = {(one.ranker, one.num_samples): one.accuracy for one in drawn}
    rows = [
        (ranker, *(spelt(found[ranker, size]) for size in sizes))
        for ranker in dict.fromkeys(one.ranker for one in drawn)
    ]
    return Table(
        "Right choices by the number of samples to choose among, in percent.",
        ("Ranker", *(f"n = {size}" for size in sizes)),
        tuple(rows),
        "Drawn without replacement, nested, the same for all rankers; equal samples are one "
        "candidate again after each draw. Random is exact. The others are means over "
        f"{NUM_REPEATS} draws, with ties drawn anew in each, so that the last column may differ a "
        "little from the main table. Intervals are over tasks.",
        folded=True,
    )


def spelt(one: Estimate | Share | None) -> str:
    """Spell a share with its interval, in percent."""
    return interval(one.value, one.low, one.high).replace("-", MINUS) if one else ABSENT


def difference_cells(one: Comparison | None) -> tuple[str, str]:
    """Spell a difference with its interval, and its p-value."""
    return (in_points(one), p_value(one.holm_p_value)) if one else (ABSENT, ABSENT)


def in_points(one: Comparison) -> str:
    """Spell a difference with its interval, in points."""
    return f"{points(one.difference)} [{points(one.low)}, {points(one.high)}]"


def _number(value: float) -> str:
    return count(value) if value == int(value) else f"{value:,.1f}"


def _ties(one: Selection) -> str:
    return ABSENT if one.ranker in ("greedy", "random", "oracle") else count(one.num_ties)
