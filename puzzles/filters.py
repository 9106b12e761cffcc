"""The first step of the filter of the paper's Appendix C: is a proposed text a well-formed puzzle?

The other steps are `seen` (duplicates), `near` (too close to a held-out puzzle) and `trivial`
(solved by a trivial answer), from the cheapest to the dearest. Only `trivial` runs anything.
"""

from __future__ import annotations

from puzzles.puzzle import Puzzle, puzzle_from_source
from puzzles.reasons import PuzzleError, Rejection


def well_formed(
    source: str, *, name: str, family: str = "", origin: str = "", any_answer: bool = False
) -> Puzzle | Rejection:
    """Read a proposed definition, or give the first check that it fails.

    `source` comes from `cut.cut_puzzle`, but may be any text. With `any_answer` neither the
    answer's type nor its use is checked.
    """
    try:
        return puzzle_from_source(
            source, name=name, family=family, origin=origin, any_answer=any_answer
        )
    except PuzzleError as error:
        return Rejection(error.reason, error.detail)
