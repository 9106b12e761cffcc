"""What verifiers were worth in a round, always on what they did not learn from.

The verifier of the round before is measured on this round's own puzzles: how many judge calls its
order saves at equal kept pairs. The round's own is measured on the held-out puzzles, the checker
withheld: how often the one candidate that it chooses of n is right. Both are asked how well their
probabilities match, since the generator shifts from round to round. Nothing is decided here.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from selftrain.experiment import Experiment
from selftrain.files import Row, read_json, read_rows, write_json
from selftrain.judge import NOT_JUDGED, is_attempt
from selftrain.run_directory import RoundDirectory
from selftrain.sampling.lazy import LazySampler
from selftrain.verifier.learning.train import CALIBRATOR
from selftrain.verifier.ranking.chooser import has_logprobs
from selftrain.verifier.ranking.rank import Ranker, Scored
from selftrain.verifier.rounds.in_rounds import earlier_verifier, ranker_of, score, whole_tasks
from selftrain.verifier.tasks.from_puzzles import tasks_of_rows
from selftrain.verifier.tasks.task import Task

MOST_MEASURED_ON = 2_000
"""Puzzles of a round that judge calls are counted on: their intervals are narrow enough."""
SHOWN: tuple[Ranker, ...] = (
    "greedy",
    "random",
    "LM sum",
    "LM mean",
    "LM sum, error-free",
    "most frequent",
    "most frequent, error-free",
    "verifier",
    "joint",
    "joint with groups",
    "oracle",
)
"""What chooses one of n; `selftrain lever evaluate` has them all."""
_COUNTS = ("num_puzzles", "num_programs", "num_calls", "num_not_judged", "num_passed", "fuel")


def measure_verifiers(x: Experiment, here: RoundDirectory, generator: LazySampler) -> None:
    """Measure the verifiers of this round and of the one before, and write what they were worth."""
    if not x.config.verifier.enabled or here.number == 0 or here.verifier_worth.exists():
        return
    x.release(generator)
    earlier, own = earlier_verifier(x, here), here.verifier
    found: Row = {"round": here.number, "reads": x.config.verifier.results}
    with x.timed(here, "worth", 0, (earlier is not None) + own.exists()) as advance:
        if earlier is not None:
            found |= _on_own_puzzles(x, here, earlier)
            advance(1)
        if own.exists():
            found |= _on_held_out(x, here, own)
            advance(1)
    x.verifiers.release()
    write_json(here.verifier_worth, {**found, "metrics": _metrics(found)})


def _on_own_puzzles(x: Experiment, here: RoundDirectory, folder: Path) -> Row:
    """Measure the verifier of the round before on what the generator proposed and tried since."""
    from selftrain.verifier.ranking.judge_calls import needs_call

    reads = x.config.verifier.results
    tasks = whole_tasks(x, here, MOST_MEASURED_ON, with_g=True)
    tasks = [task for task in tasks if task.candidates]
    if not any(needs_call(one, reads) for task in tasks for one in task.candidates):
        return {"judged": _judged(here, reads)}
    scored = score(x, folder, tasks)
    ranker = ranker_of(x.config.verifier, tasks)
    return {
        "ranker": ranker,
        "calls": _calls(x, scored, ranker),
        "earlier_calibration": _calibration(x, folder, scored),
        "judged": _judged(here, reads),
    }


def _calls(x: Experiment, scored: Sequence[Scored], ranker: Ranker) -> Row:
    """Count judge calls in a ranker's order, and in the likelihood's where that is known."""
    from selftrain.verifier.ranking.judge_calls import labels_in_order, savings, savings_to_row

    c, seed, most = x.config.verifier, x.config.seed, x.config.curate.max_solutions
    families = [one.task.family for one in scored]
    known = has_logprobs([one.task for one in scored], "sum")
    rankers: list[Ranker] = [ranker, "LM sum"] if known else [ranker]
    calls: Row = {}
    for each in rankers:
        orders = [
            labels_in_order(one, each, seed=seed, likelihood=c.likelihood, results=c.results)
            for one in scored
        ]
        calls[each] = savings_to_row(savings(orders, families, most, seed=seed))
    return calls


def _judged(here: RoundDirectory, reads: str) -> Row:
    """Count the distinct programs of the puzzles judged whole, and of those judged in order.

    `num_calls` of them met f, or the judge where nothing is executed first; `num_not_judged` would
    have. Fuel is that of all that was run, also of executing g first.
    """
    counts = {name: dict.fromkeys(_COUNTS, 0) for name in ("whole", "ordered")}
    for _, group in groupby(read_rows(here.candidates), key=lambda row: row["puzzle_id"]):
        rows = [row for row in group if is_attempt(row)]
        programs = {row["g"]: row for row in rows if row["g"] is not None}
        count = counts["ordered" if rows[0].get("ordered", False) else "whole"]
        count["num_puzzles"] += 1
        count["num_programs"] += len(programs)
        for row in programs.values():
            spared = row["outcome"] == NOT_JUDGED
            count["num_not_judged"] += spared
            count["num_calls"] += not spared and (reads == "none" or row["answer"] is not None)
            count["num_passed"] += row["passed"]
            count["fuel"] += row["fuel"]
    return counts


def _on_held_out(x: Experiment, here: RoundDirectory, folder: Path) -> Row:
    """Let every ranker choose one candidate of each held-out puzzle, the checker withheld."""
    from selftrain.verifier.ranking.selection import select, selection_to_row

    c = x.config.verifier
    scored = score(x, folder, _held_out_tasks(x, here))
    outcome = select(scored, seed=x.config.seed, likelihood=c.likelihood, groups=c.groups)
    rows = {one.ranker: selection_to_row(one) for one in outcome.rankers if one.ranker in SHOWN}
    return {
        "num_tasks": outcome.num_tasks,
        "num_samples": x.config.evaluate.num_samples,
        "choices": {name: {**row, "pass_at_k": None} for name, row in rows.items()},
        "calibration": _calibration(x, folder, scored),
    }


def _held_out_tasks(x: Experiment, here: RoundDirectory) -> list[Task]:
    puzzles = {puzzle.name: puzzle for puzzle in x.measured}
    rows = read_rows(here.evaluation_candidates)
    named = [
        (name, puzzles[name], list(group)) for name, group in groupby(rows, lambda row: row["name"])
    ]
    return tasks_of_rows(named, x.evaluation(here.number).judging)


def _calibration(x: Experiment, folder: Path, scored: Sequence[Scored]) -> Row:
    """Measure probabilities before and after the calibrator of the verifier's own dev puzzles."""
    from selftrain.verifier.calibration.calibration import calibration_to_row, measure_calibration
    from selftrain.verifier.calibration.calibrator import calibrated, calibrator_from_row
    from selftrain.verifier.calibration.labelled import join_scored

    found, seed = join_scored(scored), x.config.seed
    after = calibrated(calibrator_from_row(read_json(folder / CALIBRATOR)), found)
    return {
        "before": calibration_to_row(measure_calibration(found, seed=seed)),
        "after": calibration_to_row(measure_calibration(after, seed=seed)),
    }


