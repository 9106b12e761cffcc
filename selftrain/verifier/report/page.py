"""What is shown of a comparison of rankings: lever.json, a page in two formats, a terminal's table.

Its sections are in sections.py, its sentences in sentences.py; how pages look is said in the
package report.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from selftrain.config import Config
from selftrain.errors import RunError
from selftrain.files import read_json, read_rows, replacing, write_json
from selftrain.report.blocks import Page, count, percent, plain, points
from selftrain.report.html import to_html
from selftrain.report.markdown import to_markdown
from selftrain.report.text_table import text_table
from selftrain.statistics import NUM_REPLICATES
from selftrain.verifier.arms import Learner, learners
from selftrain.verifier.calibration.calibrator import calibrator_from_row
from selftrain.verifier.directory import LeverDirectory, Split
from selftrain.verifier.learning.train import CALIBRATOR
from selftrain.verifier.ranking.rank import Ranker
from selftrain.verifier.report.choice_tables import MINUS, spelt
from selftrain.verifier.report.compared import Said
from selftrain.verifier.report.facts import Facts, count_split, facts_to_row, read_trained
from selftrain.verifier.report.measure import Measured, measure, measured_to_row
from selftrain.verifier.report.sections import sections_of
from selftrain.verifier.report.sentences import (
    apart_by_family,
    closes,
    differences,
    lacks,
    left_out,
    say_little,
    selection_of,
)
from selftrain.verifier.tasks.task import Task

_WIDTH = 100
"""Columns of a terminal."""
_BASES: dict[Ranker, str] = {
    "LM sum": "LM",
    "LM sum, error-free": "LM, e-f",
    "most frequent": "freq.",
    "most frequent, error-free": "freq., e-f",
}
"""What rankers are compared with there, and what heads there is room for; the page has them all."""
_KEY = (
    f"{MINUS}: difference in points to LM sum, most frequent (freq.), and both error-free (e-f). "
    "Closed: share of the gap from random to the oracle."
)


def publish(
    directory: LeverDirectory, config: Config, tasks: Mapping[Split, Sequence[Task]]
) -> None:
    """Measure what the verifiers said; write lever.json, lever.md and lever.html; print the table.

    Raises UsageError where no test task has candidates and all their labels, RunError where a file
    of scores is not of these tasks.
    """
    said = [_said(directory, one, tasks) for one in learners(config)]
    calibrator = calibrator_from_row(
        read_json(directory.verifier(said[0].learner.name) / CALIBRATOR)
    )
    measured = measure(tasks, said, calibrator, config)
    folders = [directory.verifier(one.learner.name) for one in said]
    how = config.verifier.model
    facts = Facts(
        splits={split: count_split(some) for split, some in tasks.items()},
        verifiers=tuple(read_trained(folder, tasks["test"], how) for folder in folders),
    )
    write_json(directory.outcome, measured_to_row(measured) | facts_to_row(facts))
    page = make_page(measured, facts, config)
    texts = {directory.report_markdown: to_markdown(page), directory.report_html: to_html(page)}
    for path, text in texts.items():
        with replacing(path) as file:
            file.write(text)
    print(terminal_text(measured), "", directory.outcome, *texts, sep="\n")


def make_page(m: Measured, facts: Facts, config: Config) -> Page:
    """Gather what the page says, in its order."""
    return Page(
        closes(m), tuple(_facts(m, facts, config)), sections_of(m, facts), "Ranking candidates"
    )


def terminal_text(m: Measured) -> str:
    """Lay out the one table, and what it comes to, for a terminal."""
    bases = [base for base in _BASES if selection_of(m, base)]
    heads = (f"{MINUS} {_BASES[base]}" for base in bases)
    rows = [("ranker", "right % [95%]", *heads, "closed %")]
    for one in m.selections.rankers:
        differ = (one.differences.get(base) for base in bases)
        rows.append(
            (
                one.ranker,
                spelt(one.accuracy),
                *("" if each is None else points(each.difference) for each in differ),
                ""
                if one.efficiency is None
                else f"{100 * one.efficiency.value:.1f}".replace("-", MINUS),
            )
        )
    said = [_KEY, closes(m), differences(m), apart_by_family(m), *lacks(m)]
    said += [*say_little(m), *left_out(m.selections)]
    wrapped = [textwrap.fill(one, _WIDTH) for one in said if one]
    return "\n".join([text_table(rows), "", *wrapped])


def _said(
    directory: LeverDirectory, learner: Learner, tasks: Mapping[Split, Sequence[Task]]
) -> Said:
    """Read what a verifier said of the dev and the test tasks."""
    return Said(
        learner,
        _odds(directory, learner, "dev", tasks["dev"]),
        _odds(directory, learner, "test", tasks["test"]),
    )


def _odds(
    directory: LeverDirectory, learner: Learner, split: Split, tasks: Sequence[Task]
) -> list[list[float]]:
    path = directory.scores(learner.name, split)
    rows = list(read_rows(path))
    wanted = [(task.task_id, len(task.candidates)) for task in tasks]
    if [(row["task_id"], len(row["log_odds"])) for row in rows] != wanted:
        raise RunError(
            f"{path}: it is not of the tasks in {directory.tasks(split)}. Remove it, and start the "
            "same command again: the verifier then reads them once more."
        )
    return [row["log_odds"] for row in rows]


def _facts(m: Measured, facts: Facts, config: Config) -> Iterator[str]:
    c, test = config.lever, facts.splits["test"]
    sources = dict.fromkeys((c.train, *([c.dev] if c.dev else []), c.test))
    yield (
        f"Tasks of {plain(', '.join(sources))}. On {count(test.num_tasks)} test tasks there are "
        f"{count(test.num_candidates)} distinct candidates of {count(test.num_samples)} samples, "
        f"{percent(test.num_right / max(1, test.num_candidates))} of them right. Tasks that come "
        f"without candidates are tried {c.num_samples} times by {plain(config.model.name)} at "
        f"temperature {c.temperature:g}."
    )
    yield (
        "No ranking but the oracle's sees a label: with the checker at hand there is nothing to "
        "rank, as it says which candidate is right."
    )
    yield f"Verifier: {_verifier(facts, config)}. {_likelihood(config)}"
    estimate = m.selections.rankers[0].accuracy
    yield (
        f"Intervals are 95%, by bootstrap over {count(estimate.num_clusters)} families (a task "
        f"without one counts as its own) and the tasks within, {NUM_REPLICATES:,} replicates. The "
        "verifier's step, its calibrator and the threshold come from the dev tasks; seed "
        f"{config.seed}."
    )
    yield from say_little(m)
    if m.selections.num_left_out:
        yield (
            f"{count(m.selections.num_left_out)} test tasks are left out: not all their candidates "
            "have a label."
        )
    yield from left_out(m.selections)


def _verifier(facts: Facts, config: Config) -> str:
    one, c = facts.verifiers[0], config.verifier
    how = "all weights" if c.method == "full" else "a low-rank adapter and the head"
    return (
        f"{plain(c.model.name)}, {how} trained; its weights are those of step "
        f"{one.chosen_step:,} of {one.steps:,}, with the lowest loss on the dev tasks "
        f"({one.dev_loss:.3f} nats)"
    )


def _likelihood(config: Config) -> str:
    which = "sum" if config.verifier.likelihood == "sum" else "mean"
    return (
        f"The joint score adds the {which} of a program's token log-probabilities, at temperature "
        "1, and the verifier's log-probability that it is right (equation 3 of the paper)."
    )
