"""The sections of the report on rankings: each a question, and the tables and drawings that answer.

Numbers come from measure.py, tables from choice_tables.py and confidence_tables.py, drawings from
charts.py here.
"""

from collections.abc import Iterator, Mapping, Sequence

from selftrain.report.blocks import Block, Figure, Paragraph, Section, Table, count, percent
from selftrain.report.charts import Curve
from selftrain.report.rankers import meanings
from selftrain.statistics import Estimate
from selftrain.verifier.calibration import bins
from selftrain.verifier.calibration.risk import RiskCoverage, Selective, describe
from selftrain.verifier.ranking.draws import doubling_sizes
from selftrain.verifier.ranking.rank import Ranker
from selftrain.verifier.report.calls import can_save
from selftrain.verifier.report.charts import draw_curves, draw_reliability, draw_risk
from selftrain.verifier.report.choice_tables import (
    by_number_table,
    differences_tables,
    learner_differences_table,
    learners_table,
    pass_at_k_table,
    ranked_at,
    rankers_table,
    spelt,
    strata_table,
)
from selftrain.verifier.report.confidence import Confidence
from selftrain.verifier.report.confidence_tables import (
    bins_table,
    calibration_table,
    calls_table,
    percentiles_table,
    splits_table,
    training_table,
)
from selftrain.verifier.report.facts import Facts
from selftrain.verifier.report.measure import Measured
from selftrain.verifier.report.sentences import apart_by_family, differences, lacks

_DRAWN: tuple[Ranker, ...] = ("LM sum", "most frequent", "verifier")
"""Rankers that are drawn beside what a choice is made by; tables have them all."""


def sections_of(m: Measured, facts: Facts) -> tuple[Section, ...]:
    """Give all sections, in their order."""
    return (
        _rankings(m),
        _pass_at_k(m),
        *_reading(m),
        _number(m),
        *_confidence(m.confidence),
        _percentiles(m),
        _calls(m),
        Section("What was measured", (splits_table(facts), training_table(facts))),
    )


def _rankings(m: Measured) -> Section:
    said = differences(m)
    before = [Paragraph(said)] if said else []
    apart: list[Block] = []
    if m.strata:
        apart = [Paragraph(apart_by_family(m)), strata_table(m.strata)]
    tables = *apart, *differences_tables(m.selections)
    named = Paragraph(meanings([one.ranker for one in m.selections.rankers]))
    return Section("Rankings", (*before, rankers_table(m.selections), named, *tables))


def _pass_at_k(m: Measured) -> Section:
    unbiased = m.selections.pass_at_k
    ks = doubling_sizes(max(unbiased, default=1))
    found = {one.ranker: one for one in m.selections.rankers}
    curves = [_curve("samples as drawn", unbiased)] if unbiased else []
    for ranker in _drawn(m):
        at_k = ((k, ranked_at(found[ranker], k)) for k in ks)
        curves.append(_curve(ranker, {k: one for k, one in at_k if one is not None}))
    figure = Figure(
        "Share of tasks with a right candidate among the first k; samples as drawn: unbiased "
        "Pass@k. Intervals, 95%, of the first and the last.",
        draw_curves("ranked", curves, "k", "right one among the first k", scale="doubling"),
    )
    return Section("The first k", (figure, pass_at_k_table(m.selections)))


def _reading(m: Measured) -> Iterator[Section]:
    if len(m.learners) > 1:
        said = tuple(Paragraph(one) for one in lacks(m))
        tables = learners_table(m.learners), learner_differences_table(m.learners)
        yield Section("What the verifier reads and learns from", (*said, *tables))


def _number(m: Measured) -> Section:
    by_ranker: dict[Ranker, dict[int, Estimate]] = {}
    for one in m.by_number:
        by_ranker.setdefault(one.ranker, {})[one.num_samples] = one.accuracy
    curves = [_curve(ranker, by_ranker[ranker]) for ranker in ("oracle", *_drawn(m))]
    figure = Figure(
        "Right choices by the number of samples to choose among; intervals, 95%, of the oracle and "
        f"of {m.chooser}.",
        draw_curves("by-number", curves, "samples a task", "right choices", scale="doubling"),
    )
    return Section("How many candidates", (figure, by_number_table(m.by_number)))


def _confidence(found: Confidence) -> Iterator[Section]:
    table = calibration_table(found.before, found.after)
    yield Section("Calibration", (table, _reliability(found), *_bins(found)))
    yield Section("When to choose at all", tuple(_risk(found.curve, found.selective)))


