"""Which puzzles are tried: a configuration's own, or those that a run has tried. No tasks yet."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal

from puzzles import Puzzle, from_row, puzzle_from_source
from selftrain.config import Config
from selftrain.dev import split_dev
from selftrain.errors import UsageError
from selftrain.files import Row, read_rows
from selftrain.judge import is_attempt
from selftrain.progress import Progress
from selftrain.prompts import few_shot_puzzles
from selftrain.puzzle_source import read_splits
from selftrain.references import with_sound_references
from selftrain.run_directory import RoundDirectory, RunDirectory
from selftrain.verifier.tasks.from_puzzles import Named


def puzzles_to_try(
    split: Literal["train", "dev", "test"], config: Config, progress: Progress
) -> tuple[Sequence[Puzzle], Sequence[Puzzle]]:
    """Read a configuration's puzzles of a split, and those that prompts show solved.

    Reference solutions are judged first, as before a run: they are shown, and learnt from. Raises
    UsageError where no puzzle is left, RunError where references fail.
    """
    train, held_out = read_splits(config.puzzles)
    rest: Sequence[Puzzle] = ()
    dev: Sequence[Puzzle] = ()
    if split != "test" or config.solve.num_few_shot:
        sound = with_sound_references(train, config, progress)
        rest, dev = split_dev(sound, config.puzzles.num_dev, config.seed)
    shown = few_shot_puzzles(rest, config.solve.num_few_shot)
    if split == "test":
        return with_sound_references(held_out, config, progress), shown
    if split == "train" and shown:
        progress.say(f"lever.train: {len(shown)} puzzles are shown solved, so they are no tasks")
    puzzles = dev if split == "dev" else [puzzle for puzzle in rest if puzzle not in shown]
    if not puzzles:
        why = "puzzles.num_dev is 0" if split == "dev" else "all are shown solved"
        raise UsageError(f"lever.{split}: puzzles holds no task ({why}). Name another source.")
    return puzzles, shown


def named_of_run(folder: Path, *, held_out: bool) -> list[Named]:
    """Read what a run tried: its own puzzles of all rounds, or the held-out ones of its last.

    The former were drawn by the model that each round began with, the latter by the one that the
    last complete round ended with. A puzzle that several rounds hold is of the first. Raises
    UsageError where there is no such run.
    """
    rounds = RunDirectory(folder.expanduser()).complete_rounds()
    if not rounds:
        raise UsageError(f"run:{folder}: no complete round is there. Name the folder of a run.")
    if held_out:
        return list(_held_out(rounds[-1]))
    found: dict[str, Named] = {}
    for here in rounds:
        if here.candidates.exists():
            for puzzle, rows in _own(here):
                named = (f"{here.path.name}/{puzzle.id}", puzzle, rows)
                found.setdefault(puzzle.id, named)
    if not found:
        raise UsageError(
            f"run:{folder}: no round tried puzzles of its own. Name a run of a round or more, "
            "or lever.train=puzzles."
        )
    return list(found.values())


def _own(here: RoundDirectory) -> Iterator[tuple[Puzzle, list[Row]]]:
    puzzles = {puzzle.id: puzzle for puzzle in map(from_row, read_rows(here.puzzles))}
    for puzzle_id, group in groupby(read_rows(here.candidates), key=lambda row: row["puzzle_id"]):
        rows = [row for row in group if is_attempt(row)]
        if not rows[0].get("ordered", False):  # Else some of them were spared their verdict.
            yield puzzles[puzzle_id], rows


def _held_out(here: RoundDirectory) -> Iterator[Named]:
    families = {row["name"]: row["family"] for row in read_rows(here.evaluation)}
    rows = read_rows(here.evaluation_candidates)
    for name, group in groupby(rows, key=lambda row: row["name"]):
        tried = list(group)
        puzzle = puzzle_from_source(
            tried[0]["f"],
            name=name,
            family=families[name],
            more_inputs=tuple(tried[0]["more_inputs"]),
            any_answer=True,
        )
        yield name, puzzle, tried
