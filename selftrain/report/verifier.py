"""The verifiers of a run's rounds: what they chose, what they save, how far to trust them.

Everything is read from `6-verifier.json`; nothing is ranked or measured here.
"""

from collections.abc import Callable, Mapping, Sequence

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
from selftrain.report.reading import Run
from selftrain.run_directory import RunDirectory

_CHOOSERS = {
    "random": "At random (Pass@1)",
    "greedy": "Greedy, drawn apart",
    "most frequent": "Most frequent result",
    "most frequent, error-free": "Most frequent result, no error",
    "LM mean": "Likeliest to the generator, a token",
    "LM sum": "Likeliest to the generator",
    "LM sum, error-free": "Likeliest without an error",
    "verifier": "Verifier",
    "joint": "Verifier and generator",
    "joint with groups": "Both, pooled by result",
    "oracle": "Oracle: any is right",
}
_ORDERS = {
    "verifier": "Verifier",
    "joint": "Verifier and generator",
    "joint with groups": "Both, pooled by result",
    "LM sum": "Likeliest to the generator",
}
_Cell = Callable[[Row], str]


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
    rows = [
        (name, *(_estimate(found["choices"].get(key), "accuracy") for found in rounds.values()))
        for key, name in _CHOOSERS.items()
    ]
    gap = [_cell(found["choices"], "efficiency", _interval) for found in rounds.values()]
    gain = [
        _cell(found["choices"], "differences", _against_likelihood) for found in rounds.values()
    ]
    rows += [("Gap closed, from random to oracle", *gap), ("Over likeliest, in points", *gain)]
    sizes = sorted({(found["num_tasks"], found["num_samples"]) for found in rounds.values()})
    of = "; ".join(f"{count(tasks)} puzzles of {count(n)} samples" for tasks, n in sizes)
    return [
        Heading("Choosing one candidate of n"),
        Table(
            "Held-out puzzles whose chosen candidate is right, in percent with 95% intervals, by "
            "the verifier that learnt from the round's verdicts.",
            ("Chosen by", *_heads(rounds)),
            tuple(row for row in rows if set(row[1:]) != {ABSENT}),
            f"{of}. The checker is withheld: with it at hand there would be nothing to choose. The "
            "last two rows are of the last of the verifier's choices.",
        ),
    ]


def _cell(choices: Mapping[str, Row], key: str, spell: _Cell) -> str:
    """Spell what is known of the ranking in use: of the last of these that could rank."""
    there = [
        choices[name] for name in ("verifier", "joint", "joint with groups") if name in choices
    ]
    found = there[-1].get(key) if there else None
    return spell(found) if found else ABSENT


def _against_likelihood(differences: Row) -> str:
    if "LM sum" not in differences:
        return ABSENT
    one = differences["LM sum"]
    return f"{points(one['difference'])} [{points(one['low'])}, {points(one['high'])}]"


def _calls(rounds: Mapping[int, Row]) -> list[Block]:
    """Say what judging in a verifier's order saves, the same pairs being kept."""
    if not rounds:
        return []
    rows = [
        (name, *(_estimate(found["calls"].get(key), "saved") for found in rounds.values()))
        for key, name in _ORDERS.items()
    ]
    any_order = [next(iter(found["calls"].values())) for found in rounds.values()]
    rows += [
        ("At random", *(_estimate(one, "random_saved") for one in any_order)),
        ("Right ones first", *(_best(one) for one in any_order)),
        ("Programs", *(count(one["num_candidates"]) for one in any_order)),
        ("Pairs kept", *(count(one["num_kept"]) for one in any_order)),
    ]
    executed = {found["reads"] != "none" for found in rounds.values()} == {True}
    what = (
        "g of every candidate is executed first, since the verifier reads results, and one that "
        "fails needs no call: what is saved is calls of the checker f."
        if executed
        else "Nothing is executed first: what is saved is whole judge calls, of g and f."
    )
    return [
        Heading("Judge calls saved at equal kept pairs"),
        Table(
            "Share of distinct programs that need no call, in percent with 95% intervals, where "
            "each puzzle's are judged in this order until `curate.max_solutions` passed.",
            ("Order", *_heads(rounds)),
            tuple(row for row in rows if set(row[1:]) != {ABSENT}),
            f"By the verifier of the round before, on puzzles judged whole. {what}",
        ),
    ]


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
    return ABSENT if row is None else _interval(row[key])


def _interval(estimate: Row) -> str:
    return interval(estimate["value"], estimate["low"], estimate["high"])


def _heads(rounds: Mapping[int, Row]) -> tuple[str, ...]:
    return tuple(f"Round {number}" for number in rounds)
