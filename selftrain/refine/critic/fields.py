"""What an object of a reply says of the four fields, in whatever shape a model writes them.

A field is a key with an object, a text or a list; or an entry of a list that names its field; and
all that may lie in other objects. How brackets and quotes are read is loose.py's, not here.
"""

from collections.abc import Iterator, Mapping

from selftrain.refine.critic.doubts import (
    asks_for_more,
    asks_nothing,
    holds_review,
    is_harmless,
    says_none,
    takes_back,
)
from selftrain.refine.critic.loose import Loose
from selftrain.refine.critic.names import (
    ACTION_KEYS,
    EDITS_KEYS,
    FIELD_KEYS,
    LOCATION_KEYS,
    PASS_KEYS,
    VERDICT_KEYS,
    edit_of,
    field_named,
    is_choice,
    key_named,
    plain,
    verdict_of,
)
from selftrain.refine.critic.review import Edit, Field, FieldVerdict
from selftrain.refine.critic.said import UNKNOWN, Said, join

_ENDS = (" - ", " – ", " — ", "—", " | ", ":", ";", ",", ". ", " (")


def fields_in(value: Loose) -> Mapping[Field, Said]:
    """Give what a value says of each field that it mentions; several times is joined."""
    found: dict[Field, list[Said]] = {}
    for field, inner in _mentions(value):
        found.setdefault(field, []).append(said_by(inner))
        if value.is_cut and not _has_edits(inner):
            # What was cut off may be the edits.
            found[field].append(UNKNOWN)
    return {field: join(said) for field, said in found.items()}


def doubts_beside(value: Loose, key: str = "") -> bool:
    """Tell whether what a value says beside its fields may take their passes back."""
    if value.is_scalar:
        return not value.is_sound or takes_back(key, value.text)
    if not value.is_sound and not value.is_cut:
        # Something is out of place; where it is only cut, its fields tell what that means.
        return True
    if _own_name(value) is not None:
        return False
    beside = (pair for pair in value.pairs if value.kind == "list" or field_named(pair[0]) is None)
    return any(
        # Under a key such as `example` or `previous_review` it is no review.
        (inner.pairs and not holds_review(name))
        or doubts_beside(inner, key if asks_for_more(key) else name or key)
        for name, inner in beside
    )


def _has_edits(value: Loose) -> bool:
    return value.kind == "object" and any(key_named(key) in EDITS_KEYS for key, _ in value.pairs)


def _mentions(value: Loose) -> Iterator[tuple[Field, Loose]]:
    """Yield each field that is mentioned, and what stands under its name.

    Where an object has fields, no deeper ones are looked for.
    """
    if (own := _own_name(value)) is not None:
        yield own, value
        return
    named = [(field_named(key), inner) for key, inner in value.pairs if value.kind == "object"]
    if any(field is not None for field, _ in named):
        yield from ((field, inner) for field, inner in named if field is not None)
        return
    for inner in value.values:
        yield from _mentions(inner)


def _own_name(value: Loose) -> Field | None:
    """Give the field that an entry names as its own."""
    named = [
        field_named(inner.text)
        for key, inner in value.pairs
        if key_named(key) in FIELD_KEYS and inner.is_scalar
    ]
    return named[0] if len(named) == 1 else None


def said_by(value: Loose) -> Said:
    """Read what stands under a field's name."""
    if value.is_scalar:
        return said_in(value.text, is_whole=value.is_sound)
    if value.kind == "list":
        # Edits without a verdict; an empty list says nothing.
        return _asked(value)
    if any(is_choice(inner.text) for key, inner in value.pairs if key_named(key) in VERDICT_KEYS):
        # A template that was never filled in: its edits are no edits.
        return UNKNOWN
    pieces = [_piece(key, inner) for key, inner in value.pairs]
    return join([*pieces, Said() if value.is_sound else UNKNOWN])


def said_in(text: str, *, is_whole: bool = True) -> Said:
    """Read a verdict and what is said beside it in a text such as `fail - use a set`."""
    head, tail = _head_and_tail(text)
    verdict = verdict_of(head)
    if verdict is FieldVerdict.unknown:
        verdict, head, tail = verdict_of(text), text, ""
    if verdict is FieldVerdict.failed:
        return Said((verdict,), () if asks_nothing(tail) else (edit_of(tail),))
    if verdict is FieldVerdict.passed and is_whole and (says_none(tail) or is_harmless(tail)):
        return Said((verdict,))
    return UNKNOWN


def _head_and_tail(text: str) -> tuple[str, str]:
    """Cut a text where a mark says that more is said of its first words."""
    ends = [place for mark in _ENDS if (place := text.find(mark)) > 0]
    end = min(ends, default=len(text))
    return text[:end], text[end:].lstrip(" \t-–—|:;,.(")


def _piece(key: str, value: Loose) -> Said:
    """Read one pair of a field's object.

    Another key says nothing that counts, but what it says may take a pass back: a text that doubts
    it, and all that is more than a text, since it may hold edits.
    """
    name = key_named(key)
    if name in EDITS_KEYS:
        return _asked(value)
    if name not in VERDICT_KEYS | PASS_KEYS:
        has_more = bool(value.pairs) or (value.is_scalar and takes_back(key, value.text))
        return UNKNOWN if has_more else Said()
    verdict = verdict_of(value.text)
    is_kept = value.is_sound or verdict is FieldVerdict.failed
    return Said((verdict,)) if is_kept else UNKNOWN


def _asked(value: Loose) -> Said:
    """Read edits: a list of objects or texts, one of them, or a pair of place and action.

    Edits that are cut or cannot be read are no edits, but they take a pass back.
    """
    edits = _edits(value)
    is_blank = not edits and all(asks_nothing(text) for text in _scalars(value))
    return Said(() if value.is_sound and (edits or is_blank) else UNKNOWN.verdicts, edits)


def _scalars(value: Loose) -> Iterator[str]:
    if value.is_scalar:
        yield value.text
    for inner in value.values:
        yield from _scalars(inner)


def _edits(value: Loose) -> tuple[Edit, ...]:
    if value.is_scalar:
        return () if asks_nothing(value.text) or value.is_cut else (edit_of(value.text),)
    if value.kind == "object":
        return _edit(value)
    if [one.kind for one in value.values] == ["text", "text"]:
        place, action = (one.text for one in value.values)
        if place.lower().startswith("line ") and ":" not in place:
            return (Edit(plain(place), plain(action)),)
    return tuple(edit for one in value.values for edit in _edits(one))


def _edit(value: Loose) -> tuple[Edit, ...]:
    """Read one edit; none where it has no action."""
    location = action = ""
    for key, inner in value.pairs:
        name = key_named(key)
        if not inner.is_scalar or inner.is_cut:
            continue
        if name in ACTION_KEYS:
            action = action or plain(inner.text)
        elif name in LOCATION_KEYS:
            location = f"line {inner.text}" if inner.text.isdigit() else plain(inner.text)
    if asks_nothing(action):
        return ()
    return (Edit(location, action),) if location else (edit_of(action),)
