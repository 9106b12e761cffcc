"""Decontaminate: remove examples that are too near to a held-out puzzle, each with its reason.

The cheapest check comes first: the same text, the same syntax tree, shared runs of tokens, MinHash
(all in puzzles/contamination.py), and last what the examples do (behaviour.py), which alone needs
the judge. What comes near a held-out puzzle, though not so near that it is removed, is found in
near_training.py. It cannot find what says the same in other words and gives another answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from puzzles import Puzzle
from puzzles.contamination import Bars, Check, HeldOutTexts, Overlap
from puzzles.filters import well_formed
from selftrain.behaviour import HeldOutBehaviour, what_they_solve
from selftrain.config import DecontaminateConfig
from selftrain.curate import Example
from selftrain.files import Format, Row
from selftrain.judge import Judging

NEAR = Bars(containment=0.6, jaccard=0.5)
"""From where on training comes near a held-out puzzle. In P3, 18 of 228 are so near to a train
puzzle, nearly all of them related; from 0.5 and 0.5 on it would be 34, many by their heads alone.
"""


@dataclass(frozen=True, slots=True)
class Checked:
    """An example, and whether it may be trained on."""

    example: Example
    rejection: Overlap | None
    """The first check that found a held-out puzzle too near; null where none did."""
    by_chance: tuple[str, ...] = ()
    """Names of held-out puzzles that it solves, which tells nothing: unrelated ones do, too."""


class HeldOutIndex:
    """The held-out puzzles of a run, indexed for every check; built once.

    The dev puzzles are kept out of training in the same way, since choices are made on them.
    """

    def __init__(
        self,
        held_out: Sequence[Puzzle],
        config: DecontaminateConfig,
        dev: Sequence[Puzzle] = (),
    ) -> None:
        removed = Bars(config.max_containment, config.max_jaccard)
        # What is removed is near, however low its bar is set.
        self.near = Bars(
            min(NEAR.containment, removed.containment), min(NEAR.jaccard, removed.jaccard)
        )
        self.names = [puzzle.name for puzzle in held_out]
        self.texts = HeldOutTexts([*held_out, *dev], removed, self.near)
        self.behaviour = HeldOutBehaviour([*held_out, *dev])


def decontaminate(
    examples: Sequence[Example],
    held_out: HeldOutIndex,
    config: DecontaminateConfig,
    judging: Judging,
    *,
    advance: Callable[[int], object] = lambda _: None,
) -> list[Checked]:
    """Check examples, in order; together they also say what unrelated answers are like.

    The same examples together always have the same fate. Raises `judge.JudgeError`.
    """
    puzzles = {example.f: puzzle_of(example) for example in examples}
    keep = config.same_shape == "keep"
    by_puzzle = {
        f: held_out.texts.overlap(puzzle, config.checks, keep_same_shape=keep)
        for f, puzzle in puzzles.items()
    }
    checked = []
    for example in examples:
        text = example.prompt + example.completion
        quoted = held_out.texts.quoted_in(text) if Check.TEXT in config.checks else None
        checked.append(Checked(example, quoted or by_puzzle[example.f]))
    if Check.BEHAVIOUR in config.checks:
        left = [one.example for one in checked if one.rejection is None]
        pairs = [(example, puzzles[example.f]) for example in left]
        solves = iter(what_they_solve(pairs, held_out.behaviour, config, judging))
        for number, one in enumerate(checked):
            if one.rejection is None:
                solved = next(solves)
                checked[number] = Checked(one.example, solved.overlap, solved.by_chance)
    advance(len(examples))
    return checked


def puzzle_of(example: Example) -> Puzzle:
    """Read an example's puzzle again."""
    puzzle = well_formed(example.f, name=example.name, any_answer=True)
    assert isinstance(puzzle, Puzzle), "an example's puzzle passed the filter"
    return puzzle


def checked_to_row(checked: Checked) -> Row:
    """Flatten a checked example."""
    rejection = asdict(checked.rejection) if checked.rejection else None
    return {
        "example": asdict(checked.example),
        "rejection": rejection,
        "by_chance": list(checked.by_chance),
    }


def checked_from_row(row: Row) -> Checked:
    """Rebuild what `checked_to_row` flattened."""
    found = row["rejection"]
    return Checked(
        Example(**row["example"]),
        Overlap(Check(found["reason"]), found["held_out"], found["detail"]) if found else None,
        tuple(row["by_chance"]),
    )


CHECKED = Format("decontaminate", checked_to_row, checked_from_row)


def removed_row(row: Row) -> Row:
    """Give the row of a removed example as it stays: the example, then reason, name and detail."""
    return {**row["example"], **row["rejection"]}
