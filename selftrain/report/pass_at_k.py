"""The first question of a report: Pass@k before and after, by k, round, family and stratum."""

from collections.abc import Callable, Sequence

from selftrain.files import Row
from selftrain.held_out import held_out_text
from selftrain.report.blocks import (
    ABSENT,
    Block,
    Figure,
    Heading,
    Paragraph,
    Section,
    Table,
    count,
    interval,
    p_value,
    percent,
    plain,
    points,
)
from selftrain.report.charts import Curve, draw_by_k, draw_by_round
from selftrain.report.reading import Round, Run
from selftrain.statistics import (
    NUM_REPLICATES,
    Estimate,
    compare,
    known_family,
    new_family,
    rows_greedy,
    rows_pass_at_k,
)

SMALL_STRATUM = 10
"""Strata with fewer puzzles are marked: a single puzzle would move them by over ten points."""


def headline(run: Run) -> str:
    """Say in one sentence what the last complete round reached, not the best one."""
    if not run.rounds or not run.ks:
        return "No round of this run is complete yet, so there is nothing to report."
    first, last, k = run.rounds[0], run.rounds[-1], run.ks[0]
    puzzles = held_out_text(last.metrics["eval/num_puzzles"], run.made_with)
    before, after = _stated(first.metrics, k), _stated(last.metrics, k)
    if first is last:
        who = "the base model" if last.number == 0 else f"round {last.number}"
        return f"Pass@{k} of {who} on {puzzles} is {after}."
    change = last.metrics[f"eval/pass@{k}"] - first.metrics[f"eval/pass@{k}"]
    verb = "rose" if change > 0 else "fell" if change < 0 else "stayed"
    paired = compare([last.evaluation], [first.evaluation], k, seed=run.seed)
    return (
        f"Pass@{k} on {puzzles} {verb} from {before} to {after} "
        f"between round {first.number} and round {last.number}: "
        f"{points(paired.difference)} points [{points(paired.low)}, {points(paired.high)}], "
        f"paired p = {p_value(paired.p_value)}."
    )


def facts(run: Run) -> tuple[str, ...]:
    """Say how it was measured, and what is missing."""
    sentences = []
    if run.rounds and run.rounds[-1].evaluation:
        last = run.rounds[-1]
        estimate = rows_pass_at_k(last.evaluation, 1, run.seed)
        sentences.append(
            f"Base model {plain(run.model)}; n = {estimate.num_samples} samples a puzzle "
            f"at temperature {run.temperature:g}, seed {run.seed}; "
            "greedy decoding is measured apart. Pass@k is the unbiased estimator."
        )
        sentences.append(
            f"Intervals are 95%, by cluster bootstrap over {estimate.num_clusters} families "
            f"(a puzzle without one counts as its own) and the puzzles within, "
            f"{NUM_REPLICATES:,} replicates."
        )
    missing = run.num_rounds + 1 - len(run.rounds)
    if missing > 0:
        begun = "".join(
            f" Round {number} was begun and is not counted here." for number in run.under_way
        )
        done = max(len(run.rounds) - 1, 0)
        sentences.append(
            f"This run is not finished: {done} of {run.num_rounds} rounds are complete.{begun}"
        )
    return tuple(sentences)


def pass_at_k_section(run: Run) -> Section:
    """Give Pass@k by round, by k, by kind of family, by category and by difficulty."""
    if not run.rounds:
        return Section("Pass@k before and after", (Paragraph("Nothing was evaluated yet."),))
    blocks: list[Block] = [_by_round(run), *_against_base(run), *_curves(run)]
    blocks += [*_by_family(run), *_strata(run)]
    return Section("Pass@k before and after", tuple(blocks))


def _stated(metrics: Row, k: int) -> str:
    value, low, high = (metrics[f"eval/pass@{k}{end}"] for end in ("", "_low", "_high"))
    return f"{percent(value)} [{100 * low:.1f}, {100 * high:.1f}]"


def _spelt(estimate: Estimate | None) -> str:
    return interval(estimate.value, estimate.low, estimate.high) if estimate else ABSENT


def _by_round(run: Run) -> Table:
    rows = []
    for round_ in run.rounds:
        cells = [
            interval(*(round_.metrics[f"eval/pass@{k}{end}"] for end in ("", "_low", "_high")))
            for k in run.shown_ks
        ]
        rows.append((round_.name, *cells, _spelt(rows_greedy(round_.evaluation, run.seed))))
    return Table(
        "Pass@k by round, in percent, with 95% intervals.",
        ("Round", *(f"Pass@{k}" for k in run.shown_ks), "Greedy"),
        tuple(rows),
    )


