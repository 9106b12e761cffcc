"""What is shown of a comparison of arms: refine.json, a page in two formats, a terminal's table.

Its tables are in tables.py and trace_tables.py, its sentences in sentences.py; how pages look is
said in the package report. Equal inputs give equal bytes: no times, and no folder's name.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from selftrain.config import Config
from selftrain.config.refine import Arm
from selftrain.files import Row, replacing, write_json
from selftrain.refine.arms import ways_of
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.report.charts import draw_arms
from selftrain.refine.report.counting import Counts, begin, count_step, counts_to_row
from selftrain.refine.report.outcomes import (
    FORWARD,
    RESAMPLE,
    ArmOutcome,
    arm_to_row,
    measure_arms,
)
from selftrain.refine.report.reading import Ended, read_refinements, read_results
from selftrain.refine.report.samples import Samples, choose, keep, samples_section
from selftrain.refine.report.sentences import (
    caveats,
    facts,
    headline,
    left_out_arms,
    measured_arm,
    tasks_of,
)
from selftrain.refine.report.slips import (
    Invariants,
    Slips,
    likely_slips,
    note_invariants,
    possible_slips,
    slips_of,
    slips_to_row,
)
from selftrain.refine.report.strata import (
    KEYS,
    Stratum,
    arm_strata,
    says_nothing,
    stratum_to_row,
)
from selftrain.refine.report.tables import (
    against_table,
    outcomes_table,
    solved_table,
    stops_table,
    strata_table,
    terminal_rows,
    tokens_table,
    updates_table,
)
from selftrain.refine.report.task_table import task_table
from selftrain.refine.report.trace_tables import (
    forward_table,
    invariants_table,
    rejections_table,
    reviews_table,
)
from selftrain.refine.report.troubles import (
    Calls,
    Trouble,
    note_calls,
    nothing_was_asked,
    troubles_of,
)
from selftrain.refine.tasks.task import RefineTask
from selftrain.report.blocks import Block, Figure, Page, Paragraph, Section, plain
from selftrain.report.html import to_html
from selftrain.report.markdown import to_markdown
from selftrain.report.spending import spending_line
from selftrain.report.text_table import text_table

_WIDTH = 100
"""Columns of a terminal."""
_MAX_TROUBLES = 3
"""Sentences about what went wrong that a terminal shows; the page has all."""
_MAX_NAMED = 10
"""Tasks without any check that are named; the JSON has all."""


@dataclass(frozen=True, slots=True)
class Compared:
    """All that is known of a comparison."""

    arms: Sequence[ArmOutcome]
    measured: Arm | None
    """The arm that sentences are about."""
    ended: Mapping[Arm, Sequence[Ended]]
    counts: Counts
    nothing_was_asked: bool
    """Whether no first prompt left room for a reply."""
    troubles: Sequence[Trouble]
    """What went wrong with a large share of replies or tasks, the worst first."""
    slips: Slips
    strata: Mapping[str, Sequence[Stratum]]
    samples: Samples


def publish(directory: RefineDirectory, config: Config, tasks: Sequence[RefineTask]) -> None:
    """Write refine.json, refine.md and refine.html of a comparison that is done; print its table.

    Raises RunError where results or trace are damaged, or not of these arms and tasks.
    """
    compared = read_compared(directory, config, tasks)
    write_json(directory.outcome, compared_to_row(compared))
    page = make_page(compared, config, tasks)
    texts = {directory.report_markdown: to_markdown(page), directory.report_html: to_html(page)}
    for path, text in texts.items():
        with replacing(path) as file:
            file.write(text)
    told = [terminal_text(compared, config), spending_line(directory.run)]
    print(*filter(None, told), "", directory.outcome, *texts, sep="\n")


def read_compared(
    directory: RefineDirectory, config: Config, tasks: Sequence[RefineTask]
) -> Compared:
    """Read results, then the trace once, of at least one task."""
    names = [way.name for way in ways_of(config.refine)]
    measured = measured_arm(config.refine)
    ended = read_results(directory.results, names, tasks)
    counts, samples = begin(names), choose(measured, ended, config.seed)
    calls = Calls()
    invariants: Invariants = {}
    by_id = {task.task_id: task for task in tasks}
    for refinement in read_refinements(directory.trace, names, by_id):
        for step in refinement:
            count_step(counts, step, by_id[step.task_id], config.refine.wording)
            note_calls(calls, step)
            if step.report is not None:
                note_invariants(invariants, step.task_id, step.report)
        keep(samples, refinement)
    strata = {key: arm_strata(tasks, ended, key) for key in KEYS}
    return Compared(
        arms=measure_arms(ended),
        measured=measured,
        ended=ended,
        counts=counts,
        nothing_was_asked=nothing_was_asked(calls),
        troubles=troubles_of(calls, counts, config),
        slips=slips_of(invariants, tasks, ended),
        strata=strata,
        samples=samples,
    )


def compared_to_row(c: Compared) -> Row:
    """Flatten for JSON: every number of the tables, not rounded."""
    return {
        "headline": headline_of(c),
        "measured": c.measured,
        "troubles": [one.said for one in c.troubles],
        "slips": slips_to_row(c.slips),
        "arms": [arm_to_row(one) for one in c.arms],
        "trace": counts_to_row(c.counts),
        "strata": {key: [stratum_to_row(one) for one in found] for key, found in c.strata.items()},
    }


def make_page(c: Compared, config: Config, tasks: Sequence[RefineTask]) -> Page:
    """Gather what the page says, in its order."""
    sections = (
        _arms(c),
        Section("How it ended", (stops_table(c.arms), updates_table(c.arms))),
        Section("What the gate rejected", tuple(_gate(c.counts))),
        Section("Replies", tuple(_replies(c.counts))),
        Section("Strata", tuple(_strata(c))),
        Section("Tasks", (task_table(c.ended, c.measured),)),
        samples_section(c.samples, tasks),
    )
    said = (
        *_warnings(c),
        *possible_slips(c.slips),
        *facts(config, tasks, c.arms, c.measured),
        *_caveats(c),
    )
    return Page(headline_of(c), said, sections, "Refinement")


def headline_of(c: Compared) -> str:
    """Give the result in a sentence; where nothing could be asked there is none."""
    if c.nothing_was_asked:
        return "Nothing could be asked, so nothing is measured: no first prompt leaves room."
    return headline(c.arms, c.measured)


def terminal_text(c: Compared, config: Config) -> str:
    """Lay out the one table, and what it comes to, for a terminal."""
    key = "tokens: mean of all roles a task."
    if any(one.against for one in c.arms):
        key = (
            "vs: tasks gained (+) and lost (\u2212) against that arm, p by McNemar's exact test. "
            + key
        )
    said = [key, headline_of(c), *_warnings(c, _MAX_TROUBLES), *left_out_arms(config.refine)]
    said += _caveats(c)
    wrapped = [textwrap.fill(one, _WIDTH) for one in said]
    return "\n".join([text_table(terminal_rows(c.arms)), "", *wrapped])


def _caveats(c: Compared) -> list[str]:
    return [] if c.nothing_was_asked else list(caveats(c.arms, c.measured))


def _warnings(c: Compared, most: int | None = None) -> list[str]:
    """Say what may be the doing of settings or task files, and none of the arms'."""
    return [*(one.said for one in c.troubles[:most]), *likely_slips(c.slips)]


