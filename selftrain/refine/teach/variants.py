"""Variants: a puzzle and programs for it with other constants, put in the same way everywhere.

There are few train puzzles, and a model that reads one often learns its solution by heart, not how
to follow an edit. A variant keeps what is wrong about a wrong try: of 766 and 776 it makes 122 and
112. Whether its right try is still right is for the judge to say.
"""

import re
from collections.abc import Sequence
from random import Random

from puzzles import Puzzle, PuzzleError, puzzle_from_source

_LITERAL = re.compile(
    r"""(?P<word>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\d.]*)"""
)
DIGITS, VOWELS, CONSONANTS = "123456789", "aeiou", "bdfgklmnprstvz"
"""What changes places among itself. A zero stays, since no number begins
with it, and so do rare letters."""


def vary(puzzle: Puzzle, sources: Sequence[str], seed: int) -> tuple[Puzzle, list[str]] | None:
    """Change the constants of a puzzle and of programs for it; None where that gives no other one.

    Numbers of two digits or more and words change, digit by digit and letter by letter; what is
    shorter belongs to the way of a program as often as to its puzzle.
    """
    if puzzle.more_inputs:
        return None
    table = _table(Random(seed))
    f = _changed(puzzle.f, table)
    if f == puzzle.f:
        return None
    try:
        other = puzzle_from_source(
            f,
            name=puzzle.name,
            category=puzzle.category,
            difficulty=puzzle.difficulty,
            family=puzzle.family,
            origin=puzzle.origin,
            any_answer=True,
        )
    except PuzzleError:
        return None
    return other, [_changed(source, table) for source in sources]


def _table(random: Random) -> dict[int, int]:
    table: dict[int, int] = {}
    for some in (DIGITS, VOWELS, CONSONANTS):
        places = random.sample(some, len(some))
        table |= {ord(a): ord(b) for a, b in zip(some, places, strict=True)}
        table |= {ord(a.upper()): ord(b.upper()) for a, b in zip(some, places, strict=True)}
    return table


def _changed(source: str, table: dict[int, int]) -> str:
    def change(match: re.Match[str]) -> str:
        text = match[0]
        if match["number"]:
            stays = len(text) < 2 or text.startswith("0")
        else:
            stays = bool(match["name"]) or len(text) < 4 or "\\" in text
        return text if stays else text.translate(table)

    return _LITERAL.sub(change, source)
