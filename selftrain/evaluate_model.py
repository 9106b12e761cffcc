"""The command `selftrain evaluate`: Pass@k of any model on any puzzles, outside a run.

It keeps nothing but the rows, once all are judged. A long measurement that must survive a kill is a
run of no rounds: `selftrain run CONFIG rounds=0`.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from puzzles import Puzzle
from selftrain.config import Config
from selftrain.dev import split_dev
from selftrain.errors import RunError
from selftrain.evaluate import count_correct, evaluate, evaluation_of
from selftrain.files import Row, check_output, write_rows
from selftrain.held_out import draw_measured
from selftrain.humaneval import function_rows, names_functions, read_functions, with_room
from selftrain.models import load_sampler
from selftrain.progress import Progress
from selftrain.prompts import few_shot_puzzles
from selftrain.puzzle_source import read_splits
from selftrain.references import with_sound_references
from selftrain.report.blocks import interval
from selftrain.report.columns import shown_ks
from selftrain.report.strata import strata_text
from selftrain.report.text_table import text_table
from selftrain.sampling import FinishReason, Sampler
from selftrain.sampling.lazy import LazySampler
from selftrain.sampling.spending import Bill, spending_text
from selftrain.statistics import rows_greedy, rows_pass_at_k

MOST_ROWS = 6
"""The table shows no more k than these."""
_P3 = ("p3", "p3-all")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a model did, and what must be known of how it was asked."""

    rows: list[Row]
    """A row a puzzle."""
    num_held_out: int
    """Puzzles there are, measured or not."""
    max_new_tokens: int
    """Longest completion, in tokens."""
    shown: str = ""
    """What stood solved before each puzzle; empty where nothing did."""
    failing: str = ""
    """How many reference solutions of what was measured fail; empty where none does."""


def evaluate_model(config: Config, model: str, tasks: str | None, output: Path | None) -> int:
    """Measure a model as a run's round 0 is measured, and print a table.

    Raises UsageError, or RunError where no reference solution passes.
    """
    config = fit_to_tasks(config, model, tasks or config.puzzles.held_out)
    if output:
        check_output(output)
    bill = Bill()
    sampler = LazySampler(lambda: load_sampler(config.model), bill)
    functions = names_functions(config.puzzles.held_out)
    measure = _measure_functions if functions else _measure_puzzles
    measured = measure(config, sampler)
    if output:
        write_rows(output, measured.rows)
    print(_text(config, measured))
    if bill.total.requests:
        print(f"\n{spending_text(bill.total)}")
    return 0


def fit_to_tasks(config: Config, model: str, tasks: str) -> Config:
    """Name model and tasks in a configuration, and fit to the tasks what it leaves unset.

    The solved puzzles that a prompt shows are of P3 where P3 is measured. Reference solutions that
    fail are named and left out, since those of what is measured reach no prompt.
    """
    puzzles = {"held_out": tasks}
    if "train" not in config.puzzles.model_fields_set and tasks.partition(":")[0] in _P3:
        puzzles["train"] = tasks
    if "failing_references" not in config.puzzles.model_fields_set:
        puzzles["failing_references"] = "drop"
    return config.model_copy(
        update={
            "model": config.model.model_copy(update={"name": model}),
            "puzzles": config.puzzles.model_copy(update=puzzles),
        }
    )


def _measure_functions(config: Config, sampler: Sampler) -> Measured:
    problems = read_functions(config.puzzles.held_out)
    config = with_room(config, sampler.context_tokens)
    measured = {name: problems[name] for name in draw_measured(list(problems), config)}
    rows = function_rows(measured, config, sampler, Progress())
    return Measured(rows, len(problems), config.solve.max_new_tokens)


def _measure_puzzles(config: Config, sampler: Sampler) -> Measured:
    train, held_out = read_splits(config.puzzles)
    train, _ = split_dev(train, config.puzzles.num_dev, config.seed)
    progress = Progress()
    few_shot = _few_shot(train, config, progress)
    measured = draw_measured(held_out, config)
    puzzles = with_sound_references(measured, config, progress)
    failing = _failing(measured, puzzles, config.puzzles.held_out)
    rows = list(_rows(config, sampler, few_shot, train, puzzles, progress))
    shown = f"{len(few_shot)} solved train puzzles of {config.puzzles.train}" if few_shot else ""
    return Measured(rows, len(held_out), config.solve.max_new_tokens, shown, failing)