def _arms(c: Compared) -> Section:
    drawn = Figure("Share of tasks solved, with 95% intervals; dashed: forward.", draw_arms(c.arms))
    blocks: list[Block] = [drawn, solved_table(c.arms)]
    for base, name in ((FORWARD, "forward alone"), (RESAMPLE, "re-sampling")):
        if any(base in one.against for one in c.arms):
            blocks.append(against_table(c.arms, base, name))
    return Section("Arms", (*blocks, tokens_table(c.arms), outcomes_table(c.arms)))


def _gate(counts: Counts) -> Iterator[Block]:
    if not counts.evaluated:
        yield Paragraph("No arm has a gate.")
        return
    yield rejections_table(counts)
    yield Paragraph(
        f"Of the {tasks_of(len(counts.evaluated))} that the gate examined, at least "
        f"{counts.least_evaluated} invariants could be evaluated each, {counts.median_evaluated:g} "
        "in the median: the most of any of a task's candidates, without vacuous ones."
    )
    if counts.unchecked:
        names = sorted(counts.unchecked)
        more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
        yield Paragraph(
            "Nothing that tells could be evaluated, so nothing is ever accepted, of "
            f"{tasks_of(len(names))}: {plain(', '.join(names[:_MAX_NAMED]))}{more}."
        )
    yield invariants_table(counts.invariants)


def _replies(counts: Counts) -> Iterator[Block]:
    if any(own.hows for own in counts.arms.values()):
        yield reviews_table(counts)
    else:
        yield Paragraph("No critic was asked.")
    yield forward_table(counts)


def _strata(c: Compared) -> Iterator[Block]:
    for key, found in c.strata.items():
        if says_nothing(found):
            yield Paragraph(f"No task names its {key}.")
            continue
        yield strata_table(key, found)
