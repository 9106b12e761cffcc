"""Read the puzzles that a configuration or `--tasks` names; their formats are known in puzzles/.

A file of one's own is read strictly: its first wrong row ends the command, since it can be mended.
P3's file cannot, so what is no puzzle there is refused by itself, said and counted.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from puzzles import Puzzle
from puzzles.builtin.read import read_builtin
from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_puzzles
from puzzles.p3 import Instances, read_p3
from selftrain.config import PuzzlesConfig
from selftrain.downloads import p3_folder
from selftrain.errors import UsageError
from selftrain.progress import Progress

Split = Literal["train", "held_out"]
Refuse = Callable[[str], object]
"""Told a sentence for each puzzle or reference solution that cannot be used."""
SOURCES = "builtin, p3, p3-all, p3:FOLDER, p3-all:FOLDER, or a JSONL file"
"""`p3` takes the first instance of each problem; in `p3-all` a solution must pass on all."""
_INSTANCES: dict[str, Instances] = {"p3": "first", "p3-all": "together"}


def read_split(
    source: str, split: Split | Literal["all"], refuse: Refuse | None = None
) -> list[Puzzle]:
    """Read one of `SOURCES`; without `refuse`, what is refused is said on standard error.

    Raises UsageError where there is no puzzle to be read.
    """
    refused: list[str] = []
    try:
        puzzles = _read(source, split, refused)
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None
    for sentence in refused:
        (refuse or Progress().say)(f"{source}: refused {sentence}.")
    if not puzzles:
        why = f" ({len(refused)} are refused)" if refused else ""
        raise UsageError(
            f"puzzles.{split}: {source} holds no puzzle{why}. Name a file with at least one."
        )
    return puzzles


def read_splits(
    config: PuzzlesConfig, refuse: Refuse | None = None
) -> tuple[list[Puzzle], list[Puzzle]]:
    """Read the train split and the held-out split. Raises UsageError where they share a puzzle."""
    train = read_split(config.train, "train", refuse)
    held_out = read_split(config.held_out, "held_out", refuse)
    known = {puzzle.id: puzzle.name for puzzle in train}
    common = [puzzle.name for puzzle in held_out if puzzle.id in known]
    if common:
        raise UsageError(
            f"puzzles.held_out: {len(common)} of its puzzles, such as {common[0]!r}, are also in "
            "puzzles.train. Take them out of one of the two."
        )
    return train, held_out


def _read(source: str, split: Split | Literal["all"], refused: list[str]) -> list[Puzzle]:
    if source == "builtin":
        return (
            read_builtin("train") + read_builtin("held_out")
            if split == "all"
            else read_builtin(split)
        )
    kind, _, path = source.partition(":")
    if kind in _INSTANCES:
        folder = Path(path).expanduser() if path else p3_folder()
        files = folder / "puzzles.json", folder / "split.json"
        reading = read_p3(*files, split, instances=_INSTANCES[kind])
        refused += reading.refused
        return reading.puzzles
    if kind == "humaneval":
        raise UsageError(
            f"{source}: HumanEval asks for functions, not for answers, so it can only be measured: "
            "selftrain evaluate MODEL --tasks humaneval."
        )
    return read_puzzles(Path(source).expanduser())
