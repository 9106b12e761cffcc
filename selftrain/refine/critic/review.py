"""A review, as the loop reads it: four fields, each with a verdict and edits. Nothing is parsed
here; that is done in reading.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from selftrain.refine.texts import one_line


class Field(StrEnum):
    """What a critic reviews, in the paper's order."""

    correctness = "correctness"
    format = "format"  # type: ignore[assignment]  # it hides a method of str that nobody calls
    """Input and output format."""
    efficiency = "efficiency"
    completeness = "completeness"


class FieldVerdict(StrEnum):
    """What a critic says of a field."""

    passed = "pass"
    failed = "fail"
    unknown = "unknown"
    """It said nothing that can be read. That is no pass."""


class How(StrEnum):
    """How a reply was read."""

    json = "json"
    """As it was asked for."""
    mended = "mended"
    """JSON after something was mended: commas, quotes, aliases, text around it."""
    lines = "lines"
    """Line by line: `efficiency: fail - ...`."""
    nothing = "nothing"
    """It holds no verdict."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One textual edit: a step of the pseudo-gradient."""

    location: str
    """Where in the candidate; may be empty."""
    action: str
    """What to do there."""


@dataclass(frozen=True, slots=True)
class FieldReview:
    """One field."""

    verdict: FieldVerdict = FieldVerdict.unknown
    """`fail` where edits were asked for, whatever was said beside them."""
    edits: tuple[Edit, ...] = ()
    """In the order of the reply."""


@dataclass(frozen=True, slots=True)
class Review:
    """A reply of a critic."""

    fields: tuple[FieldReview, FieldReview, FieldReview, FieldReview]
    """In the order of `Field`."""
    how: How
    num_dropped: int = 0
    """Edits beyond the bounds: left out, or cut because they were long."""

    @property
    def passes(self) -> bool:
        """Tell whether all four fields pass."""
        return all(one.verdict is FieldVerdict.passed for one in self.fields)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Give the edits in the order of fields, then of the reply, each once."""
        return distinct([edit for one in self.fields for edit in one.edits])


NOTHING = Review((FieldReview(), FieldReview(), FieldReview(), FieldReview()), How.nothing)
"""What an empty reply says."""


def distinct(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Drop edits that say the same as an earlier one, blanks and letter case aside."""
    kept = {
        (one_line(edit.location.lower()), one_line(edit.action.lower())): edit
        for edit in reversed(edits)
    }
    return tuple(reversed(kept.values()))
