"""The plan as text: a table by round, what it rests on, the total, and the next command.

Everything shown was worked out elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from selftrain.config import Config
from selftrain.held_out import num_measured
from selftrain.plan.cost import dollars_of_rounds
from selftrain.plan.counts import Counts, Lengths, Rates, Splits, add_up
from selftrain.plan.durations import Seconds, gpu_hours, in_all, stage_seconds
from selftrain.plan.probe import Probe
from selftrain.plan.storage import round_files, shard_bytes
from selftrain.plan.texts import RowBytes
from selftrain.plan.units import duration, number, size
from selftrain.plan.weights import Weights
from selftrain.report.text_table import text_table
from selftrain.sampling.spending import dollars_text

_SECTIONS = (
    ("completions", ("proposals", "attempts", "evaluations")),
    ("tokens sampled", ("sampled_proposing", "sampled_solving", "sampled_evaluating")),
    ("tokens read", ("read_proposing", "read_solving", "read_evaluating", "read_embedding")),
    ("judgements", ("trivial_answers", "attempts", "compared", "evaluations")),
    ("training", ("pairs", "examples", "blocks", "epochs", "steps", "trained")),
)
_LABELS = {
    "sampled_proposing": "proposals",
    "sampled_solving": "attempts",
    "sampled_evaluating": "evaluations",
    "read_proposing": "prompts to propose",
    "read_solving": "prompts to solve",
    "read_evaluating": "held-out prompts",
    "read_embedding": "puzzles embedded",
    "compared": "decontamination",
    "trivial_answers": "trivial answers",
    "pairs": "new pairs",
    "examples": "examples, old and new",
    "trained": "tokens trained on",
}
_MOST_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is known of a run before it begins."""

    config: Config
    splits: Splits
    expected: Sequence[Counts]
    """A round each, round 0 first."""
    most: Sequence[Counts]
    lengths: Lengths
    rates: Rates
    rows: RowBytes
    weights: Weights | None
    """None where the model's shape is out of reach; then its bytes are left out."""
    probe: Probe | None
    why_no_probe: str
    """One sentence; empty where there is a probe."""
    machine: str
    """Device and cores; empty where there is no probe."""


def lay_out(plan: Plan, title: str) -> str:
    """Write the plan as plain text of aligned lines; `title` names the configuration."""
    rows = [_head(plan), *_counted(plan), *_stored(plan), *_timed(plan), *_priced(plan)]
    table = text_table(rows)
    return "\n\n".join([_title(plan, title), table, _basis(plan), _total(plan)])


def _shown(plan: Plan) -> list[int]:
    """List the rounds that have a column: all where they are few, else the first and the last."""
    last = plan.config.rounds
    return list(range(last + 1)) if last < _MOST_COLUMNS else [0, 1, 2, last]


def _head(plan: Plan) -> list[str]:
    return ["", *(f"round {i}" for i in _shown(plan)), "all", "at most"]


def _row(
    plan: Plan, label: str, rounds: Sequence[float], most: float, show: Callable[[float], str]
) -> list[str]:
    shown = [show(rounds[i]) if rounds[i] else "-" for i in _shown(plan)]
    return [f"  {label}", *shown, show(sum(rounds)), show(most)]


def _heading(plan: Plan, text: str) -> list[str]:
    return [text, *[""] * (len(_shown(plan)) + 2)]


def _counted(plan: Plan) -> list[list[str]]:
    expected, most = [asdict(one) for one in plan.expected], asdict(add_up(plan.most))
    rows = []
    for heading, fields in _SECTIONS:
        rows.append(_heading(plan, heading))
        for field in fields:
            label = _LABELS.get(field, field)
            rows.append(_row(plan, label, [one[field] for one in expected], most[field], number))
    return rows


def _files(plan: Plan, counts: Counts) -> dict[str, int]:
    saved = plan.weights.saved_bytes if plan.weights else 0
    return round_files(plan.config, counts, plan.splits, plan.rows, saved)


def _stored(plan: Plan) -> list[list[str]]:
    expected = [_files(plan, counts) for counts in plan.expected]
    most = [_files(plan, counts) for counts in plan.most]
    rows = [_heading(plan, "bytes")]
    for name in expected[0]:
        total = sum(files[name] for files in most)
        rows.append(_row(plan, name, [files[name] for files in expected], total, size))
    return rows


def _timed(plan: Plan) -> list[list[str]]:
    if plan.probe is None:
        return []
    speeds = plan.probe.speeds
    expected = [stage_seconds(counts, speeds) for counts in plan.expected]
    most = stage_seconds(add_up(plan.most), speeds)
    rows = [_heading(plan, "time")]
    for name in most:
        middles = [stages[name].middle for stages in expected]
        rows.append(_row(plan, name, middles, most[name].middle, duration))
    return rows


def _priced(plan: Plan) -> list[list[str]]:
    """Give what servers take; nothing where no price is known."""
    expected = dollars_of_rounds(plan.config, plan.expected)
    most = sum(dollars_of_rounds(plan.config, plan.most))
    if not any(expected):
        return []
    return [_heading(plan, "dollars"), _row(plan, "servers", expected, most, dollars_text)]


