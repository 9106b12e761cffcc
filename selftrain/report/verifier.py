"""The verifiers of a run's rounds: what they chose, what they save, how far to trust them.

Everything is read from `6-verifier.json`; nothing is ranked or measured here.
"""

from collections.abc import Mapping, Sequence

from selftrain.files import Row, read_json
from selftrain.report.blocks import (
    ABSENT,
    Block,
    Heading,
    Paragraph,
    Section,
    Table,
    count,
    interval,
    points,
    share,
)
from selftrain.report.rankers import FEW_TASKS, meanings
from selftrain.report.reading import Run
from selftrain.run_directory import RunDirectory
from selftrain.verifier.ranking.chooser import chooser_of
from selftrain.verifier.ranking.rank import RANKERS, Ranker


def verifier_section(run: Run, directory: RunDirectory) -> Section | None:
    """Give the worth of each round's verifiers; None where the run has none."""
    paths = {round_.number: directory.round(round_.number).verifier_worth for round_ in run.trained}
    rounds = {number: read_json(path) for number, path in paths.items() if path.exists()}
    if not rounds:
        return None
    without = [number for number, found in rounds.items() if "choices" not in found]
    blocks: list[Block] = [
        Paragraph(
            f"Round {number} has no verifier: its puzzles to learn from, or those set aside, have "
            "only right or only wrong candidates."
        )
        for number in without
    ]
    blocks += _choices({n: found for n, found in rounds.items() if "choices" in found})
    blocks += _calls({n: found for n, found in rounds.items() if found.get("calls")})
    blocks += _spared({n: found["judged"] for n, found in rounds.items() if "judged" in found})
    blocks += _calibration(rounds)
    return Section("Verifier", tuple(blocks))


def _choices(rounds: Mapping[int, Row]) -> list[Block]:
    """Say how often one candidate of n is right, by who chooses it."""
    if not rounds:
        return []
    choices = [found["choices"] for found in rounds.values()]
    shown = [ranker for ranker in RANKERS if any(ranker in one for one in choices)]
    right = [(name, *(_estimate(one.get(name), "accuracy") for one in choices)) for name in shown]
    sizes = sorted({(found["num_tasks"], found["num_samples"]) for found in rounds.values()})
    of = "; ".join(f"{count(tasks)} puzzles of {count(n)} samples" for tasks, n in sizes)
    return [
        Heading("Choosing one candidate of n"),
        Table(
            "Held-out puzzles whose chosen candidate is right, in percent with 95% intervals, by "
            "the verifier that learnt from the round's verdicts.",
            ("Ranker", *_heads(rounds)),
            tuple(right),
            f"{of}. The checker is withheld: with it at hand there would be nothing to choose.",
        ),
        Paragraph(meanings(shown)),
        *_few(sizes[0][0]),
        *_closed(rounds, shown),
    ]


def _closed(rounds: Mapping[int, Row], shown: Sequence[Ranker]) -> list[Block]:
    """Say what each ranker closes of the gap, so that the generator's own part is seen."""
    rows = [
        (name, *(_estimate(one["choices"].get(name), "efficiency") for one in rounds.values()))
        for name in shown
        if name not in ("random", "oracle")
    ]
    gain = (_over_likelihood(found) for found in rounds.values())
    chooser = _chooser(next(iter(rounds.values())))  # The same in all: a run has one setting.
    rows.append((f"{chooser} \u2212 LM sum, in points", *gain))
    there = tuple(row for row in rows if set(row[1:]) != {ABSENT})
    table = Table(
        "Share of the gap between random and the oracle that each closes, in percent with 95% "
        "intervals.",
        ("Ranker", *_heads(rounds)),
        there,
        "What LM sum and LM mean close is earned by the generator alone. The last row is of the "
        "ranker that a verifier's choice is made by.",
    )
    return [table] if there else []


def _few(num_tasks: int) -> list[Block]:
    said = f"Intervals over fewer than {FEW_TASKS} puzzles say little."
    return [Paragraph(said)] if num_tasks < FEW_TASKS else []


def _chooser(found: Row) -> Ranker:
    """Name the ranker that a verifier's choice is made by in a round."""
    choices = found["choices"]
    groups = "joint with groups" in choices
    return chooser_of(found["reads"], groups=groups, has_logprobs=groups or "joint" in choices)


def _over_likelihood(found: Row) -> str:
    one = found["choices"][_chooser(found)]["differences"].get("LM sum")
    if one is None:
        return ABSENT
    return f"{points(one['difference'])} [{points(one['low'])}, {points(one['high'])}]"


def _calls(rounds: Mapping[int, Row]) -> list[Block]:
    """Say what judging in a verifier's order saves, the same pairs being kept."""
    if not rounds:
        return []
    idle = [number for number, found in rounds.items() if not _can_save(found)]
    said = [
        Paragraph(
            f"In round {number} no order could save a call: no puzzle has `curate.max_solutions` "
            "programs that pass and others beside them, as always where `solve.num_samples` is no "
            "more than that."
        )
        for number in idle
    ]
    rounds = {number: found for number, found in rounds.items() if number not in idle}
    heading = Heading("Judge calls saved at equal kept pairs")
    return [heading, *said, *([_calls_table(rounds)] if rounds else [])]


