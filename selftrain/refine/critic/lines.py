"""The line form of a review: `efficiency: fail - use a set`, headings and bullets. No JSON.

A line that begins with a quote or a bracket is none of this form, nor is a comment of Python.
"""

import re
from collections.abc import Mapping

from selftrain.refine.critic.doubts import (
    asks_nothing,
    is_harmless,
    leads_to_review,
    says_none,
    takes_back,
)
from selftrain.refine.critic.fields import said_in
from selftrain.refine.critic.names import (
    EDITS_KEYS,
    VERDICT_KEYS,
    edit_of,
    field_named,
    key_named,
    verdict_of,
)
from selftrain.refine.critic.review import Field, FieldVerdict
from selftrain.refine.critic.said import UNKNOWN, Said, join, verdict_in

_BULLET = re.compile(r"^\s*(?:[-*+•]\s+(?:\[[xX✓✔✅]\]\s+)?|\d{1,2}[.)]\s+|#{2,6}\s+)+")
"""Neither a box that is not ticked, where nothing is said yet, nor a mark of a quote is one."""
_BETWEEN = re.compile(r"[:=|]|\s[-–—]\s|—|→|->")


def fields_in_lines(text: str) -> Mapping[Field, Said]:
    """Give what the lines of a reply say of each field; several times is joined.

    What stands below a field's line and is not harmless takes its pass back. Where what stands
    before them all does not lead to a review, what only passes says nothing.
    """
    found: dict[Field, list[Said]] = {}
    failed: set[Field] = set()
    before: list[str] = []
    current: Field | None = None
    for line in text.splitlines():
        field, rest = _head(line)
        if field is not None:
            current = field
            said = said_in(rest) if rest else Said()
            found.setdefault(field, [])
        elif current is not None:
            said = _more(line, not found[current], current in failed)
        else:
            before.append(line)
            continue
        if said != Said():
            found[current].append(said)
        if verdict_in(said) is FieldVerdict.failed:
            failed.add(current)
    all_said = {field: join(said) for field, said in found.items()}
    return all_said if failed or leads_to_review("\n".join(before)) else {}


def _head(line: str) -> tuple[Field | None, str]:
    """Give the field that a line is about, and what it says of it."""
    plain = line.strip()
    if plain[:1] in ("#", '"', "'", "{", "[", "}", "]") and not plain.startswith("##"):
        return None, ""
    plain = _BULLET.sub("", plain).strip("| ")
    if plain.startswith(("[", ">")):
        return None, ""
    between = _BETWEEN.search(plain)
    if between is None:
        return field_named(plain), ""
    rest = plain[between.end() :].strip(" *_`|\t")
    # A bracket of JSON: what a field's value is cannot be told from one line of it.
    field = None if rest[:1] in ("{", "[") else field_named(plain[: between.start()])
    return field, rest


def _more(line: str, is_first: bool, is_failed: bool) -> Said:
    """Read a line below that of a field: its verdict, an edit, or what takes a pass back."""
    is_bullet = _BULLET.match(line) is not None
    plain = _BULLET.sub("", line.strip()).strip()
    key, colon, rest = plain.partition(":")
    name, rest = key_named(key), rest.strip(" *_`")
    if colon and name in VERDICT_KEYS:
        return said_in(rest)
    if colon and name in EDITS_KEYS:
        return Said() if asks_nothing(rest) else Said(edits=(edit_of(rest),))
    if not colon and verdict_of(plain) is not FieldVerdict.unknown and is_first:
        return said_in(plain)
    if says_none(plain) or is_harmless(plain):
        return Said()
    edit = edit_of(plain)
    if is_bullet and not asks_nothing(plain) and (is_failed or bool(edit.location)):
        return Said(edits=(edit,))
    return Said() if colon and not takes_back(key, rest) else UNKNOWN