def _title(plan: Plan, title: str) -> str:
    c, s = plan.config, plan.splits
    parameters = f", {number(plan.weights.parameters)} parameters" if plan.weights else ""
    adapter = (
        f" ({number(plan.weights.trained_parameters)} in the adapter)"
        if plan.weights and c.finetune.method == "lora"
        else ""
    )
    others = [
        f"{who} by {model.name}" + (f" on {', '.join(model.servers)}" if model.servers else "")
        for who, model in (("proposals", c.propose.model), ("attempts", c.solve.model))
        if model
    ]
    measured = num_measured(s.held_out, c)
    sample = f", {measured} of these measured" if measured < s.held_out else ""
    return "\n".join(
        [
            f"{title}: the base model and {c.rounds} rounds",
            "; ".join([f"{c.model.name}{parameters}{adapter}", *others]),
            f"{s.train} train, {s.dev} dev and {s.held_out} held-out puzzles{sample}",
        ]
    )


def _basis(plan: Plan) -> str:
    """Say what the expected values rest on."""
    lengths, rates = plan.lengths, plan.rates
    rested = (
        f"{rates.kept:.0%} of the proposals survive the filter, a kept puzzle gives "
        f"{rates.pairs:.2g} pairs; a proposal has {lengths.proposal:.0f} tokens, an attempt "
        f"{lengths.solution:.0f}, a pair {lengths.example:.0f}."
    )
    if plan.probe is None:
        lines = [
            plan.why_no_probe,
            f"Assumed: {rested}",
            "Rates: the paper's share, and pairs by its costs; lengths: the train puzzles' own.",
        ]
    else:
        basis = "from that" if plan.probe.tells_rates else "too few to go by, so it is assumed"
        lines = [
            f"Measured in {plan.probe.seconds:.0f} s on {plan.machine}, {plan.probe.batch} samples "
            f"at once, of the base model; {basis}:",
            rested,
            *_smaller(plan),
            "Later rounds write and solve otherwise. One process samples and trains; "
            f"{plan.config.judge.num_workers} judge.",
        ]
    if plan.weights is None:
        lines.append("Left out: the bytes of models, since the model's shape is out of reach.")
    if plan.config.verifier.enabled:
        v = plan.config.verifier
        most = v.tasks_per_step * v.candidates_per_step
        lines.append(
            f"Left out: a verifier a round, which learns in {number(v.steps)} steps of at most "
            f"{most} candidates,\nreads those of puzzles to come, and whose weights are kept."
        )
    if plan.config.refine.enabled:
        c, most = plan.config.refine, add_up(plan.most).puzzles
        lines.append(
            f"Left out: refinement, which takes {number(c.tokens)} tokens and little more of each "
            f"puzzle that no\nattempt solves, at most {number(c.tokens * most)} in all."
        )
    return "\n".join(lines)


def _smaller(plan: Plan) -> list[str]:
    """Say where batches were not as large as a run's, which makes a sample cheaper."""
    configured = (plan.config.propose.model or plan.config.model).batch_size
    if plan.probe is None or plan.probe.batch == configured:
        return []
    return [f"A run draws {configured} at once, and each of them faster; the times are too long."]


def _total(plan: Plan) -> str:
    counts = add_up(plan.expected)
    num_bytes = sum(sum(_files(plan, one).values()) for one in plan.expected)
    beside = max(shard_bytes(one, plan.rows) for one in plan.expected)
    completions = counts.proposals + counts.attempts + counts.evaluations
    tokens = counts.sampled_proposing + counts.sampled_solving + counts.sampled_evaluating
    judged = counts.trivial_answers + counts.attempts + counts.compared + counts.evaluations
    lines = [
        f"In all, expected: {number(completions)} completions, {number(tokens)} tokens sampled, "
        f"{number(judged)} judgements, {number(counts.steps)} training steps,",
        f"{size(num_bytes)} on disk and {size(beside)} more while a round is under way",
    ]
    if plan.probe is not None:
        whole = in_all(stage for one in plan.expected for stage in _stages(plan, one))
        spread = f"{duration(whole.low)} to {duration(whole.high)}"
        lines.append(f"and about {duration(whole.middle)} on this machine ({spread}).")
    elif plan.weights is not None:
        hours = gpu_hours(counts, plan.config, plan.weights.parameters)
        lines.append(
            f"and, at the speeds of the paper's V100, {hours.sampling:,.1f} GPU hours of sampling "
            f"and {hours.training:,.1f} of training."
        )
    if price := sum(dollars_of_rounds(plan.config, plan.expected)):
        lines.append(f"Servers take about ${dollars_text(price)}, by the prices set.")
    return "\n".join(lines)


def _stages(plan: Plan, counts: Counts) -> list[Seconds]:
    assert plan.probe is not None
    return list(stage_seconds(counts, plan.probe.speeds).values())
