"""The files of a finished round and its metrics, or why it kept nothing.

Where the files lie is said in run_directory.py.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, groupby
from pathlib import Path

from puzzles import Puzzle
from puzzles.reasons import Reason
from selftrain.config import Config
from selftrain.curate import chosen_rows
from selftrain.decontaminate import CHECKED, HeldOutIndex, removed_row
from selftrain.difficulty import difficulties
from selftrain.diversity import read_diversity
from selftrain.evaluate import EVALUATED, count_correct
from selftrain.files import Row, read_json, read_rows, write_json, write_rows
from selftrain.filter import FILTERED
from selftrain.finetune.log import read_training, training_metrics
from selftrain.finetune.pieces import hold_back, texts_of
from selftrain.judge import JUDGED, is_attempt
from selftrain.near_training import near_rows
from selftrain.refine.gains import gains_metrics
from selftrain.refine.in_rounds import RETRIED, joined
from selftrain.run_directory import DEV, EPOCH, RoundDirectory
from selftrain.statistics import evaluation_metrics, rows_pass_at_k

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


def write_stages(here: RoundDirectory, before: Iterable[Row], config: Config) -> None:
    """Join a round's shards into the files that stay; `before` are earlier rounds' examples."""
    without_puzzle = (
        {key: value for key, value in row.items() if key != "puzzle"}
        for row in here.rows(FILTERED.stage)
    )
    write_rows(here.proposals, without_puzzle)
    write_rows(here.puzzles, (row["puzzle"] for row in here.rows(FILTERED.stage) if row["puzzle"]))
    write_rows(here.candidates, _candidates(here))
    if here.shards(RETRIED.stage):
        write_rows(here.refined, here.rows(RETRIED.stage))
    write_rows(here.difficulties, difficulties(here.rows(JUDGED.stage)))
    kept = chosen_rows(partial(_clean, here), config.curate, config.seed, here.number)
    write_rows(here.examples, chain(before, kept))
    write_rows(here.removed, map(removed_row, _removed(here)))


def _candidates(here: RoundDirectory) -> Iterator[Row]:
    """Stream the round's attempts, each puzzle's followed by what refinement came to, if any."""
    further = (row["judged"] for row in here.rows(RETRIED.stage) if row["judged"] is not None)
    return joined(here.rows(JUDGED.stage), further, lambda row: row["puzzle_id"])


def _removed(here: RoundDirectory) -> Iterator[Row]:
    return (row for row in here.rows(CHECKED.stage) if row["rejection"] is not None)


def _clean(here: RoundDirectory) -> Iterator[Row]:
    """Stream the round's examples that are near no held-out puzzle."""
    return (row["example"] for row in here.rows(CHECKED.stage) if row["rejection"] is None)


def write_near(here: RoundDirectory, nearness: HeldOutIndex, train: Sequence[Puzzle]) -> None:
    """Write which held-out puzzles something in training comes near."""
    examples, checked = read_rows(here.examples), here.rows(CHECKED.stage)
    write_rows(here.near, near_rows(nearness, train, examples, checked))


def write_evaluation(
    here: RoundDirectory,
    held_out: Sequence[Puzzle],
    dev: Sequence[Puzzle],
    known_families: Collection[str],
) -> None:
    """Join the shards of an evaluation, and count what is correct in it."""
    write_rows(here.evaluation_candidates, here.rows(EVALUATED.stage))
    rows = count_correct(read_rows(here.evaluation_candidates), held_out, known_families)
    write_rows(here.evaluation, rows)
    _write_epochs(here, here.dev, DEV, dev, known_families)
    _write_epochs(here, here.epoch_evaluation, EPOCH, held_out, known_families)
    if here.epoch_evaluation.exists():
        last = here.epochs()[-1]
        of_last = ({"epoch": last, **row} for row in read_rows(here.evaluation))
        write_rows(here.epoch_evaluation, chain(list(read_rows(here.epoch_evaluation)), of_last))


def _write_epochs(
    here: RoundDirectory,
    path: Path,
    prefix: str,
    puzzles: Sequence[Puzzle],
    known_families: Collection[str],
) -> None:
    """Count what is correct after each epoch, where epochs were measured."""
    if stages := here.stages(prefix):
        write_rows(
            path,
            (
                {"epoch": int(stage.removeprefix(prefix)), **row}
                for stage in stages
                for row in count_correct(here.rows(stage), puzzles, known_families)
            ),
        )


def write_metrics(here: RoundDirectory, config: Config) -> None:
    """Write the metrics of a round; with them it is complete."""
    metrics: Row = {"round": here.number}
    metrics |= evaluation_metrics(list(read_rows(here.evaluation)), config.evaluate.k, config.seed)
    tokens = sum(row["num_tokens"] for row in read_rows(here.evaluation_candidates))
    metrics["cost/eval_tokens"] = tokens
    metrics |= _epochs(here, config)
    if here.number > 0:
        metrics |= _funnel(here) | _training(here, config) | read_diversity(here.diversity).metrics
        metrics |= gains_metrics(here)
    if here.verifier_worth.exists():
        metrics |= read_json(here.verifier_worth)["metrics"]
    write_json(here.metrics, metrics)


def _epochs(here: RoundDirectory, config: Config) -> Row:
    """Give Pass@k on the dev puzzles, and on the held-out ones after every epoch measured."""
    ends = sorted({config.evaluate.k[0], config.evaluate.k[-1]})
    metrics: Row = {}
    for path, split in ((here.dev, "dev"), (here.epoch_evaluation, "eval")):
        rows = read_rows(path) if path.exists() else iter(())
        for epoch, group in groupby(rows, key=lambda row: row["epoch"]):
            where = f"{split}/epoch-{epoch:02d}" if epoch else split
            some = list(group)
            for k in ends:
                estimate = rows_pass_at_k(some, k, config.seed)
                metrics[f"{where}/pass@{k}"] = estimate.value
    if here.chosen_epoch.exists():
        metrics["train/epoch"] = read_json(here.chosen_epoch)["epoch"]
    return metrics


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
    removed = Counter(row["reason"] for row in read_rows(here.removed))
    if removed:
        why = ", ".join(f"{count:,} {reason}" for reason, count in removed.most_common())
        return (
            f"{here.path.name}: all {removed.total():,} examples were removed as too near to "
            f"held-out puzzles ({why}); see {here.removed} and the settings of decontaminate."
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
    """Count outcomes and costs of attempts, and what is solved, by refinement too."""
    outcomes: Counter[str] = Counter()
    solved: set[str] = set()
    num_tokens = fuel = 0
    for row in read_rows(here.candidates):
        if row["passed"]:
            solved.add(row["puzzle_id"])
        if is_attempt(row):
            outcomes[row["outcome"]] += 1
            num_tokens += row["num_tokens"]
            fuel += row["fuel"]
    new = sum(1 for row in read_rows(here.examples) if row["round"] == here.number)
    removed = Counter(row["reason"] for row in read_rows(here.removed))
    return {
        "funnel/solved": len(solved),
        "funnel/examples": new,
        **{f"outcome/{outcome}": outcomes[outcome] for outcome in sorted(outcomes)},
        **{f"removed/{reason}": removed[reason] for reason in sorted(removed)},
        "cost/solution_tokens": num_tokens,
        "cost/judge_fuel": fuel,
    }


def _training(here: RoundDirectory, config: Config) -> Row:
    learnt, held = hold_back(texts_of(read_rows(here.examples)), config.finetune, config.seed)
    return {
        "train/num_examples": len(learnt),
        **({"train/num_held_back": len(held)} if held else {}),
        **training_metrics(read_training(here.training_log)),
    }