def _curves(run: Run) -> list[Block]:
    rounds = [round_ for round_ in run.rounds if round_.evaluation]
    if not rounds:
        return []
    smallest_n = min(row["n"] for round_ in rounds for row in round_.evaluation)
    powers = {2**power for power in range(smallest_n.bit_length()) if 2**power <= smallest_n}
    ks = sorted(powers | {k for k in run.shown_ks if k <= smallest_n})
    grid = [[rows_pass_at_k(round_.evaluation, k, run.seed) for k in ks] for round_ in rounds]
    names = ["base model" if round_.number == 0 else f"round {round_.number}" for round_ in rounds]
    by_k = [_curve(name, ks, estimates) for name, estimates in zip(names, grid, strict=True)]
    blocks: list[Block] = [
        Figure(
            "Pass@k by k, a line a round; bands are the 95% intervals of the first and the last.",
            draw_by_k(by_k),
        ),
        Table(
            "Pass@k by k, in percent, with 95% intervals.",
            ("Round", *(f"k = {k}" for k in ks)),
            tuple(
                (round_.name, *map(_spelt, estimates))
                for round_, estimates in zip(rounds, grid, strict=True)
            ),
            folded=True,
        ),
    ]
    if len(rounds) > 1:
        # More lines than colours could not be told apart.
        shown = sorted({*run.shown_ks[:2], *run.shown_ks[-2:]})
        numbers = [round_.number for round_ in rounds]
        by_round = [
            _curve(
                f"Pass@{k}",
                numbers,
                [rows_pass_at_k(round_.evaluation, k, run.seed) for round_ in rounds],
            )
            for k in shown
        ]
        blocks.append(Figure("Pass@k by round, with 95% intervals.", draw_by_round(by_round)))
    return blocks


def _against_base(run: Run) -> list[Block]:
    """Compare every round with the base model on the same puzzles."""
    base = run.rounds[0]
    if base.number != 0 or len(run.rounds) == 1:
        return []
    rows = []
    for round_ in run.rounds[1:]:
        for k in run.shown_ks:
            one = compare([round_.evaluation], [base.evaluation], k, seed=run.seed)
            detectable = one.smallest_detectable
            rows.append(
                (
                    f"{round_.name}, Pass@{k}",
                    f"{points(one.difference)} [{points(one.low)}, {points(one.high)}]",
                    p_value(one.p_value),
                    ABSENT if detectable is None else points(detectable).removeprefix("+"),
                )
            )
    table = Table(
        "Differences from the base model in points, with 95% intervals.",
        ("Round", "Difference", "p", "Could show"),
        tuple(rows),
        "p is of a paired permutation test that flips whole families; it is about these trained "
        "models, and not corrected over rounds. The last column is the difference that such a "
        "test would find four times in five.",
    )
    return [Heading("Against the base model"), table]


def _curve(label: str, x: Sequence[float], estimates: Sequence[Estimate]) -> Curve:
    return Curve(
        label,
        tuple(x),
        tuple(estimate.value for estimate in estimates),
        tuple(estimate.low for estimate in estimates),
        tuple(estimate.high for estimate in estimates),
    )


def _by_family(run: Run) -> list[Block]:
    rows = []
    for round_ in run.rounds:
        for kind, members in (
            ("known", known_family(round_.evaluation)),
            ("new", new_family(round_.evaluation)),
        ):
            if members:
                cells = [_spelt(rows_pass_at_k(members, k, run.seed)) for k in run.shown_ks]
                greedy = _spelt(rows_greedy(members, run.seed))
                num_families = len({row["family"] for row in members})
                rows.append(
                    (
                        f"{round_.name}, {kind}",
                        count(num_families),
                        count(len(members)),
                        *cells,
                        greedy,
                    )
                )
    heading = Heading("Known and new families")
    if not rows:
        return [
            heading,
            Paragraph(
                "The held-out puzzles name no families, so known and new cannot be told apart."
            ),
        ]
    table = Table(
        "Pass@k in percent, with 95% intervals: new instances of families the train split has, "
        "and families it lacks.",
        ("Round, families", "Families", "Puzzles", *(f"Pass@{k}" for k in run.shown_ks), "Greedy"),
        tuple(rows),
    )
    return [heading, table]


def _strata(run: Run) -> list[Block]:
    first, last = run.rounds[0], run.rounds[-1]
    by_category = _stratum_table("category", first, last, sorted)
    order = {"easy": 0, "medium": 1, "hard": 2}
    by_difficulty = _stratum_table(
        "difficulty",
        first,
        last,
        lambda names: sorted(names, key=lambda name: (order.get(name, 3), name)),
    )
    return [Heading("By category and by difficulty"), by_category, by_difficulty]


def _stratum_table(
    key: str, first: Round, last: Round, ordered: Callable[[set[str]], list[str]]
) -> Table:
    rounds = [first] if first is last else [first, last]
    rows = []
    for name in ordered({row[key] for row in last.evaluation}):
        cells = []
        for round_ in rounds:
            members = [row for row in round_.evaluation if row[key] == name]
            num_correct, num_drawn = (
                sum(row["num_correct"] for row in members),
                sum(row["n"] for row in members),
            )
            cells += [
                f"{count(num_correct)} / {count(num_drawn)}",
                percent(num_correct / num_drawn) if members else ABSENT,
            ]
        num_puzzles = sum(row[key] == name for row in last.evaluation)
        mark = " †" if num_puzzles < SMALL_STRATUM else ""
        rows.append((f"{name or 'unnamed'}{mark}", count(num_puzzles), *cells))
    columns = [
        head for round_ in rounds for head in (f"Round {round_.number}: right / samples", "Pass@1")
    ]
    note = f"† fewer than {SMALL_STRATUM} puzzles." if any("†" in row[0] for row in rows) else ""
    return Table(
        f"Samples that were right, by {key}.",
        (key.capitalize(), "Puzzles", *columns),
        tuple(rows),
        note,
    )
