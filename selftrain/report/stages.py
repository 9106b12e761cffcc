"""What the stages of each round kept, why the rest fell, and what it cost: from metrics alone."""

from collections import Counter
from collections.abc import Mapping, Sequence

from selftrain.files import read_whole_rows
from selftrain.report.blocks import (
    ABSENT,
    Block,
    Figure,
    Heading,
    Paragraph,
    Section,
    Table,
    count,
    percent,
    share,
)
from selftrain.report.charts import draw_funnel
from selftrain.report.reading import Run
from selftrain.report.spending import spending_blocks
from selftrain.run_directory import RunDirectory

FUNNEL = ("completions", "parsed", "typed", "new", "non_trivial", "solved", "examples")
"""The steps of the funnel, as metrics name them."""

COSTS = {
    "cost/proposal_tokens": "Tokens sampled to propose",
    "cost/solution_tokens": "Tokens sampled to solve",
    "cost/eval_tokens": "Tokens sampled to evaluate",
    "cost/judge_fuel": "Millions of instructions judged in solving (fuel)",
    "train/num_examples": "Examples trained on",
    "train/num_held_back": "Examples held back",
    "train/steps": "Training steps",
}
"""What a round cost in units that do not depend on the machine."""

LOSSES = {
    "train/final_loss": "Loss at the last step",
    "train/held_back_loss": "Loss on held-back examples, after the last epoch",
}
"""How a round's training ended."""

WITHOUT_TIMINGS = (
    "Times differ between two runs of the same seed and are kept in timings.jsonl; "
    "`selftrain report RUN` adds them here, with what servers were asked for."
)


def funnel_section(run: Run) -> Section:
    """Give the funnel by round, and the rejections by reason."""
    if not run.trained:
        return Section("The funnel", (Paragraph("No round of self-training is complete yet."),))
    columns = [[round_.metrics[f"funnel/{step}"] for step in FUNNEL] for round_ in run.trained]
    rows = []
    for index, step in enumerate(FUNNEL):
        rows.append((_step_name(step), *(_funnel_cell(column, index) for column in columns)))
    last = run.trained[-1]
    steps = [(_step_name(step), last.metrics[f"funnel/{step}"]) for step in FUNNEL]
    blocks: list[Block] = [
        Table(
            "What each round kept, with its share of the completions.",
            ("Step", *(f"Round {round_.number}" for round_ in run.trained)),
            tuple(rows),
            "Examples are the unique pairs kept in that round; a solved puzzle may give several."
            + _by_refinement(run),
        ),
        Figure(f"The funnel of round {last.number}.", draw_funnel(steps)),
        Heading("Rejections by reason"),
        _rejections(run),
    ]
    return Section("The funnel", tuple(blocks))


def outcomes_section(run: Run) -> Section:
    """Give the judge's outcomes by round: of candidates for proposed and for held-out puzzles."""
    blocks: list[Block] = []
    if run.trained:
        blocks.append(
            _by_round(
                "Outcomes of the candidates for the puzzles of each round, with their share.",
                "Outcome",
                {
                    f"Round {round_.number}": _prefixed(round_.metrics, "outcome/")
                    for round_ in run.trained
                },
            )
        )
    held_out = {
        f"Round {r.number}": _sum([row["outcomes"] for row in r.evaluation]) for r in run.rounds
    }
    blocks.append(
        _by_round("Outcomes of the held-out candidates, with their share.", "Outcome", held_out)
    )
    return Section("Outcomes", tuple(blocks))


