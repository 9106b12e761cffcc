"""What a comparison of rankings comes to, in sentences: the same in the report and on a terminal.

A sentence says what is shown and no more: where an interval reaches to both sides of zero, no
difference is shown. Its numbers are those of measure.py.
"""

from collections.abc import Iterator

from selftrain.report.blocks import count, p_value, percent, points
from selftrain.statistics import Comparison
from selftrain.verifier.arms import Learner
from selftrain.verifier.ranking.rank import RANKERS, Ranker
from selftrain.verifier.ranking.selection import Selection, Selections
from selftrain.verifier.report.choice_tables import in_points, spelt
from selftrain.verifier.report.compared import Compared
from selftrain.verifier.report.measure import Measured
from selftrain.verifier.tasks.task import Arm

_AGAINST: tuple[Ranker, ...] = (
    "LM sum",
    "LM sum, error-free",
    "most frequent",
    "most frequent, error-free",
)
"""What a choice is set against in a sentence, besides the strongest; tables have them all."""
_LACKS: dict[Arm, str] = {
    "full": "Reading all",
    "no-execution": "Without execution results",
    "type-only": "With the types of results alone",
    "no-program": "Without programs",
    "no-gold": "Without gold programs",
}


def closes(m: Measured) -> str:
    """Say which share of the gap between chance and oracle is closed."""
    chosen, random, oracle = (selection_of(m, one) for one in (m.chooser, "random", "oracle"))
    assert chosen and random and oracle, "they need no more than labels"
    right = f"{percent(chosen.accuracy.value)} of {count(chosen.accuracy.num_puzzles)} test tasks"
    gap = chosen.efficiency
    if gap is None:
        return (
            f"The choice of {m.chooser} is right on {right}, as any would be: every task's "
            "candidates are all right or all wrong."
        )
    return _sentence(
        f"{m.chooser} chooses right on {right}, which closes {spelt(gap)} percent of the gap "
        f"between random ({percent(random.accuracy.value)}) and the oracle "
        f"({percent(oracle.accuracy.value)})"
    )


def differences(m: Measured) -> str:
    """Name the strongest ranker without a verifier; say how the choice differs from it and others.

    Empty where none of those can rank.
    """
    chosen = selection_of(m, m.chooser)
    assert chosen, "measure.py chose it among those that can rank"
    there = [one for one in m.selections.rankers if one.ranker in chosen.differences]
    if not there:
        return ""
    # The first of equal ones.
    best = max(there, key=lambda one: one.accuracy.value)
    against = dict.fromkeys([best.ranker, *(one for one in _AGAINST if one in chosen.differences)])
    said = [
        f"against {base} that is {in_points(one)} points, p = {p_value(one.p_value)}, "
        f"{p_value(one.holm_p_value)} if corrected over all rankers"
        for base, one in ((base, chosen.differences[base]) for base in against)
    ]
    return (
        f"Of the rankers without a verifier {best.ranker} is right most often, on "
        f"{percent(best.accuracy.value)}; {m.chooser} is on {percent(chosen.accuracy.value)}: "
        f"{'; '.join(said)}."
    )


def apart_by_family(m: Measured) -> str:
    """Say how it chooses on families that were learnt from and on others; empty where unknown."""
    said = [
        f"{spelt(one.accuracy[m.chooser])}% on {count(one.num_tasks)} tasks of {one.name} "
        f"(random {percent(one.accuracy['random'].value)})"
        for one in m.strata
    ]
    return _sentence(f"it is right on {' and on '.join(said)}") if said else ""


def lacks(m: Measured) -> Iterator[str]:
    """Say of every further verifier what it costs to read or learn from less."""
    first = m.learners[0]
    for one in m.learners[1:]:
        if one.difference is not None:
            yield _sentence(f"{_lack(one.learner)} {_change(one.difference)}{_by(one, first)}")


def left_out(selections: Selections) -> Iterator[str]:
    """Say which rankers could not rank, and why, a sentence a reason."""
    if "greedy" in selections.refused:
        yield f"Greedy is left out. {selections.refused['greedy']}"
    lacking = [one for one in RANKERS if one in selections.refused and one != "greedy"]
    if lacking:
        yield (
            f"Left out: {'; '.join(lacking)}: not all candidates have the log-probabilities that "
            "these need. lever.logprobs=model lets the model read them."
        )


def selection_of(m: Measured, ranker: Ranker) -> Selection | None:
    """Find what a ranker chose; None where it cannot rank."""
    return next((one for one in m.selections.rankers if one.ranker == ranker), None)


def _lack(learner: Learner) -> str:
    if learner.size is not None:
        return f"Learning from {learner.size} samples a task,"
    return _LACKS[learner.arm]


def _change(one: Comparison) -> str:
    if one.low > 0 or one.high < 0:
        verb = "rises" if one.difference > 0 else "falls"
        ends = sorted((abs(one.low), abs(one.high)))
        return (
            f"it {verb} by {100 * abs(one.difference):.1f} points "
            f"[{100 * ends[0]:.1f}, {100 * ends[1]:.1f}], p = {p_value(one.holm_p_value)}"
        )
    return f"no difference is shown: {in_points(one)} points, p = {p_value(one.holm_p_value)}"


def _by(one: Compared, first: Compared) -> str:
    """Name the rankers where they are not the same; say what is left by the same one."""
    if one.chooser == first.chooser:
        return ""
    alike = one.alike_difference
    return f" ({one.chooser} against {first.chooser}" + (
        f"; by {one.alike} both {points(alike.difference)})" if alike else ")"
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
