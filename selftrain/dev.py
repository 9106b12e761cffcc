"""The dev part of the train split: what choices are made on, so that held-out is read once.

Whole families are set aside, since instances of one family tell of each other.
"""

from collections.abc import Sequence
from random import Random

from puzzles import Puzzle
from puzzles.p3_tutorials import FAMILIES as TUTORIALS
from selftrain.errors import UsageError
from selftrain.seeds import derive_seed


def split_dev(
    train: Sequence[Puzzle], num_dev: int, seed: int
) -> tuple[list[Puzzle], list[Puzzle]]:
    """Split the train puzzles into those that are trained with and the dev part, in their order.

    The dev part has at least `num_dev` puzzles, as many as whole families make. Raises UsageError
    where nothing is left to train with.
    """
    families: dict[str, list[Puzzle]] = {}
    for puzzle in train:
        families.setdefault(puzzle.family or puzzle.name, []).append(puzzle)
    # P3's tutorials are shown solved in every prompt to solve.
    order = [family for family in families if family not in TUTORIALS]
    Random(derive_seed(seed, "dev")).shuffle(order)
    chosen: set[Puzzle] = set()
    while order and len(chosen) < num_dev:
        chosen.update(families[order.pop()])
    if len(chosen) == len(train):
        raise UsageError(
            f"puzzles.num_dev is {num_dev}, which leaves none of the {len(train)} train puzzles "
            "to make prompts of. Lower it."
        )
    dev = [puzzle for puzzle in train if puzzle in chosen]
    return [puzzle for puzzle in train if puzzle not in chosen], dev
