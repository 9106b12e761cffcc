"""Which held-out puzzles are measured: all of them, or a sample that `puzzles.num_held_out` sizes.

What is kept out of training are all of them, measured or not.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from selftrain.config import Config
from selftrain.errors import UsageError
from selftrain.files import Row
from selftrain.seeds import derive_seed

Task = TypeVar("Task")


def draw_measured(held_out: Sequence[Task], config: Config) -> list[Task]:
    """Draw those that Pass@k is measured on, in their order; equal seeds draw equal ones.

    Raises UsageError where there are fewer than asked for; of none, none are drawn.
    """
    wanted = config.puzzles.num_held_out
    if wanted is None or not held_out:
        return list(held_out)
    if wanted > len(held_out):
        raise UsageError(
            f"puzzles.num_held_out is {wanted}, but {config.puzzles.held_out} holds "
            f"{len(held_out)} of them. Lower it, or leave it out to measure all."
        )
    random = Random(derive_seed(config.seed, "held-out"))
    return [held_out[at] for at in sorted(random.sample(range(len(held_out)), wanted))]


def num_measured(num_held_out: int, config: Config) -> int:
    """Say how many `draw_measured` draws of so many."""
    wanted = config.puzzles.num_held_out
    return num_held_out if wanted is None else min(wanted, num_held_out)


def describe_measured(num_held_out: int, config: Config) -> Row:
    """Give what run.json keeps of it."""
    return {"num_held_out": num_held_out, "num_measured": num_measured(num_held_out, config)}


def held_out_text(num_puzzles: int, made_with: Row) -> str:
    """Say how many were measured, of how many where it was a sample; `made_with` is run.json's."""
    total = made_with.get("measured", {}).get("num_held_out", num_puzzles)
    of_all = f" of {total:,}" if total != num_puzzles else ""
    return f"{num_puzzles:,}{of_all} held-out puzzles"
