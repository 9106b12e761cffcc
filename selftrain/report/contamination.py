"""What training knew of the held-out puzzles: what was removed, and Pass@k where nothing is near.

It reads what decontamination wrote, and compares nothing itself. That nothing comes near by these
checks does not prove that the base model has not seen a puzzle.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from puzzles.contamination import Check
from selftrain.files import Row
from selftrain.report.blocks import (
    Block,
    Heading,
    Paragraph,
    Section,
    Table,
    Verbatim,
    count,
    interval,
    plain,
    share,
)
from selftrain.report.reading import Run, rows_if_written
from selftrain.report.verbatim import Reservoir, passage
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.seeds import derive_seed
from selftrain.statistics import rows_pass_at_k

TITLE = "Contamination"
CHECKS = {
    Check.TEXT: "Same text",
    Check.SYNTAX: "Same syntax tree but for names",
    Check.NGRAMS: "Shared runs of five tokens",
    Check.MINHASH: "Shared pairs of tokens (MinHash)",
    Check.BEHAVIOUR: "Solves the held-out puzzle",
}
"""How tables name the checks, in the order in which they are made."""
MAX_NEAR = 20
"""Rows of the table of held-out puzzles that something comes near."""


def contamination_section(run: Run, directory: RunDirectory) -> Section:
    """Give removals by reason and round, Pass@k whole and where nothing is near, and examples."""
    trained = [directory.round(round_.number) for round_ in run.trained]
    trained = [round_ for round_ in trained if round_.near.exists()]
    if not trained:
        return Section(TITLE, (Paragraph("No round of self-training is complete yet."),))
    near = list(rows_if_written(trained[-1].near))
    blocks: list[Block] = [_removals(run, trained), *_by_chance(trained), *_parts(run, near)]
    return Section(TITLE, (*blocks, *_nearest(near), *_removed(trained[-1], run.seed)))


def _removals(run: Run, trained: Sequence[RoundDirectory]) -> Block:
    counts = [Counter(row["reason"] for row in rows_if_written(here.removed)) for here in trained]
    kept = {round_.number: round_.metrics["funnel/examples"] for round_ in run.trained}
    rows = [
        (name, *(count(removed[check]) for removed in counts))
        for check, name in CHECKS.items()
        if any(removed[check] for removed in counts)
    ]
    return Table(
        "Examples removed before training, each by the first check that found a held-out puzzle "
        "too near to it.",
        ("Check", *(f"Round {here.number}" for here in trained)),
        (
            *rows,
            ("All removed", *(count(removed.total()) for removed in counts)),
            ("Kept", *(count(kept[here.number]) for here in trained)),
        ),
    )


def _by_chance(trained: Sequence[RoundDirectory]) -> list[Block]:
    names = {
        row["name"]
        for here in trained
        for row in rows_if_written(here.near)
        if row["num_by_chance"]
    }
    if not names:
        return []
    return [
        Paragraph(
            f"By behaviour nothing is told of {count(len(names))} held-out puzzles: examples solve "
            "them, but so do unrelated answers, or those that anyone would try first. No example "
            "was removed for that."
        )
    ]


def _parts(run: Run, near: Sequence[Row]) -> list[Block]:
    """Compare rounds on the same puzzles: those that nothing in training up to now comes near."""
    names = {row["name"] for row in near if row["near"] is not None}
    clean = {row["name"] for row in near} - names
    said = Paragraph(
        f"Training comes near {share(len(names), len(near))} of the {count(len(near))} held-out "
        "puzzles, by a lower bar than that of removal; puzzles that prompts show count as training."
    )
    measured = {row["name"] for row in run.rounds[-1].evaluation}
    is_sample = not names | clean <= measured
    names, clean = names & measured, clean & measured
    if not clean:
        return [said, Paragraph("So there is no part that nothing comes near.")]
    if not names:
        whole = "all that was measured" if is_sample else "the whole held-out split"
        return [said, Paragraph(f"So {whole} is the part that nothing comes near.")]
    return [said, _by_part(run, {"all": names | clean, "nothing near": clean, "near": names})]


def _by_part(run: Run, parts: Mapping[str, Collection[str]]) -> Table:
    """Give Pass@k of every round on each part, by the names of its puzzles."""
    rows = []
    for round_ in run.rounds:
        for part, names in parts.items():
            members = [row for row in round_.evaluation if row["name"] in names]
            estimates = [rows_pass_at_k(members, k, run.seed) for k in run.shown_ks]
            cells = [interval(one.value, one.low, one.high) for one in estimates]
            rows.append((f"{round_.name}, {part}", count(len(members)), *cells))
    return Table(
        "Pass@k in percent, with 95% intervals, on all held-out puzzles measured, on those that "
        "nothing in training comes near, and on the others.",
        ("Round, part", "Puzzles", *(f"Pass@{k}" for k in run.shown_ks)),
        tuple(rows),
        "The parts are those of the last round, for every round.",
    )


def _nearest(near: Sequence[Row]) -> list[Block]:
    shown = [row for row in near if row["near"] is not None]
    if not shown:
        return []
    rows = [(row["name"], row["near"], row["reason"]) for row in shown[:MAX_NEAR]]
    left = len(shown) - len(rows)
    return [
        Table(
            "Held-out puzzles that something in training comes near, and the nearest.",
            ("Held-out puzzle", "Nearest in training", "In what"),
            tuple(rows),
            f"{count(left)} more are in the last round's 6-near.jsonl." if left else "",
            folded=True,
        )
    ]


def _removed(here: RoundDirectory, seed: int) -> list[Block]:
    by_reason: dict[str, Reservoir[Row]] = {}
    for row in rows_if_written(here.removed):
        reason = row["reason"]
        if reason not in by_reason:
            place = (here.number, "report", "removed", reason)
            by_reason[reason] = Reservoir(1, derive_seed(seed, *place))
        by_reason[reason].add(row)
    heading = Heading(f"Removed examples of round {here.number}, one a check")
    if not by_reason:
        return [heading, Paragraph("None.")]
    return [
        heading,
        *(_verbatim(by_reason[check].kept[0]) for check in CHECKS if check in by_reason),
    ]


def _verbatim(row: Row) -> Verbatim:
    return Verbatim(
        plain(f"{row['reason']}: {row['name']}, too near to {row['held_out']}"),
        (
            passage("example", row["prompt"] + row["completion"]),
            passage("answer", str(row["answer"])),
            passage("detail", row["detail"]),
        ),
    )
