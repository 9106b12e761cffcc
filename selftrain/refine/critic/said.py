"""What a reply says of a field, piece by piece, and what that comes to: at worst, what it says."""

from collections.abc import Iterable
from dataclasses import dataclass

from selftrain.refine.critic.review import Edit, FieldReview, FieldVerdict, distinct
from selftrain.refine.critic.schema import (
    MOST_ACTION_CHARACTERS,
    MOST_EDITS,
    MOST_LOCATION_CHARACTERS,
)


@dataclass(frozen=True, slots=True)
class Said:
    """What one place of a reply says of a field."""

    verdicts: tuple[FieldVerdict, ...] = ()
    """Each that it gives; unknown for what cannot be read, is cut, or may be meant otherwise."""
    edits: tuple[Edit, ...] = ()


UNKNOWN = Said((FieldVerdict.unknown,))
"""What takes a pass back."""


def join(all_said: Iterable[Said]) -> Said:
    """Join what is said of a field in several places."""
    some = list(all_said)
    return Said(
        tuple(verdict for said in some for verdict in said.verdicts),
        tuple(edit for said in some for edit in said.edits),
    )


def verdict_in(said: Said) -> FieldVerdict:
    """Give the verdict: a pass only where all that is said is a pass, and no edit is asked for."""
    if said.edits or FieldVerdict.failed in said.verdicts:
        return FieldVerdict.failed
    is_pass = set(said.verdicts) == {FieldVerdict.passed}
    return FieldVerdict.passed if is_pass else FieldVerdict.unknown


def field_review(said: Said) -> tuple[FieldReview, int]:
    """Give a field's review within the bounds of edits, and how many edits were beyond them.

    A long edit is cut, and counted too.
    """
    edits = distinct(said.edits)
    kept = [_cut(edit) for edit in edits[:MOST_EDITS]]
    num_cut = sum(before != after for before, after in zip(edits, kept, strict=False))
    return FieldReview(verdict_in(said), tuple(kept)), len(edits) - len(kept) + num_cut


def _cut(edit: Edit) -> Edit:
    return Edit(
        _first(edit.location, MOST_LOCATION_CHARACTERS), _first(edit.action, MOST_ACTION_CHARACTERS)
    )


def _first(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
