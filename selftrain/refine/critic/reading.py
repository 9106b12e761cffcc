"""Reads a critic's reply: what it meant where that is beyond doubt, and never more than it said.

A pass has to be said. What is missing, cut off, out of place, said both ways or beside an edit is
no pass; a reply that holds no verdict is `NOTHING`, and so is one whose four passes are doubted by
what stands around them, or quoted in a sentence. Whatever is not known to be harmless is a doubt
(doubts.py), so that it may be seen where there is none. Of several whole objects the worse verdict
of each field counts; else the object that says most does, or a last one that is cut. Lines count
only where no object mentions a field. What a model writes never raises.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selftrain.refine.critic.doubts import is_harmless, leads_to_review
from selftrain.refine.critic.fences import without_code
from selftrain.refine.critic.fields import doubts_beside, fields_in
from selftrain.refine.critic.lines import fields_in_lines
from selftrain.refine.critic.loose import Loose, read_loose
from selftrain.refine.critic.review import (
    NOTHING,
    Field,
    FieldVerdict,
    How,
    Review,
)
from selftrain.refine.critic.said import Said, field_review, join, verdict_in
from selftrain.refine.reasoning import without_reasoning

MOST_CHARACTERS = 50_000
"""A reply that is longer, reasoning aside, holds no verdict: it is no review."""

_FAIL = re.compile(r"[:=|\"'“‘]\s*[*_`❌ ]*fail", re.IGNORECASE)
"""A verdict; where nothing that was read says it, something was not read."""
_GOES_ON = re.compile(r"[ \t]*[a-z,]")
"""Where a sentence goes on behind an object, it speaks of a review, and is none."""


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
    found = [_Found(fields, (value,)) for value in objects if (fields := fields_in(value))]
    if not found:
        return _review(fields_in_lines(reply), How.lines)
    best = _best(found)
    review = _review(best.fields, how)
    return NOTHING if review.passes and _is_doubted(reply, best.objects) else review


@dataclass(frozen=True, slots=True)
class _Found:
    """What one object says of the fields, or several together."""

    fields: Mapping[Field, Said]
    objects: tuple[Loose, ...]
    """In the order of the reply."""


def _best(found: Sequence[_Found]) -> _Found:
    """Give what counts of what several objects say."""
    last = found[-1]
    if any(value.is_cut for value in last.objects):
        return _joined([*map(_failing, filter(_is_whole, found[:-1])), last])
    # Fields that have an object each are one review.
    apart = _joined([one for one in found if len(one.fields) == 1])
    whole = [one for one in (*found, apart) if _is_whole(one)]
    # The worse of those that are whole, since the better may be a quote; or the last of equals.
    return (
        _joined(whole)
        if whole
        else max((apart, *reversed(found)), key=lambda one: _num_verdicts(one.fields))
    )


def _is_whole(one: _Found) -> bool:
    return _num_verdicts(one.fields) == len(Field)


def _failing(one: _Found) -> _Found:
    fails = {
        field: said for field, said in one.fields.items() if verdict_in(said) is FieldVerdict.failed
    }
    return _Found(fields=fails, objects=())


def _joined(some: Sequence[_Found]) -> _Found:
    fields = {
        field: join(one.fields[field] for one in some if field in one.fields)
        for field in Field
        if any(field in one.fields for one in some)
    }
    objects = sorted((value for one in some for value in one.objects), key=lambda one: one.start)
    return _Found(fields, tuple(objects))


def _is_doubted(reply: str, objects: Sequence[Loose]) -> bool:
    """Tell whether four passes may not be meant, by what stands in and around their objects."""
    ends = [value.end for value in objects]
    starts = [*(value.start for value in objects), len(reply)]
    behind = (reply[end:start] for end, start in zip(ends, starts[1:], strict=True))
    return (
        _FAIL.search(reply, starts[0]) is not None
        or any(map(doubts_beside, objects))
        or not leads_to_review(reply[: starts[0]])
        or not all(map(is_harmless, behind))
        or _GOES_ON.match(reply, ends[-1]) is not None
    )


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