def _can_save(found: Row) -> bool:
    return any(one["least_calls"] < one["num_candidates"] for one in found["calls"].values())


def _calls_table(rounds: Mapping[int, Row]) -> Table:
    orders = [ranker for ranker in RANKERS if any(ranker in r["calls"] for r in rounds.values())]
    any_order = [next(iter(found["calls"].values())) for found in rounds.values()]
    rows = [
        ("random order", *(_estimate(one, "random_saved") for one in any_order)),
        *(
            (name, *(_estimate(found["calls"].get(name), "saved") for found in rounds.values()))
            for name in orders
        ),
        ("right ones first", *(_best(one) for one in any_order)),
        ("programs", *(count(one["num_candidates"]) for one in any_order)),
        ("pairs kept", *(count(one["num_kept"]) for one in any_order)),
    ]
    executed = {found["reads"] != "none" for found in rounds.values()} == {True}
    what = (
        "g of every candidate is executed first, since the verifier reads results, and one that "
        "fails needs no call: what is saved is calls of the checker f."
        if executed
        else "Nothing is executed first: what is saved is whole judge calls, of g and f."
    )
    return Table(
        "Share of distinct programs that need no call, in percent with 95% intervals, where each "
        "puzzle's are judged in this order until `curate.max_solutions` passed.",
        ("Order", *_heads(rounds)),
        tuple(rows),
        f"By the verifier of the round before, on puzzles judged whole. {what}",
    )


def _best(calls: Row) -> str:
    return f"{100 * (1 - calls['least_calls'] / calls['num_candidates']):.1f}"


def _spared(rounds: Mapping[int, Row]) -> list[Block]:
    """Say what was in fact not judged, where the verifier decided that."""
    rounds = {n: found for n, found in rounds.items() if found["ordered"]["num_puzzles"]}
    if not rounds:
        return []
    rows = []
    for number, found in rounds.items():
        for key, name in (("whole", "judged whole"), ("ordered", "in the verifier's order")):
            one = found[key]
            fuel = one["fuel"] / one["num_programs"] / 1e6 if one["num_programs"] else 0.0
            rows.append(
                (
                    f"Round {number}, {name}",
                    count(one["num_puzzles"]),
                    count(one["num_programs"]),
                    share(one["num_calls"], one["num_calls"] + one["num_not_judged"]),
                    count(one["num_passed"]),
                    f"{fuel:,.1f}",
                )
            )
    return [
        Heading("What was spared"),
        Table(
            "Distinct programs judged of puzzles drawn by lot to be judged whole, and of others.",
            ("Puzzles", "Number", "Programs", "Calls", "Passed", "Fuel a program, millions"),
            tuple(rows),
            "Fuel counts executing g first, where the verifier reads results. Difficulties, and "
            "what a verifier learns from and is measured on, are of puzzles judged whole.",
        ),
    ]


def _calibration(rounds: Mapping[int, Row]) -> list[Block]:
    """Say how well probabilities match, on each generator's candidates."""
    rows = []
    for number, found in rounds.items():
        for key, name in (
            ("earlier_calibration", f"its own puzzles, by the verifier of round {number - 1}"),
            ("calibration", "held-out puzzles, by its own verifier"),
        ):
            if key in found:
                rows.append((f"Round {number}: {name}", *_calibration_cells(found[key])))
    if not rows:
        return []
    return [
        Heading("How well its probabilities match"),
        Table(
            "Calibration on candidates that the verifier did not learn from, before and after the "
            "calibrator fitted on the puzzles set aside; the generator shifts between rounds.",
            ("Candidates of", "Right", "AUROC", "within a puzzle", "ECE", "calibrated", "NLL",
             "calibrated"),
            tuple(rows),
            "Percent, but for AUROC and NLL (nats). ECE has bins of equal mass.",
        ),
    ]  # fmt: skip


def _calibration_cells(calibration: Row) -> Sequence[str]:
    before, after = calibration["before"], calibration["after"]
    return (
        f"{100 * before['share_right']['value']:.1f}",
        *(ABSENT if before[k] is None else f"{before[k]['value']:.3f}" for k in _AUROCS),
        *(f"{100 * one['ece_equal_mass']['value']:.1f}" for one in (before, after)),
        *(f"{one['nll']['value']:.3f}" for one in (before, after)),
    )


_AUROCS = ("auroc", "auroc_within")


def _estimate(row: Row | None, key: str) -> str:
    found = row[key] if row else None
    if found is None:
        return ABSENT
    return interval(found["value"], found["low"], found["high"]).replace("-", "\u2212")


def _heads(rounds: Mapping[int, Row]) -> tuple[str, ...]:
    return tuple(f"Round {number}" for number in rounds)
