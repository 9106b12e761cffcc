"""What a comparison of rankings comes to, in sentences: the same in the report and on a terminal.

A sentence says what is shown and no more: where an interval reaches to both sides of zero, no
difference is shown. Its numbers are those of measure.py.
"""

from collections.abc import Iterator

from selftrain.report.blocks import count, p_value, percent, points
from selftrain.report.rankers import FEW_TASKS
from selftrain.statistics import Comparison
from selftrain.verifier.arms import Learner
from selftrain.verifier.ranking.rank import RANKERS, Ranker
from selftrain.verifier.ranking.selection import BASELINES, Selection, Selections
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
    "full": "With all to read",
    "no-execution": "Without execution results",
    "type-only": "With the types of results alone",
    "no-program": "Without programs",
    "no-gold": "Without gold programs",
}


def closes(m: Measured) -> str:
    """Say which share of the gap between chance and oracle is closed, and which share without a
    verifier.
    """
    chosen, random, oracle = (selection_of(m, one) for one in (m.chooser, "random", "oracle"))
    assert chosen and random and oracle, "they need no more than labels"
    right = f"{percent(chosen.accuracy.value)} of {count(chosen.accuracy.num_puzzles)} test tasks"
    gap = chosen.efficiency
    if gap is None:
        return (
            f"The choice of {m.chooser} is right on {right}, as any would be: every task's "
            "candidates are all right or all wrong."
        )
    best = _best_without(m)
    return _sentence(
        f"{m.chooser} chooses right on {right}, which closes {spelt(gap)} percent of the gap "
        f"between random ({percent(random.accuracy.value)}) and the oracle "
        f"({percent(oracle.accuracy.value)})"
    ) + (f" Without a verifier {best.ranker} closes {spelt(best.efficiency)}." if best else "")


def differences(m: Measured) -> str:
    """Name the strongest ranker without a verifier; say how the choice differs from it and others.

    Empty where none of those can rank.
    """
    chosen, best = selection_of(m, m.chooser), _best_without(m)
    assert chosen, "measure.py chose it among those that can rank"
    if best is None:
        return ""
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
    return _sentence(f"{m.chooser} is right on {' and on '.join(said)}") if said else ""


def lacks(m: Measured) -> Iterator[str]:
    """Say of every further verifier what it costs to read or learn from less."""
    first = m.learners[0]
    for one in m.learners[1:]:
        if one.difference is not None:
            yield f"{_lack(one.learner)} {_change(one.difference)}.{_by(one, first)}"


def say_little(m: Measured) -> Iterator[str]:
    """Warn of intervals over few tasks, and of one without width."""
    chosen = selection_of(m, m.chooser)
    assert chosen, "measure.py chose it among those that can rank"
    sizes = {"in all": chosen.accuracy.num_puzzles}
    sizes |= {f"of {one.name}": one.num_tasks for one in m.strata}
    few = [f"{count(size)} {name}" for name, size in sizes.items() if size < FEW_TASKS]
    if few:
        yield (
            f"There are few test tasks ({', '.join(few)}): intervals over fewer than {FEW_TASKS} "
            "say little."
        )
    if any(one and one.low == one.high for one in (chosen.accuracy, chosen.efficiency)):
        yield (
            "An interval without width says that these tasks came out alike, not that others would."
        )


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


def _best_without(m: Measured) -> Selection | None:
    """Find the ranker without a verifier that is right most often, the first of equal ones."""
    there = [one for one in m.selections.rankers if one.ranker in BASELINES]
    return max(there, key=lambda one: one.accuracy.value, default=None)


def _lack(learner: Learner) -> str:
    if learner.size is not None:
        return f"With {learner.size} samples a task to learn from,"
    return _LACKS[learner.arm]


def _change(one: Comparison) -> str:
    if one.low > 0 or one.high < 0:
        verb = "rise" if one.difference > 0 else "fall"
        ends = sorted((abs(one.low), abs(one.high)))
        return (
            f"right choices {verb} by {100 * abs(one.difference):.1f} points "
            f"[{100 * ends[0]:.1f}, {100 * ends[1]:.1f}], p = {p_value(one.holm_p_value)}"
        )
    return f"no difference is shown: {in_points(one)} points, p = {p_value(one.holm_p_value)}"


def _by(one: Compared, first: Compared) -> str:
    """Say what is left where both choose by one ranker, if they do not and it is not the same."""
    if one.chooser == first.chooser or one.difference is None or one.alike_difference is None:
        return ""
    alike = points(one.alike_difference.difference)
    if alike == points(one.difference.difference):
        return ""
    return f" That is {one.chooser} against {first.chooser}; by {one.alike} both, it is {alike}."


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