def _reliability(found: Confidence) -> Figure:
    both = (("as given", found.before), ("calibrated on dev", found.after))
    curves = [_bin_curve(name, one.equal_mass) for name, one in both]
    return Figure(
        "Reliability diagram over bins of equal mass, with 95% intervals.", draw_reliability(curves)
    )


def _bins(found: Confidence) -> Iterator[Table]:
    yield bins_table(found.before.equal_mass, "as given")
    yield bins_table(found.after.equal_mass, "calibrated on dev")


def _risk(curve: RiskCoverage, selective: Selective | None) -> Iterator[Block]:
    yield Paragraph(_threshold(selective))
    yield Paragraph(
        f"The mean risk over all coverages is {percent(curve.area)}; that of a random order is "
        f"{percent(curve.area_random)}, that of the best {percent(curve.area_best)}."
    )
    yield Figure(
        "Share of wrong choices by the share of tasks where one is made, surest first; the "
        "confidence is the calibrated probability of the chosen candidate.",
        draw_risk(
            "surest first",
            [point.coverage for point in curve.points],
            [point.risk for point in curve.points],
            _coverage(selective),
        ),
    )


def _coverage(selective: Selective | None) -> float | None:
    """Give the coverage of the threshold; None where there is none."""
    held = selective is not None and selective.threshold.confidence is not None
    return selective.coverage.value if selective and held else None


def _threshold(selective: Selective | None) -> str:
    if selective is None:
        return "No dev task has labels of all its candidates, so there is no threshold."
    said, risk = describe(selective.threshold), selective.risk
    if selective.threshold.confidence is not None:
        said += f" On the test tasks it chooses for {spelt(selective.coverage)} percent"
        said += f", {spelt(risk)} percent of them wrong." if risk else "."
    if risk and risk.low > selective.threshold.max_risk:
        said += " That is more than wanted: what the dev tasks promised does not hold here."
    return said


def _percentiles(m: Measured) -> Section:
    curves = [
        Curve(
            name,
            tuple(point.percentile for point in score.curve),
            tuple(point.right.value for point in score.curve),
            tuple(point.right.low for point in score.curve),
            tuple(point.right.high for point in score.curve),
        )
        for name, score in m.scores.items()
    ]
    figure = Figure(
        "Share right by the percentile of a candidate's score among those of all test tasks "
        "(section 5.3 of the paper).",
        draw_curves("percentiles", curves, "percentile", "share right", scale="percentiles"),
    )
    return Section("Scores across tasks", (figure, percentiles_table(m.scores)))


def _calls(m: Measured) -> Section:
    said = [
        "What would be saved were each task's candidates checked in an order until enough have "
        "passed: one, as where one answer is wanted, or `curate.max_solutions`, as in a run. A "
        "verifier that reads results has each program executed first; one that fails needs no "
        "check and is not counted, so what is saved is calls of the check."
    ]
    if not m.calls:
        said.append("Here every program fails when it is executed: none needs a check.")
    worth = [one for one in m.calls if can_save(one)]
    said += [
        f"The order of {m.chooser} takes {spelt(one.saved_of_likelihood)} percent fewer calls than "
        f"that of LM sum until {count(one.enough)} passed."
        for one in worth
        if one.saved_of_likelihood is not None
    ]
    said += [
        f"Until {count(one.enough)} passed no order could save a call: none of the tasks has so "
        "many right candidates and others beside them."
        for one in m.calls
        if one not in worth
    ]
    return Section("Judge calls", (*map(Paragraph, said), *map(calls_table, worth)))


def _drawn(m: Measured) -> list[Ranker]:
    """Name the rankers that are drawn, what a choice is made by last, since it has an interval."""
    there = {one.ranker for one in m.selections.rankers} - {m.chooser}
    return [*(ranker for ranker in _DRAWN if ranker in there), m.chooser]


def _curve(label: str, by_x: Mapping[int, Estimate]) -> Curve:
    found = list(by_x.values())
    return Curve(
        label,
        tuple(by_x),
        tuple(one.value for one in found),
        tuple(one.low for one in found),
        tuple(one.high for one in found),
    )


def _bin_curve(label: str, found: Sequence[bins.Bin]) -> Curve:
    return Curve(
        label,
        tuple(one.mean_probability for one in found),
        tuple(one.right.value for one in found),
        tuple(one.right.low for one in found),
        tuple(one.right.high for one in found),
    )
