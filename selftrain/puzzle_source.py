"""Read the puzzles that a configuration names; their formats are known in puzzles/ alone."""

from pathlib import Path
from typing import Literal

from puzzles import Puzzle
from puzzles.builtin.read import read_builtin
from puzzles.files import PuzzleFileError
from puzzles.jsonl import read_puzzles
from puzzles.p3 import read_p3
from selftrain.config import PuzzlesConfig
from selftrain.errors import UsageError

Split = Literal["train", "held_out"]


def read_split(source: str, split: Split | Literal["all"]) -> list[Puzzle]:
    """Read `builtin`, `p3:FOLDER` or a JSONL file.

    Raises UsageError where there is no puzzle to be read.
    """
    try:
        puzzles = _read(source, split)
    except PuzzleFileError as error:
        raise UsageError(str(error)) from None
    if not puzzles:
        raise UsageError(
            f"puzzles.{split}: {source} holds no puzzle. Name a file with at least one."
        )
    return puzzles


def read_splits(config: PuzzlesConfig) -> tuple[list[Puzzle], list[Puzzle]]:
    """Read the train split and the held-out split. Raises UsageError where they share a puzzle."""
    train, held_out = read_split(config.train, "train"), read_split(config.held_out, "held_out")
    known = {puzzle.id: puzzle.name for puzzle in train}
    common = [puzzle.name for puzzle in held_out if puzzle.id in known]
    if common:
        raise UsageError(
            f"puzzles.held_out: {len(common)} of its puzzles, such as {common[0]!r}, are also in "
            "puzzles.train. Take them out of one of the two."
        )
    return train, held_out


def _read(source: str, split: Split | Literal["all"]) -> list[Puzzle]:
    if source == "builtin":
        return (
            read_builtin("train") + read_builtin("held_out")
            if split == "all"
            else read_builtin(split)
        )
    if source.startswith("p3:"):
        folder = Path(source.removeprefix("p3:")).expanduser()
        return read_p3(folder / "puzzles.json", folder / "split.json", split)
    return read_puzzles(Path(source).expanduser())