def _few_shot(train: Sequence[Puzzle], config: Config, progress: Progress) -> list[Puzzle]:
    """Choose the solved puzzles that prompts show, as a run does.

    No reference solution but theirs reaches a prompt, so theirs alone are judged.
    """
    sound: dict[str, Puzzle] = {}
    while True:
        known = [sound.get(puzzle.name, puzzle) for puzzle in train]
        shown = few_shot_puzzles(known, config.solve.num_few_shot)
        names = {puzzle.name for puzzle in shown} - sound.keys()
        if not names:
            return shown
        unjudged = [puzzle for puzzle in train if puzzle.name in names]
        judged = with_sound_references(unjudged, config, progress)
        sound |= {puzzle.name: puzzle for puzzle in judged}


def _rows(
    config: Config,
    sampler: Sampler,
    few_shot: Sequence[Puzzle],
    train: Sequence[Puzzle],
    puzzles: Sequence[Puzzle],
    progress: Progress,
) -> Iterator[Row]:
    """Try the puzzles as round 0 does; of the candidates a shard at a time is held in memory."""
    evaluation = evaluation_of(config, few_shot, 0)
    known = {puzzle.family for puzzle in train}
    with progress.stage("evaluate", len(puzzles) * (config.evaluate.num_samples + 1)) as advance:
        for start in range(0, len(puzzles), config.evaluate.shard_size):
            some = puzzles[start : start + config.evaluate.shard_size]
            yield from count_correct(
                evaluate(sampler, some, evaluation, advance=advance), some, known
            )


def _failing(before: Sequence[Puzzle], sound: Sequence[Puzzle], tasks: str) -> str:
    """Say how many reference solutions fail. Raises RunError where all do."""
    total = sum(len(puzzle.solutions) for puzzle in before)
    passed = sum(len(puzzle.solutions) for puzzle in sound)
    if total and not passed:
        raise RunError(
            f"none of the {total} reference solutions of {tasks} passes the judge, so nothing was "
            f"scored. `selftrain check --tasks {tasks}` lists them; mend them first."
        )
    return f"{total - passed} of {total}" if passed < total else ""


def _text(config: Config, measured: Measured) -> str:
    """Lay out head, Pass@k, notes and strata."""
    rows, n = measured.rows, config.evaluate.num_samples
    of_all = f" of {measured.num_held_out}" if measured.num_held_out > len(rows) else ""
    head = f"{config.model.name} on {len(rows)}{of_all} puzzles of {config.puzzles.held_out}, "
    head += f"n = {n}"
    if measured.shown:
        head += f", after {measured.shown}"
    head += (
        f"\ntemperature {config.evaluate.temperature:g}, at most {measured.max_new_tokens:,} new "
        f"tokens, seed {config.seed}; a run's own settings are those of its config.yaml"
    )
    table = [("", "% [95%]")]
    estimates = {
        f"Pass@{k}": rows_pass_at_k(rows, k, config.seed)
        for k in shown_ks(config.evaluate.k, MOST_ROWS)
    }
    if greedy := rows_greedy(rows, config.seed):
        estimates["greedy"] = greedy
    table += [(name, interval(one.value, one.low, one.high)) for name, one in estimates.items()]
    notes = "\n".join(textwrap.fill(note, 100) for note in _notes(measured))
    parts = [f"{head}\n{text_table(table)}", notes, strata_text(rows)]
    return "\n\n".join(part for part in parts if part)


def _notes(measured: Measured) -> Iterator[str]:
    """Say what of the score is not the model's doing."""
    total = sum(row["n"] for row in measured.rows)
    cut = sum(row["num_cut"] for row in measured.rows)
    too_long = sum(row["outcomes"].get(FinishReason.PROMPT_TOO_LONG, 0) for row in measured.rows)
    longest = f"{measured.max_new_tokens:,} new tokens (solve.max_new_tokens)"
    if cut:
        yield f"{cut:,} of {total:,} samples were cut at {longest}: a higher limit may find more."
    if too_long:
        yield (
            f"{too_long:,} of {total:,} samples were not drawn, and count as wrong: their prompt "
            f"leaves no room for {longest} in the model's context."
        )
    if measured.failing:
        yield (
            f"{measured.failing} reference solutions fail the judge, as said above; no prompt "
            "shows them."
        )
