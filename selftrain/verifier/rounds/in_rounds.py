"""The verifier of a round: it learns from the round's own verdicts, and serves the next round.

What it decides there is in judge_in_round.py, what it was worth in worth.py. With
`verifier.use: judge` only puzzles that were judged whole are learnt from, since a verifier that
chose what it learns from would never hear of what it does not choose.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from random import Random

from puzzles import Puzzle, from_row
from selftrain.config import VerifierConfig
from selftrain.experiment import Experiment
from selftrain.files import Row, read_rows
from selftrain.judge import is_attempt
from selftrain.run_directory import RoundDirectory
from selftrain.seeds import derive_seed
from selftrain.verifier.learning.inputs import reads_of
from selftrain.verifier.learning.train import train_verifier
from selftrain.verifier.ranking.chooser import chooser_of, has_logprobs
from selftrain.verifier.ranking.rank import Ranker, Scored
from selftrain.verifier.tasks.from_puzzles import Named, tasks_of_rows
from selftrain.verifier.tasks.task import Task

MOST_LEARNT_FROM = 20_000
"""Puzzles of a round that are learnt from, drawn at random: as many as 2,500 steps of eight see."""
DEV_SHARE = 0.2
"""Share of them that chooses the weights and fits the calibrator."""


def earlier_verifier(x: Experiment, here: RoundDirectory) -> Path | None:
    """Find the verifier of the round before; None where there is none, as in the first round."""
    if not x.config.verifier.enabled or here.number < 2:
        return None
    folder = x.run.round(here.number - 1).verifier
    return folder if folder.exists() else None


def teach_verifier(x: Experiment, here: RoundDirectory) -> None:
    """Train a verifier on the round's verdicts, where one is asked for and not there yet."""
    c = x.config.verifier
    if not c.enabled:
        return
    if c.use != "watch" and earlier_verifier(x, here) is None:
        x.progress.say(
            f"{here.name}: no verifier came before it, so every candidate was judged and the "
            "shortest solutions were kept"
        )
    if here.verifier.exists():
        return
    tasks = whole_tasks(x, here, MOST_LEARNT_FROM)
    train, dev = _set_aside(tasks, derive_seed(x.config.seed, here.number, "verifier", "dev"))
    if missing := _missing(train, dev):
        x.progress.say(f"{here.name}: no verifier is trained, since {missing}")
        return
    with x.timed(here, "verifier", 0, c.steps) as advance:
        seed = derive_seed(x.config.seed, here.number, "verifier")
        reads = reads_of(c, "full")
        train_verifier(here.verifier, c, reads, train, dev, seed=seed, advance=advance)


def score(x: Experiment, folder: Path, tasks: Sequence[Task]) -> list[Scored]:
    """Let a round's verifier read the candidates of tasks."""
    from selftrain.verifier.learning.score import log_odds

    batch_size = x.config.verifier.model.batch_size
    odds = log_odds(x.verifiers.of(folder), tasks, batch_size=batch_size, advance=lambda _: None)
    return [Scored(task, found) for task, found in zip(tasks, odds, strict=True)]


def ranker_of(c: VerifierConfig, tasks: Sequence[Task]) -> Ranker:
    """Name the ranking in use on a round's tasks; some servers tell no log-probabilities."""
    known = has_logprobs(tasks, c.likelihood)
    return chooser_of(c.results, groups=c.groups, has_logprobs=known)


def whole_tasks(
    x: Experiment, here: RoundDirectory, most: int, *, with_g: bool = False
) -> list[Task]:
    """Make tasks of the round's puzzles that were judged whole, at most so many, drawn at random.

    The checker is withheld: its verdicts are labels alone. The file's order is kept. `with_g`
    leaves out completions that hold no g, which never reach the judge.
    """
    ids = [puzzle_id for puzzle_id, _ in _whole(here)]
    if len(ids) > most:
        random = Random(derive_seed(x.config.seed, here.number, "verifier", "puzzles"))
        ids = random.sample(ids, most)
    chosen = set(ids)
    puzzles = {p.id: p for p in map(from_row, read_rows(here.puzzles)) if p.id in chosen}
    return tasks_of_rows(list(_named(here, puzzles, with_g)), x.judging)


def _named(here: RoundDirectory, puzzles: Mapping[str, Puzzle], with_g: bool) -> Iterator[Named]:
    for puzzle_id, rows in _whole(here):
        if puzzle_id in puzzles:
            kept = [row for row in rows if not with_g or row["g"] is not None]
            yield puzzle_id, puzzles[puzzle_id], kept


def _whole(here: RoundDirectory) -> Iterator[tuple[str, list[Row]]]:
    """Stream the candidates of the puzzles that were judged whole."""
    for puzzle_id, group in groupby(read_rows(here.candidates), key=lambda row: row["puzzle_id"]):
        # What refinement came to is right alone, and was not drawn as the others were.
        rows = [row for row in group if is_attempt(row)]
        if not rows[0].get("ordered", False):
            yield puzzle_id, rows


def _set_aside(tasks: Sequence[Task], seed: int) -> tuple[list[Task], list[Task]]:
    """Split tasks into those to learn from and the dev ones, by puzzle."""
    num_dev = round(DEV_SHARE * len(tasks))
    chosen = set(Random(seed).sample(range(len(tasks)), num_dev))
    train = [task for number, task in enumerate(tasks) if number not in chosen]
    return train, [tasks[number] for number in sorted(chosen)]


def _missing(train: Sequence[Task], dev: Sequence[Task]) -> str:
    """Say what a verifier would need to learn and be calibrated; empty where all is there."""
    for name, tasks in (("train", train), ("dev", dev)):
        labels = {one.label for task in tasks for one in task.candidates}
        if len(labels) < 2:
            there = {frozenset({True}): "only right", frozenset({False}): "only wrong"}
            found = there.get(frozenset(labels), "no")  # type: ignore[arg-type]
            return f"its {len(tasks)} {name} puzzles have {found} candidates"
    return ""
