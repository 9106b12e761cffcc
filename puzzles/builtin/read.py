"""Reading the built-in puzzles, and the families they were drawn from."""

from dataclasses import replace
from importlib.resources import as_file, files
from typing import Literal

from puzzles.builtin import floats, integers, lists, strings
from puzzles.builtin.family import Family
from puzzles.jsonl import read_puzzles
from puzzles.puzzle import Puzzle

FAMILIES: tuple[Family, ...] = (
    *integers.FAMILIES,
    *strings.FAMILIES,
    *floats.FAMILIES,
    *lists.FAMILIES,
)


def read_builtin(split: Literal["train", "held_out"]) -> list[Puzzle]:
    """Read the built-in puzzles of a split, each with its reference solution."""
    with as_file(files("puzzles.builtin") / f"{split}.jsonl") as path:
        return [replace(puzzle, origin="builtin") for puzzle in read_puzzles(path)]


def category(family: Family) -> str:
    """Give the category of a family: what its answers are made of."""
    modules = (integers, strings, floats, lists)
    return next(m.__name__.rsplit(".", 1)[1] for m in modules if family in m.FAMILIES)
