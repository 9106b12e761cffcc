"""The line form of a review: `efficiency: fail - use a set`, headings and bullets. No JSON.

A line that begins with a quote or a bracket is none of this form, nor is a comment of Python.
"""

import re
from collections.abc import Mapping

from selftrain.refine.critic.fields import said_in
from selftrain.refine.critic.review import Field, FieldVerdict
from selftrain.refine.critic.said import Said, join, verdict_in
from selftrain.refine.critic.words import (
    EDITS_KEYS,
    VERDICT_KEYS,
    asks_nothing,
    edit_of,
    field_named,
    key_named,
    verdict_of,
)

_BULLET = re.compile(r"^\s*(?:[-*+•]\s+(?:\[.\]\s+)?|\d{1,2}[.)]\s+|#{2,6}\s+|>\s+)+")
_BETWEEN = re.compile(r"[:=|]|\s[-–—]\s|—|→|->")


def fields_in_lines(text: str) -> Mapping[Field, Said]:
    """Give what the lines of a reply say of each field; several times is joined."""
    found: dict[Field, list[Said]] = {}
    current: Field | None = None
    for line in text.splitlines():
        field, rest = _head(line)
        if field is not None:
            current = field
            said = found.setdefault(field, [])
            if rest:
                said.append(said_in(rest))
        elif current is not None:
            found[current].append(_more(line, found[current]))
    return {field: join(said) for field, said in found.items()}


def _head(line: str) -> tuple[Field | None, str]:
    """Give the field that a line is about, and what it says of it."""
    plain = line.strip()
    if plain[:1] in ("#", '"', "'", "{", "[", "}", "]") and not plain.startswith("##"):
        return None, ""
    plain = _BULLET.sub("", plain).strip("| ")
    between = _BETWEEN.search(plain)
    if between is None:
        return field_named(plain), ""
    rest = plain[between.end() :].strip(" *_`|\t")
    # A bracket of JSON: what a field's value is cannot be told from one line of it.
    field = None if rest[:1] in ("{", "[") else field_named(plain[: between.start()])
    return field, rest


def _more(line: str, before: list[Said]) -> Said:
    """Read a line below that of a field: its verdict, or an edit."""
    is_bullet = _BULLET.match(line) is not None
    plain = _BULLET.sub("", line.strip()).strip()
    key, colon, rest = plain.partition(":")
    name, rest = key_named(key), rest.strip(" *_`")
    if colon and name in VERDICT_KEYS:
        return said_in(rest)
    if colon and name in EDITS_KEYS:
        return Said() if asks_nothing(rest) else Said(edits=(edit_of(rest),))
    if not colon and verdict_of(plain) is not FieldVerdict.unknown and not before:
        return said_in(plain)
    edit = edit_of(plain)
    is_failed = verdict_in(join(before)) is FieldVerdict.failed
    is_edit = is_bullet and not asks_nothing(plain) and (is_failed or bool(edit.location))
    return Said(edits=(edit,)) if is_edit else Said()
