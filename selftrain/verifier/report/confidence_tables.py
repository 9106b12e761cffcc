"""The tables of how sure a verifier is, of what its order saves, and of what both stand on.

What they hold is in confidence.py, measure.py, calls.py and facts.py. Tables of choices are in
choice_tables.py.
"""

from collections.abc import Mapping, Sequence

from selftrain.report.blocks import ABSENT, Table, count, percent
from selftrain.statistics import Estimate
from selftrain.verifier.calibration.bins import Bin
from selftrain.verifier.calibration.calibration import Calibration
from selftrain.verifier.report.calls import Calls
from selftrain.verifier.report.choice_tables import MINUS, spelt
from selftrain.verifier.report.facts import Facts
from selftrain.verifier.report.measure import Score


def calibration_table(before: Calibration, after: Calibration) -> Table:
    """Lay out the numbers of calibration, before and after the calibrator."""
    both = (before, after)
    rows = [
        ("mean probability", *(percent(one.mean_probability).rstrip("%") for one in both)),
        ("share right", *(spelt(one.share_right) for one in both)),
        ("ECE, equal width", *(spelt(one.ece_equal_width) for one in both)),
        ("ECE, equal mass", *(spelt(one.ece_equal_mass) for one in both)),
        ("the same of chance", *(percent(one.ece_by_chance).rstrip("%") for one in both)),
        ("Brier score", *(_plain(one.brier.score) for one in both)),
        ("its reliability", *(_plain(one.brier.reliability) for one in both)),
        ("its resolution", *(_plain(one.brier.resolution) for one in both)),
        ("its uncertainty", *(_plain(one.brier.uncertainty) for one in both)),
        ("its remainder", *(f"{one.brier.remainder:.4f}".replace("-", MINUS) for one in both)),
        ("NLL, nats", *(_plain(one.nll) for one in both)),
        ("AUROC", *(spelt(one.auroc) for one in both)),
        ("AUROC within tasks", *(spelt(one.auroc_within) for one in both)),
    ]
    note = (
        "ECE and AUROC in percent. ECE of chance: what probabilities that are right to the last "
        "digit would show on so few candidates. Noise alone makes an ECE larger, as it does "
        "reliability and resolution; their intervals are basic bootstrap ones, which take that off "
        "again, so that an estimate may stand at the upper end of its own. Brier = reliability "
        "\u2212 resolution + uncertainty + remainder, which bins hide. AUROC: chance that a right "
        "candidate is above a wrong one, of all tasks, or of the same task, averaged over tasks. "
        "The joint score is no probability of being right: it has no number of calibration."
    )
    return Table(
        f"The verifier's probabilities on {count(before.num_candidates)} test candidates, with 95% "
        "intervals over tasks.",
        ("", "Before", "After"),
        tuple(rows),
        note,
    )


def bins_table(bins: Sequence[Bin], when: str) -> Table:
    """Lay out the numbers of a reliability diagram."""
    rows = [
        (
            f"{percent(one.low)} to {percent(one.high)}",
            count(one.right.num_candidates),
            percent(one.mean_probability).rstrip("%"),
            spelt(one.right),
        )
        for one in bins
    ]
    return Table(
        f"Share right by the probability stated, {when}, in percent.",
        ("Probability", "Candidates", "Mean", "Right"),
        tuple(rows),
        "Bins of equal mass; equal probabilities are in one bin.",
        folded=True,
    )


def percentiles_table(scores: Mapping[str, Score]) -> Table:
    """Lay out the share right by percentile of each score."""
    most = max(len(score.curve) for score in scores.values())
    rows: list[tuple[str, ...]] = []
    for index in range(most):
        points_ = [score.curve[index] for score in scores.values() if index < len(score.curve)]
        rows.append(
            (
                f"bin {index + 1}",
                *(f"{one.percentile:.0f}: {spelt(one.right)}" for one in points_),
                *[ABSENT] * (len(scores) - len(points_)),
            )
        )
    rows.append(("AUROC", *(spelt(score.auroc) for score in scores.values())))
    rows.append(("AUROC within tasks", *(spelt(score.auroc_within) for score in scores.values())))
    return Table(
        "Percentile, and share right there, in percent.",
        ("", *scores),
        tuple(rows),
        "Candidates of all test tasks are sorted by each score, and cut into bins of equal mass, "
        "the lowest first.",
        folded=True,
    )


def calls_table(calls: Calls) -> Table:
    """Lay out what each order of judging saves."""
    found = list(calls.by_order.items())
    one = found[0][1]
    rows = [("all judged", count(one.num_candidates), ABSENT, ABSENT)]
    rows.append(("random order", f"{one.random_calls:,.1f}", spelt(one.random_saved), ABSENT))
    rows += [
        (name, count(each.num_calls), spelt(each.saved), spelt(each.saved_of_random))
        for name, each in found[::-1]
    ]
    best = 1 - one.least_calls / one.num_candidates
    rows.append(("right ones first", count(one.least_calls), _percent(best), ABSENT))
    return Table(
        f"Calls until {_enough(calls.enough)} passed; every order keeps {count(one.num_kept)}.",
        ("Order", "Calls", "Saved", "Saved of random"),
        tuple(rows),
        "Saved: share of judging all, in percent, with 95% intervals over tasks; then of a random "
        "order that stops as well.",
    )


def splits_table(facts: Facts) -> Table:
    """Lay out what each split holds."""
    rows = [
        (
            split,
            count(one.num_tasks),
            count(one.num_unlabelled),
            count(one.num_samples),
            count(one.num_candidates),
            _share(one.num_right, one.num_candidates),
            _share(one.num_errors, one.num_candidates),
        )
        for split, one in facts.splits.items()
    ]
    return Table(
        "Tasks, and the candidates they have.",
        ("Split", "Tasks", "Unlabelled", "Samples", "Distinct", "Right %", "Errors %"),
        tuple(rows),
        "Unlabelled: tasks some of whose candidates have no label; they are not measured on. Right "
        "and errors are shares of the distinct candidates.",
    )


def training_table(facts: Facts) -> Table:
    """Lay out how each verifier came to its weights, and what it could not read."""
    rows = [
        (
            one.name,
            count(one.num_examples),
            _share(one.num_right, one.num_examples),
            count(one.num_gold),
            f"{one.chosen_step:,} of {one.steps:,}",
            f"{one.first_dev_loss:.3f}",
            f"{one.dev_loss:.3f}",
            " / ".join(f"{100 * one.cut[segment]:.1f}" for segment in one.cut),
        )
        for one in facts.verifiers
    ]
    segments = " / ".join(facts.verifiers[0].cut)
    return Table(
        "How the verifiers were trained.",
        ("Verifier", "Examples", "Right %", "Gold", "Step", "Dev loss before", "after", "Cut %"),
        tuple(rows),
        "Step: the one whose weights had the lowest loss on the dev tasks (equation 4, nats). Cut: "
        f"share of the test candidates of which {segments} did not fit and was shortened.",
    )


def _plain(one: Estimate) -> str:
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _percent(value: float) -> str:
    return percent(value).rstrip("%")


def _enough(num: int) -> str:
    return "one candidate of a task has" if num == 1 else f"{num} candidates of a task have"


def _share(part: int, whole: int) -> str:
    return _percent(part / whole) if whole else ABSENT
