"""Near training: which held-out puzzles come near to anything that was trained on or shown.

By lower bars than what decontaminate.py removes, so that Pass@k can be given on the part that
nothing comes near. Texts only; what examples do is not asked again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from puzzles import Puzzle
from puzzles.filters import well_formed
from selftrain.decontaminate import HeldOutIndex
from selftrain.files import Row


@dataclass(frozen=True, slots=True)
class Near:
    """The nearest that training comes to one held-out puzzle."""

    what: str
    """The train puzzle, or the example, by the name of its puzzle and the number of its attempt."""
    score: float
    """How near, from 0 to 1."""
    reason: str
    """In what, as one sentence."""


def near_training(
    held_out: HeldOutIndex, train: Iterable[Puzzle], examples: Iterable[Row]
) -> dict[str, Near]:
    """Find what comes nearest to each held-out puzzle, by its name; the far ones are left out.

    `train` are the puzzles that prompts show; `examples`, rows of an examples file, are streamed.
    """
    nearest: dict[str, Near] = {}
    for what, puzzle in _shown(train, examples):
        for score, overlap in held_out.texts.all_near(puzzle, held_out.near):
            known = nearest.get(overlap.held_out)
            if known is None or score > known.score:
                nearest[overlap.held_out] = Near(what, score, overlap.detail)
    return nearest


def near_rows(
    held_out: HeldOutIndex, train: Iterable[Puzzle], examples: Iterable[Row], checked: Iterable[Row]
) -> Iterator[Row]:
    """Give a row a held-out puzzle: name, what is near or null, why or null, fits by chance.

    `checked` are the rows of the round's `CHECKED`; those examples that solve a puzzle as unrelated
    ones do are counted.
    """
    by_chance = Counter(name for row in checked for name in row["by_chance"])
    nearest = near_training(held_out, train, examples)
    for name in held_out.names:
        near = nearest.get(name)
        yield {
            "name": name,
            "near": near.what if near else None,
            "reason": near.reason if near else None,
            "num_by_chance": by_chance[name],
        }


def _shown(train: Iterable[Puzzle], examples: Iterable[Row]) -> Iterator[tuple[str, Puzzle]]:
    for puzzle in train:
        yield f"train puzzle {puzzle.name}", puzzle
    previous = ""
    for row in examples:
        # The examples of one puzzle follow each other, and have one f.
        if row["f"] != previous:
            previous = row["f"]
            found = well_formed(previous, name=row["name"], any_answer=True)
            assert isinstance(found, Puzzle), "an example's puzzle passed the filter"
            yield f"example {row['name']}, attempt {row['index']}", found
