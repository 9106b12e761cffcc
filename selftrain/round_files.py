"""The files of a finished round and its metrics, or why it kept nothing.

Where the files lie is said in run_directory.py.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain

from puzzles import Puzzle
from puzzles.reasons import Reason
from selftrain.config import Config
from selftrain.curate import Example
from selftrain.evaluate import EVALUATED, count_correct
from selftrain.files import Row, read_rows, write_json, write_rows
from selftrain.filter import FILTERED
from selftrain.judge import JUDGED
from selftrain.run_directory import RoundDirectory
from selftrain.statistics import evaluation_metrics

_NOT_PARSED = {
    Reason.TOO_LONG,
    Reason.NO_DEFINITION,
    Reason.NO_RETURN,
    Reason.SYNTAX,
    Reason.GENERATOR,
    Reason.SIGNATURE,
}
_NOT_TYPED = {Reason.ANSWER_TYPE, Reason.ANSWER_UNUSED}
_NOT_NEW = {Reason.DUPLICATE, Reason.TOO_CLOSE}


def write_stages(here: RoundDirectory, examples: Iterable[Example], before: Iterable[Row]) -> None:
    """Join a round's shards into the files that stay; `before` are earlier rounds' examples."""
    without_puzzle = (
        {key: value for key, value in row.items() if key != "puzzle"}
        for row in here.rows(FILTERED.stage)
    )
    write_rows(here.proposals, without_puzzle)
    write_rows(here.puzzles, (row["puzzle"] for row in here.rows(FILTERED.stage) if row["puzzle"]))
    write_rows(here.candidates, here.rows(JUDGED.stage))
    write_rows(here.examples, chain(before, map(asdict, examples)))


def write_evaluation(
    here: RoundDirectory, held_out: Sequence[Puzzle], known_families: Collection[str]
) -> None:
    """Join the shards of an evaluation, and count what is correct in it."""
    write_rows(here.evaluation_candidates, here.rows(EVALUATED.stage))
    rows = count_correct(read_rows(here.evaluation_candidates), held_out, known_families)
    write_rows(here.evaluation, rows)


def write_metrics(here: RoundDirectory, config: Config) -> None:
    """Write the metrics of a round; with them it is complete."""
    metrics: Row = {"round": here.number}
    metrics |= evaluation_metrics(list(read_rows(here.evaluation)), config.evaluate.k, config.seed)
    tokens = sum(row["num_tokens"] for row in read_rows(here.evaluation_candidates))
    metrics["cost/eval_tokens"] = tokens
    if here.number > 0:
        metrics |= _funnel(here) | _training(here)
    write_json(here.metrics, metrics)


def why_nothing_was_kept(here: RoundDirectory) -> str:
    """Say in one sentence where a round lost all it had."""
    reasons = Counter(row["rejection"]["reason"] for row in _rejected(here))
    num_puzzles = sum(1 for _ in read_rows(here.puzzles))
    if num_puzzles == 0:
        why = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
        return (
            f"{here.path.name}: none of {reasons.total():,} proposals survived the filter ({why}); "
            f"see {here.proposals}, and try more propose.num_proposals or another model."
        )
    outcomes = Counter(row["outcome"] for row in read_rows(here.candidates))
    why = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
    return (
        f"{here.path.name}: none of {outcomes.total():,} candidates for {num_puzzles:,} puzzles "
        f"passed the judge ({why}); see {here.candidates}, and try more solve.num_attempts."
    )


def _rejected(here: RoundDirectory) -> Iterator[Row]:
    return (row for row in read_rows(here.proposals) if row["rejection"])


def _funnel(here: RoundDirectory) -> Row:
    """Count completions → parsed → typed → new → non-trivial → solved → examples, and the costs."""
    reasons = Counter(row["rejection"]["reason"] for row in _rejected(here))
    num_completions = num_proposal_tokens = 0
    for row in read_rows(here.proposals):
        num_completions += 1
        num_proposal_tokens += row["num_tokens"]
    left = num_completions
    funnel: Row = {"funnel/completions": left}
    for name, lost in (("parsed", _NOT_PARSED), ("typed", _NOT_TYPED), ("new", _NOT_NEW)):
        left -= sum(reasons[reason] for reason in lost)
        funnel[f"funnel/{name}"] = left
    funnel["funnel/non_trivial"] = num_completions - reasons.total()
    rejected = {f"rejected/{reason}": reasons[reason] for reason in sorted(reasons)}
    costs = {"cost/proposal_tokens": num_proposal_tokens}
    return funnel | _solving(here) | rejected | costs


def _solving(here: RoundDirectory) -> Row:
    outcomes: Counter[str] = Counter()
    solved: set[str] = set()
    num_tokens = fuel = 0
    for row in read_rows(here.candidates):
        outcomes[row["outcome"]] += 1
        num_tokens += row["num_tokens"]
        fuel += row["fuel"]
        if row["passed"]:
            solved.add(row["puzzle_id"])
    new = sum(1 for row in read_rows(here.examples) if row["round"] == here.number)
    return {
        "funnel/solved": len(solved),
        "funnel/examples": new,
        **{f"outcome/{outcome}": outcomes[outcome] for outcome in sorted(outcomes)},
        "cost/solution_tokens": num_tokens,
        "cost/judge_fuel": fuel,
    }


def _training(here: RoundDirectory) -> Row:
    log = list(read_rows(here.training_log))
    return {
        "train/num_examples": sum(1 for _ in read_rows(here.examples)),
        "train/steps": len(log),
        "train/final_loss": log[-1]["loss"],
    }