def cost_section(run: Run, directory: RunDirectory, *, with_timings: bool) -> Section:
    """Give the time a stage where asked, and the cost in units that two runs of one seed share."""
    blocks: list[Block] = [_timings(directory) if with_timings else Paragraph(WITHOUT_TIMINGS)]
    rows = []
    for key, name in COSTS.items():
        if any(key in round_.metrics for round_ in run.rounds):
            unit = 1e6 if key == "cost/judge_fuel" else 1
            rows.append(
                (
                    name,
                    *(
                        count(r.metrics[key] / unit) if key in r.metrics else ABSENT
                        for r in run.rounds
                    ),
                )
            )
    for key, name in LOSSES.items():
        if any(key in round_.metrics for round_ in run.rounds):
            losses = (r.metrics.get(key) for r in run.rounds)
            rows.append((name, *(ABSENT if loss is None else f"{loss:.3f}" for loss in losses)))
    if rows:
        heads = ("", *(f"Round {round_.number}" for round_ in run.rounds))
        blocks += [
            Heading("Cost"),
            Table("What each round cost, whatever the machine.", heads, tuple(rows)),
        ]
    if with_timings:
        blocks += spending_blocks(directory)
    return Section("Time a stage", tuple(blocks))


def _by_refinement(run: Run) -> str:
    """Say what else is among the solved where rounds refine; nothing elsewhere."""
    refines = any("refine/refined/solved" in round_.metrics for round_ in run.trained)
    said = " Solved are those too that were only after all attempts had failed: see Refinement."
    return said if refines else ""


def _step_name(step: str) -> str:
    return step.replace("_", "-").capitalize()


def _funnel_cell(column: Sequence[int], index: int) -> str:
    solved = column[FUNNEL.index("solved")]
    if FUNNEL[index] == "examples":
        return (
            f"{count(column[index])} ({column[index] / solved:.1f} a solved puzzle)"
            if solved
            else count(column[index])
        )
    return count(column[index]) if index == 0 else share(column[index], column[0])


def _rejections(run: Run) -> Block:
    counts = {
        f"Round {round_.number}": _prefixed(round_.metrics, "rejected/") for round_ in run.trained
    }
    if not any(counts.values()):
        return Paragraph("Nothing was rejected.")
    return _by_round("Proposals that were rejected, with the reason's share.", "Reason", counts)


def _prefixed(metrics: Mapping[str, int], prefix: str) -> Counter[str]:
    return Counter(
        {
            key.removeprefix(prefix): value
            for key, value in metrics.items()
            if key.startswith(prefix) and value
        }
    )


def _sum(counts: Sequence[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return total


def _by_round(caption: str, head: str, counts: Mapping[str, Counter[str]]) -> Table:
    """Lay counts out: a row a name, the most frequent first, a column a round, the total below."""
    total = _sum(list(counts.values()))
    names = sorted((name for name in total if total[name]), key=lambda name: (-total[name], name))
    rows = [
        (name, *(share(column[name], column.total()) for column in counts.values()))
        for name in names
    ]
    rows.append(("All", *(count(column.total()) for column in counts.values())))
    return Table(caption, (head, *counts), tuple(rows))


def _timings(directory: RunDirectory) -> Block:
    seconds: dict[str, Counter[int]] = {}
    for row in read_whole_rows(directory.timings):
        seconds.setdefault(row["stage"], Counter())[row["round"]] += row["seconds"]
    if not seconds:
        return Paragraph("No stage has been timed yet.")
    rounds = sorted({number for by_round in seconds.values() for number in by_round})
    rows = [
        (
            stage,
            *(_duration(by_round[number]) if number in by_round else ABSENT for number in rounds),
        )
        for stage, by_round in seconds.items()
    ]
    totals = [sum(by_round[number] for by_round in seconds.values()) for number in rounds]
    everything = sum(totals)
    longest = max(seconds, key=lambda stage: sum(seconds[stage].values()))
    part = percent(sum(seconds[longest].values()) / everything) if everything else percent(0)
    return Table(
        "Time of each stage, over its shards, on the machine that ran it.",
        ("Stage", *(f"Round {number}" for number in rounds)),
        (*rows, ("All", *map(_duration, totals))),
        f"All rounds together took {_duration(everything)}; {part} of it went into {longest}.",
    )


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
