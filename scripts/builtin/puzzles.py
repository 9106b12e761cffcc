"""Draw the built-in puzzles again, and write the two files that the package ships.

Run by hand (`python -m scripts.builtin.puzzles`) after a family changes; the built-in model must
then be made again, for its text leaves the held-out ones out.
"""

import json
from pathlib import Path
from random import Random

import puzzles.builtin
from puzzles.builtin.family import Family, draw_instance
from puzzles.builtin.read import FAMILIES, category
from puzzles.normal import normal_form

SEED = 0
NUM_TRAIN = 4
NUM_HELD_OUT = 3
NUM_HELD_OUT_NEW_FAMILY = 4


def main() -> None:
    """Write `train.jsonl` and `held_out.jsonl` into the package."""
    train, held_out = draw_splits(Random(SEED))
    folder = Path(puzzles.builtin.__path__[0])
    for name, rows in (("train", train), ("held_out", held_out)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
        print(f"{folder.name}/{name}.jsonl: {len(rows)} puzzles")


def draw_splits(random: Random) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Draw distinct instances of every family, to train on and held out.

    The first of a known family are for training; all others are held out.
    """
    train: list[dict[str, object]] = []
    held_out: list[dict[str, object]] = []
    for family in FAMILIES:
        num_train = 0 if family.held_out else NUM_TRAIN
        num_held_out = NUM_HELD_OUT_NEW_FAMILY if family.held_out else NUM_HELD_OUT
        rows = _rows(family, num_train + num_held_out, random)
        train += rows[:num_train]
        held_out += rows[num_train:]
    return train, held_out


def _rows(family: Family, count: int, random: Random) -> list[dict[str, object]]:
    rows: dict[str, dict[str, object]] = {}
    while len(rows) < count:
        drawn = draw_instance(family, random)
        rows.setdefault(
            normal_form(drawn.f),
            {
                "name": f"{family.name}-{len(rows) + 1}",
                "f": drawn.f,
                "solutions": [drawn.g],
                "category": category(family),
                "difficulty": family.difficulty,
                "family": family.name,
            },
        )
    return list(rows.values())


if __name__ == "__main__":
    main()
