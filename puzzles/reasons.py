"""Why a text did not become a puzzle or a candidate: reasons as data, counted in the funnel.

Nothing is decided here; `signature`, `cut`, `trivial` and `near` give the reasons.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Name the check that a text failed; the checks stop at the first."""

    TOO_LONG = "too_long"
    """More characters than `syntax.MAX_CHARACTERS`."""
    NO_DEFINITION = "no_definition"
    """The text is not one plain definition of the function asked for."""
    NO_RETURN = "no_return"
    """The definition never returns a value."""
    SYNTAX = "syntax"
    """It does not parse, or nests too deep to be read."""
    GENERATOR = "generator"
    """It yields, so a call of it would never be True."""
    SIGNATURE = "signature"
    """Not exactly one parameter without a default, first; or `*args`, `**kwargs`, keyword-only."""
    ANSWER_TYPE = "answer_type"
    """The answer's annotation is missing, or is no type that the judge checks."""
    ANSWER_UNUSED = "answer_unused"
    """The body never reads the answer."""
    DUPLICATE = "duplicate"
    """Its normal form was seen before."""
    TOO_CLOSE = "too_close"
    """It is a near-duplicate of a held-out puzzle."""
    DOES_NOT_RUN = "does_not_run"
    """The judge cannot compile it, or its defaults do not evaluate."""
    TRIVIAL = "trivial"
    """One of the trivial answers makes it True, or its answer is a bool."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Say why a text was not kept."""

    reason: Reason
    """The check that failed."""
    detail: str
    """One sentence: what was found."""


class PuzzleError(ValueError):
    """A source that is no puzzle; carries the reason, so that a filter can count it."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
