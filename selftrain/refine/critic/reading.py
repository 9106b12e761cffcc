"""Reads a critic's reply: what it meant where that is beyond doubt, and never more than it said.

A pass has to be said. What is missing, cut off, out of place, said both ways or beside an edit is
no pass; a reply that holds no verdict is `NOTHING`. Of several objects the one that says most
counts, or a last one that is cut; lines count only where no object mentions a field. What a model
writes never raises.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selftrain.refine.critic.fences import without_code
from selftrain.refine.critic.fields import fields_in
from selftrain.refine.critic.lines import fields_in_lines
from selftrain.refine.critic.loose import read_loose
from selftrain.refine.critic.reasoning import without_reasoning
from selftrain.refine.critic.review import (
    NOTHING,
    Field,
    FieldVerdict,
    How,
    Review,
)
from selftrain.refine.critic.said import Said, field_review, join, verdict_in

MOST_CHARACTERS = 50_000
"""A reply that is longer, reasoning aside, holds no verdict: it is no review."""

_FAIL = re.compile(r"[:=|\"'“‘]\s*[*_`❌ ]*fail", re.IGNORECASE)
"""A verdict; where nothing that was read says it, something was not read."""


def read_review(text: str) -> Review:
    """Read a reply, whatever it is; `how` says what had to be mended."""
    reply = text.strip()
    if not _is_as_asked(reply):
        reply = without_reasoning(text).strip()
    if len(reply) > MOST_CHARACTERS:
        return NOTHING
    how = How.json if _is_as_asked(reply) else How.mended
    reply = without_code(reply)
    objects = read_loose(reply, lambda value: bool(fields_in(value)))
    found = [_Found(fields, value.start) for value in objects if (fields := fields_in(value))]
    if not found:
        return _review(fields_in_lines(reply), How.lines)
    best = found[-1]
    if not objects[-1].is_cut:
        # The last of equals; and fields that have an object each are one review.
        found.append(_joined([one for one in found if len(one.fields) == 1]))
        best = max(reversed(found), key=lambda one: _num_verdicts(one.fields))
    review = _review(best.fields, how)
    return NOTHING if review.passes and _FAIL.search(reply, best.start) else review


@dataclass(frozen=True, slots=True)
class _Found:
    """What one object says of the fields, and where it begins."""

    fields: Mapping[Field, Said]
    start: int


def _joined(some: Sequence[_Found]) -> _Found:
    fields = {
        field: join(one.fields[field] for one in some if field in one.fields)
        for field in Field
        if any(field in one.fields for one in some)
    }
    return _Found(fields, min((one.start for one in some), default=0))


def _num_verdicts(fields: Mapping[Field, Said]) -> int:
    return sum(verdict_in(said) is not FieldVerdict.unknown for said in fields.values())


def _review(fields: Mapping[Field, Said], how: How) -> Review:
    """Give the review; fields that nothing was said of are unknown."""
    if not _num_verdicts(fields):
        return NOTHING
    first, second, third, fourth = (field_review(fields.get(field, Said())) for field in Field)
    return Review(
        (first[0], second[0], third[0], fourth[0]),
        how,
        first[1] + second[1] + third[1] + fourth[1],
    )


def _is_as_asked(reply: str) -> bool:
    """Tell whether a reply is the JSON that was asked for, but for how much it asks."""
    if len(reply) > MOST_CHARACTERS:
        return False
    try:
        fields = _object(json.loads(reply, object_pairs_hook=_Pairs), *Field)
    except (ValueError, RecursionError):
        return False
    return fields is not None and all(map(_is_field, fields.values()))


class _Pairs(list[tuple[str, Any]]):
    """An object as JSON has it, where a key can be given twice."""


def _object(value: Any, *keys: str) -> dict[str, Any] | None:
    """Give an object that has these keys, each once; None for any other value."""
    if not isinstance(value, _Pairs) or sorted(key for key, _ in value) != sorted(keys):
        return None
    return dict(value)


def _is_field(value: Any) -> bool:
    """Tell whether a field has a verdict and a list of edits of two texts each."""
    field = _object(value, "verdict", "edits")
    if field is None or field["verdict"] not in (FieldVerdict.passed, FieldVerdict.failed):
        return False
    return type(field["edits"]) is list and all(
        (edit := _object(one, "location", "action")) is not None
        and all(isinstance(text, str) for text in edit.values())
        for one in field["edits"]
    )
