"""Teach the forward model to follow edits: it tries train puzzles, and learns from what came of it.

It learns its right tries, and of its wrong ones how the edits of the critic that is a program lead
to a right one. No held-out puzzle is tried, and examples near to one are removed as in rounds. What
an example is made of is in triples.py.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from puzzles import Puzzle
from selftrain.curate import Example, curate
from selftrain.decontaminate import CHECKED, Checked, decontaminate, removed_row
from selftrain.errors import RunError
from selftrain.experiment import Experiment
from selftrain.files import Format, read_rows, write_rows
from selftrain.judge import JUDGED, judge_candidates
from selftrain.loop import train
from selftrain.refine.directory import RefineDirectory
from selftrain.refine.gate.gate import Gate
from selftrain.refine.tasks.held_out import puzzle_task
from selftrain.refine.teach.triples import Wrong, example_of, wrong_tries
from selftrain.run_directory import RoundDirectory
from selftrain.sampling import Sampler
from selftrain.solve import CANDIDATES, solve

TRIPLES = Format("triples", asdict, lambda row: Example(**row))


def teach(x: Experiment, directory: RefineDirectory) -> Path:
    """Fine-tune the base model on tries of the train puzzles; give the folder of what it became.

    What an earlier process finished is not done again. Raises `Paused` where a limit is reached,
    `RunError` where there is nothing to learn.
    """
    here = directory.taught
    if not here.model.exists():
        if not here.examples.exists():
            generator = x.generator(0)
            gather(x, here, generator)
            x.release(generator)
        _train(x, here)
    here.remove_shards()
    return here.model


def gather(x: Experiment, here: RoundDirectory, sampler: Sampler) -> None:
    """Let the model try the train puzzles, and write what is to be learnt from the tries."""
    c = x.config
    puzzles = [puzzle for puzzle in x.train if _may_be_tried(x, puzzle)]
    size = c.propose.shard_size
    for shard, start in enumerate(range(0, len(puzzles), size)):
        _gather_shard(x, here, sampler, shard, puzzles[start : start + size])
    write_rows(here.candidates, here.rows(JUDGED.stage))
    rows = list(here.rows(CHECKED.stage))
    write_rows(here.removed, (removed_row(row) for row in rows if row["rejection"] is not None))
    kept = [row["example"] for row in rows if row["rejection"] is None]
    if not kept:
        raise RunError(_why_nothing_was_kept(here))
    # Last: its presence means that gathering is complete.
    write_rows(here.examples, kept)


def _may_be_tried(x: Experiment, puzzle: Puzzle) -> bool:
    """Leave out what a prompt shows solved, and what is too near to a held-out puzzle."""
    c = x.config.decontaminate
    keep = c.same_shape == "keep"
    near = x.nearness.texts.overlap(puzzle, c.checks, keep_same_shape=keep)
    return near is None and puzzle not in x.few_shot


def _gather_shard(
    x: Experiment, here: RoundDirectory, sampler: Sampler, shard: int, puzzles: Sequence[Puzzle]
) -> list[Checked]:
    """Try, judge, gate and decontaminate: each once."""
    c = x.config
    once = partial(x.once, here, shard)
    attempts = replace(x.attempts(here.number), place=("teach", "solve"))
    solving = partial(solve, sampler, puzzles, attempts)
    candidates = once(CANDIDATES, len(puzzles) * attempts.count, solving)
    judging = partial(judge_candidates, candidates, x.judging)
    judged = once(JUDGED, len(candidates), judging)
    chosen = wrong_tries(puzzles, judged, c.curate.max_solutions, c.seed)
    taught = once(TRIPLES, len(chosen), partial(make_triples, x, here, chosen))
    right = c.curate.model_copy(update={"verdicts": "verified"})
    examples = [*curate(puzzles, judged, right, c.seed, here.number), *taught]
    checking = partial(decontaminate, examples, x.nearness, c.decontaminate, x.judging)
    return once(CHECKED, len(examples), checking)


def make_triples(
    x: Experiment,
    here: RoundDirectory,
    chosen: Sequence[Wrong],
    *,
    advance: Callable[[int], object],
) -> list[Example]:
    """Let the gate say what each wrong try fails, and the rules what to edit."""
    gate = Gate(x.judging, x.config.refine.allowed_imports)
    reports = gate.examine([(puzzle_task(one.puzzle)[0], one.source) for one in chosen])
    made = [
        example_of(one, report, here.number) for one, report in zip(chosen, reports, strict=True)
    ]
    advance(len(chosen))
    return [example for example in made if example is not None]


def _train(x: Experiment, here: RoundDirectory) -> None:
    """Fine-tune as a round does; the last epoch's model is the one that is used."""
    c = x.config
    last = c.model_copy(update={"evaluate": c.evaluate.model_copy(update={"epochs": "last"})})
    train(replace(x, config=last), here)


def _why_nothing_was_kept(here: RoundDirectory) -> str:
    counts = Counter(row["outcome"] for row in read_rows(here.candidates))
    counts.update(f"removed by {row['reason']}" for row in read_rows(here.removed))
    why = ", ".join(f"{count:,} {what}" for what, count in counts.most_common())
    return (
        f"{here.path.name}: no try at a train puzzle is left to learn from ({why or 'no tries'}); "
        f"see {here.candidates}, and try more solve.num_attempts, or refine.teach=false."
    )