def _metrics(found: Row) -> Row:
    """Give the flat metrics; none of what was not measured."""
    metrics: Row = {}
    for ranker, row in found.get("choices", {}).items():
        metrics[f"verifier/choose/{_key(ranker)}"] = row["accuracy"]["value"]
    for ranker, row in found.get("calls", {}).items():
        metrics[f"verifier/calls_saved/{_key(ranker)}"] = row["saved"]["value"]
        metrics["verifier/calls_saved/random"] = row["random_saved"]["value"]
    for part, prefix in (("calibration", "verifier"), ("earlier_calibration", "verifier/earlier")):
        if part in found:
            metrics |= _calibration_metrics(found[part], prefix)
    if "judged" in found:
        metrics["verifier/num_not_judged"] = found["judged"]["ordered"]["num_not_judged"]
    return metrics


def _calibration_metrics(calibration: Mapping[str, Row], prefix: str) -> Row:
    before, after = calibration["before"], calibration["after"]
    metrics: Row = {
        f"{prefix}/ece": before["ece_equal_mass"]["value"],
        f"{prefix}/ece_calibrated": after["ece_equal_mass"]["value"],
    }
    for name in ("auroc", "auroc_within"):
        if before[name] is not None:
            metrics[f"{prefix}/{name}"] = before[name]["value"]
    return metrics


def _key(ranker: str) -> str:
    return ranker.lower().replace(",", "").replace(" ", "_").replace("-", "_")
